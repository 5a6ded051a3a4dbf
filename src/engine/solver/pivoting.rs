//! Block principal pivoting: guess which rows are free, solve them, exchange all rows that disagree.
//!
//! Exchanging all of them at once is fast but may cycle, so that after some exchanges without progress only the
//! last disagreeing row is exchanged until there is progress, which terminates for P-matrices. Where the free rows
//! are singular (hyperstatic contact), the problem is shifted, `M + S`, `q - S c`, and solved again with the answer
//! as centre `c` (proximal points), which for positive semidefinite `M` converges to an answer of the problem
//! itself. [Judice and Pires 1994; Murty 1974; Rockafellar 1976]

use super::complementarity::{LcpSettings, Stop, clamp, largest, velocity};
use super::factor::Factor;
use super::report::Status;
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// Memory of the solver.
#[derive(Debug, Default)]
pub struct Scratch {
    free: Vec<usize>,
    at_bound: Vec<usize>,
    is_free: Vec<bool>,
    exchange: Vec<usize>,
    right: Vec<f64>,
    centre: Vec<f64>,
    factor: Factor,
}

/// Solves the problem from the guess in `z`.
pub fn run(problem: &BoxedProblem, z: &mut [f64], settings: &LcpSettings, scratch: &mut Scratch) -> Stop {
    let size = problem.size();
    guess(problem, z, scratch);
    let diagonal = (0..size).fold(0.0_f64, |largest, row| largest.max(problem.m[row * size + row].abs()));
    let mut pivots = Pivots {
        problem,
        symmetric: is_symmetric(problem),
        diagonal,
        shift: 0.0,
        iterations: 0,
        limit: settings.max_iterations,
    };
    let status = pivots.exchange_until_agreed(z, scratch);
    if status != Status::NumericalError {
        return Stop { status, iterations: pivots.iterations };
    }
    pivots.shift = TOLERANCES.half_of_digits * if diagonal > 0.0 { diagonal } else { largest(&problem.m) };
    scratch.centre.clear();
    scratch.centre.resize(size, 0.0);
    let mut last = f64::INFINITY;
    for _ in 0..TOLERANCES.newton_steps {
        let status = pivots.exchange_until_agreed(z, scratch);
        if status != Status::Solved {
            return Stop { status, iterations: pivots.iterations };
        }
        let moved = z.iter().zip(&scratch.centre).fold(0.0_f64, |moved, (z, c)| moved.max((z - c).abs()));
        scratch.centre.copy_from_slice(z);
        // What the shift still adds to `w`.
        let error = moved * pivots.shift;
        if error <= TOLERANCES.rounding * largest(&problem.q) || error >= last {
            break;
        }
        last = error;
    }
    Stop { status: Status::Solved, iterations: pivots.iterations }
}

/// Fills `is_free` and moves the other rows to a bound: one sweep of projected Gauss-Seidel over the guess.
fn guess(problem: &BoxedProblem, z: &mut [f64], scratch: &mut Scratch) {
    let size = problem.size();
    scratch.is_free.clear();
    scratch.is_free.resize(size, false);
    for row in (0..size).rev() {
        let (lower, upper) = (problem.lower[row], problem.upper[row]);
        let diagonal = problem.m[row * size + row];
        let w = velocity(problem, row, z);
        let target = if diagonal > 0.0 { z[row] - w / diagonal } else { z[row] - w };
        z[row] = target.max(lower).min(upper);
        scratch.is_free[row] = lower < z[row] && z[row] < upper;
    }
}

fn is_symmetric(problem: &BoxedProblem) -> bool {
    let size = problem.size();
    (1..size).all(|i| {
        let row = problem.row(i);
        (0..i).all(|j| row[j] == problem.m[j * size + i])
    })
}

/// The exchanges of one solve.
struct Pivots<'a> {
    problem: &'a BoxedProblem,
    symmetric: bool,
    /// Largest entry of the diagonal.
    diagonal: f64,
    shift: f64,
    iterations: u32,
    limit: u32,
}

impl Pivots<'_> {
    /// Solved where all rows agree with their place, [`Status::NumericalError`] where free rows are singular.
    fn exchange_until_agreed(&mut self, z: &mut [f64], scratch: &mut Scratch) -> Status {
        let mut fewest = usize::MAX;
        let mut patience = TOLERANCES.patience;
        loop {
            if self.iterations >= self.limit {
                return Status::IterationLimit;
            }
            self.iterations += 1;
            list_free(scratch);
            if !self.factor(scratch) {
                return Status::NumericalError;
            }
            self.solve_free(z, scratch);
            self.find_disagreeing(z, scratch);
            let disagreeing = scratch.exchange.len();
            if disagreeing == 0 {
                for &row in &scratch.free {
                    z[row] = clamp(self.problem, row, z[row]);
                }
                return Status::Solved;
            }
            if !z.iter().all(|z| z.is_finite()) {
                return Status::NumericalError;
            }
            let exchanged = if disagreeing < fewest {
                fewest = disagreeing;
                patience = TOLERANCES.patience;
                0
            } else if patience > 0 {
                patience -= 1;
                0
            } else {
                disagreeing - 1
            };
            for &row in &scratch.exchange[exchanged..] {
                scratch.is_free[row] = !scratch.is_free[row];
                z[row] = clamp(self.problem, row, z[row]);
            }
        }
    }

    fn factor(&mut self, scratch: &mut Scratch) -> bool {
        if scratch.factor.compute(self.problem, &scratch.free, self.symmetric, self.shift) {
            return true;
        }
        // A symmetric matrix that is not positive definite.
        if self.symmetric && (self.shift > 0.0 || self.indefinite(&scratch.free)) {
            self.symmetric = false;
            return scratch.factor.compute(self.problem, &scratch.free, false, self.shift);
        }
        false
    }

    fn indefinite(&self, free: &[usize]) -> bool {
        free.iter().any(|&row| self.problem.row(row)[row] <= 0.0)
    }

    /// Solves `w = 0` for the free rows, the others held.
    fn solve_free(&self, z: &mut [f64], scratch: &mut Scratch) {
        let q = &self.problem.q;
        scratch.right.clear();
        for &row in &scratch.free {
            let m = self.problem.row(row);
            let mut w = q[row];
            for &column in &scratch.at_bound {
                w += m[column] * z[column];
            }
            if self.shift > 0.0 {
                w -= self.shift * scratch.centre[row];
            }
            scratch.right.push(-w);
        }
        scratch.factor.solve(&mut scratch.right);
        for (&row, &value) in scratch.free.iter().zip(&scratch.right) {
            z[row] = value;
        }
    }

    /// Lists the free rows outside their bounds and the others that pull away from theirs.
    fn find_disagreeing(&self, z: &[f64], scratch: &mut Scratch) {
        scratch.exchange.clear();
        let tolerance =
            TOLERANCES.rounding * largest(&self.problem.q) + 4.0 * f64::EPSILON * self.diagonal * largest(z);
        for row in 0..z.len() {
            let (lower, upper) = (self.problem.lower[row], self.problem.upper[row]);
            let disagrees = if scratch.is_free[row] {
                let slack = TOLERANCES.rounding * z[row].abs();
                z[row] < lower - slack || z[row] > upper + slack
            } else {
                let mut w = velocity(self.problem, row, z);
                if self.shift > 0.0 {
                    w += self.shift * (z[row] - scratch.centre[row]);
                }
                (w < -tolerance && z[row] < upper) || (w > tolerance && z[row] > lower)
            };
            if disagrees {
                scratch.exchange.push(row);
            }
        }
    }
}

fn list_free(scratch: &mut Scratch) {
    scratch.free.clear();
    scratch.at_bound.clear();
    for (row, &free) in scratch.is_free.iter().enumerate() {
        if free { scratch.free.push(row) } else { scratch.at_bound.push(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::complementarity::{LcpScratch, LcpSolver, solve};
    use super::super::fixtures::settings;
    use super::super::report::Report;
    use super::*;

    fn pivoting(problem: &BoxedProblem) -> (Report, Vec<f64>) {
        let mut z = vec![0.0; problem.size()];
        let report = solve(problem, &mut z, &settings(LcpSolver::Pivoting), &mut LcpScratch::default());
        (report, z)
    }

    #[test]
    fn mixed_problems_are_exact() {
        let infinity = f64::INFINITY;
        let problem = BoxedProblem::new(
            vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0],
            vec![-9.0, 2.0, 7.0],
            vec![-1.0, -infinity, -1.5],
            vec![1.0, infinity, -0.25],
        )
        .unwrap();
        let (report, z) = pivoting(&problem);
        assert_eq!(report.status, Status::Solved);
        assert_eq!((z[0], z[2]), (1.0, -1.5));
        assert!((z[1] - (-2.0 - 1.0 + 0.3) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_exchange_of_blocks_falls_back_to_single_rows() {
        // Exchanging whole blocks cycles on this P-matrix. [Murty 1988, 4.2]
        let problem =
            BoxedProblem::lcp(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap();
        let (report, z) = pivoting(&problem);
        assert_eq!(report.status, Status::Solved, "{report:?}");
        assert!(z.iter().all(|z| (z - 1.0 / 3.0).abs() < 1e-15), "{z:?}");
    }

    #[test]
    fn a_hyperstatic_problem_is_solved_by_proximal_steps() {
        let legs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let mut m = Vec::new();
        for a in legs {
            m.extend(legs.map(|b| 1.0 + 0.5 * (a[0] * b[0] + a[1] * b[1])));
        }
        let (report, z) = pivoting(&BoxedProblem::lcp(m, vec![-1.0; 4]).unwrap());
        assert_eq!(report.status, Status::Solved, "{report:?} {z:?}");
    }

    #[test]
    fn the_limit_of_exchanges_holds() {
        let problem =
            BoxedProblem::lcp(vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], vec![-1.0; 3]).unwrap();
        let settings = LcpSettings { max_iterations: 1, ..settings(LcpSolver::Pivoting) };
        let report = solve(&problem, &mut [5.0, 0.0, 0.0], &settings, &mut LcpScratch::default());
        assert!(report.iterations <= 1);
    }
}
