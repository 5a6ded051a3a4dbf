//! Joints as rows `A v = b`, in two blocks of three: how the second end moves, and how it turns, in the frame of the
//! first. Each kind holds some of the six rows; the third axis of the frames is the axis of the joint.
//!
//! | kind | held translation | held rotation |
//! |---|---|---|
//! | revolute | 1 2 3 | 1 2, and 3 when driven |
//! | cylindrical | 1 2 | 1 2 |
//! | spherical | 1 2 3 | |
//! | prismatic | 1 2, and 3 when driven | 1 2 3 |
//! | fixed | 1 2 3 | 1 2 3 |
//! | distance | the distance alone | |
//!
//! With `d` from the first to the second end, and `e` an axis of the frame that turns with the first body,
//! `(e . d)' = e . (v2 + w2 x a2 - v1 - w1 x a1) + w1 . (e x d)`.

use super::Anchor;
use crate::engine::rotation::Orientation;
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// A joint between two nodes, or a node and the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Which motion it leaves.
    pub kind: JointKind,
    /// What it joins.
    pub ends: [JointEnd; 2],
    /// What drives it.
    pub motor: Option<Motor>,
    /// Friction in it.
    pub friction: Option<JointFriction>,
}

impl Joint {
    /// Which rows are held: of the translation, of the rotation. That of a distance is the first.
    pub fn held(&self) -> [[bool; 3]; 2] {
        let driven = self.motor.is_some();
        match self.kind {
            JointKind::Revolute => [[true; 3], [true, true, driven]],
            JointKind::Cylindrical => [[true, true, false], [true, true, false]],
            JointKind::Spherical => [[true; 3], [false; 3]],
            JointKind::Prismatic => [[true, true, driven], [true; 3]],
            JointKind::Fixed => [[true; 3], [true; 3]],
            JointKind::Distance { .. } => [[true, false, false], [false; 3]],
        }
    }
}

/// Which motion a joint leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum JointKind {
    /// Turning about the axis.
    Revolute,
    /// Turning about the axis and sliding along it.
    Cylindrical,
    /// Turning about the place.
    Spherical,
    /// Sliding along the axis.
    Prismatic,
    /// None.
    Fixed,
    /// Any that keeps the distance of the ends.
    Distance {
        /// Distance.
        length: f64,
    },
}

/// One side of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointEnd {
    /// Where it is.
    pub anchor: Anchor,
    /// Frame of the joint, in that of the node.
    pub frame: Orientation<f64>,
}

/// Friction in a revolute, cylindrical or prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointFriction {
    /// Coefficient up to the threshold speed.
    pub mu_static: f64,
    /// Coefficient above it.
    pub mu_kinetic: f64,
    /// Radius of the pin; unused in a prismatic joint.
    pub radius: f64,
    /// From the joint's place to either end of the bearing, along the axis.
    pub half_length: f64,
    /// Sliding speed up to which the static coefficient counts.
    pub threshold: f64,
}

/// What drives the free coordinate of a revolute or prismatic joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// What is prescribed.
    pub drive: Drive,
    /// As which function of time.
    pub profile: Profile,
}

/// What a motor prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drive {
    /// The rate of the joint's coordinate.
    Rate,
    /// The coordinate itself.
    Position,
}

/// A function of time that a motor follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Profile {
    /// What the master gives, by place in [`crate::engine::State::drives`].
    Input(usize),
    /// A constant.
    Constant(f64),
    /// `offset + amplitude sin(2 pi frequency t + phase)`.
    Sine {
        /// Amplitude.
        amplitude: f64,
        /// Frequency in Hz.
        frequency: f64,
        /// Phase in rad.
        phase: f64,
        /// Mean.
        offset: f64,
    },
    /// From one value to another along half a cosine.
    Ramp {
        /// Value before.
        from: f64,
        /// Value after.
        to: f64,
        /// When it begins.
        start: f64,
        /// How long it takes.
        duration: f64,
    },
    /// Straight lines between points of time and value, in the order of time; the first and the last value beyond.
    Table(Vec<[f64; 2]>),
}

/// What a joint does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointState<S: Scalar> {
    /// Turn of the second end about the axis since the start, counted on beyond half a turn.
    pub angle: S,
    /// Sum of the impulses on the second end over the last communication step.
    pub impulse: Vector3<S>,
    /// Sum of their moments about the joint's place.
    pub moment: Vector3<S>,
}

impl<S: Scalar> JointState<S> {
    /// Before the first step.
    pub fn new() -> JointState<S> {
        JointState { angle: S::zero(), impulse: Vector3::zeros(), moment: Vector3::zeros() }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> JointState<T> {
        JointState {
            angle: convert(self.angle),
            impulse: self.impulse.map(convert),
            moment: self.moment.map(convert),
        }
    }
}

impl<S: Scalar> Default for JointState<S> {
    fn default() -> JointState<S> {
        JointState::new()
    }
}
