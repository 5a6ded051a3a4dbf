//! The Delassus operator `W = R M^-1 C^T` of the active contacts, equilibrated: impulses act through the columns
//! `C`, velocities are seen through the rows `R`. For most schemes both are the Jacobian `J`.
//!
//! Contact `i` is scaled by `d_i = 1 / sqrt(w_i)`, where `w_i` is the mean of the diagonal of its own block:
//! impulses are `p_i = d_i r_i`, velocities `d_i u_i`. Cones are kept, and the residual no longer depends on units
//! or masses.

use super::{Jacobian, Touch};
use crate::engine::problem::block_matrix::Block;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Scalar;
use crate::engine::state::Parameters;
use nalgebra::{Matrix3, Vector3};

/// Scales `d` of the active `touches`. For a point mass it is the square root of the mass.
pub fn scales<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    columns: &[Jacobian<S>],
    parameters: &Parameters<S>,
    scales: &mut Vec<S>,
) {
    scales.clear();
    scales.extend(active.iter().zip(columns).map(|(&index, column)| {
        let touch = &touches[index];
        let mass = parameters.mass[touch.node];
        match touch.rotation {
            None => mass.sqrt(),
            Some(rotation) => {
                let turning = mobility(&parameters.inertia[rotation], column, column).trace();
                (S::one() / (S::one() / mass + turning / S::from(3.0))).sqrt()
            }
        }
    }));
}

/// Writes `W` of the active `touches`. Leaves `q` and `mu` to the caller.
pub fn assemble<S: Scalar>(
    touches: &[Touch<S>],
    active: &[usize],
    rows: &[Jacobian<S>],
    columns: &[Jacobian<S>],
    scales: &[S],
    parameters: &Parameters<S>,
    problem: &mut ConeProblem<S>,
) {
    let block = |i: usize, j: usize| {
        let touch = &touches[active[i]];
        let (row, column) = (&rows[i], &columns[j]);
        // The identity is written as such: round-off would break the symmetry of symmetric problems.
        let linear = if row.linear == column.linear {
            Matrix3::identity()
        } else {
            row.linear * column.linear.transpose()
        };
        match touch.rotation {
            // The scales are the square root of the mass and cancel.
            None => linear,
            Some(rotation) => {
                let inverse_mass = S::one() / parameters.mass[touch.node];
                let turning = mobility(&parameters.inertia[rotation], row, column);
                (linear * inverse_mass + turning) * (scales[i] * scales[j])
            }
        }
    };
    problem.reset(active.len());
    for (i, &one) in active.iter().enumerate() {
        problem.w.begin_row(rows_of(&block(i, i)));
        for (j, &other) in active.iter().enumerate() {
            if j != i && touches[one].node == touches[other].node {
                problem.w.push(j, rows_of(&block(i, j)));
            }
        }
    }
}

/// nalgebra stores columns, the problem rows.
fn rows_of<S: Scalar>(block: &Matrix3<S>) -> Block<S> {
    block.transpose().into()
}

/// Velocity in the rows that unit impulses in the columns make by turning the body.
fn mobility<S: Scalar>(inertia: &Vector3<S>, row: &Jacobian<S>, column: &Jacobian<S>) -> Matrix3<S> {
    let mut turned = column.angular.transpose();
    for (mut axis, &moment) in turned.row_iter_mut().zip(inertia.iter()) {
        axis /= moment;
    }
    row.angular * turned
}
