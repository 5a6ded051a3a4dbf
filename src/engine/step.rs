//! One communication step: cut into equal substeps, each island advanced on its own.

use super::exchange;
use super::scalar::{Dual, Scalar};
use super::scheme::workspace::Workspace;
use super::scheme::{IslandStep, parts};
use super::solver::Solvable;
use super::state::{ContactRecord, State, StepRecord};
use super::system::{Island, System};
use super::tape::Traced;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use thiserror::Error;

/// Most substeps that one communication step may be cut into.
pub const MAX_SUBSTEPS: f64 = TOLERANCES.most_substeps;

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
    #[error(
        "a position or velocity is no longer a finite number: look for huge forces, velocities, spins or steps"
    )]
    NotFinite,
}

/// A scalar over which steps can be made.
// A trait, so that the step is compiled here, once for each scalar, and not by all that call it.
pub trait Steppable: Solvable {
    /// Advances the state by `duration > 0`. Does not touch `state.time`: the caller knows the exact time.
    fn advance(
        system: &System,
        state: &mut State<Self>,
        workspace: &mut Workspace<Self>,
        duration: f64,
    ) -> Result<Quality, StepError>;
}

macro_rules! steppable {
    ($($scalar:ty),*) => {$(
        impl Steppable for $scalar {
            fn advance(
                system: &System,
                state: &mut State<$scalar>,
                workspace: &mut Workspace<$scalar>,
                duration: f64,
            ) -> Result<Quality, StepError> {
                advance_over(system, state, workspace, duration)
            }
        }
    )*};
}
steppable!(f64, Dual, Traced);

/// Advances the state by `duration > 0`. Does not touch `state.time`: the caller knows the exact time.
pub fn advance<S: Steppable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<Quality, StepError> {
    S::advance(system, state, workspace, duration)
}

fn advance_over<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<Quality, StepError> {
    if system.couplings.is_empty() {
        let (substeps, length) = cut(duration, state.parameters.step)?;
        begin(state, duration, substeps);
        for substep in 0..substeps {
            let offset = f64::from(substep) * length;
            for island in &system.islands {
                advance_by_substep(system, island, state, workspace, (length, offset));
            }
            if is_lost(state, substep) {
                return Err(StepError::NotFinite);
            }
        }
    } else {
        advance_coupled(system, state, workspace, duration)?;
    }
    if !state.is_finite() {
        return Err(StepError::NotFinite);
    }
    let solved = state.step.residual <= system.settings.solver.tolerance;
    Ok(if solved { Quality::Solved } else { Quality::Inaccurate })
}

/// The same where a master moves some of the bodies: islands have windows of their own.
fn advance_coupled<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<(), StepError> {
    let (substeps, _) = cut(duration, state.parameters.step)?;
    exchange::begin(system, state, &mut workspace.couplings, &mut workspace.together, duration);
    begin(state, duration, substeps);
    for island in &system.islands {
        let window = exchange::span(system, state, island, &mut workspace.couplings, duration, substeps);
        advance_island(system, island, state, workspace, window);
    }
    for island in &system.islands {
        if exchange::onward(system, state, island, &mut workspace.couplings, duration) {
            let mut trial = workspace.trial.take().unwrap_or_else(|| Box::new(state.clone()));
            State::clone_from(&mut trial, state);
            let substeps = workspace.couplings[island.couplings[0]].substeps;
            advance_island(system, island, &mut trial, workspace, (duration, duration, substeps));
            workspace.trial = Some(trial);
        }
    }
    exchange::end(system, state, &workspace.couplings, &workspace.together, duration);
    Ok(())
}

/// Advances an island over a window that starts `ahead` of the present.
fn advance_island<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (ahead, span, substeps): (f64, f64, u32),
) {
    state.step.substeps = state.step.substeps.max(substeps);
    let length = span / f64::from(substeps);
    for substep in 0..substeps {
        let offset = ahead + f64::from(substep) * length;
        advance_by_substep(system, island, state, workspace, (length, offset));
        if is_lost(state, substep) {
            return;
        }
    }
}

/// Whether there is no use to go on after a substep: looked for ever more rarely, for steps may have millions of them.
#[inline]
pub(super) fn is_lost<S: Scalar>(state: &State<S>, substep: u32) -> bool {
    substep.is_power_of_two() && !state.is_finite()
}

/// Advances an island over a substep that starts at `offset`.
#[inline]
pub(super) fn advance_by_substep<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (length, offset): (f64, f64),
) {
    if let Some(place) = island.rest
        && workspace.repeats[place].begin(system, island, state, (length, offset))
    {
        return;
    }
    if island.is_searched(system, state) {
        parts::run(system, island, state, workspace, (length, offset));
    } else {
        IslandStep::new(system, island, state, workspace, (length, offset)).run();
    }
    if let Some(place) = island.rest {
        workspace.repeats[place].end(system, island, state, length);
    }
}

/// Number and length of the substeps of a communication step.
pub(super) fn cut(duration: f64, step: f64) -> Result<(u32, f64), StepError> {
    let needed = (duration / step - TOLERANCES.small).ceil().max(1.0);
    if needed > MAX_SUBSTEPS {
        return Err(StepError::TooManySubsteps { duration, step, needed });
    }
    Ok((needed as u32, duration / needed))
}

pub(super) fn begin<S: Scalar>(state: &mut State<S>, duration: f64, substeps: u32) {
    state.step = StepRecord {
        duration,
        substeps,
        captured: 0,
        iterations: 0,
        residual: 0.0,
        penetration: S::zero(),
        ..state.step
    };
    for contact in &mut state.contacts {
        // The mode stays until a substep has looked at the contact.
        *contact = ContactRecord { mode: contact.mode, ..ContactRecord::open() };
    }
    for node in &mut state.nodes {
        node.contact_impulse = Vector3::zeros();
    }
    for rotation in &mut state.rotations {
        rotation.contact_impulse = Vector3::zeros();
    }
    for point in &mut state.points {
        point.impulse = Vector3::zeros();
    }
    for joint in &mut state.joints {
        joint.impulse = Vector3::zeros();
        joint.moment = Vector3::zeros();
    }
}
