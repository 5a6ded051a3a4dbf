//! Springs and joints in the interval of an island ([`crate::engine::linkage`]).
//!
//! In Moreau-Jean's scheme they act where free motion takes the nodes at `theta dt`. The rows of joints see the
//! velocities at the end: with `A` where the joints act and `A'` at the end, `A v+ = b - (A' - A) v+`, whose last term
//! comes from the solution before. Schemes whose forces act midway or at the end come to these by Newton steps
//! ([`move_midway`], [`move_to_end`]): the matrix is the same, with other [`Weights`]. What is left of the joints'
//! errors is taken out at position level.

mod contact;
mod newton;
mod placement;
mod plain;
mod record;

pub use contact::{SOFTNESS, assemble, judge, push, respond, write_operator};
pub use newton::{accelerate, move_midway, move_to_end, propose_again};
pub use placement::{close_joints, compliance, displace, follow, settle};
pub use plain::stop;
pub use record::{record, spring_energy_at, wrench};

use super::{IslandStep, Placing, Weights};
use crate::engine::contact::pose;
use crate::engine::linkage::assembly::{Course, Strained};
use crate::engine::linkage::{Approach, Before, Change, Configuration, Scratch, Springs, Stiffening};
use crate::engine::math::rotation::{Orientation, angular_momentum, is_uneven, spin};
use crate::engine::scalar::{Scalar, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::system::linkage::Linkage;
use crate::engine::ties::motor::{Demand, Moment};
use crate::engine::ties::spring::{Miss, Pursuit};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::cmp::Ordering;

/// Solutions for the rows of joints, each with the end of the interval from the one before.
const SWEEPS: usize = PASSES as usize;
/// Passes of a contact problem, each with the ends that the one before has moved.
pub const PASSES: u32 = 3;

/// Forgets what was proposed, and keeps the accelerations without springs and joints.
pub fn begin<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (_, index) = linkage_of(step);
    if step.system.settings.scheme == Scheme::MoreauJean
        && let Some((linkage, plain, index)) = plain::of(step)
    {
        return plain::begin(step, linkage, plain, index);
    }
    let Workspace { linkages, acceleration, .. } = &mut *step.workspace;
    let scratch = &mut linkages[index];
    scratch.free_over = None;
    for (applied, &node) in scratch.applied.iter_mut().zip(&step.island.nodes) {
        *applied = acceleration[node];
    }
}

/// The same where nothing but gravity acts on point masses. Returns whether that is all that is to be done.
pub fn begin_evenly<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let is_moreau_jean = step.system.settings.scheme == Scheme::MoreauJean;
    let Some(plain) = plain::of(step).filter(|_| is_moreau_jean && step.island.continuous.is_empty()) else {
        return false;
    };
    plain::begin_evenly(step, plain);
    true
}

/// Whether `dt` is too long for how far springs and joints turn in it without contact.
pub fn is_lost<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> bool {
    let (linkage, index) = linkage_of(step);
    step.propose_free(dt);
    let is_lost = step.workspace.linkages[index].pursuit == Pursuit::Lost;
    is_lost || S::aside(|| turns_too_far(step, linkage, index))
}

/// Whether joints turn so far within the interval that what their impulses do to the velocities at its end is no small part
/// of the energy of motion.
fn turns_too_far<S: Solvable>(step: &IslandStep<'_, S>, linkage: &Linkage, index: usize) -> bool {
    let Scratch { motion, rows, ends, .. } = &step.workspace.linkages[index];
    let mut work = 0.0;
    for (joint, here) in rows.iter().enumerate() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(there) = linkage.place_joint(&step.system.ties, joint, ends) else { continue };
        let rows = here.iter().zip(entry.rows(&there));
        for (place, (now, then)) in linkage.joint_places[joint].iter().zip(rows) {
            let Some(place) = place else { continue };
            let turned = now.velocity(place, ends) - then.velocity(place, ends);
            work += motion.solution[place.block].dot(&turned).value().abs();
        }
    }
    if work == 0.0 {
        return false;
    }
    let mut kinetic = 0.0;
    for (end, place) in ends.iter().zip(&linkage.places) {
        let motion = (&end.velocity, &end.angular_velocity);
        kinetic += kinetic_energy(step, place.node, &end.pose.orientation, motion);
    }
    // Also where a number is not finite.
    work.partial_cmp(&(TOLERANCES.followed_part * kinetic)) != Some(Ordering::Less)
}

/// A change of the velocities at the end of `dt`, by block.
fn change_by<S: Solvable>(
    step: &IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    dt: S,
    by: impl Fn(usize) -> Vector3<S>,
) -> Change {
    let mut change = Change::default();
    S::aside(|| {
        for (at, place) in step.workspace.linkages[index].acting.iter().zip(&linkage.places) {
            let spin = place.angular.map_or(Vector3::zeros(), &by);
            let energy = kinetic_energy(step, place.node, &at.pose.orientation, (&by(place.linear), &spin));
            change.add(energy, step.system.settings.theta * (length(&spin) * dt).value());
        }
    });
    change
}

/// Kinetic energy of a node that moves at a velocity and angular velocity; none where its motion is prescribed.
fn kinetic_energy<S: Solvable>(
    step: &IslandStep<'_, S>,
    node: usize,
    orientation: &Orientation<S>,
    (velocity, spin): (&Vector3<S>, &Vector3<S>),
) -> f64 {
    let parameters = &step.state.parameters;
    let mass = parameters.mass[node].value();
    let mut energy = if mass.is_finite() { 0.5 * mass * velocity.dot(velocity).value() } else { 0.0 };
    if let Some(rotation) = step.system.nodes[node].rotation
        && step.turns_under_load(rotation)
    {
        let momentum = angular_momentum(orientation, &parameters.inertia[rotation], spin);
        energy += 0.5 * momentum.dot(spin).value();
    }
    energy
}

/// Forgets what was proposed.
pub fn forget<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (_, index) = linkage_of(step);
    step.workspace.linkages[index].free_over = None;
}

/// Finds how nodes would accelerate over `dt` without contact.
pub fn foresee<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    step.workspace.active.clear();
    step.propose_free(dt);
}

/// Velocities at the end of `dt` without contact, where springs between point masses are all that the island has.
/// Returns whether that is so.
pub fn propose_plain<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> bool {
    let Some(plain) = plain::of(step) else { return false };
    plain::propose(step, plain, dt);
    true
}

/// Adds to the free motion proposed over `dt` what springs and joints do.
pub fn propose<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    if step.workspace.linkages[index].free_over != Some(dt) {
        solve_free(step, dt);
    }
    let scratch = &mut step.workspace.linkages[index];
    let Scratch { free, proposed, .. } = scratch;
    proposed.copy_from_slice(free);
    add(step, linkage, index, step.system.settings.theta);
    if dt.value() > 0.0 {
        let Workspace { acceleration, angular_acceleration, velocity, turns, .. } = &mut *step.workspace;
        for &node in &step.island.nodes {
            acceleration[node] = (velocity[node] - step.state.nodes[node].velocity) / dt;
            if let Some(rotation) = step.system.nodes[node].rotation {
                let before = step.state.rotations[rotation].angular_velocity;
                angular_acceleration[rotation] = (turns[rotation].end - before) / dt;
            }
        }
    }
}

fn solve_free<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    predict(step, dt);
    strain(step, linkage, index, dt);
    let (mut left, mut approach) = solve_strained(step, linkage, index, dt);
    let mut pursuit = Pursuit::Caught;
    if dt.value() > 0.0 && !linkage.springs.is_empty() {
        newton::see_springs(step, linkage, index);
        let mut missed = f64::INFINITY;
        for _ in 0..TOLERANCES.newton_steps {
            pursuit = bend(step, linkage, index, dt, &mut missed);
            if pursuit != Pursuit::Near {
                break;
            }
            (left, approach) = solve_strained(step, linkage, index, dt);
        }
        // Newton steps that come no closer may lead anywhere: the linear step, which is stable, does.
        if pursuit == Pursuit::Lost {
            predict(step, dt);
            strain(step, linkage, index, dt);
            (left, approach) = solve_strained(step, linkage, index, dt);
        }
    }
    if approach.is_lost() {
        pursuit = Pursuit::Lost;
    }
    step.workspace.linkages[index].pursuit = pursuit;
    step.state.step.residual = step.state.step.residual.max(left);
    keep_free(&mut step.workspace.linkages[index], dt);
}

/// Finds what springs do with nodes as in `acting`.
fn strain<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, dt: S) {
    let stiffening = stiffening(&step.weights(dt), dt);
    let Workspace { linkages, mobility, .. } = &mut *step.workspace;
    let Scratch { motion, acting, strained, .. } = &mut linkages[index];
    motion.weigh(linkage, mobility);
    let (ties, parameters) = (&step.system.ties, &step.state.parameters);
    let springs = Springs { linkage, ties, parameters, acting, stiffening, before: None };
    for (spring, strained) in strained.iter_mut().enumerate() {
        *strained = springs.strained(spring, motion.mobility());
    }
}

/// Solves for what nodes do with springs as found, and joints where nodes are in `acting`. Returns what is left, and how
/// the ends of the interval were approached.
fn solve_strained<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    dt: S,
) -> (f64, Approach) {
    let Workspace { linkages, mobility, turns, .. } = &mut *step.workspace;
    let parameters = &step.state.parameters;
    let scratch = &mut linkages[index];
    let motion = &mut scratch.motion;
    motion.clear();
    for (local, place) in linkage.places.iter().enumerate() {
        let turning = step.system.nodes[place.node].rotation;
        let turning = turning.map(|rotation| (&turns[rotation].acting, &parameters.inertia[rotation]));
        motion.set_body(local, place, mobility[place.node], turning);
    }
    motion.add_strained(linkage, &scratch.strained);
    scratch.loads.copy_from_slice(&scratch.motion.right);
    scratch.gyration.fill(Vector3::zeros());
    let moment = moment(step, dt);
    write_joints(step, linkage, index, &moment);
    let system = &mut step.workspace.linkages[index].motion;
    system.factor(linkage);
    let sweeps = if dt.value() > 0.0 && (linkage.has_joints() || tumbles(step)) { SWEEPS } else { 1 };
    let mut left = 0.0;
    let mut approach = Approach::default();
    step.workspace.linkages[index].change.fill(Vector3::zeros());
    for sweep in 0..sweeps {
        if sweep > 0 {
            let Scratch { motion, change, .. } = &mut step.workspace.linkages[index];
            change.copy_from_slice(&motion.solution);
            move_ends(step, linkage, index, dt);
        }
        left = solve_for_ends(step, linkage, index);
        if sweeps > 1 {
            let Scratch { motion, change, .. } = &step.workspace.linkages[index];
            let changed = |block: usize| motion.solution[block] - change[block];
            approach.follow(change_by(step, linkage, index, dt, changed));
        }
    }
    (left, approach)
}

/// Looks whether springs do what was solved for where the solution has them, when `last` so much was missed. If a Newton
/// step is to be made, lets them act there.
fn bend<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    dt: S,
    last: &mut f64,
) -> Pursuit {
    let weights = step.weights(dt);
    let mut miss = Miss { energy: place_bent(step, linkage, index, dt), ..Miss::default() };
    let Scratch { motion, bent, courses, before, strained, .. } = &mut step.workspace.linkages[index];
    let (ties, parameters) = (&step.system.ties, &step.state.parameters);
    let start = Some(Before { apart: before, part: weights.acting, courses: Some(courses) });
    let stiffening = stiffening(&weights, dt);
    let springs = Springs { linkage, ties, parameters, acting: bent, stiffening, before: start };
    for (spring, strained) in strained.iter_mut().enumerate() {
        let place = &linkage.spring_places[spring];
        let solved = strained.impulse + strained.stiff * strained.seen(place, &motion.solution);
        let found = springs.strained(spring, motion.mobility());
        let (rate, rounding) = springs.rate(spring);
        miss.work += (found.impulse - solved).dot(&rate).value().abs();
        miss.rounding += rounding * length(&rate).value();
        let entry = linkage.springs[spring];
        miss.energy += ties.springs[entry].energy(parameters.stiffness[entry], &before[spring]).value();
        let answered = found.stiff * found.seen(place, &motion.solution);
        *strained = Strained { impulse: found.impulse - answered, ..found };
    }
    miss.damped = (linkage.damping_power(ties, parameters, bent) * dt).value();
    let pursuit = miss.judge(*last);
    if pursuit == Pursuit::Near {
        *last = miss.work;
        predict(step, dt);
        let Scratch { acting, bent, .. } = &mut step.workspace.linkages[index];
        acting.copy_from_slice(bent);
    }
    pursuit
}

/// Places nodes where the solution has them when springs act, and at the end. Returns their kinetic energy there.
fn place_bent<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, dt: S) -> f64 {
    let theta = S::from(step.system.settings.theta);
    let mut kinetic = 0.0;
    let Workspace { linkages, velocity, turns, .. } = &mut *step.workspace;
    let Scratch { motion, bent, courses, .. } = &mut linkages[index];
    for ((bent, course), place) in bent.iter_mut().zip(courses).zip(&linkage.places) {
        let start = pose(step.system, step.state, place.node);
        let before = step.state.nodes[place.node].velocity;
        let mean = before + (velocity[place.node] + motion.solution[place.linear] - before) * theta;
        *bent = Configuration { pose: start, velocity: mean, angular_velocity: Vector3::zeros() };
        bent.pose.position += mean * (theta * dt);
        *course = Course { end: start, turn: Vector3::zeros() };
        course.end.position += mean * dt;
        let mass = step.state.parameters.mass[place.node].value();
        if mass.is_finite() {
            kinetic += 0.5 * mass * mean.dot(&mean).value();
        }
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            let before = step.state.rotations[rotation].angular_velocity;
            let (turn, change) = (&turns[rotation], motion.solution[block]);
            course.turn = (turn.mean + change * theta) * dt;
            course.end.orientation = start.orientation.turned(&course.turn);
            bent.pose.orientation = start.orientation.turned(&(course.turn * theta));
            bent.angular_velocity = before + (turn.end + change - before) * theta;
        }
    }
    kinetic
}

/// Keeps the solution over `dt` as that without contact.
fn keep_free<S: Scalar>(scratch: &mut Scratch<S>, dt: S) {
    scratch.free.copy_from_slice(&scratch.motion.solution);
    scratch.free_over = Some(dt);
}

/// Whether a body of the island spins faster or slower when it turns.
fn tumbles<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    let rotations = step.island.nodes.iter().filter_map(|&node| step.system.nodes[node].rotation);
    rotations.into_iter().any(|rotation| is_uneven(&step.state.parameters.inertia[rotation]))
}

/// Solves for rows as they are at the ends of the interval. Returns what is left.
fn solve_for_ends<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) -> f64 {
    let Workspace { linkages, turns, .. } = &mut *step.workspace;
    let Scratch { motion, loads, gyration, .. } = &mut linkages[index];
    motion.right.copy_from_slice(loads);
    for place in &linkage.places {
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            let inertia = &step.state.parameters.inertia[rotation];
            if is_uneven(inertia) {
                motion.right[block] += angular_momentum(&turns[rotation].acting, inertia, &gyration[block]);
            }
        }
    }
    see_ends(step, linkage, index);
    step.workspace.linkages[index].motion.solve(linkage)
}

/// After pass `pass` of the contact problem: lets joints hold what nodes do at the ends with the impulses found, if there
/// is another pass. Returns whether there is.
pub fn revise<S: Solvable>(step: &mut IslandStep<'_, S>, pass: u32, dt: S, again: bool) -> bool {
    let is_moreau_jean = step.system.settings.scheme == Scheme::MoreauJean;
    if !is_moreau_jean || !step.is_jointed() || !(again || pass + 1 < PASSES) {
        return again;
    }
    let (linkage, index) = linkage_of(step);
    respond(step, dt);
    if dt.value() > 0.0 {
        if gets_lost(step, linkage, index, pass, dt) {
            return again;
        }
        let Scratch { motion, free, change, proposed, free_over, .. } = &mut step.workspace.linkages[index];
        for block in 0..free.len() {
            change[block] = free[block] + motion.solution[block];
        }
        *free_over = None;
        proposed.copy_from_slice(&motion.solution);
        add(step, linkage, index, step.system.settings.theta);
        step.look_ahead(dt);
        let Scratch { change, proposed, .. } = &mut step.workspace.linkages[index];
        for (proposed, change) in proposed.iter_mut().zip(change.iter()) {
            *proposed = -change;
        }
        add(step, linkage, index, step.system.settings.theta);
        move_ends(step, linkage, index, dt);
        solve_for_ends(step, linkage, index);
        let Scratch { motion, free, proposed, .. } = &mut step.workspace.linkages[index];
        free.copy_from_slice(&motion.solution);
        proposed.copy_from_slice(free);
        add(step, linkage, index, step.system.settings.theta);
    }
    true
}

/// Whether the impulses of pass `pass` change the motion by more than those of the passes before, which leads anywhere: the
/// ends stay where these have moved them.
fn gets_lost<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    pass: u32,
    dt: S,
) -> bool {
    let Scratch { motion, free, change, .. } = &step.workspace.linkages[index];
    let changed = |block: usize| free[block] + motion.solution[block] - change[block];
    let changed = change_by(step, linkage, index, dt, changed);
    let approach = &mut step.workspace.linkages[index].approach;
    if pass == 0 {
        *approach = Approach::default();
    }
    let grows = approach.grows_by(changed);
    if !grows {
        approach.follow(changed);
    }
    grows
}

/// How a change of the velocity at the end is felt where springs act.
fn stiffening<S: Scalar>(weights: &Weights<S>, dt: S) -> Stiffening<S> {
    let damping = weights.force * weights.acting;
    Stiffening { damping, stiffness: damping * weights.reach * dt, interval: weights.force }
}

/// Where nodes are when springs and joints act, and at the end, in free motion.
fn predict<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    let has_joints = linkage.has_joints();
    let theta = S::from(step.system.settings.theta);
    let Workspace { linkages, velocity, turns, .. } = &mut *step.workspace;
    let Scratch { acting, ends, .. } = &mut linkages[index];
    for (place, &node) in step.island.nodes.iter().enumerate() {
        let start = pose(step.system, step.state, node);
        let before = step.state.nodes[node].velocity;
        let mean = before + (velocity[node] - before) * theta;
        let mut midway = Configuration { pose: start, velocity: mean, angular_velocity: Vector3::zeros() };
        let mut end = Configuration { velocity: velocity[node], ..midway };
        midway.pose.position += mean * (theta * dt);
        end.pose.position += mean * dt;
        if let Some(rotation) = step.system.nodes[node].rotation {
            let before = step.state.rotations[rotation].angular_velocity;
            let turn = &turns[rotation];
            midway.pose.orientation = start.orientation.turned(&(turn.mean * (theta * dt)));
            midway.angular_velocity = before + (turn.end - before) * theta;
            end.pose.orientation = start.orientation.turned(&(turn.mean * dt));
            end.angular_velocity = turn.end;
        }
        acting[place] = midway;
        if has_joints {
            ends[place] = end;
        }
    }
}

/// The ends of the interval with a change of the velocities. A body that turns further keeps its angular momentum.
fn move_ends<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, dt: S) {
    let theta = S::from(step.system.settings.theta);
    let Workspace { linkages, velocity, turns, .. } = &mut *step.workspace;
    let Scratch { ends, change, gyration, .. } = &mut linkages[index];
    for (end, place) in ends.iter_mut().zip(&linkage.places) {
        let start = pose(step.system, step.state, place.node);
        let before = step.state.nodes[place.node].velocity;
        end.velocity = velocity[place.node] + change[place.linear];
        end.pose.position = start.position + (before + (end.velocity - before) * theta) * dt;
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            let (turn, change) = (&turns[rotation], change[block]);
            end.angular_velocity = turn.end + change;
            end.pose.orientation = start.orientation.turned(&((turn.mean + change * theta) * dt));
            let inertia = &step.state.parameters.inertia[rotation];
            if is_uneven(inertia) {
                let freely = start.orientation.turned(&(turn.mean * dt));
                let pushed = change - gyration[block];
                let momentum = angular_momentum(&freely, inertia, &turn.end)
                    + angular_momentum(&turn.acting, inertia, &pushed);
                gyration[block] = spin(&end.pose.orientation, inertia, &momentum) - turn.end - pushed;
            }
        }
    }
}

/// Writes the rows of the joints where they act, and the velocities that they are held to, less those of free motion.
fn write_joints<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, moment: &Moment) {
    let Scratch { motion, acting, ends, held, rows: written, .. } = &mut step.workspace.linkages[index];
    for (joint, written) in written.iter_mut().enumerate() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, acting) else { continue };
        let demand = demand(step.system, step.state, linkage.joints[joint], moment);
        let rate = demand.map_or(S::zero(), |demand| demand.rate);
        *written = entry.rows(&placed);
        let blocks = linkage.joint_places[joint].iter().zip(&*written);
        for ((place, rows), (is_held, target)) in blocks.zip(entry.held().into_iter().zip(entry.driven(rate)))
        {
            let Some(place) = place else { continue };
            motion.set_rows(place, rows, is_held);
            held[place.block] = target - rows.velocity(place, ends);
        }
    }
}

/// Writes the right sides of the joints, for rows as they will be at the end of the interval.
fn see_ends<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let Scratch { motion, rows, ends, held, .. } = &mut step.workspace.linkages[index];
    for (joint, here) in rows.iter().enumerate() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(there) = linkage.place_joint(&step.system.ties, joint, ends) else { continue };
        let rows = here.iter().zip(entry.rows(&there));
        for (place, (now, then)) in linkage.joint_places[joint].iter().zip(rows) {
            let Some(place) = place else { continue };
            motion.right[place.block] =
                held[place.block] + now.velocity(place, ends) - then.velocity(place, ends);
        }
    }
}

/// What the motor of a joint asks for; none without a motor.
fn demand<S: Scalar>(system: &System, state: &State<S>, joint: usize, moment: &Moment) -> Option<Demand<S>> {
    let entry = &system.ties.joints[joint];
    let motor = entry.motor.as_ref()?;
    Some(motor.demand(&state.drives, moment, state.joints[joint].coordinate(entry)))
}

/// The moment that is `ahead` of the present.
fn moment<S: Solvable>(step: &IslandStep<'_, S>, ahead: S) -> Moment {
    let now = step.offset + step.elapsed;
    Moment { start: step.state.time, elapsed: now + ahead.value(), left: step.state.step.duration - now }
}

/// Adds what the linkage does to the proposed velocities, and the given part of it to the means.
fn add<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, weight: f64) {
    let Workspace { linkages, velocity, turns, .. } = &mut *step.workspace;
    let proposed = &linkages[index].proposed;
    for place in &linkage.places {
        velocity[place.node] += proposed[place.linear];
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            turns[rotation].mean += proposed[block] * S::from(weight);
            turns[rotation].end += proposed[block];
        }
    }
}

/// Whether contacts of the island yield through springs and joints over `dt`. At an instant springs do not count.
#[inline]
pub fn yields<S: Solvable>(step: &IslandStep<'_, S>, placing: Placing, dt: S) -> bool {
    let is_instant = || {
        let is_moreau_jean = step.system.settings.scheme == Scheme::MoreauJean;
        dt.value() == 0.0 && is_moreau_jean && plain::of(step).is_some()
    };
    match placing {
        Placing::Acting => step.island.linkage.is_some() && !is_instant(),
        Placing::Present => step.is_jointed(),
    }
}

/// Springs and joints of the island, and their place among all.
pub fn linkage_of<'a, S: Solvable>(step: &IslandStep<'a, S>) -> (&'a Linkage, usize) {
    let index = step.island.linkage.expect("asked of islands with springs or joints only");
    (&step.system.linkages[index], index)
}
