//! Moreau-Jean event capturing: contacts with `gap + gamma h gap_velocity <= 0` act over the whole step, with
//! Newton's law on the velocity before the step. Impact times are O(h). [Fancello 2012, algorithm 3.1]

use super::IslandStep;
use crate::engine::solver::Solvable;

/// Advances the island by `dt`.
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    step.look();
    let look_ahead = step.system.settings.gamma * dt.value();
    let workspace = &mut *step.workspace;
    workspace.active.clear();
    workspace.active.extend((0..workspace.touches.len()).filter(|&index| {
        let touch = &workspace.touches[index];
        touch.gap.value() + look_ahead * touch.normal_velocity.value() <= 0.0
    }));
    step.propose_impact(dt);
    step.accept(dt);
    step.record_modes();
    step.record_penetration();
    // A master that iterates has its own positions.
    if step.system.settings.correction && !step.island.iterates {
        super::correction::lift_out(step);
    }
}
