//! Continuous contacts: forces of depth and speed, followed in intervals that are short against the contact's own
//! oscillation and decay ([`ContinuousLaw::rate`]), whatever the length of the substep.
//!
//! Over an interval the force is constant and acts like a load: the scheme of the substep runs over the interval as it
//! would without such contacts. It is the mean force of the law between the depths at the start and at the end
//! ([`ContinuousLaw::mean_force`]), found with the end that it leads to. So the whole is of order 2,
//! stable for any stiffness, and keeps the energy that the law keeps. Intervals are cut where a contact touches first,
//! so that its impact speed is exact.

use super::acceptance::{record_impulse, record_work};
use super::{IslandStep, Rebound, linked, time_of_impact};
use crate::engine::contact::{Impulse, Touch, local_frame, near};
use crate::engine::law::ContactMode;
use crate::engine::law::continuous::anchor::{Anchor, Pull};
use crate::engine::law::continuous::{Approach, Compliance, ContinuousLaw, Impact};
use crate::engine::scalar::{Scalar, largest, length};
use crate::engine::solver::Solvable;
use crate::engine::state::{Compression, State};
use crate::engine::system::{Response, System};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::cmp::Ordering;

/// Shortest interval that a contact is followed in.
pub const SHORTEST: f64 = TOLERANCES.negligible;

/// Most intervals of a substep, touches apart; where more were needed they are longer.
const MAX_INTERVALS: f64 = TOLERANCES.most_substeps;

/// After so many intervals of a substep none is shorter than this part of what is left, so that every substep ends: the
/// fastest contacts that make sense take thousands.
const MANY_INTERVALS: u32 = 50_000;
const COARSE: f64 = TOLERANCES.slight;

/// A touch that comes sooner than this has come.
const AT_ONCE: f64 = TOLERANCES.rounding;

/// Proposals of one interval.
const MAX_SWEEPS: u32 = TOLERANCES.bound_passes;

/// Part of the force that would stop a contact within an interval below which a force is small.
const MATTERS: f64 = TOLERANCES.slight;

/// A touch slower than this part of the speed that its load will give it begins at rest.
const AT_REST: f64 = TOLERANCES.coarse;

/// Part of the way to the first touch that is gone at once where other forces may bend the path.
const CAREFUL: f64 = 1.0 - TOLERANCES.much_less;

/// Scratch memory of continuous contacts.
#[derive(Debug)]
pub struct ContinuousScratch<S> {
    presses: Vec<Press<S>>,
    /// Accelerations without these contacts, by node.
    acceleration: Vec<Vector3<S>>,
    /// Torques without them, by rotating node.
    torque: Vec<Vector3<S>>,
    /// Sum of the squared rates of its contacts, by node.
    rates: Vec<S>,
}

/// A touching point over an interval.
#[derive(Clone, Copy, Debug)]
struct Press<S> {
    /// At the start of the interval; the arms after it are those at its end, the normal is midway.
    touch: Touch<S>,
    compliance: Compliance,
    /// Place in [`State::compressions`].
    place: usize,
    touching: bool,
    /// Normal at the start.
    normal: Vector3<S>,
    /// Depth at the start.
    depth: S,
    /// Velocity of the gap for a unit impulse.
    mobility: S,
    /// Mean force on the node along the normal.
    force: S,
    /// Mean friction on it.
    friction: Vector3<S>,
    start: Placement<S>,
}

/// Motion of the two sides of a contact, the carrier's subtracted where they are added up.
#[derive(Clone, Copy, Debug)]
struct Placement<S> {
    position: Vector3<S>,
    velocity: Vector3<S>,
    spin: Vector3<S>,
    carrier_spin: Vector3<S>,
}

impl<S: Scalar> ContinuousScratch<S> {
    /// Room for steps of `system`.
    pub fn new(system: &System) -> ContinuousScratch<S> {
        let points = system.compressions();
        let nodes = if points == 0 { 0 } else { system.nodes.len() };
        ContinuousScratch {
            presses: Vec::with_capacity(points),
            acceleration: vec![Vector3::zeros(); nodes],
            torque: vec![Vector3::zeros(); nodes],
            rates: vec![S::zero(); nodes],
        }
    }
}

/// Advances the island over the substep.
// Not inlined: steps without such contacts stay short.
#[inline(never)]
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>) {
    keep_loads(step);
    let mut presses = std::mem::take(&mut step.workspace.continuous.presses);
    let mut remaining = S::from(step.length);
    for passed in 0.. {
        let is_crowded = passed >= MANY_INTERVALS;
        look(step, &mut presses);
        let mut followed = shortest_interval(step, &presses);
        let coarse = remaining * S::from(COARSE);
        if is_crowded && followed.value() < coarse.value() {
            followed = coarse;
        }
        // Also where a number is not finite: the step is refused then.
        let mut is_last = remaining.value().partial_cmp(&followed.value()) != Some(Ordering::Greater);
        let mut interval = if is_last { remaining } else { followed };
        find_forces(step, &mut presses, interval);
        if !is_crowded && let Some(touch) = next_touch(step, &presses, interval) {
            (interval, is_last) = (touch, false);
            find_forces(step, &mut presses, interval);
        }
        step.advance(interval);
        settle(step, &presses, interval);
        restore_loads(step);
        if is_last {
            break;
        }
        remaining -= interval;
    }
    step.workspace.continuous.presses = presses;
}

fn keep_loads<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for &node in &step.island.nodes {
        step.workspace.mobility[node] = S::one() / step.state.parameters.mass[node];
        step.workspace.continuous.acceleration[node] = step.workspace.acceleration[node];
        if let Some(rotation) = step.system.nodes[node].rotation {
            step.workspace.continuous.torque[rotation] = step.workspace.torque[rotation];
        }
    }
}

fn restore_loads<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for &node in &step.island.nodes {
        step.workspace.acceleration[node] = step.workspace.continuous.acceleration[node];
        if let Some(rotation) = step.system.nodes[node].rotation {
            step.workspace.torque[rotation] = step.workspace.continuous.torque[rotation];
        }
    }
}

/// Puts the forces of the contacts on top of the other loads.
fn load<S: Solvable>(step: &mut IslandStep<'_, S>, presses: &[Press<S>]) {
    restore_loads(step);
    let mass = &step.state.parameters.mass;
    for press in presses.iter().filter(|press| press.touching) {
        let touch = &press.touch;
        let force = touch.normal * press.force + press.friction;
        step.workspace.acceleration[touch.node] += force / mass[touch.node];
        if let Some(rotation) = touch.rotation {
            step.workspace.torque[rotation] += touch.lever().cross(&force);
        }
        if let Some(carrier) = &touch.carrier {
            step.workspace.acceleration[carrier.node] -= force / mass[carrier.node];
            if let Some(rotation) = carrier.rotation {
                step.workspace.torque[rotation] -= carrier.lever().cross(&force);
            }
        }
    }
    if step.island.linkage.is_some() {
        linked::begin(step);
    }
}

/// Looks at all points of continuous contacts: which of them touch, and since when.
fn look<S: Solvable>(step: &mut IslandStep<'_, S>, presses: &mut Vec<Press<S>>) {
    presses.clear();
    for &contact in &step.island.continuous {
        let pair = &step.system.contacts[contact];
        let Response::Continuous { compliance, first } = pair.response else { continue };
        for point in 0..pair.points {
            let mut touch = Touch::blank();
            touch.look(step.system, step.state, contact, point);
            let place = first + point;
            let pressing = -touch.normal.dot(&step.relative_acceleration(&touch));
            let is_near = touch.gap.value() <= step.touching_distance(&touch);
            let speed = touch.normal_velocity.value();
            let closes = is_near && (speed < 0.0 || (speed == 0.0 && pressing.value() > 0.0));
            let before = step.state.compressions[place];
            if before.touching && touch.gap.value() > 0.0 {
                step.state.step.dissipated += before.stored;
                step.state.compressions[place] = Compression::open();
            }
            if !step.state.compressions[place].touching && (closes || touch.gap.value() < 0.0) {
                let mobility = touch.mobility_along(step.state, &step.workspace.mobility, &touch.normal);
                let begun = begin(&compliance.law, &touch, pressing, mobility);
                step.state.step.dissipated -= begun.stored;
                step.state.compressions[place] = begun;
            }
            presses.push(press(step, touch, compliance, place));
        }
    }
}

/// A touch that begins, with the speed that the load will give it where it begins at rest. One that is found when it is deep already is as if it had come there from the surface.
fn begin<S: Scalar>(law: &ContinuousLaw, touch: &Touch<S>, pressing: S, mobility: S) -> Compression<S> {
    let stored = law.spring().energy(-touch.gap);
    let stored = if stored.value() > 0.0 { stored } else { S::zero() };
    let speed = touch.normal_velocity;
    let impact = (speed * speed + stored * mobility * S::from(2.0)).sqrt();
    let settling = law.settling_speed(pressing, mobility);
    let impact_speed = if impact.value() > AT_REST * settling.value() { impact } else { settling };
    Compression { touching: true, impact_speed, stored, ..Compression::open() }
}

/// Makes touches of the continuous contacts in which a simulation starts.
pub fn begin_inside(system: &System, state: &mut State<f64>) {
    let mobility: Vec<f64> = state.parameters.mass.iter().map(|mass| 1.0 / mass).collect();
    for (contact, pair) in system.contacts.iter().enumerate() {
        let Response::Continuous { compliance, first } = pair.response else { continue };
        for point in 0..pair.points {
            let mut touch = Touch::blank();
            touch.look(system, state, contact, point);
            state.compressions[first + point] = if touch.gap < 0.0 {
                let pressing = -touch.normal.dot(&state.parameters.gravity);
                let along = touch.mobility_along(state, &mobility, &touch.normal);
                begin(&compliance.law, &touch, pressing, along)
            } else {
                Compression::open()
            };
        }
    }
}

fn press<S: Solvable>(
    step: &IslandStep<'_, S>,
    touch: Touch<S>,
    compliance: Compliance,
    place: usize,
) -> Press<S> {
    Press {
        compliance,
        place,
        touching: step.state.compressions[place].touching,
        normal: touch.normal,
        depth: -touch.gap,
        mobility: touch.mobility_along(step.state, &step.workspace.mobility, &touch.normal),
        force: S::zero(),
        friction: Vector3::zeros(),
        start: placement(step.state, &touch),
        touch,
    }
}

fn placement<S: Scalar>(state: &State<S>, touch: &Touch<S>) -> Placement<S> {
    let spin = |rotation: usize| state.rotations[rotation].angular_velocity;
    let node = &state.nodes[touch.node];
    let mut placement = Placement {
        position: node.position,
        velocity: node.velocity,
        spin: touch.rotation.map_or(Vector3::zeros(), spin),
        carrier_spin: Vector3::zeros(),
    };
    if let Some(carrier) = &touch.carrier {
        placement.position -= state.nodes[carrier.node].position;
        placement.velocity -= state.nodes[carrier.node].velocity;
        placement.carrier_spin = carrier.rotation.map_or(Vector3::zeros(), spin);
    }
    placement
}

fn impact<S: Solvable>(step: &IslandStep<'_, S>, press: &Press<S>) -> Impact<S> {
    Impact {
        restitution: step.state.parameters.restitution[press.touch.contact],
        speed: step.state.compressions[press.place].impact_speed,
    }
}

/// The longest interval in which all that touches is followed; infinite where nothing does.
fn shortest_interval<S: Solvable>(step: &mut IslandStep<'_, S>, presses: &[Press<S>]) -> S {
    for press in presses {
        step.workspace.continuous.rates[press.touch.node] = S::zero();
    }
    let mut interval = S::from(f64::INFINITY);
    for press in presses.iter().filter(|press| press.touching) {
        let speed = press.touch.normal_velocity;
        let acceleration = press.touch.normal.dot(&step.relative_acceleration(&press.touch));
        let size = |x: S| if x.value() < 0.0 { -x } else { x };
        // A power of round-off is not small any more.
        let is_deep = press.depth.value() > step.touching_distance(&press.touch);
        let approach = Approach {
            depth: if is_deep { press.depth } else { S::zero() },
            speed: size(speed),
            acceleration: size(acceleration),
            mobility: press.mobility,
        };
        let rate = press.compliance.law.rate(&approach, &impact(step, press)) + anchor_rate(step, press);
        let sum = &mut step.workspace.continuous.rates[press.touch.node];
        *sum += rate * rate;
        let own = S::one() / sum.sqrt();
        if own.value() < interval.value() {
            interval = own;
        }
    }
    let least = SHORTEST.max(step.length / MAX_INTERVALS);
    if interval.value() < least { S::from(least) } else { interval }
}

/// The part of the rate that the spring to the anchor needs.
fn anchor_rate<S: Solvable>(step: &IslandStep<'_, S>, press: &Press<S>) -> S {
    if step.state.parameters.mu[press.touch.contact].value() <= 0.0 {
        return S::zero();
    }
    let tangent = local_frame(&press.touch.normal).row(1).transpose();
    let mobility = press.touch.mobility_along(step.state, &step.workspace.mobility, &tangent);
    ContinuousLaw::oscillation_rate(press.compliance.tangential(press.depth), mobility)
}

/// Finds the mean forces of all that touches over `dt` and puts them on the bodies.
fn find_forces<S: Solvable>(step: &mut IslandStep<'_, S>, presses: &mut [Press<S>], dt: S) {
    step.workspace.active.clear();
    if !presses.iter().any(|press| press.touching) {
        return load(step, presses);
    }
    for press in presses.iter_mut().filter(|press| press.touching) {
        let speed = -press.touch.normal_velocity;
        press.force = press.compliance.law.force(press.depth, speed, &impact(step, press));
        press.friction = Vector3::zeros();
    }
    let (mut last, mut size) = (f64::INFINITY, 0.0_f64);
    for _ in 0..MAX_SWEEPS {
        load(step, presses);
        step.propose(dt, Rebound::none());
        let mut change = 0.0_f64;
        size = 0.0;
        for press in presses.iter_mut().filter(|press| press.touching) {
            change = change.max(improve(step, press, dt));
            // Forces that hardly change the speed, as where a contact opens, need not have all digits.
            let stopping = press.touch.normal_velocity.value().abs() / (press.mobility * dt).value();
            size = size.max(press.force.value()).max(MATTERS * stopping);
        }
        // Round-off of the depths may keep forces from settling further.
        if change <= TOLERANCES.few_roundings * size
            || (change >= 0.5 * last && change <= size * f64::EPSILON.sqrt())
        {
            load(step, presses);
            return;
        }
        last = change;
    }
    load(step, presses);
    step.state.step.residual = step.state.step.residual.max(last / size);
}

/// The forces of a contact that fit the proposal if those of the others stay. Returns how much they change.
fn improve<S: Solvable>(step: &IslandStep<'_, S>, press: &mut Press<S>, dt: S) -> f64 {
    let (way, to) = move_along(step, press, dt);
    let yielding = dt * dt * press.mobility * S::from(step.system.settings.theta);
    let free = to + yielding * press.force;
    let force = press.compliance.law.implicit_force(press.depth, free, yielding, dt, &impact(step, press));
    let mut change = (force - press.force).value().abs();
    press.force = force;
    if step.state.parameters.mu[press.touch.contact].value() > 0.0 {
        let friction = anchor(step, press, (press.depth + to) * S::from(0.5)).pull(&way).force;
        change = change.max(largest(&(friction - press.friction)));
        press.friction = friction;
    }
    change
}

/// How far the touching point moves over the surface in the proposal, and the depth it comes to. Puts arms and
/// normal where the force acts.
fn move_along<S: Solvable>(step: &IslandStep<'_, S>, press: &mut Press<S>, dt: S) -> (Vector3<S>, S) {
    let touch = &mut press.touch;
    let node = step.proposed_pose(touch.node, dt);
    let mut way = node.position - step.state.nodes[touch.node].position;
    if touch.rotation.is_none() && touch.carrier.is_none() && touch.flat {
        // Not by the gap at the end: its digits are those of the position.
        let moved = step.workspace.velocity[touch.node];
        let before = step.state.nodes[touch.node].velocity;
        way = (before + (moved - before) * S::from(step.system.settings.theta)) * dt;
        let deeper = touch.normal.dot(&way);
        return (way - touch.normal * deeper, press.depth - deeper);
    }
    let body = touch.carrier.map(|carrier| step.proposed_pose(carrier.node, dt));
    let end = near(step.system, &node, body.as_ref(), touch.sides(), touch.point);
    touch.arm_after = end.arm;
    if let Some(rotation) = touch.rotation {
        way += step.workspace.turns[rotation].mean.cross(&touch.lever()) * dt;
    }
    if let (Some(carrier), Some(body)) = (&mut touch.carrier, &body) {
        carrier.arm_after = node.position + end.arm - body.position;
        way -= body.position - step.state.nodes[carrier.node].position;
        if let Some(rotation) = carrier.rotation {
            way -= step.workspace.turns[rotation].mean.cross(&carrier.lever()) * dt;
        }
    }
    if touch.carrier.is_some() || !touch.flat {
        let midway = press.normal + end.normal;
        touch.normal = midway / length(&midway);
        touch.normal_after = touch.normal;
    }
    (way - touch.normal * touch.normal.dot(&way), -end.gap)
}

/// The spring to the anchor over an interval of the given mean depth.
fn anchor<S: Solvable>(step: &IslandStep<'_, S>, press: &Press<S>, depth: S) -> Anchor<S> {
    let touch = &press.touch;
    let compression = &step.state.compressions[press.place];
    let stretch = match touch.carrier.and_then(|carrier| carrier.rotation) {
        None => compression.stretch,
        Some(rotation) => step.state.rotations[rotation].orientation.to_world(&compression.stretch),
    };
    Anchor {
        stretch: stretch - touch.normal * touch.normal.dot(&stretch),
        stiffness_before: compression.tangential_stiffness,
        stiffness: press.compliance.tangential(depth),
        limit: step.state.parameters.mu[touch.contact] * press.force,
    }
}

/// The first time within `dt` at which a point that does not touch yet does.
fn next_touch<S: Solvable>(step: &IslandStep<'_, S>, presses: &[Press<S>], dt: S) -> Option<S> {
    /// Distances, in touching distances, that are gone at once on any path.
    const CLOSE: f64 = 1.0 / TOLERANCES.slight;
    let island = step.island;
    let is_free = island.contacts.is_empty() && island.links.is_empty() && island.linkage.is_none();
    let mut first: Option<S> = None;
    for press in presses.iter().filter(|press| !press.touching) {
        let limit = first.map_or(dt.value(), S::value);
        let Some(time) = time_of_impact::time_to_touch(step, &press.touch, dt, limit) else { continue };
        let is_close = press.touch.gap.value() <= CLOSE * step.touching_distance(&press.touch);
        first = Some(if is_free || is_close { time } else { time * S::from(CAREFUL) });
    }
    match first {
        Some(time) if time.value() < AT_ONCE => (AT_ONCE < dt.value()).then(|| S::from(AT_ONCE)),
        found => found,
    }
}

/// Books what the contacts did over `dt`.
fn settle<S: Solvable>(step: &mut IslandStep<'_, S>, presses: &[Press<S>], dt: S) {
    for &contact in &step.island.continuous {
        step.state.contacts[contact].open_up();
    }
    for press in presses.iter().filter(|press| press.touching) {
        let mut end = press.touch;
        end.settle(step.system, step.state);
        let depth = -end.gap;
        let (way, worked) = ways(step, press, dt);
        let tangential = way - press.touch.normal * press.touch.normal.dot(&way);
        let mu = step.state.parameters.mu[press.touch.contact];
        let anchor = anchor(step, press, (press.depth + depth) * S::from(0.5));
        let pull = anchor.pull(&tangential);
        let mode = match pull.slides {
            _ if press.force.value() <= 0.0 => ContactMode::Open,
            false => ContactMode::Stick,
            true => ContactMode::Slip,
        };
        let impulse = Impulse { normal: press.force * dt, tangential: press.friction * dt, mode };
        record_impulse(step.system, step.state, &press.touch, &impulse);
        record_work(step.state, &press.touch, &impulse, &(worked / dt));
        store(step, press, depth, &anchor, &pull, mu);
        record_mode(step, &end, mode);
    }
}

/// How far the touching point has moved over the surface, and over which way its force has worked.
fn ways<S: Solvable>(step: &IslandStep<'_, S>, press: &Press<S>, dt: S) -> (Vector3<S>, Vector3<S>) {
    let (touch, start) = (&press.touch, &press.start);
    let end = placement(step.state, touch);
    let half = dt * S::from(0.5);
    let mut way = end.position - start.position;
    if touch.rotation.is_some() {
        way += ((start.spin + end.spin) * half).cross(&touch.lever());
    }
    if let Some(carrier) = &touch.carrier {
        way -= ((start.carrier_spin + end.carrier_spin) * half).cross(&carrier.lever());
    }
    // Work changes the velocity over the mean of the two, whatever the scheme moves by.
    let beyond = dt * S::from(step.system.settings.theta - 0.5);
    (way, way - (end.velocity - start.velocity) * beyond)
}

/// Keeps what the springs of a contact have stored at the end of an interval.
fn store<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    press: &Press<S>,
    depth: S,
    anchor: &Anchor<S>,
    pull: &Pull<S>,
    mu: S,
) {
    let half = S::from(0.5);
    let mut stored = press.compliance.law.spring().energy(depth);
    let compression = &mut step.state.compressions[press.place];
    if mu.value() > 0.0 {
        stored += anchor.stiffness * pull.stretch.dot(&pull.stretch) * half;
        compression.tangential_stiffness = anchor.stiffness;
        compression.stretch = match press.touch.carrier.and_then(|carrier| carrier.rotation) {
            None => pull.stretch,
            Some(rotation) => step.state.rotations[rotation].orientation.to_body(&pull.stretch),
        };
    }
    step.state.step.dissipated -= stored - compression.stored;
    compression.stored = stored;
}

/// Records stick or slip; of several points one that slips decides, and the fastest one.
fn record_mode<S: Solvable>(step: &mut IslandStep<'_, S>, end: &Touch<S>, mode: ContactMode) {
    let velocity = end.velocity(step.state);
    let slip = length(&(velocity - end.normal * end.normal.dot(&velocity)));
    let record = &mut step.state.contacts[end.contact];
    if mode == ContactMode::Open {
        return;
    }
    if record.mode != ContactMode::Slip {
        record.mode = mode;
    }
    if slip.value() >= record.slip.value() {
        record.slip = slip;
    }
}
