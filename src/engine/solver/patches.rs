//! Patches of a pile. After some sweeps what is left of the residual sits in a few places, where friction is about to
//! give way and sweeps hardly get on. In turns, those contacts and their neighbours are solved by Newton with all others
//! held, patch by patch, and sweeps over all of them pass on what has changed: a nonlinear Schwarz method, whose cost
//! grows with the size of the pile only. [Cai, Keyes 2002]

use super::component::{Best, Component};
use super::single_contact::Accuracy;
use super::{Effort, Scratch, conjugate, newton, nsgs, proximal};
use crate::engine::tolerances::TOLERANCES;

/// Sweeps over all contacts before patches are looked for.
const FIRST: u32 = 2 * LONGER;
/// Where too many contacts are wrong, or rounds do not get on, all are swept for longer, each time for twice as long.
const LONGER: u32 = 4 * conjugate::SWEEPS_BETWEEN_RESIDUALS;
/// Part of the goal, as a square, that contacts outside of patches may have.
const LEFT: f64 = TOLERANCES.aimed_part * TOLERANCES.aimed_part;
/// Part of the goal of the whole that a patch is solved to.
const PATCH_GOAL: f64 = TOLERANCES.much_less;
/// Proximal iterations in a patch: no more than sweeps over all contacts that take its place.
const PROXIMAL: u32 = LONGER;

/// Of contacts: in no patch, and in one that is not found yet.
const NONE: u32 = u32::MAX;
const MARKED: u32 = NONE - 1;

/// Memory of the iteration.
#[derive(Debug, Default)]
pub struct PatchScratch {
    /// Square of the residual, by contact.
    squares: Vec<f64>,
    /// Contacts, the worst first.
    order: Vec<u32>,
    /// Patch of each contact.
    patches: Vec<u32>,
    /// Contacts of the patch at hand, and where each contact stands among them.
    members: Vec<usize>,
    positions: Vec<usize>,
    /// Contacts of the last ring, and of the one around it.
    front: Vec<u32>,
    next: Vec<u32>,
    patch: Component,
    best: Vec<[f64; 3]>,
}

/// Iterates from the point in `part` until solved or at the limit; leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let first = conjugate::solve(part, limit.min(FIRST), scratch);
    if first.solved || first.iterations >= limit {
        return first;
    }
    let mut memory = std::mem::take(&mut scratch.patches);
    let mut kept = std::mem::take(&mut memory.best);
    let mut best = Best::begin(&mut kept, part);
    let mut iterations = first.iterations;
    let (mut failures, mut longer) = (0, LONGER);
    while iterations < limit && !part.solved() {
        memory.rank(part);
        iterations +=
            if failures < TOLERANCES.tries && memory.find(part) * TOLERANCES.patch_share < part.contacts() {
                memory.solve(part, scratch)
            } else {
                failures = 0;
                longer = longer.saturating_mul(2);
                conjugate::solve(part, longer.min(limit - iterations), scratch).iterations
            };
        for _ in 0..conjugate::SWEEPS_BETWEEN_RESIDUALS.min(limit.saturating_sub(iterations)) {
            nsgs::sweep(part, Accuracy::Rough);
            iterations += 1;
        }
        part.refresh();
        failures = if best.offer(part) { 0 } else { failures + 1 };
    }
    let effort = best.finish(part, "patches", iterations);
    memory.best = kept;
    scratch.patches = memory;
    effort
}

impl PatchScratch {
    /// Orders the contacts by their residuals.
    fn rank(&mut self, part: &Component) {
        let PatchScratch { squares, order, .. } = self;
        squares.clear();
        squares.extend((0..part.contacts()).map(|contact| part.square_of(contact)));
        order.clear();
        order.extend(0..part.contacts() as u32);
        // By contact where they are equal, so that the order is the same everywhere.
        order.sort_unstable_by(|&one, &other| {
            squares[other as usize].total_cmp(&squares[one as usize]).then(one.cmp(&other))
        });
    }

    /// Marks what is wrong and its neighbours. Returns how many that are.
    fn find(&mut self, part: &Component) -> usize {
        let mut left: f64 = self.squares.iter().sum();
        let enough = LEFT * part.goal() * part.goal();
        let mut wrong = 0;
        while wrong < self.order.len() && left > enough {
            left -= self.squares[self.order[wrong] as usize];
            wrong += 1;
        }
        self.patches.clear();
        self.patches.resize(part.contacts(), NONE);
        self.front.clear();
        self.front.extend_from_slice(&self.order[..wrong]);
        for &contact in &self.front {
            self.patches[contact as usize] = MARKED;
        }
        let mut marked = wrong;
        for _ in 0..TOLERANCES.patch_rings {
            self.next.clear();
            for &contact in &self.front {
                for (column, _) in part.w.row(contact as usize).skip(1) {
                    if self.patches[column] == NONE {
                        self.patches[column] = MARKED;
                        self.next.push(column as u32);
                    }
                }
            }
            marked += self.next.len();
            std::mem::swap(&mut self.front, &mut self.next);
        }
        marked
    }

    /// Solves all patches one after the other. Returns the iterations of the one that took most.
    fn solve(&mut self, part: &mut Component, scratch: &mut Scratch) -> u32 {
        let mut most = 0;
        let mut patch = 0;
        self.positions.resize(part.contacts(), 0);
        for place in 0..self.order.len() {
            let seed = self.order[place] as usize;
            if self.patches[seed] == MARKED {
                self.gather(part, seed, patch);
                patch += 1;
                most = most.max(self.solve_patch(part, scratch));
            }
        }
        most
    }

    /// Lists the contacts that are marked and connected to `seed`.
    fn gather(&mut self, part: &Component, seed: usize, patch: u32) {
        let PatchScratch { patches, members, positions, .. } = self;
        members.clear();
        members.push(seed);
        patches[seed] = patch;
        let mut at = 0;
        while at < members.len() {
            for (column, _) in part.w.row(members[at]).skip(1) {
                if patches[column] == MARKED && members.len() < TOLERANCES.patch_contacts {
                    patches[column] = patch;
                    members.push(column);
                }
            }
            at += 1;
        }
        members.sort_unstable();
        for (position, &contact) in members.iter().enumerate() {
            positions[contact] = position;
        }
    }

    fn solve_patch(&mut self, part: &mut Component, scratch: &mut Scratch) -> u32 {
        let PatchScratch { patch, members, positions, patches, .. } = self;
        let number = patches[members[0]];
        let is_member = |contact: usize| patches[contact] == number;
        patch.take(part, members, positions, is_member, PATCH_GOAL * part.goal());
        let effort = newton::solve(patch, TOLERANCES.newton_steps, scratch)
            .then(TOLERANCES.newton_steps + PROXIMAL, |limit| {
                proximal::solve(patch, proximal::FAST, limit, scratch)
            });
        for (position, &contact) in members.iter().enumerate() {
            part.r[contact] = patch.r[position];
        }
        effort.iterations
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, part_of};
    use super::*;

    #[test]
    fn a_patch_of_all_contacts_is_the_part_itself() {
        let problem = box_on_corners(TWISTS[1], 0.4);
        let mut part = part_of(&problem, 1e-10);
        part.start_at(3);
        let members: Vec<usize> = (0..part.contacts()).collect();
        let mut patch = Component::default();
        patch.take(&part, &members, &members, |_| true, part.goal());
        assert_eq!((patch.residual(), patch.contacts()), (part.residual(), part.contacts()));
    }

    #[test]
    fn what_is_outside_of_a_patch_is_held() {
        let problem = box_on_corners(TWISTS[0], 0.4);
        let mut part = part_of(&problem, 1e-10);
        part.start_at(3);
        let mut patch = Component::default();
        patch.take(&part, &[1, 2], &[0, 0, 1, 0], |contact| contact == 1 || contact == 2, part.goal());
        for (place, contact) in [1, 2].into_iter().enumerate() {
            for k in 0..3 {
                assert!((patch.u[place][k] - part.u[contact][k]).abs() < 1e-14);
            }
        }
    }
}
