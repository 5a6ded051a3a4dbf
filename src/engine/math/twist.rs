//! Linear and angular parts that go together.

use crate::engine::math::rotation::{Orientation, angular_momentum, spin};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Sub};

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

/// How a body answers to forces: its mass and, where it turns, its inertia as it stands.
#[derive(Clone, Copy, Debug)]
pub struct Mobility<S: Scalar> {
    /// Mass; infinite where forces do not move the body.
    pub mass: S,
    /// Orientation and principal moments of inertia; none for a point mass.
    pub rotation: Option<(Orientation<S>, Vector3<S>)>,
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

impl<S: Scalar> Add for Twist<S> {
    type Output = Twist<S>;

    fn add(self, other: Twist<S>) -> Twist<S> {
        Twist { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl<S: Scalar> Sub for Twist<S> {
    type Output = Twist<S>;

    fn sub(self, other: Twist<S>) -> Twist<S> {
        Twist { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

impl<S: Scalar> Mul<S> for Twist<S> {
    type Output = Twist<S>;

    fn mul(self, factor: S) -> Twist<S> {
        Twist { linear: self.linear * factor, angular: self.angular * factor }
    }
}

impl<S: Scalar> Wrench<S> {
    /// Nothing.
    pub fn zero() -> Wrench<S> {
        Wrench { force: Vector3::zeros(), torque: Vector3::zeros() }
    }

    /// Whether there is none.
    pub fn is_zero(&self) -> bool {
        self.force.iter().chain(&self.torque).all(|component| component.value() == 0.0)
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Wrench<T> {
        Wrench { force: self.force.map(convert), torque: self.torque.map(convert) }
    }
}

impl<S: Scalar> Add for Wrench<S> {
    type Output = Wrench<S>;

    fn add(self, other: Wrench<S>) -> Wrench<S> {
        Wrench { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl<S: Scalar> Mobility<S> {
    /// Heavier by factors; what is infinite stays so, and has no derivative.
    pub fn scaled(&self, mass_factor: S, inertia_factor: S) -> Mobility<S> {
        let scale = |value: S, factor: S| if value.value().is_finite() { value * factor } else { value };
        Mobility {
            mass: scale(self.mass, mass_factor),
            rotation: self.rotation.map(|(orientation, inertia)| {
                (orientation, inertia.map(|moment| scale(moment, inertia_factor)))
            }),
        }
    }

    /// Acceleration that a force makes.
    pub fn acceleration(&self, wrench: &Wrench<S>) -> Twist<S> {
        Twist {
            linear: wrench.force / self.mass,
            angular: match &self.rotation {
                None => Vector3::zeros(),
                Some((orientation, inertia)) => spin(orientation, inertia, &wrench.torque),
            },
        }
    }

    /// Force that makes an acceleration. What no force can move is left to `prescribed`.
    pub fn wrench(&self, acceleration: &Twist<S>, prescribed: &Wrench<S>) -> Wrench<S> {
        Wrench {
            force: if self.mass.value().is_finite() {
                acceleration.linear * self.mass
            } else {
                prescribed.force
            },
            torque: match &self.rotation {
                None => Vector3::zeros(),
                Some((_, inertia)) if inertia.iter().any(|moment| !moment.value().is_finite()) => {
                    prescribed.torque
                }
                Some((orientation, inertia)) => angular_momentum(orientation, inertia, &acceleration.angular),
            },
        }
    }
}
