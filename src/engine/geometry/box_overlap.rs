//! The area that two faces of [boxes](super::box_box) have in common, by its corners.

use super::box_box::Placed;
use super::box_parts::{AROUND, around, corner};
use super::part_pairs::Parts;
use nalgebra::{Vector2, Vector3};

/// Two faces in the plane of the first: a rectangle and a parallelogram.
pub(super) struct Overlap {
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
    pub fn new(
        one: &Placed,
        face: usize,
        other: &Placed,
        other_face: usize,
        to_other: &Vector3<f64>,
    ) -> Overlap {
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
    pub fn corners(&self, sliver: f64, found: &mut impl FnMut(Parts)) {
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
