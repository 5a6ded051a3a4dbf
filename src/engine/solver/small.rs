//! Principal pivoting on the stack for problems of up to four rows, by the least-index rule.
//!
//! `y = T x + c`, where `x` holds what is fixed of each row (`z` at a bound, or `w = 0`) and `y` the other of the
//! two. A row that disagrees is exchanged with its partner. [Murty 1974]

use super::complementarity::Stop;
use super::report::Status;
use crate::engine::problem::complementarity::Complementarity;

/// Largest size solved here.
pub const LIMIT: usize = 4;
/// Part of the largest `q` below which a disagreement is round-off.
const ROUND_OFF: f64 = 1e-14;
/// Part of its first value below which a diagonal entry counts as zero.
const SINGULAR: f64 = 1e-11;

/// Solves a problem of `N` rows; the guess is not needed.
#[inline]
pub fn run<const N: usize, P: Complementarity>(problem: &P, z: &mut [f64], max_iterations: u32) -> Stop {
    let (m, q) = (problem.m(), problem.q());
    let mut t = [[0.0; N]; N];
    let mut x = [0.0; N];
    let mut y = [0.0; N];
    let mut basic = [false; N];
    let mut largest = 0.0_f64;
    for i in 0..N {
        t[i].copy_from_slice(&m[N * i..N * (i + 1)]);
        x[i] = 0.0_f64.max(problem.lower(i)).min(problem.upper(i));
        largest = largest.max(q[i].abs());
    }
    for i in 0..N {
        y[i] = q[i];
        for j in 0..N {
            y[i] += t[i][j] * x[j];
        }
    }
    let tolerance = ROUND_OFF * largest;
    let limit = max_iterations.min(1 << (N + 1));
    let mut iterations = 0;
    let status = loop {
        // The first row that disagrees, and what its `x` becomes after the exchange.
        let mut found = None;
        for i in 0..N {
            let (lower, upper) = (problem.lower(i), problem.upper(i));
            if basic[i] {
                let slack = ROUND_OFF * y[i].abs();
                if y[i] < lower - slack {
                    found = Some((i, lower));
                    break;
                }
                if y[i] > upper + slack {
                    found = Some((i, upper));
                    break;
                }
            } else if (y[i] < -tolerance && x[i] < upper) || (y[i] > tolerance && x[i] > lower) {
                found = Some((i, 0.0));
                break;
            }
        }
        let Some((row, goal)) = found else { break Status::Solved };
        if iterations >= limit {
            break Status::IterationLimit;
        }
        iterations += 1;
        let pivot = t[row][row];
        let first = m[N * row + row].abs();
        let vanished = if basic[row] { pivot * first < SINGULAR } else { pivot <= SINGULAR * first };
        if vanished {
            break Status::NumericalError;
        }
        let inverse = 1.0 / pivot;
        let step = (goal - y[row]) * inverse;
        let (old_x, pivot_row) = (x[row], t[row]);
        for i in 0..N {
            if i == row {
                continue;
            }
            let factor = t[i][row] * inverse;
            y[i] += t[i][row] * step;
            for j in 0..N {
                t[i][j] -= factor * pivot_row[j];
            }
            t[i][row] = factor;
        }
        for j in 0..N {
            t[row][j] = -pivot_row[j] * inverse;
        }
        t[row][row] = inverse;
        y[row] = old_x + step;
        x[row] = goal;
        basic[row] = !basic[row];
    };
    for i in 0..N {
        let value = if basic[i] { y[i] } else { x[i] };
        z[i] = value.max(problem.lower(i)).min(problem.upper(i));
    }
    Stop { status, iterations }
}
