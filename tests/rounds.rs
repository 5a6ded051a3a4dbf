//! Cylinders and discs on solids, meshes and one another, against planes and closed forms.

use crate::bodies;
use crate::bodies::{Scene, Simulation, compare};
use crate::known_failures::judge;
use contact_fmu::engine::geometry::solids::{Capsule, Cuboid, Cylinder};
use contact_fmu::engine::{Facets, NodeShape, Orientation, Solid};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.1;
const HALF: f64 = 0.15;

fn cylinder(axis: [f64; 3], half: f64, radius: f64) -> Cylinder {
    Cylinder { half_axis: Vector3::from(axis) * half, radius }
}

/// A cylinder of 2 kg along z.
fn upright(scene: &mut Scene, position: [f64; 3]) -> usize {
    let across = 2.0 * (RADIUS * RADIUS / 4.0 + HALF * HALF / 3.0);
    let inertia = [across, across, RADIUS * RADIUS];
    scene.body(NodeShape::Cylinder(cylinder([0.0, 0.0, 1.0], HALF, RADIUS)), 2.0, inertia, position)
}

/// The same along y.
fn lying(scene: &mut Scene, position: [f64; 3]) -> usize {
    let across = 2.0 * (RADIUS * RADIUS / 4.0 + HALF * HALF / 3.0);
    let inertia = [across, RADIUS * RADIUS, across];
    scene.body(NodeShape::Cylinder(cylinder([0.0, 1.0, 0.0], HALF, RADIUS)), 2.0, inertia, position)
}

/// A thin disc of 1 kg across z.
fn coin(scene: &mut Scene, position: [f64; 3]) -> usize {
    let inertia = RADIUS * RADIUS / 4.0;
    let shape = NodeShape::Disc { radius: RADIUS, axis: Vector3::z() };
    scene.body(shape, 1.0, [inertia, inertia, 2.0 * inertia], position)
}

/// A flat grid of triangles.
fn grid(scene: &mut Scene) -> Facets {
    const SIDE: u32 = 11;
    let place = |step: u32| (f64::from(step) - 5.0) * 0.37;
    let corners: Vec<[f64; 3]> = (0..SIDE * SIDE).map(|k| [place(k % SIDE), place(k / SIDE), 0.0]).collect();
    let cells = (0..SIDE - 1).flat_map(|row| (0..SIDE - 1).map(move |column| row * SIDE + column));
    let triangles: Vec<_> =
        cells.flat_map(|k| [[k, k + 1, k + SIDE + 1], [k, k + SIDE + 1, k + SIDE]]).collect();
    scene.facets(&corners, &triangles)
}

const FLOORS: [&str; 5] = ["plane", "box", "hull", "mesh", "cylinder"];

/// A level floor at height zero.
fn floor(scene: &mut Scene, kind: &str) -> usize {
    let half = [3.0, 3.0, 0.5];
    match kind {
        "plane" => scene.plane([0.0, 0.0, 1.0]),
        "box" => scene.solid(Solid::Box(Cuboid { half: Vector3::from(half) }), [0.0, 0.0, -0.5]),
        "hull" => {
            let corners: Vec<[f64; 3]> = bodies::corners(half).into_iter().map(Into::into).collect();
            let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
            let triangles: Vec<_> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
            let facets = scene.facets(&corners, &triangles);
            scene.solid(Solid::Hull(facets), [0.0, 0.0, -0.5])
        }
        "mesh" => {
            let facets = grid(scene);
            scene.solid(Solid::Mesh(facets), [0.0; 3])
        }
        _ => scene.solid(Solid::Cylinder(cylinder([0.0, 0.0, 1.0], 0.5, 3.0)), [0.0, 0.0, -0.5]),
    }
}

/// Positions and directions of the axis z of a node over time.
fn path(run: &mut Simulation, node: usize, step: f64, count: usize) -> Vec<[Vector3<f64>; 2]> {
    (0..count)
        .map(|_| {
            run.advance(step);
            let turned = run.rotation(node).orientation.to_world(&Vector3::z());
            [run.state.nodes[node].position, turned]
        })
        .collect()
}

/// What a body does on every floor is what it does on a plane.
fn moves_as_on_a_plane(
    body: impl Fn(&mut Scene) -> usize,
    push: impl Fn(&mut Simulation, usize),
    restitution: f64,
    steps: usize,
) {
    let paths = FLOORS.map(|kind| {
        let mut scene = Scene::new(GRAVITY);
        let node = body(&mut scene);
        let floor = floor(&mut scene, kind);
        scene.contact(node, floor, restitution, 0.3);
        let mut run = scene.build();
        push(&mut run, node);
        path(&mut run, node, 1e-3, steps)
    });
    for (kind, other) in FLOORS.iter().zip(&paths) {
        for (step, (one, other)) in paths[0].iter().zip(other).enumerate() {
            let off = (one[0] - other[0]).norm().max((one[1] - other[1]).norm());
            assert!(off < 1e-9, "{kind}, step {step}: {off:e}");
        }
    }
}

#[test]
fn a_cylinder_stands_and_slides_as_on_a_plane() {
    moves_as_on_a_plane(
        |scene| upright(scene, [-0.4, 0.1, HALF]),
        |run, node| run.state.nodes[node].velocity = Vector3::new(1.0, 0.4, 0.0),
        0.0,
        600,
    );
}

#[test]
fn a_cylinder_falls_on_its_base_as_on_a_plane() {
    moves_as_on_a_plane(|scene| upright(scene, [0.1, 0.2, HALF + 0.1]), |_, _| {}, 0.4, 600);
}

#[test]
fn a_cylinder_rolls_as_on_a_plane() {
    moves_as_on_a_plane(
        |scene| lying(scene, [-0.8, 0.1, RADIUS]),
        |run, node| {
            run.state.nodes[node].velocity = Vector3::new(2.0, 0.0, 0.0);
            run.rotation(node).angular_velocity = Vector3::new(0.0, 5.0, 0.0);
        },
        0.0,
        600,
    );
}

/// A coin that is dropped at a slant comes to rest flat, and contact adds no energy on the way.
#[test]
fn a_coin_falls_flat() {
    for kind in &FLOORS[1..] {
        let mut scene = Scene::new(GRAVITY);
        let node = coin(&mut scene, [0.1, 0.05, 0.1]);
        let floor = floor(&mut scene, kind);
        let contact = scene.contact(node, floor, 0.1, 0.3);
        let mut run = scene.build();
        run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.3, 0.1, 0.0));
        run.advance_without_gain(1000);
        let axis = run.rotation(node).orientation.to_world(&Vector3::z());
        let height = run.state.nodes[node].position[2];
        assert!(height.abs() < 1e-8 && (axis - Vector3::z()).norm() < 1e-7, "{kind}: {height:e} {axis:?}");
        assert!(run.state.nodes[node].velocity.norm() < 1e-8, "{kind}: {:?}", run.state.nodes[node].velocity);
        let load = run.state.contacts[contact].normal_impulse / 1e-3;
        assert!((load - GRAVITY).abs() < 1e-6, "{kind}: {load}");
    }
}

/// What lies across a cylinder of radius `R` rocks on it: with half the thickness `b` and the radius of gyration `k`,
/// `w^2 = g (R - b) / (k^2 + b^2)` for small angles.
#[test]
fn what_lies_across_a_cylinder_rocks_with_its_period() {
    let (radius, half_thickness, gyration_squared) = (0.5, 0.1, 0.04);
    let bar = [0.4, 0.05, half_thickness];
    type Shape<'a> = &'a dyn Fn(&mut Scene) -> NodeShape;
    let capsule: Shape =
        &|_| NodeShape::Capsule(Capsule { half_axis: Vector3::x() * 0.4, radius: half_thickness });
    let rod: Shape = &|_| NodeShape::Cylinder(cylinder([1.0, 0.0, 0.0], 0.4, half_thickness));
    let cuboid: Shape = &|_| NodeShape::Box(Cuboid { half: Vector3::from(bar) });
    let hull: Shape = &|scene| {
        let corners: Vec<[f64; 3]> = bodies::corners(bar).into_iter().map(Into::into).collect();
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles: Vec<_> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        NodeShape::Hull(scene.facets(&corners, &triangles))
    };
    for (name, shape) in [("capsule", capsule), ("rod", rod), ("box", cuboid), ("hull", hull)] {
        for speed in [0.0, 0.05] {
            let mut scene = Scene::new(GRAVITY);
            let shape = shape(&mut scene);
            let node = scene.body(shape, 1.5, [0.002, 1.5 * gyration_squared, 0.06], [0.0, 0.0, 0.6]);
            let log = scene.solid(Solid::Cylinder(cylinder([0.0, 1.0, 0.0], 1.0, radius)), [0.0; 3]);
            let contact = scene.contact(node, log, 0.3, 1.0);
            let mut run = scene.build();
            run.state.nodes[node].velocity = Vector3::new(speed * half_thickness, 0.0, 0.0);
            run.rotation(node).angular_velocity = Vector3::new(0.0, speed, 0.0);
            let tilt = |run: &mut Simulation| run.rotation(node).orientation.to_world(&Vector3::x())[2];
            if speed == 0.0 {
                for _ in 0..1000 {
                    run.advance(1e-3);
                    let load = run.state.contacts[contact].normal_impulse / 1e-3;
                    assert!((load - 1.5 * GRAVITY).abs() < 1e-6, "{name}: {load}");
                }
                let off = (run.state.nodes[node].position - Vector3::new(0.0, 0.0, 0.6)).norm();
                assert!(off < 1e-9 && tilt(&mut run).abs() < 1e-9, "{name}: {off:e}");
                continue;
            }
            let expected = std::f64::consts::PI
                / (GRAVITY * (radius - half_thickness)
                    / (gyration_squared + half_thickness * half_thickness))
                    .sqrt();
            let step = 1e-3;
            let (mut time, mut before) = (step, 0.0);
            run.advance(step);
            let first = tilt(&mut run);
            assert!(first != 0.0);
            let crossing = loop {
                let now = tilt(&mut run);
                if now * first < 0.0 {
                    break time - step * now / (now - before);
                }
                before = now;
                run.advance(step);
                time += step;
                assert!(time < 2.0 * expected, "{name} does not come back");
            };
            assert!((crossing / expected - 1.0).abs() < 2e-3, "{name}: {crossing} {expected}");
        }
    }
}

/// A cylinder over the edge of a table stays if its centre is over the table, else it tips.
#[test]
fn a_cylinder_over_an_edge_tips_if_its_centre_is_beyond() {
    for kind in ["box", "hull", "mesh"] {
        for (is_lying, beyond) in [(false, -0.01), (false, 0.01), (true, -0.01), (true, 0.01)] {
            let mut scene = Scene::new(GRAVITY);
            let height = if is_lying { RADIUS } else { HALF };
            let position = [0.05, 3.0 + beyond, height];
            let node = if is_lying { lying(&mut scene, position) } else { upright(&mut scene, position) };
            let floor = match kind {
                "mesh" => {
                    let facets = grid(&mut scene);
                    // Its edge is at five cells.
                    scene.solid(Solid::Mesh(facets), [0.0, 3.0 - 5.0 * 0.37, 0.0])
                }
                _ => floor(&mut scene, kind),
            };
            let contact = scene.contact(node, floor, 0.0, 0.5);
            let mut run = scene.build();
            for _ in 0..300 {
                run.advance(1e-3);
            }
            let axis = if is_lying { Vector3::y() } else { Vector3::z() };
            let tilt = (run.rotation(node).orientation.to_world(&axis) - axis).norm();
            if beyond < 0.0 {
                let load = run.state.contacts[contact].normal_impulse / 1e-3;
                let off = (run.state.nodes[node].position - Vector3::from(position)).norm();
                assert!(off < 1e-9 && tilt < 1e-9, "{kind} {is_lying}: {off:e} {tilt:e}");
                assert!((load - 2.0 * GRAVITY).abs() < 1e-6, "{kind} {is_lying}: {load}");
            } else {
                assert!(tilt > 0.02, "{kind} {is_lying}: {tilt:e}");
            }
        }
    }
}

/// Cylinders and coins on one another stand.
#[test]
fn a_stack_of_cylinders_stands() {
    let mut scene = Scene::new(GRAVITY);
    let ground = floor(&mut scene, "cylinder");
    let low = upright(&mut scene, [0.0, 0.0, HALF]);
    let high = upright(&mut scene, [0.03, 0.02, 3.0 * HALF]);
    let top = coin(&mut scene, [0.0, 0.06, 4.0 * HALF]);
    let places = [low, high, top];
    let surfaces = [ground, scene.surface_of(low), scene.surface_of(high)];
    let contacts = [0, 1, 2].map(|k| scene.contact(places[k], surfaces[k], 0.0, 0.4));
    let mut run = scene.build();
    let start = places.map(|node| run.state.nodes[node].position);
    for _ in 0..3000 {
        run.advance(1e-3);
    }
    for (contact, weight) in contacts.into_iter().zip([5.0, 3.0, 1.0]) {
        let load = run.state.contacts[contact].normal_impulse / 1e-3;
        assert!((load - weight * GRAVITY).abs() < 1e-6, "{load}");
    }
    for (node, start) in places.into_iter().zip(start) {
        let off = (run.state.nodes[node].position - start).norm();
        assert!(off < 1e-8, "{node}: {off:e}");
    }
}

/// Bodies that collide keep momentum and angular momentum, and contact adds no energy.
#[test]
fn cylinders_that_collide_keep_momentum() {
    type Body = fn(&mut Scene, [f64; 3]) -> usize;
    let cuboid: Body = |scene, position| scene.solid_box(1.0, [0.1, 0.2, 0.15], position);
    let pairs: [(Body, Body); 5] =
        [(upright, upright), (upright, lying), (lying, coin), (coin, cuboid), (cuboid, lying)];
    for (first, second) in pairs {
        for turn in [[0.0, 0.0, 0.0], [0.3, 0.2, 0.1], [0.0, 0.785, 0.0], [1.0, -0.5, 2.0]] {
            let mut scene = Scene::new(0.0);
            let one = first(&mut scene, [0.0; 3]);
            let other = second(&mut scene, [0.6, 0.03, -0.02]);
            let surface = scene.surface_of(other);
            scene.contact(one, surface, 0.6, 0.3);
            scene.build().collide([one, other], turn);
        }
    }
}

/// A coin of no thickness at speed does not pass through a thin plate, nor through another coin, whichever way gravity
/// pulls: it is above it at the end of every step.
#[test]
fn nothing_tunnels() {
    for is_coin in [false, true] {
        for gravity in [0.0, 200.0, -200.0] {
            for offset in [0.0, 0.013, 0.037] {
                let case = format!("rounds::nothing_tunnels[{is_coin}, {gravity}, {offset}]");
                judge(&case, || shoot_a_coin(is_coin, gravity, offset));
            }
        }
    }
}

fn shoot_a_coin(is_coin: bool, gravity: f64, offset: f64) {
    let mut scene = Scene::new(gravity);
    let node = coin(&mut scene, [0.02, 0.01, 0.3 + offset]);
    let other = is_coin.then(|| coin(&mut scene, [0.0; 3]));
    let plate = match other {
        Some(other) => scene.surface_of(other),
        None => scene.solid(Solid::Box(Cuboid { half: Vector3::new(0.5, 0.5, 5e-4) }), [0.0; 3]),
    };
    scene.contact(node, plate, 1.0, 0.0);
    let mut run = scene.build();
    run.state.nodes[node].velocity = Vector3::new(1.0, 0.0, -100.0);
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.2, 0.1, 0.0));
    for step in 0..10 {
        run.advance(1e-3);
        let below = other.map_or(0.0, |other| run.state.nodes[other].position.z);
        let height = run.state.nodes[node].position.z - below;
        assert!(height > 0.0, "step {step}: {height} m");
    }
    let [own, hit] = [node, other.unwrap_or(node)].map(|node| run.state.nodes[node].velocity);
    assert!(own.z - if is_coin { hit.z } else { 0.0 } > 1.0, "it has been turned back: {own:?}");
}

#[test]
fn derivatives_agree_with_differences() {
    for case in 0..4 {
        let mut scene = Scene::new(GRAVITY);
        let node = upright(&mut scene, [0.1, 0.07, 0.2]);
        let other = match case {
            0 => floor(&mut scene, "box"),
            1 => floor(&mut scene, "mesh"),
            // Rim on an edge, and rim on a rim.
            2 => scene.solid(Solid::Box(Cuboid { half: Vector3::new(0.15, 0.5, 0.1) }), [-0.1, 0.0, -0.1]),
            _ => scene.solid(Solid::Cylinder(cylinder([0.0, 0.0, 1.0], 0.1, 0.15)), [-0.08, 0.0, -0.1]),
        };
        scene.contact(node, other, 0.4, 0.3);
        let mut run = scene.build();
        run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.3, 0.5, 0.0));
        run.rotation(node).angular_velocity = Vector3::new(1.0, 2.0, 3.0);
        run.advance_to_the_hit(1e-3);
        compare(&run, 1e-3, false);
    }
}
