//! What a solver says about its answer.

use crate::engine::settings::SolverSettings;

/// How a solve ended, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The natural residual is within tolerance.
    Solved,
    /// The solver stopped by itself, but the residual is above tolerance.
    Inaccurate,
    /// The iteration limit was reached first.
    IterationLimit,
    /// A pivoting method left on a ray: no solution along its path.
    Ray,
    /// A matrix was singular or a number overflowed.
    NumericalError,
    /// The solver is not made for this problem.
    NotApplicable,
}

/// Outcome of a solve. The residual is computed by code that no solver shares, and alone decides
/// [`Status::Solved`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Which solver found the answer.
    pub solver: &'static str,
    /// How it ended.
    pub status: Status,
    /// Pivots, sweeps or Newton iterations.
    pub iterations: u32,
    /// Natural residual of the returned answer, relative to `q`.
    pub residual: f64,
}

impl Report {
    /// The report of an answer with a natural residual, `at_limit` where the iteration limit stopped the solver.
    pub(super) fn judged(
        solver: &'static str,
        iterations: u32,
        residual: f64,
        at_limit: bool,
        settings: &SolverSettings,
    ) -> Report {
        let status = if residual <= settings.tolerance {
            Status::Solved
        } else if !residual.is_finite() {
            Status::NumericalError
        } else if at_limit {
            Status::IterationLimit
        } else {
            Status::Inaccurate
        };
        Report { solver, status, iterations, residual }
    }
}
