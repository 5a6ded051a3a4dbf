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

/// A solid in the frame of a mesh.
pub(super) struct Search<'a> {
    two: Two<'a>,
    first: &'a Faceted<'a>,
    mesh: &'a Polyhedron,
    second: &'a Faceted<'a>,
    ground: Ground<'a>,
    center: Vector3<f64>,
    close: f64,
}

impl Seeker for Search<'_> {
    type Parts = Parts;

    fn each(&self, within: f64, visitor: &mut impl FnMut(Parts, f64, bool) -> f64) {
        let corners = self.first.counts().corners;
        if matches!(self.first, Faceted::Points(_)) {
            let mut within = within;
            for corner in 0..corners {
                within = self.some(corner..corner + 1, within, visitor);
            }
        } else {
            self.some(0..corners, within, visitor);
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
        }
    }

    /// As [`Seeker::each`], for some of the corners and all else.
    fn some(
        &self,
        corners: std::ops::Range<usize>,
        mut within: f64,
        visitor: &mut impl FnMut(Parts, f64, bool) -> f64,
    ) -> f64 {
        let bounds = Bounds::around(corners.clone().map(|corner| self.two.corner(corner)));
        let mut seen = Seen::new();
        let mut least = f64::INFINITY;
        let has_size = self.first.counts().edges > 0;
        self.mesh.visit(&bounds, within, &mut |index| {
            let mut visitor = |parts: Parts, distance: f64, touches: bool| {
                // What is behind a triangle far from it has come another way.
                if distance >= -self.ground.slack || !has_size || self.mesh.bounds_of(index).meets(&bounds) {
                    least = least.min(distance);
                    within = visitor(parts, distance, touches);
                }
            };
            let triangle = &self.mesh.triangles[index];
            self.corners_over(index, corners.clone(), &mut seen, &mut visitor);
            for side in (0..3).filter(|&side| triangle.owns_side[side]) {
                let edge = triangle.sides[side].expect("it owns it") as usize;
                self.over_edge(edge, corners.clone(), &mut visitor);
            }
            for place in (0..3).filter(|&place| triangle.owns_corner[place]) {
                self.over_corner(triangle.corners[place] as usize, corners.clone(), &mut visitor);
            }
            within
        });
        if least > 0.0
            && let Some((parts, distance)) = self.deep(&bounds, corners, least)
        {
            within = visitor(parts, distance, true);
        }
        within
    }

    /// What parts that are nearest say nothing of: a solid that is pierced, or whose middle is behind the mesh.
    fn deep(&self, bounds: &Bounds, corners: std::ops::Range<usize>, least: f64) -> Option<(Parts, f64)> {
        let counts = self.first.counts();
        let mut best: Option<(Parts, f64)> = None;
        if counts.edges > 0 {
            self.mesh.visit(bounds, 0.0, &mut |index| {
                if let Some((parts, depth)) = self.through(index)
                    && best.is_none_or(|(_, other)| depth > other)
                {
                    best = Some((parts, depth));
                }
                0.0
            });
        }
        // The middle of a point is itself, and nearest to what it is nearest to.
        let within = if counts.edges > 0 { f64::INFINITY } else { least };
        best.or_else(|| self.way_out(corners, within))
    }

    /// The corner that is farthest behind a triangle that cuts the solid, whose middle is in front, and how far.
    fn through(&self, index: usize) -> Option<(Parts, f64)> {
        let number = self.mesh.triangles[index].face as usize;
        let face = &self.mesh.faces[number];
        let counts = self.first.counts();
        let height = |corner: usize| face.normal.dot(&self.two.corner(corner)) - face.offset;
        let lowest = (0..counts.corners).min_by(|&one, &other| height(one).total_cmp(&height(other)))?;
        let depth = height(lowest);
        if depth >= 0.0 || face.normal.dot(&self.center) < face.offset {
            return None;
        }
        let is_cut = (0..counts.edges).any(|edge| {
            let edge = self.first.edge(edge);
            let start = self.two.place + self.two.turn * edge.start;
            let way = self.two.turn * edge.along * edge.length;
            let (from, rise) = (face.normal.dot(&start) - face.offset, face.normal.dot(&way));
            let part = -from / rise;
            (0.0..=1.0).contains(&part) && self.ground.above_sides(index, &(start + way * part)) <= 0.0
        });
        let cuts = || {
            let places = self.mesh.places(index).map(|place| self.two.seen_from_first(&place));
            (0..3).any(|side| is_inside_somewhere(self.first, &places[side], &places[(side + 1) % 3]))
        };
        (is_cut || cuts()).then_some((Parts::CornerFace(lowest, number), depth))
    }

    /// Corners of the solid over a triangle.
    fn corners_over(
        &self,
        index: usize,
        corners: std::ops::Range<usize>,
        seen: &mut Seen,
        visitor: &mut impl FnMut(Parts, f64, bool),
    ) {
        let triangle = &self.mesh.triangles[index];
        let face = &self.mesh.faces[triangle.face as usize];
        let inward = -self.two.turn.tr_mul(&face.normal);
        let is_point = matches!(self.first, Faceted::Ball(_) | Faceted::Points(_));
        for corner in corners {
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

    fn over_edge(
        &self,
        index: usize,
        corners: std::ops::Range<usize>,
        visitor: &mut impl FnMut(Parts, f64, bool),
    ) {
        let edge = self.second.edge(index);
        let has_margin = self.first.margin() > 0.0;
        for corner in corners {
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

    fn over_corner(
        &self,
        index: usize,
        corners: std::ops::Range<usize>,
        visitor: &mut impl FnMut(Parts, f64, bool),
    ) {
        let place = self.mesh.corners[index];
        let counts = self.first.counts();
        let has_margin = self.first.margin() > 0.0;
        for corner in corners {
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

    /// Where the middle of the solid is behind the mesh and less than `within` away: the corner that is farthest behind
    /// its nearest face, and how far.
    #[inline(never)]
    fn way_out(&self, corners: std::ops::Range<usize>, within: f64) -> Option<(Parts, f64)> {
        let point = if corners.len() == 1 { self.two.corner(corners.start) } else { self.center };
        let index = self.ground.way_out(&point, within)?;
        let number = self.mesh.triangles[index].face as usize;
        let face = &self.mesh.faces[number];
        let height = |corner: usize| face.normal.dot(&self.two.corner(corner)) - face.offset;
        let lowest = corners.min_by(|&one, &other| height(one).total_cmp(&height(other)))?;
        Some((Parts::CornerFace(lowest, number), height(lowest)))
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
