//! Joints of every kind, against motion in closed form, statics, and conservation laws.

use crate::bodies::{Scene, Simulation, centre, compare, ground};
use contact_fmu::engine::{
    ContactMode, Drive, JointKind, NodeShape, Orientation, Profile, Quality, StepError, Workspace, advance,
    mechanical_energy,
};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;
const ROD: [f64; 3] = [1e-3, 1.0 / 12.0, 1.0 / 12.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];

/// One step of Runge and Kutta for `x'' = f(x, x')`.
fn runge_kutta<const N: usize>(
    (x, v): ([f64; N], [f64; N]),
    dt: f64,
    f: impl Fn(&[f64; N], &[f64; N]) -> [f64; N],
) -> ([f64; N], [f64; N]) {
    let ahead =
        |a: &[f64; N], b: &[f64; N], dt: f64| -> [f64; N] { std::array::from_fn(|i| a[i] + dt * b[i]) };
    let (k1, l1) = (v, f(&x, &v));
    let (k2, l2) = (ahead(&v, &l1, 0.5 * dt), f(&ahead(&x, &k1, 0.5 * dt), &ahead(&v, &l1, 0.5 * dt)));
    let (k3, l3) = (ahead(&v, &l2, 0.5 * dt), f(&ahead(&x, &k2, 0.5 * dt), &ahead(&v, &l2, 0.5 * dt)));
    let (k4, l4) = (ahead(&v, &l3, dt), f(&ahead(&x, &k3, dt), &ahead(&v, &l3, dt)));
    let sum = |a: [f64; N], b: [[f64; N]; 4]| -> [f64; N] {
        std::array::from_fn(|i| a[i] + dt / 6.0 * (b[0][i] + 2.0 * b[1][i] + 2.0 * b[2][i] + b[3][i]))
    };
    (sum(x, [k1, k2, k3, k4]), sum(v, [l1, l2, l3, l4]))
}

/// Largest difference of `found` from the solution of `x'' = f(x, x')`, for internal steps of 2, 1 and 0.5 ms.
fn errors<const N: usize>(
    duration: f64,
    start: [f64; N],
    f: impl Fn(&[f64; N], &[f64; N]) -> [f64; N],
    scene: impl Fn() -> Scene,
    found: impl Fn(&Simulation) -> [f64; N],
) -> [f64; 3] {
    [2e-3, 1e-3, 5e-4].map(|step| {
        let mut run = scene().with_step(step).build();
        let mut exact = (start, [0.0; N]);
        let mut worst = 0.0_f64;
        for _ in 0..(duration / 2e-3).round() as usize {
            run.advance(2e-3);
            for _ in 0..10 {
                exact = runge_kutta(exact, 2e-4, &f);
            }
            for (found, exact) in found(&run).iter().zip(exact.0) {
                worst = worst.max((found - exact).abs());
            }
        }
        worst
    })
}

fn assert_order_2(errors: [f64; 3], largest: f64) {
    assert!(errors[0] < largest, "{errors:?}");
    assert!(errors.windows(2).all(|pair| pair[0] > 3.7 * pair[1]), "order 2: {errors:?}");
}

/// A rod of 1 kg and 1 m along x.
fn rod(scene: &mut Scene, position: [f64; 3]) -> usize {
    scene.pointed(1.0, ROD, &[Vector3::zeros()], position)
}

fn double_pendulum() -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let upper = rod(&mut scene, [0.5, 0.0, 0.0]);
    let lower = rod(&mut scene, [1.5, 0.0, 0.0]);
    scene.joint(JointKind::Revolute, [None, Some(upper)], [0.0; 3], Y);
    scene.joint(JointKind::Revolute, [Some(upper), Some(lower)], [1.0, 0.0, 0.0], Y);
    scene
}

#[test]
fn a_double_pendulum_moves_as_its_equations_say() {
    // Angles from the horizontal, downwards.
    let equations = |x: &[f64; 2], v: &[f64; 2]| {
        let (sine, cosine) = (x[0] - x[1]).sin_cos();
        let right = [
            1.5 * GRAVITY * x[0].cos() - 0.5 * sine * v[1] * v[1],
            0.5 * GRAVITY * x[1].cos() + 0.5 * sine * v[0] * v[0],
        ];
        let (a, b, d) = (4.0 / 3.0, 0.5 * cosine, 1.0 / 3.0);
        let determinant = a * d - b * b;
        [(d * right[0] - b * right[1]) / determinant, (a * right[1] - b * right[0]) / determinant]
    };
    let found = |run: &Simulation| {
        let joints = &run.state.joints;
        [joints[0].angle, joints[0].angle + joints[1].angle]
    };
    assert_order_2(errors(2.0, [0.0; 2], equations, double_pendulum, found), 1e-3);
}

#[test]
fn beads_on_crossing_wires_with_a_rod_between_swing_as_a_pendulum() {
    let equations = |x: &[f64; 1], _: &[f64; 1]| [-GRAVITY * x[0].cos()];
    let scene = || {
        let mut scene = Scene::new(GRAVITY);
        let (sine, cosine) = 1.0_f64.sin_cos();
        let across = scene.ball(2.0, 0.01, [cosine, 0.0, 0.0]);
        let upright = scene.ball(2.0, 0.01, [0.0, 0.0, sine]);
        scene.joint(JointKind::Prismatic, [None, Some(across)], [cosine, 0.0, 0.0], [1.0, 0.0, 0.0]);
        scene.joint(JointKind::Prismatic, [None, Some(upright)], [0.0, 0.0, sine], [0.0, 0.0, 1.0]);
        scene.rigid_rod([centre(across), centre(upright)]);
        scene
    };
    let found = |run: &Simulation| {
        let [across, upright] = [0, 1].map(|node| run.state.nodes[node].position);
        [upright[2].atan2(across[0])]
    };
    assert_order_2(errors(0.5, [1.0], equations, scene, found), 1e-5);
}

#[test]
fn a_mass_on_a_rigid_rod_is_a_simple_pendulum() {
    let equations = |x: &[f64; 1], _: &[f64; 1]| [GRAVITY / 0.7 * x[0].cos()];
    let scene = || {
        let mut scene = Scene::new(GRAVITY);
        let mass = scene.ball(3.0, 0.01, [0.7, 0.0, 0.0]);
        scene.rigid_rod([ground([0.0; 3]), centre(mass)]);
        scene
    };
    let found = |run: &Simulation| {
        let place = run.state.nodes[0].position;
        [(-place[2]).atan2(place[0])]
    };
    assert_order_2(errors(1.0, [0.0], equations, scene, found), 1e-4);
}

#[test]
fn a_bead_slides_down_a_wire() {
    let slope = 0.4_f64;
    let mut scene = Scene::new(GRAVITY);
    let bead = scene.ball(0.5, 0.01, [0.0; 3]);
    let axis = [slope.cos(), 0.0, -slope.sin()];
    scene.joint(JointKind::Prismatic, [None, Some(bead)], [0.0; 3], axis);
    let mut run = scene.build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let way = 0.5 * GRAVITY * slope.sin();
    assert!((run.state.nodes[bead].position - Vector3::from(axis) * way).norm() < 1e-12);
    assert!((run.state.joints[0].distance - way).abs() < 1e-12);
    let normal = run.state.joints[0].impulse.norm() / 1e-3;
    assert!((normal - 0.5 * GRAVITY * slope.cos()).abs() < 1e-9, "{normal} N");
}

#[test]
fn a_cylindrical_joint_falls_along_its_axis_and_turns_on() {
    let mut scene = Scene::new(GRAVITY);
    let body = scene.pointed(2.0, [0.3, 0.2, 0.1], &[Vector3::zeros()], [0.3, 0.0, 0.0]);
    scene.joint(JointKind::Cylindrical, [None, Some(body)], [0.0; 3], [0.0, 0.0, 1.0]);
    let mut run = scene.build();
    run.state.nodes[body].velocity = Vector3::new(0.0, 0.3 * 2.0, 0.0);
    run.rotation(body).angular_velocity = Vector3::z() * 2.0;
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let joint = &run.state.joints[0];
    assert!((joint.distance + 0.5 * GRAVITY).abs() < 1e-12, "{}", joint.distance);
    assert!((joint.angle - 2.0).abs() < 2e-6, "{}", joint.angle);
    let pull = joint.impulse.norm() / 1e-3;
    assert!((pull - 2.0 * 0.3 * 4.0).abs() < 1e-5, "{pull} N");
}

/// A top on a ball joint: energy, spin about its own axis and momentum about the vertical.
fn top_invariants(run: &Simulation, start: &[f64; 3]) -> f64 {
    let rotation = &run.state.rotations[0];
    let spin = rotation.orientation.to_body(&rotation.angular_velocity)[2];
    let (_, momentum) = run.momenta();
    let now = [mechanical_energy(&run.system, &run.state), spin, momentum[2]];
    now.iter().zip(start).fold(0.0, |worst, (now, start)| (now - start).abs().max(worst))
}

#[test]
fn a_top_keeps_its_integrals() {
    let errors = [2e-3, 1e-3, 5e-4].map(|step| {
        let mut scene = Scene::new(GRAVITY).with_step(step);
        let top = scene.pointed(1.0, [0.01, 0.01, 0.004], &[Vector3::zeros()], [0.0, 0.0, 0.2]);
        scene.joint(JointKind::Spherical, [None, Some(top)], [0.0; 3], [0.0, 0.0, 1.0]);
        let mut run = scene.build();
        let lean = Orientation::from_turn(&(Vector3::y() * 0.6));
        run.rotation(top).orientation = lean;
        run.rotation(top).angular_velocity = lean.to_world(&Vector3::z()) * 60.0;
        run.state.nodes[top].position = lean.to_world(&(Vector3::z() * 0.2));
        let (_, momentum) = run.momenta();
        let start = [mechanical_energy(&run.system, &run.state), 60.0, momentum[2]];
        let mut worst = 0.0_f64;
        for _ in 0..500 {
            run.advance(2e-3);
            worst = worst.max(top_invariants(&run, &start));
        }
        worst
    });
    assert!(errors[0] < 0.5 && errors.windows(2).all(|pair| pair[0] > 3.5 * pair[1]), "{errors:?}");
}

const KINDS: [JointKind; 6] = [
    JointKind::Revolute,
    JointKind::Cylindrical,
    JointKind::Spherical,
    JointKind::Prismatic,
    JointKind::Fixed,
    JointKind::Distance { length: 0.6 },
];

/// Two bodies with a joint between, in free flight.
fn pair(kind: JointKind, step: f64) -> Simulation {
    let mut scene = Scene::new(0.0).with_step(step);
    let one = scene.pointed(1.0, [0.02, 0.03, 0.04], &[Vector3::zeros()], [0.0; 3]);
    let other = scene.pointed(2.0, [0.05, 0.04, 0.02], &[Vector3::zeros()], [0.6, 0.0, 0.0]);
    if let JointKind::Distance { .. } = kind {
        scene.rigid_rod([centre(one), centre(other)]);
    } else {
        scene.joint(kind, [Some(one), Some(other)], [0.25, 0.05, 0.1], [0.6, 0.0, 0.8]);
    }
    let mut run = scene.build();
    run.state.nodes[one].velocity = Vector3::new(0.3, -0.2, 0.5);
    run.state.nodes[other].velocity = Vector3::new(-0.1, 0.4, 0.2);
    run.rotation(one).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
    run.rotation(other).angular_velocity = Vector3::new(-0.5, 1.5, 2.0);
    run
}

#[test]
fn free_pairs_keep_their_momenta() {
    for kind in KINDS {
        let drifts = [2e-3, 1e-3].map(|step| {
            let mut run = pair(kind, step);
            run.advance(2e-3);
            let (momentum, angular) = run.momenta();
            for _ in 0..500 {
                run.advance(2e-3);
            }
            let (momentum_after, angular_after) = run.momenta();
            let lost = (momentum_after - momentum).norm();
            assert!(lost < 1e-12, "{kind:?}: {lost:e} kg m/s");
            (angular_after - angular).norm()
        });
        assert!(drifts[0] < 1e-4 && drifts[1] < 0.3 * drifts[0] + 1e-12, "{kind:?}: {drifts:?}");
    }
}

#[test]
fn free_pairs_keep_their_energy() {
    for kind in KINDS {
        let mut run = pair(kind, 1e-3);
        // The first step takes what the velocities had against the joint.
        run.advance(1e-3);
        let start = mechanical_energy(&run.system, &run.state);
        for _ in 0..1000 {
            run.advance(1e-3);
        }
        let change = mechanical_energy(&run.system, &run.state) - start;
        assert!(change.abs() < 1e-5 * start, "{kind:?}: {change:e} of {start} J");
    }
}

#[test]
fn bodies_fixed_together_move_as_one() {
    let mut run = pair(JointKind::Fixed, 1e-3);
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let [one, other] = [0, 1].map(|index| run.state.rotations[index]);
    let apart = run.state.nodes[1].position - run.state.nodes[0].position;
    assert!((one.orientation.to_body(&apart) - Vector3::new(0.6, 0.0, 0.0)).norm() < 1e-13);
    assert!(one.orientation.wxyz.iter().zip(other.orientation.wxyz).all(|(a, b)| (a - b).abs() < 1e-13));
    let apart = (one.angular_velocity - other.angular_velocity).norm();
    assert!(apart < 1e-9, "{apart:e}");
}

#[test]
fn a_fixed_body_is_carried() {
    let mut scene = Scene::new(GRAVITY);
    let body = scene.pointed(2.0, [0.1, 0.2, 0.3], &[Vector3::zeros()], [0.5, 0.2, 0.0]);
    scene.joint(JointKind::Fixed, [None, Some(body)], [0.0; 3], [0.0, 0.0, 1.0]);
    let mut run = scene.build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let joint = &run.state.joints[0];
    let weight = 2.0 * GRAVITY;
    assert!((joint.impulse / 1e-3 - Vector3::z() * weight).norm() < 1e-9, "{}", joint.impulse);
    let moment = Vector3::new(0.2 * weight, -0.5 * weight, 0.0);
    assert!((joint.moment / 1e-3 - moment).norm() < 1e-9, "{}", joint.moment);
    assert!((run.state.nodes[body].position - Vector3::new(0.5, 0.2, 0.0)).norm() < 1e-15);
}

/// A parallelogram on two pins 1 m apart, with cranks of 1 kg and 0.5 m upwards, and a coupler of 2 kg.
fn four_bar() -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let crank = [1.0 / 48.0, 1.0 / 48.0, 1e-3];
    let left = scene.pointed(1.0, crank, &[Vector3::zeros()], [0.0, 0.0, 0.25]);
    let right = scene.pointed(1.0, crank, &[Vector3::zeros()], [1.0, 0.0, 0.25]);
    let coupler = scene.pointed(2.0, [1e-3, 1.0 / 6.0, 1.0 / 6.0], &[Vector3::zeros()], [0.5, 0.0, 0.5]);
    scene.joint(JointKind::Revolute, [None, Some(left)], [0.0; 3], Y);
    scene.joint(JointKind::Revolute, [None, Some(right)], [1.0, 0.0, 0.0], Y);
    scene.joint(JointKind::Revolute, [Some(left), Some(coupler)], [0.0, 0.0, 0.5], Y);
    scene.joint(JointKind::Revolute, [Some(right), Some(coupler)], [1.0, 0.0, 0.5], Y);
    scene
}

#[test]
fn a_four_bar_with_redundant_joints_moves_as_its_equation_says() {
    let inertia = 2.0 * 0.25 / 3.0 + 2.0 * 0.25;
    let equations = |x: &[f64; 1], _: &[f64; 1]| [GRAVITY * (0.5 + 1.0) * x[0].sin() / inertia];
    let tilt = 0.3;
    let scene = || {
        // Leaning by a turn of the cranks.
        let mut scene = four_bar();
        scene.lean_cranks(&[0, 1], 2, tilt, 0.5);
        scene
    };
    let found = |run: &Simulation| {
        let place = run.state.nodes[0].position;
        [place[0].atan2(place[2])]
    };
    assert_order_2(errors(0.5, [tilt], equations, scene, found), 1e-4);
}

#[test]
fn a_four_bar_shares_its_weight() {
    let mut scene = four_bar();
    scene.drive(0, Drive::Position, Profile::Constant(0.0));
    let mut run = scene.build();
    for _ in 0..200 {
        run.advance(1e-3);
    }
    assert!(run.state.step.residual < 1e-12, "{:e}", run.state.step.residual);
    let forces = [0, 1, 2, 3].map(|joint| run.state.joints[joint].impulse / 1e-3);
    for (force, weight) in forces.iter().zip([2.0, 2.0, 1.0, 1.0]) {
        assert!((force - Vector3::z() * (weight * GRAVITY)).norm() < 1e-6, "{forces:?}");
    }
    assert!(run.state.joints.iter().all(|joint| joint.moment.norm() / 1e-3 < 1e-6));
}

#[test]
fn a_beam_fixed_at_both_ends_shares_its_weight() {
    let mut scene = Scene::new(GRAVITY);
    let beam = scene.pointed(2.0, ROD, &[Vector3::zeros()], [0.0; 3]);
    for end in [-0.5, 0.5] {
        scene.joint(JointKind::Fixed, [None, Some(beam)], [end, 0.0, 0.0], [1.0, 0.0, 0.0]);
    }
    let mut run = scene.build();
    for _ in 0..200 {
        run.advance(1e-3);
    }
    let [one, other] = [0, 1].map(|joint| &run.state.joints[joint]);
    for joint in [one, other] {
        assert!((joint.impulse / 1e-3 - Vector3::z() * GRAVITY).norm() < 1e-6, "{}", joint.impulse);
    }
    assert!((one.moment + other.moment).norm() / 1e-3 < 1e-6);
    assert!(run.state.nodes[0].position.norm() < 1e-15);
}

#[test]
fn motors_that_contradict_each_other_are_told_of() {
    let mut scene = Scene::new(GRAVITY);
    let wheel = scene.pointed(1.0, [0.1; 3], &[Vector3::zeros()], [0.0; 3]);
    for (place, rate) in [(-0.1, 1.0), (0.1, -2.0)] {
        let joint = scene.joint(JointKind::Revolute, [None, Some(wheel)], [0.0, place, 0.0], Y);
        scene.drive(joint, Drive::Rate, Profile::Constant(rate));
    }
    let mut run = scene.build();
    let mut workspace = Workspace::new(&run.system);
    for _ in 0..100 {
        let quality: Result<Quality, StepError> = advance(&run.system, &mut run.state, &mut workspace, 1e-3);
        assert_eq!(quality, Ok(Quality::Inaccurate));
        assert!(run.state.step.residual > 1e-3 && run.state.step.residual.is_finite());
        assert!(run.state.is_finite());
    }
}

/// A rod on a pin 0.5 m over a floor, from the horizontal, whose tip hits the floor.
fn falling_rod(restitution: f64) -> Scene {
    let mut scene = Scene::new(GRAVITY);
    let node = scene.pointed(1.0, ROD, &[Vector3::new(0.5, 0.0, 0.0)], [0.5, 0.0, 0.5]);
    scene.joint(JointKind::Revolute, [None, Some(node)], [0.0, 0.0, 0.5], Y);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(node, floor, restitution, 0.0);
    scene
}

#[test]
fn the_tip_of_a_rod_hits_the_floor() {
    for restitution in [0.0, 0.3, 0.7, 1.0] {
        let mut run = falling_rod(restitution).build();
        run.advance_to_the_hit(1e-3);
        let before = run.state.nodes[0].velocity;
        run.advance(1e-3);
        let state = &run.state;
        // The rate from the height lost, 30 degrees down.
        let rate = (3.0 * GRAVITY * 0.5_f64).sqrt();
        let arm = 0.75_f64.sqrt();
        let impulse = rate * (1.0 + restitution) / (3.0 * arm);
        let found = state.contacts[0].normal_impulse;
        let resting = if restitution == 0.0 { 0.5 * GRAVITY * 1e-3 } else { 0.0 };
        assert!((found - impulse).abs() < 1e-4 + resting, "e = {restitution}: {found} and {impulse} N s");
        let after = state.rotations[0].angular_velocity[1];
        let expected = -restitution * rate;
        let falls = 1.5 * GRAVITY * arm * 1e-3;
        assert!((after - expected).abs() < falls + 1e-3, "e = {restitution}: {after} and {expected} rad/s");
        // What the pin takes closes the balance of momentum.
        let change = state.nodes[0].velocity - before;
        let sum = state.joints[0].impulse + state.nodes[0].contact_impulse - Vector3::z() * (GRAVITY * 1e-3);
        assert!((change - sum).norm() < 1e-12, "{change} and {sum}");
        let reaction = 0.5 * arm * rate * (1.0 + restitution) - impulse;
        let pin = state.joints[0].impulse[2];
        assert!((pin - reaction).abs() < 2e-2, "e = {restitution}: {pin} and {reaction} N s");
    }
}

#[test]
fn a_captured_hit_has_the_impulse_of_the_exact_one() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut run = falling_rod(restitution).with_step(1e-4).capturing().build();
        run.advance_to_the_hit(1e-4);
        let rate = run.state.rotations[0].angular_velocity[1];
        run.advance(1e-4);
        let after = run.state.rotations[0].angular_velocity[1];
        assert!((after + restitution * rate).abs() < 3e-3, "e = {restitution}: {after} after {rate}");
        let impulse = run.state.contacts[0].normal_impulse;
        let exact = (3.0 * GRAVITY * 0.5_f64).sqrt() * (1.0 + restitution) / (3.0 * 0.75_f64.sqrt());
        assert!((impulse - exact).abs() < 3e-3, "{impulse} and {exact}");
    }
}

#[test]
fn a_lever_rests_on_a_stop() {
    for capturing in [false, true] {
        let mut scene = Scene::new(GRAVITY);
        if capturing {
            scene = scene.capturing();
        }
        let tip = [Vector3::new(0.5, 0.0, 0.0)];
        let lever = scene.pointed(2.0, ROD, &tip, [0.5, 0.0, 0.0]);
        scene.joint(JointKind::Revolute, [None, Some(lever)], [0.0; 3], Y);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        scene.contact(lever, floor, 0.3, 0.4);
        let mut run = scene.build();
        for _ in 0..60_000 {
            run.advance(1e-3);
        }
        let force = run.state.contacts[0].normal_impulse / 1e-3;
        assert!((force - GRAVITY).abs() < 1e-9, "{force} N");
        let pin = run.state.joints[0].impulse[2] / 1e-3;
        assert!((pin - GRAVITY).abs() < 1e-9, "{pin} N");
        let sunk = run.state.joints[0].angle.abs();
        assert!(sunk < 1e-12, "{sunk:e} rad");
    }
}

#[test]
fn an_arm_that_drags_on_the_floor_stops() {
    let mut scene = Scene::new(GRAVITY);
    let tip = [Vector3::new(0.5, 0.0, 0.0)];
    let arm = scene.pointed(1.0, ROD, &tip, [0.5, 0.0, 0.0]);
    scene.joint(JointKind::Cylindrical, [None, Some(arm)], [0.0; 3], [0.0, 0.0, 1.0]);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(arm, floor, 0.0, 0.4);
    let mut run = scene.build();
    run.rotation(arm).angular_velocity = Vector3::z() * 5.0;
    run.state.nodes[arm].velocity = Vector3::y() * 2.5;
    for _ in 0..300 {
        run.advance(1e-3);
    }
    let braking = 0.4 * GRAVITY * 3.0;
    let rate = run.state.rotations[0].angular_velocity[2];
    assert!((rate - (5.0 - braking * 0.3)).abs() < 1e-4, "{rate}");
    for _ in 0..300 {
        run.advance(1e-3);
    }
    let angle = run.state.joints[0].angle;
    assert!((angle - 12.5 / braking).abs() < 2e-5, "{angle} and {}", 12.5 / braking);
    assert_eq!(run.state.contacts[0].mode, ContactMode::Stick);
    let force = run.state.contacts[0].normal_impulse / 1e-3;
    assert!((force - GRAVITY).abs() < 1e-9, "{force} N");
}

/// A flywheel with its axis along z, and a slider along x, each with a motor.
fn driven(drive: Drive, profile: &Profile) -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let wheel = scene.pointed(1.0, [0.1, 0.1, 0.2], &[Vector3::zeros()], [0.0; 3]);
    let slider = scene.add(NodeShape::Sphere { radius: 0.1 }, 3.0, None, [0.0, 1.0, 0.0]);
    let turning = scene.joint(JointKind::Revolute, [None, Some(wheel)], [0.0; 3], [0.0, 0.0, 1.0]);
    let sliding = scene.joint(JointKind::Prismatic, [None, Some(slider)], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
    scene.drive(turning, drive, profile.clone());
    scene.drive(sliding, drive, profile.clone());
    scene.build()
}

/// Value and slope of a profile at a time.
fn value(profile: &Profile, t: f64) -> (f64, f64) {
    use std::f64::consts::{PI, TAU};
    match profile {
        Profile::Constant(value) => (*value, 0.0),
        Profile::Sine { amplitude, frequency, phase, offset } => {
            let angle = TAU * frequency * t + phase;
            (offset + amplitude * angle.sin(), amplitude * TAU * frequency * angle.cos())
        }
        Profile::Ramp { from, to, start, duration } => {
            let part = (t - start) / duration;
            if part <= 0.0 {
                (*from, 0.0)
            } else if part >= 1.0 {
                (*to, 0.0)
            } else {
                let height = to - from;
                let slope = height * 0.5 * PI / duration * (PI * part).sin();
                (from + height * 0.5 * (1.0 - (PI * part).cos()), slope)
            }
        }
        Profile::Table(points) => {
            let pair = points.windows(2).find(|pair| t >= pair[0][0] && t < pair[1][0]).unwrap();
            let slope = (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0]);
            (pair[0][1] + slope * (t - pair[0][0]), slope)
        }
        Profile::Input(_) => unreachable!("has no value of its own"),
    }
}

fn profiles() -> [Profile; 4] {
    [
        Profile::Constant(0.0),
        Profile::Sine { amplitude: 0.5, frequency: 2.0, phase: 0.3, offset: -0.5 * 0.3_f64.sin() },
        Profile::Ramp { from: 0.0, to: 2.0, start: 0.1, duration: 0.3 },
        Profile::Table(vec![[0.0, 0.0], [0.2, 0.3], [0.3, -0.1], [2.0, 0.5]]),
    ]
}

#[test]
fn positions_follow_their_motors() {
    for profile in profiles() {
        let mut run = driven(Drive::Position, &profile);
        for step in 1..=500_u32 {
            let before = [run.state.rotations[0].angular_velocity[2], run.state.nodes[1].velocity[0]];
            run.advance(1e-3);
            let (expected, slope) = value(&profile, run.state.time);
            let [turn, slide] = [0, 1].map(|joint| run.state.joints[joint]);
            assert!(
                (turn.angle - expected).abs() < 1e-12,
                "{profile:?}: {} at {step}",
                turn.angle - expected
            );
            assert!((slide.distance - expected).abs() < 1e-12, "{profile:?}: {} at {step}", slide.distance);
            // The rate at a corner of the table is that of either side.
            let rates = [run.state.rotations[0].angular_velocity[2], run.state.nodes[1].velocity[0]];
            let corner = matches!(profile, Profile::Table(_));
            assert!(corner || rates.iter().all(|rate| (rate - slope).abs() < 1e-9), "{profile:?}: {rates:?}");
            let torque = 0.2 * (rates[0] - before[0]);
            assert!((turn.moment[2] - torque).abs() < 1e-10, "{profile:?}: {} Nms", turn.moment[2]);
            let force = 3.0 * (rates[1] - before[1]);
            assert!((slide.impulse[0] - force).abs() < 1e-10, "{profile:?}: {} Ns", slide.impulse[0]);
        }
    }
}

#[test]
fn torque_of_a_driven_wheel_is_that_of_its_acceleration() {
    let profile = Profile::Sine { amplitude: 0.5, frequency: 2.0, phase: 0.0, offset: 0.0 };
    let mut run = driven(Drive::Position, &profile);
    for step in 1..=500_u32 {
        run.advance(1e-3);
        let middle = (f64::from(step) - 0.5) * 1e-3 * std::f64::consts::TAU * 2.0;
        let exact = -0.2 * 0.5 * (std::f64::consts::TAU * 2.0).powi(2) * middle.sin();
        let torque = run.state.joints[0].moment[2] / 1e-3;
        // The first step makes the rate that the start lacks.
        assert!(step == 1 || (torque - exact).abs() < 2e-4 * 15.8, "{torque} and {exact} Nm");
    }
}

#[test]
fn rates_follow_their_motors() {
    for profile in profiles() {
        let errors = [2e-3, 1e-3].map(|step| {
            let mut run = driven(Drive::Rate, &profile);
            run.state.parameters.step = step;
            let start = value(&profile, 0.0).0;
            run.rotation(0).angular_velocity[2] = start;
            run.state.nodes[1].velocity[0] = start;
            let mut integral = 0.0;
            let mut worst = 0.0_f64;
            for _ in 0..250 {
                let from = run.state.time;
                run.advance(2e-3);
                // Simpson.
                let [a, b, c] = [0.0, 1e-3, 2e-3].map(|ahead| value(&profile, from + ahead).0);
                integral += 2e-3 / 6.0 * (a + 4.0 * b + c);
                let rate = value(&profile, run.state.time).0;
                assert!((run.state.rotations[0].angular_velocity[2] - rate).abs() < 1e-12);
                assert!((run.state.nodes[1].velocity[0] - rate).abs() < 1e-12);
                let [turn, slide] = [0, 1].map(|joint| run.state.joints[joint]);
                worst = worst.max((turn.angle - integral).abs()).max((slide.distance - integral).abs());
            }
            worst
        });
        assert!(errors[0] < 1e-4 && errors[1] < 0.3 * errors[0] + 1e-12, "{profile:?}: {errors:?}");
    }
}

#[test]
fn inputs_drive_joints_along_their_derivatives() {
    for drive in [Drive::Position, Drive::Rate] {
        let mut scene = Scene::new(0.0);
        let wheel = scene.pointed(1.0, [0.1, 0.1, 0.2], &[Vector3::zeros()], [0.0; 3]);
        let joint = scene.joint(JointKind::Revolute, [None, Some(wheel)], [0.0; 3], [0.0, 0.0, 1.0]);
        scene.drive(joint, drive, Profile::Input(0));
        let mut run = scene.build();
        // x = t^2, given with its derivatives every 10 ms.
        for step in 0..50_u32 {
            let t = f64::from(step) * 1e-2;
            let input = &mut run.state.drives[0];
            match drive {
                Drive::Position => {
                    input.value[0] = t * t;
                    input.derivatives[0][0] = 2.0 * t;
                    input.derivatives[1][0] = 2.0;
                }
                Drive::Rate => {
                    input.value[0] = 2.0 * t;
                    input.derivatives[0][0] = 2.0;
                }
            }
            run.advance(1e-2);
            let end = t + 1e-2;
            assert!((run.state.joints[0].angle - end * end).abs() < 1e-12, "{drive:?} at {end}");
            assert!((run.state.rotations[0].angular_velocity[2] - 2.0 * end).abs() < 1e-10);
            let torque = run.state.joints[0].moment[2] / 1e-2;
            assert!((torque - 0.4).abs() < 1e-9 || step == 0, "{torque} Nm");
        }
    }
}

#[test]
fn a_position_given_without_derivatives_is_reached_at_the_end_of_the_step() {
    let mut scene = Scene::new(0.0);
    let wheel = scene.pointed(1.0, [0.1, 0.1, 0.2], &[Vector3::zeros()], [0.0; 3]);
    let joint = scene.joint(JointKind::Revolute, [None, Some(wheel)], [0.0; 3], [0.0, 0.0, 1.0]);
    scene.drive(joint, Drive::Position, Profile::Input(0));
    let mut run = scene.build();
    for step in 1..100_u32 {
        let target = (f64::from(step) * 0.05).sin();
        run.state.drives[0].value[0] = target;
        run.advance(1e-2);
        assert!((run.state.joints[0].angle - target).abs() < 1e-12, "{}", run.state.joints[0].angle);
    }
}

/// How far the joints of pendulums of rods are open.
fn openness(run: &Simulation) -> f64 {
    let state = &run.state;
    let end = |node: usize, x: f64| {
        let place = Vector3::new(x, 0.0, 0.0);
        state.nodes[node].position + state.rotations[node].orientation.to_world(&place)
    };
    let mut open = 0.0_f64;
    for node in 0..state.nodes.len() {
        let pin = if node == 0 { Vector3::zeros() } else { end(node - 1, 0.5) };
        let axis = state.rotations[node].orientation.to_world(&Vector3::y());
        open = open.max((end(node, -0.5) - pin).norm()).max((axis - Vector3::y()).norm());
    }
    open
}

#[test]
fn joints_do_not_drift_in_a_million_steps() {
    let mut scene = Scene::new(GRAVITY);
    let rod = rod(&mut scene, [0.5, 0.0, 0.0]);
    scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0; 3], Y);
    let mut run = scene.build();
    let start = mechanical_energy(&run.system, &run.state);
    for _ in 0..1000 {
        run.advance(1.0);
        let open = openness(&run);
        assert!(open < 1e-10, "{open:e} m");
    }
    let change = mechanical_energy(&run.system, &run.state) - start;
    assert!(change.abs() < 1e-4, "{change:e} J");
}

#[test]
fn joints_between_bodies_do_not_drift_in_a_million_steps() {
    let mut run = double_pendulum().build();
    for _ in 0..1000 {
        run.advance(1.0);
        let open = openness(&run);
        assert!(open < 1e-10, "{open:e} m");
    }
}

/// Two rods, a spring with a damper between them and the ground, and a motor that the master turns.
fn driven_rods() -> Simulation {
    let mut scene = double_pendulum();
    scene.spring([centre(1), ground([1.0, 0.4, 1.0])], 200.0, 3.0);
    scene.drive(0, Drive::Rate, Profile::Input(0));
    let mut run = scene.build();
    run.state.drives[0].value[0] = 1.5;
    run.state.drives[0].derivatives[0][0] = -2.0;
    run
}

#[test]
fn derivatives_agree_with_differences() {
    let mut run = driven_rods();
    for _ in 0..50 {
        run.advance(2e-3);
    }
    compare(&run, 2e-3, false);
}

#[test]
fn derivatives_through_a_hit_agree_with_differences() {
    let mut scene = falling_rod(0.6);
    scene.state.parameters.mu[0] = 0.1;
    let mut run = scene.build();
    run.advance_to_the_hit(2e-3);
    compare(&run, 2e-3, false);
}

#[test]
fn a_restored_state_goes_on_as_the_first_one() {
    let mut run = driven_rods();
    for _ in 0..20 {
        run.advance(2e-3);
    }
    let kept = run.state.clone();
    let mut other = driven_rods();
    other.state.clone_from(&kept);
    assert!(other.state == kept && kept.map(|x| x) == kept && kept.same_size(&run.state));
    for _ in 0..20 {
        run.advance(2e-3);
        other.advance(2e-3);
    }
    assert!(run.state == other.state);
}

#[test]
fn springs_along_a_line_keep_the_balance_of_energy() {
    for damping in [0.0, 0.8] {
        let mut scene = Scene::new(GRAVITY);
        let upper = scene.ball(1.0, 0.1, [0.0, 0.0, 0.0]);
        let lower = scene.ball(2.0, 0.1, [0.0, 0.0, -1.0]);
        scene.spring([ground([0.0, 0.0, 1.0]), centre(upper)], 300.0, damping);
        scene.spring([centre(upper), centre(lower)], 500.0, damping);
        let mut run = scene.build();
        let start = mechanical_energy(&run.system, &run.state);
        for _ in 0..5000 {
            run.advance(1e-3);
        }
        let closed = mechanical_energy(&run.system, &run.state) + run.state.step.dissipated - start;
        assert!(closed.abs() < 1e-11, "damping {damping}: {closed:e} J");
        assert_eq!(run.state.step.dissipated_by_damping > 0.1, damping > 0.0);
    }
}

#[test]
fn a_contact_on_what_joints_hold_is_solved() {
    let mut scene = Scene::new(GRAVITY);
    let tip = [Vector3::new(0.5, 0.0, 0.0)];
    let beam = scene.pointed(2.0, ROD, &tip, [0.5, 0.0, 0.0]);
    scene.joint(JointKind::Fixed, [None, Some(beam)], [0.0; 3], Y);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(beam, floor, 0.3, 0.4);
    let mut run = scene.build();
    for _ in 0..100 {
        run.advance(1e-3);
    }
    assert!((run.state.joints[0].impulse[2] / 1e-3 - 2.0 * GRAVITY).abs() < 1e-6);
    assert!(run.state.nodes[beam].position[2].abs() < 1e-14);
}
