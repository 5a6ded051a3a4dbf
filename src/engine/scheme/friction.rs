//! Friction laws of the active contacts in the contact problem of an interval.
//!
//! Box and bristle are bounded by `mu` times the normal impulse of the last interval. Bounds are brought towards
//! the present normal impulse by fixed-point passes: as many as the law asks for, and until they settle where
//! there is nothing to look back at: a fresh contact, an impact. Passes that go to and fro, as they do where much
//! friction wedges, are averaged. [Krasnoselskii 1955] Where legs share a load in many ways, bounds need not settle at all:
//! the last ones count.

use super::IslandStep;
use crate::engine::law::bounded::BoundedRows;
use crate::engine::law::friction::{Set, Sliding};
use crate::engine::problem::mixed::Friction;
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::state::ContactMemory;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Passes whose bounds are not averaged.
const PLAIN_PASSES: u32 = 20;
/// Passes that may stay without solution, each after all that there is was tried.
pub const MOST_UNSOLVED: u32 = 2;

/// Normal impulses that the bounds of an interval `dt` start from.
pub fn begin<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let workspace = &mut *step.workspace;
    workspace.limits.clear();
    for &index in &workspace.active {
        let touch = &workspace.touches[index];
        let memory = touch.memory(step.system);
        let last = memory.map_or(S::zero(), |memory| step.state.memories[memory].normal);
        workspace.limits.push(last * dt);
    }
}

/// Gives every active contact its law, in the scaled unknowns of the problem. `slip` is the velocity that decides
/// whether and where a contact slides, world components.
pub fn write<S: Solvable>(
    step: &mut IslandStep<'_, S>,
    dt: S,
    slip: impl Fn(&IslandStep<'_, S>, usize) -> Vector3<S>,
) {
    for index in 0..step.workspace.active.len() {
        let touch = &step.workspace.touches[step.workspace.active[index]];
        let pair = &step.system.contacts[touch.contact];
        if pair.is_plain_cone() {
            continue;
        }
        let slip = slip(step, index);
        let scale = step.workspace.scales[index];
        let frame = step.workspace.columns[index].linear;
        let mu = step.state.parameters.mu[touch.contact];
        let limit = step.workspace.limits[index];
        let memory = touch.memory(step.system);
        let memory = memory.map_or(ContactMemory::none(), |memory| step.state.memories[memory]);
        let tangential = |vector: &Vector3<S>| {
            let local = frame * vector;
            [local[1], local[2]]
        };
        let problem = &mut step.workspace.problem;
        if dt.value() > 0.0 && pair.normal_stiffness.is_finite() {
            let compliance = S::from(1.0 / pair.normal_stiffness) / (dt * dt) * scale * scale;
            problem.add_normal_compliance(index, compliance, memory.normal * dt / scale);
        }
        let sliding = Sliding {
            mu,
            limit,
            last: tangential(&memory.tangential).map(|force| force * dt),
            slip: tangential(&slip),
            predicted: [problem.contacts.q[3 * index + 1], problem.contacts.q[3 * index + 2]],
            dt,
        };
        match pair.friction.set(&sliding) {
            Set::Disc => {}
            Set::Polygon(facets, polygon) => problem.friction[index] = Friction::Facets(facets, polygon),
            Set::Rectangle(rows) => problem.set_bounded(index, &scaled(&rows, scale)),
        }
    }
}

/// Rows for unknowns that times `scale` are impulses.
fn scaled<S: Scalar>(rows: &BoundedRows<S>, scale: S) -> BoundedRows<S> {
    BoundedRows {
        direction: rows.direction,
        compliance: rows.compliance.map(|compliance| compliance * scale * scale),
        preload: rows.preload.map(|preload| preload / scale),
        bound: rows.bound / scale,
    }
}

/// Takes the bounds from the solution of pass `pass`. Returns whether another pass is wanted.
pub fn revise<S: Solvable>(step: &mut IslandStep<'_, S>, pass: u32, dt: S) -> bool {
    let mut again = false;
    for index in 0..step.workspace.active.len() {
        let touch = &step.workspace.touches[step.workspace.active[index]];
        let pair = &step.system.contacts[touch.contact];
        let Some(iterations) = pair.friction.passes() else { continue };
        let remembered =
            touch.memory(step.system).map_or(0.0, |memory| step.state.memories[memory].normal.value());
        let found = step.workspace.unknowns[3 * index] * step.workspace.scales[index];
        let last = std::mem::replace(&mut step.workspace.limits[index], found);
        again |= if dt.value() > 0.0 && remembered > 0.0 {
            pass < iterations
        } else {
            if pass >= PLAIN_PASSES {
                step.workspace.limits[index] = (found + last) * S::from(0.5);
            }
            pass < TOLERANCES.bound_passes
                && (found - last).value().abs() > TOLERANCES.rounding * found.value().abs()
        };
    }
    again
}

/// Keeps the forces of an interval for the laws that look back.
pub fn remember<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    for &contact in &step.island.contacts {
        if let Some(first) = step.system.contacts[contact].memory {
            let places = first..first + step.system.touching_points(contact);
            step.state.memories[places].fill(ContactMemory::none());
        }
    }
    for (&index, impulse) in step.workspace.active.iter().zip(&step.workspace.impulses) {
        if let Some(memory) = step.workspace.touches[index].memory(step.system)
            && impulse.normal.value() > 0.0
        {
            step.state.memories[memory] =
                ContactMemory { normal: impulse.normal / dt, tangential: impulse.tangential / dt };
        }
    }
}
