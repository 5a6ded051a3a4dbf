//! Block nonsmooth Gauss-Seidel: contact by contact, each solved exactly with the others held.
//! [Jourdan, Alart, Jean 1998]

use super::component::{Best, Component};
use super::single_contact::Accuracy;
use super::{Effort, Scratch};

/// Sweeps between two looks at the residual, which costs as much as a sweep.
const LOOK_EVERY: u32 = 4;

/// Sweeps from the point in `part` until solved or at the limit; leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut best = Best::begin(&mut scratch.best, part);
    let mut sweeps = 0;
    while sweeps < limit && !part.solved() {
        for _ in 0..LOOK_EVERY.min(limit - sweeps) {
            sweep(part, Accuracy::Exact);
            sweeps += 1;
        }
        part.refresh();
        best.offer(part);
    }
    best.finish(part, "nsgs", sweeps)
}

/// Visits every contact once; `accuracy` tells how exactly each is solved. The impulse of a contact without solution
/// is left as it is.
pub fn sweep(part: &mut Component, accuracy: Accuracy) {
    for contact in 0..part.contacts() {
        let q = part.without_own(contact);
        if let Some(r) = part.single[contact].solve(q, &mut part.alpha[contact], accuracy) {
            part.r[contact] = r;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use super::*;
    use crate::engine::problem::residual::natural_residual;

    #[test]
    fn a_box_on_its_corners_is_solved() {
        for twist in TWISTS {
            let problem = box_on_corners(twist, 0.4);
            let mut part = part_of(&problem, 1e-10);
            let effort = solve(&mut part, 2000, &mut Scratch::default());
            assert!(effort.solved && effort.iterations < 2000, "{twist:?}: {effort:?}");
            assert!(natural_residual(&problem, &impulses(&part)) <= 1e-10);
        }
    }

    #[test]
    fn the_best_point_is_left_at_the_limit() {
        let problem = box_on_corners(TWISTS[1], 0.4);
        let mut part = part_of(&problem, 0.0);
        let effort = solve(&mut part, 7, &mut Scratch::default());
        assert_eq!((effort.iterations, effort.solved), (7, false));
        let seven = natural_residual(&problem, &impulses(&part));
        let mut part = part_of(&problem, 0.0);
        solve(&mut part, 40, &mut Scratch::default());
        assert!(natural_residual(&problem, &impulses(&part)) < seven);
    }
}
