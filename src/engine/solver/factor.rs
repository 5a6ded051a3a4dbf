//! Dense factors of a principal submatrix: `L D L^T` within the profile where it is symmetric, `L U` with row
//! exchanges where it is not.

use super::complementarity::{add_scaled, dot};
use crate::engine::problem::complementarity::Complementarity;

/// A pivot below this part of the largest entry of its row counts as zero.
const SINGULAR: f64 = 1e-11;

/// Factors and their memory.
#[derive(Debug, Default)]
pub struct Factor {
    size: usize,
    symmetric: bool,
    /// Row-major. Symmetric: `L` below the diagonal, `1 / D` on it. Otherwise `L` and `U`, `1 / U` on the diagonal.
    entries: Vec<f64>,
    /// First column of each row that is not zero (symmetric).
    first: Vec<usize>,
    /// Which row went where (not symmetric).
    order: Vec<usize>,
    permuted: Vec<f64>,
}

impl Factor {
    /// Factors the rows and columns `rows` of `M`, with `shift(row)` added to the diagonal. False where the matrix
    /// is singular to working precision, or symmetric but not positive definite.
    #[inline]
    pub fn compute<P: Complementarity>(
        &mut self,
        problem: &P,
        rows: &[usize],
        symmetric: bool,
        shift: impl Fn(usize) -> f64,
    ) -> bool {
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

    fn symmetric<P: Complementarity>(
        &mut self,
        problem: &P,
        rows: &[usize],
        shift: impl Fn(usize) -> f64,
    ) -> bool {
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
            let diagonal = source[rows[i]] + shift(rows[i]);
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

    fn general<P: Complementarity>(
        &mut self,
        problem: &P,
        rows: &[usize],
        shift: impl Fn(usize) -> f64,
    ) -> bool {
        let n = rows.len();
        self.order.clear();
        self.order.extend(0..n);
        let mut scale = 0.0_f64;
        for (i, &row) in rows.iter().enumerate() {
            let source = problem.row(row);
            for (entry, &column) in self.entries[i * n..(i + 1) * n].iter_mut().zip(rows) {
                *entry = source[column];
                scale = scale.max(entry.abs());
            }
            self.entries[i * n + i] += shift(row);
        }
        for k in 0..n {
            let mut best = k;
            for i in k + 1..n {
                if self.entries[i * n + k].abs() > self.entries[best * n + k].abs() {
                    best = i;
                }
            }
            let pivot = self.entries[best * n + k];
            let regular = pivot.abs() > SINGULAR * scale;
            if !regular {
                return false;
            }
            if best != k {
                self.order.swap(best, k);
                let (upper, lower) = self.entries.split_at_mut(best * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            }
            let inverse = 1.0 / pivot;
            let (done, below) = self.entries.split_at_mut((k + 1) * n);
            let pivot_row = &mut done[k * n..];
            pivot_row[k] = inverse;
            for row in below.chunks_exact_mut(n).take(n - k - 1) {
                if row[k] != 0.0 {
                    let multiplier = row[k] * inverse;
                    row[k] = multiplier;
                    add_scaled(&mut row[k + 1..], -multiplier, &pivot_row[k + 1..]);
                }
            }
        }
        true
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
            self.permuted.clear();
            self.permuted.extend(self.order.iter().map(|&from| x[from]));
            for i in 0..n {
                self.permuted[i] -= dot(&row(i)[..i], &self.permuted[..i]);
            }
            for i in (0..n).rev() {
                let known = dot(&row(i)[i + 1..], &self.permuted[i + 1..]);
                self.permuted[i] = (self.permuted[i] - known) * row(i)[i];
            }
            x[..n].copy_from_slice(&self.permuted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::lcp::LcpProblem;

    fn solved(m: &[f64], rows: &[usize], symmetric: bool, right: &[f64]) -> Option<Vec<f64>> {
        let size = m.len().isqrt();
        let problem = LcpProblem::new(m.to_vec(), vec![0.0; size]).unwrap();
        let mut factor = Factor::default();
        let mut x = right.to_vec();
        factor.compute(&problem, rows, symmetric, |_| 0.0).then(|| {
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
