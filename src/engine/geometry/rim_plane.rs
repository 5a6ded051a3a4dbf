//! Rim of a disc against plane, as a contact that stands.
//!
//! Feature 0 is the lowest point of the rim: with the axis `a`, `gap = n . (r - o) - R |a x n|`. A disc that lies flat
//! has none that is lower than the others: there, features 1 to 4 are points of the rim that are fixed to the body, a
//! quarter turn apart, each with `gap = n . (r + A p - o)`.

use super::point_plane;
use super::solids::{Disc, Feature, any_across, direction};
use super::{Plane, Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Number of features.
pub const FEATURES: Feature = 5;

/// Reports the points of the rim that are nearer than `reach`.
pub fn features<S: Scalar>(
    disc: &Disc,
    pose: &Pose<S>,
    plane: &Plane<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let axis = pose.orientation.to_world(&disc.axis.map(S::from));
    let slope = length(&axis.cross(&plane.normal)).value();
    let first = Feature::from(slope <= TOLERANCES.half_of_digits);
    let end = if slope < TOLERANCES.tilted { FEATURES } else { 1 };
    for feature in first..end {
        let near = at(feature, disc, pose, plane);
        if near.gap.value() < reach {
            found(feature, near);
        }
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(feature: Feature, disc: &Disc, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    match feature {
        0 => lowest(disc, pose, plane),
        _ => point_plane::proximity(&fixed_point(disc, feature), pose, plane),
    }
}

/// Signed distance of disc and plane.
pub fn gap<S: Scalar>(disc: &Disc, pose: &Pose<S>, plane: &Plane<S>) -> S {
    lowest(disc, pose, plane).gap
}

/// The lowest point of the rim. The products keep it in the plane of the disc, however flat that lies.
fn lowest<S: Scalar>(disc: &Disc, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
    let normal = plane.normal;
    let axis = pose.orientation.to_world(&disc.axis.map(S::from));
    let (slope, across) = direction(&axis.cross(&normal), 1.0, || any_across(&axis));
    let gap = normal.dot(&(pose.position - plane.origin)) - slope * S::from(disc.radius);
    Proximity { gap, normal, arm: across.cross(&axis) * S::from(-disc.radius) }
}

/// Point of the rim, in body components.
fn fixed_point(disc: &Disc, feature: Feature) -> Vector3<f64> {
    let across = any_across(&disc.axis);
    match feature {
        1 => across * disc.radius,
        2 => disc.axis.cross(&across) * disc.radius,
        3 => across * -disc.radius,
        _ => disc.axis.cross(&across) * -disc.radius,
    }
}

#[cfg(test)]
mod tests {
    use super::super::plane_poses::{self, plane_pair};
    use super::*;
    use crate::engine::math::rotation::Orientation;

    plane_pair!(Disc, features, gap, 1e-8);

    #[test]
    fn a_flat_disc_touches_with_four_points_and_a_rolling_one_with_one() {
        let disc = Disc { radius: 0.5, axis: Vector3::new(0.48, 0.6, 0.64) };
        let plane = Plane { origin: Vector3::new(0.0, 0.0, 1.0), normal: Vector3::z() };
        let upright = disc.axis.cross(&Vector3::z()).normalize() * disc.axis[2].acos();
        for (tilt, expected) in [(0.0, vec![1, 2, 3, 4]), (1e-3, vec![0, 1, 2, 3, 4]), (0.3, vec![0])] {
            let orientation = Orientation::from_turn(&upright).turned(&(Vector3::x() * tilt));
            let height = 1.0 + 0.5 * f64::sin(tilt);
            let pose = Pose { position: Vector3::z() * height, orientation };
            let mut list = Vec::new();
            features(&disc, &pose, &plane, 0.01, &mut |feature, near| list.push((feature, near)));
            assert_eq!(list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>(), expected);
            assert!(list.iter().all(|(_, near)| (near.arm.norm() - 0.5).abs() < 1e-15));
            assert!(at(0, &disc, &pose, &plane).gap.abs() < 1e-15);
            if tilt == 0.0 {
                let sum = list.iter().fold(Vector3::zeros(), |sum, (_, near)| sum + near.arm);
                assert!(sum.norm() < 1e-15);
                assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-15));
            }
        }
    }
}
