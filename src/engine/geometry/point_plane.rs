//! A point of a body against a plane: with the point `p` of the body, `gap = n . (r + A p - o)`, arm `A p`.

use super::{Plane, Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Signed distance of a point, given in body components, from a plane.
pub fn proximity<S: Scalar>(point: &Vector3<f64>, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    let arm = pose.orientation.to_world(&point.map(S::from));
    let gap = plane.normal.dot(&(pose.position + arm - plane.origin));
    Proximity { gap, normal: plane.normal, arm }
}
