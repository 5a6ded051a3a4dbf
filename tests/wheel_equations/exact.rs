//! The exact motion of the wheel in Euler angles: the contact kept closed at acceleration level, Coulomb's law in its
//! exact form, and the engine's wheel beside it.

use super::deviation::{Deviation, distance_part};
use super::{MU, RADIUS, energy, force, friction_used, jacobian, mass_matrix, position, start};
use crate::common::{Run, path};
use contact_fmu::engine::{ContactMode, State, mechanical_energy};
use nalgebra::{Matrix3, Matrix3x6, Vector3, Vector6};
use std::sync::OnceLock;

/// Step of the engine's wheel.
pub const STEP: f64 = 1e-3;
/// Steps of a whole run.
pub const STEPS: usize = 5000;

/// Position, Euler angles psi, theta, phi, and their rates.
#[derive(Clone, Copy)]
pub struct Motion {
    pub q: Vector6<f64>,
    pub v: Vector6<f64>,
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
pub fn checkpoints() -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path("models/wheel/checkpoints.json")).unwrap()).unwrap()
}

pub struct Exact {
    /// At every millisecond.
    pub motions: Vec<Motion>,
    /// Mean contact force along z, x, y over each millisecond.
    pub forces: Vec<Vector3<f64>>,
}

pub fn exact() -> &'static Exact {
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

/// Contact force of the engine along z, x, y, mean over the step.
fn contact_force(state: &State<f64>) -> Vector3<f64> {
    let contact = &state.contacts[0];
    let friction = contact.tangential_impulse / state.step.duration;
    Vector3::new(contact.normal_impulse / state.step.duration, friction[0], friction[1])
}

fn degrees_between(one: &Vector3<f64>, other: &Vector3<f64>) -> f64 {
    let cross = one[1] * other[2] - one[2] * other[1];
    cross.atan2(one[1] * other[1] + one[2] * other[2]).to_degrees()
}

/// Whether the wheel slid in the step that ended here.
pub fn is_sliding(state: &State<f64>) -> bool {
    state.contacts[0].mode == ContactMode::Slip
}

impl Exact {
    /// The engine's wheel beside this motion, step by step; forces are means over the step.
    pub fn deviations(&self, run: &Run) -> Vec<Deviation> {
        assert_eq!(run.states.len(), self.motions.len());
        let beginning = position(&self.motions[0].q);
        run.states[1..]
            .iter()
            .zip(&self.motions[1..])
            .zip(&self.forces)
            .map(|((state, motion), force)| {
                let ours = contact_force(state);
                let used = friction_used(&ours);
                Deviation {
                    time: state.time,
                    friction_used: used,
                    force: used - friction_used(force),
                    position: distance_part(&state.nodes[0].position, &position(&motion.q), &beginning),
                    energy: mechanical_energy(&run.system, state) - energy(&motion.q, &motion.v),
                    misalignment: is_sliding(state).then(|| degrees_between(&ours, force)),
                }
            })
            .collect()
    }
}
