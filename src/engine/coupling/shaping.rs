//! Two-window shaping: the force of one window and that of the next take the master's body to the shadow, in position
//! and velocity.
//!
//! With `q+ = q + H v + c H^2 a`, a displacement D and a velocity V that are due at the end of the window come exactly
//! with accelerations `(D / H + (1 - c) V) / H` now and the rest `V / H - a` in the next window: an impulse p at the
//! part s of a window is sent as `p (3/2 - s) / H`, then `p (s - 1/2) / H`.

use crate::engine::math::twist::Twist;
use crate::engine::scalar::Scalar;

/// What is due at the end of a window.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<S: Scalar> {
    /// Displacement and turn.
    pub displacement: Twist<S>,
    /// Velocities.
    pub velocity: Twist<S>,
    /// Length of the window.
    pub span: f64,
    /// How the master moves bodies.
    pub weight: f64,
}

impl<S: Scalar> Delivery<S> {
    /// Acceleration of the window; unshaped, its velocity alone is right.
    pub fn acceleration(&self, shaped: bool) -> Twist<S> {
        let per_second = S::from(1.0 / self.span);
        if shaped {
            (self.displacement * per_second + self.velocity * S::from(1.0 - self.weight)) * per_second
        } else {
            self.velocity * per_second
        }
    }

    /// What is left for the next window.
    pub fn rest(&self, acceleration: &Twist<S>) -> (Twist<S>, Twist<S>) {
        let h = S::from(self.span);
        (
            self.displacement - *acceleration * (h * h * S::from(self.weight)),
            self.velocity - *acceleration * h,
        )
    }
}
