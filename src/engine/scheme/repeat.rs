//! A substep that changes nothing repeats itself: `x = F(x)` makes `F(F(x)) = F(x)`.
//!
//! Where an island starts a substep at rest, all bits that the substep depends on are listed: motion, forces, parameters,
//! what contacts remember. If they are the same after it, and the next one finds them unchanged again, that one is not
//! computed: it would do what the last one did. Nothing else is assumed, so that results are the same to the last bit
//! with or without the list, and it need not be saved with the state.

use crate::engine::inputs::Input;
use crate::engine::law::ContactMode;
use crate::engine::scalar::Scalar;
use crate::engine::settings::Scheme;
use crate::engine::state::{ContactRecord, State, StepRecord};
use crate::engine::system::{Island, System};
use nalgebra::{SVector, Vector3};

/// The last substep of an island that began at rest.
#[derive(Clone, Debug)]
pub struct Repeat<S: Scalar> {
    /// Whether it repeats itself.
    is_known: bool,
    /// All that it started from, and what it has taken.
    start: Vec<u64>,
    /// What it did to its contacts, and to its nodes and their rotations.
    contacts: Vec<ContactRecord<S>>,
    impulses: Vec<Vector3<S>>,
    /// The same to touching points of groups.
    points: Vec<Vector3<f64>>,
    step: StepRecord<S>,
}

impl<S: Scalar> Repeat<S> {
    /// Nothing yet, with room for what islands of `system` likely need.
    pub fn of_islands(system: &System) -> Vec<Repeat<S>> {
        /// Numbers of a node, of a contact, of a touching point.
        const NODE: usize = 32;
        const CONTACT: usize = 4;
        const POINT: usize = 3;
        let resting = system.islands.iter().filter(|island| island.rest.is_some());
        resting
            .map(|island| {
                let contacts = contacts(system, island).count();
                let points: usize =
                    island.contacts.iter().map(|&contact| system.contacts[contact].places()).sum();
                let numbers = NODE * (1 + island.nodes.len()) + CONTACT * contacts + POINT * points;
                Repeat {
                    is_known: false,
                    start: Vec::with_capacity(numbers),
                    contacts: Vec::with_capacity(contacts),
                    impulses: Vec::with_capacity(2 * island.nodes.len()),
                    points: Vec::new(),
                    step: StepRecord::none(),
                }
            })
            .collect()
    }

    /// Repeats the last substep if nothing has changed since. Otherwise returns false, and what the substep will start
    /// from is listed if it may repeat itself; see [`Repeat::end`].
    // Not inlined, like the next one: steps of point masses stay short.
    #[inline(never)]
    pub fn begin(
        &mut self,
        system: &System,
        island: &Island,
        state: &mut State<S>,
        (length, offset): (f64, f64),
    ) -> bool {
        let is_steady = is_steady(system, island, state);
        if is_steady && self.is_known && self.is_at_start(system, island, state, length) {
            self.write(system, island, state);
            return true;
        }
        self.is_known = false;
        self.start.clear();
        // Only the first substep of a step finds the records of the step empty.
        let is_first = offset == 0.0;
        if is_first && is_steady {
            list(system, island, state, length, &mut |bits| self.start.push(bits));
            self.step = state.step;
            (state.step.iterations, state.step.residual, state.step.penetration) = (0, 0.0, S::zero());
        }
        false
    }

    /// Finds out whether the substep that [`Repeat::begin`] has seen repeats itself.
    #[inline(never)]
    pub fn end(&mut self, system: &System, island: &Island, state: &mut State<S>, length: f64) {
        if self.start.is_empty() {
            return;
        }
        self.is_known = self.is_at_start(system, island, state, length);
        if self.is_known {
            self.contacts.clear();
            self.contacts.extend(contacts(system, island).map(|contact| state.contacts[contact]));
            self.impulses.clear();
            for &node in &island.nodes {
                self.impulses.push(state.nodes[node].contact_impulse);
                if let Some(rotation) = system.nodes[node].rotation {
                    self.impulses.push(state.rotations[rotation].contact_impulse);
                }
            }
            self.points.clear();
            if island.is_pile {
                self.points.extend(state.points.iter().map(|point| point.impulse));
            }
        }
        let before = std::mem::replace(&mut self.step, state.step);
        add_effort(&mut state.step, &before);
    }

    fn is_at_start(&self, system: &System, island: &Island, state: &State<S>, length: f64) -> bool {
        let mut known = self.start.iter();
        let mut is_same = true;
        list(system, island, state, length, &mut |bits| is_same &= known.next() == Some(&bits));
        is_same && known.next().is_none()
    }

    /// Does to the records of the step what the last substep did.
    fn write(&self, system: &System, island: &Island, state: &mut State<S>) {
        for (contact, done) in contacts(system, island).zip(&self.contacts) {
            let record = &mut state.contacts[contact];
            record.normal_impulse += done.normal_impulse;
            record.tangential_impulse += done.tangential_impulse;
            (record.mode, record.slip) = (done.mode, done.slip);
        }
        let mut impulses = self.impulses.iter();
        for &node in &island.nodes {
            state.nodes[node].contact_impulse += impulses.next().expect("one a node");
            if let Some(rotation) = system.nodes[node].rotation {
                state.rotations[rotation].contact_impulse += impulses.next().expect("one a rotation");
            }
        }
        for (point, impulse) in state.points.iter_mut().zip(&self.points) {
            point.impulse += impulse;
        }
        add_effort(&mut state.step, &self.step);
    }
}

/// Whether nothing of an island moves and what acts on it does not change within a step.
#[inline]
fn is_steady<S: Scalar>(system: &System, island: &Island, state: &State<S>) -> bool {
    let are_none = |values: &Vector3<S>| values.iter().all(|x| x.is_zero());
    let is_constant = |input: &Input<S>| input.derivatives.iter().all(are_none);
    let rests = |&node: &usize| {
        are_none(&state.nodes[node].velocity)
            && (!state.inputs.are_given() || is_constant(&state.inputs[node]))
            && system.nodes[node].rotation.is_none_or(|rotation| {
                are_none(&state.rotations[rotation].angular_velocity) && is_constant(&state.torques[rotation])
            })
    };
    matches!(system.settings.scheme, Scheme::MoreauJean) && island.nodes.iter().all(rests)
}

/// Contacts of an island, groups too.
fn contacts<'a>(system: &'a System, island: &'a Island) -> impl Iterator<Item = usize> + 'a {
    let groups = system.pile.as_ref().filter(|_| island.is_pile);
    island.contacts.iter().copied().chain(groups.into_iter().flat_map(|pile| pile.contacts()))
}

/// All bits that a substep of an island at rest depends on, and of what it takes.
fn list<S: Scalar>(
    system: &System,
    island: &Island,
    state: &State<S>,
    length: f64,
    found: &mut impl FnMut(u64),
) {
    let record = &state.step;
    found(length.to_bits());
    for taken in [record.dissipated, record.dissipated_by_friction, record.dissipated_by_damping] {
        taken.bits(found);
    }
    let parameters = &state.parameters;
    list_vector(&parameters.gravity, found);
    for &node in &island.nodes {
        let motion = &state.nodes[node];
        parameters.mass[node].bits(found);
        list_vector(&motion.position, found);
        list_vector(&motion.velocity, found);
        if state.inputs.are_given() {
            list_vector(&state.inputs[node].value, found);
        }
        if let Some(rotation) = system.nodes[node].rotation {
            let motion = &state.rotations[rotation];
            list_vector(&parameters.inertia[rotation], found);
            list_vector(&state.torques[rotation].value, found);
            list_vector(&SVector::from(motion.orientation.wxyz), found);
            list_vector(&motion.angular_velocity, found);
        }
    }
    for contact in contacts(system, island) {
        parameters.mu[contact].bits(found);
        parameters.restitution[contact].bits(found);
        found(mode_bits(state.contacts[contact].mode));
        let first = system.first_points[contact];
        let places = first..first + system.contacts[contact].places();
        state.guesses[places].iter().for_each(|guess| list_vector(guess, found));
    }
    if island.is_pile {
        for point in &state.points {
            for index in [point.contact, point.node, point.surface, point.point] {
                found(u64::from(index));
            }
            found(mode_bits(point.mode));
            found(u64::from(point.held));
            point.slip.bits(found);
        }
        let own = state.guesses.iter().skip(system.pair_points);
        own.for_each(|guess| list_vector(guess, found));
    }
}

fn mode_bits(mode: ContactMode) -> u64 {
    match mode {
        ContactMode::Open => 0,
        ContactMode::Stick => 1,
        ContactMode::Slip => 2,
    }
}

fn list_vector<S: Scalar, const N: usize>(vector: &SVector<S, N>, found: &mut impl FnMut(u64)) {
    vector.iter().for_each(|x| x.bits(found));
}

/// Adds what one substep took to what others have taken.
fn add_effort<S: Scalar>(record: &mut StepRecord<S>, other: &StepRecord<S>) {
    record.iterations = record.iterations.saturating_add(other.iterations);
    record.residual = record.residual.max(other.residual);
    if other.penetration.value() > record.penetration.value() {
        record.penetration = other.penetration;
    }
}
