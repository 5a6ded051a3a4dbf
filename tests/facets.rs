//! Convex hulls, meshes and heightfields, against boxes, planes and closed forms.

use crate::bodies;
use crate::bodies::{Scene, Simulation, compare};
use contact_fmu::engine::geometry::solids::{Capsule, Cuboid};
use contact_fmu::engine::{Facets, NodeShape, Orientation, Solid, SurfaceShape};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// A box as two triangles a face.
fn cube(scene: &mut Scene, half: [f64; 3]) -> Facets {
    let corners: Vec<[f64; 3]> = bodies::corners(half).into_iter().map(Into::into).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles: Vec<_> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    scene.facets(&corners, &triangles)
}

/// A grid of heights.
fn terrain(scene: &mut Scene, side: u32, cell: f64, height: impl Fn(f64, f64) -> f64) -> Facets {
    let place = |step: u32| (f64::from(step) - 0.5 * f64::from(side - 1)) * cell;
    let corners: Vec<[f64; 3]> = (0..side * side)
        .map(|k| {
            let [x, y] = [k % side, k / side].map(place);
            [x, y, height(x, y)]
        })
        .collect();
    let cells = (0..side - 1).flat_map(|row| (0..side - 1).map(move |column| row * side + column));
    let triangles: Vec<_> =
        cells.flat_map(|k| [[k, k + 1, k + side + 1], [k, k + side + 1, k + side]]).collect();
    scene.facets(&corners, &triangles)
}

fn inertia_of_box(mass: f64, half: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = half.map(|edge| edge * edge * mass / 3.0);
    [y + z, z + x, x + y]
}

/// Positions of a node over time.
fn path(mut run: Simulation, node: usize, step: f64, count: usize) -> Vec<Vector3<f64>> {
    (0..count)
        .map(|_| {
            run.advance(step);
            run.state.nodes[node].position
        })
        .collect()
}

fn assert_same(one: &[Vector3<f64>], other: &[Vector3<f64>], tolerance: f64) {
    assert_eq!(one.len(), other.len());
    for (step, (one, other)) in one.iter().zip(other).enumerate() {
        assert!((one - other).norm() < tolerance, "step {step}: {one:?} {other:?}");
    }
}

const HALF: [f64; 3] = [0.2, 0.15, 0.1];

/// A body with the shape of a box, as a box or as a hull, thrown on a floor.
fn thrown(
    is_hull: bool,
    floor: impl Fn(&mut Scene) -> usize,
    turn: [f64; 3],
    mu: f64,
) -> (Simulation, usize) {
    let mut scene = Scene::new(GRAVITY);
    let shape = if is_hull {
        NodeShape::Hull(cube(&mut scene, HALF))
    } else {
        NodeShape::Box(Cuboid { half: Vector3::from(HALF) })
    };
    let node = scene.body(shape, 2.0, inertia_of_box(2.0, HALF), [0.0, 0.0, 0.5]);
    let floor = floor(&mut scene);
    scene.contact(node, floor, 0.3, mu);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::from(turn));
    run.state.nodes[node].velocity = Vector3::new(0.5, 0.2, 0.0);
    (run, node)
}

#[test]
fn a_hull_of_a_box_moves_as_the_box_on_a_plane() {
    for (turn, mu) in
        [([0.0; 3], 0.0), ([0.3, 0.2, 0.1], 0.0), ([0.3, 0.2, 0.1], 0.4), ([0.0, 0.4, 0.0], 0.4)]
    {
        let paths = [false, true].map(|is_hull| {
            let (run, node) = thrown(is_hull, |scene| scene.plane([0.0, 0.0, 1.0]), turn, mu);
            path(run, node, 1e-3, 600)
        });
        assert_same(&paths[0], &paths[1], 1e-9);
    }
}

/// Where a box rattles to rest, round-off decides on how many impacts there are: compared are the impacts before.
#[test]
fn a_hull_of_a_box_moves_as_the_box_on_a_box() {
    for (turn, mu, steps) in [([0.0; 3], 0.0, 500), ([0.3, 0.2, 0.1], 0.0, 400), ([0.3, 0.2, 0.1], 0.3, 400)]
    {
        let half = [1.0, 1.0, 0.25];
        let on_box = |scene: &mut Scene| {
            scene.solid(Solid::Box(Cuboid { half: Vector3::from(half) }), [0.0, 0.0, -0.25])
        };
        let on_hull = |scene: &mut Scene| {
            let facets = cube(scene, half);
            scene.solid(Solid::Hull(facets), [0.0, 0.0, -0.25])
        };
        let (run, node) = thrown(false, on_box, turn, mu);
        let expected = path(run, node, 1e-3, steps);
        for is_hull in [false, true] {
            let (run, node) = thrown(is_hull, on_hull, turn, mu);
            println!("turn {turn:?}, mu {mu}, on a hull, {is_hull}");
            assert_same(&path(run, node, 1e-3, steps), &expected, 1e-9);
        }
        let (run, node) = thrown(true, on_box, turn, mu);
        println!("turn {turn:?}, mu {mu}, a hull on a box");
        assert_same(&path(run, node, 1e-3, steps), &expected, 1e-9);
    }
}

/// Bodies that bounce, slide and roll over a flat floor of triangles move as over a plane.
#[test]
fn a_flat_mesh_is_a_plane() {
    let solid_ball = |scene: &mut Scene| scene.solid_ball(1.0, 0.1, [-0.63, -0.4, 0.1]);
    let high_ball = |scene: &mut Scene| scene.ball(1.0, 0.1, [-0.6, -0.4, 0.5]);
    let cuboid = |scene: &mut Scene| scene.solid_box(1.0, [0.2, 0.1, 0.05], [-0.63, -0.4, 0.05]);
    let tilted_box = |scene: &mut Scene| scene.solid_box(1.0, [0.2, 0.1, 0.05], [-0.63, -0.4, 0.3]);
    let points = |scene: &mut Scene| scene.cuboid(1.0, [0.2, 0.1, 0.05], [-0.63, -0.4, 0.05]);
    let capsule = |scene: &mut Scene| {
        let shape = NodeShape::Capsule(Capsule { half_axis: Vector3::y() * 0.2, radius: 0.1 });
        scene.body(shape, 1.0, [0.02, 0.005, 0.02], [-0.63, -0.4, 0.1])
    };
    let hull = |scene: &mut Scene| {
        let facets = cube(scene, [0.2, 0.1, 0.05]);
        scene.body(NodeShape::Hull(facets), 1.0, inertia_of_box(1.0, [0.2, 0.1, 0.05]), [-0.63, -0.4, 0.05])
    };
    // With the tilt, and steps until the box rattles.
    type Body<'a> = &'a dyn Fn(&mut Scene) -> usize;
    let bodies: [(&str, Body, f64, usize); 7] = [
        ("solid ball", &solid_ball, 0.0, 500),
        ("high ball", &high_ball, 0.0, 500),
        ("box", &cuboid, 0.0, 500),
        ("tilted box", &tilted_box, 0.5, 350),
        ("points", &points, 0.0, 500),
        ("capsule", &capsule, 0.0, 500),
        ("hull", &hull, 0.0, 500),
    ];
    for (name, body, tilt, steps) in bodies {
        let paths = [false, true].map(|is_mesh| {
            let mut scene = Scene::new(GRAVITY);
            let node = body(&mut scene);
            let floor = if is_mesh {
                let facets = terrain(&mut scene, 11, 0.37, |_, _| 0.0);
                scene.solid(Solid::Mesh(facets), [0.0; 3])
            } else {
                scene.plane([0.0, 0.0, 1.0])
            };
            scene.contact(node, floor, 0.4, 0.3);
            let mut run = scene.build();
            run.state.nodes[node].velocity = Vector3::new(2.0, 0.9, 0.0);
            if tilt > 0.0 {
                run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(tilt, 0.3 * tilt, 0.1));
            }
            path(run, node, 1e-3, steps)
        });
        println!("{name}");
        assert_same(&paths[0], &paths[1], 1e-9);
    }
}

/// A tetrahedron that falls comes to rest on a face.
#[test]
fn a_tetrahedron_comes_to_rest_on_a_face() {
    for turn in [[0.1, 0.0, 0.0], [2.0, 1.0, 0.5], [0.7, -1.2, 2.0]] {
        let mut scene = Scene::new(GRAVITY);
        let size = 0.1;
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
            .map(|corner| corner.map(|x: f64| x * size));
        let facets = scene.facets(&corners, &[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]);
        // Edges of 2 sqrt(2) size: I = m a^2 / 20.
        let inertia = 8.0 * size * size / 20.0;
        let node = scene.body(NodeShape::Hull(facets), 1.0, [inertia; 3], [0.0, 0.0, 0.4]);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let contact = scene.contact(node, floor, 0.2, 0.5);
        let mut run = scene.build();
        run.rotation(node).orientation = Orientation::from_turn(&Vector3::from(turn));
        for _ in 0..3000 {
            run.advance(1e-3);
        }
        let orientation = run.rotation(node).orientation;
        let position = run.state.nodes[node].position;
        let mut heights = corners.map(|corner| (position + orientation.to_world(&Vector3::from(corner)))[2]);
        heights.sort_by(f64::total_cmp);
        assert!(heights[..3].iter().all(|height| height.abs() < 1e-9), "{heights:?}");
        // The height of a tetrahedron is sqrt(2/3) of its edge.
        assert!((heights[3] - (2.0_f64 / 3.0).sqrt() * 8.0_f64.sqrt() * size).abs() < 1e-9);
        assert!(run.state.nodes[node].velocity.norm() < 1e-9);
        assert!(run.rotation(node).angular_velocity.norm() < 1e-8);
        let load = run.state.contacts[contact].normal_impulse / 1e-3;
        assert!((load - GRAVITY).abs() < 1e-6, "{load}");
    }
}

/// A ball on a ramp of heights rolls down with `5/7 g sin`, or slides with `g (sin - mu cos)`.
#[test]
fn a_ball_on_a_ramp_of_heights_moves_as_on_the_incline() {
    let slope: f64 = 0.3;
    let (sin, cos) = slope.sin_cos();
    for (mu, acceleration) in
        [(0.5, 5.0 / 7.0 * GRAVITY * sin), (0.0, GRAVITY * sin), (0.05, GRAVITY * (sin - 0.05 * cos))]
    {
        let mut scene = Scene::new(GRAVITY);
        let facets = terrain(&mut scene, 21, 0.23, |x, _| -x * slope.tan());
        let ramp = scene.solid(Solid::Mesh(facets), [0.0; 3]);
        let normal = Vector3::new(sin, 0.0, cos);
        let start = normal * 0.1 + Vector3::new(-0.9 * cos, 0.07, 0.9 * sin);
        let node = scene.solid_ball(1.0, 0.1, start.into());
        scene.contact(node, ramp, 0.0, mu);
        let mut run = scene.build();
        for _ in 0..1000 {
            run.advance(1e-3);
        }
        let travel = run.state.nodes[node].position - start;
        let along = Vector3::new(cos, 0.0, -sin);
        assert!((travel - along * (0.5 * acceleration)).norm() < 1e-9, "{mu}: {travel:?}");
    }
}

/// A ball in a valley rests on both of its sides, each of which carries `m g / (2 cos)`.
#[test]
fn a_ball_rests_in_a_valley() {
    let slope: f64 = 0.5;
    let mut scene = Scene::new(GRAVITY);
    let facets = terrain(&mut scene, 11, 0.2, |x, _| x.abs() * slope.tan());
    let valley = scene.solid(Solid::Mesh(facets), [0.0; 3]);
    let node = scene.ball(2.0, 0.15, [0.0, 0.05, 0.15 / slope.cos()]);
    let contact = scene.contact(node, valley, 0.0, 0.0);
    let mut run = scene.build();
    for _ in 0..500 {
        run.advance(1e-3);
        // The sum of the two normal forces.
        let load = run.state.contacts[contact].normal_impulse / 1e-3;
        assert!((load - 2.0 * GRAVITY / slope.cos()).abs() < 1e-6, "{load}");
    }
    assert!((run.state.nodes[node].position - Vector3::new(0.0, 0.05, 0.15 / slope.cos())).norm() < 1e-12);
}

/// A mesh that a master moves: a ball on it is carried as by a plane.
#[test]
fn a_mesh_that_moves_is_as_a_plane_that_moves() {
    let paths = [false, true].map(|is_mesh| {
        let mut scene = Scene::new(GRAVITY);
        let node = scene.solid_ball(1.0, 0.1, [0.3, 0.2, 0.1]);
        let (table, surface) = scene.prescribed_table([0.0; 3]);
        if is_mesh {
            let facets = terrain(&mut scene, 11, 0.3, |_, _| 0.0);
            scene.carry(surface, Solid::Mesh(facets));
        }
        scene.contact(node, surface, 0.0, 0.2);
        let mut run = scene.build();
        run.state.nodes[table].velocity = Vector3::new(0.4, 0.0, 0.1);
        run.rotation(table).angular_velocity = Vector3::new(0.0, 0.05, 0.3);
        path(run, node, 1e-3, 300)
    });
    assert_same(&paths[0], &paths[1], 1e-9);
}

/// A mesh at another place and turned is as an incline there.
#[test]
fn a_mesh_can_be_placed_and_turned() {
    let turn = Vector3::new(0.2, -0.1, 0.4);
    let orientation = Orientation::from_turn(&turn);
    let normal = orientation.to_world(&Vector3::z());
    let center = Vector3::new(1.0, -2.0, 0.5);
    let paths = [false, true].map(|is_mesh| {
        let mut scene = Scene::new(GRAVITY);
        let node = scene.solid_ball(1.0, 0.1, (center + normal * 0.3).into());
        let surface = if is_mesh {
            let facets = terrain(&mut scene, 11, 0.3, |_, _| 0.0);
            let solid = Solid::Mesh(facets);
            scene.surface(SurfaceShape::Solid { position: center, orientation, solid })
        } else {
            scene.surface(SurfaceShape::Plane { position: center, normal })
        };
        scene.contact(node, surface, 0.5, 0.2);
        path(scene.build(), node, 1e-3, 400)
    });
    assert_same(&paths[0], &paths[1], 1e-9);
}

/// A ball of 1 mm at 100 m/s against a plate of 1 mm, as a mesh and as a hull.
#[test]
fn nothing_tunnels_through_a_thin_plate() {
    for (is_mesh, captured) in [(false, false), (true, false), (false, true), (true, true)] {
        for offset in [0.0, 0.013, 0.037, 0.0999] {
            let scene = Scene::new(GRAVITY);
            let mut scene = if captured { scene.capturing() } else { scene };
            let ball = scene.ball(1e-6, 5e-4, [-0.3 - offset, 0.0, 0.0]);
            let facets = cube(&mut scene, [5e-4, 0.5, 0.5]);
            let solid = if is_mesh { Solid::Mesh(facets) } else { Solid::Hull(facets) };
            let plate = scene.solid(solid, [0.0; 3]);
            scene.contact(ball, plate, 0.5, 0.0);
            let mut run = scene.build();
            run.state.nodes[ball].velocity = Vector3::new(100.0, 3.0, 3.0);
            for _ in 0..10 {
                run.advance(1e-3);
                assert!(run.state.nodes[ball].position[0] <= -1e-3 + 1e-12, "{is_mesh} {captured} {offset}");
            }
            assert!((run.state.nodes[ball].velocity[0] + 50.0).abs() < 1e-9);
        }
    }
}

/// A thin plate that flies at 100 m/s, flat or on edge, against a wall of 1 mm, in captured steps: it touches with several
/// features at once.
#[test]
fn a_thin_plate_does_not_pass_a_thin_wall() {
    for is_mesh in [false, true] {
        for half in [[5e-4, 0.02, 0.03], [0.02, 5e-4, 0.03]] {
            for offset in [0.0, 0.013, 0.037, 0.0999] {
                let mut scene = Scene::new(0.0).capturing();
                let facets = cube(&mut scene, half);
                let plate = scene.body(
                    NodeShape::Hull(facets),
                    0.1,
                    inertia_of_box(0.1, half),
                    [-0.3 - offset, 0.01, 0.02],
                );
                let facets = cube(&mut scene, [5e-4, 0.5, 0.5]);
                let solid = if is_mesh { Solid::Mesh(facets) } else { Solid::Hull(facets) };
                let wall = scene.solid(solid, [0.0; 3]);
                scene.contact(plate, wall, 0.5, 0.0);
                let mut run = scene.build();
                run.state.nodes[plate].velocity = Vector3::new(100.0, 0.0, 0.0);
                for _ in 0..10 {
                    run.advance(1e-3);
                    let x = run.state.nodes[plate].position[0];
                    assert!(x <= -5e-4 - half[0] + 1e-9, "{is_mesh} {half:?} {offset}: {x}");
                }
                assert!((run.state.nodes[plate].velocity[0] + 50.0).abs() < 1e-6);
            }
        }
    }
}

/// Hulls that collide keep momentum and angular momentum, and contact adds no energy.
#[test]
fn hulls_that_collide_keep_momentum() {
    for turn in [[0.3, 0.2, 0.1], [0.0, 0.0, 0.785], [1.0, -0.5, 2.0]] {
        let mut scene = Scene::new(0.0);
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
            .map(|corner| corner.map(|x: f64| 0.2 * x));
        let wedge = scene.facets(&corners, &[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]);
        let one = scene.body(NodeShape::Hull(wedge), 1.0, [0.016; 3], [0.0; 3]);
        let facets = cube(&mut scene, [0.1, 0.3, 0.2]);
        let other = scene.body(
            NodeShape::Hull(facets),
            3.0,
            inertia_of_box(3.0, [0.1, 0.3, 0.2]),
            [0.8, 0.05, -0.03],
        );
        let surface = scene.surface_of(other);
        scene.contact(one, surface, 0.6, 0.3);
        scene.build().collide([one, other], turn);
    }
}

#[test]
fn derivatives_agree_with_differences() {
    let mut scene = Scene::new(GRAVITY);
    let facets = terrain(&mut scene, 9, 0.3, |x, y| 0.1 * (3.0 * x).sin() * (2.0 * y).cos());
    let ground = scene.solid(Solid::Mesh(facets), [0.0; 3]);
    let node = scene.solid_ball(1.0, 0.1, [0.11, 0.07, 0.3]);
    scene.contact(node, ground, 0.4, 0.3);
    let mut run = scene.build();
    run.rotation(node).angular_velocity = Vector3::new(1.0, 2.0, 3.0);
    run.advance_to_the_hit(1e-3);
    compare(&run, 1e-3, false);
}
