//! Dense elimination with complete pivoting: exact where the matrix is regular, a solution with the free
//! unknowns at zero where it is not (hyperstatic contact).

/// A square matrix with room for its elimination.
#[derive(Debug)]
pub struct Matrix {
    size: usize,
    entries: Vec<f64>,
    columns: Vec<usize>,
}

/// Pivots smaller than this part of the largest entry count as zero.
const RANK_TOLERANCE: f64 = 1e-12;

impl Matrix {
    /// Room for `rows` rows.
    pub fn with_capacity(rows: usize) -> Matrix {
        Matrix { size: 0, entries: Vec::with_capacity(rows * rows), columns: Vec::with_capacity(rows) }
    }

    /// Makes it a zero matrix of `size` rows.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.entries.clear();
        self.entries.resize(size * size, 0.0);
        self.columns.clear();
        self.columns.extend(0..size);
    }

    /// A row.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.size..(row + 1) * self.size]
    }

    /// Overwrites `b` with a solution `x` of `A x = b`, and the matrix with its elimination.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.size;
        let largest = self.entries.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        let mut rank = 0;
        while rank < n {
            let (row, column, pivot) = self.largest_from(rank);
            if pivot <= RANK_TOLERANCE * largest {
                break;
            }
            self.swap_rows(rank, row, b);
            self.swap_columns(rank, column);
            for lower in rank + 1..n {
                let factor = self.entries[lower * n + rank] / self.entries[rank * n + rank];
                if factor != 0.0 {
                    for k in rank..n {
                        self.entries[lower * n + k] -= factor * self.entries[rank * n + k];
                    }
                    b[lower] -= factor * b[rank];
                }
            }
            rank += 1;
        }
        b[rank..].fill(0.0);
        for row in (0..rank).rev() {
            let known: f64 = (row + 1..rank).map(|k| self.entries[row * n + k] * b[k]).sum();
            b[row] = (b[row] - known) / self.entries[row * n + row];
        }
        self.unscramble(b);
    }

    fn largest_from(&self, start: usize) -> (usize, usize, f64) {
        let mut best = (start, start, 0.0);
        for row in start..self.size {
            for column in start..self.size {
                let entry = self.entries[row * self.size + column].abs();
                if entry > best.2 {
                    best = (row, column, entry);
                }
            }
        }
        best
    }

    fn swap_rows(&mut self, one: usize, other: usize, b: &mut [f64]) {
        if one != other {
            for column in 0..self.size {
                self.entries.swap(one * self.size + column, other * self.size + column);
            }
            b.swap(one, other);
        }
    }

    fn swap_columns(&mut self, one: usize, other: usize) {
        if one != other {
            for row in 0..self.size {
                self.entries.swap(row * self.size + one, row * self.size + other);
            }
            self.columns.swap(one, other);
        }
    }

    /// Puts the unknowns back into their own order, cycle by cycle.
    fn unscramble(&mut self, x: &mut [f64]) {
        for position in 0..self.size {
            while self.columns[position] != position {
                let home = self.columns[position];
                x.swap(position, home);
                self.columns.swap(position, home);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(rows: &[&[f64]], b: &[f64]) -> Vec<f64> {
        let mut matrix = Matrix::with_capacity(rows.len());
        matrix.reset(rows.len());
        for (index, row) in rows.iter().enumerate() {
            matrix.row_mut(index).copy_from_slice(row);
        }
        let mut x = b.to_vec();
        matrix.solve(&mut x);
        x
    }

    #[test]
    fn regular_systems_are_solved() {
        let rows: [&[f64]; 3] = [&[0.0, 2.0, 1.0], &[1.0, -1.0, 4.0], &[3.0, 5.0, -2.0]];
        let expected = [1.0, -2.0, 3.0];
        let b: Vec<f64> = rows.iter().map(|row| row.iter().zip(expected).map(|(a, x)| a * x).sum()).collect();
        for (x, expected) in solve(&rows, &b).iter().zip(expected) {
            assert!((x - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn consistent_singular_systems_are_satisfied() {
        let rows: [&[f64]; 3] = [&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, 2.0]];
        let x = solve(&rows, &[3.0, 3.0, 4.0]);
        assert!((x[0] + x[1] - 3.0).abs() < 1e-15 && (x[2] - 2.0).abs() < 1e-15);
    }
}
