//! Surfaces that bodies carry: prescribed motion, exchange of momentum, turning.

use crate::bodies::{Scene, Simulation, compare};
use contact_fmu::engine::{ContactMode, gap, mechanical_energy};
use nalgebra::{Matrix2, Vector2, Vector3};

const GRAVITY: f64 = 9.81;
const INFINITE: f64 = f64::INFINITY;

#[test]
fn a_ball_is_carried_by_a_shaken_table() {
    let mut scene = Scene::new(GRAVITY);
    let (table, top) = scene.prescribed_table([0.0, 0.0, 0.3]);
    let ball = scene.ball(2.0, 0.1, [0.2, 0.0, 0.4]);
    scene.contact(ball, top, 0.5, 0.6);
    let mut run = scene.build();
    // Below the acceleration at which the ball takes off or slides.
    let velocity = |t: f64| Vector3::new(0.2 * (11.0 * t).sin(), 0.0, 0.3 * (20.0 * t).sin());
    let step = 1e-3;
    for k in 0..1000 {
        let time = f64::from(k) * step;
        let acceleration = (velocity(time + step) - velocity(time)) / step;
        run.coupling(table).acceleration.linear = acceleration;
        run.advance(step);
        assert!(gap(&run.system, &run.state, 0).abs() < 1e-13, "at {time}");
        let relative = run.state.nodes[ball].velocity - run.state.nodes[table].velocity;
        assert!(relative.norm() < 1e-12, "at {time}: {relative}");
        let offset = run.state.nodes[ball].position - run.state.nodes[table].position;
        assert!((offset - Vector3::new(0.2, 0.0, 0.1)).norm() < 1e-12, "at {time}: {offset}");
        assert_eq!(run.state.contacts[0].mode, ContactMode::Stick);
        let force = run.state.nodes[ball].contact_impulse / step;
        let expected = (acceleration + Vector3::z() * GRAVITY) * 2.0;
        assert!((force - expected).norm() < 1e-9, "at {time}: {force} {expected}");
        assert!((run.state.nodes[table].contact_impulse / step + expected).norm() < 1e-9);
        // The reaction has a moment about the origin of the table.
        let moment = Vector3::new(0.2, 0.0, 0.0).cross(&-expected);
        assert!((run.rotation(table).contact_impulse / step - moment).norm() < 1e-9, "at {time}");
    }
    assert!((run.state.nodes[table].velocity - velocity(1.0)).norm() < 1e-12, "nothing moves the table");
    assert!(mechanical_energy(&run.system, &run.state).is_finite());
}

#[test]
fn a_table_that_falls_away_lets_go_and_catches_again() {
    let mut scene = Scene::new(GRAVITY);
    let (table, top) = scene.prescribed_table([0.0; 3]);
    let ball = scene.ball(2.0, 0.1, [0.0, 0.0, 0.1]);
    scene.contact(ball, top, 0.0, 0.0);
    let mut run = scene.build();
    run.coupling(table).acceleration.linear[2] = -15.0;
    run.advance(0.2);
    let fallen = 0.5 * GRAVITY * 0.04;
    assert!((run.state.nodes[ball].position[2] - (0.1 - fallen)).abs() < 1e-13);
    assert_eq!(run.state.contacts[0].mode, ContactMode::Open);
    // The table slows down: they meet where the two parabolas cross.
    run.coupling(table).acceleration.linear[2] = 20.0;
    let distance = 0.5 * (15.0 - GRAVITY) * 0.04;
    let apart = (15.0 - GRAVITY) * 0.2;
    let closing = 20.0 + GRAVITY;
    let meet = (apart + (apart * apart + 2.0 * closing * distance).sqrt()) / closing;
    run.advance(meet + 0.01);
    let expected = -3.0 + 20.0 * (meet + 0.01);
    assert!((run.state.nodes[ball].velocity[2] - expected).abs() < 1e-12, "rests on the table");
    let impulse = 2.0 * (closing * meet - apart) + 2.0 * closing * 0.01;
    let found = run.state.contacts[0].normal_impulse;
    assert!((found - impulse).abs() < 1e-10, "{found} {impulse}");
}

#[test]
fn central_impact_exchanges_momentum_by_restitution() {
    for (mass, restitution) in [(5.0, 0.6), (0.5, 1.0), (1.0, 0.0)] {
        let mut scene = Scene::new(0.0);
        let (table, top) = scene.table(mass, [0.3, 0.2, 0.4], [0.1, -0.2, 0.0], 0.2);
        let ball = scene.solid_ball(1.5, 0.1, [0.1, -0.2, 0.8]);
        scene.contact(ball, top, restitution, 0.3);
        let mut run = scene.build();
        run.state.nodes[ball].velocity[2] = -2.0;
        run.state.nodes[table].velocity[2] = 0.5;
        run.advance(0.3);
        let centre = (1.5 * -2.0 + mass * 0.5) / (1.5 + mass);
        let ball_after = centre + restitution * mass / (1.5 + mass) * 2.5;
        let table_after = centre - restitution * 1.5 / (1.5 + mass) * 2.5;
        assert!((run.state.nodes[ball].velocity - Vector3::z() * ball_after).norm() < 1e-14);
        assert!((run.state.nodes[table].velocity - Vector3::z() * table_after).norm() < 1e-14);
        assert_eq!(run.rotation(table).angular_velocity, Vector3::zeros());
        // They met after 0.2 s.
        let height = 0.8 - 2.0 * 0.2 + ball_after * 0.1;
        assert!((run.state.nodes[ball].position[2] - height).abs() < 1e-14);
    }
}

/// A ball that turns and a free table that turns, about to meet off the centre.
fn collision(mu: f64) -> (Simulation, usize, usize) {
    let mut scene = Scene::new(0.0);
    let (table, top) = scene.table(3.0, [0.3, 0.2, 0.4], [0.1, -0.2, 0.0], 0.2);
    let ball = scene.solid_ball(1.5, 0.1, [0.5, 0.1, 0.6]);
    scene.contact(ball, top, 0.7, mu);
    let mut run = scene.build();
    run.state.nodes[ball].velocity = Vector3::new(0.4, -0.3, -2.0);
    run.state.nodes[table].velocity = Vector3::new(0.1, 0.2, 0.3);
    run.rotation(table).angular_velocity = Vector3::new(0.2, -0.5, 1.5);
    run.rotation(ball).angular_velocity = Vector3::new(3.0, 4.0, -5.0);
    (run, ball, table)
}

#[test]
fn collisions_keep_momentum_and_angular_momentum() {
    for mu in [0.0, 0.2, 2.0] {
        let (mut run, ball, _) = collision(mu);
        let (momentum, angular) = run.momenta();
        let mut energy = mechanical_energy(&run.system, &run.state);
        let mut impacts = 0;
        for _ in 0..400 {
            run.advance(1e-3);
            let (now, angular_now) = run.momenta();
            assert!((now - momentum).norm() < 1e-13, "mu {mu}: momentum {}", (now - momentum).norm());
            let lost = (angular_now - angular).norm();
            assert!(lost < 1e-12, "mu {mu}: angular momentum {lost:e}");
            if run.state.contacts[0].normal_impulse > 0.0 {
                impacts += 1;
                let after = mechanical_energy(&run.system, &run.state);
                assert!(after < energy, "mu {mu}");
                let turned = run.rotation(ball).contact_impulse.norm();
                assert_eq!(turned > 1e-9, mu > 0.0);
            }
            energy = mechanical_energy(&run.system, &run.state);
        }
        assert_eq!(impacts, 1, "mu {mu}");
        let total = energy + run.state.step.dissipated;
        let (start, ..) = collision(mu);
        // Free rotation keeps the energy to order 2.
        assert!((total - mechanical_energy(&start.system, &start.state)).abs() < 1e-5, "mu {mu}");
    }
}

#[test]
fn restitution_holds_at_the_touching_point_of_a_turning_table() {
    for mu in [0.0, 0.2, 2.0] {
        let (mut run, ball, table) = collision(mu);
        // Go there by halving the step, so that the impact is within the last step.
        let mut step = 0.05;
        while step > 1e-12 {
            let before = run.state.clone();
            run.advance(step);
            if run.state.contacts[0].normal_impulse > 0.0 {
                run.state = before;
                step *= 0.5;
            }
        }
        let relative = |run: &mut Simulation| {
            let normal = run.rotation(table).orientation.to_world(&Vector3::z());
            let (nodes, ball_spin) = (run.state.nodes.clone(), run.rotation(ball).angular_velocity);
            let point = nodes[ball].position - normal * 0.1;
            let surface = nodes[table].velocity
                + run.rotation(table).angular_velocity.cross(&(point - nodes[table].position));
            let velocity = nodes[ball].velocity + ball_spin.cross(&(normal * -0.1)) - surface;
            (normal.dot(&velocity), velocity - normal * normal.dot(&velocity))
        };
        let (closing, sliding) = relative(&mut run);
        run.advance(1e-11);
        assert!(run.state.contacts[0].normal_impulse > 0.0);
        let (opening, left) = relative(&mut run);
        assert!((opening + 0.7 * closing).abs() < 1e-9, "mu {mu}: {closing} {opening}");
        match mu {
            0.0 => assert!((sliding - left).norm() > 1e-3, "turning changes the sliding velocity"),
            0.2 => assert!(left.norm() > 0.1),
            _ => assert!(left.norm() < 1e-9, "friction stops the touching point: {left}"),
        }
    }
}

#[test]
fn two_balls_on_one_free_table_are_one_problem() {
    let mut scene = Scene::new(0.0);
    let (table, top) = scene.table(2.0, [INFINITE, 0.15, INFINITE], [0.0; 3], 0.0);
    let places = [-0.3, 0.5];
    let masses = [0.8, 1.3];
    let restitutions = [0.9, 0.2];
    let speeds = [-1.0, -2.5];
    for index in 0..2 {
        // Both arrive after 0.1 s.
        let ball = scene.ball(masses[index], 0.1, [places[index], 0.0, 0.1 - 0.1 * speeds[index]]);
        scene.contact(ball, top, restitutions[index], 0.0);
    }
    let mut run = scene.build();
    assert_eq!(run.system.islands.len(), 1);
    for (index, &speed) in speeds.iter().enumerate() {
        run.state.nodes[1 + index].velocity[2] = speed;
    }
    run.advance(0.1 + 1e-6);
    // W p = -(1 + e) u, with the height of the table's surface at x moving by v - w x.
    let w = Matrix2::from_fn(|i, j| {
        let own = if i == j { 1.0 / masses[i] } else { 0.0 };
        own + 1.0 / 2.0 + places[i] * places[j] / 0.15
    });
    let closing = Vector2::from_fn(|i, _| -(1.0 + restitutions[i]) * speeds[i]);
    let p = w.lu().solve(&closing).unwrap();
    assert!(p[0] > 0.0 && p[1] > 0.0, "both push");
    for index in 0..2 {
        let velocity = run.state.nodes[1 + index].velocity;
        assert!((velocity[2] - (speeds[index] + p[index] / masses[index])).abs() < 1e-12, "{velocity}");
        assert!((run.state.contacts[index].normal_impulse - p[index]).abs() < 1e-12);
    }
    assert!((run.state.nodes[table].velocity[2] + (p[0] + p[1]) / 2.0).abs() < 1e-12);
    let spin = (places[0] * p[0] + places[1] * p[1]) / 0.15;
    assert!((run.rotation(table).angular_velocity - Vector3::y() * spin).norm() < 1e-12);
}

#[test]
fn nodes_on_fixed_surfaces_stay_on_their_own() {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let (_, shared) = scene.prescribed_table([0.0, 0.0, -1.0]);
    let (_, own) = scene.prescribed_table([0.0, 0.0, -2.0]);
    for index in 0..4 {
        let ball = scene.ball(1.0, 0.1, [0.0, 0.0, 1.0]);
        scene.contact(ball, floor, 0.0, 0.0);
        if index > 0 {
            scene.contact(ball, if index == 3 { own } else { shared }, 0.0, 0.0);
        }
    }
    let islands: Vec<(Vec<usize>, Vec<usize>)> =
        scene.build().system.islands.into_iter().map(|island| (island.nodes, island.contacts)).collect();
    assert_eq!(islands, [(vec![0, 3, 4], vec![1, 2, 3, 4]), (vec![1, 5], vec![5, 6]), (vec![2], vec![0])]);
}

/// A ball at 0.5 m from the axis of a turntable that turns with 2 rad/s.
fn turntable(mu: f64, rolls: bool) -> (Simulation, usize) {
    let mut scene = Scene::new(GRAVITY);
    let (table, top) = scene.prescribed_table([0.0; 3]);
    let ball = if rolls {
        scene.solid_ball(1.5, 0.1, [0.5, 0.0, 0.1])
    } else {
        scene.ball(1.5, 0.1, [0.5, 0.0, 0.1])
    };
    scene.contact(ball, top, 0.0, mu);
    let mut run = scene.build();
    run.rotation(table).angular_velocity[2] = 2.0;
    (run, ball)
}

#[test]
fn a_turntable_carries_what_friction_holds() {
    // The pull on the circle is w^2 r = 2 m/s^2: held from mu = 0.2039.
    for mu in [0.21, 0.5] {
        let (mut run, ball) = turntable(mu, false);
        run.state.nodes[ball].velocity = Vector3::new(0.0, 1.0, 0.0);
        let mut worst = 0.0_f64;
        for k in 1..=3000 {
            run.advance(1e-3);
            let angle = 2.0 * 1e-3 * f64::from(k);
            let expected = Vector3::new(0.5 * angle.cos(), 0.5 * angle.sin(), 0.1);
            worst = worst.max((run.state.nodes[ball].position - expected).norm());
            assert_eq!(run.state.contacts[0].mode, ContactMode::Stick);
            assert!(run.state.contacts[0].slip < 3e-6, "{}", run.state.contacts[0].slip);
        }
        assert!(worst < 1e-5, "mu {mu}: {worst:e}");
    }
}

#[test]
fn a_turntable_that_starts_takes_the_ball_along() {
    let (mut run, ball) = turntable(0.5, false);
    run.rotation(0).angular_velocity = Vector3::zeros();
    run.coupling(0).acceleration.angular[2] = 1.0;
    for _ in 0..1500 {
        run.advance(1e-3);
    }
    let angle = 0.5 * 1.5_f64 * 1.5;
    let expected = Vector3::new(0.5 * angle.cos(), 0.5 * angle.sin(), 0.1);
    let error = (run.state.nodes[ball].position - expected).norm();
    assert!(error < 1e-6, "{error:e}");
    assert!((run.rotation(0).angular_velocity[2] - 1.5).abs() < 1e-12);
}

#[test]
fn a_ball_slides_on_a_turntable_beyond_the_limit() {
    let (mut run, ball) = turntable(0.2, false);
    run.state.nodes[ball].velocity = Vector3::new(0.0, 1.0, 0.0);
    run.advance(0.5);
    assert_eq!(run.state.contacts[0].mode, ContactMode::Slip);
    assert!(run.state.nodes[ball].position.xy().norm() > 0.5);

    // From rest on the ground, against the differential equation: friction along the velocity of the surface
    // relative to the ball.
    let acceleration = |position: Vector2<f64>, velocity: Vector2<f64>| {
        let relative = velocity - Vector2::new(-position[1], position[0]) * 2.0;
        -relative.normalize() * (0.1 * GRAVITY)
    };
    let (mut position, mut velocity) = (Vector2::new(0.5, 0.0), Vector2::zeros());
    let h = 1e-4;
    for _ in 0..8000 {
        let k1 = (velocity, acceleration(position, velocity));
        let k2 = (
            velocity + k1.1 * (0.5 * h),
            acceleration(position + k1.0 * (0.5 * h), velocity + k1.1 * (0.5 * h)),
        );
        let k3 = (
            velocity + k2.1 * (0.5 * h),
            acceleration(position + k2.0 * (0.5 * h), velocity + k2.1 * (0.5 * h)),
        );
        let k4 = (velocity + k3.1 * h, acceleration(position + k3.0 * h, velocity + k3.1 * h));
        position += (k1.0 + (k2.0 + k3.0) * 2.0 + k4.0) * (h / 6.0);
        velocity += (k1.1 + (k2.1 + k3.1) * 2.0 + k4.1) * (h / 6.0);
    }
    let error = |step: f64| {
        let (mut run, ball) = turntable(0.1, false);
        run.state.parameters.step = step;
        run.advance(0.8);
        (run.state.nodes[ball].position.xy() - position).norm()
    };
    let errors = [2e-3, 1e-3, 5e-4].map(error);
    assert!(errors[1] < 3e-4, "{errors:?}");
    assert!(errors[0] > 1.9 * errors[1] && errors[1] > 1.9 * errors[2], "{errors:?}");
}

#[test]
fn a_ball_rolls_on_a_turntable_in_a_circle() {
    // Rolling without slip on a table turning with w, a solid sphere runs in a circle with 2/7 w. [Routh]
    let (mut run, ball) = turntable(0.9, true);
    // The touching point is carried with w r: start with the centre at rest, spun so that it does not slip.
    run.rotation(ball).angular_velocity[0] = 2.0 * 0.5 / 0.1;
    let mut worst = 0.0_f64;
    // v' = 2/7 w x v: with v = 0 the ball stays in place.
    for _ in 0..500 {
        run.advance(1e-3);
        worst = worst.max((run.state.nodes[ball].position - Vector3::new(0.5, 0.0, 0.1)).norm());
    }
    assert!(worst < 1e-9, "{worst:e}");
    // And with a push of v it runs in a circle of radius v / (2/7 w).
    let (mut run, ball) = turntable(0.9, true);
    let speed = 0.3;
    run.state.nodes[ball].velocity[1] = speed;
    run.rotation(ball).angular_velocity[0] = (2.0 * 0.5 - speed) / 0.1;
    let rate = 2.0 / 7.0 * 2.0;
    let mut worst = 0.0_f64;
    for k in 1..=3000 {
        run.advance(1e-3);
        let angle = rate * 1e-3 * f64::from(k);
        let radius = speed / rate;
        let expected = Vector3::new(0.5 - radius + radius * angle.cos(), radius * angle.sin(), 0.1);
        worst = worst.max((run.state.nodes[ball].position - expected).norm());
    }
    assert!(worst < 1e-3, "{worst:e}");
}

#[test]
fn a_turning_plane_hits_at_the_exact_time() {
    // A paddle turns about y and meets a ball that stands still in space.
    let build = || {
        let mut scene = Scene::new(0.0);
        let (paddle, face) = scene.prescribed_table([0.0; 3]);
        let ball = scene.ball(1.0, 0.1, [-0.8, 0.0, 0.5]);
        scene.contact(ball, face, 0.5, 0.0);
        let mut run = scene.build();
        run.rotation(paddle).angular_velocity[1] = 3.0;
        run.coupling(paddle).acceleration.angular[1] = 2.0;
        (run, ball)
    };
    let height = |t: f64| {
        let angle: f64 = 3.0 * t + 0.5 * 2.0 * t * t;
        -0.8 * angle.sin() + 0.5 * angle.cos() - 0.1
    };
    let (mut open, mut closed) = (0.0, 0.3);
    assert!(height(open) > 0.0 && height(closed) < 0.0);
    for _ in 0..100 {
        let middle = 0.5 * (open + closed);
        if height(middle) > 0.0 { open = middle } else { closed = middle }
    }
    for step in [1e-3, 0.5] {
        let (mut run, ball) = build();
        run.state.parameters.step = step;
        run.advance(open + 1e-2);
        let spin = Vector3::y() * (3.0 + 2.0 * open);
        let angle: f64 = 3.0 * open + open * open;
        let normal = Vector3::new(angle.sin(), 0.0, angle.cos());
        let point = Vector3::new(-0.8, 0.0, 0.5) - normal * 0.1;
        let speed = 1.5 * normal.dot(&spin.cross(&point));
        let velocity = run.state.nodes[ball].velocity;
        assert!((velocity - normal * speed).norm() < 1e-10, "{velocity}");
        let position = Vector3::new(-0.8, 0.0, 0.5) + normal * (speed * 1e-2);
        assert!((run.state.nodes[ball].position - position).norm() < 1e-11);
    }
}

#[test]
fn derivatives_of_a_collision_with_a_turning_table() {
    for mu in [0.05, 0.2, 2.0] {
        let (mut run, ..) = collision(mu);
        run.advance_to_the_hit(2e-3);
        compare(&run, 2e-3, false);
    }
}

#[test]
fn derivatives_of_a_collision_with_a_table_at_rest() {
    let mut scene = Scene::new(GRAVITY);
    let (_, top) = scene.table(3.0, [0.3, 0.2, 0.4], [0.1, -0.2, 0.0], 0.2);
    let ball = scene.ball(1.5, 0.1, [0.5, 0.1, 0.302]);
    scene.contact(ball, top, 0.7, 0.1);
    let mut run = scene.build();
    run.state.nodes[ball].velocity = Vector3::new(0.4, -0.3, -2.0);
    compare(&run, 2e-3, false);
}

#[test]
fn derivatives_on_a_turntable() {
    for mu in [0.15, 0.5] {
        for rolls in [false, true] {
            let (mut run, ball) = turntable(mu, rolls);
            run.state.nodes[ball].velocity = Vector3::new(0.0, 1.0, 0.0);
            for _ in 0..10 {
                run.advance(1e-3);
            }
            compare(&run, 2e-3, true);
        }
    }
}
