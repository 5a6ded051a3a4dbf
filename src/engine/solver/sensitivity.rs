//! Tangent of a solution on the active set found.
//!
//! With `du = dW r + dq`, the Newton equations of [`alart_curnier`](super::alart_curnier) give `dr = E z + g` and
//! `F^T (W (E z + g) + du) + D z = 0`, where `g = dmu r_N d` for slip. Where they are singular (hyperstatic contact)
//! free unknowns keep their value.

use super::alart_curnier::{Mode, assemble};
use super::component::Component;
use super::dense::Matrix;
use super::{Solvable, SolverScratch};
use crate::engine::problem::block_matrix::multiply_add;
use crate::engine::problem::cone::ConeProblem;

/// Memory of the tangents.
#[derive(Debug, Default)]
pub struct TangentScratch {
    modes: Vec<Mode>,
    starts: Vec<usize>,
    matrix: Matrix,
}

/// Writes the solution of the problem without tangents, with its tangents, into `r`.
pub fn tangents<S: Solvable>(
    problem: &ConeProblem<S>,
    values: &ConeProblem<f64>,
    solution: &[f64],
    r: &mut [S],
    scratch: &mut SolverScratch,
) {
    for (r, &value) in r.iter_mut().zip(solution) {
        *r = S::from(value);
    }
    let SolverScratch { parts, part, tangent, .. } = scratch;
    parts.find(values);
    for index in 0..parts.count() {
        let members = parts.members(index);
        part.gather(values, solution, members, parts.position(), 0.0);
        tangents_of_part(problem, members, part, r, tangent);
    }
}

fn tangents_of_part<S: Solvable>(
    problem: &ConeProblem<S>,
    members: &[usize],
    part: &Component,
    r: &mut [S],
    scratch: &mut TangentScratch,
) {
    let TangentScratch { modes, starts, matrix } = scratch;
    modes.clear();
    // `g`.
    let mut shift = Vec::with_capacity(members.len());
    for (index, &contact) in members.iter().enumerate() {
        let mode = Mode::of(part.r[index], part.u[index], part.mu[index]);
        shift.push(match mode {
            Mode::Slip { direction: [x, y], .. } => {
                let change = problem.mu[contact].change() * S::from(part.r[index][0]);
                [S::zero(), change * S::from(x), change * S::from(y)]
            }
            _ => [S::zero(); 3],
        });
        modes.push(mode);
    }
    assemble(part, modes, 0.0, starts, matrix);
    let mut z = Vec::with_capacity(3 * members.len());
    for (index, &contact) in members.iter().enumerate() {
        let mode = &modes[index];
        if mode.unknowns() == 0 {
            continue;
        }
        let d = S::from(part.scale(index));
        let du = problem.velocity(contact, r).map(|u| u.change() * d);
        let change = part.w.row(index).fold(du, |sum, (column, block)| match modes[column] {
            Mode::Slip { .. } => multiply_add(sum, &block.map(|row| row.map(S::from)), shift[column]),
            _ => sum,
        });
        z.extend(mode.equations(change)[..mode.unknowns()].iter().map(|&change| -change));
    }
    S::solve_changes(matrix, &mut z);
    for (index, &contact) in members.iter().enumerate() {
        let change = modes[index].impulse(part.mu[index], &z[starts[index]..]);
        let d = S::from(part.scale(index));
        for k in 0..3 {
            r[3 * contact + k] += (change[k] + shift[index][k]) * d;
        }
    }
}
