//! The Delassus operator `W = J M^-1 J^T` of the active contacts, equilibrated.
//!
//! Contact `i` is scaled by `d_i = 1 / sqrt(W_ii)`: impulses are `p_i = d_i r_i`, velocities `d_i u_i`. Cones are
//! kept, every diagonal block becomes the identity, and the residual no longer depends on units or masses.

use super::Touch;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Scalar;
use nalgebra::Matrix3;

/// Writes `W` of the active `touches`, whose frames are `frames`. Leaves `q` and `mu` to the caller.
///
/// For point masses `d_i` is the square root of the mass and cancels from `W`.
pub fn assemble<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    frames: &[Matrix3<S>],
    problem: &mut ConeProblem<S>,
) {
    problem.reset(active.len());
    for (i, &one) in active.iter().enumerate() {
        // The identity is written as such: round-off would break the symmetry of symmetric problems.
        problem.w.begin_row(Matrix3::identity().into());
        for (j, &other) in active.iter().enumerate() {
            if j != i && touches[one].node == touches[other].node {
                // nalgebra stores columns, the problem rows.
                problem.w.push(j, (frames[j] * frames[i].transpose()).into());
            }
        }
    }
}
