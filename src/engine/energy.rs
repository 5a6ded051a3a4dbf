//! Mechanical energy: `sum 1/2 m v.v + 1/2 w.I w - m g.r`, and what continuous contacts have stored. Motion that is prescribed, of an infinite mass or moment
//! of inertia, has none.

use super::scalar::Scalar;
use super::state::State;

/// Kinetic and gravitational energy of all nodes, and elastic energy of continuous contacts.
pub fn mechanical_energy<S: Scalar>(state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        if mass.value().is_finite() {
            let kinetic = node.velocity.dot(&node.velocity) * S::from(0.5);
            energy += mass * (kinetic - state.parameters.gravity.dot(&node.position));
        }
    }
    for (rotation, inertia) in state.rotations.iter().zip(&state.parameters.inertia) {
        let spin = rotation.orientation.to_body(&rotation.angular_velocity);
        for (&moment, &spin) in inertia.iter().zip(spin.iter()) {
            if moment.value().is_finite() {
                energy += spin * spin * moment * S::from(0.5);
            }
        }
    }
    for compression in &state.compressions {
        energy += compression.stored;
    }
    energy
}
