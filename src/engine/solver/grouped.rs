//! Elimination of sparse block matrices in groups of rows with the same neighbours.
//!
//! All contacts of two bodies have the same neighbours. There are often more of them than a pair of bodies has degrees
//! of freedom (faces on each other touch at up to eight corners), so that single blocks are no pivots; a whole group is
//! one, with row exchanges inside. What is left behind is not disturbed: the coupling to other groups lies in the range
//! of the group's own block. The next group is that with the fewest neighbours (minimum degree); the last ones are left to
//! one dense matrix.

use super::dense::Matrix;
use crate::engine::problem::block_matrix::Block;
use crate::engine::tolerances::TOLERANCES;

/// Groups of rows, and their elimination.
#[derive(Debug, Default)]
pub struct Groups {
    /// By row: its group, and its first unknown there.
    places: Vec<(usize, usize)>,
    /// First row of each group.
    firsts: Vec<usize>,
    groups: Vec<Group>,
    /// How many of them are in use.
    count: usize,
    /// Entries of all blocks.
    entries: Vec<f64>,
    /// Groups not eliminated.
    waiting: Vec<usize>,
    /// Eliminated groups, in order.
    eliminated: Vec<usize>,
    /// Marks of the row or group at hand.
    marks: Vec<usize>,
    /// First unknowns of the groups in the dense matrix.
    starts: Vec<usize>,
    matrix: Matrix,
    right: Vec<f64>,
    column: Vec<f64>,
}

#[derive(Debug, Default)]
struct Group {
    unknowns: usize,
    /// Blocks beside the diagonal; of an eliminated group those towards groups not eliminated before, multiplied by the
    /// inverse of its own block.
    links: Vec<Link>,
    own: Matrix,
    right: Vec<f64>,
}

/// A block: the group of its columns, and where its entries start, row by row.
#[derive(Clone, Copy, Debug)]
struct Link {
    group: usize,
    start: usize,
    /// The same of the block across the diagonal, once the group is eliminated.
    across: usize,
}

/// A block row as it is given.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Number of equations.
    pub unknowns: usize,
    /// Block on the diagonal.
    pub diagonal: &'a Block<f64>,
    /// Blocks beside it, by column.
    pub beside: &'a [(usize, Block<f64>)],
    /// Right-hand side.
    pub right: &'a [f64; 3],
}

impl Groups {
    /// Finds groups among `count` rows; `beside` gives the blocks beside the diagonal. Returns whether there are few
    /// enough of them to be worth it.
    pub fn find<'a>(&mut self, count: usize, beside: impl Fn(usize) -> &'a [(usize, Block<f64>)]) -> bool {
        self.places.clear();
        self.firsts.clear();
        self.marks.clear();
        self.marks.resize(count, usize::MAX);
        for row in 0..count {
            let own = beside(row);
            let joins = self.firsts.last().is_some_and(|&first| {
                own.len() == beside(first).len()
                    && self.marks[row] == first
                    && own.iter().all(|&(column, _)| self.marks[column] == first)
            });
            if !joins {
                self.firsts.push(row);
                self.marks[row] = row;
                for &(column, _) in own {
                    self.marks[column] = row;
                }
            }
            self.places.push((self.firsts.len() - 1, 0));
        }
        2 * self.firsts.len() <= count
    }

    /// Solves the equations of the rows that groups were found of. False where a pivot is zero.
    pub fn solve<'a>(&mut self, row: impl Fn(usize) -> Row<'a>) -> bool {
        self.gather(&row);
        self.eliminated.clear();
        self.waiting.clear();
        self.waiting.extend(0..self.count);
        while let Some(place) = self.next() {
            let group = self.waiting.swap_remove(place);
            if !self.eliminate(group) {
                return false;
            }
        }
        if !self.factor_dense() {
            return false;
        }
        self.substitute(|index| *row(index).right);
        true
    }

    /// Solves the same equations with another right-hand side.
    pub fn substitute(&mut self, right: impl Fn(usize) -> [f64; 3]) {
        for group in &mut self.groups[..self.count] {
            group.right.clear();
        }
        for index in 0..self.places.len() {
            let right = right(index);
            let unknowns = self.unknowns(index);
            self.groups[self.places[index].0].right.extend_from_slice(&right[..unknowns]);
        }
        for at in 0..self.eliminated.len() {
            self.substitute_forward(self.eliminated[at]);
        }
        self.substitute_dense();
        for at in (0..self.eliminated.len()).rev() {
            self.substitute_backward(self.eliminated[at]);
        }
    }

    /// Smallest pivot of a group, or of the dense matrix, as a part of the largest.
    pub fn pivot_ratio(&self) -> f64 {
        let own = self.eliminated.iter().map(|&group| self.groups[group].own.pivot_ratio());
        own.fold(self.matrix.pivot_ratio(), f64::min)
    }

    /// Unknowns of a row.
    pub fn solution(&self, row: usize) -> &[f64] {
        let (group, start) = self.places[row];
        &self.groups[group].right[start..]
    }

    /// Takes the rows into groups.
    fn gather<'a>(&mut self, row: &impl Fn(usize) -> Row<'a>) {
        self.count = self.firsts.len();
        while self.groups.len() < self.count {
            self.groups.push(Group::default());
        }
        for group in &mut self.groups[..self.count] {
            group.unknowns = 0;
        }
        for (index, place) in self.places.iter_mut().enumerate() {
            let (row, group) = (row(index), &mut self.groups[place.0]);
            place.1 = group.unknowns;
            group.unknowns += row.unknowns;
        }
        self.entries.clear();
        self.marks.clear();
        self.marks.resize(self.count, usize::MAX);
        let mut index = 0;
        for at in 0..self.count {
            self.begin(at, row(self.firsts[at]).beside);
            while index < self.places.len() && self.places[index].0 == at {
                self.write(index, row(index));
                index += 1;
            }
        }
    }

    /// Makes empty blocks of a group beside the columns of its first row.
    fn begin(&mut self, at: usize, beside: &[(usize, Block<f64>)]) {
        let unknowns = self.groups[at].unknowns;
        let mut links = std::mem::take(&mut self.groups[at].links);
        links.clear();
        for &(column, _) in beside {
            let group = self.places[column].0;
            if group == at || self.marks[group] < links.len() && links[self.marks[group]].group == group {
                continue;
            }
            self.marks[group] = links.len();
            links.push(Link { group, start: self.entries.len(), across: 0 });
            self.entries.resize(self.entries.len() + unknowns * self.groups[group].unknowns, 0.0);
        }
        self.groups[at].links = links;
        self.groups[at].own.reset(unknowns);
    }

    /// Writes a row into the blocks of its group; marks tell where these are.
    fn write(&mut self, index: usize, row: Row<'_>) {
        let (at, first) = self.places[index];
        for (k, line) in row.diagonal[..row.unknowns].iter().enumerate() {
            let own = &mut self.groups[at].own.row_mut(first + k)[first..first + row.unknowns];
            own.copy_from_slice(&line[..row.unknowns]);
        }
        for (column, block) in row.beside {
            let (group, start) = self.places[*column];
            let whole = self.groups[group].unknowns;
            let width = self.unknowns(*column);
            let end = start + width;
            for (k, line) in block[..row.unknowns].iter().enumerate() {
                let target = if group == at {
                    &mut self.groups[at].own.row_mut(first + k)[start..end]
                } else {
                    let from = self.groups[at].links[self.marks[group]].start + (first + k) * whole + start;
                    &mut self.entries[from..from + width]
                };
                target.copy_from_slice(&line[..width]);
            }
        }
    }

    /// Number of unknowns of a row.
    fn unknowns(&self, row: usize) -> usize {
        let (group, start) = self.places[row];
        let next = self.places.get(row + 1).filter(|next| next.0 == group);
        next.map_or(self.groups[group].unknowns, |next| next.1) - start
    }

    /// Where the next group to eliminate is among those that wait; none once a dense matrix is better.
    fn next(&self) -> Option<usize> {
        let size = |&group: &usize| self.groups[group].unknowns;
        let neighbours =
            |group: usize| self.groups[group].links.iter().map(|link| size(&link.group)).sum::<usize>();
        let place = (0..self.waiting.len()).min_by_key(|&place| neighbours(self.waiting[place]))?;
        let left: usize = self.waiting.iter().map(size).sum();
        (neighbours(self.waiting[place]) as f64 <= TOLERANCES.dense_part * left as f64).then_some(place)
    }

    /// Eliminates the unknowns of a group from all others.
    fn eliminate(&mut self, pivot: usize) -> bool {
        let mut taken = std::mem::take(&mut self.groups[pivot]);
        let n = taken.unknowns;
        if !taken.own.factor() {
            self.groups[pivot] = taken;
            return false;
        }
        for link in &taken.links {
            let width = self.groups[link.group].unknowns;
            for column in 0..width {
                self.column.clear();
                self.column.extend((0..n).map(|row| self.entries[link.start + row * width + column]));
                taken.own.substitute(&mut self.column);
                for (row, &entry) in self.column.iter().enumerate() {
                    self.entries[link.start + row * width + column] = entry;
                }
            }
        }
        for index in 0..taken.links.len() {
            taken.links[index].across = self.eliminate_from(taken.links[index].group, pivot, &taken);
        }
        self.groups[pivot] = taken;
        self.eliminated.push(pivot);
        true
    }

    /// Eliminates the unknowns of `pivot` from the rows of a group, whose block beside it stays where it was: there.
    fn eliminate_from(&mut self, at: usize, pivot: usize, taken: &Group) -> usize {
        let n = taken.unknowns;
        let mut group = std::mem::take(&mut self.groups[at]);
        let place = group.links.iter().position(|link| link.group == pivot);
        let factor = group.links.swap_remove(place.expect("the pattern is symmetric")).start;
        for link in &taken.links {
            let width = if link.group == at { group.unknowns } else { self.groups[link.group].unknowns };
            let found = group.links.iter().find(|own| own.group == link.group).map(|own| own.start);
            if link.group != at && found.is_none() {
                group.links.push(Link { group: link.group, start: self.entries.len(), across: 0 });
                self.entries.resize(self.entries.len() + group.unknowns * width, 0.0);
            }
            let start = found.or(group.links.last().map(|own| own.start)).unwrap_or(0);
            self.column.clear();
            self.column.resize(width, 0.0);
            for row in 0..group.unknowns {
                self.column.fill(0.0);
                for k in 0..n {
                    let factor = self.entries[factor + row * n + k];
                    let known = &self.entries[link.start + k * width..link.start + (k + 1) * width];
                    for (sum, known) in self.column.iter_mut().zip(known) {
                        *sum += factor * known;
                    }
                }
                let target = if link.group == at {
                    group.own.row_mut(row)
                } else {
                    &mut self.entries[start + row * width..start + (row + 1) * width]
                };
                for (entry, change) in target.iter_mut().zip(&self.column) {
                    *entry -= change;
                }
            }
        }
        self.groups[at] = group;
        factor
    }

    /// Factors the equations of the groups that are left.
    fn factor_dense(&mut self) -> bool {
        self.starts.clear();
        self.starts.resize(self.count, 0);
        let mut size = 0;
        for &at in &self.waiting {
            self.starts[at] = size;
            size += self.groups[at].unknowns;
        }
        self.matrix.reset(size);
        for &at in &self.waiting {
            let start = self.starts[at];
            let mut group = std::mem::take(&mut self.groups[at]);
            for row in 0..group.unknowns {
                let own = group.own.row_mut(row);
                self.matrix.row_mut(start + row)[start..start + own.len()].copy_from_slice(own);
                for link in &group.links {
                    let width = self.groups[link.group].unknowns;
                    let from = self.starts[link.group];
                    let line = &self.entries[link.start + row * width..link.start + (row + 1) * width];
                    self.matrix.row_mut(start + row)[from..from + width].copy_from_slice(line);
                }
            }
            self.groups[at] = group;
        }
        self.matrix.factor()
    }

    /// Takes an eliminated group out of the right-hand sides of the others.
    fn substitute_forward(&mut self, at: usize) {
        let mut group = std::mem::take(&mut self.groups[at]);
        group.own.substitute(&mut group.right);
        for link in &group.links {
            for (row, right) in self.groups[link.group].right.iter_mut().enumerate() {
                let start = link.across + row * group.unknowns;
                *right -= dot(&self.entries[start..start + group.unknowns], &group.right);
            }
        }
        self.groups[at] = group;
    }

    /// Finds the unknowns of the groups that were left.
    fn substitute_dense(&mut self) {
        self.right.clear();
        for &at in &self.waiting {
            self.right.extend_from_slice(&self.groups[at].right);
        }
        self.matrix.substitute(&mut self.right);
        for &at in &self.waiting {
            let group = &mut self.groups[at];
            let start = self.starts[at];
            group.right.copy_from_slice(&self.right[start..start + group.unknowns]);
        }
    }

    /// Finds the unknowns of an eliminated group from those of the others.
    fn substitute_backward(&mut self, at: usize) {
        let mut group = std::mem::take(&mut self.groups[at]);
        for link in &group.links {
            let known = &self.groups[link.group].right;
            for (row, right) in group.right.iter_mut().enumerate() {
                let start = link.start + row * known.len();
                *right -= dot(&self.entries[start..start + known.len()], known);
            }
        }
        self.groups[at] = group;
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in groups of four, each group coupled to the next; a positive semidefinite matrix of low rank and a shift.
    #[test]
    fn equations_of_more_rows_than_bodies_can_move_are_solved() {
        const ROWS: usize = 40;
        const GROUP: usize = 4;
        const SHIFT: f64 = 1e-6;
        let width = |row: usize| 1 + row % 3;
        // Row `k` of the matrix is that of `J J^T`, where a group pushes two bodies with three unknowns each.
        let push = |row: usize, k: usize| -> Vec<f64> {
            let mut line = vec![0.0; 3 * (ROWS / GROUP + 1)];
            for (place, entry) in line[3 * (row / GROUP)..3 * (row / GROUP) + 6].iter_mut().enumerate() {
                *entry = ((31 * row + 17 * k + 7 * place + 5) % 13) as f64 / 13.0 - 0.4;
            }
            line
        };
        let block = |i: usize, j: usize| -> Block<f64> {
            std::array::from_fn(|a| {
                std::array::from_fn(|b| {
                    let shift = if i == j && a == b { SHIFT } else { 0.0 };
                    dot(&push(i, a), &push(j, b)) + shift
                })
            })
        };
        let coupled = |i: usize, j: usize| i != j && (i / GROUP).abs_diff(j / GROUP) <= 1;
        let beside: Vec<Vec<(usize, Block<f64>)>> = (0..ROWS)
            .map(|i| (0..ROWS).filter(|&j| coupled(i, j)).map(|j| (j, block(i, j))).collect())
            .collect();
        let diagonal: Vec<Block<f64>> = (0..ROWS).map(|i| block(i, i)).collect();
        let right = |turn: usize| move |i: usize| [0, 1, 2].map(|k| ((i + k + turn) % 5) as f64 - 2.0);
        let mut groups = Groups::default();
        assert!(groups.find(ROWS, |row| &beside[row]));
        assert_eq!(groups.firsts.len(), ROWS / GROUP);
        let sides: Vec<[f64; 3]> = (0..ROWS).map(right(0)).collect();
        assert!(groups.solve(|row| Row {
            unknowns: width(row),
            diagonal: &diagonal[row],
            beside: &beside[row],
            right: &sides[row],
        }));
        assert!(groups.eliminated.len() > 4, "most groups are eliminated one by one");
        assert!(groups.pivot_ratio() < 1e-4, "a group has more rows than its bodies can move");
        for turn in 0..2 {
            groups.substitute(right(turn));
            // Residuals, in place of solutions of an ill-conditioned matrix.
            for i in 0..ROWS {
                for a in 0..width(i) {
                    let mut sum = -right(turn)(i)[a];
                    let mut size = 0.0_f64;
                    for j in (0..ROWS).filter(|&j| i == j || coupled(i, j)) {
                        let block = block(i, j);
                        for (entry, x) in block[a][..width(j)].iter().zip(groups.solution(j)) {
                            sum += entry * x;
                            size = size.max(x.abs());
                        }
                    }
                    assert!(sum.abs() < 1e-12 * (1.0 + size), "row {i}: {sum:e} of {size:e}");
                }
            }
        }
    }
}
