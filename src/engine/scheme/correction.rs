//! Position-level correction: bodies are moved, velocities are not, so that no kinetic energy is injected.
//!
//! The displacement is the smallest in the mass norm that opens the gaps: `0 <= x _|_ W x + gap >= 0`,
//! `q += M^-1 N^T x`. Where a body turns with it, gaps are not linear in `x` and it is repeated.

use super::{IslandStep, Placing, linked};
use crate::engine::contact::{Carrier, Impulse, Touch, gap_at};
use crate::engine::law::ContactMode;
use crate::engine::math::rotation::{Orientation, angular_momentum, spin};
use crate::engine::scalar::{Scalar, cross, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::system::System;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Gaps of turning bodies that are left alone, as a part of the distance that counts as touching.
const CLOSED_PART: f64 = TOLERANCES.much_less;
/// Depth in a pile that is left alone, as a part of the distance that a body falls within a step.
const SHALLOW: f64 = TOLERANCES.coarse;
/// Displacements in a pile are not larger than this times the deepest penetration.
const NEXT: f64 = 4.0;
/// Largest tolerance of a displacement.
const ROUGHEST: f64 = TOLERANCES.coarse;

/// Puts contacts that were pressed over `dt` exactly on their surfaces, from either side.
///
/// Their normal impulses are taken out of the motion first, which presses every one of them in; lifting them
/// out again leaves all gaps at zero. Where bodies turn, there and back again is not the same place, which lifts weights
/// by the square of the way; where energy is balanced, a small part of the impulses has to do.
pub fn close<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    put_on_surfaces(step, dt);
    if step.is_jointed() {
        linked::follow(step);
    }
}

fn put_on_surfaces<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let mut lever = dt * S::from(step.contact_weight());
    for _ in 0..TOLERANCES.placement_rounds {
        if all_closed(step) {
            return;
        }
        if step.keeps_energy && lever.value() > 0.0 {
            lever *= S::from(part_to_press(step, lever.value()));
        }
        let mut turns = false;
        step.workspace.unknowns.clear();
        for index in 0..step.workspace.active.len() {
            let place = step.workspace.active[index];
            let touch = &step.workspace.touches[place];
            let impulse = step.workspace.impulses[index].normal;
            let mut press = impulse * lever;
            if turns_with(step.system, step.state, touch) || step.is_jointed() {
                turns = true;
                let gap = touch.gap;
                if impulse.value() > 0.0 && gap.value() > 0.0 {
                    press += gap * S::from(2.0) / compliance(step, place);
                }
            }
            push(step, place, -press);
            step.workspace.unknowns.extend([press, S::zero(), S::zero()]);
        }
        hold_back(step);
        displace(step);
        lift(step);
        if !turns {
            return;
        }
        take_penetrated(step);
        lever = S::zero();
    }
}

/// Shortens displacements that take a body further than displacements reach. Friction that holds a light body under heavy
/// ones is not taken out with the normal impulses, which alone would throw it far away.
fn hold_back<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let mut part = 1.0_f64;
    for &node in &step.island.nodes {
        let size = step.system.nodes[node].shape.extent(&step.system.details.points);
        let mut way = length(&step.workspace.shifts[node]).value() * step.workspace.mobility[node].value();
        if let Some(rotation) = step.system.nodes[node].rotation {
            way += length(&turn(step, rotation, &step.workspace.moments[rotation])).value() * size;
        }
        if size > 0.0 && way > TOLERANCES.slight * size {
            part = part.min(TOLERANCES.slight * size / way);
        }
    }
    if part == 1.0 {
        return;
    }
    let part = S::from(part);
    let Workspace { shifts, moments, unknowns, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        shifts[node] *= part;
        if let Some(rotation) = step.system.nodes[node].rotation {
            moments[rotation] *= part;
        }
    }
    unknowns.iter_mut().for_each(|x| *x *= part);
}

/// The part of the impulses that presses turning contacts in by many times their gaps, so that all are in.
fn part_to_press<S: Solvable>(step: &IslandStep<'_, S>, lever: f64) -> f64 {
    const GAPS: f64 = 1e4;
    let (mut deepest, mut pressed) = (0.0_f64, 0.0_f64);
    for (index, &place) in step.workspace.active.iter().enumerate() {
        let touch = &step.workspace.touches[place];
        if !turns_with(step.system, step.state, touch) && !step.is_jointed() {
            return 1.0;
        }
        let impulse = step.workspace.impulses[index].normal.value();
        deepest = deepest.max(touch.gap.value().abs());
        pressed = pressed.max(impulse * lever * compliance_alone(step, place).value());
    }
    if pressed > GAPS * deepest { GAPS * deepest / pressed } else { 1.0 }
}

/// Makes active, without impulse, what a displacement of others has pressed in.
fn take_penetrated<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let known = step.workspace.active.len();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        // What was further away than a displacement reaches is not looked at again.
        if touch.gap.value() > TOLERANCES.slight * step.least_arm(touch)
            || step.workspace.active[..known].contains(&index)
        {
            continue;
        }
        let gap = refresh(step, index);
        if gap < -CLOSED_PART * step.touching_distance(&step.workspace.touches[index]) {
            let nothing =
                Impulse { normal: S::zero(), tangential: Vector3::zeros(), mode: ContactMode::Open };
            step.workspace.active.push(index);
            step.workspace.impulses.push(nothing);
        }
    }
}

/// Moves nodes out of the surfaces that they penetrate.
pub fn lift_out<S: Solvable>(step: &mut IslandStep<'_, S>) {
    step.workspace.active.clear();
    step.workspace.unknowns.clear();
    for index in 0..step.workspace.touches.len() {
        if refresh(step, index) < 0.0 {
            step.workspace.active.push(index);
            step.workspace.unknowns.extend([S::zero(); 3]);
        }
    }
    if step.workspace.active.is_empty() {
        return;
    }
    if step.is_pile() && !add_next(step) {
        return;
    }
    lift(step);
    // What closes joints to first order only.
    if step.is_jointed() {
        linked::close_joints(step);
    }
}

/// Makes active too what a body would be lifted into: in a pile there is always something beside it. Returns whether any
/// is deep enough to be lifted out.
fn add_next<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    let mut deepest = 0.0_f64;
    let mut is_deep = false;
    for touch in &step.workspace.touches {
        let depth = -touch.gap.value();
        is_deep |= depth > SHALLOW * step.settling_distance(touch) + step.touching_distance(touch);
        deepest = deepest.max(depth);
    }
    if !is_deep {
        return false;
    }
    step.workspace.active.clear();
    step.workspace.unknowns.clear();
    for index in 0..step.workspace.touches.len() {
        if step.workspace.touches[index].gap.value() < NEXT * deepest {
            step.workspace.active.push(index);
            step.workspace.unknowns.extend([S::zero(); 3]);
        }
    }
    true
}

/// Whether pressed contacts are on their surfaces and the others not inside.
fn all_closed<S: Solvable>(step: &mut IslandStep<'_, S>) -> bool {
    /// Gaps that are left alone where one displacement closes them.
    const CLOSED: f64 = TOLERANCES.last_bits;
    let mut closed = true;
    for index in 0..step.workspace.active.len() {
        let pressed = step.workspace.impulses[index].normal.value() > 0.0;
        let gap = refresh(step, step.workspace.active[index]);
        let touch = &step.workspace.touches[step.workspace.active[index]];
        let turns = turns_with(step.system, step.state, touch);
        let tolerance = if turns { CLOSED_PART * step.touching_distance(touch) } else { CLOSED };
        closed &= (if pressed { gap.abs() } else { -gap }) <= tolerance;
    }
    closed
}

/// Whether a displacement may turn normal or arm of a contact.
#[inline]
pub(super) fn turns_with<S: Solvable>(system: &System, state: &State<S>, touch: &Touch<S>) -> bool {
    let is_displaced = |carrier: Carrier<S>| system.yields(state, carrier.node);
    touch.rotation.is_some() || touch.carrier.is_some_and(is_displaced) || !touch.flat
}

#[inline]
pub(super) fn refresh<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize) -> f64 {
    let touch = &mut step.workspace.touches[index];
    if touch.rotation.is_some() || touch.carrier.is_some() || !touch.flat {
        touch.settle(step.system, step.state);
    } else {
        touch.gap = gap_at(step.system, step.state, touch.sides(), touch.point);
    }
    touch.gap.value()
}

/// How far a contact opens for a unit of `x`.
fn compliance<S: Solvable>(step: &mut IslandStep<'_, S>, place: usize) -> S {
    let alone = compliance_alone(step, place);
    if !linked::yields(step, Placing::Present, S::zero()) {
        return alone;
    }
    // What joints hold cannot be moved, and need not be moved far in trying.
    let least = alone * S::from(linked::SOFTNESS);
    let linked = linked::compliance(step, place);
    if linked.value() > least.value() { linked } else { least }
}

/// The same without springs and joints.
fn compliance_alone<S: Solvable>(step: &IslandStep<'_, S>, place: usize) -> S {
    let touch = &step.workspace.touches[place];
    let Workspace { mobility, together, .. } = &*step.workspace;
    let alone = touch.mobility_along(step.state, mobility, &touch.normal);
    match together.place(touch.node) {
        None => alone,
        Some(place) => {
            alone - mobility[touch.node] + touch.normal.dot(&(together.block(place, place) * touch.normal))
        }
    }
}

/// How a body turns for a moment.
fn turn<S: Solvable>(step: &IslandStep<'_, S>, rotation: usize, moment: &Vector3<S>) -> Vector3<S> {
    spin(&step.state.rotations[rotation].orientation, &step.state.parameters.inertia[rotation], moment)
}

/// Adds `N^T x` of a contact to what displaces its node, and the opposite to that of the body that carries its
/// surface.
fn push<S: Solvable>(step: &mut IslandStep<'_, S>, place: usize, x: S) {
    let Workspace { touches, shifts, moments, .. } = &mut *step.workspace;
    let touch = &touches[place];
    let push = touch.normal * x;
    shifts[touch.node] += push;
    if let Some(rotation) = touch.rotation {
        moments[rotation] += cross(&touch.arm, &push);
    }
    if let Some(carrier) = &touch.carrier {
        shifts[carrier.node] -= push;
        if let Some(rotation) = carrier.rotation {
            moments[rotation] -= cross(&carrier.arm, &push);
        }
    }
}

/// Makes the displacements real, each body at once: turns one after the other would not commute.
fn displace<S: Solvable>(step: &mut IslandStep<'_, S>) {
    if linked::yields(step, Placing::Present, S::zero()) {
        return linked::displace(step);
    }
    for &node in &step.island.nodes {
        let pushed = std::mem::replace(&mut step.workspace.shifts[node], Vector3::zeros());
        if let Some(place) = step.workspace.together.place(node) {
            shift_together(step, place, &pushed);
        } else {
            shift(step, node, pushed * step.workspace.mobility[node]);
        }
        if let Some(rotation) = step.system.nodes[node].rotation {
            let moment = std::mem::replace(&mut step.workspace.moments[rotation], Vector3::zeros());
            let turn = turn(step, rotation, &moment);
            turn_by(step, (node, rotation), &turn, Spin::Free);
        }
    }
}

/// Moves all that respond to what displaces one of them.
#[inline(never)]
pub(super) fn shift_together<S: Solvable>(step: &mut IslandStep<'_, S>, place: usize, pushed: &Vector3<S>) {
    step.workspace.together.reach[place] += pushed;
    for other in 0..step.workspace.together.nodes().len() {
        let node = step.workspace.together.nodes()[other];
        let way = step.workspace.together.block(other, place) * pushed;
        shift(step, node, way);
    }
}

/// What becomes of the spin of a body that is turned; its kinetic energy is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// Angular momentum keeps its direction: a displacement is no torque.
    Free,
    /// It turns along, as reactions of joints make it.
    Along,
}

/// Turns a body.
pub(super) fn turn_by<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    (node, rotation): (usize, usize),
    turn: &Vector3<S>,
    rule: Spin,
) {
    let stored = linked::spring_energy_at(step, node);
    let inertia = &step.state.parameters.inertia[rotation];
    let state = &mut step.state.rotations[rotation];
    let turned = state.orientation.turned(turn);
    if rule == Spin::Along {
        state.angular_velocity = Orientation::from_turn(turn).to_world(&state.angular_velocity);
        state.orientation = turned;
        step.state.step.dissipated += stored - linked::spring_energy_at(step, node);
        return;
    }
    let momentum = angular_momentum(&state.orientation, inertia, &state.angular_velocity);
    let twice = momentum.dot(&state.angular_velocity);
    // What nothing turns, and what does not turn, is as it is.
    if twice.value() > 0.0 && twice.value().is_finite() {
        let along = spin(&turned, inertia, &momentum);
        state.angular_velocity = along * (twice / momentum.dot(&along)).sqrt();
    }
    state.orientation = turned;
    step.state.step.dissipated += stored - linked::spring_energy_at(step, node);
}

/// Moves a body. What its weight and its springs do on the way is booked as dissipated, so that the energy balance closes;
/// where [`super::balance`] closes it, motion pays for it.
pub(super) fn shift<S: Scalar>(step: &mut IslandStep<'_, S>, node: usize, shift: Vector3<S>) {
    let parameters = &step.state.parameters;
    let mass = parameters.mass[node];
    if step.keeps_energy {
        step.state.nodes[node].position += shift;
    } else if mass.value().is_finite() {
        let stored = linked::spring_energy_at(step, node);
        step.state.step.dissipated += mass * parameters.gravity.dot(&shift);
        step.state.nodes[node].position += shift;
        step.state.step.dissipated += stored - linked::spring_energy_at(step, node);
    }
}

/// Opens the gaps of the active contacts. The unknowns hold a guess of `x`.
pub(super) fn lift<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for index in 0..step.workspace.active.len() {
        refresh(step, step.workspace.active[index]);
    }
    match step.workspace.active[..] {
        [] => {}
        [only] => {
            let touch = &step.workspace.touches[only];
            if touch.gap.value() >= 0.0 {
                return;
            }
            let is_alone = step.workspace.together.place(touch.node).is_none();
            if !turns_with(step.system, step.state, touch) && !step.is_jointed() && is_alone {
                let (node, lifted) = (touch.node, -touch.normal * touch.gap);
                shift(step, node, lifted);
            } else {
                let x = -touch.gap / compliance(step, only);
                push(step, only, x);
                displace(step);
            }
        }
        _ => {
            step.begin_problem(Placing::Present, 0, S::zero());
            let (mut size, mut negligible) = (0.0_f64, f64::INFINITY);
            for index in 0..step.workspace.active.len() {
                let touch = &step.workspace.touches[step.workspace.active[index]];
                let (gap, scale) = (touch.gap, step.workspace.scales[index]);
                size = size.max((gap * scale).value().abs());
                negligible = negligible.min(CLOSED_PART * step.touching_distance(touch) * scale.value());
                step.workspace.problem.contacts.q[3 * index] = gap * scale;
                let guess = &mut step.workspace.unknowns[3 * index];
                *guess = if step.system.settings.warm_start { *guess / scale } else { S::zero() };
            }
            // Round-off of the positions is as good as none.
            let enough = (negligible / size).min(ROUGHEST);
            step.solve_problem_to(enough.max(step.system.settings.solver.tolerance));
            for index in 0..step.workspace.active.len() {
                let x = step.workspace.unknowns[3 * index] * step.workspace.scales[index];
                push(step, step.workspace.active[index], x);
            }
            displace(step);
        }
    }
}
