//! Coulomb friction with the exact second-order cone `|p_T| <= mu p_N`.
//!
//! In local components (normal, tangent 1, tangent 2), with `u` the velocity after the impulse shifted by
//! restitution: `0 <= p_N _|_ u_N >= 0`; where `p_N > 0` either `u_T = 0` (stick) or
//! `p_T = -mu p_N u_T / |u_T|` (slip).

use super::ContactMode;
use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;

/// Impulse of a single contact whose Delassus operator is `mobility` times the identity: closed form.
///
/// `velocity` is the velocity without impulse, `shift` the restitution term of the normal row. Returns normal
/// impulse, tangential impulse and mode, all in world components.
#[inline]
pub fn isotropic_impulse<S: Scalar>(
    mobility: S,
    mu: S,
    normal: &Vector3<S>,
    velocity: &Vector3<S>,
    shift: S,
) -> (S, Vector3<S>, ContactMode) {
    let normal_velocity = normal.dot(velocity);
    let mass = S::one() / mobility;
    let normal_impulse = -(normal_velocity + shift) * mass;
    if normal_impulse.value() <= 0.0 {
        return (S::zero(), Vector3::zeros(), ContactMode::Open);
    }
    let limit = mu * normal_impulse;
    if limit.value() <= 0.0 {
        return (normal_impulse, Vector3::zeros(), ContactMode::Slip);
    }
    let holding = -(velocity - normal * normal_velocity) * mass;
    let needed = length(&holding);
    if needed.value() <= limit.value() {
        (normal_impulse, holding, ContactMode::Stick)
    } else {
        (normal_impulse, holding * (limit / needed), ContactMode::Slip)
    }
}

/// Mode of a contact from its friction coefficient, normal impulse and sliding speed. Speeds up to `still` are
/// round-off.
pub fn mode(mu: f64, normal_impulse: f64, sliding: f64, still: f64) -> ContactMode {
    if normal_impulse <= 0.0 {
        ContactMode::Open
    } else if mu > 0.0 && sliding <= still {
        ContactMode::Stick
    } else {
        ContactMode::Slip
    }
}
