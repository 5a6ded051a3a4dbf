//! Contact solvers.

/// Which solver, how exact, how long.
#[derive(Clone, Debug)]
pub struct SolverSettings {
    /// Solver to use.
    pub choice: SolverChoice,
    /// Relative natural residual that counts as solved.
    pub tolerance: f64,
    /// Limit of iterations per problem.
    pub max_iterations: u32,
}

/// Solver to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverChoice {
    /// Chosen by problem, with fallbacks.
    Auto,
    /// Block nonsmooth Gauss-Seidel.
    Nsgs,
    /// Semismooth Newton.
    Newton,
}
