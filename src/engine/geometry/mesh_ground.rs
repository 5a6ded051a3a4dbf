//! A mesh by its triangles: what is over, behind and nearest to them.

use super::box_parts::CORNERS;
use super::polyhedron::Polyhedron;
use super::tree::Bounds;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// By how much a direction is inside the normals of a part, to be no normal of its neighbours.
pub(super) const STRICT: f64 = -TOLERANCES.negligible;
/// Depth, over the size of the mesh, that counts as none.
const SLACK: f64 = 2.0 * TOLERANCES.small;

/// Points of a solid and faces that they have been seen over.
pub(super) struct Seen {
    pairs: [(usize, u32); Seen::MOST],
    count: usize,
}

impl Seen {
    /// Each corner of a box over as many faces.
    const MOST: usize = CORNERS * CORNERS;

    pub fn new() -> Seen {
        Seen { pairs: [(0, 0); Seen::MOST], count: 0 }
    }

    pub fn is_new(&mut self, point: usize, face: u32) -> bool {
        if self.pairs[..self.count].contains(&(point, face)) {
            return false;
        }
        if self.count < Seen::MOST {
            self.pairs[self.count] = (point, face);
            self.count += 1;
        }
        true
    }
}

/// A solid in the frame of a mesh, which looks for parts of both that face each other.
pub(super) trait Seeker {
    /// Two parts.
    type Parts: Copy;

    /// The mesh.
    fn ground(&self) -> &Ground<'_>;

    /// Box around the solid.
    fn bounds(&self) -> Bounds;

    /// Its middle.
    fn middle(&self) -> Vector3<f64>;

    /// Whether it is more than a point.
    fn has_size(&self) -> bool {
        true
    }

    /// Visits parts of the solid that are over a triangle, with their distance, and whether they can touch there.
    fn over_face(&self, triangle: usize, seen: &mut Seen, visitor: &mut impl FnMut(Self::Parts, f64, bool));

    /// The same over an edge of the mesh.
    fn over_edge(&self, edge: usize, visitor: &mut impl FnMut(Self::Parts, f64, bool));

    /// The same over a corner of the mesh.
    fn over_corner(&self, corner: usize, visitor: &mut impl FnMut(Self::Parts, f64, bool));

    /// The part that is lowest over a face, and its height.
    fn lowest(&self, face: usize) -> (Self::Parts, f64);

    /// Whether a triangle cuts the solid, whose middle is at a height over it, and whose lowest part is behind it.
    fn is_cut(&self, triangle: usize, height: f64, lowest: (Self::Parts, f64)) -> bool;

    /// Visits all parts that are nearer than `within`, less the margin. The visitor returns what is near enough from then
    /// on.
    fn each(&self, within: f64, visitor: &mut impl FnMut(Self::Parts, f64, bool) -> f64) {
        self.seek(within, visitor);
    }

    /// The same; returns what is near enough then.
    fn seek(&self, mut within: f64, visitor: &mut impl FnMut(Self::Parts, f64, bool) -> f64) -> f64 {
        let (ground, bounds, has_size) = (self.ground(), self.bounds(), self.has_size());
        let mesh = ground.mesh;
        let (mut seen, mut least) = (Seen::new(), f64::INFINITY);
        mesh.visit(&bounds, within, &mut |index| {
            let mut visitor = |parts: Self::Parts, distance: f64, touches: bool| {
                // What is behind a triangle far from it has come another way.
                if distance >= -ground.slack || !has_size || mesh.bounds_of(index).meets(&bounds) {
                    least = least.min(distance);
                    within = visitor(parts, distance, touches);
                }
            };
            let triangle = &mesh.triangles[index];
            self.over_face(index, &mut seen, &mut visitor);
            for side in (0..3).filter(|&side| triangle.owns_side[side]) {
                self.over_edge(triangle.sides[side].expect("it owns it") as usize, &mut visitor);
            }
            for place in (0..3).filter(|&place| triangle.owns_corner[place]) {
                self.over_corner(triangle.corners[place] as usize, &mut visitor);
            }
            within
        });
        if least > 0.0
            && let Some((parts, distance)) = self.deep(&bounds, least)
        {
            within = visitor(parts, distance, true);
        }
        within
    }

    /// What parts that are nearest say nothing of: a solid that is pierced, or whose middle is behind the mesh.
    fn deep(&self, bounds: &Bounds, least: f64) -> Option<(Self::Parts, f64)> {
        let (ground, middle) = (self.ground(), self.middle());
        let mut best: Option<(Self::Parts, f64)> = None;
        if self.has_size() {
            ground.mesh.visit(bounds, 0.0, &mut |index| {
                let number = ground.mesh.triangles[index].face as usize;
                let face = &ground.mesh.faces[number];
                let (lowest, height) = (self.lowest(number), face.normal.dot(&middle) - face.offset);
                if lowest.1 < -ground.slack
                    && height >= 0.0
                    && best.is_none_or(|(_, other)| lowest.1 > other)
                    && self.is_cut(index, height, lowest)
                {
                    best = Some(lowest);
                }
                0.0
            });
        }
        // The middle of a point is itself, and nearest to what it is nearest to.
        let within = if self.has_size() { f64::INFINITY } else { least };
        best.or_else(|| {
            let index = ground.way_out(&middle, within)?;
            Some(self.lowest(ground.mesh.triangles[index].face as usize))
        })
    }
}

/// A mesh, and lengths that count as none beside it.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub mesh: &'a Polyhedron,
    /// How far aside a face may be that is on the way.
    pub ahead: f64,
    pub rounding: f64,
    pub slack: f64,
}

impl<'a> Ground<'a> {
    pub fn new(mesh: &'a Polyhedron, ahead: f64) -> Ground<'a> {
        let size = mesh.bounds().size();
        Ground { mesh, ahead, rounding: TOLERANCES.negligible * size, slack: SLACK * size }
    }

    /// Whether a place at a height over the plane of a triangle is over the triangle, or else behind it, inside the mesh,
    /// and nowhere less.
    pub fn is_over(&self, index: usize, place: &Vector3<f64>, height: f64) -> bool {
        let above = self.above_sides(index, place);
        if height >= -self.slack {
            above <= self.rounding || (above <= self.ahead && self.is_on_the_way(index, place))
        } else {
            above <= -self.slack
                && !self.is_nearer_elsewhere(place, -height)
                && self.way_out(place, -height + self.slack).is_some()
        }
    }

    /// How far a place is outside of a triangle, seen along its normal; sides between triangles of one face do not count
    /// up to round-off.
    pub fn above_sides(&self, index: usize, place: &Vector3<f64>) -> f64 {
        let triangle = &self.mesh.triangles[index];
        let normal = &self.mesh.faces[triangle.face as usize].normal;
        let places = self.mesh.places(index);
        let mut above = f64::NEG_INFINITY;
        for side in 0..3 {
            let (start, end) = (places[side], places[(side + 1) % 3]);
            let outward = (end - start).cross(normal).normalize();
            let height = outward.dot(&(place - start));
            if triangle.sides[side].is_some() || height > self.rounding {
                above = above.max(height);
            }
        }
        above
    }

    /// Whether a place is beside a triangle only where it is over a neighbour that the triangle looks at.
    #[inline(never)]
    fn is_on_the_way(&self, index: usize, place: &Vector3<f64>) -> bool {
        let triangle = &self.mesh.triangles[index];
        let normal = &self.mesh.faces[triangle.face as usize].normal;
        let places = self.mesh.places(index);
        (0..3).all(|side| {
            let (start, end) = (places[side], places[(side + 1) % 3]);
            let is_inside = (end - start).cross(normal).dot(&(place - start)) <= 0.0;
            is_inside
                || triangle.sides[side].is_some_and(|edge| {
                    let edge = &self.mesh.edges[edge as usize];
                    let neighbour = edge.triangles[usize::from(edge.triangles[0] as usize == index)] as usize;
                    let face = &self.mesh.faces[self.mesh.triangles[neighbour].face as usize];
                    edge.is_hollow
                        && face.normal.dot(place) >= face.offset - self.slack
                        && self.above_sides(neighbour, place) <= self.rounding
                })
        })
    }

    /// Whether a point is behind another face, by less.
    #[inline(never)]
    fn is_nearer_elsewhere(&self, point: &Vector3<f64>, depth: f64) -> bool {
        let mut found = false;
        self.mesh.visit(&Bounds { low: *point, high: *point }, depth, &mut |index| {
            let face = &self.mesh.faces[self.mesh.triangles[index].face as usize];
            let height = face.normal.dot(point) - face.offset;
            found |= height < 0.5 * self.slack
                && -height < depth - self.slack
                && self.above_sides(index, point) <= self.rounding;
            if found { -1.0 } else { depth }
        });
        found
    }

    /// How far one of two places is behind the face of an edge that it is less behind of.
    pub fn depth_at_edge(&self, edge: usize, places: &[Vector3<f64>; 2]) -> f64 {
        let depths = self.mesh.edges[edge].faces.map(|face| {
            let face = &self.mesh.faces[face as usize];
            face.offset - face.normal.dot(&places[0]).min(face.normal.dot(&places[1]))
        });
        depths[0].min(depths[1])
    }

    /// The nearest triangle to a point that is behind the mesh and less than `within` away.
    #[inline(never)]
    pub fn way_out(&self, point: &Vector3<f64>, within: f64) -> Option<usize> {
        let mut nearest = (within, 0, 0.0);
        self.mesh.visit(&Bounds { low: *point, high: *point }, within, &mut |index| {
            let (distance, side) = self.distance_from_triangle(index, point);
            if distance < nearest.0 {
                nearest = (distance, index, side);
            }
            nearest.0
        });
        (nearest.2 < 0.0).then_some(nearest.1)
    }

    /// Distance of a point from a triangle, and a number with the sign of the side that it is on.
    fn distance_from_triangle(&self, index: usize, point: &Vector3<f64>) -> (f64, f64) {
        let triangle = &self.mesh.triangles[index];
        let normal = &self.mesh.faces[triangle.face as usize].normal;
        let places = self.mesh.places(index);
        let flat = normal.dot(&(point - places[0]));
        if self.above_sides(index, point) <= 0.0 {
            return (flat.abs(), flat);
        }
        let mut best = (f64::INFINITY, flat);
        for side in 0..3 {
            let (start, end) = (places[side], places[(side + 1) % 3]);
            let along = end - start;
            let part = ((point - start).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
            let between = point - (start + along * part);
            let distance = between.norm();
            if distance < best.0 {
                let corner = if part <= 0.0 {
                    Some(side)
                } else if part >= 1.0 {
                    Some((side + 1) % 3)
                } else {
                    None
                };
                let outward = match (corner, triangle.sides[side]) {
                    (Some(corner), _) => self.mesh.weighted[triangle.corners[corner] as usize],
                    (None, Some(edge)) => self.mesh.edges[edge as usize].edge.outward,
                    (None, None) => *normal,
                };
                best = (distance, between.dot(&outward));
            }
        }
        best
    }
}
