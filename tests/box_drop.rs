//! Boxes that fall on a corner, an edge and a face: the first impact against closed forms, energy, rest.

use crate::common;
use contact_fmu::engine::{
    NodeState, Orientation, Quality, RotationState, Workspace, advance, gap, mechanical_energy,
};
use nalgebra::{Matrix3, Vector3};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 2.4;
const INERTIA: Vector3<f64> = Vector3::new(0.01, 0.02, 0.026);
const HALF: Vector3<f64> = Vector3::new(0.15, 0.1, 0.05);
const HEIGHT: f64 = 0.5;
const STEP: f64 = 1e-3;
/// Order of the boxes in the model.
const CORNER: usize = 0;
const EDGE: usize = 1;
const FACE: usize = 2;

fn world_inertia(orientation: &Orientation<f64>) -> Matrix3<f64> {
    let columns = [0, 1, 2].map(|axis| orientation.to_world(&Vector3::ith(axis, 1.0)));
    let turn = Matrix3::from_columns(&columns);
    turn * Matrix3::from_diagonal(&INERTIA) * turn.transpose()
}

fn angular_momentum(rotation: &RotationState<f64>) -> Vector3<f64> {
    world_inertia(&rotation.orientation) * rotation.angular_velocity
}

/// From the centre to the lowest corner.
fn lowest(orientation: &Orientation<f64>) -> Vector3<f64> {
    let sign = |index: usize, bit: usize| if index >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let corners =
        (0..8).map(|index| orientation.to_world(&Vector3::from_fn(|axis, _| sign(index, axis) * HALF[axis])));
    corners.min_by(|one, other| one[2].total_cmp(&other[2])).expect("there are corners")
}

/// What an impact does to a box that falls without spin: velocity and angular momentum after it, from the state at the
/// end of the step. Between the impact and there it flies.
struct Impact {
    orientation: Orientation<f64>,
    velocity: Vector3<f64>,
    angular_momentum: Vector3<f64>,
}

fn fall_time() -> f64 {
    (2.0 * HEIGHT / GRAVITY).sqrt()
}

fn impact_speed() -> f64 {
    GRAVITY * fall_time()
}

/// The first impacts of all boxes of the model, with other coefficients.
fn first_impacts(restitution: f64, mu: f64) -> Vec<Impact> {
    let (system, mut state) = common::model("box_drop").assemble();
    state.parameters.restitution.fill(restitution);
    state.parameters.mu.fill(mu);
    let orientations: Vec<_> = state.rotations.iter().map(|rotation| rotation.orientation).collect();
    let mut workspace = Workspace::new(&system);
    let steps = (fall_time() / STEP).ceil();
    for _ in 0..steps as usize {
        assert_eq!(advance(&system, &mut state, &mut workspace, STEP), Ok(Quality::Solved));
    }
    let since = steps * STEP - fall_time();
    let boxes = state.nodes.iter().zip(&state.rotations).zip(orientations);
    boxes
        .map(|((node, rotation), orientation)| Impact {
            orientation,
            velocity: node.velocity + Vector3::z() * (GRAVITY * since),
            angular_momentum: angular_momentum(rotation),
        })
        .collect()
}

/// Velocity of a point for an impulse there.
fn mobility(orientation: &Orientation<f64>, arm: &Vector3<f64>) -> Matrix3<f64> {
    let cross = arm.cross_matrix();
    let turning = world_inertia(orientation).try_inverse().expect("inertia is regular");
    Matrix3::identity() / MASS - cross * turning * cross
}

fn agrees(impact: &Impact, impulse: &Vector3<f64>, arm: &Vector3<f64>) {
    let velocity = Vector3::z() * -impact_speed() + impulse / MASS;
    assert!((impact.velocity - velocity).norm() < 1e-9, "{:?} against {velocity:?}", impact.velocity);
    let angular = arm.cross(impulse);
    let found = &impact.angular_momentum;
    assert!((found - angular).norm() < 1e-9, "{found:?} against {angular:?}");
}

/// Without friction, and where friction holds, the impulse of one corner follows from a linear equation.
#[test]
fn a_corner_without_friction_and_with_much() {
    for restitution in [0.3, 0.6, 1.0] {
        let free = &first_impacts(restitution, 0.0)[CORNER];
        let arm = lowest(&free.orientation);
        let w = mobility(&free.orientation, &arm);
        let normal = (1.0 + restitution) * impact_speed();
        agrees(free, &(Vector3::z() * (normal / w[(2, 2)])), &arm);
        let held = &first_impacts(restitution, 10.0)[CORNER];
        let impulse = w.try_inverse().expect("one corner is regular") * (Vector3::z() * normal);
        agrees(held, &impulse, &arm);
    }
}

/// Where a corner slides, the laws tell: friction is on its limit and against the slip, the corner rebounds.
#[test]
fn a_corner_that_slides_obeys_the_laws() {
    let (restitution, mu) = (0.3, 0.1);
    let slid = &first_impacts(restitution, mu)[CORNER];
    let arm = lowest(&slid.orientation);
    let impulse = (slid.velocity + Vector3::z() * impact_speed()) * MASS;
    agrees(slid, &impulse, &arm);
    let after = Vector3::z() * -impact_speed() + mobility(&slid.orientation, &arm) * impulse;
    assert!((after[2] - restitution * impact_speed()).abs() < 1e-9);
    let (slip, friction) = (after.xy(), impulse.xy());
    assert!(slip.norm() > 0.1, "it slides: {slip:?}");
    assert!((friction.norm() - mu * impulse[2]).abs() < 1e-9);
    assert!((slip.dot(&friction) + slip.norm() * friction.norm()).abs() < 1e-9, "against the slip");
}

/// A box on its edge is a planar problem: `p_t = -+ mu p_n` where it slides.
#[test]
fn an_edge_slides_or_holds() {
    for (restitution, mu) in [(0.3, 0.0), (0.3, 0.1), (0.2, 0.2), (0.3, 0.4), (0.5, 5.0)] {
        let impact = &first_impacts(restitution, mu)[EDGE];
        let corner = lowest(&impact.orientation);
        let arm = Vector3::new(corner[0], 0.0, corner[2]);
        let (inertia, speed) = (INERTIA[1], impact_speed());
        let (wn, wt) = (1.0 / MASS + arm[0] * arm[0] / inertia, 1.0 / MASS + arm[2] * arm[2] / inertia);
        let across = -arm[0] * arm[2] / inertia;
        let normal = (1.0 + restitution) * speed;
        let held =
            (wt * normal / (wn * wt - across * across), -across * normal / (wn * wt - across * across));
        let (pn, pt) = if held.1.abs() <= mu * held.0 {
            held
        } else {
            let side = -(across * held.0).signum();
            let pn = normal / (wn + mu * side * across);
            (pn, mu * side * pn)
        };
        agrees(impact, &Vector3::new(pt, 0.0, pn), &arm);
    }
}

/// What the README says of the first impacts.
#[test]
fn all_boxes_meet_the_floor_at_the_same_time() {
    assert!((fall_time() - 0.319275).abs() < 5e-7);
    assert!((impact_speed() - 3.132092).abs() < 5e-7);
    assert!((0.3 * impact_speed() - 0.939628).abs() < 5e-7);
    let (system, mut state) = common::model("box_drop").assemble();
    assert_eq!(state.parameters.restitution[FACE], 0.3);
    let mut workspace = Workspace::new(&system);
    for (duration, has_met) in [(fall_time() - 1e-6, false), (2e-6, true)] {
        assert_eq!(advance(&system, &mut state, &mut workspace, duration), Ok(Quality::Solved));
        for (index, contact) in state.contacts.iter().enumerate() {
            assert_eq!(contact.normal_impulse > 0.0, has_met, "box {index}");
        }
    }
}

#[test]
fn a_face_rebounds_without_turning() {
    for (restitution, mu) in [(0.1, 0.4), (0.3, 0.4), (0.3, 0.0), (1.0, 0.4)] {
        let impact = &first_impacts(restitution, mu)[FACE];
        let expected = Vector3::z() * (restitution * impact_speed());
        assert!((impact.velocity - expected).norm() < 1e-9, "{:?}", impact.velocity);
        assert!(impact.angular_momentum.norm() < 1e-11, "{:?}", impact.angular_momentum);
    }
}

fn is_at_rest(node: &NodeState<f64>, rotation: &RotationState<f64>) -> bool {
    node.velocity.norm() < 1e-9 && rotation.angular_velocity.norm() < 1e-9
}

/// What the README says: contact adds no energy, the balance closes, and after 3 s every box lies on its largest face.
#[test]
fn boxes_come_to_rest_on_a_face() {
    let (system, mut state) = common::model("box_drop").assemble();
    let mut workspace = Workspace::new(&system);
    let start = mechanical_energy(&system, &state);
    let mut energy = start;
    for step in 1..=3000 {
        assert_eq!(advance(&system, &mut state, &mut workspace, STEP), Ok(Quality::Solved), "step {step}");
        let now = mechanical_energy(&system, &state);
        assert!(now - energy < 1e-12 * start, "step {step}: {:e} J more", now - energy);
        energy = now;
        let balance = now + state.step.dissipated - start;
        assert!(balance.abs() < 1e-12 * start, "step {step}: {balance:e} J");
    }
    for (index, (node, rotation)) in state.nodes.iter().zip(&state.rotations).enumerate() {
        assert!(is_at_rest(node, rotation), "box {index}: {node:?} {rotation:?}");
        assert!((node.position[2] - HALF[2]).abs() < 1e-9, "box {index}: {:?}", node.position);
        let up = rotation.orientation.to_world(&Vector3::z());
        assert!((up[2].abs() - 1.0).abs() < 1e-12, "box {index}: {up:?}");
        assert!(gap(&system, &state, index).abs() < 1e-11);
        let force = state.contacts[index].normal_impulse / STEP;
        assert!((force - MASS * GRAVITY).abs() < 1e-8, "box {index}: {force} N");
    }
}
