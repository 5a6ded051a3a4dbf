//! `L D L^T` of a sparse symmetric matrix in blocks of three, along a fixed pattern.
//!
//! Without exchanges: blocks of nodes are positive definite, and those of joints, once the nodes are eliminated,
//! negative definite, by a small compliance even where joints are redundant.
//!
//! Values alone are factored. How a solution `x` of `A x = b` changes follows from `A dx = db - dA x` with the same factors.

use crate::engine::scalar::Scalar;
use crate::engine::system::pattern::{Entry, Pattern, Target};
use nalgebra::{Matrix3, Vector3};

/// Blocks of a symmetric matrix along a [`Pattern`].
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<S: Scalar> {
    /// On the diagonal, by row.
    pub diagonal: Vec<Matrix3<S>>,
    /// Below it, by place.
    pub below: Vec<Matrix3<S>>,
}

/// A matrix in factors: in blocks, or in their diagonals where these are all there is, as for springs along the axes.
#[derive(Clone, Debug)]
pub struct Factor {
    blocks: Factors<Matrix3<f64>>,
    diagonals: Factors<Diagonal>,
    /// Which of the two hold.
    is_diagonal: bool,
}

/// Factors in blocks of some kind.
#[derive(Clone, Debug)]
struct Factors<B> {
    /// Inverses of `D`.
    inverse: Vec<B>,
    /// `L`, without its diagonal.
    below: Vec<B>,
    /// Column at hand, before elimination.
    column: Vec<B>,
}

/// A block that is zero beside its diagonal.
#[derive(Clone, Copy, Debug)]
struct Diagonal(Vector3<f64>);

/// What elimination does with blocks.
trait Block: Copy {
    fn zero() -> Self;
    /// The block of a matrix; what such a block cannot hold is zero there.
    fn of(block: &Matrix3<f64>) -> Self;
    /// Of a definite block.
    fn inverse(&self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn times_transposed(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn apply(&self, vector: &Vector3<f64>) -> Vector3<f64>;
    fn apply_transposed(&self, vector: &Vector3<f64>) -> Vector3<f64>;
    fn apply_to_all(&self, vectors: &Matrix3<f64>) -> Matrix3<f64>;
}

impl Block for Matrix3<f64> {
    fn zero() -> Self {
        Matrix3::zeros()
    }
    fn of(block: &Matrix3<f64>) -> Self {
        *block
    }
    fn inverse(&self) -> Self {
        definite_inverse(self)
    }
    fn times(&self, other: &Self) -> Self {
        self * other
    }
    fn times_transposed(&self, other: &Self) -> Self {
        self * other.transpose()
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    #[inline]
    fn apply(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self * vector
    }
    #[inline]
    fn apply_transposed(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self.tr_mul(vector)
    }
    fn apply_to_all(&self, vectors: &Matrix3<f64>) -> Matrix3<f64> {
        self * vectors
    }
}

impl Block for Diagonal {
    fn zero() -> Self {
        Diagonal(Vector3::zeros())
    }
    fn of(block: &Matrix3<f64>) -> Self {
        Diagonal(block.diagonal())
    }
    fn inverse(&self) -> Self {
        Diagonal(self.0.map(|entry| 1.0 / entry))
    }
    fn times(&self, other: &Self) -> Self {
        Diagonal(self.0.component_mul(&other.0))
    }
    fn times_transposed(&self, other: &Self) -> Self {
        self.times(other)
    }
    fn minus(&self, other: &Self) -> Self {
        Diagonal(self.0 - other.0)
    }
    #[inline]
    fn apply(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self.0.component_mul(vector)
    }
    #[inline]
    fn apply_transposed(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self.apply(vector)
    }
    fn apply_to_all(&self, vectors: &Matrix3<f64>) -> Matrix3<f64> {
        Matrix3::from_fn(|row, column| self.0[row] * vectors[(row, column)])
    }
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

    /// Whether all blocks are zero beside their diagonals.
    fn is_diagonal(&self) -> bool {
        let is_diagonal = |block: &Matrix3<S>| {
            let beside = [(1, 0), (2, 0), (2, 1), (0, 1), (0, 2), (1, 2)];
            beside.iter().all(|&place| block[place].value() == 0.0)
        };
        self.diagonal.iter().all(is_diagonal) && self.below.iter().all(is_diagonal)
    }

    /// Its values.
    pub fn values(&self) -> Matrix<f64> {
        let values = |blocks: &[Matrix3<S>]| blocks.iter().map(|block| block.map(S::value)).collect();
        Matrix { diagonal: values(&self.diagonal), below: values(&self.below) }
    }

    /// `right - A x`, in values.
    pub fn residual(
        &self,
        pattern: &Pattern,
        right: &[Vector3<S>],
        x: &[Vector3<f64>],
        residual: &mut [Vector3<f64>],
    ) {
        for (row, residual) in residual.iter_mut().enumerate() {
            *residual = right[row].map(S::value) - self.diagonal[row].map(S::value) * x[row];
        }
        for (turn, &column) in pattern.order.iter().enumerate() {
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                let row = pattern.rows[place];
                let below = self.below[place].map(S::value);
                residual[row] -= below * x[column];
                residual[column] -= below.tr_mul(&x[row]);
            }
        }
    }

    /// Takes `dA x` from changes of the right side.
    pub fn take_changes(&self, pattern: &Pattern, x: &[Vector3<f64>], changes: &mut [Vector3<S>]) {
        let mut take = |place: (usize, usize), entry: S, x: f64| {
            let (block, row) = place;
            changes[block][row] = changes[block][row].less(entry.change(), x);
        };
        for (block, diagonal) in self.diagonal.iter().enumerate() {
            for row in 0..3 {
                for column in 0..3 {
                    take((block, row), diagonal[(row, column)], x[block][column]);
                }
            }
        }
        for (turn, &left) in pattern.order.iter().enumerate() {
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                let (block, below) = (pattern.rows[place], &self.below[place]);
                for row in 0..3 {
                    for column in 0..3 {
                        take((block, row), below[(row, column)], x[left][column]);
                        take((left, column), below[(row, column)], x[block][row]);
                    }
                }
            }
        }
    }
}

impl Factor {
    /// Memory for the factors of a matrix.
    pub fn new(pattern: &Pattern) -> Factor {
        Factor { blocks: Factors::new(pattern), diagonals: Factors::new(pattern), is_diagonal: false }
    }

    /// Factors a matrix.
    pub fn factor<S: Scalar>(&mut self, pattern: &Pattern, matrix: &Matrix<S>) {
        self.is_diagonal = matrix.is_diagonal();
        if self.is_diagonal {
            self.diagonals.factor(pattern, matrix);
        } else {
            self.blocks.factor(pattern, matrix);
        }
    }

    /// Solves for one right side, in place, that is zero in blocks eliminated before `first`.
    pub fn solve(&self, pattern: &Pattern, first: usize, x: &mut [Vector3<f64>]) {
        if self.is_diagonal {
            self.diagonals.solve(pattern, first, x);
        } else {
            self.blocks.solve(pattern, first, x);
        }
    }

    /// Solves for one right side and hands the solution out block by block; what is left in `x` is scratch.
    #[inline]
    pub fn solve_for_each(
        &self,
        pattern: &Pattern,
        x: &mut [Vector3<f64>],
        give: impl FnMut(usize, &Vector3<f64>),
    ) {
        if self.is_diagonal {
            self.diagonals.solve_for_each(pattern, x, give);
        } else {
            self.blocks.solve_for_each(pattern, x, give);
        }
    }

    /// Replaces three right sides `x`, block by block from the one eliminated at `first`, by `L^-1 x`.
    pub fn forward(&self, pattern: &Pattern, first: usize, x: &mut [Matrix3<f64>]) {
        if self.is_diagonal {
            self.diagonals.forward(pattern, first, x);
        } else {
            self.blocks.forward(pattern, first, x);
        }
    }

    /// `x^T D^-1 y` of what [`forward`](Self::forward) gave, each from its first block on.
    pub fn product(
        &self,
        pattern: &Pattern,
        x: (usize, &[Matrix3<f64>]),
        y: (usize, &[Matrix3<f64>]),
    ) -> Matrix3<f64> {
        if self.is_diagonal {
            self.diagonals.product(pattern, x, y)
        } else {
            self.blocks.product(pattern, x, y)
        }
    }
}

impl<B: Block> Factors<B> {
    fn new(pattern: &Pattern) -> Factors<B> {
        let longest = pattern.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        Factors {
            inverse: vec![B::zero(); pattern.size()],
            below: vec![B::zero(); pattern.rows.len()],
            column: vec![B::zero(); longest],
        }
    }

    fn factor<S: Scalar>(&mut self, pattern: &Pattern, matrix: &Matrix<S>) {
        let Factors { inverse, below, column } = self;
        for (inverse, block) in inverse.iter_mut().zip(&matrix.diagonal) {
            *inverse = B::of(&block.map(S::value));
        }
        for (below, block) in below.iter_mut().zip(&matrix.below) {
            *below = B::of(&block.map(S::value));
        }
        for (turn, &pivot) in pattern.order.iter().enumerate() {
            inverse[pivot] = inverse[pivot].inverse();
            let first = pattern.starts[turn];
            let places = first..pattern.starts[turn + 1];
            column[..places.len()].copy_from_slice(&below[places.clone()]);
            for block in &mut below[places] {
                *block = block.times(&inverse[pivot]);
            }
            for update in &pattern.updates[pattern.update_starts[turn]..pattern.update_starts[turn + 1]] {
                let change = below[update.left].times_transposed(&column[update.right - first]);
                match update.target {
                    Target::Diagonal(row) => inverse[row] = inverse[row].minus(&change),
                    Target::Below(place) => below[place] = below[place].minus(&change),
                }
            }
        }
    }

    fn solve(&self, pattern: &Pattern, first: usize, x: &mut [Vector3<f64>]) {
        if pattern.is_path {
            return self.solve_path(&pattern.order, first, x);
        }
        for (turn, &pivot) in pattern.order.iter().enumerate().skip(first) {
            let value = x[pivot];
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                x[pattern.rows[place]] -= self.below[place].apply(&value);
            }
        }
        for (turn, &pivot) in pattern.order.iter().enumerate().rev() {
            let mut value = self.inverse[pivot].apply(&x[pivot]);
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                value -= self.below[place].apply_transposed(&x[pattern.rows[place]]);
            }
            x[pivot] = value;
        }
    }

    /// The same where each block is beside the next one only. What one block hands to the next stays in registers.
    fn solve_path(&self, order: &[usize], first: usize, x: &mut [Vector3<f64>]) {
        let Some((&last, before)) = order.split_last() else { return };
        let mut value = self.forward_path(order, first, x);
        x[last] = value;
        for (&pivot, below) in before.iter().zip(&self.below).rev() {
            value = self.inverse[pivot].apply(&x[pivot]) - below.apply_transposed(&value);
            x[pivot] = value;
        }
    }

    /// The first half of it. Returns the solution for the last block.
    #[inline]
    fn forward_path(&self, order: &[usize], first: usize, x: &mut [Vector3<f64>]) -> Vector3<f64> {
        let mut handed = Vector3::zeros();
        for (&pivot, below) in order.iter().zip(&self.below).skip(first) {
            let value = x[pivot] - handed;
            x[pivot] = value;
            handed = below.apply(&value);
        }
        let last = order[order.len() - 1];
        self.inverse[last].apply(&(x[last] - handed))
    }

    #[inline]
    fn solve_for_each(
        &self,
        pattern: &Pattern,
        x: &mut [Vector3<f64>],
        mut give: impl FnMut(usize, &Vector3<f64>),
    ) {
        let (true, Some((&last, before))) = (pattern.is_path, pattern.order.split_last()) else {
            self.solve(pattern, 0, x);
            for (block, value) in x.iter().enumerate() {
                give(block, value);
            }
            return;
        };
        let mut value = self.forward_path(&pattern.order, 0, x);
        give(last, &value);
        for (&pivot, below) in before.iter().zip(&self.below).rev() {
            value = self.inverse[pivot].apply(&x[pivot]) - below.apply_transposed(&value);
            give(pivot, &value);
        }
    }

    fn forward(&self, pattern: &Pattern, first: usize, x: &mut [Matrix3<f64>]) {
        for turn in first..pattern.size() {
            let value = x[turn - first];
            for place in pattern.starts[turn]..pattern.starts[turn + 1] {
                x[pattern.turn(pattern.rows[place]) - first] -= self.below[place].apply_to_all(&value);
            }
        }
    }

    fn product(
        &self,
        pattern: &Pattern,
        (first, x): (usize, &[Matrix3<f64>]),
        (other, y): (usize, &[Matrix3<f64>]),
    ) -> Matrix3<f64> {
        let mut product = Matrix3::zeros();
        for turn in first.max(other)..pattern.size() {
            let inverse = &self.inverse[pattern.order[turn]];
            product += x[turn - first].tr_mul(&inverse.apply_to_all(&y[turn - other]));
        }
        product
    }
}

/// Inverse of a positive or negative definite matrix, by its own `L D L^T`.
#[inline]
fn definite_inverse(m: &Matrix3<f64>) -> Matrix3<f64> {
    let first = 1.0 / m[(0, 0)];
    let (l10, l20) = (m[(1, 0)] * first, m[(2, 0)] * first);
    let second = 1.0 / (m[(1, 1)] - l10 * m[(1, 0)]);
    let mixed = m[(2, 1)] - l20 * m[(1, 0)];
    let l21 = mixed * second;
    let third = 1.0 / (m[(2, 2)] - l20 * m[(2, 0)] - l21 * mixed);
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
    use std::collections::BTreeSet;

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
        let pattern = Pattern::new(7, 5, &BTreeSet::new(), pairs().into_iter());
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
        factor.solve(&pattern, 0, &mut x);
        for (x, expected) in x.iter().zip(&expected) {
            assert!((x - expected).norm() < 1e-12, "{x} instead of {expected}");
        }
    }

    #[test]
    fn diagonal_blocks_are_solved_as_others_are() {
        let pattern = Pattern::new(5, 5, &BTreeSet::new(), pairs().into_iter().take(6));
        let mut matrix = Matrix::zero(&pattern);
        for row in 0..5 {
            matrix.diagonal[row] = Matrix3::from_diagonal(&Vector3::new(9.0, 8.0, 7.0 + row as f64));
        }
        for (index, &(row, column)) in pairs()[..6].iter().enumerate() {
            let entries = Vector3::from_fn(|k, _| number(3 * index + k));
            matrix.add(pattern.entry(row, column), &Matrix3::from_diagonal(&entries));
        }
        let right: Vec<_> = (0..5).map(|row| Vector3::from_fn(|k, _| number(300 + 3 * row + k))).collect();
        let mut factor = Factor::new(&pattern);
        factor.factor(&pattern, &matrix);
        assert!(factor.is_diagonal);
        let mut x = right.clone();
        factor.solve(&pattern, 0, &mut x);
        let mut left = right.clone();
        matrix.residual(&pattern, &right, &x, &mut left);
        assert!(left.iter().all(|left| left.norm() < 1e-14));
        factor.blocks.factor(&pattern, &matrix);
        factor.is_diagonal = false;
        let mut in_blocks = right;
        factor.solve(&pattern, 0, &mut in_blocks);
        assert!(x.iter().zip(&in_blocks).all(|(one, other)| (one - other).norm() < 1e-15));
    }

    #[test]
    fn what_yields_is_found_without_a_whole_solution() {
        let pattern = Pattern::new(5, 5, &BTreeSet::from([1, 3]), pairs().into_iter().take(6));
        let mut matrix = Matrix::zero(&pattern);
        for row in 0..5 {
            matrix.diagonal[row] = block(row) * block(row).transpose() + Matrix3::identity() * 8.0;
        }
        for (index, &(row, column)) in pairs()[..6].iter().enumerate() {
            matrix.add(pattern.entry(row, column), &block(20 + index));
        }
        let mut factor = Factor::new(&pattern);
        factor.factor(&pattern, &matrix);
        let sides = [1, 3].map(|pushed| {
            let first = pattern.turn(pushed);
            assert!(first >= 3);
            let mut x = vec![Matrix3::zeros(); 5 - first];
            x[0] = block(40 + pushed);
            factor.forward(&pattern, first, &mut x);
            (first, x)
        });
        for (one, pushed) in [1, 3].into_iter().enumerate() {
            for (other, seen) in [1, 3].into_iter().enumerate() {
                let product = factor.product(
                    &pattern,
                    (sides[other].0, &sides[other].1),
                    (sides[one].0, &sides[one].1),
                );
                for column in 0..3 {
                    let mut x = vec![Vector3::zeros(); 5];
                    x[pushed] = block(40 + pushed).column(column).into_owned();
                    factor.solve(&pattern, 0, &mut x);
                    let expected = block(40 + seen).transpose() * x[seen];
                    assert!((product.column(column) - expected).norm() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn joints_wait_for_what_they_hold() {
        let pattern = Pattern::new(7, 5, &BTreeSet::new(), pairs().into_iter());
        let turn = |block: usize| pattern.order.iter().position(|&other| other == block);
        assert!(turn(5) > turn(0) && turn(5) > turn(2) && turn(6) > turn(2) && turn(6) > turn(4));
    }

    #[test]
    fn a_chain_has_no_fill() {
        let pattern = Pattern::new(1000, 1000, &BTreeSet::new(), (1..1000).map(|block| (block - 1, block)));
        assert_eq!(pattern.rows.len(), 999);
        assert_eq!(pattern.updates.len(), 999);
        assert!(pattern.is_path);
        let mut matrix = Matrix::zero(&pattern);
        for row in 0..1000 {
            matrix.diagonal[row] = block(row) * block(row).transpose() + Matrix3::identity() * 8.0;
        }
        for row in 1..1000 {
            matrix.add(pattern.entry(row - 1, row), &block(2000 + row));
        }
        let mut factor = Factor::new(&pattern);
        factor.factor(&pattern, &matrix);
        for first in [0, 990] {
            let right: Vec<_> =
                (0..1000)
                    .map(|row| {
                        if pattern.turn(row) < first { Vector3::zeros() } else { block(row).column(0).into() }
                    })
                    .collect();
            let mut x = right.clone();
            factor.solve(&pattern, first, &mut x);
            let mut left = right.clone();
            matrix.residual(&pattern, &right, &x, &mut left);
            assert!(left.iter().all(|left| left.norm() < 1e-12));
        }
    }
}
