//! The balance of energy over an interval in which nothing from outside does work.
//!
//! Impulses act midway and what they hold is held at the end, so that over an interval joints and contacts that stay
//! closed, stick or roll do a little work, of either sign and of the order of the scheme; displacements that correct
//! positions move weights. Physics has none of it: all that takes energy is impact, sliding and damping. So after an
//! interval the motion is scaled such that its energy is that before it, less what these took. Rows of closed contacts,
//! rolling and joints are homogeneous in the velocities and stay satisfied; the change is of the order of the error.
//! [Baumgarte 1972 for smooth motion; Eich 1993 on projection onto invariants]
//!
//! Only motion that carries no momentum that is kept is scaled: of what nothing outside touches, not the motion as one
//! rigid body; of what fixed surfaces hold up without friction, neither sliding on them as one body nor turning about
//! their normal. Translation on its own and the free rotation of a body ([`FreeRotation`]) keep energy by themselves.
//!
//! [`FreeRotation`]: crate::engine::math::rotation::FreeRotation

use super::IslandStep;
use crate::engine::contact::{Impulse, Touch};
use crate::engine::inputs::Input;
use crate::engine::law::ContactMode;
use crate::engine::math::rotation::{angular_momentum, cross_matrix, solve};
use crate::engine::scalar::{Scalar, length};
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::state::StepRecord;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};

/// Parts of the energy of motion that an interval may lose or win by scaling: motion that has come to rest all but for
/// round-off is not made to move.
const MOST_TAKEN: f64 = 0.5;
const MOST_GIVEN: f64 = TOLERANCES.coarse;
/// Errors below this part of the energies are round-off.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// An island before an interval.
#[derive(Clone, Copy, Debug)]
pub struct Account<S> {
    energy: S,
    dissipated: S,
    outside: Outside<S>,
}

/// What acts on an island from outside over an interval, besides weight.
#[derive(Clone, Copy, Debug)]
enum Outside<S> {
    /// No more than impulses along these normals.
    Along { normals: [Vector3<S>; 2], count: usize },
    /// Impulses in any direction.
    Anything,
}

/// Whether all that changes the energy of an island is known to be its own, and the scheme does not dissipate on purpose.
/// Springs keep what they keep.
// Not inlined: steps of point masses stay short.
#[inline(never)]
pub fn is_due<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    let IslandStep { system, island, state, .. } = step;
    let is_conserving = match system.settings.scheme {
        Scheme::Midpoint { .. } => true,
        Scheme::MoreauJean => system.settings.theta == 0.5,
        Scheme::Multistep { .. } | Scheme::Hht { .. } => false,
    };
    let is_own = |&node: &usize| {
        let rotation = system.nodes[node].rotation;
        state.parameters.mass[node].value().is_finite()
            && !(state.inputs.are_given() && state.inputs[node] != Input::zero())
            && rotation.is_none_or(|rotation| {
                state.torques[rotation] == Input::zero()
                    && state.parameters.inertia[rotation].iter().all(|moment| moment.value().is_finite())
            })
    };
    // A contact or a bristle that yields stores energy.
    let is_rigid = |&contact: &usize| {
        let contact = &system.contacts[contact];
        contact.normal_stiffness.is_infinite() && contact.friction.threshold().is_none()
    };
    let is_driven = |linkage: usize| {
        let linkage = &system.linkages[linkage];
        let motors = linkage.joints.iter().any(|&joint| system.ties.joints[joint].motor.is_some());
        motors || !linkage.springs.is_empty()
    };
    let turns = || island.nodes.iter().any(|&node| system.nodes[node].rotation.is_some());
    is_conserving
        && island.couplings.is_empty()
        && island.continuous.is_empty()
        && (step.is_jointed() || turns())
        && !island.linkage.is_some_and(is_driven)
        && island.contacts.iter().all(is_rigid)
        && island.nodes.iter().all(is_own)
}

/// Looks at an island before the proposal over an interval is accepted; none where nothing is to be balanced.
#[inline]
pub fn open<S: Solvable>(step: &IslandStep<'_, S>) -> Option<Account<S>> {
    step.keeps_energy.then(|| open_account(step))
}

#[inline(never)]
fn open_account<S: Solvable>(step: &IslandStep<'_, S>) -> Account<S> {
    Account { energy: energy(step).0, dissipated: step.state.step.dissipated, outside: outside(step) }
}

/// Scales the motion after the interval and all corrections of positions, so that the balance closes.
#[inline]
pub fn close<S: Solvable>(step: &mut IslandStep<'_, S>, account: Option<Account<S>>) {
    if let Some(account) = account {
        close_account(step, &account);
    }
}

#[inline(never)]
fn close_account<S: Solvable>(step: &mut IslandStep<'_, S>, account: &Account<S>) {
    let taken = step.state.step.dissipated - account.dissipated;
    if taken.value() < 0.0 {
        step.state.step.dissipated = account.dissipated;
    }
    let due = account.energy - (step.state.step.dissipated - account.dissipated);
    let (mut left, size) = energy(step);
    if (left - due).value().abs() > ROUND_OFF * size {
        remove(step, &account.outside, left - due);
        left = energy(step).0;
    }
    step.state.step.dissipated -= left - due;
}

/// Energy of an island, and the size of its parts.
fn energy<S: Solvable>(step: &IslandStep<'_, S>) -> (S, f64) {
    let (mut energy, mut size) = (S::zero(), 0.0);
    let mut add = |part: S| {
        energy += part;
        size += part.value().abs();
    };
    let parameters = &step.state.parameters;
    for &node in &step.island.nodes {
        let mass = parameters.mass[node];
        add(-mass * parameters.gravity.dot(&step.state.nodes[node].position));
        add(kinetic(step, node, |velocity| velocity, |angular_velocity| angular_velocity));
    }
    (energy, size)
}

/// Energy of a part of the motion of a node.
fn kinetic<S: Solvable>(
    step: &IslandStep<'_, S>,
    node: usize,
    linear: impl Fn(Vector3<S>) -> Vector3<S>,
    angular: impl Fn(Vector3<S>) -> Vector3<S>,
) -> S {
    let velocity = linear(step.state.nodes[node].velocity);
    let mut twice = velocity.dot(&velocity) * step.state.parameters.mass[node];
    if let Some(rotation) = step.system.nodes[node].rotation {
        let state = &step.state.rotations[rotation];
        let spin = state.orientation.to_body(&angular(state.angular_velocity));
        twice += spin.dot(&step.state.parameters.inertia[rotation].component_mul(&spin));
    }
    twice * S::from(0.5)
}

/// What acts from outside in the proposal.
fn outside<S: Solvable>(step: &IslandStep<'_, S>) -> Outside<S> {
    if !step.island.nodes.iter().all(|&node| step.state.parameters.mass[node].value().is_finite()) {
        return Outside::Anything;
    }
    if let Some(linkage) = step.island.linkage {
        let linkage = &step.system.linkages[linkage];
        if linkage.joint_places.iter().flatten().flatten().any(|place| place.ends.contains(&None)) {
            return Outside::Anything;
        }
    }
    let (mut normals, mut count) = ([Vector3::zeros(); 2], 0);
    for (&place, impulse) in step.workspace.active.iter().zip(&step.workspace.impulses) {
        let touch = &step.workspace.touches[place];
        if touch.carrier.is_some() || impulse.normal.value() <= 0.0 {
            continue;
        }
        let friction = length(&impulse.tangential).value();
        if friction > TOLERANCES.few_roundings * impulse.normal.value() {
            return Outside::Anything;
        }
        let mut normal = touch.acting_normal();
        for known in &normals[..count] {
            normal -= known * known.dot(&normal);
        }
        let part = length(&normal);
        if part.value() > TOLERANCES.small {
            if count == normals.len() {
                return Outside::Anything;
            }
            normals[count] = normal / part;
            count += 1;
        }
    }
    Outside::Along { normals, count }
}

/// Motion of an island as one rigid body.
struct Carried<S> {
    centre: Vector3<S>,
    velocity: Vector3<S>,
    angular_velocity: Vector3<S>,
}

impl<S: Scalar> Carried<S> {
    fn at(&self, position: &Vector3<S>) -> Vector3<S> {
        self.velocity + self.angular_velocity.cross(&(position - self.centre))
    }
}

/// The part of the motion that carries the momentum that is kept.
fn carried<S: Solvable>(step: &IslandStep<'_, S>, outside: &Outside<S>) -> Carried<S> {
    let zero = Vector3::zeros();
    let Outside::Along { normals, count } = outside else {
        return Carried { centre: zero, velocity: zero, angular_velocity: zero };
    };
    let parameters = &step.state.parameters;
    let (mut mass, mut centre, mut velocity) = (S::zero(), zero, zero);
    for &node in &step.island.nodes {
        let (own, state) = (parameters.mass[node], &step.state.nodes[node]);
        mass += own;
        centre += state.position * own;
        velocity += state.velocity * own;
    }
    centre /= mass;
    velocity /= mass;
    let (mut inertia, mut momentum) = (Matrix3::zeros(), zero);
    for &node in &step.island.nodes {
        let (own, state) = (parameters.mass[node], &step.state.nodes[node]);
        let arm = state.position - centre;
        let across = cross_matrix(&arm);
        inertia -= across * across * own;
        momentum += arm.cross(&(state.velocity - velocity)) * own;
        if let Some(rotation) = step.system.nodes[node].rotation {
            let state = &step.state.rotations[rotation];
            let moments = &parameters.inertia[rotation];
            momentum += angular_momentum(&state.orientation, moments, &state.angular_velocity);
            for axis in 0..3 {
                let mut unit = zero;
                unit[axis] = S::one();
                let column = angular_momentum(&state.orientation, moments, &unit);
                for row in 0..3 {
                    inertia[(row, axis)] += column[row];
                }
            }
        }
    }
    let angular_velocity = match count {
        0 => {
            // Points in a row do not resist turns about it.
            let little = (inertia[(0, 0)] + inertia[(1, 1)] + inertia[(2, 2)]) * S::from(1e-14);
            for axis in 0..3 {
                inertia[(axis, axis)] += little;
            }
            solve(&inertia, &momentum)
        }
        1 => {
            let normal = &normals[0];
            normal * (normal.dot(&momentum) / normal.dot(&(inertia * normal)))
        }
        _ => zero,
    };
    for normal in &normals[..*count] {
        velocity -= normal * normal.dot(&velocity);
    }
    Carried { centre, velocity, angular_velocity }
}

/// Takes an excess of energy out of the motion as far as it goes.
fn remove<S: Solvable>(step: &mut IslandStep<'_, S>, outside: &Outside<S>, excess: S) {
    let carried = carried(step, outside);
    let motion = motion_beside(step, &carried);
    if motion.value() <= 0.0 {
        return;
    }
    let mut part = excess / motion;
    if !(-MOST_GIVEN..=MOST_TAKEN).contains(&part.value()) {
        part = S::from(part.value().clamp(-MOST_GIVEN, MOST_TAKEN));
    }
    scale_beside(step, &carried, -part / (S::one() + (S::one() - part).sqrt()));
}

/// Energy of the motion beside that which carries momentum.
fn motion_beside<S: Solvable>(step: &IslandStep<'_, S>, carried: &Carried<S>) -> S {
    let mut motion = S::zero();
    for &node in &step.island.nodes {
        if step.state.parameters.mass[node].value().is_finite() {
            let along = carried.at(&step.state.nodes[node].position);
            let spin = carried.angular_velocity;
            motion += kinetic(step, node, |velocity| velocity - along, |own| own - spin);
        }
    }
    motion
}

/// Changes that motion by a part of it.
fn scale_beside<S: Solvable>(step: &mut IslandStep<'_, S>, carried: &Carried<S>, change: S) {
    for &node in &step.island.nodes {
        if !step.state.parameters.mass[node].value().is_finite() {
            continue;
        }
        let state = &mut step.state.nodes[node];
        state.velocity += (state.velocity - carried.at(&state.position)) * change;
        if let Some(rotation) = step.system.nodes[node].rotation {
            let spin = &mut step.state.rotations[rotation].angular_velocity;
            *spin += (*spin - carried.angular_velocity) * change;
        }
    }
}

/// What a contact takes over an interval, from the velocities of its touching point before and after: through the
/// normal where it closes, by friction where it slides or comes to stick. Nothing while it stays closed and sticks; what
/// is seen of velocities then is the error of the scheme, up to `unsure`.
pub fn book<S: Scalar>(
    record: &mut StepRecord<S>,
    impulse: &Impulse<S>,
    (normal, tangential): (S, Vector3<S>),
    unsure: f64,
) {
    if normal.value().abs() > unsure {
        record.dissipated -= normal * impulse.normal;
    }
    if impulse.mode != ContactMode::Stick || length(&tangential).value() > unsure {
        let work = impulse.tangential.dot(&tangential);
        record.dissipated -= work;
        record.dissipated_by_friction -= work;
    }
}

/// Velocity at a contact that turning makes of none within a step.
pub fn unsure_speed<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>) -> f64 {
    let bending = if touch.flat { 0.0 } else { step.bending_speed(touch) };
    step.turning_speed(touch) + bending
}
