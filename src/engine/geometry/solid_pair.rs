//! A node and a solid that meet with features, by what they are made of: corners, edges and faces, or rims, caps and
//! sides.

use super::faceted::Faceted;
use super::part_pairs::{Counts, feature_count};
use super::polyhedron::Polyhedron;
use super::round::Round;
use super::solids::Feature;
use super::{
    Details, NodeShape, Pose, Proximity, Solid, convex, mesh, round_faceted, round_mesh, round_parts,
    round_round,
};
use crate::engine::scalar::Scalar;

/// Two such solids.
pub(super) enum SolidPair<'a> {
    /// The node and a convex solid.
    Convex(Faceted<'a>, Faceted<'a>),
    /// The same with the node second.
    Exchanged(Faceted<'a>, Faceted<'a>),
    /// The node and a mesh.
    OnMesh(Faceted<'a>, &'a Polyhedron),
    /// A round node and a convex solid.
    Round(Round, Faceted<'a>),
    /// The same with the node second.
    OnRound(Round, Faceted<'a>),
    /// Both are round.
    Rounds(Round, Round),
    /// A round node and a mesh.
    RoundOnMesh(Round, &'a Polyhedron),
}

/// Number of features of such a pair; none where there is no gap function.
pub(super) fn features_of_pair(shape: &NodeShape, solid: &Solid) -> Option<usize> {
    let counts = match solid {
        Solid::Mesh(facets) | Solid::Hull(facets) => Some(facets.counts),
        Solid::Box(cuboid) => Some(Faceted::Box(*cuboid).counts()),
        Solid::Capsule(capsule) => Some(Faceted::Capsule(*capsule).counts()),
        Solid::Ball(_) | Solid::Cylinder(_) | Solid::Disc(_) => None,
    };
    Some(match (shape.round(), solid.round(), counts) {
        (Some(_), Some(_), _) => round_round::FEATURES,
        (Some(_), None, Some(counts)) => round_parts::feature_count(&counts),
        (None, Some(_), _) => round_parts::feature_count(&shape.counts()?),
        (None, None, Some(counts)) => match solid {
            Solid::Capsule(_) => feature_count(&counts, &shape.counts()?),
            _ => feature_count(&shape.counts()?, &counts),
        },
        (_, None, None) => return None,
    })
}

/// Whether the normal of a feature of a node on a mesh stays as it is when the node slides along.
pub(super) fn is_flat_on_mesh(shape: &NodeShape, feature: Feature, mesh: &Counts) -> bool {
    match shape.round() {
        Some(_) => round_mesh::is_flat(feature, mesh),
        None => shape.counts().is_some_and(|first| mesh::is_flat(feature, &first, mesh)),
    }
}

impl<'a> SolidPair<'a> {
    /// # Panics
    /// Where the pair is another one.
    pub fn of(shape: &NodeShape, solid: &Solid, details: &'a Details) -> SolidPair<'a> {
        let first = || shape.faceted(details).expect("the pair has a gap function");
        let second = match *solid {
            Solid::Mesh(mesh) => {
                let mesh = &details.polyhedra[mesh.index];
                return match shape.round() {
                    Some(round) => SolidPair::RoundOnMesh(round, mesh),
                    None => SolidPair::OnMesh(first(), mesh),
                };
            }
            Solid::Cylinder(_) | Solid::Disc(_) => {
                let second = solid.round().expect("it is");
                return match shape.round() {
                    Some(round) => SolidPair::Rounds(round, second),
                    None => SolidPair::OnRound(second, first()),
                };
            }
            Solid::Hull(hull) => Faceted::Polyhedron(&details.polyhedra[hull.index]),
            Solid::Box(cuboid) => Faceted::Box(cuboid),
            Solid::Capsule(capsule) => Faceted::Capsule(capsule),
            Solid::Ball(_) => unreachable!("balls meet with points"),
        };
        match (shape.round(), second) {
            (Some(round), _) => SolidPair::Round(round, second),
            (None, _) => match (first(), second) {
                (first @ Faceted::Capsule(_), second) => SolidPair::Convex(first, second),
                // The second has faces where one of them has.
                (first, second @ Faceted::Capsule(_)) => SolidPair::Exchanged(second, first),
                (first, second) => SolidPair::Convex(first, second),
            },
        }
    }

    /// Reports the features that are nearer than `reach`.
    pub fn features<S: Scalar>(
        &self,
        pose: &Pose<S>,
        place: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    ) {
        let mut exchanged =
            |feature, near: Proximity<S>| found(feature, near.exchanged(&place.position, &pose.position));
        match self {
            SolidPair::Exchanged(first, second) => {
                convex::features(first, place, second, pose, reach, &mut exchanged);
            }
            SolidPair::OnRound(first, second) => {
                round_faceted::features(first, place, second, pose, reach, &mut exchanged);
            }
            SolidPair::Convex(first, second) => convex::features(first, pose, second, place, reach, found),
            SolidPair::OnMesh(first, mesh) => mesh::features(first, pose, mesh, place, reach, found),
            SolidPair::Round(first, second) => {
                round_faceted::features(first, pose, second, place, reach, found);
            }
            SolidPair::Rounds(first, second) => {
                round_round::features(first, pose, second, place, reach, found)
            }
            SolidPair::RoundOnMesh(first, mesh) => {
                round_mesh::features(first, pose, mesh, place, reach, found);
            }
        }
    }

    /// A feature at other poses.
    pub fn at<S: Scalar>(&self, feature: Feature, pose: &Pose<S>, place: &Pose<S>) -> Proximity<S> {
        match self {
            SolidPair::Convex(first, second) => convex::at(feature, first, pose, second, place),
            SolidPair::Exchanged(first, second) => {
                convex::at(feature, first, place, second, pose).exchanged(&place.position, &pose.position)
            }
            SolidPair::OnMesh(first, mesh) => mesh::at(feature, first, pose, mesh, place),
            SolidPair::Round(first, second) => round_faceted::at(feature, first, pose, second, place),
            SolidPair::OnRound(first, second) => round_faceted::at(feature, first, place, second, pose)
                .exchanged(&place.position, &pose.position),
            SolidPair::Rounds(first, second) => round_round::at(feature, first, pose, second, place),
            SolidPair::RoundOnMesh(first, mesh) => round_mesh::at(feature, first, pose, mesh, place),
        }
    }

    /// Signed distance.
    pub fn gap<S: Scalar>(&self, pose: &Pose<S>, place: &Pose<S>) -> S {
        match self {
            SolidPair::Convex(first, second) => convex::gap(first, pose, second, place),
            SolidPair::Exchanged(first, second) => convex::gap(first, place, second, pose),
            SolidPair::OnMesh(first, mesh) => mesh::gap(first, pose, mesh, place),
            SolidPair::Round(first, second) => round_faceted::gap(first, pose, second, place),
            SolidPair::OnRound(first, second) => round_faceted::gap(first, place, second, pose),
            SolidPair::Rounds(first, second) => round_round::gap(first, pose, second, place),
            SolidPair::RoundOnMesh(first, mesh) => round_mesh::gap(first, pose, mesh, place),
        }
    }
}
