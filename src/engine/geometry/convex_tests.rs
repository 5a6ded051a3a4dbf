use super::super::box_box;
use super::super::hulls::{HasParts, Hull};
use super::super::poses::{self, shape_pair};
use super::super::solids::{Ball, Capsule, Cuboid};
use super::super::support::{Numbers, Solid};
use super::*;
use crate::engine::math::rotation::Orientation;

shape_pair!(Both<A: HasParts, B: HasParts>, parts, parts, features, at, gap, |one: &Faceted, first, other: &Faceted, second| {
    nearest(one, first, other, second).feature(&one.counts(), &other.counts())
});

fn holds<A: HasParts, B: HasParts>() {
    poses::signed_distance::<Both<A, B>>(10_000);
    poses::rates::<Both<A, B>>(1000);
    poses::consistency::<Both<A, B>>(500, 2.0 * TOLERANCES.sliver);
    poses::scales::<Both<A, B>>(200);
}

#[test]
fn ball_and_hull() {
    holds::<Ball, Hull>();
}

#[test]
fn capsule_and_hull() {
    holds::<Capsule, Hull>();
}

#[test]
fn box_and_hull() {
    holds::<Cuboid, Hull>();
}

#[test]
fn hull_and_box() {
    holds::<Hull, Cuboid>();
}

#[test]
fn hull_and_hull() {
    holds::<Hull, Hull>();
}

/// A hull with the shape of a box is one: gaps at random poses, and the touching points of faces on each other.
#[test]
fn a_hull_of_a_box_is_a_box() {
    let mut numbers = Numbers::new();
    let points = |list: Vec<(Feature, Proximity<f64>)>| {
        let mut places: Vec<_> =
            list.iter().map(|(_, near)| [near.arm[0], near.arm[1], near.arm[2], near.gap]).collect();
        places.sort_by(|one, other| one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])));
        places
    };
    for case in 0..2000 {
        let half = [0, 1].map(|_| Vector3::from_fn(|_, _| numbers.length()));
        let hulls = half.map(Hull::cube);
        let boxes = half.map(|half| Cuboid { half });
        let (mut first, second) = (numbers.pose(), numbers.pose());
        if case % 2 == 0 {
            let offset = Vector3::new(0.7 * numbers.next(), 0.7 * numbers.next(), half[0][2] + half[1][2]);
            let turn = Vector3::z() * numbers.next() + numbers.vector() * 1e-5;
            first = second.of(&Pose { position: offset, orientation: Orientation::from_turn(&turn) });
        }
        let expected = box_box::gap(&boxes[0], &first, &boxes[1], &second);
        let found = gap(&hulls[0].parts(), &first, &hulls[1].parts(), &second);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        if case % 2 == 0 {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            features(&hulls[0].parts(), &first, &hulls[1].parts(), &second, 1e-3, &mut |feature, near| {
                one.push((feature, near));
            });
            box_box::features(&boxes[0], &first, &boxes[1], &second, 1e-3, &mut |feature, near| {
                other.push((feature, near));
            });
            let (one, other) = (points(one), points(other));
            assert_eq!(one.len(), other.len());
            let off =
                one.iter().zip(&other).flat_map(|(one, other)| (0..4).map(|k| (one[k] - other[k]).abs()));
            assert!(off.fold(0.0, f64::max) < 1e-7, "{one:?} {other:?}");
        }
    }
}

#[test]
fn parts_that_coincide() {
    let (half, places) = (poses::EQUAL_BOXES, poses::COINCIDING);
    let check = |near: Vec<Proximity<f64>>| {
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
    };
    let at = places.map(|(place, _)| Vector3::from(place));
    let (hull, cuboid) = (Hull::cube(half), Cuboid { half });
    check(poses::degenerate(&Both { first: hull.clone(), second: hull.clone() }, &at));
    check(poses::degenerate(&Both { first: cuboid, second: hull.clone() }, &at));
    check(poses::degenerate(&Both { first: hull.clone(), second: cuboid }, &at));
    let ball = Both { first: Ball { radius: 0.25 }, second: hull.clone() };
    let near = poses::degenerate(&ball, &[Vector3::zeros(), half, Vector3::new(0.5, 0.75, 0.0), half * 2.0]);
    let expected = [-0.75, -0.25, -0.25, half.norm() - 0.25];
    assert!(near.iter().zip(expected).all(|(near, gap)| (near.gap - gap).abs() < 1e-15));
    let capsule = Capsule { half_axis: Vector3::new(0.5, 0.0, 0.0), radius: 0.25 };
    let near = poses::degenerate(
        &Both { first: capsule, second: hull },
        &[Vector3::zeros(), Vector3::z(), half, half * 2.0, Vector3::new(1.0, 0.75, 1.0)],
    );
    let expected = [-1.0, -0.25, -0.25, 1.25 - 0.25, -0.25];
    assert!(near.iter().zip(expected).all(|(near, gap)| (near.gap - gap).abs() < 1e-15), "{near:?}");
}

/// A prism that stands on another touches with the corners of the common area, also when it moves a little.
#[test]
fn faces_of_many_corners_stand_on_each_other() {
    let mut numbers = Numbers::new();
    let (first, second) = (Hull::prism(6), Hull::prism(8).scaled(1.5));
    let pair = Both { first, second };
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let list = poses::found(&pair, &Pose { position: Vector3::z() * 2.5, ..still }, &still, 1e-3);
    assert_eq!(list.len(), 6);
    assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-15 && near.normal == Vector3::z()));
    let names = |list: &[(Feature, Proximity<f64>)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    for _ in 0..200 {
        let position = Vector3::z() * 2.5 + numbers.vector() * 1e-6;
        let orientation = Orientation::from_turn(&(numbers.vector() * 1e-6));
        let moved = poses::found(&pair, &Pose { position, orientation }, &still, 1e-3);
        assert_eq!(names(&moved), names(&list));
    }
}

#[test]
fn a_capsule_on_a_hull_touches_with_two_points() {
    let second = Hull::cube(Vector3::new(1.0, 0.5, 0.25));
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    for (half_axis, place, points) in [
        ([0.6, 0.0], [0.0, 0.0], [[-0.6, 0.0], [0.6, 0.0]]),
        ([0.6, 0.0], [0.7, 0.0], [[0.1, 0.0], [1.0, 0.0]]),
        ([0.3, 0.8], [0.0, 0.0], [[-0.1875, -0.5], [0.1875, 0.5]]),
        ([0.4, 0.4], [0.8, 0.3], [[0.4, -0.1], [1.0, 0.5]]),
    ] {
        let first = Capsule { half_axis: Vector3::new(half_axis[0], half_axis[1], 0.0), radius: 0.125 };
        let pair = Both { first, second: second.clone() };
        let position = Vector3::new(place[0], place[1], 0.375);
        let list = poses::found(&pair, &Pose { position, ..still }, &still, 1e-3);
        for point in points {
            let expected = Vector3::new(point[0], point[1], 0.25);
            assert!(list.iter().any(|(_, near)| (position + near.arm - expected).norm() < 1e-12), "{list:?}");
        }
        assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-15));
    }
}
