//! What is bounded by corners, edges and flat faces, with a margin around: points and balls (a corner), capsules (an
//! edge), boxes and polyhedra; and the distance of two of their parts.
//!
//! A feature is the signed distance of two parts, which are not cut off at their ends, less the margins:
//! - corner and face: `n . (c - f)` with the normal `n` of the face;
//! - edge and edge: `n . (c1 - c2)` with `n = d1 x d2 / |d1 x d2|`;
//! - corner and edge, corner and corner: the distance, negative where they point against their outward sides.

use super::box_parts::{around, corner, corner_at, corner_outward, edge, edge_ends, face};
use super::convex::least;
use super::flat_parts::{Edge, Face, Side};
use super::part_pairs::{BOX, Counts, Parts};
use super::polyhedron::Polyhedron;
use super::solids::{Ball, Capsule, Cuboid, oriented};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// A solid by its parts, in body components.
#[derive(Clone, Copy, Debug)]
pub enum Faceted<'a> {
    /// A corner with a margin.
    Ball(Ball),
    /// Corners without margin and without anything between them.
    Points(&'a [Vector3<f64>]),
    /// An edge with a margin.
    Capsule(Capsule),
    /// A box.
    Box(Cuboid),
    /// A hull or a mesh.
    Polyhedron(&'a Polyhedron),
}

impl Faceted<'_> {
    /// How far the solid reaches around its parts.
    #[inline]
    pub fn margin(&self) -> f64 {
        match self {
            Faceted::Ball(Ball { radius }) | Faceted::Capsule(Capsule { radius, .. }) => *radius,
            Faceted::Points(_) | Faceted::Box(_) | Faceted::Polyhedron(_) => 0.0,
        }
    }

    /// How many parts there are.
    pub fn counts(&self) -> Counts {
        match self {
            Faceted::Ball(_) => Counts { corners: 1, edges: 0, faces: 0 },
            Faceted::Points(points) => Counts { corners: points.len(), edges: 0, faces: 0 },
            Faceted::Capsule(_) => Counts { corners: 2, edges: 1, faces: 0 },
            Faceted::Box(_) => BOX,
            Faceted::Polyhedron(solid) => {
                Counts { corners: solid.corners.len(), edges: solid.edges.len(), faces: solid.faces.len() }
            }
        }
    }

    /// Mean of the corners.
    pub(super) fn center(&self) -> Vector3<f64> {
        match self {
            Faceted::Polyhedron(solid) => solid.center,
            _ => Vector3::zeros(),
        }
    }

    /// Radius of the ball around the origin that holds all parts.
    pub(super) fn extent(&self) -> f64 {
        match self {
            Faceted::Ball(_) => 0.0,
            Faceted::Points(points) => points.iter().map(Vector3::norm).fold(0.0, f64::max),
            Faceted::Capsule(capsule) => capsule.half_axis.norm(),
            Faceted::Box(cuboid) => cuboid.half.norm(),
            Faceted::Polyhedron(solid) => solid.extent,
        }
    }

    /// Half of how thin it is: below a small part of it, a difference does not make another feature.
    pub(super) fn thickness(&self) -> f64 {
        match self {
            Faceted::Ball(_) | Faceted::Points(_) => f64::INFINITY,
            Faceted::Capsule(capsule) => capsule.half_axis.norm(),
            Faceted::Box(cuboid) => cuboid.half.min(),
            Faceted::Polyhedron(solid) => solid.thickness,
        }
    }

    #[inline]
    pub(super) fn corner(&self, index: usize) -> Vector3<f64> {
        match self {
            Faceted::Ball(_) => Vector3::zeros(),
            Faceted::Points(points) => points[index],
            Faceted::Capsule(capsule) => capsule.half_axis * if index == 0 { -1.0 } else { 1.0 },
            Faceted::Box(cuboid) => corner(&cuboid.half, index),
            Faceted::Polyhedron(solid) => solid.corners[index],
        }
    }

    /// The corner that is lowest along a direction, and its height.
    pub(super) fn lowest(&self, direction: &Vector3<f64>) -> (usize, f64) {
        match self {
            Faceted::Box(cuboid) => {
                let plus = [0, 1, 2].map(|axis| direction[axis] < 0.0);
                (corner_at(plus), -direction.abs().dot(&cuboid.half))
            }
            _ => least((0..self.counts().corners).map(|corner| direction.dot(&self.corner(corner)))),
        }
    }

    pub(super) fn corner_outward(&self, index: usize) -> Vector3<f64> {
        match self {
            Faceted::Ball(_) | Faceted::Points(_) | Faceted::Capsule(_) => Vector3::zeros(),
            Faceted::Box(_) => corner_outward(index),
            Faceted::Polyhedron(solid) => solid.outward[index],
        }
    }

    /// Whether a direction is one of the normals of a corner, up to `tolerance`.
    pub(super) fn corner_faces(&self, index: usize, direction: &Vector3<f64>, tolerance: f64) -> bool {
        match self {
            Faceted::Ball(_) | Faceted::Points(_) => true,
            Faceted::Capsule(capsule) => {
                let to_other = -self.corner(index);
                to_other.dot(direction) <= tolerance * capsule.half_axis.norm()
            }
            Faceted::Box(_) => (0..3).all(
                |axis| if index >> axis & 1 == 1 { direction[axis] } else { -direction[axis] } >= -tolerance,
            ),
            Faceted::Polyhedron(solid) => {
                let outward = &solid.outward[index];
                *outward != Vector3::zeros()
                    && solid.blocked(index).iter().all(|blocked| direction.dot(blocked) <= tolerance)
                    && direction.dot(outward) >= -tolerance
            }
        }
    }

    pub(super) fn edge(&self, index: usize) -> Edge {
        match self {
            Faceted::Ball(_) | Faceted::Points(_) => unreachable!("points have no edges"),
            Faceted::Capsule(capsule) => {
                let length = capsule.half_axis.norm();
                Edge {
                    ends: [0, 1],
                    start: -capsule.half_axis,
                    along: if length > 0.0 { capsule.half_axis / length } else { Vector3::z() },
                    length: 2.0 * length,
                    blocked: [Vector3::zeros(); 2],
                    outward: Vector3::zeros(),
                }
            }
            Faceted::Box(cuboid) => {
                let edge = edge(&cuboid.half, index);
                let along = Vector3::ith(edge.axis, 1.0);
                let blocked = [1, 2].map(|step| {
                    let axis = (edge.axis + step) % 3;
                    Vector3::ith(axis, -edge.outward[axis].signum())
                });
                Edge {
                    ends: edge_ends(index),
                    start: edge.center - along * cuboid.half[edge.axis],
                    along,
                    length: 2.0 * cuboid.half[edge.axis],
                    blocked,
                    outward: edge.outward,
                }
            }
            Faceted::Polyhedron(solid) => solid.edges[index].edge,
        }
    }

    pub(super) fn face(&self, index: usize) -> Face {
        match self {
            Faceted::Ball(_) | Faceted::Points(_) | Faceted::Capsule(_) => unreachable!("it has no faces"),
            Faceted::Box(cuboid) => {
                let face = face(index);
                Face { normal: face.normal(), offset: cuboid.half[face.axis] }
            }
            Faceted::Polyhedron(solid) => solid.faces[index],
        }
    }

    /// Number of corners around a face.
    pub(super) fn around(&self, face: usize) -> usize {
        match self {
            Faceted::Polyhedron(solid) => solid.ring(face).len(),
            _ => 4,
        }
    }

    /// Whether a point is over a face of a convex solid, up to `sliver`.
    pub(super) fn is_over(&self, face: usize, point: &Vector3<f64>, sliver: f64) -> bool {
        let normal = self.face(face).normal;
        let count = self.around(face);
        let mut start = self.corner(self.side(face, count - 1).corner as usize);
        (0..count).all(|place| {
            let next = self.corner(self.side(face, place).corner as usize);
            let side = next - start;
            let is_inside = side.cross(&normal).dot(&(point - start)) <= sliver * side.norm();
            start = next;
            is_inside
        })
    }

    /// A corner around a face and the edge that leads on from it.
    pub(super) fn side(&self, face: usize, place: usize) -> Side {
        match self {
            Faceted::Polyhedron(solid) => solid.ring(face)[place],
            _ => {
                let (corners, edges, _) = around(face);
                // Around the outside of faces on the negative side the order is the other one.
                match face % 2 {
                    1 => Side { corner: corners[place] as u32, edge: edges[place] as u32 },
                    _ => Side { corner: corners[3 - place] as u32, edge: edges[(6 - place) % 4] as u32 },
                }
            }
        }
    }
}

/// How two parts are placed to each other.
pub fn at<S: Scalar>(
    parts: Parts,
    first: &Faceted,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let one = |vector: &Vector3<f64>| first_pose.orientation.to_world(&vector.map(S::from));
    let other = |vector: &Vector3<f64>| second_pose.orientation.to_world(&vector.map(S::from));
    let between = first_pose.position - second_pose.position;
    let size = first.extent() + second.extent();
    // Distance of the parts, and from the centre of the first solid to its point there.
    let (distance, normal, point) = match parts {
        Parts::CornerFace(corner, face) => {
            let face = second.face(face);
            let normal = other(&face.normal);
            let arm = one(&first.corner(corner));
            (normal.dot(&(between + arm)) - S::from(face.offset), normal, arm)
        }
        Parts::FaceCorner(face, corner) => {
            let face = first.face(face);
            let normal = -one(&face.normal);
            let point = other(&second.corner(corner)) - between;
            let gap = -normal.dot(&point) - S::from(face.offset);
            (gap, normal, point + normal * gap)
        }
        Parts::EdgeEdge(edge1, edge2) => {
            let (edge1, edge2) = (first.edge(edge1), second.edge(edge2));
            let (along1, along2) = (one(&edge1.along), other(&edge2.along));
            let start = one(&edge1.start);
            let between = between + start - other(&edge2.start);
            let outward = other(&edge2.outward) - one(&edge1.outward);
            let product = along1.cross(&along2);
            if length(&product).value() < TOLERANCES.half_of_digits {
                let (gap, normal) = oriented(&Vector3::zeros(), 1.0, &outward);
                (gap + normal.dot(&between), normal, start)
            } else {
                // Edges without faces have no outside, and do not overlap.
                let is_bare = outward.map(S::value) == Vector3::zeros();
                let (_, normal) = oriented(&product, 0.0, if is_bare { &between } else { &outward });
                let along = -between.dot(&along2.cross(&normal)) / normal.dot(&product);
                (normal.dot(&between), normal, start + along1 * along)
            }
        }
        Parts::CornerEdge(corner, edge) => {
            let edge = second.edge(edge);
            let along = other(&edge.along);
            let arm = one(&first.corner(corner));
            let between = between + arm - other(&edge.start);
            let outward = other(&edge.outward) - one(&first.corner_outward(corner));
            let (gap, normal) = oriented(&(between - along * between.dot(&along)), size, &outward);
            (gap, normal, arm)
        }
        Parts::EdgeCorner(edge, corner) => {
            let edge = first.edge(edge);
            let along = one(&edge.along);
            let start = one(&edge.start);
            let between = between + start - other(&second.corner(corner));
            let nearest = -along * between.dot(&along);
            let outward = other(&second.corner_outward(corner)) - one(&edge.outward);
            let (gap, normal) = oriented(&(between + nearest), size, &outward);
            (gap, normal, start + nearest)
        }
        Parts::CornerCorner(corner1, corner2) => {
            let arm = one(&first.corner(corner1));
            let between = between + arm - other(&second.corner(corner2));
            let outward = other(&second.corner_outward(corner2)) - one(&first.corner_outward(corner1));
            let (gap, normal) = oriented(&between, size, &outward);
            (gap, normal, arm)
        }
    };
    let margin = first.margin();
    let gap = distance - S::from(margin + second.margin());
    Proximity { gap, normal, arm: point - normal * S::from(margin) }
}

#[cfg(test)]
mod tests {
    use super::super::hulls::Hull;
    use super::*;

    /// Rings of faces, against the clock seen from outside, and directions of edges and corners.
    #[test]
    fn boxes_have_the_parts_of_their_polyhedra() {
        let half = Vector3::new(1.0, 2.0, 3.0);
        let (cuboid, polyhedron) = (Faceted::Box(Cuboid { half }), Hull::cube(half).polyhedron);
        for solid in [cuboid, Faceted::Polyhedron(&polyhedron)] {
            assert_eq!(solid.counts(), Counts { corners: 8, edges: 12, faces: 6 });
            for index in 0..6 {
                let face = solid.face(index);
                assert_eq!(solid.around(index), 4);
                for place in 0..4 {
                    let (side, next) = (solid.side(index, place), solid.side(index, (place + 1) % 4));
                    let edge = solid.edge(side.edge as usize);
                    assert!(
                        edge.ends == [side.corner, next.corner] || edge.ends == [next.corner, side.corner]
                    );
                    let [from, to] = [side.corner, next.corner].map(|corner| solid.corner(corner as usize));
                    assert_eq!(face.normal.dot(&from), face.offset);
                    assert!(face.normal.dot(&from.cross(&to)) > 0.0, "{index} {place}");
                }
            }
            for index in 0..12 {
                let edge = solid.edge(index);
                assert_eq!(edge.start, solid.corner(edge.ends[0] as usize));
                let end = edge.start + edge.along * edge.length;
                assert_eq!(end, solid.corner(edge.ends[1] as usize));
                assert!(edge.faces(&edge.outward, 0.0) && !edge.faces(&-edge.outward, 0.1));
            }
            for index in 0..8 {
                let outward = solid.corner_outward(index);
                assert!(
                    solid.corner_faces(index, &outward, 0.0) && !solid.corner_faces(index, &-outward, 0.1)
                );
            }
        }
    }
}
