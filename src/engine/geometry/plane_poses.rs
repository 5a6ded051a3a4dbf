//! Checks that every solid over a plane must pass, against its support function on random poses.

#![cfg(test)]

use super::poses::{Motion, without_tangents};
pub use super::solids::Feature;
use super::support::{Numbers, Solid, least_norm, place};
use super::{Plane, Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// A solid over a plane, and their gap functions.
pub trait OverPlane: Sized {
    type First: Solid;
    fn new(solid: Self::First) -> Self;
    fn first(&self) -> &Self::First;
    fn features<S: Scalar>(
        &self,
        pose: &Pose<S>,
        plane: &Plane<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    );
    fn at<S: Scalar>(&self, feature: Feature, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S>;
    fn gap<S: Scalar>(&self, pose: &Pose<S>, plane: &Plane<S>) -> S;
}

/// The tests of a solid over a plane, with the functions of the file around them; `slack` is by how much the least gap of
/// the features may be above the distance. With a number, the solid has so many features.
macro_rules! plane_pair {
    (@functions $first:ty, $features:ident, $gap:ident) => {
        struct OnPlane($first);

        impl plane_poses::OverPlane for OnPlane {
            type First = $first;
            fn new(solid: $first) -> OnPlane {
                OnPlane(solid)
            }
            fn first(&self) -> &$first {
                &self.0
            }
            fn features<S: Scalar>(
                &self,
                pose: &Pose<S>,
                plane: &Plane<S>,
                reach: f64,
                found: &mut impl FnMut(plane_poses::Feature, Proximity<S>),
            ) {
                $features(&self.0, pose, plane, reach, found);
            }
            fn at<S: Scalar>(
                &self,
                feature: plane_poses::Feature,
                pose: &Pose<S>,
                plane: &Plane<S>,
            ) -> Proximity<S> {
                at(feature, &self.0, pose, plane)
            }
            fn gap<S: Scalar>(&self, pose: &Pose<S>, plane: &Plane<S>) -> S {
                $gap(&self.0, pose, plane)
            }
        }
    };
    ($first:ty, features, gap, $slack:expr) => {
        plane_pair!(@functions $first, features, gap);

        #[test]
        fn it_is_the_signed_distance() {
            plane_poses::above_plane::<OnPlane>(10_000, $slack);
        }

        #[test]
        fn it_moves_with_the_touching_points() {
            plane_poses::rates::<OnPlane>(1000);
        }
    };
    ($first:ty, $count:expr) => {
        fn gap<S: Scalar>(first: &$first, pose: &Pose<S>, plane: &Plane<S>) -> S {
            let gaps = (0..$count as plane_poses::Feature).map(|feature| at(feature, first, pose, plane).gap);
            gaps.reduce(|least, next| if next.value() < least.value() { next } else { least })
                .expect("there are features")
        }
        fn features<S: Scalar>(
            first: &$first,
            pose: &Pose<S>,
            plane: &Plane<S>,
            reach: f64,
            found: &mut impl FnMut(plane_poses::Feature, Proximity<S>),
        ) {
            for feature in 0..$count as plane_poses::Feature {
                let near = at(feature, first, pose, plane);
                if near.gap.value() < reach {
                    found(feature, near);
                }
            }
        }
        plane_pair!($first, features, gap, 0.0);
    };
}
pub(super) use plane_pair;

/// The plane that a body carries.
fn carried<S: Scalar>(pose: &Pose<S>) -> Plane<S> {
    Plane { origin: pose.position, normal: pose.orientation.to_world(&Vector3::z()) }
}

/// Random poses, half of them with the axis of the solid upright or tilted by little.
fn over_plane<P: OverPlane>(numbers: &mut Numbers) -> (P, Pose<f64>, Pose<f64>) {
    let (solid, mut pose, ground) = (P::First::random(numbers), numbers.pose(), numbers.pose());
    if numbers.next() > 0.0 {
        let (axis, normal) = (pose.orientation.to_world(&solid.axis()), carried(&ground).normal);
        let upright = axis.cross(&normal).normalize() * axis.dot(&normal).acos();
        let tilt = numbers.vector() * 10_f64.powf(-4.0 + 3.0 * numbers.next());
        pose.orientation = pose.orientation.turned(&upright).turned(&tilt);
    }
    (P::new(solid), pose, ground)
}

/// Signed distance from a plane against the support function, and features within several reaches.
pub fn above_plane<P: OverPlane>(count: usize, slack: f64) {
    let mut numbers = Numbers::new();
    for case in 0..count {
        let (pair, pose, ground) = over_plane::<P>(&mut numbers);
        let plane = carried(&ground);
        let lowest = place(pair.first(), &pose, &-plane.normal) - plane.origin;
        let expected = plane.normal.dot(&lowest) - pair.first().margin();
        let gap = pair.gap(&pose, &plane);
        assert!((gap - expected).abs() < 1e-12, "{gap} {expected}");
        for reach in [f64::INFINITY, 0.3, 0.0, -0.1, gap + 1e-7, gap - 1e-7] {
            let mut deepest = f64::INFINITY;
            pair.features(&pose, &plane, reach, &mut |feature, near| {
                deepest = deepest.min(near.gap);
                assert!(near.gap < reach);
                let again = pair.at(feature, &pose, &plane);
                assert_eq!((again.gap, again.normal, again.arm), (near.gap, near.normal, near.arm));
                let height = plane.normal.dot(&(pose.position + near.arm - plane.origin));
                assert!((height - near.gap).abs() < 1e-12);
                if reach < f64::INFINITY || case % 10 > 0 {
                    return;
                }
                // The touching point belongs to the solid.
                let point = pose.position + near.arm + near.normal * pair.first().margin();
                let off = least_norm(&mut |direction| place(pair.first(), &pose, direction) - point).norm();
                assert!(off < 1e-7, "{off} off");
            });
            assert_eq!(gap < reach, deepest < f64::INFINITY);
            assert!(deepest == f64::INFINITY || deepest <= gap + slack);
        }
    }
}

/// Rates of the gaps to a moving plane against the velocity of the touching points and against central differences.
pub fn rates<P: OverPlane>(count: usize) {
    let mut numbers = Numbers::new();
    for _ in 0..count {
        let (pair, pose, ground) = over_plane::<P>(&mut numbers);
        let motion = Motion::random(&mut numbers);
        let (moving, plane) = (motion.dual(0, &pose), carried(&motion.dual(1, &ground)));
        pair.features(&pose, &carried(&ground), f64::INFINITY, &mut |feature, near| {
            let exact = pair.at(feature, &moving, &plane);
            let expected = motion.parting(&without_tangents(&exact), &pose, &ground);
            assert!((exact.gap.value - near.gap).abs() < 1e-12);
            let rate = exact.gap.tangent;
            assert!((rate - expected).abs() < 1e-11, "{rate} {expected}");
            let after = |time: f64| {
                let ground = carried(&motion.after(1, &ground, time));
                pair.at(feature, &motion.after(0, &pose, time), &ground).gap
            };
            let difference = (after(1e-6) - after(-1e-6)) / 2e-6;
            // The lowest point of a rim that is nearly flat runs around it, too fast for differences.
            let axis = pose.orientation.to_world(&pair.first().axis());
            if axis.cross(&near.normal).norm() > 0.05 {
                assert!((difference - expected).abs() < 1e-7, "{difference} {expected}");
            }
        });
        let gap = pair.gap(&moving, &plane);
        assert!(gap.value.is_finite() && gap.tangent.is_finite());
    }
}
