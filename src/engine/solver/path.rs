//! Vanishing compliance, which tells solutions apart.
//!
//! Hyperstatic contact leaves more than one impulse, and friction may leave more than one velocity: what could stick may
//! slip as well. Taken is the limit for `rho -> 0` of the solutions with `W + rho C` in place of `W`, where the
//! compliance `C` is the identity in the scales of [`super::component`]. Among impulses with the same velocities that is
//! the one of least `r^T C r`, so that mirror images have mirror images as solutions. The path is followed from a
//! compliance at which the problem is easy, each solution the start of the next Newton iteration, in ever shorter steps
//! where Newton fails; last, the compliance is taken out. [Tikhonov, Arsenin 1977; Allgower, Georg 1990]

use super::alart_curnier::function;
use super::component::{Best, Component};
use super::newton;
use super::{Effort, Scratch};
use crate::engine::tolerances::TOLERANCES;

/// Compliance of a step as a part of the last one, and the largest part at which the path is still followed.
const SHRINK: f64 = TOLERANCES.coarse;
const SHORTEST: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Memory of the path.
#[derive(Debug, Default)]
pub struct PathScratch {
    zero: Vec<[f64; 3]>,
    /// Where the last Newton iteration started.
    before: Vec<[f64; 3]>,
    /// Solution at the last compliance.
    reached: Vec<[f64; 3]>,
}

impl PathScratch {
    /// Room for `contacts` contacts.
    pub fn with_capacity(contacts: usize) -> PathScratch {
        let [zero, before, reached] = [(); 3].map(|()| Vec::with_capacity(contacts));
        PathScratch { zero, before, reached }
    }
}

/// Follows the path from no impulses until solved, lost, or at the limit; leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let Scratch { best: kept, newton, path, .. } = scratch;
    let mut best = Best::begin(kept, part);
    path.zero.clear();
    path.zero.resize(part.contacts(), [0.0; 3]);
    part.start_at(0);
    let goal = TOLERANCES.negligible * part.q.iter().flatten().map(|q| q * q).sum::<f64>().sqrt();
    let (mut rho, mut shrink) = (TOLERANCES.first_shift, SHRINK);
    let mut reached = None;
    let mut iterations = 0;
    while iterations < limit {
        let most = TOLERANCES.newton_steps.min(limit - iterations);
        let (used, converged) = converge(part, rho, goal, most, &mut best, newton, path);
        iterations += used;
        if converged && rho <= TOLERANCES.half_of_digits {
            let effort = Effort { solver: "path", iterations, solved: part.solved() };
            return effort.then(limit, |left| newton::solve(part, left, scratch));
        }
        if converged {
            path.reached.clear();
            path.reached.extend_from_slice(&part.r);
            reached = Some(rho);
            shrink = (shrink * shrink).max(SHRINK);
        } else {
            shrink = shrink.sqrt();
            if reached.is_none() || shrink > SHORTEST {
                break;
            }
            part.r.copy_from_slice(&path.reached);
            part.refresh();
        }
        rho = reached
            .map_or(TOLERANCES.first_shift, |reached| (reached * shrink).max(TOLERANCES.half_of_digits));
    }
    best.finish(part, "path", iterations)
}

/// Newton for the problem with compliance `rho`, from the present point. Returns its iterations and whether it converged.
fn converge(
    part: &mut Component,
    rho: f64,
    goal: f64,
    limit: u32,
    best: &mut Best<'_>,
    newton: &mut newton::NewtonScratch,
    path: &mut PathScratch,
) -> (u32, bool) {
    let mut last = function(part, rho, &path.zero);
    for iteration in 1..=limit {
        path.before.clear();
        path.before.extend_from_slice(&part.r);
        if !newton::step(part, rho, Some(&path.zero), newton) {
            return (iteration, false);
        }
        let mut length = function(part, rho, &path.zero);
        if length > last {
            // Half of the way leads out of cycles of two.
            for (r, before) in part.r.iter_mut().flatten().zip(path.before.iter().flatten()) {
                *r = 0.5 * (*r + before);
            }
            part.refresh();
            length = function(part, rho, &path.zero);
        }
        best.offer(part);
        if length <= goal {
            return (iteration, true);
        }
        last = length;
    }
    (limit, false)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use super::*;

    /// A box that falls flat on four corners: the impulses that are least are alike.
    #[test]
    fn the_least_impulses_are_taken() {
        let problem = box_on_corners([0.0, 0.0, -1.0, 0.0, 0.0, 0.0], 0.4);
        let mut part = part_of(&problem, 1e-12);
        assert!(solve(&mut part, 100, &mut Scratch::default()).solved);
        for (index, r) in impulses(&part).iter().enumerate() {
            let expected = if index % 3 == 0 { 0.25 } else { 0.0 };
            // Impulses that do nothing have half of the digits.
            assert!((r - expected).abs() < 1e-7, "{index}: {r}");
        }
    }

    /// Corners in another order, which is a mirror image of the box, have the same impulses.
    #[test]
    fn mirror_images_are_solved_alike() {
        for [vx, vy, vz, wx, wy, wz] in TWISTS {
            let [one, other] = [
                ([vx, vy, vz, wx, wy, wz], [0, 1, 2, 3]),
                // Seen in a mirror across x.
                ([-vx, vy, vz, wx, -wy, -wz], [1, 0, 3, 2]),
            ]
            .map(|(twist, order)| {
                let mut part = part_of(&box_on_corners(twist, 0.4), 1e-12);
                assert!(solve(&mut part, 100, &mut Scratch::default()).solved);
                let r = impulses(&part);
                order.map(|corner| [r[3 * corner], r[3 * corner + 1], r[3 * corner + 2]])
            });
            for (one, other) in one.iter().zip(&other) {
                let seen = [other[0], -other[1], other[2]];
                for k in 0..3 {
                    assert!((one[k] - seen[k]).abs() < 1e-7, "{one:?} {seen:?}");
                }
            }
        }
    }
}
