//! Regularised friction of Peiret: a static bristle below the threshold speed; above it the friction limit along
//! the slip, and across it a viscosity that keeps the force aligned. [Peiret et al. 2016, eq. 11, 18-20, 26-29]

use super::bounded::BoundedRows;

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bristle {
    /// Friction coefficient.
    pub mu: f64,
    /// Bristle stiffness `k_T`; may be infinite.
    pub stiffness: f64,
    /// Slip speed `v_th` up to which the contact counts as static.
    pub threshold: f64,
}

/// What a contact remembers from the last step: forces, in tangent coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Normal force.
    pub normal: f64,
    /// Friction force.
    pub tangential: [f64; 2],
}

/// Rows over a step `h` at the slip velocity `slip` (tangent coordinates).
pub fn rows(law: &Bristle, memory: &Memory, slip: [f64; 2], h: f64) -> BoundedRows {
    let limit = law.mu * memory.normal.max(0.0);
    let bound = limit * h;
    let bristle = 1.0 / (law.stiffness * h * h);
    let speed = slip[0].hypot(slip[1]);
    if speed <= law.threshold {
        return BoundedRows {
            direction: [1.0, 0.0],
            compliance: [bristle; 2],
            preload: memory.tangential.map(|force| force * h),
            bound,
        };
    }
    // Without normal force there is nothing to hold on to across the slip: the bound is zero anyway.
    let viscous = if limit > 0.0 { speed / (h * limit) } else { 0.0 };
    BoundedRows {
        direction: [slip[0] / speed, slip[1] / speed],
        compliance: [bristle, viscous],
        preload: [-bound, 0.0],
        bound,
    }
}

/// Whether the bristle is so soft that it would start and stop the kinetic model by itself.
///
/// A bristle of stiffness `k_T` released at the friction limit reaches the threshold speed unless
/// `k_T m v_th^2 > (mu lambda_N)^2`.
pub fn toggles(law: &Bristle, effective_mass: f64, normal_force: f64) -> bool {
    law.stiffness * effective_mass * law.threshold.powi(2) <= (law.mu * normal_force).powi(2)
}
