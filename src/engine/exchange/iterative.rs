//! State in, force out, for a master that repeats a step until state and force agree.
//!
//! The master gives the state at the end of the step and the contact force f that it applied to get there. Without
//! contact the body would have come to `u = v - H M^-1 f`; the impulse p that contact makes of it,
//! `0 <= p _|_ u + M^-1 p + e v_k >= 0` with friction, is the next force `p / H`. For a single contact that is the
//! projection of `p_f - (v + e v_k) / W`. Contacts act that `gap + gamma H gap_velocity <= 0` at the start of the step:
//! the iteration does not move them. Once the force stays the same, the step is one of Moreau-Jean on the master's whole
//! system, whatever the mass taken here.
//!
//! How fast the iteration gets there does depend on it: errors are multiplied by `1 - m / m_body` or, where the master
//! keeps a Jacobian from before the contact opened, by `1 - m_body / m`. So where a step without contact has shown the
//! acceleration `a`, the first force after it shows the mass, `v - v_k - H a = H f / m_body`. The next steps take it. A
//! smaller one is taken in the step itself, where errors would grow from twice the mass of the body on; a larger one there
//! would be at odds with a Jacobian that the master has.

use super::window::{motion, place};
use crate::engine::coupling::{CouplingState, Motion};
use crate::engine::math::rotation::FreeRotation;
use crate::engine::math::twist::{Twist, Wrench};
use crate::engine::scalar::{Scalar, length};
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// A force shows the mass if it makes so many times the acceleration that there is besides, which may have changed,
/// and a change of velocity that is no negligible part of it.
const TELLING: f64 = 20.0;
/// A body that responds with less than this part does not respond: something else holds it.
const LEAST: f64 = 0.1;
/// Applied and computed force are the same up to this part.
const AGREED: f64 = 1e-3;

/// Leaves the body at the start of the step, with the acceleration besides contact that the master has shown, and with the
/// mass to be taken for that of the model.
pub fn begin<S: Scalar>(system: &System, state: &mut State<S>, index: usize, duration: f64) {
    let node = system.couplings[index].node;
    let before = motion(system, state, node);
    let coupling = &state.couplings[index];
    let h = S::from(duration);
    let middle = system.settings.theta * duration;
    let told = state.inputs[node].at(middle);
    let known = state.parameters.mass[node] * coupling.memory.response.mass_factor;
    let shown = responding_mass(coupling, &before, told, known, h);
    let mass = if shown.value() < known.value() { shown } else { known };
    state.couplings[index].diagnosis.mass = shown;
    state.parameters.mass[node] = mass;
    let coupling = &state.couplings[index];
    let linear = (coupling.given.velocity - before.velocity) / h - (coupling.applied.force + told) / mass;
    let angular = match system.nodes[node].rotation {
        None => Vector3::zeros(),
        Some(rotation) => {
            let free = FreeRotation {
                orientation: before.orientation,
                angular_velocity: before.angular_velocity,
                inertia: state.parameters.inertia[rotation],
                torque: coupling.applied.torque + state.torques[rotation].at(middle),
                acceleration: None,
            };
            (coupling.given.angular_velocity - free.over(h).1) / h
        }
    };
    state.couplings[index].acceleration = Twist { linear, angular };
}

/// The mass by which the body responds to the force applied, if that shows, or else the one known.
fn responding_mass<S: Scalar>(
    coupling: &CouplingState<S>,
    before: &Motion<S>,
    told: Vector3<S>,
    mass: S,
    h: S,
) -> S {
    let memory = &coupling.memory;
    let push = coupling.applied.force / mass;
    let free = memory.expect(0.0).linear;
    let speed = length(&coupling.given.velocity) + length(&before.velocity);
    let least = TELLING * length(&free).value() + TOLERANCES.negligible * (speed / h).value();
    let is_first = memory.made > 0 && !memory.resting;
    if !is_first || length(&push).value() <= least || !mass.value().is_finite() {
        return mass;
    }
    let response = (coupling.given.velocity - before.velocity) / h - free - told / mass;
    let part = response.dot(&push) / push.dot(&push);
    if part.value() > LEAST { mass / part } else { mass }
}

/// Takes the force, the mass that has shown, and the motion that the master gives for the start of the next step.
/// `declared` is the mass of the model, which is put back.
pub fn end<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    index: usize,
    impulse: Wrench<S>,
    declared: S,
    duration: f64,
) {
    let h = S::from(duration);
    let node = system.couplings[index].node;
    state.parameters.mass[node] = declared;
    let coupling = &mut state.couplings[index];
    coupling.output = Wrench { force: impulse.force / h, torque: impulse.torque / h };
    let (applied, output) = (coupling.applied.force, coupling.output.force);
    let memory = &mut coupling.memory;
    memory.made = memory.made.saturating_add(1);
    memory.resting = !(coupling.applied.is_zero() && coupling.output.is_zero());
    if !memory.resting {
        memory.guess(coupling.acceleration);
    } else if length(&(output - applied)).value() <= AGREED * length(&output).value() {
        memory.response.mass_factor = coupling.diagnosis.mass / declared;
    }
    coupling.diagnosis.mass = declared * memory.response.mass_factor;
    let given = coupling.given;
    place(system, state, node, &given);
}
