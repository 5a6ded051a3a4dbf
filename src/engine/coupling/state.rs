//! What changes in a coupling, and so what a saved state holds of it.

use super::memory::Memory;
use crate::engine::math::rotation::Orientation;
use crate::engine::math::twist::{Twist, Wrench};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Position and velocity, orientation and angular velocity; a point mass has the identity and zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motion<S: Scalar> {
    /// Position of the centre.
    pub position: Vector3<S>,
    /// Velocity of the centre.
    pub velocity: Vector3<S>,
    /// From body to world.
    pub orientation: Orientation<S>,
    /// Angular velocity, world components.
    pub angular_velocity: Vector3<S>,
}

/// One coupled body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CouplingState<S: Scalar> {
    /// Motion that the master gives: at the start of the step, or at its end for a master that iterates.
    pub given: Motion<S>,
    /// Contact force that a master that iterates has applied to come to the motion that it gives.
    pub applied: Wrench<S>,
    /// Contact force for the master to apply and hold.
    pub output: Wrench<S>,
    /// How the body accelerates besides contact and the external force that the engine is told of.
    pub acceleration: Twist<S>,
    /// How good the coupling is.
    pub diagnosis: Diagnosis<S>,
    /// What the engine has seen of the master.
    pub memory: Memory<S>,
}

/// How good a coupling is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis<S: Scalar> {
    /// Communication steps between a force and its effect; none while not known.
    pub latency: Option<u8>,
    /// Mass by which the body is seen to respond.
    pub mass: S,
    /// Energy that the coupling has added and not yet taken back.
    pub energy_excess: S,
    /// Difference between the velocity that the force of the last step should have made and the one that came,
    /// as a part of it.
    pub response_error: S,
    /// Whether shaping and adaptation are at work.
    pub shaping: bool,
}

impl<S: Scalar> Motion<S> {
    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Motion<T> {
        Motion {
            position: self.position.map(convert),
            velocity: self.velocity.map(convert),
            orientation: self.orientation.map(convert),
            angular_velocity: self.angular_velocity.map(convert),
        }
    }

    /// After `dt` of a constant acceleration, whose part `weight` (1/2 if exact) of `dt^2` moves the body.
    pub fn flown(&self, acceleration: &Twist<S>, dt: S, weight: S) -> Motion<S> {
        let Twist { linear, angular } = acceleration;
        let turn = (self.angular_velocity + angular * (dt * weight)) * dt;
        Motion {
            position: self.position + (self.velocity + linear * (dt * weight)) * dt,
            velocity: self.velocity + linear * dt,
            orientation: self.orientation.turned(&turn),
            angular_velocity: self.angular_velocity + angular * dt,
        }
    }

    /// Displaced and with other velocities.
    pub fn shifted(&self, displacement: &Twist<S>, velocity: &Twist<S>) -> Motion<S> {
        Motion {
            position: self.position + displacement.linear,
            velocity: self.velocity + velocity.linear,
            orientation: self.orientation.turned(&displacement.angular),
            angular_velocity: self.angular_velocity + velocity.angular,
        }
    }

    /// Displacement and velocity against another motion.
    pub fn from(&self, other: &Motion<S>) -> (Twist<S>, Twist<S>) {
        let displacement = Twist {
            linear: self.position - other.position,
            angular: self.orientation.turn_from(&other.orientation),
        };
        let velocity = Twist {
            linear: self.velocity - other.velocity,
            angular: self.angular_velocity - other.angular_velocity,
        };
        (displacement, velocity)
    }
}

impl<S: Scalar> CouplingState<S> {
    /// Before the first step.
    pub fn new(given: Motion<S>, gravity: Vector3<S>, mass: S, latency: Option<u8>) -> CouplingState<S> {
        let acceleration = Twist { linear: gravity, angular: Vector3::zeros() };
        CouplingState {
            given,
            applied: Wrench::zero(),
            output: Wrench::zero(),
            acceleration,
            diagnosis: Diagnosis {
                latency,
                mass,
                energy_excess: S::zero(),
                response_error: S::zero(),
                shaping: true,
            },
            memory: Memory::new(given, acceleration, latency),
        }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> CouplingState<T> {
        CouplingState {
            given: self.given.map(convert),
            applied: self.applied.map(convert),
            output: self.output.map(convert),
            acceleration: self.acceleration.map(convert),
            diagnosis: Diagnosis {
                latency: self.diagnosis.latency,
                mass: convert(self.diagnosis.mass),
                energy_excess: convert(self.diagnosis.energy_excess),
                response_error: convert(self.diagnosis.response_error),
                shaping: self.diagnosis.shaping,
            },
            memory: self.memory.map(convert),
        }
    }
}
