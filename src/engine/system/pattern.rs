//! Where the blocks of a sparse symmetric matrix are, before and after elimination, found once.
//!
//! Blocks are eliminated by minimum degree. Those of joints, which have nothing on the diagonal, come after all that
//! they hold. [Tinney and Walker 1967; George and Liu 1989]

use std::collections::{BTreeMap, BTreeSet};

/// Elimination order, the blocks below the diagonal, and what elimination does with them.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Blocks in the order of elimination.
    pub order: Vec<usize>,
    /// First place below the diagonal of each eliminated block, in that order, and the end.
    pub starts: Vec<usize>,
    /// Row of each place below the diagonal.
    pub rows: Vec<usize>,
    /// What elimination changes, in order.
    pub updates: Vec<Update>,
    /// First update of each eliminated block, in the order of elimination, and the end.
    pub update_starts: Vec<usize>,
    /// Whether each block is left beside the next one only when it is eliminated, as in a chain.
    pub is_path: bool,
    /// Places by row and column, the column eliminated first.
    places: BTreeMap<(usize, usize), usize>,
    /// When blocks are eliminated.
    turns: Vec<usize>,
}

/// `target -= L[left] A[right]^T`, with both places in the column at hand.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// Place of the left factor.
    pub left: usize,
    /// Place of the right factor.
    pub right: usize,
    /// What is changed.
    pub target: Target,
}

/// A block of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// On the diagonal, by row.
    Diagonal(usize),
    /// Below it, by place.
    Below(usize),
}

/// Where a block beside the diagonal is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Place below the diagonal.
    pub place: usize,
    /// Whether it is kept transposed.
    pub transposed: bool,
}

impl Pattern {
    /// Pattern of a matrix of `size` blocks with entries at `pairs`; blocks from `late` on have nothing on the diagonal.
    /// Of the others, those in `last` are eliminated last: what is pushed there is then soon felt.
    pub fn new(
        size: usize,
        late: usize,
        last: &BTreeSet<usize>,
        pairs: impl Iterator<Item = (usize, usize)>,
    ) -> Pattern {
        let mut neighbours = vec![BTreeSet::new(); size];
        for (one, other) in pairs.filter(|(one, other)| one != other) {
            neighbours[one].insert(other);
            neighbours[other].insert(one);
        }
        let order = eliminate(&mut neighbours, late, last);
        let mut turns = vec![0; size];
        for (turn, &block) in order.iter().enumerate() {
            turns[block] = turn;
        }
        let mut pattern = Pattern {
            starts: vec![0],
            rows: Vec::new(),
            updates: Vec::new(),
            update_starts: vec![0],
            is_path: false,
            places: BTreeMap::new(),
            turns,
            order,
        };
        pattern.place(&neighbours);
        let follows = |turn: usize| neighbours[pattern.order[turn - 1]].iter().eq([&pattern.order[turn]]);
        pattern.is_path = (1..size).all(follows);
        pattern
    }

    /// Number of blocks on the diagonal.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// When a block is eliminated.
    pub fn turn(&self, block: usize) -> usize {
        self.turns[block]
    }

    /// Where the block in `row` and `column` is kept; the two are different and in the pattern.
    pub fn entry(&self, row: usize, column: usize) -> Entry {
        let transposed = self.turns[row] < self.turns[column];
        let key = if transposed { (column, row) } else { (row, column) };
        Entry { place: self.places[&key], transposed }
    }

    /// Places of the blocks that are left beside each block when it is eliminated.
    fn place(&mut self, left: &[BTreeSet<usize>]) {
        for &column in &self.order {
            for &row in &left[column] {
                self.places.insert((row, column), self.rows.len());
                self.rows.push(row);
            }
            self.starts.push(self.rows.len());
        }
        for turn in 0..self.order.len() {
            let places = self.starts[turn]..self.starts[turn + 1];
            for one in places.clone() {
                for other in one..places.end {
                    self.updates.push(self.update(one, other));
                }
            }
            self.update_starts.push(self.updates.len());
        }
    }

    fn update(&self, one: usize, other: usize) -> Update {
        let (row, column) = (self.rows[one], self.rows[other]);
        if row == column {
            Update { left: one, right: one, target: Target::Diagonal(row) }
        } else {
            let entry = self.entry(row, column);
            let (left, right) = if entry.transposed { (other, one) } else { (one, other) };
            Update { left, right, target: Target::Below(entry.place) }
        }
    }
}

/// The order of elimination. Of each block, the neighbours that are left when it is eliminated stay behind.
fn eliminate(neighbours: &mut [BTreeSet<usize>], late: usize, last: &BTreeSet<usize>) -> Vec<usize> {
    let key = |neighbours: &[BTreeSet<usize>], block: usize| {
        let must_wait = block >= late && neighbours[block].iter().any(|&other| other < late);
        (must_wait, last.contains(&block), neighbours[block].len(), block)
    };
    let mut waiting: BTreeSet<_> = (0..neighbours.len()).map(|block| key(neighbours, block)).collect();
    let mut order = Vec::with_capacity(neighbours.len());
    while let Some((.., block)) = waiting.pop_first() {
        order.push(block);
        let around: Vec<usize> = neighbours[block].iter().copied().collect();
        for &one in &around {
            waiting.remove(&key(neighbours, one));
        }
        for &one in &around {
            neighbours[one].remove(&block);
            neighbours[one].extend(around.iter().filter(|&&other| other != one));
        }
        waiting.extend(around.iter().map(|&one| key(neighbours, one)));
    }
    order
}
