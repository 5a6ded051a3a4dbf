//! Mechanical energy: `sum 1/2 m v.v + 1/2 w.I w - m g.r`.

use super::scalar::Scalar;
use super::state::State;

/// Kinetic and gravitational energy of all nodes.
pub fn mechanical_energy<S: Scalar>(state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        let kinetic = node.velocity.dot(&node.velocity) * S::from(0.5);
        energy += mass * (kinetic - state.parameters.gravity.dot(&node.position));
    }
    for (rotation, inertia) in state.rotations.iter().zip(&state.parameters.inertia) {
        let spin = rotation.orientation.to_body(&rotation.angular_velocity);
        energy += spin.dot(&inertia.component_mul(&spin)) * S::from(0.5);
    }
    energy
}
