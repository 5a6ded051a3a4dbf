//! Springs, dampers, joints and motors: what ties nodes together besides contact, tie by tie.

pub mod joint;
pub mod motor;
pub mod spring;

pub use joint::{Joint, JointEnd, JointKind, JointState};
pub use motor::{Drive, Motor, Profile};
pub use spring::Spring;

use nalgebra::Vector3;

/// A place on a node, or of the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Index of the node; none for the ground.
    pub node: Option<usize>,
    /// In the frame of the node; on the ground, in the world's.
    pub place: Vector3<f64>,
}

/// All springs and joints of a system.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// Springs, in the order of [`crate::engine::Parameters::stiffness`].
    pub springs: Vec<Spring>,
    /// Joints, in the order of [`crate::engine::State::joints`].
    pub joints: Vec<Joint>,
}

impl Ties {
    /// The nodes that are tied to one another, pair by pair.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.ends().filter_map(|[one, other]| one.zip(other))
    }

    /// The nodes at the ends of all springs and joints; none for the ground.
    pub fn ends(&self) -> impl Iterator<Item = [Option<usize>; 2]> + '_ {
        let springs = self.springs.iter().map(|spring| spring.ends.map(|end| end.node));
        let joints = self.joints.iter().map(|joint| joint.ends.map(|end| end.anchor.node));
        springs.chain(joints)
    }
}
