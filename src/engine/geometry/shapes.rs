//! Shapes of nodes and surfaces.

use super::faceted::Faceted;
use super::part_pairs::Counts;
use super::polyhedron::Polyhedron;
use super::round::Round;
use super::solids::{Ball, Capsule, Cuboid, Cylinder, Disc};
use super::stop::Stop;
use super::{Placed, Plane, Pose};
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::Scalar;
use crate::engine::scalar::elementary::hypot;
use nalgebra::Vector3;

/// What shapes are made of, where that is more than some numbers.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Points of [`NodeShape::Points`], in the frames of their bodies.
    pub points: Vec<Vector3<f64>>,
    /// Hulls and meshes, of which [`Facets`] tell.
    pub polyhedra: Vec<Polyhedron>,
}

impl From<Vec<Vector3<f64>>> for Details {
    fn from(points: Vec<Vector3<f64>>) -> Details {
        Details { points, polyhedra: Vec::new() }
    }
}

/// A hull or a mesh among [`Details::polyhedra`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facets {
    /// Its place there.
    pub index: usize,
    /// How many corners, edges and faces it has.
    pub counts: Counts,
    /// Radius of the ball around its origin that holds it.
    pub extent: f64,
}

impl Facets {
    /// The polyhedron at a place.
    pub fn of(index: usize, polyhedron: &Polyhedron) -> Facets {
        let counts = Faceted::Polyhedron(polyhedron).counts();
        Facets { index, counts, extent: polyhedron.extent }
    }
}

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
    /// A disc without thickness.
    Disc(Disc),
    /// A convex hull.
    Hull(Facets),
    /// A mesh, which need not be convex.
    Mesh(Facets),
}

impl Solid {
    /// Radius of its sharpest edge; zero for one that is not rounded.
    pub fn roundness(&self) -> f64 {
        match self {
            Solid::Ball(Ball { radius }) | Solid::Capsule(Capsule { radius, .. }) => *radius,
            Solid::Box(_) | Solid::Cylinder(_) | Solid::Disc(_) | Solid::Hull(_) | Solid::Mesh(_) => 0.0,
        }
    }

    /// The cylinder or disc, if it is one.
    pub(super) fn round(&self) -> Option<Round> {
        match *self {
            Solid::Cylinder(cylinder) => Some(cylinder.into()),
            Solid::Disc(disc) => Some(disc.into()),
            _ => None,
        }
    }

    /// Radius of a ball around its centre that it holds; zero where that takes a search.
    pub fn half_width(&self) -> f64 {
        match self {
            Solid::Ball(Ball { radius }) | Solid::Capsule(Capsule { radius, .. }) => *radius,
            Solid::Box(cuboid) => cuboid.half.min(),
            Solid::Cylinder(cylinder) => cylinder.half_axis.norm().min(cylinder.radius),
            Solid::Disc(_) | Solid::Hull(_) | Solid::Mesh(_) => 0.0,
        }
    }

    /// Radius of the ball around its centre that holds it.
    pub fn extent(&self) -> f64 {
        match self {
            Solid::Ball(ball) => ball.radius,
            Solid::Box(cuboid) => cuboid.half.norm(),
            Solid::Capsule(capsule) => capsule.half_axis.norm() + capsule.radius,
            Solid::Cylinder(cylinder) => hypot(cylinder.half_axis.norm(), cylinder.radius),
            Solid::Disc(disc) => disc.radius,
            Solid::Hull(facets) | Solid::Mesh(facets) => facets.extent,
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
        /// Place of the first one in [`Details::points`].
        first: usize,
        /// How many.
        count: usize,
    },
    /// A box.
    Box(Cuboid),
    /// A capsule.
    Capsule(Capsule),
    /// A cylinder.
    Cylinder(Cylinder),
    /// A convex hull.
    Hull(Facets),
    /// No shape of its own: a body that carries surfaces.
    Surface,
}

impl NodeShape {
    /// Whether turning the shape about its centre changes nothing.
    #[inline]
    pub fn is_round(&self) -> bool {
        matches!(self, NodeShape::Sphere { .. })
    }

    /// Whether the touching point turns with the body, and may jump from one place of the shape to another.
    #[inline]
    pub fn has_edges(&self) -> bool {
        !matches!(self, NodeShape::Sphere { .. } | NodeShape::Surface)
    }

    /// The shape as one that other nodes may touch; none for one that is no solid.
    pub fn as_surface(&self) -> Option<SurfaceShape> {
        let solid = match *self {
            NodeShape::Sphere { radius } => Solid::Ball(Ball { radius }),
            NodeShape::Box(cuboid) => Solid::Box(cuboid),
            NodeShape::Capsule(capsule) => Solid::Capsule(capsule),
            NodeShape::Cylinder(cylinder) => Solid::Cylinder(cylinder),
            NodeShape::Disc { radius, axis } => Solid::Disc(Disc { radius, axis }),
            NodeShape::Hull(facets) => Solid::Hull(facets),
            NodeShape::Points { .. } | NodeShape::Surface => return None,
        };
        Some(SurfaceShape::Solid { position: Vector3::zeros(), orientation: Orientation::identity(), solid })
    }

    /// Its corners, edges and faces, if that is what it is made of.
    #[inline]
    pub(super) fn faceted<'a>(&self, details: &'a Details) -> Option<Faceted<'a>> {
        Some(match *self {
            NodeShape::Sphere { radius } => Faceted::Ball(Ball { radius }),
            NodeShape::Points { first, count } => Faceted::Points(&details.points[first..first + count]),
            NodeShape::Box(cuboid) => Faceted::Box(cuboid),
            NodeShape::Capsule(capsule) => Faceted::Capsule(capsule),
            NodeShape::Hull(facets) => Faceted::Polyhedron(&details.polyhedra[facets.index]),
            NodeShape::Disc { .. } | NodeShape::Cylinder(_) | NodeShape::Surface => return None,
        })
    }

    /// The cylinder or disc, if it is one.
    #[inline]
    pub(super) fn round(&self) -> Option<Round> {
        match *self {
            NodeShape::Cylinder(cylinder) => Some(cylinder.into()),
            NodeShape::Disc { radius, axis } => Some(Disc { radius, axis }.into()),
            _ => None,
        }
    }

    /// How many corners, edges and faces it has, if it is made of them.
    pub(super) fn counts(&self) -> Option<Counts> {
        match self {
            NodeShape::Points { count, .. } => Some(Counts { corners: *count, edges: 0, faces: 0 }),
            NodeShape::Hull(facets) => Some(facets.counts),
            other => other.faceted(&Details::default()).map(|solid| solid.counts()),
        }
    }

    /// Radius of the ball around its centre that holds it; `points` is [`Details::points`].
    pub fn extent(&self, points: &[Vector3<f64>]) -> f64 {
        match *self {
            NodeShape::Sphere { radius } | NodeShape::Disc { radius, .. } => radius,
            NodeShape::Points { first, count } => {
                points[first..first + count].iter().map(Vector3::norm).fold(0.0, f64::max)
            }
            NodeShape::Box(cuboid) => Solid::Box(cuboid).extent(),
            NodeShape::Capsule(capsule) => Solid::Capsule(capsule).extent(),
            NodeShape::Cylinder(cylinder) => Solid::Cylinder(cylinder).extent(),
            NodeShape::Hull(facets) => facets.extent,
            NodeShape::Surface => 0.0,
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
    /// A solid of finite size.
    Solid {
        /// Its centre.
        position: Vector3<f64>,
        /// How it is turned.
        orientation: Orientation<f64>,
        /// The solid, about its centre.
        solid: Solid,
    },
    /// The stop of a joint, whichever shape the node has.
    Stop(Stop),
}

impl SurfaceShape {
    /// Where the surface is; `body` is the pose of the body that carries it.
    ///
    /// # Panics
    /// Of a stop, which has no place of its own ([`Stop::proximity`]).
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
            SurfaceShape::Stop(_) => unreachable!("a stop is seen by the sides of its joint"),
        }
    }

    /// Whether the normal stays as it is when a node slides along.
    #[inline]
    pub fn is_flat(&self) -> bool {
        matches!(self, SurfaceShape::Plane { .. })
    }

    /// The stop of a joint, if it is one.
    #[inline]
    pub fn stop(&self) -> Option<&Stop> {
        match self {
            SurfaceShape::Stop(stop) => Some(stop),
            SurfaceShape::Plane { .. } | SurfaceShape::Solid { .. } => None,
        }
    }
}
