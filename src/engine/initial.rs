//! Whether a simulation may start from a state.

use super::{State, System, gap};

/// Depth below which a start inside a surface counts as rounding.
pub const START_PENETRATION_TOLERANCE: f64 = 1e-9;

/// Difference of an orientation's length from 1 that is taken for rounding.
pub const ORIENTATION_TOLERANCE: f64 = 1e-3;

/// Why a simulation cannot start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartFault {
    /// An orientation is not a unit quaternion.
    Orientation {
        /// Index of the node.
        node: usize,
        /// Index of its rotation.
        rotation: usize,
        /// Length of the quaternion.
        length: f64,
    },
    /// A node starts inside a surface.
    Penetration {
        /// Contact that is deepest.
        contact: usize,
        /// How deep.
        depth: f64,
    },
}

/// Scales orientations to length 1, and looks for what keeps a simulation from starting.
pub fn check_start(system: &System, state: &mut State<f64>) -> Result<(), StartFault> {
    for (node, entry) in system.nodes.iter().enumerate() {
        let Some(rotation) = entry.rotation else { continue };
        let orientation = &mut state.rotations[rotation].orientation;
        let length = orientation.length();
        if (length - 1.0).abs() > ORIENTATION_TOLERANCE {
            return Err(StartFault::Orientation { node, rotation, length });
        }
        *orientation = orientation.normalized();
    }
    let deepest = (0..system.contacts.len())
        .map(|contact| (contact, -gap(system, state, contact)))
        .filter(|(_, depth)| *depth > START_PENETRATION_TOLERANCE)
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    match deepest {
        Some((contact, depth)) => Err(StartFault::Penetration { contact, depth }),
        None => Ok(()),
    }
}
