//! Hunt and Crossley: `F = K d^n (1 + 3/2 (1 - e) d' / v)`, `v` the speed at first touch. Made for small losses: it
//! rebounds faster than with `e`. [Hunt and Crossley 1975; Fancello 2012, eq. 2.3]

use crate::engine::scalar::Scalar;

/// The factor of the speed over the impact speed.
pub fn hysteresis<S: Scalar>(restitution: S) -> S {
    (S::one() - restitution) * S::from(1.5)
}
