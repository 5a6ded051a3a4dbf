//! What changes in a coupling, and so what a saved state holds of it.

use crate::engine::rotation::Orientation;
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

/// A linear and an angular part of the same kind: displacement and turn, velocities, or accelerations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twist<S: Scalar> {
    /// Of the centre.
    pub linear: Vector3<S>,
    /// World components.
    pub angular: Vector3<S>,
}

/// Force and torque about the centre, world components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrench<S: Scalar> {
    /// Force.
    pub force: Vector3<S>,
    /// Torque.
    pub torque: Vector3<S>,
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
    pub response_error: f64,
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
}

impl<S: Scalar> Twist<S> {
    /// Nothing.
    pub fn zero() -> Twist<S> {
        Twist { linear: Vector3::zeros(), angular: Vector3::zeros() }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Twist<T> {
        Twist { linear: self.linear.map(convert), angular: self.angular.map(convert) }
    }
}

impl<S: Scalar> Wrench<S> {
    /// Nothing.
    pub fn zero() -> Wrench<S> {
        Wrench { force: Vector3::zeros(), torque: Vector3::zeros() }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Wrench<T> {
        Wrench { force: self.force.map(convert), torque: self.torque.map(convert) }
    }
}

impl<S: Scalar> CouplingState<S> {
    /// Before the first step.
    pub fn new(given: Motion<S>, gravity: Vector3<S>, mass: S) -> CouplingState<S> {
        CouplingState {
            given,
            applied: Wrench::zero(),
            output: Wrench::zero(),
            acceleration: Twist { linear: gravity, angular: Vector3::zeros() },
            diagnosis: Diagnosis {
                latency: None,
                mass,
                energy_excess: S::zero(),
                response_error: 0.0,
                shaping: true,
            },
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
                response_error: self.diagnosis.response_error,
                shaping: self.diagnosis.shaping,
            },
        }
    }
}
