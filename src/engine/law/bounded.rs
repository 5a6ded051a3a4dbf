//! Friction between bounds, the mixed problem of Peiret: tangential rows `D v+ + C p - C p~ = sigma` with
//! `-b <= p <= b`, `sigma` zero inside the bounds. [Peiret et al. 2016, eq. 25, 28, 30]
//!
//! With the velocities eliminated, `W + C` and `q - C p~` are a boxed problem: normal rows from zero to infinity,
//! tangential rows between `-b` and `b`. Any system `M, f, J` gives `W = J M^-1 J^T` and `q = J (v + h M^-1 f)`,
//! three rows a contact: normal, tangent 1, tangent 2.

use crate::engine::problem::boxed::BoxedProblem;
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

/// Writes the boxed problem of contacts with operator `w` (row-major, three rows a contact) and velocities `q`
/// without impulse. `normal_compliance` is added to each normal row, relaxed at the impulse `normal_preload`.
pub fn assemble(
    w: &[f64],
    q: &[f64],
    normal_compliance: &[f64],
    normal_preload: &[f64],
    rows: &[BoundedRows<f64>],
    problem: &mut BoxedProblem,
) {
    let size = q.len();
    problem.reset(size);
    problem.m.copy_from_slice(w);
    problem.q.copy_from_slice(q);
    for (contact, rows) in rows.iter().enumerate() {
        let at = 3 * contact;
        for column in 0..size {
            let pair = [at + 1, at + 2].map(|row| row * size + column);
            let turned = turn(pair.map(|entry| problem.m[entry]), rows.direction);
            problem.m[pair[0]] = turned[0];
            problem.m[pair[1]] = turned[1];
        }
        for row in 0..size {
            let pair = [at + 1, at + 2].map(|column| row * size + column);
            let turned = turn(pair.map(|entry| problem.m[entry]), rows.direction);
            problem.m[pair[0]] = turned[0];
            problem.m[pair[1]] = turned[1];
        }
        let turned = turn([problem.q[at + 1], problem.q[at + 2]], rows.direction);
        for (k, velocity) in turned.into_iter().enumerate() {
            let row = at + 1 + k;
            problem.m[row * size + row] += rows.compliance[k];
            problem.q[row] = velocity - rows.compliance[k] * rows.preload[k];
            problem.lower[row] = -rows.bound;
            problem.upper[row] = rows.bound;
        }
        problem.m[at * size + at] += normal_compliance[contact];
        problem.q[at] -= normal_compliance[contact] * normal_preload[contact];
        problem.lower[at] = 0.0;
    }
}

/// Impulses of a solution `z` in the contacts' own coordinates.
pub fn impulses(z: &mut [f64], rows: &[BoundedRows<f64>]) {
    for (contact, rows) in rows.iter().enumerate() {
        let at = 3 * contact;
        let tangential = turn_back([z[at + 1], z[at + 2]], rows.direction);
        z[at + 1] = tangential[0];
        z[at + 2] = tangential[1];
    }
}
