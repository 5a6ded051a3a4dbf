//! Flores and others: `F = K d^n (1 + 8/5 (1 - e) / e d' / v)`, `v` the speed at first touch. Also for large losses.
//! [Flores et al. 2011; Fancello 2012, eq. 2.5]

use crate::engine::scalar::Scalar;

/// The factor of the speed over the impact speed.
pub fn hysteresis<S: Scalar>(restitution: S) -> S {
    (S::one() - restitution) / restitution * S::from(1.6)
}
