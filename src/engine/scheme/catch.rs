//! Captured steps do not pass through what is thin. What moves by less than half of its width within a step ends on the
//! side that it came from, and the next step pushes it back there. Of what moves further, every contact that closes on
//! the proposed way acts in the step as well, with the normal that it has where shapes first touch. Contacts that act
//! stop velocities at the end of the step; what moves on into the other shape until then is put back to where they first
//! touch.

use super::IslandStep;
use super::correction::{shift, shift_together};
use super::time_of_impact::{first_impact_of, flight, time_to_touch};
use crate::engine::contact::{Carrier, Touch, near};
use crate::engine::geometry::{Pose, features};
use crate::engine::scalar::length;
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;

/// Ways up to this part of half a width are short.
const SHORT: f64 = 0.5;

/// Makes active what closes on the proposed motion over `dt` and would be passed. Returns whether there is any.
// Not inlined: steps beside planes, which nothing passes through, stay short.
#[inline(never)]
pub fn passed<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> bool {
    let acting = step.workspace.active.len();
    let mut start = 0;
    while start < step.workspace.touches.len() {
        let end = end_of_pair(step, start);
        let touch = step.workspace.touches[start];
        if goes_far(step, &touch, dt) {
            let acts = |step: &IslandStep<'_, S>, index: usize| {
                step.workspace.active[..acting].binary_search(&index).is_ok()
            };
            if !step.system.is_feature(touch.contact, touch.sides()) {
                for index in start..end {
                    if !acts(step, index) {
                        catch_point(step, index, dt);
                    }
                }
            } else if !(start..end).any(|index| acts(step, index)) {
                catch_features(step, start..end, dt);
            }
        }
        start = end;
    }
    let any = step.workspace.active.len() > acting;
    step.workspace.active.sort_unstable();
    any
}

/// Makes the proposal over `dt` real but for what moves into the other shape by more than a step may.
#[inline(never)]
pub fn accept<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    // By touching point: how far it goes on along the normal after the first touch.
    let mut beyond = std::mem::take(&mut step.workspace.limits);
    beyond.clear();
    for &index in &step.workspace.active {
        beyond.push(way_beyond(step, &step.workspace.touches[index], dt));
    }
    step.accept(dt);
    let pair = |place: usize| {
        let touch = &step.workspace.touches[step.workspace.active[place]];
        (touch.contact, touch.sides())
    };
    // Of the points of a pair the one that goes furthest.
    for place in 1..beyond.len() {
        if pair(place - 1) == pair(place) {
            let (one, other) = (beyond[place - 1], beyond[place]);
            beyond[place] = if one.value() < other.value() { one } else { other };
            beyond[place - 1] = S::zero();
        }
    }
    for (place, &way) in beyond.iter().enumerate().filter(|(_, way)| way.value() < 0.0) {
        let touch = step.workspace.touches[step.workspace.active[place]];
        let mobility = |node: usize| S::one() / step.state.parameters.mass[node];
        let other = touch.carrier.map_or(S::zero(), |carrier| mobility(carrier.node));
        let own = mobility(touch.node);
        let back = touch.normal * (-way / (own + other));
        match step.workspace.together.place(touch.node) {
            None => shift(step, touch.node, back * own),
            Some(place) => shift_together(step, place, &back),
        }
        if let Some(carrier) = touch.carrier {
            shift(step, carrier.node, -back * other);
        }
    }
    step.workspace.limits = beyond;
}

/// One past the last touching point of the same pair.
fn end_of_pair<S: Solvable>(step: &IslandStep<'_, S>, start: usize) -> usize {
    let touches = &step.workspace.touches;
    let first = &touches[start];
    let same = |touch: &Touch<S>| touch.contact == first.contact && touch.sides() == first.sides();
    start + touches[start..].iter().take_while(|touch| same(touch)).count()
}

/// Whether the proposed motion over `dt` may take a touching point through the other shape.
fn goes_far<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>, dt: S) -> bool {
    let system = step.system;
    // Behind a plane all is solid.
    let Some(width) = system.half_width(touch.sides()) else { return false };
    let mut velocity = step.mean_velocity(touch.node);
    if let Some(carrier) = &touch.carrier {
        velocity -= step.mean_velocity(carrier.node);
    }
    let (extent, surface_extent) = system.extents(touch.sides());
    let turning = |node: usize, extent: f64| match system.nodes[node].rotation {
        Some(rotation) if !system.nodes[node].shape.is_round() => {
            length(&step.workspace.turns[rotation].mean).value() * extent
        }
        _ => 0.0,
    };
    let mut speed = length(&velocity).value() + turning(touch.node, extent);
    if let Some(carrier) = &touch.carrier {
        speed += turning(carrier.node, surface_extent);
    }
    speed * dt.value() > SHORT * width
}

/// Makes a touching point act that closes on the way.
fn catch_point<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize, dt: S) {
    let touch = step.workspace.touches[index];
    if let Some(time) = time_to_touch(step, &touch, dt, dt.value()) {
        step.workspace.touches[index] = touch_at(step, &touch, dt, time);
        step.workspace.active.push(index);
    }
}

/// Makes those features of a pair act that touch first.
fn catch_features<S: Solvable>(step: &mut IslandStep<'_, S>, pair: std::ops::Range<usize>, dt: S) {
    let first = step.workspace.touches[pair.start];
    let Some(time) = first_impact_of(step, pair.clone(), dt) else { return };
    let (node, body) = poses_at(step, &first, dt, time);
    let system = step.system;
    let shape = &system.nodes[first.node].shape;
    let surface = system.surfaces[first.surface].shape.place(body.as_ref());
    let reach = TOLERANCES.small * shape.extent(&system.details.points);
    let acting = step.workspace.active.len();
    let (mut nearest, mut least) = (None, f64::INFINITY);
    features(shape, &system.details, &node, &surface, reach, &mut |feature, near| {
        let is_it = |&index: &usize| step.workspace.touches[index].point == feature as usize;
        let Some(index) = pair.clone().find(is_it) else { return };
        if near.gap.value() < reach {
            step.workspace.active.push(index);
        }
        if near.gap.value() < least {
            (nearest, least) = (Some(index), near.gap.value());
        }
    });
    if step.workspace.active.len() == acting {
        step.workspace.active.extend(nearest);
    }
    for place in acting..step.workspace.active.len() {
        let index = step.workspace.active[place];
        step.workspace.touches[index] = touch_at(step, &step.workspace.touches[index], dt, time);
    }
}

/// How far a contact that acts goes on along its normal after the first touch, if it goes far.
fn way_beyond<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>, dt: S) -> S {
    if !goes_far(step, touch, dt) {
        return S::zero();
    }
    let (node, carrier) = poses_at(step, touch, dt, dt);
    let end = near(step.system, &node, carrier.as_ref(), touch.sides(), touch.point);
    if end.gap.value() >= 0.0 && end.normal.dot(&touch.normal).value() >= TOLERANCES.aligned {
        return S::zero();
    }
    let Some(time) = time_to_touch(step, touch, dt, dt.value()) else { return S::zero() };
    let mut velocity = step.mean_velocity(touch.node);
    if let Some(carrier) = &touch.carrier {
        velocity -= step.mean_velocity(carrier.node);
    }
    touch.normal.dot(&velocity) * (dt - time)
}

/// The two sides of a contact after `time` of the path over `dt` on which it was found to close.
fn poses_at<S: Solvable>(
    step: &IslandStep<'_, S>,
    touch: &Touch<S>,
    dt: S,
    time: S,
) -> (Pose<S>, Option<Pose<S>>) {
    let carrier = touch.carrier.map(|carrier| flight(step, carrier.node, touch.sides(), dt).pose(time));
    (flight(step, touch.node, touch.sides(), dt).pose(time), carrier)
}

/// The contact as it is there, with the velocity that it has now.
fn touch_at<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>, dt: S, time: S) -> Touch<S> {
    let (node, body) = poses_at(step, touch, dt, time);
    let near = near(step.system, &node, body.as_ref(), touch.sides(), touch.point);
    let mut found = Touch { normal: near.normal, normal_after: near.normal, ..*touch };
    (found.arm, found.arm_after) = (near.arm, near.arm);
    if let (Some(carrier), Some(body)) = (&mut found.carrier, &body) {
        let arm = node.position + near.arm - body.position;
        *carrier = Carrier { arm, arm_after: arm, ..*carrier };
    }
    found.normal_velocity = found.normal.dot(&found.velocity(step.state));
    found
}
