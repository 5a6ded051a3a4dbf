//! Shapes and gap functions, one file a pair.

pub mod ball_ball;
pub mod ball_box;
pub mod ball_capsule;
pub mod ball_cylinder;
pub mod ball_disc;
mod box_parts;
pub mod box_plane;
pub mod capsule_capsule;
pub mod capsule_plane;
pub mod convex;
pub mod cylinder_plane;
mod face_overlap;
pub mod faceted;
pub mod flat_parts;
mod hulls;
pub mod mesh;
mod mesh_ground;
mod mesh_search;
pub mod part_pairs;
mod plane_poses;
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
mod shapes;
mod solid_pair;
pub mod solids;
pub mod sphere_plane;
pub mod stop;
mod support;
pub mod tree;
mod triangles;

pub use shapes::{Details, Facets, NodeShape, Solid, Surface, SurfaceShape};

use super::math::rotation::Orientation;
use super::scalar::Scalar;
use faceted::Faceted;
use nalgebra::Vector3;
use solid_pair::{SolidPair, features_of_pair, is_flat_on_mesh};
use solids::{Ball, Disc, Feature};

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
    if matches!(surface, SurfaceShape::Stop(_)) {
        return Some(Points(1));
    }
    let SurfaceShape::Solid { solid, .. } = surface else {
        return match shape {
            NodeShape::Sphere { .. } => Some(Points(1)),
            NodeShape::Points { count, .. } => Some(Points(*count)),
            NodeShape::Box(_) => Some(Points(box_plane::FEATURES)),
            NodeShape::Capsule(_) => Some(Points(capsule_plane::FEATURES)),
            NodeShape::Disc { .. } => Some(Features(rim_plane::FEATURES as usize)),
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
        (NodeShape::Capsule(_), Solid::Capsule(_)) => Some(Features(capsule_capsule::FEATURES)),
        _ => features_of_pair(shape, solid).map(Features),
    }
}

/// Whether feature 0 of a pair that meets with features is its nearest point at any pose.
pub fn has_nearest_point(shape: &NodeShape, surface: &SurfaceShape) -> bool {
    matches!((shape, surface), (NodeShape::Disc { .. }, SurfaceShape::Plane { .. }))
}

/// Whether the normal of one of the touching points or features of a pair stays as it is when the node slides along.
#[inline]
pub fn is_flat(shape: &NodeShape, surface: &SurfaceShape, index: usize) -> bool {
    match surface {
        SurfaceShape::Plane { .. } => true,
        SurfaceShape::Solid { solid: Solid::Mesh(mesh), .. } => {
            is_flat_on_mesh(shape, index as Feature, &mesh.counts)
        }
        SurfaceShape::Solid { .. } | SurfaceShape::Stop(_) => false,
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
        (&NodeShape::Disc { radius, axis }, Placed::Plane(plane)) => {
            rim_plane::at(feature, &Disc { radius, axis }, pose, plane)
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
        (NodeShape::Capsule(first), Placed::Solid(Solid::Capsule(second), place)) => {
            capsule_capsule::at(feature, first, pose, second, place)
        }
        (shape, Placed::Solid(Solid::Ball(ball), place)) => {
            let Some(SurfaceShape::Solid { solid, .. }) = shape.as_surface() else {
                unreachable!("the shape meets a ball")
            };
            // The point of the ball, whichever of the two is the node.
            let near = ball_solid(ball, place, &solid, pose, details);
            Proximity { gap: near.gap, normal: -near.normal, arm: place.position + near.arm - pose.position }
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
        (&NodeShape::Disc { radius, axis }, Placed::Plane(plane)) => {
            rim_plane::features(&Disc { radius, axis }, pose, plane, reach, found)
        }
        (NodeShape::Cylinder(cylinder), Placed::Plane(plane)) => {
            cylinder_plane::features(cylinder, pose, plane, reach, found)
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
        (&NodeShape::Disc { radius, axis }, Placed::Plane(plane)) => {
            rim_plane::gap(&Disc { radius, axis }, pose, plane)
        }
        (NodeShape::Cylinder(cylinder), Placed::Plane(plane)) => cylinder_plane::gap(cylinder, pose, plane),
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
        Solid::Ball(other) => ball_ball::proximity(ball, pose, other, place),
        Solid::Box(cuboid) => ball_box::proximity(ball, pose, cuboid, place),
        Solid::Capsule(capsule) => ball_capsule::proximity(ball, pose, capsule, place),
        Solid::Cylinder(cylinder) => ball_cylinder::proximity(ball, pose, cylinder, place),
        Solid::Disc(disc) => ball_disc::proximity(ball, pose, disc, place),
    }
}

impl<S: Scalar> Proximity<S> {
    /// The same with the two sides exchanged.
    fn seen_from_second(&self, first: &Pose<S>, second: &Pose<S>) -> Proximity<S> {
        let touching = first.position + self.arm - self.normal * self.gap;
        Proximity { gap: self.gap, normal: -self.normal, arm: touching - second.position }
    }
}
