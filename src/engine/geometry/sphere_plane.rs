//! Sphere against plane: `gap = n . (r - o) - R`, touching point `r - R n`.

use super::Proximity;
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Signed distance of a sphere at `center` from the plane through `origin` with unit `normal`.
#[inline]
pub fn proximity<S: Scalar>(
    radius: f64,
    center: &Vector3<S>,
    origin: &Vector3<f64>,
    normal: &Vector3<f64>,
) -> Proximity<S> {
    let normal: Vector3<S> = normal.map(S::from);
    let gap = normal.dot(&(center - origin.map(S::from))) - S::from(radius);
    Proximity { gap, normal, arm: normal * S::from(-radius) }
}
