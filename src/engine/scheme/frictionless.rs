//! Contacts without friction of point masses on fixed, flat surfaces, where the problem of the normal impulses
//! `0 <= p _|_ W p + q >= 0` has a closed form: two of one mass, and one of a mass among springs.

use super::{IslandStep, Placing, Rebound, linked};
use crate::engine::contact::{Impulse, Touch};
use crate::engine::law::ContactMode;
use crate::engine::settings::SolverChoice;
use crate::engine::solver::Solvable;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Velocities at the end of `dt`, from those without contact in the proposal. Returns whether there is a closed form.
// Not inlined: steps of other contacts stay short.
#[inline(never)]
pub fn propose<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S, rebound: Rebound<S>) -> bool {
    let found = match step.workspace.active[..] {
        [only] => is_plain(step, only) && propose_linked(step, only, dt, rebound),
        [one, other] => {
            is_plain(step, one) && is_plain(step, other) && propose_pair(step, [one, other], dt, rebound)
        }
        _ => false,
    };
    if found {
        step.state.step.iterations = step.state.step.iterations.saturating_add(1);
    }
    found
}

fn is_plain<S: Solvable>(step: &IslandStep<'_, S>, index: usize) -> bool {
    let touch = &step.workspace.touches[index];
    touch.rotation.is_none()
        && step.workspace.together.is_empty()
        && touch.carrier.is_none()
        && touch.flat
        && step.state.parameters.mu[touch.contact].is_zero()
        && step.system.contacts[touch.contact].is_plain_cone()
}

/// Velocity of a contact without its impulse, shifted by restitution.
fn free<S: Solvable>(step: &IslandStep<'_, S>, touch: &Touch<S>, rebound: Rebound<S>) -> S {
    touch.normal.dot(&step.workspace.velocity[touch.node]) + step.shift(touch, rebound)
}

fn impulse<S: Solvable>(normal: S) -> Impulse<S> {
    let mode = if normal.value() > 0.0 { ContactMode::Slip } else { ContactMode::Open };
    Impulse { normal, tangential: Vector3::zeros(), mode }
}

/// One contact among springs between point masses.
fn propose_linked<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    index: usize,
    dt: S,
    rebound: Rebound<S>,
) -> bool {
    if dt.value() == 0.0 {
        return false;
    }
    let touch = &step.workspace.touches[index];
    let (node, normal) = (touch.node, touch.normal);
    let free = free(step, touch, rebound);
    let Some(found) = linked::stop(step, node, &normal, free) else { return false };
    step.workspace.impulses.clear();
    step.workspace.impulses.push(impulse(found));
    true
}

/// Two contacts of one mass.
fn propose_pair<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    pair: [usize; 2],
    dt: S,
    rebound: Rebound<S>,
) -> bool {
    // A solver that the user has chosen is not replaced.
    if step.system.settings.solver.choice != SolverChoice::Auto {
        return false;
    }
    let touches = pair.map(|index| &step.workspace.touches[index]);
    let [one, other] = touches;
    let across = one.normal.cross(&other.normal);
    let apart = across.dot(&across);
    if one.node != other.node || apart.value() < TOLERANCES.small || linked::yields(step, Placing::Acting, dt)
    {
        return false;
    }
    let node = one.node;
    let normals = touches.map(|touch| touch.normal);
    let [a, b] = touches.map(|touch| free(step, touch, rebound));
    let alike = normals[0].dot(&normals[1]);
    // What each sees when the other one alone is stopped.
    let (a_then, b_then) = (a - alike * b, b - alike * a);
    let zero = S::zero();
    let stopped = if a.value() >= 0.0 && b.value() >= 0.0 {
        [zero, zero]
    } else if a.value() < 0.0 && b_then.value() >= 0.0 {
        [-a, zero]
    } else if b.value() < 0.0 && a_then.value() >= 0.0 {
        [zero, -b]
    } else {
        [-a_then / apart, -b_then / apart]
    };
    let mobility = step.workspace.mobility[node];
    step.workspace.velocity[node] += normals[0] * stopped[0] + normals[1] * stopped[1];
    step.workspace.impulses.clear();
    step.workspace.impulses.extend(stopped.map(|change| impulse(change / mobility)));
    true
}
