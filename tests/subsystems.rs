//! Models of springs and joints with contact, against exact solutions and Siconos.

use crate::common::{Run, capturing, model, numbers, run, worst};
use contact_fmu::engine::{ContactMode, State, mechanical_energy};
use contact_fmu::model::Model;

/// Height of the lower mass, and of the upper one less the length of the spring at rest.
fn heights(state: &State<f64>) -> [f64; 2] {
    [state.nodes[0].position[2], state.nodes[1].position[2] - 1.0]
}

fn with_stiffness(mut model: Model, stiffness: f64) -> Model {
    for spring in &mut model.springs {
        spring.stiffness = stiffness;
    }
    model
}

fn total_energy(run: &Run, state: &State<f64>) -> f64 {
    mechanical_energy(&run.system, state) + state.step.dissipated
}

#[test]
fn an_oscillator_follows_the_exact_one_until_the_third_impact() {
    for (stiffness, file, third_impact) in [(1e3, "exact_k1e3", 0.969), (1e4, "exact_k1e4", 1.0058)] {
        let mut model = with_stiffness(model("oscillator"), stiffness);
        model.engine.step = 1e-4;
        let run = run(&model, 1e-3, third_impact);
        let mut worst = 0.0_f64;
        for (state, row) in run.states.iter().zip(numbers(&format!("models/oscillator/{file}.csv"))) {
            let [lower, upper] = heights(state);
            worst = worst.max((lower - row[1]).abs()).max((upper - row[2]).abs());
        }
        assert!(worst < 1e-4, "k = {stiffness}: {worst:e} m");
    }
}

#[test]
fn a_captured_oscillator_is_that_of_siconos() {
    let run = run(&capturing("oscillator"), 1e-3, 0.9);
    for (state, row) in run.states.iter().zip(numbers("models/oscillator/reference.csv")) {
        let [lower, upper] = heights(state);
        assert!((lower - row[1]).abs() < 1e-8 && (upper - row[2]).abs() < 1e-8, "t {}", row[0]);
    }
}

#[test]
fn energy_of_springs_balances_to_round_off() {
    for model in [model("oscillator"), capturing("oscillator"), model("chain"), capturing("chain")] {
        let run = run(&model, 1e-3, 4.0);
        let start = total_energy(&run, &run.states[0]);
        let balance = worst(&run.states, 0.0..=4.0, |state| (total_energy(&run, state) - start).abs());
        assert!(balance < 1e-10 * start.abs().max(1.0), "{}: {balance:e}", model.name);
    }
}

#[test]
fn a_captured_chain_is_that_of_siconos() {
    for (theta, file, energy) in [(0.5, "reference", 49.286), (1.0, "reference_theta1", 46.555)] {
        let mut model = capturing("chain");
        model.engine.theta = theta;
        let run = run(&model, 1e-3, 5.0);
        let pressed: Vec<f64> = run
            .states
            .iter()
            .filter(|state| state.contacts[0].normal_impulse > 0.0)
            .map(|state| state.time)
            .collect();
        let (first, last) = (pressed[0], pressed[pressed.len() - 1]);
        assert!((first - 0.802).abs() < 1e-9, "{first}");
        assert!(theta == 1.0 || (last - 2.801).abs() < 1e-9, "{last}");
        let end = mechanical_energy(&run.system, run.states.last().unwrap());
        assert!((end - energy).abs() < 1e-3, "theta {theta}: {end}");
        for (state, row) in run.states.iter().step_by(10).zip(numbers(&format!("models/chain/{file}.csv"))) {
            for (column, node) in [0, 1, 49, 99].into_iter().enumerate() {
                let displaced = state.nodes[node].position[0] - node as f64;
                let error = (displaced - row[1 + column]).abs();
                assert!(error < 1e-8, "theta {theta}, mass {node} at {}: {error:e}", row[0]);
            }
        }
    }
}

#[test]
fn a_chain_keeps_a_line() {
    let run = run(&model("chain"), 1e-3, 4.0);
    let sideways = worst(&run.states, 0.0..=4.0, |state| {
        state.nodes.iter().map(|node| node.position[1].abs().max(node.position[2].abs())).fold(0.0, f64::max)
    });
    assert_eq!(sideways, 0.0);
}

#[test]
fn a_held_link_is_that_of_the_reduced_equations() {
    let run = run(&capturing("reduced_dae"), 1e-3, 5.0);
    for (state, row) in run.states.iter().step_by(10).zip(numbers("models/reduced_dae/reference.csv")) {
        let [upper, lower] = [0, 1].map(|node| -state.nodes[node].position[2]);
        let error = (upper - row[1]).abs().max((lower - row[2]).abs());
        assert!(error < 1e-8, "at {}: {error:e} m", row[0]);
    }
}

#[test]
fn a_held_link_does_not_drift_and_rests_with_its_force() {
    for model in [model("reduced_dae"), capturing("reduced_dae")] {
        let run = run(&model, 1e-3, 20.0);
        let drift = worst(&run.states, 0.0..=20.0, |state| {
            ((state.nodes[0].position - state.nodes[1].position).norm() - 0.2).abs()
        });
        assert!(drift < 1e-12, "{drift:e} m");
    }
    let run = run(&model("reduced_dae"), 1e-3, 20.0);
    let last = run.states.last().unwrap();
    let force = last.contacts[0].normal_impulse / last.step.duration;
    // The weight of both masses less the pull of the spring, stretched by 0.5 m.
    assert!((force - 4.81).abs() < 1e-9, "{force} N");
}

#[test]
fn a_pendulum_with_friction_sticks_for_good() {
    let run = run(&model("friction_pendulum"), 1e-3, 26.0);
    let moving = run.states.iter().rfind(|state| state.joints[0].mode != ContactMode::Stick).unwrap();
    assert!((moving.time - 24.79).abs() < 0.05, "{} s", moving.time);
    // The angle counts from the start, a quarter of a turn from where the rod hangs.
    let hanging = -std::f64::consts::FRAC_PI_2;
    let rest = run.states.last().unwrap().joints[0].angle - hanging;
    assert!((rest + 0.0203).abs() < 1e-4, "{rest} rad");
    for pair in run.states.windows(2) {
        let [before, after] = [0, 1].map(|state| mechanical_energy(&run.system, &pair[state]));
        assert!(after <= before + 1e-12, "at {}: {:e} J", pair[1].time, after - before);
    }
}

#[test]
fn a_slider_rattles_within_its_clearance() {
    let run = run(&model("slider_crank"), 1e-4, 0.2);
    let start = total_energy(&run, &run.states[0]);
    let (mut hits, mut energy) = (0, f64::INFINITY);
    for state in &run.states[1..] {
        hits += state.contacts.iter().filter(|contact| contact.normal_impulse > 0.0).count();
        let slider = &state.nodes[2].position;
        assert!(slider[2].abs() < 1.001e-3 && slider[1].abs() < 1e-12, "{slider} at {}", state.time);
        let now = mechanical_energy(&run.system, state);
        assert!(now <= energy + 1e-6 * start, "energy rises by {:e} J at {}", now - energy, state.time);
        energy = energy.min(now);
    }
    assert!(hits > 20, "{hits} steps with contact");
    let balance = worst(&run.states, 0.0..=0.2, |state| (total_energy(&run, state) - start).abs());
    assert!(balance < 1e-4 * start, "{balance:e} J of {start}");
}
