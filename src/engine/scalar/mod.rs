//! The number type of the engine: `f64` for simulation, [`Dual`] for derivatives in one direction, [`Traced`](super::tape::Traced)
//! for those with respect to many numbers.
//!
//! A step is written once over [`Scalar`]. Run with [`Dual`] it takes the same branches, because every
//! decision looks at [`Scalar::value`] only, and carries one directional derivative along: the derivative
//! on the active set that the step has found.

pub mod elementary;
use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign, Matrix3, Vector3};
use num_traits::{One, Zero};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real number, possibly with a tangent.
pub trait Scalar:
    nalgebra::Scalar
    + Copy
    + Zero
    + One
    + From<f64>
    + ClosedAddAssign
    + ClosedSubAssign
    + ClosedMulAssign
    + ClosedDivAssign
    + Neg<Output = Self>
{
    /// The number without its tangent. All branches are taken on this.
    fn value(self) -> f64;
    /// Square root; the tangent at zero is taken as zero.
    fn sqrt(self) -> Self;
    /// A power of a number that is not negative; the tangent at zero is that of exponent 1, else zero.
    fn power(self, exponent: f64) -> Self;
    /// Tells all bits.
    fn bits(self, found: &mut impl FnMut(u64));
    /// The number less its value: zero, with its tangent.
    fn change(self) -> Self;
    /// The number less a change times a factor.
    #[inline]
    fn less(self, change: Self, factor: f64) -> Self {
        self - change * Self::from(factor)
    }
    /// A function of numbers, by its values and how each changes with each number.
    fn function<const M: usize, const N: usize>(
        values: [f64; M],
        of: [Self; N],
        slopes: impl FnOnce() -> [[f64; N]; M],
    ) -> [Self; M];
    /// Does work of which only values are used: what records operations leaves it out.
    #[inline(always)]
    fn aside<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    /// The vectors themselves where they are without tangents.
    #[inline(always)]
    fn plain(_: &mut [Vector3<Self>]) -> Option<&mut [Vector3<f64>]> {
        None
    }
    /// Replaces changes by a linear function of them that is its own transpose.
    fn map_changes(changes: &mut [Self], map: impl Fn(&mut [f64]) + 'static);
}

impl Scalar for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline]
    fn power(self, exponent: f64) -> f64 {
        elementary::power(self, exponent)
    }
    #[inline]
    fn bits(self, found: &mut impl FnMut(u64)) {
        found(self.to_bits());
    }
    #[inline(always)]
    fn change(self) -> f64 {
        0.0
    }
    #[inline(always)]
    fn function<const M: usize, const N: usize>(
        values: [f64; M],
        _: [f64; N],
        _: impl FnOnce() -> [[f64; N]; M],
    ) -> [f64; M] {
        values
    }
    #[inline(always)]
    fn plain(vectors: &mut [Vector3<f64>]) -> Option<&mut [Vector3<f64>]> {
        Some(vectors)
    }
    fn map_changes(_: &mut [f64], _: impl Fn(&mut [f64]) + 'static) {}
}

/// `value + tangent * epsilon` with `epsilon^2 = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The number itself.
    pub value: f64,
    /// Its derivative in the seeded direction.
    pub tangent: f64,
}

impl Scalar for Dual {
    fn value(self) -> f64 {
        self.value
    }
    fn sqrt(self) -> Dual {
        let root = self.value.sqrt();
        let tangent = if root > 0.0 { self.tangent / (2.0 * root) } else { 0.0 };
        Dual { value: root, tangent }
    }
    fn power(self, exponent: f64) -> Dual {
        let (value, slope) = elementary::power_and_slope(self.value, exponent);
        Dual { value, tangent: self.tangent * slope }
    }
    fn bits(self, found: &mut impl FnMut(u64)) {
        found(self.value.to_bits());
        found(self.tangent.to_bits());
    }
    fn change(self) -> Dual {
        Dual { value: 0.0, ..self }
    }
    fn function<const M: usize, const N: usize>(
        values: [f64; M],
        of: [Dual; N],
        slopes: impl FnOnce() -> [[f64; N]; M],
    ) -> [Dual; M] {
        let slopes = slopes();
        std::array::from_fn(|row| {
            let changes = of.iter().zip(slopes[row]).map(|(number, slope)| number.tangent * slope);
            Dual { value: values[row], tangent: changes.sum() }
        })
    }
    fn map_changes(changes: &mut [Dual], map: impl Fn(&mut [f64]) + 'static) {
        let mut tangents: Vec<f64> = changes.iter().map(|change| change.tangent).collect();
        map(&mut tangents);
        for (change, tangent) in changes.iter_mut().zip(tangents) {
            *change = Dual { value: 0.0, tangent };
        }
    }
}

impl From<f64> for Dual {
    fn from(value: f64) -> Dual {
        Dual { value, tangent: 0.0 }
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual { value: self.value + other.value, tangent: self.tangent + other.tangent }
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, other: Dual) -> Dual {
        Dual { value: self.value - other.value, tangent: self.tangent - other.tangent }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        Dual {
            value: self.value * other.value,
            tangent: self.tangent * other.value + self.value * other.tangent,
        }
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, other: Dual) -> Dual {
        let value = self.value / other.value;
        Dual { value, tangent: (self.tangent - value * other.tangent) / other.value }
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual { value: -self.value, tangent: -self.tangent }
    }
}

/// `+=` and its like, of a type that has `+` and its like.
macro_rules! assign_by_operators {
    ($type:ident) => {
        assign_by_operators!($type: AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /);
    };
    ($type:ident: $($trait:ident $method:ident $operator:tt),*) => {$(
        impl $trait for $type {
            #[inline]
            fn $method(&mut self, other: $type) {
                *self = *self $operator other;
            }
        }
    )*};
}
pub(super) use assign_by_operators;
assign_by_operators!(Dual);

impl Zero for Dual {
    fn zero() -> Dual {
        Dual::from(0.0)
    }
    fn is_zero(&self) -> bool {
        self.value == 0.0 && self.tangent == 0.0
    }
}

impl One for Dual {
    fn one() -> Dual {
        Dual::from(1.0)
    }
}

/// Euclidean length, for any scalar.
#[inline]
pub fn length<S: Scalar>(vector: &Vector3<S>) -> S {
    dot(vector, vector).sqrt()
}

/// Scalar product. It and the products below are one operation each for what records operations.
#[inline]
pub fn dot<S: Scalar>(one: &Vector3<S>, other: &Vector3<S>) -> S {
    let (x, y) = (one.map(S::value), other.map(S::value));
    let of = [one[0], one[1], one[2], other[0], other[1], other[2]];
    let [product] = S::function([x.dot(&y)], of, || [[y[0], y[1], y[2], x[0], x[1], x[2]]]);
    product
}

/// Cross product.
#[inline]
pub fn cross<S: Scalar>(one: &Vector3<S>, other: &Vector3<S>) -> Vector3<S> {
    let (x, y) = (one.map(S::value), other.map(S::value));
    let of = [one[0], one[1], one[2], other[0], other[1], other[2]];
    let product = S::function(x.cross(&y).into(), of, || {
        [
            [0.0, y[2], -y[1], 0.0, -x[2], x[1]],
            [-y[2], 0.0, y[0], x[2], 0.0, -x[0]],
            [y[1], -y[0], 0.0, -x[1], x[0], 0.0],
        ]
    });
    product.into()
}

/// Product of a matrix and a vector.
#[inline]
pub fn times<S: Scalar>(matrix: &Matrix3<S>, vector: &Vector3<S>) -> Vector3<S> {
    let (m, v) = (matrix.map(S::value), vector.map(S::value));
    let product = m * v;
    Vector3::from_fn(|row, _| {
        let [x, y, z] = [0, 1, 2].map(|column| matrix[(row, column)]);
        let slopes = || [[v[0], v[1], v[2], m[(row, 0)], m[(row, 1)], m[(row, 2)]]];
        S::function([product[row]], [x, y, z, vector[0], vector[1], vector[2]], slopes)[0]
    })
}

/// A vector without its tangent.
#[inline(always)]
pub fn held<S: Scalar>(vector: &Vector3<S>) -> Vector3<S> {
    vector.map(|component| S::from(component.value()))
}

/// Largest component without sign.
#[inline]
pub fn largest<S: Scalar>(vector: &Vector3<S>) -> f64 {
    vector.iter().fold(0.0, |largest, component| component.value().abs().max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dual_arithmetic_agrees_with_finite_differences() {
        fn f<S: Scalar>(x: S) -> S {
            (x * x + S::from(2.0)).sqrt() / (S::from(3.0) - x) - x.power(1.5) * x.power(0.3) + x.power(1.0)
        }
        let x = 0.7;
        let step = 1e-6;
        let exact = f(Dual { value: x, tangent: 1.0 });
        let difference = (f(x + step) - f(x - step)) / (2.0 * step);
        assert_eq!(exact.value, f(x));
        assert!((exact.tangent - difference).abs() < 1e-9);
    }
}
