//! The models of the repository against exact solutions and against Siconos.

use crate::common;
use crate::common::{ExactBounce, capturing, model, reference, run, worst};
use contact_fmu::engine::{ContactMode, State, gap, mechanical_energy};
use contact_fmu::examples;
use contact_fmu::model::{NodeShape, Scheme};

const TILT: f64 = 0.05;

fn travel(state: &State<f64>, node: usize, angle: f64) -> f64 {
    let r = state.nodes[node].position;
    r[0] * angle.cos() - r[2] * angle.sin()
}

#[test]
fn bouncing_ball_is_exact_in_time_at_any_step() {
    let exact = ExactBounce { height: 0.801, g: 10.0, restitution: 0.8, along: 0.0, mu: 0.0 };
    for step in [1e-3, 1e-2, 3.7e-4] {
        let run = run(&model("bouncing_ball"), step, 5.0);
        let height = |state: &State<f64>| gap(&run.system, state, 0);
        let error = worst(&run.states, 0.0..=3.4, |state| (height(state) - exact.at(state.time).0).abs());
        assert!(error < 1e-12, "step {step}: {error:e}");
        let rest = worst(&run.states, 3.61..=5.0, |state| height(state).abs());
        assert!(rest < 1e-15, "step {step}: {rest:e}");
        let last = run.states.last().unwrap();
        assert!((last.contacts[0].normal_impulse / last.step.duration - 10.0).abs() < 1e-9);
        let balance = worst(&run.states, 0.0..=5.0, |state| {
            (mechanical_energy(&run.system, state) + state.step.dissipated - 10.01).abs()
        });
        assert!(balance < 1e-12, "step {step}: energy balance {balance:e}");
    }
}

#[test]
fn captured_bouncing_ball_is_the_one_of_siconos() {
    let run = run(&capturing("bouncing_ball"), 1e-3, 5.0);
    for (state, row) in run.states.iter().zip(reference("bouncing_ball")) {
        assert!((state.nodes[0].position[2] - row[1]).abs() < 1e-12, "t {}", row[0]);
        assert!((state.nodes[0].velocity[2] - row[2]).abs() < 1e-12, "t {}", row[0]);
        assert!((state.contacts[0].normal_impulse - row[3]).abs() < 1e-12, "t {}", row[0]);
    }
}

#[test]
fn captured_planes_are_the_ones_of_siconos() {
    for name in ["tilted_plane", "tilted_plane_friction", "double_impact"] {
        let run = run(&capturing(name), 1e-3, 5.0);
        let rows = reference(name);
        assert_eq!(run.states.len(), 5001);
        for (state, row) in run.states.iter().zip(rows) {
            for axis in 0..3 {
                let error = (state.nodes[0].position[axis] - row[1 + axis]).abs();
                assert!(error < 1e-11, "{name} at {}: {error:e}", row[0]);
            }
        }
    }
}

#[test]
fn tilted_planes_are_exact_with_time_of_impact() {
    for (name, mu) in [("tilted_plane", 0.0), ("tilted_plane_friction", 0.02)] {
        let exact = ExactBounce {
            height: TILT.cos() - 0.1,
            g: 9.81 * TILT.cos(),
            restitution: 0.8,
            along: 9.81 * TILT.sin(),
            mu,
        };
        let run = run(&model(name), 1e-3, 5.0);
        let start = travel(&run.states[0], 0, TILT);
        let error = worst(&run.states, 0.0..=5.0, |state| {
            let (height, along) = exact.at(state.time);
            (gap(&run.system, state, 0) - height).abs().max((travel(state, 0, TILT) - start - along).abs())
        });
        assert!(error < 1e-9, "{name}: {error:e}");
        let last = run.states.last().unwrap();
        let (_, along) = exact.at(5.0);
        let published = if mu > 0.0 { 3.697235623547136 } else { 0.5 * 9.81 * TILT.sin() * 25.0 };
        assert!((along - published).abs() < 1e-9, "{name}: the exact solution itself");
        assert!((last.contacts[0].normal_impulse / 1e-3 - 9.81 * TILT.cos()).abs() < 1e-9);
        assert_eq!(last.contacts[0].mode, ContactMode::Slip);
    }
}

#[test]
fn double_impact_stays_symmetric() {
    for model in [model("double_impact"), capturing("double_impact")] {
        let run = run(&model, 1e-3, 5.0);
        let sideways = worst(&run.states, 0.0..=5.0, |state| state.nodes[0].position[0].abs());
        assert!(sideways < 1e-12, "{sideways:e}");
        let difference = worst(&run.states, 0.0..=5.0, |state| {
            (state.contacts[0].normal_impulse - state.contacts[1].normal_impulse).abs()
        });
        assert!(difference < 1e-12, "{difference:e}");
        let first = run.states.iter().find(|state| state.contacts[0].normal_impulse > 1.0).unwrap();
        assert_eq!((first.time * 1e3).round(), 429.0);
    }
    // By symmetry the ball sees one horizontal plane at the height where both gaps close.
    let exact =
        ExactBounce { height: 1.0 - 0.1 / TILT.cos(), g: 9.81, restitution: 0.8, along: 0.0, mu: 0.0 };
    let run = run(&model("double_impact"), 1e-3, 5.0);
    let error = worst(&run.states, 0.0..=5.0, |state| {
        (state.nodes[0].position[2] - 0.1 / TILT.cos() - exact.at(state.time).0).abs()
    });
    assert!(error < 1e-9, "{error:e}");
}

#[test]
fn blocks_stick_below_and_slide_above_the_friction_angle() {
    let run = run(&model("resting_block"), 1e-3, 10.0);
    let angles = [10.0_f64, 16.0, 16.69, 16.71, 20.0].map(f64::to_radians);
    let rows = reference("resting_block");
    for (k, row) in rows.iter().enumerate() {
        let state = &run.states[100 * k];
        assert!((state.time - row[0]).abs() < 1e-12);
        for (block, angle) in angles.into_iter().enumerate() {
            let error = (travel(state, block, angle) - row[1 + block]).abs();
            assert!(error < 1e-10, "block {block} at {}: {error:e}", state.time);
        }
    }
    let last = run.states.last().unwrap();
    for block in 0..3 {
        assert_eq!(last.nodes[block].position, run.states[0].nodes[block].position, "no drift at all");
        assert_eq!(last.nodes[block].velocity.norm(), 0.0);
        assert_eq!(last.contacts[block].mode, ContactMode::Stick);
        assert_eq!(last.contacts[block].slip, 0.0);
    }
    for (block, slid) in [(3, 0.09613), (4, 29.485)] {
        assert!((travel(last, block, angles[block]) - slid).abs() < 5e-4 * slid);
        assert_eq!(last.contacts[block].mode, ContactMode::Slip);
    }
}

#[test]
fn energy_never_rises_and_its_balance_closes() {
    let is_hard = |name: &&str| model(name).contacts.iter().all(|contact| contact.compliance.is_none());
    let is_moreau_jean = |name: &&str| model(name).engine.scheme == Scheme::MoreauJean;
    // With joints the balance closes to the order of the scheme: tests/subsystems.rs, tests/joints.rs.
    let has_no_joints = |name: &&str| model(name).joints.is_empty();
    // So it does where bodies pivot on corners: tests/box_drop.rs, tests/stacks.rs, tests/dominoes.rs.
    let has_no_boxes =
        |name: &&str| model(name).nodes.iter().all(|node| !matches!(node.shape, NodeShape::Box { .. }));
    // A pile has its own: tests/ball_pit.rs.
    let has_no_groups = |name: &&str| *name != "ball_pit";
    // Continuous contact has its own: large forces work over the round-off of positions.
    let models = examples::names().filter(is_hard).filter(is_moreau_jean).filter(has_no_groups);
    for name in models.filter(has_no_joints).filter(has_no_boxes) {
        let run = run(&model(name), 1e-3, 5.0);
        for pair in run.states.windows(2) {
            let lost = pair[1].step.dissipated - pair[0].step.dissipated;
            assert!(lost > -1e-14, "{name} at {}: {lost:e}", pair[1].time);
        }
        // Moreau-Jean itself may gain up to m (g h)^2 where it pushes a captured contact back out.
        for run in [run, common::run(&capturing(name), 1e-3, 5.0)] {
            let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
            let start = total(&run.states[0]);
            let balance = worst(&run.states, 0.0..=5.0, |state| (total(state) - start).abs());
            assert!(balance < 1e-10, "{name}: {balance:e}");
        }
    }
}
