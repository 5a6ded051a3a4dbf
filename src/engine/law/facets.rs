//! Polyhedral friction: the disc `|p_T| <= mu p_N` replaced by a regular polygon.
//!
//! Inner polygon: `p_T = sum beta_k d_k`, `beta >= 0`, `sum beta <= mu p_N`, an LCP in `p_N`, `beta` and the slip
//! speed `s`. [Stewart and Trinkle 1996; Anitescu and Potra 1997]
//! Outer polygon: `c_i . p_T <= mu p_N`, a mixed problem in `p_N`, `p_T` and the slip speeds `k_i` with
//! `u_T = -sum k_i c_i`. [Klarbring 1986; Fancello 2012, 7.1.2]
//!
//! Turned so that one direction meets the slip, either is exact for straight sliding.

use super::bounded::{turn, turn_back};
use crate::engine::scalar::Scalar;
use crate::engine::scalar::elementary::{atan2, cos, sincos, tan};

/// Which polygon stands for the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polygon {
    /// Vertices on the circle.
    Inner,
    /// Sides tangent to the circle.
    Outer,
}

/// One contact's polygon: at least three sides, turned so that one direction is `direction` (a unit vector in
/// tangent coordinates).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facets<S> {
    /// Friction coefficient.
    pub mu: S,
    /// Number of directions.
    pub count: usize,
    /// The first direction.
    pub direction: [S; 2],
}

impl<S: Scalar> Facets<S> {
    /// Unit vector of direction `k`.
    pub fn direction(&self, k: usize) -> [S; 2] {
        self.turned(k as f64)
    }

    /// Unit vector towards a vertex.
    pub fn vertex(&self, polygon: Polygon, k: usize) -> [S; 2] {
        match polygon {
            Polygon::Inner => self.direction(k),
            Polygon::Outer => self.turned(k as f64 + 0.5),
        }
    }

    /// Friction at a vertex as a part of the normal impulse.
    pub fn reach(&self, polygon: Polygon) -> S {
        match polygon {
            Polygon::Inner => self.mu,
            Polygon::Outer => self.mu / S::from(cos(std::f64::consts::PI / self.count as f64)),
        }
    }

    /// The first direction turned on by a part of the angle between neighbours.
    fn turned(&self, part: f64) -> [S; 2] {
        let angle = std::f64::consts::TAU * part / self.count as f64;
        let (sine, cosine) = sincos(angle);
        turn_back([cosine, sine].map(S::from), self.direction)
    }

    /// The direction against the slip `slip`; the first tangent without slip.
    pub fn aligned(slip: [S; 2]) -> [S; 2] {
        let speed = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
        if speed.value() > 0.0 { [-slip[0] / speed, -slip[1] / speed] } else { [S::one(), S::zero()] }
    }

    /// Orthogonal projection onto the polygon for a circle of radius `radius`.
    pub fn project(&self, polygon: Polygon, point: [S; 2], radius: S) -> [S; 2] {
        let half = std::f64::consts::PI / self.count as f64;
        // Sides of the inner polygon lie half an angle on from its vertices, and nearer to the centre.
        let (offset, inradius) = match polygon {
            Polygon::Inner => (0.5, radius * S::from(cos(half))),
            Polygon::Outer => (0.0, radius),
        };
        let own = turn(point, self.direction);
        let part = atan2(own[1].value(), own[0].value()) / (2.0 * half);
        let side = self.turned((part - offset).round() + offset);
        let [across, along] = turn(point, side);
        if across.value() <= inradius.value() {
            return point;
        }
        let limit = inradius * S::from(tan(half));
        let along = if along.value() > limit.value() {
            limit
        } else if along.value() < -limit.value() {
            -limit
        } else {
            along
        };
        turn_back([inradius, along], side)
    }
}
