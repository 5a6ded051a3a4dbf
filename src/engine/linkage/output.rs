//! What springs and joints show: lengths and tensions, coordinates and their rates.

use super::Configuration;
use super::assembly::{AnchorInWorld, anchor};
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::ties::spring::distance;
use crate::engine::ties::{Anchor, Spring};
use nalgebra::Vector3;

/// How the second end of a joint is placed and moves as seen from the first, in components of the first end's frame.
#[derive(Clone, Copy, Debug)]
pub struct JointMotion<S> {
    /// From the first end to the second.
    pub apart: Vector3<S>,
    /// Its rate.
    pub velocity: Vector3<S>,
    /// Angular velocity.
    pub spin: Vector3<S>,
}

/// An anchor at present, and its node.
fn present<S: Scalar>(
    place: &Anchor,
    system: &System,
    state: &State<S>,
) -> (AnchorInWorld<S>, Option<Configuration<S>>) {
    let node = place.node.map(|node| Configuration::of(system, state, node));
    (anchor(&place.place, node.as_ref()), node)
}

/// From the first end of a spring to the second, and the rate of that.
fn reach<S: Scalar>(spring: &Spring, system: &System, state: &State<S>) -> (Vector3<S>, Vector3<S>) {
    let [first, second] = spring.ends.each_ref().map(|end| present(end, system, state).0);
    (second.at - first.at, second.velocity - first.velocity)
}

/// From the first end of a spring to the second.
pub fn spring_apart<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> Vector3<S> {
    reach(&system.ties.springs[spring], system, state).0
}

/// Length of a spring.
pub fn spring_length<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> S {
    distance(&reach(&system.ties.springs[spring], system, state).0)
}

/// Force with which a spring and its damper pull; negative when they push.
pub fn spring_tension<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> S {
    let tie = &system.ties.springs[spring];
    let (apart, velocity) = reach(tie, system, state);
    let distance = distance(&apart);
    let stretch = distance - S::from(tie.length);
    let rate = if distance.value() > 0.0 { apart.dot(&velocity) / distance } else { S::zero() };
    state.parameters.stiffness[spring] * stretch + state.parameters.damping[spring] * rate
}

/// Potential energy of a spring.
pub fn spring_energy<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> S {
    let tie = &system.ties.springs[spring];
    tie.energy(state.parameters.stiffness[spring], &reach(tie, system, state).0)
}

/// Motion of a joint. Its third components are those along and about the axis.
pub fn joint_motion<S: Scalar>(system: &System, state: &State<S>, joint: usize) -> JointMotion<S> {
    let ends = &system.ties.joints[joint].ends;
    let [(first, from), (second, to)] = ends.each_ref().map(|end| present(&end.anchor, system, state));
    let frame = ends[0].frame.map(S::from);
    let components = |vector: Vector3<S>| match &from {
        None => frame.to_body(&vector),
        Some(node) => frame.to_body(&node.pose.orientation.to_body(&vector)),
    };
    let spin = |node: Option<Configuration<S>>| node.map_or(Vector3::zeros(), |node| node.angular_velocity);
    let apart = second.at - first.at;
    JointMotion {
        apart: components(apart),
        velocity: components(second.velocity - first.velocity - spin(from).cross(&apart)),
        spin: components(spin(to) - spin(from)),
    }
}
