//! Sphere against plane: `gap = n . (r - o) - R`, touching point `r - R n`.

use super::{Plane, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Signed distance of a sphere at `center` from a plane.
#[inline(always)]
pub fn proximity<S: Scalar>(radius: f64, center: &Vector3<S>, plane: &Plane<S>) -> Proximity<S> {
    let gap = plane.normal.dot(&(center - plane.origin)) - S::from(radius);
    Proximity { gap, normal: plane.normal, arm: plane.normal * S::from(-radius) }
}
