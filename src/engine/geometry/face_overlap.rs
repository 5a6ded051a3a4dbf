//! The area that two faces of [convex](super::convex) solids have in common, by its corners.

use super::convex::Two;
use super::faceted::Faceted;
use super::part_pairs::Parts;
use nalgebra::Vector3;

/// A face of one of two solids.
pub(super) struct Polygon<'a> {
    pub two: &'a Two<'a>,
    pub is_first: bool,
    pub face: usize,
}

impl Polygon<'_> {
    fn solid(&self) -> &Faceted<'_> {
        if self.is_first { self.two.first } else { self.two.second }
    }

    fn count(&self) -> usize {
        self.solid().around(self.face)
    }

    fn corner_number(&self, place: usize) -> usize {
        self.solid().side(self.face, place).corner as usize
    }

    fn edge_number(&self, place: usize) -> usize {
        self.solid().side(self.face, place).edge as usize
    }

    fn corner(&self, place: usize) -> Vector3<f64> {
        let number = self.corner_number(place % self.count());
        if self.is_first { self.two.corner(number) } else { self.two.second.corner(number) }
    }

    /// Unit vector out of a side, seen along a direction.
    fn outward(&self, place: usize, direction: &Vector3<f64>) -> Vector3<f64> {
        let own = self.solid().face(self.face).normal;
        let own = if self.is_first { self.two.turn * own } else { own };
        let side = self.corner(place + 1) - self.corner(place);
        let outward = side.cross(direction);
        let outward = if own.dot(direction) < 0.0 { -outward } else { outward };
        outward.try_normalize(0.0).unwrap_or_else(Vector3::zeros)
    }

    /// How far a place is outside, seen along a direction; negative inside.
    fn above(&self, place: &Vector3<f64>, direction: &Vector3<f64>) -> f64 {
        let above = |side: usize| self.outward(side, direction).dot(&(place - self.corner(side)));
        (0..self.count()).map(above).fold(f64::NEG_INFINITY, f64::max)
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
    pub fn overlap(
        &self,
        other: &Polygon,
        normal: &Vector3<f64>,
        sliver: f64,
        found: &mut impl FnMut(Parts),
    ) {
        let is_taken = |place: usize| self.above(&other.corner(place), normal) <= sliver;
        for place in (0..other.count()).filter(|&place| is_taken(place)) {
            found(self.parts_with_corner(other.corner_number(place)));
        }
        for place in 0..self.count() {
            let corner = self.corner(place);
            let is_near = |other: &Vector3<f64>| {
                let between = other - corner;
                (between - normal * normal.dot(&between)).norm() < 2.0 * sliver
            };
            let is_there = (0..other.count()).any(|k| is_near(&other.corner(k)) && is_taken(k));
            if !is_there && other.above(&corner, normal) <= sliver {
                found(other.parts_with_corner(self.corner_number(place)));
            }
        }
        for side in 0..self.count() {
            let (start, end, outward) =
                (self.corner(side), self.corner(side + 1), self.outward(side, normal));
            for other_side in 0..other.count() {
                let (other_start, other_end) = (other.corner(other_side), other.corner(other_side + 1));
                if crosses(&outward, &start, &other_start, &other_end, sliver)
                    && crosses(&other.outward(other_side, normal), &other_start, &start, &end, sliver)
                {
                    found(self.parts_of_edges(self.edge_number(side), other.edge_number(other_side)));
                }
            }
        }
    }

    /// The same in common with the only edge of the first solid.
    pub fn under_edge(&self, sliver: f64, found: &mut impl FnMut(Parts)) {
        let normal = self.solid().face(self.face).normal;
        let ends = [0, 1].map(|end| self.two.corner(end));
        for (end, place) in ends.iter().enumerate() {
            if self.above(place, &normal) <= sliver {
                found(self.parts_with_corner(end));
            }
        }
        let Some(outward) = (ends[1] - ends[0]).cross(&normal).try_normalize(0.0) else { return };
        for side in 0..self.count() {
            let (start, end) = (self.corner(side), self.corner(side + 1));
            if crosses(&self.outward(side, &normal), &start, &ends[0], &ends[1], sliver)
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
