//! Convex hull of points, one point after the other: the triangles that a point outside can see make way for those from
//! their common border to the point. [Clarkson and Shor 1989] The side of a point to a triangle is exact
//! [Shewchuk 1997], so that points in one plane, as on the faces of most solids, cannot go wrong.

use crate::engine::geometry::polyhedron::Polyhedron;
use crate::model::TriangleMesh;
use nalgebra::Vector3;
use robust::{Coord3D, orient3d};
use std::collections::HashMap;

type Point = [f64; 3];

fn coordinates([x, y, z]: Point) -> Coord3D<f64> {
    Coord3D { x, y, z }
}

/// Positive where `point` is on the side of a triangle that it is ordered against the clock for.
fn side(corners: [Point; 3], point: Point) -> f64 {
    let [a, b, c] = corners.map(coordinates);
    // The predicate is positive below.
    -orient3d(a, b, c, coordinates(point))
}

/// Most corners of a hull.
pub const MAX_CORNERS: usize = 1000;
/// Most triangles on the way there.
const MAX_TRIANGLES: usize = 20_000;

/// Why points have no hull.
#[derive(Debug, PartialEq, Eq)]
pub enum NoHull {
    /// All are in one plane.
    Flat,
    /// It has more than [`MAX_CORNERS`].
    TooFine,
}

/// The hull with its corners only: not those within faces and edges.
pub fn hull(points: &[Point]) -> Result<TriangleMesh, NoHull> {
    let whole = around(points)?;
    let corners = whole.corners.iter().map(|&corner| Vector3::from(corner)).collect();
    // Very thin ones can be flat to the accuracy of contact.
    let solid = Polyhedron::new(corners, &whole.triangles).map_err(|_| NoHull::Flat)?;
    let mut faces = vec![Vec::new(); whole.corners.len()];
    for triangle in &solid.triangles {
        for corner in triangle.corners {
            if !faces[corner as usize].contains(&triangle.face) {
                faces[corner as usize].push(triangle.face);
            }
        }
    }
    let own = whole.corners.into_iter().zip(&faces).filter(|(_, faces)| faces.len() > 2);
    let own: Vec<Point> = own.map(|(corner, _)| corner).collect();
    if own.len() > MAX_CORNERS {
        return Err(NoHull::TooFine);
    }
    around(&own)
}

/// The hull, with all points on its surface that came before others.
fn around(points: &[Point]) -> Result<TriangleMesh, NoHull> {
    let mut triangles = start(points).ok_or(NoHull::Flat)?;
    for index in 0..points.len() as u32 {
        let point = points[index as usize];
        let sees = |triangle: &[u32; 3]| side(triangle.map(|corner| points[corner as usize]), point) > 0.0;
        let (visible, hidden): (Vec<_>, Vec<_>) = triangles.iter().partition(|triangle| sees(triangle));
        if visible.is_empty() {
            continue;
        }
        let mut border: Vec<[u32; 2]> = Vec::new();
        let sides = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]];
        let seen: std::collections::HashSet<[u32; 2]> = visible.iter().copied().flat_map(sides).collect();
        for [from, to] in visible.into_iter().flat_map(sides) {
            if !seen.contains(&[to, from]) {
                border.push([from, to]);
            }
        }
        triangles = hidden;
        triangles.extend(border.into_iter().map(|[from, to]| [from, to, index]));
        if triangles.len() > MAX_TRIANGLES {
            return Err(NoHull::TooFine);
        }
    }
    Ok(compact(points, &triangles))
}

/// A tetrahedron of four of the points.
fn start(points: &[Point]) -> Option<Vec<[u32; 3]>> {
    let at = |index: usize| points[index];
    let count = points.len();
    let one = (1..count).find(|&index| at(index) != at(0))?;
    let is_off_line = |index: &usize| {
        // Exact: on a line, the points are in one plane with any fourth.
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].into_iter().any(|way| {
            let aside = [0, 1, 2].map(|axis| at(0)[axis] + way[axis]);
            aside != at(0) && side([at(0), at(one), at(*index)], aside) != 0.0
        })
    };
    let two = (one + 1..count).find(is_off_line)?;
    let three = (1..count).find(|&index| side([at(0), at(one), at(two)], at(index)) != 0.0)?;
    let [a, b, c, d] = [0, one, two, three].map(|index| index as u32);
    Some(if side([at(0), at(one), at(two)], at(three)) < 0.0 {
        vec![[a, b, c], [a, c, d], [a, d, b], [b, d, c]]
    } else {
        vec![[a, c, b], [a, d, c], [a, b, d], [b, c, d]]
    })
}

/// The triangles with the corners that they use.
fn compact(points: &[Point], triangles: &[[u32; 3]]) -> TriangleMesh {
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let numbers: HashMap<u32, u32> = used.iter().zip(0..).map(|(&old, new)| (old, new)).collect();
    TriangleMesh {
        corners: used.iter().map(|&index| points[index as usize]).collect(),
        triangles: triangles.iter().map(|triangle| triangle.map(|corner| numbers[&corner])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polyhedron(points: &[Point]) -> Polyhedron {
        let mesh = hull(points).unwrap();
        let corners: Vec<_> = mesh.corners.iter().map(|&corner| Vector3::from(corner)).collect();
        let solid = Polyhedron::new(corners, &mesh.triangles).unwrap();
        assert!(solid.is_closed());
        for face in &solid.faces {
            assert!(points.iter().all(|&point| face.normal.dot(&Vector3::from(point)) < face.offset + 1e-12));
        }
        // Euler: of a solid without holes.
        assert_eq!(solid.corners.len() + solid.faces.len(), solid.edges.len() + 2);
        solid
    }

    #[test]
    fn points_on_faces_and_edges_of_a_box_are_left_out() {
        let grid: Vec<Point> =
            (0..125).map(|k| [k % 5, k / 5 % 5, k / 25].map(|step| 0.1 * f64::from(step))).collect();
        let solid = polyhedron(&grid);
        assert_eq!((solid.corners.len(), solid.edges.len(), solid.faces.len()), (8, 12, 6));
    }

    #[test]
    fn points_all_around() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        for count in [4, 5, 10, 100, 400] {
            let points: Vec<Point> = (0..count).map(|_| [next(), next(), next()]).collect();
            polyhedron(&points);
        }
    }

    #[test]
    fn points_in_a_plane_have_no_hull() {
        for points in [
            vec![],
            vec![[1.0, 2.0, 3.0]],
            vec![[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]],
            vec![[0.0; 3], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0], [3.0, 4.0, 7.0]],
        ] {
            assert_eq!(hull(&points), Err(NoHull::Flat));
        }
    }
}
