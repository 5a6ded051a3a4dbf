//! Boxes, capsules and cylinders on planes and on one another.

use crate::bodies::{Scene, Simulation, compare};
use crate::common;
use contact_fmu::engine::geometry::solids::{Capsule, Cylinder};
use contact_fmu::engine::{NodeShape, Orientation, Quality, Workspace, advance, mechanical_energy};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// Boxes of one size above one another.
#[derive(Clone, Copy)]
struct Stack {
    count: usize,
    mu: f64,
    restitution: f64,
    /// Between neighbours, about the vertical.
    twist: f64,
    /// Below every box at the start.
    gap: f64,
    step: f64,
}

const TEN: Stack = Stack { count: 10, mu: 0.5, restitution: 0.0, twist: 0.1, gap: 0.0, step: 1e-2 };

impl Stack {
    fn build(&self) -> Simulation {
        let half = [0.1, 0.12, 0.05];
        let mut scene = Scene::new(GRAVITY).with_step(self.step);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let height = |level: usize| 0.05 + 0.1 * level as f64 + self.gap * (level + 1) as f64;
        let boxes: Vec<usize> =
            (0..self.count).map(|level| scene.solid_box(1.0, half, [0.0, 0.0, height(level)])).collect();
        scene.contact(boxes[0], floor, self.restitution, self.mu);
        for level in 1..self.count {
            let below = scene.surface_of(boxes[level - 1]);
            scene.contact(boxes[level], below, self.restitution, self.mu);
        }
        let mut run = scene.build();
        for (level, &node) in boxes.iter().enumerate() {
            let turn = Vector3::z() * (self.twist * level as f64);
            run.rotation(node).orientation = Orientation::from_turn(&turn);
        }
        run
    }

    /// Stands for `time` from the present state: no box drifts further, every contact carries what is above it.
    fn stands(&self, run: &mut Simulation, time: f64, furthest: f64) {
        let start = run.state.clone();
        for _ in 0..(time / self.step).round() as usize {
            run.advance(self.step);
            for (node, before) in run.state.nodes.iter().zip(&start.nodes) {
                let drift = (node.position - before.position).norm();
                assert!(drift < furthest, "{} boxes at {} s: {drift:e} m", self.count, run.state.time);
            }
            for (level, contact) in run.state.contacts.iter().enumerate() {
                let (load, weight) =
                    (contact.normal_impulse / self.step, GRAVITY * (self.count - level) as f64);
                assert!((load - weight).abs() < 1e-9 * weight, "level {level}: {load} N for {weight} N");
            }
        }
    }
}

/// Whether runs that take minutes are wanted.
fn is_long() -> bool {
    std::env::var_os("CONTACT_FMU_LONG").is_some()
}

#[test]
fn boxes_on_boxes_stand() {
    for (count, twist) in [(2, 0.0), (3, 0.1), (5, 0.1)] {
        let stack = Stack { count, twist, ..TEN };
        stack.stands(&mut stack.build(), 10.0, 1e-10);
    }
}

#[test]
fn ten_boxes_stand_for_a_minute() {
    for (twist, step) in [(0.1, 1e-2), (0.0, 1e-2), (0.1, 1e-3)] {
        let stack = Stack { twist, step, ..TEN };
        let time = if step > 1e-3 || is_long() { 60.0 } else { 3.0 };
        stack.stands(&mut stack.build(), time, 1e-10);
    }
}

/// Ten boxes, a millimetre above one another, fall, bounce, settle and stand where the closed stack is.
#[test]
fn ten_boxes_that_fall_settle_and_stand() {
    for (restitution, step) in [(0.0, 1e-2), (0.3, 1e-2), (0.0, 1e-3), (0.3, 1e-3)] {
        let stack = Stack { restitution, step, gap: 1e-3, ..TEN };
        let mut run = stack.build();
        let mut energy = mechanical_energy(&run.system, &run.state);
        for _ in 0..(0.5 / step).round() as usize {
            run.advance(step);
            let now = mechanical_energy(&run.system, &run.state);
            assert!(now < energy + 1e-9, "e {restitution}, h {step}: {:e} J more", now - energy);
            energy = now;
        }
        for (level, node) in run.state.nodes.iter().enumerate() {
            let place = Vector3::z() * (0.05 + 0.1 * level as f64);
            assert!((node.position - place).norm() < 1e-9, "e {restitution}, h {step}: {:?}", node.position);
        }
        stack.stands(&mut run, 2.0, 1e-10);
    }
}

/// The work of a step at rest grows with the number of boxes, not with a power of it. Counted, not timed: solver
/// iterations over equations that are linear in it.
#[test]
fn tall_stacks_take_no_more_iterations() {
    for count in [5, 10, 20, 40] {
        let stack = Stack { count, ..TEN };
        let mut run = stack.build();
        let mut iterations = 0;
        for _ in 0..100 {
            run.advance(stack.step);
            iterations += run.state.step.iterations;
        }
        assert!(iterations < 400, "{count} boxes: {iterations} in 100 steps");
    }
}

/// What the README of the model says.
#[test]
fn the_model_stands() {
    const STEP: f64 = 1e-2;
    let (system, mut state) = common::model("box_stack").assemble();
    let mut workspace = Workspace::new(&system);
    let start = state.clone();
    for step in 1..=6000 {
        assert_eq!(advance(&system, &mut state, &mut workspace, STEP), Ok(Quality::Solved), "step {step}");
    }
    for (level, (node, before)) in state.nodes.iter().zip(&start.nodes).enumerate() {
        assert!((node.position - before.position).norm() < 1e-10, "box {level}: {:?}", node.position);
        let force = state.contacts[level].normal_impulse / STEP;
        let weight = 11.772 * (10 - level) as f64;
        assert!((force - weight).abs() < 1e-9 * weight, "contact {level}: {force} N");
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
