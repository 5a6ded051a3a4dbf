//! Two convex solids with flat faces, or without: balls, capsules, boxes and hulls, of which capsules meet capsules, and
//! balls and capsules meet solids with faces.
//!
//! Overlap: of the directions that can separate two polyhedra, the normals of faces and the products of edges whose
//! normals meet (they make a face of the difference of the solids), the one with the largest separation is that of least
//! depth. [Gregorius 2013] Apart: the distance is the least one of a corner from the other solid, or of two edges that
//! face each other.
//!
//! Of two faces on each other, the corners of their common area touch: corners of one inside the other, and crossings
//! of edges. An overlap of less than `TOLERANCES.sliver` does not make corners of its own, so that equal boxes on each other
//! touch with four corners whatever the round-off.
//!
//! Of boxes, 9 pairs of edges are looked at instead of 144.

use super::box_parts::{corner_at, edge_at, face_at};
use super::face_overlap::Polygon;
use super::faceted::{self, Faceted};
use super::part_pairs::Parts;
use super::solids::Feature;
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};

/// Reports where the solids are nearer than `reach`: the corners of the common area of two faces, the ends of the common
/// length of two capsules, or the nearest parts.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the smaller thickness larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Faceted,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let two = Two::new(first, &first_pose.values(), second, &second_pose.values());
    let to_parts = reach + first.margin() + second.margin();
    if two.place.norm() - two.size >= to_parts {
        return;
    }
    let Some(separations) = two.separations(to_parts) else { return };
    let nearest = two.nearest(&separations);
    let near = faceted::at(nearest, first, first_pose, second, second_pose);
    if near.gap.value() >= reach {
        return;
    }
    let sliver = two.sliver();
    let (counts, other_counts) = (first.counts(), second.counts());
    let mut deepest = f64::INFINITY;
    let mut report = |parts: Parts, normal: Vector3<f64>| {
        let near = faceted::at(parts, first, first_pose, second, second_pose);
        if near.gap.value() < reach && near.normal.map(S::value).dot(&normal) > TOLERANCES.aligned {
            deepest = deepest.min(near.gap.value());
            found(parts.feature(&counts, &other_counts), near);
        }
    };
    if other_counts.faces == 0 {
        two.beside(sliver, &mut |parts| report(parts, near.normal.map(S::value)));
    } else if counts.edges > 0 {
        let direction = separations.preferred(sliver).normal;
        let second_orientation = second_pose.orientation.map(S::value);
        two.faces(&direction, sliver, &mut |parts, normal| {
            report(parts, second_orientation.to_world(normal))
        });
    }
    if deepest > near.gap.value() + sliver {
        found(nearest.feature(&counts, &other_counts), near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Faceted,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let parts = Parts::of(feature, &first.counts(), &second.counts());
    faceted::at(parts, first, first_pose, second, second_pose)
}

/// The parts whose gap is the signed distance of the solids.
pub fn nearest(first: &Faceted, first_pose: &Pose<f64>, second: &Faceted, second_pose: &Pose<f64>) -> Parts {
    let two = Two::new(first, first_pose, second, second_pose);
    let separations = two.separations(f64::INFINITY).expect("any separation is below infinity");
    two.nearest(&separations)
}

/// How the nearest parts are placed to each other.
pub fn closest<S: Scalar>(
    first: &Faceted,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let nearest = nearest(first, &first_pose.values(), second, &second_pose.values());
    faceted::at(nearest, first, first_pose, second, second_pose)
}

/// Signed distance of the solids.
pub fn gap<S: Scalar>(first: &Faceted, first_pose: &Pose<S>, second: &Faceted, second_pose: &Pose<S>) -> S {
    closest(first, first_pose, second, second_pose).gap
}

/// A direction from the second solid to the first, in the frame of the second, how far it separates them, and the
/// parts that are nearest along it.
#[derive(Clone, Copy, Debug)]
struct Separation {
    distance: f64,
    normal: Vector3<f64>,
    parts: Parts,
}

/// The best normal of a face, and the best product of edges.
struct Separations {
    face: Separation,
    edges: Option<Separation>,
}

impl Separations {
    /// The largest one; that of faces counts `preference` more.
    fn preferred(&self, preference: f64) -> Separation {
        match self.edges {
            Some(edges) if edges.distance > self.face.distance + preference => edges,
            _ => self.face,
        }
    }
}

/// Two solids in the frame of the second.
#[derive(Clone)]
pub(super) struct Two<'a> {
    pub first: &'a Faceted<'a>,
    pub second: &'a Faceted<'a>,
    pub turn: Matrix3<f64>,
    pub place: Vector3<f64>,
    size: f64,
}

impl<'a> Two<'a> {
    pub fn new(
        first: &'a Faceted<'a>,
        first_pose: &Pose<f64>,
        second: &'a Faceted<'a>,
        second_pose: &Pose<f64>,
    ) -> Two<'a> {
        let axes = [0, 1, 2].map(|axis| {
            let axis = first_pose.orientation.to_world(&Vector3::ith(axis, 1.0));
            second_pose.orientation.to_body(&axis)
        });
        Two {
            first,
            second,
            turn: Matrix3::from_columns(&axes),
            place: second_pose.orientation.to_body(&(first_pose.position - second_pose.position)),
            size: first.extent() + second.extent(),
        }
    }

    fn sliver(&self) -> f64 {
        TOLERANCES.sliver * self.first.thickness().min(self.second.thickness())
    }

    /// A corner of the first solid.
    pub fn corner(&self, index: usize) -> Vector3<f64> {
        self.place + self.turn * self.first.corner(index)
    }

    /// A point seen from the first solid.
    pub fn seen_from_first(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.turn.tr_mul(&(point - self.place))
    }

    /// Separations, unless one of them is `enough` already.
    fn separations(&self, enough: f64) -> Option<Separations> {
        let (counts, other_counts) = (self.first.counts(), self.second.counts());
        let start =
            Separation { distance: f64::NEG_INFINITY, normal: Vector3::z(), parts: Parts::CornerFace(0, 0) };
        let mut face = start;
        for index in 0..counts.faces {
            let side = self.first.face(index);
            let normal = self.turn * side.normal;
            let (corner, height) = self.second.lowest(&normal);
            let distance = height - normal.dot(&self.place) - side.offset;
            if distance > face.distance {
                face = Separation { distance, normal: -normal, parts: Parts::FaceCorner(index, corner) };
            }
        }
        for index in 0..other_counts.faces {
            let side = self.second.face(index);
            let (along, at) = (self.turn.tr_mul(&side.normal), side.normal.dot(&self.place));
            let (corner, height) = self.first.lowest(&along);
            let distance = height + at - side.offset;
            if distance > face.distance {
                let parts = Parts::CornerFace(corner, index);
                face = Separation { distance, normal: side.normal, parts };
            }
        }
        if face.distance >= enough {
            return None;
        }
        let mut best = start;
        self.edge_pairs(|index, other| {
            let (edge, next) = (self.first.edge(index), self.second.edge(other));
            let along = self.turn * edge.along;
            let product = along.cross(&next.along);
            let sine = product.norm();
            if sine < TOLERANCES.half_of_digits {
                return;
            }
            let normal = product / if product.dot(&next.outward) < 0.0 { -sine } else { sine };
            let distance = normal.dot(&(self.place + self.turn * edge.start - next.start));
            if distance > best.distance
                && next.faces(&normal, TOLERANCES.negligible)
                && edge.faces(&-self.turn.tr_mul(&normal), TOLERANCES.negligible)
            {
                best = Separation { distance, normal, parts: Parts::EdgeEdge(index, other) };
            }
        });
        if best.distance >= enough {
            return None;
        }
        Some(Separations { face, edges: (best.distance > f64::NEG_INFINITY).then_some(best) })
    }

    /// All pairs of edges of which one may separate the solids or be nearest. Edges of boxes are parallel: of those
    /// along two axes, only the ones that are farthest towards the other box can.
    fn edge_pairs(&self, mut visit: impl FnMut(usize, usize)) {
        if let (Faceted::Box(_), Faceted::Box(_)) = (self.first, self.second) {
            for axis in 0..3 {
                for other_axis in 0..3 {
                    let product = self.turn.column(axis).cross(&Vector3::ith(other_axis, 1.0));
                    let normal = if product.dot(&self.place) < 0.0 { -product } else { product };
                    let seen = self.turn.tr_mul(&normal);
                    let (edge, other) =
                        ([0, 1, 2].map(|k| seen[k] <= 0.0), [0, 1, 2].map(|k| normal[k] >= 0.0));
                    visit(edge_at(axis, edge), edge_at(other_axis, other));
                }
            }
            return;
        }
        for edge in 0..self.first.counts().edges {
            for other in 0..self.second.counts().edges {
                visit(edge, other);
            }
        }
    }

    fn nearest(&self, separations: &Separations) -> Parts {
        let best = separations.preferred(0.0);
        if best.distance <= TOLERANCES.rounding * self.size && self.second.counts().faces > 0 {
            best.parts
        } else {
            self.apart().unwrap_or(best.parts)
        }
    }

    /// The nearest parts of solids that do not overlap.
    fn apart(&self) -> Option<Parts> {
        let (counts, other_counts) = (self.first.counts(), self.second.counts());
        let mut best = (f64::INFINITY, None);
        for index in 0..counts.corners {
            let (distance, part) = from_point(self.second, &self.corner(index), best.0);
            if distance < best.0 {
                best = (distance, part.map(|part| part.with_corner_of_first(index)));
            }
        }
        if counts.edges > 0 {
            for index in 0..other_counts.corners {
                let point = self.seen_from_first(&self.second.corner(index));
                let (distance, part) = from_point(self.first, &point, best.0);
                if distance < best.0 {
                    best = (distance, part.map(|part| part.with_corner_of_second(index)));
                }
            }
        }
        self.edge_pairs(|index, other| {
            let (edge, next) = (self.first.edge(index), self.second.edge(other));
            let (along, begin) = (self.turn * edge.along, self.place + self.turn * edge.start);
            if let Some((distance, [one, two])) = across(&begin, &along, &next.start, &next.along)
                && distance < best.0
                && (0.0..=edge.length).contains(&one)
                && (0.0..=next.length).contains(&two)
            {
                best = (distance, Some(Parts::EdgeEdge(index, other)));
            }
        });
        best.1
    }

    /// The ends of two edges that are nearly parallel and have no faces, where they are beside the other edge. Of two ends
    /// beside each other that of the first counts.
    fn beside(&self, sliver: f64, found: &mut impl FnMut(Parts)) {
        let (edge, other) = (self.first.edge(0), self.second.edge(0));
        let along = self.turn * edge.along;
        if along.cross(&other.along).norm() >= TOLERANCES.tilted {
            return;
        }
        let is_on = |place: f64, length: f64| place >= -sliver && place <= length + sliver;
        let own = [0, 1].map(|end| other.along.dot(&(self.corner(end) - other.start)));
        for end in (0..2).filter(|&end| is_on(own[end], other.length)) {
            found(Parts::CornerEdge(end, 0));
        }
        for end in 0..2 {
            let place = along.dot(&(self.second.corner(end) - self.corner(0)));
            let (beside, beyond) =
                if 2.0 * place < edge.length { (0, place) } else { (1, place - edge.length) };
            let is_doubled = beyond.abs() <= 2.0 * sliver && is_on(own[beside], other.length);
            if is_on(place, edge.length) && !is_doubled {
                found(Parts::EdgeCorner(0, end));
            }
        }
    }

    /// Corners of the common area of the two faces that look at each other along `direction`, as parts, with the
    /// normal that the area was seen along.
    fn faces(&self, direction: &Vector3<f64>, sliver: f64, found: &mut impl FnMut(Parts, &Vector3<f64>)) {
        let (counts, other_counts) = (self.first.counts(), self.second.counts());
        let cosine = |face: usize| self.second.face(face).normal.dot(direction);
        let (second_face, second_cosine) = least((0..other_counts.faces).map(|face| -cosine(face)));
        let second_normal = self.second.face(second_face).normal;
        if counts.faces == 0 {
            let second = Polygon::new(self, false, second_face, second_normal);
            return second.under_edge(sliver, &mut |parts| found(parts, &second_normal));
        }
        let cosine = |face: usize| (self.turn * self.first.face(face).normal).dot(direction);
        let (first_face, first_cosine) = least((0..counts.faces).map(cosine));
        let is_by_first = -first_cosine >= -second_cosine - TOLERANCES.small;
        let normal =
            if is_by_first { -(self.turn * self.first.face(first_face).normal) } else { second_normal };
        let first = Polygon::new(self, true, first_face, normal);
        let second = Polygon::new(self, false, second_face, normal);
        let (one, other) = if is_by_first { (first, second) } else { (second, first) };
        one.overlap(&other, sliver, &mut |parts| found(parts, &normal));
    }
}

/// Place and value of the least number.
pub(super) fn least(numbers: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (place, number) in numbers.enumerate() {
        if number < best.1 {
            best = (place, number);
        }
    }
    best
}

/// Distance of two lines, and where along them they are nearest; none for parallel ones.
pub(super) fn across(
    start: &Vector3<f64>,
    along: &Vector3<f64>,
    other_start: &Vector3<f64>,
    other_along: &Vector3<f64>,
) -> Option<(f64, [f64; 2])> {
    let between = start - other_start;
    let product = along.cross(other_along);
    let square = product.norm_squared();
    if square < TOLERANCES.half_of_digits * TOLERANCES.half_of_digits {
        return None;
    }
    let places = [other_along, along].map(|way| -between.dot(&way.cross(&product)) / square);
    Some((between.dot(&product).abs() / square.sqrt(), places))
}

/// A part of one solid.
#[derive(Clone, Copy, Debug)]
enum Part {
    Corner(usize),
    Edge(usize),
    Face(usize),
}

impl Part {
    fn with_corner_of_first(self, corner: usize) -> Parts {
        match self {
            Part::Corner(index) => Parts::CornerCorner(corner, index),
            Part::Edge(index) => Parts::CornerEdge(corner, index),
            Part::Face(index) => Parts::CornerFace(corner, index),
        }
    }

    fn with_corner_of_second(self, corner: usize) -> Parts {
        match self {
            Part::Corner(index) => Parts::CornerCorner(index, corner),
            Part::Edge(index) => Parts::EdgeCorner(index, corner),
            Part::Face(index) => Parts::FaceCorner(index, corner),
        }
    }
}

/// The part of a convex solid nearest to a point outside, if it is nearer than `bound`.
fn from_point(solid: &Faceted, point: &Vector3<f64>, bound: f64) -> (f64, Option<Part>) {
    if let Faceted::Box(cuboid) = solid {
        let (distance, part) = from_point_to_box(&cuboid.half, point);
        return if distance < bound { (distance, Some(part)) } else { (bound, None) };
    }
    let counts = solid.counts();
    let mut best = (bound, None);
    for index in 0..counts.faces {
        let face = solid.face(index);
        let height = face.normal.dot(point) - face.offset;
        if height > 0.0 && height < best.0 && solid.is_over(index, point, 0.0) {
            best = (height, Some(Part::Face(index)));
        }
    }
    for index in 0..counts.edges {
        let edge = solid.edge(index);
        let from_start = point - edge.start;
        let place = from_start.dot(&edge.along);
        if place > 0.0 && place < edge.length {
            let distance = (from_start - edge.along * place).norm();
            if distance < best.0 {
                best = (distance, Some(Part::Edge(index)));
            }
        }
    }
    for index in 0..counts.corners {
        let distance = (point - solid.corner(index)).norm();
        if distance < best.0 {
            best = (distance, Some(Part::Corner(index)));
        }
    }
    best
}

/// The same of a box, of which the part follows from the sides that the point is beyond.
fn from_point_to_box(half: &Vector3<f64>, point: &Vector3<f64>) -> (f64, Part) {
    let above = point.abs() - half;
    let plus = [0, 1, 2].map(|axis| point[axis] >= 0.0);
    let part = match [0, 1, 2].map(|axis| above[axis] > 0.0) {
        [true, true, true] => Part::Corner(corner_at(plus)),
        [false, true, true] => Part::Edge(edge_at(0, plus)),
        [true, false, true] => Part::Edge(edge_at(1, plus)),
        [true, true, false] => Part::Edge(edge_at(2, plus)),
        _ => {
            let axis = above.imax();
            return (above[axis], Part::Face(face_at(axis, plus[axis])));
        }
    };
    (above.map(|above| above.max(0.0)).norm(), part)
}

#[cfg(test)]
#[path = "convex_tests.rs"]
mod tests;
