//! Boxed problems of three rows, those of one contact with bounded friction: guess which rows are free, solve by
//! Cramer's rule, exchange all rows that disagree. Without a guess, one sweep of projected Gauss-Seidel makes it.

use super::complementarity::{LcpSettings, largest};
use super::report::{Report, Status};
use super::tiny::Cramer;
use crate::engine::problem::complementarity::Complementarity;

/// Exchanges after which the rows are left to a solver that ends.
const EXCHANGES: u32 = 6;
/// Part of the largest `q` below which a disagreement is round-off.
const ROUND_OFF: f64 = 1e-13;

/// Which rows are free, a bit each, and at which bounds the others are.
#[derive(Clone, Copy)]
struct Places {
    free: u32,
    bounds: [f64; 3],
}

/// Solves the problem; none where the exchanges do not end or the answer is not within tolerance. Of the guess, only
/// who is at a bound counts.
pub fn solve<P: Complementarity>(problem: &P, z: &mut [f64], settings: &LcpSettings) -> Option<Report> {
    let m = problem.m().as_chunks::<3>().0.first_chunk::<3>()?;
    let q: &[f64; 3] = problem.q().first_chunk()?;
    let z: &mut [f64; 3] = z.first_chunk_mut()?;
    let lower = [problem.lower(0), problem.lower(1), problem.lower(2)];
    let upper = [problem.upper(0), problem.upper(1), problem.upper(2)];
    let mut places = if z[0] != 0.0 || z[1] != 0.0 || z[2] != 0.0 {
        places_of_guess(z, &lower, &upper)
    } else {
        places_of_sweep(m, q, &lower, &upper)
    };
    let tolerance = ROUND_OFF * largest(q);
    for exchange in 1..=EXCHANGES.min(settings.max_iterations) {
        let answer = solve_free(m, q, &places)?;
        let last = places;
        for row in 0..3 {
            let w = q[row] + (m[row][0] * answer[0] + m[row][1] * answer[1] + m[row][2] * answer[2]);
            let (bit, z) = (1 << row, answer[row]);
            if last.free & bit == 0 {
                let leaves = (w < -tolerance && z < upper[row]) || (w > tolerance && z > lower[row]);
                places.free |= if leaves { bit } else { 0 };
            } else if z < lower[row] || z > upper[row] {
                places.free &= !bit;
                places.bounds[row] = if z < lower[row] { lower[row] } else { upper[row] };
            }
        }
        if places.free == last.free {
            let residual = problem.natural_residual_of(&answer);
            return (residual <= settings.tolerance).then(|| {
                *z = answer;
                Report { solver: "cramer", status: Status::Solved, iterations: exchange, residual }
            });
        }
    }
    None
}

#[inline(always)]
fn places_of_guess(z: &[f64; 3], lower: &[f64; 3], upper: &[f64; 3]) -> Places {
    let mut places = Places { free: 0, bounds: [0.0; 3] };
    for row in 0..3 {
        if z[row] <= lower[row] {
            places.bounds[row] = lower[row];
        } else if z[row] >= upper[row] {
            places.bounds[row] = upper[row];
        } else {
            places.free |= 1 << row;
        }
    }
    places
}

/// Where one sweep of projected Gauss-Seidel leaves the rows.
#[inline(always)]
fn places_of_sweep(m: &[[f64; 3]; 3], q: &[f64; 3], lower: &[f64; 3], upper: &[f64; 3]) -> Places {
    let mut places = Places { free: 0, bounds: [0.0; 3] };
    let mut z = [0.0; 3];
    for row in 0..3 {
        let w = (0..row).fold(q[row], |w, before| w + m[row][before] * z[before]);
        let pivot = m[row][row];
        // Without a division where the row ends at a bound.
        z[row] = if -w < lower[row] * pivot {
            lower[row]
        } else if -w > upper[row] * pivot {
            upper[row]
        } else {
            places.free |= 1 << row;
            -w / pivot
        };
        places.bounds[row] = z[row];
    }
    places
}

/// Solves `w = 0` for the free rows, the others at their bounds.
#[inline(always)]
fn solve_free(m: &[[f64; 3]; 3], q: &[f64; 3], places: &Places) -> Option<[f64; 3]> {
    let mut z = places.bounds;
    let two = |a: usize, b: usize, held: usize| {
        let right = [a, b].map(|row| -q[row] - m[row][held] * z[held]);
        [[m[a][a], m[a][b]], [m[b][a], m[b][b]]].solve(&right)
    };
    let one = |row: usize, a: usize, b: usize| {
        let right = -q[row] - m[row][a] * z[a] - m[row][b] * z[b];
        (m[row][row] > 0.0).then(|| right / m[row][row])
    };
    match places.free {
        0b000 => {}
        0b001 => z[0] = one(0, 1, 2)?,
        0b010 => z[1] = one(1, 0, 2)?,
        0b100 => z[2] = one(2, 0, 1)?,
        0b011 => [z[0], z[1]] = two(0, 1, 2)?,
        0b101 => [z[0], z[2]] = two(0, 2, 1)?,
        0b110 => [z[1], z[2]] = two(1, 2, 0)?,
        _ => z = m.solve(&q.map(|q| -q))?,
    }
    Some(z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::boxed::BoxedProblem;

    fn solved(q: [f64; 3], guess: [f64; 3]) -> ([f64; 3], Report) {
        let m = vec![1.5, -0.1, -0.5, -0.1, 1.1, -0.4, -0.5, -0.4, 1.2];
        let problem = BoxedProblem::new(m, q.to_vec(), vec![0.0, -0.1, -0.1], vec![1e6, 0.1, 0.1]).unwrap();
        let mut z = guess;
        let report = solve(&problem, &mut z, &LcpSettings::default()).unwrap();
        (z, report)
    }

    #[test]
    fn sliding_sticking_and_leaving_are_exact() {
        let (sliding, report) = solved([-0.2, 2.3, -0.4], [0.0; 3]);
        assert_eq!((sliding[1], sliding[2]), (-0.1, 0.1));
        assert!(report.residual < 1e-15 && sliding[0] > 0.0);
        let (sticking, report) = solved([-0.2, 0.05, 0.03], [0.0; 3]);
        assert!(report.residual < 1e-15 && sticking[1].abs() < 0.1 && sticking[2].abs() < 0.1);
        assert_eq!(solved([3.0, 0.0, 0.0], [0.0; 3]).0[0], 0.0);
    }

    #[test]
    fn the_guess_does_not_change_the_answer() {
        let (cold, _) = solved([-0.2, 2.3, -0.4], [0.0; 3]);
        let (warm, report) = solved([-0.2, 2.3, -0.4], cold);
        assert_eq!((warm, report.iterations), (cold, 1));
        assert_eq!(solved([-0.2, 2.3, -0.4], [0.0, 0.1, -0.1]).0, cold);
    }

    #[test]
    fn a_singular_matrix_is_left_to_others() {
        let problem = BoxedProblem::new(vec![1.0; 9], vec![-1.0; 3], vec![0.0; 3], vec![1.0; 3]).unwrap();
        assert_eq!(solve(&problem, &mut [0.0; 3], &LcpSettings::default()), None);
    }
}
