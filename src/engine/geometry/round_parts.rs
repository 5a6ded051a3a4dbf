//! Parts of a cylinder or disc against corners, edges and faces.
//!
//! A feature is the signed distance of two parts, which are not cut off at their ends, less the margin of the second:
//! - rim and face: of the lowest point of the rim, `n . (c - f) - R |a x n|`, or of a point `p` of the rim that is fixed
//!   to the body, `n . (p - f)`;
//! - cap and corner: `a . (p - c) - h`;
//! - side and edge, side and corner: the distance from the axis, less `R`;
//! - rim and edge, rim and corner: the distance of the nearest points, negative where it points against the outside of
//!   the rim. A rim may be near an edge at two places, see `rim`.

use super::faceted::Faceted;
use super::part_pairs::{Counts, Kinds};
use super::rim::BRANCHES;
use super::round::{ENDS, POINTS, Spot};
use super::solids::Feature;
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Parts that touch: first that of the round solid, with its end and its point or branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// End, point of the rim, and face.
    RimFace(usize, usize, usize),
    /// Cap and corner.
    CapCorner(usize, usize),
    /// End, branch, and edge.
    RimEdge(usize, usize, usize),
    /// End and corner.
    RimCorner(usize, usize),
    /// The side and an edge.
    SideEdge(usize),
    /// The side and a corner.
    SideCorner(usize),
}

/// Number of features.
pub fn feature_count(second: &Counts) -> usize {
    kinds(second).count()
}

fn kinds(second: &Counts) -> Kinds {
    Kinds([
        (ENDS * POINTS, second.faces),
        (ENDS, second.corners),
        (ENDS * BRANCHES, second.edges),
        (ENDS, second.corners),
        (1, second.edges),
        (1, second.corners),
    ])
}

impl Parts {
    /// The number of the feature.
    pub fn feature(self, second: &Counts) -> Feature {
        let (kind, own, other) = match self {
            Parts::RimFace(end, point, face) => (0, end * POINTS + point, face),
            Parts::CapCorner(end, corner) => (1, end, corner),
            Parts::RimEdge(end, branch, edge) => (2, end * BRANCHES + branch, edge),
            Parts::RimCorner(end, corner) => (3, end, corner),
            Parts::SideEdge(edge) => (4, 0, edge),
            Parts::SideCorner(corner) => (5, 0, corner),
        };
        kinds(second).feature(kind, own, other)
    }

    /// The parts of a feature.
    pub fn of(feature: Feature, second: &Counts) -> Parts {
        match kinds(second).parts(feature) {
            (0, own, face) => Parts::RimFace(own / POINTS, own % POINTS, face),
            (1, end, corner) => Parts::CapCorner(end, corner),
            (2, own, edge) => Parts::RimEdge(own / BRANCHES, own % BRANCHES, edge),
            (3, end, corner) => Parts::RimCorner(end, corner),
            (4, _, edge) => Parts::SideEdge(edge),
            (_, _, corner) => Parts::SideCorner(corner),
        }
    }

    /// How the parts are placed to each other, in the frame of the second, without its margin.
    pub(super) fn at<S: Scalar>(self, first: &Spot<S>, second: &Faceted) -> Proximity<S> {
        let vector = |vector: Vector3<f64>| vector.map(S::from);
        match self {
            Parts::RimFace(end, point, face) => {
                let face = second.face(face);
                first.rim_over_plane(end, point, &vector(face.normal), S::from(face.offset))
            }
            Parts::CapCorner(end, corner) => first.cap_over_point(end, &vector(second.corner(corner))),
            Parts::RimEdge(end, branch, edge) => {
                let edge = second.edge(edge);
                first.rim_over_line(end, branch, &vector(edge.start), &vector(edge.along))
            }
            Parts::RimCorner(end, corner) => {
                let outward = vector(second.corner_outward(corner));
                first.rim_over_point(end, &vector(second.corner(corner)), &outward)
            }
            Parts::SideEdge(edge) => {
                let edge = second.edge(edge);
                first.side_over_line(&vector(edge.start), &vector(edge.along), &vector(edge.outward))
            }
            Parts::SideCorner(corner) => {
                let outward = vector(second.corner_outward(corner));
                first.side_over_point(&vector(second.corner(corner)), &outward)
            }
        }
    }

    /// The same in world components, with the margin.
    pub(super) fn in_world<S: Scalar>(
        self,
        first: &Spot<S>,
        second: &Faceted,
        second_pose: &Pose<S>,
    ) -> Proximity<S> {
        let near = self.at(first, second);
        let to_world = |vector: &Vector3<S>| second_pose.orientation.to_world(vector);
        Proximity {
            gap: near.gap - S::from(second.margin()),
            normal: to_world(&near.normal),
            arm: to_world(&near.arm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_numbers_of_their_own() {
        let second = Counts { corners: 5, edges: 4, faces: 7 };
        for number in 0..feature_count(&second) as Feature {
            assert_eq!(Parts::of(number, &second).feature(&second), number);
        }
    }
}
