//! The contact problem with Coulomb cones.
//!
//! Find `r` with `u = W r + q` and, per contact, `K* ∋ u + mu |u_T| n _|_ r ∈ K`, where
//! `K = {|r_T| <= mu r_N}`. Three rows a contact: normal, tangent 1, tangent 2.

use super::block_matrix::{Block, BlockMatrix, multiply_add};
use crate::engine::scalar::Scalar;

/// `W`, `q` and friction coefficients.
#[derive(Clone, Debug)]
pub struct ConeProblem<S> {
    /// `n` rows of blocks; where there is a block `(i, j)` there is one `(j, i)`.
    pub w: BlockMatrix<S>,
    /// `3n`.
    pub q: Vec<S>,
    /// `n`.
    pub mu: Vec<S>,
}

impl<S> Default for ConeProblem<S> {
    fn default() -> ConeProblem<S> {
        ConeProblem { w: BlockMatrix::default(), q: Vec::new(), mu: Vec::new() }
    }
}

impl<S: Scalar> ConeProblem<S> {
    /// An empty problem that can grow to `contacts` contacts and `blocks` nonzero blocks without allocation.
    pub fn with_capacity(contacts: usize, blocks: usize) -> ConeProblem<S> {
        ConeProblem {
            w: BlockMatrix::with_capacity(contacts, blocks),
            q: Vec::with_capacity(3 * contacts),
            mu: Vec::with_capacity(contacts),
        }
    }

    /// The problem with the row-major `3n x 3n` matrix `w`, where `n` is the number of friction coefficients.
    ///
    /// # Panics
    /// Where the sizes do not fit together.
    pub fn from_dense(w: &[S], q: Vec<S>, mu: Vec<S>) -> ConeProblem<S> {
        let rows = 3 * mu.len();
        assert!(w.len() == rows * rows && q.len() == rows, "a problem of {} contacts", mu.len());
        let block = |i: usize, j: usize| -> Block<S> {
            std::array::from_fn(|row| std::array::from_fn(|column| w[(3 * i + row) * rows + 3 * j + column]))
        };
        let mut problem = ConeProblem { w: BlockMatrix::with_capacity(mu.len(), mu.len()), q, mu };
        for i in 0..problem.contacts() {
            problem.w.begin_row(block(i, i));
            for j in 0..problem.contacts() {
                let coupled = |i: usize, j: usize| block(i, j).iter().flatten().any(|entry| !entry.is_zero());
                if j != i && (coupled(i, j) || coupled(j, i)) {
                    problem.w.push(j, block(i, j));
                }
            }
        }
        problem
    }

    /// Number of contacts.
    #[inline]
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        3 * self.contacts()
    }

    /// Makes it a problem of `contacts` contacts with `q` and `mu` zero and `W` still to be written, row by row.
    pub fn reset(&mut self, contacts: usize) {
        self.w.clear();
        for (vector, length) in [(&mut self.q, 3 * contacts), (&mut self.mu, contacts)] {
            vector.clear();
            vector.resize(length, S::zero());
        }
    }

    /// `u = W r + q` of one contact.
    #[inline]
    pub fn velocity(&self, contact: usize, r: &[S]) -> [S; 3] {
        let ((q, _), (r, _)) = (self.q.as_chunks::<3>(), r.as_chunks::<3>());
        self.w.row(contact).fold(q[contact], |sum, (column, block)| multiply_add(sum, block, r[column]))
    }

    /// The same in values.
    #[inline]
    pub fn velocity_value(&self, contact: usize, r: &[S]) -> [f64; 3] {
        let ((q, _), (r, _)) = (self.q.as_chunks::<3>(), r.as_chunks::<3>());
        self.w.row(contact).fold(q[contact].map(S::value), |sum, (column, block)| {
            multiply_add(sum, &block.map(|row| row.map(S::value)), r[column].map(S::value))
        })
    }

    /// Writes the problem without tangents.
    pub fn copy_values(&self, target: &mut ConeProblem<f64>) {
        target.reset(self.contacts());
        for contact in 0..self.contacts() {
            for (column, block) in self.w.row(contact) {
                let values = block.map(|row| row.map(S::value));
                if column == contact {
                    target.w.begin_row(values);
                } else {
                    target.w.push(column, values);
                }
            }
        }
        let copy = |from: &[S], to: &mut [f64]| {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.value();
            }
        };
        copy(&self.q, &mut target.q);
        copy(&self.mu, &mut target.mu);
    }
}
