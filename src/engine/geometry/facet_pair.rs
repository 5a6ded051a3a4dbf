//! A node and a solid that are both made of corners, edges and faces.

use super::faceted::Faceted;
use super::polyhedron::Polyhedron;
use super::solids::Feature;
use super::{Details, NodeShape, Pose, Proximity, Solid, convex, mesh};
use crate::engine::scalar::Scalar;

/// Two such solids.
pub(super) enum FacetedPair<'a> {
    /// The node and a convex solid.
    Convex(Faceted<'a>, Faceted<'a>),
    /// The same with the node second.
    Exchanged(Faceted<'a>, Faceted<'a>),
    /// The node and a mesh.
    OnMesh(Faceted<'a>, &'a Polyhedron),
}

impl<'a> FacetedPair<'a> {
    /// # Panics
    /// Where the pair is another one.
    pub fn of(shape: &NodeShape, solid: &Solid, details: &'a Details) -> FacetedPair<'a> {
        let first = shape.faceted(details).expect("the pair has a gap function");
        match *solid {
            Solid::Mesh(mesh) => FacetedPair::OnMesh(first, &details.polyhedra[mesh.index]),
            Solid::Hull(hull) => {
                FacetedPair::Convex(first, Faceted::Polyhedron(&details.polyhedra[hull.index]))
            }
            Solid::Box(cuboid) => FacetedPair::Convex(first, Faceted::Box(cuboid)),
            Solid::Capsule(capsule) => FacetedPair::Exchanged(Faceted::Capsule(capsule), first),
            Solid::Ball(_) | Solid::Cylinder(_) | Solid::Disc(_) => {
                unreachable!("the pair has a gap function")
            }
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
        match self {
            FacetedPair::Convex(first, second) => {
                convex::features(first, pose, second, place, reach, found);
            }
            FacetedPair::Exchanged(first, second) => {
                convex::features(first, place, second, pose, reach, &mut |feature, near| {
                    found(feature, near.seen_from_second(place, pose));
                });
            }
            FacetedPair::OnMesh(first, mesh) => mesh::features(first, pose, mesh, place, reach, found),
        }
    }

    /// A feature at other poses.
    pub fn at<S: Scalar>(&self, feature: Feature, pose: &Pose<S>, place: &Pose<S>) -> Proximity<S> {
        match self {
            FacetedPair::Convex(first, second) => convex::at(feature, first, pose, second, place),
            FacetedPair::Exchanged(first, second) => {
                convex::at(feature, first, place, second, pose).seen_from_second(place, pose)
            }
            FacetedPair::OnMesh(first, mesh) => mesh::at(feature, first, pose, mesh, place),
        }
    }

    /// Signed distance.
    pub fn gap<S: Scalar>(&self, pose: &Pose<S>, place: &Pose<S>) -> S {
        match self {
            FacetedPair::Convex(first, second) => convex::gap(first, pose, second, place),
            FacetedPair::Exchanged(first, second) => convex::gap(first, place, second, pose),
            FacetedPair::OnMesh(first, mesh) => mesh::gap(first, pose, mesh, place),
        }
    }
}
