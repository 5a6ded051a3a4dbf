//! Solvers, one file each. Cone problems: [`auto`] chooses; LCP and boxed problems: [`auto_complementarity`]; problems
//! that mix friction laws: [`mixed`].
//!
//! A cone problem is split into parts that do not touch each other. Every part is equilibrated and solved on its
//! own; the natural residual of the whole problem, computed by separate code, then tells how good the answer is.

mod alart_curnier;
mod auto;
mod auto_complementarity;
mod complementarity;
mod component;
mod conjugate;
mod dense;
mod factor;
mod fischer;
#[cfg(test)]
mod fixtures;
mod grouped;
mod lemke;
mod linear;
mod mixed;
mod newton;
mod nsgs;
mod patches;
mod path;
mod pgs;
mod pivoting;
mod proximal;
mod report;
mod sensitivity;
mod single_contact;
mod smoothing;
mod sparse;
mod split;

pub use complementarity::{LcpScratch, LcpSettings, LcpSolver, solve as complementarity_solve};
pub use report::{Report, Status};

use super::problem::cone::ConeProblem;
use super::problem::mixed::MixedProblem;
use super::problem::residual::natural_residual;
use super::scalar::{Dual, Scalar};
use super::settings::{SolverChoice, SolverSettings};
use super::tape::Traced;
use crate::engine::tolerances::TOLERANCES;
use component::Component;
use dense::Matrix;
use single_contact::{Accuracy, SingleContact};
use split::Parts;

/// What a choice means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// For cones and all that can stand in their place.
    Nonlinear(Nonlinear),
    /// For problems with linear friction.
    Linear(LcpSolver),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nonlinear {
    Auto,
    Nsgs,
    Newton,
}

impl Method {
    fn of(choice: SolverChoice) -> Method {
        match choice {
            SolverChoice::Auto => Method::Nonlinear(Nonlinear::Auto),
            SolverChoice::Nsgs => Method::Nonlinear(Nonlinear::Nsgs),
            SolverChoice::Newton => Method::Nonlinear(Nonlinear::Newton),
            SolverChoice::Lemke => Method::Linear(LcpSolver::Lemke),
            SolverChoice::Pivoting => Method::Linear(LcpSolver::Pivoting),
            SolverChoice::Pgs => Method::Linear(LcpSolver::Pgs),
        }
    }
}

/// Memory of the solvers, kept between problems.
#[derive(Debug, Default)]
pub struct SolverScratch {
    parts: Parts,
    part: Component,
    work: Scratch,
    values: ConeProblem<f64>,
    impulses: Vec<f64>,
    tangent: sensitivity::TangentScratch,
    mixed: mixed::MixedScratch,
    linear: linear::LinearScratch,
}

/// Memory of the solvers of one part.
#[derive(Debug, Default)]
struct Scratch {
    best: Vec<[f64; 3]>,
    best_of_all: Vec<[f64; 3]>,
    centre: Vec<[f64; 3]>,
    newton: newton::NewtonScratch,
    path: path::PathScratch,
    conjugate: conjugate::ConjugateScratch,
    patches: patches::PatchScratch,
    smoothing: smoothing::SmoothingScratch,
}

impl SolverScratch {
    /// Memory for problems of up to `contacts` contacts and `blocks` nonzero blocks. Larger dense matrices than
    /// are likely are allocated when they are needed.
    pub fn with_capacity(contacts: usize, blocks: usize) -> SolverScratch {
        SolverScratch {
            parts: Parts::with_capacity(contacts),
            part: Component::with_capacity(contacts, blocks),
            work: Scratch {
                best: Vec::with_capacity(contacts),
                best_of_all: Vec::with_capacity(contacts),
                centre: Vec::with_capacity(contacts),
                newton: newton::NewtonScratch::with_capacity(contacts.min(TOLERANCES.large_pile)),
                path: path::PathScratch::with_capacity(contacts),
                conjugate: conjugate::ConjugateScratch::default(),
                patches: patches::PatchScratch::default(),
                smoothing: smoothing::SmoothingScratch::default(),
            },
            values: ConeProblem::default(),
            impulses: Vec::new(),
            tangent: sensitivity::TangentScratch::default(),
            mixed: mixed::MixedScratch::default(),
            linear: linear::LinearScratch::default(),
        }
    }
}

/// What a solver did with a part.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Who found the point.
    solver: &'static str,
    iterations: u32,
    solved: bool,
}

impl Effort {
    /// Goes on with another solver, given what is left of `limit`, unless the part is solved.
    #[inline]
    fn then(self, limit: u32, next: impl FnOnce(u32) -> Effort) -> Effort {
        if self.solved || self.iterations >= limit {
            return self;
        }
        let more = next(limit - self.iterations);
        Effort { iterations: self.iterations + more.iterations, ..more }
    }
}

/// Solves a cone problem from the guess in `r`, as a step does, and leaves the best answer there. Solver and iterations
/// of the report are those of the part that took most.
///
/// # Panics
/// Where `r` has not three numbers a contact.
pub fn solve_cone(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> Report {
    solve_parts(problem, r, Start::Guess, settings, scratch)
}

/// What the numbers are that a solver starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// A guess, from the last step: the answer shall be the one that a start from zero gives, in fewer iterations.
    Guess,
    /// An answer, which stays and is only judged.
    Answer,
}

fn solve_parts(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    start: Start,
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> Report {
    assert_eq!(r.len(), problem.rows(), "three unknowns a contact");
    if !r.iter().all(|r| r.is_finite()) {
        r.fill(0.0);
    }
    if start == Start::Answer {
        let effort = Effort { solver: "guess", iterations: 0, solved: true };
        return judge(problem, r, effort, false, settings);
    }
    let method = match Method::of(settings.choice) {
        Method::Nonlinear(method) => method,
        Method::Linear(solver) => {
            let residual = |r: &[f64]| natural_residual(problem, r);
            return linear::solve(problem, &[], r, solver, residual, settings, &mut scratch.linear);
        }
    };
    let SolverScratch { parts, part, work, .. } = scratch;
    let contacts = problem.contacts() as f64;
    let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
    let limit = settings.max_iterations;
    let mut hardest = Effort { solver: settings.choice.name(), iterations: 0, solved: true };
    let mut at_limit = false;
    parts.find(problem);
    for index in 0..parts.count() {
        let members = parts.members(index);
        let effort = match (members, method) {
            (&[contact], Nonlinear::Auto | Nonlinear::Nsgs) => solve_alone(problem, r, contact),
            _ => {
                let share = (members.len() as f64 / contacts).sqrt();
                let goal = TOLERANCES.aimed_part * settings.tolerance * scale * share;
                part.gather(problem, r, members, parts.position(), goal);
                part.drop_bad_guess();
                // Gauss-Seidel goes on from any point, and so does what is built on it.
                let goes_on =
                    method == Nonlinear::Nsgs || (method == Nonlinear::Auto && auto::is_large(part));
                let effort = if goes_on || part.at_zero() {
                    solve_part(part, method, limit, work)
                } else {
                    solve_from_guess(part, method, limit, work)
                };
                part.scatter(r);
                effort
            }
        };
        if effort.iterations > hardest.iterations {
            hardest = effort;
        }
        at_limit |= !effort.solved && effort.iterations >= limit;
    }
    judge(problem, r, hardest, at_limit, settings)
}

/// Tells how good an answer is that took some effort.
fn judge(
    problem: &ConeProblem<f64>,
    r: &[f64],
    effort: Effort,
    at_limit: bool,
    settings: &SolverSettings,
) -> Report {
    Report::judged(effort.solver, effort.iterations, natural_residual(problem, r), at_limit, settings)
}

fn solve_part(part: &mut Component, method: Nonlinear, limit: u32, work: &mut Scratch) -> Effort {
    match method {
        Nonlinear::Auto => auto::solve(part, limit, work),
        Nonlinear::Nsgs => nsgs::solve(part, limit, work),
        Nonlinear::Newton => newton::solve(part, limit, work)
            .then(limit, |limit| proximal::solve(part, proximal::FAST, limit, work)),
    }
}

/// Newton from the guess; where that fails, from zero with the whole limit, so that a guess is never worse than none.
fn solve_from_guess(part: &mut Component, method: Nonlinear, limit: u32, work: &mut Scratch) -> Effort {
    let guess = newton::solve_from_guess(part, limit, work);
    if guess.solved {
        return guess;
    }
    part.start_at(0);
    let effort = solve_part(part, method, limit, work);
    Effort { iterations: effort.iterations.saturating_add(guess.iterations), ..effort }
}

/// A contact that nothing couples to others.
#[inline]
fn solve_alone(problem: &ConeProblem<f64>, r: &mut [f64], contact: usize) -> Effort {
    let at = 3 * contact;
    let q = [problem.q[at], problem.q[at + 1], problem.q[at + 2]];
    let single = SingleContact::new(problem.w.diagonal(contact), problem.mu[contact]);
    let impulse = single.solve(q, &mut 0.0, Accuracy::Exact);
    if let Some(impulse) = impulse {
        r[at..at + 3].copy_from_slice(&impulse);
    }
    Effort { solver: "closed form", iterations: 1, solved: impulse.is_some() }
}

/// A scalar over which contact problems can be solved.
pub trait Solvable: Scalar {
    /// Solves a problem that may mix friction laws from the guess in `r`. The answer is the one that a start from zero
    /// gives, to tolerance; only solvers that iterate on impulses ([`SolverChoice::Nsgs`], [`SolverChoice::Pgs`],
    /// [`SolverChoice::Pivoting`]) may stop at another one where it is not unique (hyperstatic contact).
    fn solve_mixed(
        problem: &MixedProblem<Self>,
        r: &mut [Self],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Report;

    /// Judges an answer in `r` to such a problem, which stays but gets its tangents.
    fn judge_mixed(
        problem: &MixedProblem<Self>,
        r: &mut [Self],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Report;

    /// Replaces the changes `b` by those of a solution of `A x = b`, as `Matrix::solve_singular` finds it.
    fn solve_changes(matrix: &mut Matrix, b: &mut [Self]);
}

impl Solvable for f64 {
    fn solve_mixed(
        problem: &MixedProblem<f64>,
        r: &mut [f64],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Report {
        mixed::solve(problem, r, Start::Guess, settings, scratch)
    }

    fn judge_mixed(
        problem: &MixedProblem<f64>,
        r: &mut [f64],
        settings: &SolverSettings,
        scratch: &mut SolverScratch,
    ) -> Report {
        mixed::solve(problem, r, Start::Answer, settings, scratch)
    }

    fn solve_changes(_: &mut Matrix, _: &mut [f64]) {}
}

macro_rules! solve_with_changes {
    () => {
        fn solve_mixed(
            problem: &MixedProblem<Self>,
            r: &mut [Self],
            settings: &SolverSettings,
            scratch: &mut SolverScratch,
        ) -> Report {
            mixed::solve_with_changes(problem, r, Start::Guess, settings, scratch)
        }

        fn judge_mixed(
            problem: &MixedProblem<Self>,
            r: &mut [Self],
            settings: &SolverSettings,
            scratch: &mut SolverScratch,
        ) -> Report {
            mixed::solve_with_changes(problem, r, Start::Answer, settings, scratch)
        }
    };
}

impl Solvable for Dual {
    solve_with_changes!();

    fn solve_changes(matrix: &mut Matrix, b: &mut [Dual]) {
        let mut tangents: Vec<f64> = b.iter().map(|b| b.tangent).collect();
        matrix.solve_singular(&mut tangents);
        for (b, tangent) in b.iter_mut().zip(tangents) {
            *b = Dual { value: 0.0, tangent };
        }
    }
}

impl Solvable for Traced {
    solve_with_changes!();

    fn solve_changes(matrix: &mut Matrix, b: &mut [Traced]) {
        if Traced::map_along(b, |b| {
            matrix.solve_singular(b);
        }) {
            return;
        }
        matrix.eliminate();
        let matrix = std::mem::take(matrix);
        Traced::map_noted(b, move |changes| matrix.substitute_transposed(changes));
    }
}

fn solve_with_changes<S: Solvable>(
    problem: &ConeProblem<S>,
    r: &mut [S],
    start: Start,
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> Report {
    let mut values = std::mem::take(&mut scratch.values);
    let mut impulses = std::mem::take(&mut scratch.impulses);
    problem.copy_values(&mut values);
    impulses.clear();
    impulses.extend(r.iter().map(|r| r.value()));
    let report = solve_parts(&values, &mut impulses, start, settings, scratch);
    // A guess that is no answer is not taken.
    if start == Start::Guess || report.status == Status::Solved {
        sensitivity::tangents(problem, &values, &impulses, r, scratch);
    }
    scratch.values = values;
    scratch.impulses = impulses;
    report
}

#[cfg(test)]
mod tests {
    use super::fixtures::{TWISTS, assert_solves_boxes, box_on_corners, residual_at_limit};
    use super::*;

    #[test]
    fn boxes_on_their_corners_are_solved() {
        for solve in [nsgs::solve, conjugate::solve, patches::solve, path::solve, smoothing::solve] {
            assert_solves_boxes(solve);
        }
    }

    #[test]
    fn the_best_point_is_left_at_the_limit() {
        for solve in [nsgs::solve, conjugate::solve] {
            assert!(residual_at_limit(40, solve) < residual_at_limit(7, solve));
        }
    }

    #[test]
    fn tangents_of_hyperstatic_contact_satisfy_the_equations() {
        let values = box_on_corners(TWISTS[0], 0.4);
        let mut problem = ConeProblem::<Dual>::default();
        problem.reset(4);
        for contact in 0..4 {
            for (column, block) in values.w.row(contact) {
                let block = block.map(|row| row.map(Dual::from));
                if column == contact {
                    problem.w.begin_row(block);
                } else {
                    problem.w.push(column, block);
                }
            }
            problem.mu[contact] = Dual::from(0.4);
        }
        // The box is pushed along x: all corners stick, hence velocities after the impulse stay zero.
        let pushed = box_on_corners([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.4);
        for (q, (&value, &tangent)) in problem.q.iter_mut().zip(values.q.iter().zip(&pushed.q)) {
            *q = Dual { value, tangent };
        }
        let settings = SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-12, max_iterations: 100 };
        let mut r = vec![Dual::from(0.0); 12];
        let report =
            solve_with_changes(&problem, &mut r, Start::Guess, &settings, &mut SolverScratch::default());
        assert_eq!(report.status, Status::Solved);
        for contact in 0..4 {
            for u in problem.velocity(contact, &r) {
                assert!(u.value.abs() < 1e-11 && u.tangent.abs() < 1e-11, "{u:?}");
            }
        }
        assert!(r.iter().any(|r| r.tangent.abs() > 0.1));
    }
}
