//! A robot as URDF tells of it.

use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use std::ops::Range;

/// Where in the text something is.
pub type Span = Range<usize>;

/// Links and joints.
#[derive(Debug)]
pub struct Robot {
    /// Name.
    pub name: String,
    /// Links, in file order.
    pub links: Vec<Link>,
    /// Joints, in file order.
    pub joints: Vec<Joint>,
    /// What the file has that a model has no word for.
    pub unused: Vec<String>,
}

/// A rigid body or a frame.
#[derive(Debug)]
pub struct Link {
    /// Name.
    pub name: String,
    /// Its tag.
    pub span: Span,
    /// Mass and where it is; none for a frame.
    pub inertial: Option<Inertial>,
    /// Shapes that touch.
    pub collisions: Vec<Collision>,
}

/// Mass of a link.
#[derive(Debug)]
pub struct Inertial {
    /// Centre of mass and axes of the tensor, in the link's frame.
    pub origin: Isometry3<f64>,
    /// Mass.
    pub mass: f64,
    /// Tensor about the centre of mass.
    pub tensor: Matrix3<f64>,
    /// Its tag.
    pub span: Span,
}

/// A shape that touches.
#[derive(Debug)]
pub struct Collision {
    /// Its place in the link's frame.
    pub origin: Isometry3<f64>,
    /// The shape.
    pub geometry: Geometry,
    /// Tag of the shape.
    pub span: Span,
}

/// A shape about its origin; cylinders and capsules lie along z.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// A box with its edges.
    Box([f64; 3]),
    /// A ball.
    Sphere(f64),
    /// A cylinder with radius and length.
    Cylinder(f64, f64),
    /// A capsule with radius and the distance of the centres of its ends.
    Capsule(f64, f64),
    /// A mesh in a file, with factors along its axes.
    Mesh {
        /// Address of the file.
        file: String,
        /// Factors.
        scale: [f64; 3],
    },
}

/// What joins two links.
#[derive(Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Its tag.
    pub span: Span,
    /// Which motion it leaves.
    pub kind: JointKind,
    /// Link that carries it, by place.
    pub parent: usize,
    /// Link that it carries, by place.
    pub child: usize,
    /// Frame of the child in that of the parent, at the coordinate 0.
    pub origin: Isometry3<f64>,
    /// Axis in the frame of the child.
    pub axis: Vector3<f64>,
    /// Least and largest coordinate.
    pub limits: Option<[f64; 2]>,
    /// The joint, by place, that this one follows, with factor and offset.
    pub mimic: Option<(usize, f64, f64)>,
    /// Damping of its motion; of a prismatic joint only.
    pub damping: f64,
}

/// Which motion a joint leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Turning about the axis.
    Revolute,
    /// Sliding along the axis.
    Prismatic,
    /// None.
    Fixed,
    /// Any.
    Floating,
}

impl Joint {
    /// Frame of the child in that of the parent at a coordinate.
    pub fn at(&self, coordinate: f64) -> Isometry3<f64> {
        let moved = match self.kind {
            JointKind::Revolute => {
                Isometry3::from_parts(Translation3::identity(), turn(&self.axis, coordinate))
            }
            JointKind::Prismatic => {
                Isometry3::from_parts(Translation3::from(self.axis * coordinate), UnitQuaternion::identity())
            }
            JointKind::Fixed | JointKind::Floating => Isometry3::identity(),
        };
        self.origin * moved
    }
}

/// A turn about a unit axis, with the same bits everywhere.
pub fn turn(axis: &Vector3<f64>, angle: f64) -> UnitQuaternion<f64> {
    let (sine, cosine) = (libm::sin(0.5 * angle), libm::cos(0.5 * angle));
    UnitQuaternion::new_normalize(Quaternion::from_parts(cosine, axis * sine))
}

/// A frame at `xyz` that is turned by roll, pitch and yaw about fixed axes.
pub fn frame(xyz: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Isometry3<f64> {
    let rotation = turn(&Vector3::z(), yaw) * turn(&Vector3::y(), pitch) * turn(&Vector3::x(), roll);
    Isometry3::from_parts(Translation3::from(Vector3::from(xyz)), rotation)
}
