//! State in, force out, for a master that owns the mass and never repeats a step.
//!
//! The engine keeps a shadow of the body: where it is when contact acts as it should. Each step
//! 1. looks at what the last force has done ([`observer`](super::observer), [`latency`],
//!    [`response`](super::response), [`position_rule`](super::position_rule), [`guard`](super::guard));
//! 2. foretells where the master will have the body when the next force starts to act, and adds what earlier forces
//!    have yet to deliver: that is the shadow;
//! 3. moves the shadow through contact over the window, as any other body;
//! 4. finds the force that takes the master's body to the shadow ([`shaping`]).
//!
//! With the right mass and acceleration this is the engine's own scheme at the communication step: nothing is lost.
//!
//! A shadow that touches the engine's own bodies moves in the present window with them, even where forces act one window
//! late. Then what contact does in it is due at its end, less what the force on its way delivers there, and the force that
//! is found acts after it. A load that lasts is sent beforehand, so that a shadow at rest is where the master's body is.

use super::latency;
use super::memory::{Memory, Window};
use super::shaping;
use super::state::Motion;
use super::{CouplingState, Kinetic};
use crate::engine::math::twist::{Mobility, Twist, Wrench};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

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
    /// Whether the force that is found acts after it.
    pub acts_after: bool,
}

impl<S: Scalar> Start<S> {
    /// A window that starts now from a motion that the engine knows.
    pub fn at(motion: Motion<S>, duration: f64) -> Start<S> {
        Start { shadow: motion, foretold: motion, ahead: 0.0, span: duration, acts_after: false }
    }
}

/// How planned lengths of windows follow shorter ones.
const PLAN_MEMORY: f64 = 0.8;

/// Learns from the window that the master has just made. `latency` is the one that has become known in it.
pub fn observe<S: Scalar>(
    coupling: &mut CouplingState<S>,
    settings: &Kinetic,
    window: Window<S>,
    latency: Option<u8>,
    gravity: &Vector3<S>,
) {
    let least = latency::most_probed(gravity).max(TOLERANCES.negligible);
    let memory = &mut coupling.memory;
    let is_new = latency.is_some_and(|windows| memory.learn_latency(windows, &window));
    let windows = memory.latency.windows;
    let late = usize::from(windows);
    let contact = memory.sent[late];
    let follow_trend = !memory.response.stiff;
    let expected = memory.observers[late].expect(window.middle, follow_trend);
    let mean = (window.after.velocity - window.before.velocity) / S::from(window.length);

    let rule = memory.rule.see(&window, &expected.linear, latency::is_impact(&mean, &expected.linear));
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
        let was_stiff = memory.response.stiff;
        let factors = (memory.response.mass_factor, memory.response.inertia_factor);
        let (by_mass, found) = memory.response.see(
            &surprise.linear,
            &response.linear,
            &change.linear,
            (&expected.linear, least),
            settings.adapt,
            windows,
        );
        error = found;
        corrected = by_mass;
        // Without an impact to compare with, the smallest error of the master's rotation would count.
        let is_impact = latency::is_impact(&change.linear, &expected.linear);
        if settings.adapt && window.mobility.rotation.is_some() && is_impact {
            corrected |= memory.response.see_turning(
                &surprise.angular,
                &response.angular,
                &change.angular,
                (&expected.angular, TOLERANCES.negligible),
            );
        }
        if corrected {
            memory.ledger.void(1 + windows);
        }
        if by_mass {
            // What is still to come has to make up for what went wrong.
            memory.hold = 1 + windows;
        }
        let learned = &memory.response;
        if by_mass {
            memory.ledger.rescale(learned.mass_factor / factors.0);
        }
        window.mobility =
            window.mobility.scaled(learned.mass_factor / factors.0, learned.inertia_factor / factors.1);
        let besides = window.besides(&contact).linear;
        let by_contact = contact.force / window.mobility.mass;
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
    let settled = memory.hold == 0 && memory.settles[late];
    let excess = &mut coupling.diagnosis.energy_excess;
    memory.ledger.book(window.work(&contact), window.kinetic_energy(), windows, settled, excess);
    memory.acted = contact;
    if let Some(error) = error {
        coupling.diagnosis.response_error = error;
        memory.refuted |= error.value() > super::operator::KNOWN && !memory.response.is_on_stiff_spring();
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
    let acts_after = in_step && memory.latency.windows == 1;
    if acts_after {
        memory.stay();
    } else if memory.latency.windows == 1 {
        let on_its_way = mobility.acceleration(&memory.sent[0]);
        let besides = memory.expect(0.5 * duration) + mobility.acceleration(&told);
        let planned;
        (planned, span) = plan(memory, duration);
        let made_for = Wrench { force: memory.sent[0].force - memory.probe, ..memory.sent[0] };
        memory.replan(duration, planned, &mobility.acceleration(&made_for), &besides);
        foretold = foretold.flown(&(besides + on_its_way), h, S::from(memory.rule.weight));
        ahead = duration;
    }
    memory.planned = span;
    memory.open(*given, told, duration);
    let shadow = if memory.hold > 0 {
        memory.hold -= 1;
        memory.target
    } else {
        foretold.shifted(&memory.displacement, &memory.velocity)
    };
    Start { shadow, foretold, ahead, span, acts_after }
}

/// The length for which the last force was made, and the one for which the next one is, where the window at hand takes
/// `duration`.
pub fn plan<S: Scalar>(memory: &Memory<S>, duration: f64) -> (f64, f64) {
    let planned = if memory.planned > 0.0 { memory.planned } else { duration };
    (planned, duration.max(PLAN_MEMORY * planned + (1.0 - PLAN_MEMORY) * duration))
}

impl<S: Scalar> Memory<S> {
    /// Starts a window whose force acts after it.
    fn stay(&mut self) {
        if self.made == 0 {
            // The first force is that of this window.
            (self.displacement, self.velocity) = (Twist::zero(), Twist::zero());
        }
        if std::mem::take(&mut self.behind) {
            self.hold = 1;
        }
    }

    /// What of the contact force of a window is there in the next one too, as far as the last one tells.
    fn lasting(&self, mean: &Wrench<S>) -> Wrench<S> {
        let size = |wrench: &Wrench<S>| length(&wrench.force).value();
        if size(mean) < size(&self.load) { *mean } else { self.load }
    }

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
    /// Gravity by which a body is probed that is held still.
    pub gravity: Vector3<S>,
}

/// Finds the force for the master to hold from what contact has done to the shadow.
pub fn finish<S: Scalar>(
    coupling: &mut CouplingState<S>,
    settings: &Kinetic,
    start: &Start<S>,
    mobility: &Mobility<S>,
    outcome: &Outcome<S>,
) {
    let Outcome { end, contact, impulse, told, resting, gravity } = *outcome;
    let memory = &mut coupling.memory;
    let h = S::from(start.span);
    let (shift, lag) = start.shadow.from(&start.foretold);
    let (moved, pushed) = contact.unwrap_or((Twist::zero(), Twist::zero()));
    let weight = memory.rule.weight;
    let mut delivery = shaping::Delivery {
        displacement: moved + shift + lag * h,
        velocity: pushed + lag,
        span: start.span,
        weight,
    };
    let shaped = settings.shaping && !memory.response.stiff;
    let mean = Wrench { force: impulse.force / h, torque: impulse.torque / h };
    let mut output;
    let response;
    if start.acts_after {
        let on_its_way = mobility.acceleration(&memory.sent[0]);
        let (displacement, velocity) = delivery.rest(&on_its_way);
        (memory.displacement, memory.velocity) =
            (if shaped { displacement } else { Twist::zero() }, velocity);
        delivery.displacement = displacement + velocity * h;
        delivery.velocity = velocity;
        output = mobility.wrench(&delivery.acceleration(shaped), &mean);
        if mobility.mass.value().is_finite() {
            output = output + memory.lasting(&mean);
        }
        response = mobility.acceleration(&output);
    } else {
        output = mobility.wrench(&delivery.acceleration(shaped), &mean);
        response = mobility.acceleration(&output);
        (memory.displacement, memory.velocity) =
            if shaped { delivery.rest(&response) } else { (Twist::zero(), Twist::zero()) };
    }
    memory.load = mean;
    if settings.latency == super::Latency::Auto && mobility.mass.value().is_finite() {
        let expected = memory.expect(start.ahead + 0.5 * start.span).linear;
        let velocity = &start.shadow.velocity;
        let probe = latency::probe(memory, &response.linear, &expected, velocity, &gravity, start.span);
        output.force += probe * mobility.mass;
    }
    let besides = coupling.acceleration + mobility.acceleration(&told);
    let work = contact.map_or(S::zero(), |_| work_of_contact(&besides, start, mobility, &end));
    memory.ledger.expect(work);
    memory.target = end;
    memory.resting = resting;
    let speed = 1.0 + length(&end.velocity).value();
    memory.settles =
        [length(&memory.velocity.linear).value() < TOLERANCES.negligible * speed, memory.settles[0]];
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
