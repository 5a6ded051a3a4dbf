//! Tangent of a solution: the Alart-Curnier function stays zero, `J dr = -dPhi`, on the active set found.

use super::{SolverScratch, alart_curnier};
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Dual;

/// Writes the solution `values_r` of the problem without tangents, with its tangents, into `r`.
pub fn tangents(
    problem: &ConeProblem<Dual>,
    values: &ConeProblem<f64>,
    values_r: &[f64],
    r: &mut [Dual],
    scratch: &mut SolverScratch,
) {
    for (r, &value) in r.iter_mut().zip(values_r) {
        *r = Dual::from(value);
    }
    let SolverScratch { function, matrix, .. } = scratch;
    function.clear();
    function.extend(
        (0..problem.contacts)
            .flat_map(|contact| alart_curnier::function(problem, r, contact))
            .map(|phi| phi.tangent),
    );
    alart_curnier::jacobian(values, values_r, matrix);
    matrix.solve(function);
    for (r, change) in r.iter_mut().zip(function.iter()) {
        r.tangent = -change;
    }
}
