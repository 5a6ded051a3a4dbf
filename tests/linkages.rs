//! Springs and joints of the engine, against exact solutions and conservation laws.

mod bodies;

use bodies::{Scene, centre, ground};
use contact_fmu::engine::{JointKind, mechanical_energy};
use nalgebra::Vector3;

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
