//! Stops of joints, as contacts of the engine: they come after those of the model, joint by joint.

use super::{Joint, JointKind, Limits, Model, Node};
use crate::engine::geometry::Pose;
use crate::engine::geometry::stop::{Coordinate, Stop};
use crate::engine::{self, Orientation};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// The engine's contacts at the limits of a coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stops {
    /// At the lower one.
    pub lower: Option<usize>,
    /// At the upper one.
    pub upper: Option<usize>,
}

/// Limits of a coordinate of a joint.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// Index of the joint.
    pub joint: usize,
    /// Whether the coordinate is the angle; else it is the distance.
    pub is_angle: bool,
    /// The limits.
    pub limits: Limits,
    /// The engine's contacts there.
    pub stops: Stops,
}

impl Model {
    /// Coordinates of joints that have limits.
    pub fn bounded(&self) -> impl Iterator<Item = Bounded> {
        let mut contacts = self.contacts.len()..;
        let coordinates = self.joints.iter().enumerate().flat_map(|(joint, entry)| {
            let own = entry.limits.map(|limits| (joint, entry.kind == JointKind::Revolute, limits));
            let angle = entry.angle_limits.map(|limits| (joint, true, limits));
            own.into_iter().chain(angle)
        });
        coordinates.map(move |(joint, is_angle, limits)| {
            let mut next = |limit: Option<f64>| limit.and_then(|_| contacts.next());
            let stops = Stops { lower: next(limits.lower), upper: next(limits.upper) };
            Bounded { joint, is_angle, limits, stops }
        })
    }

    /// Appends the stops to the engine's surfaces and contacts.
    pub(super) fn add_stops(&self, surfaces: &mut Vec<engine::Surface>, contacts: &mut Vec<engine::Contact>) {
        for bounded in self.bounded() {
            let joint = &self.joints[bounded.joint];
            // The second side is held against the first, but for the ground, which is no node.
            let node_is_second = joint.ends[1].anchor.node.is_some();
            let (own, other) = if node_is_second { (1, 0) } else { (0, 1) };
            let node = joint.ends[own].anchor.node.expect("a joint has a node");
            let coordinate = if bounded.is_angle {
                Coordinate::Angle { lever: radius_of_gyration(joint, own, &self.nodes[node]) }
            } else {
                Coordinate::Distance
            };
            for (bound, is_lower) in [(bounded.limits.lower, true), (bounded.limits.upper, false)] {
                let Some(bound) = bound else { continue };
                let stop = Stop {
                    joint: bounded.joint,
                    on_node: place(joint, own),
                    on_carrier: place(joint, other),
                    node_is_second,
                    coordinate,
                    bound,
                    is_lower,
                };
                contacts.push(engine::Contact::of_stop(node, surfaces.len()));
                let shape = engine::SurfaceShape::Stop(stop);
                surfaces.push(engine::Surface { shape, body: joint.ends[other].anchor.node });
            }
        }
    }
}

/// Where a side of a joint is on its node, or in the world.
fn place(joint: &Joint, side: usize) -> Pose<f64> {
    let end = &joint.ends[side];
    Pose { position: Vector3::from(end.anchor.place), orientation: Orientation { wxyz: end.frame } }
}

/// Radius of gyration of a node about the axis of a joint: the distance at which a stop has the mass of the node before it.
fn radius_of_gyration(joint: &Joint, side: usize, node: &Node) -> f64 {
    let end = &joint.ends[side];
    let [w, x, y, z] = end.frame;
    let axis = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)) * Vector3::z();
    let about_centre = node.rotation.map_or(0.0, |rotation| {
        (0..3).map(|index| rotation.inertia[index] * axis[index] * axis[index]).sum()
    });
    let off = Vector3::from(end.anchor.place).cross(&axis).norm_squared();
    (about_centre / node.mass + off).sqrt()
}
