//! A spring and damper between two anchors at the distance `l`, along the unit vector `n` between them:
//!
//! `F = (k (l - L) + c l') n`, with the potential energy `k (l - L)^2 / 2`.
//!
//! It stiffens by `k n n^T + k (1 - L/l) (I - n n^T)`; what a compressed spring gives way across is left out, so that
//! the step stays stable.

use super::Anchor;
use crate::engine::scalar::{Scalar, length};
use nalgebra::{Matrix3, Vector3};

/// A spring and damper; stiffness and damping are parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// What it joins.
    pub ends: [Anchor; 2],
    /// Length at rest.
    pub length: f64,
}

/// Stiffness and damping of a spring.
#[derive(Clone, Copy, Debug)]
pub struct Rates<S> {
    /// Force for a unit of stretch.
    pub stiffness: S,
    /// Force for a unit of its velocity.
    pub damping: S,
}

/// How a spring pulls.
#[derive(Clone, Copy, Debug)]
pub struct Pull<S> {
    /// On the first end; the opposite acts on the second.
    pub force: Vector3<S>,
    /// How the force falls for a displacement of the first end.
    pub stiffness: Matrix3<S>,
    /// How it falls for a velocity of the first end.
    pub damping: Matrix3<S>,
}

impl Spring {
    /// Pull with the second end `apart` from the first, moving away from it with `velocity`.
    pub fn pull<S: Scalar>(&self, rates: Rates<S>, apart: &Vector3<S>, velocity: &Vector3<S>) -> Pull<S> {
        let distance = length(apart);
        if self.length == 0.0 && distance.value() == 0.0 {
            // Without a direction to damp along.
            let stiffness = Matrix3::from_diagonal_element(rates.stiffness);
            return Pull { force: Vector3::zeros(), stiffness, damping: Matrix3::zeros() };
        }
        let direction = apart / distance;
        let along = direction * direction.transpose();
        let slackness = S::from(self.length) / distance;
        let tension = rates.stiffness * (distance - S::from(self.length));
        let resistance = rates.damping * direction.dot(velocity);
        let mut stiffness = along * rates.stiffness;
        if slackness.value() < 1.0 {
            stiffness += (Matrix3::identity() - along) * (rates.stiffness * (S::one() - slackness));
        }
        Pull { force: direction * (tension + resistance), stiffness, damping: along * rates.damping }
    }

    /// Potential energy with the ends `apart`.
    pub fn energy<S: Scalar>(&self, stiffness: S, apart: &Vector3<S>) -> S {
        let stretch = length(apart) - S::from(self.length);
        stiffness * stretch * stretch * S::from(0.5)
    }
}
