//! What rests has no velocity at all and does not creep; what is pushed by a little more than holds it moves; and steps
//! at rest that are repeated are those that would be computed.

use crate::bodies::{Scene, Simulation};
use contact_fmu::engine::{Dual, State, Workspace, advance, mechanical_energy};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;
const STEP: f64 = 1e-3;
const MU: f64 = 0.3;

/// A block that stands on four corners.
fn block() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let node = scene.cuboid(2.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.1]);
    scene.contact(node, floor, 0.0, MU);
    scene.build()
}

/// Blocks that fall on one another.
fn stack() -> Simulation {
    let mut scene = Scene::new(GRAVITY);
    let mut below = scene.plane([0.0, 0.0, 1.0]);
    for level in 0..4 {
        let aside = 0.01 * f64::from(level % 2);
        let node = scene.solid_box(1.0, [0.1, 0.12, 0.05], [aside, 0.0, 0.051 + 0.101 * f64::from(level)]);
        scene.contact(node, below, 0.0, 0.5);
        below = scene.surface_of(node);
    }
    scene.build()
}

/// Balls that fall into a pit, as a group.
fn pile() -> Simulation {
    let mut scene = Scene::new(GRAVITY).capturing();
    let balls: Vec<usize> = (0..5_u32)
        .map(|place| {
            let aside = 0.011 * f64::from(place % 3) + 0.005 * f64::from(place);
            scene.solid_ball(0.1, 0.05, [aside, 0.003 * f64::from(place), 0.06 + 0.1 * f64::from(place)])
        })
        .collect();
    let mut walls = vec![scene.plane([0.0, 0.0, 1.0])];
    for normal in [[1.0, 0.0, 0.3], [-1.0, 0.0, 0.3], [0.0, 1.0, 0.3], [0.0, -1.0, 0.3]] {
        walls.push(scene.plane(normal));
    }
    scene.group(&balls, &walls, 0.0, 0.6);
    let mut run = scene.build();
    for node in &mut run.state.nodes {
        node.position[2] += 0.2;
    }
    run
}

fn is_still(state: &State<f64>) -> bool {
    state.nodes.iter().all(|node| node.velocity == Vector3::zeros())
        && state.rotations.iter().all(|rotation| rotation.angular_velocity == Vector3::zeros())
}

/// Runs until nothing moves.
fn settle(name: &str, run: &mut Simulation, most: u32) {
    for _ in 0..most {
        run.advance(STEP);
        if is_still(&run.state) {
            return;
        }
    }
    panic!("{name} moves for ever");
}

/// All digits of a state; signs of zeros too.
fn digits(state: &State<f64>) -> String {
    format!("{state:?}")
}

fn scenes() -> [(&'static str, Simulation); 3] {
    [("block", block()), ("stack", stack()), ("pile", pile())]
}

#[test]
fn what_rests_stays_in_its_place_to_the_last_bit() {
    for (name, mut run) in scenes() {
        settle(name, &mut run, 10_000);
        // What pays for the last correction of positions is the last motion.
        (0..10).for_each(|_| run.advance(STEP));
        let (start, energy) = (run.state.clone(), mechanical_energy(&run.system, &run.state));
        let weight: f64 = run.state.parameters.mass.iter().map(|mass| mass * GRAVITY).sum();
        for _ in 0..2000 {
            run.advance(STEP);
            assert!(is_still(&run.state), "{name}");
            let carried = run.state.nodes.iter().map(|node| node.contact_impulse[2]).sum::<f64>() / STEP;
            assert!((carried / weight - 1.0).abs() < 1e-7, "{name}: {carried} of {weight} N");
        }
        for (node, before) in run.state.nodes.iter().zip(&start.nodes) {
            assert_eq!(node.position, before.position, "{name}");
        }
        for (rotation, before) in run.state.rotations.iter().zip(&start.rotations) {
            assert_eq!(rotation.orientation, before.orientation, "{name}");
        }
        assert_eq!(mechanical_energy(&run.system, &run.state), energy, "{name}");
    }
}

/// A push by the part `more` above the limit of friction makes a block slide as it should, whatever it did before.
#[test]
fn a_push_above_the_limit_of_friction_starts_a_block() {
    let limit = MU * 2.0 * GRAVITY;
    for more in [1e-2, 1e-4, 1e-6, 1e-8] {
        let mut run = block();
        let push = |run: &mut Simulation, force: f64, steps: u32| {
            run.state.inputs[0].value = Vector3::new(force, 0.0, 0.0);
            (0..steps).for_each(|_| run.advance(STEP));
        };
        push(&mut run, 0.0, 100);
        let start = run.state.nodes[0].position;
        push(&mut run, limit * (1.0 - more), 100);
        assert!(is_still(&run.state), "{more:e} below");
        assert_eq!(run.state.nodes[0].position, start, "{more:e} below");
        push(&mut run, limit * (1.0 + more), 100);
        let (speed, expected) = (run.state.nodes[0].velocity[0], more * MU * GRAVITY * 100.0 * STEP);
        assert!(
            (speed / expected - 1.0).abs() < 1e-3 + 1e-10 / more,
            "{more:e}: {speed:e} of {expected:e} m/s"
        );
        push(&mut run, 0.0, 100);
        assert!(is_still(&run.state), "{more:e}: it stops again");
    }
}

/// Torques too are held by what does not move.
#[test]
fn a_block_that_is_twisted_stays() {
    let mut run = block();
    run.state.inputs[0].value = Vector3::new(2.0, -1.0, 3.0);
    run.state.torques[0].value = Vector3::new(0.4, -0.7, 0.2);
    let start = run.state.clone();
    (0..200).for_each(|_| run.advance(STEP));
    assert!(is_still(&run.state));
    assert_eq!(run.state.nodes[0].position, start.nodes[0].position);
    assert_eq!(run.state.rotations[0].orientation, start.rotations[0].orientation);
}

#[test]
fn a_slope_holds_or_not_at_the_angle_of_friction() {
    for (degrees, slides) in [(16.69_f64, false), (16.71, true)] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let mut run = block();
        run.state.parameters.gravity = Vector3::new(sine, 0.0, -cosine) * GRAVITY;
        (0..1000).for_each(|_| run.advance(STEP));
        let (way, expected) = (run.state.nodes[0].position[0], 0.5 * GRAVITY * (sine - MU * cosine));
        if slides {
            assert!((way / expected - 1.0).abs() < 1e-6, "{way} of {expected} m");
        } else {
            assert_eq!(way, 0.0);
        }
    }
}

/// The tolerance of a heavy body is none of a light one on it: a push of a millionth of its weight moves it.
#[test]
fn a_pebble_on_a_heavy_block_is_not_held() {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let heavy = scene.solid_box(1e6, [1.0, 1.0, 0.1], [0.0, 0.0, 0.1]);
    scene.contact(heavy, floor, 0.0, 0.5);
    let pebble = scene.solid_box(1e-3, [0.01; 3], [0.0, 0.0, 0.21]);
    let top = scene.surface_of(heavy);
    scene.contact(pebble, top, 0.0, 0.0);
    let mut run = scene.build();
    settle("pebble", &mut run, 100);
    run.state.inputs[pebble].value[0] = 1e-3 * GRAVITY * 1e-6;
    (0..100).for_each(|_| run.advance(STEP));
    let (speed, expected) = (run.state.nodes[pebble].velocity[0], 1e-6 * GRAVITY * 0.1);
    assert!((speed / expected - 1.0).abs() < 1e-3, "{speed:e} of {expected:e} m/s");
}

/// The list of what a substep starts from changes no result: neither a new one, as after a saved state is restored
/// elsewhere, nor none, as where every step begins with a new one.
#[test]
fn repeated_steps_are_those_that_would_be_computed() {
    for (name, mut run) in scenes() {
        settle(name, &mut run, 10_000);
        (0..20).for_each(|_| run.advance(STEP));
        let mut restored = run.state.clone();
        let mut workspace = Workspace::new(&run.system);
        let mut forgetful = run.state.clone();
        let start = digits(&run.state);
        for step in 0..60 {
            // Steps of one and of several substeps, a push that does not move it, one that does, and rest again.
            let duration = if step % 5 < 3 { STEP } else { 3.0 * STEP };
            let force = match step {
                20..30 => 1e-3,
                30..35 => 50.0,
                _ => 0.0,
            };
            run.state.inputs[0].value[0] = force;
            run.advance(duration);
            for state in [&mut restored, &mut forgetful] {
                state.inputs[0].value[0] = force;
            }
            advance(&run.system, &mut restored, &mut workspace, duration).expect("a step");
            let mut fresh = Workspace::new(&run.system);
            advance(&run.system, &mut forgetful, &mut fresh, duration).expect("a step");
            for state in [&mut restored, &mut forgetful] {
                state.time = run.state.time;
            }
            assert_eq!(digits(&restored), digits(&run.state), "{name}: step {step}");
            assert_eq!(digits(&forgetful), digits(&run.state), "{name}: step {step}");
        }
        assert_ne!(digits(&run.state), start, "{name}");
    }
}

/// A step with tangents makes the same of the values, and knows what a push at rest would do.
#[test]
fn rest_has_a_derivative() {
    let mut scene = Scene::new(GRAVITY);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let ball = scene.solid_ball(1.0, 0.1, [0.0, 0.0, 0.1]);
    scene.contact(ball, floor, 0.0, 0.5);
    let mut run = scene.build();
    settle("ball", &mut run, 10);
    (0..10).for_each(|_| run.advance(STEP));
    let mut seeded = run.state.map(Dual::from);
    seeded.inputs[0].value[0].tangent = 1.0;
    advance(&run.system, &mut seeded, &mut Workspace::new(&run.system), STEP).expect("a step");
    run.advance(STEP);
    let velocity = seeded.nodes[ball].velocity[0];
    assert_eq!(velocity.value, run.state.nodes[ball].velocity[0]);
    // A ball that rolls: 5/7 of what the push alone would do.
    assert!((velocity.tangent - 5.0 / 7.0 * STEP).abs() < 1e-9, "{velocity:?}");
}
