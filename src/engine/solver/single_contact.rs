//! The cone problem of one contact, solved exactly.
//!
//! With the normal row eliminated, `S = W_TT - W_TN W_NT / W_NN`, `s = q_T - W_TN q_N / W_NN`. Sliding means
//! `u_T = -alpha r_T` with `alpha >= 0`, so that `r_T(alpha) = -(S + alpha I)^-1 s`. Stick is `alpha = 0`; else
//! `alpha` is the root of `mu r_N(alpha) = |r_T(alpha)|`. Its sign changes between zero and infinity, hence there
//! is always a root; written as `mu r_N / |r_T| = 1` it is nearly straight. [More and Sorensen 1983]

use crate::engine::problem::block_matrix::Block;
use crate::engine::tolerances::{BISECTIONS, TOLERANCES};

/// A contact prepared for many right-hand sides.
#[derive(Clone, Copy, Debug)]
pub struct SingleContact {
    mu: f64,
    /// `1 / W_NN`.
    normal: f64,
    /// `W_NT / W_NN`.
    row: [f64; 2],
    /// `W_TN / W_NN`.
    column: [f64; 2],
    /// `S`, row-major.
    schur: [f64; 4],
    trace: f64,
    /// Zero where `S` is singular but for round-off.
    determinant: f64,
    /// `1 / det S`, or zero where `S` is singular.
    inverse: f64,
}

const ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// How exactly a contact is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// To round-off.
    Exact,
    /// One step towards the slip rate at every visit.
    Rough,
}
/// Slip rates far above this overflow when squared twice.
const LARGEST_GUESS: f64 = 1.0 / (f64::EPSILON * f64::EPSILON * f64::EPSILON * f64::EPSILON);

impl SingleContact {
    /// Prepares a contact.
    #[inline]
    pub fn new(block: &Block<f64>, mu: f64) -> SingleContact {
        let normal = 1.0 / block[0][0];
        let row = [block[0][1] * normal, block[0][2] * normal];
        let column = [block[1][0] * normal, block[2][0] * normal];
        let schur = [
            block[1][1] - block[1][0] * row[0],
            block[1][2] - block[1][0] * row[1],
            block[2][1] - block[2][0] * row[0],
            block[2][2] - block[2][0] * row[1],
        ];
        let size = block[1][1] + block[2][2];
        let determinant = schur[0] * schur[3] - schur[1] * schur[2];
        let regular = determinant > f64::EPSILON * size * size;
        SingleContact {
            mu,
            normal,
            row,
            column,
            schur,
            trace: schur[0] + schur[3],
            determinant: if regular { determinant } else { 0.0 },
            inverse: if regular { 1.0 / determinant } else { 0.0 },
        }
    }

    /// Impulse for the velocity `q` without impulse. `alpha` is a guess of the slip rate and receives its value.
    /// `None` where there is no solution: a contact pressed in that no impulse can push out.
    #[inline]
    pub fn solve(&self, q: [f64; 3], alpha: &mut f64, accuracy: Accuracy) -> Option<[f64; 3]> {
        if q[0] >= 0.0 {
            return Some([0.0; 3]);
        }
        let free = -q[0] * self.normal;
        if !(free > 0.0 && free.is_finite()) {
            return None;
        }
        if self.mu == 0.0 {
            return Some([free, 0.0, 0.0]);
        }
        let shifted = [q[1] - self.column[0] * q[0], q[2] - self.column[1] * q[0]];
        if let Some([x, y]) = self.hold(shifted) {
            let normal = self.normal_impulse(free, [x, y]);
            let limit = self.mu * normal;
            if limit >= 0.0 && x * x + y * y <= limit * limit {
                *alpha = 0.0;
                return Some([normal, x, y]);
            }
        }
        self.slide(free, shifted, alpha, accuracy)
    }

    /// Friction impulse that stops the contact, if there is one.
    #[inline]
    fn hold(&self, shifted: [f64; 2]) -> Option<[f64; 2]> {
        if self.inverse > 0.0 {
            return Some(self.friction(shifted, 0.0, self.inverse));
        }
        if shifted == [0.0; 2] {
            return Some([0.0; 2]);
        }
        // Near the smallest of the many impulses that stop it, then improved.
        let rate = TOLERANCES.half_of_digits * self.trace;
        let inverse = self.inverse_determinant(rate);
        let [a, b, c, d] = self.schur;
        let left = |[x, y]: [f64; 2]| [a * x + b * y + shifted[0], c * x + d * y + shifted[1]];
        let mut held = [0.0; 2];
        for _ in 0..3 {
            let [x, y] = self.friction(left(held), rate, inverse);
            held = [held[0] + x, held[1] + y];
        }
        let [x, y] = left(held);
        let size = self.trace * (held[0].abs() + held[1].abs()) + shifted[0].abs() + shifted[1].abs();
        (x.abs() + y.abs() <= TOLERANCES.few_roundings * size).then_some(held)
    }

    #[inline]
    fn inverse_determinant(&self, alpha: f64) -> f64 {
        1.0 / (self.determinant + alpha * (self.trace + alpha))
    }

    /// `-(S + alpha I)^-1 shifted`.
    #[inline]
    fn friction(&self, shifted: [f64; 2], alpha: f64, inverse_determinant: f64) -> [f64; 2] {
        let [a, b, c, d] = self.schur;
        [
            (b * shifted[1] - (d + alpha) * shifted[0]) * inverse_determinant,
            (c * shifted[0] - (a + alpha) * shifted[1]) * inverse_determinant,
        ]
    }

    #[inline]
    fn normal_impulse(&self, free: f64, [x, y]: [f64; 2]) -> f64 {
        free - self.row[0] * x - self.row[1] * y
    }

    /// Finds the slip rate between `low`, where friction cannot hold, and `high`, where it can.
    fn slide(&self, free: f64, shifted: [f64; 2], alpha: &mut f64, accuracy: Accuracy) -> Option<[f64; 3]> {
        let size = self.trace;
        let mut low = 0.0;
        let mut high = f64::INFINITY;
        // Friction changes with the rate as soon as that is of the order of the smaller eigenvalue of `S`: nearly four times
        // it where one is much smaller, and `size` where both are equal.
        let least = if self.determinant > 0.0 { 4.0 * self.determinant / size } else { 0.0 };
        let mut rate = if *alpha > 0.0 && *alpha < LARGEST_GUESS {
            *alpha
        } else {
            // Exact where `S` is a multiple of the identity and does not act on the normal.
            let length = (shifted[0] * shifted[0] + shifted[1] * shifted[1]).sqrt();
            (length / (self.mu * free) - 0.5 * size).max(TOLERANCES.half_of_digits * size)
        };
        let mut settled = false;
        for _ in 0..BISECTIONS {
            let inverse_determinant = self.inverse_determinant(rate);
            let [x, y] = self.friction(shifted, rate, inverse_determinant);
            let normal = self.normal_impulse(free, [x, y]);
            let inverse_length = 1.0 / (x * x + y * y).sqrt();
            let part = self.mu * normal * inverse_length;
            let on_the_cone = [normal, part * x, part * y];
            if settled || (part - 1.0).abs() <= ROUND_OFF {
                *alpha = rate;
                // Friction that holds at every rate, in a singular contact, is not at its limit.
                let r = if low == 0.0 && part > 1.0 { [normal, x, y] } else { on_the_cone };
                return r.iter().all(|r| r.is_finite()).then_some(r);
            }
            if part > 1.0 {
                high = rate;
            } else {
                low = rate;
            }
            // d r_T / d alpha = -(S + alpha I)^-1 r_T
            let [dx, dy] = self.friction([x, y], rate, inverse_determinant);
            let turning = part * (x * dx + y * dy) * inverse_length;
            let slope = -(self.mu * (self.row[0] * dx + self.row[1] * dy) + turning) * inverse_length;
            let newton = rate - (part - 1.0) / slope;
            let next = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * (rate + size)
            };
            if accuracy == Accuracy::Rough && part > 0.0 && part.is_finite() {
                *alpha = next;
                return Some(on_the_cone);
            }
            // Newton squares the error, bisection has no more numbers to try.
            let near = TOLERANCES.half_of_digits * (rate + least) + ROUND_OFF * size;
            settled =
                (next == newton && (newton - rate).abs() <= near) || high - low <= ROUND_OFF * (low + size);
            rate = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::problem::cone::ConeProblem;
    use crate::engine::problem::residual::natural_residual;

    fn residual(block: &Block<f64>, q: [f64; 3], mu: f64, r: [f64; 3]) -> f64 {
        let w: Vec<f64> = block.iter().flatten().copied().collect();
        natural_residual(&ConeProblem::from_dense(&w, q.to_vec(), vec![mu]), &r)
    }

    fn solve(block: &Block<f64>, q: [f64; 3], mu: f64) -> Option<[f64; 3]> {
        SingleContact::new(block, mu).solve(q, &mut 0.0, Accuracy::Exact)
    }

    const COUPLED: Block<f64> = [[2.0, 0.9, -0.7], [0.9, 1.5, 0.4], [-0.7, 0.4, 3.0]];

    #[test]
    fn every_regime_is_exact() {
        let mut slips = 0;
        for k in 0..2000 {
            let angle = 0.37 * f64::from(k);
            let q = [
                (0.11 * f64::from(k)).sin() - 0.3,
                2.0 * angle.cos(),
                (1.0 + 0.01 * f64::from(k)) * angle.sin(),
            ];
            let mu = [0.0, 0.05, 0.5, 1.0, 3.0][k as usize % 5];
            let r = solve(&COUPLED, q, mu).unwrap();
            assert!(residual(&COUPLED, q, mu, r) < 1e-14, "q {q:?} mu {mu}: {r:?}");
            slips += u32::from(r[0] > 0.0 && (r[1].hypot(r[2]) - mu * r[0]).abs() < 1e-12);
        }
        assert!(slips > 500);
    }

    #[test]
    fn slip_along_what_hardly_moves_is_exact() {
        // The second tangent moves less by up to eight orders, and what presses on is at the limit of friction.
        for k in 0..2000 {
            let small = 10f64.powf(-8.0 * f64::from(k) / 2000.0);
            let block =
                [[1.46, 0.53, 0.1 * small], [0.53, 1.54, 0.2 * small], [0.1 * small, 0.2 * small, small]];
            let angle = 0.37 * f64::from(k);
            let q = [-1.0, 0.5 * angle.cos(), small * (0.3 + f64::from(k % 7)) * angle.sin()];
            let r = solve(&block, q, 0.5).unwrap();
            assert!(residual(&block, q, 0.5, r) < 1e-14, "{small} {q:?}: {r:?}");
        }
    }

    #[test]
    fn any_guess_of_the_slip_rate_is_good() {
        let q = [-1.0, 2.0, -3.0];
        let contact = SingleContact::new(&COUPLED, 0.4);
        let expected = contact.solve(q, &mut 0.0, Accuracy::Exact).unwrap();
        for guess in [1e-300, 1e-9, 1.0, 1e9, 1e300, f64::INFINITY, f64::NAN] {
            let r = contact.solve(q, &mut { guess }, Accuracy::Exact).unwrap();
            for k in 0..3 {
                assert!((r[k] - expected[k]).abs() < 1e-14, "guess {guess}");
            }
        }
    }

    #[test]
    fn singular_blocks_are_solved() {
        // The second tangent cannot move; then nothing but the normal can.
        let line = [[1.0, 0.2, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 0.0]];
        let normal = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
        let tilted = [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]];
        for (block, q) in [
            (&line, [-1.0, 0.1, 0.0]),
            (&line, [-1.0, 5.0, 0.0]),
            (&line, [-1.0, 0.1, 3.0]),
            (&normal, [-1.0, 0.0, 0.0]),
            (&normal, [-1.0, 0.3, -0.2]),
            (&tilted, [-1.0, 0.1, 0.1]),
            (&tilted, [-1.0, 0.1, 0.2]),
            (&tilted, [-1.0, 4.0, 4.0]),
        ] {
            let r = solve(block, q, 0.6).unwrap();
            assert!(residual(block, q, 0.6, r) < 1e-13, "{block:?} {q:?}: {r:?}");
        }
    }

    #[test]
    fn a_contact_that_cannot_be_pushed_out_has_no_answer() {
        assert_eq!(solve(&[[0.0; 3]; 3], [-1.0, 0.0, 0.0], 0.5), None);
        assert_eq!(solve(&COUPLED, [f64::NAN, 0.0, 0.0], 0.5), None);
        assert_eq!(solve(&[[0.0; 3]; 3], [1.0, 0.0, 0.0], 0.5), Some([0.0; 3]));
    }
}
