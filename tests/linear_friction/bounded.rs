//! Friction between bounds as a boxed problem. [Peiret et al. 2016, eq. 25, 28, 30]

use contact_fmu::engine::BoxedProblem;
use contact_fmu::engine::law::bounded::{BoundedRows, turn, turn_back};

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
