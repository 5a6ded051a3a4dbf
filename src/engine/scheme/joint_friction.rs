//! Friction of joints in the contact problem of an interval ([`law`]).
//!
//! A joint that rubs is one more contact of the problem. Its normal row holds nothing but the radius of the disc within
//! which friction is; the others see sliding around and along the axis. The radius is that of the joint's own impulses,
//! by fixed-point passes that start from the last interval, and secants where contacts make these slow. The static
//! coefficient counts while the joint neither starts nor ends the interval faster than its threshold.

use super::{IslandStep, STILL, WITHIN_BOUNDS, linked};
use crate::engine::law::JointFriction;
use crate::engine::law::coulomb_cone;
use crate::engine::law::joint_friction as law;
use crate::engine::linkage::{Configuration, Rubbing};
use crate::engine::problem::block_matrix::Block;
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::ties::JointKind;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Passes at least: tangents settle after values.
const LEAST_PASSES: u32 = 4;
/// Passes that take bounds as they come; most joints have settled then.
const PLAIN_PASSES: u32 = 10;

/// Lists the joints that rub, with the bounds of the last interval over `dt`.
pub fn begin<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let Some(index) = step.island.linkage else { return };
    step.workspace.linkages[index].rubbing.clear();
    for &joint in &step.system.linkages[index].rubbing {
        if let Some(rubbing) = place(step, index, joint, dt) {
            step.workspace.linkages[index].rubbing.push(rubbing);
        }
    }
}

/// Takes the joints to where they act now, with what was found for them so far.
pub fn follow<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let Some(index) = step.island.linkage else { return };
    for entry in 0..step.workspace.linkages[index].rubbing.len() {
        let found = step.workspace.linkages[index].rubbing[entry];
        if let Some(fresh) = place(step, index, found.joint, dt) {
            let Rubbing { slides, bound, impulse, normals, .. } = found;
            step.workspace.linkages[index].rubbing[entry] =
                Rubbing { slides, bound, impulse, normals, ..fresh };
        }
    }
}

/// A joint that rubs, where it acts.
fn place<S: Solvable>(step: &IslandStep<'_, S>, index: usize, joint: usize, dt: S) -> Option<Rubbing<S>> {
    let linkage = &step.system.linkages[index];
    let entry = &step.system.ties.joints[linkage.joints[joint]];
    let scratch = &step.workspace.linkages[index];
    let (friction, place) = (entry.rubs()?, linkage.joint_places[joint][0]?);
    let here = linkage.place_joint(&step.system.ties, joint, &scratch.acting)?;
    let rows = entry.sliding_rows(friction, &here);
    let before = rows.velocity_of(&place, |node| {
        let node = step.island.nodes[node];
        let turning = step.system.nodes[node].rotation;
        let spin = turning.map(|rotation| step.state.rotations[rotation].angular_velocity);
        (step.state.nodes[node].velocity, spin.unwrap_or_else(Vector3::zeros))
    });
    let before = [before[1], before[2]];
    let state = &step.state.joints[linkage.joints[joint]];
    let slides = speed(&before).value() > friction.threshold;
    let mu = coefficient(friction, slides);
    Some(Rubbing {
        joint,
        place,
        rows,
        axis: here.axis(),
        before,
        free: before,
        after: before,
        slides,
        bound: (state.loads[0] + state.loads[1]) * dt * S::from(mu),
        tried: None,
        between: [0.0, f64::INFINITY],
        impulse: state.friction.map(|force| force * dt),
        normals: state.loads.map(|load| load * dt),
    })
}

/// Looks at the sliding velocities that the proposal ends with, without friction and contact.
pub fn look<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Some(index) = step.island.linkage else { return };
    let linkage = &step.system.linkages[index];
    for place in 0..step.workspace.linkages[index].rubbing.len() {
        let scratch = &step.workspace.linkages[index];
        let rubbing = &scratch.rubbing[place];
        let entry = &step.system.ties.joints[linkage.joints[rubbing.joint]];
        let there = linkage.place_joint(&step.system.ties, rubbing.joint, &scratch.ends);
        let (Some(friction), Some(there)) = (entry.rubs(), there) else { continue };
        let free = entry.sliding_rows(friction, &there).velocity_of(&rubbing.place, |node| {
            let node = step.island.nodes[node];
            let turning = step.system.nodes[node].rotation;
            let spin = turning.map(|rotation| step.workspace.turns[rotation].end);
            (step.workspace.velocity[node], spin.unwrap_or_else(Vector3::zeros))
        });
        step.workspace.linkages[index].rubbing[place].free = [free[1], free[2]];
    }
}

fn coefficient(friction: &JointFriction, slides: bool) -> f64 {
    if slides { friction.mu_kinetic } else { friction.mu_static }
}

fn speed<S: Scalar>([around, along]: &[S; 2]) -> S {
    (*around * *around + *along * *along).sqrt()
}

/// Completes the scaled block of a joint: what has no row is by itself.
pub fn complete<S: Scalar>(rubbing: &Rubbing<S>, block: &mut Block<S>) {
    block[0][0] = S::one();
    for (row, entries) in block.iter_mut().enumerate().skip(1) {
        if !rubbing.rows.has(row) {
            entries[row] = S::one();
        }
    }
}

/// Writes bounds and velocities of the joints that rub.
pub fn write<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Some(index) = step.island.linkage else { return };
    let workspace = &mut *step.workspace;
    let first = workspace.active.len();
    for (place, rubbing) in workspace.linkages[index].rubbing.iter().enumerate() {
        let contact = first + place;
        let scale = workspace.scales[contact];
        let contacts = &mut workspace.problem.contacts;
        contacts.mu[contact] = S::one();
        contacts.q[3 * contact] = -rubbing.bound / scale;
        contacts.q[3 * contact + 1] = rubbing.free[0] * scale;
        contacts.q[3 * contact + 2] = rubbing.free[1] * scale;
    }
}

/// Lets the solver start from the friction of the last interval.
pub fn guess<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Some(index) = step.island.linkage else { return };
    let workspace = &mut *step.workspace;
    let first = workspace.active.len();
    for (place, rubbing) in workspace.linkages[index].rubbing.iter().enumerate() {
        let contact = first + place;
        let impulse = [rubbing.bound, rubbing.impulse[0], rubbing.impulse[1]];
        for (row, impulse) in impulse.into_iter().enumerate() {
            workspace.unknowns[3 * contact + row] = S::from((impulse / workspace.scales[contact]).value());
        }
    }
}

/// Takes the bounds from the solution of pass `pass`. Returns whether another pass is wanted.
pub fn revise<S: Solvable>(step: &mut IslandStep<'_, S>, pass: u32, dt: S) -> bool {
    let Some(index) = step.island.linkage else { return false };
    if step.workspace.linkages[index].rubbing.is_empty() {
        return false;
    }
    read(step);
    linked::respond(step, dt);
    let mut again = pass + 1 < LEAST_PASSES;
    let mut unsettled = 0.0_f64;
    for place in 0..step.workspace.linkages[index].rubbing.len() {
        let change = revise_joint(step, index, place, pass);
        let rubbing = &mut step.workspace.linkages[index].rubbing[place];
        let joint = &step.system.ties.joints[step.system.linkages[index].joints[rubbing.joint]];
        let threshold = joint.rubs().map_or(0.0, |friction| friction.threshold);
        if change > TOLERANCES.rounding {
            unsettled = unsettled.max(change);
        } else if !rubbing.slides && speed(&rubbing.after).value() > threshold {
            rubbing.slides = true;
            again = true;
        }
    }
    if pass + 1 >= TOLERANCES.bound_passes {
        step.state.step.residual = step.state.step.residual.max(unsettled);
        return false;
    }
    again || unsettled > 0.0
}

/// Reads impulses and velocities of the joints from the solution.
pub fn read<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Some(index) = step.island.linkage else { return };
    let workspace = &mut *step.workspace;
    let first = workspace.active.len();
    for (place, rubbing) in workspace.linkages[index].rubbing.iter_mut().enumerate() {
        let contact = first + place;
        let scale = workspace.scales[contact];
        let velocity = workspace.problem.contacts.velocity(contact, &workspace.unknowns);
        let unknowns = &workspace.unknowns[3 * contact..3 * contact + 3];
        rubbing.impulse = [unknowns[1] * scale, unknowns[2] * scale];
        rubbing.after = [velocity[1] / scale, velocity[2] / scale];
    }
}

/// The bound of a joint under its present load. Returns the relative change, zero where friction is within either.
fn revise_joint<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize, place: usize, pass: u32) -> f64 {
    let linkage = &step.system.linkages[index];
    let rubbing = step.workspace.linkages[index].rubbing[place];
    let joint = &step.system.ties.joints[linkage.joints[rubbing.joint]];
    let Some(friction) = joint.rubs() else { return 0.0 };
    let wrench = linked::wrench(step, index, rubbing.joint);
    let mu = coefficient(friction, rubbing.slides);
    let around = match joint.kind {
        JointKind::Revolute => S::one(),
        JointKind::Prismatic => S::zero(),
        _ => part_around(&rubbing),
    };
    let bearing = law::bearing(friction, mu, &rubbing.axis, &wrench, rubbing.impulse, around);
    let scale = step.workspace.scales[step.workspace.active.len() + place].value();
    // Alone, joints that are about to stick find the state without gain by plain passes only.
    let is_plain = pass < PLAIN_PASSES || step.workspace.active.is_empty();
    let rubbing = &mut step.workspace.linkages[index].rubbing[place];
    let wanted = bearing.bound - rubbing.bound;
    let change = wanted.value().abs();
    let least = bearing.bound.value().min(rubbing.bound.value());
    let friction_now = speed(&rubbing.impulse).value();
    let fastest = speed(&rubbing.before).value().max(speed(&rubbing.free).value());
    let rests = speed(&rubbing.after).value() <= STILL * fastest;
    // What rests may be held by any friction within the bound, and is where contacts take part of the load.
    let holds = friction_now < least * WITHIN_BOUNDS || (rests && friction_now <= bearing.bound.value());
    if is_plain {
        rubbing.tried = Some((rubbing.bound.value(), wanted.value()));
        rubbing.bound = bearing.bound;
    } else {
        let made = change_of_bound(rubbing, wanted);
        rubbing.bound += made;
    }
    rubbing.normals = bearing.normals;
    let moves = rubbing.before.iter().chain(&rubbing.free).fold(0.0_f64, |most, v| v.value().abs().max(most));
    let round_off = f64::EPSILON * (moves + friction.threshold) * scale * scale;
    if holds || change <= round_off { 0.0 } else { change / bearing.bound.value().abs().max(change) }
}

/// The change of a bound for the next pass where `wanted` is asked for: that of the secant through the last two, because
/// contacts that share the load let bounds creep or alternate; within what is known, else to the middle of it.
fn change_of_bound<S: Scalar>(rubbing: &mut Rubbing<S>, wanted: S) -> S {
    let (bound, change) = (rubbing.bound.value(), wanted.value());
    let [low, high] = &mut rubbing.between;
    if change > 0.0 {
        *low = bound;
        *high = if *high <= bound { f64::INFINITY } else { *high };
    } else {
        *high = bound;
        *low = if *low >= bound { 0.0 } else { *low };
    }
    let made = wanted * S::from(reach(rubbing.tried, bound, change));
    rubbing.tried = Some((bound, change));
    let next = bound + made.value();
    if next > *low && next < *high || high.is_infinite() {
        return made;
    }
    S::from(0.5 * (*low + *high) - bound)
}

/// How much of the wanted change the secant makes.
fn reach(tried: Option<(f64, f64)>, bound: f64, wanted: f64) -> f64 {
    /// Least slope of the wanted change over the bound that is trusted, and so the largest reach is one over it.
    const LEAST_SLOPE: f64 = 0.05;
    let Some((last_bound, last_wanted)) = tried else { return 1.0 };
    let slope = (last_wanted - wanted) / (bound - last_bound);
    if slope.is_finite() && slope > LEAST_SLOPE { 1.0 / slope } else { 1.0 }
}

/// The part of friction that is around the axis: as it is, or as sliding asks for where there is none yet.
fn part_around<S: Scalar>(rubbing: &Rubbing<S>) -> S {
    for direction in [&rubbing.impulse, &rubbing.before, &rubbing.free] {
        let size = speed(direction);
        if size.value() > 0.0 {
            return direction[0] / size;
        }
    }
    S::zero()
}

/// Books the friction of the accepted proposal, with nodes as they move on average in `acting`.
pub fn record<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize, dt: S) {
    let linkage = &step.system.linkages[index];
    let scratch = &step.workspace.linkages[index];
    let first = step.workspace.active.len();
    let fastest = scratch.rubbing.iter().enumerate().fold(0.0_f64, |most, (place, rubbing)| {
        let scale = step.workspace.scales[first + place].value();
        [rubbing.before, rubbing.free].iter().fold(most, |most, v| most.max(speed(v).value() * scale))
    });
    for (place, rubbing) in scratch.rubbing.iter().enumerate() {
        let joint = linkage.joints[rubbing.joint];
        let Some(friction) = step.system.ties.joints[joint].rubs() else { continue };
        let [around, along] = rubbing.impulse;
        let mean = rubbing.rows.velocity_of(&rubbing.place, |node| {
            let Configuration { velocity, angular_velocity, .. } = scratch.acting[node];
            (velocity, angular_velocity)
        });
        let lost = -(around * mean[1] + along * mean[2]);
        step.state.step.dissipated += lost;
        step.state.step.dissipated_by_friction += lost;
        let state = &mut step.state.joints[joint];
        state.impulse += rubbing.axis * along;
        state.moment += rubbing.axis * (around * S::from(friction.radius));
        let sliding = speed(&rubbing.after).value() * step.workspace.scales[first + place].value();
        state.mode = coulomb_cone::mode(1.0, rubbing.bound.value(), sliding, STILL * fastest);
        if dt.value() > 0.0 {
            state.friction = rubbing.impulse.map(|impulse| impulse / dt);
            state.loads = rubbing.normals.map(|normal| normal / dt);
        }
    }
}

/// Earliest time within `dt` at which a joint that slides at the start stops or turns around on the proposed path.
pub fn slip_end<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> Option<S> {
    let index = step.island.linkage?;
    let linkage = &step.system.linkages[index];
    let workspace = &*step.workspace;
    let mut first: Option<S> = None;
    for (place, rubbing) in workspace.linkages[index].rubbing.iter().enumerate() {
        let contact = workspace.active.len() + place;
        let friction = step.system.ties.joints[linkage.joints[rubbing.joint]].rubs()?;
        let speed = speed(&rubbing.before);
        if speed.value() == 0.0 {
            continue;
        }
        let direction = rubbing.before.map(|component| component / speed);
        let along = |vector: &[S; 2]| (direction[0] * vector[0] + direction[1] * vector[1]).value();
        // What is slow enough to be held may be stopped at any time, unless friction would push it on.
        let held = speed.value() <= friction.threshold && along(&rubbing.impulse) <= 0.0;
        // What is stopped at the end has a speed of round-off there, of either sign.
        if held || along(&rubbing.after) > TOLERANCES.negligible * speed.value() {
            continue;
        }
        // What the joint would do if friction went on to act against the sliding at the start.
        let scale = workspace.scales[contact];
        let block = workspace.problem.contacts.w.diagonal(contact);
        let lacking = [0, 1].map(|k| -direction[k] * rubbing.bound - rubbing.impulse[k]);
        let mut end = S::zero();
        for row in 0..2 {
            let pushed = block[row + 1][1] * lacking[0] + block[row + 1][2] * lacking[1];
            end += direction[row] * (rubbing.after[row] + pushed / (scale * scale));
        }
        let limit = first.map_or(dt.value() * (1.0 - TOLERANCES.negligible), S::value);
        if end.value() < 0.0 {
            let time = speed / (speed - end) * dt;
            if time.value() > TOLERANCES.negligible * dt.value() && time.value() < limit {
                first = Some(time);
            }
        }
    }
    first
}
