//! Cylinder against plane: the rims of its two caps, see [`rim_plane`]. Features 0 to 4 are those of
//! the cap at `-a`, 5 to 9 of the cap at `a`.

use super::rim_plane;
use super::solids::{Cylinder, Disc, Feature, direction};
use super::{Plane, Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// The rim of a cap, its pose, and the way to its centre.
fn cap<S: Scalar>(cylinder: &Cylinder, is_upper: bool, pose: &Pose<S>) -> (Disc, Pose<S>, Vector3<S>) {
    let center = cylinder.half_axis * if is_upper { 1.0 } else { -1.0 };
    let center = pose.orientation.to_world(&center.map(S::from));
    let axis = direction(&cylinder.half_axis, 0.0, Vector3::z).1;
    let pose = Pose { position: pose.position + center, orientation: pose.orientation };
    (Disc { radius: cylinder.radius, axis }, pose, center)
}

/// Number of features.
pub const FEATURES: usize = 2 * rim_plane::FEATURES as usize;

/// Reports the points of the rims that are nearer than `reach`.
pub fn features<S: Scalar>(
    cylinder: &Cylinder,
    pose: &Pose<S>,
    plane: &Plane<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    for is_upper in [false, true] {
        let (disc, pose, center) = cap(cylinder, is_upper, pose);
        let from = Feature::from(is_upper) * rim_plane::FEATURES;
        rim_plane::features(&disc, &pose, plane, reach, &mut |feature, near| {
            found(from + feature, Proximity { arm: center + near.arm, ..near });
        });
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    cylinder: &Cylinder,
    pose: &Pose<S>,
    plane: &Plane<S>,
) -> Proximity<S> {
    let (disc, pose, center) = cap(cylinder, feature >= rim_plane::FEATURES, pose);
    let near = rim_plane::at(feature % rim_plane::FEATURES, &disc, &pose, plane);
    Proximity { arm: center + near.arm, ..near }
}

/// Signed distance of cylinder and plane.
pub fn gap<S: Scalar>(cylinder: &Cylinder, pose: &Pose<S>, plane: &Plane<S>) -> S {
    let gaps = [0, rim_plane::FEATURES].map(|feature| at(feature, cylinder, pose, plane).gap);
    if gaps[1].value() < gaps[0].value() { gaps[1] } else { gaps[0] }
}

#[cfg(test)]
mod tests {
    use super::super::plane_poses::{self, plane_pair};
    use super::*;
    use crate::engine::math::rotation::Orientation;

    plane_pair!(Cylinder, features, gap, 1e-8);

    #[test]
    fn it_stands_on_four_points_and_lies_on_two() {
        let cylinder = Cylinder { half_axis: Vector3::new(0.0, 0.8, 0.0), radius: 0.5 };
        let plane = Plane { origin: Vector3::zeros(), normal: Vector3::z() };
        let quarter = std::f64::consts::FRAC_PI_2;
        for (turn, height, expected) in [
            (Vector3::x() * quarter, 0.8, vec![1, 2, 3, 4]),
            (Vector3::x() * -quarter, 0.8, vec![6, 7, 8, 9]),
            (Vector3::zeros(), 0.5, vec![0, 5]),
            (Vector3::y() * 0.3, 0.5, vec![0, 5]),
        ] {
            let pose = Pose { position: Vector3::z() * height, orientation: Orientation::from_turn(&turn) };
            let mut list = Vec::new();
            features(&cylinder, &pose, &plane, 1e-3, &mut |feature, near| list.push((feature, near)));
            assert_eq!(list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>(), expected);
            for (_, near) in list {
                assert!(near.gap.abs() < 1e-15);
                assert!((near.arm.norm() - f64::hypot(0.5, 0.8)).abs() < 1e-15);
            }
        }
    }
}
