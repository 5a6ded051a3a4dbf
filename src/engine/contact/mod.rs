//! From geometry to the contact problem: where pairs stand, local frames, the Delassus operator.

mod delassus;
mod frame;
mod jacobian;

pub use delassus::{Bodies, assemble, scales};
pub use jacobian::Jacobian;

use super::geometry::{Pose, Proximity, proximity};
use super::rotation::Orientation;
use super::scalar::Scalar;
use super::state::{ContactMode, State};
use super::system::System;
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
    /// Index of the node's rotation; none for a point mass.
    pub rotation: Option<usize>,
    /// Signed distance.
    pub gap: S,
    /// Unit normal, from the surface to the node.
    pub normal: Vector3<S>,
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
    /// Index of its rotation.
    pub rotation: usize,
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
    /// Looks at one of the touching points of a contact pair.
    #[inline]
    pub fn look(system: &System, state: &State<S>, contact: usize, point: usize) -> Touch<S> {
        let pair = &system.contacts[contact];
        let node = pair.node;
        let mut touch = Touch {
            contact,
            point,
            node,
            rotation: system.nodes[node].rotation,
            gap: S::zero(),
            normal: Vector3::zeros(),
            arm: Vector3::zeros(),
            arm_after: Vector3::zeros(),
            carrier: None,
            normal_velocity: S::zero(),
            held: state.contacts[contact].mode != ContactMode::Open,
        };
        touch.place(system, state);
        touch.normal_velocity = touch.normal.dot(&touch.velocity(state));
        touch
    }

    /// Index among the touching points of all contacts.
    #[inline]
    pub fn place_in(&self, system: &System) -> usize {
        system.first_points[self.contact] + self.point
    }

    /// Takes gap, normal and arms from the present position.
    #[inline]
    pub fn place(&mut self, system: &System, state: &State<S>) {
        let near = near_now(system, state, self.contact, self.point);
        (self.gap, self.normal, self.arm) = (near.gap, near.normal, near.arm);
        self.arm_after = near.arm;
        if let Some(body) = system.surfaces[system.contacts[self.contact].surface].body {
            let rotation = system.rotation_of_carrier(body);
            let arm = state.nodes[self.node].position + self.arm - state.nodes[body].position;
            self.carrier = Some(Carrier { node: body, rotation, arm, arm_after: arm });
        }
    }

    /// From the node's centre to where impulses of the interval at hand act: midway.
    #[inline]
    pub fn lever(&self) -> Vector3<S> {
        (self.arm + self.arm_after) * S::from(0.5)
    }

    /// Place in [`State::memories`], if the law of the contact looks back at the last step.
    #[inline]
    pub fn memory(&self, system: &System) -> Option<usize> {
        system.contacts[self.contact].memory.map(|first| first + self.point)
    }

    /// Velocity of the node's touching point relative to that of the surface.
    #[inline]
    pub fn velocity(&self, state: &State<S>) -> Vector3<S> {
        let mut velocity = state.nodes[self.node].velocity;
        if let Some(rotation) = self.rotation {
            velocity += state.rotations[rotation].angular_velocity.cross(&self.arm);
        }
        if let Some(carrier) = &self.carrier {
            velocity -= state.nodes[carrier.node].velocity
                + state.rotations[carrier.rotation].angular_velocity.cross(&carrier.arm);
        }
        velocity
    }
}

impl<S: Scalar> Carrier<S> {
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
    contact: usize,
    point: usize,
) -> Proximity<S> {
    let pair = &system.contacts[contact];
    let plane = system.surfaces[pair.surface].shape.place(carrier);
    let shape = &system.nodes[pair.node].shape;
    proximity(shape, &system.points, point, &pose.position, || pose.orientation, &plane)
}

/// How a touching point of a contact pair is placed to the surface at present.
#[inline(always)]
pub fn near_now<S: Scalar>(system: &System, state: &State<S>, contact: usize, point: usize) -> Proximity<S> {
    let pair = &system.contacts[contact];
    let shape = &system.nodes[pair.node].shape;
    let position = &state.nodes[pair.node].position;
    let surface = &system.surfaces[pair.surface];
    let carrier = surface.body.map(|body| pose(system, state, body));
    let plane = surface.shape.place(carrier.as_ref());
    let orientation = || pose(system, state, pair.node).orientation;
    proximity(shape, &system.points, point, position, orientation, &plane)
}

/// Signed distance of a contact pair: of the lowest point where there are several.
#[inline]
pub fn gap<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    let mut least = near_now(system, state, contact, 0).gap;
    for point in 1..system.touching_points(contact) {
        let gap = near_now(system, state, contact, point).gap;
        if gap.value() < least.value() {
            least = gap;
        }
    }
    least
}
