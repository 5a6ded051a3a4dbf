use super::super::box_parts::AROUND;
use super::super::poses::{self, shape_pair, tests_of_every_pair};
use super::super::support::Numbers;
use super::*;
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::elementary::{cos, power, sin};
use nalgebra::Vector2;

shape_pair!(Cuboid, Cuboid, nearest);

#[test]
fn features_have_numbers_of_their_own() {
    for number in 0..496 {
        assert_eq!(Parts::of(number, &BOX, &BOX).feature(&BOX, &BOX), number);
        assert_eq!(Parts::of(number, &BOX, &BOX).exchanged().exchanged(), Parts::of(number, &BOX, &BOX));
    }
}

tests_of_every_pair!(1.2 * TOLERANCES.sliver);

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
        let found = gap(&first, &poses[0], &second, &poses[1]);
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
fn above(pair: &Both, offset: [f64; 3], yaw: f64, tilt: &Vector3<f64>) -> [Pose<f64>; 2] {
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
        poses::consistency_at(&pair, &first, &second, 1.2 * TOLERANCES.sliver, &mut numbers);
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

#[test]
fn parts_that_coincide() {
    let (half, places) = (poses::EQUAL_BOXES, poses::COINCIDING);
    let pair = Both { first: Cuboid { half }, second: Cuboid { half } };
    let near = poses::degenerate(&pair, &places.map(|(place, _)| Vector3::from(place)));
    for (near, (place, expected)) in near.iter().zip(places) {
        assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
    }
}
