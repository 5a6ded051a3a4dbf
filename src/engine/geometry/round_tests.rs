use super::super::hulls::{HasParts, Hull, IsRound};
use super::super::poses::{self, shape_pair};
use super::super::round_round;
use super::super::solids::{Capsule, Cuboid, Cylinder, Disc};
use super::super::support::Numbers;
use super::*;
use crate::engine::math::rotation::Orientation;

shape_pair!(OnFaces<A: IsRound, B: HasParts>, round, parts, features, at, gap, |one, first, other: &Faceted, second| {
    nearest(one, first, other, second).feature(&other.counts())
});
shape_pair!(
    BothRound<A: IsRound, B: IsRound>, round, round, round_round::features, round_round::at, round_round::gap, round_round::nearest
);

fn holds<A: IsRound, B: HasParts>() {
    poses::holds::<OnFaces<A, B>>(2.0 * TOLERANCES.sliver);
}

fn hold<A: IsRound, B: IsRound>() {
    poses::holds::<BothRound<A, B>>(2.0 * TOLERANCES.sliver);
}

#[test]
fn cylinder_and_box() {
    holds::<Cylinder, Cuboid>();
}

#[test]
fn cylinder_and_capsule() {
    holds::<Cylinder, Capsule>();
}

#[test]
fn cylinder_and_hull() {
    holds::<Cylinder, Hull>();
}

#[test]
fn disc_and_box() {
    holds::<Disc, Cuboid>();
}

#[test]
fn disc_and_capsule() {
    holds::<Disc, Capsule>();
}

#[test]
fn disc_and_hull() {
    holds::<Disc, Hull>();
}

#[test]
fn cylinder_and_cylinder() {
    hold::<Cylinder, Cylinder>();
}

#[test]
fn cylinder_and_disc() {
    hold::<Cylinder, Disc>();
}

#[test]
fn disc_and_disc() {
    hold::<Disc, Disc>();
}

/// A cylinder that stands touches with four points, one that lies with two; what hangs over an edge is cut off there.
#[test]
fn points_of_a_cylinder_on_a_box() {
    let cylinder = Cylinder { half_axis: Vector3::z() * 0.75, radius: 0.5 };
    let pair = OnFaces { first: cylinder, second: Cuboid { half: Vector3::new(1.0, 2.0, 0.5) } };
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let lying = Orientation::from_turn(&(Vector3::x() * std::f64::consts::FRAC_PI_2));
    let standing = still.orientation;
    let half_chord = 0.4;
    for (orientation, place, points) in [
        (standing, [0.0, 0.0, 1.25], vec![[0.5, 0.0], [-0.5, 0.0], [0.0, 0.5], [0.0, -0.5]]),
        // The edge at 1 is 0.3 from the axis.
        (
            standing,
            [0.7, 0.0, 1.25],
            vec![[0.2, 0.0], [0.7, 0.5], [0.7, -0.5], [1.0, half_chord], [1.0, -half_chord]],
        ),
        (standing, [1.3, 0.0, 1.25], vec![[0.8, 0.0], [1.0, half_chord], [1.0, -half_chord]]),
        // A corner of the box is under the cap.
        (standing, [1.0, 2.0, 1.25], vec![[0.5, 2.0], [1.0, 1.5], [1.0, 2.0]]),
        (lying, [0.0, 0.0, 1.0], vec![[0.0, 0.75], [0.0, -0.75]]),
        (lying, [0.3, 1.5, 1.0], vec![[0.3, 0.75], [0.3, 2.0]]),
    ] {
        let position = Vector3::from(place);
        let list = poses::found(&pair, &Pose { position, orientation }, &still, 1e-3);
        for (_, near) in &list {
            assert!(near.gap.abs() < 1e-12, "{place:?}: {near:?}");
            assert!((near.normal - Vector3::z()).norm() < 1e-12, "{place:?}: {near:?}");
            let at = position + near.arm;
            let is_known = |[x, y]: &[f64; 2]| (at - Vector3::new(*x, *y, 0.5)).norm() < 1e-9;
            assert!(points.iter().any(is_known), "{place:?}: {at:?}");
        }
        for [x, y] in &points {
            let is_there = |(_, near): &(Feature, Proximity<f64>)| {
                (position + near.arm - Vector3::new(*x, *y, 0.5)).norm() < 1e-9
            };
            assert!(list.iter().any(is_there), "{place:?}: {x} {y} in {list:?}");
        }
        // The same points where it has moved a little; where it tilts, the lowest one too.
        let mut numbers = Numbers::new();
        for _ in 0..100 {
            let moved = Pose {
                position: position + numbers.vector() * 1e-6,
                orientation: orientation.turned(&(numbers.vector() * 1e-6)),
            };
            let now = poses::found(&pair, &moved, &still, 1e-3);
            for (feature, _) in &list {
                assert!(now.iter().any(|(other, _)| other == feature), "{place:?}: {feature}");
            }
            assert!(now.len() <= list.len() + 1);
        }
    }
}

#[test]
fn points_of_a_capsule_and_a_cylinder() {
    let cylinder = Cylinder { half_axis: Vector3::y(), radius: 0.5 };
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    for (half_axis, place, points) in [
        ([0.0, 0.6, 0.0], [0.0, 0.0, 0.75], vec![[0.0, 0.6, 0.5], [0.0, -0.6, 0.5]]),
        ([0.0, 0.6, 0.0], [0.0, 0.7, 0.75], vec![[0.0, 0.1, 0.5], [0.0, 1.0, 0.5]]),
        ([0.6, 0.0, 0.0], [0.1, 0.3, 0.75], vec![[0.0, 0.3, 0.5]]),
        // On a cap.
        ([0.3, 0.0, 0.0], [0.0, 1.25, 0.0], vec![[0.3, 1.0, 0.0], [-0.3, 1.0, 0.0]]),
        ([0.9, 0.0, 0.0], [0.0, 1.25, 0.3], vec![[0.4, 1.0, 0.3], [-0.4, 1.0, 0.3]]),
    ] {
        let capsule = Capsule { half_axis: Vector3::from(half_axis), radius: 0.25 };
        let pair = OnFaces { first: cylinder, second: capsule };
        let other = Pose { position: Vector3::from(place), ..still };
        let list = poses::found(&pair, &still, &other, 1e-3);
        assert_eq!(list.len(), points.len(), "{place:?}: {list:?}");
        for point in points {
            let is_there =
                |(_, near): &(Feature, Proximity<f64>)| (near.arm - Vector3::from(point)).norm() < 1e-9;
            assert!(list.iter().any(is_there), "{point:?} in {list:?}");
        }
        assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-12));
    }
}

#[test]
fn points_of_two_cylinders() {
    let first = Cylinder { half_axis: Vector3::z() * 0.5, radius: 0.5 };
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let wide = Cylinder { half_axis: Vector3::z() * 0.25, radius: 1.0 };
    let across = Cylinder { half_axis: Vector3::x(), radius: 0.25 };
    for (second, place, points) in [
        // One on the other, inside and over its rim.
        (
            wide,
            [0.0, 0.0, 0.75],
            vec![[0.5, 0.0, 0.25], [-0.5, 0.0, 0.25], [0.0, 0.5, 0.25], [0.0, -0.5, 0.25]],
        ),
        (first, [0.6, 0.0, 1.0], vec![[0.1, 0.0, 0.5], [0.5, 0.0, 0.5], [0.3, 0.4, 0.5], [0.3, -0.4, 0.5]]),
        // Beside each other.
        (first, [1.0, 0.0, 0.0], vec![[0.5, 0.0, 0.5], [0.5, 0.0, -0.5]]),
        (first, [1.0, 0.0, 0.4], vec![[0.5, 0.0, 0.5], [0.5, 0.0, -0.1]]),
        // Standing on one that lies.
        (across, [0.0, 0.0, 0.75], vec![[0.5, 0.0, 0.25], [-0.5, 0.0, 0.25]]),
        (across, [0.0, 0.75, 0.0], vec![[0.0, 0.25, 0.0]]),
    ] {
        let pair = BothRound { first, second };
        let position = Vector3::from(place);
        let list = poses::found(&pair, &Pose { position, ..still }, &still, 1e-3);
        assert_eq!(list.len(), points.len(), "{place:?}: {list:?}");
        for point in points {
            let is_there = |(_, near): &(Feature, Proximity<f64>)| {
                (position + near.arm - Vector3::from(point)).norm() < 1e-9
            };
            assert!(list.iter().any(is_there), "{place:?}: {point:?} in {list:?}");
        }
        assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-12), "{list:?}");
    }
}

/// Centres, axes, edges and rims that coincide, and what touches exactly.
#[test]
fn parts_that_coincide() {
    let check = |near: Vec<Proximity<f64>>, places: &[([f64; 3], f64)]| {
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-12, "{place:?}: {} {expected}", near.gap);
        }
    };
    let vectors = |places: &[([f64; 3], f64)]| -> Vec<Vector3<f64>> {
        places.iter().map(|(place, _)| Vector3::from(*place)).collect()
    };
    let half = Vector3::new(0.5, 0.75, 1.0);
    let cylinder = Cylinder { half_axis: Vector3::z(), radius: 0.5 };
    let disc = Disc { radius: 0.5, axis: Vector3::z() };
    let places = [
        ([0.0, 0.0, 0.0], -1.0),
        ([0.0, 0.0, 2.0], 0.0),
        ([1.0, 0.0, 0.0], 0.0),
        ([0.8, 1.15, 0.0], 0.0),
        ([0.8, 1.15, 2.0], 0.0),
        ([0.8, 1.15, 2.3], 0.3),
        ([1.0, 0.0, 2.0], 0.0),
        ([0.0, 1.25, 2.0], 0.0),
        ([0.5, 0.75, 2.0], 0.0),
        ([0.5, 0.75, 0.0], -0.5),
    ];
    check(
        poses::degenerate(&OnFaces { first: cylinder, second: Cuboid { half } }, &vectors(&places)),
        &places,
    );
    check(
        poses::degenerate(&OnFaces { first: cylinder, second: Hull::cube(half) }, &vectors(&places)),
        &places,
    );
    let places = [
        ([0.0, 0.0, 0.0], -1.0),
        ([0.0, 0.0, 1.0], 0.0),
        ([1.0, 0.0, 0.0], 0.0),
        ([0.8, 1.15, 0.0], 0.0),
        ([0.8, 1.15, 1.0], 0.0),
        ([0.8, 1.15, 1.3], 0.3),
    ];
    check(poses::degenerate(&OnFaces { first: disc, second: Cuboid { half } }, &vectors(&places)), &places);
    for (axis, places) in [
        (
            Vector3::z() * 0.5,
            [
                ([0.0, 0.0, 0.0], -0.75),
                ([0.75, 0.0, 0.0], 0.0),
                ([0.0, 0.0, 1.75], 0.0),
                ([0.5, 0.0, 1.75], 0.0),
                ([0.5, 0.0, 0.0], -0.25),
            ],
        ),
        (
            Vector3::x() * 0.5,
            [
                ([0.0, 0.0, 0.0], -0.75),
                ([1.25, 0.0, 0.0], 0.0),
                ([0.0, 0.75, 0.0], 0.0),
                ([0.0, 0.0, 1.25], 0.0),
                ([0.5, 0.0, 1.25], 0.0),
            ],
        ),
    ] {
        let capsule = Capsule { half_axis: axis, radius: 0.25 };
        check(poses::degenerate(&OnFaces { first: cylinder, second: capsule }, &vectors(&places)), &places);
    }
    let capsule = Capsule { half_axis: Vector3::x() * 0.5, radius: 0.25 };
    let places = [
        ([0.0, 0.0, 0.0], -0.25),
        ([0.0, 0.0, 0.25], 0.0),
        ([1.25, 0.0, 0.0], 0.0),
        ([0.5, 0.5, 0.0], -0.25),
    ];
    check(poses::degenerate(&OnFaces { first: disc, second: capsule }, &vectors(&places)), &places);
    let point = Capsule { half_axis: Vector3::zeros(), radius: 0.25 };
    let places = [([0.0, 0.0, 0.0], -0.75), ([0.75, 0.0, 0.0], 0.0), ([0.0, 0.0, 1.25], 0.0)];
    check(poses::degenerate(&OnFaces { first: cylinder, second: point }, &vectors(&places)), &places);

    let small = Cylinder { half_axis: Vector3::z() * 0.5, radius: 0.25 };
    let places = [
        ([0.0, 0.0, 0.0], -0.75),
        ([0.75, 0.0, 0.0], 0.0),
        ([0.0, 0.0, 1.5], 0.0),
        ([0.25, 0.0, 1.5], 0.0),
        ([0.75, 0.0, 1.5], 0.0),
        ([0.75, 0.0, 1.9], 0.4),
        ([1.05, 0.0, 1.9], 0.5),
    ];
    check(poses::degenerate(&BothRound { first: small, second: cylinder }, &vectors(&places)), &places);
    check(poses::degenerate(&BothRound { first: cylinder, second: small }, &vectors(&places)), &places);
    let lying = Cylinder { half_axis: Vector3::x() * 0.5, radius: 0.25 };
    let places = [
        ([0.0, 0.0, 0.0], -0.75),
        ([1.0, 0.0, 0.0], 0.0),
        ([0.0, 0.75, 0.0], 0.0),
        ([0.0, 0.0, 1.25], 0.0),
        ([1.0, 0.0, 1.25], 0.0),
        ([0.5, 0.5, 0.0], -0.25),
    ];
    check(poses::degenerate(&BothRound { first: lying, second: cylinder }, &vectors(&places)), &places);
    let places = [
        ([0.0, 0.0, 0.0], 0.0),
        ([0.5, 0.0, 0.0], 0.0),
        ([1.0, 0.0, 0.0], 0.0),
        ([1.5, 0.0, 0.0], 0.5),
        ([0.0, 0.0, 0.5], 0.5),
        ([1.3, 0.0, 0.4], 0.5),
    ];
    check(poses::degenerate(&BothRound { first: disc, second: disc }, &vectors(&places)), &places);
    let upright = Disc { radius: 0.5, axis: Vector3::x() };
    let places =
        [([0.0, 0.0, 0.5], 0.0), ([0.5, 0.0, 0.0], 0.0), ([0.5, 0.0, 0.5], 0.0), ([0.0, 1.0, 0.0], 0.0)];
    check(poses::degenerate(&BothRound { first: upright, second: disc }, &vectors(&places)), &places);
    let places =
        [([0.0, 0.0, 0.0], -1.0), ([0.0, 0.0, 1.0], 0.0), ([1.0, 0.0, 0.0], 0.0), ([1.0, 0.0, 1.0], 0.0)];
    check(poses::degenerate(&BothRound { first: disc, second: cylinder }, &vectors(&places)), &places);
}
