//! The interval of Moreau-Jean's scheme where an island has springs between point masses only, in as few passes over the
//! nodes as there can be. At an instant springs do nothing.

use super::super::IslandStep;
use super::stiffening;
use crate::engine::linkage::Scratch;
use crate::engine::linkage::assembly::System as LinearSystem;
use crate::engine::linkage::plain::{PlainMatrix, acting_velocity};
use crate::engine::scalar::{held, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::system::linkage::{Linkage, Plain};
use crate::engine::ties::spring::{Miss, Pursuit};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// The springs of such an island.
pub fn of<'a, S: Solvable>(step: &IslandStep<'a, S>) -> Option<(&'a Linkage, &'a Plain, usize)> {
    let index = step.island.linkage?;
    let linkage = &step.system.linkages[index];
    linkage.plain.as_ref().map(|plain| (linkage, plain, index))
}

/// Keeps the accelerations without springs of what may touch: those with springs take their place.
pub fn begin<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, plain: &Plain, index: usize) {
    let Workspace { linkages, acceleration, .. } = &mut *step.workspace;
    let Scratch { free_over, applied, plain: matrix, .. } = &mut linkages[index];
    *free_over = None;
    matrix.even = None;
    for &local in &plain.touching {
        applied[local] = acceleration[linkage.places[local].node];
    }
}

/// The same where nothing but gravity acts; only what may touch is told of it.
pub fn begin_evenly<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    (linkage, plain, index): (&Linkage, &Plain, usize),
) {
    let gravity = step.state.parameters.gravity;
    let Workspace { linkages, acceleration, .. } = &mut *step.workspace;
    let Scratch { free_over, applied, plain: matrix, .. } = &mut linkages[index];
    *free_over = None;
    matrix.even = Some(gravity);
    for &local in &plain.touching {
        applied[local] = gravity;
        acceleration[linkage.places[local].node] = gravity;
    }
}

/// Velocities at the end of `dt` without contact. They stay as they are until something is pushed.
pub fn propose<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    (linkage, plain, index): (&Linkage, &Plain, usize),
    dt: S,
) {
    if step.workspace.linkages[index].free_over == Some(dt) {
        return;
    }
    if dt.value() == 0.0 {
        return propose_instant(step, linkage, index);
    }
    let stiffening = stiffening(&step.weights(dt), dt);
    let theta = S::from(step.system.settings.theta);
    let Workspace { linkages, velocity, acceleration, mobility, .. } = &mut *step.workspace;
    let Scratch { motion, plain: matrix, applied, .. } = &mut linkages[index];
    let (nodes, parameters) = (&step.state.nodes, &step.state.parameters);
    for &local in &plain.touching {
        acceleration[step.island.nodes[local]] = applied[local];
    }
    let ahead = theta * dt;
    let island = &step.island.nodes;
    let even = matrix.even;
    for ((at, right), &index) in matrix.at.iter_mut().zip(&mut motion.solution).zip(island) {
        let node = &nodes[index];
        let after = node.velocity + even.unwrap_or_else(|| acceleration[index]) * dt;
        velocity[index] = after;
        *at = node.position + acting_velocity(node, &after, theta) * ahead;
        *right = Vector3::zeros();
    }
    let weighed = matrix.weigh(island, plain, &parameters.mass, mobility);
    let acting = |local: usize| {
        let node = island[local];
        acting_velocity(&nodes[node], &velocity[node], theta)
    };
    let turned = matrix.pull(plain, parameters, &stiffening, acting, &mut motion.solution);
    if weighed || turned {
        write(motion, matrix, linkage);
    }
    motion.solve_for_each(linkage, |block, change| velocity[island[block]] += change);
    let pursuit = if turned { pursue(step, (linkage, plain, index), dt) } else { Pursuit::Caught };
    let Workspace { linkages, velocity, acceleration, .. } = &mut *step.workspace;
    for &local in &plain.touching {
        let node = step.island.nodes[local];
        acceleration[node] = (velocity[node] - step.state.nodes[node].velocity) / dt;
    }
    (linkages[index].free_over, linkages[index].pursuit) = (Some(dt), pursuit);
}

fn write<S: Solvable>(motion: &mut LinearSystem<S>, matrix: &mut PlainMatrix<S>, linkage: &Linkage) {
    motion.write_plain(linkage, matrix);
    matrix.answer.to = None;
}

/// Newton steps until springs do what was solved for where they then are.
#[inline(never)]
fn pursue<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    (linkage, plain, index): (&Linkage, &Plain, usize),
    dt: S,
) -> Pursuit {
    let stiffening = stiffening(&step.weights(dt), dt);
    let theta = S::from(step.system.settings.theta);
    let Workspace { linkages, velocity, acceleration, .. } = &mut *step.workspace;
    let Scratch { motion, plain: matrix, .. } = &mut linkages[index];
    let (nodes, parameters, island) = (&step.state.nodes, &step.state.parameters, &step.island.nodes);
    let before = |local: usize| island.get(local).map_or_else(Vector3::zeros, |&node| nodes[node].position);
    let (stored, rounded) = S::aside(|| plain.energy(parameters, dt, before));
    let even = matrix.even;
    let mut last = f64::INFINITY;
    for _ in 0..TOLERANCES.newton_steps {
        let mut miss = Miss { energy: stored, ..Miss::default() };
        let mut speed = 0.0_f64;
        let mean = |node: usize| acting_velocity(&nodes[node], &velocity[node], theta);
        for (at, &node) in matrix.at.iter_mut().zip(island) {
            *at = nodes[node].position + mean(node) * (theta * dt);
        }
        let acting = |local: usize| mean(island[local]);
        let start = (before, theta);
        let momentum = |node: usize| {
            let free = nodes[node].velocity + even.unwrap_or_else(|| acceleration[node]) * dt;
            (free, velocity[node], parameters.mass[node])
        };
        for (missing, &node) in motion.solution.iter_mut().zip(island) {
            let (free, velocity, mass) = momentum(node);
            *missing = (held(&free) - held(&velocity)) * S::from(mass.value());
        }
        matrix.pull_between(plain, parameters, &stiffening, start, acting, (&mut motion.solution, false));
        for (missing, &node) in motion.solution.iter().zip(island) {
            let mean = held(&mean(node));
            miss.energy += 0.5 * parameters.mass[node].value() * mean.dot(&mean).value();
            speed = speed.max(length(&mean).value());
            miss.work += missing.dot(&mean).value().abs();
        }
        miss.rounding = rounded * speed;
        if matrix.damps {
            let power = S::aside(|| plain.damping_power(parameters, &matrix.at, acting));
            miss.damped = (power * dt).value();
        }
        match miss.judge(last) {
            Pursuit::Near => last = miss.work,
            decided => return decided,
        }
        for (missing, &node) in motion.solution.iter_mut().zip(island) {
            let (free, velocity, mass) = momentum(node);
            *missing = (free - velocity) * mass;
        }
        matrix.pull_between(plain, parameters, &stiffening, start, acting, (&mut motion.solution, true));
        write(motion, matrix, linkage);
        motion.solve_for_each(linkage, |block, change| velocity[island[block]] += change);
    }
    Pursuit::Lost
}

/// An impact: velocities are what they are.
fn propose_instant<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let Workspace { linkages, velocity, mobility, .. } = &mut *step.workspace;
    for place in &linkage.places {
        velocity[place.node] = step.state.nodes[place.node].velocity;
        mobility[place.node] = S::one() / step.state.parameters.mass[place.node];
    }
    linkages[index].free_over = None;
}

/// Adds what the impulses of the active contacts, in the right side, do.
pub fn push<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize, first: usize) {
    let Workspace { linkages, velocity, .. } = &mut *step.workspace;
    let Scratch { motion, free_over, .. } = &mut linkages[index];
    motion.solve_in_place(linkage, first);
    for (change, &node) in motion.solution.iter().zip(&step.island.nodes) {
        velocity[node] += change;
    }
    *free_over = None;
}

/// The impulse along `normal` on a node that keeps its velocity there, `free` without it over the interval at hand, from
/// being negative. Adds what it does to the proposal. None where springs between point masses are not all, or the node is
/// not the one that is eliminated last.
pub fn stop<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    node: usize,
    normal: &Vector3<S>,
    free: S,
) -> Option<S> {
    if step.system.settings.scheme != Scheme::MoreauJean {
        return None;
    }
    let (linkage, _, index) = of(step)?;
    let place = linkage.place_of(node).linear;
    if linkage.pattern.turn(place) + 1 != linkage.pattern.size() {
        return None;
    }
    if free.value() >= 0.0 {
        return Some(S::zero());
    }
    let Workspace { linkages, velocity, .. } = &mut *step.workspace;
    let scratch = &mut linkages[index];
    if scratch.plain.answer.to != Some((place, *normal)) {
        find_answer(scratch, linkage, place, normal);
    }
    let answers = &scratch.plain.answer.velocities;
    let impulse = -free / normal.dot(&answers[place]);
    for (answer, &node) in answers.iter().zip(&step.island.nodes) {
        velocity[node] += answer * impulse;
    }
    scratch.free_over = None;
    Some(impulse)
}

#[inline(never)]
fn find_answer<S: Solvable>(scratch: &mut Scratch<S>, linkage: &Linkage, place: usize, normal: &Vector3<S>) {
    let Scratch { motion, plain, .. } = scratch;
    motion.solution.fill(Vector3::zeros());
    motion.solution[place] = *normal;
    motion.solve_in_place(linkage, linkage.pattern.turn(place));
    plain.answer.velocities.copy_from_slice(&motion.solution);
    plain.answer.to = Some((place, *normal));
}

/// Books what dampers take in the accepted proposal.
pub fn record<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    (linkage, plain, index): (&Linkage, &Plain, usize),
    dt: S,
) {
    let Workspace { linkages, velocity, .. } = &mut *step.workspace;
    let matrix = &linkages[index].plain;
    if !matrix.damps || dt.value() == 0.0 {
        return;
    }
    let nodes = &step.state.nodes;
    let mean = |local: usize| {
        let node = linkage.places[local].node;
        (nodes[node].velocity + velocity[node]) * S::from(0.5)
    };
    let lost = plain.damping_power(&step.state.parameters, &matrix.at, mean) * dt;
    step.state.step.dissipated += lost;
    step.state.step.dissipated_by_damping += lost;
}
