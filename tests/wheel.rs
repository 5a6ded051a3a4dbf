//! The wheel of Peiret: a tilted disc that slides, spins and then rolls, against its exact motion.
//!
//! The exact motion (`wheel_equations/exact.rs`) is itself checked against `models/wheel/checkpoints.json`, which was
//! computed by another program with a method of order 8.

use crate::common;
use crate::common::{model, reference, run};
use crate::wheel_equations::deviation::summary;
use crate::wheel_equations::exact::{STEP, checkpoints, exact, is_sliding};
use crate::wheel_equations::position;
use contact_fmu::engine::{ContactMode, State, gap, mechanical_energy};
use contact_fmu::model::{Model, Scheme};
use nalgebra::Vector3;

#[test]
fn the_exact_motion_passes_its_checkpoints() {
    let exact = exact();
    let checkpoints = checkpoints();
    let states = checkpoints["states"].as_object().unwrap();
    assert!(states.len() >= 9);
    for (time, state) in states {
        let step = (time.parse::<f64>().unwrap() / STEP).round() as usize;
        let motion = &exact.motions[step];
        for (index, name) in ["x", "y", "z", "psi", "theta", "phi"].into_iter().enumerate() {
            let error = (motion.q[index] - state[name].as_f64().unwrap()).abs();
            assert!(error < 1e-6, "{name} at {time}: {error:e}");
        }
        for (index, name) in ["vx", "vy", "vz", "psid", "thetad", "phid"].into_iter().enumerate() {
            let error = (motion.v[index] - state[name].as_f64().unwrap()).abs();
            assert!(error < 1e-6, "{name} at {time}: {error:e}");
        }
    }
    for row in reference("wheel").iter().step_by(10) {
        let error = (position(&exact.motions[(row[0] / STEP).round() as usize].q)
            - Vector3::new(row[1], row[2], row[3]))
        .norm();
        assert!(error < 1e-6, "at {}: {error:e}", row[0]);
    }
}

#[test]
fn midpoint_is_exact_where_the_wheel_slides_and_rolls() {
    let run = run(&model("wheel"), STEP, 5.0);
    let deviation = summary(&exact().deviations(&run));
    assert!(deviation.force <= 1e-4, "force {:.5} %", 100.0 * deviation.force);
    assert!(deviation.misalignment <= 0.01, "misalignment {:.5} deg", deviation.misalignment);
    assert!(deviation.position <= 1e-5, "position {:.5} %", 100.0 * deviation.position);

    let gap = common::worst(&run.states, 0.0..=5.0, |state| gap(&run.system, state, 0).abs());
    assert!(gap < 1e-11, "gap {gap:e}");

    let last_slip = run.states.iter().rfind(|state| is_sliding(state)).unwrap().time;
    assert!((last_slip - 2.00682).abs() < 2.0 * STEP, "sticks at {last_slip}");
    for state in run.states.iter().filter(|state| state.time > last_slip + 0.5 * STEP) {
        assert_eq!(state.contacts[0].mode, ContactMode::Stick);
        assert!(state.contacts[0].slip < 1e-12);
    }
    assert!(run.states[1..].iter().all(|state| state.contacts[0].mode != ContactMode::Open));
}

#[test]
fn orientation_and_angular_velocity_are_those_of_the_exact_motion() {
    let exact = exact();
    let run = run(&model("wheel"), STEP, 5.0);
    for (state, motion) in run.states.iter().zip(&exact.motions).step_by(100) {
        let (q, v) = (&motion.q, &motion.v);
        let ((sp, cp), (st, ct)) = (q[3].sin_cos(), q[4].sin_cos());
        // Rz(psi) Rx(theta) Ry(phi): the axis of the wheel is the second column.
        let axis = Vector3::new(-sp * ct, cp * ct, st);
        let line = Vector3::new(cp, sp, 0.0);
        let spin = Vector3::z() * v[3] + line * v[4] + axis * v[5];
        let rotation = &state.rotations[0];
        let axis_error = (rotation.orientation.to_world(&Vector3::y()) - axis).norm();
        let spin_error = (rotation.angular_velocity - spin).norm() / spin.norm();
        assert!(axis_error < 2e-5, "axis at {}: {axis_error:e}", state.time);
        assert!(spin_error < 2e-5, "spin at {}: {spin_error:e}", state.time);
    }
}

/// Largest distance from the exact position at any checkpoint after the wheel sticks, and before.
fn position_errors(model: &Model, step: f64) -> [f64; 2] {
    let run = run(model, step, 5.0);
    let checkpoints = checkpoints();
    let mut errors = [0.0_f64; 2];
    for (time, state) in checkpoints["states"].as_object().unwrap() {
        let time = time.parse::<f64>().unwrap();
        let exact = ["x", "y", "z"].map(|name| state[name].as_f64().unwrap());
        let ours = run.states[(time / step).round() as usize].nodes[0].position;
        let part = &mut errors[usize::from(time > 2.0)];
        *part = part.max((ours - Vector3::from(exact)).norm());
    }
    errors
}

#[test]
fn midpoint_is_of_order_two() {
    let mut model = model("wheel");
    let errors = [4e-3, 2e-3, 1e-3].map(|step| {
        model.engine.step = step;
        position_errors(&model, step)
    });
    for pair in errors.windows(2) {
        for (coarse, fine) in pair[0].into_iter().zip(pair[1]) {
            let order = (coarse / fine).log2();
            assert!((1.8..2.3).contains(&order), "order {order} from {errors:?}");
        }
    }
}

#[test]
fn midpoint_closes_the_energy_balance() {
    let run = run(&model("wheel"), STEP, 5.0);
    let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
    let start = total(&run.states[0]);
    let balance = common::worst(&run.states, 0.0..=5.0, |state| (total(state) - start).abs());
    assert!(balance < 1e-10, "{balance:e}");
    let after_stick = checkpoints()["E_after_stick"].as_f64().unwrap();
    let error = common::worst(&run.states, 2.01..=5.0, |state| {
        (mechanical_energy(&run.system, state) - after_stick).abs()
    });
    assert!(error < 1e-4, "energy after sticking: {error:e}");
    let last = mechanical_energy(&run.system, &run.states[5000]);
    let waves =
        common::worst(&run.states, 2.01..=5.0, |state| (mechanical_energy(&run.system, state) - last).abs());
    assert!(waves < 1e-12, "energy of rolling waves by {waves:e}");
}

#[test]
fn moreau_jean_rolls_the_wheel_too_with_order_one() {
    let mut model = model("wheel");
    model.engine.scheme = Scheme::MoreauJean;
    model.engine.time_of_impact = true;
    let errors = [1e-3, 5e-4].map(|step| {
        model.engine.step = step;
        position_errors(&model, step)
    });
    for part in 0..2 {
        let order = (errors[0][part] / errors[1][part]).log2();
        assert!((0.8..1.2).contains(&order), "order {order} from {errors:?}");
    }
    assert!(errors[0][1] < 0.05, "{errors:?}");
}
