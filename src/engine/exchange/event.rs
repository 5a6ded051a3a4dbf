//! Impacts of bodies that a master moves, where it takes part in events: nothing is learnt, nothing is spread over windows.
//!
//! At an impact the engine gives impulses P, the master answers with the velocities v(P) that they make of those before, and
//! both repeat until they agree. What the engine would have without contact is `v(P) - M^-1 P`, with the mass that the model
//! declares; the impulses that contact makes of it are the next ones. Once they stay the same, impulses and velocities obey
//! the contact laws whatever that mass is: the answer of one solver for the whole.
//!
//! The map from impulses to the next ones is affine as long as contacts keep their modes, so that [`Agreement`] extrapolates
//! from the rounds before it [Anderson 1965].

use super::window::{held_gravity, place, response, set_latency};
use crate::engine::coupling::{CouplingMode, Membership, Motion, kinetic};
use crate::engine::math::twist::{Mobility, Wrench};
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Whether impacts of all bodies that a master moves can be events: it owns their mass.
pub fn can_have_events(system: &System) -> bool {
    !system.couplings.is_empty()
        && system.couplings.iter().all(|coupling| matches!(coupling.mode, CouplingMode::Kinetic(_)))
}

/// Makes forces act at once and as they are. The state has to be one from before the first step.
pub fn expect_events(system: &mut System, state: &mut State<f64>) {
    set_latency(system, state, 0);
    for coupling in &mut system.couplings {
        if let CouplingMode::Kinetic(settings) = &mut coupling.mode {
            (settings.shaping, settings.adapt, settings.guard) = (false, false, false);
            settings.mechanism = Membership::No;
        }
    }
    for coupling in &mut state.couplings {
        coupling.diagnosis.shaping = false;
    }
}

/// Ends the window before an event with the motion that the master gives, which is that before the impact, and puts bodies
/// there. The next window starts afresh: velocities that have jumped tell nothing of accelerations.
pub fn close_window(system: &System, state: &mut State<f64>) {
    for (index, coupling) in system.couplings.iter().enumerate() {
        let given = state.couplings[index].given;
        if let CouplingMode::Kinetic(settings) = &coupling.mode {
            let mobility = response(system, state, index, &state.couplings[index].memory.before());
            if let Some(window) = state.couplings[index].memory.window(&given, mobility) {
                let gravity = held_gravity(system, state, index);
                kinetic::observe(&mut state.couplings[index], settings, window, None, &gravity);
            }
            state.couplings[index].memory.made = 0;
        }
        place(system, state, coupling.node, &given);
    }
}

/// Velocities that a body would have without impulses: those with them, less what they make of the declared mass.
pub fn without(
    system: &System,
    state: &State<f64>,
    index: usize,
    motion: &Motion<f64>,
    impulse: &[f64; 6],
) -> (usize, Vector3<f64>, Vector3<f64>) {
    let node = system.couplings[index].node;
    let rotation = system.nodes[node].rotation;
    let declared = Mobility {
        mass: state.parameters.mass[node],
        rotation: rotation.map(|rotation| (motion.orientation, state.parameters.inertia[rotation])),
    };
    let [x, y, z, a, b, c] = *impulse;
    let made = declared.acceleration(&Wrench { force: Vector3::new(x, y, z), torque: Vector3::new(a, b, c) });
    (node, motion.velocity - made.linear, motion.angular_velocity - made.angular)
}

/// Rounds after which an iteration is given up.
pub const MOST_ROUNDS: usize = 20;

/// Rounds of an event so far: the impulses that were given, and by how much those that came back differed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    rounds: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Agreement {
    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Whether all numbers are finite, and as many as `size`.
    pub fn fits(&self, size: usize) -> bool {
        let is_right = |list: &[f64]| list.len() == size && list.iter().all(|number| number.is_finite());
        self.rounds.len() <= MOST_ROUNDS && self.rounds.iter().all(|(x, r)| is_right(x) && is_right(r))
    }

    /// Takes the impulses `next` that came of `given`. Returns those to try next; none where both agree.
    pub fn next(&mut self, given: &[f64], next: &[f64]) -> Option<Vec<f64>> {
        let size = |list: &[f64]| list.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
        let residual: Vec<f64> = next.iter().zip(given).map(|(next, given)| next - given).collect();
        if size(&residual) <= TOLERANCES.rounding * size(next).max(size(given)) {
            return None;
        }
        let mut tried = next.to_vec();
        // Differences of rounds, newest first, made orthogonal one by one; what is left of the residual is taken along.
        let mut left = residual.clone();
        let mut directions: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for (x, r) in self.rounds.iter().rev() {
            let mut dr = difference(&residual, r);
            let mut dx = difference(given, x);
            let length = dot(&dr, &dr).sqrt();
            for (er, ex) in &directions {
                let part = dot(&dr, er);
                add(&mut dr, er, -part);
                add(&mut dx, ex, -part);
            }
            let rest = dot(&dr, &dr).sqrt();
            if rest <= TOLERANCES.negligible * length {
                continue;
            }
            for number in dr.iter_mut().chain(&mut dx) {
                *number /= rest;
            }
            let part = dot(&left, &dr);
            add(&mut left, &dr, -part);
            add(&mut tried, &dr, -part);
            add(&mut tried, &dx, -part);
            directions.push((dr, dx));
        }
        self.rounds.push((given.to_vec(), residual));
        Some(tried)
    }
}

fn difference(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn add(target: &mut [f64], direction: &[f64], factor: f64) {
    for (target, direction) in target.iter_mut().zip(direction) {
        *target += factor * direction;
    }
}
