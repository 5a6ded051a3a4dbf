//! Joints at position level: their errors are taken out by displacements that move no velocity.

use super::super::{IslandStep, correction};
use super::contact::{push_touch, seen_at};
use super::{demand, linkage_of, moment};
use crate::engine::contact::Touch;
use crate::engine::linkage::{Configuration, Scratch};
use crate::engine::scalar::{Scalar, largest};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::system::linkage::{JointPlace, Linkage};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Takes the errors of the joints out of the positions that were reached.
pub fn settle<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    step.workspace.linkages[index].free_over = None;
    if linkage.has_joints() && dt.value() > 0.0 {
        close_joints(step);
    }
}

/// Takes the coordinates of joints from where nodes are at present.
pub fn follow<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    place_nodes(step, index);
    follow_angles(step, linkage, index);
}

/// Displaces nodes until the joints are closed.
pub fn close_joints<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linkage_of(step);
    for round in 0..TOLERANCES.placement_rounds {
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
        *end = Configuration::of(step.system, step.state, node);
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
        let size = largest(&placed.arms[0]) + largest(&placed.arms[1]) + position_size(nodes, moves);
        let written = &mut step.workspace.linkages[index].held;
        let blocks = [(moves, size), (turns, 1.0)];
        for ((block, size), (error, held)) in blocks.into_iter().zip(errors.into_iter().zip(held)) {
            let Some(place) = block else { continue };
            let error = Vector3::from_fn(|row, _| if held[row] { error[row] } else { S::zero() });
            closed &= largest(&error) <= TOLERANCES.last_bits * size;
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
pub fn place_system<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    fill_placement(step, linkage, index);
    step.workspace.linkages[index].placement.factor(linkage);
}

pub fn fill_placement<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
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
        let blocks = linkage.joint_places[joint].iter().zip(entry.rows(&placed));
        for ((place, rows), is_held) in blocks.zip(entry.held()) {
            if let Some(place) = place {
                placement.set_rows(place, &rows, is_held);
            }
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
            correction::turn_by(step, (place.node, rotation), &turn, correction::Spin::Along);
        }
    }
    step.workspace.linkages[index].free_over = None;
}
