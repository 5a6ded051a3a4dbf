//! How a master moves a body: `q+ = q + H v + c H^2 a`, with c = 1/2 for integrators of order 2 and more, 1 for implicit
//! and symplectic Euler, 0 for explicit Euler.

use super::memory::Window;
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// What is known of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionRule {
    /// The weight c.
    pub weight: f64,
    candidate: f64,
    /// Windows in a row that speak for the candidate.
    votes: u32,
}

/// The rules there are.
const WEIGHTS: [f64; 3] = [0.0, 0.5, 1.0];
/// How near the weight of a window has to be to one of them.
const NEAR: f64 = 0.05;
/// Windows in a row that change the rule.
const ENOUGH: u32 = 2;

impl PositionRule {
    /// Order 2.
    pub fn new() -> PositionRule {
        PositionRule { weight: 0.5, candidate: 0.5, votes: 0 }
    }

    /// Looks at the last window; one of an impact alone is enough; `besides` is the acceleration besides contact.
    /// Returns by how much the weight has changed.
    pub fn see<S: Scalar>(&mut self, window: &Window<S>, besides: &Vector3<S>, is_impact: bool) -> f64 {
        let (before, after) = (&window.before, &window.after);
        let h = window.length;
        let change = (after.velocity - before.velocity) * S::from(h);
        let size = length(&change).value();
        if size <= TOLERANCES.rounding * window.position_scale(besides) {
            return 0.0;
        }
        let displacement = after.position - before.position - before.velocity * S::from(h);
        let weight = displacement.dot(&change).value() / (size * size);
        let Some(&near) = WEIGHTS.iter().find(|&&rule| (rule - weight).abs() < NEAR) else { return 0.0 };
        self.votes = if near == self.candidate { self.votes.saturating_add(1) } else { 1 };
        self.candidate = near;
        if self.votes < ENOUGH && !is_impact {
            return 0.0;
        }
        let change = near - self.weight;
        self.weight = near;
        change
    }
}
