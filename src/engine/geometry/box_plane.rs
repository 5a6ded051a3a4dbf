//! Box against plane: each corner `p` has `gap = n . (r + A p - o)`. Bit `i` of a feature is set for corners on the
//! positive side along axis `i`.

use super::box_parts::{CORNERS, corner};
use super::solids::{Cuboid, Feature};
use super::{Plane, Pose, Proximity, point_plane};
use crate::engine::scalar::Scalar;

/// Number of features.
pub const FEATURES: usize = CORNERS;

/// A feature at other poses.
pub fn at<S: Scalar>(feature: Feature, cuboid: &Cuboid, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    point_plane::proximity(&corner(&cuboid.half, feature as usize), pose, plane)
}

#[cfg(test)]
mod tests {
    use super::super::plane_poses::{self, plane_pair};
    use super::*;

    plane_pair!(Cuboid, FEATURES);
}
