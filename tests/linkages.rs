//! Springs and joints of the engine, against exact solutions and conservation laws.

use crate::bodies::{Scene, centre, ground};
use contact_fmu::engine::derivative::differentiate;
use contact_fmu::engine::{Dual, JointKind, State, Workspace, advance, mechanical_energy, spring_length};
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

/// A ball in a groove between two planes.
fn groove(mu: f64) -> Scene {
    let mut scene = Scene::new(9.81);
    let ball = scene.ball(1.3, 0.1, [0.02, 0.0, 0.5]);
    for (normal, restitution) in [([0.6, 0.0, 0.8], 0.7), ([-0.28, 0.0, 0.96], 0.4)] {
        let plane = scene.plane(normal);
        scene.contact(ball, plane, restitution, mu);
    }
    scene.state.nodes[ball].velocity = Vector3::new(0.3, 0.2, -0.1);
    scene
}

/// Three masses that springs, one of them damped, hold above a slope, and one to the ground.
fn web(mu: f64) -> Scene {
    let mut scene = Scene::new(9.81);
    let places = [[0.0, 0.0, 0.4], [0.3, 0.1, 0.9], [-0.2, 0.4, 1.1]];
    let masses = places.map(|place| scene.ball(1.0, 0.1, place));
    scene.spring([centre(masses[0]), centre(masses[1])], 2e3, 0.0);
    scene.spring([centre(masses[1]), centre(masses[2])], 1e3, 2.0);
    scene.spring([centre(masses[2]), ground([0.0, 0.0, 1.5])], 300.0, 0.0);
    let slope = scene.plane([0.0, 0.28, 0.96]);
    scene.contact(masses[0], slope, 0.6, mu);
    scene
}

#[test]
fn contacts_without_friction_are_those_with_hardly_any() {
    const HARDLY: f64 = 1e-13;
    for scene in [groove, web] {
        for (captured, force) in [(false, 0.0), (true, 0.0), (false, 1.5)] {
            let [mut run, mut other] = [0.0, HARDLY].map(|mu| {
                let scene = scene(mu);
                let mut run = if captured { scene.capturing() } else { scene }.build();
                if force != 0.0 {
                    run.state.inputs[0].value[0] = force;
                }
                run
            });
            let (mut touched, mut apart) = (0, 0.0_f64);
            for _ in 0..1500 {
                run.advance(1e-3);
                other.advance(1e-3);
                touched += usize::from(run.state.contacts.iter().all(|contact| contact.normal_impulse > 0.0));
                for (one, two) in run.state.nodes.iter().zip(&other.state.nodes) {
                    apart = apart.max((one.position - two.position).norm());
                    apart = apart.max((one.contact_impulse - two.contact_impulse).norm());
                }
            }
            assert!(touched > 3, "{touched} steps with all contacts");
            assert!(apart < 1e-9, "captured {captured}, force {force}: {apart:e}");
        }
    }
}

#[test]
fn so_are_their_derivatives() {
    const HARDLY: f64 = 1e-13;
    for scene in [groove, web] {
        let mut run = scene(0.0).build();
        // To a step in which all contacts press.
        let mut before = run.state.clone();
        for _ in 0..3000 {
            before = run.state.clone();
            run.advance(1e-3);
            if run.state.contacts.iter().all(|contact| contact.normal_impulse > 0.0) {
                break;
            }
        }
        let mut pressed = 0.0;
        for seed in 0..6 {
            let seeded = [0.0, HARDLY].map(|mu| {
                let result = differentiate(&run.system, &before, 1e-3, |state: &mut State<Dual>| {
                    state.parameters.mu.fill(Dual::from(mu));
                    let node = &mut state.nodes[0];
                    let seeded = if seed < 3 { &mut node.velocity } else { &mut node.position };
                    seeded[seed % 3].tangent = 1.0;
                });
                result.unwrap()
            });
            let [one, two] = &seeded;
            for (one, two) in one.nodes.iter().zip(&two.nodes) {
                let vectors = [one.position, one.velocity, one.contact_impulse].into_iter();
                for (one, two) in vectors.zip([two.position, two.velocity, two.contact_impulse]) {
                    let apart = (one - two).map(|component| component.tangent).norm();
                    assert!(apart < 1e-8, "seed {seed}: {apart:e}");
                }
                pressed += one.contact_impulse.map(|component| component.tangent.abs()).sum();
            }
        }
        assert!(pressed > 0.1, "a comparison of zeros shows nothing: {pressed}");
    }
}
