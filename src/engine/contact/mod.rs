//! From geometry to the contact problem: where pairs stand, local frames, the Delassus operator.

mod delassus;
mod frame;

pub use delassus::assemble;
pub use frame::local_frame;

use super::geometry::proximity;
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
    /// Signed distance.
    pub gap: S,
    /// Unit normal, from the surface to the node.
    pub normal: Vector3<S>,
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
        let pair = &system.contacts[contact];
        let node = &state.nodes[pair.node];
        let near = proximity(&system.nodes[pair.node], &node.position, &system.surfaces[pair.surface]);
        Touch {
            contact,
            node: pair.node,
            gap: near.gap,
            normal: near.normal,
            normal_velocity: near.normal.dot(&node.velocity),
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

/// Signed distance of a contact pair.
pub fn gap<S: Scalar>(system: &System, state: &State<S>, contact: usize) -> S {
    Touch::look(system, state, contact).gap
}
