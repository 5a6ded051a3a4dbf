//! Block nonsmooth Gauss-Seidel: contact by contact, each solved in closed form with the others held.
//!
//! The diagonal blocks of point masses are multiples of the identity, so that the local problem is
//! [`coulomb_cone`](crate::engine::law::coulomb_cone)'s closed form. [Jourdan, Alart, Jean 1998]

use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::residual::natural_residual;

/// Sweeps from the guess in `r` until solved or `max_sweeps`; returns the sweeps made.
pub fn solve(problem: &ConeProblem<f64>, r: &mut [f64], tolerance: f64, max_sweeps: u32) -> u32 {
    for sweep in 0..max_sweeps {
        for contact in 0..problem.contacts {
            relax(problem, r, contact);
        }
        if natural_residual(problem, r) <= tolerance {
            return sweep + 1;
        }
    }
    max_sweeps
}

fn relax(problem: &ConeProblem<f64>, r: &mut [f64], contact: usize) {
    let at = 3 * contact;
    let rows = problem.rows();
    let diagonal = problem.w[at * rows + at];
    let target: [f64; 3] = std::array::from_fn(|k| r[at + k] - problem.velocity(at + k, r) / diagonal);
    let normal = target[0].max(0.0);
    let limit = problem.mu[contact] * normal;
    let needed = (target[1] * target[1] + target[2] * target[2]).sqrt();
    let scale = if needed <= limit { 1.0 } else { limit / needed };
    r[at] = normal;
    r[at + 1] = scale * target[1];
    r[at + 2] = scale * target[2];
}
