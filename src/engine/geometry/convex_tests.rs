use super::super::box_parts::{AROUND, corner};
use super::super::hulls::{HasParts, Hull};
use super::super::poses::{self, shape_pair};
use super::super::solids::{Ball, Capsule, Cuboid};
use super::super::support::{Numbers, Solid};
use super::*;
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::elementary::{cos, power, sin};
use nalgebra::Vector2;

shape_pair!(Both<A: HasParts, B: HasParts>, parts, parts, features, at, gap, |one: &Faceted, first, other: &Faceted, second| {
    nearest(one, first, other, second).feature(&one.counts(), &other.counts())
});

fn holds<A: HasParts, B: HasParts>() {
    poses::holds::<Both<A, B>>(2.0 * TOLERANCES.sliver);
}

#[test]
fn capsule_and_capsule() {
    holds::<Capsule, Capsule>();
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
fn capsule_and_box() {
    holds::<Capsule, Cuboid>();
}

#[test]
fn box_and_box() {
    holds::<Cuboid, Cuboid>();
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
        let expected = gap(&boxes[0].parts(), &first, &boxes[1].parts(), &second);
        let found = gap(&hulls[0].parts(), &first, &hulls[1].parts(), &second);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        if case % 2 == 0 {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            features(&hulls[0].parts(), &first, &hulls[1].parts(), &second, 1e-3, &mut |feature, near| {
                one.push((feature, near));
            });
            features(&boxes[0].parts(), &first, &boxes[1].parts(), &second, 1e-3, &mut |feature, near| {
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
    check(poses::degenerate(&Both { first: cuboid, second: cuboid }, &at));
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
fn a_capsule_on_a_face_touches_with_two_points() {
    let cuboid = Cuboid { half: Vector3::new(1.0, 0.5, 0.25) };
    on_a_face(&cuboid);
    on_a_face(&Hull::cube(cuboid.half));
}

fn on_a_face<B: HasParts + Clone + std::fmt::Debug>(second: &B) {
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let mut numbers = Numbers::new();
    // Half axis and centre of the capsule, places of the touching points on the face.
    for (half_axis, place, points) in [
        ([0.6, 0.0], [0.0, 0.0], [[-0.6, 0.0], [0.6, 0.0]]),
        ([0.6, 0.0], [0.7, 0.0], [[0.1, 0.0], [1.0, 0.0]]),
        ([0.6, 0.0], [-0.7, 0.2], [[-0.1, 0.2], [-1.0, 0.2]]),
        ([0.3, 0.8], [0.0, 0.0], [[-0.1875, -0.5], [0.1875, 0.5]]),
        ([0.0, 0.9], [0.25, 0.0], [[0.25, -0.5], [0.25, 0.5]]),
        ([0.4, 0.4], [0.8, 0.3], [[0.4, -0.1], [1.0, 0.5]]),
        ([0.4, -0.4], [0.9, 0.4], [[0.8, 0.5], [1.0, 0.3]]),
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
        assert!(list.iter().all(|(_, near)| (near.normal - Vector3::z()).norm() < 1e-12));
        for _ in 0..100 {
            let position = position + numbers.vector() * 1e-6;
            let orientation = Orientation::from_turn(&(numbers.vector() * 1e-6));
            let moved = poses::found(&pair, &Pose { position, orientation }, &still, 1e-3);
            let names =
                |list: &[(Feature, Proximity<f64>)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            // At a corner it crosses either of two edges.
            let is_at_corner = points.contains(&[1.0, 0.5]);
            assert_eq!(moved.len(), list.len());
            assert!(is_at_corner || names(&moved) == names(&list), "{half_axis:?} {place:?}");
            let tilted = Orientation::from_turn(&(numbers.direction() * 0.1));
            poses::rates_at(&pair, &Pose { position, orientation: tilted }, &still, &mut numbers);
        }
    }
}

#[test]
fn segments_on_faces_edges_corners_and_inside() {
    let second = Cuboid { half: Vector3::new(1.0, 2.0, 3.0) };
    let first = Capsule { half_axis: Vector3::new(0.5, 0.0, 0.0), radius: 0.25 };
    let places = [
        ([0.0, 0.0, 0.0], -1.75),
        ([1.0, 0.0, 0.0], -0.75),
        ([1.5, 0.0, 0.0], -0.25),
        ([1.75, 0.0, 0.0], 0.0),
        ([0.0, 2.0, 0.0], -0.25),
        ([0.0, 2.25, 0.0], 0.0),
        ([0.0, 2.0, 3.0], -0.25),
        ([1.0, 2.0, 3.0], -0.25),
        ([1.5, 2.0, 3.0], -0.25),
        ([1.8, 2.4, 3.0], 0.25),
        ([1.8, 2.0, 3.4], 0.25),
    ];
    let near = poses::degenerate(&Both { first, second }, &places.map(|(place, _)| Vector3::from(place)));
    for (near, (place, expected)) in near.iter().zip(places) {
        assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
    }
    let point = Capsule { half_axis: Vector3::zeros(), radius: 0.25 };
    let near =
        poses::degenerate(&Both { first: point, second }, &[Vector3::zeros(), Vector3::new(1.0, 2.0, 3.0)]);
    assert_eq!([near[0].gap, near[1].gap], [-1.25, -0.25]);
}

#[test]
fn parallel_capsules_touch_at_the_ends_of_their_common_length() {
    let along = Vector3::new(0.6, 0.8, 0.0);
    let long = Capsule { half_axis: along, radius: 0.25 };
    let short = Capsule { half_axis: along * 0.5, radius: 0.5 };
    let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    let mut numbers = Numbers::new();
    for (first, second, shift, expected) in [
        (long, long, 0.0, vec![1, 2]),
        (long, long, 0.4, vec![1, 4]),
        (long, long, -0.4, vec![2, 3]),
        (short, long, 0.0, vec![1, 2]),
        (short, long, 0.5, vec![1, 2]),
        (long, short, 0.0, vec![3, 4]),
        (long, long, 2.0, vec![1]),
    ] {
        let pair = Both { first, second };
        let size = first.radius + second.radius;
        let place = along * shift + Vector3::z() * size;
        let names = |pose: &Pose<f64>| {
            let list = poses::found(&pair, pose, &still, 1e-3);
            list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>()
        };
        assert_eq!(names(&Pose { position: place, ..still }), expected, "{shift}");
        for (_, near) in poses::found(&pair, &Pose { position: place, ..still }, &still, 1e-3) {
            assert!(near.gap.abs() < 1e-15 && (near.normal - Vector3::z()).norm() < 1e-15);
        }
        for _ in 0..200 {
            let position = place + numbers.vector() * 1e-6;
            let orientation = Orientation::from_turn(&(numbers.vector() * 1e-6));
            assert_eq!(names(&Pose { position, orientation }), expected, "{shift}");
            let tilted = Orientation::from_turn(&(numbers.direction() * 0.05));
            poses::rates_at(&pair, &Pose { position, orientation: tilted }, &still, &mut numbers);
        }
    }
}

#[test]
fn axes_of_capsules_that_meet() {
    let axis = Vector3::new(0.0, 0.6, 0.8);
    let pair = Both {
        first: Capsule { half_axis: axis, radius: 0.25 },
        second: Capsule { half_axis: axis, radius: 0.5 },
    };
    let places = [Vector3::zeros(), axis, axis * 2.0, axis * -2.0, axis * 2.75, Vector3::x() * 0.75];
    let near = poses::degenerate(&pair, &places);
    for (near, expected) in near.iter().zip([-0.75, -0.75, -0.75, -0.75, 0.0, 0.0]) {
        assert!((near.gap - expected).abs() < 1e-14, "{}", near.gap);
    }
    let crossed = Both { second: Capsule { half_axis: Vector3::x(), radius: 0.5 }, ..pair };
    let near = poses::degenerate(&crossed, &[Vector3::zeros(), axis, Vector3::x(), axis + Vector3::x()]);
    for near in near {
        assert!((near.gap + 0.75).abs() < 1e-14);
    }
    let point = Capsule { half_axis: Vector3::zeros(), radius: 0.5 };
    poses::degenerate(&Both { second: point, ..pair }, &[Vector3::zeros(), axis, Vector3::x()]);
    poses::degenerate(&Both { first: point, second: point }, &[Vector3::zeros(), Vector3::x()]);
}

/// The depth is the distance of the origin from the hull of all differences of corners: the planes through any
/// three of them that have the others on one side are tried.
#[test]
fn the_depth_is_that_of_the_hull_of_differences() {
    let mut numbers = Numbers::new();
    let mut checked = 0;
    while checked < 30 {
        let cuboid = |numbers: &mut Numbers| Cuboid { half: Vector3::from_fn(|_, _| numbers.length()) };
        let (first, second) = (cuboid(&mut numbers), cuboid(&mut numbers));
        let poses = [numbers.pose(), numbers.pose()];
        let found = gap(&first.parts(), &poses[0], &second.parts(), &poses[1]);
        if found > 0.0 {
            continue;
        }
        checked += 1;
        let place = |pose: &Pose<f64>, cuboid: &Cuboid, index: usize| {
            pose.position + pose.orientation.to_world(&corner(&cuboid.half, index))
        };
        let differences: Vec<_> =
            (0..64).map(|k| place(&poses[0], &first, k / 8) - place(&poses[1], &second, k % 8)).collect();
        let mut depth = f64::INFINITY;
        for i in 0..64 {
            for j in 0..i {
                for k in 0..j {
                    let a = differences[i];
                    let across = (differences[j] - a).cross(&(differences[k] - a));
                    let Some(normal) = across.try_normalize(1e-9) else { continue };
                    let normal = if normal.dot(&a) < 0.0 { -normal } else { normal };
                    if differences.iter().all(|place| normal.dot(&(place - a)) < 1e-10) {
                        depth = depth.min(normal.dot(&a));
                    }
                }
            }
        }
        assert!((found + depth).abs() < 1e-9, "{found} {depth}");
    }
}

/// The first box above the second, its face over the second's, turned about the vertical and a little tilted.
fn above(pair: &Both<Cuboid, Cuboid>, offset: [f64; 3], yaw: f64, tilt: &Vector3<f64>) -> [Pose<f64>; 2] {
    let height = pair.first.half[2] + pair.second.half[2] + offset[2];
    let orientation = Orientation::from_turn(&(Vector3::z() * yaw)).turned(tilt);
    let second = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    [Pose { position: Vector3::new(offset[0], offset[1], height), orientation }, second]
}

/// Corners of the common area of two rectangles around the origin, by cutting one with the sides of the other.
fn common_area(first: &[Vector2<f64>], half: &Vector2<f64>) -> Vec<Vector2<f64>> {
    let mut area = first.to_vec();
    for (axis, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
        let over = |place: &Vector2<f64>| sign * place[axis] - half[axis];
        let mut cut = Vec::new();
        for (k, place) in area.iter().enumerate() {
            let next = &area[(k + 1) % area.len()];
            if over(place) <= 0.0 {
                cut.push(*place);
            }
            if over(place) * over(next) < 0.0 {
                cut.push(place + (next - place) * (over(place) / (over(place) - over(next))));
            }
        }
        area = cut;
    }
    area
}

#[test]
fn faces_touch_at_the_corners_of_their_common_area() {
    let mut numbers = Numbers::new();
    let mut counts = [0; 9];
    for _ in 0..2000 {
        let cuboid = |numbers: &mut Numbers| Cuboid { half: Vector3::from_fn(|_, _| numbers.length()) };
        let pair = Both { first: cuboid(&mut numbers), second: cuboid(&mut numbers) };
        let yaw = 3.0 * numbers.next();
        let offset = [numbers.next(), numbers.next(), 1e-3 * numbers.next()];
        let tilt = Vector3::new(numbers.next(), numbers.next(), 0.0) * 1e-9;
        let [first, second] = above(&pair, offset, yaw, &tilt);
        let (half, other) = (pair.first.half, pair.second.half);
        let turned = AROUND.map(|(a, b)| {
            let sign = |plus: bool| if plus { 1.0 } else { -1.0 };
            let place = Vector3::new(sign(a) * half[0], sign(b) * half[1], 0.0);
            (first.position + first.orientation.to_world(&place)).xy()
        });
        let area = common_area(&turned, &other.xy());
        let touching = poses::found(&pair, &first, &second, 0.01);
        let sliver = TOLERANCES.sliver * half.min().min(other.min());
        for place in &area {
            let point = |near: &Proximity<f64>| (first.position + near.arm).xy();
            let off = touching.iter().map(|(_, near)| (point(near) - place).norm());
            let off = off.fold(f64::INFINITY, f64::min);
            let is_sliver = |other: &Vector2<f64>| other != place && (other - place).norm() < 20.0 * sliver;
            assert!(off < 2.0 * sliver || area.iter().any(is_sliver), "{off} {place:?} {touching:?}");
        }
        assert!(area.is_empty() || touching.len() <= area.len(), "{area:?} {touching:?}");
        if !area.is_empty() {
            counts[touching.len()] += 1;
            assert!(touching.iter().all(|(_, near)| (near.normal - Vector3::z()).norm() < 1e-5));
            assert!(touching.iter().all(|(_, near)| (near.gap - offset[2]).abs() < 1e-7));
        }
    }
    assert!(counts[3..].iter().all(|&count| count > 0), "{counts:?}");
}

#[test]
fn features_of_faces_on_each_other_are_consistent() {
    let mut numbers = Numbers::new();
    for _ in 0..300 {
        let cuboid = |numbers: &mut Numbers| Cuboid { half: Vector3::from_fn(|_, _| numbers.length()) };
        let pair = Both { first: cuboid(&mut numbers), second: cuboid(&mut numbers) };
        let offset = [0.7 * numbers.next(), 0.7 * numbers.next(), 0.05 * numbers.next()];
        let tilt = numbers.vector() * power(10.0, -4.0 + 2.0 * numbers.next());
        let [first, second] = above(&pair, offset, numbers.next(), &tilt);
        let frame = numbers.pose();
        let [first, second] = [first, second].map(|pose| Pose {
            position: frame.position + frame.orientation.to_world(&pose.position),
            orientation: frame.orientation.after(&pose.orientation),
        });
        poses::consistency_at(&pair, &first, &second, 2.0 * TOLERANCES.sliver, &mut numbers);
    }
}

#[test]
fn faces_on_each_other_move_with_their_touching_points() {
    let mut numbers = Numbers::new();
    for _ in 0..1000 {
        let cuboid = |numbers: &mut Numbers| Cuboid { half: Vector3::from_fn(|_, _| numbers.length()) };
        let pair = Both { first: cuboid(&mut numbers), second: cuboid(&mut numbers) };
        let offset = [0.5 * numbers.next(), 0.5 * numbers.next(), 0.1 * numbers.next()];
        let tilt = Vector3::new(numbers.next(), numbers.next(), 0.0) * 0.05;
        // Not nearly parallel, where differences are not accurate enough.
        let [first, second] = above(&pair, offset, 0.8 + 0.6 * numbers.next(), &tilt);
        poses::rates_at(&pair, &first, &second, &mut numbers);
    }
}

#[test]
fn boxes_of_a_stack_keep_their_features_under_small_motion() {
    let half = Vector3::new(0.5, 0.4, 0.3);
    let equal = Both { first: Cuboid { half }, second: Cuboid { half } };
    let small = Both { first: Cuboid { half: half * 0.5 }, second: Cuboid { half } };
    let large = Both { first: Cuboid { half }, second: Cuboid { half: half * 0.5 } };
    let crossed = Both { first: Cuboid { half }, second: Cuboid { half: half.yxz() } };
    let mut numbers = Numbers::new();
    // Where the first is, and the centre of the common area seen from there.
    for (pair, offset, center) in [
        (equal, [0.0, 0.0], [0.0, 0.0]),
        (equal, [0.2, 0.0], [-0.1, 0.0]),
        (equal, [0.0, 0.1], [0.0, -0.05]),
        (equal, [0.2, 0.1], [-0.1, -0.05]),
        (equal, [0.5, 0.4], [-0.25, -0.2]),
        (small, [0.0, 0.0], [0.0, 0.0]),
        (small, [0.25, 0.2], [0.0, 0.0]),
        (large, [0.0, 0.0], [0.0, 0.0]),
        (crossed, [0.0, 0.0], [0.0, 0.0]),
    ] {
        let names = |poses: &[Pose<f64>; 2]| {
            let list = poses::found(&pair, &poses[0], &poses[1], 1e-3);
            list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>()
        };
        let place = [offset[0], offset[1], 0.0];
        let still = above(&pair, place, 0.0, &Vector3::zeros());
        let at_rest = names(&still);
        assert_eq!(at_rest.len(), 4, "{pair:?} {offset:?}");
        let gaps = poses::found(&pair, &still[0], &still[1], 1e-3);
        assert!(gaps.iter().all(|(_, near)| near.gap.abs() < 1e-15 && near.normal == Vector3::z()));
        let middle = gaps.iter().fold(Vector3::zeros(), |sum, (_, near)| sum + near.arm) / 4.0;
        assert!((middle.xy() - Vector2::from(center)).norm() < 1e-15, "{middle:?} {offset:?}");
        for _ in 0..200 {
            let noise = numbers.vector() * 1e-6;
            let place = [offset[0] + noise[0], offset[1] + noise[1], noise[2]];
            let moved = above(&pair, place, 1e-6 * numbers.next(), &(numbers.vector() * 1e-6));
            assert_eq!(names(&moved), at_rest, "{pair:?} {offset:?}");
        }
    }
}

#[test]
fn edges_and_corners_touch_with_two_points_and_one() {
    let pair = Both {
        first: Cuboid { half: Vector3::new(0.3, 0.4, 0.5) },
        second: Cuboid { half: Vector3::new(2.0, 2.0, 1.0) },
    };
    let floor = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
    for angle in [0.2, 0.7, std::f64::consts::FRAC_PI_4, 1.2] {
        let orientation = Orientation::from_turn(&(Vector3::y() * angle));
        let depth = 0.3 * sin(angle) + 0.5 * cos(angle);
        let first = Pose { position: Vector3::z() * (1.0 + depth), orientation };
        let list = poses::found(&pair, &first, &floor, 1e-3);
        assert_eq!(list.len(), 2);
        assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-15));
        assert!((list[0].1.arm - list[1].1.arm).norm() > 0.79);
    }
    let orientation = Orientation::from_turn(&Vector3::new(0.5, 0.4, 0.3));
    let lowest = (0..8)
        .map(|index| orientation.to_world(&corner(&pair.first.half, index))[2])
        .fold(f64::INFINITY, f64::min);
    let first = Pose { position: Vector3::z() * (1.0 - lowest), orientation };
    let list = poses::found(&pair, &first, &floor, 1e-3);
    assert_eq!(list.len(), 1);
    assert!(list[0].1.gap.abs() < 1e-15);
    // An edge across an edge.
    let first = Orientation::from_turn(&(Vector3::x() * std::f64::consts::FRAC_PI_4));
    let second = Orientation::from_turn(&(Vector3::y() * std::f64::consts::FRAC_PI_4));
    let cube = Cuboid { half: Vector3::from_element(0.5) };
    for offset in [-0.01, 0.0, 0.01] {
        let height = 2_f64.sqrt() + offset;
        let first = Pose { position: Vector3::z() * height, orientation: first };
        let second = Pose { position: Vector3::zeros(), orientation: second };
        let list = poses::found(&Both { first: cube, second: cube }, &first, &second, 0.1);
        assert_eq!(list.len(), 1);
        assert!((list[0].1.gap - offset).abs() < 1e-15);
        assert!((list[0].1.normal - Vector3::z()).norm() < 1e-15);
    }
}
