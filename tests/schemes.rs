//! Two-step, HHT and midpoint schemes: order, dissipation, contact, springs and joints.

mod bodies;

use bodies::{Scene, Simulation, centre, ground};
use contact_fmu::engine::law::bristle::Bristle;
use contact_fmu::engine::law::facets::Polygon;
use contact_fmu::engine::{FrictionLaw, JointKind, Orientation, Scheme, gap, mechanical_energy};
use nalgebra::Vector3;

const MULTISTEP: Scheme = Scheme::Multistep { rho: 0.82 };
const HHT: Scheme = Scheme::Hht { alpha: 0.1 };
const MIDPOINT: Scheme = Scheme::Midpoint { sweeps: 3 };
const ALL: [Scheme; 4] = [MULTISTEP, Scheme::Multistep { rho: 0.0 }, HHT, MIDPOINT];

fn energy(run: &Simulation) -> f64 {
    mechanical_energy(&run.system, &run.state)
}

/// The ball of Fancello's table 5.1.
fn ball(scheme: Scheme) -> Scene {
    let mut scene = Scene::new(10.0).with_scheme(scheme);
    scene.settings.correction = false;
    let ball = scene.ball(1.0, 0.2, [0.0, 0.0, 1.001]);
    let floor = scene.plane([0.0, 0.0, 1.0]);
    scene.contact(ball, floor, 0.8, 0.0);
    scene
}

#[test]
fn a_bouncing_ball_is_the_same() {
    let mut reference = ball(Scheme::MoreauJean).build();
    let mut others = [MULTISTEP, HHT].map(|scheme| ball(scheme).build());
    for step in 0..3000 {
        reference.advance(1e-3);
        for other in &mut others {
            other.advance(1e-3);
            let [one, two] = [&reference, &*other].map(|run| run.state.nodes[0]);
            let apart = (one.position - two.position).norm() + (one.velocity - two.velocity).norm();
            assert!(apart < 1e-10, "step {step}: {apart:e}");
        }
    }
}

/// The chain of 100 masses before its wall.
fn chain(scheme: Scheme) -> Scene {
    let mut scene = Scene::new(0.0).with_scheme(scheme);
    scene.settings.correction = false;
    for mass in 0..100 {
        let node = scene.ball(1.0, 0.2, [1.001 + mass as f64, 0.0, 0.0]);
        scene.state.nodes[node].velocity[0] = -1.0;
    }
    let wall = scene.plane([1.0, 0.0, 0.0]);
    scene.contact(0, wall, 0.8, 0.0);
    for mass in 1..100 {
        scene.spring([centre(mass - 1), centre(mass)], 1e4, 0.0);
    }
    scene
}

#[test]
fn a_chain_loses_little() {
    for scheme in [
        MULTISTEP,
        Scheme::Multistep { rho: 0.6 },
        Scheme::Multistep { rho: 0.0 },
        HHT,
        Scheme::Hht { alpha: 1.0 / 3.0 },
        MIDPOINT,
    ] {
        let mut run = chain(scheme).build();
        let (mut first, mut last) = (0, 0);
        let mut rise = 0.0_f64;
        let mut before = energy(&run);
        for step in 1..=5000 {
            run.advance(1e-3);
            if run.state.contacts[0].normal_impulse > 0.0 {
                last = step;
                if first == 0 {
                    first = step;
                }
            }
            let now = energy(&run);
            rise = rise.max(now - before);
            before = now;
        }
        println!("{scheme:?}: contact {first} {last} energy {} rise {rise:e}", energy(&run));
    }
}

#[test]
fn oscillator_energy() {
    for scheme in [Scheme::MoreauJean, MULTISTEP, HHT, MIDPOINT] {
        for theta in [0.5, 1.0] {
            let mut scene = Scene::new(10.0).with_scheme(scheme);
            scene.settings.correction = false;
            scene.settings.theta = theta;
            let lower = scene.ball(1.0, 0.2, [0.0, 0.0, 1.001]);
            let upper = scene.ball(1.0, 0.2, [0.0, 0.0, 2.001]);
            let floor = scene.plane([0.0, 0.0, 1.0]);
            scene.contact(lower, floor, 0.8, 0.0);
            scene.spring([centre(lower), centre(upper)], 1e4, 0.0);
            let mut run = scene.build();
            let mut es = vec![energy(&run)];
            let mut rise = 0.0_f64;
            let mut before = energy(&run);
            for step in 1..=2000 {
                run.advance(1e-3);
                let now = energy(&run);
                rise = rise.max(now - before);
                before = now;
                if step % 250 == 0 {
                    es.push(now)
                }
            }
            println!("oscillator {scheme:?} theta {theta} {es:.4?} rise {rise:e}");
            if scheme != Scheme::MoreauJean {
                break;
            }
        }
    }
}

fn spin(scheme: Scheme, step: f64) -> Simulation {
    let mut scene = Scene::new(0.0).with_scheme(scheme).with_step(step);
    scene.pointed(1.0, [0.1, 0.2, 0.3], &[Vector3::zeros()], [0.0; 3]);
    scene.state.rotations[0].angular_velocity = Vector3::new(1.0, 5.0, 2.0);
    scene.build()
}

fn oscillator_in_flight(scheme: Scheme, step: f64) -> Simulation {
    let mut scene = Scene::new(10.0).with_scheme(scheme).with_step(step);
    let lower = scene.ball(1.0, 0.2, [0.0, 0.0, 1.0]);
    let upper = scene.ball(1.0, 0.2, [0.0, 0.0, 2.0]);
    scene.spring([centre(lower), centre(upper)], 1e3, 0.0);
    scene.state.nodes[0].velocity = Vector3::new(0.3, 0.2, -1.0);
    scene.build()
}

fn pendulum(scheme: Scheme, step: f64) -> Simulation {
    let mut scene = Scene::new(9.81).with_scheme(scheme).with_step(step);
    let rod = scene.pointed(1.0, [1e-3, 1.0 / 12.0, 1.0 / 12.0], &[Vector3::zeros()], [0.5, 0.0, 0.0]);
    scene.joint(JointKind::Revolute, [None, Some(rod)], [0.0; 3], [0.0, 1.0, 0.0]);
    scene.build()
}

/// A top on a spherical joint, with all moments different.
fn top(scheme: Scheme, step: f64) -> Simulation {
    let mut scene = Scene::new(9.81).with_scheme(scheme).with_step(step);
    let top = scene.pointed(1.0, [0.02, 0.03, 0.015], &[Vector3::zeros()], [0.1, 0.0, 0.3]);
    scene.joint(JointKind::Spherical, [None, Some(top)], [0.0; 3], [0.0, 0.0, 1.0]);
    let spin = Vector3::new(1.0, 2.0, 10.0);
    scene.state.rotations[0].angular_velocity = spin;
    scene.state.nodes[0].velocity = spin.cross(&Vector3::new(0.1, 0.0, 0.3));
    scene.build()
}

/// Where a run is after a second.
fn after_a_second(mut run: Simulation, step: f64) -> Vec<f64> {
    for _ in 0..(1.0 / step).round() as usize {
        run.advance(step);
    }
    let nodes = run
        .state
        .nodes
        .iter()
        .flat_map(|n| n.position.iter().chain(n.velocity.iter()).copied().collect::<Vec<_>>());
    let turns = run.state.rotations.iter().flat_map(|r| {
        r.orientation.wxyz.iter().chain(r.angular_velocity.iter()).copied().collect::<Vec<_>>()
    });
    nodes.chain(turns).collect()
}

#[test]
fn order_two() {
    let makes: [(&str, fn(Scheme, f64) -> Simulation); 4] =
        [("flight", oscillator_in_flight), ("pendulum", pendulum), ("spin", spin), ("top", top)];
    for (name, make) in makes {
        for scheme in ALL {
            let steps = [4e-3, 2e-3, 1e-3, 5e-4];
            let runs: Vec<_> = steps.iter().map(|&h| after_a_second(make(scheme, h), h)).collect();
            let d: Vec<f64> = runs
                .windows(2)
                .map(|p| p[0].iter().zip(&p[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
                .collect();
            let r: Vec<f64> = d.windows(2).map(|p| p[0] / p[1]).collect();
            println!("{name} {scheme:?}: {d:.9?} ratios {r:.2?}");
        }
    }
}

#[test]
fn energies_over_long() {
    let makes: [(&str, fn(Scheme, f64) -> Simulation); 4] =
        [("flight", oscillator_in_flight), ("pendulum", pendulum), ("spin", spin), ("top", top)];
    for (name, make) in makes {
        for scheme in [MULTISTEP, HHT, MIDPOINT] {
            let mut run = make(scheme, 2e-3);
            let start = energy(&run);
            let (mut most, mut rise, mut before) = (start, 0.0_f64, start);
            for _ in 0..5000 {
                run.advance(2e-3);
                let now = energy(&run);
                most = most.max(now);
                rise = rise.max(now - before);
                before = now;
            }
            println!(
                "{name} {scheme:?}: start {start:.6} end {before:.6} over start {:e} largest rise {rise:e}",
                most - start
            );
        }
    }
}

#[test]
fn stiff_radius() {
    for scheme in [
        MULTISTEP,
        Scheme::Multistep { rho: 0.0 },
        Scheme::Multistep { rho: 0.6 },
        HHT,
        Scheme::Hht { alpha: 0.3 },
    ] {
        let mut scene = Scene::new(0.0).with_scheme(scheme);
        let node = scene.ball(1.0, 0.2, [1.0, 0.0, 0.0]);
        scene.spring([ground([0.0; 3]), centre(node)], 1e14, 0.0);
        scene.state.nodes[node].velocity[0] = 1.0;
        let mut run = scene.build();
        let mut sizes = Vec::new();
        for _ in 0..60 {
            run.advance(1e-3);
            sizes.push(energy(&run).sqrt());
        }
        println!(
            "{scheme:?}: ratios {:?}",
            [10, 20, 30, 40, 50].map(|k| (sizes[k + 9] / sizes[k]).powf(1.0 / 9.0))
        );
    }
}

fn laws() -> [FrictionLaw; 5] {
    [
        FrictionLaw::Cone,
        FrictionLaw::Facets { count: 8, aligned: false, polygon: Polygon::Inner },
        FrictionLaw::Facets { count: 16, aligned: true, polygon: Polygon::Outer },
        FrictionLaw::Box { iterations: 2 },
        FrictionLaw::Bristle { bristle: Bristle { stiffness: 1e10, threshold: 1e-3 }, iterations: 2 },
    ]
}

#[test]
fn boxes_rest_and_slide() {
    for law in laws() {
        for scheme in ALL {
            let mut scene = Scene::new(9.81).with_scheme(scheme);
            scene.settings.correction = matches!(scheme, Scheme::Midpoint { .. });
            let floor = scene.plane([0.0, 0.0, 1.0]);
            let rest = scene.cuboid(1.0, [0.2, 0.15, 0.1], [0.0, 0.0, 0.1]);
            let slide = scene.cuboid(1.0, [0.2, 0.15, 0.1], [2.0, 0.0, 0.1]);
            let drop = scene.cuboid(1.0, [0.2, 0.15, 0.1], [-2.0, 0.0, 0.5]);
            for node in [rest, slide, drop] {
                scene.contact_with(node, floor, 0.3, 0.3, law);
            }
            scene.state.nodes[slide].velocity[0] = 1.0;
            scene.state.rotations[drop].orientation = Orientation::from_turn(&Vector3::new(0.5, -0.4, 0.3));
            let mut run = scene.build();
            let start = energy(&run);
            let mut most = f64::MIN;
            for _ in 0..1500 {
                run.advance(1e-3);
                most = most.max(energy(&run) - start);
            }
            let way = run.state.nodes[1].position[0] - 2.0;
            let moved = (run.state.nodes[0].position - Vector3::new(0.0, 0.0, 0.1)).norm();
            let gaps: Vec<f64> = (0..3).map(|c| gap(&run.system, &run.state, c)).collect();
            println!(
                "{law:?} {scheme:?}: rest moved {moved:e}, slid {way:.6} (exact {:.6}), turned {:e}, gaps {gaps:?}, dropped speed {:e} {:e} energy over start {most:e}",
                1.0 / (2.0 * 0.3 * 9.81),
                run.state.rotations[1].angular_velocity.norm(),
                run.state.nodes[2].velocity.norm(),
                run.state.rotations[2].angular_velocity.norm()
            );
        }
    }
}
