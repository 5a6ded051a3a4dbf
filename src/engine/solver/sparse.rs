//! Elimination of sparse block matrices: rows with few neighbours first, what is left as a dense matrix.
//!
//! The pattern must be symmetric. Pivots are whole diagonal blocks, the next one always that with the fewest
//! neighbours (minimum degree); blocks too close to singular are left to the dense matrix, which exchanges rows. Where
//! many rows have the same neighbours, whole groups of them are eliminated instead ([`grouped`](super::grouped)).

use super::dense::Matrix;
use super::grouped::{Groups, Row};
use crate::engine::problem::block_matrix::Block;
use crate::engine::tolerances::TOLERANCES;

/// A system of equations in blocks of up to three unknowns.
#[derive(Debug, Default)]
pub struct BlockSystem {
    contacts: usize,
    /// Unknowns of each block row.
    unknowns: Vec<usize>,
    diagonal: Vec<Block<f64>>,
    /// Blocks beside the diagonal; of eliminated rows only those towards rows not eliminated before.
    rows: Vec<Vec<(usize, Block<f64>)>>,
    right: Vec<[f64; 3]>,
    /// Rows not eliminated, then those left to the dense matrix.
    waiting: Vec<usize>,
    /// Eliminated rows, in order.
    eliminated: Vec<usize>,
    /// Where a column was last found in the row at hand.
    found: Vec<usize>,
    starts: Vec<usize>,
    matrix: Matrix,
    dense_right: Vec<f64>,
    groups: Groups,
    /// Whether the last solution is that of `groups`.
    grouped: bool,
}

/// Diagonal blocks with larger condition are no pivots.
const WORST_CONDITION: f64 = 1.0 / TOLERANCES.small;

impl BlockSystem {
    /// Starts an empty system.
    pub fn clear(&mut self) {
        self.contacts = 0;
        self.unknowns.clear();
        self.diagonal.clear();
        self.right.clear();
    }

    /// Appends a block row with `unknowns` equations; its remaining entries do not matter.
    pub fn begin_row(&mut self, unknowns: usize, mut diagonal: Block<f64>, right: [f64; 3]) {
        for (i, line) in diagonal.iter_mut().enumerate() {
            for (j, entry) in line.iter_mut().enumerate() {
                if i.max(j) >= unknowns {
                    *entry = if i == j { 1.0 } else { 0.0 };
                }
            }
        }
        self.unknowns.push(unknowns);
        self.diagonal.push(diagonal);
        self.right.push(std::array::from_fn(|k| if k < unknowns { right[k] } else { 0.0 }));
        match self.rows.get_mut(self.contacts) {
            Some(row) => row.clear(),
            None => self.rows.push(Vec::new()),
        }
        self.contacts += 1;
    }

    /// Appends a block of the last row, in the column with `width` unknowns.
    pub fn push(&mut self, column: usize, width: usize, mut block: Block<f64>) {
        let row = self.contacts - 1;
        let height = self.unknowns[row];
        for (i, line) in block.iter_mut().enumerate() {
            for (j, entry) in line.iter_mut().enumerate() {
                if i >= height || j >= width {
                    *entry = 0.0;
                }
            }
        }
        self.rows[row].push((column, block));
    }

    /// Solves; the unknowns of each block row are in [`BlockSystem::solution`]. False where a pivot is zero.
    pub fn solve(&mut self) -> bool {
        let BlockSystem { rows, unknowns, diagonal, right, groups, .. } = self;
        self.grouped = groups.find(self.contacts, |row| &rows[row]);
        if self.grouped {
            return groups.solve(|row| Row {
                unknowns: unknowns[row],
                diagonal: &diagonal[row],
                beside: &rows[row],
                right: &right[row],
            });
        }
        self.solve_by_rows()
    }

    fn solve_by_rows(&mut self) -> bool {
        self.waiting.clear();
        self.waiting.extend(0..self.contacts);
        self.eliminated.clear();
        self.found.clear();
        self.found.resize(self.contacts, 0);
        let mut candidates = self.contacts;
        while candidates > 0 && self.waiting.len() >= TOLERANCES.few_rows {
            let neighbours = |&row: &usize| self.rows[row].len();
            let Some(place) = (0..candidates).min_by_key(|&place| neighbours(&self.waiting[place])) else {
                break;
            };
            let row = self.waiting[place];
            if neighbours(&row) as f64 > TOLERANCES.dense_part * self.waiting.len() as f64 {
                break;
            }
            candidates -= 1;
            match inverse(&self.diagonal[row]) {
                Some(pivot) => {
                    self.waiting.swap(place, candidates);
                    self.waiting.swap_remove(candidates);
                    self.eliminate(row, &pivot);
                }
                None => self.waiting.swap(place, candidates),
            }
        }
        if !self.solve_dense() {
            return false;
        }
        for &row in self.eliminated.iter().rev() {
            let known = self.rows[row].iter().fold(self.right[row], |sum, (column, block)| {
                subtract_product(sum, block, &self.right[*column])
            });
            self.right[row] = product(&self.diagonal[row], &known);
        }
        true
    }

    /// Solves the last system with another right-hand side, by row, where its factors were kept. Returns whether they
    /// were.
    pub fn substitute(&mut self, right: impl Fn(usize) -> [f64; 3]) -> bool {
        if self.grouped {
            self.groups.substitute(right);
        }
        self.grouped
    }

    /// Smallest pivot of the dense matrix as a part of the largest; blocks close to singular are all left to it.
    pub fn pivot_ratio(&self) -> f64 {
        if self.grouped { self.groups.pivot_ratio() } else { self.matrix.pivot_ratio() }
    }

    /// Unknowns of a block row.
    pub fn solution(&self, row: usize) -> &[f64] {
        if self.grouped { self.groups.solution(row) } else { &self.right[row] }
    }

    /// Eliminates the unknowns of a row from all others; its diagonal block is replaced by the inverse.
    fn eliminate(&mut self, pivot: usize, pivot_inverse: &Block<f64>) {
        let pivot_row = std::mem::take(&mut self.rows[pivot]);
        for &(row, _) in &pivot_row {
            let blocks = &mut self.rows[row];
            let Some(place) = blocks.iter().position(|&(column, _)| column == pivot) else { continue };
            let factor = block_product(&blocks.swap_remove(place).1, pivot_inverse);
            self.right[row] = subtract_product(self.right[row], &factor, &self.right[pivot]);
            for (place, &(column, _)) in blocks.iter().enumerate() {
                self.found[column] = place;
            }
            for (column, block) in &pivot_row {
                let change = block_product(&factor, block);
                let target = if *column == row {
                    &mut self.diagonal[row]
                } else {
                    let place = self.found[*column];
                    let known = blocks.get(place).is_some_and(|&(found, _)| found == *column);
                    let place = if known { place } else { blocks.len() };
                    if !known {
                        blocks.push((*column, [[0.0; 3]; 3]));
                    }
                    &mut blocks[place].1
                };
                for (target, change) in target.iter_mut().flatten().zip(change.iter().flatten()) {
                    *target -= change;
                }
            }
        }
        self.rows[pivot] = pivot_row;
        self.diagonal[pivot] = *pivot_inverse;
        self.eliminated.push(pivot);
    }

    /// Solves for the rows that are left.
    fn solve_dense(&mut self) -> bool {
        self.starts.clear();
        self.starts.resize(self.contacts, 0);
        let mut size = 0;
        for &row in &self.waiting {
            self.starts[row] = size;
            size += self.unknowns[row];
        }
        self.matrix.reset(size);
        self.dense_right.clear();
        for &row in &self.waiting {
            let own = (row, self.diagonal[row]);
            for (column, block) in std::iter::once(&own).chain(&self.rows[row]) {
                let (start, width) = (self.starts[*column], self.unknowns[*column]);
                for (k, line) in block[..self.unknowns[row]].iter().enumerate() {
                    self.matrix.row_mut(self.starts[row] + k)[start..start + width]
                        .copy_from_slice(&line[..width]);
                }
            }
            self.dense_right.extend_from_slice(&self.right[row][..self.unknowns[row]]);
        }
        if !self.matrix.factor() {
            return false;
        }
        self.matrix.substitute(&mut self.dense_right);
        for &row in &self.waiting {
            let (start, count) = (self.starts[row], self.unknowns[row]);
            self.right[row][..count].copy_from_slice(&self.dense_right[start..start + count]);
        }
        true
    }
}

#[inline]
fn product(a: &Block<f64>, x: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2])
}

#[inline]
fn subtract_product(sum: [f64; 3], a: &Block<f64>, x: &[f64; 3]) -> [f64; 3] {
    let change = product(a, x);
    std::array::from_fn(|i| sum[i] - change[i])
}

#[inline]
fn block_product(a: &Block<f64>, b: &Block<f64>) -> Block<f64> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j])
    })
}

/// The inverse, unless the block is too close to singular.
fn inverse(a: &Block<f64>) -> Option<Block<f64>> {
    let cofactor = |i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        a[r][c] * a[s][d] - a[r][d] * a[s][c]
    };
    let determinant = a[0][0] * cofactor(0, 0) + a[0][1] * cofactor(0, 1) + a[0][2] * cofactor(0, 2);
    let inverse: Block<f64> = std::array::from_fn(|i| std::array::from_fn(|j| cofactor(j, i) / determinant));
    let largest =
        |block: &Block<f64>| block.iter().flatten().fold(0.0_f64, |largest, e| largest.max(e.abs()));
    // A comparison that NaN fails.
    (largest(a) * largest(&inverse) <= WORST_CONDITION && determinant != 0.0).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of block rows with some longer chords; row `k` has `1 + k % 3` unknowns.
    #[test]
    fn agrees_with_dense_elimination() {
        const ROWS: usize = 60;
        let width = |row: usize| 1 + row % 3;
        let coupled = |i: usize, j: usize| {
            let distance = i.abs_diff(j).min(ROWS - i.abs_diff(j));
            distance == 1 || (distance == 9 && i.min(j).is_multiple_of(4))
        };
        let block = |i: usize, j: usize| -> Block<f64> {
            std::array::from_fn(|a| {
                std::array::from_fn(|b| {
                    let spread = ((31 * i + 17 * j + 7 * a + 5 * b) % 13) as f64 / 13.0 - 0.4;
                    // Every seventh diagonal block is singular.
                    if i == j && i.is_multiple_of(7) {
                        0.0
                    } else if i == j && a == b {
                        4.0 + spread
                    } else {
                        spread
                    }
                })
            })
        };
        let starts: Vec<usize> = (0..ROWS).map(|row| (0..row).map(width).sum()).collect();
        let size = starts[ROWS - 1] + width(ROWS - 1);
        let mut matrix = Matrix::with_capacity(size);
        matrix.reset(size);
        let mut x = Vec::new();
        let mut system = BlockSystem::default();
        system.clear();
        for i in 0..ROWS {
            let right: [f64; 3] = std::array::from_fn(|k| (i % 5) as f64 - k as f64);
            x.extend_from_slice(&right[..width(i)]);
            system.begin_row(width(i), block(i, i), right);
            for j in (0..ROWS).filter(|&j| j == i || coupled(i, j)) {
                if j != i {
                    system.push(j, width(j), block(i, j));
                }
                for a in 0..width(i) {
                    for b in 0..width(j) {
                        matrix.row_mut(starts[i] + a)[starts[j] + b] = block(i, j)[a][b];
                    }
                }
            }
        }
        assert!(matrix.factor() && system.solve());
        matrix.substitute(&mut x);
        assert!(system.eliminated.len() > ROWS / 2, "most rows are eliminated sparsely");
        for row in 0..ROWS {
            for k in 0..width(row) {
                assert!((system.solution(row)[k] - x[starts[row] + k]).abs() < 1e-9);
            }
        }
    }
}
