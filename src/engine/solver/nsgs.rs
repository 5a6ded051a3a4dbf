//! Block nonsmooth Gauss-Seidel: contact by contact, each solved exactly with the others held.
//! [Jourdan, Alart, Jean 1998]

use super::component::{Best, Component};
use super::single_contact::Accuracy;
use super::{Effort, Scratch};
use crate::engine::tolerances::TOLERANCES;

/// Sweeps from the point in `part` until solved or at the limit; leaves the best point seen there.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut best = Best::begin(&mut scratch.best, part);
    let mut sweeps = 0;
    while sweeps < limit && !part.solved() {
        for _ in 0..TOLERANCES.sweeps_between_residuals.min(limit - sweeps) {
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
