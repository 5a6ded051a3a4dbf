//! A part of a cone problem that nothing couples to the rest, equilibrated.
//!
//! Contact `i` is scaled by `d_i = 1 / sqrt(mean of the diagonal of W_ii)`: `W_ij -> d_i W_ij d_j`, `q_i -> d_i q_i`,
//! `r_i = d_i r'_i`, `u_i = u'_i / d_i`. Cones are kept, and diagonal blocks are near the identity whatever the units.

use super::Effort;
use super::single_contact::SingleContact;
use crate::engine::problem::block_matrix::{BlockMatrix, multiply_add};
use crate::engine::problem::cone::ConeProblem;
use crate::engine::scalar::elementary::sincos;
use crate::engine::tolerances::TOLERANCES;

/// The part, its unknowns and their velocities.
#[derive(Debug, Default)]
pub struct Component {
    /// Contacts in the whole problem.
    members: Vec<usize>,
    /// `d_i`.
    scale: Vec<f64>,
    pub w: BlockMatrix<f64>,
    pub q: Vec<[f64; 3]>,
    pub mu: Vec<f64>,
    /// Each contact on its own.
    pub single: Vec<SingleContact>,
    /// Slip rates, guesses for the next visit of a contact.
    pub alpha: Vec<f64>,
    pub r: Vec<[f64; 3]>,
    pub u: Vec<[f64; 3]>,
    /// Natural residual of `r` in the units of the whole problem.
    residual: f64,
    /// Natural residual, in the units of the whole problem, at which the part counts as solved.
    goal: f64,
}

impl Component {
    /// Room for `contacts` contacts.
    pub fn with_capacity(contacts: usize, blocks: usize) -> Component {
        Component {
            members: Vec::with_capacity(contacts),
            scale: Vec::with_capacity(contacts),
            w: BlockMatrix::with_capacity(contacts, blocks),
            q: Vec::with_capacity(contacts),
            mu: Vec::with_capacity(contacts),
            single: Vec::with_capacity(contacts),
            alpha: Vec::with_capacity(contacts),
            r: Vec::with_capacity(contacts),
            u: Vec::with_capacity(contacts),
            residual: f64::INFINITY,
            goal: 0.0,
        }
    }

    /// Number of contacts.
    #[inline]
    pub fn contacts(&self) -> usize {
        self.members.len()
    }

    /// Number of contacts that Newton's linear systems take apart: those of two bodies have the same neighbours and are
    /// eliminated together ([`super::grouped`]). They come one after the other.
    pub fn pairs(&self) -> usize {
        let same = |row: usize, other: usize| {
            self.w.row(row).count() == self.w.row(other).count()
                && self.w.row(row).all(|(column, _)| self.w.row(other).any(|(beside, _)| beside == column))
        };
        let rows = self.contacts();
        rows.min(1) + (1..rows).filter(|&row| !same(row - 1, row)).count()
    }

    /// `d` of a contact: its impulse in the whole problem is this times the one in the part.
    #[inline]
    pub fn scale(&self, contact: usize) -> f64 {
        self.scale[contact]
    }

    /// Takes the part with the given `members`; `position` tells where each contact stands among them.
    pub fn gather(
        &mut self,
        problem: &ConeProblem<f64>,
        r: &[f64],
        members: &[usize],
        position: &[usize],
        goal: f64,
    ) {
        self.goal = goal;
        self.members.clear();
        self.members.extend_from_slice(members);
        self.scale.clear();
        self.scale.extend(members.iter().map(|&contact| {
            let block = problem.w.diagonal(contact);
            let mean = (block[0][0] + block[1][1] + block[2][2]) / 3.0;
            if mean > 0.0 && mean.is_finite() { 1.0 / mean.sqrt() } else { 1.0 }
        }));
        self.w.clear();
        self.q.clear();
        self.mu.clear();
        self.single.clear();
        self.r.clear();
        for (index, &contact) in members.iter().enumerate() {
            let d = self.scale[index];
            for (column, block) in problem.w.row(contact) {
                let at = position[column];
                let factor = d * self.scale[at];
                let block = [scaled(block[0], factor), scaled(block[1], factor), scaled(block[2], factor)];
                if column == contact {
                    self.single.push(SingleContact::new(&block, problem.mu[contact]));
                    self.w.begin_row(block);
                } else {
                    self.w.push(at, block);
                }
            }
            let at = 3 * contact;
            self.q.push(scaled([problem.q[at], problem.q[at + 1], problem.q[at + 2]], d));
            self.mu.push(problem.mu[contact]);
            self.r.push(scaled([r[at], r[at + 1], r[at + 2]], 1.0 / d));
        }
        self.alpha.clear();
        self.alpha.resize(members.len(), 0.0);
        self.u.clear();
        self.u.extend_from_slice(&self.q);
        if self.at_zero() {
            self.start_from_zero();
        } else {
            self.refresh();
        }
    }

    /// Takes some contacts of another part, with the impulses of the others as they are. `positions` tells where each
    /// stands among `members`.
    pub fn take(
        &mut self,
        part: &Component,
        members: &[usize],
        positions: &[usize],
        is_member: impl Fn(usize) -> bool,
        goal: f64,
    ) {
        self.goal = goal;
        self.members.clear();
        self.members.extend_from_slice(members);
        self.w.clear();
        self.q.clear();
        for &contact in members {
            let mut q = part.q[contact];
            self.w.begin_row(*part.w.diagonal(contact));
            for (column, block) in part.w.row(contact).skip(1) {
                if is_member(column) {
                    self.w.push(positions[column], *block);
                } else {
                    q = multiply_add(q, block, part.r[column]);
                }
            }
            self.q.push(q);
        }
        fn copy<T: Clone>(to: &mut Vec<T>, from: &[T], members: &[usize]) {
            to.clear();
            to.extend(members.iter().map(|&contact| from[contact].clone()));
        }
        copy(&mut self.scale, &part.scale, members);
        copy(&mut self.mu, &part.mu, members);
        copy(&mut self.single, &part.single, members);
        copy(&mut self.alpha, &part.alpha, members);
        copy(&mut self.r, &part.r, members);
        copy(&mut self.u, &part.u, members);
        self.refresh();
    }

    /// Whether the present point is without impulses.
    pub fn at_zero(&self) -> bool {
        self.r.iter().flatten().all(|&r| r == 0.0)
    }

    /// Starts from zero if that is better than the guess: an impulse that does nothing, in hyperstatic contact, would
    /// stay for ever.
    pub fn drop_bad_guess(&mut self) {
        if self.at_zero() {
            return;
        }
        let at_rest = |contact: usize| {
            let d = self.scale[contact];
            distance_square([0.0; 3], scaled(self.q[contact], 1.0 / d), self.mu[contact])
        };
        let square: f64 = (0..self.contacts()).map(at_rest).sum();
        if square.sqrt() < self.residual || self.residual.is_nan() {
            self.r.fill([0.0; 3]);
            self.start_from_zero();
        }
    }

    /// Goes to one of many points to start from: first zero, then impulses inside the cones of about the size that
    /// would stop `q`, spread by a fixed sequence.
    pub fn start_at(&mut self, attempt: u32) {
        if attempt == 0 {
            self.r.fill([0.0; 3]);
            self.start_from_zero();
            return;
        }
        let size = (self.q.iter().flatten().map(|q| q * q).sum::<f64>() / self.contacts() as f64).sqrt();
        // Parts of multiples of irrational numbers fill the unit cube evenly. [Roberts 2018]
        let mut index = f64::from(attempt) * 1e3;
        for (r, mu) in self.r.iter_mut().zip(&self.mu) {
            index += 1.0;
            let part = |factor: f64| (index * factor).fract();
            let normal = 2.0 * size * part(0.819_172_513_396_164_4);
            let tangential = mu * normal * part(0.671_043_606_703_789_2).sqrt();
            let (sine, cosine) = sincos(std::f64::consts::TAU * part(0.549_700_477_901_970_3));
            *r = [normal, tangential * cosine, tangential * sine];
        }
        self.refresh();
    }

    /// Without impulses the velocities are `q`; unless that solves the part, any point is better.
    fn start_from_zero(&mut self) {
        self.u.copy_from_slice(&self.q);
        let open = self.q.iter().all(|q| q[0] >= 0.0);
        self.residual = if open { 0.0 } else { f64::INFINITY };
    }

    /// Writes the unknowns back to the whole problem.
    pub fn scatter(&self, r: &mut [f64]) {
        for ((&contact, &d), own) in self.members.iter().zip(&self.scale).zip(&self.r) {
            for k in 0..3 {
                r[3 * contact + k] = own[k] * d;
            }
        }
    }

    /// Velocity of a contact without its own impulse.
    #[inline]
    pub fn without_own(&self, contact: usize) -> [f64; 3] {
        self.w
            .row(contact)
            .skip(1)
            .fold(self.q[contact], |sum, (column, block)| multiply_add(sum, block, self.r[column]))
    }

    /// Computes velocities and residual of the present point.
    pub fn refresh(&mut self) {
        let mut square = 0.0;
        for contact in 0..self.contacts() {
            let r = self.r[contact];
            let u = multiply_add(self.without_own(contact), self.w.diagonal(contact), r);
            self.u[contact] = u;
            square += self.square_of(contact);
        }
        self.residual = square.sqrt();
    }

    /// Square of the part that a contact has in the residual.
    pub fn square_of(&self, contact: usize) -> f64 {
        let d = self.scale[contact];
        let (r, u) = (scaled(self.r[contact], d), scaled(self.u[contact], 1.0 / d));
        distance_square(r, u, self.mu[contact])
    }

    /// Natural residual at which the part counts as solved.
    pub fn goal(&self) -> f64 {
        self.goal
    }

    /// Whether a change of the point by a vector of this length changes the residual by less than the goal.
    ///
    /// A projection onto a cone does not lengthen differences, hence the residual changes by at most twice the
    /// change of `r` and `1 + mu` times that of `u`; blocks of a positive semidefinite matrix whose diagonal
    /// blocks have trace three are not larger than three.
    pub fn tolerates(&self, change: f64) -> bool {
        let mut bound = 0.0_f64;
        for (d, mu) in self.scale.iter().zip(&self.mu) {
            bound = bound.max(2.0 * d + (1.0 + mu) * 3.0 * self.contacts() as f64 / d);
        }
        bound * change <= self.goal
    }

    /// Whether the present point is a solution as far as round-off allows.
    pub fn is_exact(&self) -> bool {
        self.is_within(TOLERANCES.last_bits)
    }

    /// Whether little more than round-off is missing.
    pub fn is_nearly_exact(&self) -> bool {
        self.is_within(1e-13)
    }

    /// Whether the residual is at most this part of the terms that it is a difference of.
    fn is_within(&self, part: f64) -> bool {
        let size = |contact: usize| {
            let terms = self.w.row(contact).fold(self.q[contact].map(f64::abs), |sum, (column, block)| {
                multiply_add(sum, &block.map(|line| line.map(f64::abs)), self.r[column].map(f64::abs))
            });
            let d = self.scale[contact];
            terms.iter().map(|term| (term / d).powi(2)).sum::<f64>()
        };
        self.solved() && self.residual <= part * (0..self.contacts()).map(size).sum::<f64>().sqrt()
    }

    /// Natural residual of the present point, in the units of the whole problem.
    #[inline]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Whether the present point is a solution.
    #[inline]
    pub fn solved(&self) -> bool {
        self.residual <= self.goal
    }
}

/// The best point that a solver has seen.
pub struct Best<'a> {
    r: &'a mut Vec<[f64; 3]>,
    residual: f64,
}

impl<'a> Best<'a> {
    /// Starts with the present point of `part`.
    pub fn begin(r: &'a mut Vec<[f64; 3]>, part: &Component) -> Best<'a> {
        r.clear();
        r.extend_from_slice(&part.r);
        // Any other point is better than one whose residual is not a number.
        let residual = if part.residual.is_nan() { f64::INFINITY } else { part.residual };
        Best { r, residual }
    }

    /// Takes the present point of `part` if it is better; tells whether it is.
    #[inline]
    pub fn offer(&mut self, part: &Component) -> bool {
        let better = part.residual < self.residual;
        if better {
            self.residual = part.residual;
            self.r.copy_from_slice(&part.r);
        }
        better
    }

    /// Its natural residual.
    #[inline]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Puts it into `part`, which has cost `solver` so many iterations.
    #[inline]
    pub fn finish(self, part: &mut Component, solver: &'static str, iterations: u32) -> Effort {
        if part.residual != self.residual {
            part.r.copy_from_slice(self.r);
            part.refresh();
        }
        Effort { solver, iterations, solved: part.solved() }
    }
}

#[inline(always)]
fn scaled([x, y, z]: [f64; 3], factor: f64) -> [f64; 3] {
    [x * factor, y * factor, z * factor]
}

/// `|r - Proj_K(r - u - mu |u_T| n)|^2`.
#[inline]
fn distance_square(r: [f64; 3], u: [f64; 3], mu: f64) -> f64 {
    let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
    let [n, x, y] = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
    let t = (x * x + y * y).sqrt();
    // The polar cone comes first: without friction it would pass for the other.
    let [pn, scale] = if mu * t <= -n {
        [0.0, 0.0]
    } else if t <= mu * n {
        [n, 1.0]
    } else {
        let height = (n + mu * t) / (1.0 + mu * mu);
        [height, mu * height / t]
    };
    (r[0] - pn).powi(2) + (r[1] - scale * x).powi(2) + (r[2] - scale * y).powi(2)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, impulses, part_of};
    use crate::engine::problem::residual::natural_residual;

    #[test]
    fn the_residual_is_that_of_the_whole_problem() {
        let problem = box_on_corners(TWISTS[1], 0.4);
        let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
        let mut part = part_of(&problem, 1.0);
        for attempt in 1..20 {
            part.start_at(attempt);
            let expected = natural_residual(&problem, &impulses(&part)) * scale;
            assert!((part.residual - expected).abs() < 1e-14 * (1.0 + expected));
        }
    }

    #[test]
    fn tolerated_changes_change_the_residual_by_less_than_the_goal() {
        let problem = box_on_corners(TWISTS[0], 0.4);
        let mut part = part_of(&problem, 1e-3);
        part.start_at(3);
        let before = part.residual;
        let mut length = 1.0;
        while !part.tolerates(length) {
            length *= 0.5;
        }
        let entries = 3.0 * part.contacts() as f64;
        part.r.iter_mut().flatten().for_each(|r| *r += length / entries.sqrt());
        part.refresh();
        assert!((part.residual - before).abs() <= part.goal);
    }
}
