//! The elastic part of all laws: `A(d) = K d^n` for `d > 0`, with the energy `E(d) = K d^(n+1) / (n+1)`.

use super::MeanForce;
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use serde::{Deserialize, Serialize};

/// A spring whose force is a power of its depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerSpring {
    /// Stiffness `K` in N/m^n.
    pub stiffness: f64,
    /// Exponent `n`, at least 1.
    pub exponent: f64,
}

impl PowerSpring {
    /// A spring with exponent 1.
    pub fn linear(stiffness: f64) -> PowerSpring {
        PowerSpring { stiffness, exponent: 1.0 }
    }

    /// Force at a depth.
    pub fn force<S: Scalar>(&self, depth: S) -> S {
        if depth.value() > 0.0 { depth.power(self.exponent) * S::from(self.stiffness) } else { S::zero() }
    }

    /// Energy stored at a depth.
    pub fn energy<S: Scalar>(&self, depth: S) -> S {
        self.force(depth) * depth / S::from(self.exponent + 1.0)
    }

    /// Depth at which an energy is stored.
    pub fn depth_of_energy(&self, energy: f64) -> f64 {
        ((self.exponent + 1.0) * energy / self.stiffness).power(1.0 / (self.exponent + 1.0))
    }

    /// Derivative of the force at a depth that is not negative.
    pub fn tangent<S: Scalar>(&self, depth: S) -> S {
        depth.power(self.exponent - 1.0) * S::from(self.exponent * self.stiffness)
    }

    /// The mean force `(E(b) - E(a)) / (b - a)` between two depths, and its derivative with respect to `b`.
    pub fn mean<S: Scalar>(&self, a: S, b: S) -> MeanForce<S> {
        let (n, width) = (self.exponent, b - a);
        let middle = (a + b) * S::from(0.5);
        // The difference quotient would lose digits, and its series is exact.
        if width.value().abs() < TOLERANCES.coarse * middle.value() {
            let force = self.force(middle);
            let part = width / middle;
            let second = S::from(n * (n - 1.0) / 24.0);
            let fourth = S::from(n * (n - 1.0) * (n - 2.0) * (n - 3.0) / 1920.0);
            let square = part * part;
            MeanForce {
                force: force * (S::one() + square * (second + square * fourth)),
                slope: force / middle * (S::from(0.5 * n) + part * S::from(n * (n - 1.0) / 12.0)),
            }
        } else {
            let force = (self.energy(b) - self.energy(a)) / width;
            MeanForce { force, slope: (self.force(b) - force) / width }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_force_times_way_is_the_energy() {
        for exponent in [1.0, 1.5, 2.2, 3.0] {
            let spring = PowerSpring { stiffness: 3e4, exponent };
            for (a, b) in [(0.0, 1e-3), (1e-3, 1.02e-3), (1e-3, 1.05e-3), (2e-3, -1e-3), (1e-3, 9.9e-4)] {
                let found = spring.mean(a, b);
                let energy: f64 = spring.energy(b) - spring.energy(a);
                let size = spring.energy(f64::max(a, b));
                assert!((found.force * (b - a) - energy).abs() < 2e-15 * size, "{exponent} {a} {b}");
                let shift = 1e-9;
                let slope =
                    (spring.mean(a, b + shift).force - spring.mean(a, b - shift).force) / (2.0 * shift);
                assert!((found.slope - slope).abs() < 2e-3 * slope.abs().max(1.0), "{exponent} {a} {b}");
            }
            assert!((spring.depth_of_energy(spring.energy(2e-3)) - 2e-3).abs() < 1e-17);
        }
    }
}
