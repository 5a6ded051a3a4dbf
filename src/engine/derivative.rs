//! Directional derivative of a step: the step is run again over dual numbers.

use super::{Dual, State, StepError, System, Workspace, advance};

/// State after a step of `duration` from `before`, with the derivative in the direction that `seed` writes
/// into the tangents of parameters, inputs or motion. With `duration` zero no step is made.
pub fn differentiate(
    system: &System,
    before: &State<f64>,
    duration: f64,
    seed: impl FnOnce(&mut State<Dual>),
) -> Result<State<Dual>, StepError> {
    let mut state = before.map(Dual::from);
    seed(&mut state);
    if duration > 0.0 {
        advance(system, &mut state, &mut Workspace::new(system), duration)?;
    }
    Ok(state)
}
