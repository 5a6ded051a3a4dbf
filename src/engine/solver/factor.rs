//! Dense factors of a principal submatrix: `L D L^T` within the profile where it is symmetric, `L U` with row
//! exchanges where it is not.

use super::complementarity::{add_scaled, dot};
use super::dense::Matrix;
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// A pivot below this part of the diagonal, or of the largest pivot, counts as zero.
const SINGULAR: f64 = TOLERANCES.rounding;

/// Factors and their memory.
#[derive(Debug, Default)]
pub struct Factor {
    size: usize,
    symmetric: bool,
    /// Row-major, `L` below the diagonal, `1 / D` on it (symmetric).
    entries: Vec<f64>,
    /// First column of each row that is not zero (symmetric).
    first: Vec<usize>,
    /// `L U` (not symmetric).
    general: Matrix,
}

impl Factor {
    /// Factors the rows and columns `rows` of `M`, with `shift` added to the diagonal. False where the matrix
    /// is singular to working precision, or symmetric but not positive definite.
    #[inline]
    pub fn compute(&mut self, problem: &BoxedProblem, rows: &[usize], symmetric: bool, shift: f64) -> bool {
        self.size = rows.len();
        self.symmetric = symmetric;
        if self.entries.len() < rows.len() * rows.len() {
            self.entries.resize(rows.len() * rows.len(), 0.0);
        }
        if self.first.len() < rows.len() {
            self.first.resize(rows.len(), 0);
        }
        if symmetric { self.symmetric(problem, rows, shift) } else { self.general(problem, rows, shift) }
    }

    fn symmetric(&mut self, problem: &BoxedProblem, rows: &[usize], shift: f64) -> bool {
        let n = rows.len();
        for i in 0..n {
            let source = problem.row(rows[i]);
            let (above, here) = self.entries.split_at_mut(i * n);
            let here = &mut here[..=i];
            let mut first = i;
            for (j, (entry, &column)) in here.iter_mut().zip(&rows[..i]).enumerate() {
                *entry = source[column];
                if *entry != 0.0 && first == i {
                    first = j;
                }
            }
            self.first[i] = first;
            let diagonal = source[rows[i]] + shift;
            let mut pivot = diagonal;
            for j in first..i {
                let start = first.max(self.first[j]);
                here[j] -= dot(&here[start..j], &above[j * n + start..j * n + j]);
            }
            for j in first..i {
                let scaled = here[j] * above[j * n + j];
                pivot -= scaled * here[j];
                here[j] = scaled;
            }
            let regular = pivot > SINGULAR * diagonal;
            if !regular {
                return false;
            }
            here[i] = 1.0 / pivot;
        }
        true
    }

    fn general(&mut self, problem: &BoxedProblem, rows: &[usize], shift: f64) -> bool {
        self.general.reset(rows.len());
        for (i, &row) in rows.iter().enumerate() {
            let source = problem.row(row);
            let target = self.general.row_mut(i);
            for (entry, &column) in target.iter_mut().zip(rows) {
                *entry = source[column];
            }
            target[i] += shift;
        }
        self.general.factor() && self.general.pivot_ratio() > SINGULAR
    }

    /// Solves for the right side in `x` and leaves the answer there.
    #[inline]
    pub fn solve(&mut self, x: &mut [f64]) {
        let n = self.size;
        let row = |i: usize| &self.entries[i * n..(i + 1) * n];
        if self.symmetric {
            for i in 1..n {
                let first = self.first[i];
                x[i] -= dot(&row(i)[first..i], &x[first..i]);
            }
            for (i, x) in x.iter_mut().enumerate().take(n) {
                *x *= row(i)[i];
            }
            for i in (1..n).rev() {
                let first = self.first[i];
                let factor = -x[i];
                add_scaled(&mut x[first..i], factor, &row(i)[first..i]);
            }
        } else {
            self.general.substitute(x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(m: &[f64], rows: &[usize], symmetric: bool, right: &[f64]) -> Option<Vec<f64>> {
        let size = m.len().isqrt();
        let problem = BoxedProblem::lcp(m.to_vec(), vec![0.0; size]).unwrap();
        let mut factor = Factor::default();
        let mut x = right.to_vec();
        factor.compute(&problem, rows, symmetric, 0.0).then(|| {
            factor.solve(&mut x);
            x
        })
    }

    #[test]
    fn both_factorisations_solve_the_same_system() {
        let m = [4.0, 1.0, 0.0, 2.0, 1.0, 5.0, 3.0, 0.0, 0.0, 3.0, 6.0, 1.0, 2.0, 0.0, 1.0, 7.0];
        let exact = [1.0, -2.0, 3.0];
        let rows = [0, 2, 3];
        let right: Vec<f64> =
            rows.iter().map(|&i| rows.iter().zip(exact).map(|(&j, x)| m[4 * i + j] * x).sum()).collect();
        for symmetric in [true, false] {
            let x = solved(&m, &rows, symmetric, &right).unwrap();
            for (x, exact) in x.iter().zip(exact) {
                assert!((x - exact).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn rows_are_exchanged_where_the_diagonal_is_zero() {
        assert_eq!(solved(&[0.0, 2.0, 4.0, 0.0], &[0, 1], false, &[2.0, 4.0]), Some(vec![1.0, 1.0]));
    }

    #[test]
    fn singular_matrices_are_refused() {
        let singular = [1.0, 2.0, 2.0, 4.0];
        assert_eq!(solved(&singular, &[0, 1], true, &[1.0, 1.0]), None);
        assert_eq!(solved(&singular, &[0, 1], false, &[1.0, 1.0]), None);
    }
}
