//! What LCP and boxed problems have in common: `lower <= z <= upper`, complementary to `w = M z + q`.
//!
//! Row by row: `w = 0` where `z` is inside its bounds, `w >= 0` at the lower bound, `w <= 0` at the upper bound.

/// A linear complementarity problem between bounds. Rows without bounds are equations `w = 0`.
pub trait Complementarity {
    /// Number of rows.
    fn size(&self) -> usize;
    /// `M`, row-major.
    fn m(&self) -> &[f64];
    /// `q`.
    fn q(&self) -> &[f64];
    /// Lower bound of a row.
    fn lower(&self, row: usize) -> f64;
    /// Upper bound of a row.
    fn upper(&self, row: usize) -> f64;
    /// Relative natural residual of `z`; infinite where a number is not finite.
    fn natural_residual(&self, z: &[f64]) -> f64;

    /// One row of `M`.
    #[inline]
    fn row(&self, row: usize) -> &[f64] {
        &self.m()[row * self.size()..(row + 1) * self.size()]
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
pub(super) fn check_numbers(m: &[f64], q: &[f64]) -> Result<(), ProblemError> {
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
