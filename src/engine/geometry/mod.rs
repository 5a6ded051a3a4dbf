//! Shapes and gap functions, one file a pair.

pub mod ball_ball;
pub mod ball_box;
pub mod ball_capsule;
pub mod ball_cylinder;
pub mod ball_disc;
pub mod disc_plane;
pub mod point_plane;
#[cfg(test)]
mod poses;
pub mod solids;
pub mod sphere_plane;

use super::rotation::Orientation;
use super::scalar::Scalar;
use nalgebra::Vector3;
use solids::{Ball, Capsule, Cuboid, Cylinder};

/// A solid of finite size about its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// A ball.
    Ball(Ball),
    /// A box.
    Box(Cuboid),
    /// A capsule.
    Capsule(Capsule),
    /// A cylinder.
    Cylinder(Cylinder),
}

impl Solid {
    /// Radius of its sharpest edge; zero for one that is not rounded.
    pub fn roundness(&self) -> f64 {
        match self {
            Solid::Ball(Ball { radius }) | Solid::Capsule(Capsule { radius, .. }) => *radius,
            Solid::Box(_) | Solid::Cylinder(_) => 0.0,
        }
    }

    /// Radius of the ball around its centre that holds it.
    pub fn extent(&self) -> f64 {
        match self {
            Solid::Ball(ball) => ball.radius,
            Solid::Box(cuboid) => cuboid.half.norm(),
            Solid::Capsule(capsule) => capsule.half_axis.norm() + capsule.radius,
            Solid::Cylinder(cylinder) => cylinder.half_axis.norm().hypot(cylinder.radius),
        }
    }
}

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
    /// A box.
    Box {
        /// The solid.
        cuboid: Cuboid,
        /// Place of the first of its eight corners in [`super::System::points`].
        first: usize,
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
        matches!(self, NodeShape::Disc { .. } | NodeShape::Points { .. } | NodeShape::Box { .. })
    }

    /// Whether it touches with points that turn with the body.
    #[inline]
    pub fn has_points(&self) -> bool {
        matches!(self, NodeShape::Points { .. } | NodeShape::Box { .. })
    }

    /// The shape as one that other nodes may touch; none for one without volume.
    pub fn as_surface(&self) -> Option<SurfaceShape> {
        let solid = match self {
            NodeShape::Sphere { radius } => Solid::Ball(Ball { radius: *radius }),
            NodeShape::Box { cuboid, .. } => Solid::Box(*cuboid),
            NodeShape::Disc { .. } | NodeShape::Points { .. } | NodeShape::Surface => return None,
        };
        Some(SurfaceShape::Solid { position: Vector3::zeros(), orientation: Orientation::identity(), solid })
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
    /// A solid of finite size.
    Solid {
        /// Its centre.
        position: Vector3<f64>,
        /// How it is turned.
        orientation: Orientation<f64>,
        /// The solid, about its centre.
        solid: Solid,
    },
}

/// A surface in world components.
#[derive(Clone, Copy, Debug)]
pub enum Placed<S> {
    /// A plane.
    Plane(Plane<S>),
    /// A solid.
    Solid(Solid, Pose<S>),
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
    pub fn place<S: Scalar>(&self, body: Option<&Pose<S>>) -> Placed<S> {
        match self {
            SurfaceShape::Plane { position, normal } => {
                let (position, normal) = (position.map(S::from), normal.map(S::from));
                Placed::Plane(match body {
                    None => Plane { origin: position, normal },
                    Some(pose) => Plane {
                        origin: pose.position + pose.orientation.to_world(&position),
                        normal: pose.orientation.to_world(&normal),
                    },
                })
            }
            SurfaceShape::Solid { position, orientation, solid } => {
                let own = Pose { position: position.map(S::from), orientation: orientation.map(S::from) };
                Placed::Solid(*solid, body.map_or(own, |pose| pose.of(&own)))
            }
        }
    }

    /// Whether the normal stays as it is when a node slides along.
    #[inline]
    pub fn is_flat(&self) -> bool {
        matches!(self, SurfaceShape::Plane { .. })
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

impl<S: Scalar> Pose<S> {
    /// Where something is that is placed by `part` in the frame of this pose.
    pub fn of(&self, part: &Pose<S>) -> Pose<S> {
        Pose {
            position: self.position + self.orientation.to_world(&part.position),
            orientation: self.orientation.after(&part.orientation),
        }
    }
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

/// Number of points of a node that may touch a surface at the same time; none where the pair has no gap function.
pub fn touching_points(shape: &NodeShape, surface: &SurfaceShape) -> Option<usize> {
    match (shape, surface) {
        (NodeShape::Sphere { .. }, _) | (NodeShape::Disc { .. }, SurfaceShape::Plane { .. }) => Some(1),
        (NodeShape::Points { count, .. }, _) => Some(*count),
        (NodeShape::Box { .. }, SurfaceShape::Plane { .. }) => Some(8),
        (NodeShape::Box { .. }, SurfaceShape::Solid { solid: Solid::Ball(_), .. }) => Some(1),
        (NodeShape::Disc { .. } | NodeShape::Box { .. }, SurfaceShape::Solid { .. })
        | (NodeShape::Surface, _) => None,
    }
}

/// How one of the touching points of a node is placed to a surface; `points` is [`super::System::points`].
///
/// # Panics
/// Where the pair has no [`touching_points`].
pub fn proximity<S: Scalar>(
    shape: &NodeShape,
    points: &[Vector3<f64>],
    index: usize,
    pose: &Pose<S>,
    surface: &Placed<S>,
) -> Proximity<S> {
    match (shape, surface) {
        (NodeShape::Sphere { radius }, Placed::Plane(plane)) => {
            sphere_plane::proximity(*radius, &pose.position, plane)
        }
        (NodeShape::Disc { radius, axis }, Placed::Plane(plane)) => {
            disc_plane::proximity(*radius, axis, pose, plane)
        }
        (NodeShape::Points { first, .. } | NodeShape::Box { first, .. }, Placed::Plane(plane)) => {
            point_plane::proximity(&points[first + index], pose, plane)
        }
        (NodeShape::Sphere { radius }, Placed::Solid(solid, place)) => {
            ball_solid(&Ball { radius: *radius }, pose, solid, place)
        }
        // A point of a body is a ball of no size that turns with it.
        (NodeShape::Points { first, .. }, Placed::Solid(solid, place)) => {
            let arm = pose.orientation.to_world(&points[first + index].map(S::from));
            let at = Pose { position: pose.position + arm, orientation: pose.orientation };
            let near = ball_solid(&Ball { radius: 0.0 }, &at, solid, place);
            Proximity { arm: arm + near.arm, ..near }
        }
        (NodeShape::Box { cuboid, .. }, Placed::Solid(Solid::Ball(ball), place)) => {
            ball_box::at(0, ball, place, cuboid, pose).seen_from_second(place, pose)
        }
        _ => unreachable!("the pair has touching points"),
    }
}

fn ball_solid<S: Scalar>(ball: &Ball, pose: &Pose<S>, solid: &Solid, place: &Pose<S>) -> Proximity<S> {
    match solid {
        Solid::Ball(other) => ball_ball::at(0, ball, pose, other, place),
        Solid::Box(cuboid) => ball_box::at(0, ball, pose, cuboid, place),
        Solid::Capsule(capsule) => ball_capsule::at(0, ball, pose, capsule, place),
        Solid::Cylinder(cylinder) => ball_cylinder::at(0, ball, pose, cylinder, place),
    }
}

impl<S: Scalar> Proximity<S> {
    /// The same with the two sides exchanged.
    fn seen_from_second(&self, first: &Pose<S>, second: &Pose<S>) -> Proximity<S> {
        let touching = first.position + self.arm - self.normal * self.gap;
        Proximity { gap: self.gap, normal: -self.normal, arm: touching - second.position }
    }
}
