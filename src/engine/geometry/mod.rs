//! Shapes and gap functions, one file a pair.

pub mod ball_ball;
pub mod ball_box;
pub mod ball_capsule;
pub mod ball_cylinder;
pub mod ball_disc;
pub mod box_box;
mod box_parts;
pub mod box_plane;
pub mod capsule_box;
pub mod capsule_capsule;
pub mod capsule_plane;
pub mod cylinder_plane;
pub mod disc_plane;
pub mod point_plane;
#[cfg(test)]
mod poses;
pub mod rim_plane;
pub mod solids;
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
    /// Points of the body, each of which may touch.
    Points {
        /// Place of the first one in [`super::System::points`].
        first: usize,
        /// How many.
        count: usize,
    },
    /// No shape of its own: a body that carries surfaces.
    Surface,
}

impl NodeShape {
    /// Whether turning the shape about its centre changes nothing.
    #[inline]
    pub fn is_round(&self) -> bool {
        matches!(self, NodeShape::Sphere { .. })
    }

    /// Whether the touching point may jump from one place of the shape to another.
    #[inline]
    pub fn has_edges(&self) -> bool {
        matches!(self, NodeShape::Disc { .. } | NodeShape::Points { .. })
    }

    /// Number of points that may touch a surface at the same time.
    #[inline]
    pub fn touching_points(&self) -> usize {
        match self {
            NodeShape::Points { count, .. } => *count,
            _ => 1,
        }
    }
}

/// A surface and what carries it.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Shape, in the frame of the body that carries it.
    pub shape: SurfaceShape,
    /// Index of that body among the nodes; none for a fixed surface, whose frame is the world's.
    pub body: Option<usize>,
}

/// Shape of a surface.
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

/// A plane in world components.
#[derive(Clone, Copy, Debug)]
pub struct Plane<S> {
    /// A point of the plane.
    pub origin: Vector3<S>,
    /// Unit normal.
    pub normal: Vector3<S>,
}

impl SurfaceShape {
    /// Where the surface is; `body` is the pose of the body that carries it.
    #[inline(always)]
    pub fn place<S: Scalar>(&self, body: Option<&Pose<S>>) -> Plane<S> {
        let SurfaceShape::Plane { position, normal } = self;
        let (position, normal) = (position.map(S::from), normal.map(S::from));
        match body {
            None => Plane { origin: position, normal },
            Some(pose) => Plane {
                origin: pose.position + pose.orientation.to_world(&position),
                normal: pose.orientation.to_world(&normal),
            },
        }
    }
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

/// How one of the touching points of a node is placed to a plane; `points` is [`super::System::points`].
pub fn proximity<S: Scalar>(
    shape: &NodeShape,
    points: &[Vector3<f64>],
    index: usize,
    pose: &Pose<S>,
    plane: &Plane<S>,
) -> Proximity<S> {
    match shape {
        NodeShape::Sphere { radius } => sphere_plane::proximity(*radius, &pose.position, plane),
        NodeShape::Disc { radius, axis } => disc_plane::proximity(*radius, axis, pose, plane),
        NodeShape::Points { first, .. } => point_plane::proximity(&points[first + index], pose, plane),
        NodeShape::Surface => sphere_plane::proximity(0.0, &pose.position, plane),
    }
}
