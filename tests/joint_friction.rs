//! Friction in joints: against the friction circle, statics and motion in closed form, and energy.

use crate::bodies::{Scene, Simulation, compare, ground};
use contact_fmu::engine::{
    Anchor, ContactMode, JointFriction, JointKind, Scheme, Workspace, advance, mechanical_energy,
};
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
    let start = mechanical_energy(&run.system, &run.state);
    let (mut energy, mut worst, mut moved_until) = (start, 0.0_f64, 0.0);
    for step in 1..=30_000 {
        let time = f64::from(step) * 1e-3;
        run.advance(1e-3);
        if step <= 10_000 {
            exact.advance_to(time);
            worst = worst.max((angle(&run) - exact.angle).abs());
        }
        let now = mechanical_energy(&run.system, &run.state);
        assert!(now <= energy + 1e-13, "energy rises by {:e} J at {time} s", now - energy);
        energy = now;
        let closed = now + run.state.step.dissipated - start;
        assert!(closed.abs() < 1e-11, "the balance is off by {closed:e} J at {time} s");
        if run.state.joints[0].mode != ContactMode::Stick {
            moved_until = time;
        }
    }
    assert!(worst < 1e-4, "{worst:e} rad off");
    assert!((moved_until - 24.79_f64).abs() < 0.05, "sticks from {moved_until} s");
    let rest = angle(&run);
    assert!((rest + 0.0203).abs() < 1e-4, "at {rest} rad");
    let lost = run.state.step.dissipated_by_friction;
    assert!((lost - (start - energy)).abs() < 1e-4, "friction took {lost} J");
    // At rest friction holds what gravity asks for.
    let torque = run.state.joints[0].friction[0] * PIN.radius;
    assert!((torque.abs() - GRAVITY * 0.5 * rest.sin().abs()).abs() < 1e-9, "{torque} Nm");
    assert!(run.state.rotations[0].angular_velocity.norm() < 1e-15);
}

#[test]
fn with_a_low_threshold_the_pendulum_is_that_of_the_friction_circle_to_the_end() {
    let mut run = pendulum(JointFriction { threshold: 1e-7, ..PIN }).build();
    let mut exact = FrictionCircle::new();
    for step in 1..=26_000 {
        run.advance(1e-3);
        exact.advance_to(f64::from(step) * 1e-3);
        let apart = (angle(&run) - exact.angle).abs();
        assert!(apart < 1e-4, "{apart:e} rad off at step {step}");
    }
    assert!(exact.stuck_at.is_some() && run.state.joints[0].mode == ContactMode::Stick);
}

#[test]
fn without_times_of_impact_the_pendulum_is_near_too() {
    let mut run = pendulum(PIN).capturing().build();
    let mut exact = FrictionCircle::new();
    let mut worst = 0.0_f64;
    for step in 1..=10_000 {
        run.advance(1e-3);
        exact.advance_to(f64::from(step) * 1e-3);
        worst = worst.max((angle(&run) - exact.angle).abs());
    }
    assert!(worst < 1e-3, "{worst:e} rad off");
}

#[test]
fn loads_off_the_middle_are_shared() {
    // The centre of mass is 0.02 m off the middle of the bearing: the nearer contact takes 70 % of the weight.
    let mut scene = Scene::new(GRAVITY);
    let body = scene.pointed(2.0, [0.1, 0.1, 0.1], &[Vector3::zeros()], [0.0, 0.02, 0.0]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(body)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene.rub(joint, PIN);
    let mut run = scene.build();
    run.rotation(body).angular_velocity = Vector3::y() * 5.0;
    for _ in 0..10 {
        run.advance(1e-3);
    }
    let slant = (1.0_f64 + 0.04).sqrt();
    let loads = run.state.joints[0].loads.map(|load| load * slant / (2.0 * GRAVITY));
    assert!((loads[0] - 0.7).abs() < 1e-9 && (loads[1] - 0.3).abs() < 1e-9, "{loads:?}");
    let torque = run.state.joints[0].friction[0] * PIN.radius;
    assert!((torque + 0.2 * 0.05 * 2.0 * GRAVITY / slant).abs() < 1e-9, "{torque} Nm");
    // Beyond the end of the bearing the other contact presses the other way, and friction is more.
    let mut scene = Scene::new(GRAVITY);
    let body = scene.pointed(2.0, [0.1, 0.1, 0.1], &[Vector3::zeros()], [0.0, 0.1, 0.0]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(body)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene.rub(joint, PIN);
    let mut run = scene.build();
    run.rotation(body).angular_velocity = Vector3::y() * 5.0;
    run.advance(1e-3);
    let torque = run.state.joints[0].friction[0] * PIN.radius;
    assert!((torque + 2.0 * 0.2 * 0.05 * 2.0 * GRAVITY / slant).abs() < 1e-9, "{torque} Nm");
}

/// A slider on a straight guide that falls by `slope` towards +x.
fn slider(slope: f64, threshold: f64) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let block = scene.pointed(2.0, [0.1, 0.2, 0.3], &[Vector3::zeros()], [0.0; 3]);
    let axis = [slope.cos(), 0.0, -slope.sin()];
    let joint = scene.joint(JointKind::Prismatic, [None, Some(block)], [0.0; 3], axis);
    scene.rub(joint, JointFriction { threshold, radius: 0.0, half_length: 0.1, ..PIN });
    scene
}

#[test]
fn a_slider_holds_below_the_angle_of_friction() {
    let slope = 0.29_f64;
    let mut run = slider(slope, 1e-3).build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let joint = &run.state.joints[0];
    assert!(joint.distance.abs() < 1e-15 && joint.mode == ContactMode::Stick, "{joint:?}");
    assert!((joint.friction[1] + 2.0 * GRAVITY * slope.sin()).abs() < 1e-9, "{joint:?}");
    assert!(joint.loads.iter().all(|load| (load - GRAVITY * slope.cos()).abs() < 1e-9));
}

#[test]
fn a_slider_slides_above_the_angle_of_friction() {
    let slope = 0.5_f64;
    let mut run = slider(slope, 1e-3).build();
    let start = mechanical_energy(&run.system, &run.state);
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let acceleration = GRAVITY * (slope.sin() - PIN.mu_kinetic * slope.cos());
    let joint = &run.state.joints[0];
    assert!((joint.distance - 0.5 * acceleration).abs() < 1e-9, "{} m", joint.distance);
    assert!(joint.mode == ContactMode::Slip);
    let heat = 2.0 * GRAVITY * slope.cos() * PIN.mu_kinetic * joint.distance;
    let step = &run.state.step;
    assert!((step.dissipated_by_friction - heat).abs() < 1e-9, "{} J", step.dissipated_by_friction);
    let closed = mechanical_energy(&run.system, &run.state) + step.dissipated - start;
    assert!(closed.abs() < 1e-10, "{closed:e} J");
}

#[test]
fn a_slider_that_is_thrown_up_stops_and_stays_or_returns() {
    for (slope, stays) in [(0.29_f64, true), (0.5, false)] {
        let mut run = slider(slope, 1e-3).build();
        run.state.nodes[0].velocity = Vector3::new(-slope.cos(), 0.0, slope.sin()) * 2.0;
        let braking = GRAVITY * (slope.sin() + PIN.mu_kinetic * slope.cos());
        let (stop, way) = (2.0 / braking, 2.0 / braking);
        for _ in 0..1000 {
            run.advance(1e-3);
        }
        let expected = if stays {
            -way
        } else {
            -way + 0.5 * GRAVITY * (slope.sin() - PIN.mu_kinetic * slope.cos()) * (1.0 - stop).powi(2)
        };
        let found = run.state.joints[0].distance;
        assert!((found - expected).abs() < 1e-6, "{found} m instead of {expected}");
        assert_eq!(run.state.joints[0].mode == ContactMode::Stick, stays);
    }
}

#[test]
fn a_bead_on_a_wire_rubs() {
    let slope = 0.5_f64;
    let mut scene = Scene::new(GRAVITY);
    let bead = scene.ball(0.3, 0.01, [0.0; 3]);
    let axis = [slope.cos(), 0.0, -slope.sin()];
    let joint = scene.joint(JointKind::Prismatic, [None, Some(bead)], [0.0; 3], axis);
    scene.rub(joint, PIN);
    let mut run = scene.build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let acceleration = GRAVITY * (slope.sin() - PIN.mu_kinetic * slope.cos());
    let found = run.state.joints[0].distance;
    assert!((found - 0.5 * acceleration).abs() < 1e-9, "{found} m");
}

/// A body of 2 kg that slides and turns about y.
fn cylinder() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let body = scene.pointed(2.0, [0.02, 0.01, 0.02], &[Vector3::zeros()], [0.0; 3]);
    let joint = scene.joint(JointKind::Cylindrical, [None, Some(body)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene.rub(joint, JointFriction { half_length: 0.2, ..PIN });
    let mut run = scene.build();
    run.state.nodes[body].velocity = Vector3::y() * 1.5;
    run.rotation(body).angular_velocity = Vector3::y() * 40.0;
    run
}

#[test]
fn a_cylindrical_joint_slides_and_turns_along_its_slip() {
    // Horizontal along y: the weight loads it. Friction is against (R w, v), of a size that depends on its direction.
    let (mass, inertia) = (2.0, 0.01);
    let mut run = cylinder();
    let rates = |turning: f64, sliding: f64| {
        let speed = turning.hypot(sliding);
        let around = turning / speed;
        let force = 0.2 * mass * GRAVITY / (1.0 + 0.04 * around * around).sqrt();
        // Of the surface speed R w, and of v.
        [-force * around * 0.05 * 0.05 / inertia, -force * sliding / speed / mass]
    };
    let (mut turning, mut sliding, mut way) = (40.0 * 0.05, 1.5, 0.0);
    let dt = 1e-4;
    for _ in 0..5000 {
        let [a1, b1] = rates(turning, sliding);
        let [a2, b2] = rates(turning + 0.5 * dt * a1, sliding + 0.5 * dt * b1);
        way += dt * (sliding + 0.5 * dt * b1);
        turning += dt * a2;
        sliding += dt * b2;
    }
    for _ in 0..500 {
        run.advance(1e-3);
    }
    let state = &run.state;
    let found = [state.rotations[0].angular_velocity[1] * 0.05, state.nodes[0].velocity[1]];
    assert!(
        (found[0] - turning).abs() < 1e-3 && (found[1] - sliding).abs() < 1e-3,
        "{found:?} {turning} {sliding}"
    );
    assert!((state.joints[0].distance - way).abs() < 1e-3, "{} {way}", state.joints[0].distance);
    for _ in 0..2000 {
        run.advance(1e-3);
    }
    let joint = &run.state.joints[0];
    assert_eq!(joint.mode, ContactMode::Stick);
    assert!(run.state.nodes[0].velocity.norm() < 1e-14);
}

#[test]
fn a_motor_works_against_friction() {
    let mut scene = pendulum(PIN);
    scene.drive(0, contact_fmu::engine::Drive::Rate, contact_fmu::engine::Profile::Constant(2.0));
    let mut run = scene.build();
    run.rotation(0).angular_velocity = Vector3::y() * 2.0;
    run.state.nodes[0].velocity = Vector3::new(0.0, 0.0, -1.0);
    for _ in 0..500 {
        run.advance(1e-3);
    }
    let joint = &run.state.joints[0];
    assert!((joint.angle - 1.0).abs() < 1e-12, "{}", joint.angle);
    // The moment at the middle of the last step: friction is inside the joint, so its sum is what gravity asks for.
    let middle = 1.0_f64 - 1e-3;
    let moment = joint.moment[1] / 1e-3;
    assert!((moment + GRAVITY * 0.5 * middle.cos()).abs() < 1e-2, "{moment}");
    assert!(joint.friction[0] < -0.2 && joint.mode == ContactMode::Slip, "{joint:?}");
}

#[test]
fn derivatives_agree_with_differences() {
    let mut sliding = pendulum(PIN).build();
    for _ in 0..300 {
        sliding.advance(1e-3);
    }
    compare(&sliding, 2e-3, false);
    let mut slider = slider(0.5, 1e-3).build();
    for _ in 0..50 {
        slider.advance(1e-3);
    }
    compare(&slider, 2e-3, false);
    let mut screw = cylinder();
    for _ in 0..50 {
        screw.advance(1e-3);
    }
    compare(&screw, 2e-3, false);
}

#[test]
fn a_restored_state_goes_on_as_the_first_one() {
    let mut run = cylinder();
    for _ in 0..20 {
        run.advance(1e-3);
    }
    let kept = run.state.clone();
    let mut other = cylinder();
    other.state.clone_from(&kept);
    assert!(other.state == kept && kept.map(|x| x) == kept);
    for _ in 0..20 {
        run.advance(1e-3);
        other.advance(1e-3);
    }
    assert!(run.state == other.state);
}

#[test]
fn the_pin_of_a_rod_that_hits_rubs_in_the_hit() {
    let mut scene = Scene::new(GRAVITY);
    let tip = [Vector3::new(0.5, 0.0, 0.0)];
    let rod = scene.pointed(1.0, [1e-3, 1.0 / 12.0, 1.0 / 12.0], &tip, [0.5, 0.0, 0.5]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0, 0.0, 0.5], [0.0, 1.0, 0.0]);
    scene.rub(joint, PIN);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(rod, floor, 0.5, 0.0);
    let mut run = scene.build();
    run.advance_to_the_hit(1e-3);
    let before = mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
    run.advance(1e-3);
    let after = mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
    assert!((after - before).abs() < 1e-12, "{:e} J", after - before);
    assert!(run.state.rotations[0].angular_velocity[1] < -0.1);
}

/// An arm of 1 kg and 1 m on a vertical pin that rubs, with its tip on a floor that rubs too.
fn dragging_arm(kind: JointKind, mu: f64) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let tip = [Vector3::new(0.5, 0.0, 0.0)];
    let arm = scene.pointed(1.0, [1e-3, 1.0 / 12.0, 1.0 / 12.0], &tip, [0.5, 0.0, 0.0]);
    let joint = scene.joint(kind, [None, Some(arm)], [0.0; 3], [0.0, 0.0, 1.0]);
    scene.rub(joint, PIN);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(arm, floor, 0.0, mu);
    scene
}

/// A block of 2 kg on a straight guide that rubs, and a rod of 1 kg on a pin in it that rubs, with its tip on the floor.
fn trailing_rod(mu: f64) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let (height, half) = (0.4_f64, 0.5);
    let across = (1.0 - height * height).sqrt();
    let block = scene.pointed(2.0, [0.01; 3], &[Vector3::zeros()], [0.0, 0.0, height]);
    let tip = Vector3::new(half * across, 0.0, -half * height);
    let centre = [tip[0], 0.0, half * height];
    let rod = scene.pointed(1.0, [1.0 / 12.0, 1.0 / 12.0, 1e-3], &[tip], centre);
    let guide = scene.joint(JointKind::Prismatic, [None, Some(block)], [0.0, 0.0, height], [1.0, 0.0, 0.0]);
    let pin = scene.joint(JointKind::Revolute, [Some(block), Some(rod)], [0.0, 0.0, height], [0.0, 1.0, 0.0]);
    scene.rub(guide, PIN);
    scene.rub(pin, PIN);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(rod, floor, 0.0, mu);
    scene
}

#[test]
fn joints_that_rub_and_a_floor_that_rubs_brake_together() {
    for mu in [0.05, 0.2, 0.4, 1.0] {
        for captured in [false, true] {
            let arms = [JointKind::Cylindrical, JointKind::Revolute];
            let arms = arms.map(|kind| (format!("{kind:?} arm"), dragging_arm(kind, mu)));
            for (name, scene) in arms.into_iter().chain([("trailing rod".to_owned(), trailing_rod(mu))]) {
                let scene = if captured { scene.capturing() } else { scene };
                let mut run = scene.build();
                let slides = run.state.nodes.len() == 2;
                for node in &mut run.state.nodes {
                    node.velocity = if slides { Vector3::x() * 2.0 } else { Vector3::y() * 2.5 };
                }
                if !slides {
                    run.rotation(0).angular_velocity = Vector3::z() * 5.0;
                }
                let name = format!("{name}, mu {mu}, captured {captured}");
                stops(&name, &mut run);
            }
        }
    }
}

/// A rod of 1 kg and 1 m, horizontal, on a pin 0.6 m above the floor on which its tip lands.
fn landing_rod(friction: JointFriction, restitution: f64, mu: f64) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let tip = [Vector3::new(0.0, 0.5, 0.0)];
    let rod = scene.pointed(1.0, [1.0 / 12.0, 1e-3, 1.0 / 12.0], &tip, [0.0, 0.5, 0.6]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0, 0.0, 0.6], [1.0, 0.0, 0.0]);
    scene.rub(joint, friction);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(rod, floor, restitution, mu);
    scene
}

#[test]
fn a_rod_on_a_pin_that_rubs_comes_to_rest_on_a_floor_that_rubs() {
    let pins = [
        PIN,
        JointFriction { mu_static: 0.2, ..PIN },
        JointFriction { mu_static: 0.6, mu_kinetic: 0.5, ..PIN },
        JointFriction { radius: 0.2, ..PIN },
        JointFriction { threshold: 1e-6, ..PIN },
    ];
    for pin in pins {
        for restitution in [0.0, 0.3] {
            for mu in [0.2, 0.4, 0.6] {
                let scene = || landing_rod(pin, restitution, mu);
                let schemes = OTHER_SCHEMES.map(|scheme| scene().with_scheme(scheme));
                for (way, scene) in [scene(), scene().capturing()].into_iter().chain(schemes).enumerate() {
                    let mut run = scene.build();
                    let mut workspace = Workspace::new(&run.system);
                    let scheme = run.system.settings.scheme;
                    let name = format!("{pin:?}, restitution {restitution}, mu {mu}, way {way}, {scheme:?}");
                    for step in 0..900 {
                        advance(&run.system, &mut run.state, &mut workspace, 1e-3).unwrap();
                        let residual = run.state.step.residual;
                        assert!(residual <= 1e-10, "{name}: residual {residual:e} in step {step}");
                    }
                    // What is captured goes on to bounce with what gravity adds in a step.
                    let rest = if way == 0 || restitution == 0.0 { 1e-7 } else { 2e-2 };
                    let speed = run.state.rotations[0].angular_velocity.norm();
                    let tip = run.state.nodes[0].position[2] - 0.5 * 0.6;
                    assert!(speed < rest && tip.abs() < 1e-3, "{name}: {speed:e} rad/s, {tip:e} m");
                }
            }
        }
    }
}

/// Energy never rises, and all steps are solved.
fn stops(name: &str, run: &mut Simulation) {
    let mut workspace = Workspace::new(&run.system);
    let mut energy = mechanical_energy(&run.system, &run.state);
    for step in 0..1500 {
        advance(&run.system, &mut run.state, &mut workspace, 1e-3).unwrap();
        let residual = run.state.step.residual;
        assert!(residual <= 1e-10, "{name}: residual {residual:e} in step {step}");
        let now = mechanical_energy(&run.system, &run.state);
        assert!(now <= energy + 1e-13, "{name}: energy rises by {:e} J in step {step}", now - energy);
        energy = now;
    }
}

const OTHER_SCHEMES: [Scheme; 3] =
    [Scheme::Multistep { rho: 0.82 }, Scheme::Hht { alpha: 0.1 }, Scheme::Midpoint { sweeps: 3 }];

#[test]
fn other_schemes_follow_the_friction_circle_too() {
    for scheme in OTHER_SCHEMES {
        let mut run = pendulum(PIN).with_scheme(scheme).build();
        let mut exact = FrictionCircle::new();
        let start = mechanical_energy(&run.system, &run.state);
        let (mut worst, mut energy, mut rise) = (0.0_f64, start, 0.0_f64);
        for step in 1..=30_000 {
            run.advance(1e-3);
            let time = f64::from(step) * 1e-3;
            if step <= 10_000 {
                exact.advance_to(time);
                worst = worst.max((angle(&run) - exact.angle).abs());
            }
            let now = mechanical_energy(&run.system, &run.state);
            rise = rise.max(now - energy);
            energy = now;
        }
        assert!(worst < 1e-3, "{scheme:?}: {worst:e} rad");
        // Between the stops energy is kept to the order of the scheme only.
        assert!(rise < 1e-6, "{scheme:?}: {rise:e} J");
        assert_eq!(run.state.joints[0].mode, ContactMode::Stick);
        assert!((angle(&run) + 0.0203).abs() < 1e-3, "{scheme:?}: at {} rad", angle(&run));
    }
}

/// A spring at the end of the rod, and a stop that it hits 1 rad below the horizontal.
#[test]
fn other_schemes_know_friction_in_joints_beside_springs_and_contact() {
    let scene = || {
        let mut scene = pendulum(PIN);
        let tip = Anchor { node: Some(0), place: Vector3::new(0.5, 0.0, 0.0) };
        scene.spring([tip, ground([1.0, 0.0, 0.7])], 30.0, 0.1);
        let stop = scene.plane([1.0_f64.sin(), 0.0, 1.0_f64.cos()]);
        scene.contact(0, stop, 0.3, 0.2);
        scene
    };
    let mut reference = scene().with_step(1e-4).build();
    let steps = 1500;
    for _ in 0..10 * steps {
        reference.advance(1e-4);
    }
    for scheme in OTHER_SCHEMES {
        let mut run = scene().with_scheme(scheme).build();
        for _ in 0..steps {
            run.advance(1e-3);
        }
        let apart = (angle(&run) - angle(&reference)).abs();
        assert!(apart < 5e-3, "{scheme:?}: {apart:e} rad");
    }
}
