//! Implicit midpoint, order 2 between impacts, also while contacts slide and roll.
//!
//! With `v_m = (v + v+) / 2`, `q_m = q + h/2 v_m`, `q_p = q + h v_m`:
//! `M (v+ - v) = h f(q_m, v_m) + J(q_m)^T p`, `q+ = q_p`. Contacts obey `N(q_p) v+ >= 0` with Newton's law where they
//! close; friction opposes `T(q_m) v_m` where it slides, and stops `T(q_p) v+` where it holds. Rotation is in body
//! components, where the inertia is constant, and `A+ = A exp(h w_m)`; so the energy balance is exact. Springs pull at
//! `(q_m, v_m)`, joints push there and hold `A(q_p) v+`; friction of joints acts there too and opposes sliding at the end.
//!
//! `v+` is predicted from the last substep and found by fixed-point sweeps, each with one contact problem; where there
//! are springs and joints, with one Newton step for these.
//! Impacts are captured as in [`super::moreau_jean`].

use super::acceptance::{record_impulse, record_mode_of, record_work};
use super::flight::{Flight, Turning};
use super::impact::{self, Work};
use super::settling::{self, SettlingScratch};
use super::{IslandStep, Rebound, balance, friction, joint_friction, linked};
use crate::engine::contact::{Impulse, Jacobian, Touch, near, pose};
use crate::engine::geometry::{Pose, Proximity};
use crate::engine::law::ContactMode;
use crate::engine::law::FrictionLaw;
use crate::engine::linkage::{Configuration, Rubbing, Scratch};
use crate::engine::math::rotation::{LARGEST_TURN, Orientation, angular_momentum};
use crate::engine::problem::delassus::{self, Bodies, assemble};
use crate::engine::scalar::elementary::hypot;
use crate::engine::scalar::{Scalar, length};
use crate::engine::scheme::workspace::Workspace;
use crate::engine::solver::Solvable;
use crate::engine::state::Trend;
use crate::engine::system::linkage::Linkage;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};

/// Contact problems per sweep before a contact is left with the friction row that it was tried with last.
const MAX_TRIALS: u32 = 8;

/// The same where rows at the end see less than this part of what impulses in the middle do there.
const SEEN: f64 = 0.5;

/// Turns within a substep that sweeps follow. Of faster ones they need not converge.
const SWEPT: f64 = LARGEST_TURN;

/// What is kept between sweeps.
#[derive(Debug)]
pub struct MidpointScratch<S> {
    /// By node.
    nodes: Vec<NodeMotion<S>>,
    /// Active contacts at the end of the substep.
    ends: Vec<Jacobian<S>>,
    /// Rows of the contact problem.
    rows: Vec<Jacobian<S>>,
    /// Which of the active contacts are held by friction.
    sticking: Vec<bool>,
    /// Of the correction of positions.
    pub(super) settling: SettlingScratch<S>,
}

/// Motion of a node over the substep. Angular velocities are in body components.
#[derive(Clone, Copy, Debug)]
struct NodeMotion<S> {
    start: Motion<S>,
    /// Velocity at the end without contact.
    free: Motion<S>,
    /// Velocity at the end, as of the last sweep.
    end: Motion<S>,
    /// Spin of a body too fast for sweeps by which it turns without contact.
    fast: Option<Vector3<S>>,
    middle_pose: Pose<S>,
    end_pose: Pose<S>,
}

impl<S: Scalar> NodeMotion<S> {
    /// Motion by which the pose changes where the velocity at the end is `end`.
    fn mean_to(&self, end: &Motion<S>) -> Motion<S> {
        let mut mean = self.start.mean(end);
        if let Some(spin) = self.fast {
            mean.spin = spin + (end.spin - self.free.spin) * S::from(0.5);
        }
        mean
    }
}

#[derive(Clone, Copy, Debug)]
struct Motion<S> {
    velocity: Vector3<S>,
    spin: Vector3<S>,
}

impl<S: Scalar> MidpointScratch<S> {
    /// Room for steps of so many nodes, and contacts in one island.
    pub fn with_capacity(nodes: usize, contacts: usize) -> MidpointScratch<S> {
        let rest = Motion { velocity: Vector3::zeros(), spin: Vector3::zeros() };
        let pose = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
        let node =
            NodeMotion { start: rest, free: rest, end: rest, fast: None, middle_pose: pose, end_pose: pose };
        MidpointScratch {
            nodes: vec![node; nodes],
            ends: Vec::with_capacity(contacts),
            rows: Vec::with_capacity(contacts),
            sticking: Vec::with_capacity(contacts),
            settling: SettlingScratch::with_capacity(nodes, contacts),
        }
    }
}

impl<S: Scalar> Motion<S> {
    fn mean(&self, other: &Motion<S>) -> Motion<S> {
        let half = S::from(0.5);
        Motion { velocity: (self.velocity + other.velocity) * half, spin: (self.spin + other.spin) * half }
    }
}

/// Velocity of a touching point over the surface, as seen through rows: normal, tangent 1, tangent 2.
fn seen<S: Scalar>(
    nodes: &[NodeMotion<S>],
    touch: &Touch<S>,
    rows: &Jacobian<S>,
    motion: impl Fn(&NodeMotion<S>) -> Motion<S>,
) -> Vector3<S> {
    seen_of(touch, rows, |node| motion(&nodes[node]))
}

fn seen_of<S: Scalar>(
    touch: &Touch<S>,
    rows: &Jacobian<S>,
    motion: impl Fn(usize) -> Motion<S>,
) -> Vector3<S> {
    let node = motion(touch.node);
    let mut seen = rows.velocity(&node.velocity, &node.spin);
    if let Some(carrier) = &touch.carrier {
        let body = motion(carrier.node);
        seen += rows.carrier * body.spin - rows.linear * body.velocity;
    }
    seen
}

fn mean<S: Scalar>(node: &NodeMotion<S>) -> Motion<S> {
    node.mean_to(&node.end)
}

/// Advances the island by `h`. Where sweeps for springs and joints lead to no numbers, it is advanced in halves.
// Not inlined: steps of the other schemes stay short.
#[inline(never)]
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, sweeps: u32, h: S) {
    let residual = step.state.step.residual;
    step.look();
    predict(step, h);
    move_freely(step, h);
    activate(step, h);
    for sweep in 0..sweeps {
        if sweep > 0 {
            move_freely(step, h);
        }
        see_contacts(step);
        friction::begin(step, h);
        if sweep == 0 {
            joint_friction::begin(step, h);
            guess_sticking(step);
        } else {
            joint_friction::follow(step, h);
        }
        follow_bristles(step);
        for trial in 0.. {
            solve(step, h);
            let revised = trial < MAX_TRIALS && revise_sticking(step, trial);
            let unsettled = friction::revise(step, trial, h) | joint_friction::revise(step, trial, h);
            if !(revised || unsettled) {
                break;
            }
        }
    }
    if step.island.linkage.is_some() && !is_finite(step) && step.may_be_cut(h.value(), step.length) {
        step.state.step.residual = residual;
        let half = h * S::from(0.5);
        for _ in 0..2 {
            run(step, sweeps, half);
        }
        return;
    }
    let account = balance::open(step);
    accept(step, h);
    step.record_penetration();
    if step.system.settings.correction {
        settling::run(step);
    }
    balance::close(step, account);
}

/// Makes active the contacts with `gap + gamma h gap_velocity + h^2/2 gap_acceleration <= 0` in free motion.
/// Without the last term a contact would open whenever its gap is positive by the error of the step.
fn activate<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    let ahead = h * S::from(1.0 - step.system.settings.gamma);
    // As in `moreau_jean::run`: of a face that rests on another one, round-off may not choose the corners.
    let rounded = step.is_jointed() || step.island.turns_along;
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        let carrier = touch.carrier.map(|carrier| free_pose(step, carrier.node, h));
        let node = free_pose(step, touch.node, h);
        let gap = near(step.system, &node, carrier.as_ref(), touch.sides(), touch.point).gap
            - touch.normal_velocity * ahead;
        let rounding = if rounded { step.touching_distance(touch) } else { 0.0 };
        if gap.value() <= rounding {
            step.workspace.active.push(index);
        }
    }
}

/// Where a node is after `h` without contact.
fn free_pose<S: Solvable>(step: &IslandStep<'_, S>, node: usize, h: S) -> Pose<S> {
    let motion = &step.workspace.midpoint.nodes[node];
    if step.island.linkage.is_some() {
        return moved(&pose(step.system, step.state, node), &motion.mean_to(&motion.free), h);
    }
    let state = &step.state.nodes[node];
    let turning = match step.system.nodes[node].rotation {
        Some(rotation) if !step.system.nodes[node].shape.is_round() => {
            Turning::Free(step.free_rotation(node, rotation))
        }
        _ => Turning::None,
    };
    let curvature = step.workspace.acceleration[node] * S::from(0.5);
    Flight { position: state.position, velocity: state.velocity, curvature, turning }.pose(h)
}

fn predict<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    for &node in &step.island.nodes {
        let velocity = step.state.nodes[node].velocity;
        let spin = step.system.nodes[node].rotation.map_or(Vector3::zeros(), |rotation| {
            let state = &step.state.rotations[rotation];
            state.orientation.to_body(&state.angular_velocity)
        });
        step.workspace.mobility[node] = S::one() / step.state.parameters.mass[node];
        let trend = &step.state.trends[node];
        let motion = &mut step.workspace.midpoint.nodes[node];
        motion.fast = None;
        motion.start = Motion { velocity, spin };
        motion.end = Motion { velocity: velocity + trend.acceleration * h, spin: spin + trend.angular * h };
    }
}

/// Poses in the middle and at the end with the velocities of the last sweep, and the free velocities from there.
fn move_freely<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    for &node in &step.island.nodes {
        let start = pose(step.system, step.state, node);
        let fast = spin_of_fast(step, node, h);
        let motion = &mut step.workspace.midpoint.nodes[node];
        let was_fast = motion.fast.is_some();
        motion.fast = fast.map(|(mean, _)| mean);
        motion.free = motion.start;
        motion.free.velocity += step.workspace.acceleration[node] * h;
        if let Some((_, end)) = fast {
            motion.free.spin = end;
            // What was predicted says nothing of a body that turns so far.
            if !was_fast {
                motion.end.spin = end;
            }
        }
        let mean = motion.mean_to(&motion.end);
        motion.middle_pose = moved(&start, &mean, h * S::from(0.5));
        motion.end_pose = moved(&start, &mean, h);
        if fast.is_some() {
            continue;
        }
        if let Some(rotation) = step.system.nodes[node].rotation {
            let inertia = &step.state.parameters.inertia[rotation];
            let orientation = &motion.middle_pose.orientation;
            // A body whose motion is prescribed takes no torque.
            if inertia.iter().all(|moment| moment.value().is_finite()) {
                let torque = orientation.to_body(&step.workspace.torque[rotation])
                    - mean.spin.cross(&inertia.component_mul(&mean.spin));
                motion.free.spin += torque.component_div(inertia) * h;
            }
            if let Some(coupling) = step.system.nodes[node].coupling {
                let acceleration = &step.state.couplings[coupling].acceleration.angular;
                motion.free.spin += orientation.to_body(acceleration) * h;
            }
        }
    }
    if step.island.linkage.is_some() {
        tie(step, h);
    }
}

/// Whether sweeps have led to numbers.
fn is_finite<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    let mut motions = step.island.nodes.iter().map(|&node| &step.workspace.midpoint.nodes[node].end);
    motions.all(|end| end.velocity.iter().chain(end.spin.iter()).all(|x| x.value().is_finite()))
}

/// Mean spin over `h`, and spin at its end, without contact of a body that turns too fast for sweeps, by [`FreeRotation`],
/// which keeps its energy and momentum.
///
/// [`FreeRotation`]: crate::engine::math::rotation::FreeRotation
fn spin_of_fast<S: Solvable>(
    step: &IslandStep<'_, S>,
    node: usize,
    h: S,
) -> Option<(Vector3<S>, Vector3<S>)> {
    let rotation = step.system.nodes[node].rotation?;
    let motion = &step.workspace.midpoint.nodes[node];
    let fastest = length(&motion.start.spin).value().max(length(&mean(motion).spin).value());
    let is_free = step.state.parameters.inertia[rotation].iter().all(|moment| moment.value().is_finite());
    if !is_free || fastest * h.value() <= SWEPT {
        return None;
    }
    let free = step.free_rotation(node, rotation);
    let (mean, end) = free.over(h);
    // A turn leaves its own axis in place: its spin is the same in the frames before and after it.
    Some((free.orientation.to_body(&mean), free.orientation.turned(&(mean * h)).to_body(&end)))
}

/// Takes springs and joints into the free velocities.
fn tie<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    let (linkage, index) = linked::linkage_of(step);
    for (place, &node) in step.island.nodes.iter().enumerate() {
        let Workspace { linkages, midpoint, .. } = &mut *step.workspace;
        let motion = &midpoint.nodes[node];
        linkages[index].acting[place] = configuration(&motion.middle_pose, &mean(motion));
        linkages[index].ends[place] = configuration(&motion.end_pose, &motion.end);
    }
    linked::move_midway(step, h, missing);
    let Workspace { linkages, midpoint, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        let motion = &mut midpoint.nodes[node];
        motion.free = motion.end;
        change(linkage, &linkages[index].motion.solution, node, motion, |motion| &mut motion.free);
    }
}

fn configuration<S: Scalar>(pose: &Pose<S>, motion: &Motion<S>) -> Configuration<S> {
    Configuration {
        pose: *pose,
        velocity: motion.velocity,
        angular_velocity: pose.orientation.to_world(&motion.spin),
    }
}

/// Momentum that a node misses for its velocity at the end to be the free one, linear and angular; none where motion
/// is prescribed.
fn missing<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> (Vector3<S>, Vector3<S>) {
    let motion = &step.workspace.midpoint.nodes[node];
    let parameters = &step.state.parameters;
    let mass = parameters.mass[node];
    let linear = if mass.value().is_finite() {
        (motion.free.velocity - motion.end.velocity) * mass
    } else {
        Vector3::zeros()
    };
    let angular = step.system.nodes[node].rotation.map_or(Vector3::zeros(), |rotation| {
        let inertia = &parameters.inertia[rotation];
        if inertia.iter().any(|moment| !moment.value().is_finite()) {
            return Vector3::zeros();
        }
        let lacking = motion.free.spin - motion.end.spin;
        let orientation = &motion.middle_pose.orientation;
        angular_momentum(orientation, inertia, &orientation.to_world(&lacking))
    });
    (linear, angular)
}

/// Adds velocities of a linkage's solution to a motion of a node.
fn change<S: Scalar>(
    linkage: &Linkage,
    solution: &[Vector3<S>],
    node: usize,
    motion: &mut NodeMotion<S>,
    changed: impl Fn(&mut NodeMotion<S>) -> &mut Motion<S>,
) {
    let place = linkage.place_of(node);
    let orientation = motion.middle_pose.orientation;
    let changed = changed(motion);
    changed.velocity += solution[place.linear];
    if let Some(block) = place.angular {
        changed.spin += orientation.to_body(&solution[block]);
    }
}

fn moved<S: Scalar>(start: &Pose<S>, motion: &Motion<S>, time: S) -> Pose<S> {
    Pose {
        position: start.position + motion.velocity * time,
        orientation: start.orientation.turned_in_body(&(motion.spin * time)),
    }
}

/// The active contacts in the middle, where impulses act, and at the end.
fn see_contacts<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { touches, active, columns, scales: d, midpoint, mobility, together, .. } =
        &mut *step.workspace;
    let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia, together };
    let nodes = &midpoint.nodes;
    columns.clear();
    midpoint.ends.clear();
    for &index in active.iter() {
        let touch = &mut touches[index];
        let body = touch.carrier.map(|carrier| &nodes[carrier.node]);
        let node = &nodes[touch.node];
        let (sides, point) = (touch.sides(), touch.point);
        let at = |node: &Pose<S>, body: Option<&Pose<S>>| near(step.system, node, body, sides, point);
        let middle = at(&node.middle_pose, body.map(|body| &body.middle_pose));
        let end = at(&node.end_pose, body.map(|body| &body.end_pose));
        // A disc that falls flat, say: what happens at the end is no consequence of impulses in the middle, and the contact
        // problem is written in the middle alone.
        let jumps =
            length(&(end.arm - middle.arm)).value() > TOLERANCES.followed_part * length(&middle.arm).value();
        let here = jacobian(touch, &middle, &node.middle_pose, body.map(|body| &body.middle_pose));
        columns.push(here);
        let there = jacobian(touch, &end, &node.end_pose, body.map(|body| &body.end_pose));
        midpoint.ends.push(if jumps || !is_seen(touch, &there, &here, &bodies) { here } else { there });
        (touch.normal, touch.normal_after) = (middle.normal, middle.normal);
        touch.arm = middle.arm;
        touch.arm_after = middle.arm;
        if let (Some(carrier), Some(body)) = (&mut touch.carrier, body) {
            carrier.arm = node.middle_pose.position + middle.arm - body.middle_pose.position;
            carrier.arm_after = carrier.arm;
        }
    }
    delassus::scales(touches, active, columns, bodies, d);
}

/// Whether an impulse in the middle changes what rows at the end see the way that it does in the middle.
fn is_seen<S: Scalar>(
    touch: &Touch<S>,
    end: &Jacobian<S>,
    middle: &Jacobian<S>,
    bodies: &Bodies<'_, S>,
) -> bool {
    let turned = |rows: &Matrix3<S>, columns: &Matrix3<S>, row: usize, rotation: Option<usize>| {
        rotation.map_or(0.0, |rotation| {
            let moment = columns.row(row).transpose().component_div(&bodies.inertia[rotation]);
            rows.row(row).transpose().dot(&moment).value()
        })
    };
    let mut mobility = bodies.mobility[touch.node].value();
    let carrier = touch.carrier.and_then(|carrier| carrier.rotation);
    if let Some(carrier) = &touch.carrier {
        mobility += bodies.mobility[carrier.node].value();
    }
    (0..3).all(|row| {
        let effect = |rows: &Jacobian<S>| {
            mobility * rows.linear.row(row).dot(&middle.linear.row(row)).value()
                + turned(&rows.angular, &middle.angular, row, touch.rotation)
                + turned(&rows.carrier, &middle.carrier, row, carrier)
        };
        effect(end) >= SEEN * effect(middle)
    })
}

fn jacobian<S: Scalar>(
    touch: &Touch<S>,
    near: &Proximity<S>,
    node: &Pose<S>,
    body: Option<&Pose<S>>,
) -> Jacobian<S> {
    let rows = Jacobian::new(&near.normal, &near.arm, touch.rotation.map(|_| &node.orientation));
    match body {
        None => rows,
        Some(body) => rows.carried(&(node.position + near.arm - body.position), &body.orientation),
    }
}

/// Friction probably holds where it could stop the free motion if the contact were alone and isotropic.
fn guess_sticking<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { touches, active, midpoint, .. } = &mut *step.workspace;
    midpoint.sticking.clear();
    for (&index, end) in active.iter().zip(&midpoint.ends) {
        let touch = &touches[index];
        let free = seen(&midpoint.nodes, touch, end, |node| node.free).map(S::value);
        let mu = step.state.parameters.mu[touch.contact].value();
        midpoint.sticking.push(mu > 0.0 && hypot(free[1], free[2]) <= -mu * free[0]);
    }
}

/// A bristle decides by its threshold whether it holds.
fn follow_bristles<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for index in 0..step.workspace.active.len() {
        if let Some(threshold) = friction_of(step, index).threshold() {
            let slips = length(&mean_slip(step, index)).value() > threshold;
            step.workspace.midpoint.sticking[index] = !slips;
        }
    }
}

fn friction_of<S: Solvable>(step: &IslandStep<'_, S>, index: usize) -> FrictionLaw {
    let touch = &step.workspace.touches[step.workspace.active[index]];
    step.system.contacts[touch.contact].friction
}

/// Mean sliding velocity of an active contact, world components.
fn mean_slip<S: Solvable>(step: &IslandStep<'_, S>, index: usize) -> Vector3<S> {
    let Workspace { touches, active, columns, midpoint, .. } = &*step.workspace;
    let mut slip = seen(&midpoint.nodes, &touches[active[index]], &columns[index], mean);
    slip[0] = S::zero();
    columns[index].linear.transpose() * slip
}

/// Solves the contact problem and finds the velocities at the end.
fn solve<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    impact::find(step, any_closes_fast, |step, rebound| attempt(step, rebound, h), work);
}

/// Work of the impulses that were found.
fn work<S: Solvable>(step: &IslandStep<'_, S>) -> Work<S> {
    let Workspace { touches, active, columns, impulses, midpoint, mobility, .. } = &*step.workspace;
    let mut sum = Work::none();
    for ((&place, column), impulse) in active.iter().zip(columns).zip(impulses) {
        let touch = &touches[place];
        let see = |which: fn(&NodeMotion<S>) -> Motion<S>| {
            column.linear.transpose() * seen(&midpoint.nodes, touch, column, which)
        };
        let velocities = [&see(|node| node.start), &see(|node| node.end)];
        sum.add(&impulse.vector(&touch.normal), velocities, mobility[touch.node]);
    }
    sum
}

/// The same with some part of the rebound. Returns whether it was solved.
fn attempt<S: Solvable>(step: &mut IslandStep<'_, S>, rebound: Rebound<S>, h: S) -> bool {
    for &node in &step.island.nodes {
        let motion = &mut step.workspace.midpoint.nodes[node];
        motion.end = motion.free;
    }
    if let Some(linkage) = step.island.linkage {
        let Scratch { free, proposed, .. } = &mut step.workspace.linkages[linkage];
        proposed.copy_from_slice(free);
    }
    if step.workspace.active.is_empty() && !step.rubs() {
        step.workspace.impulses.clear();
        return true;
    }
    write_problem(step, rebound, h);
    let is_solved = solve_from_guess(step, h);
    step.read_impulses();
    if step.island.linkage.is_some() {
        joint_friction::read(step);
        push_linked(step);
        return is_solved;
    }
    let inertia = &step.state.parameters.inertia;
    let Workspace { touches, active, columns, unknowns, scales, midpoint, mobility, .. } =
        &mut *step.workspace;
    for (index, &active) in active.iter().enumerate() {
        let touch = &touches[active];
        let p = Vector3::from_column_slice(&unknowns[3 * index..3 * index + 3]) * scales[index];
        let push = columns[index].linear.transpose() * p;
        let end = &mut midpoint.nodes[touch.node].end;
        end.velocity += push * mobility[touch.node];
        if let Some(rotation) = touch.rotation {
            let moment = columns[index].angular.transpose() * p;
            end.spin += moment.component_div(&inertia[rotation]);
        }
        if let Some(carrier) = &touch.carrier {
            let end = &mut midpoint.nodes[carrier.node].end;
            end.velocity -= push * mobility[carrier.node];
            if let Some(rotation) = carrier.rotation {
                let moment = columns[index].carrier.transpose() * p;
                end.spin += moment.component_div(&inertia[rotation]);
            }
        }
    }
    is_solved
}

/// The same through springs and joints.
fn push_linked<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let (linkage, index) = linked::linkage_of(step);
    let Workspace { touches, active, columns, unknowns, scales, midpoint, linkages, .. } =
        &mut *step.workspace;
    let Scratch { motion, proposed, rubbing, .. } = &mut linkages[index];
    motion.clear_right();
    for (index, &active) in active.iter().enumerate() {
        let p = Vector3::from_column_slice(&unknowns[3 * index..3 * index + 3]) * scales[index];
        push_rows(linkage, &midpoint.nodes, &mut motion.right, &touches[active], &columns[index], &p);
    }
    for Rubbing { rows, place, impulse: [around, along], .. } in rubbing.iter() {
        rows.push(&place.blocks, &mut motion.right, &Vector3::new(S::zero(), *around, *along));
    }
    motion.solve(linkage);
    for (proposed, pushed) in proposed.iter_mut().zip(&motion.solution) {
        *proposed += pushed;
    }
    for &node in &step.island.nodes {
        let end = &mut midpoint.nodes[node];
        change(linkage, &motion.solution, node, end, |motion| &mut motion.end);
    }
}

/// Adds an impulse of a contact, in its own directions, to a right side.
fn push_rows<S: Scalar>(
    linkage: &Linkage,
    nodes: &[NodeMotion<S>],
    right: &mut [Vector3<S>],
    touch: &Touch<S>,
    column: &Jacobian<S>,
    p: &Vector3<S>,
) {
    let mut turn = |node: usize, block: Option<usize>, moment: Vector3<S>| {
        if let Some(block) = block {
            right[block] += nodes[node].middle_pose.orientation.to_world(&moment);
        }
    };
    let (place, push) = (linkage.place_of(touch.node), column.linear.transpose() * p);
    turn(touch.node, place.angular, column.angular.transpose() * p);
    let body = touch.carrier.map(|carrier| {
        let place = linkage.place_of(carrier.node);
        turn(carrier.node, place.angular, column.carrier.transpose() * p);
        place.linear
    });
    right[place.linear] += push;
    if let Some(block) = body {
        right[block] -= push;
    }
}

/// What rows of a contact see of velocities.
fn see_rows<S: Scalar>(
    linkage: &Linkage,
    nodes: &[NodeMotion<S>],
    solution: &[Vector3<S>],
    touch: &Touch<S>,
    row: &Jacobian<S>,
) -> Vector3<S> {
    seen_of(touch, row, |node| {
        let place = linkage.place_of(node);
        let spin = place
            .angular
            .map_or(Vector3::zeros(), |block| nodes[node].middle_pose.orientation.to_body(&solution[block]));
        Motion { velocity: solution[place.linear], spin }
    })
}

fn solve_from_guess<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) -> bool {
    step.guess(h);
    let solved = step.solve_problem();
    step.keep_guess(h, solved);
    solved
}

/// Normal row at the end. Friction rows at the end where friction holds; else twice the mean velocity in the
/// middle, which has the direction that counts.
fn write_problem<S: Solvable>(step: &mut IslandStep<'_, S>, rebound: Rebound<S>, h: S) {
    let linkage = step.island.linkage.map(|_| linked::linkage_of(step));
    let Workspace {
        touches,
        active,
        columns,
        scales,
        problem,
        midpoint,
        mobility,
        together,
        linkages,
        neighbours,
        ..
    } = &mut *step.workspace;
    midpoint.rows.clear();
    for (index, &sticking) in midpoint.sticking.iter().enumerate() {
        let mut row = midpoint.ends[index];
        if !sticking {
            for tangent in 1..3 {
                row.linear.set_row(tangent, &columns[index].linear.row(tangent));
                row.angular.set_row(tangent, &columns[index].angular.row(tangent));
                row.carrier.set_row(tangent, &columns[index].carrier.row(tangent));
            }
        }
        midpoint.rows.push(row);
    }
    match linkage {
        None => {
            let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia, together };
            assemble(
                touches,
                active,
                &midpoint.rows,
                columns,
                scales,
                bodies,
                neighbours,
                &mut problem.contacts,
            );
        }
        Some((linkage, index)) => {
            let nodes = &midpoint.nodes;
            let push = |right: &mut [Vector3<S>], other: usize, direction: usize| {
                let mut unit = Vector3::zeros();
                unit[direction] = S::one();
                push_rows(linkage, nodes, right, &touches[active[other]], &columns[other], &unit);
            };
            let see = |solution: &[Vector3<S>], one: usize| {
                see_rows(linkage, nodes, solution, &touches[active[one]], &midpoint.rows[one])
            };
            let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia, together };
            delassus::scales(touches, active, columns, bodies, scales);
            let target = (scales, &mut problem.contacts);
            linked::write_operator(&mut linkages[index], linkage, push, see, target);
        }
    }
    step.workspace.problem.reset_friction();
    for index in 0..step.workspace.active.len() {
        let touch = step.workspace.touches[step.workspace.active[index]];
        let shift = if closes_fast(step, &touch) { step.shift(&touch, rebound) } else { S::zero() };
        let Workspace { scales, problem, midpoint, .. } = &mut *step.workspace;
        let rows = &midpoint.rows[index];
        let mut q = seen(&midpoint.nodes, &touch, rows, |node| node.free);
        q[0] += shift;
        if !midpoint.sticking[index] {
            let start = seen(&midpoint.nodes, &touch, rows, |node| node.start);
            q[1] += start[1];
            q[2] += start[2];
        }
        for row in 0..3 {
            problem.contacts.q[3 * index + row] = q[row] * scales[index];
        }
        problem.contacts.mu[index] = step.state.parameters.mu[touch.contact];
    }
    friction::write(step, h, |step, index| {
        let slip = mean_slip(step, index);
        if step.workspace.midpoint.sticking[index] { slip } else { slip * S::from(2.0) }
    });
    if step.rubs() {
        propose(step, |motion| &motion.free);
        joint_friction::look(step);
        joint_friction::write(step);
    }
}

/// Whether a contact rebounds; one that closes slowly stays closed.
fn closes_fast<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>) -> bool {
    touch.normal_velocity.value() < -step.unresolved_speed(touch)
}

fn any_closes_fast<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    step.workspace.active.iter().any(|&index| closes_fast(step, &step.workspace.touches[index]))
}

/// Whether a contact was tried with the wrong friction row, which is then changed. One that friction did not hold
/// when tried is not tried again, so that this ends, but where its bound has grown meanwhile.
fn revise_sticking<S: Solvable>(step: &mut IslandStep<'_, S>, trial: u32) -> bool {
    let Workspace { touches, active, columns, impulses, midpoint, .. } = &mut *step.workspace;
    let mut revised = false;
    for (index, sticking) in midpoint.sticking.iter_mut().enumerate() {
        let touch = &touches[active[index]];
        if step.system.contacts[touch.contact].friction.threshold().is_some() {
            continue;
        }
        let wrong = match impulses[index].mode {
            ContactMode::Open => false,
            ContactMode::Slip if *sticking => true,
            ContactMode::Slip => {
                // Sliding that turns round within the step has come to a stop.
                let nodes = &midpoint.nodes;
                let end = seen(nodes, touch, &midpoint.ends[index], |node| node.end).map(S::value);
                let mean = seen(nodes, touch, &columns[index], mean).map(S::value);
                trial == 0 && end[1] * mean[1] + end[2] * mean[2] < 0.0
            }
            ContactMode::Stick => {
                let grows = matches!(step.system.contacts[touch.contact].friction, FrictionLaw::Box { .. });
                (trial == 0 || grows) && !*sticking
            }
        };
        *sticking ^= wrong;
        revised |= wrong;
    }
    revised
}

/// Makes the motion of the last sweep real.
fn accept<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    if !step.workspace.active.is_empty() && step.is_jointed() {
        linked::judge(step);
    }
    let mut impact = false;
    for index in 0..step.workspace.active.len() {
        let touch = step.workspace.touches[step.workspace.active[index]];
        let impulse = step.workspace.impulses[index];
        if impulse.normal.value() <= 0.0 && !step.rubs_unpressed(&touch, &impulse) {
            continue;
        }
        impact |= closes_fast(step, &touch);
        let midpoint = &step.workspace.midpoint;
        let column = &step.workspace.columns[index];
        let mean = column.linear.transpose() * seen(&midpoint.nodes, &touch, column, mean);
        let end = seen(&midpoint.nodes, &touch, &midpoint.ends[index], |node| node.end);
        record_impulse(step.system, step.state, &touch, &impulse);
        if step.keeps_energy {
            book_contact(step, &touch, &impulse, &mean, end[0]);
        } else {
            record_work(step.state, &touch, &impulse, &mean);
        }
        if impulse.mode != ContactMode::Open && end[0].value() <= step.unresolved_speed(&touch) {
            let slip = length(&Vector3::new(S::zero(), end[1], end[2]));
            record_mode_of(step.system, step.state, &touch, impulse.mode, slip);
        }
    }
    if !step.state.memories.is_empty() {
        friction::remember(step, h);
    }
    if step.island.linkage.is_some() {
        propose(step, |motion| &motion.end);
        linked::record(step, h);
    }
    for &node in &step.island.nodes {
        let motion = &step.workspace.midpoint.nodes[node];
        let end = moved(&pose(step.system, step.state, node), &motion.mean_to(&motion.end), h);
        step.state.nodes[node].position = end.position;
        step.state.nodes[node].velocity = motion.end.velocity;
        if let Some(rotation) = step.system.nodes[node].rotation {
            let state = &mut step.state.rotations[rotation];
            state.orientation = end.orientation;
            state.angular_velocity = end.orientation.to_world(&motion.end.spin);
        }
        step.state.trends[node] = if impact {
            Trend::none()
        } else {
            Trend {
                acceleration: (motion.end.velocity - motion.start.velocity) / h,
                angular: (motion.end.spin - motion.start.spin) / h,
            }
        };
    }
    if step.island.linkage.is_some() {
        step.elapsed += h.value();
        linked::settle(step, h);
    }
}

/// Books what a contact takes, with the mean velocity of its touching point midway and the normal one at the end.
fn book_contact<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    touch: &Touch<S>,
    impulse: &Impulse<S>,
    mean: &Vector3<S>,
    normal_end: S,
) {
    let half = S::from(0.5);
    let mut before = *touch;
    before.settle(step.system, step.state);
    let sliding = if impulse.mode == ContactMode::Stick {
        let velocity = before.velocity(step.state);
        (velocity - before.normal * before.normal.dot(&velocity)) * half
    } else {
        mean - touch.normal * touch.normal.dot(mean)
    };
    let unsure = balance::unsure_speed(step, &before);
    let across = (touch.normal_velocity + normal_end) * half;
    balance::book(&mut step.state.step, impulse, (across, sliding), unsure);
}

/// Writes velocities at the end as those of the proposal.
fn propose<S: Solvable>(step: &mut IslandStep<'_, S>, which: impl Fn(&NodeMotion<S>) -> &Motion<S>) {
    let Workspace { velocity, turns, midpoint, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        let motion = &midpoint.nodes[node];
        let Motion { velocity: linear, spin } = which(motion);
        velocity[node] = *linear;
        if let Some(rotation) = step.system.nodes[node].rotation {
            turns[rotation].end = motion.end_pose.orientation.to_world(spin);
        }
    }
}
