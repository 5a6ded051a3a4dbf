//! Position correction of bodies that turn, taken back where it does harm.
//!
//! [`correction`] opens the gaps that it knows of, to first order. A light body between heavy ones turns far for it, into
//! what was near but not pressed, and the heavy ones are then lifted out of that. So what a correction has pressed in is
//! part of the problem from the start when it is tried again. Bodies that are `d_i` deep in their contacts are out of all
//! of them when every one is raised by `sum d_i` at most; so a correction that makes them deeper, or that takes more energy
//! than `|g| sum m_j sum d_i`, is none, and they stay where the motion has brought them.

use super::{IslandStep, correction};
use crate::engine::contact::gap_of_pair;
use crate::engine::contact::{Impulse, Touch, pose};
use crate::engine::geometry::Pose;
use crate::engine::law::ContactMode;
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::{Scalar, length};
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// What is kept to take a correction back.
#[derive(Debug)]
pub struct SettlingScratch<S> {
    /// By node.
    poses: Vec<Pose<S>>,
    /// By node that turns.
    spins: Vec<Vector3<S>>,
    active: Vec<usize>,
    impulses: Vec<Impulse<S>>,
}

impl<S: Scalar> SettlingScratch<S> {
    /// Room for so many nodes, and contacts in one island.
    pub fn with_capacity(nodes: usize, contacts: usize) -> SettlingScratch<S> {
        let pose = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
        SettlingScratch {
            poses: vec![pose; nodes],
            spins: vec![Vector3::zeros(); nodes],
            active: Vec::with_capacity(contacts),
            impulses: Vec::with_capacity(contacts),
        }
    }
}

/// Puts pressed contacts on their surfaces and moves bodies out of one another.
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>) {
    // Nothing is pressed in by moving out of the only contact, nor by displacements that are exact.
    let touches = &step.workspace.touches;
    let turns = |touch: &Touch<S>| correction::turns_with(step.system, step.state, touch);
    let is_safe = touches.len() < 2 || !touches.iter().any(turns);
    // In a pile what is beside a body is part of every correction.
    if is_safe || step.is_jointed() || step.island.is_crowd() {
        correction::close(step, S::zero());
        correction::lift_out(step);
        return;
    }
    let booked = step.state.step.dissipated;
    let before = Depth::of(step);
    keep(step);
    for attempt in 0..TOLERANCES.placement_rounds {
        correction::close(step, S::zero());
        let learnt = learn(step);
        if attempt == 0 {
            correction::lift_out(step);
        } else {
            lift_out_beside(step);
        }
        if is_better(step, &before) {
            return;
        }
        restore(step);
        step.state.step.dissipated = booked;
        if !learnt {
            return;
        }
    }
}

/// How far contacts are from their surfaces.
struct Depth {
    deepest: f64,
    sum: f64,
    /// Energy of the weights.
    place: f64,
}

impl Depth {
    fn of<S: Solvable>(step: &mut IslandStep<'_, S>) -> Depth {
        let mut depth = Depth { deepest: 0.0, sum: 0.0, place: place(step) };
        for (contact, sides) in step.island.all_pairs(step.system) {
            let mut own = (-gap_of_pair(step.system, step.state, sides).value()).max(0.0);
            for (&index, impulse) in step.workspace.active.iter().zip(&step.workspace.impulses) {
                let mut touch = step.workspace.touches[index];
                if touch.contact == contact && touch.sides() == sides && impulse.normal.value() > 0.0 {
                    touch.settle(step.system, step.state);
                    own = own.max(touch.gap.value().abs());
                }
            }
            depth.deepest = depth.deepest.max(own);
            depth.sum += own;
        }
        depth
    }
}

/// Energy of the weights of an island.
fn place<S: Solvable>(step: &IslandStep<'_, S>) -> f64 {
    let parameters = &step.state.parameters;
    let weigh = |&node: &usize| {
        let mass = parameters.mass[node].value();
        let high = parameters.gravity.dot(&step.state.nodes[node].position).value();
        if mass.is_finite() { -mass * high } else { 0.0 }
    };
    step.island.nodes.iter().map(weigh).sum()
}

fn is_better<S: Solvable>(step: &IslandStep<'_, S>, before: &Depth) -> bool {
    let parameters = &step.state.parameters;
    let masses = step.island.nodes.iter().map(|&node| parameters.mass[node].value());
    let weight = masses.filter(|mass| mass.is_finite()).sum::<f64>() * length(&parameters.gravity).value();
    let pairs = step.island.all_pairs(step.system);
    let gaps = pairs.map(|(_, sides)| gap_of_pair(step.system, step.state, sides).value());
    let touching = step.workspace.touches.iter().map(|touch| step.touching_distance(touch));
    let slack = touching.fold(0.0, f64::max);
    let raised = place(step) - before.place;
    raised <= weight * (before.sum + slack) && -gaps.fold(0.0, f64::min) <= before.deepest + slack
}

fn keep<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let kept = &mut step.workspace.midpoint.settling;
    for &node in &step.island.nodes {
        kept.poses[node] = pose(step.system, step.state, node);
        if let Some(rotation) = step.system.nodes[node].rotation {
            kept.spins[node] = step.state.rotations[rotation].angular_velocity;
        }
    }
    kept.active.clone_from(&step.workspace.active);
    kept.impulses.clone_from(&step.workspace.impulses);
}

fn restore<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let kept = &step.workspace.midpoint.settling;
    for &node in &step.island.nodes {
        step.state.nodes[node].position = kept.poses[node].position;
        if let Some(rotation) = step.system.nodes[node].rotation {
            let state = &mut step.state.rotations[rotation];
            (state.orientation, state.angular_velocity) = (kept.poses[node].orientation, kept.spins[node]);
        }
    }
    step.workspace.active.clone_from(&kept.active);
    step.workspace.impulses.clone_from(&kept.impulses);
}

/// Keeps in mind what the correction has pressed in. Returns whether there is more of it than before.
fn learn<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let kept = &mut step.workspace.midpoint.settling;
    let known = kept.active.len();
    let nothing = Impulse { normal: S::zero(), tangential: Vector3::zeros(), mode: ContactMode::Open };
    for &index in &step.workspace.active[known..] {
        kept.active.push(index);
        kept.impulses.push(nothing);
    }
    kept.active.len() > known
}

/// Moves bodies out of one another, and not into what is beside them.
fn lift_out_beside<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let mut is_in = false;
    step.workspace.active.clear();
    step.workspace.unknowns.clear();
    for index in 0..step.workspace.touches.len() {
        let is_deep = correction::refresh(step, index) < 0.0;
        if is_deep || step.workspace.midpoint.settling.active.contains(&index) {
            step.workspace.active.push(index);
            step.workspace.unknowns.extend([S::zero(); 3]);
        }
        is_in |= is_deep;
    }
    if is_in {
        correction::lift(step);
    }
}
