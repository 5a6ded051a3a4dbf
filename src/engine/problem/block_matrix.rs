//! Square matrices of 3 x 3 blocks, most of them zero: the coupling between contacts.

use crate::engine::scalar::Scalar;

/// Three rows.
pub type Block<S> = [[S; 3]; 3];

/// Rows of nonzero blocks. Every row starts with its diagonal block; the others follow in any order.
#[derive(Clone, Debug)]
pub struct BlockMatrix<S> {
    /// Where rows start in `columns` and `blocks`; one more than there are rows.
    starts: Vec<usize>,
    columns: Vec<usize>,
    blocks: Vec<Block<S>>,
}

impl<S> Default for BlockMatrix<S> {
    fn default() -> BlockMatrix<S> {
        BlockMatrix { starts: vec![0], columns: Vec::new(), blocks: Vec::new() }
    }
}

impl<S: Scalar> BlockMatrix<S> {
    /// An empty matrix with room for `rows` rows and `blocks` blocks.
    pub fn with_capacity(rows: usize, blocks: usize) -> BlockMatrix<S> {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        BlockMatrix { starts, columns: Vec::with_capacity(blocks), blocks: Vec::with_capacity(blocks) }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.columns.clear();
        self.blocks.clear();
    }

    /// Starts the next row with its diagonal block.
    #[inline]
    pub fn begin_row(&mut self, diagonal: Block<S>) {
        let row = self.rows();
        self.starts.push(self.blocks.len());
        self.push(row, diagonal);
    }

    /// Appends a block beside the diagonal to the row begun last.
    #[inline]
    pub fn push(&mut self, column: usize, block: Block<S>) {
        self.columns.push(column);
        self.blocks.push(block);
        if let Some(end) = self.starts.last_mut() {
            *end += 1;
        }
    }

    /// Number of block rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored blocks.
    #[inline]
    pub fn stored(&self) -> usize {
        self.blocks.len()
    }

    /// The diagonal block of a row.
    #[inline]
    pub fn diagonal(&self, row: usize) -> &Block<S> {
        &self.blocks[self.starts[row]]
    }

    /// The diagonal block of a row, to be changed.
    pub fn diagonal_mut(&mut self, row: usize) -> &mut Block<S> {
        let start = self.starts[row];
        &mut self.blocks[start]
    }

    /// Columns and blocks of a row, the diagonal first.
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, &Block<S>)> {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(&self.blocks[range])
    }
}

/// `sum + block x`.
#[inline(always)]
pub fn multiply_add<S: Scalar>(sum: [S; 3], block: &Block<S>, x: [S; 3]) -> [S; 3] {
    [
        sum[0] + block[0][0] * x[0] + block[0][1] * x[1] + block[0][2] * x[2],
        sum[1] + block[1][0] * x[0] + block[1][1] * x[1] + block[1][2] * x[2],
        sum[2] + block[2][0] * x[0] + block[2][1] * x[1] + block[2][2] * x[2],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_written() {
        let block = |value: f64| [[value; 3]; 3];
        let mut matrix = BlockMatrix::with_capacity(2, 3);
        matrix.begin_row(block(1.0));
        matrix.push(1, block(2.0));
        matrix.begin_row(block(3.0));
        assert_eq!((matrix.rows(), matrix.stored()), (2, 3));
        let first: Vec<(usize, f64)> = matrix.row(0).map(|(column, block)| (column, block[0][0])).collect();
        assert_eq!(first, [(0, 1.0), (1, 2.0)]);
        assert_eq!(matrix.diagonal(1), &block(3.0));
        matrix.clear();
        assert_eq!(matrix.rows(), 0);
    }
}
