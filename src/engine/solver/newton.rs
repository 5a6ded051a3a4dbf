//! Semismooth Newton on the Alart-Curnier function: finds the active set, then is exact to round-off.

use super::{SolverScratch, alart_curnier};
use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::residual::natural_residual;

/// Residual at which further iterations only stir round-off.
const ROUND_OFF: f64 = 1e-15;
/// Iterations without a better residual before giving up.
const PATIENCE: u32 = 8;

/// Iterates from the guess in `r`, leaves the best point seen there; returns the iterations made.
pub fn solve(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    max_iterations: u32,
    scratch: &mut SolverScratch,
) -> u32 {
    let SolverScratch { best, function, matrix, .. } = scratch;
    best.clear();
    best.extend_from_slice(r);
    let mut best_residual = natural_residual(problem, r);
    let mut last_better = 0;
    let mut iteration = 0;
    while iteration < max_iterations && best_residual > ROUND_OFF && iteration - last_better < PATIENCE {
        iteration += 1;
        function.clear();
        function
            .extend((0..problem.contacts).flat_map(|contact| alart_curnier::function(problem, r, contact)));
        alart_curnier::jacobian(problem, r, matrix);
        matrix.solve(function);
        for (r, step) in r.iter_mut().zip(function.iter()) {
            *r -= step;
        }
        let residual = natural_residual(problem, r);
        if residual < best_residual {
            best_residual = residual;
            last_better = iteration;
            best.copy_from_slice(r);
        }
    }
    r.copy_from_slice(best);
    iteration
}
