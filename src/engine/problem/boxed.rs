//! The boxed problem: find `lower <= z <= upper` with, row by row, `M z + q` zero inside the bounds, not negative
//! at the lower and not positive at the upper bound.
//!
//! Bounds may be infinite; a row without bounds is a bilateral constraint, so that mixed problems are boxed ones.

use super::complementarity::{Complementarity, ProblemError, check_numbers};
use super::residual_linear;

/// `M`, `q` and bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxedProblem {
    /// Row-major `n x n`.
    pub m: Vec<f64>,
    /// `n`.
    pub q: Vec<f64>,
    /// `n`, negative infinity where there is none.
    pub lower: Vec<f64>,
    /// `n`, infinity where there is none.
    pub upper: Vec<f64>,
}

impl BoxedProblem {
    /// A problem of checked numbers.
    pub fn new(
        m: Vec<f64>,
        q: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> Result<BoxedProblem, ProblemError> {
        check_numbers(&m, &q)?;
        for (vector, bounds) in [("lower", &lower), ("upper", &upper)] {
            if bounds.len() != q.len() {
                return Err(ProblemError::WrongLength { vector, rows: q.len(), found: bounds.len() });
            }
            if let Some(index) = bounds.iter().position(|bound| bound.is_nan()) {
                return Err(ProblemError::VectorNotFinite { vector, index, value: f64::NAN });
            }
        }
        let empty = |(&lower, &upper): (&f64, &f64)| {
            lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY
        };
        if let Some(index) = lower.iter().zip(&upper).position(empty) {
            return Err(ProblemError::EmptyBounds { index, lower: lower[index], upper: upper[index] });
        }
        Ok(BoxedProblem { m, q, lower, upper })
    }

    /// Makes it a problem of `size` rows with all numbers zero and no bounds.
    pub fn reset(&mut self, size: usize) {
        let vectors = [
            (&mut self.m, size * size, 0.0),
            (&mut self.q, size, 0.0),
            (&mut self.lower, size, f64::NEG_INFINITY),
            (&mut self.upper, size, f64::INFINITY),
        ];
        for (vector, length, value) in vectors {
            vector.clear();
            vector.resize(length, value);
        }
    }
}

impl Complementarity for BoxedProblem {
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
    fn lower(&self, row: usize) -> f64 {
        self.lower[row]
    }

    #[inline]
    fn upper(&self, row: usize) -> f64 {
        self.upper[row]
    }

    #[inline]
    fn natural_residual(&self, z: &[f64]) -> f64 {
        residual_linear::boxed(self, z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_bounds_are_named() {
        let build = |lower: Vec<f64>, upper: Vec<f64>| {
            BoxedProblem::new(vec![1.0; 4], vec![0.0; 2], lower, upper).unwrap_err().to_string()
        };
        let infinity = f64::INFINITY;
        assert_eq!(
            build(vec![0.0, 2.0], vec![infinity, 1.0]),
            "row 1 has lower bound 2 and upper bound 1; no number lies between"
        );
        assert_eq!(
            build(vec![infinity, 0.0], vec![infinity, 1.0]),
            "row 0 has lower bound inf and upper bound inf; no number lies between"
        );
        assert_eq!(build(vec![0.0, f64::NAN], vec![1.0; 2]), "lower[1] is NaN; it must be finite");
        assert_eq!(build(vec![0.0; 2], vec![1.0; 3]), "upper has 3 numbers, but the problem has 2 rows");
    }
}
