//! Continuous contact laws once more, as the papers print them, and a ball under them by the classical Runge-Kutta rule.

#![allow(dead_code, reason = "each test file uses its own part")]

use contact_fmu::engine::law::continuous::ContinuousLaw;
use contact_fmu::engine::law::continuous::spring::PowerSpring;

/// Coefficients of restitution of [`TABLE`].
pub const RESTITUTIONS: [f64; 10] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Rebound over impact speed for exponent 3/2, by another program. [Fancello 2012, Fig. 2.4]
pub const TABLE: [(&str, [f64; 10]); 3] = [
    ("hunt_crossley", [0.5014, 0.5158, 0.5469, 0.5813, 0.6197, 0.6630, 0.7120, 0.7680, 0.8329, 0.9090]),
    ("lankarani_nikravesh", [0.6635, 0.6653, 0.6723, 0.6842, 0.7016, 0.7252, 0.7561, 0.7960, 0.8471, 0.9132]),
    ("flores", [0.0329, 0.0694, 0.1555, 0.2562, 0.3629, 0.4704, 0.5773, 0.6832, 0.7885, 0.8939]),
];

/// A law of [`TABLE`].
pub fn law(name: &str, spring: PowerSpring) -> ContinuousLaw {
    match name {
        "hunt_crossley" => ContinuousLaw::HuntCrossley(spring),
        "lankarani_nikravesh" => ContinuousLaw::LankaraniNikravesh(spring),
        "flores" => ContinuousLaw::Flores(spring),
        _ => panic!("{name}"),
    }
}

/// What bounces on what.
#[derive(Clone, Copy)]
pub struct Ball {
    pub law: ContinuousLaw,
    pub restitution: f64,
    pub mass: f64,
    pub gravity: f64,
}

impl Ball {
    /// Force at a depth that grows with `speed`, after an impact with `impact`.
    pub fn force(&self, depth: f64, speed: f64, impact: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        let e = self.restitution;
        let force = match self.law {
            ContinuousLaw::KelvinVoigt(law) => law.stiffness * depth + law.damping * speed,
            ContinuousLaw::Hertz(s) => s.stiffness * depth.powf(s.exponent),
            ContinuousLaw::HuntCrossley(s) => {
                s.stiffness * depth.powf(s.exponent) * (1.0 + 1.5 * (1.0 - e) * speed / impact)
            }
            ContinuousLaw::LankaraniNikravesh(s) => {
                s.stiffness * depth.powf(s.exponent) * (1.0 + 0.75 * (1.0 - e * e) * speed / impact)
            }
            ContinuousLaw::Flores(s) => {
                s.stiffness * depth.powf(s.exponent) * (1.0 + 8.0 / 5.0 * (1.0 - e) / e * speed / impact)
            }
            ContinuousLaw::Schmucker { stiffness } => {
                (1.0 + (1.0 - e) / (e * impact) * speed) * stiffness * depth
            }
        };
        force.max(0.0)
    }
}

/// A ball above a floor on its way.
pub struct Motion {
    ball: Ball,
    pub height: f64,
    pub velocity: f64,
    /// Speed of the last impact.
    impact: f64,
    pub impacts: u32,
}

impl Motion {
    /// At rest at a height.
    pub fn new(ball: Ball, height: f64) -> Motion {
        Motion { ball, height, velocity: 0.0, impact: 0.0, impacts: 0 }
    }

    /// Moves on by `time`.
    pub fn advance(&mut self, mut time: f64) {
        let g = self.ball.gravity;
        while time > 0.0 {
            if self.height > 0.0 || (self.height == 0.0 && self.velocity > 0.0) {
                let speed = (self.velocity * self.velocity + 2.0 * g * self.height).sqrt();
                let fall = if g > 0.0 { (self.velocity + speed) / g } else { -self.height / self.velocity };
                if fall < 0.0 || fall > time {
                    self.height += time * (self.velocity - 0.5 * g * time);
                    self.velocity -= g * time;
                    return;
                }
                (self.height, self.velocity, self.impact) = (0.0, -speed, speed);
                self.impacts += 1;
                time -= fall;
            }
            time -= self.press(time);
        }
    }

    /// One step in touch, at most as long as `time`; one that would leave the floor ends there.
    fn press(&mut self, time: f64) -> f64 {
        let mut dt = time.min(2e-4 * self.time_scale());
        loop {
            let (height, velocity) = self.runge_kutta(dt);
            if height <= 0.0 || dt < 1e-18 {
                (self.height, self.velocity) = (height.min(0.0), velocity);
                if dt < 1e-18 || height == 0.0 {
                    self.height = f64::MIN_POSITIVE;
                }
                return dt;
            }
            // The way out is straight to the order of the step.
            let left = -self.height / (height - self.height);
            dt *= if left < 0.999 { left } else { 0.999 };
            if dt * self.velocity.abs() < 1e-17 {
                self.height = f64::MIN_POSITIVE;
                return 0.0;
            }
        }
    }

    /// How long the contact lasts, roughly.
    fn time_scale(&self) -> f64 {
        let spring = self.ball.law.spring();
        let speed = self.impact.max(1e-6);
        let depth = spring.depth_of_energy(0.5 * self.ball.mass * speed * speed);
        depth / speed
    }

    fn runge_kutta(&self, dt: f64) -> (f64, f64) {
        let slope = |height: f64, velocity: f64| {
            let force = self.ball.force(-height, -velocity, self.impact);
            (velocity, force / self.ball.mass - self.ball.gravity)
        };
        let (x, v) = (self.height, self.velocity);
        let k1 = slope(x, v);
        let k2 = slope(x + 0.5 * dt * k1.0, v + 0.5 * dt * k1.1);
        let k3 = slope(x + 0.5 * dt * k2.0, v + 0.5 * dt * k2.1);
        let k4 = slope(x + dt * k3.0, v + dt * k3.1);
        let sum = |a: f64, b: f64, c: f64, d: f64| dt / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        (x + sum(k1.0, k2.0, k3.0, k4.0), v + sum(k1.1, k2.1, k3.1, k4.1))
    }
}
