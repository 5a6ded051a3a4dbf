//! Bodies that touch with several points: boxes on corner, edge and face.

use crate::bodies::{Scene, Simulation, compare, corners};
use contact_fmu::engine::law::facets::Polygon;
use contact_fmu::engine::{ContactMode, FrictionLaw, Orientation, gap, mechanical_energy};
use nalgebra::{Matrix3, Vector3};

const GRAVITY: f64 = 9.81;

/// A box in the plane: position x, height z, angle from x to z; and their rates.
#[derive(Clone, Copy, Debug)]
struct Flat {
    q: [f64; 3],
    v: [f64; 3],
}

const HALF: [f64; 2] = [0.2, 0.1];
const INERTIA: f64 = (4.0 * HALF[0] * HALF[0] + 4.0 * HALF[1] * HALF[1]) / 12.0;

/// The box of 1 kg by event capturing with tiny steps, four corners and Gauss-Seidel: an integration that shares
/// nothing with the engine. Calls `at` after every `every` steps.
fn integrate_flat(
    mut state: Flat,
    restitution: f64,
    mu: f64,
    h: f64,
    steps: usize,
    every: usize,
    mut at: impl FnMut(f64, &Flat),
) {
    let inverse = [1.0, 1.0, 1.0 / INERTIA];
    for step in 1..=steps {
        let Flat { q, v } = state;
        let (sin, cos) = q[2].sin_cos();
        let mut arms: Vec<[f64; 2]> = Vec::new();
        for [x, z] in [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]] {
            let (x, z) = (x * HALF[0], z * HALF[1]);
            let arm = [cos * x - sin * z, sin * x + cos * z];
            if q[1] + arm[1] + 0.5 * h * (v[1] + v[2] * arm[0]) <= 1e-12 {
                arms.push(arm);
            }
        }
        let mut u = [v[0], v[1] - h * GRAVITY, v[2]];
        let mut impulses = vec![[0.0_f64; 2]; arms.len()];
        for _ in 0..400 {
            let mut change = 0.0_f64;
            for (arm, impulse) in arms.iter().zip(&mut impulses) {
                let closing = (v[1] + v[2] * arm[0]).min(0.0);
                let rate = u[1] + u[2] * arm[0] + restitution * closing;
                let normal = (impulse[1] - rate / (inverse[1] + inverse[2] * arm[0] * arm[0])).max(0.0);
                let push = normal - impulse[1];
                impulse[1] = normal;
                u[1] += inverse[1] * push;
                u[2] += inverse[2] * arm[0] * push;
                change = change.max(push.abs());
                let rate = u[0] - u[2] * arm[1];
                let limit = mu * impulse[1];
                let along =
                    (impulse[0] - rate / (inverse[0] + inverse[2] * arm[1] * arm[1])).clamp(-limit, limit);
                let push = along - impulse[0];
                impulse[0] = along;
                u[0] += inverse[0] * push;
                u[2] -= inverse[2] * arm[1] * push;
                change = change.max(push.abs());
            }
            if change < 1e-13 {
                break;
            }
        }
        for axis in 0..3 {
            state.q[axis] += 0.5 * h * (v[axis] + u[axis]);
        }
        state.v = u;
        if step % every == 0 {
            at(step as f64 * h, &state);
        }
    }
}

/// The same box for the engine, above the floor.
fn flat_box(start: Flat, restitution: f64, mu: f64) -> (Simulation, usize) {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(1.0, [HALF[0], 0.15, HALF[1]], [start.q[0], 0.0, start.q[1]]);
    scene.contact(node, floor, restitution, mu);
    let mut run = scene.build();
    run.state.nodes[node].velocity = Vector3::new(start.v[0], 0.0, start.v[1]);
    // Turning from x to z is turning about -y.
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.0, -start.q[2], 0.0));
    run.rotation(node).angular_velocity = Vector3::new(0.0, -start.v[2], 0.0);
    (run, node)
}

fn flat(run: &mut Simulation, node: usize) -> Flat {
    let rotation = *run.rotation(node);
    let along = rotation.orientation.to_world(&Vector3::x());
    let state = &run.state.nodes[node];
    Flat {
        q: [state.position[0], state.position[2], along[2].atan2(along[0])],
        v: [state.velocity[0], state.velocity[2], -rotation.angular_velocity[1]],
    }
}

/// Largest differences of position and angle between the engine at internal steps of 1 ms and the reference.
#[test]
fn a_box_dropped_on_its_edge_tumbles_as_in_the_reference() {
    for (restitution, rest) in [(0.0, 0.47154), (0.5, 0.64043)] {
        let start = Flat { q: [0.0, 0.6, 0.3], v: [1.0, 0.0, 0.0] };
        let (mut run, node) = flat_box(start, restitution, 0.3);
        let mut energy = mechanical_energy(&run.system, &run.state);
        let mut worst = [0.0_f64; 3];
        let mut deepest = 0.0_f64;
        integrate_flat(start, restitution, 0.3, 1e-5, 120_000, 100, |_, expected| {
            run.advance(1e-3);
            let found = flat(&mut run, node);
            for (worst, (found, expected)) in worst.iter_mut().zip(found.q.into_iter().zip(expected.q)) {
                *worst = worst.max((found - expected).abs());
            }
            deepest = deepest.max(-gap(&run.system, &run.state, 0));
            let now = mechanical_energy(&run.system, &run.state);
            assert!(now <= energy + 1e-13, "energy rises by {:e}", now - energy);
            energy = now;
        });
        let end = flat(&mut run, node);
        assert!((end.q[0] - rest).abs() < 2e-4 && (end.q[1] - 0.1).abs() < 1e-12 && end.q[2].abs() < 1e-12);
        assert!(worst[0] < 1e-4 && worst[1] < 1e-4 && worst[2] < 5e-4, "e {restitution}: {worst:?}");
        assert!(deepest < 1e-12, "e {restitution}: {deepest:e}");
        assert_eq!(run.state.contacts[0].mode, ContactMode::Stick);
    }
}

#[test]
fn a_box_dropped_on_its_face_bounces_like_a_ball() {
    let start = Flat { q: [0.0, 0.5, 0.0], v: [0.3, 0.0, 0.0] };
    let (mut run, node) = flat_box(start, 0.6, 0.0);
    let fall = (2.0 * 0.4 / GRAVITY).sqrt();
    run.advance(fall + 0.1);
    let height = 0.1 + 0.1 * (0.6 * GRAVITY * fall - 0.5 * GRAVITY * 0.1);
    let end = flat(&mut run, node);
    assert!((end.q[0] - 0.3 * (fall + 0.1)).abs() < 1e-12, "{end:?}");
    assert!((end.q[1] - height).abs() < 1e-12, "{end:?}");
    assert!(end.q[2].abs() < 1e-12, "{end:?}");
    let impulse = run.state.contacts[0].normal_impulse;
    assert!((impulse - 1.6 * GRAVITY * fall).abs() < 1e-9, "{impulse}");
}

/// A box in space over the floor `z = 0` by event capturing with tiny steps: rotation matrix, angular momentum,
/// Gauss-Seidel on cones. It shares nothing with the engine.
struct Spatial {
    half: [f64; 3],
    inertia: Vector3<f64>,
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    axes: Matrix3<f64>,
    spin: Vector3<f64>,
}

impl Spatial {
    fn integrate(&mut self, restitution: f64, mu: f64, h: f64, steps: usize) {
        for _ in 0..steps {
            let inverse = self.axes
                * Matrix3::from_diagonal(&self.inertia.map(|moment| 1.0 / moment))
                * self.axes.transpose();
            let tensor = self.axes * Matrix3::from_diagonal(&self.inertia) * self.axes.transpose();
            let mut velocity = self.velocity - Vector3::z() * (GRAVITY * h);
            let mut spin = self.spin - inverse * self.spin.cross(&(tensor * self.spin)) * h;
            let arms: Vec<Vector3<f64>> = corners(self.half)
                .into_iter()
                .map(|corner| self.axes * corner)
                .filter(|arm| {
                    let rate = (self.velocity + self.spin.cross(arm))[2];
                    self.position[2] + arm[2] + 0.5 * h * rate <= 1e-12
                })
                .collect();
            let mut impulses = vec![Vector3::<f64>::zeros(); arms.len()];
            for _ in 0..400 {
                let mut change = 0.0_f64;
                for (arm, impulse) in arms.iter().zip(&mut impulses) {
                    let cross = arm.cross_matrix();
                    let w = Matrix3::identity() - cross * inverse * cross;
                    let closing = (self.velocity + self.spin.cross(arm))[2].min(0.0);
                    let mut rate = velocity + spin.cross(arm);
                    rate[2] += restitution * closing;
                    // A step against the largest entry of the block, then onto the cone.
                    let mut next = *impulse - rate / w.trace();
                    next[2] -= mu * rate.xy().norm() / w.trace();
                    let (along, normal) = (next.xy().norm(), next[2]);
                    if mu * along <= -normal {
                        next = Vector3::zeros();
                    } else if along > mu * normal {
                        let onto = (mu * along + normal) / (1.0 + mu * mu);
                        let scale = mu * onto / along;
                        next = Vector3::new(next[0] * scale, next[1] * scale, onto);
                    }
                    let push = next - *impulse;
                    *impulse = next;
                    velocity += push;
                    spin += inverse * arm.cross(&push);
                    change = change.max(push.norm());
                }
                if change < 1e-12 {
                    break;
                }
            }
            self.position += (self.velocity + velocity) * (0.5 * h);
            let turn = (self.spin + spin) * (0.5 * h);
            self.axes = nalgebra::Rotation3::from_scaled_axis(turn).matrix() * self.axes;
            (self.velocity, self.spin) = (velocity, spin);
        }
    }
}

#[test]
fn a_box_dropped_on_its_corner_tumbles_as_in_the_reference() {
    let half = [0.2, 0.15, 0.1];
    for (restitution, mu) in [(0.0, 0.3), (0.5, 0.3), (0.5, 0.0)] {
        let mut scene = Scene::new(GRAVITY);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let node = scene.cuboid(1.0, half, [0.0, 0.0, 0.4]);
        scene.contact(node, floor, restitution, mu);
        let mut run = scene.build();
        let orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
        run.rotation(node).orientation = orientation;
        run.rotation(node).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
        run.state.nodes[node].velocity = Vector3::new(0.5, -0.2, 0.0);
        let axes = |orientation: &Orientation<f64>| {
            Matrix3::from_columns(
                &[Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| orientation.to_world(&axis)),
            )
        };
        let mut reference = Spatial {
            half,
            inertia: run.state.parameters.inertia[0],
            position: run.state.nodes[node].position,
            velocity: run.state.nodes[node].velocity,
            axes: axes(&orientation),
            spin: run.rotation(node).angular_velocity,
        };
        // Without rebound it lands on its face after 0.5 s, and the reference rattles.
        for part in 0..if restitution > 0.0 { 10 } else { 8 } {
            reference.integrate(restitution, mu, 2e-5, 3000);
            run.advance(0.06);
            let moved = (run.state.nodes[node].position - reference.position).norm();
            let turned = (axes(&run.rotation(node).orientation) - reference.axes).amax();
            assert!(
                moved < 1e-4 && turned < 1e-3,
                "e {restitution} mu {mu} part {part}: {moved:e} {turned:e}"
            );
            assert!(run.state.step.penetration < 1e-4);
        }
    }
}

/// Laws with corners, on up to four corners at once: every step is solved to tolerance, which `advance` asserts.
#[test]
fn a_dropped_box_is_solved_with_any_law_of_friction() {
    let facets =
        |count: usize, aligned: bool, polygon: Polygon| FrictionLaw::Facets { count, aligned, polygon };
    let laws = [
        FrictionLaw::Box { iterations: 1 },
        FrictionLaw::Box { iterations: 3 },
        facets(4, false, Polygon::Inner),
        facets(8, true, Polygon::Inner),
        facets(8, false, Polygon::Outer),
        facets(8, true, Polygon::Outer),
    ];
    for law in laws {
        for (restitution, capturing) in [(0.4, false), (0.4, true)] {
            let mut scene = Scene::new(GRAVITY);
            scene.settings.time_of_impact = !capturing;
            scene.settings.correction = !capturing;
            let floor = scene.plane([0.0, 0.0, 1.0]);
            let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.5]);
            scene.contact_with(node, floor, restitution, 0.3, law);
            let mut run = scene.build();
            run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
            run.rotation(node).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
            run.state.nodes[node].velocity = Vector3::new(0.5, -0.2, 0.0);
            for _ in 0..1200 {
                run.advance(1e-3);
            }
            let height = run.state.nodes[node].position[2];
            assert!(height < 0.13, "{law:?}, capturing {capturing}: it lies on the floor, {height}");
        }
    }
}

/// A box on an incline of the given angle about y, and the direction down.
fn on_incline(angle: f64, half: [f64; 3], mu: f64, law: FrictionLaw) -> (Simulation, Vector3<f64>) {
    let (sin, cos) = angle.sin_cos();
    let normal = Vector3::new(sin, 0.0, cos);
    let mut scene = Scene::new(GRAVITY);
    let slope = scene.plane(normal.into());
    let node = scene.cuboid(3.0, half, (normal * half[2]).into());
    scene.contact_with(node, slope, 0.3, mu, law);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.0, angle, 0.0));
    (run, Vector3::new(cos, 0.0, -sin))
}

#[test]
fn a_box_at_rest_on_four_corners_stays() {
    for angle in [0.0, 0.3] {
        let (mut run, _) = on_incline(angle, [0.2, 0.15, 0.1], 0.5, FrictionLaw::Cone);
        let start = run.state.clone();
        let weight = Vector3::z() * (3.0 * GRAVITY);
        for _ in 0..600 {
            // Steps of 5 ms, ten at a time.
            run.state.parameters.step = 5e-3;
            run.advance(0.05);
            run.advance(0.05);
            let force = run.state.nodes[0].contact_impulse / 0.05;
            assert!((force - weight).norm() < 1e-8, "{force}");
            let contact = &run.state.contacts[0];
            assert!((contact.normal_impulse / 0.05 - 3.0 * GRAVITY * angle.cos()).abs() < 1e-8);
            assert_eq!(contact.mode, ContactMode::Stick);
            assert!(contact.slip < 1e-10);
        }
        let drift = (run.state.nodes[0].position - start.nodes[0].position).norm();
        let turn = run.state.rotations[0].orientation.wxyz.iter().zip(&start.rotations[0].orientation.wxyz);
        let turn = turn.map(|(now, then)| (now - then).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-9 && turn < 1e-9, "angle {angle}: {drift:e} {turn:e}");
        assert!(gap(&run.system, &run.state, 0).abs() < 1e-12);
    }
}

#[test]
fn a_box_on_an_incline_slides_beyond_the_angle_of_friction() {
    let limit = 0.4_f64.atan();
    let laws = [
        FrictionLaw::Cone,
        FrictionLaw::Facets { count: 8, aligned: true, polygon: Polygon::Inner },
        FrictionLaw::Box { iterations: 3 },
    ];
    for law in laws {
        for angle in [limit - 1e-3, limit + 1e-3, limit + 0.2] {
            let (mut run, down) = on_incline(angle, [0.2, 0.15, 0.1], 0.4, law);
            let start = run.state.nodes[0].position;
            for _ in 0..100 {
                run.advance(1e-2);
            }
            let acceleration = (GRAVITY * (angle.sin() - 0.4 * angle.cos())).max(0.0);
            let travel = run.state.nodes[0].position - start;
            let error = (travel - down * (0.5 * acceleration)).norm();
            assert!(error < 1e-8, "{law:?} at {angle}: {error:e}");
            let mode = if angle > limit { ContactMode::Slip } else { ContactMode::Stick };
            // Corners may share what box friction holds so that some are at their bounds.
            let is_box = matches!(law, FrictionLaw::Box { .. });
            assert!(run.state.contacts[0].mode == mode || is_box, "{law:?} at {angle}");
            let slip = run.state.contacts[0].slip;
            assert!((slip - acceleration).abs() < 1e-8, "{law:?} at {angle}: {slip}");
        }
    }
}

#[test]
fn a_tall_box_tips_over_its_edge() {
    let half = [0.1, 0.15, 0.2];
    // It tips where the slope is steeper than width over height.
    let limit = 0.5_f64.atan();
    let (mut run, _) = on_incline(limit - 1e-3, half, 1.0, FrictionLaw::Cone);
    let start = run.rotation(0).orientation;
    run.advance(1.0);
    assert!((run.rotation(0).orientation.wxyz[2] - start.wxyz[2]).abs() < 1e-12);

    // Further it turns about its lower edge like a pendulum upside down.
    let angle = limit + 0.05;
    let length = half[0].hypot(half[2]);
    let inertia = 3.0 * (half[0] * half[0] + half[2] * half[2]) / 3.0 + 3.0 * length * length;
    let rate = |lean: f64| 3.0 * GRAVITY * length * lean.sin() / inertia;
    let (mut lean, mut speed) = (0.05_f64, 0.0_f64);
    let h = 1e-4;
    for _ in 0..4000 {
        let k1 = (speed, rate(lean));
        let k2 = (speed + 0.5 * h * k1.1, rate(lean + 0.5 * h * k1.0));
        let k3 = (speed + 0.5 * h * k2.1, rate(lean + 0.5 * h * k2.0));
        let k4 = (speed + h * k3.1, rate(lean + h * k3.0));
        lean += h / 6.0 * (k1.0 + 2.0 * (k2.0 + k3.0) + k4.0);
        speed += h / 6.0 * (k1.1 + 2.0 * (k2.1 + k3.1) + k4.1);
    }
    assert!(lean > 0.2, "{lean}");
    let error = |step: f64| {
        let (mut run, down) = on_incline(angle, half, 1.0, FrictionLaw::Cone);
        let edge = run.state.nodes[0].position + down * half[0]
            - Vector3::new(angle.sin(), 0.0, angle.cos()) * half[2];
        run.state.parameters.step = step;
        run.advance(0.4);
        let turned = run.rotation(0).orientation;
        let turned = 2.0 * turned.wxyz[2].atan2(turned.wxyz[0]) - angle;
        let node = &run.state.nodes[0];
        let corner = node.position
            + run.state.rotations[0].orientation.to_world(&Vector3::new(half[0], 0.0, -half[2]));
        ((turned - (lean - 0.05)).abs(), (corner - edge).norm())
    };
    let errors = [2e-3, 1e-3, 5e-4].map(error);
    assert!(errors[1].0 < 2e-6 && errors[1].1 < 2e-6, "{errors:?}");
    for pair in errors.windows(2) {
        assert!(pair[0].0 > 3.5 * pair[1].0, "of order 2: {errors:?}");
    }
}

#[test]
fn compliant_corners_share_the_load() {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(10.0, [0.5, 0.4, 0.3], [0.0, 0.0, 0.3]);
    scene.compliant_contact(node, floor, 0.0, 0.3, 1e7);
    let mut run = scene.build();
    for _ in 0..200 {
        run.advance(1e-3);
    }
    assert_eq!(run.state.memories.len(), 8);
    for (memory, corner) in run.state.memories.iter().zip(corners([0.5, 0.4, 0.3])) {
        let expected = if corner[2] < 0.0 { 24.525 } else { 0.0 };
        assert!((memory.normal - expected).abs() < 1e-6, "{corner}: {}", memory.normal);
    }
}

#[test]
fn a_turntable_carries_a_box() {
    let mut scene = Scene::new(GRAVITY);
    let (table, top) = scene.prescribed_table([0.0; 3]);
    let node = scene.cuboid(2.0, [0.1, 0.08, 0.05], [0.4, 0.0, 0.05]);
    scene.contact(node, top, 0.0, 0.5);
    let mut run = scene.build();
    run.rotation(table).angular_velocity[2] = 2.0;
    run.rotation(node).angular_velocity[2] = 2.0;
    run.state.nodes[node].velocity[1] = 0.8;
    for _ in 0..200 {
        run.advance(1e-2);
        assert_eq!(run.state.contacts[0].mode, ContactMode::Stick);
    }
    let expected = Vector3::new(0.4 * 4.0_f64.cos(), 0.4 * 4.0_f64.sin(), 0.05);
    let error = (run.state.nodes[node].position - expected).norm();
    assert!(error < 1e-5, "{error:e}");
    let along = run.rotation(node).orientation.to_world(&Vector3::x());
    assert!((along - Vector3::new(4.0_f64.cos(), 4.0_f64.sin(), 0.0)).norm() < 1e-5, "{along}");
}

#[test]
fn a_box_that_hits_a_free_table_keeps_momentum() {
    let mut scene = Scene::new(0.0);
    let (table, top) = scene.table(3.0, [0.3, 0.2, 0.4], [0.1, -0.2, 0.0], 0.2);
    let node = scene.cuboid(1.5, [0.2, 0.15, 0.1], [0.4, 0.1, 0.7]);
    scene.contact(node, top, 0.4, 0.3);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
    run.rotation(node).angular_velocity = Vector3::new(3.0, -4.0, 2.0);
    run.state.nodes[node].velocity = Vector3::new(0.2, -0.3, -2.0);
    run.rotation(table).angular_velocity = Vector3::new(0.2, -0.5, 1.5);
    let (momentum, angular) = run.momenta();
    let mut energy = mechanical_energy(&run.system, &run.state);
    let mut impacts = 0;
    for _ in 0..1000 {
        run.advance(1e-3);
        let (now, angular_now) = run.momenta();
        assert!((now - momentum).norm() < 1e-13);
        assert!((angular_now - angular).norm() < 1e-12, "{:e}", (angular_now - angular).norm());
        let kept = mechanical_energy(&run.system, &run.state);
        // Free rotation keeps the energy to order 2.
        assert!(kept < energy + 1e-7, "{:e}", kept - energy);
        energy = kept;
        impacts += u32::from(run.state.contacts[0].normal_impulse > 0.0);
    }
    assert!(impacts >= 2, "{impacts}");
}

#[test]
fn derivatives_of_a_box_that_hits_with_a_corner() {
    for mu in [0.1, 2.0] {
        let mut scene = Scene::new(GRAVITY);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.4]);
        scene.contact(node, floor, 0.5, mu);
        let mut run = scene.build();
        run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
        run.rotation(node).angular_velocity = Vector3::new(1.0, -2.0, 0.5);
        run.state.nodes[node].velocity = Vector3::new(0.5, -0.2, 0.0);
        run.advance_to_the_hit(2e-3);
        compare(&run, 2e-3, false);
    }
}

#[test]
fn derivatives_of_a_tripod_that_slides() {
    // On three points the load is unique; four corners may share it, and so their friction, in many ways.
    let feet = [[0.2, 0.0, -0.1], [-0.1, 0.15, -0.1], [-0.1, -0.12, -0.1]].map(Vector3::from);
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.pointed(1.5, [0.02, 0.03, 0.04], &feet, [0.0, 0.0, 0.1]);
    scene.contact(node, floor, 0.2, 0.3);
    let mut run = scene.build();
    run.state.nodes[node].velocity = Vector3::new(1.0, 0.4, 0.0);
    run.rotation(node).angular_velocity[2] = 2.0;
    for _ in 0..10 {
        run.advance(1e-3);
    }
    assert_eq!(run.state.contacts[0].mode, ContactMode::Slip);
    compare(&run, 2e-3, true);
}
