//! The Alart-Curnier function, whose zeros are the solutions of the cone problem, and its Newton step.
//!
//! With `y = r - u`: `Phi_N = r_N - max(0, y_N)`, `Phi_T = r_T - Proj(y_T)` onto the disc of radius
//! `mu max(0, y_N)`. [Alart and Curnier 1991] A Newton step from `y` gives the `r` that solves
//! - open (`y_N <= 0`): `r = 0`;
//! - stick (`|y_T| <= mu y_N`): `u = 0`;
//! - slip, with `d = y_T / |y_T|`, `t` across it and `c = mu y_N / |y_T| < 1`: `r_T = mu r_N d + r_t t`, `u_N = 0`,
//!   `(1 - c) r_t + c u_t = 0`.
//!
//! So the unknowns are `r = E z`, the equations `F^T (W E z + q) + D z = 0`, with three, two or no columns a contact.

use super::component::Component;
use super::dense::Matrix;
use crate::engine::problem::block_matrix::Block;
use crate::engine::scalar::Scalar;

/// What a Newton step takes a contact for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// No impulse.
    Open,
    /// No velocity.
    Stick,
    /// Friction on its limit.
    Slip {
        /// `d`, the direction of the friction impulse.
        direction: [f64; 2],
        /// `c`.
        ratio: f64,
    },
}

impl Mode {
    /// Mode of a contact.
    #[inline]
    pub fn of(r: [f64; 3], u: [f64; 3], mu: f64) -> Mode {
        let y = [r[0] - u[0], r[1] - u[1], r[2] - u[2]];
        if y[0] <= 0.0 {
            return Mode::Open;
        }
        let radius = mu * y[0];
        let square = y[1] * y[1] + y[2] * y[2];
        if square <= radius * radius {
            return Mode::Stick;
        }
        let inverse = 1.0 / square.sqrt();
        Mode::Slip { direction: [y[1] * inverse, y[2] * inverse], ratio: radius * inverse }
    }

    /// Number of unknowns.
    #[inline]
    pub fn unknowns(&self) -> usize {
        match self {
            Mode::Open => 0,
            Mode::Stick => 3,
            Mode::Slip { .. } => 2,
        }
    }

    /// `E z`.
    #[inline]
    pub fn impulse<S: Scalar>(&self, mu: f64, z: &[S]) -> [S; 3] {
        match *self {
            Mode::Open => [S::zero(); 3],
            Mode::Stick => [z[0], z[1], z[2]],
            Mode::Slip { direction: [x, y], .. } => {
                let (x, y) = (S::from(x), S::from(y));
                let along = S::from(mu) * z[0];
                [z[0], along * x - z[1] * y, along * y + z[1] * x]
            }
        }
    }

    /// `block E`; columns beyond the unknowns do not matter.
    #[inline]
    pub fn columns(&self, mu: f64, block: &Block<f64>) -> Block<f64> {
        match *self {
            Mode::Open | Mode::Stick => *block,
            Mode::Slip { direction: [x, y], .. } => {
                let line = |[n, first, second]: [f64; 3]| {
                    [n + mu * (first * x + second * y), second * x - first * y, 0.0]
                };
                [line(block[0]), line(block[1]), line(block[2])]
            }
        }
    }

    /// `F^T block`; rows beyond the unknowns do not matter.
    #[inline]
    pub fn rows(&self, block: &Block<f64>) -> Block<f64> {
        match *self {
            Mode::Open | Mode::Stick => *block,
            Mode::Slip { direction: [x, y], ratio } => {
                let [normal, first, second] = block;
                let across = |k: usize| ratio * (second[k] * x - first[k] * y);
                [*normal, [across(0), across(1), across(2)], [0.0; 3]]
            }
        }
    }

    /// `F^T v`; components beyond the unknowns do not matter.
    #[inline]
    pub fn equations<S: Scalar>(&self, v: [S; 3]) -> [S; 3] {
        match *self {
            Mode::Open | Mode::Stick => v,
            Mode::Slip { direction: [x, y], ratio } => {
                let across = v[2] * S::from(x) - v[1] * S::from(y);
                [v[0], S::from(ratio) * across, S::zero()]
            }
        }
    }

    /// Diagonal of `D + rho F^T E`.
    #[inline]
    pub fn diagonal(&self, rho: f64) -> [f64; 3] {
        match *self {
            Mode::Open | Mode::Stick => [rho; 3],
            Mode::Slip { ratio, .. } => [rho, 1.0 - ratio + rho * ratio, 0.0],
        }
    }
}

/// Writes `F^T W E + D + rho F^T E` and the first unknown of every contact.
pub fn assemble(part: &Component, modes: &[Mode], rho: f64, starts: &mut Vec<usize>, matrix: &mut Matrix) {
    starts.clear();
    let mut size = 0;
    for mode in modes {
        starts.push(size);
        size += mode.unknowns();
    }
    matrix.reset(size);
    for (contact, mode) in modes.iter().enumerate() {
        let count = mode.unknowns();
        if count == 0 {
            continue;
        }
        let at = starts[contact];
        for (column, block) in part.w.row(contact) {
            let other = &modes[column];
            let width = other.unknowns();
            if width == 0 {
                continue;
            }
            let reduced = mode.rows(&other.columns(part.mu[column], block));
            let start = starts[column];
            for (k, line) in reduced[..count].iter().enumerate() {
                let target = &mut matrix.row_mut(at + k)[start..start + width];
                target[0] = line[0];
                target[1] = line[1];
                if width == 3 {
                    target[2] = line[2];
                }
            }
        }
        let own = mode.diagonal(rho);
        for (k, own) in own[..count].iter().enumerate() {
            matrix.row_mut(at + k)[at + k] += own;
        }
    }
}

/// Square of `|Phi|` of one contact.
#[inline]
fn function_square(r: [f64; 3], u: [f64; 3], mu: f64) -> f64 {
    let normal = (r[0] - u[0]).max(0.0);
    let [x, y] = [r[1] - u[1], r[2] - u[2]];
    let radius = mu * normal;
    let square = x * x + y * y;
    let scale = if square <= radius * radius { 1.0 } else { radius / square.sqrt() };
    (r[0] - normal).powi(2) + (r[1] - scale * x).powi(2) + (r[2] - scale * y).powi(2)
}

/// Length of the function for the problem shifted by `rho` about `centre`.
pub fn function(part: &Component, rho: f64, centre: &[[f64; 3]]) -> f64 {
    let mut square = 0.0;
    for (contact, centre) in centre.iter().enumerate() {
        let r = part.r[contact];
        let u = std::array::from_fn(|k| part.u[contact][k] + rho * (r[k] - centre[k]));
        square += function_square(r, u, part.mu[contact]);
    }
    square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a solution the function is zero and the mode is what the laws say.
    #[test]
    fn solutions_are_zeros() {
        let mu = 0.5;
        for (r, u, unknowns) in [
            ([0.0, 0.0, 0.0], [1.0, 3.0, -1.0], 0),
            ([2.0, 0.3, -0.4], [0.0, 0.0, 0.0], 3),
            ([2.0, -0.6, 0.8], [0.0, 3.0, -4.0], 2),
        ] {
            assert!(function_square(r, u, mu) < 1e-30);
            let mode = Mode::of(r, u, mu);
            assert_eq!(mode.unknowns(), unknowns);
            if let Mode::Slip { direction, ratio } = mode {
                assert!((direction[0] + 0.6).abs() < 1e-15 && (direction[1] - 0.8).abs() < 1e-15);
                assert!((ratio - 1.0 / 6.0).abs() < 1e-15);
                assert_eq!(mode.impulse(mu, &[2.0, 0.0]).map(|r| (r * 1e12).round() / 1e12), r);
            }
        }
        assert!(function_square([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], mu) > 0.5);
    }
}
