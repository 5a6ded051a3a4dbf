//! From geometry to the contact problem: where pairs stand, local frames, the Delassus operator.

mod delassus;
mod frame;
mod jacobian;

pub use delassus::{assemble, scales};
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
    /// Velocity of the gap.
    pub normal_velocity: S,
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
    /// Looks at a contact pair.
    #[inline]
    pub fn look(system: &System, state: &State<S>, contact: usize) -> Touch<S> {
        let node = system.contacts[contact].node;
        let near = near_now(system, state, contact);
        let mut touch = Touch {
            contact,
            node,
            rotation: system.nodes[node].rotation,
            gap: near.gap,
            normal: near.normal,
            arm: near.arm,
            normal_velocity: S::zero(),
        };
        touch.normal_velocity = touch.normal.dot(&touch.velocity(state));
        touch
    }

    /// Velocity of the touching point of the node.
    #[inline]
    pub fn velocity(&self, state: &State<S>) -> Vector3<S> {
        let velocity = state.nodes[self.node].velocity;
        match self.rotation {
            None => velocity,
            Some(rotation) => velocity + state.rotations[rotation].angular_velocity.cross(&self.arm),
        }
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

/// How the node of a contact pair, placed at `pose`, is placed to the surface.
pub fn near<S: Scalar>(system: &System, pose: &Pose<S>, contact: usize) -> Proximity<S> {
    let pair = &system.contacts[contact];
    let shape = &system.nodes[pair.node].shape;
    proximity(shape, &pose.position, || pose.orientation, &system.surfaces[pair.surface])
}

/// How the node of a contact pair is placed to the surface at present.
#[inline(always)]
pub fn near_now<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> Proximity<S> {
    let pair = &system.contacts[contact];
    let shape = &system.nodes[pair.node].shape;
    let position = &state.nodes[pair.node].position;
    proximity(shape, position, || pose(system, state, pair.node).orientation, &system.surfaces[pair.surface])
}

/// Signed distance of a contact pair.
#[inline]
pub fn gap<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    near_now(system, state, contact).gap
}
