//! Capsule against plane: each end of its segment is a ball, `gap = n . (r + A e - o) - R` with `e = -a` (feature 0) or
//! `e = a` (feature 1).

use super::solids::{Capsule, Feature};
use super::{Plane, Pose, Proximity, sphere_plane};
use crate::engine::scalar::Scalar;

/// Number of features.
pub const FEATURES: usize = 2;

/// A feature at other poses.
pub fn at<S: Scalar>(feature: Feature, capsule: &Capsule, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    let sign = if feature == 0 { -1.0 } else { 1.0 };
    let end = pose.orientation.to_world(&(capsule.half_axis * sign).map(S::from));
    let near = sphere_plane::proximity(capsule.radius, &(pose.position + end), plane);
    Proximity { arm: end + near.arm, ..near }
}

#[cfg(test)]
mod tests {
    use super::super::plane_poses::{self, plane_pair};
    use super::*;
    use crate::engine::math::rotation::Orientation;
    use nalgebra::Vector3;

    plane_pair!(Capsule, FEATURES);

    #[test]
    fn a_lying_capsule_touches_with_both_ends() {
        let capsule = Capsule { half_axis: Vector3::new(0.6, 0.8, 0.0), radius: 0.25 };
        let plane = Plane { origin: Vector3::zeros(), normal: Vector3::z() };
        let pose = Pose { position: Vector3::z() * 0.25, orientation: Orientation::identity() };
        for feature in 0..2 {
            let near = at(feature, &capsule, &pose, &plane);
            assert_eq!(near.gap, 0.0);
            let end = capsule.half_axis * if feature == 0 { -1.0 } else { 1.0 };
            assert_eq!(near.arm, end - Vector3::z() * 0.25);
        }
    }
}
