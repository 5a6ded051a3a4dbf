//! The linear complementarity problem: find `z` with `0 <= z _|_ M z + q >= 0`.

use super::complementarity::{Complementarity, ProblemError, check_numbers};
use super::residual_linear;

/// `M` and `q`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LcpProblem {
    /// Row-major `n x n`.
    pub m: Vec<f64>,
    /// `n`.
    pub q: Vec<f64>,
}

impl LcpProblem {
    /// A problem of checked numbers.
    pub fn new(m: Vec<f64>, q: Vec<f64>) -> Result<LcpProblem, ProblemError> {
        check_numbers(&m, &q)?;
        Ok(LcpProblem { m, q })
    }

    /// Makes it a problem of `size` rows with all numbers zero.
    pub fn reset(&mut self, size: usize) {
        self.m.clear();
        self.m.resize(size * size, 0.0);
        self.q.clear();
        self.q.resize(size, 0.0);
    }
}

impl Complementarity for LcpProblem {
    #[inline]
    fn size(&self) -> usize {
        self.q.len()
    }

    #[inline]
    fn m(&self) -> &[f64] {
        &self.m
    }

    #[inline]
    fn q(&self) -> &[f64] {
        &self.q
    }

    #[inline]
    fn lower(&self, _: usize) -> f64 {
        0.0
    }

    #[inline]
    fn upper(&self, _: usize) -> f64 {
        f64::INFINITY
    }

    #[inline]
    fn natural_residual(&self, z: &[f64]) -> f64 {
        residual_linear::lcp(self, z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_are_named() {
        assert_eq!(
            LcpProblem::new(vec![1.0; 6], vec![1.0; 2]),
            Err(ProblemError::NotSquare { rows: 2, expected: 4, found: 6 })
        );
        let error = LcpProblem::new(vec![1.0, 2.0, f64::INFINITY, 4.0], vec![1.0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "the matrix element in row 1, column 0 is inf; it must be finite");
        let error = LcpProblem::new(vec![1.0; 4], vec![1.0, f64::NAN]).unwrap_err();
        assert_eq!(error.to_string(), "q[1] is NaN; it must be finite");
    }
}
