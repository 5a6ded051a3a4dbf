//! Cylinder or disc against a mesh, see [`mesh`](super::mesh): parts touch where their distance is least nearby.

use super::faceted::Faceted;
use super::mesh::{beyond, nearest_parts, report};
use super::mesh_ground::{Ground, STRICT, Seeker, Seen};
use super::part_pairs::Counts;
use super::polyhedron::Polyhedron;
use super::rim::BRANCHES;
use super::round::{ENDS, LOWEST, POINTS, Round, Spot};
use super::round_parts::Parts;
use super::solids::Feature;
use super::tree::Bounds;
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Reports where solid and mesh are nearer than `reach`.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the thickness of the solid larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Round,
    first_pose: &Pose<S>,
    mesh: &Polyhedron,
    mesh_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let second = Faceted::Polyhedron(mesh);
    let counts = second.counts();
    let spot = Spot::from_body(*first, first_pose, mesh_pose);
    let search = Search::new(spot.values(), Ground::new(mesh, reach.max(0.0)), &second);
    let at = |parts: Parts| parts.in_world(&spot, &second, mesh_pose);
    report(&search, reach.max(0.0), TOLERANCES.sliver * first.thickness(), reach, &at, &mut |parts, near| {
        found(parts.feature(&counts), near);
    });
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Round,
    first_pose: &Pose<S>,
    mesh: &Polyhedron,
    mesh_pose: &Pose<S>,
) -> Proximity<S> {
    super::round_faceted::at(feature, first, first_pose, &Faceted::Polyhedron(mesh), mesh_pose)
}

/// Whether the normal of a feature stays as it is when the solid slides along.
pub fn is_flat(feature: Feature, mesh: &Counts) -> bool {
    matches!(Parts::of(feature, mesh), Parts::RimFace(..))
}

/// Signed distance of solid and mesh: where they overlap, minus the depth of the part that is deepest.
pub fn gap<S: Scalar>(first: &Round, first_pose: &Pose<S>, mesh: &Polyhedron, mesh_pose: &Pose<S>) -> S {
    let second = Faceted::Polyhedron(mesh);
    let now = Spot::from_body(*first, &first_pose.values(), &mesh_pose.values());
    match nearest_parts(&Search::new(now, Ground::new(mesh, 0.0), &second)) {
        Some(parts) => {
            parts.in_world(&Spot::from_body(*first, first_pose, mesh_pose), &second, mesh_pose).gap
        }
        None => S::from(beyond(mesh, first.extent())),
    }
}

/// A solid in the frame of a mesh.
struct Search<'a> {
    spot: Spot<f64>,
    ground: Ground<'a>,
    second: &'a Faceted<'a>,
    close: f64,
}

impl Seeker for Search<'_> {
    type Parts = Parts;

    fn ground(&self) -> &Ground<'_> {
        &self.ground
    }

    fn bounds(&self) -> Bounds {
        let reach = Vector3::from_fn(|axis, _| self.spot.reach(&Vector3::ith(axis, 1.0)));
        Bounds { low: self.spot.center - reach, high: self.spot.center + reach }
    }

    fn middle(&self) -> Vector3<f64> {
        self.spot.center
    }

    fn lowest(&self, face: usize) -> (Parts, f64) {
        let end = self.spot.lower_end(&self.ground.mesh.faces[face].normal);
        let parts = Parts::RimFace(end, LOWEST, face);
        (parts, parts.at(&self.spot, self.second).gap)
    }

    fn is_cut(&self, triangle: usize, height: f64, (lowest, depth): (Parts, f64)) -> bool {
        let way = lowest.at(&self.spot, self.second).arm;
        let cut = self.spot.center + way * (height / (height - depth));
        let (places, slack) = (self.ground.mesh.places(triangle), self.ground.slack);
        self.ground.above_sides(triangle, &cut) <= 0.0
            || (0..3).any(|side| self.spot.is_pierced(&places[side], &places[(side + 1) % 3], slack))
    }

    fn over_face(&self, index: usize, seen: &mut Seen, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let number = self.ground.mesh.triangles[index].face;
        let face = &self.ground.mesh.faces[number as usize];
        if face.normal.dot(&self.spot.center) - face.offset < -self.ground.slack {
            return;
        }
        self.spot.each_over_plane(&face.normal, &mut |end, point| {
            let near = self.spot.rim_over_plane(end, point, &face.normal, face.offset);
            if self.ground.is_over(index, &(self.spot.center + near.arm), near.gap)
                && seen.is_new(end * POINTS + point, number)
            {
                visitor(Parts::RimFace(end, point, number as usize), near.gap, true);
            }
        });
    }

    fn over_edge(&self, index: usize, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let edge = self.second.edge(index);
        let mut compare = |parts: Parts, beyond: &dyn Fn(&Vector3<f64>) -> f64| {
            let near = parts.at(&self.spot, self.second);
            let touching = self.spot.center + near.arm - near.normal * near.gap;
            let along = edge.along.dot(&(touching - edge.start));
            let outside = (along - edge.length).max(-along).max(beyond(&touching));
            if outside > self.ground.rounding
                || !edge.faces(&near.normal, TOLERANCES.tilted)
                || near.normal.dot(&(self.spot.center - edge.start)) < -self.ground.slack
            {
                return;
            }
            if let Parts::RimEdge(end, ..) = parts
                && !self.spot.rim_faces(end, &near, TOLERANCES.tilted)
            {
                return;
            }
            let slack = self.ground.slack;
            let is_shallow = near.gap >= -slack
                || (outside <= -slack
                    && -near.gap <= self.depth_at_edge(index) + slack
                    && self.spot.is_pierced(&edge.start, &(edge.start + edge.along * edge.length), slack));
            if is_shallow {
                visitor(parts, near.gap, true);
            }
        };
        if self.spot.axis.cross(&edge.along).norm() > TOLERANCES.slight {
            compare(Parts::SideEdge(index), &|place| self.spot.along(place).abs() - self.spot.solid.half);
        }
        for end in 0..ENDS {
            let rim = self.spot.rim(end);
            for branch in 0..BRANCHES {
                if rim.minimum(&edge.start, &edge.along, branch).is_some() {
                    compare(Parts::RimEdge(end, branch, index), &|_| f64::NEG_INFINITY);
                }
            }
        }
    }

    /// A corner of the mesh against the part of the solid that it is outside of, or least behind.
    fn over_corner(&self, index: usize, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let place = self.ground.mesh.corners[index];
        let height = self.spot.along(&place);
        let end = usize::from(height > 0.0);
        let beyond = height.abs() - self.spot.solid.half;
        let outside = self.spot.aside(&place) - self.spot.solid.radius;
        let is_at_rim = beyond > 0.0 && outside > 0.0;
        let parts = if is_at_rim {
            Parts::RimCorner(end, index)
        } else if beyond > outside {
            Parts::CapCorner(end, index)
        } else {
            Parts::SideCorner(index)
        };
        let near = parts.at(&self.spot, self.second);
        let tolerance = if is_at_rim { STRICT } else { TOLERANCES.tilted };
        if (near.gap > self.close || !is_at_rim) && self.second.corner_faces(index, &near.normal, tolerance) {
            visitor(parts, near.gap, !is_at_rim);
        }
    }
}

impl<'a> Search<'a> {
    fn new(spot: Spot<f64>, ground: Ground<'a>, second: &'a Faceted<'a>) -> Search<'a> {
        let close = TOLERANCES.rounding * (ground.mesh.bounds().size() + spot.solid.extent());
        Search { spot, ground, second, close }
    }

    /// How far the solid is behind the face of an edge that it is less behind of.
    fn depth_at_edge(&self, edge: usize) -> f64 {
        let depths = self.ground.mesh.edges[edge].faces.map(|face| {
            let face = &self.ground.mesh.faces[face as usize];
            face.offset - face.normal.dot(&self.spot.center) + self.spot.reach(&face.normal)
        });
        depths[0].min(depths[1])
    }
}
