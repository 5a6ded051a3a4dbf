//! Shapes and gap functions, one file a pair.

pub mod disc_plane;
pub mod sphere_plane;

use super::rotation::Orientation;
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
    /// A disc without thickness, which touches with its rim.
    Disc {
        /// Radius.
        radius: f64,
        /// Unit vector across the disc, body components.
        axis: Vector3<f64>,
    },
}

impl NodeShape {
    /// Whether turning the shape about its centre changes nothing.
    #[inline]
    pub fn is_round(&self) -> bool {
        matches!(self, NodeShape::Sphere { .. })
    }
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

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub struct Pose<S> {
    /// Position of the centre.
    pub position: Vector3<S>,
    /// Orientation.
    pub orientation: Orientation<S>,
}

/// Where and how far apart two shapes are closest.
#[derive(Clone, Copy, Debug)]
pub struct Proximity<S> {
    /// Signed distance; negative when the shapes overlap.
    pub gap: S,
    /// Unit normal from the surface towards the node.
    pub normal: Vector3<S>,
    /// From the node's centre to its point nearest to the surface.
    pub arm: Vector3<S>,
}

/// How a node is placed to a surface. Its orientation is looked up only where the shape needs it.
#[inline(always)]
pub fn proximity<S: Scalar>(
    shape: &NodeShape,
    position: &Vector3<S>,
    orientation: impl FnOnce() -> Orientation<S>,
    surface: &SurfaceShape,
) -> Proximity<S> {
    match (shape, surface) {
        (NodeShape::Sphere { radius }, SurfaceShape::Plane { position: origin, normal }) => {
            sphere_plane::proximity(*radius, position, origin, normal)
        }
        (NodeShape::Disc { radius, axis }, SurfaceShape::Plane { position: origin, normal }) => {
            let pose = Pose { position: *position, orientation: orientation() };
            disc_plane::proximity(*radius, axis, &pose, origin, normal)
        }
    }
}
