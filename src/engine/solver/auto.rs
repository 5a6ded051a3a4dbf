//! The default. In this order, each from the best point so far, until solved:
//! 1. a few Gauss-Seidel sweeps towards the active set, then Newton, which then needs few iterations;
//! 2. proximal Newton, shifts shrinking fast;
//! 3. Gauss-Seidel for long, then proximal Newton, shifts shrinking slowly;
//! 4. Gauss-Seidel to the limit.
//!
//! A contact that nothing couples to others is solved in closed form before this.

use super::component::Component;
use super::single_contact::Accuracy;
use super::{Effort, Scratch, newton, nsgs, proximal};

const FIRST_SWEEPS: u32 = 3;
const LONG_SWEEPS: u32 = 100;

/// Solves from the point in `part` and leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    Effort { iterations: 0, solved: part.solved() }
        .then(limit, |limit| {
            let iterations = FIRST_SWEEPS.min(limit);
            for _ in 0..iterations {
                nsgs::sweep(part, Accuracy::Rough);
            }
            part.refresh();
            Effort { iterations, solved: part.solved() }
        })
        .then(limit, |limit| newton::solve(part, limit, scratch))
        .then(limit, |limit| proximal::solve(part, proximal::FAST, limit, scratch))
        .then(limit, |limit| nsgs::solve(part, limit.min(LONG_SWEEPS), scratch))
        .then(limit, |limit| proximal::solve(part, proximal::SLOW, limit, scratch))
        .then(limit, |limit| nsgs::solve(part, limit, scratch))
}
