//! Nodes that touch solids and one another, against closed forms.

use crate::bodies::{Scene, compare};
use crate::common;
use contact_fmu::engine::Solid;
use contact_fmu::engine::geometry::solids::{Ball, Cuboid, Cylinder};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;

/// Two balls without friction: the velocity along the line of centres changes by `(1 + e)` times the reduced mass, the
/// time of impact is the root of a quadratic.
#[test]
fn balls_that_meet_obliquely_move_as_the_closed_form() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut scene = Scene::new(0.0);
        let one = scene.ball(1.0, 0.1, [0.0, 0.0, 0.0]);
        let other = scene.ball(2.5, 0.2, [1.0, 0.15, -0.05]);
        let surface = scene.surface_of(other);
        scene.contact(one, surface, restitution, 0.0);
        let mut run = scene.build();
        run.state.nodes[one].velocity = Vector3::new(3.0, 0.2, 0.1);
        run.state.nodes[other].velocity = Vector3::new(-1.0, 0.1, -0.2);
        let start = run.state.clone();
        let momentum = run.momenta();
        for _ in 0..50 {
            run.advance(1e-2);
        }
        let apart = start.nodes[one].position - start.nodes[other].position;
        let speed = start.nodes[one].velocity - start.nodes[other].velocity;
        let (a, b, c) = (speed.norm_squared(), apart.dot(&speed), apart.norm_squared() - 0.09);
        let time = (-b - (b * b - a * c).sqrt()) / a;
        let normal = (apart + speed * time) / 0.3;
        let impulse = -(1.0 + restitution) * normal.dot(&speed) / (1.0 + 1.0 / 2.5);
        for (node, push) in [(one, impulse), (other, -impulse / 2.5)] {
            let before = &start.nodes[node];
            let after = before.velocity + normal * push;
            let place = before.position + before.velocity * time + after * (0.5 - time);
            assert!((run.state.nodes[node].velocity - after).norm() < 1e-12, "{restitution}");
            assert!((run.state.nodes[node].position - place).norm() < 1e-12, "{restitution}");
        }
        assert!((momentum.0 - run.momenta().0).norm() < 1e-14);
    }
}

/// Rough balls: the impulse stays in the cone, and neither momentum nor angular momentum changes.
#[test]
fn rough_balls_keep_momentum_and_angular_momentum() {
    for mu in [0.05, 0.3, 2.0] {
        let mut scene = Scene::new(0.0);
        let one = scene.solid_ball(1.0, 0.1, [0.0, 0.0, 0.0]);
        let other = scene.solid_ball(0.3, 0.15, [0.5, 0.1, 0.02]);
        let surface = scene.surface_of(other);
        scene.contact(one, surface, 0.7, mu);
        let mut run = scene.build();
        run.state.nodes[one].velocity = Vector3::new(2.0, 0.0, 0.3);
        run.rotation(one).angular_velocity = Vector3::new(3.0, -20.0, 11.0);
        run.rotation(other).angular_velocity = Vector3::new(-7.0, 5.0, 30.0);
        let (momentum, angular) = run.momenta();
        let mut pressed = 0.0;
        for _ in 0..500 {
            run.advance(1e-3);
            let contact = &run.state.contacts[0];
            pressed += contact.normal_impulse;
            let limit = mu * contact.normal_impulse * (1.0 + 1e-9);
            assert!(contact.tangential_impulse.norm() <= limit + 1e-14);
        }
        assert!(pressed > 0.3, "they have met");
        let after = run.momenta();
        assert!((after.0 - momentum).norm() < 1e-14 && (after.1 - angular).norm() < 1e-14, "{mu}");
    }
}

/// Height of the centre over that of the sphere at which a ball leaves it, as a part of the distance of the centres.
fn leaving_height(rolls: bool, step: f64) -> f64 {
    let (radius, ball) = (1.0, 0.05);
    let mut scene = Scene::new(GRAVITY).with_step(step);
    let big = scene.solid(Solid::Ball(Ball { radius }), [0.0, 0.0, 0.0]);
    let height = radius + ball;
    let tilt: f64 = 0.1;
    let start = [height * tilt.sin(), 0.0, height * tilt.cos()];
    let node = if rolls { scene.solid_ball(1.0, ball, start) } else { scene.ball(1.0, ball, start) };
    scene.contact(node, big, 0.0, if rolls { 10.0 } else { 0.0 });
    let mut run = scene.build();
    // As if it had come from the top.
    let energy = GRAVITY * height * (1.0 - tilt.cos());
    let speed = (2.0 * energy / if rolls { 1.4 } else { 1.0 }).sqrt();
    run.state.nodes[node].velocity = Vector3::new(tilt.cos(), 0.0, -tilt.sin()) * speed;
    if rolls {
        run.rotation(node).angular_velocity = Vector3::new(0.0, speed / ball, 0.0);
    }
    loop {
        let before = run.state.nodes[node].position[2] / height;
        run.advance(step);
        if run.state.contacts[0].normal_impulse == 0.0 {
            return before;
        }
        let gap = run.state.nodes[node].position.norm() - height;
        assert!(gap.abs() < 1e-12, "it stays on the sphere: {gap:e}");
    }
}

/// A body that slides from the top of a sphere leaves it at the cosine 2/3, a ball that rolls at 10/17.
#[test]
fn balls_leave_a_sphere_where_they_should() {
    for (rolls, cosine) in [(false, 2.0 / 3.0), (true, 10.0 / 17.0)] {
        let errors = [1e-3, 5e-4].map(|step| (leaving_height(rolls, step) - cosine).abs());
        // The last step in contact is at most a step away, which is 3e-3 of the height.
        assert!(errors[0] < 3.5e-3 && errors[1] < 1.8e-3, "{rolls}: {errors:?}");
    }
}

/// The top of a box is a plane.
#[test]
fn a_ball_bounces_on_a_box_as_on_a_plane() {
    let run = |is_box: bool| {
        let mut scene = Scene::new(GRAVITY);
        let node = scene.ball(1.0, 0.1, [0.3, -0.2, 1.0]);
        let floor = if is_box {
            scene.solid(Solid::Box(Cuboid { half: Vector3::new(2.0, 1.0, 0.5) }), [0.0, 0.0, -0.5])
        } else {
            scene.plane([0.0, 0.0, 1.0])
        };
        scene.contact(node, floor, 0.8, 0.2);
        let mut run = scene.build();
        run.state.nodes[node].velocity = Vector3::new(0.2, 0.1, 0.0);
        (0..3000)
            .map(|_| {
                run.advance(1e-3);
                run.state.nodes[node].position
            })
            .collect::<Vec<_>>()
    };
    for (on_box, on_plane) in run(true).into_iter().zip(run(false)) {
        assert!((on_box - on_plane).norm() < 1e-11);
    }
}

/// A ball of 1 mm at 100 m/s against a plate of 1 mm, at steps in which it flies a hundred times as far.
#[test]
fn nothing_tunnels_through_a_thin_plate() {
    for offset in [0.0, 0.013, 0.037, 0.0999] {
        for lift in [0.0, 3.0] {
            let mut scene = Scene::new(GRAVITY);
            let ball = scene.ball(1e-6, 5e-4, [-0.3 - offset, 0.0, 0.0]);
            let plate =
                scene.solid(Solid::Box(Cuboid { half: Vector3::new(5e-4, 0.5, 0.5) }), [0.0, 0.0, 0.0]);
            scene.contact(ball, plate, 0.5, 0.0);
            let mut run = scene.build();
            run.state.nodes[ball].velocity = Vector3::new(100.0, lift, lift);
            for _ in 0..10 {
                run.advance(1e-3);
                assert!(run.state.nodes[ball].position[0] <= -1e-3 + 1e-12);
            }
            assert!((run.state.nodes[ball].velocity[0] + 50.0).abs() < 1e-9);
        }
    }
}

/// A ball that falls past the rim of a cylinder is turned away by the rim, along the line from it to the centre.
#[test]
fn a_ball_glances_off_the_rim_of_a_cylinder() {
    let mut scene = Scene::new(0.0);
    let ball = scene.ball(1.0, 0.1, [0.56, 0.0, 1.0]);
    let axis = Vector3::z() * 0.5;
    let post = scene.solid(Solid::Cylinder(Cylinder { half_axis: axis, radius: 0.5 }), [0.0, 0.0, 0.0]);
    scene.contact(ball, post, 1.0, 0.0);
    let mut run = scene.build();
    run.state.nodes[ball].velocity = Vector3::new(0.0, 0.0, -2.0);
    for _ in 0..400 {
        run.advance(1e-3);
    }
    let normal = Vector3::new(0.6, 0.0, 0.8);
    let after = Vector3::new(0.0, 0.0, -2.0) + normal * (2.0 * 2.0 * 0.8);
    assert!((run.state.nodes[ball].velocity - after).norm() < 1e-10);
}

/// A box on which a ball lands: what the ball loses the box gains.
#[test]
fn a_ball_hits_a_free_box() {
    let mut scene = Scene::new(0.0);
    let ball = scene.solid_ball(0.5, 0.1, [0.2, 0.1, 1.0]);
    let cuboid = scene.solid_box(2.0, [0.5, 0.4, 0.2], [0.0, 0.0, 0.0]);
    let surface = scene.surface_of(cuboid);
    scene.contact(ball, surface, 0.6, 0.4);
    let mut run = scene.build();
    run.state.nodes[ball].velocity = Vector3::new(0.3, -0.2, -3.0);
    let (momentum, angular) = run.momenta();
    for _ in 0..400 {
        run.advance(1e-3);
    }
    let after = run.momenta();
    assert!(run.state.nodes[cuboid].velocity[2] < -0.3, "it was hit");
    assert!((after.0 - momentum).norm() < 1e-14);
    assert!((after.1 - angular).norm() < 1e-12, "{:e}", (after.1 - angular).norm());
}

#[test]
fn derivatives_agree_with_differences() {
    let mut scene = Scene::new(GRAVITY);
    let one = scene.solid_ball(1.0, 0.1, [0.0, 0.0, 0.0]);
    let other = scene.solid_ball(2.5, 0.2, [0.305, 0.03, -0.05]);
    let surface = scene.surface_of(other);
    scene.contact(one, surface, 0.5, 0.3);
    let mut run = scene.build();
    run.state.nodes[one].velocity = Vector3::new(3.0, 0.2, 0.1);
    run.rotation(other).angular_velocity = Vector3::new(1.0, 2.0, 3.0);
    run.advance_to_the_hit(1e-3);
    compare(&run, 1e-3, false);
}

/// Balls at rest, and the velocities that they have after an impact, by model.
#[test]
fn billiard_balls_part_all_at_once_or_in_turn() {
    for (gap, expected) in [(0.0, [-0.5, 1.0, 1.0]), (1e-9, [0.0, 0.0, 1.5])] {
        let mut model = common::model("billiards");
        model.nodes[2].position[0] += gap;
        let run = common::run(&model, 1e-3, 1.0);
        let last = run.states.last().expect("there are states");
        for (node, velocity) in last.nodes.iter().zip(expected) {
            assert!((node.velocity - Vector3::new(velocity, 0.0, 0.0)).norm() < 1e-10, "{gap}: {node:?}");
        }
        let impact = (0.5 - 0.057) / 1.5;
        let cue = -0.057 + expected[0] * (1.0 - impact);
        assert!((last.nodes[0].position[0] - cue).abs() < 1e-10);
    }
}
