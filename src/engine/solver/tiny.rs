//! LCPs of two to four rows. One pass over the rows decides who is free; where that is not the answer, by Cramer's
//! rule: guess the free rows, solve, exchange all rows that disagree; where that fails, try every combination of free
//! rows.

use super::complementarity::{LcpSettings, Stop, judge, largest};
use super::report::{Report, Status};
use crate::engine::problem::complementarity::Complementarity;

const SOLVER: &str = "cramer";
/// Exchanges before all combinations are tried.
const EXCHANGES: u32 = 4;
/// Part of its terms below which a determinant counts as zero.
const SINGULAR: f64 = 1e-11;
/// Part of the largest `q` below which a disagreement is round-off; also the residual below which nobody disagrees.
const ROUND_OFF: f64 = 1e-13;

/// Solves an LCP of `N` rows, two to four; of the guess, only who is free counts.
#[inline]
pub fn solve<const N: usize, P: Complementarity>(problem: &P, z: &mut [f64], settings: &LcpSettings) -> Report
where
    [[f64; N]; N]: Cramer<N>,
{
    #[cfg(target_arch = "x86_64")]
    if N == 4 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { solve_wide::<N, P>(problem, z, settings) };
    }
    solve_here(problem, z, settings, exchange::<N, P>)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn solve_wide<const N: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
) -> Report
where
    [[f64; N]; N]: Cramer<N>,
{
    #[target_feature(enable = "avx2")]
    fn exchange_wide<const N: usize, P: Complementarity>(start: Start<N, P>) -> Report
    where
        [[f64; N]; N]: Cramer<N>,
    {
        exchange(start)
    }
    solve_here(problem, z, settings, |start: Start<N, P>| exchange_wide(start))
}

/// What exchanges start from.
struct Start<'a, const N: usize, P> {
    problem: &'a P,
    m: &'a [[f64; N]; N],
    q: &'a [f64; N],
    z: &'a mut [f64; N],
    settings: &'a LcpSettings,
}

#[inline(always)]
fn solve_here<const N: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
    exchange: impl FnOnce(Start<N, P>) -> Report,
) -> Report
where
    [[f64; N]; N]: Cramer<N>,
{
    let (Some(m), Some(q), Some(z)) =
        (problem.m().as_chunks::<N>().0.first_chunk::<N>(), problem.q().first_chunk(), z.first_chunk_mut())
    else {
        return judge(problem, z, SOLVER, Stop { status: Status::NotApplicable, iterations: 0 }, 0.0);
    };
    // Three rows take longer to judge than to solve by Cramer's rule.
    if N != 3
        && let Some(report) = in_turn(problem, m, q, z, settings)
    {
        return report;
    }
    exchange(Start { problem, m, q, z, settings })
}

/// Solves an LCP of `N` rows, a few, in one pass, if that gives the answer; the guess must be zero.
pub fn solve_in_turn<const N: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
) -> Option<Report> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { solve_in_turn_wide::<N, P>(problem, z, settings) };
    }
    solve_in_turn_here::<N, P>(problem, z, settings)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn solve_in_turn_wide<const N: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
) -> Option<Report> {
    solve_in_turn_here::<N, P>(problem, z, settings)
}

#[inline(always)]
fn solve_in_turn_here<const N: usize, P: Complementarity>(
    problem: &P,
    z: &mut [f64],
    settings: &LcpSettings,
) -> Option<Report> {
    let m = problem.m().as_chunks::<N>().0.first_chunk::<N>()?;
    in_turn(problem, m, problem.q().first_chunk()?, z.first_chunk_mut()?, settings)
}

#[inline(always)]
fn in_turn<const N: usize, P: Complementarity>(
    problem: &P,
    m: &[[f64; N]; N],
    q: &[f64; N],
    z: &mut [f64; N],
    settings: &LcpSettings,
) -> Option<Report> {
    if settings.max_iterations == 0 || z.iter().any(|&z| z > 0.0) {
        return None;
    }
    let answer = decide_in_turn(m, q);
    let residual = problem.natural_residual_of(&answer);
    // A residual that is round-off tells that nobody disagrees.
    let solved = residual <= ROUND_OFF && residual <= settings.tolerance;
    solved.then(|| {
        *z = answer;
        Report { solver: "elimination", status: Status::Solved, iterations: 1, residual }
    })
}

/// One pass over the rows: who moves into the bound, given the rows before, is free and eliminated from those after.
#[inline(always)]
fn decide_in_turn<const N: usize>(m: &[[f64; N]; N], q: &[f64; N]) -> [f64; N] {
    let (mut rows, mut w) = (*m, *q);
    // Of the pivots; zero for rows that are not free, which then change nothing.
    let mut inverse = [0.0; N];
    for row in 0..N {
        let pivot = rows[row][row];
        let free = w[row] < 0.0 && pivot > SINGULAR * m[row][row];
        inverse[row] = if free { 1.0 / pivot } else { 0.0 };
        let pivot_row = rows[row];
        for below in row + 1..N {
            let factor = rows[below][row] * inverse[row];
            w[below] -= factor * w[row];
            for column in 0..N {
                rows[below][column] -= factor * pivot_row[column];
            }
        }
    }
    let mut z = [0.0; N];
    for row in (0..N).rev() {
        let mut left = w[row];
        for column in row + 1..N {
            left += rows[row][column] * z[column];
        }
        z[row] = -left * inverse[row];
    }
    z
}

/// In hyperstatic contact, the last free row depends on the others and can do without.
#[inline(always)]
fn without_last(free: u32) -> u32 {
    free & !(1 << (31 - free.leading_zeros()))
}

#[inline(always)]
fn exchange<const N: usize, P: Complementarity>(start: Start<N, P>) -> Report
where
    [[f64; N]; N]: Cramer<N>,
{
    let Start { problem, m, q, z, settings } = start;
    let mut free = guess(q, z);
    // Combinations that need not be tried again, a bit each.
    let mut tried = hopeless(m);
    let mut iterations = 0;
    let tolerance = ROUND_OFF * largest(q);
    let accept = |z: &mut [f64; N], answer: [f64; N], iterations: u32| {
        *z = answer;
        let residual = problem.natural_residual_of(&answer);
        let status = if residual <= settings.tolerance { Status::Solved } else { Status::Inaccurate };
        Report { solver: SOLVER, status, iterations, residual }
    };
    while iterations < EXCHANGES.min(settings.max_iterations) && tried >> free & 1 == 0 {
        iterations += 1;
        tried |= 1 << free;
        if let Some(answer) = solve_free(m, q, free) {
            let wrong = disagreeing(m, q, &answer, free, tolerance);
            if wrong == 0 {
                return accept(z, answer, iterations);
            }
            free ^= wrong;
        } else {
            free = without_last(free);
            if free == 0 {
                break;
            }
        }
    }
    for free in 1..1 << N {
        if iterations >= settings.max_iterations {
            break;
        }
        if tried >> free & 1 == 1 {
            continue;
        }
        iterations += 1;
        if let Some(answer) = solve_free(m, q, free)
            && disagreeing(m, q, &answer, free, tolerance) == 0
        {
            return accept(z, answer, iterations);
        }
    }
    let limit = iterations >= settings.max_iterations;
    let status = if limit { Status::IterationLimit } else { Status::NumericalError };
    judge(problem, z, SOLVER, Stop { status, iterations }, settings.tolerance)
}

/// Combinations of one free row that cannot be solved, a bit each.
#[inline(always)]
fn hopeless<const N: usize>(m: &[[f64; N]; N]) -> u32 {
    (0..N).fold(0, |found, row| found | u32::from(m[row][row] == 0.0) << (1 << row))
}

/// Who has an impulse in the guess, a bit each; those that move into the bound where nobody has.
#[inline(always)]
fn guess<const N: usize>(q: &[f64; N], z: &[f64; N]) -> u32 {
    let (mut approaching, mut guessed) = (0, 0);
    for row in 0..N {
        approaching |= u32::from(q[row] < 0.0) << row;
        guessed |= u32::from(z[row] > 0.0) << row;
    }
    if guessed == 0 { approaching } else { guessed }
}

/// Rows that belong elsewhere, a bit each.
#[inline(always)]
fn disagreeing<const N: usize>(
    m: &[[f64; N]; N],
    q: &[f64; N],
    z: &[f64; N],
    free: u32,
    tolerance: f64,
) -> u32 {
    let mut wrong = 0;
    for row in 0..N {
        let disagrees = if free >> row & 1 == 1 {
            z[row] < 0.0
        } else {
            (0..N).fold(q[row], |w, column| w + m[row][column] * z[column]) < -tolerance
        };
        wrong |= u32::from(disagrees) << row;
    }
    wrong
}

/// Solves `w = 0` for the free rows and `z = 0` for the others.
#[inline(always)]
fn solve_free<const N: usize>(m: &[[f64; N]; N], q: &[f64; N], free: u32) -> Option<[f64; N]>
where
    [[f64; N]; N]: Cramer<N>,
{
    let mut matrix = *m;
    let mut right = [0.0; N];
    for row in 0..N {
        if free >> row & 1 == 1 {
            right[row] = -q[row];
        } else {
            matrix[row] = [0.0; N];
            matrix[row][row] = 1.0;
        }
    }
    matrix.solve(&right)
}

/// A matrix whose inverse has a short formula.
pub trait Cramer<const N: usize> {
    /// Solves for one right side; none where the determinant vanishes.
    fn solve(&self, right: &[f64; N]) -> Option<[f64; N]>;
}

/// `1 / determinant`, none where the sum of the terms cancels.
#[inline(always)]
fn inverse_of_sum<const N: usize>(terms: [f64; N]) -> Option<f64> {
    let (mut sum, mut size) = (0.0, 0.0);
    for term in terms {
        sum += term;
        size += term.abs();
    }
    (sum.abs() > SINGULAR * size).then(|| 1.0 / sum)
}

impl Cramer<2> for [[f64; 2]; 2] {
    #[inline(always)]
    fn solve(&self, r: &[f64; 2]) -> Option<[f64; 2]> {
        let [[a, b], [c, d]] = *self;
        let inverse = inverse_of_sum([a * d, -b * c])?;
        Some([(r[0] * d - b * r[1]) * inverse, (a * r[1] - r[0] * c) * inverse])
    }
}

impl Cramer<3> for [[f64; 3]; 3] {
    #[inline(always)]
    fn solve(&self, r: &[f64; 3]) -> Option<[f64; 3]> {
        let column = |j: usize| [self[0][j], self[1][j], self[2][j]];
        let (a, b, c) = (column(0), column(1), column(2));
        let bc = cross(b, c);
        let inverse = inverse_of_sum([a[0] * bc[0], a[1] * bc[1], a[2] * bc[2]])?;
        let (ca, ab) = (cross(c, a), cross(a, b));
        let dot = |x: [f64; 3]| x[0] * r[0] + x[1] * r[1] + x[2] * r[2];
        Some([dot(bc) * inverse, dot(ca) * inverse, dot(ab) * inverse])
    }
}

#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

impl Cramer<4> for [[f64; 4]; 4] {
    /// By the 2 x 2 minors of the upper and of the lower two rows.
    #[inline(always)]
    fn solve(&self, r: &[f64; 4]) -> Option<[f64; 4]> {
        let [a, b, c, d] = *self;
        let minor = |x: &[f64; 4], y: &[f64; 4], i: usize, j: usize| x[i] * y[j] - y[i] * x[j];
        let (s01, s02, s03) = (minor(&a, &b, 0, 1), minor(&a, &b, 0, 2), minor(&a, &b, 0, 3));
        let (s12, s13, s23) = (minor(&a, &b, 1, 2), minor(&a, &b, 1, 3), minor(&a, &b, 2, 3));
        let (t01, t02, t03) = (minor(&c, &d, 0, 1), minor(&c, &d, 0, 2), minor(&c, &d, 0, 3));
        let (t12, t13, t23) = (minor(&c, &d, 1, 2), minor(&c, &d, 1, 3), minor(&c, &d, 2, 3));
        let inverse = inverse_of_sum([s01 * t23, -s02 * t13, s03 * t12, s12 * t03, -s13 * t02, s23 * t01])?;
        // Right side times the minors: first of the upper rows, then of the lower.
        let (mut u, mut v) = ([0.0; 4], [0.0; 4]);
        for j in 0..4 {
            u[j] = r[0] * b[j] - r[1] * a[j];
            v[j] = r[2] * d[j] - r[3] * c[j];
        }
        Some([
            (u[1] * t23 - u[2] * t13 + u[3] * t12 + v[1] * s23 - v[2] * s13 + v[3] * s12) * inverse,
            (-u[0] * t23 + u[2] * t03 - u[3] * t02 - v[0] * s23 + v[2] * s03 - v[3] * s02) * inverse,
            (u[0] * t13 - u[1] * t03 + u[3] * t01 + v[0] * s13 - v[1] * s03 + v[3] * s01) * inverse,
            (-u[0] * t12 + u[1] * t02 - u[2] * t01 - v[0] * s12 + v[1] * s02 - v[2] * s01) * inverse,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::lcp::LcpProblem;

    #[test]
    fn cramer_solves_regular_systems() {
        let four =
            [[4.0, 1.0, -2.0, 0.5], [0.0, 3.0, 1.0, -1.0], [2.0, -1.0, 5.0, 0.25], [1.0, 1.0, 0.0, -2.0]];
        let exact = [1.0, -2.0, 3.0, 0.5];
        let right = four.map(|row| row.iter().zip(exact).map(|(m, x)| m * x).sum());
        for (x, exact) in four.solve(&right).unwrap().iter().zip(exact) {
            assert!((x - exact).abs() < 1e-14);
        }
        let three = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]];
        let right = three.map(|row| row[0] - 2.0 * row[1] + 3.0 * row[2]);
        for (x, exact) in three.solve(&right).unwrap().iter().zip([1.0, -2.0, 3.0]) {
            assert!((x - exact).abs() < 1e-14);
        }
        assert_eq!([[2.0, 1.0], [4.0, 2.0]].solve(&[1.0, 1.0]), None);
    }

    #[test]
    fn a_game_that_stops_lemke_is_solved() {
        let m = vec![
            0.0, 0.0, 1.0, 2.0, //
            0.0, 0.0, 3.0, 1.0, //
            2.0, 5.0, 0.0, 0.0, //
            4.0, 1.0, 0.0, 0.0,
        ];
        let problem = LcpProblem::new(m, vec![-1.0; 4]).unwrap();
        let report = solve::<4, _>(&problem, &mut [0.0; 4], &LcpSettings::default());
        assert!(report.status == Status::Solved && report.residual < 1e-15);
    }

    #[test]
    fn no_success_without_an_answer() {
        let problem = LcpProblem::new(vec![0.0, 0.0, 0.0, 1.0], vec![-1.0, -1.0]).unwrap();
        let report = solve::<2, _>(&problem, &mut [0.0; 2], &LcpSettings::default());
        assert_eq!(report.status, Status::NumericalError);
    }
}
