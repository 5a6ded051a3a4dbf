//! Natural residuals of LCP and boxed problems, the only judge of success. No solver shares this code.
//!
//! Where `M` is singular, a `z` can be so large that the rounding of `M z` looks like an answer. Then the rounding
//! counts as residual.

use super::boxed::BoxedProblem;
use crate::engine::tolerances::TOLERANCES;

/// `||z - clamp(z - (M z + q), lower, upper)|| / ||q||`, absolute where `q` is zero. Infinite where a number is
/// not finite.
pub fn natural_residual(problem: &BoxedProblem, z: &[f64]) -> f64 {
    let BoxedProblem { q, lower, upper, .. } = problem;
    let rows = q.len();
    // The largest sum of absolute products in a row of `M z`.
    let mut products = 0.0_f64;
    for row in 0..rows {
        let sum: f64 = problem.row(row).iter().zip(z).map(|(m, z)| (m * z).abs()).sum();
        products = if sum > products { sum } else { products };
    }
    let distances = (0..rows).map(|row| {
        let w = q[row] + dot(problem.row(row), z);
        let step = z[row] - w;
        let distance = if step < lower[row] {
            z[row] - lower[row]
        } else if step > upper[row] {
            z[row] - upper[row]
        } else {
            w
        };
        // Not a number where `w` is not finite, which a distance can drop.
        distance + w * 0.0
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
    // Where no square may have overflown or be lost, nothing needs to be scaled.
    let square: f64 = values.clone().map(|value| value * value).sum();
    if square > f64::MIN_POSITIVE / f64::EPSILON && square < f64::INFINITY {
        return square.sqrt();
    }
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

    fn example() -> BoxedProblem {
        BoxedProblem::lcp(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap()
    }

    #[test]
    fn known_solutions_have_no_residual() {
        assert!(natural_residual(&example(), &[4.0 / 3.0, 7.0 / 3.0]) < 1e-15);
        let problem = BoxedProblem::new(example().m, example().q, vec![0.0, -1.0], vec![1.0, f64::INFINITY]);
        assert!(natural_residual(&problem.unwrap(), &[1.0, 2.5]) < 1e-15);
    }

    #[test]
    fn wrong_answers_are_seen() {
        let scale = 61.0_f64.sqrt();
        assert!((natural_residual(&example(), &[0.0, 0.0]) - 1.0).abs() < 1e-15);
        assert!((natural_residual(&example(), &[1.0, 2.5]) - 0.5 / scale).abs() < 1e-15);
        assert_eq!(natural_residual(&example(), &[f64::NAN, 1.0]), f64::INFINITY);
        assert_eq!(natural_residual(&example(), &[f64::INFINITY, 1.0]), f64::INFINITY);
        let overflow = BoxedProblem::lcp(vec![1e308; 4], vec![-1.0; 2]).unwrap();
        assert_eq!(natural_residual(&overflow, &[10.0, -10.0]), f64::INFINITY);
    }

    #[test]
    fn rounding_is_no_answer() {
        // No answer: the rows ask for opposite signs. At 2^53 the one in `q` is lost.
        let problem = BoxedProblem::lcp(vec![1.0, -1.0, -1.0, 1.0], vec![-0.5, -0.5]).unwrap();
        let z = [2.0_f64.powi(54), 2.0_f64.powi(54)];
        assert!(natural_residual(&problem, &z) > 0.1);
        let problem = BoxedProblem::lcp(vec![0.0], vec![-1.0]).unwrap();
        assert_eq!(natural_residual(&problem, &[1e300]), 1.0);
        let problem = BoxedProblem::lcp(vec![1e20, -1e20, -1e20, 1e20], vec![-1e-3, 1e-3]).unwrap();
        assert!(natural_residual(&problem, &[1.0, 1.0]) > 1e3);
    }

    #[test]
    fn numbers_without_a_square_are_judged_alike() {
        for scale in [1e-200, 1e200] {
            let problem = BoxedProblem::lcp(vec![1.0], vec![-scale]).unwrap();
            assert!((natural_residual(&problem, &[0.0]) - 1.0).abs() < 1e-15);
            assert!((natural_residual(&problem, &[1.5 * scale]) - 0.5).abs() < 1e-15);
            assert_eq!(natural_residual(&problem, &[scale]), 0.0);
        }
        let without_q = BoxedProblem::lcp(vec![1.0], vec![0.0]).unwrap();
        assert_eq!(natural_residual(&without_q, &[0.0]), 0.0);
        assert_eq!(natural_residual(&without_q, &[0.25]), 0.25);
    }
}
