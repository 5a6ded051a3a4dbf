//! Whether a simulation may start from a state.

use super::{State, System, gap};

/// Depth below which a start inside a surface counts as rounding.
pub const START_PENETRATION_TOLERANCE: f64 = 1e-9;

/// The contact whose node starts deepest inside its surface, and how deep; none when all are clear.
pub fn start_penetration(system: &System, state: &State<f64>) -> Option<(usize, f64)> {
    (0..system.contacts.len())
        .map(|contact| (contact, -gap(system, state, contact)))
        .filter(|(_, depth)| *depth > START_PENETRATION_TOLERANCE)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
}
