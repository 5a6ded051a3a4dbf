//! LCPs of two to four rows by Cramer's rule: guess the free rows, solve, exchange all rows that disagree; where that
//! fails, try every combination of free rows.

use super::complementarity::Stop;
use super::report::Status;
use crate::engine::problem::complementarity::Complementarity;

/// Exchanges before all combinations are tried.
const EXCHANGES: u32 = 4;
/// Part of its terms below which a determinant counts as zero.
const SINGULAR: f64 = 1e-11;
/// Part of the largest `q` below which a disagreement is round-off.
const ROUND_OFF: f64 = 1e-13;

/// Solves an LCP of `N` rows, two to four; of the guess, only who is free counts.
#[inline]
pub fn run<const N: usize, P: Complementarity>(problem: &P, z: &mut [f64], max_iterations: u32) -> Stop
where
    [[f64; N]; N]: Cramer<N>,
{
    let (Some(m), Some(q)) =
        (problem.m().as_chunks::<N>().0.first_chunk::<N>(), problem.q().first_chunk::<N>())
    else {
        return Stop { status: Status::NotApplicable, iterations: 0 };
    };
    let mut free: u32 = 0;
    let mut largest = 0.0;
    let mut guessed: u32 = 0;
    for (row, q) in q.iter().enumerate() {
        free |= u32::from(*q < 0.0) << row;
        guessed |= u32::from(z[row] > 0.0) << row;
        largest = if q.abs() > largest { q.abs() } else { largest };
    }
    if guessed != 0 {
        free = guessed;
    }
    let tolerance = ROUND_OFF * largest;
    let mut iterations = 0;
    for _ in 0..EXCHANGES.min(max_iterations) {
        iterations += 1;
        match try_free(m, q, free, tolerance) {
            Trial::Agrees(answer) => {
                z[..N].copy_from_slice(&answer);
                return Stop { status: Status::Solved, iterations };
            }
            Trial::Disagrees(rows) => free ^= rows,
            // The last free row depends on the others: in hyperstatic contact it can do without.
            Trial::Singular => {
                free &= !(1 << (31 - free.leading_zeros()));
                if free == 0 {
                    break;
                }
            }
        }
    }
    for free in 1..1 << N {
        if iterations >= max_iterations {
            return Stop { status: Status::IterationLimit, iterations };
        }
        iterations += 1;
        if let Trial::Agrees(answer) = try_free(m, q, free, tolerance) {
            z[..N].copy_from_slice(&answer);
            return Stop { status: Status::Solved, iterations };
        }
    }
    Stop { status: Status::NumericalError, iterations }
}

enum Trial<const N: usize> {
    Agrees([f64; N]),
    /// Rows that belong elsewhere, a bit each.
    Disagrees(u32),
    Singular,
}

/// Solves `w = 0` for the free rows and `z = 0` for the others.
#[inline(always)]
fn try_free<const N: usize>(m: &[[f64; N]; N], q: &[f64; N], free: u32, tolerance: f64) -> Trial<N>
where
    [[f64; N]; N]: Cramer<N>,
{
    let is_free = |row: usize| free >> row & 1 == 1;
    let mut matrix = *m;
    let mut right = [0.0; N];
    for row in 0..N {
        if is_free(row) {
            right[row] = -q[row];
        } else {
            matrix[row] = [0.0; N];
            matrix[row][row] = 1.0;
        }
    }
    let Some(z) = matrix.solve(&right) else { return Trial::Singular };
    let mut wrong = 0;
    for row in 0..N {
        let disagrees = if is_free(row) {
            z[row] < 0.0
        } else {
            let mut w = q[row];
            for column in 0..N {
                w += m[row][column] * z[column];
            }
            w < -tolerance
        };
        wrong |= u32::from(disagrees) << row;
    }
    if wrong == 0 { Trial::Agrees(z) } else { Trial::Disagrees(wrong) }
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
        let mut z = [0.0; 4];
        assert_eq!(run::<4, _>(&problem, &mut z, 100).status, Status::Solved);
        assert!(problem.natural_residual(&z) < 1e-15);
    }

    #[test]
    fn no_success_without_an_answer() {
        let problem = LcpProblem::new(vec![0.0, 0.0, 0.0, 1.0], vec![-1.0, -1.0]).unwrap();
        assert_eq!(run::<2, _>(&problem, &mut [0.0; 2], 100).status, Status::NumericalError);
    }
}
