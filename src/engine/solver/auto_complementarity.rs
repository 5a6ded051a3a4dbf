//! The default for LCP and boxed problems: block principal pivoting, Lemke, Newton from several starts, projected
//! Gauss-Seidel. The first answer within tolerance is taken, otherwise the best.

use super::complementarity::{self, LcpScratch, LcpSettings, LcpSolver, Stop, judge};
use super::report::{Report, Status};
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// Limit of block exchanges for a size, far above what solvable problems need.
fn pivoting_limit(size: usize) -> u32 {
    u32::try_from(50 + size).unwrap_or(u32::MAX)
}

/// Solves the problem from the guess in `z`.
pub fn solve(
    problem: &BoxedProblem,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut LcpScratch,
) -> Report {
    let mut used = 0;
    let size = problem.size();
    let pivotable = size <= TOLERANCES.few_rows || (0..size).all(|row| problem.m[row * size + row] > 0.0);
    let stages = [
        (LcpSolver::Pivoting, if pivotable { pivoting_limit(size) } else { 0 }),
        (LcpSolver::Lemke, u32::MAX),
        (LcpSolver::Newton, u32::MAX),
        (LcpSolver::Pgs, u32::MAX),
    ];
    let mut best: Option<Report> = None;
    for (solver, stage_limit) in stages {
        let max_iterations = stage_limit.min(settings.max_iterations - used);
        if max_iterations == 0 {
            continue;
        }
        let stage = LcpSettings { solver, max_iterations, ..*settings };
        let report = complementarity::solve(problem, z, &stage, scratch);
        used += report.iterations;
        if report.status == Status::Solved {
            return Report { iterations: used, ..report };
        }
        // Each solver starts where the best so far ended.
        if best.is_none_or(|best| report.residual < best.residual) {
            best = Some(report);
            scratch.best.clear();
            scratch.best.extend_from_slice(z);
        } else {
            z.copy_from_slice(&scratch.best);
        }
    }
    let unsolved = Stop { status: Status::IterationLimit, iterations: used };
    best.map_or_else(
        || judge(problem, z, "auto", unsolved, settings.tolerance),
        |best| Report { iterations: used, ..best },
    )
}
