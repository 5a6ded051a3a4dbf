//! Schmucker and others: `F = K d (1 + (1 - e) / e d' / v)`, `v` the speed at first touch; with friction by an anchor
//! spring ([`super::anchor`]). [Schmucker et al. 2007, eq. 1]

use crate::engine::scalar::Scalar;

/// The factor of the speed over the impact speed.
pub fn hysteresis<S: Scalar>(restitution: S) -> S {
    (S::one() - restitution) / restitution
}
