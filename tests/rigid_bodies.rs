//! Rigid bodies against exact solutions: free rotation, rolling and sliding, impacts.

use crate::common::{run, worst};
use contact_fmu::engine::{
    ContactMode, Orientation, Quality, State, System, Workspace, advance, gap, mechanical_energy,
};
use contact_fmu::model::{Model, Scheme, file};
use nalgebra::{Matrix3, Vector3};

const GRAVITY: f64 = 9.81;

fn parse(source: &str) -> Model {
    file::parse(source, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Both schemes, the default one first.
fn schemes(model: &Model) -> [Model; 2] {
    let mut midpoint = model.clone();
    midpoint.engine.scheme = Scheme::Midpoint { sweeps: 3 };
    midpoint.engine.time_of_impact = false;
    [model.clone(), midpoint]
}

/// A tumbling body without contact.
fn top() -> Model {
    parse(
        r#"
        [model]
        name = "top"
        [engine]
        gravity = [0.0, 0.0, 0.0]
        [[node]]
        name = "top"
        coupling = "owned"
        mass = 2.0
        inertia = [1.0, 2.0, 2.5]
        orientation = [0.5, 0.5, -0.5, 0.5]
        angular_velocity = [0.3, 2.0, -1.0]
        velocity = [1.0, 0.0, 0.0]
        "#,
    )
}

/// Rotation matrix and angular velocity (world) of a body under a constant torque (world), by the classical
/// Runge-Kutta method on the matrix itself.
fn integrate_top(model: &Model, torque: Vector3<f64>, time: f64) -> (Matrix3<f64>, Vector3<f64>) {
    let rotation = model.nodes[0].rotation.as_ref().unwrap();
    let inertia = Vector3::from(rotation.inertia);
    let start = Orientation { wxyz: rotation.orientation };
    let mut matrix =
        Matrix3::from_columns(&[Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| start.to_world(&axis)));
    let mut momentum =
        matrix * inertia.component_mul(&(matrix.transpose() * Vector3::from(rotation.angular_velocity)));
    let spin = |matrix: &Matrix3<f64>, momentum: &Vector3<f64>| {
        matrix * (matrix.transpose() * momentum).component_div(&inertia)
    };
    let steps = 20_000;
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let rate =
            |matrix: Matrix3<f64>, momentum: Vector3<f64>| spin(&matrix, &momentum).cross_matrix() * matrix;
        let (middle, end) = (momentum + torque * (0.5 * h), momentum + torque * h);
        let k1 = rate(matrix, momentum);
        let k2 = rate(matrix + k1 * (0.5 * h), middle);
        let k3 = rate(matrix + k2 * (0.5 * h), middle);
        let k4 = rate(matrix + k3 * h, end);
        matrix += (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0);
        momentum = end;
    }
    (matrix, spin(&matrix, &momentum))
}

/// Largest difference of body axes and of angular velocity from the accurate integration after 3 s.
fn top_error(model: &Model, torque: Vector3<f64>, step: f64) -> f64 {
    let (system, mut state) = model.assemble();
    state.torques[0].value = torque;
    state.parameters.step = step;
    let mut workspace = Workspace::new(&system);
    assert_eq!(advance(&system, &mut state, &mut workspace, 3.0), Ok(Quality::Solved));
    let (matrix, spin) = integrate_top(model, torque, 3.0);
    let rotation = &state.rotations[0];
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let turned = axes.map(|axis| (rotation.orientation.to_world(&axis) - matrix * axis).norm());
    turned.into_iter().fold((rotation.angular_velocity - spin).norm(), f64::max)
}

#[test]
fn free_rotation_is_of_order_two() {
    for model in schemes(&top()) {
        for torque in [Vector3::zeros(), Vector3::new(0.2, -0.5, 0.3)] {
            let errors = [2e-3, 1e-3, 5e-4].map(|step| top_error(&model, torque, step));
            for pair in errors.windows(2) {
                let order = (pair[0] / pair[1]).log2();
                assert!((1.9..2.1).contains(&order), "order {order} from {errors:?}");
            }
            assert!(errors[1] < 1e-5, "{errors:?}");
        }
    }
}

fn angular_momentum(state: &State<f64>) -> Vector3<f64> {
    let rotation = &state.rotations[0];
    let spin = rotation.orientation.to_body(&rotation.angular_velocity);
    rotation.orientation.to_world(&state.parameters.inertia[0].component_mul(&spin))
}

#[test]
fn free_rotation_keeps_what_it_should() {
    let [moreau_jean, midpoint] = schemes(&top()).map(|model| run(&model, 1e-3, 10.0));
    // Moreau-Jean keeps angular momentum up to rounding, midpoint energy; the other of the two to order 2.
    let momentum = angular_momentum(&moreau_jean.states[0]);
    let energy = mechanical_energy(&moreau_jean.system, &moreau_jean.states[0]);
    for (run, momentum_bound, energy_bound) in [(&moreau_jean, 1e-10, 1e-5), (&midpoint, 1e-5, 1e-10)] {
        let lost = worst(&run.states, 0.0..=10.0, |state| (angular_momentum(state) - momentum).norm());
        assert!(lost < momentum_bound, "angular momentum {lost:e}");
        let lost =
            worst(&run.states, 0.0..=10.0, |state| (mechanical_energy(&run.system, state) - energy).abs());
        assert!(lost < energy_bound, "energy {lost:e}");
        let length =
            worst(&run.states, 0.0..=10.0, |state| (state.rotations[0].orientation.length() - 1.0).abs());
        assert!(length < 1e-15, "{length:e}");
    }
}

/// A solid sphere at rest on a plane tilted by `angle` about y.
fn sphere_on_incline(angle: f64, mu: f64) -> Model {
    let (sin, cos) = angle.sin_cos();
    parse(&format!(
        r#"
        [model]
        name = "incline"
        [[node]]
        name = "ball"
        coupling = "owned"
        mass = 1.5
        inertia = [0.006, 0.006, 0.006] # 2/5 m r^2
        shape.sphere.radius = 0.1
        position = [{}, 0.0, {}]
        [[surface]]
        name = "plane"
        shape.plane.normal = [{sin}, 0.0, {cos}]
        [[contact]]
        between = ["ball", "plane"]
        friction.cone.mu = {mu}
        "#,
        0.1 * sin,
        0.1 * cos
    ))
}

#[test]
fn spheres_roll_and_slide_down_an_incline() {
    let angle = 0.5_f64;
    // Rolling without slip needs mu >= 2/7 tan(angle) = 0.156.
    for (mu, mode) in [(0.3, ContactMode::Stick), (0.16, ContactMode::Stick), (0.15, ContactMode::Slip)] {
        let (along, turning) = match mode {
            ContactMode::Stick => {
                (5.0 / 7.0 * GRAVITY * angle.sin(), 5.0 / 7.0 * GRAVITY * angle.sin() / 0.1)
            }
            _ => (GRAVITY * (angle.sin() - mu * angle.cos()), 2.5 * mu * GRAVITY * angle.cos() / 0.1),
        };
        for model in schemes(&sphere_on_incline(angle, mu)) {
            let run = run(&model, 1e-3, 2.0);
            let start = run.states[0].nodes[0].position;
            let down = Vector3::new(angle.cos(), 0.0, -angle.sin());
            let error = worst(&run.states, 0.0..=2.0, |state| {
                let (t, node) = (state.time, &state.nodes[0]);
                let travel = (node.position - start - down * (0.5 * along * t * t)).norm();
                let velocity = (node.velocity - down * (along * t)).norm();
                let spin = (state.rotations[0].angular_velocity - Vector3::y() * (turning * t)).norm();
                travel.max(velocity).max(0.1 * spin).max(gap(&run.system, state, 0).abs())
            });
            assert!(error < 1e-9, "mu {mu}: {error:e}");
            let last = run.states.last().unwrap();
            assert_eq!(last.contacts[0].mode, mode, "mu {mu}");
            let friction = last.rotations[0].contact_impulse[1] / last.step.duration;
            assert!((friction - 0.006 * turning).abs() < 1e-9, "mu {mu}: torque {friction}");
            let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
            let balance = worst(&run.states, 0.0..=2.0, |state| (total(state) - total(&run.states[0])).abs());
            assert!(balance < 1e-9, "mu {mu}: energy balance {balance:e}");
        }
    }
}

#[test]
fn a_sphere_rolls_down_a_groove_on_two_points() {
    let (slope, lean) = (0.3_f64, 0.6_f64);
    let normal = |side: f64| {
        let across = Vector3::new(0.0, side * lean.sin(), lean.cos());
        Vector3::new(across[2] * slope.sin(), across[1], across[2] * slope.cos())
    };
    let model = |mu: f64| {
        let [left, right] = [normal(1.0), normal(-1.0)].map(|n| format!("[{}, {}, {}]", n[0], n[1], n[2]));
        let height = 0.1 / lean.cos();
        parse(&format!(
            r#"
            [model]
            name = "groove"
            [[node]]
            name = "ball"
            coupling = "owned"
            mass = 1.5
            inertia = [0.006, 0.006, 0.006]
            shape.sphere.radius = 0.1
            position = [{}, 0.0, {}]
            [[surface]]
            name = "left"
            shape.plane.normal = {left}
            [[surface]]
            name = "right"
            shape.plane.normal = {right}
            [[contact]]
            between = ["ball", "*"]
            friction.cone.mu = {mu}
            "#,
            height * slope.sin(),
            height * slope.cos()
        ))
    };
    // It turns about the line through both points; each carries half the weight through its normal.
    let radius = 0.1 * lean.cos();
    let rolling = GRAVITY * slope.sin() / (1.0 + 0.006 / (1.5 * radius * radius));
    let pressing = GRAVITY * slope.cos() / (2.0 * lean.cos());
    for (mu, mode) in [(0.5, ContactMode::Stick), (0.05, ContactMode::Slip)] {
        let (along, turning) = match mode {
            ContactMode::Stick => (rolling, rolling / radius),
            _ => {
                let friction = 2.0 * mu * pressing;
                (GRAVITY * slope.sin() - friction, 1.5 * friction * radius / 0.006)
            }
        };
        for model in schemes(&model(mu)) {
            let run = run(&model, 1e-3, 1.0);
            let start = run.states[0].nodes[0].position;
            let down = Vector3::new(slope.cos(), 0.0, -slope.sin());
            let error = worst(&run.states, 0.0..=1.0, |state| {
                let (t, node) = (state.time, &state.nodes[0]);
                let travel = (node.position - start - down * (0.5 * along * t * t)).norm();
                let spin = (state.rotations[0].angular_velocity - Vector3::y() * (turning * t)).norm();
                travel.max(0.1 * spin)
            });
            assert!(error < 1e-8, "mu {mu}: {error:e}");
            let last = run.states.last().unwrap();
            for contact in &last.contacts {
                assert_eq!(contact.mode, mode, "mu {mu}");
                // Friction across the groove may carry a part of the weight while it holds.
                let force = contact.normal_impulse / last.step.duration;
                let is_unique = mode == ContactMode::Slip;
                assert!(!is_unique || (force - 1.5 * pressing).abs() < 1e-6, "mu {mu}: {force}");
            }
        }
    }
}

#[test]
fn a_sphere_without_inertia_stays_a_point_mass() {
    let mut model = sphere_on_incline(0.5, 0.3);
    model.nodes[0].rotation = None;
    let run = run(&model, 1e-3, 1.0);
    let speed = run.states.last().unwrap().nodes[0].velocity.norm();
    assert!((speed - GRAVITY * (0.5_f64.sin() - 0.3 * 0.5_f64.cos())).abs() < 1e-9, "{speed}");
}

/// A spinning sphere dropped on a floor.
fn dropped_sphere(mu: f64, spin: f64) -> Model {
    parse(&format!(
        r#"
        [model]
        name = "drop"
        [[node]]
        name = "ball"
        coupling = "owned"
        mass = 2.0
        inertia = [0.008, 0.008, 0.008]
        shape.sphere.radius = 0.1
        position = [0.0, 0.0, 0.3]
        angular_velocity = [0.0, {spin}, 0.0]
        [[surface]]
        name = "floor"
        shape.plane.normal = [0.0, 0.0, 1.0]
        [[contact]]
        between = ["ball", "floor"]
        restitution = 0.7
        friction.cone.mu = {mu}
        "#
    ))
}

#[test]
fn a_spinning_sphere_rebounds_as_in_the_books() {
    let fall = (2.0 * 0.2 / GRAVITY).sqrt();
    let impact_speed = GRAVITY * fall;
    let normal_impulse = 2.0 * 1.7 * impact_speed;
    let spin = -30.0_f64;
    // The touching point moves with -0.1 spin along x; stopping it takes 2/7 of the mass.
    let stopping = 2.0 / 7.0 * 2.0 * 0.1 * spin;
    for mu in [0.5, 0.1] {
        let friction = stopping.max(-mu * normal_impulse);
        assert_eq!(friction == stopping, mu == 0.5, "one of each");
        let run = run(&dropped_sphere(mu, spin), 1e-3, 0.3);
        let last = run.states.last().unwrap();
        let rise = 0.3 - fall;
        let expected_velocity = Vector3::new(friction / 2.0, 0.0, 0.7 * impact_speed - GRAVITY * rise);
        let expected_spin = spin - 0.1 * friction / 0.008;
        assert!((last.nodes[0].velocity - expected_velocity).norm() < 1e-12, "{:?}", last.nodes[0].velocity);
        assert!((last.rotations[0].angular_velocity[1] - expected_spin).abs() < 1e-11);
        let height = 0.1 + rise * (0.7 * impact_speed - 0.5 * GRAVITY * rise);
        assert!((last.nodes[0].position[2] - height).abs() < 1e-12);
    }
}

/// A disc that falls while it turns about x, which lies in its plane.
fn tumbling_disc(restitution: f64, mu: f64) -> Model {
    parse(&format!(
        r#"
        [model]
        name = "tumbling"
        [[node]]
        name = "coin"
        coupling = "owned"
        mass = 0.5
        inertia = [0.005, 0.01, 0.005] # m r^2/4, m r^2/2
        shape.disc.radius = 0.2
        position = [0.0, 0.0, 0.8]
        velocity = [0.0, 0.1, 0.0]
        orientation = [0.9950041652780258, 0.09983341664682815, 0.0, 0.0] # 0.2 rad about x
        angular_velocity = [5.0, 0.0, 0.0]
        [[surface]]
        name = "floor"
        shape.plane.normal = [0.0, 0.0, 1.0]
        [[contact]]
        between = ["coin", "floor"]
        restitution = {restitution}
        friction.cone.mu = {mu}
        "#
    ))
}

#[test]
fn a_tumbling_disc_hits_the_floor_at_the_exact_time() {
    let height = |t: f64| 0.8 - 0.5 * GRAVITY * t * t - 0.2 * (0.2 + 5.0 * t).cos().abs();
    let (mut before, mut after) = (0.0, 0.4);
    assert!((0..=1000).all(|k| height(f64::from(k) * 3.7e-4) > 0.0) && height(after) < 0.0);
    while after - before > 1e-16 {
        let middle = 0.5 * (before + after);
        if middle == before || middle == after {
            break;
        }
        if height(middle) > 0.0 { before = middle } else { after = middle }
    }
    let impact = before;
    // Newton's law at the lowest point of the rim, without friction.
    let angle: f64 = 0.2 + 5.0 * impact;
    let arm_y = 0.2 * angle.sin() * angle.cos().signum();
    let closing = -GRAVITY * impact + 5.0 * arm_y;
    let impulse = -(1.0 + 0.6) * closing / (1.0 / 0.5 + arm_y * arm_y / 0.005);
    let speed_after = -GRAVITY * impact + impulse / 0.5;
    let spin_after = 5.0 + arm_y * impulse / 0.005;
    for step in [1e-3, 1e-2, 0.1] {
        let (system, mut state) = tumbling_disc(0.6, 0.0).assemble();
        state.parameters.step = step;
        let mut workspace = Workspace::new(&system);
        let end = impact + 1e-3;
        assert_eq!(advance(&system, &mut state, &mut workspace, end), Ok(Quality::Solved));
        let node = &state.nodes[0];
        let z = 0.8 - 0.5 * GRAVITY * impact * impact + 1e-3 * (speed_after - 0.5e-3 * GRAVITY);
        assert!((node.position[2] - z).abs() < 1e-12, "step {step}: {:e}", node.position[2] - z);
        assert!((node.velocity[2] - speed_after + 1e-3 * GRAVITY).abs() < 1e-11, "step {step}");
        assert!((state.rotations[0].angular_velocity[0] - spin_after).abs() < 1e-10, "step {step}");
        assert!((state.contacts[0].normal_impulse - impulse).abs() < 1e-12, "step {step}");
        assert!(state.step.penetration < 1e-12);
    }
}

#[test]
fn a_disc_tumbles_without_gaining_energy() {
    for (restitution, mu) in [(0.0, 0.3), (0.5, 0.3), (0.5, 0.0), (0.8, 1.0)] {
        for model in schemes(&tumbling_disc(restitution, mu)) {
            let (system, mut state) = model.assemble();
            let mut workspace = Workspace::new(&system);
            let start = mechanical_energy(&system, &state);
            for step in 0..900 {
                assert_eq!(
                    advance(&system, &mut state, &mut workspace, 1e-3),
                    Ok(Quality::Solved),
                    "e {restitution} mu {mu} step {step}"
                );
                let energy = mechanical_energy(&system, &state);
                assert!(energy < start + 1e-3 * start.abs(), "e {restitution} mu {mu} step {step}: {energy}");
                assert!(gap(&system, &state, 0) > -1e-2, "e {restitution} mu {mu} step {step}");
            }
            assert!(mechanical_energy(&system, &state) < 0.5 * start, "e {restitution} mu {mu}");
        }
    }
}

#[test]
fn torque_inputs_are_polynomials_of_time() {
    let model = {
        let mut model = top();
        model.nodes[0].rotation.as_mut().unwrap().angular_velocity = [0.0; 3];
        model.nodes[0].rotation.as_mut().unwrap().orientation = [1.0, 0.0, 0.0, 0.0];
        model
    };
    for model in schemes(&model) {
        let (system, mut state) = model.assemble();
        state.torques[0].value[2] = 0.5;
        state.torques[0].derivatives[0][2] = -2.0;
        let mut workspace = Workspace::new(&system);
        advance(&system, &mut state, &mut workspace, 0.1).unwrap();
        // About a principal axis: w = (0.5 t - t^2) / 2.5, whose mean over substeps is exact.
        let spin = state.rotations[0].angular_velocity;
        assert!((spin - Vector3::z() * ((0.05 - 0.01) / 2.5)).norm() < 1e-15, "{spin}");
    }
}

#[test]
fn states_are_copied_and_compared_with_their_rotation() {
    let [moreau_jean, midpoint] = schemes(&tumbling_disc(0.5, 0.3));
    let (system, state): (System, State<f64>) = midpoint.assemble();
    let mut moved = state.clone();
    advance(&system, &mut moved, &mut Workspace::new(&system), 0.01).unwrap();
    assert_ne!(moved, state);
    let mut copy = state.clone();
    copy.clone_from(&moved);
    assert_eq!(copy, moved);
    assert!(moved.same_size(&state) && moved.is_finite());
    assert!(!moved.same_size(&moreau_jean.assemble().1), "another scheme keeps another state");
    moved.rotations[0].orientation.wxyz[2] = f64::NAN;
    assert!(!moved.is_finite());
}
