//! Mechanical energy: `sum 1/2 m v.v + 1/2 w.I w - m g.r + 1/2 k (l - L)^2`, and what continuous contacts have stored.
//! Motion that is prescribed, of an infinite mass or moment of inertia, has none.

use super::linkage::spring_energy;
use super::scalar::Scalar;
use super::state::State;
use super::system::System;

/// Kinetic and potential energy.
pub fn mechanical_energy<S: Scalar>(system: &System, state: &State<S>) -> S {
    kinetic_energy(state) + potential_energy(system, state)
}

/// Energy of motion of all nodes.
pub fn kinetic_energy<S: Scalar>(state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        if mass.value().is_finite() {
            energy += mass * node.velocity.dot(&node.velocity) * S::from(0.5);
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
    energy
}

/// Energy of all nodes in the field of gravity, of all springs and of all continuous contacts.
pub fn potential_energy<S: Scalar>(system: &System, state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        if mass.value().is_finite() {
            energy -= mass * state.parameters.gravity.dot(&node.position);
        }
    }
    for spring in 0..system.ties.springs.len() {
        energy += spring_energy(system, state, spring);
    }
    for compression in &state.compressions {
        energy += compression.stored;
    }
    energy
}
