//! Position-level correction: nodes are moved, velocities are not, so that no kinetic energy is injected.
//!
//! The displacement is the smallest in the mass norm that opens the gaps: `0 <= x _|_ W x + gap >= 0`,
//! `q += M^-1 N^T x`.

use super::IslandStep;
use crate::engine::contact::gap;
use crate::engine::solver::Solvable;
use nalgebra::Vector3;

/// Puts contacts that were pressed over `dt` exactly on their surfaces, from either side.
///
/// Their normal impulses are taken out of the motion first, which presses every one of them in; lifting them
/// out again leaves all gaps at zero.
pub fn close<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    /// Gaps that are left alone.
    const CLOSED: f64 = 1e-15;
    let mut worst = 0.0_f64;
    for index in 0..step.workspace.active.len() {
        let pressed = step.workspace.impulses[index].normal.value() > 0.0;
        let gap = refresh(step, step.workspace.active[index]);
        worst = worst.max(if pressed { gap.abs() } else { -gap });
    }
    if worst <= CLOSED {
        return;
    }
    let lever = dt * S::from(step.system.settings.theta);
    for index in 0..step.workspace.active.len() {
        let touch = step.workspace.touches[step.workspace.active[index]];
        let press = step.workspace.impulses[index].normal * lever / step.state.parameters.mass[touch.node];
        displace(step, touch.node, -touch.normal * press);
    }
    lift(step);
}

/// Moves nodes out of the surfaces that they penetrate.
pub fn lift_out<S: Solvable>(step: &mut IslandStep<'_, S>) {
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        if refresh(step, index) < 0.0 {
            step.workspace.active.push(index);
        }
    }
    lift(step);
}

fn refresh<S: Solvable>(step: &mut IslandStep<'_, S>, index: usize) -> f64 {
    let touch = &mut step.workspace.touches[index];
    touch.gap = gap(step.system, step.state, touch.contact);
    touch.gap.value()
}

/// Moves a node; what its weight does on the way is booked as dissipated, so that the energy balance closes.
fn displace<S: Solvable>(step: &mut IslandStep<'_, S>, node: usize, shift: Vector3<S>) {
    step.state.nodes[node].position += shift;
    let parameters = &step.state.parameters;
    step.state.step.dissipated += parameters.mass[node] * parameters.gravity.dot(&shift);
}

/// Opens the gaps of the active contacts.
fn lift<S: Solvable>(step: &mut IslandStep<'_, S>) {
    for index in 0..step.workspace.active.len() {
        refresh(step, step.workspace.active[index]);
    }
    match step.workspace.active[..] {
        [] => {}
        [only] => {
            let touch = step.workspace.touches[only];
            if touch.gap.value() < 0.0 {
                displace(step, touch.node, -touch.normal * touch.gap);
            }
        }
        _ => {
            step.begin_problem();
            for index in 0..step.workspace.active.len() {
                let touch = step.workspace.touches[step.workspace.active[index]];
                step.workspace.problem.q[3 * index] = touch.gap * step.scale(&touch);
            }
            step.solve_problem();
            for index in 0..step.workspace.active.len() {
                let touch = step.workspace.touches[step.workspace.active[index]];
                let x = step.workspace.unknowns[3 * index] * step.scale(&touch);
                let shift = touch.normal * (x / step.state.parameters.mass[touch.node]);
                displace(step, touch.node, shift);
            }
        }
    }
}
