//! Dense matrices: factors with row pivoting, fast, for regular ones; elimination with complete pivoting for
//! singular ones.

use crate::engine::tolerances::TOLERANCES;

/// A square matrix with room for its elimination.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    size: usize,
    /// Distance between rows.
    stride: usize,
    /// Row by row.
    entries: Vec<f64>,
    /// Factors of small matrices; those of large ones are among `entries`.
    factors: Vec<f64>,
    /// Row with which each row was exchanged, one after the other.
    exchanges: Vec<usize>,
    /// Unknown in each column, while columns are exchanged.
    columns: Vec<usize>,
    /// Largest entry of each row that is not eliminated, without sign.
    largest: Vec<f64>,
    /// Pivots of an elimination.
    rank: usize,
}

/// Matrices up to the last of these sizes are padded to the next one, whose loops the compiler knows.
const SMALL: [usize; 4] = [6, 12, 18, LARGEST_SMALL];
const LARGEST_SMALL: usize = 24;
/// Columns that are eliminated together, so that the rest of the matrix is passed over less often.
const PANEL: usize = 4;

impl Matrix {
    /// Room for `rows` rows.
    pub fn with_capacity(rows: usize) -> Matrix {
        let rows = padded(rows);
        Matrix {
            size: 0,
            stride: 0,
            entries: Vec::with_capacity(rows * rows),
            factors: Vec::with_capacity(rows.min(LARGEST_SMALL).pow(2)),
            exchanges: Vec::with_capacity(rows),
            columns: Vec::with_capacity(rows),
            largest: Vec::with_capacity(rows),
            rank: 0,
        }
    }

    /// Makes it a zero matrix of `size` rows.
    #[inline]
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.stride = padded(size);
        self.entries.clear();
        self.entries.resize(size * self.stride, 0.0);
    }

    /// A row.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.stride..row * self.stride + self.size]
    }

    /// Replaces the matrix by its factors. False where a pivot is zero or not finite; the factors are then
    /// without meaning.
    pub fn factor(&mut self) -> bool {
        self.exchanges.clear();
        let Matrix { entries, factors, exchanges, .. } = self;
        match self.stride {
            6 => factor_small::<6>(entries, factors, exchanges),
            12 => factor_small::<12>(entries, factors, exchanges),
            18 => factor_small::<18>(entries, factors, exchanges),
            LARGEST_SMALL => factor_small::<LARGEST_SMALL>(entries, factors, exchanges),
            _ => self.factor_large(),
        }
    }

    /// Smallest pivot of the factors as a part of the largest.
    pub fn pivot_ratio(&self) -> f64 {
        let pivot = |row: usize| self.entries[row * self.stride + row].abs();
        let (smallest, largest) = (0..self.size)
            .map(pivot)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), p| (low.min(p), high.max(p)));
        if self.size == 0 { 1.0 } else { smallest / largest }
    }

    fn factor_large(&mut self) -> bool {
        let n = self.size;
        let mut start = 0;
        while start < n {
            let end = (start + PANEL).min(n);
            for column in start..end {
                if !self.eliminate_in_panel(column, end) {
                    return false;
                }
            }
            if end < n {
                self.update_behind_panel(start, end);
            }
            start = end;
        }
        true
    }

    /// Overwrites `b` with the solution of `A x = b`, once the matrix is factored.
    pub fn substitute(&self, b: &mut [f64]) {
        let b = &mut b[..self.size];
        let Matrix { entries, factors, exchanges, .. } = self;
        match self.stride {
            6 => substitute_small::<6>(entries, factors, exchanges, b),
            12 => substitute_small::<12>(entries, factors, exchanges, b),
            18 => substitute_small::<18>(entries, factors, exchanges, b),
            LARGEST_SMALL => substitute_small::<LARGEST_SMALL>(entries, factors, exchanges, b),
            _ => self.substitute_large(b),
        }
    }

    fn substitute_large(&self, b: &mut [f64]) {
        for (row, &other) in self.exchanges.iter().enumerate() {
            b.swap(row, other);
        }
        for (row, line) in self.entries.chunks_exact(self.stride).enumerate() {
            let known: f64 = line[..row].iter().zip(&b[..row]).map(|(a, x)| a * x).sum();
            b[row] -= known;
        }
        for (row, line) in self.entries.chunks_exact(self.stride).enumerate().rev() {
            let known: f64 = line[row + 1..].iter().zip(&b[row + 1..]).map(|(a, x)| a * x).sum();
            b[row] = (b[row] - known) / line[row];
        }
    }

    /// Eliminates one column within the columns up to `end`; factors take the place of the zeros.
    #[inline]
    fn eliminate_in_panel(&mut self, column: usize, end: usize) -> bool {
        let n = self.size;
        let mut pivot_row = column;
        let mut largest = 0.0;
        for row in column..n {
            let entry = self.entries[row * n + column].abs();
            if entry > largest {
                largest = entry;
                pivot_row = row;
            }
        }
        if !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        if pivot_row != column {
            let (upper, lower) = self.entries.split_at_mut(pivot_row * n);
            upper[column * n..(column + 1) * n].swap_with_slice(&mut lower[..n]);
        }
        self.exchanges.push(pivot_row);
        let (upper, lower) = self.entries.split_at_mut((column + 1) * n);
        let pivot = &upper[column * n + column..column * n + end];
        let inverse = 1.0 / pivot[0];
        for row in lower.chunks_exact_mut(n) {
            let row = &mut row[column..end];
            if row[0] == 0.0 {
                continue;
            }
            let factor = row[0] * inverse;
            row[0] = factor;
            for (entry, pivot) in row[1..].iter_mut().zip(&pivot[1..]) {
                *entry -= factor * pivot;
            }
        }
        true
    }

    /// Applies the factors of the columns `start..end` to all columns behind them.
    #[inline]
    fn update_behind_panel(&mut self, start: usize, end: usize) {
        let n = self.size;
        let (upper, lower) = self.entries.split_at_mut(end * n);
        for row in start + 1..end {
            let (above, line) = upper.split_at_mut(row * n);
            let (factors, line) = line.split_at_mut(end);
            for (k, pivot) in above.chunks_exact(n).enumerate().skip(start) {
                let factor = factors[k];
                if factor == 0.0 {
                    continue;
                }
                for (entry, pivot) in line.iter_mut().zip(&pivot[end..]) {
                    *entry -= factor * pivot;
                }
            }
        }
        let mut pivots = upper[start * n..].chunks_exact(n).map(|row| &row[end..]);
        if let (Some(p0), Some(p1), Some(p2), Some(p3)) =
            (pivots.next(), pivots.next(), pivots.next(), pivots.next())
        {
            for line in lower.chunks_exact_mut(n) {
                let (factors, line) = line.split_at_mut(end);
                let [f0, f1, f2, f3] =
                    [factors[start], factors[start + 1], factors[start + 2], factors[start + 3]];
                if f0 == 0.0 && f1 == 0.0 && f2 == 0.0 && f3 == 0.0 {
                    continue;
                }
                for ((((entry, p0), p1), p2), p3) in line.iter_mut().zip(p0).zip(p1).zip(p2).zip(p3) {
                    *entry -= (f0 * p0 + f1 * p1) + (f2 * p2 + f3 * p3);
                }
            }
        }
    }

    /// Overwrites `b` with a solution of `A x = b` and the matrix with its elimination. Where the matrix is
    /// singular, free unknowns are zero and as many equations as possible are satisfied. Returns whether it is not.
    pub fn solve_singular(&mut self, b: &mut [f64]) -> bool {
        let is_regular = self.eliminate();
        self.substitute_eliminated(b);
        self.unscramble(b);
        is_regular
    }

    /// Overwrites the matrix with its elimination; factors take the place of the zeros. Returns whether it is regular.
    pub fn eliminate(&mut self) -> bool {
        let (n, stride) = (self.size, self.stride);
        self.exchanges.clear();
        self.exchanges.reserve(n);
        self.columns.clear();
        self.columns.extend(0..n);
        self.largest.clear();
        self.largest.extend(self.entries.chunks_exact(stride.max(1)).map(|line| largest_of(&line[..n])));
        let least = TOLERANCES.rounding * largest_of(&self.largest);
        let mut rank = 0;
        while rank < n {
            let pivot = largest_of(&self.largest[rank..]);
            // Also where a number is not finite.
            let is_pivot = |entry: &f64| entry.abs() == pivot;
            let Some(row) = self.largest.iter().skip(rank).position(is_pivot).filter(|_| pivot > least)
            else {
                break;
            };
            let row = rank + row;
            let line = &self.entries[row * stride + rank..row * stride + n];
            let column = rank + line.iter().position(is_pivot).expect("it is the largest of its row");
            self.swap_rows(rank, row);
            self.largest.swap(rank, row);
            self.swap_columns(rank, column);
            let (upper, lower) = self.entries.split_at_mut((rank + 1) * stride);
            let pivot = &upper[rank * stride + rank..rank * stride + n];
            for (line, largest) in lower.chunks_exact_mut(stride).zip(&mut self.largest[rank + 1..]) {
                let line = &mut line[rank..n];
                let factor = line[0] / pivot[0];
                if factor != 0.0 {
                    *largest = take(&mut line[1..], factor, &pivot[1..]);
                }
                line[0] = factor;
            }
            rank += 1;
        }
        self.rank = rank;
        rank == n
    }

    /// Overwrites `b` with a solution of `A x = b` in the order of columns, once the matrix is eliminated.
    fn substitute_eliminated(&self, b: &mut [f64]) {
        let (rank, stride) = (self.rank, self.stride);
        let b = &mut b[..self.size];
        for (row, &other) in self.exchanges.iter().enumerate() {
            b.swap(row, other);
        }
        for column in 0..rank {
            for row in column + 1..rank {
                b[row] -= self.entries[row * stride + column] * b[column];
            }
        }
        for row in (0..rank).rev() {
            let known: f64 = (row + 1..rank).map(|k| self.entries[row * stride + k] * b[k]).sum();
            b[row] = (b[row] - known) / self.entries[row * stride + row];
        }
        b[rank..].fill(0.0);
    }

    /// Puts the unknowns back into their own order, cycle by cycle, which uses the order of columns up.
    fn unscramble(&mut self, x: &mut [f64]) {
        for position in 0..self.size {
            while self.columns[position] != position {
                let home = self.columns[position];
                x.swap(position, home);
                self.columns.swap(position, home);
            }
        }
    }

    /// Overwrites `b` with the transpose of the map that [`Matrix::solve_singular`] is, once the matrix is eliminated.
    pub fn substitute_transposed(&self, b: &mut [f64]) {
        let (rank, stride) = (self.rank, self.stride);
        let mut x: Vec<f64> = self.columns[..rank].iter().map(|&unknown| b[unknown]).collect();
        for row in 0..rank {
            let line = &self.entries[row * stride..row * stride + rank];
            x[row] /= line[row];
            let known = x[row];
            for (x, entry) in x[row + 1..].iter_mut().zip(&line[row + 1..]) {
                *x -= entry * known;
            }
        }
        for row in (0..rank).rev() {
            let known = x[row];
            for (x, factor) in x[..row].iter_mut().zip(&self.entries[row * stride..row * stride + row]) {
                *x -= factor * known;
            }
        }
        b[..rank].copy_from_slice(&x);
        b[rank..].fill(0.0);
        for (row, &other) in self.exchanges.iter().enumerate().rev() {
            b.swap(row, other);
        }
    }

    fn swap_rows(&mut self, one: usize, other: usize) {
        self.exchanges.push(other);
        if one != other {
            for column in 0..self.size {
                self.entries.swap(one * self.stride + column, other * self.stride + column);
            }
        }
    }

    fn swap_columns(&mut self, one: usize, other: usize) {
        if one != other {
            for row in 0..self.size {
                self.entries.swap(row * self.stride + one, row * self.stride + other);
            }
            self.columns.swap(one, other);
        }
    }
}

/// Largest entry without sign; what is no number does not count.
fn largest_of(entries: &[f64]) -> f64 {
    let (fours, rest) = entries.as_chunks::<4>();
    let most = fours.iter().fold([0.0; 4], larger_of_four);
    most.iter().chain(rest).fold(0.0, larger)
}

/// Takes a multiple of another row from a row. Returns the largest entry that it then has.
fn take(row: &mut [f64], factor: f64, other: &[f64]) -> f64 {
    let (fours, rest) = row.as_chunks_mut::<4>();
    let (other_fours, other_rest) = other.as_chunks::<4>();
    let mut most = [0.0; 4];
    for (four, other) in fours.iter_mut().zip(other_fours) {
        *four = std::array::from_fn(|k| four[k] - factor * other[k]);
        most = larger_of_four(most, four);
    }
    for (entry, other) in rest.iter_mut().zip(other_rest) {
        *entry -= factor * other;
    }
    most.iter().chain(&*rest).fold(0.0, larger)
}

#[inline(always)]
fn larger(most: f64, entry: &f64) -> f64 {
    if entry.abs() > most { entry.abs() } else { most }
}

#[inline(always)]
fn larger_of_four(most: [f64; 4], four: &[f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| larger(most[k], &four[k]))
}

/// Length of the rows of a matrix of `size` rows.
#[inline]
fn padded(size: usize) -> usize {
    SMALL.into_iter().find(|&small| size <= small).unwrap_or(size)
}

/// Factors over whole rows of known length: the work done in vain costs less than loops of unknown length.
///
/// Row `k` of `factors` receives the inverse of pivot `k`, then the factors of the rows below, in the order of
/// the rows at that time.
#[inline]
fn factor_small<const N: usize>(
    entries: &mut [f64],
    factors: &mut Vec<f64>,
    exchanges: &mut Vec<usize>,
) -> bool {
    let (rows, _) = entries.as_chunks_mut::<N>();
    factors.resize(N * N, 0.0);
    let (factors, _) = factors.as_chunks_mut::<N>();
    for (k, factors) in factors[..rows.len()].iter_mut().enumerate() {
        let mut pivot_row = k;
        let mut largest = rows[k][k].abs();
        for (row, line) in rows.iter().enumerate().skip(k + 1) {
            let entry = line[k].abs();
            if entry > largest {
                largest = entry;
                pivot_row = row;
            }
        }
        if !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        if pivot_row != k {
            rows.swap(k, pivot_row);
        }
        exchanges.push(pivot_row);
        let (upper, lower) = rows.split_at_mut(k + 1);
        let pivot = &upper[k];
        let inverse = 1.0 / pivot[k];
        factors[k] = inverse;
        for (line, kept) in lower.iter_mut().zip(&mut factors[k + 1..]) {
            let factor = line[k] * inverse;
            *kept = factor;
            if factor != 0.0 {
                for column in 0..N {
                    line[column] -= factor * pivot[column];
                }
            }
        }
    }
    true
}

/// Substitutes column by column: no operation waits for the one before.
#[inline]
fn substitute_small<const N: usize>(entries: &[f64], factors: &[f64], exchanges: &[usize], b: &mut [f64]) {
    let (rows, _) = entries.as_chunks::<N>();
    let (factors, _) = factors.as_chunks::<N>();
    for (k, (&other, factors)) in exchanges.iter().zip(factors).enumerate() {
        b.swap(k, other);
        let (upper, lower) = b.split_at_mut(k + 1);
        let x = upper[k];
        for (b, factor) in lower.iter_mut().zip(&factors[k + 1..]) {
            *b -= factor * x;
        }
    }
    for k in (0..rows.len()).rev() {
        let x = b[k] * factors[k][k];
        b[k] = x;
        for (b, line) in b[..k].iter_mut().zip(rows) {
            *b -= line[k] * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[Vec<f64>]) -> Matrix {
        let mut matrix = Matrix::with_capacity(rows.len());
        matrix.reset(rows.len());
        for (index, row) in rows.iter().enumerate() {
            matrix.row_mut(index).copy_from_slice(row);
        }
        matrix
    }

    fn product(rows: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
        rows.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    #[test]
    fn regular_systems_are_solved_at_every_size() {
        for size in 1..=31 {
            // Zeros on the diagonal, so that rows have to be exchanged.
            let entry = |i: usize, j: usize| if i == j { 0.0 } else { ((7 * i + 3 * j) % 11) as f64 - 4.3 };
            let rows: Vec<Vec<f64>> = if size == 1 {
                vec![vec![-2.0]]
            } else {
                (0..size)
                    .map(|i| (0..size).map(|j| entry(i, j) + 1.0 / (1 + i + j) as f64).collect())
                    .collect()
            };
            let expected: Vec<f64> = (0..size).map(|k| k as f64 - 2.5).collect();
            let mut x = product(&rows, &expected);
            let mut y = x.clone();
            let mut factored = matrix(&rows);
            assert!(factored.factor());
            factored.substitute(&mut x);
            matrix(&rows).solve_singular(&mut y);
            for ((x, y), expected) in x.iter().zip(&y).zip(&expected) {
                assert!((x - expected).abs() < 1e-9 && (y - expected).abs() < 1e-9, "size {size}");
            }
        }
    }

    #[test]
    fn singular_matrices_are_refused() {
        assert!(!matrix(&[vec![1.0, 2.0], vec![2.0, 4.0]]).factor());
        assert!(!matrix(&[vec![f64::NAN, 2.0], vec![2.0, f64::NAN]]).factor());
    }

    /// `y . solve(b)` is `transposed(y) . b`, also of singular matrices.
    #[test]
    fn transposed_maps_are_those_of_the_solution() {
        let regular = [vec![0.0, 2.0, 1.0], vec![3.0, -1.0, 0.5], vec![1.0, 1.0, 4.0]];
        let singular = [vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 0.0], vec![0.0, 3.0, 2.0]];
        for rows in [regular, singular] {
            let unit = |k: usize| std::array::from_fn::<f64, 3, _>(|i| f64::from(i == k));
            let mut eliminated = matrix(&rows);
            eliminated.eliminate();
            for column in 0..3 {
                let mut solved = unit(column);
                matrix(&rows).solve_singular(&mut solved);
                for (row, solved) in solved.into_iter().enumerate() {
                    let mut back = unit(row);
                    eliminated.substitute_transposed(&mut back);
                    assert!((back[column] - solved).abs() < 1e-15, "{back:?} {solved}");
                }
            }
        }
    }

    #[test]
    fn consistent_singular_systems_are_satisfied() {
        let rows = [vec![1.0, 1.0, 0.0], vec![1.0, 1.0, 0.0], vec![0.0, 0.0, 2.0]];
        let mut x = [3.0, 3.0, 4.0];
        matrix(&rows).solve_singular(&mut x);
        assert!((x[0] + x[1] - 3.0).abs() < 1e-15 && (x[2] - 2.0).abs() < 1e-15);
    }
}
