//! Conjugate directions around Gauss-Seidel: the change that a sweep makes takes the place of the gradient in the method
//! of Fletcher and Reeves, which starts anew where changes grow. Of large piles, which Newton's linear systems are too
//! large for, it takes a fraction of the sweeps. [Silcowitz-Hansen, Niebe, Erleben 2010]

use super::component::{Best, Component};
use super::nsgs;
use super::single_contact::Accuracy;
use super::{Effort, Scratch};
use crate::engine::tolerances::TOLERANCES;

/// Each residual costs as much as a sweep, which is twice as fast here as one that is exact.
pub const SWEEPS_BETWEEN_RESIDUALS: u32 = 2 * TOLERANCES.sweeps_between_residuals;

/// Memory of the iteration.
#[derive(Debug, Default)]
pub struct ConjugateScratch {
    /// Where the last sweep started.
    start: Vec<[f64; 3]>,
    direction: Vec<[f64; 3]>,
}

/// Iterates from the point in `part` until solved or at the limit; leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut best = Best::begin(&mut scratch.best, part);
    let ConjugateScratch { start, direction } = &mut scratch.conjugate;
    direction.clear();
    direction.resize(part.contacts(), [0.0; 3]);
    let mut last = f64::INFINITY;
    let mut sweeps = 0;
    while sweeps < limit && !part.solved() {
        start.clear();
        start.extend_from_slice(&part.r);
        // As many sweeps as with exact ones, and each is cheaper.
        nsgs::sweep(part, Accuracy::Rough);
        sweeps += 1;
        if sweeps % SWEEPS_BETWEEN_RESIDUALS == 0 || sweeps == limit {
            part.refresh();
            best.offer(part);
            if part.solved() {
                break;
            }
        }
        let mut square = 0.0;
        for (start, r) in start.iter_mut().zip(&part.r) {
            // From here on the change.
            *start = std::array::from_fn(|k| r[k] - start[k]);
            square += start.iter().map(|change| change * change).sum::<f64>();
        }
        let beta = square / last;
        last = square;
        if beta > 1.0 || !beta.is_finite() {
            direction.fill([0.0; 3]);
            continue;
        }
        for ((r, direction), change) in part.r.iter_mut().zip(direction.iter_mut()).zip(start.iter()) {
            for k in 0..3 {
                r[k] += beta * direction[k];
                direction[k] = beta * direction[k] + change[k];
            }
        }
    }
    part.refresh();
    best.offer(part);
    best.finish(part, "conjugate", sweeps)
}
