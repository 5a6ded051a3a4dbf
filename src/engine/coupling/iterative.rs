//! State in, force out, for a master that repeats a step until state and force agree.
//!
//! The master gives the state at the end of the step and the contact force f that it applied to get there. Without
//! contact the body would have come to `u = v - H M^-1 f`; the impulse p that contact makes of it,
//! `0 <= p _|_ u + M^-1 p + e v_k >= 0` with friction, is the next force `p / H`. For a single contact that is the
//! projection of `p_f - (v + e v_k) / W`. Contacts act that `gap + gamma H gap_velocity <= 0` at the start of the step:
//! the iteration does not move them. Once the force stays the same, the step is one of Moreau-Jean on the master's whole
//! system, whatever the mass given here.

use super::twist::{Twist, Wrench};
use super::window::{motion, place};
use crate::engine::rotation::FreeRotation;
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::System;
use nalgebra::Vector3;

/// Leaves the body at the start of the step, with the acceleration besides contact that the master has shown.
pub fn begin<S: Scalar>(system: &System, state: &mut State<S>, index: usize, duration: f64) {
    let node = system.couplings[index].node;
    let before = motion(system, state, node);
    let coupling = &state.couplings[index];
    let h = S::from(duration);
    let middle = system.settings.theta * duration;
    let told = state.inputs[node].at(middle);
    let linear = (coupling.given.velocity - before.velocity) / h
        - (coupling.applied.force + told) / state.parameters.mass[node];
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

/// Takes the force, and the motion that the master gives for the start of the next step.
pub fn end<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    index: usize,
    impulse: Wrench<S>,
    duration: f64,
) {
    let h = S::from(duration);
    let coupling = &mut state.couplings[index];
    coupling.output = Wrench { force: impulse.force / h, torque: impulse.torque / h };
    let given = coupling.given;
    place(system, state, system.couplings[index].node, &given);
}
