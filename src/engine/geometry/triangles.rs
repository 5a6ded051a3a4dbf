//! Triangles as a surface: which are neighbours, and which are in one plane.

use super::flat_parts::Face;
use super::tree::Bounds;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::collections::VecDeque;

/// What makes triangles no surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A triangle has no area.
    Flat(usize),
    /// More than two triangles share an edge: two of them.
    Branching([usize; 2]),
    /// Two neighbours do not agree on which side is out.
    InsideOut([usize; 2]),
    /// A triangle names a corner that there is not.
    NoCorner(usize),
    /// There are no triangles.
    Empty,
}

/// A side of a triangle, from its corner with the smaller number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HalfEdge {
    ends: [u32; 2],
    triangle: usize,
    side: usize,
    is_forward: bool,
}

/// Unit normals of triangles.
pub(super) fn normals(corners: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<Vec<Vector3<f64>>, Fault> {
    let mut normals = Vec::with_capacity(triangles.len());
    for (index, triangle) in triangles.iter().enumerate() {
        if triangle.iter().any(|&corner| corner as usize >= corners.len()) {
            return Err(Fault::NoCorner(index));
        }
        let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
        // Scaled, because squares of very small or large sides leave the range of numbers.
        let size = (b - a).amax().max((c - a).amax()).max((c - b).amax());
        if size <= 0.0 {
            return Err(Fault::Flat(index));
        }
        let across = ((b - a) / size).cross(&((c - a) / size));
        let area = across.norm();
        if area < TOLERANCES.rounding {
            return Err(Fault::Flat(index));
        }
        normals.push(across / area);
    }
    Ok(normals)
}

/// The triangle beyond each side.
pub(super) fn neighbours(triangles: &[[u32; 3]]) -> Result<Vec<[Option<usize>; 3]>, Fault> {
    let mut halves = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            halves.push(HalfEdge {
                ends: [from.min(to), from.max(to)],
                triangle,
                side,
                is_forward: from < to,
            });
        }
    }
    halves.sort_unstable();
    let mut neighbours = vec![[None; 3]; triangles.len()];
    for group in halves.chunk_by(|one, other| one.ends == other.ends) {
        match group {
            [_] => {}
            [one, other] if one.is_forward == other.is_forward => {
                return Err(Fault::InsideOut([one.triangle, other.triangle]));
            }
            [one, other] => {
                neighbours[one.triangle][one.side] = Some(other.triangle);
                neighbours[other.triangle][other.side] = Some(one.triangle);
            }
            _ => return Err(Fault::Branching([group[0].triangle, group[2].triangle])),
        }
    }
    Ok(neighbours)
}

/// Joins neighbours in one plane. Returns the face of each triangle, and the faces.
pub(super) fn faces(
    corners: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    normals: &[Vector3<f64>],
    neighbours: &[[Option<usize>; 3]],
) -> (Vec<u32>, Vec<Face>) {
    let size = Bounds::around(corners.iter().copied()).size();
    let place = |corner: u32| corners[corner as usize];
    let mut face_of = vec![u32::MAX; triangles.len()];
    let mut faces = Vec::new();
    let mut queue = VecDeque::new();
    for seed in 0..triangles.len() {
        if face_of[seed] != u32::MAX {
            continue;
        }
        let number = faces.len() as u32;
        let (normal, origin) = (normals[seed], place(triangles[seed][0]));
        let is_level = |corner: &u32| normal.dot(&(place(*corner) - origin)).abs() <= TOLERANCES.small * size;
        let (mut sum, mut reach) = (Vector3::zeros(), [f64::INFINITY, f64::NEG_INFINITY]);
        face_of[seed] = number;
        queue.push_back(seed);
        let mut members = Vec::new();
        while let Some(index) = queue.pop_front() {
            members.push(index);
            let [a, b, c] = triangles[index].map(place);
            sum += (b - a).cross(&(c - a));
            for next in neighbours[index].into_iter().flatten() {
                let is_along = normals[next].dot(&normal) > 0.0
                    && normals[next].cross(&normal).norm() <= TOLERANCES.small
                    && triangles[next].iter().all(is_level);
                if face_of[next] == u32::MAX && is_along {
                    face_of[next] = number;
                    queue.push_back(next);
                }
            }
        }
        let normal = if members.len() == 1 { normal } else { sum.normalize() };
        for corner in members.iter().flat_map(|&index| triangles[index]) {
            let height = normal.dot(&place(corner));
            reach = [reach[0].min(height), reach[1].max(height)];
        }
        faces.push(Face { normal, offset: 0.5 * (reach[0] + reach[1]) });
    }
    (face_of, faces)
}
