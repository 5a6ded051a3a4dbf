//! Groups: what any two of many bodies do is what the same contacts do pair by pair.

use crate::bodies::{Scene, Simulation, compare};
use contact_fmu::engine::geometry::solids::Cuboid;
use contact_fmu::engine::{ContactMode, NodeShape, Scheme, Solid, State, gap};
use nalgebra::Vector3;

/// Balls on three planes, some of them on their way to others, as pairs or as a group.
fn balls(mut scene: Scene, grouped: bool, restitution: f64, mu: f64) -> Simulation {
    let radius = 0.05;
    let places = [
        [0.02, 0.0, 0.05],
        [0.12, 0.0, 0.05],
        [0.06, 0.02, 0.16],
        [-0.3, 0.0, 0.2],
        [0.5, 0.5, 0.4],
        [0.52, 0.5, 0.6],
    ];
    let nodes: Vec<usize> = places.iter().map(|&place| scene.solid_ball(0.1, radius, place)).collect();
    scene.state.nodes[3].velocity = Vector3::new(2.0, 0.1, 0.0);
    scene.state.nodes[5].velocity = Vector3::new(0.0, 0.0, -1.0);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    let ramp = scene.plane([0.3, 0.0, 1.0]);
    let planes = [floor, ramp];
    if grouped {
        scene.group(&nodes, &planes, restitution, mu);
    } else {
        let surfaces: Vec<usize> = nodes.iter().map(|&node| scene.surface_of(node)).collect();
        for (index, &node) in nodes.iter().enumerate() {
            planes.iter().for_each(|&plane| {
                scene.contact(node, plane, restitution, mu);
            });
            for &surface in &surfaces[index + 1..] {
                scene.contact(node, surface, restitution, mu);
            }
        }
    }
    scene.build()
}

fn farthest(one: &State<f64>, other: &State<f64>) -> f64 {
    let nodes = one.nodes.iter().zip(&other.nodes);
    nodes.map(|(one, other)| (one.position - other.position).norm()).fold(0.0, f64::max)
}

#[test]
fn a_group_does_what_its_pairs_do() {
    let scenes: [fn() -> Scene; 5] = [
        || Scene::new(9.81),
        || Scene::new(9.81).capturing(),
        || Scene::new(9.81).with_scheme(Scheme::Midpoint { sweeps: 3 }),
        || Scene::new(9.81).with_scheme(Scheme::Multistep { rho: 0.6 }),
        || Scene::new(9.81).with_scheme(Scheme::Hht { alpha: 0.1 }),
    ];
    for (case, scene) in scenes.into_iter().enumerate() {
        for (restitution, mu) in [(0.5, 0.0), (0.0, 0.3)] {
            let mut pairs = balls(scene(), false, restitution, mu);
            let mut group = balls(scene(), true, restitution, mu);
            // In captured steps pairs of a group rest that are nearer than a body falls within one, and are lifted out of
            // one another together, which takes energy from their motion.
            let is_captured = case > 0;
            let (mut pressed, mut pressed_in_group) = (0.0, 0.0);
            // Impacts make small differences grow.
            for step in 0..120 {
                pairs.advance(1e-3);
                group.advance(1e-3);
                let impulse: f64 = pairs.state.contacts.iter().map(|contact| contact.normal_impulse).sum();
                let all = &group.state.contacts[0];
                pressed += impulse;
                pressed_in_group += all.normal_impulse;
                let apart = farthest(&pairs.state, &group.state);
                if is_captured {
                    assert!(apart < 2e-4, "scheme {case}, step {step}: {apart:e}");
                    continue;
                }
                // What differs is the order of the contacts, and so round-off. But impacts and sweeps go on for all that may
                // ever touch, and in a group for what is near: curved contacts differ by the error of the step.
                assert!(apart < 1e-6, "scheme {case}, step {step}: {apart:e}");
                let off = (all.normal_impulse - impulse).abs();
                assert!(off < 1e-6, "scheme {case}, mu {mu}, step {step}: {} {impulse}", all.normal_impulse);
                let gaps =
                    (0..pairs.system.contacts.len()).map(|pair| gap(&pairs.system, &pairs.state, pair));
                let least = gaps.fold(f64::INFINITY, f64::min);
                assert!((gap(&group.system, &group.state, 0) - least).abs() < 1e-6);
                assert!((group.state.step.penetration - pairs.state.step.penetration).abs() < 1e-6);
            }
            assert!((pressed_in_group / pressed - 1.0).abs() < 0.05, "{pressed} {pressed_in_group}");
            assert!(pressed > 0.1 && pairs.state.step.dissipated > 0.0);
        }
    }
}

/// The impulses of the touching points of a group are all that contact gives to the bodies over a communication step,
/// also where it has several substeps and impacts within them.
#[test]
fn points_account_for_the_impulses_on_bodies() {
    let scenes: [fn() -> Scene; 3] = [
        || Scene::new(9.81),
        || Scene::new(9.81).capturing(),
        || Scene::new(9.81).with_scheme(Scheme::Midpoint { sweeps: 3 }),
    ];
    for (case, scene) in scenes.into_iter().enumerate() {
        let mut run = balls(scene().with_step(1e-3), true, 0.5, 0.3);
        let (mut most, mut open) = (0.0_f64, 0);
        for step in 0..60 {
            run.advance(8e-3);
            let mut sums = vec![Vector3::zeros(); run.state.nodes.len()];
            for point in &run.state.points {
                sums[point.node as usize] += point.impulse;
                if let Some(body) = run.system.surfaces[point.surface as usize].body {
                    sums[body] -= point.impulse;
                }
                open += usize::from(point.mode == ContactMode::Open && point.impulse.norm() > 0.0);
            }
            for (node, (sum, body)) in sums.iter().zip(&run.state.nodes).enumerate() {
                let off = (sum - body.contact_impulse).norm();
                assert!(off < 1e-14, "scheme {case}, step {step}, node {node}: {off:e}");
                most = most.max(body.contact_impulse.norm());
            }
            let keys: Vec<_> =
                run.state.points.iter().map(|point| (point.contact, point.node, point.surface)).collect();
            assert!(keys.is_sorted(), "scheme {case}, step {step}");
        }
        assert!(most > 0.1, "nothing was struck");
        assert!(open > 0, "no pair touched within a step and parted");
    }
}

#[test]
fn derivatives_go_through_groups() {
    let mut run = balls(Scene::new(9.81).capturing(), true, 0.0, 0.3);
    for _ in 0..20 {
        run.advance(1e-3);
    }
    // Some of the balls fly, some are pressed.
    assert!(run.state.contacts[0].normal_impulse > 0.0);
    let mut free = Scene::new(9.81).capturing();
    let one = free.solid_ball(1.0, 0.1, [0.0, 0.0, 1.0]);
    let other = free.solid_ball(1.0, 0.1, [0.19, 0.03, 1.05]);
    free.state.nodes[one].velocity = Vector3::new(1.0, 0.2, 0.0);
    free.settings.allow_initial_penetration = true;
    free.group(&[one, other], &[], 0.5, 0.3);
    compare(&free.build(), 1e-3, false);
}

#[test]
fn momentum_is_kept_in_a_swarm() {
    let mut scene = Scene::new(0.0);
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut nodes = Vec::new();
    for index in 0..64 {
        let cell = Vector3::new((index % 4) as f64, (index / 4 % 4) as f64, (index / 16) as f64);
        let node = scene.solid_ball(0.6 + random(), 0.1, (cell * 0.25).into());
        scene.state.nodes[node].velocity = Vector3::from_fn(|_, _| 4.0 * random());
        nodes.push(node);
    }
    scene.group(&nodes, &[], 1.0, 0.2);
    let mut run = scene.build();
    let before = run.momenta();
    let mut hits = 0;
    for _ in 0..300 {
        run.advance(1e-3);
        hits += usize::from(run.state.contacts[0].normal_impulse > 0.0);
    }
    let after = run.momenta();
    assert!(hits > 50, "{hits}");
    let (linear, angular) = ((after.0 - before.0).norm(), (after.1 - before.1).norm());
    // Where balls stay pressed over an interval, they turn about one another, which is exact to its square.
    assert!(linear < 1e-11 && angular < 1e-4, "{linear:e} {angular:e}");
}

#[test]
fn what_is_struck_does_not_pass_the_next() {
    // Within one step the first hits the second, and the second the third, both at rest and 40 mm away.
    for gravity in [0.0, 9.81] {
        let mut scene = Scene::new(gravity);
        let nodes = [0.0, 0.03, 0.07, 0.5].map(|x| scene.ball(1.0, 1e-3, [x, 0.0, 0.0]));
        scene.state.nodes[0].velocity.x = 100.0;
        scene.group(&nodes, &[], 1.0, 0.0);
        let mut run = scene.build();
        run.advance(1e-3);
        let speeds: Vec<f64> = run.state.nodes.iter().map(|node| node.velocity.x).collect();
        for (speed, expected) in speeds.iter().zip([0.0, 0.0, 100.0, 0.0]) {
            assert!((speed - expected).abs() < 1e-9, "{speeds:?}");
        }
    }
}

#[test]
fn pairs_of_their_own_and_joints_are_left_out() {
    let mut scene = Scene::new(0.0);
    let nodes = [0.0, 0.3, 0.6].map(|x| scene.solid_ball(1.0, 0.1, [x, 0.0, 0.0]));
    scene.state.nodes[0].velocity.x = 1.0;
    // The group would not let go.
    let surface = scene.surface_of(nodes[1]);
    scene.contact(nodes[0], surface, 1.0, 0.0);
    let group = scene.group(&nodes, &[], 0.0, 0.0);
    let mut run = scene.build();
    for _ in 0..150 {
        run.advance(1e-3);
    }
    let speeds: Vec<f64> = run.state.nodes.iter().map(|node| node.velocity.x).collect();
    assert!((speeds[0] - 0.0).abs() < 1e-12 && (speeds[1] - 1.0).abs() < 1e-12, "{speeds:?}");
    for _ in 0..150 {
        run.advance(1e-3);
    }
    let speeds: Vec<f64> = run.state.nodes.iter().map(|node| node.velocity.x).collect();
    assert!((speeds[1] - 0.5).abs() < 1e-12 && (speeds[2] - 0.5).abs() < 1e-12, "{speeds:?}");
    assert!(run.state.points.is_empty() && gap(&run.system, &run.state, group).abs() < 1e-12);
}

#[test]
fn boxes_of_a_group_rest_on_one_another() {
    // A tower of three on a fixed slab, and one box beside it that falls.
    let mut scene = Scene::new(9.81);
    let half = [0.1, 0.1, 0.05];
    let slab = scene.solid(Solid::Box(Cuboid { half: Vector3::new(1.0, 1.0, 0.1) }), [0.0, 0.0, -0.1]);
    let mut nodes: Vec<usize> =
        (0..3).map(|level| scene.solid_box(1.0, half, [0.0, 0.0, 0.05 + 0.1 * f64::from(level)])).collect();
    nodes.push(scene.solid_box(1.0, half, [0.5, 0.0, 0.2]));
    nodes.push(scene.body(NodeShape::Sphere { radius: 0.05 }, 1.0, [1e-3; 3], [0.5, 0.0, 0.35]));
    let group = scene.group(&nodes, &[slab], 0.0, 0.4);
    let mut run = scene.build();
    for _ in 0..1000 {
        run.advance(1e-3);
    }
    let weight = 5.0 * 9.81;
    let force = run.state.contacts[group].normal_impulse / 1e-3;
    // Every box carries what is above it: 3 + 2 + 1 and 2 + 1.
    assert!((force - weight / 5.0 * 9.0).abs() < 1e-6, "{force}");
    for (node, height) in [(0, 0.05), (1, 0.15), (2, 0.25), (3, 0.05), (4, 0.15)] {
        let position = run.state.nodes[node].position;
        assert!((position.z - height).abs() < 1e-6, "{node}: {position}");
    }
}
