//! Impacts that add no energy.
//!
//! With the relative velocities `u` before and `u+` after an impact, contact impulses do the work
//! `A = sum p . (u + u+) / 2`. Newton's law with friction, or with unequal coefficients of restitution, can make it
//! positive [Kane and Levinson 1985; Glocker 2013]. Without rebound it never is: `p . u+ <= 0`, and `u = u+ - W p`, so
//! that `A <= -p . W p / 2`. So all coefficients of restitution of the impact are multiplied by the largest `s` in
//! `[0, 1]` with `A(s) <= 0`. Where Newton's law adds nothing, `s` is 1. Over an interval with forces `A(0)` may be above
//! zero by what these do; that is then the bound.

use super::root::sign_change;
use super::{IslandStep, Rebound};
use crate::engine::scalar::length;
use crate::engine::settings::Impact;
use crate::engine::solver::Solvable;
use nalgebra::Vector3;

/// Work of contact impulses, and the sum of the sizes of its terms.
#[derive(Clone, Copy)]
pub(super) struct Work<S> {
    work: S,
    size: f64,
}

impl<S: Solvable> Work<S> {
    pub fn none() -> Work<S> {
        Work { work: S::zero(), size: 0.0 }
    }

    /// Adds an impulse at a point that moves with some velocities before and after it, and that alone would change by
    /// `mobility` a unit of impulse.
    pub fn add(&mut self, impulse: &Vector3<S>, [before, after]: [&Vector3<S>; 2], mobility: S) {
        let size = length(impulse);
        self.work += impulse.dot(&((before + after) * S::from(0.5)));
        self.size += (size * (length(before) + length(after) + size * mobility)).value();
    }
}

impl<S: Solvable> IslandStep<'_, S> {
    /// As [`propose`](Self::propose) with rebound.
    #[inline]
    pub(super) fn propose_impact(&mut self, dt: S) {
        // A lone contact of a point mass is always solved, and adds no energy.
        let rebounds = |step: &Self| match step.workspace.active[..] {
            [only] if step.is_closed_form(only, dt) => false,
            _ => step.any_rebounds(),
        };
        find(self, rebounds, |step, rebound| step.propose(dt, rebound), Self::work);
    }

    /// Whether Newton's law makes a contact that acts rebound.
    #[inline(never)]
    fn any_rebounds(&self) -> bool {
        let touches = &self.workspace.touches;
        let rebounds = |&index: &usize| self.shift(&touches[index], Rebound::newton()).value() != 0.0;
        self.workspace.active.iter().any(rebounds)
    }

    /// Work of the proposed impulses.
    fn work(&self) -> Work<S> {
        let mut sum = Work::none();
        for (&place, impulse) in self.workspace.active.iter().zip(&self.workspace.impulses) {
            let touch = &self.workspace.touches[place];
            let vector = impulse.vector(&touch.acting_normal());
            let mobility = self.workspace.mobility[touch.node];
            sum.add(&vector, [&touch.velocity(self.state), &self.proposed_velocity(touch)], mobility);
        }
        sum
    }
}

/// Makes an `attempt` with as much rebound as there is a solution for and adds no energy. Friction can leave an impact
/// with rebound without solution; then contacts do not rebound, for which there is one, and the residual tells.
#[inline]
pub(super) fn find<'a, S: Solvable>(
    step: &mut IslandStep<'a, S>,
    rebounds: impl Fn(&IslandStep<'a, S>) -> bool,
    mut attempt: impl FnMut(&mut IslandStep<'a, S>, Rebound<S>) -> bool,
    work: impl Fn(&IslandStep<'a, S>) -> Work<S>,
) {
    let is_solved = attempt(step, Rebound::newton());
    if !rebounds(step) {
        return;
    }
    if !is_solved {
        attempt(step, Rebound::none());
    } else if step.system.settings.impact == Impact::Consistent {
        bound_work(step, &mut attempt, work);
    }
}

/// Makes an attempt with the largest part of the rebound that adds no energy, after one with all of it.
// Not inlined: impacts that do not rebound stay short.
#[inline(never)]
fn bound_work<'a, S: Solvable>(
    step: &mut IslandStep<'a, S>,
    attempt: &mut impl FnMut(&mut IslandStep<'a, S>, Rebound<S>) -> bool,
    work: impl Fn(&IslandStep<'a, S>) -> Work<S>,
) {
    let Work { work: all, size } = work(step);
    // What the solver leaves does work too.
    let slack = step.system.settings.solver.tolerance * size;
    if all.value() <= slack {
        return;
    }
    attempt(step, Rebound::none());
    let none = work(step).work.value();
    let bound = none.max(0.0);
    let mut room = |part: f64| {
        let done = if part == 0.0 {
            none
        } else if part == 1.0 {
            all.value()
        } else if attempt(step, Rebound(S::from(part))) {
            work(step).work.value()
        } else {
            f64::INFINITY
        };
        let room = (bound - done).max(-size);
        if room.abs() <= slack { 0.0 } else { room }
    };
    let part = if room(1.0) >= 0.0 { 1.0 } else { sign_change(&mut room, 0.0, 1.0) };
    attempt(step, Rebound(S::from(part)));
}
