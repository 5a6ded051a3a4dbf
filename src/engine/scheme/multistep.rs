//! The two-step formula with the asymptotic spectral radius `rho`, second order and A-stable. With `h'` the last step
//! and `r = h / h'`:
//!
//! `x+ = (1 - beta) x + beta x- + b1 x'+ + b0 x' + b-1 x'-`,
//! `beta = r ((2 + r) (1 - rho)^2 + 2 (1 + r) (2 rho - 1)) / D`, `delta = r^2 (1 - rho)^2 / (2 D)`,
//! `D = 2 (1 + r) - (1 - rho)^2`,
//! `b1 = h' (delta / r + r / 2)`, `b0 = h' (beta / 2 + r / 2 - (1 + r) delta / r)`, `b-1 = h' (beta / 2 + delta)`,
//!
//! for position and velocity alike, so that `c = b1^2`. [Masarati, Lanz and Mantegazza 2001; Fancello 2012, 5.1, where
//! `1 + r` is printed `1 - r`, and `r` inverted]
//!
//! At the start, after an impact, and where a step grows so much that the formula would not be stable, one step is
//! made by Crank and Nicolson's: `beta = b-1 = 0`, `b1 = b0 = h / 2`.

use super::IslandStep;
use super::end_point::{self, Base, End, Formula, JUMP_WEIGHT, Start};
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::state::Past;

/// Coefficients of the formula over one step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Multistep {
    /// Weight of the state before the last step.
    beta: f64,
    /// Weights of rates: at the end, at the start, before the last step.
    end: f64,
    start: f64,
    before: f64,
}

impl Multistep {
    fn new(rho: f64, last: f64, h: f64) -> Multistep {
        let crank_nicolson = Multistep { beta: 0.0, end: 0.5 * h, start: 0.5 * h, before: 0.0 };
        if last == 0.0 {
            return crank_nicolson;
        }
        let r = h / last;
        let loss = (1.0 - rho).powi(2);
        let denominator = 2.0 * (1.0 + r) - loss;
        let beta = r * ((2.0 + r) * loss + 2.0 * (1.0 + r) * (2.0 * rho - 1.0)) / denominator;
        let delta = 0.5 * r * r * loss / denominator;
        // The root of the formula for steps of no length that is not 1.
        if beta.abs() > 1.0 {
            return crank_nicolson;
        }
        Multistep {
            beta,
            end: last * (delta / r + 0.5 * r),
            start: last * (0.5 * beta + 0.5 * r - (1.0 + r) * delta / r),
            before: last * (0.5 * beta + delta),
        }
    }
}

impl<S: Scalar> Formula<S> for Multistep {
    fn velocity_weight(&self) -> S {
        S::from(self.end)
    }

    fn position_weight(&self) -> S {
        S::from(self.end * self.end)
    }

    fn base(&self, start: &Start<S>, past: &Past<S>) -> Base<S> {
        let [beta, end, now, before] = [self.beta, self.end, self.start, self.before].map(S::from);
        let velocity = start.velocity
            + (past.velocity - start.velocity) * beta
            + start.acceleration * now
            + past.acceleration * before;
        let way = velocity * end + start.velocity * now + past.velocity * before - past.way * beta;
        Base { velocity, way }
    }

    fn keep(&self, start: &Start<S>, end: &End<S>) -> Past<S> {
        // As if the jump had been before the step.
        let late = S::from((1.0 - JUMP_WEIGHT) * end.length);
        Past {
            length: end.length,
            velocity: start.velocity + end.jump,
            way: end.way + end.jump * late,
            acceleration: start.acceleration,
        }
    }
}

/// Advances the island over the substep.
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, rho: f64) {
    end_point::run(step, |last, h| Multistep::new(rho, last, h));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the formula makes of `x = t^power`, less the exact value, with the last step from `-last` to 0.
    fn error(formula: &Multistep, last: f64, h: f64, power: i32) -> f64 {
        let x = |t: f64| t.powi(power);
        let rate = |t: f64| f64::from(power) * if power == 1 { 1.0 } else { t.powi(power - 1) };
        (1.0 - formula.beta) * x(0.0)
            + formula.beta * x(-last)
            + formula.end * rate(h)
            + formula.start * rate(0.0)
            + formula.before * rate(-last)
            - x(h)
    }

    #[test]
    fn polynomials_of_degree_two_are_exact_with_any_steps() {
        for rho in [0.0, 0.3, 0.6, 0.82, 1.0] {
            for (last, h) in [(0.1, 0.1), (0.1, 0.07), (0.1, 0.05), (0.02, 0.1), (0.1, 0.11)] {
                let formula = Multistep::new(rho, last, h);
                for power in 1..3 {
                    assert!(error(&formula, last, h, power).abs() < 1e-16, "rho {rho}, {last}, {h}");
                }
            }
        }
    }

    #[test]
    fn what_is_stiff_shrinks_by_rho() {
        for rho in [0.0, 0.3, 0.6, 0.82, 1.0] {
            let formula = Multistep::new(rho, 1e-3, 1e-3);
            // end z^2 + start z + before = end (z + rho)^2
            assert!((formula.start - 2.0 * rho * formula.end).abs() < 1e-18);
            assert!((formula.before - rho * rho * formula.end).abs() < 1e-18);
        }
    }
}
