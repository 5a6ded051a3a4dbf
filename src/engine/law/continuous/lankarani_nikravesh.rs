//! Lankarani and Nikravesh: `F = K d^n (1 + 3/4 (1 - e^2) d' / v)`, `v` the speed at first touch. Made for small
//! losses: it rebounds faster than with `e`. [Lankarani and Nikravesh 1990; Fancello 2012, eq. 2.4]

use crate::engine::scalar::Scalar;

/// The factor of the speed over the impact speed.
pub fn hysteresis<S: Scalar>(restitution: S) -> S {
    (S::one() - restitution * restitution) * S::from(0.75)
}
