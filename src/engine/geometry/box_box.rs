//! Box against box.
//!
//! Overlap: of the 15 directions `n` that can separate two boxes, the normals of faces and the products of edges,
//! the one with the largest separation `|n . (r1 - r2)| - sum h1_i |n . a_i| - sum h2_i |n . b_i|` is that of least
//! depth. [Gottschalk, Lin, Manocha 1996]
//! Apart: the distance is the least one of a corner from the other box, or of two edges that face each other.
//!
//! A feature is the signed distance of two parts, which are not cut off at their ends:
//! - corner and face: `n . (c - f)` with the normal `n` of the face;
//! - edge and edge: `n . (c1 - c2)` with `n = d1 x d2 / |d1 x d2|`;
//! - corner and edge, corner and corner: the distance, negative where they point against their outward sides.
//!
//! Of two faces on each other, the corners of their common area touch: corners of one inside the other, and crossings
//! of edges. An overlap of less than [`SLIVER`] does not make corners of its own, so that equal boxes on each other
//! touch with four corners whatever the round-off.

use super::box_parts::{
    AROUND, CORNERS, EDGES, FACES, around, corner, corner_at, corner_outward, edge, edge_at, face, face_at,
};
use super::solids::{CLOSE, Cuboid, Feature, oriented, values};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use nalgebra::{Vector2, Vector3};

/// Length, over the smallest half edge of the boxes, below which a difference does not make another feature.
pub const SLIVER: f64 = 1e-4;
/// Sine of the angle below which edges count as parallel.
const PARALLEL: f64 = 1e-8;
/// Cosine of the angle between normals below which a feature does not belong to the contact of two faces.
const ALIGNED: f64 = 0.9;
/// Advantage of the first box's face over the second's, as cosines, in the choice of the face to project on.
const PREFERENCE: f64 = 1e-6;

/// Parts that touch: first that of the first box, by number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parts {
    CornerFace(usize, usize),
    FaceCorner(usize, usize),
    EdgeEdge(usize, usize),
    CornerEdge(usize, usize),
    EdgeCorner(usize, usize),
    CornerCorner(usize, usize),
}

/// Number of features.
pub const FEATURES: usize = CORNER_CORNER + CORNERS * CORNERS;

const FACE_CORNER: usize = CORNERS * FACES;
const EDGE_EDGE: usize = FACE_CORNER + FACES * CORNERS;
const CORNER_EDGE: usize = EDGE_EDGE + EDGES * EDGES;
const EDGE_CORNER: usize = CORNER_EDGE + CORNERS * EDGES;
const CORNER_CORNER: usize = EDGE_CORNER + EDGES * CORNERS;

impl Parts {
    fn feature(self) -> Feature {
        let number = match self {
            Parts::CornerFace(one, other) => one * FACES + other,
            Parts::FaceCorner(one, other) => FACE_CORNER + one * CORNERS + other,
            Parts::EdgeEdge(one, other) => EDGE_EDGE + one * EDGES + other,
            Parts::CornerEdge(one, other) => CORNER_EDGE + one * EDGES + other,
            Parts::EdgeCorner(one, other) => EDGE_CORNER + one * CORNERS + other,
            Parts::CornerCorner(one, other) => CORNER_CORNER + one * CORNERS + other,
        };
        number as Feature
    }

    fn of(feature: Feature) -> Parts {
        let number = feature as usize;
        let split = |from: usize, count: usize| ((number - from) / count, (number - from) % count);
        let (kind, (one, other)): (fn(usize, usize) -> Parts, _) = match number {
            0..FACE_CORNER => (Parts::CornerFace, split(0, FACES)),
            FACE_CORNER..EDGE_EDGE => (Parts::FaceCorner, split(FACE_CORNER, CORNERS)),
            EDGE_EDGE..CORNER_EDGE => (Parts::EdgeEdge, split(EDGE_EDGE, EDGES)),
            CORNER_EDGE..EDGE_CORNER => (Parts::CornerEdge, split(CORNER_EDGE, EDGES)),
            EDGE_CORNER..CORNER_CORNER => (Parts::EdgeCorner, split(EDGE_CORNER, CORNERS)),
            _ => (Parts::CornerCorner, split(CORNER_CORNER, CORNERS)),
        };
        kind(one, other)
    }

    /// The same with the boxes exchanged.
    fn exchanged(self) -> Parts {
        match self {
            Parts::CornerFace(one, other) => Parts::FaceCorner(other, one),
            Parts::FaceCorner(one, other) => Parts::CornerFace(other, one),
            Parts::EdgeEdge(one, other) => Parts::EdgeEdge(other, one),
            Parts::CornerEdge(one, other) => Parts::EdgeCorner(other, one),
            Parts::EdgeCorner(one, other) => Parts::CornerEdge(other, one),
            Parts::CornerCorner(one, other) => Parts::CornerCorner(other, one),
        }
    }
}

/// Reports where the boxes are nearer than `reach`: the corners of the common area of two faces, or the nearest parts.
///
/// The smallest gap reported is at most `SLIVER` times the smallest half edge larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Cuboid,
    first_pose: &Pose<S>,
    second: &Cuboid,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let boxes = Boxes::new(first, &values(first_pose), second, &values(second_pose));
    let sliver = SLIVER * first.half.min().min(second.half.min());
    let face = boxes.by_face();
    if face.distance >= reach {
        return;
    }
    let separations = boxes.separations(face);
    if separations.largest(0.0).distance >= reach {
        return;
    }
    let nearest = boxes.nearest(&separations).feature();
    let near = at(nearest, first, first_pose, second, second_pose);
    if near.gap.value() >= reach {
        return;
    }
    let direction = separations.largest(sliver).normal;
    let mut deepest = f64::INFINITY;
    boxes.faces(&direction, sliver, &mut |parts, normal| {
        let feature = parts.feature();
        let near = at(feature, first, first_pose, second, second_pose);
        if near.gap.value() < reach && near.normal.map(S::value).dot(normal) > ALIGNED {
            deepest = deepest.min(near.gap.value());
            found(feature, near);
        }
    });
    if deepest > near.gap.value() + sliver {
        found(nearest, near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Cuboid,
    first_pose: &Pose<S>,
    second: &Cuboid,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let one = |vector: &Vector3<f64>| first_pose.orientation.to_world(&vector.map(S::from));
    let other = |vector: &Vector3<f64>| second_pose.orientation.to_world(&vector.map(S::from));
    let between = first_pose.position - second_pose.position;
    let size = first.half.max() + second.half.max();
    match Parts::of(feature) {
        Parts::CornerFace(corner_of_first, face_of_second) => {
            let face = face(face_of_second);
            let normal = other(&face.normal());
            let arm = one(&corner(&first.half, corner_of_first));
            let gap = normal.dot(&(between + arm)) - S::from(second.half[face.axis]);
            Proximity { gap, normal, arm }
        }
        Parts::FaceCorner(face_of_first, corner_of_second) => {
            let face = face(face_of_first);
            let normal = -one(&face.normal());
            let point = other(&corner(&second.half, corner_of_second)) - between;
            let gap = -normal.dot(&point) - S::from(first.half[face.axis]);
            Proximity { gap, normal, arm: point + normal * gap }
        }
        Parts::EdgeEdge(edge_of_first, edge_of_second) => {
            let (edge1, edge2) = (edge(&first.half, edge_of_first), edge(&second.half, edge_of_second));
            let (along1, along2) =
                (one(&Vector3::ith(edge1.axis, 1.0)), other(&Vector3::ith(edge2.axis, 1.0)));
            let center = one(&edge1.center);
            let between = between + center - other(&edge2.center);
            let outward = other(&edge2.outward) - one(&edge1.outward);
            let product = along1.cross(&along2);
            let sine = length(&product);
            if sine.value() < PARALLEL {
                let (gap, normal) = oriented(&Vector3::zeros(), 1.0, &outward);
                return Proximity { gap: gap + normal.dot(&between), normal, arm: center };
            }
            let (_, normal) = oriented(&product, 0.0, &outward);
            let along = -between.dot(&along2.cross(&normal)) / normal.dot(&product);
            Proximity { gap: normal.dot(&between), normal, arm: center + along1 * along }
        }
        Parts::CornerEdge(corner_of_first, edge_of_second) => {
            let edge = edge(&second.half, edge_of_second);
            let along = other(&Vector3::ith(edge.axis, 1.0));
            let arm = one(&corner(&first.half, corner_of_first));
            let between = between + arm - other(&edge.center);
            let outward = other(&edge.outward) - one(&corner_outward(corner_of_first));
            let (gap, normal) = oriented(&(between - along * between.dot(&along)), size, &outward);
            Proximity { gap, normal, arm }
        }
        Parts::EdgeCorner(edge_of_first, corner_of_second) => {
            let edge = edge(&first.half, edge_of_first);
            let along = one(&Vector3::ith(edge.axis, 1.0));
            let center = one(&edge.center);
            let between = between + center - other(&corner(&second.half, corner_of_second));
            let nearest = -along * between.dot(&along);
            let outward = other(&corner_outward(corner_of_second)) - one(&edge.outward);
            let (gap, normal) = oriented(&(between + nearest), size, &outward);
            Proximity { gap, normal, arm: center + nearest }
        }
        Parts::CornerCorner(corner_of_first, corner_of_second) => {
            let arm = one(&corner(&first.half, corner_of_first));
            let between = between + arm - other(&corner(&second.half, corner_of_second));
            let outward = other(&corner_outward(corner_of_second)) - one(&corner_outward(corner_of_first));
            let (gap, normal) = oriented(&between, size, &outward);
            Proximity { gap, normal, arm }
        }
    }
}

/// The feature whose gap is the signed distance of the boxes.
pub fn nearest(first: &Cuboid, first_pose: &Pose<f64>, second: &Cuboid, second_pose: &Pose<f64>) -> Feature {
    let boxes = Boxes::new(first, first_pose, second, second_pose);
    boxes.nearest(&boxes.separations(boxes.by_face())).feature()
}

/// Signed distance of the boxes.
pub fn gap<S: Scalar>(first: &Cuboid, first_pose: &Pose<S>, second: &Cuboid, second_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &values(first_pose), second, &values(second_pose));
    at(nearest, first, first_pose, second, second_pose).gap
}

/// A box by its axes.
struct Placed {
    half: Vector3<f64>,
    axes: [Vector3<f64>; 3],
}

impl Placed {
    fn new(cuboid: &Cuboid, pose: &Pose<f64>) -> Placed {
        let axes = [0, 1, 2].map(|axis| pose.orientation.to_world(&Vector3::ith(axis, 1.0)));
        Placed { half: cuboid.half, axes }
    }

    fn to_world(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self.axes[0] * vector[0] + self.axes[1] * vector[1] + self.axes[2] * vector[2]
    }

    fn to_body(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        Vector3::from_fn(|axis, _| self.axes[axis].dot(vector))
    }

    /// Half of the extent along a direction.
    fn extent(&self, direction: &Vector3<f64>) -> f64 {
        self.to_body(direction).abs().dot(&self.half)
    }

    /// On which sides the farthest corner in a direction is.
    fn sides(&self, direction: &Vector3<f64>) -> [bool; 3] {
        [0, 1, 2].map(|axis| self.axes[axis].dot(direction) >= 0.0)
    }

    /// The face that looks most in a direction, and the cosine of the angle between.
    fn face(&self, direction: &Vector3<f64>) -> (usize, f64) {
        let cosines = self.to_body(direction);
        let axis = cosines.iamax();
        (face_at(axis, cosines[axis] >= 0.0), cosines[axis].abs())
    }
}

/// A direction from the second box to the first, and how far it separates them.
#[derive(Clone, Copy, Debug)]
struct Separation {
    distance: f64,
    normal: Vector3<f64>,
    origin: Origin,
}

/// Where a direction comes from: axes of boxes.
#[derive(Clone, Copy, Debug)]
enum Origin {
    First(usize),
    Second(usize),
    Both(usize, usize),
}

/// The best normal of a face, and the products of edges.
struct Separations {
    face: Separation,
    edges: [Option<Separation>; 9],
}

impl Separations {
    /// The largest separation; that of faces counts `preference` more.
    fn largest(&self, preference: f64) -> Separation {
        let mut best = self.face;
        let mut distance = best.distance + preference;
        for edges in self.edges.iter().flatten() {
            if edges.distance > distance {
                (best, distance) = (*edges, edges.distance);
            }
        }
        best
    }
}

/// Two boxes.
struct Boxes {
    first: Placed,
    second: Placed,
    /// From the centre of the second to that of the first.
    between: Vector3<f64>,
}

impl Boxes {
    fn new(first: &Cuboid, first_pose: &Pose<f64>, second: &Cuboid, second_pose: &Pose<f64>) -> Boxes {
        Boxes {
            first: Placed::new(first, first_pose),
            second: Placed::new(second, second_pose),
            between: first_pose.position - second_pose.position,
        }
    }

    fn separation(&self, normal: &Vector3<f64>, origin: Origin) -> Separation {
        let along = self.between.dot(normal);
        let normal = if along < 0.0 { -normal } else { *normal };
        let distance = along.abs() - self.first.extent(&normal) - self.second.extent(&normal);
        Separation { distance, normal, origin }
    }

    /// The normal of a face that separates most.
    fn by_face(&self) -> Separation {
        let (first, second) = (&self.first.axes, &self.second.axes);
        let mut best = self.separation(&first[0], Origin::First(0));
        let of_first = (1..3).map(|axis| self.separation(&first[axis], Origin::First(axis)));
        let of_second = (0..3).map(|axis| self.separation(&second[axis], Origin::Second(axis)));
        for next in of_first.chain(of_second) {
            if next.distance > best.distance {
                best = next;
            }
        }
        best
    }

    fn separations(&self, face: Separation) -> Separations {
        let (first, second) = (&self.first.axes, &self.second.axes);
        let edges = std::array::from_fn(|pair| {
            let (i, j) = (pair / 3, pair % 3);
            let product = first[i].cross(&second[j]);
            let sine = product.norm();
            (sine > PARALLEL).then(|| self.separation(&(product / sine), Origin::Both(i, j)))
        });
        Separations { face, edges }
    }

    /// The parts that are nearest along a direction.
    fn parts(&self, separation: &Separation) -> Parts {
        let normal = &separation.normal;
        let sides = (self.first.sides(&-normal), self.second.sides(normal));
        match separation.origin {
            Origin::First(axis) => Parts::FaceCorner(face_at(axis, sides.0[axis]), corner_at(sides.1)),
            Origin::Second(axis) => Parts::CornerFace(corner_at(sides.0), face_at(axis, sides.1[axis])),
            Origin::Both(i, j) => Parts::EdgeEdge(edge_at(i, sides.0), edge_at(j, sides.1)),
        }
    }

    /// The parts whose distance is that of the boxes.
    fn nearest(&self, separations: &Separations) -> Parts {
        let best = separations.largest(0.0);
        let size = self.first.half.max() + self.second.half.max();
        if best.distance <= CLOSE * size { self.parts(&best) } else { self.apart(separations) }
    }

    /// The nearest parts of boxes that do not overlap.
    fn apart(&self, separations: &Separations) -> Parts {
        let mut best = (f64::INFINITY, Parts::CornerCorner(0, 0));
        let mut compare = |distance: f64, parts: Parts| {
            if distance < best.0 {
                best = (distance, parts);
            }
        };
        for index in 0..CORNERS {
            let place = self.between + self.first.to_world(&corner(&self.first.half, index));
            let (distance, parts) = from_corner(index, &self.second.to_body(&place), &self.second.half);
            compare(distance, parts);
            let place = self.second.to_world(&corner(&self.second.half, index)) - self.between;
            let (distance, parts) = from_corner(index, &self.first.to_body(&place), &self.first.half);
            compare(distance, parts.exchanged());
        }
        for edges in separations.edges.iter().flatten() {
            if edges.distance > 0.0
                && let parts @ Parts::EdgeEdge(one, other) = self.parts(edges)
                && self.face_each_other(one, other, &edges.normal)
            {
                compare(edges.distance, parts);
            }
        }
        best.1
    }

    /// Whether the nearest points of two lines along edges belong to the edges.
    fn face_each_other(&self, one: usize, other: usize, normal: &Vector3<f64>) -> bool {
        let (edge1, edge2) = (edge(&self.first.half, one), edge(&self.second.half, other));
        let (along1, along2) = (self.first.axes[edge1.axis], self.second.axes[edge2.axis]);
        let between = self.between + self.first.to_world(&edge1.center) - self.second.to_world(&edge2.center);
        let sine = along1.cross(&along2).dot(normal);
        let place1 = -between.dot(&along2.cross(normal)) / sine;
        let place2 = -between.dot(&along1.cross(normal)) / sine;
        place1.abs() <= self.first.half[edge1.axis] && place2.abs() <= self.second.half[edge2.axis]
    }

    /// Corners of the common area of the two faces that look at each other along `direction`, as parts, with the
    /// normal that the area was seen along.
    fn faces(&self, direction: &Vector3<f64>, sliver: f64, found: &mut impl FnMut(Parts, &Vector3<f64>)) {
        let (face1, cosine1) = self.first.face(&-direction);
        let (face2, cosine2) = self.second.face(direction);
        if cosine1 >= cosine2 - PREFERENCE {
            let normal = -self.first.to_world(&face(face1).normal());
            let overlap = Overlap::new(&self.first, face1, &self.second, face2, &-self.between);
            overlap.corners(sliver, &mut |parts| found(parts, &normal));
        } else {
            let normal = self.second.to_world(&face(face2).normal());
            let overlap = Overlap::new(&self.second, face2, &self.first, face1, &self.between);
            overlap.corners(sliver, &mut |parts| found(parts.exchanged(), &normal));
        }
    }
}

/// The nearest part of a box to a corner of another, which is at `place`.
fn from_corner(index: usize, place: &Vector3<f64>, half: &Vector3<f64>) -> (f64, Parts) {
    let outside = place.zip_map(half, |x, half| (x.abs() - half).max(0.0));
    let plus = [0, 1, 2].map(|axis| place[axis] >= 0.0);
    let is_out = [0, 1, 2].map(|axis| outside[axis] > 0.0);
    let parts = match is_out {
        [true, true, true] => Parts::CornerCorner(index, corner_at(plus)),
        [false, true, true] => Parts::CornerEdge(index, edge_at(0, plus)),
        [true, false, true] => Parts::CornerEdge(index, edge_at(1, plus)),
        [true, true, false] => Parts::CornerEdge(index, edge_at(2, plus)),
        _ => {
            let above = place.abs() - half;
            let axis = above.imax();
            return (above[axis], Parts::CornerFace(index, face_at(axis, plus[axis])));
        }
    };
    (outside.norm(), parts)
}

/// Two faces in the plane of the first: a rectangle and a parallelogram.
struct Overlap {
    /// Numbers of the corners and edges of the first face; edge `k` is from corner `k` to corner `k + 1`.
    corners: [usize; 4],
    edges: [usize; 4],
    face: usize,
    half: Vector2<f64>,
    /// The same of the second face.
    other_corners: [usize; 4],
    other_edges: [usize; 4],
    other_face: usize,
    /// Its corners in the plane.
    places: [Vector2<f64>; 4],
}

impl Overlap {
    /// `to_other` leads from the centre of the first box to that of the second.
    fn new(one: &Placed, face: usize, other: &Placed, other_face: usize, to_other: &Vector3<f64>) -> Overlap {
        let (corners, edges, [u, v]) = around(face);
        let (other_corners, other_edges, _) = around(other_face);
        let places = other_corners.map(|index| {
            let place = to_other + other.to_world(&corner(&other.half, index));
            Vector2::new(one.axes[u].dot(&place), one.axes[v].dot(&place))
        });
        let half = Vector2::new(one.half[u], one.half[v]);
        Overlap { corners, edges, face, half, other_corners, other_edges, other_face, places }
    }

    /// Corners of the common area, as parts of the first and the second face.
    fn corners(&self, sliver: f64, found: &mut impl FnMut(Parts)) {
        let sign = |plus: bool| if plus { 1.0 } else { -1.0 };
        let own = Ring::new(AROUND.map(|(a, b)| self.half.component_mul(&Vector2::new(sign(a), sign(b)))));
        let other = Ring::new(self.places);
        let is_taken = other.corners.map(|place| own.above(&place) <= sliver);
        for (&index, _) in self.other_corners.iter().zip(is_taken).filter(|(_, is_taken)| *is_taken) {
            found(Parts::FaceCorner(self.face, index));
        }
        for (&index, place) in self.corners.iter().zip(&own.corners) {
            let is_near = |other: &Vector2<f64>| (other - place).norm() < 2.0 * sliver;
            let is_there = other.corners.iter().zip(is_taken).any(|(other, taken)| taken && is_near(other));
            if other.above(place) <= sliver && !is_there {
                found(Parts::CornerFace(index, self.other_face));
            }
        }
        for (side, &edge) in self.edges.iter().enumerate() {
            for (other_side, &other_edge) in self.other_edges.iter().enumerate() {
                if own.is_crossed(side, &other, other_side, sliver)
                    && other.is_crossed(other_side, &own, side, sliver)
                {
                    found(Parts::EdgeEdge(edge, other_edge));
                }
            }
        }
    }
}

/// A convex quadrangle.
struct Ring {
    corners: [Vector2<f64>; 4],
    /// Unit vectors out of the sides; side `k` is from corner `k` to corner `k + 1`.
    outward: [Vector2<f64>; 4],
}

impl Ring {
    fn new(corners: [Vector2<f64>; 4]) -> Ring {
        let across = |side: &Vector2<f64>| Vector2::new(side[1], -side[0]);
        let turn = 1_f64.copysign(across(&(corners[1] - corners[0])).dot(&(corners[1] - corners[2])));
        let outward = [0, 1, 2, 3].map(|k| {
            let side = corners[(k + 1) % 4] - corners[k];
            across(&side).try_normalize(0.0).map_or(Vector2::zeros(), |across| across * turn)
        });
        Ring { corners, outward }
    }

    fn above_side(&self, side: usize, place: &Vector2<f64>) -> f64 {
        self.outward[side].dot(&(place - self.corners[side]))
    }

    /// How far a place is outside; negative inside.
    fn above(&self, place: &Vector2<f64>) -> f64 {
        (0..4).map(|side| self.above_side(side, place)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether the line along a side has the ends of another's side on both sides, by more than `sliver`.
    fn is_crossed(&self, side: usize, other: &Ring, other_side: usize, sliver: f64) -> bool {
        let start = self.above_side(side, &other.corners[other_side]);
        let end = self.above_side(side, &other.corners[(other_side + 1) % 4]);
        start.min(end) < -sliver && start.max(end) > sliver
    }
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, Numbers, shape_pair};
    use super::*;
    use crate::engine::rotation::Orientation;

    shape_pair!(Cuboid, Cuboid, nearest);

    #[test]
    fn features_have_numbers_of_their_own() {
        for number in 0..496 {
            assert_eq!(Parts::of(number).feature(), number);
            assert_eq!(Parts::of(number).exchanged().exchanged(), Parts::of(number));
        }
    }

    #[test]
    fn it_is_the_signed_distance() {
        poses::signed_distance::<Both>(10_000);
    }

    #[test]
    fn it_moves_with_the_touching_points() {
        poses::rates::<Both>(1000);
    }

    #[test]
    fn no_length_is_built_in() {
        poses::scales(300, |pair: &Both, scale| Both {
            first: Cuboid { half: pair.first.half * scale },
            second: Cuboid { half: pair.second.half * scale },
        });
    }

    #[test]
    fn features_are_consistent() {
        poses::consistency::<Both>(1000, 1.2 * SLIVER);
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
            let sliver = SLIVER * half.min().min(other.min());
            for place in &area {
                let point = |near: &Proximity<f64>| (first.position + near.arm).xy();
                let off = touching.iter().map(|(_, near)| (point(near) - place).norm());
                let off = off.fold(f64::INFINITY, f64::min);
                let is_sliver =
                    |other: &Vector2<f64>| other != place && (other - place).norm() < 20.0 * sliver;
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
            let tilt = numbers.vector() * 10_f64.powf(-4.0 + 2.0 * numbers.next());
            let [first, second] = above(&pair, offset, numbers.next(), &tilt);
            let frame = numbers.pose();
            let [first, second] = [first, second].map(|pose| Pose {
                position: frame.position + frame.orientation.to_world(&pose.position),
                orientation: frame.orientation.after(&pose.orientation),
            });
            poses::consistency_at(&pair, &first, &second, 1.2 * SLIVER, &mut numbers);
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
            let depth = 0.3 * angle.sin() + 0.5 * angle.cos();
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
}
