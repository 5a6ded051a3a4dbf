//! Where contact engines go wrong: bounces that pile up, sliding that turns around, wedges, corners, extreme
//! numbers. Checked against exact solutions and against the balances of energy and momentum.

use crate::common::{ExactBounce, Run, run, worst};
use contact_fmu::engine::{ContactMode, Quality, State, Workspace, advance, gap, mechanical_energy};
use contact_fmu::model::{Model, file};
use nalgebra::Vector3;
use std::fmt::Write;

const G: f64 = 9.81;

/// One ball against planes through the origin, all with the same law.
struct Scene<'a> {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
    gravity: [f64; 3],
    normals: &'a [[f64; 3]],
    restitution: f64,
    mu: f64,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Scene {
            position: [0.0; 3],
            velocity: [0.0; 3],
            mass: 1.0,
            gravity: [0.0, 0.0, -G],
            normals: &[[0.0, 0.0, 1.0]],
            restitution: 0.0,
            mu: 0.0,
        }
    }
}

impl Scene<'_> {
    fn model(&self) -> Model {
        let Scene { position, velocity, mass, gravity, normals, restitution, mu } = self;
        let mut text = format!(
            "[model]\nname = \"scene\"\n[engine]\ngravity = {gravity:?}\n[[node]]\nname = \"ball\"\n\
             coupling = \"owned\"\nmass = {mass:?}\nposition = {position:?}\nvelocity = {velocity:?}\n\
             [[contact]]\nbetween = [\"ball\", \"*\"]\nrestitution = {restitution:?}\nfriction.cone.mu = {mu:?}\n"
        );
        for (index, normal) in normals.iter().enumerate() {
            write!(text, "[[surface]]\nname = \"plane{index}\"\nshape.plane.normal = {normal:?}\n").unwrap();
        }
        file::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs, and checks what must hold in every run with time of impact: no energy is gained, what is lost is
    /// accounted for, the contact impulses are the change of momentum, nothing is inside a plane.
    fn checked_run(&self, step: f64, stop: f64) -> Run {
        let run = run(&self.model(), step, stop);
        let (first, last) = (&run.states[0], run.states.last().unwrap());
        let scale = self.mass * (1.0 + self.velocity.iter().map(|v| v * v).sum::<f64>());
        for pair in run.states.windows(2) {
            let lost = pair[1].step.dissipated - pair[0].step.dissipated;
            assert!(lost > -1e-13 * scale, "{} s: energy rises by {:e}", pair[1].time, -lost);
        }
        let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
        let balance = worst(&run.states, 0.0..=stop, |state| (total(state) - total(first)).abs());
        assert!(balance < 1e-11 * scale, "energy balance {balance:e}");
        let impulse: Vector3<f64> = run.states.iter().map(|state| state.nodes[0].contact_impulse).sum();
        let momentum =
            (last.nodes[0].velocity - first.nodes[0].velocity - Vector3::from(self.gravity) * stop)
                * self.mass;
        assert!((impulse - momentum).norm() < 1e-11 * scale, "momentum {:e}", (impulse - momentum).norm());
        let inside = worst(&run.states, 0.0..=stop, |state| {
            let gaps = (0..self.normals.len()).map(|contact| -gap(&run.system, state, contact));
            gaps.fold(0.0, f64::max) / (1.0 + state.nodes[0].position.norm())
        });
        assert!(inside < 1e-14, "{inside:e} m inside a plane");
        run
    }
}

#[test]
fn elastic_bounces_keep_their_energy() {
    let scene = Scene { position: [0.0, 0.0, 1.0], restitution: 1.0, ..Scene::default() };
    let run = scene.checked_run(1e-2, 100.0);
    let loss =
        worst(&run.states, 0.0..=100.0, |state| (mechanical_energy(&run.system, state) / G - 1.0).abs());
    assert!(loss < 1e-12, "{loss:e}");
}

#[test]
fn an_elastic_ball_at_rest_stays_at_rest() {
    let run = Scene { restitution: 1.0, ..Scene::default() }.checked_run(1e-3, 1.0);
    for state in &run.states[1..] {
        assert_eq!(state.nodes[0].position, Vector3::zeros());
        assert_eq!(state.contacts[0].normal_impulse, 1e-3 * G);
    }
}

#[test]
fn bounces_that_pile_up_come_to_rest() {
    for restitution in [0.95, 0.99, 0.995] {
        for step in [1e-3, 1e-2] {
            let height: f64 = 1e-3;
            let scene = Scene { position: [0.0, 0.0, height], restitution, ..Scene::default() };
            let fall = (2.0 * height / G).sqrt();
            let end = fall * (1.0 + restitution) / (1.0 - restitution);
            let run = scene.checked_run(step, (1.1 * end).ceil());
            let exact = ExactBounce { height, g: G, restitution, along: 0.0, mu: 0.0 };
            let error = worst(&run.states, 0.0..=0.9 * end, |state| {
                (gap(&run.system, state, 0) - exact.at(state.time).0).abs()
            });
            assert!(error < 1e-12, "e {restitution}, step {step}: {error:e}");
            let last = run.states.last().unwrap();
            assert_eq!(last.nodes[0].velocity.norm(), 0.0, "e {restitution}, step {step}");
        }
    }
}

#[test]
fn sliding_stops_at_the_right_place() {
    let (speed, mu) = (1.0, 0.3);
    for step in [1e-3, 7e-3, 0.1] {
        let run = Scene { velocity: [speed, 0.0, 0.0], mu, ..Scene::default() }.checked_run(step, 0.7);
        let last = run.states.last().unwrap();
        let error = (last.nodes[0].position[0] - speed * speed / (2.0 * mu * G)).abs();
        assert!(error < 1e-14, "step {step}: {error:e}");
        assert_eq!(last.contacts[0].mode, ContactMode::Stick);
    }
}

#[test]
fn sliding_up_a_slope_turns_around_without_gaining_energy() {
    let (tilt, mu, speed) = (0.5_f64, 0.3, 2.0);
    let normal = [-tilt.sin(), 0.0, tilt.cos()];
    let uphill = Vector3::new(tilt.cos(), 0.0, tilt.sin());
    let (pull, brake) = (G * tilt.sin(), mu * G * tilt.cos());
    let turn = speed / (pull + brake);
    for step in [1e-3, 7e-3, 0.1] {
        let scene = Scene { velocity: (uphill * speed).into(), normals: &[normal], mu, ..Scene::default() };
        let run = scene.checked_run(step, 0.7);
        let error = worst(&run.states, 0.0..=0.7, |state| {
            let t = state.time;
            let exact = if t < turn {
                speed * t - 0.5 * (pull + brake) * t * t
            } else {
                0.5 * speed * turn - 0.5 * (pull - brake) * (t - turn).powi(2)
            };
            (state.nodes[0].position - uphill * exact).norm()
        });
        assert!(error < 1e-13, "step {step}: {error:e}");
    }
}

#[test]
fn a_ball_in_a_steep_wedge_bounces_as_on_a_floor() {
    let normals = [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]];
    let scene = Scene { position: [0.0, 0.0, 1.0], normals: &normals, restitution: 0.8, ..Scene::default() };
    let run = scene.checked_run(1e-3, 5.0);
    let exact = ExactBounce { height: 1.0, g: G, restitution: 0.8, along: 0.0, mu: 0.0 };
    let error = worst(&run.states, 0.0..=5.0, |state| {
        (state.nodes[0].position - Vector3::z() * exact.at(state.time).0).norm()
    });
    assert!(error < 1e-12, "{error:e}");
}

#[test]
fn wedges_and_corners_take_energy_only() {
    let wedge: &[[f64; 3]] = &[[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]];
    let corner: &[[f64; 3]] = &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for normals in [wedge, corner] {
        for restitution in [0.0, 0.5, 0.9] {
            for mu in [0.0, 0.3, 0.7] {
                Scene {
                    position: [0.1, 0.07, 1.0],
                    velocity: [-1.0, -1.3, 0.0],
                    gravity: [-1.0, -1.0, -G],
                    normals,
                    restitution,
                    mu,
                    ..Scene::default()
                }
                .checked_run(1e-3, 3.0);
            }
        }
    }
}

#[test]
fn a_plane_that_only_the_other_one_presses_against_is_closed_too() {
    // Gravity pulls away from the first plane, and the second one pushes back into it.
    let normals = [
        [0.4170719821943896, -0.907204274341412, 0.05505784490074517],
        [-0.3231783492492795, 0.9149034537073073, 0.2418830812003019],
    ];
    for restitution in [0.0, 0.16, 0.5] {
        let scene = Scene {
            position: [-0.13, 0.03, 3.34],
            velocity: [0.92, -1.92, 0.04],
            gravity: [0.957, -0.752, -G],
            normals: &normals,
            restitution,
            ..Scene::default()
        };
        let run = scene.checked_run(8e-3, 4.0);
        let last = run.states.last().unwrap();
        assert!(last.contacts.iter().all(|contact| contact.mode != ContactMode::Open), "e {restitution}");
    }
}

#[test]
fn friction_in_an_elastic_wedge_ends_in_rest() {
    let normals = [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]];
    let scene =
        Scene { position: [0.1, 0.0, 1.0], normals: &normals, restitution: 1.0, mu: 0.3, ..Scene::default() };
    let run = scene.checked_run(1e-3, 5.0);
    assert!(run.states.last().unwrap().nodes[0].velocity.norm() < 1e-15);
}

#[test]
fn an_impact_that_friction_jams_is_told_and_gains_nothing() {
    // No velocity after the impact rebounds from both planes while friction with mu > 1 opposes it.
    let normals = [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]];
    let scene =
        Scene { position: [0.0, 0.0, 1.0], normals: &normals, restitution: 0.9, mu: 2.0, ..Scene::default() };
    for time_of_impact in [true, false] {
        let mut model = scene.model();
        model.engine.time_of_impact = time_of_impact;
        model.engine.correction = time_of_impact;
        let (system, mut state) = model.assemble();
        let mut workspace = Workspace::new(&system);
        let mut told = 0;
        for _ in 0..600 {
            let energy = mechanical_energy(&system, &state);
            let quality = advance(&system, &mut state, &mut workspace, 1e-3).unwrap();
            told += usize::from(quality == Quality::Inaccurate);
            assert!(mechanical_energy(&system, &state) < energy + 1e-12, "time of impact {time_of_impact}");
        }
        assert_eq!(told, 1, "time of impact {time_of_impact}");
        assert!(state.nodes[0].velocity.norm() < 1e-12);
        assert!(state.nodes[0].position.norm() < 5e-3);
    }
}

#[test]
fn a_curved_slide_into_a_wall_stays_outside() {
    // Gravity along the plane turns the direction of sliding on the way to the wall.
    for step in [1e-3, 1e-2, 0.1] {
        let normals = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
        Scene {
            position: [0.5, 0.0, 0.0],
            velocity: [-2.0, 1.0, 0.0],
            gravity: [-1.0, 4.0, -G],
            normals: &normals,
            restitution: 0.4,
            mu: 0.3,
            ..Scene::default()
        }
        .checked_run(step, 2.0);
    }
}

#[test]
fn a_pyramid_of_four_planes_carries_the_weight() {
    let normals = [[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]];
    let run = Scene { normals: &normals, mu: 0.5, ..Scene::default() }.checked_run(1e-3, 0.1);
    for state in &run.states[1..] {
        assert!((state.nodes[0].contact_impulse - Vector3::z() * 1e-3 * G).norm() < 1e-16);
        assert!(state.nodes[0].velocity.norm() < 1e-15);
    }
}

#[test]
fn mass_and_distance_do_not_change_the_motion() {
    let scene = |mass: f64| Scene {
        position: [0.0, 0.0, 1.0],
        velocity: [3.0, 0.0, 0.0],
        mass,
        restitution: 0.8,
        mu: 0.1,
        ..Scene::default()
    };
    let usual = scene(1.0).checked_run(1e-3, 4.0);
    let compare = |model: &Model, shift: f64, tolerance: f64| {
        let other = run(model, 1e-3, 4.0);
        for (one, other) in usual.states.iter().zip(&other.states) {
            let moved = other.nodes[0].position - Vector3::new(shift, -shift, 0.0);
            let error = (one.nodes[0].position - moved).norm();
            assert!(error < tolerance, "{} s: {error:e}", one.time);
        }
    };
    for mass in [1e-9, 1e9] {
        compare(&scene(mass).model(), 0.0, 1e-12);
    }
    let mut far = scene(1.0).model();
    far.nodes[0].position = [1e6, -1e6, 1.0];
    compare(&far, 1e6, 1e-7);
}

#[test]
fn a_fast_ball_does_not_tunnel() {
    let scene =
        Scene { position: [0.0, 0.0, 1.0], velocity: [0.0, 0.0, -1e4], restitution: 0.5, ..Scene::default() };
    let run = scene.checked_run(0.1, 1.0);
    let exact = {
        let down = ((1e8 + 2.0 * G).sqrt() - 1e4) / G;
        let speed = 0.5 * (1e4 + G * down);
        let since = 1.0 - down;
        since * (speed - 0.5 * G * since)
    };
    assert!((run.states.last().unwrap().nodes[0].position[2] - exact).abs() < 1e-8);
}
