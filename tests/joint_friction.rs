//! Friction in joints: against the friction circle, statics and motion in closed form, and energy.

mod bodies;

use bodies::{Scene, Simulation, compare};
use contact_fmu::engine::{ContactMode, JointFriction, JointKind, mechanical_energy};
use nalgebra::Vector3;
use std::f64::consts::FRAC_PI_2;

const GRAVITY: f64 = 9.81;
const PIN: JointFriction =
    JointFriction { mu_static: 0.3, mu_kinetic: 0.2, radius: 0.05, half_length: 0.05, threshold: 1e-3 };

/// A rod of 1 kg and 1 m, horizontal, on a pin at the origin along y.
fn pendulum(friction: JointFriction) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let rod = scene.pointed(1.0, [1e-3, 1.0 / 12.0, 1.0 / 12.0], &[Vector3::zeros()], [0.5, 0.0, 0.0]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene.rub(joint, friction);
    scene
}

/// The same pendulum by its equation: `J a = -m g l sin(x) -+ mu R |F| / sqrt(1 + mu^2)`, in phases between its stops.
struct FrictionCircle {
    time: f64,
    angle: f64,
    rate: f64,
    /// Sign of the rate, zero at rest.
    sense: f64,
    stuck_at: Option<f64>,
}

impl FrictionCircle {
    const J: f64 = 1.0 / 3.0;
    const DT: f64 = 1e-4;

    fn new() -> FrictionCircle {
        FrictionCircle { time: 0.0, angle: FRAC_PI_2, rate: 0.0, sense: 0.0, stuck_at: None }
    }

    fn acceleration(&self, angle: f64, rate: f64) -> f64 {
        let weight = -GRAVITY * 0.5 * angle.sin();
        let arm = PIN.mu_kinetic * PIN.radius / (1.0 + PIN.mu_kinetic.powi(2)).sqrt();
        let mut acceleration = weight / Self::J;
        for _ in 0..40 {
            let along = 0.5 * rate * rate + GRAVITY * angle.cos();
            let force = along.hypot(0.5 * acceleration + GRAVITY * angle.sin());
            acceleration = (weight - self.sense * arm * force) / Self::J;
        }
        acceleration
    }

    fn runge_kutta(&self, dt: f64) -> (f64, f64) {
        let f = |x: f64, v: f64| self.acceleration(x, v);
        let (x, v) = (self.angle, self.rate);
        let (k1, l1) = (v, f(x, v));
        let (k2, l2) = (v + 0.5 * dt * l1, f(x + 0.5 * dt * k1, v + 0.5 * dt * l1));
        let (k3, l3) = (v + 0.5 * dt * l2, f(x + 0.5 * dt * k2, v + 0.5 * dt * l2));
        let (k4, l4) = (v + dt * l3, f(x + dt * k3, v + dt * l3));
        (x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), v + dt / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4))
    }

    fn advance_to(&mut self, time: f64) {
        while self.time < time - 1e-12 && self.stuck_at.is_none() {
            if self.sense == 0.0 {
                let holds = PIN.mu_static * PIN.radius / (1.0 + PIN.mu_static.powi(2)).sqrt();
                if 0.5 * self.angle.sin().abs() <= holds {
                    self.stuck_at = Some(self.time);
                    return;
                }
                self.sense = -self.angle.signum();
            }
            let mut dt = Self::DT.min(time - self.time);
            let mut next = self.runge_kutta(dt);
            let stops = next.1 * self.sense < 0.0;
            if stops {
                let (mut low, mut high) = (0.0, dt);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if self.runge_kutta(middle).1 * self.sense < 0.0 { high = middle } else { low = middle }
                }
                dt = low;
                next = (self.runge_kutta(dt).0, 0.0);
            }
            (self.angle, self.rate) = next;
            self.time += dt;
            if stops {
                self.sense = 0.0;
            }
        }
    }
}

/// From hanging, as the equation counts.
fn angle(run: &Simulation) -> f64 {
    FRAC_PI_2 - run.state.joints[0].angle
}

#[test]
fn a_pendulum_follows_the_friction_circle_and_sticks_for_good() {
    let mut run = pendulum(PIN).build();
    let mut exact = FrictionCircle::new();
    let mut energy = mechanical_energy(&run.system, &run.state);
    let start = energy;
    let (mut worst, mut worst_all, mut rise, mut still_since, mut balance) =
        (0.0_f64, 0.0_f64, 0.0_f64, 0.0, 0.0_f64);
    for step in 1..=26_000 {
        run.advance(1e-3);
        exact.advance_to(f64::from(step) * 1e-3);
        let apart = (angle(&run) - exact.angle).abs();
        worst_all = worst_all.max(apart);
        if step <= 10_000 {
            worst = worst.max(apart);
        }
        let now = mechanical_energy(&run.system, &run.state);
        rise = rise.max(now - energy);
        energy = now;
        balance = balance.max((now + run.state.step.dissipated - start).abs());
        if run.state.joints[0].mode != ContactMode::Stick {
            still_since = f64::from(step) * 1e-3;
        }
    }
    println!(
        "worst {worst:e} all {worst_all:e} rise {rise:e} since {still_since} angle {} exact {:?} {} balance {balance:e} dissipated {} by friction {}",
        angle(&run),
        exact.stuck_at,
        exact.angle,
        run.state.step.dissipated,
        run.state.step.dissipated_by_friction
    );
    println!("{:?}", run.state.joints[0]);
}
