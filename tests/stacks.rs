//! Boxes, capsules and cylinders on planes and on one another.

mod bodies;

use bodies::{Scene, Simulation, compare};
use contact_fmu::engine::geometry::solids::{Capsule, Cylinder};
use contact_fmu::engine::{NodeShape, Orientation, mechanical_energy};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// Boxes of one size on one another, each turned a little about the vertical.
fn stack(count: usize, mu: f64, twist: f64) -> Simulation {
    let half = [0.1, 0.12, 0.05];
    let mut scene = Scene::new(GRAVITY).with_step(1e-2);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let boxes: Vec<usize> =
        (0..count).map(|level| scene.solid_box(1.0, half, [0.0, 0.0, 0.05 + 0.1 * level as f64])).collect();
    scene.contact(boxes[0], floor, 0.0, mu);
    for level in 1..count {
        let below = scene.surface_of(boxes[level - 1]);
        scene.contact(boxes[level], below, 0.0, mu);
    }
    let mut run = scene.build();
    for (level, &node) in boxes.iter().enumerate() {
        run.rotation(node).orientation = Orientation::from_turn(&(Vector3::z() * (twist * level as f64)));
    }
    run
}

#[test]
fn boxes_on_boxes_stand() {
    for (count, twist, steps) in [(2, 0.0, 1000), (3, 0.1, 100), (5, 0.1, 40)] {
        let mut run = stack(count, 0.5, twist);
        let start = run.state.clone();
        for _ in 0..steps {
            run.advance(1e-2);
            for (node, before) in run.state.nodes.iter().zip(&start.nodes) {
                let drift = (node.position - before.position).norm();
                assert!(drift < 1e-9, "{count} boxes, twist {twist}: {drift:e} m");
            }
            for (level, contact) in run.state.contacts.iter().enumerate() {
                let (load, weight) = (contact.normal_impulse / 1e-2, GRAVITY * (count - level) as f64);
                assert!((load - weight).abs() < 1e-6 * weight, "{count} boxes, level {level}: {load} N");
            }
        }
    }
}

#[test]
fn boxes_that_collide_keep_momentum() {
    for (turn, offset) in
        [([0.3, 0.2, 0.1], 0.05), ([0.0, 0.0, std::f64::consts::FRAC_PI_4], 0.0), ([0.0, 0.0, 0.0], 0.02)]
    {
        let mut scene = Scene::new(0.0);
        let one = scene.solid_box(1.0, [0.2, 0.1, 0.15], [0.0, 0.0, 0.0]);
        let other = scene.solid_box(3.0, [0.1, 0.3, 0.2], [0.8, offset, -offset]);
        let surface = scene.surface_of(other);
        scene.contact(one, surface, 0.6, 0.3);
        let mut run = scene.build();
        run.state.nodes[one].velocity = Vector3::new(2.0, 0.0, 0.0);
        run.rotation(one).orientation = Orientation::from_turn(&Vector3::from(turn));
        run.rotation(one).angular_velocity = Vector3::new(0.5, 1.0, 0.0);
        let (momentum, angular) = run.momenta();
        let mut energy = kinetic(&run);
        for _ in 0..500 {
            run.advance(1e-3);
            let now = kinetic(&run);
            assert!(now <= energy + 1e-9, "contact adds no energy: {:e}", now - energy);
            energy = now;
        }
        let after = run.momenta();
        assert!(run.state.nodes[other].velocity[0] > 0.1, "it was hit");
        assert!((after.0 - momentum).norm() < 1e-13, "{:e}", (after.0 - momentum).norm());
        assert!((after.1 - angular).norm() < 1e-9, "{:e}", (after.1 - angular).norm());
    }
}

fn kinetic(run: &Simulation) -> f64 {
    mechanical_energy(&run.system, &run.state)
}

/// A capsule that lies on a plane and rolls down without slipping: `a = g sin / (1 + I / (m R^2))`.
#[test]
fn a_capsule_rolls_down_a_slope() {
    let slope: f64 = 0.2;
    let normal = Vector3::new(slope.sin(), 0.0, slope.cos());
    let (mass, radius, inertia) = (2.0, 0.1, 0.01);
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane(normal.into());
    let shape = NodeShape::Capsule(Capsule { half_axis: Vector3::y() * 0.3, radius });
    let node = scene.body(shape, mass, [0.06, inertia, 0.06], (normal * radius).into());
    scene.contact(node, floor, 0.0, 0.5);
    let mut run = scene.build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let acceleration = GRAVITY * slope.sin() / (1.0 + inertia / (mass * radius * radius));
    let along = Vector3::new(slope.cos(), 0.0, -slope.sin());
    let travel = run.state.nodes[node].position - normal * radius;
    assert!((travel - along * (0.5 * acceleration)).norm() < 1e-9, "{travel:?}");
}

/// A cylinder stands on its end, and stays.
#[test]
fn a_cylinder_stands_on_its_cap() {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let shape = NodeShape::Cylinder(Cylinder { half_axis: Vector3::z() * 0.2, radius: 0.1 });
    let node = scene.body(shape, 1.0, [0.016, 0.016, 0.005], [0.0, 0.0, 0.2]);
    let contact = scene.contact(node, floor, 0.0, 0.3);
    let mut run = scene.build();
    for _ in 0..2000 {
        run.advance(1e-3);
        assert!((run.state.contacts[contact].normal_impulse - GRAVITY * 1e-3).abs() < 1e-9);
    }
    assert!((run.state.nodes[node].position - Vector3::z() * 0.2).norm() < 1e-12);
}

#[test]
fn derivatives_of_boxes_that_collide_agree_with_differences() {
    let mut scene = Scene::new(0.0);
    let one = scene.solid_box(1.0, [0.2, 0.1, 0.15], [0.0, 0.0, 0.0]);
    let other = scene.solid_box(3.0, [0.1, 0.3, 0.2], [0.5, 0.05, -0.05]);
    let surface = scene.surface_of(other);
    scene.contact(one, surface, 0.6, 0.3);
    let mut run = scene.build();
    run.state.nodes[one].velocity = Vector3::new(2.0, 0.1, 0.0);
    run.rotation(one).orientation = Orientation::from_turn(&Vector3::new(0.3, 0.2, 0.1));
    run.advance_to_the_hit(1e-3);
    compare(&run, 1e-3, false);
}
