//! Contact on bodies that turn within the interval.
//!
//! An impulse turns a body on, which moves its touching points and its inertia at the end of the interval. With the
//! moments `m` of the impulses, which act in the orientation midway, and the free motion `L`, `w`,
//!
//! `w+ = w + I^-1 m + g`, `g = I+^-1 (L + m) - w - I^-1 m`,
//!
//! so that the angular momentum is exact. The contact problem is solved first with touching points of the free motion and
//! `g = 0`, then with those that its solution makes, in as many passes as joints have: each leaves an error of the turn
//! times that of the one before, which makes contact on turning bodies of order 2, as joints are.

use super::IslandStep;
use super::linked::PASSES;
use crate::engine::math::rotation::{angular_momentum, spin};
use crate::engine::scalar::length;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Turn within an interval, in rad, up to which the first solution does: what it leaves out is this part of what contact
/// changes.
const SLOW: f64 = 1e-4;

/// After the solution of pass `pass` of the contact problem over `dt`: moves the ends by its impulses, and takes these out
/// of the proposal again. Returns whether the problem is to be solved once more.
#[inline]
pub fn revise<S: Solvable>(step: &mut IslandStep<'_, S>, pass: u32, dt: S) -> bool {
    // A lone contact has one solution, which passes come closer to. Several may share their load in many ways, and bounds of
    // friction that follow from the answer move with every pass too; captured steps are of order 1 in the times of
    // impacts. There one more pass has to do.
    let settings = &step.system.settings;
    let is_fine = match step.workspace.active[..] {
        [only] => {
            let contact = step.workspace.touches[only].contact;
            step.island.finds_impacts(settings) && step.system.contacts[contact].is_plain_cone()
        }
        _ => false,
    };
    let most = if is_fine { PASSES } else { 2 };
    let may_move = step.island.turns_along
        && pass + 1 < most
        && settings.scheme == Scheme::MoreauJean
        && dt.value() > 0.0;
    if !may_move {
        return false;
    }
    let bends = is_fine && bend(step);
    (turns(step, dt.value()) && move_ends(step, pass, dt)) || bends
}

/// Impulses act along the normal midway, and velocities count along that at the end: finds how the solution changes the
/// velocities of contacts whose normals turn. Returns whether that is other than it was taken for.
#[inline(never)]
fn bend<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let Workspace { touches, active, columns, scales, problem, unknowns, pushed, .. } = &mut *step.workspace;
    let mut moved = 0.0_f64;
    for (index, &place) in active.iter().enumerate() {
        let touch = &touches[place];
        if touch.flat {
            continue;
        }
        let q = Vector3::from_column_slice(&problem.contacts.q[3 * index..3 * index + 3]);
        let change = (Vector3::from(problem.contacts.velocity(index, unknowns)) - q) / scales[index];
        let change = columns[index].linear.transpose() * change;
        let turned = length(&(touch.normal_after - touch.acting_normal()));
        moved = moved.max((turned * length(&(change - pushed[index]))).value());
        pushed[index] = change;
    }
    moved > TOLERANCES.small * contact_speed(step)
}

/// Whether a body in contact turns far enough.
fn turns<S: Solvable>(step: &IslandStep<'_, S>, dt: f64) -> bool {
    let matters = |node: usize, rotation: Option<usize>| {
        let is_fast = |rotation: usize| dt * length(&step.workspace.turns[rotation].end).value() > SLOW;
        !step.system.nodes[node].shape.is_round() && rotation.is_some_and(is_fast)
    };
    step.workspace.active.iter().any(|&index| {
        let touch = &step.workspace.touches[index];
        matters(touch.node, touch.rotation)
            || touch.carrier.is_some_and(|carrier| matters(carrier.node, carrier.rotation))
    })
}

/// Takes the gyration in the proposal over `dt` from the impulses that act in it, which may be others than those of the
/// pass before: angular momentum is exact, and what is left is an error of the contact law.
#[inline]
pub fn close<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let gyrates = |&node: &usize| {
        let rotation = step.system.nodes[node].rotation;
        rotation.is_some_and(|rotation| step.workspace.turns[rotation].gyration != Vector3::zeros())
    };
    if step.island.nodes.iter().any(gyrates) {
        turn_on(step, dt);
    }
}

#[inline(never)]
fn move_ends<S: Solvable>(step: &mut IslandStep<'_, S>, pass: u32, dt: S) -> bool {
    if pass == 0 {
        keep_free(step);
    }
    for index in 0..step.workspace.active.len() {
        let place = step.workspace.active[index];
        let impulse = step.workspace.impulses[index].vector(&step.workspace.touches[place].acting_normal());
        step.push(place, &impulse);
    }
    let mut moved = turn_on(step, dt);
    for index in 0..step.workspace.active.len() {
        let place = step.workspace.active[index];
        let before = step.workspace.touches[place];
        step.look_ahead_at(place, dt);
        let touch = &step.workspace.touches[place];
        let spun = |rotation: Option<usize>, arm: Vector3<S>| match rotation {
            Some(rotation) => length(&step.workspace.turns[rotation].end.cross(&arm)),
            None => S::zero(),
        };
        let mut by_arm = spun(touch.rotation, touch.arm_after - before.arm_after);
        if let (Some(carrier), Some(was)) = (&touch.carrier, &before.carrier) {
            by_arm += spun(carrier.rotation, carrier.arm_after - was.arm_after);
        }
        let by_normal =
            length(&step.proposed_velocity(touch)) * length(&(touch.normal_after - before.normal_after));
        moved = moved.max((by_arm + by_normal).value());
    }
    take_out(step);
    moved > TOLERANCES.small * contact_speed(step)
}

/// Largest speed of one body against the other at contacts that act.
fn contact_speed<S: Solvable>(step: &IslandStep<'_, S>) -> f64 {
    let speed = |&place: &usize| length(&step.proposed_velocity(&step.workspace.touches[place])).value();
    step.workspace.active.iter().map(speed).fold(0.0, f64::max)
}

fn keep_free<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { velocity, turns, free_velocity, free_turns, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        free_velocity[node] = velocity[node];
        if let Some(rotation) = step.system.nodes[node].rotation {
            free_turns[rotation] = turns[rotation];
        }
    }
}

/// Finds the gyration of the bodies with the impulses in the proposal. Returns the largest speed by which it changes.
fn turn_on<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> f64 {
    let weight = S::from(step.contact_weight());
    let mut most = 0.0_f64;
    for &node in &step.island.nodes {
        let Some(rotation) = step.system.nodes[node].rotation else { continue };
        if !step.turns_under_load(rotation) {
            continue;
        }
        let inertia = &step.state.parameters.inertia[rotation];
        let start = step.state.rotations[rotation].orientation;
        let free = &step.workspace.free_turns[rotation];
        let turn = &mut step.workspace.turns[rotation];
        let pushed = turn.end - free.end - turn.gyration;
        let momentum = angular_momentum(&start.turned(&(free.mean * dt)), inertia, &free.end)
            + angular_momentum(&turn.acting, inertia, &pushed);
        let end = start.turned(&(turn.mean * dt));
        let gyration = spin(&end, inertia, &momentum) - free.end - pushed;
        let change = gyration - turn.gyration;
        turn.gyration = gyration;
        turn.end += change;
        turn.mean += change * weight;
        let size = step.system.nodes[node].shape.extent(&step.system.details.points);
        most = most.max(length(&change).value() * size);
    }
    most
}

/// Takes impulses out of the proposal, but not what they do to the gyration.
fn take_out<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let weight = S::from(step.contact_weight());
    let Workspace { velocity, turns, free_velocity, free_turns, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        velocity[node] = free_velocity[node];
        if let Some(rotation) = step.system.nodes[node].rotation {
            let (free, turn) = (&free_turns[rotation], &mut turns[rotation]);
            turn.end = free.end + turn.gyration;
            turn.mean = free.mean + turn.gyration * weight;
        }
    }
}
