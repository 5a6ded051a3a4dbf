//! Contacts whose friction is linear, as one boxed problem for Lemke, principal pivoting and projected Gauss-Seidel.
//!
//! Unknowns are forces along vectors `b` of their contacts, `r = B z`: the normal; for bounded friction its two
//! directions, between `-bound` and `bound`; for a polygon one `beta >= 0` a vertex, and a slip speed `s >= 0` with
//! `mu r_N - sum beta >= 0`, where `mu` is that of the vertices [Stewart and Trinkle 1996]. Rows see velocities along
//! the same vectors, `M = B^T W B`, plus `s` in the rows of `beta`. A friction cone with `mu > 0` has no such problem:
//! its contact is solved without friction, and the residual tells.

use super::complementarity::{self, LcpScratch, LcpSettings, LcpSolver};
use super::{Report, SolverSettings, Status};
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::mixed::Friction;
use crate::engine::tolerances::TOLERANCES;

/// Memory of the problem and its solvers.
#[derive(Debug, Default)]
pub struct LinearScratch {
    forces: Vec<Force>,
    /// First unknown of each contact.
    starts: Vec<usize>,
    problem: BoxedProblem,
    z: Vec<f64>,
    solver: LcpScratch,
}

/// What an unknown is.
#[derive(Clone, Copy, Debug)]
struct Force {
    contact: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A force along a vector in the coordinates of the contact, up to a bound.
    Along { vector: [f64; 3], lower: f64, upper: f64 },
    /// The slip speed of a polygon, whose directions are the `count` unknowns before.
    Slip { count: usize, mu: f64 },
}

/// Solves the problem whose contacts have the laws `friction`, cones where there is none, from the guess in `r` and
/// leaves the answer there. `residual` judges it.
pub fn solve(
    problem: &ConeProblem<f64>,
    friction: &[Friction<f64>],
    r: &mut [f64],
    solver: LcpSolver,
    residual: impl FnOnce(&[f64]) -> f64,
    settings: &SolverSettings,
    scratch: &mut LinearScratch,
) -> Report {
    let LinearScratch { forces, starts, problem: boxed, z, solver: memory } = scratch;
    let mut applicable = true;
    forces.clear();
    starts.clear();
    for (contact, &mu) in problem.mu.iter().enumerate() {
        starts.push(forces.len());
        let friction = friction.get(contact).unwrap_or(&Friction::Cone);
        applicable &= list_forces(contact, friction, mu, forces);
    }
    starts.push(forces.len());
    write(problem, forces, starts, boxed);
    z.clear();
    z.extend(forces.iter().map(|force| guess(force, r)));
    let settings_here = LcpSettings {
        solver,
        tolerance: TOLERANCES.aimed_part * settings.tolerance,
        max_iterations: settings.max_iterations,
    };
    let report = complementarity::solve(boxed, z, &settings_here, memory);
    r.fill(0.0);
    for (force, z) in forces.iter().zip(z.iter()) {
        if let Kind::Along { vector, .. } = force.kind {
            for k in 0..3 {
                r[3 * force.contact + k] += vector[k] * z;
            }
        }
    }
    let residual = residual(r);
    let status = match report.status {
        _ if residual <= settings.tolerance => Status::Solved,
        _ if !applicable => Status::NotApplicable,
        Status::Solved => Status::Inaccurate,
        other => other,
    };
    Report { residual, status, ..report }
}

/// Whether all friction is linear.
pub fn applies(problem: &ConeProblem<f64>, friction: &[Friction<f64>]) -> bool {
    let linear = |(friction, &mu): (&Friction<f64>, &f64)| *friction != Friction::Cone || mu <= 0.0;
    friction.iter().zip(&problem.mu).all(linear)
}

/// Lists the unknowns of a contact. False where its friction is not linear and left out.
fn list_forces(contact: usize, friction: &Friction<f64>, mu: f64, forces: &mut Vec<Force>) -> bool {
    let infinity = f64::INFINITY;
    let mut along = |vector: [f64; 3], lower: f64, upper: f64| {
        forces.push(Force { contact, kind: Kind::Along { vector, lower, upper } });
    };
    along([1.0, 0.0, 0.0], 0.0, infinity);
    match friction {
        Friction::Cone => mu <= 0.0,
        Friction::Facets(facets, _) if facets.mu <= 0.0 => true,
        Friction::Facets(facets, polygon) => {
            for k in 0..facets.count {
                let [x, y] = facets.vertex(*polygon, k);
                along([0.0, x, y], 0.0, infinity);
            }
            forces.push(Force {
                contact,
                kind: Kind::Slip { count: facets.count, mu: facets.reach(*polygon) },
            });
            true
        }
        Friction::Bounded { direction: [cosine, sine], bound } => {
            along([0.0, *cosine, *sine], -bound, *bound);
            along([0.0, -sine, *cosine], -bound, *bound);
            true
        }
    }
}

/// `M`, `q` and bounds.
fn write(problem: &ConeProblem<f64>, forces: &[Force], starts: &[usize], boxed: &mut BoxedProblem) {
    let size = forces.len();
    boxed.reset(size);
    for (row, force) in forces.iter().enumerate() {
        let at = 3 * force.contact;
        match force.kind {
            Kind::Along { vector, lower, upper } => {
                boxed.lower[row] = lower;
                boxed.upper[row] = upper;
                boxed.q[row] = (0..3).map(|k| vector[k] * problem.q[at + k]).sum();
                for (other, block) in problem.w.row(force.contact) {
                    let seen: [f64; 3] =
                        std::array::from_fn(|j| (0..3).map(|i| vector[i] * block[i][j]).sum());
                    let columns = starts[other]..starts[other + 1];
                    let entries = &mut boxed.m[row * size..(row + 1) * size];
                    for (entry, force) in entries[columns.clone()].iter_mut().zip(&forces[columns]) {
                        if let Kind::Along { vector, .. } = force.kind {
                            *entry = (0..3).map(|k| seen[k] * vector[k]).sum();
                        }
                    }
                }
            }
            Kind::Slip { count, mu } => {
                boxed.lower[row] = 0.0;
                boxed.m[row * size + starts[force.contact]] = mu;
                for direction in row - count..row {
                    boxed.m[row * size + direction] = -1.0;
                    boxed.m[direction * size + row] = 1.0;
                }
            }
        }
    }
}

/// An unknown from the impulses `r`: the component along its vector, which for polygons is Lemke's affair.
fn guess(force: &Force, r: &[f64]) -> f64 {
    match force.kind {
        Kind::Along { vector, lower, upper } => {
            let component: f64 = (0..3).map(|k| vector[k] * r[3 * force.contact + k]).sum();
            component.max(lower).min(upper)
        }
        Kind::Slip { .. } => 0.0,
    }
}
