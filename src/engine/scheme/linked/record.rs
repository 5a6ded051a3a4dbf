//! What springs and joints did: forces of joints, and where the energy goes.

use super::super::{IslandStep, joint_friction};
use super::{linkage_of, plain};
use crate::engine::geometry::stop::Coordinate;
use crate::engine::law::joint_friction::Wrench;
use crate::engine::linkage::{Scratch, spring_energy};
use crate::engine::scalar::Scalar;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::system::linkage::{JointPlace, Linkage};
use crate::engine::ties::JointKind;
use nalgebra::{Matrix3, Vector3};

/// Energy of the springs at a node.
pub fn spring_energy_at<S: Scalar>(step: &IslandStep<'_, S>, node: usize) -> S {
    let Some(linkage) = step.island.linkage else { return S::zero() };
    let springs = step.system.linkages[linkage].springs_at(node);
    springs.iter().fold(S::zero(), |sum, &spring| sum + spring_energy(step.system, step.state, spring))
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
    let [translation, rotation] = entry.rows(&placed);
    Wrench { impulse: on_second(moves, translation.parts[2]), moment: on_second(turns, rotation.parts[3]) }
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
    // The reaction to a stop beside the axis is no load: with the stop it is a moment about the axis.
    for place in 0..step.workspace.active.len() {
        if let Some((_, stopped)) = of_stop(step, index, place).filter(|(stopped, _)| *stopped == joint)
            && step.system.ties.joints[linkage.joints[joint]].has_angle()
        {
            wrench.impulse += stopped.impulse;
        }
    }
    wrench
}

/// What the active contact at a place does to the second end of a joint, about the joint's place, if it is a stop; and the
/// joint.
fn of_stop<S: Solvable>(step: &IslandStep<'_, S>, index: usize, place: usize) -> Option<(usize, Wrench<S>)> {
    let linkage = &step.system.linkages[index];
    let touch = &step.workspace.touches[step.workspace.active[place]];
    let stop = step.system.stop(touch.sides())?;
    let joint = linkage.joints.iter().position(|&joint| joint == stop.joint)?;
    let placed = linkage.place_joint(&step.system.ties, joint, &step.workspace.linkages[index].acting)?;
    let on_node = touch.acting_normal() * step.workspace.impulses[place].normal;
    let impulse = if stop.node_is_second { on_node } else { -on_node };
    let about = match stop.coordinate {
        Coordinate::Angle { .. } => S::from(stop.lever()) * step.workspace.impulses[place].normal,
        Coordinate::Distance => S::zero(),
    };
    Some((joint, Wrench { impulse, moment: placed.axis() * about }))
}

/// Books what springs and joints do in the accepted proposal.
pub fn record<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    if step.system.settings.scheme == Scheme::MoreauJean
        && let Some(plain) = plain::of(step)
    {
        return plain::record(step, plain, dt);
    }
    let (linkage, index) = linkage_of(step);
    for joint in 0..linkage.joints.len() {
        let proposed = &step.workspace.linkages[index].proposed;
        let wrench = hold(step, index, joint, |block| proposed[block]);
        let state = &mut step.state.joints[linkage.joints[joint]];
        state.impulse += wrench.impulse;
        state.moment += wrench.moment;
    }
    for place in 0..step.workspace.active.len() {
        if let Some((joint, stopped)) = of_stop(step, index, place) {
            let state = &mut step.state.joints[linkage.joints[joint]];
            state.impulse += stopped.impulse;
            state.moment += stopped.moment;
        }
    }
    let damps = linkage.springs.iter().any(|&spring| !step.state.parameters.damping[spring].is_zero());
    if !damps && !linkage.has_joints() {
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
    if !step.keeps_energy || dt.value() == 0.0 {
        let work = work_of_rows(step, linkage, index);
        step.state.step.dissipated -= work;
    }
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
        let blocks = linkage.joint_places[joint].iter().zip(entry.rows(&placed));
        for ((place, rows), is_rotation) in blocks.zip([false, true]) {
            let Some(place) = place else { continue };
            let mut seen = rows.velocity(place, acting);
            if entry.motor.is_some() && entry.has_angle() == is_rotation {
                seen[2] = S::zero();
            }
            work -= seen.dot(&proposed[place.block]);
        }
    }
    work
}
