//! Convex polyhedra for tests: images of regular ones, which stay convex; and other solids by their parts.

#![cfg(test)]

use super::faceted::Faceted;
use super::polyhedron::Polyhedron;
use super::round::Round;
use super::solids::{Ball, Capsule, Cuboid, Cylinder, Disc};
use super::support::{Numbers, Solid, mirror};
use nalgebra::{Matrix3, Vector3};

/// A convex polyhedron, and what it was made from.
#[derive(Clone, Debug)]
pub struct Hull {
    pub polyhedron: Polyhedron,
    corners: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
}

impl Hull {
    pub fn new(corners: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Hull {
        let polyhedron = Polyhedron::new(corners.clone(), &triangles).unwrap();
        assert!(polyhedron.is_closed());
        Hull { polyhedron, corners, triangles }
    }

    pub fn cube(half: Vector3<f64>) -> Hull {
        let corner = |index: usize| {
            Vector3::from_fn(|axis, _| if index >> axis & 1 == 1 { half[axis] } else { -half[axis] })
        };
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Hull::new((0..8).map(corner).collect(), triangles)
    }

    fn tetrahedron() -> Hull {
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let triangles = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
        Hull::new(corners.map(Vector3::from).to_vec(), triangles)
    }

    /// Prism over a polygon.
    pub fn prism(sides: u32) -> Hull {
        let around = |k: u32, z: f64| {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(sides);
            Vector3::new(angle.cos(), angle.sin(), z)
        };
        let corners = (0..sides).map(|k| around(k, -1.0)).chain((0..sides).map(|k| around(k, 1.0)));
        let mut triangles = Vec::new();
        for k in 0..sides {
            let next = (k + 1) % sides;
            triangles.extend([[k, next, sides + next], [k, sides + next, sides + k]]);
            if (1..sides - 1).contains(&k) {
                triangles.extend([[0, k + 1, k], [sides, sides + k, sides + k + 1]]);
            }
        }
        Hull::new(corners.collect(), triangles)
    }

    /// The image under a linear map and a shift.
    pub fn image(&self, map: &Matrix3<f64>, shift: &Vector3<f64>) -> Hull {
        let corners = self.corners.iter().map(|corner| map * corner + shift).collect();
        let turn = |&[a, b, c]: &[u32; 3]| if map.determinant() < 0.0 { [a, c, b] } else { [a, b, c] };
        Hull::new(corners, self.triangles.iter().map(turn).collect())
    }
}

impl Solid for Hull {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let along = |corner: &&Vector3<f64>| corner.dot(direction);
        *self.corners.iter().max_by(|one, other| along(one).total_cmp(&along(other))).unwrap()
    }
    fn margin(&self) -> f64 {
        0.0
    }
    fn random(numbers: &mut Numbers) -> Hull {
        let regular = match (numbers.next() * 2.5 + 2.5) as u32 {
            0 => Hull::tetrahedron(),
            1 => Hull::cube(Vector3::from_element(1.0)),
            sides => Hull::prism(sides + 1),
        };
        loop {
            let map = Matrix3::from_fn(|_, _| 0.6 * numbers.next());
            let stretches = map.singular_values();
            if stretches.min() > 0.15 {
                return regular.image(&map, &(numbers.vector() * 0.2));
            }
        }
    }
    fn mirrored(&self) -> Hull {
        let corners = self.corners.iter().map(mirror).collect();
        Hull::new(corners, self.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect())
    }
    fn scaled(&self, scale: f64) -> Hull {
        self.image(&(Matrix3::identity() * scale), &Vector3::zeros())
    }
}

/// A solid that has parts.
pub trait HasParts: Solid + Clone {
    fn parts(&self) -> Faceted<'_>;
}

impl HasParts for Ball {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Ball(*self)
    }
}

impl HasParts for Capsule {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Capsule(*self)
    }
}

impl HasParts for Cuboid {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Box(*self)
    }
}

impl HasParts for Hull {
    fn parts(&self) -> Faceted<'_> {
        Faceted::Polyhedron(&self.polyhedron)
    }
}

/// A cylinder or a disc.
pub trait IsRound: Solid + Copy {
    fn round(&self) -> Round;
}

impl IsRound for Cylinder {
    fn round(&self) -> Round {
        Round::from(*self)
    }
}

impl IsRound for Disc {
    fn round(&self) -> Round {
        Round::from(*self)
    }
}
