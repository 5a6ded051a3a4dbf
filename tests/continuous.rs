//! Continuous contact against closed forms, and against the same equations integrated by other means.

use crate::bodies::{Scene, Simulation};
use crate::contact_equations::{Ball, Motion, RESTITUTIONS, TABLE, law};
use contact_fmu::engine::law::continuous::kelvin_voigt::KelvinVoigt;
use contact_fmu::engine::law::continuous::spring::PowerSpring;
use contact_fmu::engine::law::continuous::{Compliance, ContinuousLaw};
use contact_fmu::engine::{ContactMode, Orientation, mechanical_energy};
use nalgebra::Vector3;

const STEEL: PowerSpring = PowerSpring { stiffness: 2.4e10, exponent: 1.5 };

fn soft(law: ContinuousLaw) -> Compliance {
    Compliance { law, tangential_stiffness: None }
}

/// All six laws, with a coefficient of restitution; about as stiff as `spring` for a depth of 1 mm.
fn all_laws(spring: PowerSpring) -> [ContinuousLaw; 6] {
    let linear = spring.force(1e-3) / 1e-3;
    [
        ContinuousLaw::KelvinVoigt(KelvinVoigt { stiffness: linear, damping: 0.1 * linear.sqrt() }),
        ContinuousLaw::Hertz(spring),
        ContinuousLaw::HuntCrossley(spring),
        ContinuousLaw::LankaraniNikravesh(spring),
        ContinuousLaw::Flores(spring),
        ContinuousLaw::Schmucker { stiffness: linear },
    ]
}

/// A ball just above a floor, falling with `speed`.
fn falling(
    law: ContinuousLaw,
    [restitution, mu]: [f64; 2],
    mass: f64,
    speed: f64,
    gravity: f64,
) -> Simulation {
    let mut scene = Scene::new(gravity);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let ball = scene.ball(mass, 0.1, [0.0, 0.0, 0.1 + 0.37e-3 * speed]);
    scene.continuous_contact(ball, floor, soft(law), [restitution, mu]);
    let mut run = scene.build();
    run.state.nodes[ball].velocity[2] = -speed;
    run
}

/// Rebound over impact speed, without gravity.
fn rebound(law: ContinuousLaw, restitution: f64, mass: f64, speed: f64, step: f64) -> f64 {
    let mut run = falling(law, [restitution, 0.0], mass, speed, 0.0);
    run.state.parameters.step = step;
    for _ in 0..1_000_000 {
        run.advance(step);
        let velocity = run.state.nodes[0].velocity[2];
        if run.state.nodes[0].position[2] > 0.1 && velocity > 0.0 {
            return velocity / speed;
        }
    }
    panic!("no rebound");
}

#[test]
fn effective_restitution_is_that_of_the_table() {
    let mut worst = 0.0_f64;
    for (name, row) in TABLE {
        for (restitution, expected) in RESTITUTIONS.into_iter().zip(row) {
            let found = rebound(law(name, STEEL), restitution, 1.0, 4.2, 1e-3);
            worst = worst.max((found - expected).abs());
            assert!((found - expected).abs() < 1e-3, "{name} {restitution}: {found} {expected}");
        }
        assert!((rebound(law(name, STEEL), 1.0, 1.0, 4.2, 1e-3) - 1.0).abs() < 1e-12, "{name}");
    }
    // The table has four digits.
    assert!(worst < 2e-4, "{worst:e}");
}

#[test]
fn effective_restitution_depends_on_nothing_else() {
    for (name, row) in TABLE {
        for place in [0, 4, 8] {
            for (stiffness, mass, speed, step) in [
                (2.4e10, 1.0, 4.2, 1e-5),
                (1e5, 0.01, 0.3, 1e-3),
                (3e7, 40.0, 11.0, 1e-4),
                (1e12, 1e-3, 1e-3, 1e-2),
            ] {
                let law = law(name, PowerSpring { stiffness, exponent: 1.5 });
                let found = rebound(law, RESTITUTIONS[place], mass, speed, step);
                let error = (found - row[place]).abs();
                assert!(
                    error < 3e-4,
                    "{name} {} with {stiffness} {mass} {speed} {step}: {error:e}",
                    RESTITUTIONS[place]
                );
            }
        }
    }
}

#[test]
fn hertz_keeps_energy_and_has_its_depth_and_duration() {
    let (mass, speed) = (0.7, 3.0);
    let mut run = falling(ContinuousLaw::Hertz(STEEL), [0.0, 0.0], mass, speed, 0.0);
    let step = 1e-7;
    run.state.parameters.step = step;
    let energy = 0.5 * mass * speed * speed;
    let (mut depth, mut duration) = (0.0_f64, 0.0);
    while run.state.nodes[0].velocity[2] < 0.0 || run.state.nodes[0].position[2] < 0.1 {
        run.advance(step);
        depth = depth.max(0.1 - run.state.nodes[0].position[2]);
        duration += f64::from(run.state.contacts[0].normal_impulse > 0.0) * step;
        assert!((mechanical_energy(&run.system, &run.state) - energy).abs() < 1e-10 * energy, "{duration}");
    }
    // E(depth) is the kinetic energy; the duration is a quotient of gamma functions.
    let deepest = STEEL.depth_of_energy(energy);
    assert!((depth / deepest - 1.0).abs() < 1e-5, "{depth} {deepest}");
    let lasts = 2.943_276_5 * deepest / speed;
    assert!((duration / lasts - 1.0).abs() < 5e-3, "{duration} {lasts}");
    assert!((run.state.nodes[0].velocity[2] / speed - 1.0).abs() < 1e-11);
}

#[test]
fn kelvin_voigt_has_its_depth_duration_and_rebound() {
    for damping_ratio in [0.0, 0.07, 0.4, 0.8] {
        let (mass, speed, stiffness) = (2.0, 1.5, 1e6_f64);
        let omega = (stiffness / mass).sqrt();
        let law = KelvinVoigt { stiffness, damping: 2.0 * damping_ratio * mass * omega };
        let mut run = falling(ContinuousLaw::KelvinVoigt(law), [0.0, 0.0], mass, speed, 0.0);
        let step = 1e-6;
        run.state.parameters.step = step;
        let (mut depth, mut duration) = (0.0_f64, 0.0);
        while run.state.nodes[0].velocity[2] < 0.0 || run.state.nodes[0].position[2] < 0.1 {
            run.advance(step);
            depth = depth.max(0.1 - run.state.nodes[0].position[2]);
            duration += f64::from(run.state.contacts[0].normal_impulse > 0.0) * step;
        }
        // x'' + 2 z w x' + w^2 x = 0 until the force, not the depth, is zero.
        let root = (1.0 - damping_ratio * damping_ratio).sqrt();
        let deepest = speed / omega * (-damping_ratio / root * damping_ratio.acos()).exp();
        let phase = f64::atan2(2.0 * damping_ratio * root, 2.0 * damping_ratio * damping_ratio - 1.0);
        let lasts = phase / (omega * root);
        let rebound = (-damping_ratio * omega * lasts).exp();
        let found = run.state.nodes[0].velocity[2] / speed;
        assert!((found - rebound).abs() < 1e-4, "{damping_ratio}: {found} {rebound}");
        assert!((depth / deepest - 1.0).abs() < 1e-3, "{damping_ratio}: {depth} {deepest}");
        assert!((duration / lasts - 1.0).abs() < 5e-3, "{damping_ratio}: {duration} {lasts}");
    }
}

#[test]
fn forces_never_pull_and_energy_never_rises() {
    for law in all_laws(STEEL) {
        for restitution in [0.05, 0.3, 0.8] {
            let mut run = falling(law, [restitution, 0.0], 1.0, 4.2, 9.81);
            run.state.parameters.step = 1e-6;
            let total =
                |run: &Simulation| mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
            let start = total(&run);
            let mut pressed = 0;
            for _ in 0..3000 {
                let before = run.state.step.dissipated;
                run.advance(1e-6);
                assert!(run.state.contacts[0].normal_impulse >= 0.0);
                pressed += u32::from(run.state.contacts[0].normal_impulse > 0.0);
                // A force of 1e5 N works over the round-off of a position.
                assert!(run.state.step.dissipated - before > -1e-11, "{law:?}");
                assert!((total(&run) - start).abs() < 1e-10, "{law:?}: {:e}", total(&run) - start);
            }
            assert!(pressed > 50 && run.state.nodes[0].velocity[2] > -4.2, "{law:?}");
        }
    }
}

#[test]
fn balls_of_steel_bounce_as_their_equations_say_at_any_step() {
    for law in all_laws(STEEL) {
        for step in [1e-5, 1e-3] {
            let mut scene = Scene::new(9.81).with_step(step);
            let floor = scene.plane([0.0, 0.0, 1.0]);
            let ball = scene.ball(1.0, 0.1, [0.0, 0.0, 1.0]);
            scene.continuous_contact(ball, floor, soft(law), [0.8, 0.0]);
            let mut run = scene.build();
            let mut exact = Motion::new(Ball { law, restitution: 0.8, mass: 1.0, gravity: 9.81 }, 0.9);
            let mut worst = 0.0_f64;
            for _ in 0..150 {
                (0..(1e-2 / step).round() as u32).for_each(|_| run.advance(step));
                exact.advance(1e-2);
                worst = worst.max((run.state.nodes[ball].position[2] - 0.1 - exact.height).abs());
            }
            assert!(exact.impacts > 1, "{law:?}");
            assert!(worst < 2e-4, "{law:?} at {step}: {worst:e}");
        }
    }
}

#[test]
fn a_manipulator_presses_as_its_equations_say() {
    // The cases of Fig. 6: restitution 0.8 and four kinds of ground; a tool of 3 kg is pressed on it with 60 N.
    let (mass, push, speed) = (3.0, 60.0, 0.1);
    for stiffness in [1e5, 1e4, 1e3, 500.0] {
        let law = ContinuousLaw::Schmucker { stiffness };
        let mut run = falling(law, [0.8, 0.0], mass, speed, 0.0);
        run.state.inputs[0].value[2] = -push;
        let gap = run.state.nodes[0].position[2] - 0.1;
        let mut exact = Motion::new(Ball { law, restitution: 0.8, mass, gravity: push / mass }, gap);
        exact.velocity = -speed;
        for _ in 0..2000 {
            run.advance(1e-3);
            exact.advance(1e-3);
            assert!(run.state.contacts[0].normal_impulse >= 0.0);
            let error = (run.state.nodes[0].position[2] - 0.1 - exact.height).abs();
            assert!(error < 2e-3 * push / stiffness + 1e-6, "{stiffness}: {error:e} at {}", run.state.time);
        }
        (0..20_000).for_each(|_| run.advance(1e-3));
        let force = run.state.contacts[0].normal_impulse / 1e-3;
        let depth = 0.1 - run.state.nodes[0].position[2];
        assert!((force / push - 1.0).abs() < 1e-3, "{stiffness}: {force} N");
        assert!((depth * stiffness / push - 1.0).abs() < 1e-3, "{stiffness}: {depth} m");
    }
}

/// A block at rest on a floor that carries it, pushed sideways.
fn pushed_block(law: ContinuousLaw, mu: f64, push: f64) -> Simulation {
    let mut scene = Scene::new(10.0);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let spring = law.spring();
    let depth = (10.0 / spring.stiffness).powf(1.0 / spring.exponent);
    let block = scene.ball(1.0, 0.1, [0.0, 0.0, 0.1 - depth]);
    scene.continuous_contact(block, floor, soft(law), [0.8, mu]);
    let mut run = scene.build();
    run.state.inputs[block].value[0] = push;
    run
}

#[test]
fn friction_by_an_anchor_holds_and_slides() {
    for law in all_laws(PowerSpring { stiffness: 1e6, exponent: 1.5 }) {
        // Held: it swings about where the spring carries the push, for good.
        let stiffness = {
            let spring = law.spring();
            spring.tangent((10.0 / spring.stiffness).powf(1.0 / spring.exponent))
        };
        let mut run = pushed_block(law, 0.3, 1.4);
        let mut farthest = 0.0_f64;
        for _ in 0..5000 {
            run.advance(1e-3);
            farthest = farthest.max(run.state.nodes[0].position[0].abs());
            assert_eq!(run.state.contacts[0].mode, ContactMode::Stick, "{law:?}");
        }
        assert!(farthest <= 2.0 * 1.4 / stiffness * (1.0 + 1e-6), "{law:?}: {farthest} {}", 1.4 / stiffness);
        // Pushed harder than twice the limit, it slides at once and friction is mu F.
        let mut run = pushed_block(law, 0.3, 7.0);
        (0..1000).for_each(|_| run.advance(1e-3));
        assert_eq!(run.state.contacts[0].mode, ContactMode::Slip, "{law:?}");
        let friction = run.state.contacts[0].tangential_impulse[0];
        assert!((friction + 3e-3).abs() < 1e-9, "{law:?} {friction}");
        let velocity = run.state.nodes[0].velocity[0];
        assert!((velocity - 4.0).abs() < 2e-2, "{law:?} {velocity}");
        assert!((run.state.contacts[0].slip - run.state.nodes[0].velocity[0]).abs() < 1e-12);
    }
}

#[test]
fn a_ball_that_lands_sideways_rolls_and_the_balance_closes() {
    for law in all_laws(PowerSpring { stiffness: 1e7, exponent: 1.5 }) {
        let mut scene = Scene::new(9.81);
        let floor = scene.plane([0.0, 0.0, 1.0]);
        let ball = scene.solid_ball(1.0, 0.1, [0.0, 0.0, 0.3]);
        scene.continuous_contact(ball, floor, soft(law), [0.5, 0.4]);
        let mut run = scene.build();
        run.state.nodes[ball].velocity[0] = 1.0;
        let total = |run: &Simulation| mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
        let start = total(&run);
        for _ in 0..3000 {
            let before = run.state.step.dissipated;
            run.advance(1e-3);
            assert!(
                run.state.step.dissipated - before > -1e-12,
                "{law:?} {:e}",
                run.state.step.dissipated - before
            );
            assert!((total(&run) - start).abs() < 1e-10, "{law:?} {:e}", total(&run) - start);
        }
        if !law.has_restitution() {
            continue;
        }
        // 5/7 of the speed is left to a solid sphere.
        let (velocity, spin) =
            (run.state.nodes[ball].velocity[0], run.state.rotations[0].angular_velocity[1]);
        assert!((velocity - 5.0 / 7.0).abs() < 5e-3, "{law:?}: {velocity}");
        assert!((spin - velocity / 0.1).abs() < 0.1, "{law:?}: {spin} {velocity}");
    }
}

#[test]
fn a_box_comes_to_rest_on_four_corners() {
    let spring = PowerSpring { stiffness: 1e7, exponent: 1.5 };
    let mut scene = Scene::new(9.81);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.4]);
    scene.continuous_contact(node, floor, soft(ContinuousLaw::Flores(spring)), [0.3, 0.3]);
    let mut run = scene.build();
    run.rotation(node).orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
    let total = |run: &Simulation| mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
    let start = total(&run);
    for _ in 0..4000 {
        run.advance(1e-3);
        assert!((total(&run) - start).abs() < 1e-3 * start, "{:e}", total(&run) - start);
    }
    let depth = (9.81 / 4.0 / spring.stiffness).powf(1.0 / spring.exponent);
    let found = 0.1 - run.state.nodes[node].position[2];
    assert!((found / depth - 1.0).abs() < 0.05, "{found} {depth}");
    assert!((run.state.contacts[0].normal_impulse - 9.81e-3).abs() < 1e-4);
}

#[test]
fn hard_and_continuous_contacts_share_a_ball() {
    // A soft wall stops a ball that slides over a hard floor.
    let spring = PowerSpring { stiffness: 1e6, exponent: 1.5 };
    for time_of_impact in [true, false] {
        let mut scene = if time_of_impact { Scene::new(9.81) } else { Scene::new(9.81).capturing() };
        let (floor, wall) = (scene.plane([0.0, 0.0, 1.0]), scene.plane([-1.0, 0.0, 0.0]));
        let ball = scene.ball(1.0, 0.1, [-0.15, 0.0, 0.1]);
        scene.contact(ball, floor, 0.0, 0.0);
        scene.continuous_contact(ball, wall, soft(ContinuousLaw::Flores(spring)), [0.5, 0.0]);
        let mut run = scene.build();
        run.state.nodes[ball].velocity[0] = 1.0;
        (0..200).for_each(|_| run.advance(1e-3));
        let velocity = run.state.nodes[ball].velocity;
        assert!((velocity[0] + 0.4704).abs() < 3e-4, "{velocity}");
        assert!(velocity[2].abs() < 1e-9 && (run.state.nodes[ball].position[2] - 0.1).abs() < 1e-9);
        assert!((run.state.contacts[0].normal_impulse - 9.81e-3).abs() < 1e-9);
    }
}

#[test]
fn a_surface_that_moves_throws_a_ball() {
    // In the frame of a table that rises with 1 m/s, the ball comes with 1 m/s.
    let spring = PowerSpring { stiffness: 1e6, exponent: 1.5 };
    let mut scene = Scene::new(0.0);
    let (table, top) = scene.prescribed_table([0.0; 3]);
    let ball = scene.ball(1.0, 0.1, [0.0, 0.0, 0.2]);
    scene.continuous_contact(ball, top, soft(ContinuousLaw::HuntCrossley(spring)), [0.5, 0.0]);
    let mut run = scene.build();
    run.state.nodes[table].velocity[2] = 1.0;
    (0..200).for_each(|_| run.advance(1e-3));
    let velocity = run.state.nodes[ball].velocity[2];
    assert!((velocity - 1.6630).abs() < 3e-4, "{velocity}");
    // A table with mass is thrown back.
    let mut scene = Scene::new(0.0);
    let (table, top) = scene.table(2.0, [0.1; 3], [0.0; 3], 0.0);
    let ball = scene.ball(1.0, 0.1, [0.0, 0.0, 0.2]);
    scene.continuous_contact(ball, top, soft(ContinuousLaw::HuntCrossley(spring)), [0.5, 0.0]);
    let mut run = scene.build();
    run.state.nodes[ball].velocity[2] = -1.0;
    (0..200).for_each(|_| run.advance(1e-3));
    let (up, down) = (run.state.nodes[ball].velocity[2], run.state.nodes[table].velocity[2]);
    assert!((up - down - 0.6630).abs() < 3e-4, "{up} {down}");
    assert!((up + 2.0 * down + 1.0).abs() < 1e-12, "momentum");
}

#[test]
fn a_restored_state_continues_bit_by_bit() {
    for law in all_laws(PowerSpring { stiffness: 1e5, exponent: 1.5 }) {
        let mut run = falling(law, [0.7, 0.3], 1.0, 1.0, 9.81);
        run.state.nodes[0].velocity[0] = 0.2;
        run.advance_to_the_hit(1e-3);
        run.advance(1e-3);
        assert!(run.state.compressions[0].touching && run.state.compressions[0].stretch[0] != 0.0);
        let saved = postcard::to_stdvec(&run.state).unwrap();
        let finish = |run: &mut Simulation| {
            (0..100).for_each(|_| run.advance(1e-3));
            postcard::to_stdvec(&run.state).unwrap()
        };
        let expected = finish(&mut run);
        run.state = postcard::from_bytes(&saved).unwrap();
        assert_eq!(finish(&mut run), expected, "{law:?}");
    }
}

#[test]
fn energy_does_not_rise_in_a_million_steps() {
    let flores = ContinuousLaw::Flores(PowerSpring { stiffness: 1e3, exponent: 1.5 });
    let others = all_laws(PowerSpring { stiffness: 1e3, exponent: 1.5 }).map(|law| (law, 50_000));
    for (law, steps) in others.into_iter().chain([(flores, 1_000_000)]) {
        let mut run = falling(law, [0.9, 0.2], 1.0, 1.0, 9.81);
        run.state.nodes[0].velocity[0] = 0.3;
        let total = |run: &Simulation| mechanical_energy(&run.system, &run.state) + run.state.step.dissipated;
        let start = total(&run);
        for _ in 0..steps {
            let before = run.state.step.dissipated;
            run.advance(1e-3);
            assert!(run.state.step.dissipated - before > -1e-13, "{law:?}");
        }
        assert!((total(&run) - start).abs() < 1e-9 * start, "{law:?}: {:e}", total(&run) - start);
    }
}
