//! Springs and joints in the interval of an island ([`crate::engine::linkage`]).
//!
//! In Moreau-Jean's scheme they act where free motion takes the nodes at `theta dt`. The rows of joints see the
//! velocities at the end: with `A` where the joints act and `A'` at the end, `A v+ = b - (A' - A) v+`, whose last term
//! comes from the solution before. Schemes whose forces act midway or at the end come to these by Newton steps
//! ([`move_midway`], [`move_to_end`]): the matrix is the same, with other [`Weights`]. What is left of the joints'
//! errors is taken out at position level.

use super::{IslandStep, Placing, Weights, correction, end_point, joint_friction, largest};
use crate::engine::contact::{self, Bodies, Touch, pose};
use crate::engine::law::joint_friction::Wrench;
use crate::engine::linkage::motor::{Demand, Moment};
use crate::engine::linkage::{
    Configuration, JointKind, JointPlace, Linkage, Rubbing, Scratch, Stiffening, cross_matrix, spring_energy,
};
use crate::engine::problem::block_matrix::Block;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::rotation::{angular_momentum, spin};
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::step::Workspace;
use crate::engine::system::{Scheme, System};
use nalgebra::{Matrix3, Vector3};

/// Solutions for the rows of joints, each with the end of the interval from the one before.
const SWEEPS: usize = 3;
/// Passes of a contact problem with joints, each with the ends that the one before has moved.
const PASSES: u32 = 3;
/// Directions in which a contact yields by less than this part of what it would without joints are held by these. There
/// it is given a compliance, as a part of the same, so that what has no effect on the motion is determined.
const HELD: f64 = 1e-6;
pub const SOFTNESS: f64 = 1e-3;
/// Displacements that take out the errors of joints; each leaves the square of the one before.
const ROUNDS: usize = 4;
/// Errors of joints that are left alone, as a part of the size of the positions.
const CLOSED: f64 = 1e-15;

/// Forgets what was proposed, and keeps the accelerations without springs and joints.
pub fn begin<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (_, index) = linkage_of(step);
    let Workspace { linkages, acceleration, .. } = &mut *step.workspace;
    let scratch = &mut linkages[index];
    scratch.free_over = None;
    for (applied, &node) in scratch.applied.iter_mut().zip(&step.island.nodes) {
        *applied = acceleration[node];
    }
}

/// Finds how nodes would accelerate over `dt` without contact.
pub fn foresee<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    step.workspace.active.clear();
    step.propose_free(dt);
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
        let Workspace { acceleration, velocity, .. } = &mut *step.workspace;
        for &node in &step.island.nodes {
            acceleration[node] = (velocity[node] - step.state.nodes[node].velocity) / dt;
        }
    }
}

fn solve_free<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    predict(step, dt);
    let stiffening = stiffening(&step.weights(dt), dt);
    let Workspace { linkages, mobility, turns, .. } = &mut *step.workspace;
    let parameters = &step.state.parameters;
    let scratch = &mut linkages[index];
    let (motion, acting) = (&mut scratch.motion, &scratch.acting);
    if linkage.is_plain {
        motion.clear_right();
        motion.write_plain(linkage, &step.system.ties, parameters, acting, stiffening, mobility);
    } else {
        motion.clear();
        for (local, place) in linkage.places.iter().enumerate() {
            let turning = step.system.nodes[place.node].rotation;
            let turning = turning.map(|rotation| (&turns[rotation].acting, &parameters.inertia[rotation]));
            motion.set_body(local, place, mobility[place.node], turning);
        }
        motion.add_springs(linkage, &step.system.ties, parameters, acting, stiffening);
    }
    scratch.loads.copy_from_slice(&scratch.motion.right);
    scratch.gyration.fill(Vector3::zeros());
    let moment = moment(step, dt);
    write_joints(step, linkage, index, &moment);
    let system = &mut step.workspace.linkages[index].motion;
    system.factor(linkage);
    let sweeps = if dt.value() > 0.0 && (linkage.has_joints() || tumbles(step)) { SWEEPS } else { 1 };
    let mut left = 0.0;
    for sweep in 0..sweeps {
        if sweep > 0 {
            let Scratch { motion, change, .. } = &mut step.workspace.linkages[index];
            change.copy_from_slice(&motion.solution);
            move_ends(step, linkage, index, dt);
        }
        left = solve_for_ends(step, linkage, index);
    }
    step.state.step.residual = step.state.step.residual.max(left);
    let Scratch { motion, free, free_over, .. } = &mut step.workspace.linkages[index];
    free.copy_from_slice(&motion.solution);
    *free_over = Some(dt);
}

/// Whether a body of the island spins faster or slower when it turns.
fn tumbles<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    let rotations = step.island.nodes.iter().filter_map(|&node| step.system.nodes[node].rotation);
    rotations.into_iter().any(|rotation| is_uneven(&step.state.parameters.inertia[rotation]))
}

fn is_uneven<S: Scalar>(inertia: &Vector3<S>) -> bool {
    let [x, y, z] = [0, 1, 2].map(|axis| inertia[axis].value());
    (x != y || y != z) && (x + y + z).is_finite()
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
    respond(step);
    if dt.value() > 0.0 {
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

/// How a change of the velocity at the end is felt where springs act.
fn stiffening<S: Scalar>(weights: &Weights<S>, dt: S) -> Stiffening<S> {
    let damping = weights.force * weights.acting;
    Stiffening { damping, stiffness: damping * weights.reach * dt, interval: weights.force }
}

/// Finds accelerations at the start: `M a = f + A^T l`, `A a = u' - A' v`.
pub fn accelerate<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    fill_placement(step, linkage, index);
    for (place, &node) in step.island.nodes.iter().enumerate() {
        let at = end_point::start_acceleration(step, node);
        step.workspace.linkages[index].acting[place] = Configuration {
            velocity: at.linear,
            angular_velocity: at.angular,
            ..step.workspace.linkages[index].ends[place]
        };
    }
    let still = Stiffening { damping: S::zero(), stiffness: S::zero(), interval: S::one() };
    let Scratch { placement, ends, .. } = &mut step.workspace.linkages[index];
    placement.add_springs(linkage, &step.system.ties, &step.state.parameters, ends, still);
    hold_accelerations(step, linkage, index);
    let placement = &mut step.workspace.linkages[index].placement;
    placement.factor(linkage);
    placement.solve(linkage);
    for place in &linkage.places {
        let solution = &step.workspace.linkages[index].placement.solution;
        let (linear, angular) = (solution[place.linear], place.angular.map(|block| solution[block]));
        end_point::add_start_acceleration(step, place.node, &linear, angular.as_ref());
    }
}

/// Writes what joints ask of accelerations, less what they see of those in `acting`.
fn hold_accelerations<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    /// Part of the step over which rows are followed to see how they turn.
    const PART: f64 = 0.01;
    let h = S::from(step.length);
    let ahead = h * S::from(PART);
    let [now, then] = [S::zero(), h].map(|ahead| moment(step, ahead));
    for (joint, &entry) in linkage.joints.iter().enumerate() {
        let [rate, next] = [&now, &then].map(|moment| {
            demand(step.system, step.state, entry, moment).map_or(S::zero(), |demand| demand.rate)
        });
        let target = Vector3::new(S::zero(), S::zero(), (next - rate) / h);
        let Scratch { placement, acting, ends, .. } = &mut step.workspace.linkages[index];
        let entry = &step.system.ties.joints[entry];
        let [moves, turns] = &linkage.joint_places[joint];
        let blocks = [moves, turns].into_iter().zip([true, false]);
        for (place, is_translation) in blocks.filter_map(|(place, which)| Some((place.as_ref()?, which))) {
            let rows = |ahead: S| {
                let poses = place.ends.map(|end| end.map(|node| ends[node].ahead(ahead)));
                let placed = entry.placed(poses.each_ref().map(Option::as_ref));
                if is_translation { entry.translation_rows(&placed) } else { entry.rotation_rows(&placed) }
            };
            let turned = rows(ahead).velocity(place, ends) - rows(-ahead).velocity(place, ends);
            let target = if entry.has_angle() == is_translation { Vector3::zeros() } else { target };
            placement.right[place.block] =
                target - turned / (ahead * S::from(2.0)) - rows(S::zero()).velocity(place, acting);
        }
    }
}

/// Finds the accelerations `a` at the end such that springs and joints are obeyed there: Newton steps
/// `(M + b C + c K) u = b (f - M a) + A^T x`, `A (v + u) = r`, `a += u / b`.
pub fn move_to_end<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    let weights = step.weights(dt);
    let turns = linkage.places.iter().any(|place| place.angular.is_some());
    let sweeps = if linkage.has_joints() || turns { SWEEPS } else { 1 };
    let mut left = 0.0;
    for _ in 0..sweeps {
        for (place, &node) in step.island.nodes.iter().enumerate() {
            let at = end_point::configuration(step, node);
            let Scratch { acting, ends, .. } = &mut step.workspace.linkages[index];
            (acting[place], ends[place]) = (at, at);
        }
        fill_end(step, linkage, index, dt, &weights);
        let system = &mut step.workspace.linkages[index].motion;
        system.factor(linkage);
        left = system.solve(linkage);
        for (local, place) in linkage.places.iter().enumerate() {
            let Scratch { motion, acting, .. } = &step.workspace.linkages[index];
            let (at, linear) = (acting[local], motion.solution[place.linear]);
            let angular = place.angular.map(|block| motion.solution[block]);
            end_point::change(step, place.node, &at, &linear, angular.as_ref());
        }
    }
    step.state.step.residual = step.state.step.residual.max(left);
    let Scratch { motion, free, .. } = &mut step.workspace.linkages[index];
    // As if the force at the end had acted all the time.
    for place in linkage.joint_places.iter().flatten().flatten() {
        free[place.block] = motion.solution[place.block] * (dt / weights.force);
    }
}

/// The system of a Newton step at the end.
fn fill_end<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    dt: S,
    weights: &Weights<S>,
) {
    set_bodies(step, linkage, index);
    let moment = moment(step, dt);
    write_joints(step, linkage, index, &moment);
    let Scratch { motion, jump, acting, held, .. } = &mut step.workspace.linkages[index];
    jump.copy_matrix(motion);
    let ties = &step.system.ties;
    motion.add_springs(linkage, ties, &step.state.parameters, acting, stiffening(weights, dt));
    for place in linkage.joint_places.iter().flatten().flatten() {
        motion.right[place.block] = held[place.block];
    }
    motion.speed = 0.0;
    for (local, place) in linkage.places.iter().enumerate() {
        let at = step.workspace.linkages[index].acting[local];
        let (force, torque) = end_point::missing(step, place.node, &at);
        let applied = largest(&step.workspace.acceleration[place.node]) * dt.value();
        let motion = &mut step.workspace.linkages[index].motion;
        let speeds = [motion.speed, largest(&at.velocity), largest(&at.angular_velocity), applied];
        motion.speed = speeds.into_iter().fold(0.0, f64::max);
        motion.right[place.linear] += force * weights.force;
        if let Some(block) = place.angular {
            motion.right[block] += torque * weights.force;
        }
    }
}

/// Takes the impulses of joints without contact into the proposal.
pub fn propose_again<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (_, index) = linkage_of(step);
    let Scratch { free, proposed, .. } = &mut step.workspace.linkages[index];
    proposed.copy_from_slice(free);
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
    let Scratch { motion, acting, ends, held, .. } = &mut step.workspace.linkages[index];
    for joint in 0..linkage.joints.len() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, acting) else { continue };
        let demand = demand(step.system, step.state, linkage.joints[joint], moment);
        let rate = demand.map_or(S::zero(), |demand| demand.rate);
        let [moves, turns] = &linkage.joint_places[joint];
        let [moves_held, turns_held] = entry.held();
        let target = Vector3::new(S::zero(), S::zero(), rate);
        if let Some(place) = moves {
            let rows = entry.translation_rows(&placed);
            motion.set_rows(place, &rows, moves_held);
            let target = if entry.has_angle() { Vector3::zeros() } else { target };
            held[place.block] = target - rows.velocity(place, ends);
        }
        if let Some(place) = turns {
            let rows = entry.rotation_rows(&placed);
            motion.set_rows(place, &rows, turns_held);
            let target = if entry.has_angle() { target } else { Vector3::zeros() };
            held[place.block] = target - rows.velocity(place, ends);
        }
    }
}

/// Writes the right sides of the joints, for rows as they will be at the end of the interval.
fn see_ends<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let Scratch { motion, acting, ends, held, .. } = &mut step.workspace.linkages[index];
    for joint in 0..linkage.joints.len() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(here) = linkage.place_joint(&step.system.ties, joint, acting) else { continue };
        let Some(there) = linkage.place_joint(&step.system.ties, joint, ends) else { continue };
        let [moves, turns] = &linkage.joint_places[joint];
        if let Some(place) = moves {
            let (now, then) = (entry.translation_rows(&here), entry.translation_rows(&there));
            motion.right[place.block] =
                held[place.block] + now.velocity(place, ends) - then.velocity(place, ends);
        }
        if let Some(place) = turns {
            let (now, then) = (entry.rotation_rows(&here), entry.rotation_rows(&there));
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

/// Energy of the springs at a node.
pub fn spring_energy_at<S: Scalar>(step: &IslandStep<'_, S>, node: usize) -> S {
    let Some(linkage) = step.island.linkage else { return S::zero() };
    let springs = step.system.linkages[linkage].springs_at(node);
    springs.iter().fold(S::zero(), |sum, &spring| sum + spring_energy(step.system, step.state, spring))
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

/// Whether contacts of the island yield through springs and joints. At an instant springs do not count.
pub fn yields<S: Solvable>(step: &IslandStep<'_, S>, placing: Placing) -> bool {
    match placing {
        Placing::Acting => step.island.linkage.is_some(),
        Placing::Present => step.is_jointed(),
    }
}

/// Writes scales and Delassus operator of the active contacts over `dt` and, but for corrections of position, of the
/// joints that rub. Passes after those that move the ends have what the last of them found.
pub fn assemble<S: Solvable>(step: &mut IslandStep<'_, S>, placing: Placing, pass: u32, dt: S) {
    let (linkage, index) = linkage_of(step);
    if placing == Placing::Present {
        place_system(step, linkage, index);
        step.workspace.linkages[index].rubbing.clear();
    }
    if placing == Placing::Acting
        && let Some(answer) = answer_to_jumps(step, linkage, dt)
    {
        return assemble_with_answer(step, linkage, index, answer);
    }
    let is_new = pass == 0 || (pass < PASSES && !step.workspace.active.is_empty());
    if is_new {
        let count = step.workspace.active.len() + step.workspace.linkages[index].rubbing.len();
        let yielding = &mut step.workspace.linkages[index].yielding;
        yielding.clear();
        yielding.resize(count * count, Matrix3::zeros());
        if linkage.has_joints() {
            see_through_solutions(step, linkage, index, placing);
        } else {
            see_through_factors(step, linkage, index);
        }
    }
    let jointed = linkage.has_joints();
    let Workspace { touches, active, columns, scales, problem, linkages, mobility, .. } =
        &mut *step.workspace;
    let Scratch { motion, yielding, rubbing, .. } = &mut linkages[index];
    let contacts = active.len();
    let count = contacts + rubbing.len();
    let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia };
    contact::scales(touches, active, columns, bodies, scales);
    scales.resize(count, S::one());
    for one in 0..count {
        let own = &mut yielding[one * count + one];
        let (rows, alone) = match one.checked_sub(contacts).map(|place| &rubbing[place]) {
            None => (3.0, S::one() / (scales[one] * scales[one])),
            Some(entry) => (entry.rows.count(), motion.yielding_alone(&entry.place, &entry.rows)),
        };
        if jointed && is_new {
            soften(own, alone.value());
        }
        scales[one] = (S::from(rows) / own.trace()).sqrt();
    }
    problem.contacts.reset(count);
    for one in 0..count {
        let block = |other: usize| -> Block<S> {
            (yielding[one * count + other] * (scales[one] * scales[other])).transpose().into()
        };
        let mut diagonal = block(one);
        if let Some(entry) = one.checked_sub(contacts).map(|place| &rubbing[place]) {
            joint_friction::complete(entry, &mut diagonal);
        }
        problem.contacts.w.begin_row(diagonal);
        for other in (0..count).filter(|&other| other != one) {
            problem.contacts.w.push(other, block(other));
        }
    }
}

/// The same where springs answer to jumps.
fn assemble_with_answer<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    answer: Stiffening<S>,
) {
    let parameters = &step.state.parameters;
    let Workspace { touches, active, columns, scales, problem, linkages, .. } = &mut *step.workspace;
    let respond = |scratch: &mut Scratch<S>, other: usize, direction: usize| {
        let direction: Vector3<S> = columns[other].linear.row(direction).transpose();
        scratch.motion.clear_right();
        push_touch(linkage, &mut scratch.motion.right, &touches[active[other]], &direction);
        scratch.jump_and_answer(linkage, &step.system.ties, parameters, answer);
    };
    let see = |scratch: &mut Scratch<S>, one: usize| {
        let touch = &touches[active[one]];
        let answered = seen_at(linkage, &scratch.motion.solution, touch);
        columns[one].linear * (answered + seen_at(linkage, &scratch.jump.solution, touch))
    };
    write_operator(&mut linkages[index], active.len(), respond, see, (scales, &mut problem.contacts));
}

/// Writes scales and Delassus operator of `count` contacts: `respond` finds velocities for a unit impulse of a contact
/// in one of its directions, `see` what a contact sees of them.
pub fn write_operator<S: Scalar>(
    scratch: &mut Scratch<S>,
    count: usize,
    respond: impl Fn(&mut Scratch<S>, usize, usize),
    see: impl Fn(&mut Scratch<S>, usize) -> Vector3<S>,
    (scales, problem): (&mut Vec<S>, &mut ConeProblem<S>),
) {
    scratch.yielding.clear();
    scratch.yielding.resize(count * count, Matrix3::zeros());
    for other in 0..count {
        for direction in 0..3 {
            respond(scratch, other, direction);
            for one in 0..count {
                let seen = see(scratch, one);
                scratch.yielding[one * count + other].set_column(direction, &seen);
            }
        }
    }
    let yielding = &scratch.yielding;
    scales.clear();
    scales.extend((0..count).map(|one| (S::from(3.0) / yielding[one * count + one].trace()).sqrt()));
    problem.reset(count);
    for one in 0..count {
        let block = |other: usize| -> Block<S> {
            (yielding[one * count + other] * (scales[one] * scales[other])).transpose().into()
        };
        problem.w.begin_row(block(one));
        for other in (0..count).filter(|&other| other != one) {
            problem.w.push(other, block(other));
        }
    }
}

/// Makes a contact yield a little along the normal, or across it, if joints hold it there.
fn soften<S: Scalar>(own: &mut Matrix3<S>, alone: f64) {
    let softness = SOFTNESS * alone;
    let values = own.map(S::value);
    if values[(0, 0)] <= HELD * alone {
        own[(0, 0)] += S::from(softness);
    }
    let axes = values.fixed_view::<2, 2>(1, 1).into_owned().symmetric_eigen();
    for (yielding, axis) in axes.eigenvalues.iter().zip(axes.eigenvectors.column_iter()) {
        if *yielding <= HELD * alone {
            let mut across = own.fixed_view_mut::<2, 2>(1, 1);
            across += (axis * axis.transpose() * softness).map(S::from);
        }
    }
}

/// How active contacts, and joints that rub, yield to one another's impulses, by solving for each: the compliance of
/// joints is taken out.
fn see_through_solutions<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    placing: Placing,
) {
    let Workspace { touches, active, columns, linkages, .. } = &mut *step.workspace;
    let Scratch { motion, placement, yielding, rubbing, .. } = &mut linkages[index];
    let system = if placing == Placing::Acting { motion } else { placement };
    let contacts = active.len();
    let count = contacts + rubbing.len();
    for other in 0..count {
        for column in 0..3 {
            system.clear_right();
            if other < contacts {
                let direction: Vector3<S> = columns[other].linear.row(column).transpose();
                push_touch(linkage, &mut system.right, &touches[active[other]], &direction);
            } else {
                let Rubbing { rows, place, .. } = &rubbing[other - contacts];
                if !rows.has(column) {
                    continue;
                }
                rows.push(&place.blocks, &mut system.right, &unit(column));
            }
            system.solve(linkage);
            for one in 0..count {
                let seen = if one < contacts {
                    columns[one].linear * seen_at(linkage, &system.solution, &touches[active[one]])
                } else {
                    let Rubbing { rows, place, .. } = &rubbing[one - contacts];
                    rows.of(&place.blocks, &system.solution)
                };
                yielding[one * count + other].set_column(column, &seen);
            }
        }
    }
}

/// The same through the factors alone: `(L^-1 J^T)^T D^-1 (L^-1 J^T)`.
fn see_through_factors<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let Workspace { touches, active, columns, linkages, .. } = &mut *step.workspace;
    let Scratch { motion, yielding, sides, side_starts, .. } = &mut linkages[index];
    let count = active.len();
    sides.clear();
    side_starts.clear();
    for (&place, column) in active.iter().zip(columns.iter()) {
        let (touch, directions) = (&touches[place], column.linear.transpose());
        let first = first_turn(linkage, touch);
        let begin = sides.len();
        sides.resize(begin + linkage.pattern.size() - first, Matrix3::zeros());
        let side = &mut sides[begin..];
        let mut set = |node: usize, lever: Vector3<S>, sign: f64| {
            let place = linkage.place_of(node);
            side[linkage.pattern.turn(place.linear) - first] = directions * S::from(sign);
            if let Some(block) = place.angular {
                side[linkage.pattern.turn(block) - first] = cross_matrix(&lever) * directions * S::from(sign);
            }
        };
        set(touch.node, touch.lever(), 1.0);
        if let Some(carrier) = &touch.carrier {
            set(carrier.node, carrier.lever(), -1.0);
        }
        motion.forward(linkage, first, side);
        side_starts.push((first, begin));
    }
    let side = |one: usize| {
        let (first, begin) = side_starts[one];
        let end = begin + linkage.pattern.size() - first;
        (first, &sides[begin..end])
    };
    for one in 0..count {
        for other in 0..=one {
            let block = motion.product(linkage, side(one), side(other));
            yielding[one * count + other] = block;
            yielding[other * count + one] = block.transpose();
        }
    }
}

/// When the first block that a contact pushes is eliminated.
fn first_turn<S: Scalar>(linkage: &Linkage, touch: &Touch<S>) -> usize {
    let nodes = touch.carrier.iter().map(|carrier| carrier.node).chain([touch.node]);
    let blocks = nodes.flat_map(|node| {
        let place = linkage.place_of(node);
        place.angular.into_iter().chain([place.linear])
    });
    blocks.map(|block| linkage.pattern.turn(block)).min().unwrap_or(0)
}

fn unit<S: Scalar>(row: usize) -> Vector3<S> {
    Vector3::from_fn(|other, _| if other == row { S::one() } else { S::zero() })
}

/// A Newton step for the velocities at the end, with the nodes as found so far midway in `acting` and at the end in
/// `ends`: solves for what changes in them. `missing` is the momentum, linear and angular, that a node misses for its
/// velocity to be the one without springs, joints and contact.
pub fn move_midway<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    dt: S,
    missing: impl Fn(&IslandStep<'_, S>, usize) -> (Vector3<S>, Vector3<S>),
) {
    let (linkage, index) = linkage_of(step);
    let stiffening = stiffening(&step.weights(dt), dt);
    set_bodies(step, linkage, index);
    let Scratch { motion, acting, .. } = &mut step.workspace.linkages[index];
    motion.add_springs(linkage, &step.system.ties, &step.state.parameters, acting, stiffening);
    let moment = moment(step, dt);
    write_joints(step, linkage, index, &moment);
    see_ends(step, linkage, index);
    let mut speed = 0.0_f64;
    for (local, place) in linkage.places.iter().enumerate() {
        let (linear, angular) = missing(step, place.node);
        let Scratch { motion, ends, .. } = &mut step.workspace.linkages[index];
        motion.right[place.linear] += linear;
        if let Some(block) = place.angular {
            motion.right[block] += angular;
        }
        speed = speed.max(largest(&ends[local].velocity)).max(largest(&ends[local].angular_velocity));
    }
    let Scratch { motion, free, .. } = &mut step.workspace.linkages[index];
    motion.speed = speed;
    motion.factor(linkage);
    let left = motion.solve(linkage);
    free.copy_from_slice(&motion.solution);
    step.state.step.residual = step.state.step.residual.max(left);
}

/// Writes the inertia of the nodes as in `acting`.
fn set_bodies<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let inertia = &step.state.parameters.inertia;
    let Workspace { linkages, mobility, .. } = &mut *step.workspace;
    let Scratch { motion, acting, .. } = &mut linkages[index];
    motion.clear();
    for (local, (place, at)) in linkage.places.iter().zip(acting.iter()).enumerate() {
        let turning = step.system.nodes[place.node].rotation;
        let turning = turning.map(|rotation| (&at.pose.orientation, &inertia[rotation]));
        motion.set_body(local, place, mobility[place.node], turning);
    }
}

/// What springs answer to jumps, in schemes that tell these from smooth motion: `b (C + h/2 K) w`.
fn answer_to_jumps<S: Solvable>(step: &IslandStep<'_, S>, linkage: &Linkage, dt: S) -> Option<Stiffening<S>> {
    (step.system.settings.scheme.looks_back() && !linkage.springs.is_empty()).then(|| {
        let weights = step.weights(dt);
        stiffening(&Weights { reach: weights.contact, ..weights }, dt)
    })
}

/// Writes the impulses of the active contacts, and of the joints that rub, as the right side. Returns when the first block
/// that they push is eliminated.
fn write_impulses<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) -> usize {
    let Workspace { touches, active, impulses, linkages, .. } = &mut *step.workspace;
    let Scratch { motion, rubbing, .. } = &mut linkages[index];
    motion.clear_right();
    let mut first = linkage.pattern.size();
    for (&place, impulse) in active.iter().zip(impulses.iter()) {
        let touch = &touches[place];
        first = first.min(first_turn(linkage, touch));
        push_touch(linkage, &mut motion.right, touch, &impulse.vector(&touch.normal));
    }
    for Rubbing { rows, place, impulse, .. } in rubbing.iter() {
        let impulse = Vector3::new(S::zero(), impulse[0], impulse[1]);
        rows.push(&place.blocks, &mut motion.right, &impulse);
    }
    if linkage.has_joints() { 0 } else { first }
}

/// Finds what the impulses of the active contacts, and of the joints that rub, do.
pub fn respond<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    let first = write_impulses(step, linkage, index);
    step.workspace.linkages[index].motion.solve_from(linkage, first);
}

/// Adds these impulses over `dt` to the proposal.
pub fn push<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    match answer_to_jumps(step, linkage, dt) {
        Some(answer) => {
            write_impulses(step, linkage, index);
            let scratch = &mut step.workspace.linkages[index];
            scratch.jump_and_answer(linkage, &step.system.ties, &step.state.parameters, answer);
            push_answer(step, linkage, index, dt);
            let Scratch { jump, proposed, .. } = &mut step.workspace.linkages[index];
            proposed.copy_from_slice(&jump.solution);
        }
        None => {
            respond(step);
            let Scratch { motion, proposed, .. } = &mut step.workspace.linkages[index];
            proposed.copy_from_slice(&motion.solution);
        }
    }
    add(step, linkage, index, step.contact_weight());
    let Scratch { proposed, free, .. } = &mut step.workspace.linkages[index];
    for (proposed, free) in proposed.iter_mut().zip(free.iter()) {
        *proposed += free;
    }
}

/// Adds what springs answer to jumps to the smooth motion.
fn push_answer<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, dt: S) {
    let weights = step.weights(dt);
    let Workspace { linkages, velocity, turns, end_point, .. } = &mut *step.workspace;
    let Scratch { motion, jump, .. } = &mut linkages[index];
    for place in &linkage.places {
        let linear = motion.solution[place.linear];
        let angular = place.angular.map(|block| motion.solution[block]);
        velocity[place.node] += linear;
        if let (Some(angular), Some(rotation)) = (angular, step.system.nodes[place.node].rotation) {
            turns[rotation].mean += angular * weights.reach;
            turns[rotation].end += angular;
        }
        end_point.answer(place.node, &linear, angular.as_ref(), weights.reach);
    }
    for place in linkage.joint_places.iter().flatten().flatten() {
        jump.solution[place.block] += motion.solution[place.block] * (dt / weights.force);
    }
}

/// Adds an impulse at a touching point, and its reaction, to a right side.
fn push_touch<S: Scalar>(
    linkage: &Linkage,
    right: &mut [Vector3<S>],
    touch: &Touch<S>,
    impulse: &Vector3<S>,
) {
    let place = linkage.place_of(touch.node);
    right[place.linear] += impulse;
    if let Some(block) = place.angular {
        right[block] += touch.lever().cross(impulse);
    }
    if let Some(carrier) = &touch.carrier {
        let place = linkage.place_of(carrier.node);
        right[place.linear] -= impulse;
        if let Some(block) = place.angular {
            right[block] -= carrier.lever().cross(impulse);
        }
    }
}

/// Velocity at a touching point relative to the surface, as impulses there see it.
fn seen_at<S: Scalar>(linkage: &Linkage, solution: &[Vector3<S>], touch: &Touch<S>) -> Vector3<S> {
    let at = |node: usize, lever: Vector3<S>| {
        let place = linkage.place_of(node);
        let turning = place.angular.map_or(Vector3::zeros(), |block| solution[block].cross(&lever));
        solution[place.linear] + turning
    };
    let mut seen = at(touch.node, touch.lever());
    if let Some(carrier) = &touch.carrier {
        seen -= at(carrier.node, carrier.lever());
    }
    seen
}

/// What holds the second end of a joint with solution blocks `block`, about the joint's place.
fn hold<S: Solvable>(
    step: &IslandStep<'_, S>,
    index: usize,
    joint: usize,
    block: impl Fn(usize) -> Vector3<S>,
) -> Wrench<S> {
    let linkage = &step.system.linkages[index];
    let acting = &step.workspace.linkages[index].acting;
    let Some(placed) = linkage.place_joint(&step.system.ties, joint, acting) else {
        return Wrench { impulse: Vector3::zeros(), moment: Vector3::zeros() };
    };
    let entry = &step.system.ties.joints[linkage.joints[joint]];
    let on_second = |place: &Option<JointPlace>, part: Matrix3<S>| {
        place.map_or(Vector3::zeros(), |place| -(part.tr_mul(&block(place.block))))
    };
    let [moves, turns] = &linkage.joint_places[joint];
    Wrench {
        impulse: on_second(moves, entry.translation_rows(&placed).parts[2]),
        moment: on_second(turns, entry.rotation_rows(&placed).parts[3]),
    }
}

/// What loads the bearing of a joint with the last response to impulses; not what drives it along its axis.
pub fn wrench<S: Solvable>(step: &IslandStep<'_, S>, index: usize, joint: usize) -> Wrench<S> {
    let Scratch { free, motion, .. } = &step.workspace.linkages[index];
    let mut wrench = hold(step, index, joint, |block| free[block] + motion.solution[block]);
    let linkage = &step.system.linkages[index];
    let acting = &step.workspace.linkages[index].acting;
    if step.system.ties.joints[linkage.joints[joint]].kind == JointKind::Prismatic
        && let Some(placed) = linkage.place_joint(&step.system.ties, joint, acting)
    {
        let axis = placed.axis();
        wrench.impulse -= axis * axis.dot(&wrench.impulse);
    }
    wrench
}

/// Books what springs and joints do in the accepted proposal.
pub fn record<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    for joint in 0..linkage.joints.len() {
        let proposed = &step.workspace.linkages[index].proposed;
        let wrench = hold(step, index, joint, |block| proposed[block]);
        let state = &mut step.state.joints[linkage.joints[joint]];
        state.impulse += wrench.impulse;
        state.moment += wrench.moment;
    }
    let damps = linkage.springs.iter().any(|&spring| step.state.parameters.damping[spring].value() > 0.0);
    if !damps && linkage.rubbing.is_empty() {
        return;
    }
    let Workspace { linkages, velocity, turns, .. } = &mut *step.workspace;
    let Scratch { acting, .. } = &mut linkages[index];
    let half = S::from(0.5);
    for (acting, place) in acting.iter_mut().zip(&linkage.places) {
        let node = &step.state.nodes[place.node];
        acting.velocity = (node.velocity + velocity[place.node]) * half;
        if let Some(rotation) = step.system.nodes[place.node].rotation {
            let before = step.state.rotations[rotation].angular_velocity;
            acting.angular_velocity = (before + turns[rotation].end) * half;
        }
    }
    let work = work_of_rows(step, linkage, index);
    step.state.step.dissipated -= work;
    joint_friction::record(step, index, dt);
    let acting = &step.workspace.linkages[index].acting;
    let lost = linkage.damping_power(&step.system.ties, &step.state.parameters, acting) * dt;
    step.state.step.dissipated += lost;
    step.state.step.dissipated_by_damping += lost;
}

/// Work of the joints' impulses on the mean velocities in `acting`, but for that of motors. It is what the rows, held at
/// the end of the interval, leave in its mean.
fn work_of_rows<S: Solvable>(step: &IslandStep<'_, S>, linkage: &Linkage, index: usize) -> S {
    let Scratch { acting, proposed, .. } = &step.workspace.linkages[index];
    let mut work = S::zero();
    for joint in 0..linkage.joints.len() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, acting) else { continue };
        let [moves, turns] = &linkage.joint_places[joint];
        let driven = entry.motor.is_some();
        let blocks = [
            (moves, entry.translation_rows(&placed), driven && !entry.has_angle()),
            (turns, entry.rotation_rows(&placed), driven && entry.has_angle()),
        ];
        for (place, rows, driven) in blocks {
            let Some(place) = place else { continue };
            let mut seen = rows.velocity(place, acting);
            if driven {
                seen[2] = S::zero();
            }
            work -= seen.dot(&proposed[place.block]);
        }
    }
    work
}

/// Takes the errors of the joints out of the positions that were reached.
pub fn settle<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    step.workspace.linkages[index].free_over = None;
    if linkage.has_joints() && dt.value() > 0.0 {
        close_joints(step);
    }
}

/// Displaces nodes until the joints are closed.
pub fn close_joints<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    for round in 0..ROUNDS {
        place_nodes(step, index);
        follow_angles(step, linkage, index);
        // Once in any case: errors that are zero may have tangents.
        if joint_errors(step, linkage, index) && round > 0 {
            break;
        }
        displace(step);
    }
}

/// Where nodes are at present.
fn place_nodes<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize) {
    let nodes = &mut step.workspace.linkages[index].ends;
    for (end, &node) in nodes.iter_mut().zip(&step.island.nodes) {
        let turning = step.system.nodes[node].rotation;
        *end = Configuration {
            pose: pose(step.system, step.state, node),
            velocity: step.state.nodes[node].velocity,
            angular_velocity: turning
                .map_or(Vector3::zeros(), |rotation| step.state.rotations[rotation].angular_velocity),
        };
    }
}

/// Counts turns about the axes of joints on, and keeps the coordinates of motors.
fn follow_angles<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let nodes = &step.workspace.linkages[index].ends;
    for (joint, &entry) in linkage.joints.iter().enumerate() {
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, nodes) else { continue };
        step.state.joints[entry].follow(&step.system.ties.joints[entry], &placed);
    }
}

/// Writes the errors of the joints. Returns whether they are round-off.
fn joint_errors<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) -> bool {
    let moment = moment(step, S::zero());
    let mut closed = true;
    for joint in 0..linkage.joints.len() {
        let nodes = &step.workspace.linkages[index].ends;
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, nodes) else { continue };
        let demand = demand(step.system, step.state, linkage.joints[joint], &moment);
        let target = demand.and_then(|demand| demand.position);
        let [moves, turns] = &linkage.joint_places[joint];
        let angle = step.state.joints[linkage.joints[joint]].angle;
        let errors = [entry.translation_error(&placed, target), entry.rotation_error(&placed, angle, target)];
        let held = entry.held();
        let size = 1.0 + largest(&placed.arms[0]) + largest(&placed.arms[1]) + position_size(nodes, moves);
        let written = &mut step.workspace.linkages[index].held;
        for (block, (error, held)) in [moves, turns].into_iter().zip(errors.into_iter().zip(held)) {
            let Some(place) = block else { continue };
            let error = Vector3::from_fn(|row, _| if held[row] { error[row] } else { S::zero() });
            closed &= largest(&error) <= CLOSED * size;
            written[place.block] = -error;
        }
    }
    closed
}

fn position_size<S: Scalar>(nodes: &[Configuration<S>], place: &Option<JointPlace>) -> f64 {
    let ends = place.iter().flat_map(|place| place.ends.iter().flatten());
    ends.fold(0.0, |most, &node| largest(&nodes[node].pose.position).max(most))
}

/// The system of displacements, where nodes are at present.
fn place_system<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    fill_placement(step, linkage, index);
    step.workspace.linkages[index].placement.factor(linkage);
}

fn fill_placement<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    place_nodes(step, index);
    let parameters = &step.state.parameters;
    let Workspace { linkages, mobility, .. } = &mut *step.workspace;
    let Scratch { placement, ends, .. } = &mut linkages[index];
    placement.clear();
    for (local, (place, end)) in linkage.places.iter().zip(ends.iter()).enumerate() {
        let turning = step.system.nodes[place.node].rotation;
        let turning = turning.map(|rotation| (&end.pose.orientation, &parameters.inertia[rotation]));
        placement.set_body(local, place, mobility[place.node], turning);
    }
    for joint in 0..linkage.joints.len() {
        let entry = &step.system.ties.joints[linkage.joints[joint]];
        let Some(placed) = linkage.place_joint(&step.system.ties, joint, ends) else { continue };
        let [moves, turns] = &linkage.joint_places[joint];
        let [moves_held, turns_held] = entry.held();
        if let Some(place) = moves {
            placement.set_rows(place, &entry.translation_rows(&placed), moves_held);
        }
        if let Some(place) = turns {
            placement.set_rows(place, &entry.rotation_rows(&placed), turns_held);
        }
    }
}

/// How far a contact opens for a unit of what corrects its position.
pub fn compliance<S: Solvable>(step: &mut IslandStep<'_, S>, place: usize) -> S {
    let (linkage, index) = linkage_of(step);
    place_system(step, linkage, index);
    let Workspace { touches, linkages, .. } = &mut *step.workspace;
    let system = &mut linkages[index].placement;
    let touch = Touch { arm_after: touches[place].arm, ..touches[place] };
    system.clear_right();
    push_touch(linkage, &mut system.right, &touch, &touch.normal);
    system.solve(linkage);
    touch.normal.dot(&seen_at(linkage, &system.solution, &touch))
}

/// Displaces the nodes by what was pushed, and such that the joints close.
pub fn displace<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    place_system(step, linkage, index);
    joint_errors(step, linkage, index);
    let Workspace { linkages, shifts, moments, .. } = &mut *step.workspace;
    let Scratch { placement, held, .. } = &mut linkages[index];
    placement.clear_right();
    for place in &linkage.places {
        placement.right[place.linear] = std::mem::replace(&mut shifts[place.node], Vector3::zeros());
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            placement.right[block] = std::mem::replace(&mut moments[rotation], Vector3::zeros());
        }
    }
    for place in linkage.joint_places.iter().flatten().flatten() {
        placement.right[place.block] = held[place.block];
    }
    placement.solve(linkage);
    for place in &linkage.places {
        let shift = step.workspace.linkages[index].placement.solution[place.linear];
        correction::shift(step, place.node, shift);
        if let (Some(block), Some(rotation)) = (place.angular, step.system.nodes[place.node].rotation) {
            let turn = step.workspace.linkages[index].placement.solution[block];
            correction::turn_by(step, (place.node, rotation), &turn);
        }
    }
    step.workspace.linkages[index].free_over = None;
}

/// Springs and joints of the island, and their place among all.
pub fn linkage_of<'a, S: Solvable>(step: &IslandStep<'a, S>) -> (&'a Linkage, usize) {
    let index = step.island.linkage.expect("asked of islands with springs or joints only");
    (&step.system.linkages[index], index)
}
