//! The friction laws that a contact can have: what they are given, and what they put into the contact problem.

use super::bounded::BoundedRows;
use super::box_friction;
use super::bristle::{self, Bristle, Memory};
use super::facets::{Facets, Polygon};
use crate::engine::scalar::Scalar;

/// Friction law of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrictionLaw {
    /// The exact Coulomb cone.
    Cone,
    /// A polygon in place of the circle.
    Facets {
        /// Number of directions.
        count: usize,
        /// Whether one direction meets the predicted slip; otherwise the first tangent.
        aligned: bool,
        /// Inside or outside of the circle.
        polygon: Polygon,
    },
    /// Bounded components.
    Box {
        /// Fixed-point iterations of the bounds.
        iterations: u32,
    },
    /// Regularised friction.
    Bristle {
        /// Stiffness and threshold.
        bristle: Bristle,
        /// Fixed-point iterations of the bounds.
        iterations: u32,
    },
}

/// What a law sees of its contact over an interval, in tangent coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Sliding<S> {
    /// Friction coefficient.
    pub mu: S,
    /// Normal impulse that bounds friction: of the last interval, or of the last pass.
    pub limit: S,
    /// Tangential impulse of the last interval.
    pub last: [S; 2],
    /// Velocity that decides whether and where the contact slides.
    pub slip: [S; 2],
    /// Velocity without impulse.
    pub predicted: [S; 2],
    /// Length of the interval; zero in an impact.
    pub dt: S,
}

/// The set of friction impulses of a contact.
#[derive(Clone, Copy, Debug)]
pub enum Set<S> {
    /// The disc of radius `mu p_N`.
    Disc,
    /// A polygon in its place.
    Polygon(Facets<S>, Polygon),
    /// A rectangle, and the compliance of its sides.
    Rectangle(BoundedRows<S>),
}

impl FrictionLaw {
    /// The set of impulses over an interval.
    pub fn set<S: Scalar>(&self, sliding: &Sliding<S>) -> Set<S> {
        let Sliding { mu, limit, slip, .. } = *sliding;
        match *self {
            FrictionLaw::Cone => Set::Disc,
            FrictionLaw::Facets { count, aligned, polygon } => {
                let direction =
                    if aligned { Facets::aligned(sliding.predicted) } else { [S::one(), S::zero()] };
                Set::Polygon(Facets { mu, count, direction }, polygon)
            }
            FrictionLaw::Box { .. } => Set::Rectangle(box_friction::rows(mu, limit)),
            FrictionLaw::Bristle { bristle, .. } => Set::Rectangle(if sliding.dt.value() > 0.0 {
                let last = Memory { normal: limit, tangential: sliding.last };
                bristle::rows(&bristle, mu, &last, slip, sliding.dt)
            } else {
                // An impact is over before a bristle bends: the limit along the slip.
                BoundedRows { direction: Facets::aligned(slip), ..box_friction::rows(mu, limit) }
            }),
        }
    }

    /// Passes by which bounds that come from the last interval are brought to the present one; none where the law has its
    /// limit in the contact problem itself.
    #[inline]
    pub fn passes(&self) -> Option<u32> {
        match *self {
            FrictionLaw::Cone | FrictionLaw::Facets { .. } => None,
            FrictionLaw::Box { iterations } | FrictionLaw::Bristle { iterations, .. } => Some(iterations),
        }
    }

    /// Sliding speed up to which friction holds, where the law itself says so.
    #[inline]
    pub fn threshold(&self) -> Option<f64> {
        match self {
            FrictionLaw::Bristle { bristle, .. } => Some(bristle.threshold),
            FrictionLaw::Cone | FrictionLaw::Facets { .. } | FrictionLaw::Box { .. } => None,
        }
    }
}
