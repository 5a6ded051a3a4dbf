//! The models of the repository against exact solutions and against Siconos.

use crate::common;
use crate::common::{ExactBounce, capturing, model, reference, run, worst};
use crate::known_failures::judge;
use contact_fmu::engine::{ContactMode, State, gap, kinetic_energy, mechanical_energy};
use contact_fmu::examples;
use contact_fmu::model::{Between, Coupling, Model, Motion, NodeShape, Scheme};

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

/// Whether something from outside works on a model.
fn is_driven(model: &Model) -> bool {
    model.nodes.iter().any(|node| node.coupling != Coupling::Owned)
        || model.surfaces.iter().any(|surface| surface.motion != Motion::Fixed)
        || model.joints.iter().any(|joint| joint.motor.is_some())
}

/// Whether the scheme balances the energy of a model to round-off. Where bodies pivot or are in joints, where schemes damp
/// on purpose and where forces work over the round-off of positions, it does to its order.
fn balances_to_round_off(model: &Model) -> bool {
    let has_points = model.nodes.iter().all(|node| !matches!(node.shape, NodeShape::Box { .. }));
    let is_hard = model.contacts.iter().all(|contact| contact.compliance.is_none());
    let has_groups = model.contacts.iter().any(|contact| matches!(contact.between, Between::Group(_)));
    has_points
        && is_hard
        && !has_groups
        && model.joints.is_empty()
        && model.engine.scheme == Scheme::MoreauJean
}

#[test]
fn energy_never_rises_and_its_balance_closes() {
    for name in examples::names() {
        let model = model(name);
        if !is_driven(&model) {
            judge(&format!("physics::energy[{name}]"), || energy_balances(name, &model));
        }
    }
}

fn energy_balances(name: &str, model: &Model) {
    let (step, stop) = (model.experiment.step, model.experiment.stop.min(5.0));
    let run = run(model, step, stop);
    let kinetic = worst(&run.states, 0.0..=stop, kinetic_energy);
    for pair in run.states.windows(2) {
        let lost = pair[1].step.dissipated - pair[0].step.dissipated;
        assert!(lost > -1e-12 * kinetic.max(1e-2), "{name} at {}: {lost:e}", pair[1].time);
    }
    // Moreau-Jean itself may gain up to m (g h)^2 where it pushes a captured contact back out.
    let is_exact = balances_to_round_off(model);
    let captured = is_exact.then(|| common::run(&capturing(name), step, stop));
    for run in [Some(run), captured].into_iter().flatten() {
        let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
        let start = total(&run.states[0]);
        let balance = worst(&run.states, 0.0..=stop, |state| (total(state) - start).abs());
        let most = 1e-10 + if is_exact { 0.0 } else { 1e-3 * kinetic };
        assert!(balance < most, "{name}: {balance:e} J, may be {most:e}");
    }
}
