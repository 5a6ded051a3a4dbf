//! Solids bounded by triangles: convex hulls and meshes, by their corners, edges and flat faces.
//!
//! Neighbouring triangles in one plane are one face, so that nothing notices the edges between them. What is left are
//! edges and corners with an outside: a unit vector `n` belongs to the normals of an edge or corner where `n . b <= 0`
//! for all its blocked directions `b`, those along which the surface goes on. Such a part can touch along `n` only.
//! An edge that belongs to one triangle is the end of an open mesh, whose normals reach to right angles.

use super::flat_parts::{Edge, Face, Side};
use super::tree::{Bounds, Tree};
pub use super::triangles::Fault;
use super::triangles::{faces, neighbours, normals};
use crate::engine::scalar::elementary::atan2;
use nalgebra::Vector3;

/// An edge between two faces, or at the end of one, and what is on both of its sides.
#[derive(Clone, Copy, Debug)]
pub struct Crease {
    /// The edge.
    pub edge: Edge,
    /// Whether it belongs to one triangle only.
    pub is_open: bool,
    /// Its faces; twice the same at an end.
    pub faces: [u32; 2],
    /// Its triangles, likewise.
    pub triangles: [u32; 2],
    /// Whether its faces look at each other.
    pub is_hollow: bool,
}

/// A triangle of a face.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Its corners, against the clock seen from outside.
    pub corners: [u32; 3],
    /// The face that it belongs to.
    pub face: u32,
    /// Edges along its sides; side `k` starts at corner `k`. None between triangles of one face.
    pub sides: [Option<u32>; 3],
    /// Whether it is the first with that side's edge.
    pub owns_side: [bool; 3],
    /// Whether it is the first with that corner, which has edges.
    pub owns_corner: [bool; 3],
}

/// Lists of one kind of thing, one list for each of another.
#[derive(Clone, Debug)]
struct Lists<T> {
    items: Vec<T>,
    starts: Vec<u32>,
}

impl<T> Lists<T> {
    fn of(lists: Vec<Vec<T>>) -> Lists<T> {
        let mut all = Lists { items: Vec::new(), starts: vec![0] };
        for list in lists {
            all.items.extend(list);
            all.starts.push(all.items.len() as u32);
        }
        all
    }

    fn get(&self, index: usize) -> &[T] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// A surface of triangles.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// Corners, also those within faces.
    pub corners: Vec<Vector3<f64>>,
    /// Unit vectors out of the corners, on the positive side of which all normals of a corner are; zero for corners that
    /// have none.
    pub outward: Vec<Vector3<f64>>,
    /// Sums of the normals of triangles at the corners, by angle: what is on their positive side is outside.
    /// [Baerentzen and Aanaes 2005]
    pub weighted: Vec<Vector3<f64>>,
    /// Edges between faces.
    pub edges: Vec<Crease>,
    /// Faces.
    pub faces: Vec<Face>,
    /// Triangles.
    pub triangles: Vec<Triangle>,
    /// Mean of the corners that have edges.
    pub center: Vector3<f64>,
    /// Radius of the ball around the origin that holds it.
    pub extent: f64,
    /// Distance of the centre from the nearest face; of a hull, half of how thin it is.
    pub thickness: f64,
    /// Number of edges with one triangle.
    pub open_edges: usize,
    blocked: Lists<Vector3<f64>>,
    rings: Lists<Side>,
    tree: Tree,
}

impl Polyhedron {
    /// The surface of some triangles; corners are numbered against the clock seen from outside.
    pub fn new(corners: Vec<Vector3<f64>>, triangles: &[[u32; 3]]) -> Result<Polyhedron, Fault> {
        if triangles.is_empty() {
            return Err(Fault::Empty);
        }
        let normals = normals(&corners, triangles)?;
        let neighbours = neighbours(triangles)?;
        let (face_of, faces) = faces(&corners, triangles, &normals, &neighbours);
        let mut tree = Tree::default();
        tree.build(
            triangles
                .iter()
                .map(|triangle| Bounds::around(triangle.iter().map(|&corner| corners[corner as usize]))),
        );
        let mut polyhedron = Polyhedron {
            outward: vec![Vector3::zeros(); corners.len()],
            weighted: vec![Vector3::zeros(); corners.len()],
            edges: Vec::new(),
            faces,
            triangles: triangles
                .iter()
                .zip(&face_of)
                .map(|(&corners, &face)| Triangle {
                    corners,
                    face,
                    sides: [None; 3],
                    owns_side: [false; 3],
                    owns_corner: [false; 3],
                })
                .collect(),
            center: Vector3::zeros(),
            extent: corners.iter().map(Vector3::norm).fold(0.0, f64::max),
            thickness: 0.0,
            open_edges: neighbours.iter().flatten().filter(|neighbour| neighbour.is_none()).count(),
            blocked: Lists::of(Vec::new()),
            rings: Lists::of(Vec::new()),
            tree,
            corners,
        };
        polyhedron.make_edges(&neighbours);
        polyhedron.make_corners(&normals);
        polyhedron.make_rings();
        Ok(polyhedron)
    }

    /// Whether it has no end.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0
    }

    /// Directions along which the surface goes on from a corner.
    pub fn blocked(&self, corner: usize) -> &[Vector3<f64>] {
        self.blocked.get(corner)
    }

    /// Corners and edges around a face of a convex polyhedron.
    pub fn ring(&self, face: usize) -> &[Side] {
        self.rings.get(face)
    }

    /// Places of the corners of a triangle.
    pub fn places(&self, triangle: usize) -> [Vector3<f64>; 3] {
        self.triangles[triangle].corners.map(|corner| self.corners[corner as usize])
    }

    /// Box around a triangle.
    pub fn bounds_of(&self, triangle: usize) -> &Bounds {
        self.tree.bounds_of(triangle)
    }

    /// Box around all of it.
    pub fn bounds(&self) -> Bounds {
        self.tree.bounds()
    }

    /// Visits triangles whose bounds are nearer to `to` than the distance that the visitor returned last.
    pub fn visit(&self, to: &Bounds, within: f64, visitor: &mut impl FnMut(usize) -> f64) {
        self.tree.visit(to, within, visitor);
    }

    fn make_edges(&mut self, neighbours: &[[Option<usize>; 3]]) {
        for (index, beyond) in neighbours.iter().enumerate() {
            for (side, &other) in beyond.iter().enumerate() {
                let triangle = self.triangles[index];
                let is_inner = other.is_some_and(|other| self.triangles[other].face == triangle.face);
                if is_inner || triangle.sides[side].is_some() {
                    continue;
                }
                let number = self.edges.len() as u32;
                let ends = [triangle.corners[side], triangle.corners[(side + 1) % 3]];
                let [start, end] = ends.map(|corner| self.corners[corner as usize]);
                let (along, length) = ((end - start).normalize(), (end - start).norm());
                let normal = self.faces[triangle.face as usize].normal;
                let into = normal.cross(&along);
                let (blocked, outward) = match other {
                    None => ([into, -normal], normal - into),
                    Some(other) => {
                        let next = self.faces[self.triangles[other].face as usize].normal;
                        ([into, along.cross(&next)], normal + next)
                    }
                };
                let outward = outward.try_normalize(1e-9).unwrap_or_else(Vector3::zeros);
                let next = other.map_or(triangle.face, |other| self.triangles[other].face);
                self.edges.push(Crease {
                    edge: Edge { ends, start, along, length, blocked, outward },
                    is_open: other.is_none(),
                    faces: [triangle.face, next],
                    triangles: [index as u32, other.unwrap_or(index) as u32],
                    is_hollow: other.is_some() && into.dot(&self.faces[next as usize].normal) > 0.0,
                });
                self.triangles[index].sides[side] = Some(number);
                self.triangles[index].owns_side[side] = true;
                if let Some(other) = other {
                    let back = (0..3).find(|&k| self.triangles[other].corners[k] == ends[1]);
                    self.triangles[other].sides[back.expect("neighbours share corners")] = Some(number);
                }
            }
        }
    }

    fn make_corners(&mut self, normals: &[Vector3<f64>]) {
        let mut blocked = vec![Vec::new(); self.corners.len()];
        for Crease { edge, .. } in &self.edges {
            let [start, end] = edge.ends.map(|corner| corner as usize);
            blocked[start].push(edge.along);
            blocked[end].push(-edge.along);
        }
        let mut is_owned = vec![false; self.corners.len()];
        for (index, triangle) in self.triangles.iter_mut().enumerate() {
            for (place, &corner) in triangle.corners.iter().enumerate() {
                let corner = corner as usize;
                triangle.owns_corner[place] = !is_owned[corner] && !blocked[corner].is_empty();
                is_owned[corner] = true;
                let [before, after] =
                    [2, 1].map(|step| self.corners[triangle.corners[(place + step) % 3] as usize]);
                let (one, other) = (before - self.corners[corner], after - self.corners[corner]);
                let angle = atan2(one.cross(&other).norm(), one.dot(&other));
                self.weighted[corner] += normals[index] * angle;
            }
        }
        for triangle in &self.triangles {
            for (side, edge) in triangle.sides.iter().enumerate() {
                let Some(edge) = edge.map(|edge| &self.edges[edge as usize]) else { continue };
                let normal = self.faces[triangle.face as usize].normal;
                if edge.is_open {
                    for corner in [triangle.corners[side], triangle.corners[(side + 1) % 3]] {
                        blocked[corner as usize].push(-normal);
                    }
                }
            }
        }
        for (index, blocked) in blocked.iter().enumerate() {
            let away: Vector3<f64> = -blocked.iter().sum::<Vector3<f64>>();
            if away.dot(&self.weighted[index]) > 0.0
                && let Some(outward) = away.try_normalize(1e-9)
            {
                self.outward[index] = outward;
            }
        }
        let own: Vec<usize> = (0..self.corners.len()).filter(|&corner| !blocked[corner].is_empty()).collect();
        let sum: Vector3<f64> = own.iter().map(|&corner| self.corners[corner]).sum();
        self.center = sum / own.len().max(1) as f64;
        let depths = self.faces.iter().map(|face| (face.offset - face.normal.dot(&self.center)).abs());
        self.thickness = depths.fold(f64::INFINITY, f64::min);
        self.blocked = Lists::of(blocked);
    }

    /// Sides with an edge, in their order around each face; the first loop of a face that has several.
    fn make_rings(&mut self) {
        let mut sides = vec![Vec::new(); self.faces.len()];
        for triangle in &self.triangles {
            for (side, edge) in triangle.sides.iter().enumerate() {
                if let Some(edge) = *edge {
                    let [from, to] = [triangle.corners[side], triangle.corners[(side + 1) % 3]];
                    sides[triangle.face as usize].push((Side { corner: from, edge }, to));
                }
            }
        }
        let rings = sides.into_iter().map(|mut left| {
            let mut ring = Vec::new();
            let Some((first, mut to)) = left.pop() else { return ring };
            ring.push(first);
            while let Some(next) = left.iter().position(|(side, _)| side.corner == to) {
                let (side, end) = left.swap_remove(next);
                ring.push(side);
                to = end;
            }
            ring
        });
        self.rings = Lists::of(rings.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::super::hulls::Hull;
    use super::*;

    #[test]
    fn triangles_in_one_plane_are_one_face() {
        let cube = Hull::cube(Vector3::new(1.0, 2.0, 3.0)).polyhedron;
        assert_eq!((cube.corners.len(), cube.edges.len(), cube.faces.len()), (8, 12, 6));
        assert!(cube.is_closed());
        assert!((cube.thickness - 1.0).abs() < 1e-15);
        for (index, face) in cube.faces.iter().enumerate() {
            assert_eq!(face.normal.amax(), 1.0);
            assert_eq!(face.offset, face.normal.abs().dot(&Vector3::new(1.0, 2.0, 3.0)));
            let ring = cube.ring(index);
            assert_eq!(ring.len(), 4);
            for (place, side) in ring.iter().enumerate() {
                let next = ring[(place + 1) % 4].corner;
                let ends = cube.edges[side.edge as usize].edge.ends;
                assert!(ends == [side.corner, next] || ends == [next, side.corner]);
            }
        }
        for Crease { edge, .. } in &cube.edges {
            assert!(edge.blocked.iter().all(|blocked| blocked.dot(&edge.outward) < -0.7));
            assert!(edge.blocked.iter().all(|blocked| blocked.dot(&edge.along).abs() < 1e-15));
            assert!(edge.outward.dot(&edge.start) > 0.0);
        }
        for corner in 0..8 {
            assert_eq!(cube.blocked(corner).len(), 3);
            assert!(cube.blocked(corner).iter().all(|blocked| blocked.dot(&cube.corners[corner]) < 0.0));
        }
        assert_eq!(cube.triangles.iter().flat_map(|t| t.owns_side).filter(|owns| *owns).count(), 12);
        assert_eq!(cube.triangles.iter().flat_map(|t| t.owns_corner).filter(|owns| *owns).count(), 8);
    }

    #[test]
    fn what_is_no_surface_is_told() {
        let square = || {
            [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0]]
                .map(|[x, y]| Vector3::new(x, y, 0.0))
                .to_vec()
        };
        let fault = |triangles: &[[u32; 3]]| Polyhedron::new(square(), triangles).err();
        assert_eq!(fault(&[]), Some(Fault::Empty));
        assert_eq!(fault(&[[0, 1, 2], [0, 1, 7]]), Some(Fault::NoCorner(1)));
        assert_eq!(fault(&[[0, 4, 1]]), Some(Fault::Flat(0)));
        assert_eq!(fault(&[[0, 0, 1]]), Some(Fault::Flat(0)));
        assert_eq!(fault(&[[0, 1, 2], [0, 3, 2]]), Some(Fault::InsideOut([0, 1])));
        assert_eq!(fault(&[[0, 1, 2], [0, 2, 3], [2, 0, 4]]), Some(Fault::Branching([0, 2])));
        let sheet = Polyhedron::new(square(), &[[0, 1, 2], [0, 2, 3]]).unwrap();
        assert_eq!((sheet.open_edges, sheet.faces.len(), sheet.edges.len()), (4, 1, 4));
    }
}
