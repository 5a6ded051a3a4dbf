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

use super::{Anchor, Motor};
use crate::engine::geometry::Pose;
use crate::engine::law::{ContactMode, JointFriction};
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::{Scalar, cross, length};
use nalgebra::{Matrix3, Vector3};
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

/// What a joint does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointState<S: Scalar> {
    /// Turn of the second end about the axis since the start, counted on beyond half a turn.
    pub angle: S,
    /// Way of the second end along the axis since the start.
    pub distance: S,
    /// Sum of the impulses on the second end over the last communication step.
    pub impulse: Vector3<S>,
    /// Sum of their moments about the joint's place.
    pub moment: Vector3<S>,
    /// Friction force on the second end in the last interval: around the axis at the radius of the pin, and along it.
    pub friction: [S; 2],
    /// Normal force at either virtual contact in the last interval.
    pub loads: [S; 2],
    /// Whether friction holds.
    pub mode: ContactMode,
}

impl<S: Scalar> JointState<S> {
    /// Before the first step.
    pub fn new() -> JointState<S> {
        JointState {
            angle: S::zero(),
            distance: S::zero(),
            impulse: Vector3::zeros(),
            moment: Vector3::zeros(),
            friction: [S::zero(); 2],
            loads: [S::zero(); 2],
            mode: ContactMode::Open,
        }
    }

    /// The coordinate that a motor drives.
    pub fn coordinate(&self, joint: &Joint) -> S {
        if joint.has_angle() { self.angle } else { self.distance }
    }

    /// Follows the coordinates to where the sides are.
    pub fn follow(&mut self, joint: &Joint, placed: &Placed<S>) {
        if joint.has_angle() {
            self.angle = Joint::angle(placed, self.angle);
        }
        self.distance = placed.axis().dot(&placed.apart);
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> JointState<T> {
        JointState {
            angle: convert(self.angle),
            distance: convert(self.distance),
            impulse: self.impulse.map(convert),
            moment: self.moment.map(convert),
            friction: self.friction.map(convert),
            loads: self.loads.map(convert),
            mode: self.mode,
        }
    }
}

impl<S: Scalar> Default for JointState<S> {
    fn default() -> JointState<S> {
        JointState::new()
    }
}

/// Both sides of a joint in the world, at some pose of the nodes.
#[derive(Clone, Copy, Debug)]
pub struct Placed<S> {
    /// From the centre of each node to the joint; zero for the ground.
    pub arms: [Vector3<S>; 2],
    /// Frame of each side.
    pub frames: [Orientation<S>; 2],
    /// From the first end to the second.
    pub apart: Vector3<S>,
}

impl<S: Scalar> Placed<S> {
    /// The axis, which turns with the first side.
    pub fn axis(&self) -> Vector3<S> {
        axis(&self.frames[0], 2)
    }
}

/// Three rows of a joint, by how they see velocity and angular velocity of the ends; rows that are not held are zero.
#[derive(Clone, Copy, Debug)]
pub struct Rows<S> {
    /// Acts on the velocity of either end's centre, then on its angular velocity: first end, second end.
    pub parts: [Matrix3<S>; 4],
}

impl Joint {
    /// Where the sides are, with the nodes at `poses`; none for the ground.
    pub fn placed<S: Scalar>(&self, poses: [Option<&Pose<S>>; 2]) -> Placed<S> {
        let side = |end: &JointEnd, pose: Option<&Pose<S>>| {
            let (place, frame) = (end.anchor.place.map(S::from), end.frame.map(S::from));
            match pose {
                None => (Vector3::zeros(), place, frame),
                Some(pose) => {
                    let arm = pose.orientation.to_world(&place);
                    (arm, pose.position + arm, pose.orientation.after(&frame))
                }
            }
        };
        let (first, from, one) = side(&self.ends[0], poses[0]);
        let (second, to, other) = side(&self.ends[1], poses[1]);
        Placed { arms: [first, second], frames: [one, other], apart: to - from }
    }

    /// The held rows of the translation and of the rotation.
    pub fn rows<S: Scalar>(&self, placed: &Placed<S>) -> [Rows<S>; 2] {
        let [mut translation, mut rotation] = [Rows::none(); 2];
        if let JointKind::Distance { .. } = self.kind {
            let direction = placed.apart / length(&placed.apart);
            translation.set_pull(0, &direction, &placed.arms[0], &placed.arms[1]);
            return [translation, rotation];
        }
        let [moves, turns] = self.held();
        let lever = placed.arms[0] + placed.apart;
        for row in (0..3).filter(|&row| moves[row] || turns[row]) {
            let axis = axis(&placed.frames[0], row);
            if moves[row] {
                translation.set_pull(row, &axis, &lever, &placed.arms[1]);
            }
            if turns[row] {
                rotation.parts[1].set_row(row, &-axis.transpose());
                rotation.parts[3].set_row(row, &axis.transpose());
            }
        }
        [translation, rotation]
    }

    /// What a motor asks of the third row, in the block that it drives; zero in the other.
    pub fn driven<S: Scalar>(&self, rate: S) -> [Vector3<S>; 2] {
        let mut driven = [Vector3::zeros(); 2];
        driven[usize::from(self.has_angle())][2] = rate;
        driven
    }

    /// Rows of what friction sees: sliding around the axis at the radius of the pin is the second, along it the third.
    /// Those that the kind of joint holds are zero.
    pub fn sliding_rows<S: Scalar>(&self, friction: &JointFriction, placed: &Placed<S>) -> Rows<S> {
        let mut rows = Rows::none();
        let axis = placed.axis();
        if self.has_angle() {
            let around = (axis * S::from(friction.radius)).transpose();
            rows.parts[1].set_row(1, &-around);
            rows.parts[3].set_row(1, &around);
        }
        if self.kind != JointKind::Revolute {
            rows.set_pull(2, &axis, &(placed.arms[0] + placed.apart), &placed.arms[1]);
        }
        rows
    }

    /// Friction, in kinds of joints that may have it.
    pub fn rubs(&self) -> Option<&JointFriction> {
        let can_rub =
            matches!(self.kind, JointKind::Revolute | JointKind::Cylindrical | JointKind::Prismatic);
        self.friction.as_ref().filter(|_| can_rub)
    }

    /// By how much the held rows of the translation are off; a motor asks for `target`.
    pub fn translation_error<S: Scalar>(&self, placed: &Placed<S>, target: Option<S>) -> Vector3<S> {
        if let JointKind::Distance { length: held } = self.kind {
            return Vector3::new(length(&placed.apart) - S::from(held), S::zero(), S::zero());
        }
        let mut error = placed.frames[0].to_body(&placed.apart);
        if self.kind == JointKind::Prismatic || self.kind == JointKind::Cylindrical {
            error[2] = target.map_or(S::zero(), |target| error[2] - target);
        }
        error
    }

    /// The same for the rotation; `angle` is the turn about the axis.
    pub fn rotation_error<S: Scalar>(&self, placed: &Placed<S>, angle: S, target: Option<S>) -> Vector3<S> {
        match self.kind {
            JointKind::Prismatic | JointKind::Fixed => {
                placed.frames[0].to_body(&placed.frames[1].turn_from(&placed.frames[0]))
            }
            JointKind::Revolute | JointKind::Cylindrical => {
                let mut error = placed.frames[0].to_body(&cross(&placed.axis(), &axis(&placed.frames[1], 2)));
                error[2] = target.map_or(S::zero(), |target| angle - target);
                error
            }
            JointKind::Spherical | JointKind::Distance { .. } => Vector3::zeros(),
        }
    }

    /// Turn of the second side about the axis, near `angle`.
    pub fn angle<S: Scalar>(placed: &Placed<S>, angle: S) -> S {
        let turn = Vector3::new(S::zero(), S::zero(), angle);
        let expected = placed.frames[0].turned_in_body(&turn);
        angle + placed.axis().dot(&placed.frames[1].turn_from(&expected))
    }

    /// Whether it turns about an axis.
    pub fn has_angle(&self) -> bool {
        matches!(self.kind, JointKind::Revolute | JointKind::Cylindrical)
    }
}

impl<S: Scalar> Rows<S> {
    /// Rows that see nothing.
    pub fn none() -> Rows<S> {
        Rows { parts: [Matrix3::zeros(); 4] }
    }

    /// A row that sees how fast the ends, at the levers, part along a direction.
    fn set_pull(&mut self, row: usize, direction: &Vector3<S>, first: &Vector3<S>, second: &Vector3<S>) {
        self.parts[0].set_row(row, &-direction.transpose());
        self.parts[1].set_row(row, &-cross(first, direction).transpose());
        self.parts[2].set_row(row, &direction.transpose());
        self.parts[3].set_row(row, &cross(second, direction).transpose());
    }
}

/// An axis of a frame in world components.
pub fn axis<S: Scalar>(frame: &Orientation<S>, index: usize) -> Vector3<S> {
    let mut axis = Vector3::zeros();
    axis[index] = S::one();
    frame.to_world(&axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [JointKind; 6] = [
        JointKind::Revolute,
        JointKind::Cylindrical,
        JointKind::Spherical,
        JointKind::Prismatic,
        JointKind::Fixed,
        JointKind::Distance { length: 0.7 },
    ];

    fn joint(kind: JointKind, driven: bool) -> Joint {
        let end = |place: [f64; 3], turn: [f64; 3]| JointEnd {
            anchor: Anchor { node: Some(0), place: Vector3::from(place) },
            frame: Orientation::from_turn(&Vector3::from(turn)),
        };
        let motor = driven.then_some(Motor {
            drive: super::super::Drive::Rate,
            profile: super::super::Profile::Constant(0.0),
        });
        let ends = [end([0.1, 0.3, -0.2], [0.4, -0.7, 0.2]), end([-0.2, 0.1, 0.5], [-0.3, 0.5, 0.9])];
        Joint { kind, ends, motor, friction: None }
    }

    /// Poses with the joint closed: slid along and turned about its axis, as far as the kind leaves it.
    fn closed(joint: &Joint) -> [Pose<f64>; 2] {
        let first = Pose {
            position: Vector3::new(0.2, -0.5, 1.1),
            orientation: Orientation::from_turn(&Vector3::new(0.3, 1.1, -0.4)),
        };
        let frame = first.orientation.after(&joint.ends[0].frame);
        let turn = match joint.kind {
            JointKind::Prismatic | JointKind::Fixed => Vector3::zeros(),
            JointKind::Revolute | JointKind::Cylindrical => Vector3::new(0.0, 0.0, 0.8),
            JointKind::Spherical | JointKind::Distance { .. } => Vector3::new(0.5, -0.3, 0.8),
        };
        let slid = match joint.kind {
            JointKind::Prismatic | JointKind::Cylindrical => Vector3::new(0.0, 0.0, 0.6),
            JointKind::Distance { length } => Vector3::new(2.0, -1.0, 2.0) * (length / 3.0),
            _ => Vector3::zeros(),
        };
        let own = joint.ends[1].frame;
        // The orientation whose frame is the turned one.
        let inverse = Orientation { wxyz: [own.wxyz[0], -own.wxyz[1], -own.wxyz[2], -own.wxyz[3]] };
        let orientation = frame.turned_in_body(&turn).after(&inverse);
        let at =
            first.position + first.orientation.to_world(&joint.ends[0].anchor.place) + frame.to_world(&slid);
        let position = at - orientation.to_world(&joint.ends[1].anchor.place);
        [first, Pose { position, orientation }]
    }

    #[test]
    fn rows_are_the_rates_of_the_errors() {
        for (kind, driven) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let joint = joint(kind, driven);
            let poses = closed(&joint);
            let velocities = [Vector3::new(0.4, -1.2, 0.7), Vector3::new(-0.9, 0.3, 1.4)];
            let spins = [Vector3::new(1.1, 0.6, -0.8), Vector3::new(0.2, -1.7, 0.5)];
            let errors = |time: f64| {
                let moved = [0, 1].map(|end| Pose {
                    position: poses[end].position + velocities[end] * time,
                    orientation: poses[end].orientation.turned(&(spins[end] * time)),
                });
                let placed = joint.placed([Some(&moved[0]), Some(&moved[1])]);
                let start = joint.placed([Some(&poses[0]), Some(&poses[1])]);
                let angle = Joint::angle(&placed, Joint::angle(&start, 0.0));
                let target = driven.then_some(0.0);
                [joint.translation_error(&placed, target), joint.rotation_error(&placed, angle, target)]
            };
            let placed = joint.placed([Some(&poses[0]), Some(&poses[1])]);
            let rows = joint.rows(&placed);
            let shift = 1e-6;
            let (plus, minus) = (errors(shift), errors(-shift));
            for block in 0..2 {
                let parts = &rows[block].parts;
                let seen = parts[0] * velocities[0]
                    + parts[1] * spins[0]
                    + parts[2] * velocities[1]
                    + parts[3] * spins[1];
                let rate = (plus[block] - minus[block]) / (2.0 * shift);
                for row in (0..3).filter(|&row| joint.held()[block][row]) {
                    let (seen, rate) = (seen[row], rate[row]);
                    assert!((seen - rate).abs() < 1e-8, "{kind:?}, {block}, {row}: {seen} and {rate}");
                }
            }
        }
    }
}
