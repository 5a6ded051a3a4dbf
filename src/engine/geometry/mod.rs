//! Shapes and gap functions, one file a pair.

pub mod sphere_plane;

use super::scalar::Scalar;
use nalgebra::Vector3;

/// Shape of a node around its position.
#[derive(Clone, Copy, Debug)]
pub enum NodeShape {
    /// A sphere; a point is a sphere of radius zero.
    Sphere {
        /// Radius.
        radius: f64,
    },
}

/// Shape of a fixed surface.
#[derive(Clone, Copy, Debug)]
pub enum SurfaceShape {
    /// The half space below a plane is solid.
    Plane {
        /// A point of the plane.
        position: Vector3<f64>,
        /// Unit normal, pointing out of the solid.
        normal: Vector3<f64>,
    },
}

/// Where and how far apart two shapes are closest.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<S> {
    /// Signed distance; negative when the shapes overlap.
    pub gap: S,
    /// Unit normal from the surface towards the node.
    pub normal: Vector3<S>,
}

/// Signed distance and normal between a node at `position` and a surface.
#[inline]
pub fn proximity<S: Scalar>(node: &NodeShape, position: &Vector3<S>, surface: &SurfaceShape) -> Proximity<S> {
    match (node, surface) {
        (NodeShape::Sphere { radius }, SurfaceShape::Plane { position: origin, normal }) => {
            sphere_plane::proximity(*radius, position, origin, normal)
        }
    }
}
