//! `engine.energy_balance`: bodies that turn or are in joints lose what impacts, friction and damping take, and nothing
//! else; momentum that is kept stays kept.

use crate::bodies::{Scene, Simulation, compare};
use contact_fmu::engine::{JointKind, Orientation, Scheme, mechanical_energy};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const MIDPOINT: Scheme = Scheme::Midpoint { sweeps: 3 };

fn balanced(scheme: Scheme) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    if scheme != Scheme::MoreauJean {
        scene = scene.with_scheme(scheme);
    }
    scene.settings.energy_balance = true;
    scene
}

fn energy(run: &Simulation) -> f64 {
    mechanical_energy(&run.system, &run.state)
}

/// Two rods of 1 m, pinned to the ground and to each other, from the horizontal.
fn double_pendulum(scheme: Scheme, step: f64) -> Simulation {
    let mut scene = balanced(scheme).with_step(step);
    let inertia = [1e-3, 1.0 / 12.0, 1.0 / 12.0];
    let [one, two] = [0.5, 1.5].map(|x| scene.pointed(1.0, inertia, &[Vector3::zeros()], [x, 0.0, 0.0]));
    scene.joint(JointKind::Revolute, [None, Some(one)], [0.0; 3], Y);
    scene.joint(JointKind::Revolute, [Some(one), Some(two)], [1.0, 0.0, 0.0], Y);
    scene.build()
}

#[test]
fn joints_take_no_energy() {
    for scheme in [Scheme::MoreauJean, MIDPOINT] {
        let mut run = double_pendulum(scheme, 1e-3);
        let start = energy(&run);
        for step in 0..5000 {
            run.advance(1e-3);
            let change = energy(&run) - start;
            assert!(change.abs() < 1e-11, "{scheme:?}, step {step}: {change:e} J");
        }
        assert!((energy(&run) + run.state.step.dissipated - start).abs() < 1e-12);
    }
}

/// Half the step makes a quarter of the error.
#[test]
fn the_order_of_the_scheme_stays() {
    for scheme in [Scheme::MoreauJean, MIDPOINT] {
        let angle = |step: f64| {
            let mut run = double_pendulum(scheme, step);
            run.advance(0.8);
            run.state.joints[1].angle
        };
        let exact = angle(2.5e-5);
        let [coarse, fine] = [2e-3, 1e-3].map(|step| (angle(step) - exact).abs());
        assert!(fine < 1e-4 && coarse > 3.5 * fine, "{scheme:?}: {coarse:e} {fine:e}");
    }
}

/// A box that rocks on a floor without friction keeps its momentum along it; that about the normal no worse than without
/// the balance, by what corrections of its position turn.
#[test]
fn momentum_along_a_floor_without_friction_is_kept() {
    let drift = [false, true].map(|is_balanced| {
        let mut scene = balanced(Scheme::MoreauJean);
        scene.settings.energy_balance = is_balanced;
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.4]);
        scene.contact(node, floor, 0.3, 0.0);
        let mut run = scene.build();
        run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
        run.rotation(node).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
        run.state.nodes[node].velocity = Vector3::new(0.5, -0.2, 0.0);
        let (momentum, spin) = run.momenta();
        let mut before = energy(&run);
        let start = before;
        let mut drift = 0.0_f64;
        for step in 0..2000 {
            run.advance(1e-3);
            let (now, spin_now) = run.momenta();
            assert!((now - momentum).xy().norm() < 1e-12, "step {step}: {:e}", (now - momentum).xy().norm());
            drift = drift.max((spin_now - spin)[2].abs());
            let after = energy(&run);
            assert!(!is_balanced || after < before + 1e-11, "step {step}: {:e} J", after - before);
            before = after;
        }
        let balance = before + run.state.step.dissipated - start;
        assert!(start - before > 1.0 && (!is_balanced || balance.abs() < 1e-10), "{balance:e} J");
        drift
    });
    assert!(drift[1] <= 1.1 * drift[0], "{drift:?}");
}

/// Two boxes far from everything that hit each other keep all of their momentum.
#[test]
fn momentum_of_what_nothing_touches_is_kept() {
    let mut scene = balanced(Scheme::MoreauJean);
    scene.state.parameters.gravity = Vector3::zeros();
    let one = scene.solid_box(1.0, [0.2, 0.15, 0.1], [0.0; 3]);
    let two = scene.solid_box(2.0, [0.1, 0.2, 0.15], [0.6, 0.05, 0.02]);
    let surface = scene.surface_of(two);
    scene.contact(one, surface, 0.2, 0.4);
    let mut run = scene.build();
    run.state.nodes[one].velocity = Vector3::new(1.5, 0.1, -0.1);
    run.rotation(one).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
    run.rotation(two).angular_velocity = Vector3::new(-0.5, 0.3, 1.0);
    let (momentum, spin) = run.momenta();
    let start = energy(&run);
    for step in 0..1000 {
        let before = energy(&run);
        run.advance(1e-3);
        let (now, spin_now) = run.momenta();
        assert!((now - momentum).norm() < 1e-12 && (spin_now - spin).norm() < 1e-8, "step {step}");
        assert!(energy(&run) < before + 1e-12, "step {step}");
    }
    assert!(start - energy(&run) > 0.1);
}

#[test]
fn derivatives_agree_with_differences() {
    for scheme in [Scheme::MoreauJean, MIDPOINT] {
        let mut run = double_pendulum(scheme, 1e-3);
        for _ in 0..300 {
            run.advance(1e-3);
        }
        compare(&run, 2e-3, false);

        let mut scene = balanced(scheme);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let ball = scene.solid_ball(1.0, 0.2, [0.0, 0.0, 0.2]);
        scene.contact(ball, floor, 0.5, 0.3);
        let mut run = scene.build();
        run.state.nodes[ball].velocity = Vector3::new(1.0, 0.5, 0.0);
        for _ in 0..20 {
            run.advance(1e-3);
        }
        compare(&run, 2e-3, true);
    }
}
