//! Mechanical energy: `sum 1/2 m v.v + 1/2 w.I w - m g.r`, and `sum 1/2 k (l - L)^2` of springs. Motion that is
//! prescribed, of an infinite mass or moment of inertia, has none.

use super::linkage::spring_energy;
use super::scalar::Scalar;
use super::state::State;
use super::system::System;

/// Kinetic energy of all nodes.
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

/// Gravitational energy of all nodes; zero at the origin.
fn gravitational_energy<S: Scalar>(state: &State<S>) -> S {
    let mut energy = S::zero();
    for (node, &mass) in state.nodes.iter().zip(&state.parameters.mass) {
        if mass.value().is_finite() {
            energy -= mass * state.parameters.gravity.dot(&node.position);
        }
    }
    energy
}

/// Gravitational energy of all nodes and energy of all springs.
pub fn potential_energy<S: Scalar>(system: &System, state: &State<S>) -> S {
    let springs = 0..system.ties.springs.len();
    springs.fold(gravitational_energy(state), |energy, spring| energy + spring_energy(system, state, spring))
}

/// Kinetic and gravitational energy of all nodes, without springs.
pub fn mechanical_energy<S: Scalar>(state: &State<S>) -> S {
    kinetic_energy(state) + gravitational_energy(state)
}
