//! The boxed problem: find `lower <= z <= upper` with, row by row, `M z + q` zero inside the bounds, not negative
//! at the lower and not positive at the upper bound.
//!
//! Bounds may be infinite; a row without bounds is a bilateral constraint, so that mixed problems are boxed ones. With
//! the bounds zero and infinity it is the linear complementarity problem `0 <= z _|_ M z + q >= 0`.

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

    /// A linear complementarity problem of checked numbers.
    pub fn lcp(m: Vec<f64>, q: Vec<f64>) -> Result<BoxedProblem, ProblemError> {
        let (lower, upper) = (vec![0.0; q.len()], vec![f64::INFINITY; q.len()]);
        BoxedProblem::new(m, q, lower, upper)
    }

    /// Number of rows.
    #[inline]
    pub fn size(&self) -> usize {
        self.q.len()
    }

    /// One row of `M`.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.m[row * self.size()..(row + 1) * self.size()]
    }

    /// Relative natural residual of `z`; infinite where a number is not finite.
    #[inline]
    pub fn natural_residual(&self, z: &[f64]) -> f64 {
        residual_linear::natural_residual(self, z)
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

/// What is wrong with the numbers of a problem. Rows and columns count from zero.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// `M` is not square, or does not fit `q`.
    #[error("the matrix has {found} numbers, but {rows} rows need {rows} x {rows} = {expected}")]
    NotSquare {
        /// Rows, from the length of `q`.
        rows: usize,
        /// Numbers that a square matrix has.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A vector does not have one number a row.
    #[error("{vector} has {found} numbers, but the problem has {rows} rows")]
    WrongLength {
        /// Which vector.
        vector: &'static str,
        /// Rows of the problem.
        rows: usize,
        /// Numbers given.
        found: usize,
    },
    /// A matrix element is infinite or not a number.
    #[error("the matrix element in row {row}, column {column} is {value}; it must be finite")]
    MatrixNotFinite {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A vector element is infinite or not a number.
    #[error("{vector}[{index}] is {value}; it must be finite")]
    VectorNotFinite {
        /// Which vector.
        vector: &'static str,
        /// Index.
        index: usize,
        /// The number.
        value: f64,
    },
    /// Bounds without a number between them.
    #[error("row {index} has lower bound {lower} and upper bound {upper}; no number lies between")]
    EmptyBounds {
        /// Row.
        index: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// Checks that `M` is square and fits `q`, and that all numbers are finite.
fn check_numbers(m: &[f64], q: &[f64]) -> Result<(), ProblemError> {
    let rows = q.len();
    if rows.checked_mul(rows) != Some(m.len()) {
        return Err(ProblemError::NotSquare { rows, expected: rows.saturating_mul(rows), found: m.len() });
    }
    if let Some(at) = m.iter().position(|value| !value.is_finite()) {
        return Err(ProblemError::MatrixNotFinite { row: at / rows, column: at % rows, value: m[at] });
    }
    match q.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ProblemError::VectorNotFinite { vector: "q", index, value: q[index] }),
        None => Ok(()),
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

    #[test]
    fn wrong_numbers_are_named() {
        assert_eq!(
            BoxedProblem::lcp(vec![1.0; 6], vec![1.0; 2]),
            Err(ProblemError::NotSquare { rows: 2, expected: 4, found: 6 })
        );
        let error = BoxedProblem::lcp(vec![1.0, 2.0, f64::INFINITY, 4.0], vec![1.0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "the matrix element in row 1, column 0 is inf; it must be finite");
        let error = BoxedProblem::lcp(vec![1.0; 4], vec![1.0, f64::NAN]).unwrap_err();
        assert_eq!(error.to_string(), "q[1] is NaN; it must be finite");
    }
}
