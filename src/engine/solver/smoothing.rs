//! Smoothing Newton: follows the solutions of a smoothed problem until nothing is left of the smoothing. It solves deep piles
//! of which many contacts slide, where sweeps stall and Newton goes round in circles.
//!
//! With `x = (sqrt(mu) r_N, r_T / sqrt(mu))` and `y = ((u_N + mu |u_T|) / sqrt(mu), sqrt(mu) u_T)` the law of a contact is
//! complementarity in the second-order cone, `x` and `y` in it and `x . y = 0`, hence a zero of the Fischer-Burmeister function
//! `x + y - sqrt(x^2 + y^2)` with squares and roots of the cone's Jordan algebra. Smoothed it is
//!
//! `Phi = x + y - w`, `w = sqrt(x^2 + y^2 + 2 sigma^2 e)`, `dPhi = (1 - L_w^-1 L_x) dx + (1 - L_w^-1 L_y) dy`,
//!
//! with the matrix `L_v` of the product with `v`. `|u_T|` is smoothed with it. Newton's equations are regular for any
//! `sigma > 0`, hyperstatic contact included; `sigma` shrinks whenever `Phi` is well below it.
//! [Fukushima, Luo, Tseng 2001; Hayashi, Yamashita, Fukushima 2005]

use super::component::{Best, Component};
use super::sparse::BlockSystem;
use super::{Effort, Scratch, newton};
use crate::engine::problem::block_matrix::Block;
use crate::engine::tolerances::TOLERANCES;

/// Memory of the iteration.
#[derive(Debug, Default)]
pub struct SmoothingScratch {
    system: BlockSystem,
    start: Vec<[f64; 3]>,
    best: Vec<[f64; 3]>,
}

/// Iterates from impulses that are all alike until solved, lost, or at the limit, then by Newton; leaves the best point
/// seen, the present one included.
pub fn solve(part: &mut Component, limit: u32, scratch: &mut Scratch) -> Effort {
    let mut memory = std::mem::take(&mut scratch.smoothing);
    let mut kept = std::mem::take(&mut memory.best);
    let mut best = Best::begin(&mut kept, part);
    let iterations = follow(part, limit, &mut best, &mut memory);
    let effort = best.finish(part, "smoothing newton", iterations);
    memory.best = kept;
    scratch.smoothing = memory;
    effort.then(limit, |left| newton::solve(part, left, scratch))
}

/// Follows the path of vanishing smoothing; returns the iterations made.
fn follow(part: &mut Component, limit: u32, best: &mut Best<'_>, memory: &mut SmoothingScratch) -> u32 {
    let root = (part.contacts() as f64).sqrt();
    let size = part.q.iter().flatten().map(|q| q * q).sum::<f64>().sqrt() / root;
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    part.r.fill([size, 0.0, 0.0]);
    part.refresh();
    let mut sigma = size;
    let (mut iterations, mut of_this) = (0, 0);
    while iterations < limit && !part.solved() && sigma > TOLERANCES.rounding * size {
        let length = length(part, sigma);
        if length < TOLERANCES.smoothing_centre * sigma * root {
            sigma *= TOLERANCES.smoothing_shrink;
            of_this = 0;
            continue;
        }
        if of_this >= TOLERANCES.newton_steps || !direction(part, sigma, &mut memory.system) {
            break;
        }
        iterations += 1;
        of_this += 1;
        memory.start.clear();
        memory.start.extend_from_slice(&part.r);
        let mut way = 1.0;
        while way > TOLERANCES.small {
            for (contact, (r, start)) in part.r.iter_mut().zip(&memory.start).enumerate() {
                let change = memory.system.solution(contact);
                *r = std::array::from_fn(|k| start[k] + way * change[k]);
            }
            part.refresh();
            if self::length(part, sigma) < (1.0 - TOLERANCES.sufficient_decrease * way) * length {
                break;
            }
            way *= 0.5;
        }
        best.offer(part);
    }
    iterations
}

/// `|Phi|` at the present point.
fn length(part: &Component, sigma: f64) -> f64 {
    let square = |contact: usize| {
        let point = Point::of(part, contact, sigma);
        point.value().iter().map(|phi| phi * phi).sum::<f64>()
    };
    (0..part.contacts()).map(square).sum::<f64>().sqrt()
}

/// Solves Newton's equations at the present point. False where that fails.
fn direction(part: &Component, sigma: f64, system: &mut BlockSystem) -> bool {
    system.clear();
    for contact in 0..part.contacts() {
        let point = Point::of(part, contact, sigma);
        let (by_r, by_u) = point.derivatives();
        for (column, block) in part.w.row(contact) {
            let mut product = [[0.0; 3]; 3];
            for i in 0..3 {
                for k in 0..3 {
                    for j in 0..3 {
                        product[i][j] += by_u[i][k] * block[k][j];
                    }
                }
            }
            if column == contact {
                for i in 0..3 {
                    for j in 0..3 {
                        product[i][j] += by_r[i][j];
                    }
                }
                system.begin_row(3, product, point.value().map(|phi| -phi));
            } else {
                system.push(column, 3, product);
            }
        }
    }
    system.solve()
        && (0..part.contacts()).all(|contact| system.solution(contact).iter().all(|d| d.is_finite()))
}

/// A contact at a point of the smoothed problem.
struct Point {
    x: [f64; 3],
    y: [f64; 3],
    w: [f64; 3],
    /// Product of the eigenvalues of `w`.
    determinant: f64,
    /// `sqrt(mu)`, and the derivative of the smoothed `|u_T|`.
    root: f64,
    slope: [f64; 2],
}

impl Point {
    fn of(part: &Component, contact: usize, sigma: f64) -> Point {
        let (r, u, mu) = (part.r[contact], part.u[contact], part.mu[contact]);
        let root = mu.sqrt();
        // The sooner this vanishes, the sooner is known what sticks.
        let smoothed = TOLERANCES.slight * sigma;
        let slip = (u[1] * u[1] + u[2] * u[2] + smoothed * smoothed).sqrt();
        let slope = [u[1] / slip, u[2] / slip];
        // Without friction the law is that of the normal alone.
        let (x, y) = if mu > 0.0 {
            ([root * r[0], r[1] / root, r[2] / root], [(u[0] + mu * slip) / root, root * u[1], root * u[2]])
        } else {
            ([r[0], 0.0, 0.0], [u[0], 0.0, 0.0])
        };
        let square = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
        let z = [
            square(x) + square(y) + 2.0 * sigma * sigma,
            2.0 * (x[0] * x[1] + y[0] * y[1]),
            2.0 * (x[0] * x[2] + y[0] * y[2]),
        ];
        let vector = (z[1] * z[1] + z[2] * z[2]).sqrt();
        let (small, large) = ((z[0] - vector).max(0.0).sqrt(), (z[0] + vector).sqrt());
        // (large - small) / 2 over the length of the vector, without a difference of equals.
        let along = 1.0 / (large + small);
        let w = [0.5 * (small + large), along * z[1], along * z[2]];
        Point { x, y, w, determinant: small * large, root: if mu > 0.0 { root } else { 0.0 }, slope }
    }

    /// `Phi`; without friction tangential impulses stay as they start, at zero.
    fn value(&self) -> [f64; 3] {
        std::array::from_fn(|k| self.x[k] + self.y[k] - self.w[k])
    }

    /// Derivatives of `Phi` by impulse and velocity.
    fn derivatives(&self) -> (Block<f64>, Block<f64>) {
        let root = self.root;
        let (a, b) = (self.without(self.x), self.without(self.y));
        if root == 0.0 {
            let only = |first: f64, others: f64| [[first, 0.0, 0.0], [0.0, others, 0.0], [0.0, 0.0, others]];
            return (only(a[0][0], 1.0), only(b[0][0], 0.0));
        }
        let by_r = a.map(|line| [line[0] * root, line[1] / root, line[2] / root]);
        let by_u = b.map(|line| {
            let tangent = |k: usize| line[0] * root * self.slope[k] + line[k + 1] * root;
            [line[0] / root, tangent(0), tangent(1)]
        });
        (by_r, by_u)
    }

    /// `1 - L_w^-1 L_v`.
    fn without(&self, v: [f64; 3]) -> Block<f64> {
        let w = self.w;
        let solve = |b: [f64; 3]| {
            let first = (w[0] * b[0] - w[1] * b[1] - w[2] * b[2]) / self.determinant;
            [first, (b[1] - w[1] * first) / w[0], (b[2] - w[2] * first) / w[0]]
        };
        let columns = [[v[0], v[1], v[2]], [v[1], v[0], 0.0], [v[2], 0.0, v[0]]].map(solve);
        std::array::from_fn(|i| std::array::from_fn(|j| (if i == j { 1.0 } else { 0.0 }) - columns[j][i]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{TWISTS, box_on_corners, part_of};
    use super::*;

    #[test]
    fn boxes_without_friction_are_solved() {
        for twist in TWISTS {
            let mut part = part_of(&box_on_corners(twist, 0.0), 1e-10);
            assert!(solve(&mut part, 100, &mut Scratch::default()).solved, "{twist:?}");
        }
    }

    #[test]
    fn derivatives_are_those_of_the_function() {
        let sigma = 0.1;
        for mu in [0.0, 0.4] {
            let mut part = part_of(&box_on_corners(TWISTS[1], mu), 1e-10);
            part.start_at(3);
            let (by_r, by_u) = Point::of(&part, 0, sigma).derivatives();
            let step = 1e-6;
            for k in 0..3 {
                let mut difference = |list: fn(&mut Component) -> &mut [[f64; 3]]| {
                    let mut value = |change: f64| {
                        list(&mut part)[0][k] += change;
                        let value = Point::of(&part, 0, sigma).value();
                        list(&mut part)[0][k] -= change;
                        value
                    };
                    let (after, before) = (value(step), value(-step));
                    [0, 1, 2].map(|row| (after[row] - before[row]) / (2.0 * step))
                };
                let (seen_r, seen_u) = (difference(|part| &mut part.r), difference(|part| &mut part.u));
                for row in 0..3 {
                    if mu > 0.0 || row == 0 {
                        assert!((by_r[row][k] - seen_r[row]).abs() < 1e-8);
                    }
                    assert!((by_u[row][k] - seen_u[row]).abs() < 1e-8);
                }
            }
        }
    }
}
