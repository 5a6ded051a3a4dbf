//! Time derivatives of inputs.

use super::Slot;
use crate::engine::{MAX_INPUT_DERIVATIVE, NodeInput, Scalar, State};

/// Writes the derivative of `order` (1, 2, ...) of a real input. Returns false for a slot that is no input and
/// for an order out of range.
pub fn set_input_derivative<S: Scalar>(slot: Slot, state: &mut State<S>, order: usize, value: S) -> bool {
    match slot {
        Slot::ExternalForce { node, axis } if (1..=MAX_INPUT_DERIVATIVE).contains(&order) => {
            state.inputs[node].derivatives[order - 1][axis] = value;
            true
        }
        _ => false,
    }
}

/// Sets the derivatives of all inputs to zero and keeps the inputs.
pub fn clear_input_derivatives<S: Scalar>(state: &mut State<S>) {
    for input in &mut state.inputs {
        input.derivatives = NodeInput::zero().derivatives;
    }
}
