//! Semismooth Newton on the Alart-Curnier function.
//!
//! Hyperstatic contact makes the equations singular. They are solved with `W + rho I` in place of `W` and
//! `q - rho c` in place of `q`, where `c` is the present point: the solutions are the same, and among many steps
//! a short one is taken.

use super::alart_curnier::{Mode, assemble};
use super::component::{Best, Component};
use super::dense::Matrix;
use super::single_contact::Accuracy;
use super::sparse::BlockSystem;
use super::{Effort, Scratch, nsgs};
use crate::engine::tolerances::TOLERANCES;

/// Memory of a Newton step.
#[derive(Debug, Default)]
pub struct NewtonScratch {
    modes: Vec<Mode>,
    /// First unknown of each contact, or its block row.
    starts: Vec<usize>,
    /// Contact of each block row.
    active: Vec<usize>,
    z: Vec<f64>,
    /// Whether the last step used `matrix`.
    dense: bool,
    matrix: Matrix,
    sparse: BlockSystem,
}

impl NewtonScratch {
    /// Room for `contacts` contacts in a dense matrix.
    pub fn with_capacity(contacts: usize) -> NewtonScratch {
        NewtonScratch {
            modes: Vec::with_capacity(contacts),
            starts: Vec::with_capacity(contacts),
            active: Vec::with_capacity(contacts),
            z: Vec::with_capacity(3 * contacts),
            dense: true,
            matrix: Matrix::with_capacity(3 * contacts),
            sparse: BlockSystem::default(),
        }
    }
}

/// Iterates from the point in `part` until solved, without progress, or at the limit; leaves the best point there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut best = Best::begin(&mut scratch.best, part);
    let mut iterations = 0;
    let mut last_better = 0;
    while iterations < limit && !part.solved() && iterations - last_better < TOLERANCES.patience {
        iterations += 1;
        if !step(part, TOLERANCES.half_of_digits, None, &mut scratch.newton) {
            break;
        }
        if best.offer(part) {
            last_better = iterations;
        }
        if part.solved() {
            polish(part, &mut scratch.newton);
        }
    }
    best.finish(part, "newton", iterations)
}

/// Newton from a guess, for the answer that a start from zero would give: one that is not unique (hyperstatic contact)
/// counts where nothing slips, and is replaced by the least impulses that hold as well, or where the guess was an answer
/// but for round-off. A guess within tolerance is brought to round-off, so that errors do not add up from one problem to
/// the next.
pub fn solve_from_guess(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut effort = Effort { solver: "guess", iterations: 0, solved: part.is_exact() };
    let is_answer = part.is_nearly_exact();
    if !effort.solved && limit > 0 && is_answer {
        nsgs::sweep(part, Accuracy::Exact);
        part.refresh();
        effort = Effort { solver: "nsgs", iterations: 1, solved: part.is_exact() };
    }
    let mut last = f64::INFINITY;
    while !effort.solved && effort.iterations < limit && part.residual() < last {
        last = part.residual();
        effort = Effort { solver: "newton", iterations: effort.iterations + 1, solved: false };
        if !step(part, TOLERANCES.half_of_digits, None, &mut scratch.newton) {
            break;
        }
        if part.solved() {
            effort.solved = if is_answer || is_unique(part, &scratch.newton) {
                polish(part, &mut scratch.newton);
                true
            } else {
                take_least(part, scratch)
            };
            break;
        }
    }
    effort
}

/// Replaces a solution in which nothing slips by that of the least impulses with the same modes. False where something
/// slips or these impulses do not hold.
fn take_least(part: &mut Component, scratch: &mut Scratch) -> bool {
    let Scratch { newton, centre, .. } = scratch;
    let slips = |(mode, &mu): (&Mode, &f64)| matches!(mode, Mode::Slip { .. }) && mu > 0.0;
    if newton.modes.iter().zip(&part.mu).any(slips) {
        return false;
    }
    centre.clear();
    centre.resize(part.contacts(), [0.0; 3]);
    // Each substitution takes as many digits of the shift out as it has.
    for _ in 0..TOLERANCES.tries {
        if newton.dense {
            substitute(part, TOLERANCES.half_of_digits, Some(centre), newton);
            write_dense(part, newton);
        } else if newton.sparse.substitute(|row| {
            right(
                part,
                TOLERANCES.half_of_digits,
                Some(centre),
                newton.active[row],
                &newton.modes[newton.active[row]],
            )
        }) {
            write_sparse(part, newton);
        } else {
            return false;
        }
        centre.copy_from_slice(&part.r);
    }
    part.refresh();
    part.solved()
}

/// Whether the answer that the last step has found is the only one nearby: every contact does clearly what the step
/// took it for, and the equations are regular without the shift.
fn is_unique(part: &Component, scratch: &NewtonScratch) -> bool {
    let clear = |(contact, mode): (usize, &Mode)| match (
        mode,
        Mode::of(part.r[contact], part.u[contact], part.mu[contact]),
    ) {
        (Mode::Slip { .. }, Mode::Slip { ratio, .. }) => ratio < 1.0 - TOLERANCES.small,
        (taken, found) => *taken == found,
    };
    let pivots = if scratch.dense { scratch.matrix.pivot_ratio() } else { scratch.sparse.pivot_ratio() };
    pivots > TOLERANCES.small && scratch.modes.iter().enumerate().all(clear)
}

/// Takes out what the shift has done to the last step, with the factors at hand, where the change is too small to
/// matter to the residual; the velocities stay those from before.
fn polish(part: &mut Component, scratch: &mut NewtonScratch) {
    if scratch.dense {
        substitute(part, TOLERANCES.half_of_digits, None, scratch);
    } else if !substitute_sparse(part, scratch) {
        return;
    }
    let NewtonScratch { modes, starts, z, dense, sparse, .. } = scratch;
    let impulse = |contact: usize| {
        let mode = &modes[contact];
        let unknowns = match mode {
            Mode::Open => &[],
            _ if *dense => &z[starts[contact]..],
            _ => sparse.solution(starts[contact]),
        };
        mode.impulse(part.mu[contact], unknowns)
    };
    let mut change = 0.0;
    for (contact, r) in part.r.iter().enumerate() {
        let polished = impulse(contact);
        change += (0..3).map(|k| (polished[k] - r[k]).powi(2)).sum::<f64>();
    }
    if part.tolerates(change.sqrt()) {
        for (contact, r) in part.r.iter_mut().enumerate() {
            *r = impulse(contact);
        }
    }
}

/// Solves the last sparse system from the present point, where its factors were kept; returns whether they were.
fn substitute_sparse(part: &Component, scratch: &mut NewtonScratch) -> bool {
    let NewtonScratch { modes, sparse, active, .. } = scratch;
    sparse.substitute(|row| right(part, TOLERANCES.half_of_digits, None, active[row], &modes[active[row]]))
}

/// Replaces the point of `part` by the Newton step from there, for the problem shifted by `rho` about `centre`
/// (about the point itself where there is none). False where the equations cannot be solved.
pub fn step(
    part: &mut Component,
    rho: f64,
    centre: Option<&[[f64; 3]]>,
    scratch: &mut NewtonScratch,
) -> bool {
    let contacts = part.contacts();
    let active = find_modes(part, rho, centre, scratch);
    // Parts with fewer active contacts, or with more than half of their blocks, are dense.
    let full = part.w.stored() * 2 >= contacts * contacts;
    scratch.dense = active < TOLERANCES.few_rows || full;
    let solved = if scratch.dense {
        solve_dense(part, rho, centre, scratch)
    } else {
        solve_sparse(part, rho, centre, scratch)
    };
    part.refresh();
    solved
}

/// Finds what every contact does; returns the number of closed ones.
fn find_modes(part: &Component, rho: f64, centre: Option<&[[f64; 3]]>, scratch: &mut NewtonScratch) -> usize {
    scratch.modes.clear();
    let mut active = 0;
    for contact in 0..part.contacts() {
        let r = part.r[contact];
        let mut u = part.u[contact];
        if let Some(centre) = centre {
            for k in 0..3 {
                u[k] += rho * (r[k] - centre[contact][k]);
            }
        }
        let mode = Mode::of(r, u, part.mu[contact]);
        active += usize::from(mode != Mode::Open);
        scratch.modes.push(mode);
    }
    active
}

/// Right-hand side of a contact.
#[inline]
fn right(part: &Component, rho: f64, centre: Option<&[[f64; 3]]>, contact: usize, mode: &Mode) -> [f64; 3] {
    let c = centre.map_or(part.r[contact], |centre| centre[contact]);
    let q = part.q[contact];
    mode.equations([rho * c[0] - q[0], rho * c[1] - q[1], rho * c[2] - q[2]])
}

fn solve_dense(
    part: &mut Component,
    rho: f64,
    centre: Option<&[[f64; 3]]>,
    scratch: &mut NewtonScratch,
) -> bool {
    assemble(part, &scratch.modes, rho, &mut scratch.starts, &mut scratch.matrix);
    if !scratch.matrix.factor() {
        return false;
    }
    substitute(part, rho, centre, scratch);
    write_dense(part, scratch);
    true
}

/// Takes the impulses from `z`.
fn write_dense(part: &mut Component, scratch: &NewtonScratch) {
    let NewtonScratch { modes, starts, z, .. } = scratch;
    for (contact, mode) in modes.iter().enumerate() {
        part.r[contact] = mode.impulse(part.mu[contact], &z[starts[contact]..]);
    }
}

/// Solves for `z` with the factors of the present matrix.
fn substitute(part: &Component, rho: f64, centre: Option<&[[f64; 3]]>, scratch: &mut NewtonScratch) {
    let NewtonScratch { modes, z, matrix, .. } = scratch;
    z.clear();
    for (contact, mode) in modes.iter().enumerate() {
        z.extend_from_slice(&right(part, rho, centre, contact, mode)[..mode.unknowns()]);
    }
    matrix.substitute(z);
}

fn solve_sparse(
    part: &mut Component,
    rho: f64,
    centre: Option<&[[f64; 3]]>,
    scratch: &mut NewtonScratch,
) -> bool {
    let NewtonScratch { modes, starts, active, sparse, .. } = scratch;
    starts.clear();
    active.clear();
    for (contact, mode) in modes.iter().enumerate() {
        starts.push(active.len());
        if *mode != Mode::Open {
            active.push(contact);
        }
    }
    sparse.clear();
    for (contact, mode) in modes.iter().enumerate() {
        if *mode == Mode::Open {
            continue;
        }
        for (column, block) in part.w.row(contact) {
            let other = &modes[column];
            if *other == Mode::Open {
                continue;
            }
            let mut reduced = mode.rows(&other.columns(part.mu[column], block));
            if column == contact {
                let own = mode.diagonal(rho);
                for k in 0..3 {
                    reduced[k][k] += own[k];
                }
                let right = right(part, rho, centre, contact, mode);
                sparse.begin_row(mode.unknowns(), reduced, right);
            } else {
                sparse.push(starts[column], other.unknowns(), reduced);
            }
        }
    }
    if !sparse.solve() {
        return false;
    }
    write_sparse(part, scratch);
    true
}

/// Takes the impulses from the solution of the sparse system.
fn write_sparse(part: &mut Component, scratch: &NewtonScratch) {
    let NewtonScratch { modes, starts, sparse, .. } = scratch;
    for (contact, mode) in modes.iter().enumerate() {
        part.r[contact] = match mode {
            Mode::Open => [0.0; 3],
            _ => mode.impulse(part.mu[contact], sparse.solution(starts[contact])),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use super::*;
    use crate::engine::problem::residual::natural_residual;

    #[test]
    fn hyperstatic_contact_takes_few_iterations() {
        for twist in TWISTS {
            let problem = box_on_corners(twist, 0.4);
            let mut part = part_of(&problem, 1e-12);
            let effort = solve(&mut part, 30, &mut Scratch::default());
            assert!(effort.solved && effort.iterations <= 8, "{twist:?}: {effort:?}");
            let r = impulses(&part);
            assert!(natural_residual(&problem, &r) <= 1e-12);
            assert!(r.iter().all(|r| r.abs() < 10.0), "no impulses that do nothing: {r:?}");
        }
    }

    #[test]
    fn sparse_and_dense_steps_agree() {
        let problem = box_on_corners(TWISTS[1], 0.4);
        let (mut one, mut other) = (part_of(&problem, 1e-12), part_of(&problem, 1e-12));
        let mut scratch = NewtonScratch::default();
        for _ in 0..3 {
            find_modes(&one, 1e-3, None, &mut scratch);
            assert!(solve_dense(&mut one, 1e-3, None, &mut scratch));
            assert!(solve_sparse(&mut other, 1e-3, None, &mut scratch));
            for (one, other) in one.r.iter().flatten().zip(other.r.iter().flatten()) {
                assert!((one - other).abs() < 1e-9, "{one} {other}");
            }
            one.refresh();
            other.refresh();
        }
    }
}
