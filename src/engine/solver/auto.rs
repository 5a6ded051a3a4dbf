//! The default. In this order, until solved:
//! 1. the path of vanishing compliance ([`path`]), whose end is the defined one of many solutions;
//! 2. proximal Newton from the best point, shifts shrinking fast;
//! 3. more Gauss-Seidel sweeps, then proximal Newton, shifts shrinking slowly;
//! 4. Newton and proximal Newton from other starting points: zero, then points spread over the cones.
//!
//! Each may use a part of the iteration limit, so that the next ones have their turn. Without the last two, 90 steps of
//! models/heightfield_rover stay above the tolerance.
//! A contact that nothing couples to others is solved in closed form before this. Large parts, of which the linear
//! systems of Newton's iterations cost much more than a sweep, are left to [`patches`] before and after this; huge ones, in
//! the place of this, to the path of vanishing smoothing ([`smoothing`]), which takes few such systems.

use super::component::{Best, Component};
use super::{Effort, Scratch, newton, nsgs, patches, path, proximal, smoothing};
use crate::engine::tolerances::TOLERANCES;

/// Solves from the point in `part` and leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    if !is_large(part) {
        return solve_by_newton(part, limit, scratch);
    }
    let most = limit.saturating_mul(TOLERANCES.sweeps_per_iteration);
    // The more contacts there are, the more an iteration of Newton costs with all of them.
    let first = part.contacts().max(TOLERANCES.patch_contacts) as u32;
    patches::solve(part, first.min(most), scratch)
        .then(most, |_| match part.pairs() >= TOLERANCES.huge_pile {
            true => smoothing::solve(part, limit, scratch),
            false => solve_by_newton(part, limit, scratch),
        })
        .then(most, |left| patches::solve(part, left, scratch))
}

/// Whether sweeps come first.
#[inline]
pub fn is_large(part: &Component) -> bool {
    part.contacts() >= TOLERANCES.large_pile && part.pairs() >= TOLERANCES.large_pile
}

fn solve_by_newton(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    Effort { solver: "guess", iterations: 0, solved: part.solved() }
        .then(limit, |left| path::solve(part, left, scratch))
        .then(limit, |left| proximal::solve(part, proximal::FAST, left.min(limit / 4), scratch))
        .then(limit, |left| nsgs::solve(part, left.min(limit / 10), scratch))
        .then(limit, |left| proximal::solve(part, proximal::FAST.sqrt(), left.min(limit / 4), scratch))
        .then(limit, |left| restart(part, left, scratch))
}

fn restart(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut memory = std::mem::take(&mut scratch.best_of_all);
    let mut best = Best::begin(&mut memory, part);
    let mut effort = Effort { solver: "restart", iterations: 0, solved: false };
    for attempt in 0..TOLERANCES.restarts {
        let shrink = if attempt % 2 == 0 { proximal::FAST } else { proximal::FAST.sqrt() };
        effort = effort
            .then(limit, |limit| {
                part.start_at(attempt);
                newton::solve(part, limit, scratch)
            })
            .then(limit, |left| proximal::solve(part, shrink, left.min(limit / 5), scratch));
        best.offer(part);
    }
    let effort = best.finish(part, effort.solver, effort.iterations);
    scratch.best_of_all = memory;
    effort
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use super::*;
    use crate::engine::problem::residual::natural_residual;

    #[test]
    fn boxes_take_a_handful_of_iterations() {
        for twist in TWISTS {
            for mu in [0.0, 0.1, 0.4, 1.0] {
                let problem = box_on_corners(twist, mu);
                let mut part = part_of(&problem, 1e-12);
                let effort = solve(&mut part, 1000, &mut Scratch::default());
                assert!(effort.solved && effort.iterations <= 24, "{twist:?} {mu}: {effort:?}");
                assert!(natural_residual(&problem, &impulses(&part)) <= 1e-12);
            }
        }
    }

    #[test]
    fn restarts_keep_the_best_point() {
        let problem = box_on_corners(TWISTS[2], 0.4);
        let mut part = part_of(&problem, 1e-12);
        solve(&mut part, 1000, &mut Scratch::default());
        let solution = impulses(&part);
        // Without a goal nothing is good enough, but the solution is not lost.
        let mut part = part_of(&problem, 0.0);
        let effort = solve(&mut part, 400, &mut Scratch::default());
        let best = natural_residual(&problem, &impulses(&part));
        assert!(effort.iterations <= 400);
        assert!(best <= natural_residual(&problem, &solution).max(1e-14));
    }
}
