//! Contact problems with any mixture of friction laws: semismooth Newton on `Phi = r - Proj(r - u)` from the guess,
//! where there is one. If that fails or the answer is not unique, from zero: projected Gauss-Seidel sweeps towards the
//! active set, then Newton to round-off. Newton can go round in a circle, and sweeps are slow in hyperstatic contact;
//! the next try is then the linear problem, if all friction is linear, and last sweeps and Newton in turns. By name,
//! Gauss-Seidel has the sweeps alone, and Newton only the first ones.
//!
//! Problems of cones alone go to the cone solvers.

use super::complementarity::LcpSolver;
use super::dense::Matrix;
use super::linear::{self, LinearScratch};
use super::{Method, Nonlinear, Report, Solvable, SolverScratch, SolverSettings, Start, Status, solve_parts};
use crate::engine::problem::mixed::{Friction, MixedProblem};
use crate::engine::problem::residual_mixed::natural_residual;
use crate::engine::scalar::{Dual, Scalar};
use crate::engine::tolerances::TOLERANCES;

/// Memory of the mixed solver.
#[derive(Debug, Default)]
pub struct MixedScratch {
    values: MixedProblem<f64>,
    impulses: Vec<f64>,
    best: Vec<f64>,
    /// Best answer of all tries.
    best_of_all: Vec<f64>,
    /// Of the linear problem.
    answer: Vec<f64>,
    function: Vec<f64>,
    matrix: Matrix,
    /// Whether the equations of the last Newton step were.
    regular: bool,
}

/// As many sweeps as Newton iterations to start with.
const FIRST_SWEEPS: u32 = TOLERANCES.newton_steps;

/// Solves a mixed problem from what is in `r` and leaves the best answer there.
pub fn solve(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    start: Start,
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> Report {
    if problem.friction.iter().all(|friction| *friction == Friction::Cone) {
        return solve_parts(&problem.contacts, r, start, settings, scratch);
    }
    if start == Start::Answer {
        return report(problem, r, "guess", 0, settings);
    }
    let mixed = &mut scratch.mixed;
    if !r.iter().all(|r| r.is_finite()) {
        r.fill(0.0);
    }
    let (solver, iterations) = match Method::of(settings.choice) {
        Method::Linear(solver) => {
            let MixedProblem { contacts, friction } = problem;
            let residual = |r: &[f64]| natural_residual(problem, r);
            return linear::solve(contacts, friction, r, solver, residual, settings, &mut scratch.linear);
        }
        Method::Nonlinear(method) => {
            let wasted = match method {
                Nonlinear::Nsgs => 0,
                _ => match newton_from_guess(problem, r, settings, mixed) {
                    Ok(iterations) => return report(problem, r, "newton", iterations, settings),
                    Err(wasted) => wasted,
                },
            };
            let mut kept = std::mem::take(&mut mixed.best_of_all);
            let mut best = Best::none(problem, &mut kept, r.len());
            let (solver, iterations) = match method {
                Nonlinear::Nsgs => ("nsgs", sweep_until_solved(problem, r, settings, &mut best)),
                Nonlinear::Auto => take_turns(problem, r, settings, (mixed, &mut scratch.linear), &mut best),
                _ => ("newton", newton_from_zero(problem, r, settings, mixed, &mut best)),
            };
            best.give(problem, r);
            mixed.best_of_all = kept;
            (solver, iterations.saturating_add(wasted))
        }
    };
    report(problem, r, solver, iterations, settings)
}

/// An answer and its residual. Sweeps need not converge where impulses act elsewhere than velocities are seen: of all tries
/// the best one counts, and the first is no impulse at all.
struct Best<'a> {
    r: &'a mut Vec<f64>,
    residual: f64,
}

impl Best<'_> {
    fn none<'a>(problem: &MixedProblem<f64>, r: &'a mut Vec<f64>, size: usize) -> Best<'a> {
        r.clear();
        r.resize(size, 0.0);
        let residual = natural_residual(problem, r);
        Best { r, residual }
    }

    /// Takes a try. Where it is not even a number, the next one starts from zero.
    fn take(&mut self, problem: &MixedProblem<f64>, r: &mut [f64]) -> f64 {
        let residual = natural_residual(problem, r);
        if residual < self.residual {
            self.residual = residual;
            self.r.copy_from_slice(r);
        } else if !residual.is_finite() {
            r.fill(0.0);
        }
        residual
    }

    /// Writes the best try where `r` is none as good.
    fn give(&self, problem: &MixedProblem<f64>, r: &mut [f64]) {
        if self.residual < natural_residual(problem, r) {
            r.copy_from_slice(self.r);
        }
    }
}

fn report(
    problem: &MixedProblem<f64>,
    r: &[f64],
    solver: &'static str,
    iterations: u32,
    settings: &SolverSettings,
) -> Report {
    let at_limit = iterations >= settings.max_iterations;
    Report::judged(solver, iterations, natural_residual(problem, r), at_limit, settings)
}

/// Newton from the guess. The error holds the iterations made in vain; `r` is zero then.
fn newton_from_guess(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    scratch: &mut MixedScratch,
) -> Result<u32, u32> {
    if !has_good_guess(problem, r, &mut scratch.best) {
        return Err(0);
    }
    let iterations = newton(problem, r, TOLERANCES.newton_steps.min(settings.max_iterations), scratch);
    let unique = iterations == 0 || scratch.regular;
    if unique && natural_residual(problem, r) <= settings.tolerance {
        return Ok(iterations);
    }
    r.fill(0.0);
    Err(iterations)
}

/// Sweeps and Newton, the linear problem, then sweeps and Newton in turns until solved or at the limit; returns who found
/// the answer, and the iterations.
fn take_turns(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    (scratch, linear): (&mut MixedScratch, &mut LinearScratch),
    best: &mut Best<'_>,
) -> (&'static str, u32) {
    let limit = settings.max_iterations;
    let mut sweeps = FIRST_SWEEPS;
    let mut iterations = 0;
    loop {
        let more = sweeps.min(limit - iterations);
        sweep(problem, r, more);
        iterations += more;
        iterations += newton(problem, r, TOLERANCES.newton_steps.min(limit - iterations), scratch);
        if best.take(problem, r) <= settings.tolerance || iterations >= limit {
            return ("mixed", iterations);
        }
        if sweeps == FIRST_SWEEPS && linear::applies(&problem.contacts, &problem.friction) {
            let left = SolverSettings { max_iterations: limit - iterations, ..settings.clone() };
            let report = solve_linear(problem, r, &left, &mut scratch.answer, linear);
            iterations += report.iterations;
            if iterations >= limit || report.status == Status::Solved {
                return (report.solver, iterations);
            }
        }
        sweeps *= 4;
    }
}

/// Solves the linear problem from zero; `r` receives the answer where it is within tolerance.
fn solve_linear(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    answer: &mut Vec<f64>,
    scratch: &mut LinearScratch,
) -> Report {
    answer.clear();
    answer.resize(r.len(), 0.0);
    let residual = |r: &[f64]| natural_residual(problem, r);
    let MixedProblem { contacts, friction } = problem;
    let report = linear::solve(contacts, friction, answer, LcpSolver::Auto, residual, settings, scratch);
    if report.status == Status::Solved {
        r.copy_from_slice(answer);
    }
    report
}

/// A few sweeps to start from, then Newton alone; returns the iterations.
fn newton_from_zero(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    scratch: &mut MixedScratch,
    best: &mut Best<'_>,
) -> u32 {
    let limit = settings.max_iterations;
    let sweeps = FIRST_SWEEPS.min(limit);
    sweep(problem, r, sweeps);
    best.take(problem, r);
    sweeps + newton(problem, r, limit - sweeps, scratch)
}

/// Sweeps alone until solved or at the limit; returns how many.
fn sweep_until_solved(
    problem: &MixedProblem<f64>,
    r: &mut [f64],
    settings: &SolverSettings,
    best: &mut Best<'_>,
) -> u32 {
    let mut sweeps = 0;
    while best.take(problem, r) > settings.tolerance && sweeps < settings.max_iterations {
        let more = TOLERANCES.sweeps_between_residuals.min(settings.max_iterations - sweeps);
        sweep(problem, r, more);
        sweeps += more;
    }
    sweeps
}

/// Whether the guess is better than zero, by which it is replaced otherwise.
fn has_good_guess(problem: &MixedProblem<f64>, r: &mut [f64], zero: &mut Vec<f64>) -> bool {
    if r.iter().all(|&r| r == 0.0) {
        return false;
    }
    zero.clear();
    zero.resize(r.len(), 0.0);
    let good = natural_residual(problem, r) <= natural_residual(problem, zero);
    if !good {
        r.fill(0.0);
    }
    good
}

fn sweep(problem: &MixedProblem<f64>, r: &mut [f64], sweeps: u32) {
    for _ in 0..sweeps {
        for (contact, friction) in problem.friction.iter().enumerate() {
            let at = 3 * contact;
            let block = problem.contacts.w.diagonal(contact);
            let u = problem.contacts.velocity(contact, r);
            let normal_step = 1.0 / block[0][0].max(f64::MIN_POSITIVE);
            r[at] = (r[at] - normal_step * u[0]).max(0.0);
            let u = problem.contacts.velocity(contact, r);
            // The largest eigenvalue of the tangential block is at most its trace.
            let tangential_step = 1.0 / (block[1][1] + block[2][2]).max(f64::MIN_POSITIVE);
            let target = [r[at + 1] - tangential_step * u[1], r[at + 2] - tangential_step * u[2]];
            let tangential = friction.project(problem.contacts.mu[contact], r[at], target);
            r[at + 1] = tangential[0];
            r[at + 2] = tangential[1];
        }
    }
}

fn newton(problem: &MixedProblem<f64>, r: &mut [f64], limit: u32, scratch: &mut MixedScratch) -> u32 {
    let MixedScratch { best, function, matrix, regular, .. } = scratch;
    best.clear();
    best.extend_from_slice(r);
    let mut best_residual = natural_residual(problem, r);
    let (mut iteration, mut last_better) = (0, 0);
    while iteration < limit
        && best_residual > TOLERANCES.last_bits
        && iteration - last_better < TOLERANCES.patience
    {
        iteration += 1;
        function.clear();
        function.extend((0..problem.friction.len()).flat_map(|contact| phi(problem, r, contact)));
        jacobian(problem, r, matrix);
        *regular = matrix.solve_singular(function);
        for (r, step) in r.iter_mut().zip(function.iter()) {
            *r -= step;
        }
        let residual = natural_residual(problem, r);
        if residual < best_residual {
            best_residual = residual;
            last_better = iteration;
            best.copy_from_slice(r);
        }
    }
    r.copy_from_slice(best);
    iteration
}

/// `Proj(y)` of one contact.
fn project<S: Scalar>(friction: &Friction<S>, mu: S, y: [S; 3]) -> [S; 3] {
    if y[0].value() <= 0.0 && !matches!(friction, Friction::Bounded { .. }) {
        return [S::zero(); 3];
    }
    let normal = if y[0].value() > 0.0 { y[0] } else { S::zero() };
    let [first, second] = friction.project(mu, normal, [y[1], y[2]]);
    [normal, first, second]
}

/// `Phi = r - Proj(r - u)` of one contact.
fn phi<S: Scalar>(problem: &MixedProblem<S>, r: &[S], contact: usize) -> [S; 3] {
    let here: [S; 3] = std::array::from_fn(|k| r[3 * contact + k]);
    let u = problem.contacts.velocity(contact, r);
    let y = std::array::from_fn(|k| here[k] - u[k]);
    let target = project(&problem.friction[contact], problem.contacts.mu[contact], y);
    std::array::from_fn(|k| here[k] - target[k])
}

/// A generalised Jacobian of `Phi`: `1 - P' (1 - W)`, with the derivative `P'` of each projection by dual numbers.
fn jacobian(problem: &MixedProblem<f64>, r: &[f64], matrix: &mut Matrix) {
    matrix.reset(3 * problem.friction.len());
    for (contact, friction) in problem.friction.iter().enumerate() {
        let at = 3 * contact;
        let u = problem.contacts.velocity(contact, r);
        let slope = slope(friction, problem.contacts.mu[contact], std::array::from_fn(|k| r[at + k] - u[k]));
        for row in 0..3 {
            let entries = matrix.row_mut(at + row);
            entries[at + row] += 1.0;
            for column in 0..3 {
                entries[at + column] -= slope[row][column];
            }
            for (other, block) in problem.contacts.w.row(contact) {
                for column in 0..3 {
                    let change: f64 = (0..3).map(|k| slope[row][k] * block[k][column]).sum();
                    entries[3 * other + column] += change;
                }
            }
        }
    }
}

/// Derivative of the projection at `y`, rows by results.
fn slope(friction: &Friction<f64>, mu: f64, y: [f64; 3]) -> [[f64; 3]; 3] {
    let lifted = friction.map(Dual::from);
    let columns: [[f64; 3]; 3] = std::array::from_fn(|column| {
        let seeded = std::array::from_fn(|k| Dual { value: y[k], tangent: f64::from(u8::from(k == column)) });
        project(&lifted, Dual::from(mu), seeded).map(|result| result.tangent)
    });
    std::array::from_fn(|row| columns.map(|column| column[row]))
}

/// Solves a mixed problem with tangents: the answer to the values, and its derivative on the active set found.
pub fn solve_with_changes<S: Solvable>(
    problem: &MixedProblem<S>,
    r: &mut [S],
    start: Start,
    settings: &SolverSettings,
    scratch: &mut SolverScratch,
) -> Report {
    if problem.friction.iter().all(|friction| *friction == Friction::Cone) {
        return super::solve_with_changes(&problem.contacts, r, start, settings, scratch);
    }
    let mut values = std::mem::take(&mut scratch.mixed.values);
    let mut impulses = std::mem::take(&mut scratch.mixed.impulses);
    problem.copy_values(&mut values);
    impulses.clear();
    impulses.extend(r.iter().map(|r| r.value()));
    let report = solve(&values, &mut impulses, start, settings, scratch);
    for (r, &value) in r.iter_mut().zip(&impulses) {
        *r = S::from(value);
    }
    // Phi stays zero: J dr = -dPhi.
    let mut changes: Vec<S> =
        (0..problem.friction.len()).flat_map(|contact| phi(problem, r, contact)).map(S::change).collect();
    let matrix = &mut scratch.mixed.matrix;
    jacobian(&values, &impulses, matrix);
    S::solve_changes(matrix, &mut changes);
    for (r, change) in r.iter_mut().zip(changes) {
        *r -= change;
    }
    scratch.mixed.values = values;
    scratch.mixed.impulses = impulses;
    report
}
