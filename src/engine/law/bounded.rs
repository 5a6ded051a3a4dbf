//! Friction between bounds, the mixed problem of Peiret: tangential rows `D v+ + C p - C p~ = sigma` with
//! `-b <= p <= b`, `sigma` zero inside the bounds. [Peiret et al. 2016, eq. 25, 28, 30]
//!
//! With the velocities eliminated, `W + C` and `q - C p~` are a boxed problem: normal rows from zero to infinity,
//! tangential rows between `-b` and `b`. Any system `M, f, J` gives `W = J M^-1 J^T` and `q = J (v + h M^-1 f)`,
//! three rows a contact: normal, tangent 1, tangent 2.

use crate::engine::scalar::Scalar;

/// The two tangential rows of a contact, in impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedRows<S> {
    /// Unit vector of the first row in the contact's tangent coordinates; the second is a quarter turn on.
    pub direction: [S; 2],
    /// Compliance `C` of each row, per impulse.
    pub compliance: [S; 2],
    /// Impulse `p~` at which the compliance is relaxed.
    pub preload: [S; 2],
    /// Bound `b` of both rows.
    pub bound: S,
}

/// A vector turned into the coordinates whose first axis is `direction`.
pub fn turn<S: Scalar>([first, second]: [S; 2], [cosine, sine]: [S; 2]) -> [S; 2] {
    [cosine * first + sine * second, cosine * second - sine * first]
}

/// The reverse of [`turn`].
pub fn turn_back<S: Scalar>(vector: [S; 2], [cosine, sine]: [S; 2]) -> [S; 2] {
    turn(vector, [cosine, -sine])
}
