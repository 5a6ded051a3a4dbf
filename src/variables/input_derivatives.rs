//! Time derivatives of inputs.

use super::Slot;
use crate::engine::{Input, MAX_INPUT_DERIVATIVE, Scalar, State};

/// Writes the derivative of `order` (1, 2, ...) of a real input. Returns false for a slot that is no input and
/// for an order out of range. Derivatives of what a master gives or applied have no effect: the engine predicts the
/// motion itself.
pub fn set_input_derivative<S: Scalar>(slot: Slot, state: &mut State<S>, order: usize, value: S) -> bool {
    if !(1..=MAX_INPUT_DERIVATIVE).contains(&order) {
        return false;
    }
    let (input, axis) = match slot {
        Slot::ExternalForce { node, axis } => (&mut state.inputs[node], axis),
        Slot::ExternalTorque { rotation, axis, .. } => (&mut state.torques[rotation], axis),
        Slot::JointDrive { drive, .. } => {
            state.drives[drive].derivatives[order - 1][0] = value;
            return true;
        }
        Slot::GivenPosition { .. }
        | Slot::GivenVelocity { .. }
        | Slot::GivenOrientation { .. }
        | Slot::GivenAngularVelocity { .. }
        | Slot::AppliedForce { .. }
        | Slot::AppliedTorque { .. } => return true,
        _ => return false,
    };
    input.derivatives[order - 1][axis] = value;
    true
}

/// Sets the derivatives of all inputs to zero and keeps the inputs.
pub fn clear_input_derivatives<S: Scalar>(state: &mut State<S>) {
    state.inputs.clear_derivatives();
    for input in &mut state.torques {
        input.derivatives = Input::zero().derivatives;
    }
    for drive in &mut state.drives {
        drive.derivatives = Input::zero().derivatives;
    }
}
