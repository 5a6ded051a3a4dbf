//! Two to four contacts that touch each other, side by side: one number of all four is one vector.
//!
//! One Gauss-Seidel sweep from zero, then Newton as in [`super::newton`], with the same scales, shift and polish, on the
//! stack. The equations are solved without exchange of rows: friction first, where the diagonal is safe, then the normals,
//! of which the last depends on the others in hyperstatic contact. Where a pivot is small or a few iterations do not
//! end in an answer, the general solvers have their turn.

#![allow(clippy::needless_range_loop, reason = "rows and columns of small matrices")]

use super::Effort;
use super::newton::SHIFT;
use super::single_contact::{Accuracy, SingleContact};
use crate::engine::problem::cone::ConeProblem;
use std::ops::{Add, Div, Mul, Sub};

/// Most contacts.
pub const LIMIT: usize = 4;
/// Newton iterations; more are left to the general solvers.
const ITERATIONS: u32 = 10;
/// Smaller limits of iterations are left to the general solvers, which come back with the best point.
const LEAST_LIMIT: u32 = 4 * ITERATIONS;
/// Pivots smaller than this, where one is normal, are the shift's or vanish.
const SMALLEST_PIVOT: f64 = 1e-2 * SHIFT;

/// Solves the part with the given `members` to the natural residual `goal`, if it is small and starts from zero. The error
/// holds the iterations made in vain; nothing is written then.
pub fn solve(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    members: &[usize],
    position: &[usize],
    goal: f64,
    limit: u32,
) -> Result<Effort, u32> {
    let at_zero = |&contact: &usize| r[3 * contact..3 * contact + 3] == [0.0; 3];
    if members.len() > LIMIT || limit < LEAST_LIMIT || !members.iter().all(at_zero) {
        return Err(0);
    }
    if members.iter().all(|&contact| problem.q[3 * contact] >= 0.0) {
        return Ok(Effort { solver: "guess", iterations: 0, solved: true });
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { solve_wide(problem, r, members, position, goal) };
    }
    solve_here(problem, r, members, position, goal)
}

/// The same operations in wider vectors, which changes no bit of the answer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn solve_wide(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    members: &[usize],
    position: &[usize],
    goal: f64,
) -> Result<Effort, u32> {
    solve_here(problem, r, members, position, goal)
}

#[inline(always)]
fn solve_here(
    problem: &ConeProblem<f64>,
    r: &mut [f64],
    members: &[usize],
    position: &[usize],
    goal: f64,
) -> Result<Effort, u32> {
    let mut few = Few::OPEN;
    few.gather(problem, members, position);
    few.sweep(members.len().min(LIMIT));
    let mut iterations = 1;
    while iterations <= ITERATIONS {
        iterations += 1;
        let modes = few.modes();
        let sticks = modes.stick.0 != [0.0; LIMIT];
        let step = if sticks { few.step::<3>(&modes, goal) } else { few.step::<2>(&modes, goal) };
        let Some(residual) = step else { break };
        if residual <= goal {
            few.scatter(r, members);
            return Ok(Effort { solver: "newton", iterations, solved: true });
        }
    }
    Err(iterations)
}

/// One number of every contact.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Lanes([f64; LIMIT]);

impl Lanes {
    const ZERO: Lanes = Lanes([0.0; LIMIT]);
    const ONE: Lanes = Lanes([1.0; LIMIT]);

    #[inline(always)]
    fn all(value: f64) -> Lanes {
        Lanes([value; LIMIT])
    }

    #[inline(always)]
    fn sqrt(self) -> Lanes {
        let [a, b, c, d] = self.0;
        Lanes([a.sqrt(), b.sqrt(), c.sqrt(), d.sqrt()])
    }
}

/// `then` where `a > b`, else `otherwise`.
#[inline(always)]
fn where_greater(a: Lanes, b: Lanes, then: Lanes, otherwise: Lanes) -> Lanes {
    let mut chosen = otherwise;
    for lane in 0..LIMIT {
        chosen.0[lane] = if a.0[lane] > b.0[lane] { then.0[lane] } else { otherwise.0[lane] };
    }
    chosen
}

macro_rules! lane_by_lane {
    ($operation:ident, $function:ident, $operator:tt) => {
        impl $operation for Lanes {
            type Output = Lanes;

            #[inline(always)]
            fn $function(self, other: Lanes) -> Lanes {
                let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
                Lanes([a $operator e, b $operator f, c $operator g, d $operator h])
            }
        }
    };
}
lane_by_lane!(Add, add, +);
lane_by_lane!(Sub, sub, -);
lane_by_lane!(Mul, mul, *);
lane_by_lane!(Div, div, /);

/// The part, equilibrated as a [`super::component::Component`] is.
struct Few {
    /// `d`.
    scale: Lanes,
    /// By contact that pushes, row and column of the block: of the contacts that move.
    w: [[[Lanes; 3]; 3]; LIMIT],
    q: [Lanes; 3],
    mu: Lanes,
    r: [Lanes; 3],
    u: [Lanes; 3],
}

/// What a Newton step takes the contacts for: `r = E z`, as in [`super::alart_curnier`]. Unknowns are the friction
/// impulse across the slip, or the first of stick, the second of stick, and the normal impulse.
struct Modes {
    /// One for closed contacts, zero for open ones.
    closed: Lanes,
    /// One for contacts that stick.
    stick: Lanes,
    /// Friction impulse that comes with a normal one.
    along: [Lanes; 2],
    /// Direction of the first unknown.
    across: [Lanes; 2],
    /// `c` of slip, one for stick, zero for open contacts.
    ratio: Lanes,
}

impl Few {
    /// Contacts that are not there are open.
    const OPEN: Few = Few {
        scale: Lanes::ONE,
        w: [[[Lanes::ZERO; 3]; 3]; LIMIT],
        q: [Lanes::ONE, Lanes::ZERO, Lanes::ZERO],
        mu: Lanes::ZERO,
        r: [Lanes::ZERO; 3],
        u: [Lanes::ONE, Lanes::ZERO, Lanes::ZERO],
    };

    #[inline(always)]
    fn gather(&mut self, problem: &ConeProblem<f64>, members: &[usize], position: &[usize]) {
        let mut mean = Lanes::ONE;
        let (q, _) = problem.q.as_chunks::<3>();
        for (lane, &contact) in members.iter().enumerate().take(LIMIT) {
            for (column, block) in problem.w.row(contact) {
                let from = &mut self.w[position[column] % LIMIT];
                for a in 0..3 {
                    for b in 0..3 {
                        from[a][b].0[lane] = block[a][b];
                    }
                }
            }
            let block = problem.w.diagonal(contact);
            mean.0[lane] = (block[0][0] + block[1][1] + block[2][2]) / 3.0;
            let q = &q[contact];
            for a in 0..3 {
                self.q[a].0[lane] = q[a];
            }
            self.mu.0[lane] = problem.mu[contact];
        }
        let d = Lanes::ONE / mean.sqrt();
        for lane in 0..LIMIT {
            let possible = mean.0[lane] > 0.0 && mean.0[lane].is_finite();
            self.scale.0[lane] = if possible { d.0[lane] } else { 1.0 };
        }
        let scale = self.scale;
        for (contact, from) in self.w.iter_mut().enumerate() {
            let factor = scale * Lanes::all(scale.0[contact]);
            for row in from {
                for entry in row {
                    *entry = *entry * factor;
                }
            }
        }
        for k in 0..3 {
            self.q[k] = self.q[k] * scale;
        }
        self.u = self.q;
    }

    #[inline(always)]
    fn scatter(&self, r: &mut [f64], members: &[usize]) {
        let (r, _) = r.as_chunks_mut::<3>();
        let [n, x, y] = [self.r[0] * self.scale, self.r[1] * self.scale, self.r[2] * self.scale];
        for (lane, &contact) in members.iter().enumerate().take(LIMIT) {
            r[contact] = [n.0[lane], x.0[lane], y.0[lane]];
        }
    }

    /// Visits every contact once, from zero.
    #[inline(always)]
    fn sweep(&mut self, contacts: usize) {
        for contact in 0..contacts {
            let mut block = [[0.0; 3]; 3];
            for a in 0..3 {
                for b in 0..3 {
                    block[a][b] = self.w[contact][a][b].0[contact];
                }
            }
            let q = [self.u[0].0[contact], self.u[1].0[contact], self.u[2].0[contact]];
            let single = SingleContact::new(&block, self.mu.0[contact]);
            if let Some(r) = single.solve(q, &mut 0.0, Accuracy::Rough) {
                for k in 0..3 {
                    self.r[k].0[contact] = r[k];
                }
                self.push(contact);
            }
        }
    }

    /// `u += W r` for the impulse of one contact.
    #[inline(always)]
    fn push(&mut self, contact: usize) {
        let w = &self.w[contact];
        let n = Lanes::all(self.r[0].0[contact]);
        let x = Lanes::all(self.r[1].0[contact]);
        let y = Lanes::all(self.r[2].0[contact]);
        for k in 0..3 {
            self.u[k] = self.u[k] + (w[k][0] * n + w[k][1] * x + w[k][2] * y);
        }
    }

    #[inline(always)]
    fn modes(&self) -> Modes {
        let [n, x, y] = [self.r[0] - self.u[0], self.r[1] - self.u[1], self.r[2] - self.u[2]];
        let radius = self.mu * n;
        let square = x * x + y * y;
        let inverse = Lanes::ONE / square.sqrt();
        let (x, y) = (x * inverse, y * inverse);
        let slips = |slip: Lanes, stick: Lanes| where_greater(square, radius * radius, slip, stick);
        let (zero, one) = (Lanes::ZERO, Lanes::ONE);
        let closed = where_greater(n, zero, one, zero);
        Modes {
            closed,
            stick: slips(zero, closed),
            along: [slips(self.mu * x, zero), slips(self.mu * y, zero)],
            across: [slips(zero - y, one), slips(x, zero)],
            ratio: where_greater(n, zero, slips(radius * inverse, one), zero),
        }
    }

    /// A Newton step with `GROUPS` unknowns a contact, polished where it solves the part; its residual before that. None
    /// where the equations cannot be solved without exchanges.
    #[inline(always)]
    fn step<const GROUPS: usize>(&mut self, modes: &Modes, goal: f64) -> Option<f64> {
        let mut equations = Equations::<GROUPS>::EMPTY;
        equations.assemble(self, modes);
        if !equations.factor(modes) {
            return None;
        }
        self.r = equations.substitute(self, modes);
        self.u = self.q;
        for contact in 0..LIMIT {
            self.push(contact);
        }
        let residual = self.residual();
        if residual <= goal {
            let polished = equations.substitute(self, modes);
            if self.tolerates(&polished, goal) {
                self.r = polished;
            }
        }
        residual.is_finite().then_some(residual)
    }

    /// Whether impulses differ so little that the residual stays within the goal, as in
    /// [`super::component::Component::tolerates`].
    #[inline(always)]
    fn tolerates(&self, other: &[Lanes; 3], goal: f64) -> bool {
        let [n, x, y] = [other[0] - self.r[0], other[1] - self.r[1], other[2] - self.r[2]];
        let Lanes([a, b, c, d]) = n * n + x * x + y * y;
        let pushed = Lanes::all(3.0 * LIMIT as f64) * (Lanes::ONE + self.mu) / self.scale;
        let bound = Lanes::all(2.0) * self.scale + pushed;
        let largest =
            bound.0.iter().fold(0.0, |largest, &bound| if bound > largest { bound } else { largest });
        largest * ((a + b) + (c + d)).sqrt() <= goal
    }

    /// Natural residual in the units of the whole problem.
    #[inline(always)]
    fn residual(&self) -> f64 {
        let (d, mu) = (self.scale, self.mu);
        let inverse = Lanes::ONE / d;
        let r = [self.r[0] * d, self.r[1] * d, self.r[2] * d];
        let u = [self.u[0] * inverse, self.u[1] * inverse, self.u[2] * inverse];
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let [n, x, y] = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        let t = (x * x + y * y).sqrt();
        let height = (n + mu * t) / (Lanes::ONE + mu * mu);
        let on_the_cone = mu * height / t;
        let outside = |cone: Lanes, inside: Lanes| where_greater(t, mu * n, cone, inside);
        let (zero, polar) = (Lanes::ZERO, mu * t + n);
        let normal = where_greater(polar, zero, outside(height, n), zero);
        let part = where_greater(polar, zero, outside(on_the_cone, Lanes::ONE), zero);
        let [n, x, y] = [r[0] - normal, r[1] - part * x, r[2] - part * y];
        let Lanes([a, b, c, d]) = n * n + x * x + y * y;
        ((a + b) + (c + d)).sqrt()
    }
}

/// `F^T (W + rho) E + D`, column by column, unknown by unknown of all contacts, and its factors.
struct Equations<const GROUPS: usize> {
    /// Column by group and contact, rows by group and contact.
    columns: [[[Lanes; GROUPS]; LIMIT]; GROUPS],
    /// Factors of the rows below each pivot, zero above.
    factors: [[[Lanes; GROUPS]; LIMIT]; GROUPS],
    /// Of the pivots.
    inverse: [Lanes; GROUPS],
}

impl<const GROUPS: usize> Equations<GROUPS> {
    const EMPTY: Equations<GROUPS> = Equations {
        columns: [[[Lanes::ZERO; GROUPS]; LIMIT]; GROUPS],
        factors: [[[Lanes::ZERO; GROUPS]; LIMIT]; GROUPS],
        inverse: [Lanes::ZERO; GROUPS],
    };
    /// The group of the normals, after those of friction.
    const NORMAL: usize = GROUPS - 1;

    #[inline(always)]
    fn assemble(&mut self, few: &Few, modes: &Modes) {
        for contact in 0..LIMIT {
            let closed = modes.closed.0[contact];
            let stick = modes.stick.0[contact];
            if closed == 0.0 {
                continue;
            }
            let [along_x, along_y] =
                [Lanes::all(modes.along[0].0[contact]), Lanes::all(modes.along[1].0[contact])];
            let [across_x, across_y] =
                [Lanes::all(modes.across[0].0[contact]), Lanes::all(modes.across[1].0[contact])];
            let w = &few.w[contact];
            for group in 0..GROUPS {
                let moved = |row: usize| {
                    let [n, x, y] = w[row];
                    if group == Self::NORMAL {
                        n + x * along_x + y * along_y
                    } else if group == 0 {
                        x * across_x + y * across_y
                    } else {
                        y
                    }
                };
                let [n, x, y] = [moved(0), moved(1), moved(2)];
                let column = &mut self.columns[group][contact];
                column[Self::NORMAL] = modes.closed * n;
                column[0] = modes.ratio * (modes.across[0] * x + modes.across[1] * y);
                if GROUPS == 3 {
                    column[1] = modes.stick * y;
                }
            }
            let ratio = modes.ratio.0[contact];
            self.columns[0][contact][0].0[contact] += 1.0 - ratio + SHIFT * ratio;
            self.columns[Self::NORMAL][contact][Self::NORMAL].0[contact] += SHIFT;
            if GROUPS == 3 {
                self.columns[1][contact][1].0[contact] += SHIFT * stick;
            }
        }
    }

    /// Factors without exchanges, over the unknowns that are there; false where a pivot is small.
    #[inline(always)]
    fn factor(&mut self, modes: &Modes) -> bool {
        let mut regular = self.factor_group::<0>(modes) & self.factor_group::<1>(modes);
        if GROUPS == 3 {
            regular &= self.factor_group::<2>(modes);
        }
        regular
    }

    #[inline(always)]
    fn factor_group<const GROUP: usize>(&mut self, modes: &Modes) -> bool {
        let mut regular = true;
        for contact in 0..LIMIT {
            if !Self::present(modes, GROUP, contact) {
                continue;
            }
            let column = self.columns[GROUP % GROUPS][contact];
            let pivot = column[GROUP % GROUPS].0[contact];
            regular &= pivot.abs() >= SMALLEST_PIVOT;
            let inverse = 1.0 / pivot;
            self.inverse[GROUP % GROUPS].0[contact] = inverse;
            let mut below = [Lanes::ZERO; GROUPS];
            for rows in GROUP..GROUPS {
                below[rows] = column[rows] * Lanes::all(inverse);
            }
            for lane in 0..LIMIT {
                let value = below[GROUP % GROUPS].0[lane];
                below[GROUP % GROUPS].0[lane] = if lane > contact { value } else { 0.0 };
            }
            self.factors[GROUP % GROUPS][contact] = below;
            for later in contact + 1..LIMIT {
                eliminate::<GROUPS, GROUP>(&mut self.columns[GROUP % GROUPS][later], &below, contact);
            }
            for group in GROUP + 1..GROUPS {
                for later in 0..LIMIT {
                    eliminate::<GROUPS, GROUP>(&mut self.columns[group][later], &below, contact);
                }
            }
        }
        regular
    }

    /// Whether a contact has the unknown of a group.
    #[inline(always)]
    fn present(modes: &Modes, group: usize, contact: usize) -> bool {
        let present = if GROUPS == 3 && group == 1 { &modes.stick } else { &modes.closed };
        present.0[contact] > 0.0
    }

    /// Impulses that solve the problem shifted about the present ones.
    #[inline(always)]
    fn substitute(&self, few: &Few, modes: &Modes) -> [Lanes; 3] {
        let shift = Lanes::all(SHIFT);
        let [n, x, y] =
            [shift * few.r[0] - few.q[0], shift * few.r[1] - few.q[1], shift * few.r[2] - few.q[2]];
        let mut right = [Lanes::ZERO; GROUPS];
        right[Self::NORMAL] = modes.closed * n;
        right[0] = modes.ratio * (modes.across[0] * x + modes.across[1] * y);
        if GROUPS == 3 {
            right[1] = modes.stick * y;
        }
        for group in 0..GROUPS {
            for contact in 0..LIMIT {
                if Self::present(modes, group, contact) {
                    let known = Lanes::all(right[group].0[contact]);
                    for rows in group..GROUPS {
                        right[rows] = right[rows] - known * self.factors[group][contact][rows];
                    }
                }
            }
        }
        let mut z = [Lanes::ZERO; GROUPS];
        for group in (0..GROUPS).rev() {
            for contact in (0..LIMIT).rev() {
                if Self::present(modes, group, contact) {
                    let known = right[group].0[contact] * self.inverse[group].0[contact];
                    z[group].0[contact] = known;
                    for rows in 0..=group {
                        right[rows] = right[rows] - Lanes::all(known) * self.columns[group][contact][rows];
                    }
                }
            }
        }
        let (first, normal) = (z[0], z[Self::NORMAL]);
        let second = if GROUPS == 3 { z[1] } else { Lanes::ZERO };
        [
            normal,
            modes.along[0] * normal + modes.across[0] * first,
            modes.along[1] * normal + modes.across[1] * first + second,
        ]
    }
}

/// Takes a pivot's row, with the factors `below`, out of a column.
#[inline(always)]
fn eliminate<const GROUPS: usize, const GROUP: usize>(
    column: &mut [Lanes; GROUPS],
    below: &[Lanes; GROUPS],
    contact: usize,
) {
    let factor = Lanes::all(column[GROUP % GROUPS].0[contact]);
    for rows in GROUP..GROUPS {
        column[rows] = column[rows] - factor * below[rows];
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners};
    use super::*;
    use crate::engine::problem::residual::natural_residual;

    const ALL: [usize; LIMIT] = [0, 1, 2, 3];

    #[test]
    fn a_box_on_its_corners_is_solved() {
        for twist in TWISTS {
            for mu in [0.0, 0.1, 0.4, 1.0] {
                let problem = box_on_corners(twist, mu);
                let scale = problem.q.iter().map(|q| q * q).sum::<f64>().sqrt();
                let mut r = vec![0.0; 12];
                let effort = solve(&problem, &mut r, &ALL, &ALL, 1e-12 * scale, 100);
                assert!(effort.is_ok(), "{twist:?} {mu}");
                assert!(natural_residual(&problem, &r) <= 1e-12, "{twist:?} {mu}: {r:?}");
                assert!(r.iter().all(|r| r.abs() < 10.0), "no impulses that do nothing: {r:?}");
            }
        }
    }

    /// Members in any order, and fewer than four.
    #[test]
    fn parts_of_a_problem_are_solved() {
        let mut problem = ConeProblem::default();
        problem.reset(3);
        let own = [[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 4.0]];
        let shared = [[0.5, 0.1, 0.0], [0.1, 0.4, 0.1], [0.0, 0.1, 0.3]];
        for contact in 0..3 {
            problem.w.begin_row(own);
            if contact != 1 {
                problem.w.push(2 - contact, shared);
            }
            problem.mu[contact] = 0.3;
            problem.q[3 * contact..3 * contact + 3].copy_from_slice(&[-1.0, 2.0 - contact as f64, 0.4]);
        }
        let mut r = vec![0.0; 9];
        let effort = solve(&problem, &mut r, &[2, 0], &[1, 0, 0], 1e-12, 100).unwrap();
        assert!(effort.iterations > 1);
        assert_eq!(r[3..6], [0.0; 3], "another part");
        let middle =
            SingleContact::new(&own, 0.3).solve([-1.0, 1.0, 0.4], &mut 0.0, Accuracy::Exact).unwrap();
        r[3..6].copy_from_slice(&middle);
        assert!(natural_residual(&problem, &r) < 1e-14);
    }

    #[test]
    fn a_guess_and_the_limit_are_respected() {
        let problem = box_on_corners(TWISTS[1], 0.4);
        let mut r = vec![0.0; 12];
        assert_eq!(solve(&problem, &mut r, &ALL, &ALL, 0.0, LEAST_LIMIT).unwrap_err(), 1 + ITERATIONS);
        assert_eq!(solve(&problem, &mut r, &ALL, &ALL, 1.0, LEAST_LIMIT - 1).unwrap_err(), 0);
        assert_eq!(r, [0.0; 12]);
        r[4] = 0.1;
        assert_eq!(solve(&problem, &mut r, &ALL, &ALL, 1.0, 100).unwrap_err(), 0);
        let empty = ConeProblem::from_dense(&[0.0; 36], vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], vec![0.5; 2]);
        assert!(solve(&empty, &mut [0.0; 6], &[0, 1], &[0, 1], 1e-9, 100).is_err(), "nothing can push");
    }
}
