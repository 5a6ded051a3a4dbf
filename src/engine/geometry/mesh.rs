//! Convex solids with flat faces, balls and capsules against a mesh, which need not be convex.
//!
//! A mesh is solid on the side that its normals point away from. Parts of solid and mesh touch where their distance is
//! least nearby: its direction is a normal of both. Faces of a mesh may consist of many triangles in one plane, and
//! edges between them are none, so that nothing trips over them; an edge that is not convex has no normals and never
//! touches. The mesh has a tree of its triangles, so that only near ones are looked at.
//!
//! Of faces that look at each other, each is a limit for what is over the other too: one that is a little aside is on
//! the way of what slides along the other.
//!
//! What is behind a face touches it as long as the middle of the solid is in front, and no other face is nearer to the
//! touching point. A middle that is behind is led out through the nearest face.

use super::faceted::{self, Faceted};
use super::mesh_ground::{Ground, Seeker};
use super::mesh_search::Search;
use super::part_pairs::{Counts, Parts};
use super::polyhedron::Polyhedron;
use super::solids::Feature;
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;

/// Reports where solid and mesh are nearer than `reach`.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the thickness of the solid larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Faceted,
    first_pose: &Pose<S>,
    mesh: &Polyhedron,
    mesh_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let second = Faceted::Polyhedron(mesh);
    let (counts, other_counts) = (first.counts(), second.counts());
    let to_parts = (reach + first.margin()).max(0.0);
    let ground = Ground::new(mesh, to_parts);
    let search = Search::new(first, &first_pose.values(), ground, &second, &mesh_pose.values());
    let at = |parts: Parts| faceted::at(parts, first, first_pose, &second, mesh_pose);
    report(&search, to_parts, TOLERANCES.sliver * first.thickness(), reach, &at, &mut |parts, near| {
        found(parts.feature(&counts, &other_counts), near);
    });
}

/// Reports parts that touch or nearly touch, and the nearest ones if they are nearer than those by more than `sliver`.
pub(super) fn report<S: Scalar, K: Seeker>(
    seeker: &K,
    to_parts: f64,
    sliver: f64,
    reach: f64,
    at: &impl Fn(K::Parts) -> Proximity<S>,
    found: &mut impl FnMut(K::Parts, Proximity<S>),
) {
    let (mut deepest, mut nearest) = (f64::INFINITY, None);
    seeker.each(to_parts, &mut |parts, distance, touches| {
        if touches {
            let near = at(parts);
            if near.gap.value() < reach {
                deepest = deepest.min(distance);
                found(parts, near);
            }
        } else if nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, parts));
        }
        to_parts
    });
    if let Some((least, parts)) = nearest
        && deepest > least + sliver
    {
        let near = at(parts);
        if near.gap.value() < reach {
            found(parts, near);
        }
    }
}

/// The parts with the smallest gap.
pub(super) fn nearest_parts<K: Seeker>(seeker: &K) -> Option<K::Parts> {
    let mut best = (f64::INFINITY, None);
    seeker.each(f64::INFINITY, &mut |parts, distance, _| {
        if distance < best.0 {
            best = (distance, Some(parts));
        }
        best.0.max(0.0)
    });
    best.1
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Faceted,
    first_pose: &Pose<S>,
    mesh: &Polyhedron,
    mesh_pose: &Pose<S>,
) -> Proximity<S> {
    let second = Faceted::Polyhedron(mesh);
    let parts = Parts::of(feature, &first.counts(), &second.counts());
    faceted::at(parts, first, first_pose, &second, mesh_pose)
}

/// Whether the normal of a feature stays as it is when the solid slides along.
pub fn is_flat(feature: Feature, first: &Counts, mesh: &Counts) -> bool {
    matches!(Parts::of(feature, first, mesh), Parts::CornerFace(..))
}

/// The parts with the smallest gap; none for a solid that no part of the mesh looks at, beside or behind an open mesh.
pub fn nearest(
    first: &Faceted,
    first_pose: &Pose<f64>,
    mesh: &Polyhedron,
    mesh_pose: &Pose<f64>,
) -> Option<Parts> {
    let second = Faceted::Polyhedron(mesh);
    nearest_parts(&Search::new(first, first_pose, Ground::new(mesh, 0.0), &second, mesh_pose))
}

/// Signed distance of solid and mesh: where they overlap, minus the depth of the part that is deepest.
pub fn gap<S: Scalar>(first: &Faceted, first_pose: &Pose<S>, mesh: &Polyhedron, mesh_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &first_pose.values(), mesh, &mesh_pose.values());
    let second = Faceted::Polyhedron(mesh);
    match nearest {
        Some(parts) => faceted::at(parts, first, first_pose, &second, mesh_pose).gap,
        None => S::from(beyond(mesh, first.extent())),
    }
}

/// Gap of what no part of the mesh looks at: as far as the mesh is large.
pub(super) fn beyond(mesh: &Polyhedron, extent: f64) -> f64 {
    mesh.bounds().size() + extent
}

#[cfg(test)]
#[path = "mesh_tests.rs"]
mod tests;
