//! Natural residuals of LCP and boxed problems, the only judge of success. No solver shares this code.
//!
//! Where `M` is singular, a `z` can be so large that the rounding of `M z` looks like an answer. Then the rounding
//! counts as residual.

use super::boxed::BoxedProblem;
use super::lcp::LcpProblem;
use crate::engine::tolerances::TOLERANCES;

/// `||z - max(0, z - (M z + q))|| / ||q||`, absolute where `q` is zero. Infinite where a number is not finite.
pub fn lcp(problem: &LcpProblem, z: &[f64]) -> f64 {
    // `z - max(0, z - w)` is the smaller of `z` and `w`, without the rounding of the differences.
    relative(&problem.m, &problem.q, z, |_, z, w| if z < w { z } else { w })
}

/// `||z - clamp(z - (M z + q), lower, upper)|| / ||q||`, absolute where `q` is zero. Infinite where a number is
/// not finite.
pub fn boxed(problem: &BoxedProblem, z: &[f64]) -> f64 {
    relative(&problem.m, &problem.q, z, |row, z, w| {
        let step = z - w;
        if step < problem.lower[row] {
            z - problem.lower[row]
        } else if step > problem.upper[row] {
            z - problem.upper[row]
        } else {
            w
        }
    })
}

fn relative(m: &[f64], q: &[f64], z: &[f64], distance: impl Fn(usize, f64, f64) -> f64) -> f64 {
    let rows = q.len();
    // The largest sum of absolute products in a row of `M z`.
    let mut products = 0.0_f64;
    for row in 0..rows {
        let sum: f64 = m[row * rows..(row + 1) * rows].iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
        products = if sum > products { sum } else { products };
    }
    let distances = (0..rows).map(|row| {
        let w = q[row] + dot(&m[row * rows..(row + 1) * rows], z);
        // Not a number where `w` is not finite, which a distance can drop.
        distance(row, z[row], w) + w * 0.0
    });
    let (residual, scale) = (norm(distances), norm(q.iter().copied()));
    let [residual, rounding] =
        [residual, f64::EPSILON * products].map(|value| if scale > 0.0 { value / scale } else { value });
    let certain = if rounding < TOLERANCES.rounding || residual > rounding { residual } else { rounding };
    if certain.is_finite() && scale.is_finite() && residual.is_finite() { certain } else { f64::INFINITY }
}

/// Scalar product in partial sums, so that one addition does not wait for the last.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a_blocks, a_rest), (b_blocks, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Length of a vector, without overflow. Infinite where a number is not finite.
fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let mut largest = 0.0_f64;
    for value in values.clone() {
        if !value.is_finite() {
            return f64::INFINITY;
        }
        largest = largest.max(value.abs());
    }
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> LcpProblem {
        LcpProblem::new(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap()
    }

    #[test]
    fn known_solutions_have_no_residual() {
        assert!(lcp(&example(), &[4.0 / 3.0, 7.0 / 3.0]) < 1e-15);
        let problem = BoxedProblem::new(example().m, example().q, vec![0.0, -1.0], vec![1.0, f64::INFINITY]);
        assert!(boxed(&problem.unwrap(), &[1.0, 2.5]) < 1e-15);
    }

    #[test]
    fn wrong_answers_are_seen() {
        let scale = 61.0_f64.sqrt();
        assert!((lcp(&example(), &[0.0, 0.0]) - 1.0).abs() < 1e-15);
        assert!((lcp(&example(), &[1.0, 2.5]) - 0.5 / scale).abs() < 1e-15);
        assert_eq!(lcp(&example(), &[f64::NAN, 1.0]), f64::INFINITY);
        assert_eq!(lcp(&example(), &[f64::INFINITY, 1.0]), f64::INFINITY);
        let overflow = LcpProblem::new(vec![1e308; 4], vec![-1.0; 2]).unwrap();
        assert_eq!(lcp(&overflow, &[10.0, -10.0]), f64::INFINITY);
    }

    #[test]
    fn rounding_is_no_answer() {
        // No answer: the rows ask for opposite signs. At 2^53 the one in `q` is lost.
        let problem = LcpProblem::new(vec![1.0, -1.0, -1.0, 1.0], vec![-0.5, -0.5]).unwrap();
        let z = [2.0_f64.powi(54), 2.0_f64.powi(54)];
        assert!(lcp(&problem, &z) > 0.1);
        let problem = LcpProblem::new(vec![0.0], vec![-1.0]).unwrap();
        assert_eq!(lcp(&problem, &[1e300]), 1.0);
        let problem = BoxedProblem::new(vec![0.0], vec![-1.0], vec![0.0], vec![f64::INFINITY]).unwrap();
        assert_eq!(boxed(&problem, &[1e300]), 1.0);
        let problem = LcpProblem::new(vec![1e20, -1e20, -1e20, 1e20], vec![-1e-3, 1e-3]).unwrap();
        assert!(lcp(&problem, &[1.0, 1.0]) > 1e3);
    }

    #[test]
    fn numbers_without_a_square_are_judged_alike() {
        for scale in [1e-200, 1e200] {
            let problem = LcpProblem::new(vec![1.0], vec![-scale]).unwrap();
            assert!((lcp(&problem, &[0.0]) - 1.0).abs() < 1e-15);
            assert!((lcp(&problem, &[1.5 * scale]) - 0.5).abs() < 1e-15);
            assert_eq!(lcp(&problem, &[scale]), 0.0);
        }
        let without_q = LcpProblem::new(vec![1.0], vec![0.0]).unwrap();
        assert_eq!(lcp(&without_q, &[0.0]), 0.0);
        assert_eq!(lcp(&without_q, &[0.25]), 0.25);
    }
}
