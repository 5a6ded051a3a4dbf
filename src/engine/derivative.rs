//! Directional derivatives of a step, and of the start: both are run again over dual numbers.

use super::initial::{couple_initially, scale_given, take_given_motion};
use super::scalar::Dual;
use super::scheme::workspace::Workspace;
use super::state::State;
use super::step::{StepError, advance};
use super::system::System;

/// State after a step of `duration > 0` from `before`, with the derivative in the direction that `seed` writes into
/// the tangents of parameters, inputs or motion.
pub fn differentiate(
    system: &System,
    before: &State<f64>,
    duration: f64,
    seed: impl Fn(&mut State<Dual>),
) -> Result<State<Dual>, StepError> {
    let mut state = before.map(Dual::from);
    seed(&mut state);
    scale_given(&mut state);
    advance(system, &mut state, &mut Workspace::new(system), duration)?;
    Ok(state)
}

/// The same for the start of a simulation, whose first step is expected to have the length `step`.
pub fn differentiate_start(
    system: &System,
    before: &State<f64>,
    step: f64,
    seed: impl Fn(&mut State<Dual>),
) -> State<Dual> {
    let mut state = before.map(Dual::from);
    seed(&mut state);
    take_given_motion(system, &mut state);
    couple_initially(system, &mut state, step);
    state
}
