#![cfg(test)]

use super::super::hulls::{HasParts, Hull, IsRound};
use super::super::poses::{Motion, without_tangents};
use super::super::solids::{Ball, Capsule, Cuboid, Cylinder, Disc};
use super::super::support::{Numbers, Solid, least_norm, place};
use super::*;
use crate::engine::math::rotation::Orientation;

/// A solid over a plane.
trait OverPlane: Solid {
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

macro_rules! over_plane {
    ($($solid:ident),* by corners) => {$(
        impl OverPlane for $solid {
            fn features<S: Scalar>(
                &self,
                pose: &Pose<S>,
                plane: &Plane<S>,
                reach: f64,
                found: &mut impl FnMut(Feature, Proximity<S>),
            ) {
                for feature in 0..self.parts().counts().corners as Feature {
                    let near = OverPlane::at(self, feature, pose, plane);
                    if near.gap.value() < reach {
                        found(feature, near);
                    }
                }
            }
            fn at<S: Scalar>(&self, feature: Feature, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
                let parts = self.parts();
                corner(&parts.corner(feature as usize), parts.margin(), pose, plane)
            }
            fn gap<S: Scalar>(&self, pose: &Pose<S>, plane: &Plane<S>) -> S {
                let corners = 0..self.parts().counts().corners as Feature;
                let gaps = corners.map(|feature| OverPlane::at(self, feature, pose, plane).gap);
                gaps.reduce(|least, next| if next.value() < least.value() { next } else { least })
                    .expect("there are corners")
            }
        }
    )*};
    ($($solid:ident),* by rims) => {$(
        impl OverPlane for $solid {
            fn features<S: Scalar>(
                &self,
                pose: &Pose<S>,
                plane: &Plane<S>,
                reach: f64,
                found: &mut impl FnMut(Feature, Proximity<S>),
            ) {
                features(&self.round(), pose, plane, reach, found);
            }
            fn at<S: Scalar>(&self, feature: Feature, pose: &Pose<S>, plane: &Plane<S>) -> Proximity<S> {
                at(feature, &self.round(), pose, plane)
            }
            fn gap<S: Scalar>(&self, pose: &Pose<S>, plane: &Plane<S>) -> S {
                gap(&self.round(), pose, plane)
            }
        }
    )*};
}

over_plane!(Ball, Capsule, Cuboid, Hull by corners);
over_plane!(Cylinder, Disc by rims);

/// The plane that a body carries.
fn carried<S: Scalar>(pose: &Pose<S>) -> Plane<S> {
    Plane { origin: pose.position, normal: pose.orientation.to_world(&Vector3::z()) }
}

/// Random poses, half of them with the axis of the solid upright or tilted by little.
fn over_plane<P: OverPlane>(numbers: &mut Numbers) -> (P, Pose<f64>, Pose<f64>) {
    let (solid, mut pose, ground) = (P::random(numbers), numbers.pose(), numbers.pose());
    if numbers.next() > 0.0 {
        let (axis, normal) = (pose.orientation.to_world(&solid.axis()), carried(&ground).normal);
        let upright = axis.cross(&normal).normalize() * axis.dot(&normal).acos();
        let tilt = numbers.vector() * 10_f64.powf(-4.0 + 3.0 * numbers.next());
        pose.orientation = pose.orientation.turned(&upright).turned(&tilt);
    }
    (solid, pose, ground)
}

/// Signed distance against the support function, features within several reaches, the least of them up to `slack` the
/// distance; and rates of gaps to a moving plane.
fn holds<P: OverPlane>(slack: f64) {
    let mut numbers = Numbers::new();
    for case in 0..10_000 {
        let (solid, pose, ground) = over_plane::<P>(&mut numbers);
        let plane = carried(&ground);
        let lowest = place(&solid, &pose, &-plane.normal) - plane.origin;
        let expected = plane.normal.dot(&lowest) - solid.margin();
        let gap = solid.gap(&pose, &plane);
        assert!((gap - expected).abs() < 1e-12, "{gap} {expected}");
        for reach in [f64::INFINITY, 0.3, 0.0, -0.1, gap + 1e-7, gap - 1e-7] {
            let mut deepest = f64::INFINITY;
            solid.features(&pose, &plane, reach, &mut |feature, near| {
                deepest = deepest.min(near.gap);
                assert!(near.gap < reach);
                let again = solid.at(feature, &pose, &plane);
                assert_eq!((again.gap, again.normal, again.arm), (near.gap, near.normal, near.arm));
                let height = plane.normal.dot(&(pose.position + near.arm - plane.origin));
                assert!((height - near.gap).abs() < 1e-12);
                if reach < f64::INFINITY || case % 10 > 0 {
                    return;
                }
                // The touching point belongs to the solid.
                let point = pose.position + near.arm + near.normal * solid.margin();
                let off = least_norm(&mut |direction| place(&solid, &pose, direction) - point).norm();
                assert!(off < 1e-7, "{off} off");
            });
            assert_eq!(gap < reach, deepest < f64::INFINITY);
            assert!(deepest == f64::INFINITY || deepest <= gap + slack);
        }
        if case % 10 == 0 {
            rates(&solid, &pose, &ground, &mut numbers);
        }
    }
}

/// Rates of the gaps to a moving plane against the velocity of the touching points and against central differences.
fn rates<P: OverPlane>(solid: &P, pose: &Pose<f64>, ground: &Pose<f64>, numbers: &mut Numbers) {
    let motion = Motion::random(numbers);
    let (moving, plane) = (motion.dual(0, pose), carried(&motion.dual(1, ground)));
    solid.features(pose, &carried(ground), f64::INFINITY, &mut |feature, near| {
        let exact = solid.at(feature, &moving, &plane);
        let expected = motion.parting(&without_tangents(&exact), pose, ground);
        assert!((exact.gap.value - near.gap).abs() < 1e-12);
        let rate = exact.gap.tangent;
        assert!((rate - expected).abs() < 1e-11, "{rate} {expected}");
        let after = |time: f64| {
            let ground = carried(&motion.after(1, ground, time));
            solid.at(feature, &motion.after(0, pose, time), &ground).gap
        };
        let difference = (after(1e-6) - after(-1e-6)) / 2e-6;
        // The lowest point of a rim that is nearly flat runs around it, too fast for differences.
        let axis = pose.orientation.to_world(&solid.axis());
        if axis.cross(&near.normal).norm() > 0.05 {
            assert!((difference - expected).abs() < 1e-7, "{difference} {expected}");
        }
    });
    let gap = solid.gap(&moving, &plane);
    assert!(gap.value.is_finite() && gap.tangent.is_finite());
}

#[test]
fn solids_with_corners() {
    holds::<Ball>(0.0);
    holds::<Capsule>(0.0);
    holds::<Cuboid>(0.0);
    holds::<Hull>(0.0);
}

#[test]
fn solids_with_rims() {
    holds::<Cylinder>(1e-8);
    holds::<Disc>(1e-8);
}

/// Features at a pose over the plane `z = 0`, all of which touch it exactly.
fn touching<P: OverPlane>(solid: &P, turn: &Vector3<f64>, height: f64) -> Vec<Feature> {
    let plane = Plane { origin: Vector3::zeros(), normal: Vector3::z() };
    let pose = Pose { position: Vector3::z() * height, orientation: Orientation::from_turn(turn) };
    let mut list = Vec::new();
    solid.features(&pose, &plane, 1e-3, &mut |feature, near| {
        assert!(near.gap.abs() < 1e-15 && (near.arm[2] + height).abs() < 1e-15);
        list.push(feature);
    });
    list
}

#[test]
fn what_lies_flat_touches_with_more_than_one_point() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let capsule = Capsule { half_axis: Vector3::new(0.6, 0.8, 0.0), radius: 0.25 };
    assert_eq!(touching(&capsule, &Vector3::zeros(), 0.25), [0, 1]);
    let cylinder = Cylinder { half_axis: Vector3::new(0.0, 0.8, 0.0), radius: 0.5 };
    assert_eq!(touching(&cylinder, &(Vector3::x() * quarter), 0.8), [1, 2, 3, 4]);
    assert_eq!(touching(&cylinder, &(Vector3::x() * -quarter), 0.8), [6, 7, 8, 9]);
    assert_eq!(touching(&cylinder, &(Vector3::y() * 0.3), 0.5), [0, 5]);
    let disc = Disc { radius: 0.5, axis: Vector3::z() };
    assert_eq!(touching(&disc, &Vector3::zeros(), 0.0), [1, 2, 3, 4]);
    assert_eq!(touching(&disc, &(Vector3::x() * 0.3), 0.5 * f64::sin(0.3)), [0]);
}

/// Where a disc is tilted by little, its lowest point and those fixed to the body may touch.
#[test]
fn a_tilted_disc_may_touch_with_five_points() {
    let disc = Disc { radius: 0.5, axis: Vector3::z() };
    let plane = Plane { origin: Vector3::zeros(), normal: Vector3::z() };
    let pose =
        Pose { position: Vector3::z() * 1e-3, orientation: Orientation::from_turn(&(Vector3::x() * 1e-3)) };
    let mut list = Vec::new();
    disc.features(&pose, &plane, 0.01, &mut |feature, _| list.push(feature));
    assert_eq!(list, [0, 1, 2, 3, 4]);
}
