//! When sliding ends. Friction over an interval opposes the velocity at its end: where that has turned around on
//! the way, friction would have pushed along the motion before. Intervals are cut at the turn, so that friction
//! takes energy and a sliding node stops where it should.

use super::workspace::Workspace;
use super::{IslandStep, joint_friction};
use crate::engine::law::ContactMode;
use crate::engine::scalar::length;
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Earliest time within `dt` at which a contact or joint that slides at the start stops or turns around on the proposed
/// path.
pub fn first<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> Option<S> {
    let mut first = joint_friction::slip_end(step, dt);
    for (&index, impulse) in step.workspace.active.iter().zip(&step.workspace.impulses) {
        let touch = &step.workspace.touches[index];
        let mu = step.state.parameters.mu[touch.contact];
        // Only for a point mass, on what does not turn by it, is the brake the mass alone; bounded friction creeps
        // while it holds.
        let has_limit_in_step = step.system.contacts[touch.contact].friction.passes().is_none();
        if impulse.mode == ContactMode::Open
            || mu.value() <= 0.0
            || touch.rotation.is_some()
            || step.is_jointed()
            || touch
                .carrier
                .and_then(|carrier| carrier.rotation)
                .is_some_and(|rotation| step.turns_under_load(rotation))
            || !has_limit_in_step
        {
            continue;
        }
        let before = touch.velocity(step.state);
        let sliding = before - touch.normal * touch.normal_velocity;
        let speed = length(&sliding);
        if speed.value() <= step.held_speed(touch) {
            continue;
        }
        let direction = sliding / speed;
        let after = step.proposed_velocity(touch);
        if impulse.mode == ContactMode::Slip && direction.dot(&after).value() > 0.0 {
            continue;
        }
        // What all but this friction does, and this friction as it is while the contact slides.
        let Workspace { mobility, together, .. } = &*step.workspace;
        let response = |push: &Vector3<S>| {
            let own = match together.place(touch.node) {
                None => push * mobility[touch.node],
                Some(place) => together.block(place, place) * push,
            };
            let other = touch.carrier.map_or(S::zero(), |carrier| mobility[carrier.node]);
            direction.dot(&own) + direction.dot(push) * other
        };
        let pushed = direction.dot(&(after - before)) - response(&impulse.tangential);
        let mobility = response(&direction);
        let braking = mu * impulse.normal * mobility - pushed;
        let limit = first.map_or(dt.value() * (1.0 - TOLERANCES.negligible), S::value);
        if braking.value() > 0.0 {
            let time = speed / braking * dt;
            if time.value() > TOLERANCES.negligible * dt.value() && time.value() < limit {
                first = Some(time);
            }
        }
    }
    first
}
