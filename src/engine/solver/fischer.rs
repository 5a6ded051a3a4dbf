//! Damped Newton on the Fischer-Burmeister function, from several starts.
//!
//! `phi(a, b) = sqrt(a^2 + b^2) - a - b` is zero where `0 <= a _|_ b >= 0`. With a lower bound
//! `Phi = phi(z - lower, w)`, with an upper `Phi = -phi(upper - z, -w)`, with both
//! `Phi = phi(z - lower, phi(upper - z, -w))`, with none `Phi = w`. A step that the merit `|Phi|^2 / 2` refuses is
//! shortened; where Newton's direction does not descend, the gradient's is taken. [Fischer 1992; Billups 1995]

use super::complementarity::{LcpSettings, Stop, add_scaled, clamp, largest, velocity};
use super::dense::Matrix;
use super::report::Status;
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::scalar::elementary::hypot;
use crate::engine::tolerances::TOLERANCES;

/// Iterations from one start: damped steps take several times as many as those that converge from near.
const ITERATIONS: u32 = 5 * TOLERANCES.newton_steps;
/// Merit relative to `|q|^2` below which only round-off is left.
const ROUND_OFF: f64 = TOLERANCES.last_bits * TOLERANCES.last_bits;

/// Memory of the solver.
#[derive(Debug, Default)]
pub struct Scratch {
    matrix: Matrix,
    phi: Vec<f64>,
    step: Vec<f64>,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
    start: Vec<f64>,
}

/// Solves the problem from the guess in `z`, then from other starts.
pub fn run(problem: &BoxedProblem, z: &mut [f64], settings: &LcpSettings, scratch: &mut Scratch) -> Stop {
    let size = problem.size();
    if size > TOLERANCES.restarted_rows {
        return Stop { status: Status::NotApplicable, iterations: 0 };
    }
    let mut best_residual = f64::INFINITY;
    let mut iterations = 0;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let diagonal = (0..size).fold(0.0_f64, |sum, row| sum.max(problem.row(row)[row].abs()));
    let entries = if diagonal > 0.0 { diagonal } else { largest(&problem.m).max(f64::MIN_POSITIVE) };
    let spread = largest(&problem.q).max(f64::MIN_POSITIVE) / entries;
    scratch.best.clear();
    scratch.best.extend_from_slice(z);
    // The guess, zero, and then points spread by a fixed sequence.
    for start in 0..TOLERANCES.restarts {
        scratch.start.clear();
        match start {
            0 => scratch.start.extend_from_slice(z),
            1 => scratch.start.extend((0..size).map(|row| clamp(problem, row, 0.0))),
            _ => {
                let reach = spread * f64::from(start);
                scratch.start.extend((0..size).map(|row| {
                    let middle = clamp(problem, row, 0.0);
                    let sign =
                        if problem.lower[row] < middle { 2.0 * random.next() - 1.0 } else { random.next() };
                    clamp(problem, row, middle + reach * sign)
                }));
            }
        }
        let limit = ITERATIONS.min(settings.max_iterations - iterations);
        iterations += descend(problem, limit, scratch);
        for (row, z) in scratch.start.iter_mut().enumerate() {
            *z = clamp(problem, row, *z);
        }
        let residual = problem.natural_residual(&scratch.start);
        if residual < best_residual {
            best_residual = residual;
            scratch.best.copy_from_slice(&scratch.start);
        }
        if best_residual <= settings.tolerance || iterations >= settings.max_iterations {
            break;
        }
    }
    z.copy_from_slice(&scratch.best);
    let limited = iterations >= settings.max_iterations;
    Stop { status: if limited { Status::IterationLimit } else { Status::Solved }, iterations }
}

/// Newton from `scratch.start`; the answer is left there. Returns the iterations made.
fn descend(problem: &BoxedProblem, limit: u32, scratch: &mut Scratch) -> u32 {
    let size = problem.size();
    let Scratch { matrix, phi, step, gradient, trial, start: z, .. } = scratch;
    for vector in [&mut *phi, &mut *step, &mut *gradient, &mut *trial] {
        vector.clear();
        vector.resize(size, 0.0);
    }
    let scale = problem.q.iter().map(|q| q * q).sum::<f64>();
    let goal = ROUND_OFF * if scale > 0.0 { scale } else { 1.0 };
    let mut merit = linearise(problem, z, phi, matrix);
    for iteration in 0..limit {
        if merit <= goal || merit.is_nan() {
            return iteration;
        }
        gradient.fill(0.0);
        for (row, &phi) in phi.iter().enumerate() {
            add_scaled(gradient, phi, matrix.row_mut(row));
        }
        for (step, phi) in step.iter_mut().zip(&*phi) {
            *step = -phi;
        }
        let regular = matrix.factor();
        if regular {
            matrix.substitute(step);
        }
        let mut slope: f64 = gradient.iter().zip(&*step).map(|(g, s)| g * s).sum();
        let descends = slope < 0.0 && slope.is_finite();
        if !regular || !descends {
            for (step, gradient) in step.iter_mut().zip(&*gradient) {
                *step = -gradient;
            }
            slope = -gradient.iter().map(|g| g * g).sum::<f64>();
            if slope >= 0.0 || slope.is_nan() {
                return iteration;
            }
        }
        let mut length = 1.0;
        let mut accepted = false;
        while length > TOLERANCES.negligible {
            for ((trial, &z), &step) in trial.iter_mut().zip(&*z).zip(&*step) {
                *trial = z + length * step;
            }
            let new = merit_of(problem, trial);
            if new <= merit + TOLERANCES.sufficient_decrease * length * slope {
                accepted = true;
                break;
            }
            length *= 0.5;
        }
        if !accepted {
            return iteration + 1;
        }
        z.copy_from_slice(trial);
        merit = linearise(problem, z, phi, matrix);
    }
    limit
}

fn merit_of(problem: &BoxedProblem, z: &[f64]) -> f64 {
    (0..z.len()).map(|row| value(problem, row, z[row], velocity(problem, row, z)).powi(2)).sum::<f64>() * 0.5
}

/// Writes `Phi` and a generalised Jacobian; returns the merit.
fn linearise(problem: &BoxedProblem, z: &[f64], phi: &mut [f64], matrix: &mut Matrix) -> f64 {
    let size = z.len();
    let mut merit = 0.0;
    matrix.reset(size);
    for row in 0..size {
        let w = velocity(problem, row, z);
        phi[row] = value(problem, row, z[row], w);
        merit += 0.5 * phi[row] * phi[row];
        let (by_z, by_w) = partials(problem, row, z[row], w);
        let target = matrix.row_mut(row);
        for (target, m) in target.iter_mut().zip(problem.row(row)) {
            *target = by_w * m;
        }
        target[row] += by_z;
    }
    merit
}

fn value(problem: &BoxedProblem, row: usize, z: f64, w: f64) -> f64 {
    let (lower, upper) = (problem.lower[row], problem.upper[row]);
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => w,
        (true, false) => fischer(z - lower, w),
        (false, true) => -fischer(upper - z, -w),
        (true, true) => fischer(z - lower, fischer(upper - z, -w)),
    }
}

/// Derivatives of `Phi` with respect to `z` and `w`.
fn partials(problem: &BoxedProblem, row: usize, z: f64, w: f64) -> (f64, f64) {
    let (lower, upper) = (problem.lower[row], problem.upper[row]);
    match (lower.is_finite(), upper.is_finite()) {
        (false, false) => (0.0, 1.0),
        (true, false) => fischer_partials(z - lower, w),
        (false, true) => fischer_partials(upper - z, -w),
        (true, true) => {
            let inner = fischer(upper - z, -w);
            let (inner_a, inner_b) = fischer_partials(upper - z, -w);
            let (a, b) = fischer_partials(z - lower, inner);
            (a - b * inner_a, -b * inner_b)
        }
    }
}

fn fischer(a: f64, b: f64) -> f64 {
    // The second form does not cancel where both are positive.
    let length = hypot(a, b);
    if a + b <= 0.0 { length - a - b } else { -2.0 * a * b / (length + a + b) }
}

fn fischer_partials(a: f64, b: f64) -> (f64, f64) {
    let length = hypot(a, b);
    if length > 0.0 {
        (a / length - 1.0, b / length - 1.0)
    } else {
        let half = std::f64::consts::FRAC_1_SQRT_2 - 1.0;
        (half, half)
    }
}

/// A fixed sequence of numbers between 0 and 1, so that every run is the same. [Marsaglia 2003]
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::complementarity::{LcpScratch, LcpSolver, solve};
    use super::super::fixtures::settings;
    use super::super::report::Report;
    use super::*;

    fn newton(problem: &BoxedProblem) -> Report {
        let mut z = vec![0.0; problem.size()];
        solve(problem, &mut z, &settings(LcpSolver::Newton), &mut LcpScratch::default())
    }

    #[test]
    fn a_game_that_stops_lemke_is_solved() {
        let m = vec![
            0.0, 0.0, 1.0, 2.0, //
            0.0, 0.0, 3.0, 1.0, //
            2.0, 5.0, 0.0, 0.0, //
            4.0, 1.0, 0.0, 0.0,
        ];
        assert_eq!(newton(&BoxedProblem::lcp(m, vec![-1.0; 4]).unwrap()).status, Status::Solved);
    }

    #[test]
    fn boxes_and_equations_are_solved() {
        let problem = BoxedProblem::new(
            vec![3.0, 1.0, 0.0, -1.0, 2.0, 0.5, 0.0, -0.5, 1.0],
            vec![-9.0, 4.0, -2.0],
            vec![-1.0, f64::NEG_INFINITY, f64::NEG_INFINITY],
            vec![1.0, f64::INFINITY, 0.5],
        )
        .unwrap();
        assert_eq!(newton(&problem).status, Status::Solved);
    }

    #[test]
    fn no_success_without_an_answer() {
        let problem = BoxedProblem::lcp(vec![0.0, 0.0, 0.0, 1.0], vec![-1.0, -1.0]).unwrap();
        assert_ne!(newton(&problem).status, Status::Solved);
    }
}
