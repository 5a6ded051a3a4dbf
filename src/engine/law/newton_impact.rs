//! Newton's impact law: `U_N+ >= -e U_N-`, with equality where there is an impulse.
//!
//! Written as `u_N = U_N+ + e U_N-`, it is the normal row `0 <= p_N _|_ u_N >= 0` of the contact problem.
//! [Fancello 2012, 3.1.1; Moreau 1988]

use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;

/// What restitution adds to the normal velocity in the contact problem.
#[inline]
pub fn shift<S: Scalar>(restitution: S, normal_velocity_before: S) -> S {
    restitution * normal_velocity_before
}

/// Largest rebound speed for which a contact counts as closed.
///
/// After a rebound with speed `u` under the pressing acceleration `a`, infinitely many bounces end after
/// `2 u / (a (1 - e))`. Bounces that end within a 64th of the step are not resolved one by one. Where a step is
/// `crowded` with bounces, it is enough that the next one, of `2 u / a`, ends so soon; other contacts may press
/// then, so that the whole acceleration counts.
#[inline]
pub fn resting_speed(restitution: f64, node: Bounce, step: f64, crowded: bool) -> f64 {
    // Elastic bounces never end by themselves: only round-off is cut off there.
    let bounces = if crowded { node.acceleration } else { (1.0 - restitution) * node.pressing.max(0.0) };
    let part = 0.5 * bounces * TOLERANCES.unresolved_part;
    let round_off = TOLERANCES.negligible * node.acceleration;
    (part.max(round_off) * step).max(TOLERANCES.few_roundings * node.speed)
}

/// What decides how long a node bounces.
#[derive(Clone, Copy, Debug)]
pub struct Bounce {
    /// Acceleration towards the surface.
    pub pressing: f64,
    /// Size of the acceleration.
    pub acceleration: f64,
    /// Size of the velocity.
    pub speed: f64,
}
