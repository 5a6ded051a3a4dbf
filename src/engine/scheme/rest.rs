//! Rest to tolerance.
//!
//! A solver leaves a little velocity where bodies are to stay at rest, and a pile would creep by it for ever. Where for
//! every body of an island, with `|v|_M^2 = m v^2 + w . I w` and the impulses `p` of the contacts on it,
//!
//! `sqrt(m) |v+|_M <= tolerance (|m v + h f| + sum |p|)`
//!
//! no velocity at all is as good an answer: the error goes from the contact law into the balance of momentum
//! `M (v+ - v) = h f + J^T p`, and is not larger there than the tolerance of its terms, body by body. The law is then met
//! at least as well: with `u = 0` what is left of its natural residual is the distance of the impulses from their cones,
//! and `|p - Proj(p)| <= |p - Proj(p - u)|`. There is no other threshold, and nothing sleeps: every step asks anew.

use super::{IslandStep, Rebound};
use crate::engine::law::ContactMode;
use crate::engine::scalar::Scalar;
use crate::engine::scheme::workspace::Workspace;
use crate::engine::settings::Scheme;
use crate::engine::solver::{Solvable, Status};
use nalgebra::Vector3;

/// Velocities at the end of `dt` of an island that starts at rest and stays so. Returns whether it does; otherwise the
/// proposal is that without contact.
///
/// What stays turns nowhere on the way, so that contacts are where they are. Where the free motion would take them is for
/// what moves.
// Not inlined, like the next ones: steps of what moves stay short.
#[inline(never)]
pub fn propose<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S, rebound: Rebound<S>) -> bool {
    if !may_rest(step, dt) || !is_still(step) {
        return false;
    }
    let residual = step.state.step.residual;
    let Workspace { touches, active, turns, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        if let Some(rotation) = step.system.nodes[node].rotation {
            turns[rotation].acting = step.state.rotations[rotation].orientation;
        }
    }
    for &place in active.iter() {
        let touch = &mut touches[place];
        (touch.arm_after, touch.normal_after) = (touch.arm, touch.normal);
        if let Some(carrier) = &mut touch.carrier {
            carrier.arm_after = carrier.arm;
        }
    }
    let stays = step.solve_coupled(dt, rebound) && stop(step, dt);
    if !stays {
        step.state.step.residual = residual;
        step.propose_free(dt);
    }
    stays
}

/// Takes the forces of the last interval for the answer over `dt` where the island starts at rest and they hold it, to
/// tolerance. What a solver would make of them is another answer within tolerance, and never the same twice.
#[inline(never)]
pub fn is_held<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> bool {
    if !may_rest(step, dt) || !step.system.settings.warm_start || !is_still(step) {
        return false;
    }
    let settings = &step.system.settings.solver;
    let workspace = &mut *step.workspace;
    let (problem, guess) = (&workspace.problem, &mut workspace.unknowns);
    let report = S::judge_mixed(problem, guess, settings, &mut workspace.solver);
    let is_held = report.status == Status::Solved;
    if is_held {
        step.state.step.residual = step.state.step.residual.max(report.residual);
    }
    is_held
}

/// Stops a proposal over `dt` that is at rest to tolerance. Returns whether it is.
#[inline(never)]
pub fn stop<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) -> bool {
    if !may_rest(step, dt) {
        return false;
    }
    sum_loads(step, dt);
    if !step.island.nodes.iter().all(|&node| rests(step, node)) {
        return false;
    }
    let weight = S::from(step.contact_weight());
    for &node in &step.island.nodes {
        let velocity = &mut step.workspace.velocity[node];
        *velocity = tangent_of(velocity);
        if let Some(rotation) = step.system.nodes[node].rotation {
            let turn = &mut step.workspace.turns[rotation];
            let left = turn.end.map(|spin| S::from(spin.value()));
            turn.end = tangent_of(&turn.end);
            turn.mean = if is_zero(&step.state.rotations[rotation].angular_velocity) {
                tangent_of(&turn.mean)
            } else {
                turn.mean - left * weight
            };
        }
    }
    for (&place, impulse) in step.workspace.active.iter().zip(&mut step.workspace.impulses) {
        let mu = step.state.parameters.mu[step.workspace.touches[place].contact];
        if impulse.mode == ContactMode::Slip && mu.value() > 0.0 {
            impulse.mode = ContactMode::Stick;
        }
    }
    true
}

#[inline]
fn may_rest<S: Solvable>(step: &IslandStep<'_, S>, dt: S) -> bool {
    step.island.rest.is_some()
        && matches!(step.system.settings.scheme, Scheme::MoreauJean)
        && dt.value() > 0.0
}

/// Whether nothing of an island moves.
fn is_still<S: Solvable>(step: &IslandStep<'_, S>) -> bool {
    step.island.nodes.iter().all(|&node| {
        let rotation = step.system.nodes[node].rotation;
        is_zero(&step.state.nodes[node].velocity)
            && rotation.is_none_or(|rotation| is_zero(&step.state.rotations[rotation].angular_velocity))
    })
}

/// Adds up the sizes of all that changes the momentum of each body over `dt`, and what it has.
fn sum_loads<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let Workspace { touches, active, impulses, acceleration, loads, .. } = &mut *step.workspace;
    for &node in &step.island.nodes {
        let free = step.state.nodes[node].velocity + acceleration[node] * dt;
        loads[node] = step.state.parameters.mass[node].value() * square(&free).sqrt();
    }
    for (&place, impulse) in active.iter().zip(impulses) {
        let touch = &touches[place];
        let normal = impulse.normal.value();
        let size = (normal * normal + square(&impulse.tangential)).sqrt();
        loads[touch.node] += size;
        if let Some(carrier) = &touch.carrier {
            loads[carrier.node] += size;
        }
    }
}

/// Whether the velocities that are proposed for a body are none, to tolerance.
fn rests<S: Solvable>(step: &IslandStep<'_, S>, node: usize) -> bool {
    let mass = step.state.parameters.mass[node].value();
    let mut left = mass * square(&step.workspace.velocity[node]);
    if let Some(rotation) = step.system.nodes[node].rotation {
        let spin = step.state.rotations[rotation].orientation.to_body(&step.workspace.turns[rotation].end);
        let inertia = &step.state.parameters.inertia[rotation];
        left += (0..3).map(|axis| inertia[axis].value() * spin[axis].value().powi(2)).sum::<f64>();
    }
    let tolerance = step.system.settings.solver.tolerance;
    // What nothing moves has no finite mass, and no tolerance either.
    left.is_finite() && (mass * left).sqrt() <= tolerance * step.workspace.loads[node]
}

fn square<S: Scalar>(vector: &Vector3<S>) -> f64 {
    vector.iter().map(|x| x.value() * x.value()).sum()
}

fn is_zero<S: Scalar>(vector: &Vector3<S>) -> bool {
    vector.iter().all(|x| x.value() == 0.0)
}

/// Zero, with the tangent of what it was.
fn tangent_of<S: Scalar>(vector: &Vector3<S>) -> Vector3<S> {
    vector.map(|x| x - S::from(x.value()))
}
