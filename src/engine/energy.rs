//! Mechanical energy: `sum 1/2 m v.v - m g.r`.

use super::scalar::Scalar;
use super::state::State;

/// Kinetic and gravitational energy of all nodes.
pub fn mechanical_energy<S: Scalar>(state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        let kinetic = node.velocity.dot(&node.velocity) * S::from(0.5);
        energy += mass * (kinetic - state.parameters.gravity.dot(&node.position));
    }
    energy
}
