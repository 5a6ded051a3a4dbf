//! A spring and damper between two anchors at the distance `l`, along the unit vector `n` between them:
//!
//! `F = (k (l - L) + c l') n`, with the potential energy `k (l - L)^2 / 2`.
//!
//! It stiffens by `k n n^T + k (1 - L/l) (I - n n^T)`; what a compressed spring gives way across is left out, so that
//! the step stays stable. The force itself is that of where the ends will be, so that what is left out costs no order.
//! A spring that turns so far within a step that this makes energy is pursued by Newton steps ([`Pursuit`]).

use super::Anchor;
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
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

/// A spring without its damper, between ends at some distance.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<S> {
    apart: Vector3<S>,
    distance: S,
    /// From the first end to the second, of length 1, or near it midway; zero where they coincide.
    pub direction: Vector3<S>,
    /// Force along it.
    tension: S,
    /// Stiffness of a spring without length, which is alike in all directions.
    round: Option<S>,
}

impl<S: Scalar> Stretch<S> {
    /// A spring of the given length at rest and stiffness, with the second end `apart` from the first.
    #[inline]
    pub fn new(rest: f64, stiffness: S, apart: Vector3<S>) -> Stretch<S> {
        let distance = distance(&apart);
        if rest == 0.0 && distance.value() == 0.0 {
            let (direction, round) = (Vector3::zeros(), Some(stiffness));
            return Stretch { apart, distance, direction, tension: S::zero(), round };
        }
        let tension = stiffness * (distance - S::from(rest));
        let round = (rest == 0.0).then_some(stiffness);
        Stretch { apart, distance, direction: apart / distance, tension, round }
    }

    /// The same after a `part` of an interval at whose start the ends were `before` apart, if they go on as they do: with
    /// the length `m` between those at both ends, `F = k (m - L) d / m`. Midway it does the work `-dV` to round-off,
    /// whichever way the spring turns, and later it does more. [Gonzalez 1996; Simo and Tarnow 1992]
    pub fn between(rest: f64, stiffness: S, apart: Vector3<S>, before: &Vector3<S>, part: S) -> Stretch<S> {
        if rest == 0.0 {
            return Stretch::new(rest, stiffness, apart);
        }
        let left = S::one() - part;
        let after = (apart - before * left) / part;
        let mean = distance(before) * left + distance(&after) * part;
        let tension = stiffness * (mean - S::from(rest));
        Stretch { apart, distance: mean, direction: apart / mean, tension, round: None }
    }

    /// Force on the first end, with that of the damper; the opposite acts on the second.
    #[inline]
    pub fn force(&self, resistance: S) -> Vector3<S> {
        match self.round {
            None => self.direction * (self.tension + resistance),
            Some(stiffness) => self.apart * stiffness + self.direction * resistance,
        }
    }

    /// How the force falls for a displacement of the first end across. Where it is too little to matter it is left out,
    /// so that directions alone count: `felt` is what a unit of stiffness weighs beside the mass of the ends.
    #[inline]
    pub fn across(&self, felt: S) -> S {
        /// Part of the mass.
        const NEGLIGIBLE: f64 = 0.02;
        match self.round {
            Some(stiffness) => stiffness,
            None if self.tension.value() * felt.value() < NEGLIGIBLE * self.distance.value() => S::zero(),
            None if self.tension.value() > 0.0 => self.tension / self.distance,
            None => S::zero(),
        }
    }
}

/// How springs do what a step was solved for, where the solution has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pursuit {
    /// They do it.
    Caught,
    /// They will after another Newton step.
    Near,
    /// Newton steps do not come closer: the step is too long.
    Lost,
}

/// What springs miss of what a step was solved for, as work over it, and what that is held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Miss {
    /// Work that is missed.
    pub work: f64,
    /// Energy there is.
    pub energy: f64,
    /// Energy that dampers take.
    pub damped: f64,
    /// Work that may be round-off.
    pub rounding: f64,
}

impl Miss {
    /// Judges what is missed, where the last time it was `last`.
    #[inline]
    pub fn judge(&self, last: f64) -> Pursuit {
        if self.work <= TOLERANCES.negligible * self.energy + self.damped + self.rounding {
            Pursuit::Caught
        } else if self.work < 0.5 * last {
            Pursuit::Near
        } else {
            Pursuit::Lost
        }
    }
}

/// Rounding of the impulse of a spring of the given stiffness over an interval, with ends at these distances from the origin.
#[inline]
pub fn rounding(stiffness: f64, interval: f64, distances: f64) -> f64 {
    /// Operations on the way from positions to the impulse.
    const OPERATIONS: f64 = 8.0;
    OPERATIONS * f64::EPSILON * stiffness * interval * distances
}

/// Distance of ends. Where they coincide it has no tangent.
#[inline]
pub fn distance<S: Scalar>(apart: &Vector3<S>) -> S {
    let square = apart.dot(apart);
    if square.value() == 0.0 { S::zero() } else { square.sqrt() }
}

/// What springs add to masses: `along n n^T + across (I - n n^T)`.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness<S: Scalar> {
    direction: Vector3<S>,
    along: S,
    across: S,
}

impl<S: Scalar> Stiffness<S> {
    /// Of a spring between ends of the given mobility, for the weights of stiffness and damping.
    #[inline]
    pub fn new(stretch: &Stretch<S>, rates: Rates<S>, weights: Rates<S>, mobility: S) -> Stiffness<S> {
        let along = rates.stiffness * weights.stiffness + rates.damping * weights.damping;
        let across = stretch.across(weights.stiffness * mobility) * weights.stiffness;
        // Alike in all directions: then none counts.
        let direction = if along == across { Vector3::zeros() } else { stretch.direction };
        Stiffness { direction, along, across }
    }

    /// Of nothing.
    pub fn none() -> Stiffness<S> {
        Stiffness { direction: Vector3::zeros(), along: S::zero(), across: S::zero() }
    }

    /// Whether it is another one. All components are compared at once, without branches.
    #[inline]
    pub fn differs(&self, other: &Stiffness<S>) -> bool {
        let (one, two) = (&self.direction, &other.direction);
        let turned = (one[0] != two[0]) | (one[1] != two[1]) | (one[2] != two[2]);
        turned | (self.along != other.along) | (self.across != other.across)
    }

    /// As a matrix.
    pub fn matrix(&self) -> Matrix3<S> {
        let Stiffness { direction, along, across } = *self;
        direction * direction.transpose() * (along - across) + Matrix3::from_diagonal_element(across)
    }
}

impl Spring {
    /// Potential energy with the ends `apart`.
    pub fn energy<S: Scalar>(&self, stiffness: S, apart: &Vector3<S>) -> S {
        if self.length == 0.0 {
            return stiffness * apart.dot(apart) * S::from(0.5);
        }
        let stretch = length(apart) - S::from(self.length);
        stiffness * stretch * stretch * S::from(0.5)
    }
}
