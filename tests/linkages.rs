//! Springs and joints of the engine, against exact solutions, Siconos and conservation laws.

mod bodies;

use bodies::{Scene, Simulation, centre, ground};
use contact_fmu::engine::{JointKind, mechanical_energy};
use nalgebra::Vector3;

/// A file of numbers with a header.
fn table(name: &str) -> Vec<Vec<f64>> {
    let path = format!("{}/tests/data/trajectories/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
}

const REST: f64 = 1.0;

/// Two balls of 1 kg over each other with a spring between, the lower one over a floor.
fn oscillator(stiffness: f64, step: f64) -> Scene {
    let mut scene = Scene::new(10.0).with_step(step);
    let lower = scene.ball(1.0, 0.2, [0.0, 0.0, 1.001]);
    let upper = scene.ball(1.0, 0.2, [0.0, 0.0, 1.001 + REST]);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(lower, floor, 0.8, 0.0);
    scene.spring([centre(lower), centre(upper)], stiffness, 0.0);
    scene
}

fn worst_oscillator_error(run: &mut Simulation, reference: &[Vec<f64>], until: f64, step: f64) -> f64 {
    let mut worst = 0.0_f64;
    let per_row = (1e-3 / step).round() as usize;
    for row in &reference[1..] {
        if row[0] > until {
            break;
        }
        for _ in 0..per_row {
            run.advance(step);
        }
        let [lower, upper] = [0, 1].map(|node| run.state.nodes[node].position[2]);
        worst = worst.max((lower - row[1]).abs()).max((upper - REST - row[2]).abs());
    }
    worst
}

#[test]
fn an_oscillator_with_times_of_impact_is_near_the_exact_one() {
    for (stiffness, name, third) in
        [(1e3, "e_oscillator_k1e3_exact", 0.96), (1e4, "e_oscillator_k1e4_exact", 1.0)]
    {
        let mut run = oscillator(stiffness, 1e-4).build();
        let worst = worst_oscillator_error(&mut run, &table(name), third, 1e-4);
        assert!(worst < 1e-4, "k = {stiffness}: {worst:e} m");
    }
}

#[test]
fn a_captured_oscillator_is_that_of_siconos() {
    let mut scene = oscillator(1e4, 1e-3).capturing();
    scene.settings.correction = false;
    let mut run = scene.build();
    let worst = worst_oscillator_error(&mut run, &table("e_oscillator_k1e4_h0.001_theta0.5"), 0.9, 1e-3);
    assert!(worst < 1e-8, "{worst:e} m");
}

/// The chain of 100 masses before its wall, 0.801 m away.
fn chain(masses: usize, theta: f64) -> Scene {
    let mut scene = Scene::new(0.0).capturing();
    scene.settings.correction = false;
    scene.settings.theta = theta;
    for mass in 0..masses {
        let node = scene.ball(1.0, 0.2, [1.001 + mass as f64, 0.0, 0.0]);
        scene.state.nodes[node].velocity[0] = -1.0;
    }
    let wall = scene.plane([1.0, 0.0, 0.0]);
    scene.contact(0, wall, 0.8, 0.0);
    for mass in 1..masses {
        scene.spring([centre(mass - 1), centre(mass)], 1e4, 0.0);
    }
    scene
}

#[test]
fn a_chain_is_that_of_siconos() {
    for (theta, name, energy) in
        [(0.5, "f_chain100_h0.001_theta0.5", 49.286), (1.0, "f_chain100_h0.001_theta1", 46.555)]
    {
        let mut run = chain(100, theta).build();
        let (mut first, mut last, mut worst) = (0.0, 0.0, 0.0_f64);
        for row in &table(name)[1..] {
            run.advance(1e-3);
            if run.state.contacts[0].normal_impulse > 0.0 {
                last = row[0];
                if first == 0.0 {
                    first = row[0];
                }
            }
            for (column, node) in [0, 1, 49, 99].into_iter().enumerate() {
                let displaced = run.state.nodes[node].position[0] - node as f64;
                worst = worst.max((displaced - row[1 + column]).abs());
            }
        }
        let end = mechanical_energy(&run.system, &run.state);
        if theta == 0.5 {
            assert!(
                (first - 0.802_f64).abs() < 1e-9 && (last - 2.801_f64).abs() < 1e-9,
                "{first} to {last} s"
            );
        }
        assert!((end - energy).abs() < 1e-3, "{end}");
        assert!(worst < 1e-8, "{worst:e} m");
    }
}

/// A rod of 1 kg and 1 m on a pin at the origin that turns about y, from the horizontal.
fn pendulum() -> Scene {
    let mut scene = Scene::new(9.81);
    let rod = scene.pointed(1.0, [1e-3, 1.0 / 12.0, 1.0 / 12.0], &[Vector3::zeros()], [0.5, 0.0, 0.0]);
    scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene
}

#[test]
fn a_pendulum_swings_as_its_equation_says() {
    let mut errors = Vec::new();
    for step in [2e-3, 1e-3, 5e-4] {
        let mut run = pendulum().with_step(step).build();
        let start = mechanical_energy(&run.system, &run.state);
        // theta'' = 3/2 g cos(theta), downwards from the horizontal.
        let (mut angle, mut rate, mut worst, mut drift) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        let dt = 1e-4;
        for _ in 0..(5.0 / step) as usize {
            run.advance(step);
            for _ in 0..(step / dt).round() as usize {
                let f = |angle: f64| 1.5 * 9.81 * angle.cos();
                let (k1, l1) = (rate, f(angle));
                let (k2, l2) = (rate + 0.5 * dt * l1, f(angle + 0.5 * dt * k1));
                let (k3, l3) = (rate + 0.5 * dt * l2, f(angle + 0.5 * dt * k2));
                let (k4, l4) = (rate + dt * l3, f(angle + dt * k3));
                angle += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
                rate += dt / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
            }
            let state = &run.state;
            worst = worst.max((state.joints[0].angle - angle).abs());
            let arm = state.rotations[0].orientation.to_world(&Vector3::new(-0.5, 0.0, 0.0));
            drift = drift.max((state.nodes[0].position + arm).norm());
        }
        let energy = mechanical_energy(&run.system, &run.state) - start;
        assert!(energy.abs() < 1e-5, "step {step}: energy {energy:e} J");
        assert!(drift < 1e-14, "step {step}: {drift:e} m");
        errors.push(worst);
    }
    assert!(errors[0] < 1e-4, "{errors:?}");
    assert!(errors.windows(2).all(|pair| pair[0] > 3.8 * pair[1]), "order 2: {errors:?}");
}

#[test]
fn a_weight_on_a_pin_is_carried() {
    let mut scene = Scene::new(9.81);
    let node = scene.ball(2.0, 0.1, [0.0, 0.0, 0.0]);
    scene.joint(JointKind::Spherical, [None, Some(node)], [0.0; 3], [0.0, 0.0, 1.0]);
    scene.spring([centre(node), ground([0.0, 0.0, 1.0])], 1e3, 1.0);
    let mut run = scene.build();
    for _ in 0..100 {
        run.advance(1e-3);
    }
    let force = run.state.joints[0].impulse / 1e-3;
    assert!((force - Vector3::new(0.0, 0.0, 19.62)).norm() < 1e-9, "{force}");
}
