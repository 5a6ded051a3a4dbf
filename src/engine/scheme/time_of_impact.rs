//! Steps split at the time of impact, and where sliding ends ([`slip_end`]).
//!
//! Between impacts a node moves on `q + t v + theta t^2 a`, so that the time of impact with a plane is the root
//! of a quadratic. At an impact every touching contact enters one problem. Bounces that accumulate are closed
//! ([`newton_impact::resting_speed`](crate::engine::law::newton_impact::resting_speed)); over a closed contact
//! the impulse of the interval is exact, so that friction loses nothing. Where events pile up all the same, the
//! rest of the step is captured.

use super::{IslandStep, Rebound, correction, moreau_jean, slip_end};
use crate::engine::contact::Touch;
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use nalgebra::Vector3;

/// Impacts and intervals that one substep may be split into.
const MAX_EVENTS: u32 = 512;
/// After so many of them bounces are closed whatever the restitution.
const CROWDED: u32 = MAX_EVENTS / 2;

/// Times that the way to an impact is looked at again.
const MAX_CUTS: u32 = 16;
/// Two times of impact with a ratio above this are one.
const SAME_TIME: f64 = 1.0 - 1e-12;

/// Advances the island over the substep.
#[inline]
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let mut remaining = S::from(step.length);
    for event in 0..MAX_EVENTS {
        step.crowded = event >= CROWDED;
        step.look();
        if closing(step) {
            step.propose_impact(S::zero());
            step.accept(S::zero());
            continue;
        }
        let (interval, is_last) = propose_interval(step, remaining);
        step.accept(interval);
        if !step.workspace.active.is_empty() {
            if is_last {
                step.record_modes();
                step.record_penetration();
            }
            correction::close(step, interval);
        }
        if is_last {
            return;
        }
        remaining -= interval;
    }
    moreau_jean::run(step, remaining);
}

/// Proposes velocities up to the next event, or to the end of the step where there is none. Returns the length of
/// the interval and whether it reaches the end.
#[inline]
fn propose_interval<S: Solvable>(step: &mut IslandStep<'_, S>, remaining: S) -> (S, bool) {
    let (mut interval, mut is_last) = (remaining, true);
    step.propose(interval, Rebound::None);
    if let Some(stop) = slip_end::first(step, interval) {
        (interval, is_last) = (stop, false);
        step.propose(interval, Rebound::None);
    }
    // Friction bends the path, so that over the shorter interval the impact may come at another time.
    for cut in 0..MAX_CUTS {
        let Some(impact) = first_impact(step, interval) else { break };
        if cut > 0 && impact.value() > interval.value() * SAME_TIME {
            break;
        }
        (interval, is_last) = (impact, false);
        step.propose(interval, Rebound::None);
    }
    (interval, is_last)
}

/// Whether an impact is due; makes active all touching contacts if so, else those that stay closed.
#[inline]
fn closing<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let mut closing = false;
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        if touch.gap.value() <= step.touching_distance(touch) {
            closing |= touch.normal_velocity.value() < -step.resting_speed(touch);
            step.workspace.active.push(index);
        }
    }
    if !closing && !step.workspace.active.is_empty() {
        let mut active = std::mem::take(&mut step.workspace.active);
        active.retain(|&index| {
            let touch = &step.workspace.touches[index];
            touch.normal_velocity.value() <= step.resting_speed(touch)
        });
        step.workspace.active = active;
    }
    closing
}

/// Earliest time within `dt` at which a contact that is not active closes on the proposed path.
#[inline]
fn first_impact<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> Option<S> {
    let theta = S::from(step.system.settings.theta);
    let mut first: Option<S> = None;
    for (index, touch) in step.workspace.touches.iter().enumerate() {
        if step.workspace.active.contains(&index) {
            continue;
        }
        let acceleration = if step.workspace.active.is_empty() {
            step.workspace.acceleration[touch.node]
        } else {
            let change: Vector3<S> =
                step.workspace.velocity[touch.node] - step.state.nodes[touch.node].velocity;
            change / dt
        };
        let curvature = theta * touch.normal.dot(&acceleration);
        let limit = first.map_or(dt.value(), S::value);
        if let Some(time) = descending_root(touch, curvature, limit) {
            first = Some(time);
        }
    }
    first
}

/// The root of `gap + t u + t^2 c` at which the gap turns negative, if it comes before `limit`.
#[inline]
fn descending_root<S: Scalar>(touch: &Touch<S>, curvature: S, limit: f64) -> Option<S> {
    // A gap that is negative by round-off after an impact counts as zero.
    let gap = if touch.gap.value() > 0.0 { touch.gap } else { touch.gap - S::from(touch.gap.value()) };
    let u = touch.normal_velocity;
    let end = gap.value() + limit * (u.value() + limit * curvature.value());
    let falls_later = u.value() < 0.0 || curvature.value() < 0.0;
    if !falls_later || (end > 0.0 && (u.value() >= 0.0 || curvature.value() <= 0.0)) {
        return None;
    }
    let discriminant = u * u - S::from(4.0) * curvature * gap;
    if discriminant.value() < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let time = if u.value() < 0.0 {
        gap * S::from(2.0) / (root - u)
    } else {
        (u + root) / (curvature * S::from(-2.0))
    };
    (time.value() < limit).then_some(time)
}
