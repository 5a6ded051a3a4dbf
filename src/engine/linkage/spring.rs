//! A spring and damper between two anchors at the distance `l`, along the unit vector `n` between them:
//!
//! `F = (k (l - L) + c l') n`, with the potential energy `k (l - L)^2 / 2`.
//!
//! It stiffens by `k n n^T + k (1 - L/l) (I - n n^T)`; what a compressed spring gives way across is left out, so that
//! the step stays stable. The force itself is that of where the ends will be, so that what is left out costs no order.

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

/// Stiffness and damping of a spring, or their weights.
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
    /// Along which it pulls: `n n^T`.
    pub along: Matrix3<S>,
    /// How the force falls for a displacement of the first end across.
    pub across: S,
}

impl Spring {
    /// Pull with the second end `apart` from the first, moving away from it with `velocity`.
    #[inline]
    pub fn pull<S: Scalar>(&self, rates: Rates<S>, apart: &Vector3<S>, velocity: &Vector3<S>) -> Pull<S> {
        let distance = length(apart);
        if self.length == 0.0 && distance.value() == 0.0 {
            // Without a direction to damp along.
            return Pull { force: Vector3::zeros(), along: Matrix3::zeros(), across: rates.stiffness };
        }
        let direction = apart / distance;
        let tension = rates.stiffness * (distance - S::from(self.length));
        let resistance = rates.damping * direction.dot(velocity);
        let across = if tension.value() > 0.0 { tension / distance } else { S::zero() };
        Pull { force: direction * (tension + resistance), along: direction * direction.transpose(), across }
    }

    /// What a spring adds to the mass of its first end, for the weights of stiffness and damping. Where it is too little
    /// beside the mobility of the ends to matter, what acts across is left out, so that directions alone count.
    #[inline]
    pub fn stiffening<S: Scalar>(
        &self,
        rates: Rates<S>,
        pull: &Pull<S>,
        weights: Rates<S>,
        mobility: S,
    ) -> Matrix3<S> {
        /// Part of the mass.
        const NEGLIGIBLE: f64 = 0.02;
        let along = rates.stiffness * weights.stiffness + rates.damping * weights.damping;
        let across = pull.across * weights.stiffness;
        if self.length > 0.0 && (across * mobility).value() < NEGLIGIBLE {
            return pull.along * along;
        }
        pull.along * (along - across) + Matrix3::from_diagonal_element(across)
    }

    /// Potential energy with the ends `apart`.
    pub fn energy<S: Scalar>(&self, stiffness: S, apart: &Vector3<S>) -> S {
        let stretch = length(apart) - S::from(self.length);
        stiffness * stretch * stretch * S::from(0.5)
    }
}
