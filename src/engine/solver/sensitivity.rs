//! Tangent of a solution on the active set found.
//!
//! With `du = dW r + dq`, the Newton equations of [`alart_curnier`](super::alart_curnier) give `dr = E z + g` and
//! `F^T (W (E z + g) + du) + D z = 0`, where `g = dmu r_N d` for slip. Where they are singular (hyperstatic contact)
//! free unknowns keep their value.

use super::SolverScratch;
use super::alart_curnier::{Mode, assemble};
use super::component::Component;
use super::dense::Matrix;
use crate::engine::problem::block_matrix::multiply_add;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::Dual;

/// Memory of the tangents.
#[derive(Debug, Default)]
pub struct TangentScratch {
    modes: Vec<Mode>,
    starts: Vec<usize>,
    /// `g`.
    shift: Vec<[f64; 3]>,
    z: Vec<f64>,
    matrix: Matrix,
}

/// Writes the solution of the problem without tangents, with its tangents, into `r`.
pub fn tangents(
    problem: &ConeProblem<Dual>,
    values: &ConeProblem<f64>,
    solution: &[f64],
    r: &mut [Dual],
    scratch: &mut SolverScratch,
) {
    for (r, &value) in r.iter_mut().zip(solution) {
        *r = Dual::from(value);
    }
    let SolverScratch { parts, part, tangent, .. } = scratch;
    parts.find(values);
    for index in 0..parts.count() {
        let members = parts.members(index);
        part.gather(values, solution, members, parts.position(), 0.0);
        tangents_of_part(problem, members, part, r, tangent);
    }
}

fn tangents_of_part(
    problem: &ConeProblem<Dual>,
    members: &[usize],
    part: &Component,
    r: &mut [Dual],
    scratch: &mut TangentScratch,
) {
    let TangentScratch { modes, starts, shift, z, matrix } = scratch;
    modes.clear();
    shift.clear();
    for (index, &contact) in members.iter().enumerate() {
        let mode = Mode::of(part.r[index], part.u[index], part.mu[index]);
        let change = problem.mu[contact].tangent * part.r[index][0];
        shift.push(match mode {
            Mode::Slip { direction: [x, y], .. } => [0.0, change * x, change * y],
            _ => [0.0; 3],
        });
        modes.push(mode);
    }
    assemble(part, modes, 0.0, starts, matrix);
    z.clear();
    for (index, &contact) in members.iter().enumerate() {
        let d = part.scale(index);
        let du = problem.velocity(contact, r).map(|u| u.tangent * d);
        let change =
            part.w.row(index).fold(du, |sum, (column, block)| multiply_add(sum, block, shift[column]));
        let mode = &modes[index];
        z.extend(mode.equations(change)[..mode.unknowns()].iter().map(|change| -change));
    }
    matrix.solve_singular(z);
    for (index, &contact) in members.iter().enumerate() {
        let change = modes[index].impulse(part.mu[index], &z[starts[index]..]);
        for k in 0..3 {
            r[3 * contact + k].tangent = (change[k] + shift[index][k]) * part.scale(index);
        }
    }
}
