//! Enumeration: every combination of free rows and bounds, the last resort for small problems.

use super::complementarity::{LcpSettings, Stop, clamp};
use super::factor::Factor;
use super::report::Status;
use crate::engine::problem::complementarity::Complementarity;

/// Most combinations that are tried.
const COMBINATIONS: u64 = 1 << 16;

/// Memory of the solver.
#[derive(Debug, Default)]
pub struct Scratch {
    places: Vec<Place>,
    free: Vec<usize>,
    right: Vec<f64>,
    trial: Vec<f64>,
    factor: Factor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Lower,
    Upper,
    Free,
}

/// Solves the problem by trying all combinations, or refuses where there are too many.
pub fn run<P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    scratch: &mut Scratch,
) -> Stop {
    let size = problem.size();
    let choices = |row: usize| {
        1 + u64::from(problem.lower(row).is_finite()) + u64::from(problem.upper(row).is_finite())
    };
    let combinations =
        (0..size).try_fold(1_u64, |product, row| product.checked_mul(choices(row))).unwrap_or(u64::MAX);
    if combinations > COMBINATIONS {
        return Stop { status: Status::NotApplicable, iterations: 0 };
    }
    scratch.places.clear();
    scratch.places.extend((0..size).map(|row| first_place(problem, row)));
    let mut best = problem.natural_residual(z);
    let mut iterations = 0;
    loop {
        if best <= settings.tolerance {
            return Stop { status: Status::Solved, iterations };
        }
        if iterations >= settings.max_iterations {
            return Stop { status: Status::IterationLimit, iterations };
        }
        iterations += 1;
        if try_places(problem, scratch) {
            let residual = problem.natural_residual(&scratch.trial);
            if residual < best {
                best = residual;
                z.copy_from_slice(&scratch.trial);
            }
        }
        let advanced = (0..size).any(|row| match next_place(problem, row, scratch.places[row]) {
            Some(place) => {
                scratch.places[row] = place;
                true
            }
            None => {
                scratch.places[row] = first_place(problem, row);
                false
            }
        });
        if !advanced {
            return Stop { status: Status::Solved, iterations };
        }
    }
}

fn first_place<P: Complementarity>(problem: &P, row: usize) -> Place {
    if problem.lower(row).is_finite() {
        Place::Lower
    } else if problem.upper(row).is_finite() {
        Place::Upper
    } else {
        Place::Free
    }
}

fn next_place<P: Complementarity>(problem: &P, row: usize, place: Place) -> Option<Place> {
    match place {
        Place::Lower if problem.upper(row).is_finite() => Some(Place::Upper),
        Place::Lower | Place::Upper => Some(Place::Free),
        Place::Free => None,
    }
}

/// Solves the free rows of one combination into `trial`. False where they are singular.
fn try_places<P: Complementarity>(problem: &P, scratch: &mut Scratch) -> bool {
    let Scratch { places, free, right, trial, factor } = scratch;
    free.clear();
    trial.clear();
    for (row, place) in places.iter().enumerate() {
        trial.push(match place {
            Place::Lower => problem.lower(row),
            Place::Upper => problem.upper(row),
            Place::Free => 0.0,
        });
        if *place == Place::Free {
            free.push(row);
        }
    }
    if !factor.compute(problem, free, false, |_| 0.0) {
        return false;
    }
    right.clear();
    right.extend(
        free.iter().map(|&row| {
            -problem.row(row).iter().zip(&*trial).fold(problem.q()[row], |sum, (m, z)| sum + m * z)
        }),
    );
    factor.solve(right);
    for (&row, &value) in free.iter().zip(&*right) {
        trial[row] = clamp(problem, row, value);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::complementarity::{LcpScratch, LcpSolver, solve};
    use super::super::fixtures::settings;
    use super::*;
    use crate::engine::problem::boxed::BoxedProblem;
    use crate::engine::problem::lcp::LcpProblem;

    #[test]
    fn the_only_answer_is_found() {
        // Not a P-matrix; Lemke ends on a ray.
        let problem =
            BoxedProblem::new(vec![-1.0, 2.0, 2.0, -1.0], vec![-3.0, -3.0], vec![0.0, 0.0], vec![2.0, 4.0])
                .unwrap();
        let mut z = vec![0.0; 2];
        let report = solve(&problem, &mut z, &settings(LcpSolver::Enumeration), &mut LcpScratch::default());
        assert_eq!(report.status, Status::Solved, "{report:?} {z:?}");
    }

    #[test]
    fn problems_without_answer_and_large_ones_are_not_solved() {
        let scratch = &mut LcpScratch::default();
        let none = LcpProblem::new(vec![0.0], vec![-1.0]).unwrap();
        assert_eq!(
            solve(&none, &mut [0.0], &settings(LcpSolver::Enumeration), scratch).status,
            Status::Inaccurate
        );
        let mut large = LcpProblem::default();
        large.reset(40);
        large.q.fill(-1.0);
        let report = solve(&large, &mut [0.0; 40], &settings(LcpSolver::Enumeration), scratch);
        assert_eq!(report.status, Status::NotApplicable);
    }
}
