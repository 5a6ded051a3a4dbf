//! Points of one mechanism of the master: the same as [`kinetic`](crate::engine::coupling::kinetic), with the
//! [`operator`](crate::engine::coupling::operator) W of all of them in place of a mass.
//!
//! What is still to be delivered is kept as impulses P and their time integrals R, not as velocities `W P` and displacements
//! `W R`: forces follow from them without W being inverted, so that they act only along what contact has pushed, and what W
//! cannot move, such as feet that press against one another, is not driven.

use crate::engine::contact::{InverseMass, gap};
use crate::engine::coupling::kinetic::{Start, plan};
use crate::engine::coupling::latency;
use crate::engine::coupling::memory::Memory;
use crate::engine::coupling::operator::{CHANGE, Ways};
use crate::engine::coupling::{CouplingState, Motion};
use crate::engine::math::twist::{Mobility, Twist, Wrench};
use crate::engine::scalar::{Scalar, length};
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::system::mechanism::Mechanism;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// The members of a mechanism whose operator is learnt, with the windows after which the master applies forces; none while
/// that is not known of all of them, or where something is not to be learnt.
fn learns<'a, S: Scalar>(system: &'a System, state: &State<S>) -> Option<(&'a Mechanism, usize)> {
    let mechanism = system.mechanism.as_ref()?;
    let mut late = None;
    for &member in &mechanism.members {
        if !system.couplings[member].mode.is_of_mechanism() {
            return None;
        }
        let memory = &state.couplings[member].memory;
        let windows = memory.latency.windows;
        let mass = state.parameters.mass[system.couplings[member].node].value();
        let stiff = memory.response.stiff;
        if !memory.latency.known || stiff || late.is_some_and(|late| late != windows) || !mass.is_finite() {
            return None;
        }
        late = Some(windows);
    }
    Some((mechanism, usize::from(late?)))
}

/// Learns from the window that the master has just made. Points are together once a round of probes has told the operator.
pub fn learn<S: Scalar>(system: &System, state: &mut State<S>, together: &mut InverseMass<S>) {
    let Some((mechanism, late)) = learns(system, state) else {
        if !state.operator.joined {
            state.operator.wait();
            together.clear();
        }
        return;
    };
    let State { couplings, operator, parameters, .. } = state;
    let members = &mechanism.members;
    let memory = |body: usize| &couplings[members[body]].memory;
    if memory(0).made == 0 {
        operator.wait();
    } else {
        operator.see(
            (memory(0).length, late),
            |body, axis| couplings[members[body]].given.velocity[axis].value(),
            |body, axis| (memory(body).sent[late].force[axis] + memory(body).told.force[axis]).value(),
            |body| 1.0 / parameters.mass[system.couplings[members[body]].node].value(),
        );
    }
    if !state.operator.joined && state.operator.is_known() {
        state.operator.joined = true;
        for (place, &member) in members.iter().enumerate() {
            let memory = &state.couplings[member].memory;
            let mass = state.parameters.mass[system.couplings[member].node] * memory.response.mass_factor;
            state.operator.owed[place] = values(&(memory.velocity.linear * mass));
            state.operator.reach[place] = values(&(memory.displacement.linear * mass));
        }
    }
    if state.operator.joined {
        together.join(system.nodes.len(), members.iter().map(|&member| system.couplings[member].node));
        let (operator, turns) = together.buffers();
        // Forces act in the middle of the window that they are made for.
        let ahead = (late as f64 + 0.5) * state.couplings[members[0]].memory.length;
        state.operator.write(ahead, operator, turns);
        together.set();
    } else {
        together.clear();
    }
}

/// Adds probes to the forces of the window at hand.
pub fn probe<S: Scalar>(system: &System, state: &mut State<S>, duration: f64) {
    let Some((mechanism, late)) = learns(system, state) else { return };
    let members = &mechanism.members;
    let due =
        state.operator.is_ready() && (!state.operator.joined || is_near(system, state, mechanism, duration));
    let State { couplings, operator, parameters, .. } = state;
    let is_struck = |body: usize| !couplings[members[body]].memory.settles[0];
    if (0..members.len()).any(is_struck) {
        operator.strike(is_struck, (late as f64 + 0.5) * duration);
    }
    let size = |&member: &usize| length(&couplings[member].acceleration.linear).value();
    let acceleration = members.iter().map(size).fold(0.0, f64::max);
    let mass = |body: usize| parameters.mass[system.couplings[members[body]].node].value();
    // The operator of what rests stays as it is.
    let speed = |&member: &usize| length(&couplings[member].given.velocity).value();
    let moves = members.iter().map(speed).fold(0.0, f64::max) > acceleration * duration;
    let ways = |body: usize| {
        let CouplingState { memory, output, .. } = &couplings[members[body]];
        let size = length(&output.force).value();
        if size <= TOLERANCES.negligible * mass(body) * acceleration {
            Ways::All
        } else if moves && memory.resting && !is_struck(body) {
            Ways::Along(values(&output.force).map(|part| part / size))
        } else {
            Ways::None
        }
    };
    let probes = operator.probe(due, acceleration, duration, ways, mass);
    for (&member, probe) in members.iter().zip(probes.chunks_exact(3)) {
        let coupling = &mut couplings[member];
        let force = Vector3::from_fn(|axis, _| S::from(probe[axis]));
        coupling.output.force += force;
        coupling.memory.sent[0].force += force;
        coupling.memory.probe = force;
    }
}

/// Whether something may touch within the windows in which the operator may become another one.
fn is_near<S: Scalar>(system: &System, state: &State<S>, mechanism: &Mechanism, duration: f64) -> bool {
    let time = CHANGE * duration;
    mechanism.contacts.iter().any(|&contact| {
        let node = system.contacts[contact].sides().node;
        let coupling = system.nodes[node].coupling.expect("a contact of a member");
        let speed = length(&state.nodes[node].velocity).value();
        let acceleration = length(&state.couplings[coupling].acceleration.linear).value();
        gap(system, state, contact).value() < (speed + 0.5 * acceleration * time) * time
    })
}

/// Vector of what is kept without tangents.
fn vector<S: Scalar>(kept: &[f64; 3]) -> Vector3<S> {
    Vector3::from_fn(|axis, _| S::from(kept[axis]))
}

fn values<S: Scalar>(vector: &Vector3<S>) -> [f64; 3] {
    [vector[0].value(), vector[1].value(), vector[2].value()]
}

/// What the body at a place does for the forces that `of` tells of all members.
fn response<S: Scalar>(
    system: &System,
    state: &State<S>,
    together: &InverseMass<S>,
    place: usize,
    of: impl Fn(&CouplingState<S>) -> Vector3<S>,
) -> Vector3<S> {
    let members = &system.mechanism.as_ref().expect("bodies that are together").members;
    together.response(place, |other| of(&state.couplings[members[other]]))
}

/// Learns besides the operator from the window that the master has just made of a member.
pub fn observe<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    together: &InverseMass<S>,
    index: usize,
    place: usize,
) {
    let late = usize::from(state.couplings[index].memory.latency.windows);
    let known = response(system, state, together, place, |coupling| {
        coupling.memory.sent[late].force + coupling.memory.told.force
    });
    let coupling = &mut state.couplings[index];
    let nothing = Mobility { mass: S::from(f64::INFINITY), rotation: None };
    let Some(window) = coupling.memory.window(&coupling.given, nothing) else { return };
    let memory = &mut coupling.memory;
    let mean = (window.after.velocity - window.before.velocity) / S::from(window.length);
    let expected = memory.observers[late].expect(window.middle, true);
    let rule = memory.rule.see(&window, latency::is_impact(&mean, &expected.linear));
    let contact = memory.sent[late];
    let moved = values(&(contact.force * S::from(rule * window.length * window.length)));
    let seen = Twist { linear: mean - known, angular: Vector3::zeros() };
    let change = length(&(seen.linear - expected.linear)).value();
    let size = length(&known).value();
    if latency::is_impact(&known, &expected.linear) {
        coupling.diagnosis.response_error = S::from(change / size);
    }
    memory.observers.iter_mut().for_each(|observer| observer.see(seen, window.middle));
    memory.acted = contact;
    let reach = &mut state.operator.reach[place];
    reach.iter_mut().zip(moved).for_each(|(reach, moved)| *reach -= moved);
}

/// Foretells where the next force will act on a member, as [`super::kinetic::start`] does.
pub fn start<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    together: &InverseMass<S>,
    (index, place): (usize, usize),
    told: impl Fn(&State<S>, usize, f64) -> Wrench<S>,
    duration: f64,
    in_step: bool,
) -> Start<S> {
    let member = |other: usize| system.mechanism.as_ref().expect("bodies that are together").members[other];
    let h = S::from(duration);
    let on_its_way = response(system, state, together, place, |coupling| coupling.memory.sent[0].force);
    let told_now = together.response(place, |other| told(state, member(other), 0.5 * duration).force);
    let owed = together.response(place, |other| vector(&state.operator.owed[other]));
    let reach = together.response(place, |other| vector(&state.operator.reach[other]));
    let own = told(state, index, 0.5 * duration);
    let given = state.couplings[index].given;
    let memory = &mut state.couplings[index].memory;
    let (mut foretold, mut ahead, mut span) = (given, 0.0, duration);
    let acts_after = in_step && memory.latency.windows == 1;
    if !acts_after && memory.latency.windows == 1 {
        let besides = memory.expect(0.5 * duration).linear + told_now;
        span = plan(memory, duration).1;
        let all = Twist { linear: besides + on_its_way, angular: Vector3::zeros() };
        foretold = foretold.flown(&all, h, S::from(memory.rule.weight));
        ahead = duration;
    }
    memory.planned = span;
    memory.open(given, own, duration);
    let nothing = Vector3::zeros();
    let shadow = foretold
        .shifted(&Twist { linear: reach, angular: nothing }, &Twist { linear: owed, angular: nothing });
    Start { shadow, foretold, ahead, span, acts_after }
}

/// Moves what was planned for the end of the last window to the end of the one at hand, where lengths differ.
pub fn replan<S: Scalar>(state: &mut State<S>, members: &[usize], duration: f64) {
    let State { couplings, operator, .. } = state;
    for (place, &member) in members.iter().enumerate() {
        let memory = &couplings[member].memory;
        if memory.latency.windows == 0 || memory.resting {
            continue;
        }
        let (planned, _) = plan(memory, duration);
        let more = duration - planned;
        if more == 0.0 {
            continue;
        }
        let weight = memory.rule.weight;
        let bent = more * planned - weight * (duration * duration - planned * planned);
        let sent = values(&(memory.sent[0].force - memory.probe));
        for (axis, sent) in sent.into_iter().enumerate() {
            operator.reach[place][axis] += operator.owed[place][axis] * more + sent * bent;
            operator.owed[place][axis] -= sent * more;
        }
    }
}

/// Finds the force for the master to hold on a member from the impulses of contact in the window.
pub fn finish<S: Scalar>(
    state: &mut State<S>,
    together: &InverseMass<S>,
    (index, place): (usize, usize),
    start: &Start<S>,
    end: Motion<S>,
    impulse: Vector3<S>,
    resting: bool,
) {
    let State { couplings, operator, .. } = state;
    let coupling = &mut couplings[index];
    let memory: &mut Memory<S> = &mut coupling.memory;
    let h = S::from(start.span);
    let weight = S::from(memory.rule.weight);
    let (owed, reach) = (vector::<S>(&operator.owed[place]), vector::<S>(&operator.reach[place]));
    let due =
        Delivery { impulse: impulse + owed, reach: together.reach[place] + reach + owed * h, h, weight };
    let mean = impulse / h;
    let (force, rest);
    if start.acts_after {
        let later = due.rest(&memory.sent[0].force);
        let next = Delivery { reach: later.reach + later.impulse * h, ..later };
        let lasting =
            if length(&mean).value() < length(&memory.load.force).value() { mean } else { memory.load.force };
        force = next.force() + lasting;
        rest = later;
    } else {
        force = due.force();
        rest = due.rest(&force);
    }
    /// What is left to deliver below this part of what the window delivers is rounding.
    const SETTLED: f64 = 1e-9;
    let delivered = (length(&force) * h).value();
    let settled = length(&rest.impulse).value() <= SETTLED * delivered
        && length(&rest.reach).value() <= SETTLED * delivered * start.span;
    (operator.owed[place], operator.reach[place]) =
        if settled { ([0.0; 3], [0.0; 3]) } else { (values(&rest.impulse), values(&rest.reach)) };
    let output = Wrench { force, torque: Vector3::zeros() };
    memory.load = Wrench { force: mean, torque: Vector3::zeros() };
    (memory.target, memory.resting) = (end, resting);
    memory.settles = [settled, memory.settles[0]];
    memory.close(output);
    coupling.output = output;
    coupling.diagnosis.mass = S::one() / together.mean(place);
    coupling.diagnosis.shaping = true;
    coupling.diagnosis.latency = Some(memory.latency.windows);
}

/// What is due at the end of a window of length `h`: impulse and its time integral, as in [`shaping`](super::shaping).
struct Delivery<S: Scalar> {
    impulse: Vector3<S>,
    reach: Vector3<S>,
    h: S,
    weight: S,
}

impl<S: Scalar> Delivery<S> {
    fn force(&self) -> Vector3<S> {
        (self.reach / self.h + self.impulse * (S::one() - self.weight)) / self.h
    }

    fn rest(&self, force: &Vector3<S>) -> Delivery<S> {
        let h = self.h;
        Delivery {
            impulse: self.impulse - force * h,
            reach: self.reach - force * (h * h * self.weight),
            h,
            weight: self.weight,
        }
    }
}
