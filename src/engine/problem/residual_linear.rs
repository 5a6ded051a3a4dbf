//! Natural residuals of LCP and boxed problems, the only judge of success. No solver shares this code.
//!
//! Where `M` is singular, a `z` can be so large that the rounding of `M z` looks like an answer. Then the rounding
//! counts as residual.

use super::boxed::BoxedProblem;
use super::lcp::LcpProblem;

/// `||z - max(0, z - (M z + q))|| / ||q||`, absolute where `q` is zero. Infinite where a number is not finite.
#[inline]
pub fn lcp(problem: &LcpProblem, z: &[f64]) -> f64 {
    relative(&problem.m, &problem.q, z, lcp_distance)
}

/// `z - max(0, z - w)` is the smaller of `z` and `w`, without the rounding of the differences.
#[inline(always)]
fn lcp_distance(_: usize, z: f64, w: f64) -> f64 {
    if z < w { z } else { w }
}

/// The same for a problem of `N` rows, without a call or a loop.
#[inline(always)]
pub fn lcp_of<const N: usize>(problem: &LcpProblem, z: &[f64; N]) -> f64 {
    let sums = match problem.q.first_chunk::<N>() {
        Some(q) if N > 1 && problem.q.len() == N => sums(&problem.m, q, z, &lcp_distance),
        _ => return lcp(problem, z),
    };
    sums.relative().unwrap_or_else(|| relative_at_the_edge(&problem.m, &problem.q, z, lcp_distance))
}

/// `||z - clamp(z - (M z + q), lower, upper)|| / ||q||`, absolute where `q` is zero. Infinite where a number is
/// not finite.
#[inline]
pub fn boxed(problem: &BoxedProblem, z: &[f64]) -> f64 {
    relative(&problem.m, &problem.q, z, |row, z, w| {
        boxed_distance(problem.lower[row], problem.upper[row], z, w)
    })
}

#[inline(always)]
fn boxed_distance(lower: f64, upper: f64, z: f64, w: f64) -> f64 {
    let step = z - w;
    if step < lower {
        z - lower
    } else if step > upper {
        z - upper
    } else {
        w
    }
}

/// The same for a problem of `N` rows, without a call or a loop.
#[inline(always)]
pub fn boxed_of<const N: usize>(problem: &BoxedProblem, z: &[f64; N]) -> f64 {
    let BoxedProblem { m, q, lower, upper } = problem;
    let (Some(q_of), Some(lower), Some(upper)) =
        (q.first_chunk::<N>(), lower.first_chunk::<N>(), upper.first_chunk::<N>())
    else {
        return boxed(problem, z);
    };
    if q.len() != N || N < 2 {
        return boxed(problem, z);
    }
    let distance = |row: usize, z: f64, w: f64| boxed_distance(lower[row], upper[row], z, w);
    sums(m, q_of, z, &distance).relative().unwrap_or_else(|| relative_at_the_edge(m, q, z, distance))
}

/// Rounding of `M z`, relative to `q`, below which the residual is taken as computed.
const NEGLIGIBLE_ROUNDING: f64 = 1e-12;

#[inline]
fn relative(m: &[f64], q: &[f64], z: &[f64], distance: impl Fn(usize, f64, f64) -> f64) -> f64 {
    if let ([m], [q], [z]) = (m, q, z) {
        relative_of_one(*m, *q, *z, |w| distance(0, *z, w))
    } else {
        relative_of_many(m, q, z, distance)
    }
}

fn relative_of_many(m: &[f64], q: &[f64], z: &[f64], distance: impl Fn(usize, f64, f64) -> f64) -> f64 {
    let sums = match q.len() {
        // Fixed lengths spare the small problems the loops.
        2 => sums(m, &q[..2], &z[..2], &distance),
        3 => sums(m, &q[..3], &z[..3], &distance),
        4 => sums(m, &q[..4], &z[..4], &distance),
        _ => sums_of_many(m, q, z, &distance),
    };
    sums.relative().unwrap_or_else(|| relative_at_the_edge(m, q, z, distance))
}

/// One row, without squares and roots.
#[inline(always)]
fn relative_of_one(m: f64, q: f64, z: f64, distance: impl Fn(f64) -> f64) -> f64 {
    const LARGEST_PRODUCT: f64 = NEGLIGIBLE_ROUNDING / f64::EPSILON;
    let product = m * z;
    let residual = distance(product + q).abs();
    // Then `q` is not zero and `w` is finite.
    if product.abs() < LARGEST_PRODUCT * q.abs() && q.abs() < 1e280 {
        residual / q.abs()
    } else {
        relative_of_one_at_the_edge(q, product, residual)
    }
}

#[cold]
fn relative_of_one_at_the_edge(q: f64, product: f64, residual: f64) -> f64 {
    let scale = if q == 0.0 { 1.0 } else { q.abs() };
    let rounding = f64::EPSILON * product.abs();
    let certain = if rounding < NEGLIGIBLE_ROUNDING * scale { residual } else { larger(residual, rounding) };
    let relative = certain / scale;
    if relative < f64::INFINITY && (product + q).is_finite() { relative } else { f64::INFINITY }
}

#[derive(Default)]
struct Sums {
    residual_square: f64,
    scale_square: f64,
    /// Their sum is at least the largest sum of absolute products in a row of `M z`.
    products: [f64; LANES],
}

impl Sums {
    /// The residual, unless squares overflowed or lost digits, a `w` is not finite, or rounding could hide a residual.
    #[inline(always)]
    fn relative(&self) -> Option<f64> {
        let [a, b, c, d] = self.products;
        let rounding = f64::EPSILON * ((a + c) + (b + d));
        // Where the rounding is small against a `q` with a square, so are the products, and `w` is finite. Squares of
        // distances that vanish there are far below the round-off of `q`.
        let certain = self.scale_square > 1e-280
            && self.scale_square < 1e280
            && rounding * rounding < NEGLIGIBLE_ROUNDING.powi(2) * self.scale_square
            && self.residual_square < f64::INFINITY;
        if !certain {
            None
        } else if self.residual_square == 0.0 {
            Some(0.0)
        } else {
            Some((self.residual_square / self.scale_square).sqrt())
        }
    }
}

fn sums_of_many(m: &[f64], q: &[f64], z: &[f64], distance: &impl Fn(usize, f64, f64) -> f64) -> Sums {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { sums_wide(m, q, z, distance) };
    }
    sums(m, q, z, distance)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn sums_wide(m: &[f64], q: &[f64], z: &[f64], distance: &impl Fn(usize, f64, f64) -> f64) -> Sums {
    sums(m, q, z, distance)
}

#[inline(always)]
fn sums(m: &[f64], q: &[f64], z: &[f64], distance: &impl Fn(usize, f64, f64) -> f64) -> Sums {
    let mut sums = Sums::default();
    for row in 0..q.len() {
        let w = q[row] + dot(&m[row * q.len()..(row + 1) * q.len()], z, &mut sums.products);
        let distance = distance(row, z[row], w);
        sums.residual_square += distance * distance;
        sums.scale_square += q[row] * q[row];
    }
    sums
}

/// For zeros, for numbers whose squares leave the range of `f64`, for what is not finite, and for rounding that could
/// hide a residual.
#[cold]
fn relative_at_the_edge(m: &[f64], q: &[f64], z: &[f64], distance: impl Fn(usize, f64, f64) -> f64) -> f64 {
    let row_of = |row: usize| &m[row * q.len()..(row + 1) * q.len()];
    let mut products = [0.0; LANES];
    for row in 0..q.len() {
        dot(row_of(row), z, &mut products);
    }
    let rounding = f64::EPSILON * products.iter().sum::<f64>();
    let distances = (0..q.len()).map(|row| {
        let w = q[row] + dot(row_of(row), z, &mut [0.0; LANES]);
        // Not a number where `w` is not finite, which a distance can drop.
        distance(row, z[row], w) + w * 0.0
    });
    let (residual, scale) = (norm(distances), norm(q.iter().copied()));
    let [residual, rounding] =
        [residual, rounding].map(|value| if scale > 0.0 { value / scale } else { value });
    let certain = if rounding < NEGLIGIBLE_ROUNDING { residual } else { larger(residual, rounding) };
    if certain.is_finite() && scale.is_finite() && residual.is_finite() { certain } else { f64::INFINITY }
}

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

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Sums that are formed side by side, so that one addition does not wait for the last.
const LANES: usize = 4;

/// Scalar product. `products` keeps, side by side, the largest sums of absolute products seen.
#[inline(always)]
fn dot(a: &[f64], b: &[f64], products: &mut [f64; LANES]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let (mut rest, mut rest_size) = (0.0, 0.0);
    for (a, b) in a_rest.iter().zip(b_rest) {
        rest += a * b;
        rest_size += (a * b).abs();
    }
    let (mut sums, mut sizes) = ([0.0; LANES], [0.0; LANES]);
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        let product = [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]];
        for lane in 0..LANES {
            sums[lane] += product[lane];
        }
        for lane in 0..LANES {
            sizes[lane] += product[lane].abs();
        }
    }
    sizes[0] += rest_size;
    for lane in 0..LANES {
        products[lane] = larger(sizes[lane], products[lane]);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
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
