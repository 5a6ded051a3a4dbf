//! The wheel of Peiret: a tilted disc that slides, spins and then rolls, against its exact motion.
//!
//! The exact motion is integrated here in Euler angles, with the contact kept closed at acceleration level and
//! Coulomb's law in its exact form, and is itself checked against `models/wheel/checkpoints.json`, which was computed
//! by another program with a method of order 8.

mod common;
mod wheel_equations;

use common::{model, path, reference, run};
use contact_fmu::engine::{ContactMode, State, gap, mechanical_energy};
use contact_fmu::model::{Model, Scheme};
use nalgebra::{Matrix3, Matrix3x6, Vector3, Vector6};
use std::sync::OnceLock;
use wheel_equations::{MU, RADIUS, force, jacobian, mass_matrix, start};

const STEP: f64 = 1e-3;
const STEPS: usize = 5000;

/// Position, Euler angles psi, theta, phi, and their rates.
#[derive(Clone, Copy)]
struct Motion {
    q: Vector6<f64>,
    v: Vector6<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Friction {
    Sliding,
    Sticking,
}

/// Time derivative of [`jacobian`].
#[rustfmt::skip]
fn jacobian_rate(q: &Vector6<f64>, v: &Vector6<f64>) -> Matrix3x6<f64> {
    let ((sp, cp), (s, c)) = (q[3].sin_cos(), q[4].sin_cos());
    let (psi, theta) = (v[3] * RADIUS, v[4] * RADIUS);
    Matrix3x6::new(
        0.0, 0.0, 0.0, 0.0, c * theta, 0.0,
        0.0, 0.0, 0.0, s * sp * psi - c * cp * theta, s * sp * theta - c * cp * psi, sp * psi,
        0.0, 0.0, 0.0, -s * cp * psi - c * sp * theta, -s * cp * theta - c * sp * psi, -cp * psi,
    )
}

/// Acceleration, and contact force along z, x, y.
fn accelerate(motion: &Motion, friction: Friction) -> (Vector6<f64>, Vector3<f64>) {
    let Motion { q, v } = motion;
    let inverse = mass_matrix(q).try_inverse().unwrap();
    let free = inverse * force(q, v);
    let jacobian = jacobian(q);
    let w: Matrix3<f64> = jacobian * inverse * jacobian.transpose();
    let b = jacobian * free + jacobian_rate(q, v) * v;
    let contact = match friction {
        Friction::Sliding => {
            let slip = jacobian * v;
            let direction = Vector3::new(0.0, slip[1], slip[2]).normalize();
            let law = Vector3::new(1.0, 0.0, 0.0) - direction * MU;
            law * (-b[0] / (w * law)[0])
        }
        Friction::Sticking => w.try_inverse().unwrap() * -b,
    };
    (free + inverse * jacobian.transpose() * contact, contact)
}

/// One step of the classical Runge-Kutta method; also the impulse of the contact force.
fn runge_kutta(motion: &Motion, friction: Friction, h: f64) -> (Motion, Vector3<f64>) {
    let rate = |motion: &Motion| {
        let (acceleration, contact) = accelerate(motion, friction);
        (motion.v, acceleration, contact)
    };
    let shifted = |(dq, dv, _): &(Vector6<f64>, Vector6<f64>, Vector3<f64>), h: f64| Motion {
        q: motion.q + dq * h,
        v: motion.v + dv * h,
    };
    let k1 = rate(motion);
    let k2 = rate(&shifted(&k1, 0.5 * h));
    let k3 = rate(&shifted(&k2, 0.5 * h));
    let k4 = rate(&shifted(&k3, h));
    let sixth = h / 6.0;
    let end = Motion {
        q: motion.q + (k1.0 + (k2.0 + k3.0) * 2.0 + k4.0) * sixth,
        v: motion.v + (k1.1 + (k2.1 + k3.1) * 2.0 + k4.1) * sixth,
    };
    (end, (k1.2 + (k2.2 + k3.2) * 2.0 + k4.2) * sixth)
}

/// What is written in `checkpoints.json`.
fn checkpoints() -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path("models/wheel/checkpoints.json")).unwrap()).unwrap()
}

struct Exact {
    /// At every millisecond.
    motions: Vec<Motion>,
    /// Mean contact force along z, x, y over each millisecond.
    forces: Vec<Vector3<f64>>,
}

fn exact() -> &'static Exact {
    static EXACT: OnceLock<Exact> = OnceLock::new();
    EXACT.get_or_init(integrate)
}

fn integrate() -> Exact {
    let sticks_at = checkpoints()["t_stick"].as_f64().unwrap();
    let (q, v) = start();
    let mut motion = Motion { q, v };
    let mut friction = Friction::Sliding;
    let mut exact = Exact { motions: vec![motion], forces: Vec::new() };
    for step in 0..STEPS {
        let mut impulse = Vector3::zeros();
        let mut advance = |motion: &mut Motion, friction: Friction, span: f64| {
            const PARTS: usize = 2;
            for _ in 0..PARTS {
                let (end, part) = runge_kutta(motion, friction, span / PARTS as f64);
                *motion = end;
                impulse += part;
            }
        };
        let until_stick = sticks_at - step as f64 * STEP;
        if friction == Friction::Sliding && until_stick < STEP {
            // The direction of sliding is singular at the end: halve the way there again and again.
            let mut remaining = until_stick;
            for _ in 0..20 {
                remaining *= 0.5;
                advance(&mut motion, friction, remaining);
            }
            friction = Friction::Sticking;
            let j = jacobian(&motion.q);
            let inverse = mass_matrix(&motion.q).try_inverse().unwrap();
            let w: Matrix3<f64> = j * inverse * j.transpose();
            motion.v -= inverse * j.transpose() * w.try_inverse().unwrap() * j * motion.v;
            advance(&mut motion, friction, STEP - until_stick);
        } else {
            advance(&mut motion, friction, STEP);
        }
        exact.motions.push(motion);
        exact.forces.push(impulse / STEP);
    }
    exact
}

fn position(motion: &Motion) -> Vector3<f64> {
    Vector3::new(motion.q[0], motion.q[1], motion.q[2])
}

/// Contact force of the engine along z, x, y, mean over the step.
fn contact_force(state: &State<f64>) -> Vector3<f64> {
    let contact = &state.contacts[0];
    let friction = contact.tangential_impulse / state.step.duration;
    Vector3::new(contact.normal_impulse / state.step.duration, friction[0], friction[1])
}

fn friction_used(force: &Vector3<f64>) -> f64 {
    force[1].hypot(force[2]) / (MU * force[0])
}

fn degrees_between(one: &Vector3<f64>, other: &Vector3<f64>) -> f64 {
    let cross = one[1] * other[2] - one[2] * other[1];
    cross.atan2(one[1] * other[1] + one[2] * other[2]).to_degrees()
}

fn root_mean_square(values: impl Iterator<Item = f64> + Clone) -> f64 {
    (values.clone().map(|x| x * x).sum::<f64>() / values.count() as f64).sqrt()
}

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
        let error = (position(&exact.motions[(row[0] / STEP).round() as usize])
            - Vector3::new(row[1], row[2], row[3]))
        .norm();
        assert!(error < 1e-6, "at {}: {error:e}", row[0]);
    }
}

#[test]
fn midpoint_is_exact_where_the_wheel_slides_and_rolls() {
    let exact = exact();
    let run = run(&model("wheel"), STEP, 5.0);
    assert_eq!(run.states.len(), STEPS + 1);
    let steps = || run.states[1..].iter().zip(&exact.forces);

    let force = root_mean_square(
        steps().map(|(state, force)| friction_used(&contact_force(state)) - friction_used(force)),
    );
    assert!(force <= 1e-4, "force {:.5} %", 100.0 * force);

    let is_sliding = |state: &State<f64>| state.contacts[0].mode == ContactMode::Slip;
    let misalignment = root_mean_square(
        steps()
            .filter(|(state, _)| is_sliding(state))
            .map(|(state, force)| degrees_between(&contact_force(state), force)),
    );
    assert!(misalignment <= 0.01, "misalignment {misalignment:.5} deg");

    let start = position(&exact.motions[0]);
    for (state, motion) in run.states.iter().zip(&exact.motions).skip(100) {
        let exact = position(motion);
        let part = (state.nodes[0].position - exact).norm() / (exact - start).norm();
        assert!(part <= 1e-5, "position {:.5} % at {}", 100.0 * part, state.time);
    }

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
    let total = |state: &State<f64>| mechanical_energy(state) + state.step.dissipated;
    let start = total(&run.states[0]);
    let balance = common::worst(&run.states, 0.0..=5.0, |state| (total(state) - start).abs());
    assert!(balance < 1e-10, "{balance:e}");
    let after_stick = checkpoints()["E_after_stick"].as_f64().unwrap();
    let error =
        common::worst(&run.states, 2.01..=5.0, |state| (mechanical_energy(state) - after_stick).abs());
    assert!(error < 1e-4, "energy after sticking: {error:e}");
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
