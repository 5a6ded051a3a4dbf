//! Edges and faces of solids, in body components.

use nalgebra::Vector3;

/// An edge: `start + t along` with `t` up to `length`.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Its corners.
    pub ends: [u32; 2],
    /// Where it starts.
    pub start: Vector3<f64>,
    /// Unit vector from the first corner to the second.
    pub along: Vector3<f64>,
    /// Length.
    pub length: f64,
    /// Directions along which the surface goes on; zero where there are none.
    pub blocked: [Vector3<f64>; 2],
    /// Unit vector away from them, between the normals of the faces; zero where there are none.
    pub outward: Vector3<f64>,
}

impl Edge {
    /// Whether a direction across the edge is one of its normals, up to `tolerance`.
    pub fn faces(&self, direction: &Vector3<f64>, tolerance: f64) -> bool {
        // What an edge alone has none of is zero.
        self.blocked.iter().all(|blocked| direction.dot(blocked) <= tolerance * blocked.norm_squared())
            && direction.dot(&self.outward) >= -tolerance * self.outward.norm_squared()
    }
}

/// A flat face: all `x` on it have `normal . x = offset`.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Unit normal out of the solid.
    pub normal: Vector3<f64>,
    /// Distance from the origin along the normal.
    pub offset: f64,
}

/// A corner and the edge that leads on from it, around a face.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The corner.
    pub corner: u32,
    /// The edge.
    pub edge: u32,
}
