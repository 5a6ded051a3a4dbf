//! Points of one mechanism of the master: the same as [`kinetic`](crate::engine::coupling::kinetic), with the
//! [`operator`](crate::engine::coupling::operator) W of all of them in place of a mass.
//!
//! What is still to be delivered is kept as impulses P and their time integrals R, not as velocities `W P` and displacements
//! `W R`: forces follow from them without W being inverted, so that they act only along what contact has pushed, and what W
//! cannot move, such as feet that press against one another, is not driven.

use crate::engine::contact::{InverseMass, Touch, gap};
use crate::engine::coupling::kinetic::{Start, plan};
use crate::engine::coupling::latency;
use crate::engine::coupling::memory::Memory;
use crate::engine::coupling::operator::{CHANGE, KNOWN, LEAST, Push, RECENT, Trial, Ways};
use crate::engine::coupling::response::Response;
use crate::engine::coupling::{CouplingState, Motion};
use crate::engine::math::twist::{Mobility, Twist, Wrench};
use crate::engine::scalar::{Scalar, length};
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::system::mechanism::Mechanism;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};

/// The members of a mechanism whose operator is learnt, with the windows after which the master applies forces; none while
/// that is not known of all of them, or where something is not to be learnt.
fn learns<'a, S: Scalar>(system: &'a System, state: &State<S>) -> Option<(&'a Mechanism, usize)> {
    let mechanism = system.mechanism.as_ref()?;
    let mut late = None;
    for &member in &mechanism.members {
        let mode = &system.couplings[member].mode;
        let memory = &state.couplings[member].memory;
        // A master whose latency is given is not tried with forces of no use to it.
        if !(mode.is_of_mechanism() || mode.may_be_of_mechanism() && !memory.latency.given) {
            return None;
        }
        let windows = memory.latency.windows;
        let mass = state.parameters.mass[system.couplings[member].node].value();
        let stiff = memory.response.is_on_stiff_spring();
        if !memory.latency.known || stiff || late.is_some_and(|late| late != windows) || !mass.is_finite() {
            return None;
        }
        late = Some(windows);
    }
    Some((mechanism, usize::from(late?)))
}

/// Learns from the window that the master has just made. Points are together once probes have told the operator and, where
/// the model does not say that they are those of a mechanism, what they tell refutes free masses.
pub fn learn<S: Scalar>(system: &System, state: &mut State<S>, together: &mut InverseMass<S>) {
    let is_told = |mechanism: &&Mechanism| system.couplings[mechanism.members[0]].mode.is_given();
    if let Some(mechanism) = system.mechanism.as_ref().filter(is_told) {
        return take(system, state, together, mechanism);
    }
    let Some((mechanism, late)) = learns(system, state) else {
        if !state.operator.joined {
            state.operator.wait();
            together.clear();
        }
        return;
    };
    let members = &mechanism.members;
    if !mechanism.is_said && !state.operator.joined {
        let is_loaded = |&member: &usize| {
            let memory = &state.couplings[member].memory;
            !memory.load.is_zero() || !memory.settles[0]
        };
        if members.iter().any(is_loaded) {
            state.operator.end_trial();
            return together.clear();
        }
        if !tries(system, state, mechanism) {
            return together.clear();
        }
    }
    let State { couplings, operator, parameters, .. } = state;
    let memory = |body: usize| &couplings[members[body]].memory;
    if memory(0).made == 0 {
        operator.wait();
    } else {
        operator.see(
            (memory(0).length, late),
            |body, axis| couplings[members[body]].given.position[axis].value(),
            |body, axis| couplings[members[body]].given.velocity[axis].value(),
            |body, axis| (memory(body).sent[late].force[axis] + memory(body).told.force[axis]).value(),
            |body| 1.0 / parameters.mass[system.couplings[members[body]].node].value(),
        );
    }
    // What touches before teaches by its contact forces.
    let touches = |&member: &usize| !state.couplings[member].memory.load.is_zero();
    let is_due = if state.operator.joined {
        false
    } else if mechanism.is_said {
        state.operator.is_known() || members.iter().any(touches)
    } else {
        is_refuted(system, state, mechanism)
    };
    if is_due {
        join(system, state, members);
    }
    if state.operator.joined {
        together.join(system.nodes.len(), members.iter().map(|&member| system.couplings[member].node));
        let (operators, room) = together.buffers();
        // Forces act in the middle of the window that they are made for.
        let ahead = (late as f64 + 0.5) * state.couplings[members[0]].memory.length;
        state.operator.write(ahead, operators, room);
        together.set();
    } else {
        together.clear();
    }
}

/// Takes the operator that the master tells. It is that of the present; until forces act, it goes on as it went.
fn take<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    together: &mut InverseMass<S>,
    mechanism: &Mechanism,
) {
    let State { operator, inverse_mass, couplings, .. } = state;
    let members = &mechanism.members;
    let now = |row: usize, column: usize| inverse_mass[Mechanism::entry(row, column)];
    let memory = &couplings[members[0]].memory;
    let (late, length) = (memory.latency.windows, memory.length);
    operator.take(length, |row, column| now(row, column).value());
    // Forces act in the middle of the window that they are made for.
    let ahead = (f64::from(late) + 0.5) * length;
    let largest = (0..3 * members.len()).fold(0.0_f64, |most, row| most.max(now(row, row).value()));
    together.join(system.nodes.len(), members.iter().map(|&member| system.couplings[member].node));
    together.write(|row, column| {
        // What does not move is not pushed beyond what contact can bear.
        let least = if row == column { LEAST * largest } else { 0.0 };
        let known = now(row, column) + S::from(ahead * operator.rate(row, column));
        [known, known + S::from(least)]
    });
}

/// Whether it is still to be found out that bodies are free masses: until that is known, again when something comes near,
/// and when an impact has refuted it.
fn tries<S: Scalar>(system: &System, state: &mut State<S>, mechanism: &Mechanism) -> bool {
    let Trial::Over { near } = state.operator.trial else { return true };
    let duration = state.couplings[mechanism.members[0]].memory.length;
    let is_refuted = |&member: &usize| state.couplings[member].memory.refuted;
    let again =
        (!near && any_near(system, state, mechanism, duration)) || mechanism.members.iter().any(is_refuted);
    if again {
        state.operator.trial = Trial::NEW;
        state.operator.wait();
    }
    for &member in &mechanism.members {
        state.couplings[member].memory.refuted = false;
    }
    again
}

/// Whether what is learnt refutes free masses.
fn is_refuted<S: Scalar>(system: &System, state: &mut State<S>, mechanism: &Mechanism) -> bool {
    if !state.operator.is_ready() {
        return false;
    }
    let duration = state.couplings[mechanism.members[0]].memory.length;
    let mut touch = Touch::blank();
    let mut is_free = true;
    for &contact in mechanism.contacts.iter().filter(|&&contact| !system.contacts[contact].by_features) {
        touch.look(system, state, contact, 0);
        let is_its = |&member: &usize| system.couplings[member].node == touch.node;
        let body = mechanism.members.iter().position(is_its).expect("a contact of a member");
        match state.operator.is_free_mass(body, values(&touch.normal)) {
            Some(false) => return true,
            told => is_free &= told.is_some(),
        }
    }
    let near = any_near(system, state, mechanism, duration);
    state.operator.go_on_trying(is_free, near);
    false
}

/// The operator takes the place of masses, and impulses those of velocities that are still to be delivered.
fn join<S: Scalar>(system: &System, state: &mut State<S>, members: &[usize]) {
    for (probes, window) in state.operator.join().into_iter().zip(0..) {
        for (&member, probe) in members.iter().zip(probes.chunks_exact(3)) {
            let sent = &mut state.couplings[member].memory.sent[window];
            sent.force += Vector3::from_fn(|axis, _| S::from(probe[axis]));
        }
    }
    for (place, &member) in members.iter().enumerate() {
        let memory = &mut state.couplings[member].memory;
        let mass = state.parameters.mass[system.couplings[member].node] * memory.response.mass_factor;
        state.operator.owed[place] = values(&(memory.velocity.linear * mass));
        state.operator.reach[place] = values(&(memory.displacement.linear * mass));
        memory.response = Response::new();
    }
}

/// Adds probes to the forces of the window at hand.
pub fn probe<S: Scalar>(system: &System, state: &mut State<S>, duration: f64) {
    let Some((mechanism, late)) = learns(system, state).filter(|(mechanism, _)| !mechanism.is_given) else {
        return;
    };
    let tries = !mechanism.is_said && !state.operator.joined;
    let is_over = tries && !matches!(state.operator.trial, Trial::Runs { .. });
    if is_over && !state.operator.is_probed() {
        return;
    }
    // An impact would turn round what a trial has left of velocity.
    let ends = is_over || tries && any_within(system, state, mechanism, f64::from(RECENT) * duration);
    let members = &mechanism.members;
    let due = state.operator.is_ready()
        && (!state.operator.joined
            || !state.operator.is_known()
            || any_near(system, state, mechanism, duration));
    let State { couplings, operator, parameters, .. } = state;
    let is_struck = |body: usize| !couplings[members[body]].memory.settles[0];
    if (0..members.len()).any(is_struck) {
        operator.strike(is_struck, (late as f64 + 0.5) * duration);
    }
    let size = |&member: &usize| length(&couplings[member].acceleration.linear).value();
    // What the master holds still is probed as if it fell.
    let acceleration = members.iter().map(size).fold(length(&parameters.gravity).value(), f64::max);
    let mass = |body: usize| parameters.mass[system.couplings[members[body]].node].value();
    // The operator of what rests stays as it is.
    let speed = |&member: &usize| length(&couplings[member].given.velocity).value();
    let moves = members.iter().map(speed).fold(0.0, f64::max) > acceleration * duration;
    let ways = |body: usize| {
        let CouplingState { memory, output, .. } = &couplings[members[body]];
        let size = length(&output.force).value();
        if ends {
            Ways::End
        } else if size <= TOLERANCES.negligible * mass(body) * acceleration {
            Ways::All
        } else if moves && memory.resting && !is_struck(body) && !tries {
            Ways::Along(values(&output.force).map(|part| part / size))
        } else {
            Ways::None
        }
    };
    let joined = operator.joined;
    let probes = operator.probe((due, tries), acceleration, duration, ways, mass);
    for (&member, probe) in members.iter().zip(probes.chunks_exact(3)) {
        let coupling = &mut couplings[member];
        let force = Vector3::from_fn(|axis, _| S::from(probe[axis]));
        coupling.output.force += force;
        // A free mass that does not move in some direction would take its probe there for a force that holds it.
        if joined {
            coupling.memory.sent[0].force += force;
            coupling.memory.probe = force;
        }
    }
}

/// Whether something may touch within the windows in which the operator may become another one.
fn any_near<S: Scalar>(system: &System, state: &State<S>, mechanism: &Mechanism, duration: f64) -> bool {
    any_within(system, state, mechanism, CHANGE * duration)
}

/// Whether something may touch within a time.
fn any_within<S: Scalar>(system: &System, state: &State<S>, mechanism: &Mechanism, time: f64) -> bool {
    mechanism.contacts.iter().any(|&contact| is_within(system, state, contact, time))
}

fn is_within<S: Scalar>(system: &System, state: &State<S>, contact: usize, time: f64) -> bool {
    let node = system.contacts[contact].sides().node;
    let coupling = system.nodes[node].coupling.expect("a contact of a member");
    let speed = length(&state.nodes[node].velocity).value();
    let acceleration = length(&state.couplings[coupling].acceleration.linear).value();
    gap(system, state, contact).value() < (speed + 0.5 * acceleration * time) * time
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

/// Learns besides the operator from the window that the master has just made of a member. Returns whether an impact was
/// delivered in it.
pub fn observe<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    together: &InverseMass<S>,
    index: usize,
    place: usize,
) -> bool {
    let late = usize::from(state.couplings[index].memory.latency.windows);
    let known = response(system, state, together, place, |coupling| {
        coupling.memory.sent[late].force + coupling.memory.told.force
    });
    let coupling = &mut state.couplings[index];
    let nothing = Mobility { mass: S::from(f64::INFINITY), rotation: None };
    let Some(window) = coupling.memory.window(&coupling.given, nothing) else { return false };
    let memory = &mut coupling.memory;
    let mean = (window.after.velocity - window.before.velocity) / S::from(window.length);
    let expected = memory.observers[late].expect(window.middle, true);
    let rule = memory.rule.see(&window, &expected.linear, latency::is_impact(&mean, &expected.linear));
    let contact = memory.sent[late];
    let moved = values(&(contact.force * S::from(rule * window.length * window.length)));
    let seen = Twist { linear: mean - known, angular: Vector3::zeros() };
    let change = length(&(seen.linear - expected.linear)).value();
    let size = length(&known).value();
    let is_struck = latency::is_impact(&known, &expected.linear);
    if is_struck {
        coupling.diagnosis.response_error = S::from(change / size);
    }
    memory.observers.iter_mut().for_each(|observer| observer.see(seen, window.middle));
    memory.acted = contact;
    let reach = &mut state.operator.reach[place];
    reach.iter_mut().zip(moved).for_each(|(reach, moved)| *reach -= moved);
    is_struck
}

/// Foretells where the next force will act on a member, as [`super::kinetic::start`] does.
pub fn start<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    together: &InverseMass<S>,
    (index, place): (usize, usize),
    told: impl Fn(&State<S>, usize, f64) -> Wrench<S> + Copy,
    duration: f64,
    in_step: bool,
) -> Start<S> {
    let start = foretell(system, state, together, (index, place), told, duration, in_step);
    let own = told(state, index, 0.5 * duration);
    let given = state.couplings[index].given;
    let memory = &mut state.couplings[index].memory;
    memory.planned = start.span;
    memory.open(given, own, duration);
    start
}

fn foretell<S: Scalar>(
    system: &System,
    state: &State<S>,
    together: &InverseMass<S>,
    (index, place): (usize, usize),
    told: impl Fn(&State<S>, usize, f64) -> Wrench<S>,
    duration: f64,
    in_step: bool,
) -> Start<S> {
    let members = &system.mechanism.as_ref().expect("bodies that are together").members;
    let memory = &state.couplings[index].memory;
    let (mut foretold, mut ahead, mut span) = (state.couplings[index].given, 0.0, duration);
    let acts_after = in_step && memory.latency.windows == 1;
    if !acts_after && memory.latency.windows == 1 {
        let on_its_way = response(system, state, together, place, |coupling| coupling.memory.sent[0].force);
        let told_now = together.response(place, |other| told(state, members[other], 0.5 * duration).force);
        let besides = memory.expect(0.5 * duration).linear + told_now;
        span = plan(memory, duration).1;
        let all = Twist { linear: besides + on_its_way, angular: Vector3::zeros() };
        foretold = foretold.flown(&all, S::from(duration), S::from(memory.rule.weight));
        ahead = duration;
    }
    let owed = together.response(place, |other| vector(&state.operator.owed[other]));
    let reach = together.response(place, |other| vector(&state.operator.reach[other]));
    let linear = |linear| Twist { linear, angular: Vector3::zeros() };
    Start { shadow: foretold.shifted(&linear(reach), &linear(owed)), foretold, ahead, span, acts_after }
}

/// Makes up for what the operator that an impact was found with was wrong by, now that the impact has corrected it: bodies
/// go on as contact has them, along what it has pushed.
pub fn make_up<S: Scalar>(system: &System, state: &mut State<S>, together: &InverseMass<S>) {
    let members = &system.mechanism.as_ref().expect("bodies that are together").members;
    let mut lacks = [[[0.0; 3]; 2]; Mechanism::MOST];
    for (place, &index) in members.iter().enumerate() {
        let memory = &state.couplings[index].memory;
        let late = usize::from(memory.latency.windows);
        let length = memory.length;
        let velocity = [0, 1, 2].map(|axis| state.operator.correction(late, 3 * place + axis) * length);
        lacks[place] = [velocity, velocity.map(|lack| lack * length * memory.rule.weight)];
    }
    let block = |one: usize, other: usize| {
        let block = together.block(one, other);
        [0, 1, 2].map(|row| [0, 1, 2].map(|column| block[(row, column)].value()))
    };
    state.operator.make_up(block, &lacks[..members.len()]);
}

/// Notes what members are expected to do for the forces that were just made.
pub fn expect<S: Scalar>(system: &System, state: &mut State<S>, together: &InverseMass<S>) {
    let Some(mechanism) = system.mechanism.as_ref().filter(|_| !together.is_empty()) else { return };
    let State { couplings, operator, .. } = state;
    operator.expect(|body, axis| {
        let sent = |other: usize| couplings[mechanism.members[other]].memory.sent[0].force;
        together.response(body, sent)[axis].value()
    });
}

/// Takes note of how contact has pushed a member in the window.
pub fn note_push<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    place: usize,
    node: usize,
    impulse: &Vector3<S>,
) {
    let push = &mut state.operator.pushes_of_late[place];
    push.age = push.age.saturating_add(1);
    let own = system.contacts.iter().zip(&state.contacts).enumerate().filter(|(_, (contact, record))| {
        contact.group().is_none() && contact.sides().node == node && record.normal_impulse.value() > 0.0
    });
    let mut count = 0;
    for (index, (_, record)) in own {
        count += 1;
        let normal = (impulse - record.tangential_impulse) / record.normal_impulse;
        let bound = state.parameters.mu[index].value() * record.normal_impulse.value();
        let holds = length(&record.tangential_impulse).value() < bound * (1.0 - TOLERANCES.small);
        let along = if holds { [0.0; 3] } else { values(&(impulse / record.normal_impulse)) };
        *push = Push { normal: values(&normal), along, age: 0 };
    }
    if count > 1 {
        push.along = [0.0; 3];
    }
}

/// Moves what was planned for the end of the last window to the end of the one at hand, where lengths differ.
pub fn replan<S: Scalar>(state: &mut State<S>, members: &[usize], duration: f64) {
    let State { couplings, operator, .. } = state;
    for (place, &member) in members.iter().enumerate() {
        let memory = &couplings[member].memory;
        if memory.latency.windows == 0 {
            continue;
        }
        let (planned, _) = plan(memory, duration);
        let more = duration - planned;
        if more == 0.0 {
            continue;
        }
        let besides = memory.expect(0.5 * duration);
        let memory = &mut couplings[member].memory;
        memory.target = memory.target.flown(&besides, S::from(more), S::from(0.5));
        if memory.resting {
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
    let delivered = (length(&force) * h).value();
    let settled = length(&rest.impulse).value() <= TOLERANCES.negligible * delivered
        && length(&rest.reach).value() <= TOLERANCES.negligible * delivered * start.span;
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

/// How a point of a mechanism moves along what it touches.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// Its inverse mass along the last contact normal; before the first contact, along gravity.
    pub inverse_mass: f64,
    /// The largest of all directions.
    pub largest: f64,
}

impl Along {
    /// Mass by which it responds along the normal.
    pub fn mass(&self) -> f64 {
        1.0 / self.inverse_mass.max(LEAST * self.largest)
    }

    /// Whether it is known no better how it moves along the normal than that it hardly does.
    pub fn is_blocked(&self) -> bool {
        self.inverse_mass <= KNOWN * self.largest
    }

    /// How much more easily it moves in some direction than along the normal.
    pub fn condition(&self) -> f64 {
        self.largest * self.mass()
    }
}

/// How a coupled body moves along what it touches, by what is known of its mechanism; none where it is of none.
pub fn along_contact<S: Scalar>(system: &System, state: &State<S>, index: usize) -> Option<Along> {
    let members = &system.mechanism.as_ref()?.members;
    let place = members.iter().position(|&member| member == index)?;
    if !state.operator.joined {
        let free = 1.0 / state.parameters.mass[system.couplings[index].node].value();
        return Some(Along { inverse_mass: free, largest: free });
    }
    let own = Matrix3::from_fn(|row, column| state.operator.own(place)[row][column]);
    let gravity = state.parameters.gravity.map(|part| part.value());
    let push = Vector3::from(state.operator.pushes_of_late[place].normal);
    let way = [push, gravity, Vector3::z()].into_iter().find(|way| *way != Vector3::zeros())?.normalize();
    Some(Along { inverse_mass: way.dot(&(own * way)), largest: own.symmetric_eigenvalues().max() })
}
