//! Shapes and gap functions, one file for each kind of pair: [`over_plane`], [`ball_solid`], [`convex`] and [`mesh`] for
//! what has corners, edges and faces, [`round_faceted`], [`round_round`] and [`round_mesh`] for cylinders and discs.

pub mod ball_solid;
mod box_parts;
pub mod convex;
mod face_overlap;
pub mod faceted;
pub mod flat_parts;
mod hulls;
pub mod mesh;
mod mesh_ground;
mod mesh_search;
pub mod over_plane;
pub mod part_pairs;
pub mod polyhedron;
mod poses;
mod rim;
pub mod round;
pub mod round_faceted;
pub mod round_mesh;
pub mod round_parts;
pub mod round_round;
mod shapes;
mod solid_pair;
pub mod solids;
pub mod stop;
mod support;
pub mod tree;
mod triangles;

pub use shapes::{Details, Facets, NodeShape, Solid, Surface, SurfaceShape};

use super::math::rotation::Orientation;
use super::scalar::Scalar;
use nalgebra::Vector3;
use solid_pair::{SolidPair, features_of_pair, is_flat_on_mesh};
use solids::{Ball, Feature};

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
    /// The pose without tangents.
    pub fn values(&self) -> Pose<f64> {
        Pose { position: self.position.map(S::value), orientation: self.orientation.map(S::value) }
    }

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
        return match shape.round() {
            Some(round) => Some(Features(over_plane::feature_count(&round))),
            None => shape.counts().map(|counts| Points(counts.corners)),
        };
    };
    match (shape, solid) {
        (NodeShape::Surface, _) => None,
        (_, Solid::Mesh(_)) => features_of_pair(shape, solid).map(Features),
        (NodeShape::Sphere { .. }, _) => Some(Points(1)),
        (NodeShape::Points { count, .. }, _) => Some(Points(*count)),
        (_, Solid::Ball(_)) => Some(Points(1)),
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
    match (shape, surface) {
        (NodeShape::Sphere { radius }, Placed::Plane(plane)) => {
            over_plane::ball(*radius, &pose.position, plane)
        }
        (_, Placed::Plane(plane)) => match shape.round() {
            Some(round) => over_plane::at(feature, &round, pose, plane),
            None => {
                let solid = shape.faceted(details).expect("the pair has a gap function");
                over_plane::corner(&solid.corner(index), solid.margin(), pose, plane)
            }
        },
        (_, Placed::Solid(solid @ Solid::Mesh(_), place)) => {
            SolidPair::of(shape, solid, details).at(feature, pose, place)
        }
        (NodeShape::Sphere { radius }, Placed::Solid(solid, place)) => {
            ball_solid::proximity(&Ball { radius: *radius }, pose, solid, place, details)
        }
        // A point of a body is a ball of no size that turns with it.
        (NodeShape::Points { first, .. }, Placed::Solid(solid, place)) => {
            let arm = pose.orientation.to_world(&details.points[first + index].map(S::from));
            let at = Pose { position: pose.position + arm, orientation: pose.orientation };
            let near = ball_solid::proximity(&Ball { radius: 0.0 }, &at, solid, place, details);
            Proximity { arm: arm + near.arm, ..near }
        }
        (_, Placed::Solid(Solid::Ball(ball), place)) => {
            let Some(SurfaceShape::Solid { solid, .. }) = shape.as_surface() else {
                unreachable!("the shape meets a ball")
            };
            // The point of the ball, whichever of the two is the node.
            let near = ball_solid::proximity(ball, place, &solid, pose, details);
            Proximity { gap: near.gap, normal: -near.normal, arm: place.position + near.arm - pose.position }
        }
        (_, Placed::Solid(solid, place)) => SolidPair::of(shape, solid, details).at(feature, pose, place),
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
    match surface {
        Placed::Plane(plane) => over_plane::features(&rims(shape), pose, plane, reach, found),
        Placed::Solid(solid, place) => {
            SolidPair::of(shape, solid, details).features(pose, place, reach, found)
        }
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
    match surface {
        Placed::Plane(plane) => over_plane::gap(&rims(shape), pose, plane),
        Placed::Solid(solid, place) => SolidPair::of(shape, solid, details).gap(pose, place),
    }
}

/// What touches a plane with features.
fn rims(shape: &NodeShape) -> round::Round {
    shape.round().expect("the pair meets with features")
}

impl<S: Scalar> Proximity<S> {
    /// The same with the two sides exchanged, from their centres.
    fn exchanged(&self, first: &Vector3<S>, second: &Vector3<S>) -> Proximity<S> {
        let touching = first + self.arm - self.normal * self.gap;
        Proximity { gap: self.gap, normal: -self.normal, arm: touching - second }
    }
}
