//! Proximal point iterations around Newton: each outer iteration solves the problem of `W + rho I` about the
//! present point, which is regular, with an easy Newton iteration for large `rho`; smaller `rho` takes it to a
//! solution in fewer of them. [Rockafellar 1976; for friction Acary, Bremond, Huber 2018]

use super::alart_curnier::function;
use super::component::{Best, Component};
use super::{Effort, Scratch, newton};
use crate::engine::tolerances::TOLERANCES;

/// Factor by which shifts shrink; its root is slower but safer.
pub const FAST: f64 = TOLERANCES.much_less;
/// Largest shift.
const LARGEST: f64 = 1.0 / TOLERANCES.first_shift;
/// Growth of the shift where Newton fails.
const GROWTH: f64 = 1.0 / FAST;
/// Decrease of the Alart-Curnier function at which an outer iteration is done.
const INNER_TOLERANCE: f64 = TOLERANCES.much_less;
/// Shift at which a point whose residual is not halved runs away along a ray.
const SMALL: f64 = TOLERANCES.half_of_digits / FAST;

/// Iterates from the point in `part`, with shifts that shrink by the factor `shrink`, until solved, without progress
/// or at the limit; leaves the best point there.
pub fn solve(part: &mut Component, shrink: f64, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut best = Best::begin(&mut scratch.best, part);
    let centre = &mut scratch.centre;
    let mut rho = TOLERANCES.first_shift;
    let mut hold = 0;
    let mut iterations = 0;
    let mut halved = best.residual();
    let mut stagnant = 0;
    while iterations < limit && !part.solved() {
        centre.clear();
        centre.extend_from_slice(&part.r);
        let inner_goal = (INNER_TOLERANCE * function(part, rho, centre)).max(f64::MIN_POSITIVE);
        let mut done = false;
        for _ in 0..TOLERANCES.newton_steps.min(limit - iterations) {
            iterations += 1;
            if !newton::step(part, rho, Some(centre), &mut scratch.newton) {
                break;
            }
            done = function(part, rho, centre) <= inner_goal;
            if done {
                break;
            }
        }
        if done {
            best.offer(part);
            if hold > 0 {
                hold -= 1;
            } else {
                rho = (rho * shrink).max(TOLERANCES.half_of_digits);
            }
        } else {
            part.r.copy_from_slice(centre);
            part.refresh();
            if rho >= LARGEST {
                break;
            }
            rho = (rho * GROWTH).min(LARGEST);
            // So many are to be solved at a shift after a failure, before it shrinks again.
            hold = TOLERANCES.tries;
        }
        if best.residual() < 0.5 * halved {
            halved = best.residual();
            stagnant = 0;
        } else if rho <= SMALL {
            stagnant += 1;
            if stagnant >= TOLERANCES.tries {
                break;
            }
        }
    }
    best.finish(part, "proximal newton", iterations)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use super::*;
    use crate::engine::problem::residual::natural_residual;

    #[test]
    fn a_box_on_its_corners_is_solved() {
        for (twist, shrink) in TWISTS.into_iter().zip([FAST, FAST.sqrt(), FAST, FAST.sqrt()]) {
            let problem = box_on_corners(twist, 0.4);
            let mut part = part_of(&problem, 1e-12);
            let effort = solve(&mut part, shrink, 100, &mut Scratch::default());
            assert!(effort.solved, "{twist:?}: {effort:?}");
            assert!(natural_residual(&problem, &impulses(&part)) <= 1e-12);
        }
    }

    #[test]
    fn contradictory_contacts_end_by_themselves() {
        // A body between two walls that both come nearer.
        let mut problem = crate::engine::ConeProblem::default();
        problem.reset(2);
        for i in 0..2 {
            problem.w.begin_row([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
            problem.w.push(1 - i, [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
            problem.q[3 * i] = -1.0;
            problem.mu[i] = 0.5;
        }
        let mut part = part_of(&problem, 1e-10);
        let effort = solve(&mut part, FAST, 10_000, &mut Scratch::default());
        assert!(!effort.solved && effort.iterations < 1000, "{effort:?}");
        assert!(impulses(&part).iter().all(|r| r.is_finite()));
    }
}
