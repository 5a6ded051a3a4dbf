//! One communication step of the coupled bodies: before it they are put where contact is to act on them, after it what
//! contact has done becomes the force for the master.

use super::compliant::Mirror;
use super::{compliant, energy, iterative, mechanism};
use crate::engine::contact::InverseMass;
use crate::engine::coupling::kinetic::{self, Start};
use crate::engine::coupling::latency::{self, LatencyMemory};
use crate::engine::coupling::{CouplingMode, Latency, Motion};
use crate::engine::law::ContactMode;
use crate::engine::math::rotation::{FreeRotation, Orientation};
use crate::engine::math::twist::{Mobility, Twist, Wrench};
use crate::engine::scalar::Scalar;
use crate::engine::state::State;
use crate::engine::system::{Island, System};
use nalgebra::Vector3;

/// What a coupled body needs during a step.
#[derive(Clone, Copy, Debug)]
pub struct Scratch<S: Scalar> {
    start: Start<S>,
    mobility: Mobility<S>,
    /// Substeps of the window.
    pub substeps: u32,
    /// The master's end of a link: over the window, and after one on trial.
    pub mirror: Mirror<S>,
    tried: Option<Mirror<S>>,
    /// Mass and inertia as the model says; during the step they are those by which the body responds.
    mass: S,
    inertia: Option<Vector3<S>>,
}

impl<S: Scalar> Scratch<S> {
    /// Not used yet.
    pub fn new() -> Scratch<S> {
        let nowhere = Motion {
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
            orientation: Orientation::identity(),
            angular_velocity: Vector3::zeros(),
        };
        Scratch {
            start: Start::at(nowhere, 0.0),
            mobility: Mobility { mass: S::one(), rotation: None },
            substeps: 1,
            mirror: Mirror::new(),
            tried: None,
            mass: S::one(),
            inertia: None,
        }
    }
}

/// Time between the present and the window over which an island is moved, its length and its substeps.
pub fn span<S: Scalar>(
    system: &System,
    state: &State<S>,
    island: &Island,
    scratch: &mut [Scratch<S>],
    duration: f64,
    substeps: u32,
) -> (f64, f64, u32) {
    let (mut ahead, mut span) = (0.0_f64, duration);
    let mut needed = f64::from(if island.iterates { 1 } else { substeps });
    for &index in &island.couplings {
        let start = &scratch[index].start;
        (ahead, span) = (ahead.max(start.ahead), span.max(start.span));
        let coupling = &system.couplings[index];
        if let CouplingMode::Compliant(link) = &coupling.mode {
            needed = needed.max(compliant::substeps(link, state.parameters.mass[coupling.node], duration));
        }
    }
    for &index in &island.couplings {
        scratch[index].substeps = needed as u32;
    }
    (ahead, span, needed as u32)
}

/// Readies the links of an island for a window on trial. Returns whether there is one whose master needs it.
pub fn onward<S: Scalar>(
    system: &System,
    state: &State<S>,
    island: &Island,
    scratch: &mut [Scratch<S>],
    duration: f64,
) -> bool {
    let mut needed = false;
    for &index in &island.couplings {
        if let CouplingMode::Compliant(_) = &system.couplings[index].mode
            && state.couplings[index].memory.latency.windows == 1
        {
            let mirror = scratch[index].mirror;
            scratch[index].tried = Some(mirror);
            scratch[index].mirror = compliant::onward(state, index, &mirror, duration);
            needed = true;
        }
    }
    needed
}

/// Learns from the last window and puts coupled bodies at the start of the next.
pub fn begin<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    scratch: &mut [Scratch<S>],
    together: &mut InverseMass<S>,
    duration: f64,
) {
    mechanism::learn(system, state, together);
    let mut is_struck = false;
    for (place, &node) in together.nodes().iter().enumerate() {
        let index = system.nodes[node].coupling.expect("a body of the master");
        is_struck |= mechanism::observe(system, state, together, index, place);
    }
    energy::book(system, state, together);
    if let Some(mechanism) = system.mechanism.as_ref().filter(|_| !together.is_empty()) {
        if is_struck && !mechanism.is_given {
            mechanism::make_up(system, state, together);
        }
        mechanism::replan(state, &mechanism.members, duration);
    }
    for island in system.islands.iter().filter(|island| !island.couplings.is_empty()) {
        let latency = find_latency(system, state, island);
        for &index in &island.couplings {
            let coupling = &system.couplings[index];
            let found = if state.couplings[index].memory.latency.known { None } else { latency };
            match &coupling.mode {
                CouplingMode::Kinetic(_) if together.place(coupling.node).is_some() => {
                    begin_member(system, state, scratch, together, index, duration, island.has_own);
                }
                CouplingMode::Kinetic(settings) => {
                    let mobility = response(system, state, index, &state.couplings[index].memory.before);
                    let given = state.couplings[index].given;
                    if let Some(window) = state.couplings[index].memory.window(&given, mobility) {
                        let gravity = held_gravity(system, state, index);
                        kinetic::observe(&mut state.couplings[index], settings, window, found, &gravity);
                    }
                    begin_kinetic(system, state, scratch, index, duration, island.has_own);
                }
                CouplingMode::Iterative => {
                    let start = Start::at(motion(system, state, coupling.node), duration);
                    scratch[index] = Scratch { start, ..declared(system, state, index) };
                    iterative::begin(system, state, index, duration);
                }
                CouplingMode::Compliant(link) => {
                    let mirror = compliant::begin(system, state, index, link, found, duration);
                    let shadow = motion(system, state, coupling.node);
                    scratch[index] = Scratch { start: Start::at(shadow, duration), mirror, ..Scratch::new() };
                }
            }
        }
    }
}

/// Gravity by which a body is probed that the master holds still: a point of a mechanism, which may be guided.
pub fn held_gravity<S: Scalar>(system: &System, state: &State<S>, index: usize) -> Vector3<S> {
    let is_of_mechanism = system.couplings[index].mode.is_of_mechanism();
    if is_of_mechanism { state.parameters.gravity } else { Vector3::zeros() }
}

/// The latency that one of the bodies of an island has made clear.
fn find_latency<S: Scalar>(system: &System, state: &mut State<S>, island: &Island) -> Option<u8> {
    let mut found = None;
    for &index in &island.couplings {
        let mobility = match &system.couplings[index].mode {
            CouplingMode::Compliant(link) => compliant::mobility(link, &state.couplings[index].memory),
            _ => response(system, state, index, &state.couplings[index].memory.before),
        };
        let coupling = &mut state.couplings[index];
        let memory = &mut coupling.memory;
        if memory.latency.known {
            found = found.or(Some(memory.latency.windows));
            if let Some(window) = memory.window(&coupling.given, mobility)
                && given_latency(&system.couplings[index].mode).is_some()
                && mobility.mass.value().is_finite()
            {
                latency::doubt(memory, &window);
            }
        } else if mobility.mass.value().is_finite()
            && let Some(window) = memory.window(&coupling.given, mobility)
        {
            let mechanism = system.couplings[index].mode.is_of_mechanism();
            found = found.or(latency::detect(memory, &window, mechanism));
        }
    }
    found
}

/// The latency that the model gives.
fn given_latency(mode: &CouplingMode) -> Option<u8> {
    match mode {
        CouplingMode::Kinetic(settings) => settings.latency.given(),
        CouplingMode::Compliant(link) => link.latency.given(),
        CouplingMode::Iterative => None,
    }
}

fn begin_member<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    scratch: &mut [Scratch<S>],
    together: &InverseMass<S>,
    index: usize,
    duration: f64,
    in_step: bool,
) {
    let node = system.couplings[index].node;
    let place = together.place(node).expect("one of them");
    let told_to = told_to(system);
    let start = mechanism::start(system, state, together, (index, place), told_to, duration, in_step);
    scratch[index] = Scratch { start, ..declared(system, state, index) };
    let members = &system.mechanism.as_ref().expect("one of them").members;
    let middle = start.ahead + 0.5 * start.span;
    let applied = together.response(place, |other| told_to(state, members[other], middle).force);
    let coupling = &mut state.couplings[index];
    coupling.acceleration = coupling.memory.expect(middle);
    coupling.acceleration.linear += applied;
    state.parameters.mass[node] = S::one() / together.mean(place);
    self::place(system, state, node, &start.shadow);
}

fn begin_kinetic<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    scratch: &mut [Scratch<S>],
    index: usize,
    duration: f64,
    in_step: bool,
) {
    let node = system.couplings[index].node;
    let rotation = system.nodes[node].rotation;
    let told = told(system, state, node, 0.5 * duration);
    let given = state.couplings[index].given;
    let mobility = response(system, state, index, &given);
    let start =
        kinetic::start(&mut state.couplings[index].memory, &given, &mobility, told, duration, in_step);
    let mobility = response(system, state, index, &start.shadow);
    scratch[index] = Scratch { start, mobility, ..declared(system, state, index) };
    let coupling = &mut state.couplings[index];
    coupling.acceleration = coupling.memory.expect(start.ahead + 0.5 * start.span);
    state.parameters.mass[node] = mobility.mass;
    if let (Some(rotation), Some((_, inertia))) = (rotation, mobility.rotation) {
        state.parameters.inertia[rotation] = inertia;
    }
    place(system, state, node, &start.shadow);
}

/// The same by coupling.
fn told_to<S: Scalar>(system: &System) -> impl Fn(&State<S>, usize, f64) -> Wrench<S> + Copy + '_ {
    move |state, index, after| told(system, state, system.couplings[index].node, after)
}

/// External force that the engine is told of, at a time after the present one.
fn told<S: Scalar>(system: &System, state: &State<S>, node: usize, after: f64) -> Wrench<S> {
    let torque = system.nodes[node].rotation.map(|rotation| state.torques[rotation].at(after));
    Wrench { force: state.inputs[node].at(after), torque: torque.unwrap_or_else(Vector3::zeros) }
}

/// Mass and inertia as the model says.
fn declared<S: Scalar>(system: &System, state: &State<S>, index: usize) -> Scratch<S> {
    let node = system.couplings[index].node;
    Scratch {
        mass: state.parameters.mass[node],
        inertia: system.nodes[node].rotation.map(|rotation| state.parameters.inertia[rotation]),
        ..Scratch::new()
    }
}

/// How a body responds to forces at a motion.
pub fn response<S: Scalar>(
    system: &System,
    state: &State<S>,
    index: usize,
    motion: &Motion<S>,
) -> Mobility<S> {
    let node = system.couplings[index].node;
    let response = &state.couplings[index].memory.response;
    let rotation = system.nodes[node].rotation;
    let declared = Mobility {
        mass: state.parameters.mass[node],
        rotation: rotation.map(|rotation| (motion.orientation, state.parameters.inertia[rotation])),
    };
    declared.scaled(response.mass_factor, response.inertia_factor)
}

/// The motion of a body.
pub fn motion<S: Scalar>(system: &System, state: &State<S>, node: usize) -> Motion<S> {
    let centre = &state.nodes[node];
    let turning = system.nodes[node].rotation.map(|rotation| &state.rotations[rotation]);
    Motion {
        position: centre.position,
        velocity: centre.velocity,
        orientation: turning.map_or_else(Orientation::identity, |turning| turning.orientation),
        angular_velocity: turning.map_or_else(Vector3::zeros, |turning| turning.angular_velocity),
    }
}

/// Puts a body into a motion.
pub fn place<S: Scalar>(system: &System, state: &mut State<S>, node: usize, motion: &Motion<S>) {
    let centre = &mut state.nodes[node];
    (centre.position, centre.velocity) = (motion.position, motion.velocity);
    if let Some(rotation) = system.nodes[node].rotation {
        let turning = &mut state.rotations[rotation];
        (turning.orientation, turning.angular_velocity) = (motion.orientation, motion.angular_velocity);
    }
}

/// Whether a body is pressed in a group.
fn touches_in_group<S: Scalar>(system: &System, state: &State<S>, node: usize) -> bool {
    state.points.iter().any(|point| {
        let sides = (point.node as usize, system.surfaces[point.surface as usize].body);
        point.mode != ContactMode::Open && (sides.0 == node || sides.1 == Some(node))
    })
}

/// Makes forces of what contact has done over the window.
pub fn end<S: Scalar>(
    system: &System,
    state: &mut State<S>,
    scratch: &[Scratch<S>],
    together: &InverseMass<S>,
    duration: f64,
) {
    for island in system.islands.iter().filter(|island| !island.couplings.is_empty()) {
        for &index in &island.couplings {
            let node = system.couplings[index].node;
            let impulse = impulse(system, state, node);
            match &system.couplings[index].mode {
                CouplingMode::Kinetic(_) if together.place(node).is_some() => {
                    let place = together.place(node).expect("one of them");
                    let Scratch { start, mass, .. } = &scratch[index];
                    let own = system.contacts.iter().zip(&state.contacts);
                    let resting = own.into_iter().any(|(contact, record)| {
                        contact.group().is_none()
                            && contact.sides().node == node
                            && record.mode != ContactMode::Open
                    });
                    let end = motion(system, state, node);
                    mechanism::note_push(system, state, place, node, &impulse.force);
                    mechanism::finish(state, together, (index, place), start, end, impulse.force, resting);
                    state.parameters.mass[node] = *mass;
                }
                CouplingMode::Kinetic(settings) => {
                    let Scratch { start, mobility, mass, inertia, substeps, .. } = &scratch[index];
                    let contact =
                        (!impulse.is_zero()).then(|| effect(system, state, index, start, *substeps));
                    let is_closed = |&contact: &usize| {
                        let sides = system.contacts[contact].sides();
                        let is_its = sides.node == node || system.surfaces[sides.surface].body == Some(node);
                        is_its && state.contacts[contact].mode != ContactMode::Open
                    };
                    let resting = island.contacts.iter().chain(&island.continuous).any(is_closed)
                        || (island.is_pile && touches_in_group(system, state, node));
                    let end = motion(system, state, node);
                    let told = told(system, state, node, start.ahead + 0.5 * start.span);
                    let gravity = held_gravity(system, state, index);
                    let outcome = kinetic::Outcome { end, contact, impulse, told, resting, gravity };
                    kinetic::finish(&mut state.couplings[index], settings, start, mobility, &outcome);
                    state.parameters.mass[node] = *mass;
                    if let (Some(rotation), Some(inertia)) = (system.nodes[node].rotation, *inertia) {
                        state.parameters.inertia[rotation] = inertia;
                    }
                }
                CouplingMode::Iterative => {
                    iterative::end(system, state, index, impulse, scratch[index].mass, duration);
                }
                CouplingMode::Compliant(link) => {
                    // On trial the mirror of the window itself is kept aside.
                    let (mirror, tried) = match &scratch[index].tried {
                        None => (&scratch[index].mirror, None),
                        Some(kept) => (kept, Some(&scratch[index].mirror)),
                    };
                    compliant::end(state, index, link, mirror, tried, duration);
                }
            }
        }
    }
    mechanism::probe(system, state, duration);
    mechanism::expect(system, state, together);
}

/// Impulse of the contacts of a body over the window.
pub fn impulse<S: Scalar>(system: &System, state: &State<S>, node: usize) -> Wrench<S> {
    let turning = system.nodes[node].rotation.map(|rotation| state.rotations[rotation].contact_impulse);
    Wrench { force: state.nodes[node].contact_impulse, torque: turning.unwrap_or_else(Vector3::zeros) }
}

/// Displacement and velocity at the end of the window against those without contact, in the engine's own substeps.
fn effect<S: Scalar>(
    system: &System,
    state: &State<S>,
    index: usize,
    start: &Start<S>,
    substeps: u32,
) -> (Twist<S>, Twist<S>) {
    let node = system.couplings[index].node;
    let rotation = system.nodes[node].rotation;
    let theta = system.settings.theta;
    let acceleration = state.couplings[index].acceleration;
    let mut free = start.shadow;
    let length = start.span / f64::from(substeps);
    let h = S::from(length);
    for substep in 0..substeps {
        let at = start.ahead + (f64::from(substep) + theta) * length;
        let linear = acceleration.linear + state.inputs[node].at(at) / state.parameters.mass[node];
        free.position += (free.velocity + linear * (h * S::from(theta))) * h;
        free.velocity += linear * h;
        if let Some(rotation) = rotation {
            let turning = FreeRotation {
                orientation: free.orientation,
                angular_velocity: free.angular_velocity,
                inertia: state.parameters.inertia[rotation],
                torque: state.torques[rotation].at(at),
                acceleration: Some(acceleration.angular),
            };
            let (mean, end) = turning.over(h);
            free.orientation = free.orientation.turned(&(mean * h));
            free.angular_velocity = end;
        }
    }
    motion(system, state, node).from(&free)
}

/// Tells for all bodies when their master applies forces, whatever the model says: after so many communication steps.
/// The state has to be one from before the first step.
pub fn set_latency<S: Scalar>(system: &mut System, state: &mut State<S>, windows: u8) {
    for (entry, coupling) in system.couplings.iter_mut().zip(&mut state.couplings) {
        match &mut entry.mode {
            CouplingMode::Kinetic(settings) => settings.latency = Latency::Known(windows),
            CouplingMode::Compliant(link) => link.latency = Latency::Known(windows),
            CouplingMode::Iterative => continue,
        }
        coupling.memory.latency = LatencyMemory::new(Some(windows));
        coupling.diagnosis.latency = Some(windows);
    }
}
