//! Contacts of an island with springs and joints: how they yield to one another, and what their impulses do.

use super::super::{IslandStep, Placing, Weights, joint_friction};
use super::placement::place_system;
use super::{PASSES, add, linkage_of, plain, stiffening};
use crate::engine::contact::Touch;
use crate::engine::linkage::{Rubbing, Scratch, Stiffening};
use crate::engine::math::rotation::cross_matrix;
use crate::engine::problem::block_matrix::Block;
use crate::engine::problem::cone::ConeProblem;
use crate::engine::problem::delassus::{self, Bodies};
use crate::engine::scalar::{Scalar, cross, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::system::linkage::Linkage;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};

/// Compliance of a direction in which joints hold a contact, as a part of how it would yield without them: what has no effect
/// on the motion is determined.
pub const SOFTNESS: f64 = TOLERANCES.slight;

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
        return assemble_with_answer(step, linkage, index, pass, answer);
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
    let Workspace { touches, active, columns, scales, problem, linkages, mobility, together, .. } =
        &mut *step.workspace;
    let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia, together };
    delassus::scales(touches, active, columns, bodies, scales);
    scale_operator(&mut linkages[index], linkage, is_new, (scales, &mut problem.contacts));
}

/// The same where springs answer to jumps.
fn assemble_with_answer<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    linkage: &Linkage,
    index: usize,
    pass: u32,
    answer: Stiffening<S>,
) {
    let parameters = &step.state.parameters;
    let Workspace { touches, active, columns, scales, problem, linkages, mobility, together, .. } =
        &mut *step.workspace;
    let contacts = active.len();
    let bodies = Bodies { mobility, inertia: &parameters.inertia, together };
    delassus::scales(touches, active, columns, bodies, scales);
    let respond = |scratch: &mut Scratch<S>, other: usize, direction: usize| {
        scratch.motion.clear_right();
        match other.checked_sub(contacts) {
            None => {
                let direction: Vector3<S> = columns[other].linear.row(direction).transpose();
                push_touch(linkage, &mut scratch.motion.right, &touches[active[other]], &direction);
            }
            Some(place) => push_rubbing(scratch, place, direction),
        }
        scratch.jump_and_answer(linkage, &step.system.ties, parameters, answer);
    };
    let see = |scratch: &mut Scratch<S>, one: usize| {
        let Scratch { motion, jump, rubbing, .. } = scratch;
        match one.checked_sub(contacts) {
            None => {
                let touch = &touches[active[one]];
                let answered = seen_at(linkage, &motion.solution, touch);
                columns[one].linear * (answered + seen_at(linkage, &jump.solution, touch))
            }
            Some(place) => {
                let Rubbing { rows, place, .. } = &rubbing[place];
                rows.of(&place.blocks, &motion.solution) + rows.of(&place.blocks, &jump.solution)
            }
        }
    };
    let scratch = &mut linkages[index];
    let count = contacts + scratch.rubbing.len();
    // What yields is the same in all passes.
    if pass == 0 {
        find_yielding(scratch, count, respond, see);
    }
    scale_operator(scratch, linkage, pass == 0, (scales, &mut problem.contacts));
}

/// Writes scales and Delassus operator of contacts, whose scales without springs and joints are given, and of the joints
/// that rub behind them: `push` writes a unit impulse of a contact in one of its directions as the right side, `see` is
/// what a contact sees of the solution.
pub fn write_operator<S: Scalar>(
    scratch: &mut Scratch<S>,
    linkage: &Linkage,
    push: impl Fn(&mut [Vector3<S>], usize, usize),
    see: impl Fn(&[Vector3<S>], usize) -> Vector3<S>,
    target: (&mut Vec<S>, &mut ConeProblem<S>),
) {
    let contacts = target.0.len();
    let respond = |scratch: &mut Scratch<S>, other: usize, direction: usize| {
        scratch.motion.clear_right();
        match other.checked_sub(contacts) {
            None => push(&mut scratch.motion.right, other, direction),
            Some(place) => push_rubbing(scratch, place, direction),
        }
        scratch.motion.solve(linkage);
    };
    let see = |scratch: &mut Scratch<S>, one: usize| match one.checked_sub(contacts) {
        None => see(&scratch.motion.solution, one),
        Some(place) => {
            let Rubbing { rows, place, .. } = &scratch.rubbing[place];
            rows.of(&place.blocks, &scratch.motion.solution)
        }
    };
    find_yielding(scratch, contacts + scratch.rubbing.len(), respond, see);
    scale_operator(scratch, linkage, true, target);
}

/// Adds a unit impulse along a row of a joint that rubs to the right side.
fn push_rubbing<S: Scalar>(scratch: &mut Scratch<S>, place: usize, direction: usize) {
    let Rubbing { rows, place, .. } = &scratch.rubbing[place];
    rows.push(&place.blocks, &mut scratch.motion.right, &unit(direction));
}

/// How contacts and joints that rub, `count` together, yield to one another.
fn find_yielding<S: Scalar>(
    scratch: &mut Scratch<S>,
    count: usize,
    respond: impl Fn(&mut Scratch<S>, usize, usize),
    see: impl Fn(&mut Scratch<S>, usize) -> Vector3<S>,
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
}

/// Writes what was found, with the joints that rub behind the contacts, whose scales without springs and joints are given.
fn scale_operator<S: Scalar>(
    scratch: &mut Scratch<S>,
    linkage: &Linkage,
    is_new: bool,
    (scales, problem): (&mut Vec<S>, &mut ConeProblem<S>),
) {
    let Scratch { motion, yielding, softness, rubbing, .. } = scratch;
    let contacts = scales.len();
    let count = contacts + rubbing.len();
    softness.resize(count, 0.0);
    let rubs = |one: usize| one.checked_sub(contacts).map(|place| &rubbing[place]);
    scales.resize(count, S::one());
    for one in 0..count {
        let own = &mut yielding[one * count + one];
        let (rows, alone) = match rubs(one) {
            None => (3.0, 1.0 / (scales[one] * scales[one]).value()),
            Some(entry) => (entry.rows.count(), motion.yielding_alone(&entry.place, &entry.rows)),
        };
        if is_new {
            softness[one] = if linkage.has_joints() { soften(own, alone) } else { 0.0 };
        }
        scales[one] = (S::from(rows) / own.trace()).sqrt();
    }
    problem.reset(count);
    for one in 0..count {
        let block = |other: usize| -> Block<S> {
            (yielding[one * count + other] * (scales[one] * scales[other])).transpose().into()
        };
        let mut diagonal = block(one);
        if let Some(entry) = rubs(one) {
            joint_friction::complete(entry, &mut diagonal);
        }
        problem.w.begin_row(diagonal);
        for other in (0..count).filter(|&other| other != one) {
            problem.w.push(other, block(other));
        }
    }
}

/// Makes a contact yield a little along the normal, or across it, if joints hold it there. Returns by how much along the
/// normal.
fn soften<S: Scalar>(own: &mut Matrix3<S>, alone: f64) -> f64 {
    let softness = SOFTNESS * alone;
    let values = own.map(S::value);
    let along = if values[(0, 0)] <= TOLERANCES.small * alone { softness } else { 0.0 };
    own[(0, 0)] += S::from(along);
    let axes = values.fixed_view::<2, 2>(1, 1).into_owned().symmetric_eigen();
    for (yielding, axis) in axes.eigenvalues.iter().zip(axes.eigenvectors.column_iter()) {
        if *yielding <= TOLERANCES.small * alone {
            let mut across = own.fixed_view_mut::<2, 2>(1, 1);
            across += (axis * axis.transpose() * softness).map(S::from);
        }
    }
    along
}

/// Takes into the residual with which speed contacts go on closing that joints keep from being stopped: in the contact problem
/// they yield a little.
pub fn judge<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (_, index) = linkage_of(step);
    let Workspace { touches, active, impulses, scales, problem, linkages, .. } = &*step.workspace;
    let size = problem.contacts.q.iter().map(|q| q.value() * q.value()).sum::<f64>().sqrt();
    let mut residual = step.state.step.residual;
    let Scratch { softness, applied, .. } = &linkages[index];
    let applied = applied.iter().map(|applied| length(applied).value()).fold(0.0, f64::max);
    for (place, impulse) in impulses.iter().enumerate() {
        let closing = softness[place] * impulse.normal.value();
        if closing <= 0.0 {
            continue;
        }
        let touch = &touches[active[place]];
        // Joints hold what is pushed to some digits only.
        let speed = step.length * applied + length(&step.state.nodes[touch.node].velocity).value();
        if closing > step.resting_speed(touch) + TOLERANCES.small * speed {
            residual = residual.max(closing * scales[place].value() / size);
        }
    }
    step.state.step.residual = residual;
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

/// The same through the factors alone: `(L^-1 J^T)^T D^-1 (L^-1 J^T)`. Only changes are those of solutions.
fn see_through_factors<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    if S::plain(&mut []).is_none() {
        see_through_solutions(step, linkage, index, Placing::Acting);
    }
    let Workspace { touches, active, columns, linkages, .. } = &mut *step.workspace;
    let Scratch { motion, yielding, sides, side_starts, .. } = &mut linkages[index];
    let count = active.len();
    sides.clear();
    side_starts.clear();
    for (&place, column) in active.iter().zip(columns.iter()) {
        let (touch, directions) = (&touches[place], column.linear.map(S::value).transpose());
        let first = first_turn(linkage, touch);
        let begin = sides.len();
        sides.resize(begin + linkage.pattern.size() - first, Matrix3::zeros());
        let side = &mut sides[begin..];
        let mut set = |node: usize, lever: Vector3<S>, sign: f64| {
            let place = linkage.place_of(node);
            side[linkage.pattern.turn(place.linear) - first] = directions * sign;
            if let Some(block) = place.angular {
                let lever = cross_matrix(&lever.map(S::value));
                side[linkage.pattern.turn(block) - first] = lever * directions * sign;
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
            for (place, block) in [(one * count + other, block), (other * count + one, block.transpose())] {
                yielding[place].zip_apply(&block, |entry, value| *entry = entry.change() + S::from(value));
            }
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
        push_touch(linkage, &mut motion.right, touch, &impulse.vector(&touch.acting_normal()));
    }
    for Rubbing { rows, place, impulse, .. } in rubbing.iter() {
        let impulse = Vector3::new(S::zero(), impulse[0], impulse[1]);
        rows.push(&place.blocks, &mut motion.right, &impulse);
    }
    if linkage.has_joints() { 0 } else { first }
}

/// Finds what the impulses of the active contacts, and of the joints that rub, over `dt` do.
pub fn respond<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    let first = write_impulses(step, linkage, index);
    let Some(answer) = answer_to_jumps(step, linkage, dt) else {
        step.workspace.linkages[index].motion.solve_from(linkage, first);
        return;
    };
    let part = dt / step.weights(dt).force;
    let scratch = &mut step.workspace.linkages[index];
    scratch.jump_and_answer(linkage, &step.system.ties, &step.state.parameters, answer);
    let Scratch { motion, jump, .. } = scratch;
    for place in linkage.joint_places.iter().flatten().flatten() {
        motion.solution[place.block] = jump.solution[place.block] + motion.solution[place.block] * part;
    }
}

/// Adds these impulses over `dt` to the proposal.
pub fn push<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let (linkage, index) = linkage_of(step);
    if step.system.settings.scheme == Scheme::MoreauJean && linkage.plain.is_some() {
        return push_plain(step, linkage, index);
    }
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
            respond(step, dt);
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

/// The same with springs between point masses only.
fn push_plain<S: Solvable>(step: &mut IslandStep<'_, S>, linkage: &Linkage, index: usize) {
    let Workspace { touches, active, impulses, linkages, .. } = &mut *step.workspace;
    let right = &mut linkages[index].motion.solution;
    right.fill(Vector3::zeros());
    let mut first = linkage.pattern.size();
    for (&place, impulse) in active.iter().zip(impulses.iter()) {
        let touch = &touches[place];
        first = first.min(first_turn(linkage, touch));
        push_touch(linkage, right, touch, &impulse.vector(&touch.acting_normal()));
    }
    plain::push(step, linkage, index, first);
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
pub fn push_touch<S: Scalar>(
    linkage: &Linkage,
    right: &mut [Vector3<S>],
    touch: &Touch<S>,
    impulse: &Vector3<S>,
) {
    let place = linkage.place_of(touch.node);
    right[place.linear] += impulse;
    if let Some(block) = place.angular {
        right[block] += cross(&touch.lever(), impulse);
    }
    if let Some(carrier) = &touch.carrier {
        let place = linkage.place_of(carrier.node);
        right[place.linear] -= impulse;
        if let Some(block) = place.angular {
            right[block] -= cross(&carrier.lever(), impulse);
        }
    }
}

/// Velocity at a touching point relative to the surface, as impulses there see it.
pub fn seen_at<S: Scalar>(linkage: &Linkage, solution: &[Vector3<S>], touch: &Touch<S>) -> Vector3<S> {
    let at = |node: usize, lever: Vector3<S>| {
        let place = linkage.place_of(node);
        let turning = place.angular.map_or(Vector3::zeros(), |block| cross(&solution[block], &lever));
        solution[place.linear] + turning
    };
    let mut seen = at(touch.node, touch.lever());
    if let Some(carrier) = &touch.carrier {
        seen -= at(carrier.node, carrier.lever());
    }
    seen
}
