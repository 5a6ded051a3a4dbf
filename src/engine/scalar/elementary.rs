//! Elementary functions with the same bits on every platform and in every build.
//!
//! Those of the standard library are the C library's, whose last digit differs between systems and versions. Only
//! `sqrt` and the arithmetic operators are exact by IEEE 754 and taken from there; fused multiply-add is not used.

pub use libm::{atan2, cos, hypot, sin, sincos, tan};

/// A power of a number that is not negative. Halves are by square roots, which are exact and fast.
pub fn power(base: f64, exponent: f64) -> f64 {
    let doubled = 2.0 * exponent;
    if doubled.fract() != 0.0 || doubled.abs() > 8.0 {
        return libm::pow(base, exponent);
    }
    let whole = whole_power(base, exponent.floor() as i32);
    if exponent.fract() == 0.0 { whole } else { whole * base.sqrt() }
}

/// The same with its derivative by the base, which at zero is that of exponent 1, else zero.
pub fn power_and_slope(base: f64, exponent: f64) -> (f64, f64) {
    let slope = if base > 0.0 { exponent * power(base, exponent - 1.0) } else { f64::from(exponent == 1.0) };
    (power(base, exponent), slope)
}

/// By squaring: the order of the compiler's own is not specified.
fn whole_power(base: f64, exponent: i32) -> f64 {
    let (mut product, mut square, mut left) = (1.0, base, exponent.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    if exponent < 0 { 1.0 / product } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written out, so that a build that rounds differently is noticed. All but `sincos` are the nearest numbers to the
    /// exact values; its sine is the next.
    #[test]
    fn the_bits_are_those_of_every_platform() {
        for (found, expected) in [
            (atan2(0.3, -0.7), 2.7367008673047097),
            (cos(0.7), 0.7648421872844885),
            (cos(1e6), 0.9367521275331447),
            (hypot(0.3, 0.7), 0.7615773105863908),
            (sin(0.7), 0.644217687237691),
            (sin(1e6), -0.34999350217129294),
            (sincos(2.5).0, 0.5984721441039564),
            (sincos(2.5).1, -0.8011436155469337),
            (tan(0.3), 0.30933624960962325),
            (power(0.7, 0.4), 0.8670401643811234),
            (power(1e-5, 2.2), 9.999999999999982e-12),
        ] {
            assert_eq!(f64::to_bits(found), f64::to_bits(expected), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn powers_are_those_of_the_standard_library() {
        for base in [1e-7, 0.3, 1.0, 42.0] {
            for doubled in -12..=12 {
                let exponent = 0.5 * f64::from(doubled);
                let expected = f64::powf(base, exponent);
                assert!((power(base, exponent) / expected - 1.0).abs() < 1e-15, "{base}^{exponent}");
            }
            assert!((power(base, 0.3) / f64::powf(base, 0.3) - 1.0).abs() < 1e-15);
        }
        assert_eq!((power(0.0, 0.0), power(0.0, 1.5), power(0.0, 0.4)), (1.0, 0.0, 0.0));
    }
}
