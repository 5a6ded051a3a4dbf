//! Implicit midpoint, order 2 between impacts, also while contacts slide and roll.
//!
//! With `v_m = (v + v+) / 2`, `q_m = q + h/2 v_m`, `q_p = q + h v_m`:
//! `M (v+ - v) = h f(q_m, v_m) + J(q_m)^T p`, `q+ = q_p`. Contacts obey `N(q_p) v+ >= 0` with Newton's law where they
//! close; friction opposes `T(q_m) v_m` where it slides, and stops `T(q_p) v+` where it holds. Rotation is in body
//! components, where the inertia is constant, and `A+ = A exp(h w_m)`; so the energy balance is exact.
//!
//! `v+` is predicted from the last substep and found by fixed-point sweeps, each with one contact problem.
//! Impacts are captured as in [`super::moreau_jean`].

use super::flight::{Flight, Turning};
use super::{IslandStep, Rebound, correction, record_impulse};
use crate::engine::contact::{Bodies, Jacobian, Touch, assemble, near, pose, scales};
use crate::engine::geometry::{Pose, Proximity};
use crate::engine::rotation::Orientation;
use crate::engine::scalar::{Scalar, length};
use crate::engine::solver::Solvable;
use crate::engine::state::{ContactMode, Trend};
use crate::engine::step::Workspace;
use nalgebra::Vector3;

/// Contact problems per sweep before a contact is left with the friction row that it was tried with last.
const MAX_TRIALS: usize = 8;

/// A touching point that moves further within half a substep, as a part of its distance from the centre, has jumped:
/// a disc that falls flat, say. What happens at the end is then no consequence of impulses in the middle, and the
/// contact problem is written in the middle alone.
const JUMP: f64 = 0.25;

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
}

/// Motion of a node over the substep. Angular velocities are in body components.
#[derive(Clone, Copy, Debug)]
struct NodeMotion<S> {
    start: Motion<S>,
    /// Velocity at the end without contact.
    free: Motion<S>,
    /// Velocity at the end, as of the last sweep.
    end: Motion<S>,
    middle_pose: Pose<S>,
    end_pose: Pose<S>,
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
        let node = NodeMotion { start: rest, free: rest, end: rest, middle_pose: pose, end_pose: pose };
        MidpointScratch {
            nodes: vec![node; nodes],
            ends: Vec::with_capacity(contacts),
            rows: Vec::with_capacity(contacts),
            sticking: Vec::with_capacity(contacts),
        }
    }
}

impl<S: Scalar> Motion<S> {
    fn mean(&self, other: &Motion<S>) -> Motion<S> {
        let half = S::from(0.5);
        Motion { velocity: (self.velocity + other.velocity) * half, spin: (self.spin + other.spin) * half }
    }

    /// Seen by a contact: normal, tangent 1, tangent 2.
    fn at(&self, contact: &Jacobian<S>) -> Vector3<S> {
        contact.velocity(&self.velocity, &self.spin)
    }
}

/// Advances the island by `h`.
// Not inlined: steps of the other schemes stay short.
#[inline(never)]
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, sweeps: u32, h: S) {
    step.look();
    activate(step, h);
    predict(step, h);
    for sweep in 0..sweeps {
        move_freely(step, h);
        see_contacts(step);
        if sweep == 0 {
            guess_sticking(step);
        }
        for trial in 0..MAX_TRIALS {
            solve(step, h);
            if !revise_sticking(step, trial) {
                break;
            }
        }
    }
    accept(step, h);
    step.record_penetration();
    if step.system.settings.correction {
        correction::close(step, S::zero());
        correction::lift_out(step);
    }
}

/// Makes active the contacts with `gap + gamma h gap_velocity + h^2/2 gap_acceleration <= 0` in free motion.
/// Without the last term a contact would open whenever its gap is positive by the error of the step.
fn activate<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    let ahead = h * S::from(1.0 - step.system.settings.gamma);
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        let node = &step.state.nodes[touch.node];
        let flight = Flight {
            position: node.position,
            velocity: node.velocity,
            curvature: step.workspace.acceleration[touch.node] * S::from(0.5),
            turning: match touch.rotation {
                Some(rotation) if !step.system.nodes[touch.node].shape.is_round() => {
                    Turning::Free(step.free_rotation(touch.node, rotation))
                }
                _ => Turning::None,
            },
        };
        let gap = near(step.system, &flight.pose(h), None, touch.contact, touch.point).gap
            - touch.normal_velocity * ahead;
        if gap.value() <= 0.0 {
            step.workspace.active.push(index);
        }
    }
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
        motion.start = Motion { velocity, spin };
        motion.end = Motion { velocity: velocity + trend.acceleration * h, spin: spin + trend.angular * h };
    }
}

/// Poses in the middle and at the end with the velocities of the last sweep, and the free velocities from there.
fn move_freely<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    for &node in &step.island.nodes {
        let start = pose(step.system, step.state, node);
        let motion = &mut step.workspace.midpoint.nodes[node];
        let mean = motion.start.mean(&motion.end);
        motion.middle_pose = moved(&start, &mean, h * S::from(0.5));
        motion.end_pose = moved(&start, &mean, h);
        motion.free = motion.start;
        motion.free.velocity += step.workspace.acceleration[node] * h;
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
}

fn moved<S: Scalar>(start: &Pose<S>, motion: &Motion<S>, time: S) -> Pose<S> {
    Pose {
        position: start.position + motion.velocity * time,
        orientation: start.orientation.turned_in_body(&(motion.spin * time)),
    }
}

/// The active contacts in the middle, where impulses act, and at the end.
fn see_contacts<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { touches, active, columns, scales: d, midpoint, mobility, .. } = &mut *step.workspace;
    columns.clear();
    midpoint.ends.clear();
    for &index in active.iter() {
        let touch = &mut touches[index];
        let motion = &midpoint.nodes[touch.node];
        let middle = near(step.system, &motion.middle_pose, None, touch.contact, touch.point);
        columns.push(jacobian(touch, &middle, &motion.middle_pose));
        let end = near(step.system, &motion.end_pose, None, touch.contact, touch.point);
        let jumps = length(&(end.arm - middle.arm)).value() > JUMP * length(&middle.arm).value();
        midpoint.ends.push(match columns.last() {
            Some(&middle) if jumps => middle,
            _ => jacobian(touch, &end, &motion.end_pose),
        });
        touch.normal = middle.normal;
        touch.arm = middle.arm;
        touch.arm_after = middle.arm;
    }
    let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia };
    scales(touches, active, columns, bodies, d);
}

fn jacobian<S: Scalar>(touch: &Touch<S>, near: &Proximity<S>, pose: &Pose<S>) -> Jacobian<S> {
    Jacobian::new(&near.normal, &near.arm, touch.rotation.map(|_| &pose.orientation))
}

/// Friction probably holds where it could stop the free motion if the contact were alone and isotropic.
fn guess_sticking<S: Solvable>(step: &mut IslandStep<'_, S>) {
    let Workspace { touches, active, midpoint, .. } = &mut *step.workspace;
    midpoint.sticking.clear();
    for (&index, end) in active.iter().zip(&midpoint.ends) {
        let touch = &touches[index];
        let free = midpoint.nodes[touch.node].free.at(end).map(S::value);
        let mu = step.state.parameters.mu[touch.contact].value();
        midpoint.sticking.push(mu > 0.0 && free[1].hypot(free[2]) <= -mu * free[0]);
    }
}

/// Solves the contact problem and finds the velocities at the end.
fn solve<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    for &node in &step.island.nodes {
        let motion = &mut step.workspace.midpoint.nodes[node];
        motion.end = motion.free;
    }
    if step.workspace.active.is_empty() {
        step.workspace.impulses.clear();
        return;
    }
    write_problem(step, Rebound::Newton);
    // As in `propose_impact`: friction can leave an impact with rebound without solution.
    if !solve_from_guess(step, h) && any_closes_fast(step) {
        write_problem(step, Rebound::None);
        solve_from_guess(step, h);
    }
    step.read_impulses();
    let Workspace { touches, active, columns, unknowns, scales, midpoint, mobility, .. } =
        &mut *step.workspace;
    for (index, &active) in active.iter().enumerate() {
        let touch = &touches[active];
        let p = Vector3::from_column_slice(&unknowns[3 * index..3 * index + 3]) * scales[index];
        let end = &mut midpoint.nodes[touch.node].end;
        end.velocity += columns[index].linear.transpose() * p * mobility[touch.node];
        if let Some(rotation) = touch.rotation {
            let moment = columns[index].angular.transpose() * p;
            end.spin += moment.component_div(&step.state.parameters.inertia[rotation]);
        }
    }
}

fn solve_from_guess<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) -> bool {
    step.guess(h);
    let solved = step.solve_problem();
    step.keep_guess(h, solved);
    solved
}

/// Normal row at the end. Friction rows at the end where friction holds; else twice the mean velocity in the
/// middle, which has the direction that counts.
fn write_problem<S: Solvable>(step: &mut IslandStep<'_, S>, rebound: Rebound) {
    let Workspace { touches, active, columns, scales, problem, midpoint, mobility, .. } =
        &mut *step.workspace;
    midpoint.rows.clear();
    for (index, &sticking) in midpoint.sticking.iter().enumerate() {
        let mut row = midpoint.ends[index];
        if !sticking {
            for tangent in 1..3 {
                row.linear.set_row(tangent, &columns[index].linear.row(tangent));
                row.angular.set_row(tangent, &columns[index].angular.row(tangent));
            }
        }
        midpoint.rows.push(row);
    }
    let bodies = Bodies { mobility, inertia: &step.state.parameters.inertia };
    assemble(touches, active, &midpoint.rows, columns, scales, bodies, &mut problem.contacts);
    problem.reset_friction();
    for index in 0..step.workspace.active.len() {
        let touch = step.workspace.touches[step.workspace.active[index]];
        let shift = if closes_fast(step, &touch) { step.shift(&touch, rebound) } else { S::zero() };
        let Workspace { scales, problem, midpoint, .. } = &mut *step.workspace;
        let motion = &midpoint.nodes[touch.node];
        let mut q = motion.free.at(&midpoint.rows[index]);
        q[0] += shift;
        if !midpoint.sticking[index] {
            let start = motion.start.at(&midpoint.rows[index]);
            q[1] += start[1];
            q[2] += start[2];
        }
        for row in 0..3 {
            problem.contacts.q[3 * index + row] = q[row] * scales[index];
        }
        problem.contacts.mu[index] = step.state.parameters.mu[touch.contact];
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
/// when tried is not tried again, so that this ends.
fn revise_sticking<S: Solvable>(step: &mut IslandStep<'_, S>, trial: usize) -> bool {
    let Workspace { touches, active, columns, impulses, midpoint, .. } = &mut *step.workspace;
    let mut revised = false;
    for (index, sticking) in midpoint.sticking.iter_mut().enumerate() {
        let motion = &midpoint.nodes[touches[active[index]].node];
        let wrong = match impulses[index].mode {
            ContactMode::Open => false,
            ContactMode::Slip if *sticking => true,
            ContactMode::Slip => {
                // Sliding that turns round within the step has come to a stop.
                let end = motion.end.at(&midpoint.ends[index]).map(S::value);
                let mean = motion.start.mean(&motion.end).at(&columns[index]).map(S::value);
                trial == 0 && end[1] * mean[1] + end[2] * mean[2] < 0.0
            }
            ContactMode::Stick => trial == 0 && !*sticking,
        };
        *sticking ^= wrong;
        revised |= wrong;
    }
    revised
}

/// Makes the motion of the last sweep real.
fn accept<S: Solvable>(step: &mut IslandStep<'_, S>, h: S) {
    let mut impact = false;
    for index in 0..step.workspace.active.len() {
        let touch = step.workspace.touches[step.workspace.active[index]];
        let impulse = step.workspace.impulses[index];
        if impulse.normal.value() <= 0.0 {
            continue;
        }
        impact |= closes_fast(step, &touch);
        let midpoint = &step.workspace.midpoint;
        let motion = &midpoint.nodes[touch.node];
        let column = &step.workspace.columns[index];
        let mean = column.linear.transpose() * motion.start.mean(&motion.end).at(column);
        let end = motion.end.at(&midpoint.ends[index]);
        record_impulse(step.state, &touch, &impulse, &mean);
        if end[0].value() <= step.unresolved_speed(&touch) {
            let record = &mut step.state.contacts[touch.contact];
            record.mode = impulse.mode;
            record.slip = length(&Vector3::new(S::zero(), end[1], end[2]));
        }
    }
    for &node in &step.island.nodes {
        let motion = &step.workspace.midpoint.nodes[node];
        let end = moved(&pose(step.system, step.state, node), &motion.start.mean(&motion.end), h);
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
}
