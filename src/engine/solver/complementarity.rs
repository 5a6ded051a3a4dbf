//! What the solvers of LCP and boxed problems share: settings, memory, and the judgement of their answers.

use super::report::{Report, Status};
use super::{auto_complementarity, fischer, lemke, pgs, pivoting};
use crate::engine::problem::boxed::BoxedProblem;

/// Solver of LCP and boxed problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcpSolver {
    /// Chosen by problem, with fallbacks.
    Auto,
    /// Lexicographic Lemke.
    Lemke,
    /// Block principal pivoting.
    Pivoting,
    /// Projected Gauss-Seidel.
    Pgs,
    /// Damped Newton on the Fischer-Burmeister function.
    Newton,
}

/// Which solver, how exact, how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LcpSettings {
    /// Solver to use.
    pub solver: LcpSolver,
    /// Relative natural residual that counts as solved.
    pub tolerance: f64,
    /// Limit of pivots, sweeps and Newton iterations per problem, all fallbacks together.
    pub max_iterations: u32,
}

impl Default for LcpSettings {
    fn default() -> LcpSettings {
        LcpSettings { solver: LcpSolver::Auto, tolerance: 1e-10, max_iterations: 10_000 }
    }
}

/// Memory of the solvers, which grows to the largest problem seen and carries nothing from one solve to the next.
#[derive(Debug, Default)]
pub struct LcpScratch {
    /// The best answer of several solvers.
    pub(super) best: Vec<f64>,
    pub(super) pivoting: pivoting::Scratch,
    pub(super) lemke: lemke::Scratch,
    pub(super) pgs: pgs::Scratch,
    pub(super) fischer: fischer::Scratch,
}

/// Solves an LCP or boxed problem from the guess in `z` and leaves the best answer there; the residual judges it.
pub fn solve(
    problem: &BoxedProblem,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    let (name, stop) = match settings.solver {
        LcpSolver::Auto => return auto_complementarity::solve(problem, z, settings, scratch),
        LcpSolver::Lemke => ("lemke", lemke::run(problem, z, settings, &mut scratch.lemke)),
        LcpSolver::Pivoting => ("pivoting", pivoting::run(problem, z, settings, &mut scratch.pivoting)),
        LcpSolver::Pgs => ("pgs", pgs::run(problem, z, settings, &mut scratch.pgs)),
        LcpSolver::Newton => ("newton", fischer::run(problem, z, settings, &mut scratch.fischer)),
    };
    judge(problem, z, name, stop, settings.tolerance)
}

/// How a solver stopped, before anybody looked at its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stop {
    /// What the solver says: [`Status::Solved`] where it came to its own end.
    pub status: Status,
    /// Iterations made.
    pub iterations: u32,
}

/// Lets the natural residual decide. An answer that is not finite is replaced by the bounds nearest to zero.
#[inline]
pub(super) fn judge(
    problem: &BoxedProblem,
    z: &mut [f64],
    solver: &'static str,
    stop: Stop,
    tolerance: f64,
) -> Report {
    let mut residual = problem.natural_residual(z);
    if residual == f64::INFINITY {
        residual = nearest_to_zero(problem, z);
    }
    let status = match stop.status {
        _ if residual <= tolerance => Status::Solved,
        Status::Solved => Status::Inaccurate,
        other => other,
    };
    Report { solver, status, iterations: stop.iterations, residual }
}

#[cold]
fn nearest_to_zero(problem: &BoxedProblem, z: &mut [f64]) -> f64 {
    for (row, z) in z.iter_mut().enumerate() {
        *z = clamp(problem, row, 0.0);
    }
    problem.natural_residual(z)
}

/// The number between the bounds that is nearest to `value`.
#[inline]
pub(super) fn clamp(problem: &BoxedProblem, row: usize, value: f64) -> f64 {
    let (lower, upper) = (problem.lower[row], problem.upper[row]);
    if value < lower {
        lower
    } else if value > upper {
        upper
    } else {
        value
    }
}

/// `w = M z + q`, one row.
#[inline]
pub(super) fn velocity(problem: &BoxedProblem, row: usize, z: &[f64]) -> f64 {
    problem.q[row] + dot(problem.row(row), z)
}

/// Scalar product in four partial sums, so that one addition does not wait for the last.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_blocks, b_blocks) = (a.chunks_exact(4), b.chunks_exact(4));
    let mut rest = 0.0;
    for (a, b) in a_blocks.remainder().iter().zip(b_blocks.remainder()) {
        rest += a * b;
    }
    for (a, b) in a_blocks.zip(b_blocks) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `target += factor * source`.
#[inline]
pub(super) fn add_scaled(target: &mut [f64], factor: f64, source: &[f64]) {
    for (target, source) in target.iter_mut().zip(source) {
        *target += factor * source;
    }
}

/// Largest absolute value.
#[inline]
pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}
