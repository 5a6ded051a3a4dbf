//! Derivatives of a step, and of the start: both are run again over numbers that carry derivatives along.

use super::events::Record;
use super::initial::{couple_initially, scale_given, take_given_motion};
use super::scalar::Dual;
use super::scheme::workspace::Workspace;
use super::state::State;
use super::step::{StepError, Steppable, advance};
use super::system::System;

/// What is run again.
#[derive(Clone, Copy, Debug)]
pub enum Past {
    /// The start of a simulation, whose first step is expected to have this length.
    Start(f64),
    /// A step of this length.
    Step(f64),
    /// A step with events, and impacts made at its end.
    WithEvents(Record, u32),
}

impl Past {
    /// Runs it from `state`, which has the derivatives of parameters, inputs and motion.
    pub fn run<S: Steppable>(
        self,
        system: &System,
        state: &mut State<S>,
        workspace: &mut Workspace<S>,
    ) -> Result<(), StepError> {
        match self {
            Past::Start(step) => {
                take_given_motion(system, state);
                couple_initially(system, state, step);
                Ok(())
            }
            Past::Step(duration) => {
                scale_given(state);
                advance(system, state, workspace, duration).map(|_| ())
            }
            Past::WithEvents(record, impacts) => record.replay(system, state, workspace, impacts),
        }
    }
}

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
    Past::Step(duration).run(system, &mut state, &mut Workspace::new(system))?;
    Ok(state)
}
