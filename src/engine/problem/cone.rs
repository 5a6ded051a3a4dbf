//! The contact problem with Coulomb cones.
//!
//! Find `r` with `u = W r + q` and, per contact, `K* ∋ u + mu |u_T| n _|_ r ∈ K`, where
//! `K = {|r_T| <= mu r_N}`. Three rows a contact: normal, tangent 1, tangent 2.

use crate::engine::scalar::Scalar;

/// `W`, `q` and friction coefficients.
#[derive(Clone, Debug, Default)]
pub struct ConeProblem<S> {
    /// Number of contacts.
    pub contacts: usize,
    /// Row-major `3n x 3n`.
    pub w: Vec<S>,
    /// `3n`.
    pub q: Vec<S>,
    /// `n`.
    pub mu: Vec<S>,
}

impl<S: Scalar> ConeProblem<S> {
    /// An empty problem that can grow to `contacts` without allocation.
    pub fn with_capacity(contacts: usize) -> ConeProblem<S> {
        let rows = 3 * contacts;
        ConeProblem {
            contacts: 0,
            w: Vec::with_capacity(rows * rows),
            q: Vec::with_capacity(rows),
            mu: Vec::with_capacity(contacts),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        3 * self.contacts
    }

    /// Makes it a problem of `contacts` contacts with all numbers zero.
    pub fn reset(&mut self, contacts: usize) {
        let rows = 3 * contacts;
        self.contacts = contacts;
        for (vector, length) in [(&mut self.w, rows * rows), (&mut self.q, rows), (&mut self.mu, contacts)] {
            vector.clear();
            vector.resize(length, S::zero());
        }
    }

    /// `u = W r + q`, one row.
    #[inline]
    pub fn velocity(&self, row: usize, r: &[S]) -> S {
        let rows = self.rows();
        self.w[row * rows..(row + 1) * rows].iter().zip(r).fold(self.q[row], |sum, (&w, &r)| sum + w * r)
    }

    /// Writes the problem without tangents.
    pub fn copy_values(&self, target: &mut ConeProblem<f64>) {
        target.reset(self.contacts);
        let copy = |from: &[S], to: &mut [f64]| {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.value();
            }
        };
        copy(&self.w, &mut target.w);
        copy(&self.q, &mut target.q);
        copy(&self.mu, &mut target.mu);
    }
}
