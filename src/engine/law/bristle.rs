//! Regularised friction of Peiret: a static bristle below the threshold speed; above it the friction limit along
//! the slip, and across it a viscosity that keeps the force aligned. [Peiret et al. 2016, eq. 11, 18-20, 26-29]

use super::bounded::BoundedRows;
use crate::engine::scalar::Scalar;

/// Parameters of the law besides the friction coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bristle {
    /// Bristle stiffness `k_T`; may be infinite.
    pub stiffness: f64,
    /// Slip speed `v_th` up to which the contact counts as static.
    pub threshold: f64,
}

/// What a contact remembers from the last step: its impulses over a step of the present length, in tangent
/// coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory<S> {
    /// Normal impulse.
    pub normal: S,
    /// Friction impulse.
    pub tangential: [S; 2],
}

/// Rows over a step `h` at the slip velocity `slip` (tangent coordinates), bounded by `mu` times the remembered
/// normal impulse.
pub fn rows<S: Scalar>(law: &Bristle, mu: S, memory: &Memory<S>, slip: [S; 2], h: S) -> BoundedRows<S> {
    let zero = S::zero();
    let bound = if memory.normal.value() > 0.0 { mu * memory.normal } else { zero };
    let bristle = S::from(1.0 / law.stiffness) / (h * h);
    let speed = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
    if speed.value() <= law.threshold {
        return BoundedRows {
            direction: [S::one(), zero],
            compliance: [bristle; 2],
            preload: memory.tangential,
            bound,
        };
    }
    // Without normal force there is nothing to hold on to across the slip: the bound is zero anyway.
    let viscous = if bound.value() > 0.0 { speed / bound } else { zero };
    BoundedRows {
        direction: [slip[0] / speed, slip[1] / speed],
        compliance: [bristle, viscous],
        preload: [-bound, zero],
        bound,
    }
}

/// Whether the bristle is so soft that it would start and stop the kinetic model by itself.
///
/// A bristle of stiffness `k_T` released at the friction limit reaches the threshold speed unless
/// `k_T m v_th^2 > (mu lambda_N)^2`.
pub fn toggles(law: &Bristle, mu: f64, effective_mass: f64, normal_force: f64) -> bool {
    law.stiffness * effective_mass * law.threshold.powi(2) <= (mu * normal_force).powi(2)
}
