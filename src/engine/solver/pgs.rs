//! Projected Gauss-Seidel: row by row, each solved with the others held, over the entries that are not zero.
//!
//! `z_i := clamp(z_i - w_i / M_ii)`. Converges for symmetric positive definite `M`. A row with a zero on the
//! diagonal steps by the mean of the diagonal instead, which may help and is not promised to.

use super::complementarity::{LcpSettings, Stop, clamp};
use super::report::Status;
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// Memory of the solver: the rows of `M` without zeros.
#[derive(Debug, Default)]
pub struct Scratch {
    start: Vec<usize>,
    columns: Vec<usize>,
    entries: Vec<f64>,
    /// `1 / M_ii`, or the step of rows without diagonal.
    step: Vec<f64>,
}

/// Solves the problem from the guess in `z`.
pub fn run(problem: &BoxedProblem, z: &mut [f64], settings: &LcpSettings, scratch: &mut Scratch) -> Stop {
    let size = problem.size();
    if !collect(problem, scratch) {
        return Stop { status: Status::NotApplicable, iterations: 0 };
    }
    let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    let goal = TOLERANCES.aimed_part * settings.tolerance * if scale > 0.0 { scale } else { 1.0 };
    for sweep in 1..=settings.max_iterations {
        let mut square = 0.0;
        for row in 0..size {
            let entries = scratch.start[row]..scratch.start[row + 1];
            let mut w = problem.q[row];
            for (entry, &column) in scratch.entries[entries.clone()].iter().zip(&scratch.columns[entries]) {
                w += entry * z[column];
            }
            square += (z[row] - clamp(problem, row, z[row] - w)).powi(2);
            z[row] = clamp(problem, row, z[row] - w * scratch.step[row]);
        }
        if !square.is_finite() {
            return Stop { status: Status::NumericalError, iterations: sweep };
        }
        if square.sqrt() <= goal {
            return Stop { status: Status::Solved, iterations: sweep };
        }
    }
    Stop { status: Status::IterationLimit, iterations: settings.max_iterations }
}

/// Fills the scratch memory. False where an entry of the diagonal is negative, or all are zero.
fn collect(problem: &BoxedProblem, scratch: &mut Scratch) -> bool {
    let size = problem.size();
    let diagonal = |row: usize| problem.m[row * size + row];
    let (mut sum, mut count) = (0.0, 0);
    for row in 0..size {
        if diagonal(row) < 0.0 {
            return false;
        }
        if diagonal(row) > 0.0 {
            sum += diagonal(row);
            count += 1;
        }
    }
    if count == 0 {
        return size == 0;
    }
    let mean = sum / f64::from(count);
    for vector in [&mut scratch.start, &mut scratch.columns] {
        vector.clear();
    }
    scratch.entries.clear();
    scratch.step.clear();
    for row in 0..size {
        scratch.start.push(scratch.entries.len());
        scratch.step.push(1.0 / if diagonal(row) > 0.0 { diagonal(row) } else { mean });
        for (column, &entry) in problem.row(row).iter().enumerate() {
            if entry != 0.0 {
                scratch.columns.push(column);
                scratch.entries.push(entry);
            }
        }
    }
    scratch.start.push(scratch.entries.len());
    true
}

#[cfg(test)]
mod tests {
    use super::super::complementarity::{LcpScratch, LcpSolver, solve};
    use super::super::fixtures::settings;
    use super::*;

    #[test]
    fn answers_are_exact() {
        let problem = BoxedProblem::new(
            vec![2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0],
            vec![-5.0, -6.0, 3.0],
            vec![0.0, 0.0, f64::NEG_INFINITY],
            vec![1.0, 10.0, f64::INFINITY],
        )
        .unwrap();
        let mut z = vec![0.0; 3];
        let report = solve(&problem, &mut z, &settings(LcpSolver::Pgs), &mut LcpScratch::default());
        assert_eq!(report.status, Status::Solved);
        assert_eq!(z, [1.0, 2.5, -3.0]);
    }

    #[test]
    fn the_limit_of_sweeps_holds() {
        let problem = BoxedProblem::lcp(vec![1.0, 0.999, 0.999, 1.0], vec![-1.0, -1.0]).unwrap();
        let mut z = vec![0.0; 2];
        let settings = LcpSettings { max_iterations: 7, ..settings(LcpSolver::Pgs) };
        let report = solve(&problem, &mut z, &settings, &mut LcpScratch::default());
        assert_eq!((report.status, report.iterations), (Status::IterationLimit, 7));
    }

    #[test]
    fn a_negative_diagonal_is_refused() {
        let problem = BoxedProblem::lcp(vec![-1.0], vec![-1.0]).unwrap();
        let report = solve(&problem, &mut [0.0], &settings(LcpSolver::Pgs), &mut LcpScratch::default());
        assert_eq!(report.status, Status::NotApplicable);
    }
}
