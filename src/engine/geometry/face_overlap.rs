//! The area that two faces of [convex](super::convex) solids have in common, by its corners.

use super::box_parts::CORNERS;
use super::convex::Two;
use super::faceted::Faceted;
use super::part_pairs::Parts;
use nalgebra::Vector3;

/// Sides that are kept; those of faces with more of them are found anew each time.
const KEPT: usize = CORNERS;

/// A face of one of two solids, seen along a direction.
pub(super) struct Polygon<'a> {
    two: &'a Two<'a>,
    is_first: bool,
    face: usize,
    count: usize,
    direction: Vector3<f64>,
    /// A corner, and the unit vector out of the side that begins there.
    sides: [(Vector3<f64>, Vector3<f64>); KEPT],
}

impl<'a> Polygon<'a> {
    pub fn new(two: &'a Two<'a>, is_first: bool, face: usize, direction: Vector3<f64>) -> Polygon<'a> {
        let count = if is_first { two.first } else { two.second }.around(face);
        let sides = [(Vector3::zeros(), Vector3::zeros()); KEPT];
        let mut polygon = Polygon { two, is_first, face, count, direction, sides };
        let own = polygon.solid().face(face).normal;
        let own = if is_first { two.turn * own } else { own };
        let sign = if own.dot(&direction) < 0.0 { -1.0 } else { 1.0 };
        polygon.direction *= sign;
        for place in 0..count.min(KEPT) {
            polygon.sides[place].0 = polygon.find_corner(place);
        }
        for place in 0..count.min(KEPT) {
            polygon.sides[place].1 = polygon.find_outward(place);
        }
        polygon
    }

    fn solid(&self) -> &Faceted<'_> {
        if self.is_first { self.two.first } else { self.two.second }
    }

    fn corner_number(&self, place: usize) -> usize {
        self.solid().side(self.face, place).corner as usize
    }

    fn edge_number(&self, place: usize) -> usize {
        self.solid().side(self.face, place).edge as usize
    }

    fn find_corner(&self, place: usize) -> Vector3<f64> {
        let number = self.corner_number(place);
        if self.is_first { self.two.corner(number) } else { self.two.second.corner(number) }
    }

    fn find_outward(&self, place: usize) -> Vector3<f64> {
        let side = self.corner(place + 1) - self.corner(place);
        side.cross(&self.direction).try_normalize(0.0).unwrap_or_else(Vector3::zeros)
    }

    fn corner(&self, place: usize) -> Vector3<f64> {
        let place = if place == self.count { 0 } else { place };
        if place < KEPT { self.sides[place].0 } else { self.find_corner(place) }
    }

    /// Unit vector out of a side.
    fn outward(&self, place: usize) -> Vector3<f64> {
        if place < KEPT { self.sides[place].1 } else { self.find_outward(place) }
    }

    /// How far a place is outside, seen along the direction; negative inside.
    fn above(&self, place: &Vector3<f64>) -> f64 {
        let above = |side: usize| self.outward(side).dot(&(place - self.corner(side)));
        (0..self.count).map(above).fold(f64::NEG_INFINITY, f64::max)
    }

    fn parts_with_corner(&self, corner: usize) -> Parts {
        if self.is_first {
            Parts::FaceCorner(self.face, corner)
        } else {
            Parts::CornerFace(corner, self.face)
        }
    }

    fn parts_of_edges(&self, edge: usize, other: usize) -> Parts {
        if self.is_first { Parts::EdgeEdge(edge, other) } else { Parts::EdgeEdge(other, edge) }
    }

    /// Corners of the area in common with another face, seen along the normal of this one.
    pub fn overlap(&self, other: &Polygon, sliver: f64, found: &mut impl FnMut(Parts)) {
        let normal = &self.direction;
        let is_taken = |place: usize| self.above(&other.corner(place)) <= sliver;
        for place in (0..other.count).filter(|&place| is_taken(place)) {
            found(self.parts_with_corner(other.corner_number(place)));
        }
        for place in 0..self.count {
            let corner = self.corner(place);
            let is_near = |other: &Vector3<f64>| {
                let between = other - corner;
                (between - normal * normal.dot(&between)).norm() < 2.0 * sliver
            };
            let is_there = (0..other.count).any(|k| is_near(&other.corner(k)) && is_taken(k));
            if !is_there && other.above(&corner) <= sliver {
                found(other.parts_with_corner(self.corner_number(place)));
            }
        }
        for side in 0..self.count {
            let (start, end, outward) = (self.corner(side), self.corner(side + 1), self.outward(side));
            for other_side in 0..other.count {
                let (other_start, other_end) = (other.corner(other_side), other.corner(other_side + 1));
                if crosses(&outward, &start, &other_start, &other_end, sliver)
                    && crosses(&other.outward(other_side), &other_start, &start, &end, sliver)
                {
                    found(self.parts_of_edges(self.edge_number(side), other.edge_number(other_side)));
                }
            }
        }
    }

    /// The same in common with the only edge of the first solid.
    pub fn under_edge(&self, sliver: f64, found: &mut impl FnMut(Parts)) {
        let normal = self.direction;
        let ends = [0, 1].map(|end| self.two.corner(end));
        for (end, place) in ends.iter().enumerate() {
            if self.above(place) <= sliver {
                found(self.parts_with_corner(end));
            }
        }
        let Some(outward) = (ends[1] - ends[0]).cross(&normal).try_normalize(0.0) else { return };
        for side in 0..self.count {
            let (start, end) = (self.corner(side), self.corner(side + 1));
            if crosses(&self.outward(side), &start, &ends[0], &ends[1], sliver)
                && crosses(&outward, &ends[0], &start, &end, 0.0)
            {
                found(self.parts_of_edges(self.edge_number(side), 0));
            }
        }
    }
}

/// Whether a line through `origin` has two places on both sides, by more than `sliver`.
fn crosses(
    outward: &Vector3<f64>,
    origin: &Vector3<f64>,
    start: &Vector3<f64>,
    end: &Vector3<f64>,
    sliver: f64,
) -> bool {
    let [start, end] = [start, end].map(|place| outward.dot(&(place - origin)));
    start.min(end) < -sliver && start.max(end) > sliver
}
