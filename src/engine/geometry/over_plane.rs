//! Solids over a plane with the unit normal `n` through `o`.
//!
//! - A ball: `gap = n . (r - o) - R`, arm `-R n`.
//! - A solid with corners: each corner `p` has `gap = n . (r + A p - o) - m` and the arm `A p - m n`, with the margin `m`
//!   of a capsule, whose corners are the ends of its segment.
//! - A cylinder or disc touches with its rims: the lowest point of each, or four that are fixed to the body where it is
//!   flat on the plane and none is lower than the others. See [`Spot::rim_over_plane`].

use super::round::{ENDS, LOWEST, POINTS, Round, Spot};
use super::solids::Feature;
use super::{Plane, Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// A ball at `center`.
#[inline(always)]
pub fn ball<S: Scalar>(radius: f64, center: &Vector3<S>, plane: &Plane<S>) -> Proximity<S> {
    let gap = plane.normal.dot(&(center - plane.origin)) - S::from(radius);
    Proximity { gap, normal: plane.normal, arm: plane.normal * S::from(-radius) }
}

/// A corner of a body, in body components.
#[inline]
pub fn corner<S: Scalar>(
    corner: &Vector3<f64>,
    margin: f64,
    pose: &Pose<S>,
    plane: &Plane<S>,
) -> Proximity<S> {
    let arm = pose.orientation.to_world(&corner.map(S::from));
    let near = ball(margin, &(pose.position + arm), plane);
    Proximity { arm: arm + near.arm, ..near }
}

/// Number of features of a cylinder or disc, whose rims are in the same place.
pub fn feature_count(solid: &Round) -> usize {
    if solid.half > 0.0 { ENDS * POINTS } else { POINTS }
}

/// Reports the points of the rims that are nearer than `reach`.
pub fn features<S: Scalar>(
    solid: &Round,
    pose: &Pose<S>,
    plane: &Plane<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let spot = Spot::from_place(*solid, pose, &plane.origin);
    spot.values().each_over_plane(&plane.normal.map(S::value), &mut |end, point| {
        let near = spot.rim_over_plane(end, point, &plane.normal, S::zero());
        if near.gap.value() < reach {
            found((end * POINTS + point) as Feature, near);
        }
    });
}

/// A point of a rim at other poses.
pub fn at<S: Scalar>(feature: Feature, solid: &Round, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    let (end, point) = (feature as usize / POINTS, feature as usize % POINTS);
    Spot::from_place(*solid, pose, &plane.origin).rim_over_plane(end, point, &plane.normal, S::zero())
}

/// Signed distance of a cylinder or disc from the plane.
pub fn gap<S: Scalar>(solid: &Round, pose: &Pose<S>, plane: &Plane<S>) -> S {
    let spot = Spot::from_place(*solid, pose, &plane.origin);
    let end = spot.values().lower_end(&plane.normal.map(S::value));
    spot.rim_over_plane(end, LOWEST, &plane.normal, S::zero()).gap
}

#[cfg(test)]
#[path = "over_plane_tests.rs"]
mod tests;
