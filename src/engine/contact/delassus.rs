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
    let rows = problem.rows();
    for (i, &one) in active.iter().enumerate() {
        for (j, &other) in active.iter().enumerate() {
            if touches[one].node != touches[other].node {
                continue;
            }
            // The identity is written as such: round-off would break the symmetry of symmetric problems.
            let block = if i == j { Matrix3::identity() } else { frames[i] * frames[j].transpose() };
            for row in 0..3 {
                for column in 0..3 {
                    problem.w[(3 * i + row) * rows + 3 * j + column] = block[(row, column)];
                }
            }
        }
    }
}
