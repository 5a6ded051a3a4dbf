//! Solvers, one file each. Cone problems: [`auto`] chooses. LCP and boxed problems: [`auto_complementarity`] chooses.

mod alart_curnier;
mod auto;
mod auto_complementarity;
mod complementarity;
mod enumeration;
mod factor;
mod fischer;
mod lemke;
mod linear;
mod newton;
mod nsgs;
mod pgs;
mod pivoting;
mod principal;
mod report;
mod sensitivity;
mod tiny;

pub use complementarity::{LcpScratch, LcpSettings, LcpSolver, solve as complementarity_solve};
pub use report::{Report, Status};

use super::problem::cone::ConeProblem;
use super::problem::residual::natural_residual;
use super::scalar::{Dual, Scalar};

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

/// What a solver found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// Iterations spent.
    pub iterations: u32,
    /// Relative natural residual of the returned impulses.
    pub residual: f64,
}

/// Memory of the solvers, sized for the largest problem of a system.
#[derive(Debug)]
pub struct SolverScratch {
    values: ConeProblem<f64>,
    impulses: Vec<f64>,
    best: Vec<f64>,
    function: Vec<f64>,
    matrix: linear::Matrix,
}

impl SolverScratch {
    /// Memory for problems of up to `contacts` contacts.
    pub fn with_capacity(contacts: usize) -> SolverScratch {
        let rows = 3 * contacts;
        SolverScratch {
            values: ConeProblem::with_capacity(contacts),
            impulses: Vec::with_capacity(rows),
            best: Vec::with_capacity(rows),
            function: Vec::with_capacity(rows),
            matrix: linear::Matrix::with_capacity(rows),
        }
    }
}

/// A scalar over which contact problems can be solved.
pub trait Solvable: Scalar {
    /// Solves the problem from the guess in `r` and leaves the best answer there.
    fn solve(
        problem: &ConeProblem<Self>,
        r: &mut [Self],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Solution;
}

impl Solvable for f64 {
    fn solve(
        problem: &ConeProblem<f64>,
        r: &mut [f64],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Solution {
        let iterations = match settings.choice {
            SolverChoice::Auto => auto::solve(problem, r, settings, scratch),
            SolverChoice::Nsgs => nsgs::solve(problem, r, settings.tolerance, settings.max_iterations),
            SolverChoice::Newton => newton::solve(problem, r, settings.max_iterations, scratch),
        };
        Solution { iterations, residual: natural_residual(problem, r) }
    }
}

impl Solvable for Dual {
    fn solve(
        problem: &ConeProblem<Dual>,
        r: &mut [Dual],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Solution {
        let mut values = std::mem::take(&mut scratch.values);
        let mut impulses = std::mem::take(&mut scratch.impulses);
        problem.copy_values(&mut values);
        impulses.clear();
        impulses.extend(r.iter().map(|r| r.value));
        let solution = f64::solve(&values, &mut impulses, settings, scratch);
        sensitivity::tangents(problem, &values, &impulses, r, scratch);
        scratch.values = values;
        scratch.impulses = impulses;
        solution
    }
}
