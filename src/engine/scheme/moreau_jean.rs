//! Moreau-Jean event capturing: contacts with `gap + gamma h gap_velocity <= 0` act over the whole step, with
//! Newton's law on the velocity before the step. Impact times are O(h). [Fancello 2012, algorithm 3.1] What would be
//! passed through within the step acts as well ([`catch`]).

use super::balance::{self, Account, Outside};
use super::{IslandStep, catch};
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
    let passed = pass(step, dt, Gaps::Rounded);
    // A master that iterates has its own positions.
    if step.system.settings.correction && !step.island.iterates {
        super::correction::lift_out(step);
    }
    passed.close(step);
}

/// An interval that was captured, before its energy is balanced.
pub struct Passed<S> {
    /// What was dissipated before.
    dissipated: S,
    account: Option<Account<S>>,
    /// What acted from outside on a part that hangs together.
    outside: Option<Outside<S>>,
}

impl<S: Solvable> Passed<S> {
    /// Balances the energy after all corrections of positions.
    pub fn close(self, step: &mut IslandStep<'_, S>) {
        if let Some(outside) = &self.outside {
            balance::pay(step, outside, self.dissipated - step.state.step.dissipated);
        }
        balance::close(step, self.account);
    }
}

/// The same without correction.
pub fn pass<S: Solvable>(step: &mut IslandStep<'_, S>, dt: S, gaps: Gaps) -> Passed<S> {
    let dissipated = step.state.step.dissipated;
    step.look();
    activate(step, dt, gaps);
    step.propose_impact(dt);
    let catches = step.island.turns_along;
    if catches && catch::passed(step, dt) {
        step.propose_impact(dt);
    }
    let account = balance::open(step);
    let outside = step.is_pile().then(|| balance::outside(step));
    if catches {
        catch::accept(step, dt);
    } else {
        step.accept(dt);
    }
    step.record_modes();
    step.record_penetration();
    Passed { dissipated, account, outside }
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
