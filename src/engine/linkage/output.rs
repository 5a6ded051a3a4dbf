//! What springs and joints show: lengths and tensions, coordinates and their rates.

use super::{Anchor, Spring};
use crate::engine::scalar::{Scalar, length};
use crate::engine::{State, System};
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

/// An end of a spring or joint.
struct End<S> {
    position: Vector3<S>,
    velocity: Vector3<S>,
    angular_velocity: Vector3<S>,
}

impl<S: Scalar> End<S> {
    fn of(anchor: &Anchor, system: &System, state: &State<S>) -> End<S> {
        let place = anchor.place.map(S::from);
        let Some(node) = anchor.node else {
            return End { position: place, velocity: Vector3::zeros(), angular_velocity: Vector3::zeros() };
        };
        let motion = &state.nodes[node];
        match system.nodes[node].rotation.map(|rotation| &state.rotations[rotation]) {
            None => End {
                position: motion.position + place,
                velocity: motion.velocity,
                angular_velocity: Vector3::zeros(),
            },
            Some(rotation) => {
                let arm = rotation.orientation.to_world(&place);
                End {
                    position: motion.position + arm,
                    velocity: motion.velocity + rotation.angular_velocity.cross(&arm),
                    angular_velocity: rotation.angular_velocity,
                }
            }
        }
    }
}

/// From the first end of a spring to the second, and the rate of that.
fn reach<S: Scalar>(spring: &Spring, system: &System, state: &State<S>) -> (Vector3<S>, Vector3<S>) {
    let [first, second] = spring.ends.each_ref().map(|anchor| End::of(anchor, system, state));
    (second.position - first.position, second.velocity - first.velocity)
}

/// Length of a spring.
pub fn spring_length<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> S {
    length(&reach(&system.ties.springs[spring], system, state).0)
}

/// Force with which a spring and its damper pull; negative when they push.
pub fn spring_tension<S: Scalar>(system: &System, state: &State<S>, spring: usize) -> S {
    let tie = &system.ties.springs[spring];
    let (apart, velocity) = reach(tie, system, state);
    let distance = length(&apart);
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
    let [first, second] = ends.each_ref().map(|end| End::of(&end.anchor, system, state));
    let carrier = ends[0].anchor.node.and_then(|node| system.nodes[node].rotation);
    let frame = ends[0].frame.map(S::from);
    let components = |vector: Vector3<S>| match carrier {
        None => frame.to_body(&vector),
        Some(rotation) => frame.to_body(&state.rotations[rotation].orientation.to_body(&vector)),
    };
    let apart = second.position - first.position;
    JointMotion {
        apart: components(apart),
        velocity: components(second.velocity - first.velocity - first.angular_velocity.cross(&apart)),
        spin: components(second.angular_velocity - first.angular_velocity),
    }
}
