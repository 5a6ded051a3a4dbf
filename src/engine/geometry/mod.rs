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
pub mod convex;
pub mod cylinder_plane;
pub mod disc_plane;
mod face_overlap;
pub mod faceted;
mod hulls;
pub mod mesh;
mod mesh_ground;
mod mesh_search;
pub mod point_plane;
pub mod polyhedron;
mod poses;
mod rim;
pub mod rim_plane;
pub mod round;
pub mod round_faceted;
pub mod round_mesh;
pub mod round_parts;
pub mod round_round;
mod solid_pair;
pub mod solids;
pub mod sphere_plane;
mod tree;

use super::elementary::hypot;
use super::rotation::Orientation;
use super::scalar::Scalar;
use faceted::{Counts, Faceted};
use nalgebra::Vector3;
use polyhedron::Polyhedron;
use round::Round;
use solid_pair::{SolidPair, features_of_pair, is_flat_on_mesh};
use solids::{Ball, Capsule, Cuboid, Cylinder, Disc, Feature};

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
    fn round(&self) -> Option<Round> {
        match *self {
            Solid::Cylinder(cylinder) => Some(cylinder.into()),
            Solid::Disc(disc) => Some(disc.into()),
            _ => None,
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

    /// Whether the touching point may jump from one place of the shape to another.
    #[inline]
    pub fn has_edges(&self) -> bool {
        !matches!(self, NodeShape::Sphere { .. } | NodeShape::Surface)
    }

    /// Whether it touches with points that turn with the body.
    #[inline]
    pub fn has_points(&self) -> bool {
        matches!(
            self,
            NodeShape::Points { .. } | NodeShape::Box(_) | NodeShape::Capsule(_) | NodeShape::Hull(_)
        )
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
    fn faceted<'a>(&self, details: &'a Details) -> Option<Faceted<'a>> {
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
    fn round(&self) -> Option<Round> {
        match *self {
            NodeShape::Cylinder(cylinder) => Some(cylinder.into()),
            NodeShape::Disc { radius, axis } => Some(Disc { radius, axis }.into()),
            _ => None,
        }
    }

    /// How many corners, edges and faces it has, if it is made of them.
    fn counts(&self) -> Option<Counts> {
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

/// How two shapes touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// With any of so many points of the node, each of which has a place of its own.
    Points(usize),
    /// With some of so many features, which follow from where the shapes are.
    Features(usize),
}

/// How a node and a surface touch; none where the pair has no gap function.
pub fn meeting(shape: &NodeShape, surface: &SurfaceShape) -> Option<Meeting> {
    use Meeting::{Features, Points};
    let SurfaceShape::Solid { solid, .. } = surface else {
        return match shape {
            NodeShape::Sphere { .. } | NodeShape::Disc { .. } => Some(Points(1)),
            NodeShape::Points { count, .. } => Some(Points(*count)),
            NodeShape::Box(_) => Some(Points(box_plane::FEATURES)),
            NodeShape::Capsule(_) => Some(Points(capsule_plane::FEATURES)),
            NodeShape::Cylinder(_) => Some(Features(cylinder_plane::FEATURES)),
            NodeShape::Hull(facets) => Some(Points(facets.counts.corners)),
            NodeShape::Surface => None,
        };
    };
    match (shape, solid) {
        (NodeShape::Surface, _) => None,
        (_, Solid::Mesh(_)) => features_of_pair(shape, solid).map(Features),
        (NodeShape::Sphere { .. }, _) => Some(Points(1)),
        (NodeShape::Points { count, .. }, _) => Some(Points(*count)),
        (_, Solid::Ball(_)) => Some(Points(1)),
        (NodeShape::Box(_), Solid::Box(_)) => Some(Features(box_box::FEATURES)),
        (NodeShape::Capsule(_), Solid::Box(_)) => Some(Features(capsule_box::FEATURES)),
        (NodeShape::Capsule(_), Solid::Capsule(_)) => Some(Features(capsule_capsule::FEATURES)),
        _ => features_of_pair(shape, solid).map(Features),
    }
}

/// Whether the normal of one of the touching points or features of a pair stays as it is when the node slides along.
#[inline]
pub fn is_flat(shape: &NodeShape, surface: &SurfaceShape, index: usize) -> bool {
    match surface {
        SurfaceShape::Plane { .. } => true,
        SurfaceShape::Solid { solid: Solid::Mesh(mesh), .. } => {
            is_flat_on_mesh(shape, index as Feature, &mesh.counts)
        }
        SurfaceShape::Solid { .. } => false,
    }
}

/// How one of the touching points or features of a node is placed to a surface.
///
/// # Panics
/// Where the pair has no [`meeting`].
pub fn proximity<S: Scalar>(
    shape: &NodeShape,
    details: &Details,
    index: usize,
    pose: &Pose<S>,
    surface: &Placed<S>,
) -> Proximity<S> {
    let feature = index as Feature;
    let points = &details.points;
    match (shape, surface) {
        (NodeShape::Sphere { radius }, Placed::Plane(plane)) => {
            sphere_plane::proximity(*radius, &pose.position, plane)
        }
        (NodeShape::Disc { radius, axis }, Placed::Plane(plane)) => {
            disc_plane::proximity(*radius, axis, pose, plane)
        }
        (NodeShape::Points { first, .. }, Placed::Plane(plane)) => {
            point_plane::proximity(&points[first + index], pose, plane)
        }
        (NodeShape::Box(cuboid), Placed::Plane(plane)) => box_plane::at(feature, cuboid, pose, plane),
        (NodeShape::Capsule(capsule), Placed::Plane(plane)) => {
            capsule_plane::at(feature, capsule, pose, plane)
        }
        (NodeShape::Cylinder(cylinder), Placed::Plane(plane)) => {
            cylinder_plane::at(feature, cylinder, pose, plane)
        }
        (NodeShape::Hull(facets), Placed::Plane(plane)) => {
            point_plane::proximity(&details.polyhedra[facets.index].corners[index], pose, plane)
        }
        (_, Placed::Solid(solid @ Solid::Mesh(_), place)) => {
            SolidPair::of(shape, solid, details).at(feature, pose, place)
        }
        (NodeShape::Sphere { radius }, Placed::Solid(solid, place)) => {
            ball_solid(&Ball { radius: *radius }, pose, solid, place, details)
        }
        // A point of a body is a ball of no size that turns with it.
        (NodeShape::Points { first, .. }, Placed::Solid(solid, place)) => {
            let arm = pose.orientation.to_world(&points[first + index].map(S::from));
            let at = Pose { position: pose.position + arm, orientation: pose.orientation };
            let near = ball_solid(&Ball { radius: 0.0 }, &at, solid, place, details);
            Proximity { arm: arm + near.arm, ..near }
        }
        (NodeShape::Box(first), Placed::Solid(Solid::Box(second), place)) => {
            box_box::at(feature, first, pose, second, place)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Box(second), place)) => {
            capsule_box::at(feature, first, pose, second, place)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Capsule(second), place)) => {
            capsule_capsule::at(feature, first, pose, second, place)
        }
        (shape, Placed::Solid(Solid::Ball(ball), place)) => {
            let Some(SurfaceShape::Solid { solid, .. }) = shape.as_surface() else {
                unreachable!("the shape meets a ball")
            };
            ball_solid(ball, place, &solid, pose, details).seen_from_second(place, pose)
        }
        (_, Placed::Solid(solid, place)) => SolidPair::of(shape, solid, details).at(feature, pose, place),
        (NodeShape::Surface, Placed::Plane(_)) => unreachable!("the pair has a gap function"),
    }
}

/// Reports the features of a pair that meets with features ([`Meeting::Features`]) and is nearer than `reach`.
///
/// # Panics
/// Where the pair does not.
pub fn features<S: Scalar>(
    shape: &NodeShape,
    details: &Details,
    pose: &Pose<S>,
    surface: &Placed<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    match (shape, surface) {
        (NodeShape::Cylinder(cylinder), Placed::Plane(plane)) => {
            cylinder_plane::features(cylinder, pose, plane, reach, found)
        }
        (NodeShape::Box(first), Placed::Solid(Solid::Box(second), place)) => {
            box_box::features(first, pose, second, place, reach, found)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Box(second), place)) => {
            capsule_box::features(first, pose, second, place, reach, found)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Capsule(second), place)) => {
            capsule_capsule::features(first, pose, second, place, reach, found)
        }
        (_, Placed::Solid(solid, place)) => {
            SolidPair::of(shape, solid, details).features(pose, place, reach, found)
        }
        _ => unreachable!("the pair meets with features"),
    }
}

/// Signed distance of a pair that meets with features.
///
/// # Panics
/// Where the pair does not.
pub fn gap_of_features<S: Scalar>(
    shape: &NodeShape,
    details: &Details,
    pose: &Pose<S>,
    surface: &Placed<S>,
) -> S {
    match (shape, surface) {
        (NodeShape::Cylinder(cylinder), Placed::Plane(plane)) => cylinder_plane::gap(cylinder, pose, plane),
        (NodeShape::Box(first), Placed::Solid(Solid::Box(second), place)) => {
            box_box::gap(first, pose, second, place)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Box(second), place)) => {
            capsule_box::gap(first, pose, second, place)
        }
        (NodeShape::Capsule(first), Placed::Solid(Solid::Capsule(second), place)) => {
            capsule_capsule::gap(first, pose, second, place)
        }
        (_, Placed::Solid(solid, place)) => SolidPair::of(shape, solid, details).gap(pose, place),
        _ => unreachable!("the pair meets with features"),
    }
}

fn ball_solid<S: Scalar>(
    ball: &Ball,
    pose: &Pose<S>,
    solid: &Solid,
    place: &Pose<S>,
    details: &Details,
) -> Proximity<S> {
    match solid {
        Solid::Hull(hull) => {
            let second = Faceted::Polyhedron(&details.polyhedra[hull.index]);
            convex::closest(&Faceted::Ball(*ball), pose, &second, place)
        }
        Solid::Mesh(_) => unreachable!("balls touch meshes with features"),
        Solid::Ball(other) => ball_ball::at(0, ball, pose, other, place),
        Solid::Box(cuboid) => ball_box::at(0, ball, pose, cuboid, place),
        Solid::Capsule(capsule) => ball_capsule::at(0, ball, pose, capsule, place),
        Solid::Cylinder(cylinder) => ball_cylinder::at(0, ball, pose, cylinder, place),
        Solid::Disc(disc) => ball_disc::at(0, ball, pose, disc, place),
    }
}

impl<S: Scalar> Proximity<S> {
    /// The same with the two sides exchanged.
    fn seen_from_second(&self, first: &Pose<S>, second: &Pose<S>) -> Proximity<S> {
        let touching = first.position + self.arm - self.normal * self.gap;
        Proximity { gap: self.gap, normal: -self.normal, arm: touching - second.position }
    }
}
