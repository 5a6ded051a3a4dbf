//! The default: a few Gauss-Seidel sweeps towards the active set, Newton to round-off, and Gauss-Seidel to the
//! iteration limit where Newton does not get there.

use super::{SolverScratch, SolverSettings, newton, nsgs};
use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::residual::natural_residual;

const FIRST_SWEEPS: u32 = 3;
const NEWTON_ITERATIONS: u32 = 30;

/// Solves from the guess in `r`; returns the iterations of all solvers tried.
pub fn solve(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> u32 {
    let limit = settings.max_iterations;
    let mut iterations = nsgs::solve(problem, r, settings.tolerance, FIRST_SWEEPS.min(limit));
    loop {
        iterations += newton::solve(problem, r, NEWTON_ITERATIONS.min(limit - iterations), scratch);
        if iterations >= limit || natural_residual(problem, r) <= settings.tolerance {
            return iterations;
        }
        iterations += nsgs::solve(problem, r, settings.tolerance, (limit - iterations).div_ceil(2));
    }
}
