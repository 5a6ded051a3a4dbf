//! The engine owns the mass that touches; a spring and a damper, the same in all directions, join it to the master's:
//! `f = k (r_b - r) + d (v_b - v)`, unstretched at the start. The master's node b comes in, the force `-f` on it goes out.
//!
//! Over a window the master's mass is mirrored: `m_b v_b' = m_b a - f`, with `a` from the
//! `observer`. Spring and damper are implicit in each interval, as in the engine's scheme,
//!
//! `f = k (x + theta dt (u + theta du)) + d (u + theta du)`, with `x = r_b - r`, `u = v_b - v`,
//!
//! so that impulses p move the node by `W p`, `W = 1/m - dt c / (m^2 n)`, `c = k theta^2 dt + d theta`,
//! `n = 1 + c dt (1/m + 1/m_b)`. Stable for any stiffness.
//!
//! Where forces act one window late, the mirror moves as the force on its way will move it, and the next force is found
//! by moving on into the next window on trial. What the link has exchanged and the master has not is owed, and part of
//! it is added each time: the whole of it would make stiff links grow, none would lose momentum.

use crate::engine::coupling::Link;
use crate::engine::coupling::latency;
use crate::engine::coupling::memory::{Memory, Window};
use crate::engine::math::twist::{Mobility, Wrench};
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::System;
use nalgebra::Vector3;

/// The master's end of a link and the interval at hand.
#[derive(Clone, Copy, Debug)]
pub struct Mirror<S: Scalar> {
    position: Vector3<S>,
    velocity: Vector3<S>,
    /// Besides the link, or with the force on its way in place of it.
    acceleration: Vector3<S>,
    /// Whether the link moves it.
    responds: bool,
    /// Mass by which it responds.
    mass: S,
    /// Impulse of the link on the master over the window, and its work.
    impulse: Vector3<S>,
    work: S,
    /// Force of the link on the node over the interval without contact, and how it falls with the contact's impulse.
    force: Vector3<S>,
    slope: S,
    /// Velocity of the node after the interval without contact.
    free: Vector3<S>,
}

/// Largest `h omega` of the link in one substep.
const RESOLVED: f64 = 0.1;
/// Most substeps for that.
const MOST: f64 = 1e4;
/// Largest `H omega` of the link for which the trend of what the master applies is followed if forces act late.
const STIFF: f64 = 0.3;
/// Part of what is owed that is delivered in a window.
const CATCH_UP: f64 = 0.5;

impl<S: Scalar> Mirror<S> {
    /// Not used yet.
    pub fn new() -> Mirror<S> {
        Mirror {
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
            acceleration: Vector3::zeros(),
            responds: true,
            mass: S::one(),
            impulse: Vector3::zeros(),
            work: S::zero(),
            force: Vector3::zeros(),
            slope: S::zero(),
            free: Vector3::zeros(),
        }
    }

    /// Takes the spring into the proposal of an interval. Returns velocity and mobility of the node.
    pub fn propose(
        &mut self,
        link: &Link,
        theta: f64,
        dt: S,
        node: (&Vector3<S>, &Vector3<S>),
        acceleration: &Vector3<S>,
        mass: S,
    ) -> (Vector3<S>, S) {
        let (position, velocity) = node;
        let (stiffness, damping, theta) = (S::from(link.stiffness), S::from(link.damping), S::from(theta));
        let stretch = self.position - position;
        let speed = self.velocity - velocity;
        let growth = stiffness * theta * theta * dt + damping * theta;
        let inverse = S::one() / mass;
        let other = if self.responds { S::one() / self.mass } else { S::zero() };
        let norm = S::one() + growth * dt * (inverse + other);
        let start = (stretch + speed * (theta * dt)) * stiffness + speed * damping;
        self.force = (start + (self.acceleration - acceleration) * (growth * dt)) / norm;
        self.slope = growth * inverse / norm;
        self.free = velocity + (acceleration + self.force * inverse) * dt;
        (self.free, inverse - dt * inverse * self.slope)
    }

    /// Moves the mirror over the interval after which the node has `velocity`.
    pub fn accept(&mut self, theta: f64, dt: S, velocity: &Vector3<S>, mobility: S) {
        let impulse = (velocity - self.free) / mobility;
        let force = self.force - impulse * self.slope;
        let mut change = self.acceleration * dt;
        if self.responds {
            change -= force * (dt / self.mass);
        }
        self.position += (self.velocity + change * S::from(theta)) * dt;
        self.impulse -= force * dt;
        self.work -= force.dot(&(self.velocity + change * S::from(0.5))) * dt;
        self.velocity += change;
    }
}

/// Substeps that resolve the link over a window.
pub fn substeps<S: Scalar>(link: &Link, mass: S, duration: f64) -> f64 {
    let frequency = (link.stiffness * (1.0 / mass.value() + 1.0 / link.master_mass)).sqrt();
    (duration * frequency / RESOLVED).ceil().min(MOST)
}

/// Learns from the last window and puts the mirror where the master has its node.
pub fn begin<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    index: usize,
    link: &Link,
    found: Option<u8>,
    duration: f64,
) -> Mirror<S> {
    let node = system.couplings[index].node;
    let told = Wrench { force: state.inputs[node].at(0.5 * duration), torque: Vector3::zeros() };
    let mass = state.parameters.mass[node];
    let coupling = &mut state.couplings[index];
    let given = coupling.given;
    let memory = &mut coupling.memory;
    let is_stiff = substeps(link, mass, duration) > STIFF / RESOLVED;
    let declared = mobility(link, memory);
    if let Some(window) = memory.window(&given, declared) {
        // In shorter steps a wrong mass does little, and other forces on the master look like one.
        let corrected = is_stiff && memory.learn_link(&window);
        let window = Window { mobility: mobility(link, memory), ..window };
        coupling.diagnosis.response_error = memory.observe_only(&window, found, corrected);
        memory.book(&window, &mut coupling.diagnosis.energy_excess);
    }
    let mobility = mobility(link, memory);
    let late = memory.latency.windows == 1;
    // Late forces and a stiff link together would make a trend grow.
    memory.response.stiff = late && is_stiff;
    let acceleration = memory.expect(0.5 * duration).linear + told.force / mobility.mass;
    let on_its_way = if late { memory.sent[0].force / mobility.mass } else { Vector3::zeros() };
    memory.open(given, told, duration);
    Mirror {
        position: given.position,
        velocity: given.velocity,
        acceleration: acceleration + on_its_way,
        responds: !late,
        mass: mobility.mass,
        ..Mirror::new()
    }
}

/// The mirror at the start of a window on trial, in which the link moves it.
pub fn onward<S: Scalar>(state: &State<S>, index: usize, mirror: &Mirror<S>, duration: f64) -> Mirror<S> {
    let memory = &state.couplings[index].memory;
    let acceleration = memory.expect(1.5 * duration).linear + memory.told.force / mirror.mass;
    Mirror { acceleration, responds: true, impulse: Vector3::zeros(), ..*mirror }
}

/// Makes the force for the master: `tried` is the mirror after a window on trial, where forces act late.
pub fn end<S: Scalar>(
    state: &mut State<S>,
    index: usize,
    link: &Link,
    mirror: &Mirror<S>,
    tried: Option<&Mirror<S>>,
    duration: f64,
) {
    let coupling = &mut state.couplings[index];
    let memory = &mut coupling.memory;
    let (h, mass) = (S::from(duration), mirror.mass);
    let mut force = match tried {
        None => mirror.impulse / h,
        Some(tried) => {
            let owed = memory.owe(mirror.impulse - memory.sent[0].force * h, mass);
            (tried.impulse + owed * S::from(CATCH_UP)) / h
        }
    };
    if link.latency == crate::engine::coupling::Latency::Auto {
        let (expected, velocity) = (&mirror.acceleration, &mirror.velocity);
        // The force of the link is smooth and does not hide it.
        force +=
            latency::probe(memory, &Vector3::zeros(), expected, velocity, &Vector3::zeros(), duration) * mass;
    }
    let output = Wrench { force, torque: Vector3::zeros() };
    memory.expect_work(mirror.work);
    memory.close(output);
    coupling.output = output;
    coupling.diagnosis.latency = memory.latency.known.then_some(memory.latency.windows);
    coupling.diagnosis.mass = mass;
    coupling.diagnosis.shaping = false;
}

/// How the master's node answers to forces.
pub fn mobility<S: Scalar>(link: &Link, memory: &Memory<S>) -> Mobility<S> {
    Mobility { mass: S::from(link.master_mass) * memory.response.mass_factor, rotation: None }
}
