//! Moreau-Jean event capturing: contacts with `gap + gamma h gap_velocity <= 0` act over the whole step, with
//! Newton's law on the velocity before the step. Impact times are O(h). [Fancello 2012, algorithm 3.1] What would be
//! passed through within the step acts as well ([`catch`]).

use super::balance::{self, Account};
use super::{IslandStep, catch, linked};
use crate::engine::solver::Solvable;

/// What counts as closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Gaps that are closed but for round-off: what rests may not fall for it.
    Rounded,
    /// Those too that open in a bounce which may be over within the interval: in the contact problem only what returns is
    /// pushed.
    AmidBounces,
}

/// Advances the island by `dt`.
pub fn run<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S) {
    let account = pass(step, dt, Gaps::Rounded);
    // A master that iterates has its own positions.
    if step.system.settings.correction && !step.island.iterates {
        super::correction::lift_out(step);
    }
    balance::close(step, account);
}

/// The same without correction, and before energy is balanced.
pub fn pass<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S, gaps: Gaps) -> Option<Account<S>> {
    // How far features are looked for follows from how nodes will accelerate.
    if step.island.linkage.is_some() && step.island.turns_along {
        linked::foresee(step, dt);
    }
    step.look();
    activate(step, dt, gaps);
    step.propose_impact(dt);
    let catches = step.island.turns_along;
    if catches && catch::passed(step, dt) {
        step.propose_impact(dt);
    }
    let account = balance::open(step);
    if catches {
        catch::accept(step, dt);
    } else {
        step.accept(dt);
    }
    step.record_modes();
    step.record_penetration();
    account
}

/// Makes active what closes soon.
pub fn activate<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S, gaps: Gaps) {
    let look_ahead = step.system.settings.gamma * dt.value();
    let is_pile = step.is_pile();
    step.workspace.active.clear();
    for index in 0..step.workspace.touches.len() {
        let touch = &step.workspace.touches[index];
        let mut rounding = step.touching_distance(touch);
        if is_pile {
            rounding += step.settling_distance(touch);
        }
        let mut opening = touch.normal_velocity.value();
        if gaps == Gaps::AmidBounces {
            opening = opening.min(0.0);
        }
        if touch.gap.value() + look_ahead * opening <= rounding {
            step.workspace.active.push(index);
        }
    }
}
