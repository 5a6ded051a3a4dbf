//! The method of Hilber, Hughes and Taylor with velocity jumps:
//!
//! `M a^ = f(q, v) + A^T l`, `a+ = (1 - alpha) a^+ + alpha a^`,
//! `v+ = v + h ((1 - gamma) a + gamma a+) + w`, `q+ = q + h v + h^2 ((1/2 - beta) a + beta a+) + h/2 w`
//!
//! with `gamma = 1/2 + alpha`, `beta = (gamma + 1/2)^2 / 4`: second order, A-stable for `alpha` from 0 to 1/3, asymptotic
//! spectral radius `(1 - alpha) / (1 + alpha)`. [Chen, Acary, Virlez and Bruels 2013]
//!
//! `a` is the acceleration `alpha h'` before the start, where `h'` is the last step. What keeps the order with steps of
//! any length is `gamma = (1/2 + alpha h'/h) / (1 - alpha + alpha h'/h)`; at the start and after an impact `a = a^` and
//! `h' = 0`.

use super::IslandStep;
use super::end_point::{self, Base, End, Formula, Start};
use crate::engine::math::twist::Twist;
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::state::Past;

/// The method over a step `h` after one of `last`.
#[derive(Clone, Copy, Debug)]
struct Hht {
    alpha: f64,
    h: f64,
    last: f64,
}

impl Hht {
    fn gamma(&self) -> f64 {
        let behind = self.alpha * self.last / self.h;
        (0.5 + behind) / (1.0 - self.alpha + behind)
    }

    fn beta(&self) -> f64 {
        0.25 * (self.gamma() + 0.5).powi(2)
    }
}

impl<S: Scalar> Formula<S> for Hht {
    fn velocity_weight(&self) -> S {
        S::from(self.h * self.gamma() * (1.0 - self.alpha))
    }

    fn position_weight(&self) -> S {
        S::from(self.h * self.h * self.beta() * (1.0 - self.alpha))
    }

    fn base(&self, start: &Start<S>, past: &Past<S>) -> Base<S> {
        let carried = if self.last > 0.0 { past.acceleration } else { start.acceleration };
        let mix = |both: f64, end: f64| -> Twist<S> {
            carried * S::from(both - end) + start.acceleration * S::from(end * self.alpha)
        };
        let h = S::from(self.h);
        Base {
            velocity: start.velocity + mix(1.0, self.gamma()) * h,
            way: (start.velocity + mix(0.5, self.beta()) * h) * h,
        }
    }

    fn keep(&self, start: &Start<S>, end: &End<S>) -> Past<S> {
        let acceleration =
            end.acceleration * S::from(1.0 - self.alpha) + start.acceleration * S::from(self.alpha);
        Past { length: end.length, acceleration, ..Past::none() }
    }
}

/// Advances the island over the substep.
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, alpha: f64) {
    end_point::run(step, |last, h| Hht { alpha, h, last });
}
