//! Unit masses joined by springs of stiffness k, moved exactly in their modes:
//! `a'' + omega^2 a = load + shape_1 f` for a force f on the first mass that is held or grows at a constant rate.
//!
//! A free chain of n has `omega_j = 2 sqrt(k) sin(j pi / 2n)`, `shape_ij ~ cos(j (i + 1/2) pi / n)`, j from 0. One whose
//! first mass hangs by such a spring on a wall has `omega_j = 2 sqrt(k) sin((j + 1/2) pi / (2n + 1))`,
//! `shape_ij ~ sin((2j + 1) (i + 1) pi / (2n + 1))`.

use std::f64::consts::PI;

/// Where the chain ends before its first mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Nowhere.
    Free,
    /// In a wall, whose height is that of all masses when springs are unstretched.
    Wall,
}

#[derive(Clone, Debug)]
struct Mode {
    frequency: f64,
    /// Displacement of each mass, of length 1.
    shape: Vec<f64>,
    /// What gravity does.
    load: f64,
    amount: f64,
    speed: f64,
}

/// A chain in motion.
#[derive(Clone, Debug)]
pub struct Chain {
    gravity: f64,
    modes: Vec<Mode>,
}

impl Chain {
    /// A chain with the given heights and velocities of its masses, from the first on.
    pub fn new(end: End, stiffness: f64, gravity: f64, heights: &[f64], velocities: &[f64]) -> Chain {
        let count = heights.len();
        let n = count as f64;
        let modes = (0..count).map(|index| {
            let j = index as f64;
            let (half_angle, step, shift) = match end {
                End::Free => (0.5 * j * PI / n, j * PI / n, 0.5),
                End::Wall => ((j + 0.5) * PI / (2.0 * n + 1.0), (2.0 * j + 1.0) * PI / (2.0 * n + 1.0), 1.0),
            };
            let mut shape: Vec<f64> = (0..count)
                .map(|mass| {
                    let angle = (mass as f64 + shift) * step;
                    if end == End::Free { angle.cos() } else { angle.sin() }
                })
                .collect();
            let length = dot(&shape, &shape).sqrt();
            shape.iter_mut().for_each(|value| *value /= length);
            Mode {
                frequency: 2.0 * stiffness.sqrt() * half_angle.sin(),
                load: -gravity * shape.iter().sum::<f64>(),
                amount: dot(&shape, heights),
                speed: dot(&shape, velocities),
                shape,
            }
        });
        Chain { gravity, modes: modes.collect() }
    }

    /// A free chain that moves as a whole.
    pub fn falling(masses: usize, stiffness: f64, gravity: f64, height: f64, velocity: f64) -> Chain {
        Chain::new(End::Free, stiffness, gravity, &vec![height; masses], &vec![velocity; masses])
    }

    /// Moves on under a force on the first mass that is held.
    pub fn step(&mut self, force: f64, duration: f64) {
        self.step_ramp(force, 0.0, duration);
    }

    /// Moves on under a force on the first mass that grows at a constant rate.
    pub fn step_ramp(&mut self, force: f64, rate: f64, duration: f64) {
        for mode in &mut self.modes {
            let load = mode.load + mode.shape[0] * force;
            let growth = mode.shape[0] * rate;
            let frequency = mode.frequency;
            if frequency == 0.0 {
                mode.amount += duration * (mode.speed + duration * (load / 2.0 + duration * growth / 6.0));
                mode.speed += duration * (load + duration * growth / 2.0);
            } else {
                let stiffness = frequency * frequency;
                let (centre, drift) = (load / stiffness, growth / stiffness);
                let (sine, cosine) = (frequency * duration).sin_cos();
                let (amount, speed) = (mode.amount - centre, mode.speed - drift);
                mode.amount = centre + drift * duration + amount * cosine + speed / frequency * sine;
                mode.speed = drift + speed * cosine - amount * frequency * sine;
            }
        }
    }

    /// Pushes the first mass.
    pub fn push(&mut self, impulse: f64) {
        self.modes.iter_mut().for_each(|mode| mode.speed += mode.shape[0] * impulse);
    }

    /// Height of the first mass.
    pub fn height(&self) -> f64 {
        self.modes.iter().map(|mode| mode.shape[0] * mode.amount).sum()
    }

    /// Velocity of the first mass.
    pub fn velocity(&self) -> f64 {
        self.modes.iter().map(|mode| mode.shape[0] * mode.speed).sum()
    }

    /// Heights and velocities of all masses.
    pub fn motion(&self) -> (Vec<f64>, Vec<f64>) {
        let mut motion = (vec![0.0; self.modes.len()], vec![0.0; self.modes.len()]);
        for mode in &self.modes {
            for (mass, part) in mode.shape.iter().enumerate() {
                motion.0[mass] += part * mode.amount;
                motion.1[mass] += part * mode.speed;
            }
        }
        motion
    }

    /// Kinetic, elastic and gravitational energy.
    pub fn energy(&self) -> f64 {
        let energy = |mode: &Mode| {
            let stretched = mode.frequency * mode.amount;
            0.5 * (mode.speed * mode.speed + stretched * stretched) - mode.load * mode.amount
        };
        self.modes.iter().map(energy).sum()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
