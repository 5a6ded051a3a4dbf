//! Capsule against box: the signed distance of the segment from the box, less the radius.
//!
//! Overlap: of the normals of the faces and the products of the segment with the edges, the direction with the largest
//! separation is that of least depth. Apart: the distance is the least one of an end from the box, of a corner from the
//! segment, or of an edge that faces the segment.
//!
//! Features: an end against the box, as a ball (see [`ball_box`](super::ball_box)); the segment against an edge,
//! `n . (r1 - c) - R` with `n = d x e / |d x e|`; the segment against a corner; an end against the plane of a face, where
//! the segment is inside. A capsule that lies on a face touches with the ends over the face, and where it crosses edges.
//!
//! [`convex`](super::convex) takes 6 times the time for features, and 11 times for the distance.

use super::ball_box::distance;
use super::box_parts::{CORNERS, EDGES, FACES, corner, corner_outward, edge, edge_at, face, face_at};
use super::solids::{Capsule, Cuboid, Feature, along_segment, oriented, seen_from, values};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Number of features.
pub const FEATURES: usize = END_FACE as usize + 2 * FACES;

const EDGE: Feature = 2;
const CORNER: Feature = EDGE + EDGES as Feature;
const END_FACE: Feature = CORNER + CORNERS as Feature;
/// Cosine of the angle between the normal and the middle of an edge below which the edge does not touch: its faces
/// reach to 45 degrees on both sides, and 15 degrees are added.
const OVER_EDGE: f64 = 0.5;

/// Reports where capsule and box are nearer than `reach`.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the smallest half edge larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Capsule,
    first_pose: &Pose<S>,
    second: &Cuboid,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let segment = Segment::new(first, &values(first_pose), second, &values(second_pose));
    let (nearest, is_apart) = segment.nearest();
    let near = at(nearest, first, first_pose, second, second_pose);
    if near.gap.value() >= reach {
        return;
    }
    let mut deepest = f64::INFINITY;
    // Where the segment itself is inside, only the way out counts.
    if is_apart {
        let edges = (0..EDGES).filter(|&index| segment.is_crossed_by(index));
        for feature in (0..EDGE).chain(edges.map(|index| EDGE + index as Feature)) {
            let near = at(feature, first, first_pose, second, second_pose);
            if near.gap.value() < reach {
                deepest = deepest.min(near.gap.value());
                found(feature, near);
            }
        }
    }
    if deepest > near.gap.value() + TOLERANCES.sliver * second.half.min() {
        found(nearest, near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Capsule,
    first_pose: &Pose<S>,
    second: &Cuboid,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let radius = S::from(first.radius);
    let half_axis = first_pose.orientation.to_world(&first.half_axis.map(S::from));
    let between = first_pose.position - second_pose.position;
    let to_world = |vector: &Vector3<f64>| second_pose.orientation.to_world(&vector.map(S::from));
    let end = |is_end: bool| if is_end { half_axis } else { -half_axis };
    // Distance of the segment, and from the centre of the capsule to its point there.
    let (distance, normal, point) = match feature {
        0..EDGE => {
            let point = end(feature == 1);
            let (distance, normal) =
                distance(second, &seen_from(second_pose, &(first_pose.position + point)));
            (distance, second_pose.orientation.to_world(&normal), point)
        }
        EDGE..CORNER => {
            let edge = edge(&second.half, (feature - EDGE) as usize);
            let along = to_world(&Vector3::ith(edge.axis, 1.0));
            let between = between - to_world(&edge.center);
            let outward = to_world(&edge.outward);
            let product = half_axis.cross(&along);
            if length(&product).value() <= TOLERANCES.half_of_digits * first.half_axis.norm() {
                (outward.dot(&between), outward, Vector3::zeros())
            } else {
                let (_, normal) = oriented(&product, 0.0, &outward);
                let factor = -between.dot(&along.cross(&normal)) / normal.dot(&product);
                (normal.dot(&between), normal, half_axis * factor)
            }
        }
        CORNER..END_FACE => {
            let index = (feature - CORNER) as usize;
            let between = between - to_world(&corner(&second.half, index));
            let square = half_axis.dot(&half_axis);
            let factor = if square.value() > 0.0 { -between.dot(&half_axis) / square } else { S::zero() };
            let point = half_axis * factor;
            let size = first.half_axis.norm() + second.half.max();
            let (distance, normal) = oriented(&(between + point), size, &to_world(&corner_outward(index)));
            (distance, normal, point)
        }
        _ => {
            let index = (feature - END_FACE) as usize;
            let face = face(index % FACES);
            let (normal, point) = (to_world(&face.normal()), end(index >= FACES));
            (normal.dot(&(between + point)) - S::from(second.half[face.axis]), normal, point)
        }
    };
    Proximity { gap: distance - radius, normal, arm: point - normal * radius }
}

/// The feature whose gap is the signed distance of capsule and box.
pub fn nearest(first: &Capsule, first_pose: &Pose<f64>, second: &Cuboid, second_pose: &Pose<f64>) -> Feature {
    Segment::new(first, first_pose, second, second_pose).nearest().0
}

/// Signed distance of capsule and box.
pub fn gap<S: Scalar>(first: &Capsule, first_pose: &Pose<S>, second: &Cuboid, second_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &values(first_pose), second, &values(second_pose));
    at(nearest, first, first_pose, second, second_pose).gap
}

/// A segment in the frame of a box.
struct Segment<'a> {
    cuboid: &'a Cuboid,
    center: Vector3<f64>,
    half_axis: Vector3<f64>,
}

impl Segment<'_> {
    fn new<'a>(
        first: &Capsule,
        first_pose: &Pose<f64>,
        second: &'a Cuboid,
        second_pose: &Pose<f64>,
    ) -> Segment<'a> {
        let half_axis = first_pose.orientation.to_world(&first.half_axis);
        Segment {
            cuboid: second,
            center: seen_from(second_pose, &first_pose.position),
            half_axis: second_pose.orientation.to_body(&half_axis),
        }
    }

    fn size(&self) -> f64 {
        self.cuboid.half.max() + self.half_axis.norm()
    }

    /// The direction across the segment and an axis of the box, from the box to the segment.
    fn across(&self, axis: usize) -> Option<Vector3<f64>> {
        let product = self.half_axis.cross(&Vector3::ith(axis, 1.0));
        let sine = product.norm();
        (sine > TOLERANCES.half_of_digits * self.half_axis.norm())
            .then(|| product / if product.dot(&self.center) < 0.0 { -sine } else { sine })
    }

    /// The edge along an axis that is farthest in a direction, and how far the direction separates.
    fn edge_along(&self, axis: usize, normal: &Vector3<f64>) -> (usize, f64) {
        let plus = [0, 1, 2].map(|side| normal[side] >= 0.0);
        let separation = normal.dot(&self.center) - normal.abs().dot(&self.cuboid.half);
        (edge_at(axis, plus), separation)
    }

    /// Factors of the points nearest to each other: of the half axis, and of the unit vector along the edge.
    fn nearest_points(&self, index: usize, normal: &Vector3<f64>) -> (f64, f64) {
        let edge = edge(&self.cuboid.half, index);
        let (along, between) = (Vector3::ith(edge.axis, 1.0), self.center - edge.center);
        let product = self.half_axis.cross(&along).dot(normal);
        (-between.dot(&along.cross(normal)) / product, -between.dot(&self.half_axis.cross(normal)) / product)
    }

    /// The feature with the signed distance, and whether the segment is outside.
    fn nearest(&self) -> (Feature, bool) {
        let half = &self.cuboid.half;
        let mut best = (f64::NEG_INFINITY, 0);
        for axis in 0..3 {
            let is_positive = self.center[axis] >= 0.0;
            let separation = self.center[axis].abs() - half[axis] - self.half_axis[axis].abs();
            let is_upper_end = (self.half_axis[axis] >= 0.0) != is_positive;
            let index = usize::from(is_upper_end) * FACES + face_at(axis, is_positive);
            if separation > best.0 {
                best = (separation, END_FACE + index as Feature);
            }
        }
        for axis in 0..3 {
            if let Some(normal) = self.across(axis)
                && let (index, separation) = self.edge_along(axis, &normal)
                && separation > best.0
            {
                best = (separation, EDGE + index as Feature);
            }
        }
        let is_apart = best.0 > TOLERANCES.rounding * self.size();
        (if is_apart { self.apart() } else { best.1 }, is_apart)
    }

    fn apart(&self) -> Feature {
        let half = &self.cuboid.half;
        let close = TOLERANCES.rounding * (self.size() + self.center.norm());
        let mut best = (f64::INFINITY, 0);
        let mut compare = |distance: f64, feature: Feature| {
            if distance < best.0 - close {
                best = (distance, feature);
            }
        };
        compare(distance(self.cuboid, &(self.center - self.half_axis)).0, 0);
        compare(distance(self.cuboid, &(self.center + self.half_axis)).0, 1);
        for axis in 0..3 {
            if let Some(normal) = self.across(axis) {
                let (index, separation) = self.edge_along(axis, &normal);
                let (factor, place) = self.nearest_points(index, &normal);
                if separation > 0.0 && factor.abs() <= 1.0 && place.abs() <= half[axis] {
                    compare(separation, EDGE + index as Feature);
                }
            }
        }
        for index in 0..CORNERS {
            let from_center = corner(half, index) - self.center;
            let factor = along_segment(&self.half_axis, &from_center);
            // The ends are looked at above.
            if factor.abs() < 1.0 {
                compare((from_center - self.half_axis * factor).norm(), CORNER + index as Feature);
            }
        }
        best.1
    }

    /// Whether the segment passes over an edge, not just with its end.
    fn is_crossed_by(&self, index: usize) -> bool {
        let edge = edge(&self.cuboid.half, index);
        let Some(normal) = self.across(edge.axis) else { return false };
        let normal = if normal.dot(&edge.outward) < 0.0 { -normal } else { normal };
        let (factor, place) = self.nearest_points(index, &normal);
        let sliver = TOLERANCES.sliver * self.cuboid.half.min();
        normal.dot(&edge.outward) > OVER_EDGE
            && normal.dot(&(self.center - edge.center)) > 0.0
            && factor.abs() < 1.0 - TOLERANCES.sliver
            && place.abs() < self.cuboid.half[edge.axis] + sliver
    }
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::super::support::Numbers;
    use super::*;
    use crate::engine::math::rotation::Orientation;

    shape_pair!(Capsule, Cuboid, nearest);

    tests_of_every_pair!(1.2 * TOLERANCES.sliver);

    #[test]
    fn a_capsule_on_a_face_touches_with_two_points() {
        let second = Cuboid { half: Vector3::new(1.0, 0.5, 0.25) };
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
            let pair = Both { first, second };
            let position = Vector3::new(place[0], place[1], 0.375);
            let list = poses::found(&pair, &Pose { position, ..still }, &still, 1e-3);
            for point in points {
                let expected = Vector3::new(point[0], point[1], 0.25);
                let matches = list.iter().filter(|(_, near)| (position + near.arm - expected).norm() < 1e-12);
                assert!(matches.count() >= 1, "{point:?} {list:?}");
            }
            assert!(list.iter().all(|(_, near)| near.gap.abs() < 1e-15));
            assert!(list.iter().all(|(_, near)| (near.normal - Vector3::z()).norm() < 1e-12));
            for _ in 0..100 {
                let position = position + numbers.vector() * 1e-6;
                let orientation = Orientation::from_turn(&(numbers.vector() * 1e-6));
                let moved = poses::found(&pair, &Pose { position, orientation }, &still, 1e-3);
                let names = |list: &[(Feature, Proximity<f64>)]| {
                    list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>()
                };
                assert_eq!(names(&moved), names(&list), "{half_axis:?} {place:?}");
                let tilted = Orientation::from_turn(&(numbers.direction() * 0.1));
                poses::rates_at(&pair, &Pose { position, orientation: tilted }, &still, &mut numbers);
            }
        }
    }

    #[test]
    fn segments_on_faces_edges_corners_and_inside() {
        let second = Cuboid { half: Vector3::new(1.0, 2.0, 3.0) };
        let along = Capsule { half_axis: Vector3::new(0.5, 0.0, 0.0), radius: 0.25 };
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
        let pair = Both { first: along, second };
        let near = poses::degenerate(&pair, &places.map(|(place, _)| Vector3::from(place)));
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
        let point = Capsule { half_axis: Vector3::zeros(), radius: 0.25 };
        let pair = Both { first: point, second };
        let near = poses::degenerate(&pair, &[Vector3::zeros(), Vector3::new(1.0, 2.0, 3.0)]);
        assert_eq!([near[0].gap, near[1].gap], [-1.25, -0.25]);
    }
}
