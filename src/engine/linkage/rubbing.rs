//! Friction of a joint as one of the contacts of an interval.

use crate::engine::scalar::Scalar;
use crate::engine::system::linkage::{Blocks, JointPlace};
use crate::engine::ties::joint::Rows;
use nalgebra::Vector3;

/// How a joint rubs over an interval: around the axis at the radius of the pin, and along it.
#[derive(Clone, Copy, Debug)]
pub struct Rubbing<S> {
    /// The joint, by place in the linkage.
    pub joint: usize,
    /// What it joins.
    pub place: JointPlace,
    /// Rows of sliding where the joint acts.
    pub rows: Rows<S>,
    /// Axis there.
    pub axis: Vector3<S>,
    /// Sliding velocity at the start.
    pub before: [S; 2],
    /// Sliding velocity at the end without friction and contact.
    pub free: [S; 2],
    /// Sliding velocity at the end.
    pub after: [S; 2],
    /// Whether sliding has begun, so that the kinetic coefficient counts.
    pub slides: bool,
    /// Largest friction impulse.
    pub bound: S,
    /// The bound of the pass before, and by how much its solution asked for another.
    pub tried: Option<(f64, f64)>,
    /// Largest bound that was found too small, and smallest that was found too large.
    pub between: [f64; 2],
    /// Friction impulse on the second end.
    pub impulse: [S; 2],
    /// Normal impulse of either virtual contact.
    pub normals: [S; 2],
}

impl<S: Scalar> Rows<S> {
    /// What the rows see of velocities by block.
    pub fn of(&self, blocks: &Blocks, velocities: &[Vector3<S>]) -> Vector3<S> {
        let mut seen = Vector3::zeros();
        for (part, block) in self.parts.iter().zip(blocks) {
            if let Some(block) = block {
                seen += part * velocities[*block];
            }
        }
        seen
    }

    /// Adds impulses along the rows to a right side.
    pub fn push(&self, blocks: &Blocks, right: &mut [Vector3<S>], impulse: &Vector3<S>) {
        for (part, block) in self.parts.iter().zip(blocks) {
            if let Some(block) = block {
                right[*block] += part.tr_mul(impulse);
            }
        }
    }

    /// Number of rows that see anything; at least one.
    pub fn count(&self) -> f64 {
        (0..3).filter(|&row| self.has(row)).count().max(1) as f64
    }

    /// Whether a row sees anything.
    pub fn has(&self, row: usize) -> bool {
        self.parts.iter().any(|part| part.row(row).iter().any(|entry| entry.value() != 0.0))
    }
}
