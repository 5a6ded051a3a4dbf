//! State in, force out, for a master that owns the mass and never repeats a step.
//!
//! The engine keeps a shadow of the body: where it is when contact acts as it should. Each step
//! 1. looks at what the last force has done ([`observer`](super::observer), [`latency`](super::latency),
//!    [`response`](super::response), [`position_rule`](super::position_rule), [`guard`](super::guard));
//! 2. foretells where the master will have the body when the next force starts to act, and adds what earlier forces
//!    have yet to deliver: that is the shadow;
//! 3. moves the shadow through contact over the window, as any other body;
//! 4. finds the force that takes the master's body to the shadow ([`shaping`](super::shaping)).
//!
//! With the right mass and acceleration this is the engine's own scheme at the communication step: nothing is lost.

use super::guard::Ledger;
use super::latency::{self, LatencyMemory};
use super::observer::Observer;
use super::position_rule::PositionRule;
use super::response::Response;
use super::shaping;
use super::state::Motion;
use super::twist::{Mobility, Twist, Wrench};
use super::{CouplingState, Kinetic};
use crate::engine::rotation::FreeRotation;
use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// What the engine has seen of the master.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory<S: Scalar> {
    /// Time since the first step.
    pub clock: f64,
    /// Windows that have been made and seen.
    pub made: u32,
    /// The same without the one that is being made.
    pub seen: u32,
    /// Length of the last window, and the one that its force was made for.
    pub length: f64,
    planned: f64,
    /// Motion that the master gave for its start.
    before: Motion<S>,
    /// External force that the engine was told of, mean over it.
    told: Wrench<S>,
    /// Contact forces sent last, newest first, and the one that acted before the last window.
    pub sent: [Wrench<S>; 2],
    acted: Wrench<S>,
    /// Accelerations besides contact, if forces act at once or one window late.
    pub observers: [Observer<S>; 2],
    /// When forces act.
    pub latency: LatencyMemory,
    /// How the master moves bodies.
    rule: PositionRule,
    /// How the body responds.
    pub response: Response<S>,
    /// What forces have yet to deliver: displacement and velocity.
    displacement: Twist<S>,
    velocity: Twist<S>,
    /// The shadow at the end of the last window, and for how many windows it counts more than what the master gives.
    target: Motion<S>,
    hold: u8,
    /// Whether it is one window behind, because forces turned out to act late.
    behind: bool,
    /// Whether a contact of the body was closed there.
    resting: bool,
    /// Whether the forces sent last leave nothing to deliver, newest first.
    settles: [bool; 2],
    ledger: Ledger<S>,
}

/// A window that the master has made.
#[derive(Clone, Copy, Debug)]
pub struct Window<S: Scalar> {
    /// Its middle.
    pub middle: f64,
    /// Its length.
    pub length: f64,
    /// Motion at its start.
    pub before: Motion<S>,
    /// Motion at its end.
    pub after: Motion<S>,
    /// External force that the engine was told of.
    pub told: Wrench<S>,
    /// How the body answers to forces.
    pub mobility: Mobility<S>,
}

/// Where a window starts and what is expected in it.
#[derive(Clone, Copy, Debug)]
pub struct Start<S: Scalar> {
    /// The shadow at its start.
    pub shadow: Motion<S>,
    /// Where the master will have the body.
    pub foretold: Motion<S>,
    /// Time between the present and its start.
    pub ahead: f64,
    /// Its length.
    pub span: f64,
}

/// Velocities left to deliver below this part of the body's are rounding.
const SETTLED: f64 = 1e-9;
/// How planned lengths of windows follow shorter ones.
const PLAN_MEMORY: f64 = 0.8;

impl<S: Scalar> Window<S> {
    /// Mean acceleration besides that of a contact force.
    pub fn besides(&self, contact: &Wrench<S>) -> Twist<S> {
        let (before, after) = (&self.before, &self.after);
        let known = *contact + self.told;
        let h = S::from(self.length);
        Twist {
            linear: (after.velocity - before.velocity) / h - known.force / self.mobility.mass,
            angular: match self.mobility.rotation {
                None => Vector3::zeros(),
                Some((orientation, inertia)) => {
                    let free = FreeRotation {
                        orientation,
                        angular_velocity: before.angular_velocity,
                        inertia,
                        torque: known.torque,
                        acceleration: None,
                    };
                    (after.angular_velocity - free.over(h).1) / h
                }
            },
        }
    }
}

impl<S: Scalar> Memory<S> {
    /// Before the first window.
    pub fn new(start: Motion<S>, acceleration: Twist<S>, latency: Option<u8>) -> Memory<S> {
        Memory {
            clock: 0.0,
            made: 0,
            seen: 0,
            length: 0.0,
            planned: 0.0,
            before: start,
            told: Wrench::zero(),
            sent: [Wrench::zero(); 2],
            acted: Wrench::zero(),
            observers: [Observer::new(acceleration); 2],
            latency: LatencyMemory::new(latency),
            rule: PositionRule::new(),
            response: Response::new(),
            displacement: Twist::zero(),
            velocity: Twist::zero(),
            target: start,
            hold: 0,
            behind: false,
            resting: false,
            settles: [true; 2],
            ledger: Ledger::new(),
        }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Memory<T> {
        Memory {
            clock: self.clock,
            made: self.made,
            seen: self.seen,
            length: self.length,
            planned: self.planned,
            before: self.before.map(convert),
            told: self.told.map(convert),
            sent: self.sent.each_ref().map(|wrench| wrench.map(convert)),
            acted: self.acted.map(convert),
            observers: self.observers.each_ref().map(|observer| observer.map(convert)),
            latency: self.latency,
            rule: self.rule,
            response: self.response.map(convert),
            displacement: self.displacement.map(convert),
            velocity: self.velocity.map(convert),
            target: self.target.map(convert),
            hold: self.hold,
            behind: self.behind,
            resting: self.resting,
            settles: self.settles,
            ledger: self.ledger.map(convert),
        }
    }

    /// Starts from a guess of the acceleration besides contact.
    pub fn guess(&mut self, acceleration: Twist<S>) {
        self.observers = [Observer::new(acceleration); 2];
    }

    /// Motion that the master gave for the start of the last window.
    pub fn before(&self) -> Motion<S> {
        self.before
    }

    /// Takes the force that the master will hold over its first window if it applies forces late.
    pub fn take_first(&mut self, force: Wrench<S>, made: &Memory<S>) {
        self.sent[0] = force;
        if self.latency.windows == 1 {
            (self.displacement, self.velocity) = (made.displacement, made.velocity);
            (self.planned, self.target, self.resting) = (made.planned, made.target, made.resting);
            (self.settles, self.ledger) = (made.settles, made.ledger);
        }
    }

    /// External force that the engine was told of for the last window.
    pub fn told(&self) -> Wrench<S> {
        self.told
    }

    /// Starts a window.
    pub fn open(&mut self, given: Motion<S>, told: Wrench<S>, duration: f64) {
        (self.before, self.told, self.length) = (given, told, duration);
    }

    /// Adds an impulse to what forces have yet to deliver to a mass. Returns all of it.
    pub fn owe(&mut self, impulse: Vector3<S>, mass: S) -> Vector3<S> {
        self.velocity.linear += impulse / mass;
        self.velocity.linear * mass
    }

    /// Books the work that the force of the last window has done on the master's mass, against what was due.
    pub fn book(&mut self, window: &Window<S>, excess: &mut S) {
        let force = self.sent[usize::from(self.latency.windows)].force;
        let mean = (window.before.velocity + window.after.velocity) * S::from(0.5);
        self.ledger.book(force.dot(&mean) * S::from(window.length), 0, true, excess);
    }

    /// Notes what the force of the window at hand should do.
    pub fn expect_work(&mut self, work: S) {
        self.ledger.expect(work);
    }

    /// Ends it with the force for the master.
    pub fn close(&mut self, output: Wrench<S>) {
        self.sent = [output, self.sent[0]];
        self.clock += self.length;
        self.made = self.made.saturating_add(1);
    }

    /// Learns from a window the accelerations besides contact and, once clear, the latency, but not how the body
    /// responds. Returns how far the acceleration was from the one foretold, as a part of all there is.
    pub fn observe_only(&mut self, window: &Window<S>, latency: Option<u8>) -> S {
        self.seen = self.seen.saturating_add(1);
        let is_new = latency.is_some_and(|windows| self.learn_latency(windows, window));
        let contact = self.sent[usize::from(self.latency.windows)];
        let observer = &self.observers[usize::from(self.latency.windows)];
        let expected = observer.expect(window.middle, !self.response.stiff).linear;
        let surprise = length(&(window.besides(&contact).linear - expected));
        let all = length(&expected) + length(&(contact.force / window.mobility.mass));
        self.see_besides(window, is_new);
        let is_rounding = surprise.value() <= f64::EPSILON * all.value();
        if is_new || is_rounding { S::zero() } else { surprise / all }
    }

    fn see_besides(&mut self, window: &Window<S>, is_new: bool) {
        for (observer, sent) in self.observers.iter_mut().zip(&self.sent) {
            observer.see(window.besides(sent), window.middle);
        }
        if is_new {
            self.observers[usize::from(self.latency.windows)].skip(window.middle);
        }
    }

    /// The window that the master has just made; none before the first one.
    pub fn window(&self, given: &Motion<S>, mobility: Mobility<S>) -> Option<Window<S>> {
        (self.made > 0).then_some(Window {
            middle: self.clock - 0.5 * self.length,
            length: self.length,
            before: self.before,
            after: *given,
            told: self.told,
            mobility,
        })
    }

    /// Acceleration besides contact and what the engine is told of, at a time after the present one.
    pub fn expect(&self, after: f64) -> Twist<S> {
        let observer = &self.observers[usize::from(self.latency.windows)];
        observer.expect(self.clock + after, !self.response.stiff)
    }

    /// Takes a latency that has become known. Returns whether it is not the one assumed.
    fn learn_latency(&mut self, windows: u8, window: &Window<S>) -> bool {
        let changes = self.latency.windows != windows;
        if changes {
            let expected = self.observers[0].expect(window.middle, true).linear;
            let response = self.sent[0].force / window.mobility.mass;
            if windows == 1 && latency::is_impact(&response, &expected) {
                // The shadow goes on while the force is on its way.
                self.behind = true;
            }
        }
        self.latency.windows = windows;
        self.latency.known = true;
        changes
    }
}

/// Learns from the window that the master has just made. `latency` is the one that has become known in it.
pub fn observe<S: Scalar>(
    coupling: &mut CouplingState<S>,
    settings: &Kinetic,
    window: Window<S>,
    latency: Option<u8>,
) {
    let memory = &mut coupling.memory;
    memory.seen = memory.seen.saturating_add(1);
    let is_new = latency.is_some_and(|windows| memory.learn_latency(windows, &window));
    let windows = memory.latency.windows;
    let late = usize::from(windows);
    let contact = memory.sent[late];
    let follow_trend = !memory.response.stiff;
    let expected = memory.observers[late].expect(window.middle, follow_trend);
    let mean = (window.after.velocity - window.before.velocity) / S::from(window.length);

    let rule = memory.rule.see(&window, latency::is_impact(&mean, &expected.linear));
    let response = window.mobility.acceleration(&contact);
    memory.displacement = memory.displacement - response * S::from(rule * window.length * window.length);

    let mut window = window;
    let mut corrected = false;
    let mut error = None;
    if !is_new && window.mobility.mass.value().is_finite() {
        let surprise = window.besides(&contact) - expected;
        let force = Wrench {
            force: contact.force - memory.acted.force,
            torque: contact.torque - memory.acted.torque,
        };
        let change = window.mobility.acceleration(&force);
        let acts = window.mobility.acceleration(&contact);
        let was_stiff = memory.response.stiff;
        let factors = (memory.response.mass_factor, memory.response.inertia_factor);
        let (lesson, found) = memory.response.see(
            &surprise.linear,
            &acts.linear,
            &change.linear,
            &expected.linear,
            settings.adapt,
            windows,
        );
        error = found;
        corrected = lesson.corrected;
        // Without an impact to compare with, the smallest error of the master's rotation would count.
        let is_impact = latency::is_impact(&change.linear, &expected.linear);
        if settings.adapt && window.mobility.rotation.is_some() && is_impact {
            corrected |= memory.response.see_turning(
                &surprise.angular,
                &acts.angular,
                &change.angular,
                &expected.angular,
            );
        }
        if corrected {
            memory.ledger.void(1 + windows);
        }
        if lesson.by_impact {
            memory.hold = 1 + windows;
        }
        if memory.response.stiff && !was_stiff {
            memory.hold = 0;
        }
        let learned = &memory.response;
        window.mobility =
            window.mobility.scaled(learned.mass_factor / factors.0, learned.inertia_factor / factors.1);
        let besides = window.besides(&contact).linear;
        let by_contact = contact.force / window.mobility.mass;
        let was_stiff = memory.response.stiff;
        memory.response.see_spring(&window, besides, by_contact, &expected.linear, error, windows);
        if memory.response.stiff && !was_stiff {
            memory.hold = 0;
        }
    }
    if corrected {
        memory.observers.iter_mut().for_each(|observer| observer.skip(window.middle));
    } else {
        memory.see_besides(&window, is_new);
    }
    if is_new {
        memory.ledger.void(1 + windows);
    }
    let h = S::from(window.length);
    let half = S::from(0.5);
    let done = contact.force.dot(&((window.before.velocity + window.after.velocity) * half)) * h
        + contact.torque.dot(&((window.before.angular_velocity + window.after.angular_velocity) * half)) * h;
    let settled = memory.hold == 0 && memory.settles[late];
    memory.ledger.book(done, windows, settled, &mut coupling.diagnosis.energy_excess);
    memory.acted = contact;
    if let Some(error) = error {
        coupling.diagnosis.response_error = error;
    }
}

/// Foretells where the next force will act, over a step of `duration`. `told` is the external force that the engine is
/// told of; with `in_step` the engine's own bodies touch this one, and its shadow may not run ahead of them.
pub fn start<S: Scalar>(
    memory: &mut Memory<S>,
    given: &Motion<S>,
    mobility: &Mobility<S>,
    told: Wrench<S>,
    duration: f64,
    in_step: bool,
) -> Start<S> {
    let h = S::from(duration);
    let (mut foretold, mut ahead, mut span) = (*given, 0.0, duration);
    if memory.latency.windows == 1 {
        let on_its_way = mobility.acceleration(&memory.sent[0]);
        let besides = memory.expect(0.5 * duration) + mobility.acceleration(&told);
        if in_step {
            // A load that is held up changes nothing.
            let change = besides + on_its_way;
            foretold.velocity += change.linear * h;
            foretold.angular_velocity += change.angular * h;
        } else {
            let planned = if memory.planned > 0.0 { memory.planned } else { duration };
            span = duration.max(PLAN_MEMORY * planned + (1.0 - PLAN_MEMORY) * duration);
            memory.replan(duration, planned, &on_its_way, &besides);
            foretold = foretold.flown(&(besides + on_its_way), h, S::from(memory.rule.weight));
            ahead = duration;
        }
    }
    memory.planned = span;
    memory.open(*given, told, duration);
    let shadow = if memory.hold > 0 {
        memory.hold -= 1;
        memory.target
    } else {
        foretold.shifted(&memory.displacement, &memory.velocity)
    };
    Start { shadow, foretold, ahead, span }
}

impl<S: Scalar> Memory<S> {
    /// Moves what was planned for the end of a window of `planned` length to the end of one of `duration`, and the
    /// shadow over the whole window when it was not known to be one behind.
    fn replan(&mut self, duration: f64, planned: f64, on_its_way: &Twist<S>, besides: &Twist<S>) {
        if self.behind {
            self.target = self.target.flown(besides, S::from(duration), S::from(0.5));
            (self.behind, self.hold) = (false, 1);
            return;
        }
        let more = duration - planned;
        if more == 0.0 || self.resting {
            return;
        }
        let weight = self.rule.weight;
        let bent = more * planned - weight * (duration * duration - planned * planned);
        self.displacement = self.displacement
            + self.velocity * S::from(more)
            + (*besides + *on_its_way) * S::from(bent)
            + *besides * S::from(0.5 * more * more);
        self.velocity = self.velocity - *on_its_way * S::from(more);
        self.target = self.target.flown(besides, S::from(more), S::from(0.5));
    }
}

/// What a window has done to the shadow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<S: Scalar> {
    /// The shadow at its end.
    pub end: Motion<S>,
    /// Displacement and velocity there that contact has made; none without contact.
    pub contact: Option<(Twist<S>, Twist<S>)>,
    /// Impulse of the contacts.
    pub impulse: Wrench<S>,
    /// External force that the engine was told of, mean over it.
    pub told: Wrench<S>,
    /// Whether one is closed at its end.
    pub resting: bool,
}

/// Finds the force for the master to hold from what contact has done to the shadow.
pub fn finish<S: Scalar>(
    coupling: &mut CouplingState<S>,
    settings: &Kinetic,
    start: &Start<S>,
    mobility: &Mobility<S>,
    outcome: &Outcome<S>,
) {
    let Outcome { end, contact, impulse, told, resting } = *outcome;
    let memory = &mut coupling.memory;
    let h = S::from(start.span);
    let (shift, lag) = start.shadow.from(&start.foretold);
    let (moved, pushed) = contact.unwrap_or((Twist::zero(), Twist::zero()));
    let delivery = shaping::Delivery {
        displacement: moved + shift + lag * h,
        velocity: pushed + lag,
        span: start.span,
        weight: memory.rule.weight,
    };
    let shaped = settings.shaping && !memory.response.stiff;
    let mean = Wrench { force: impulse.force / h, torque: impulse.torque / h };
    let mut output = mobility.wrench(&delivery.acceleration(shaped), &mean);
    let response = mobility.acceleration(&output);
    (memory.displacement, memory.velocity) =
        if shaped { delivery.rest(&response) } else { (Twist::zero(), Twist::zero()) };
    if settings.latency == super::Latency::Auto && mobility.mass.value().is_finite() {
        let expected = memory.expect(start.ahead + 0.5 * start.span).linear;
        let velocity = &start.shadow.velocity;
        let probe = latency::probe(memory.made, &response.linear, &expected, velocity, start.span);
        output.force += probe * mobility.mass;
    }
    let besides = coupling.acceleration + mobility.acceleration(&told);
    let work = contact.map_or(S::zero(), |_| work_of_contact(&besides, start, mobility, &end));
    memory.ledger.expect(work);
    memory.target = end;
    memory.resting = resting;
    let speed = 1.0 + length(&end.velocity).value();
    memory.settles = [length(&memory.velocity.linear).value() < SETTLED * speed, memory.settles[0]];
    memory.close(output);
    coupling.output = output;
    coupling.diagnosis.latency = memory.latency.known.then_some(memory.latency.windows);
    coupling.diagnosis.mass = mobility.mass;
    coupling.diagnosis.shaping = (settings.shaping || settings.adapt) && !memory.response.stiff;
}

/// Change of the shadow's kinetic energy less what the accelerations besides contact have done.
fn work_of_contact<S: Scalar>(
    besides: &Twist<S>,
    start: &Start<S>,
    mobility: &Mobility<S>,
    end: &Motion<S>,
) -> S {
    let half = S::from(0.5);
    let before = &start.shadow;
    let (moved, _) = end.from(before);
    let applied = mobility.wrench(besides, &Wrench::zero());
    let mut work = S::zero();
    if mobility.mass.value().is_finite() {
        let sum = end.velocity + before.velocity;
        let kinetic = (end.velocity - before.velocity).dot(&sum) * half;
        work += mobility.mass * kinetic - applied.force.dot(&moved.linear);
    }
    if let Some((_, inertia)) = mobility.rotation
        && inertia.iter().all(|moment| moment.value().is_finite())
    {
        let energy = |motion: &Motion<S>| {
            let spin = motion.orientation.to_body(&motion.angular_velocity);
            spin.dot(&inertia.component_mul(&spin)) * half
        };
        work += energy(end) - energy(before) - applied.torque.dot(&moved.angular);
    }
    work
}
