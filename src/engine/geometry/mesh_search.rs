//! Parts of a solid and a [mesh](super::mesh) that face each other.

use super::Pose;
use super::convex::{Two, across};
use super::faceted::Faceted;
use super::mesh_ground::{Ground, STRICT, Seeker, Seen};
use super::part_pairs::Parts;
use super::polyhedron::Polyhedron;
use super::tree::Bounds;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::ops::Range;

/// A solid in the frame of a mesh.
#[derive(Clone)]
pub(super) struct Search<'a> {
    two: Two<'a>,
    first: &'a Faceted<'a>,
    mesh: &'a Polyhedron,
    second: &'a Faceted<'a>,
    ground: Ground<'a>,
    center: Vector3<f64>,
    close: f64,
    /// Those of its corners that are looked at.
    corners: Range<usize>,
}

impl Seeker for Search<'_> {
    type Parts = Parts;

    fn ground(&self) -> &Ground<'_> {
        &self.ground
    }

    fn bounds(&self) -> Bounds {
        Bounds::around(self.corners.clone().map(|corner| self.two.corner(corner)))
    }

    fn middle(&self) -> Vector3<f64> {
        if self.corners.len() == 1 { self.two.corner(self.corners.start) } else { self.center }
    }

    fn has_size(&self) -> bool {
        self.first.counts().edges > 0
    }

    fn each(&self, mut within: f64, visitor: &mut impl FnMut(Parts, f64, bool) -> f64) {
        match self.first {
            Faceted::Points(_) => {
                for corner in self.corners.clone() {
                    within = Search { corners: corner..corner + 1, ..self.clone() }.seek(within, visitor);
                }
            }
            _ => {
                self.seek(within, visitor);
            }
        }
    }

    fn lowest(&self, face: usize) -> (Parts, f64) {
        let side = &self.mesh.faces[face];
        let height = |corner: usize| side.normal.dot(&self.two.corner(corner)) - side.offset;
        let lowest = self.corners.clone().min_by(|&one, &other| height(one).total_cmp(&height(other)));
        let lowest = lowest.expect("there are corners");
        (Parts::CornerFace(lowest, face), height(lowest))
    }

    fn is_cut(&self, triangle: usize, _: f64, _: (Parts, f64)) -> bool {
        let face = &self.mesh.faces[self.mesh.triangles[triangle].face as usize];
        let is_cut = (0..self.first.counts().edges).any(|edge| {
            let edge = self.first.edge(edge);
            let start = self.two.place + self.two.turn * edge.start;
            let way = self.two.turn * edge.along * edge.length;
            let (from, rise) = (face.normal.dot(&start) - face.offset, face.normal.dot(&way));
            let part = -from / rise;
            (0.0..=1.0).contains(&part) && self.ground.above_sides(triangle, &(start + way * part)) <= 0.0
        });
        is_cut || {
            let places = self.mesh.places(triangle).map(|place| self.two.seen_from_first(&place));
            (0..3).any(|side| is_inside_somewhere(self.first, &places[side], &places[(side + 1) % 3]))
        }
    }

    fn over_face(&self, index: usize, seen: &mut Seen, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let triangle = &self.mesh.triangles[index];
        let face = &self.mesh.faces[triangle.face as usize];
        let inward = -self.two.turn.tr_mul(&face.normal);
        let is_point = matches!(self.first, Faceted::Ball(_) | Faceted::Points(_));
        for corner in self.corners.clone() {
            let place = self.two.corner(corner);
            let height = face.normal.dot(&place) - face.offset;
            let middle = if is_point { height } else { face.normal.dot(&self.center) - face.offset };
            if middle < -self.ground.slack || !self.first.corner_faces(corner, &inward, TOLERANCES.tilted) {
                continue;
            }
            if self.ground.is_over(index, &place, height) && seen.is_new(corner, triangle.face) {
                visitor(Parts::CornerFace(corner, triangle.face as usize), height, true);
            }
        }
    }

    fn over_edge(&self, index: usize, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let edge = self.second.edge(index);
        let has_margin = self.first.margin() > 0.0;
        for corner in self.corners.clone() {
            let from_start = self.two.corner(corner) - edge.start;
            let place = from_start.dot(&edge.along);
            if place < 0.0 || place > edge.length {
                continue;
            }
            let between = from_start - edge.along * place;
            let distance = between.norm();
            if distance > self.close
                && edge.faces(&(between / distance), STRICT)
                && self.corner_faces(corner, &(between / -distance), STRICT)
            {
                visitor(Parts::CornerEdge(corner, index), distance, has_margin);
            }
        }
        for own in 0..self.first.counts().edges {
            let own_edge = self.first.edge(own);
            let (start, along) =
                (self.two.place + self.two.turn * own_edge.start, self.two.turn * own_edge.along);
            let Some((_, places)) = across(&start, &along, &edge.start, &edge.along) else { continue };
            let outside = (places[0] - own_edge.length).max(-places[0]);
            let outside = outside.max(places[1] - edge.length).max(-places[1]);
            if outside > self.ground.rounding {
                continue;
            }
            let product = along.cross(&edge.along).normalize();
            let normal = if product.dot(&edge.outward) < 0.0 { -product } else { product };
            let distance = normal.dot(&(start - edge.start));
            if !edge.faces(&normal, TOLERANCES.tilted)
                || !own_edge.faces(&-self.two.turn.tr_mul(&normal), TOLERANCES.tilted)
                || normal.dot(&(self.center - edge.start)) < -self.ground.slack
            {
                continue;
            }
            let ends = [start, start + along * own_edge.length];
            let is_shallow = distance >= -self.ground.slack
                || (outside <= -self.ground.slack
                    && -distance <= self.ground.depth_at_edge(index, &ends) + self.ground.slack);
            if is_shallow {
                visitor(Parts::EdgeEdge(own, index), distance, true);
            }
        }
    }

    fn over_corner(&self, index: usize, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let place = self.mesh.corners[index];
        let counts = self.first.counts();
        let has_margin = self.first.margin() > 0.0;
        for corner in self.corners.clone() {
            let between = self.two.corner(corner) - place;
            let distance = between.norm();
            if distance > self.close
                && self.second.corner_faces(index, &(between / distance), STRICT)
                && self.corner_faces(corner, &(between / -distance), STRICT)
            {
                visitor(Parts::CornerCorner(corner, index), distance, has_margin);
            }
        }
        if counts.edges == 0 {
            return;
        }
        let seen = self.two.seen_from_first(&place);
        for own in 0..counts.edges {
            let edge = self.first.edge(own);
            let from_start = seen - edge.start;
            let along = from_start.dot(&edge.along);
            if along < 0.0 || along > edge.length {
                continue;
            }
            let between = edge.along * along - from_start;
            let distance = between.norm();
            if distance > self.close
                && edge.faces(&(between / -distance), STRICT)
                && self.second.corner_faces(index, &(self.two.turn * (between / distance)), STRICT)
            {
                visitor(Parts::EdgeCorner(own, index), distance, has_margin);
            }
        }
        if counts.faces > 0 {
            self.under_face(index, &seen, visitor);
        }
    }
}

impl<'a> Search<'a> {
    pub fn new(
        first: &'a Faceted<'a>,
        first_pose: &Pose<f64>,
        ground: Ground<'a>,
        second: &'a Faceted<'a>,
        mesh_pose: &Pose<f64>,
    ) -> Search<'a> {
        let two = Two::new(first, first_pose, second, mesh_pose);
        let size = ground.mesh.bounds().size();
        Search {
            center: two.place + two.turn * first.center(),
            two,
            first,
            mesh: ground.mesh,
            second,
            ground,
            close: TOLERANCES.rounding * (size + first.extent()),
            corners: 0..first.counts().corners,
        }
    }

    /// A corner of the mesh, seen from the solid, against the face of the solid that it is least behind.
    fn under_face(&self, index: usize, seen: &Vector3<f64>, visitor: &mut impl FnMut(Parts, f64, bool)) {
        let (mut nearest, mut height) = (0, f64::NEG_INFINITY);
        for own in 0..self.first.counts().faces {
            let face = self.first.face(own);
            let above = face.normal.dot(seen) - face.offset;
            if above > height {
                (nearest, height) = (own, above);
            }
        }
        let normal = -(self.two.turn * self.first.face(nearest).normal);
        let sliver = TOLERANCES.sliver * self.first.thickness();
        if self.second.corner_faces(index, &normal, TOLERANCES.tilted)
            && (height <= 0.0 || self.first.is_over(nearest, seen, sliver))
        {
            visitor(Parts::FaceCorner(nearest, index), height, true);
        }
    }

    /// Whether a direction in the frame of the mesh is a normal of a corner of the solid.
    fn corner_faces(&self, corner: usize, direction: &Vector3<f64>, tolerance: f64) -> bool {
        match self.first {
            Faceted::Ball(_) | Faceted::Points(_) => true,
            first => first.corner_faces(corner, &self.two.turn.tr_mul(direction), tolerance),
        }
    }
}

/// Whether a segment passes through a convex solid that has faces.
fn is_inside_somewhere(solid: &Faceted, start: &Vector3<f64>, end: &Vector3<f64>) -> bool {
    let faces = solid.counts().faces;
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for index in 0..faces {
        let face = solid.face(index);
        let [one, other] = [start, end].map(|point| face.normal.dot(point) - face.offset);
        if one > 0.0 && other > 0.0 {
            return false;
        }
        let cut = one / (one - other);
        if one > 0.0 {
            from = from.max(cut);
        } else if other > 0.0 {
            to = to.min(cut);
        }
    }
    faces > 0 && from <= to
}
