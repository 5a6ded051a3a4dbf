//! Springs and joints of the engine, against exact solutions and conservation laws.

mod bodies;

use bodies::{Scene, centre, ground};
use contact_fmu::engine::{Dual, JointKind, Workspace, advance, mechanical_energy, spring_length};
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

/// A mass on a spring without length swings alike in all directions: `x = x0 cos(w t) + v0 sin(w t) / w` in each, also
/// from where its ends coincide. The discrete frequency of theta = 1/2 is `tan(w' h / 2) = w h / 2`.
#[test]
fn a_spring_without_length_swings_through_its_anchor() {
    let (step, stiffness) = (1e-3, 400.0);
    for offset in [[0.0; 3], [0.1, -0.05, 0.02]] {
        let mut scene = Scene::new(0.0);
        let node = scene.ball(1.0, 0.1, [0.0; 3]);
        scene.spring([centre(node), ground([0.0; 3])], stiffness, 0.0);
        let mut run = scene.with_step(step).build();
        run.state.nodes[0].position = Vector3::from(offset);
        let velocity = Vector3::new(0.3, 0.2, -0.1);
        run.state.nodes[0].velocity = velocity;
        let energy = mechanical_energy(&run.system, &run.state);
        let w = stiffness.sqrt();
        let discrete = (0.5 * w * step).atan() * 2.0 / step;
        for k in 1..=5000 {
            run.advance(step);
            let (sin, cos) = (discrete * step * f64::from(k)).sin_cos();
            let exact = Vector3::from(offset) * cos + velocity * (sin / w);
            let error = (run.state.nodes[0].position - exact).norm();
            assert!(error < 1e-11, "step {k}: {error:e} m");
        }
        let gained = mechanical_energy(&run.system, &run.state) - energy;
        assert!(gained.abs() < 1e-12, "{gained:e} J");
    }
}

#[test]
fn derivatives_of_a_spring_without_length_are_those_of_its_force() {
    let mut scene = Scene::new(0.0);
    let node = scene.ball(1.0, 0.1, [0.0; 3]);
    scene.spring([centre(node), ground([0.0; 3])], 400.0, 0.0);
    let run = scene.with_step(1e-2).build();
    let mut state = run.state.map(Dual::from);
    state.nodes[0].position[1].tangent = 1.0;
    advance(&run.system, &mut state, &mut Workspace::new(&run.system), 1e-2).unwrap();
    // (1 + a) dv = -h k y with a = h^2 k / 4.
    let a = 1e-4 * 400.0 / 4.0;
    let slope = state.nodes[0].velocity[1].tangent;
    assert!((slope + 1e-2 * 400.0 / (1.0 + a)).abs() < 1e-12, "{slope}");
    assert_eq!(spring_length(&run.system, &state, 0), Dual::from(0.0));
    assert!(mechanical_energy(&run.system, &state).tangent.is_finite());
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
