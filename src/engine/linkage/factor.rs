//! `L D L^T` of a sparse symmetric matrix in blocks of three, along a fixed pattern.
//!
//! Without exchanges: blocks of nodes are positive definite, and those of joints, once the nodes are eliminated,
//! negative definite, by a small compliance even where joints are redundant.

use super::pattern::{Entry, Pattern, Target};
use crate::engine::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// Blocks of a symmetric matrix along a [`Pattern`].
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<S: Scalar> {
    /// On the diagonal, by row.
    pub diagonal: Vec<Matrix3<S>>,
    /// Below it, by place.
    pub below: Vec<Matrix3<S>>,
}

/// A matrix in factors.
#[derive(Clone, Debug)]
pub struct Factor<S: Scalar> {
    /// Inverses of `D`.
    inverse: Vec<Matrix3<S>>,
    /// `L`, without its diagonal.
    below: Vec<Matrix3<S>>,
    /// Column at hand, before elimination.
    column: Vec<Matrix3<S>>,
}

impl<S: Scalar> Matrix<S> {
    /// All zero.
    pub fn zero(pattern: &Pattern) -> Matrix<S> {
        Matrix {
            diagonal: vec![Matrix3::zeros(); pattern.size()],
            below: vec![Matrix3::zeros(); pattern.rows.len()],
        }
    }

    /// Makes it zero.
    pub fn clear(&mut self) {
        self.diagonal.fill(Matrix3::zeros());
        self.below.fill(Matrix3::zeros());
    }

    /// Adds to a block beside the diagonal.
    #[inline]
    pub fn add(&mut self, entry: Entry, block: &Matrix3<S>) {
        if entry.transposed {
            self.below[entry.place] += block.transpose();
        } else {
            self.below[entry.place] += block;
        }
    }

    /// `right - A x`.
    pub fn residual(
        &self,
        pattern: &Pattern,
        right: &[Vector3<S>],
        x: &[Vector3<S>],
        residual: &mut [Vector3<S>],
    ) {
        for (row, residual) in residual.iter_mut().enumerate() {
            *residual = right[row] - self.diagonal[row] * x[row];
        }
        for (turn, &column) in pattern.order.iter().enumerate() {
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                let row = pattern.rows[place];
                residual[row] -= self.below[place] * x[column];
                residual[column] -= self.below[place].tr_mul(&x[row]);
            }
        }
    }
}

impl<S: Scalar> Factor<S> {
    /// Memory for the factors of a matrix.
    pub fn new(pattern: &Pattern) -> Factor<S> {
        let longest = pattern.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        Factor {
            inverse: vec![Matrix3::zeros(); pattern.size()],
            below: vec![Matrix3::zeros(); pattern.rows.len()],
            column: vec![Matrix3::zeros(); longest],
        }
    }

    /// Factors a matrix.
    pub fn factor(&mut self, pattern: &Pattern, matrix: &Matrix<S>) {
        let Factor { inverse, below, column } = self;
        inverse.copy_from_slice(&matrix.diagonal);
        below.copy_from_slice(&matrix.below);
        for (turn, &pivot) in pattern.order.iter().enumerate() {
            inverse[pivot] = definite_inverse(&inverse[pivot]);
            let first = pattern.starts[turn];
            let end = pattern.starts[turn + 1];
            column[..end - first].copy_from_slice(&below[first..end]);
            for block in &mut below[first..end] {
                *block *= inverse[pivot];
            }
            for update in &pattern.updates[pattern.update_starts[turn]..pattern.update_starts[turn + 1]] {
                let change = below[update.left] * column[update.right - first].transpose();
                match update.target {
                    Target::Diagonal(row) => inverse[row] -= change,
                    Target::Below(place) => below[place] -= change,
                }
            }
        }
    }

    /// Solves for one right side, in place.
    pub fn solve(&self, pattern: &Pattern, x: &mut [Vector3<S>]) {
        for (turn, &pivot) in pattern.order.iter().enumerate() {
            let value = x[pivot];
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                x[pattern.rows[place]] -= self.below[place] * value;
            }
        }
        for (turn, &pivot) in pattern.order.iter().enumerate().rev() {
            let mut value = self.inverse[pivot] * x[pivot];
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                value -= self.below[place].tr_mul(&x[pattern.rows[place]]);
            }
            x[pivot] = value;
        }
    }
}

/// Inverse of a positive or negative definite matrix, by its own `L D L^T`.
#[inline]
fn definite_inverse<S: Scalar>(m: &Matrix3<S>) -> Matrix3<S> {
    let first = S::one() / m[(0, 0)];
    let (l10, l20) = (m[(1, 0)] * first, m[(2, 0)] * first);
    let second = S::one() / (m[(1, 1)] - l10 * m[(1, 0)]);
    let mixed = m[(2, 1)] - l20 * m[(1, 0)];
    let l21 = mixed * second;
    let third = S::one() / (m[(2, 2)] - l20 * m[(2, 0)] - l21 * mixed);
    // Rows of the inverse of L.
    let (i10, i21) = (-l10, -l21);
    let i20 = l10 * l21 - l20;
    let xx = first + i10 * i10 * second + i20 * i20 * third;
    let xy = i10 * second + i20 * i21 * third;
    let xz = i20 * third;
    let yy = second + i21 * i21 * third;
    let yz = i21 * third;
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, third)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A numerically arbitrary but repeatable number between -1 and 1.
    fn number(index: usize) -> f64 {
        ((index * 7919 + 13) % 1009) as f64 / 504.5 - 1.0
    }

    fn block(seed: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|row, column| number(9 * seed + 3 * row + column))
    }

    /// A ring of nodes with a chord, and two joints that hold pairs of them.
    fn pairs() -> Vec<(usize, usize)> {
        vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3), (5, 0), (5, 2), (6, 2), (6, 4)]
    }

    #[test]
    fn a_saddle_point_system_is_solved() {
        let pattern = Pattern::new(7, 5, pairs().into_iter());
        let mut matrix = Matrix::zero(&pattern);
        for row in 0..5 {
            matrix.diagonal[row] = block(row) * block(row).transpose() + Matrix3::identity() * 8.0;
        }
        for row in 5..7 {
            matrix.diagonal[row] = Matrix3::identity() * -1e-9;
        }
        for (index, &(row, column)) in pairs().iter().enumerate() {
            matrix.add(pattern.entry(row, column), &block(20 + index));
        }
        let expected: Vec<_> = (0..7).map(|row| Vector3::from_fn(|k, _| number(300 + 3 * row + k))).collect();
        let zero = vec![Vector3::zeros(); 7];
        let mut right = zero.clone();
        matrix.residual(&pattern, &zero, &expected, &mut right);
        let mut x: Vec<_> = right.iter().map(|value| -value).collect();
        let mut factor = Factor::new(&pattern);
        factor.factor(&pattern, &matrix);
        factor.solve(&pattern, &mut x);
        for (x, expected) in x.iter().zip(&expected) {
            assert!((x - expected).norm() < 1e-12, "{x} instead of {expected}");
        }
    }

    #[test]
    fn joints_wait_for_what_they_hold() {
        let pattern = Pattern::new(7, 5, pairs().into_iter());
        let turn = |block: usize| pattern.order.iter().position(|&other| other == block);
        assert!(turn(5) > turn(0) && turn(5) > turn(2) && turn(6) > turn(2) && turn(6) > turn(4));
    }

    #[test]
    fn a_chain_has_no_fill() {
        let pattern = Pattern::new(1000, 1000, (1..1000).map(|block| (block - 1, block)));
        assert_eq!(pattern.rows.len(), 999);
        assert_eq!(pattern.updates.len(), 999);
    }
}
