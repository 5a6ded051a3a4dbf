//! From geometry to the contact problem: where pairs stand, local frames, the Delassus operator.

pub mod broad_phase;
mod frame;
mod inverse_mass;
pub mod islands;
mod jacobian;

pub use broad_phase::{gap_of_pair, nearest_pair};
pub use frame::{local_frame, turned_to};
pub use inverse_mass::InverseMass;
pub use jacobian::Jacobian;

use super::geometry::solids::Feature;
use super::geometry::{
    Meeting, NodeShape, Placed, Plane, Pose, Proximity, SurfaceShape, features, gap_of_features, is_flat,
    over_plane, proximity,
};
use super::law::ContactMode;
use super::math::rotation::{Orientation, spin};
use super::scalar::{Scalar, cross, dot, length};
use super::state::State;
use super::system::{Between, MOST_PLACES, Sides, System};
use nalgebra::Vector3;

/// A contact pair at the present position and velocity.
#[derive(Clone, Copy, Debug)]
pub struct Touch<S> {
    /// Index of the contact pair.
    pub contact: usize,
    /// Which of its touching points.
    pub point: usize,
    /// Index of its node.
    pub node: usize,
    /// Index of its surface.
    pub surface: usize,
    /// Place of the touching point in [`State::guesses`].
    pub place: usize,
    /// Index of the node's rotation; none for a point mass.
    pub rotation: Option<usize>,
    /// Signed distance.
    pub gap: S,
    /// Unit normal, from the surface to the node.
    pub normal: Vector3<S>,
    /// The same at the end of the interval at hand, where the surface is not flat.
    pub normal_after: Vector3<S>,
    /// Whether the surface is flat.
    pub flat: bool,
    /// From the node's centre to the touching point.
    pub arm: Vector3<S>,
    /// The same at the end of the interval at hand, for points of a body and where the surface moves.
    pub arm_after: Vector3<S>,
    /// The body that carries the surface; none for a fixed surface.
    pub carrier: Option<Carrier<S>>,
    /// Velocity of the gap.
    pub normal_velocity: S,
    /// Whether the contact was pressed over the last interval.
    pub held: bool,
}

/// The body that carries the surface of a contact.
#[derive(Clone, Copy, Debug)]
pub struct Carrier<S> {
    /// Index of the body among the nodes.
    pub node: usize,
    /// Index of its rotation; none for a point mass.
    pub rotation: Option<usize>,
    /// From its position to the touching point.
    pub arm: Vector3<S>,
    /// The same at the end of the interval at hand.
    pub arm_after: Vector3<S>,
}

/// Impulse on the node of a contact.
#[derive(Clone, Copy, Debug)]
pub struct Impulse<S> {
    /// Along the normal.
    pub normal: S,
    /// In the tangent plane, world components.
    pub tangential: Vector3<S>,
    /// What the contact does.
    pub mode: ContactMode,
}

impl<S: Scalar> Touch<S> {
    /// A place to look from.
    pub fn blank() -> Touch<S> {
        Touch {
            contact: 0,
            point: 0,
            node: 0,
            surface: 0,
            place: 0,
            rotation: None,
            gap: S::zero(),
            normal: Vector3::zeros(),
            normal_after: Vector3::zeros(),
            flat: true,
            arm: Vector3::zeros(),
            arm_after: Vector3::zeros(),
            carrier: None,
            normal_velocity: S::zero(),
            held: false,
        }
    }

    /// Looks at one of the touching points of a contact pair.
    // In place: a copy would cost as much as the look.
    #[inline]
    pub fn look(&mut self, system: &System, state: &State<S>, contact: usize, point: usize) {
        let sides = system.contacts[contact].sides();
        self.held = state.contacts[contact].mode != ContactMode::Open;
        self.place = system.first_points[contact] + point % MOST_PLACES;
        self.look_at(system, state, contact, sides, point);
    }

    /// The same at given sides; whether it was held and its place are left to the caller.
    #[inline]
    pub fn look_at(&mut self, system: &System, state: &State<S>, contact: usize, sides: Sides, point: usize) {
        self.contact = contact;
        self.point = angle_point(system, state, sides).unwrap_or(point);
        self.node = sides.node;
        self.surface = sides.surface;
        self.rotation = system.nodes[sides.node].rotation;
        self.settle(system, state);
        self.normal_velocity = dot(&self.normal, &self.velocity(state));
    }

    /// Whether it stays with a body that turns, or lies on a surface that is not flat.
    pub fn turns_along(&self, system: &System) -> bool {
        !self.flat || self.carrier.is_some() || system.nodes[self.node].shape.has_edges()
    }

    /// What may touch.
    #[inline]
    pub fn sides(&self) -> Sides {
        Sides { node: self.node, surface: self.surface }
    }

    /// Takes gap, normal and arms from the present position.
    #[inline]
    pub fn settle(&mut self, system: &System, state: &State<S>) {
        match fixed_sphere(system, self.sides()) {
            Some((radius, plane)) => {
                let near = over_plane::ball(radius, &state.nodes[self.node].position, &plane);
                (self.gap, self.normal, self.arm) = (near.gap, near.normal, near.arm);
                self.arm_after = near.arm;
                self.carrier = None;
                self.flat = true;
            }
            None => self.settle_otherwise(system, state),
        }
    }

    #[inline(never)]
    fn settle_otherwise(&mut self, system: &System, state: &State<S>) {
        let near = near_now(system, state, self.sides(), self.point);
        (self.gap, self.normal, self.arm) = (near.gap, near.normal, near.arm);
        (self.normal_after, self.arm_after) = (near.normal, near.arm);
        let surface = &system.surfaces[self.surface];
        self.flat = is_flat(&system.nodes[self.node].shape, &surface.shape, self.point);
        self.carrier = surface.body.map(|body| {
            let arm = state.nodes[self.node].position + self.arm - state.nodes[body].position;
            Carrier { node: body, rotation: system.nodes[body].rotation, arm, arm_after: arm }
        });
    }

    /// From the node's centre to where impulses of the interval at hand act: midway.
    #[inline]
    pub fn lever(&self) -> Vector3<S> {
        (self.arm + self.arm_after) * S::from(0.5)
    }

    /// The normal along which impulses of the interval at hand act: midway.
    #[inline]
    pub fn acting_normal(&self) -> Vector3<S> {
        if self.flat {
            return self.normal;
        }
        let midway = self.normal + self.normal_after;
        midway / length(&midway)
    }

    /// Place in [`State::memories`], if the law of the contact looks back at the last step.
    #[inline]
    pub fn memory(&self, system: &System) -> Option<usize> {
        system.contacts[self.contact].memory.map(|first| first + self.point)
    }

    /// Velocity of the touching point along a unit vector for a unit impulse along it.
    pub fn mobility_along(&self, state: &State<S>, mobility: &[S], direction: &Vector3<S>) -> S {
        let turning = |rotation: usize, arm: &Vector3<S>| {
            let moment = cross(arm, direction);
            let inertia = &state.parameters.inertia[rotation];
            dot(&moment, &spin(&state.rotations[rotation].orientation, inertia, &moment))
        };
        let mut found = mobility[self.node];
        if let Some(rotation) = self.rotation {
            found += turning(rotation, &self.arm);
        }
        if let Some(carrier) = &self.carrier {
            found += mobility[carrier.node];
            if let Some(rotation) = carrier.rotation {
                found += turning(rotation, &carrier.arm);
            }
        }
        found
    }

    /// Velocity of the node's touching point relative to that of the surface.
    #[inline]
    pub fn velocity(&self, state: &State<S>) -> Vector3<S> {
        let mut velocity = state.nodes[self.node].velocity;
        if let Some(rotation) = self.rotation {
            velocity += cross(&state.rotations[rotation].angular_velocity, &self.arm);
        }
        if let Some(carrier) = &self.carrier {
            velocity -= carrier.velocity(state);
        }
        velocity
    }
}

impl<S: Scalar> Carrier<S> {
    /// Velocity of the surface at the touching point.
    // Not inlined: steps of point masses on fixed surfaces stay short.
    #[inline(never)]
    pub fn velocity(&self, state: &State<S>) -> Vector3<S> {
        let velocity = state.nodes[self.node].velocity;
        match self.rotation {
            None => velocity,
            Some(rotation) => velocity + cross(&state.rotations[rotation].angular_velocity, &self.arm),
        }
    }

    /// From the body's position to where impulses of the interval at hand act: midway.
    #[inline]
    pub fn lever(&self) -> Vector3<S> {
        (self.arm + self.arm_after) * S::from(0.5)
    }
}

impl<S: Scalar> Impulse<S> {
    /// The whole impulse in world components.
    #[inline]
    pub fn vector(&self, normal: &Vector3<S>) -> Vector3<S> {
        normal * self.normal + self.tangential
    }
}

/// Where a node is; point masses do not turn.
#[inline]
pub fn pose<S: Scalar>(system: &System, state: &State<S>, node: usize) -> Pose<S> {
    Pose {
        position: state.nodes[node].position,
        orientation: match system.nodes[node].rotation {
            None => Orientation::identity(),
            Some(rotation) => state.rotations[rotation].orientation,
        },
    }
}

/// How a touching point of a contact pair is placed to the surface, both sides at their poses; a fixed surface has
/// none.
pub fn near<S: Scalar>(
    system: &System,
    pose: &Pose<S>,
    carrier: Option<&Pose<S>>,
    sides: Sides,
    point: usize,
) -> Proximity<S> {
    let shape = &system.surfaces[sides.surface].shape;
    if let Some(stop) = shape.stop() {
        return stop.proximity(pose, carrier, point);
    }
    let surface = shape.place(carrier);
    proximity(&system.nodes[sides.node].shape, &system.details, point, pose, &surface)
}

/// Reports the features of a pair that meets with features and is nearer than `reach`.
pub fn features_now<S: Scalar>(
    system: &System,
    state: &State<S>,
    sides: Sides,
    reach: f64,
    found: &mut impl FnMut(Feature),
) {
    let carrier = system.surfaces[sides.surface].body.map(|body| pose(system, state, body));
    let surface = system.surfaces[sides.surface].shape.place(carrier.as_ref());
    let node = pose(system, state, sides.node);
    let shape = &system.nodes[sides.node].shape;
    features(shape, &system.details, &node, &surface, reach, &mut |feature, _| found(feature));
}

/// Signed distance of a pair that meets with features, both sides at their poses.
pub fn distance<S: Scalar>(system: &System, pose: &Pose<S>, carrier: Option<&Pose<S>>, sides: Sides) -> S {
    let surface = system.surfaces[sides.surface].shape.place(carrier);
    gap_of_features(&system.nodes[sides.node].shape, &system.details, pose, &surface)
}

/// How a touching point of a contact pair is placed to the surface at present.
fn near_now<S: Scalar>(system: &System, state: &State<S>, sides: Sides, point: usize) -> Proximity<S> {
    let carrier = system.surfaces[sides.surface].body.map(|body| pose(system, state, body));
    let point = angle_point(system, state, sides).unwrap_or(point);
    near(system, &pose(system, state, sides.node), carrier.as_ref(), sides, point)
}

/// The touching point of a stop, which tells how far its joint has turned; none of another surface.
#[inline]
fn angle_point<S: Scalar>(system: &System, state: &State<S>, sides: Sides) -> Option<usize> {
    let stop = system.surfaces[sides.surface].shape.stop()?;
    Some(stop.turns(state.joints[stop.joint].angle))
}

/// Radius and plane of a sphere over a fixed plane: the pair that is looked at most, and so has a way of its own.
#[inline(always)]
fn fixed_sphere<S: Scalar>(system: &System, sides: Sides) -> Option<(f64, Plane<S>)> {
    let surface = &system.surfaces[sides.surface];
    match (&system.nodes[sides.node].shape, surface.body, &surface.shape) {
        (NodeShape::Sphere { radius }, None, SurfaceShape::Plane { .. }) => match surface.shape.place(None) {
            Placed::Plane(plane) => Some((*radius, plane)),
            Placed::Solid(..) => None,
        },
        _ => None,
    }
}

/// Signed distance of a touching point.
#[inline]
pub fn gap_at<S: Scalar>(system: &System, state: &State<S>, sides: Sides, point: usize) -> S {
    match fixed_sphere(system, sides) {
        Some((radius, plane)) => over_plane::ball(radius, &state.nodes[sides.node].position, &plane).gap,
        None => near_now(system, state, sides, point).gap,
    }
}

/// Signed distance of a contact: of the lowest point where there are several, of the nearest pair of a group.
#[inline]
pub fn gap<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    let pair = &system.contacts[contact];
    match &pair.between {
        Between::Group(_) => gap_of_group(system, state, contact),
        Between::Pair(sides) if pair.by_features => distance_now(system, state, *sides),
        Between::Pair(sides) => gap_of_points(system, state, *sides, pair.points),
    }
}

/// A group that nothing can be in is far apart.
#[inline(never)]
fn gap_of_group<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    nearest_pair(system, state, contact).map_or(S::from(f64::MAX), |(_, gap)| gap)
}

/// Signed distance of a pair that meets with features, at present.
pub fn distance_now<S: Scalar>(system: &System, state: &State<S>, sides: Sides) -> S {
    let carrier = system.surfaces[sides.surface].body.map(|body| pose(system, state, body));
    distance(system, &pose(system, state, sides.node), carrier.as_ref(), sides)
}

/// Signed distance of a pair that meets with points, at present: of the lowest one.
#[inline]
pub fn gap_of_points<S: Scalar>(system: &System, state: &State<S>, sides: Sides, points: usize) -> S {
    let first = gap_at(system, state, sides, 0);
    match points {
        1 => first,
        points => lowest(system, state, sides, first, points),
    }
}

/// The touching point or feature of a contact pair with the smallest gap among those that overlap.
pub fn deepest(system: &System, state: &State<f64>, sides: Sides) -> Option<usize> {
    let mut best = (0.0, None);
    let mut compare = |point: usize| {
        let gap = gap_at(system, state, sides, point);
        if gap < best.0 {
            best = (gap, Some(point));
        }
    };
    match system.meeting(sides) {
        Meeting::Points(points) => (0..points).for_each(compare),
        Meeting::Features(_) => {
            features_now(system, state, sides, 0.0, &mut |feature| compare(feature as usize));
        }
    }
    best.1
}

#[inline(never)]
fn lowest<S: Scalar>(system: &System, state: &State<S>, sides: Sides, first: S, points: usize) -> S {
    let gaps = (1..points).map(|point| gap_at(system, state, sides, point));
    gaps.fold(first, |least, gap| if gap.value() < least.value() { gap } else { least })
}
