//! What the engine has seen of a master: the windows that it made, the forces that it was sent, what came of them.

use super::guard::Ledger;
use super::latency::{self, LatencyMemory};
use super::observer::Observer;
use super::position_rule::PositionRule;
use super::response::Response;
use super::state::Motion;
use crate::engine::math::rotation::FreeRotation;
use crate::engine::math::twist::{Mobility, Twist, Wrench};
use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// What the engine has seen of the master.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory<S: Scalar> {
    /// Time since the first step.
    pub clock: f64,
    /// Windows that have been made.
    pub made: u32,
    /// Length of the last window, and the one that its force was made for.
    pub length: f64,
    pub planned: f64,
    /// Motion that the master gave for its start.
    pub before: Motion<S>,
    /// External force that the engine was told of, mean over it.
    pub told: Wrench<S>,
    /// Contact forces sent last, newest first, and the one that acted before the last window.
    pub sent: [Wrench<S>; 2],
    pub acted: Wrench<S>,
    /// Part of the newest one that is a probe, of which nothing is to be made up for.
    pub probe: Vector3<S>,
    /// Accelerations besides contact, if forces act at once or one window late.
    pub observers: [Observer<S>; 2],
    /// When forces act.
    pub latency: LatencyMemory,
    /// How the master moves bodies.
    pub rule: PositionRule,
    /// How the body responds.
    pub response: Response<S>,
    /// What forces have yet to deliver: displacement and velocity.
    pub displacement: Twist<S>,
    pub velocity: Twist<S>,
    /// The shadow at the end of the last window, and for how many windows it counts more than what the master gives.
    pub target: Motion<S>,
    pub hold: u8,
    /// Whether it is one window behind, because forces turned out to act late.
    pub behind: bool,
    /// Whether a contact of the body was closed there.
    pub resting: bool,
    /// Whether an impact has shown another response than that of a mass, since it was last looked at.
    pub refuted: bool,
    /// Whether the forces sent last leave nothing to deliver, newest first.
    pub settles: [bool; 2],
    /// Mean contact force of the last window.
    pub load: Wrench<S>,
    pub ledger: Ledger<S>,
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

impl<S: Scalar> Window<S> {
    /// Lengths that the position at the end was computed from, whose round-off it carries, with the acceleration besides
    /// contact, which contact may balance.
    pub fn position_scale(&self, besides: &Vector3<S>) -> f64 {
        let size = |vector: &Vector3<S>| length(vector).value();
        size(&self.after.position) + self.length * (size(&self.before.velocity) + self.length * size(besides))
    }

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

    /// Work of a contact force.
    pub fn work(&self, contact: &Wrench<S>) -> S {
        let (before, after) = (&self.before, &self.after);
        let (half, h) = (S::from(0.5), S::from(self.length));
        contact.force.dot(&((before.velocity + after.velocity) * half)) * h
            + contact.torque.dot(&((before.angular_velocity + after.angular_velocity) * half)) * h
    }

    /// Kinetic energy of the body's centre at its end; zero for one that does not respond.
    pub fn kinetic_energy(&self) -> f64 {
        let (mass, velocity) = (self.mobility.mass.value(), &self.after.velocity);
        if mass.is_finite() { 0.5 * mass * velocity.dot(velocity).value() } else { 0.0 }
    }
}

impl<S: Scalar> Memory<S> {
    /// Before the first window.
    pub fn new(start: Motion<S>, acceleration: Twist<S>, latency: Option<u8>) -> Memory<S> {
        Memory {
            clock: 0.0,
            made: 0,
            length: 0.0,
            planned: 0.0,
            before: start,
            told: Wrench::zero(),
            sent: [Wrench::zero(); 2],
            acted: Wrench::zero(),
            probe: Vector3::zeros(),
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
            refuted: false,
            settles: [true; 2],
            load: Wrench::zero(),
            ledger: Ledger::new(),
        }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Memory<T> {
        Memory {
            clock: self.clock,
            made: self.made,
            length: self.length,
            planned: self.planned,
            before: self.before.map(convert),
            told: self.told.map(convert),
            sent: self.sent.each_ref().map(|wrench| wrench.map(convert)),
            acted: self.acted.map(convert),
            probe: self.probe.map(convert),
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
            refuted: self.refuted,
            settles: self.settles,
            load: self.load.map(convert),
            ledger: self.ledger.map(convert),
        }
    }

    /// Starts from a guess of the acceleration besides contact.
    pub fn guess(&mut self, acceleration: Twist<S>) {
        self.observers = [Observer::new(acceleration); 2];
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
        let contact = &self.sent[usize::from(self.latency.windows)];
        self.ledger.book(window.work(contact), window.kinetic_energy(), 0, true, excess);
    }

    /// Notes what the force of the window at hand should do.
    pub fn expect_work(&mut self, work: S) {
        self.ledger.expect(work);
    }

    /// Motion that the master gave for the start of the last window.
    pub fn before(&self) -> Motion<S> {
        self.before
    }

    /// Ends it with the force for the master.
    pub fn close(&mut self, output: Wrench<S>) {
        self.sent = [output, self.sent[0]];
        self.probe = Vector3::zeros();
        self.clock += self.length;
        self.made = self.made.saturating_add(1);
    }

    /// Learns the mass at the end of a link from a window. Returns whether it was corrected.
    pub fn learn_link(&mut self, window: &Window<S>) -> bool {
        let late = usize::from(self.latency.windows);
        let contact = self.sent[late];
        let force = contact.force - self.acted.force;
        self.acted = contact;
        let expected = self.observers[late].expect(window.middle, false).linear;
        let surprise = window.besides(&contact).linear - expected;
        let factor = self.response.mass_factor;
        let corrected = self.response.see_link(&surprise, &(force / window.mobility.mass));
        // What is owed is an impulse.
        self.velocity.linear *= factor / self.response.mass_factor;
        corrected
    }

    /// Learns from a window the accelerations besides contact and, once clear, the latency. Returns how far the
    /// acceleration was from the one foretold, as a part of all there is; nothing if the mass has just been `corrected`.
    pub fn observe_only(&mut self, window: &Window<S>, latency: Option<u8>, corrected: bool) -> S {
        let is_late = latency.is_some_and(|windows| self.learn_latency(windows, window));
        if is_late {
            // The link has exchanged what is still on its way.
            self.velocity.linear += self.sent[0].force * S::from(self.length) / window.mobility.mass;
        }
        let is_new = is_late || corrected;
        let contact = self.sent[usize::from(self.latency.windows)];
        let observer = &self.observers[usize::from(self.latency.windows)];
        let expected = observer.expect(window.middle, !self.response.stiff).linear;
        let surprise = length(&(window.besides(&contact).linear - expected));
        let all = length(&expected) + length(&(contact.force / window.mobility.mass));
        self.see_besides(window, is_new);
        let is_rounding = surprise.value() <= f64::EPSILON * all.value();
        let part = if is_new || is_rounding { S::zero() } else { surprise / all };
        // Where nothing was foretold, what came is the whole.
        if part.value().is_finite() { part } else { S::one() }
    }

    pub fn see_besides(&mut self, window: &Window<S>, is_new: bool) {
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
    pub fn learn_latency(&mut self, windows: u8, window: &Window<S>) -> bool {
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
