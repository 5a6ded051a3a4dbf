//! The Alart-Curnier function, whose zeros are the solutions of the cone problem.
//!
//! With `y = r - u`: `Phi_N = r_N - max(0, y_N)`, `Phi_T = r_T - Proj(y_T)` onto the disc of radius
//! `mu max(0, y_N)`. [Alart and Curnier 1991]

use super::linear::Matrix;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Scalar;

/// `Phi` of one contact.
pub fn function<S: Scalar>(problem: &ConeProblem<S>, r: &[S], contact: usize) -> [S; 3] {
    let at = 3 * contact;
    let r_here = [r[at], r[at + 1], r[at + 2]];
    let y: [S; 3] = std::array::from_fn(|k| r_here[k] - problem.velocity(at + k, r));
    if y[0].value() <= 0.0 {
        return r_here;
    }
    let radius = problem.mu[contact] * y[0];
    let length = (y[1] * y[1] + y[2] * y[2]).sqrt();
    let scale = if length.value() <= radius.value() { S::one() } else { radius / length };
    [r_here[0] - y[0], r_here[1] - scale * y[1], r_here[2] - scale * y[2]]
}

/// Writes a generalised Jacobian of `Phi` at `r`.
pub fn jacobian(problem: &ConeProblem<f64>, r: &[f64], matrix: &mut Matrix) {
    let rows = problem.rows();
    matrix.reset(rows);
    for contact in 0..problem.contacts {
        let at = 3 * contact;
        let y: [f64; 3] = std::array::from_fn(|k| r[at + k] - problem.velocity(at + k, r));
        if y[0] <= 0.0 {
            for k in 0..3 {
                matrix.row_mut(at + k)[at + k] = 1.0;
            }
            continue;
        }
        let w = |k: usize, column: usize| problem.w[(at + k) * rows + column];
        let unit = |k: usize, column: usize| if column == at + k { 1.0 } else { 0.0 };
        for column in 0..rows {
            matrix.row_mut(at)[column] = w(0, column);
        }
        let mu = problem.mu[contact];
        let radius = mu * y[0];
        let length = (y[1] * y[1] + y[2] * y[2]).sqrt();
        if length <= radius {
            for k in 1..3 {
                for column in 0..rows {
                    matrix.row_mut(at + k)[column] = w(k, column);
                }
            }
            continue;
        }
        let direction = [y[1] / length, y[2] / length];
        let ratio = radius / length;
        for column in 0..rows {
            let dy: [f64; 3] = std::array::from_fn(|k| unit(k, column) - w(k, column));
            let along = direction[0] * dy[1] + direction[1] * dy[2];
            for k in 1..3 {
                let turning = ratio * (dy[k] - direction[k - 1] * along);
                matrix.row_mut(at + k)[column] = unit(k, column) - mu * direction[k - 1] * dy[0] - turning;
            }
        }
    }
}
