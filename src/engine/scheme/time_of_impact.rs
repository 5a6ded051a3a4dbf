//! Steps split at the time of impact, and where sliding ends ([`slip_end`]).
//!
//! Between impacts a node moves on `q + t v + theta t^2 a`, so that the time of impact of a point or sphere with a
//! plane is the root of a quadratic; where the gap depends on how node or surface turn too, the root is bracketed and
//! found by regula falsi. At an impact every touching contact enters one problem. Bounces that accumulate are closed
//! ([`newton_impact::resting_speed`](crate::engine::law::newton_impact::resting_speed)); over a closed contact
//! the impulse of the interval is exact, so that friction loses nothing. Where events pile up all the same, the
//! rest of the step is captured.

use super::flight::{Flight, Turning, Way};
use super::moreau_jean::Gaps;
use super::root::sign_change;
use super::{IslandStep, Rebound, balance, correction, linked, moreau_jean, slip_end};
use crate::engine::contact::{Touch, distance, near};
use crate::engine::scalar::{Dual, Scalar, length};
use crate::engine::solver::Solvable;
use crate::engine::system::{Sides, System};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Impacts and intervals that one substep may be split into, shared by the nodes of the island: all pass an event of one.
const MAX_EVENTS: u32 = 512;
/// The same where the touching point depends on the orientation: it may jump from side to side without end.
const MAX_EVENTS_TURNING: u32 = 32;
/// What every further body adds to that: all of them pass an event of one.
const MORE_EVENTS_TURNING: u32 = 4;

/// Contact problems of one substep that may stay without solution, each after all that there is was tried.
pub(super) const MAX_UNSOLVED: u32 = 8;
/// Looks at gaps on the way to impacts in one substep, for every contact of the island: at speeds that make sense there are
/// tens.
const MAX_LOOKS: u32 = 4096;

/// Times that the way to an impact is looked at again.
const MAX_CUTS: u32 = 16;
/// Two times of impact with a ratio above this are one.
const SAME_TIME: f64 = 1.0 - TOLERANCES.rounding;

/// Advances the island by `remaining`.
#[inline]
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, mut remaining: S) {
    let has_edges = |&node: &usize| step.system.nodes[node].shape.has_edges();
    let nodes = step.island.nodes.len() as u32;
    let of_many = MAX_EVENTS_TURNING.saturating_add(MORE_EVENTS_TURNING.saturating_mul(nodes - 1));
    let most =
        if step.island.nodes.iter().any(has_edges) { of_many } else { of_many.max(MAX_EVENTS / nodes) };
    let total = remaining.value();
    for event in 0..most {
        // After half of them bounces are closed whatever the restitution.
        step.crowded = event >= most / 2;
        // How far shapes are looked for follows from how nodes will accelerate.
        if step.island.linkage.is_some() {
            linked::foresee(step, remaining);
        }
        step.look();
        if closing(step) {
            let watch = &mut step.workspace.watch;
            if watch.stops {
                watch.impact = total - remaining.value();
                return;
            }
            watch.struck = true;
            if watch.strikes {
                step.start_strike();
            }
            step.propose_impact(S::zero());
            step.accept(S::zero());
            if step.workspace.watch.strikes {
                return;
            }
            if is_tired(step) {
                break;
            }
            continue;
        }
        if step.workspace.watch.strikes {
            return;
        }
        let (interval, is_last, ends_sliding) = propose_interval(step, remaining);
        if is_tired(step) {
            break;
        }
        // What flies keeps its energy.
        let flies = step.workspace.active.is_empty() && step.island.linkage.is_none();
        let account = if flies { None } else { balance::open(step) };
        step.accept(interval);
        if !step.workspace.active.is_empty() {
            step.record_modes();
            if is_last {
                step.record_penetration();
            }
            correction::close(step, interval);
        }
        balance::close(step, account);
        if is_last {
            return;
        }
        remaining -= interval;
        if ends_sliding {
            let watch = &mut step.workspace.watch;
            watch.slip_end = watch.slip_end.min(total - remaining.value());
        }
    }
    capture(step, remaining);
}

/// Captures the rest of a crowded step. What is pressed and does not leave is closed from either side: gaps of many
/// sizes, each with its own time of impact, would crowd the next step too.
#[inline(never)]
fn capture<S: Solvable>(step: &mut IslandStep<'_, S>, remaining: S) {
    step.state.step.captured += 1;
    // What would be passed is looked for once more.
    step.looks.set(0);
    let account = moreau_jean::pass(step, remaining, Gaps::AmidBounces);
    if step.system.settings.correction {
        close_pressed(step, remaining);
    }
    balance::close(step, account);
}

/// Closes what is pressed and does not leave, and opens what is inside.
fn close_pressed<S: Solvable>(step: &mut IslandStep<'_, S>, remaining: S) {
    let mut kept = 0;
    for index in 0..step.workspace.active.len() {
        let touch = &mut step.workspace.touches[step.workspace.active[index]];
        touch.settle(step.system, step.state);
        touch.normal_velocity = touch.normal.dot(&touch.velocity(step.state));
        let touch = &step.workspace.touches[step.workspace.active[index]];
        if !step.leaves(touch) {
            step.workspace.active[kept] = step.workspace.active[index];
            step.workspace.impulses[kept] = step.workspace.impulses[index];
            kept += 1;
        }
    }
    step.workspace.active.truncate(kept);
    step.workspace.impulses.truncate(kept);
    correction::close(step, remaining);
    correction::lift_out(step);
}

/// Proposes velocities up to the next event, or to the end of the step where there is none. Returns the length of
/// the interval, whether it reaches the end, and whether sliding ends there.
#[inline]
fn propose_interval<S: Solvable>(step: &mut IslandStep<'_, S>, remaining: S) -> (S, bool, bool) {
    let (mut interval, mut is_last, mut ends_sliding) = (remaining, true, false);
    step.propose(interval, Rebound::none());
    if let Some(stop) = slip_end::first(step, interval) {
        (interval, is_last, ends_sliding) = (stop, false, true);
        step.propose(interval, Rebound::none());
    }
    // What a master moves and contact pushes is where the master puts it.
    if step.island.turns_along && !yields_to_master(step) {
        for _ in 0..MAX_CUTS {
            if !strays(step, interval) {
                break;
            }
            (interval, is_last) = (interval * S::from(0.5), false);
            step.propose(interval, Rebound::none());
        }
    }
    // Friction bends the path, so that over the shorter interval the impact may come at another time.
    for cut in 0..MAX_CUTS {
        let Some(impact) = first_impact(step, interval) else { break };
        if is_tired(step) {
            break;
        }
        if cut > 0 && impact.value() > interval.value() * SAME_TIME {
            break;
        }
        (interval, is_last, ends_sliding) = (impact, false, false);
        step.propose(interval, Rebound::none());
    }
    (interval, is_last, ends_sliding)
}

/// Whether the island has a body that a master moves and that contact pushes.
fn yields_to_master<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    let mass = |&coupling: &usize| step.state.parameters.mass[step.system.couplings[coupling].node];
    step.island.couplings.iter().any(|coupling| mass(coupling).value().is_finite())
}

/// Whether a body that turns, or follows a surface that is not flat, takes a contact that acts inside the other shape, or
/// beyond it, by more than the correction closes. Contacts stop velocities at the end of an interval; in between, turning
/// takes them away by the square of its angle.
#[inline(never)]
fn strays<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> bool {
    let system = step.system;
    let spin = |rotation: Option<usize>| {
        rotation.map_or(0.0, |rotation| length(&step.workspace.turns[rotation].mean).value())
    };
    step.workspace.active.iter().any(|&index| {
        let touch = &step.workspace.touches[index];
        // A stop holds the coordinate of its joint, however far that turns.
        if system.stop(touch.sides()).is_some() {
            return false;
        }
        let angle = |node: usize, rotation: Option<usize>| {
            if system.nodes[node].shape.is_round() { 0.0 } else { spin(rotation) * dt.value() }
        };
        let own = angle(touch.node, touch.rotation);
        let mut away = length(&touch.arm).value() * own * own;
        let mut most = own;
        if let Some(carrier) = &touch.carrier {
            let turned = angle(carrier.node, carrier.rotation);
            away += length(&carrier.arm).value() * turned * turned;
            most = most.max(turned);
        }
        let reach = TOLERANCES.slight * step.least_arm(touch);
        let within = system.half_width(touch.sides()).map_or(reach, |width| reach.min(width));
        if most > TOLERANCES.followed_part {
            return true;
        }
        if away <= within && touch.flat {
            return false;
        }
        let carrier = touch.carrier.map(|carrier| step.proposed_pose(carrier.node, dt));
        let node = step.proposed_pose(touch.node, dt);
        if system.is_feature(touch.contact, touch.sides()) {
            return distance(system, &node, carrier.as_ref(), touch.sides()).value() < -within;
        }
        let end = near(system, &node, carrier.as_ref(), touch.sides(), touch.point);
        end.gap.value() < -within || end.normal.dot(&touch.normal).value() <= 0.0
    })
}

/// Whether a substep has had more looks at gaps than it may have.
#[inline]
fn has_looked_enough<S: Scalar>(step: &IslandStep<'_, S>) -> bool {
    let island = step.island;
    step.looks.get() > MAX_LOOKS
        && step.looks.get() / MAX_LOOKS > (island.contacts.len() + island.pairs.len()) as u32
}

/// Whether it is of no use to follow events of the substep one by one any longer.
#[inline]
fn is_tired<S: Scalar>(step: &IslandStep<'_, S>) -> bool {
    step.unsolved > MAX_UNSOLVED || has_looked_enough(step)
}

/// Whether an impact is due; makes active all touching contacts if so, else those that stay closed.
#[inline]
fn closing<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let mut closing = false;
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        if touch.gap.value() <= step.touching_distance(touch) {
            closing |= step.closes(touch);
            step.workspace.active.push(index);
        }
    }
    if step.island.turns_along {
        join_features(step, closing);
    }
    if !closing && !step.workspace.active.is_empty() {
        let mut active = std::mem::take(&mut step.workspace.active);
        active.retain(|&index| !step.leaves(&step.workspace.touches[index]));
        step.workspace.active = active;
    }
    closing
}

/// Makes active features of pairs with several of them that all but touch: those that rest, and at an impact those
/// beside one that touches. Edges and faces meet with all their corners, whatever round-off and the tolerance of earlier
/// impacts have left between.
// Not inlined: steps of shapes that touch at one point stay short.
#[inline(never)]
fn join_features<S: Solvable>(step: &mut IslandStep<'_, S>, closing: bool) {
    /// Gap of such features, as a part of the distance of the touching point from the nearer centre.
    const TOGETHER: f64 = 1e-7;
    let touching = step.workspace.active.len();
    let mut known = 0;
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        if known < touching && step.workspace.active[known] == index {
            known += 1;
            continue;
        }
        let reach = TOGETHER * step.least_arm(touch);
        if touch.gap.value() > reach || step.system.touches_at_one_point(touch.contact, touch.sides()) {
            continue;
        }
        let is_beside = |&place: &usize| {
            let other = &step.workspace.touches[place];
            other.contact == touch.contact && other.sides() == touch.sides()
        };
        if !(step.closes(touch) || step.leaves(touch))
            || closing && step.workspace.active[..touching].iter().any(is_beside)
        {
            step.workspace.active.push(index);
        }
    }
    if step.workspace.active.len() > touching {
        step.workspace.active.sort_unstable();
    }
}

/// Earliest time within `dt` at which a contact that is not active closes on the proposed path.
#[inline]
fn first_impact<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> Option<S> {
    let inactive = |index: &usize| !step.workspace.active.contains(index);
    first_impact_of(step, (0..step.workspace.touches.len()).filter(inactive), dt)
}

/// The same of some touching points.
#[inline]
pub(super) fn first_impact_of<S: Solvable>(
    step: &IslandStep<'_, S>,
    points: impl Iterator<Item = usize>,
    dt: S,
) -> Option<S> {
    let mut first: Option<S> = None;
    let mut known_as_whole = None;
    for index in points {
        let touch = &step.workspace.touches[index];
        if known_as_whole == Some((touch.contact, touch.sides())) {
            continue;
        }
        let limit = first.map_or(dt.value(), S::value);
        let looks = step.looks.get();
        let time = time_to_touch(step, touch, dt, limit);
        if time.is_some() {
            first = time;
        }
        // A feature that is too far away to be reached tells nothing of the others.
        let has_looked = step.looks.get() > looks;
        if has_looked && is_whole(step, touch) {
            known_as_whole = Some((touch.contact, touch.sides()));
        }
    }
    first
}

/// Whether a contact is looked at as a whole: which feature of shapes that are apart comes first is not known yet.
fn is_whole<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>) -> bool {
    let is_same = |other: &Touch<S>| other.contact == touch.contact && other.sides() == touch.sides();
    step.system.is_feature(touch.contact, touch.sides())
        && !step.workspace.active.iter().any(|&index| is_same(&step.workspace.touches[index]))
}

/// The first time before `limit` at which a contact closes on the proposed path over `dt`.
#[inline]
pub(super) fn time_to_touch<S: Solvable>(
    step: &IslandStep<'_, S>,
    touch: &Touch<S>,
    dt: S,
    limit: f64,
) -> Option<S> {
    if step.system.nodes[touch.node].shape.is_round() && touch.carrier.is_none() && touch.flat {
        let acceleration = path_acceleration(step, touch.node, dt);
        let theta = S::from(step.system.settings.theta);
        descending_root(touch, theta * touch.normal.dot(&acceleration), limit)
    } else {
        first_contact(step, touch, dt, limit)
    }
}

/// Mean acceleration of a node on the proposed path over `dt`.
#[inline]
fn path_acceleration<S: Solvable>(step: &IslandStep<'_, S>, node: usize, dt: S) -> Vector3<S> {
    if step.workspace.active.is_empty() && !step.rubs() {
        step.workspace.acceleration[node]
    } else {
        (step.workspace.velocity[node] - step.state.nodes[node].velocity) / dt
    }
}

/// The proposed path of a node, as a contact of the given sides sees it.
pub(super) fn flight<S: Solvable>(step: &IslandStep<'_, S>, node: usize, sides: Sides, dt: S) -> Flight<S> {
    let is_round = step.system.nodes[node].shape.is_round() && step.system.stop(sides).is_none();
    let turning = match step.system.nodes[node].rotation {
        _ if is_round => Turning::None,
        None => Turning::None,
        Some(rotation) if step.workspace.active.is_empty() && !step.system.tied[node] => {
            Turning::Free(step.free_rotation(node, rotation))
        }
        Some(rotation) => {
            let state = &step.state.rotations[rotation];
            Turning::Pushed {
                orientation: state.orientation,
                angular_velocity: state.angular_velocity,
                growth: (step.workspace.turns[rotation].mean - state.angular_velocity) / dt,
            }
        }
    };
    let theta = S::from(step.system.settings.theta);
    let curvature = path_acceleration(step, node, dt) * theta;
    let state = &step.state.nodes[node];
    Flight { position: state.position, velocity: state.velocity, curvature, turning }
}

/// The proposed paths of the two sides of a contact.
#[derive(Clone, Copy)]
struct Approach<S> {
    sides: Sides,
    /// None for the shapes as a whole.
    point: Option<usize>,
    node: Flight<S>,
    carrier: Option<Flight<S>>,
}

impl<S: Scalar> Approach<S> {
    fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Approach<T> {
        Approach {
            sides: self.sides,
            point: self.point,
            node: self.node.map(convert),
            carrier: self.carrier.map(|flight| flight.map(convert)),
        }
    }

    fn gap(&self, system: &System, t: S) -> S {
        let carrier = self.carrier.as_ref().map(|flight| flight.pose(t));
        let node = self.node.pose(t);
        match self.point {
            None => distance(system, &node, carrier.as_ref(), self.sides),
            Some(point) => near(system, &node, carrier.as_ref(), self.sides, point).gap,
        }
    }

    /// How far both sides go at most within `dt`.
    fn farthest(&self, system: &System, touch: &Touch<S>, dt: f64) -> Way {
        let (arm, carrier_arm) = match self.point {
            None => system.extents(self.sides),
            Some(_) => {
                let carrier = touch.carrier.map_or(0.0, |carrier| length(&carrier.arm).value());
                (length(&touch.arm).value(), carrier)
            }
        };
        let mut way = self.node.farthest(arm, dt);
        if let Some(flight) = &self.carrier {
            let surface = flight.farthest(carrier_arm + way.moved, dt);
            way = Way {
                moved: way.moved + surface.moved,
                turned: way.turned + surface.turned,
                swung: way.swung + surface.swung,
            };
        }
        way
    }

    /// Half the acceleration of one side relative to the other.
    fn curvature(&self) -> f64 {
        let carrier = self.carrier.map_or(Vector3::zeros(), |flight| flight.curvature);
        length(&(self.node.curvature - carrier)).value()
    }
}

/// The first time before `limit` at which the gap of a contact turns negative on a path.
// Not inlined: steps of point masses stay short.
#[inline(never)]
fn first_contact<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>, dt: S, limit: f64) -> Option<S> {
    /// Largest turn between two looks at the gap, in rad; there are at least and at most so many looks.
    const TURN: f64 = TOLERANCES.tilted;
    const LOOKS: (f64, f64) = (8.0, 1024.0);
    /// Way, over the size of both sides, on which no side is looked for; and the same where a look takes long.
    const TOO_FAR: f64 = 1.0 / TOLERANCES.small;
    const TOO_FAR_FOR_MESHES: f64 = 4.0;
    let system = step.system;
    let is_whole = is_whole(step, touch);
    let approach = Approach {
        sides: touch.sides(),
        point: (!is_whole).then_some(touch.point),
        node: flight(step, touch.node, touch.sides(), dt),
        carrier: touch.carrier.map(|carrier| flight(step, carrier.node, touch.sides(), dt)),
    };
    let way = approach.farthest(system, touch, limit);
    let (extent, surface_extent) = system.extents(touch.sides());
    let too_far = if system.is_convex(touch.sides()) { TOO_FAR } else { TOO_FAR_FOR_MESHES };
    let is_finite = system.half_width(touch.sides()).is_some();
    let passes_all =
        is_finite && (!touch.flat || is_whole) && way.moved > too_far * (extent + surface_extent);
    if passes_all || !way.moved.is_finite() {
        step.looks.set(u32::MAX);
    }
    if touch.gap.value() > way.moved || has_looked_enough(step) {
        return None;
    }
    // The coordinate of a joint at its stop bends no more than what turns does over a plane.
    let is_stop = system.stop(touch.sides()).is_some();
    if !(touch.flat || is_stop) || is_whole {
        let is_distance = is_whole || !system.is_feature(touch.contact, touch.sides());
        return first_touch(step, &approach, limit, &way, is_distance)
            .map(|root| with_tangent(system, &approach, root));
    }
    if way.turned == 0.0 && (is_stop || approach.carrier.is_some()) {
        let carried = approach.carrier.map_or(Vector3::zeros(), |carrier| carrier.curvature);
        let curvature = touch.normal.dot(&(approach.node.curvature - carried));
        let root = descending_root(touch, curvature, limit)?.value();
        return Some(with_tangent(system, &approach, root));
    }
    let values = approach.map(S::value);
    let gap = |t: f64| counted(step, values.gap(system, t));
    let looks = (way.turned / TURN).ceil().clamp(LOOKS.0, LOOKS.1);
    let mut from = 0.0;
    for look in 1..=looks as u32 {
        let to = limit * (f64::from(look) / looks);
        // A gap that is negative by round-off after an impact counts as zero, and may open first.
        if gap(to) < 0.0 {
            let start = if from > 0.0 { Some(from) } else { still_open(&gap, touch, to) };
            let root = start.map_or(0.0, |start| sign_change(&gap, start, to));
            return (root < limit).then(|| with_tangent(system, &approach, root));
        }
        from = to;
    }
    None
}

/// The first time before `limit` at which the gap to a solid turns negative: conservative advancement. [Mirtich 1996]
///
/// The gap changes no faster than both sides go. Where it `is_distance` of convex shapes, the plane between them shows
/// more: after `s` it is at least `gap + s u - s^2 c`, with the speed `u` at which it opens and half the relative
/// acceleration `c`; points swing across the plane no faster than turning takes them. Steps go beyond that bound only by
/// what takes a point through a part of half the width of the shapes, so that nothing is passed.
fn first_touch<S: Solvable>(
    step: &IslandStep<'_, S>,
    approach: &Approach<S>,
    limit: f64,
    way: &Way,
    is_distance: bool,
) -> Option<f64> {
    /// Steps need not be shorter than this part of the interval.
    const SHORTEST: f64 = TOLERANCES.slight;
    /// Part of half the width of two shapes by which a step may go beyond its bound.
    const WITHIN: f64 = 0.25;
    /// Part of the time up to a touch at which round-off does not hide that the gap is open.
    const SURELY: f64 = 1.0 - TOLERANCES.coarse;
    let values = approach.map(S::value);
    let moving = approach.map(|x| Dual::from(x.value()));
    let system = step.system;
    let gap = |t: f64| counted(step, values.gap(system, t));
    let is_convex = approach.point.is_some() || system.is_convex(approach.sides);
    let keeps_plane = is_distance && system.is_convex(approach.sides);
    let (fastest, swing, curvature) = (way.moved / limit, way.swung / limit, approach.curvature());
    let none = TOLERANCES.few_roundings * fastest * limit;
    let within = WITHIN * system.half_width(approach.sides).map_or(f64::INFINITY, |width| width / fastest);
    let shortest = within.min(SHORTEST * limit);
    let look = |time: f64| {
        step.looks.set(step.looks.get().saturating_add(1));
        moving.gap(system, Dual { value: time, tangent: 1.0 })
    };
    let (mut time, mut here) = (0.0, look(0.0));
    while !has_looked_enough(step) {
        let (value, rate) = (here.value, here.tangent);
        if value <= none && rate < 0.0 {
            return Some(time);
        }
        let open = value.max(0.0);
        let sure =
            if keeps_plane { time_above_zero(open, rate - 2.0 * swing, curvature) } else { open / fastest };
        let advance = if rate >= 0.0 {
            SURELY * sure
        } else if is_convex {
            time_above_zero(open, rate, curvature).min(sure + within).max(sure)
        } else {
            sure
        };
        let next = time + advance.max(shortest);
        if next >= limit {
            return (gap(limit) < 0.0).then(|| sign_change(&gap, time, limit));
        }
        here = look(next);
        if here.value < 0.0 {
            return Some(sign_change(&gap, time, next));
        }
        if next <= time {
            return Some(time);
        }
        time = next;
    }
    None
}

/// How long `gap + s speed - s^2 curvature` stays positive.
fn time_above_zero(gap: f64, speed: f64, curvature: f64) -> f64 {
    if curvature == 0.0 && speed >= 0.0 {
        return f64::INFINITY;
    }
    let root = (speed * speed + 4.0 * gap * curvature).sqrt();
    if speed > 0.0 {
        (speed + root) / (2.0 * curvature)
    } else if gap > 0.0 {
        2.0 * gap / (root - speed)
    } else {
        0.0
    }
}

/// The gap, with the look at it booked.
#[inline]
fn counted<S: Scalar>(step: &IslandStep<'_, S>, gap: f64) -> f64 {
    step.looks.set(step.looks.get().saturating_add(1));
    gap
}

/// The root of `gap + t u + t^2 c` at which the gap turns negative, if it comes before `limit`.
#[inline]
fn descending_root<S: Scalar>(touch: &Touch<S>, curvature: S, limit: f64) -> Option<S> {
    // A gap that is negative, by round-off after an impact, counts as zero, and so depends on nothing.
    let gap = if touch.gap.value() > 0.0 { touch.gap } else { S::zero() };
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

/// Some time before `end`, at which the gap is negative, at which it is not; none when it closes at once.
fn still_open<S: Scalar>(gap: &impl Fn(f64) -> f64, touch: &Touch<S>, end: f64) -> Option<f64> {
    if touch.gap.value() > 0.0 {
        return Some(0.0);
    }
    let times = std::iter::successors(Some(0.5 * end), |time| Some(0.5 * time));
    let mut times = times.take_while(|time| *time > TOLERANCES.rounding * 0.5 * end);
    times.find(|&time| gap(time) >= 0.0)
}

/// The root with its tangent: `gap(t, x) = 0` makes `dt = -(gap_x / gap_t) dx`.
fn with_tangent<S: Scalar>(system: &System, approach: &Approach<S>, root: f64) -> S {
    let gap = approach.gap(system, S::from(root));
    let moving = approach.map(|x| Dual::from(x.value()));
    let speed = moving.gap(system, Dual { value: root, tangent: 1.0 }).tangent;
    let tangent = gap - S::from(gap.value());
    if speed == 0.0 { S::from(root) } else { S::from(root) - tangent / S::from(speed) }
}
