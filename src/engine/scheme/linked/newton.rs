//! Schemes whose forces act midway or at the end: Newton steps with the same matrix, in other [`Weights`].

use super::super::{IslandStep, Weights, end_point};
use super::placement::fill_placement;
use super::{SWEEPS, demand, kinetic_energy, linkage_of, moment, see_ends, stiffening, write_joints};
use crate::engine::linkage::{
    Approach, Before, Change, Configuration, Scratch, Springs, Stiffening, spring_apart,
};
use crate::engine::scalar::length;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::system::linkage::Linkage;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

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
    let (ties, parameters) = (&step.system.ties, &step.state.parameters);
    let springs = Springs { linkage, ties, parameters, acting: ends, stiffening: still, before: None };
    placement.add_springs(&springs);
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
    const PART: f64 = TOLERANCES.coarse;
    let h = S::from(step.length);
    let ahead = h * S::from(PART);
    let [now, then] = [S::zero(), h].map(|ahead| moment(step, ahead));
    for (joint, &entry) in linkage.joints.iter().enumerate() {
        let [rate, next] = [&now, &then].map(|moment| {
            demand(step.system, step.state, entry, moment).map_or(S::zero(), |demand| demand.rate)
        });
        let Scratch { placement, acting, ends, .. } = &mut step.workspace.linkages[index];
        let entry = &step.system.ties.joints[entry];
        let targets = entry.driven((next - rate) / h);
        for (block, (place, target)) in linkage.joint_places[joint].iter().zip(targets).enumerate() {
            let Some(place) = place else { continue };
            let rows = |ahead: S| {
                let poses = place.ends.map(|end| end.map(|node| ends[node].ahead(ahead)));
                entry.rows(&entry.placed(poses.each_ref().map(Option::as_ref)))[block]
            };
            let turned = rows(ahead).velocity(place, ends) - rows(-ahead).velocity(place, ends);
            placement.right[place.block] =
                target - turned / (ahead * S::from(2.0)) - rows(S::zero()).velocity(place, acting);
        }
    }
}

/// Finds the accelerations `a` at the end such that springs and joints are obeyed there: Newton steps
/// `(M + b C + c K) u = b (f - M a) + A^T x`, `A (v + u) = r`, `a += u / b`. Returns how these went.
pub fn move_to_end<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> Approach {
    let (linkage, index) = linkage_of(step);
    let weights = step.weights(dt);
    let turns = linkage.places.iter().any(|place| place.angular.is_some());
    let sweeps = if linkage.has_joints() || turns { SWEEPS } else { 1 };
    let mut left = 0.0;
    let mut approach = Approach::default();
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
        let mut changed = Change::default();
        for (local, place) in linkage.places.iter().enumerate() {
            let Scratch { motion, acting, .. } = &step.workspace.linkages[index];
            let (at, linear) = (acting[local], motion.solution[place.linear]);
            let angular = place.angular.map(|block| motion.solution[block]);
            let spin = angular.unwrap_or_else(Vector3::zeros);
            let energy = kinetic_energy(step, place.node, &at.pose.orientation, (&linear, &spin));
            changed.add(energy, (length(&spin) * weights.reach * dt).value());
            end_point::change(step, place.node, &at, &linear, angular.as_ref());
        }
        approach.follow(changed);
    }
    step.state.step.residual = step.state.step.residual.max(left);
    let Scratch { motion, free, .. } = &mut step.workspace.linkages[index];
    // As if the force at the end had acted all the time.
    for place in linkage.joint_places.iter().flatten().flatten() {
        free[place.block] = motion.solution[place.block] * (dt / weights.force);
    }
    approach
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
    let (parameters, stiffening) = (&step.state.parameters, stiffening(weights, dt));
    motion.add_springs(&Springs { linkage, ties, parameters, acting, stiffening, before: None });
    for place in linkage.joint_places.iter().flatten().flatten() {
        motion.right[place.block] = held[place.block];
    }
    motion.speed = 0.0;
    for (local, place) in linkage.places.iter().enumerate() {
        let at = step.workspace.linkages[index].acting[local];
        let (force, torque) = end_point::missing(step, place.node, &at);
        let applied = length(&step.workspace.acceleration[place.node]).value() * dt.value();
        let motion = &mut step.workspace.linkages[index].motion;
        let speeds =
            [motion.speed, length(&at.velocity).value(), length(&at.angular_velocity).value(), applied];
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

/// A Newton step for the velocities at the end, with the nodes as found so far midway in `acting` and at the end in
/// `ends`: solves for what changes in them. `missing` is the momentum, linear and angular, that a node misses for its
/// velocity to be the one without springs, joints and contact.
pub fn move_midway<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    dt: S,
    missing: impl Fn(&IslandStep<'_, S>, usize) -> (Vector3<S>, Vector3<S>),
) {
    let (linkage, index) = linkage_of(step);
    let weights = step.weights(dt);
    let stiffening = stiffening(&weights, dt);
    set_bodies(step, linkage, index);
    see_springs(step, linkage, index);
    let Scratch { motion, acting, before, .. } = &mut step.workspace.linkages[index];
    let (ties, parameters) = (&step.system.ties, &step.state.parameters);
    let before = Some(Before { apart: before, part: weights.acting, courses: None });
    motion.add_springs(&Springs { linkage, ties, parameters, acting, stiffening, before });
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
        speed = speed
            .max(length(&ends[local].velocity).value())
            .max(length(&ends[local].angular_velocity).value());
    }
    let Scratch { motion, free, .. } = &mut step.workspace.linkages[index];
    motion.speed = speed;
    motion.factor(linkage);
    let left = motion.solve(linkage);
    free.copy_from_slice(&motion.solution);
    step.state.step.residual = step.state.step.residual.max(left);
}

/// Keeps how springs are at present.
pub fn see_springs<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let before = &mut step.workspace.linkages[index].before;
    for (before, &spring) in before.iter_mut().zip(&linkage.springs) {
        *before = spring_apart(step.system, step.state, spring);
    }
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
