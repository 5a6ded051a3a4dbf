//! The wave in a row of dominoes against the theory of dominoes that topple, do not slide, and lean on each other.
//!
//! Domino `i` touches the next one with its upper edge: `h sin(a_i - a_{i+1}) = (s + d) cos a_{i+1} - d`, with height `h`,
//! thickness `d`, spacing `s`. So the angle `a` of the foremost one gives all others, and energy its speed. At an impact
//! the velocities are projected onto those of the longer train: with `S = sum (da_i / da)^2`, that of the domino hit is
//! `S / (1 + S)` of that of the one that hits. [van Leeuwen 2010, without friction between dominoes]

use crate::common;
use contact_fmu::engine::{Quality, State, Workspace, advance, mechanical_energy};
use nalgebra::Vector3;

const GRAVITY: f64 = 9.81;
const TALL: f64 = 0.048;
const THICK: f64 = 0.0075;
const SPACING: f64 = 0.015;
const PITCH: f64 = SPACING + THICK;
const PUSH: f64 = 5.0;
const COUNT: usize = 20;

/// A train of dominoes that lean on each other, by the angle of the foremost.
struct Train {
    /// `sum (da_i / da)^2`.
    sum: f64,
    /// Potential energy over mass.
    potential: f64,
}

fn train(behind: usize, foremost: f64) -> Train {
    let height = |angle: f64| 0.5 * (TALL * angle.cos() + THICK * angle.sin());
    let (mut angle, mut rate) = (foremost, 1.0);
    let mut train = Train { sum: 1.0, potential: GRAVITY * height(angle) };
    for _ in 0..behind {
        let lean = ((PITCH * angle.cos() - THICK) / TALL).asin();
        rate *= 1.0 - PITCH * angle.sin() / (TALL * lean.cos());
        angle += lean;
        train.sum += rate * rate;
        train.potential += GRAVITY * height(angle);
    }
    train
}

/// When the dominoes after the first are hit.
fn hits() -> Vec<f64> {
    const PARTS: usize = 2000;
    let inertia = (TALL * TALL + THICK * THICK) / 3.0;
    let impact = (SPACING / TALL).asin();
    let (mut time, mut speed) = (0.0, PUSH);
    (0..COUNT - 1)
        .map(|behind| {
            let start = train(behind, 0.0);
            let energy = 0.5 * inertia * start.sum * speed * speed + start.potential;
            let slowness = |angle: f64| {
                let train = train(behind, angle);
                (0.5 * inertia * train.sum / (energy - train.potential)).sqrt()
            };
            // Simpson's rule.
            let part = impact / PARTS as f64;
            let weight = |k: usize| if k == 0 || k == PARTS { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
            time += part / 3.0 * (0..=PARTS).map(|k| weight(k) * slowness(k as f64 * part)).sum::<f64>();
            let sum = train(behind, impact).sum;
            speed = sum / (1.0 + sum) / slowness(impact);
            time
        })
        .collect()
}

const STEP: f64 = 5e-4;

/// The model on a table with friction `mu` over so many steps: when the dominoes start to topple. Contact adds no energy
/// but `rise`, as a part of that of the start.
fn run(mu: f64, steps: u32, rise: f64) -> (State<f64>, Vec<f64>) {
    let (system, mut state) = common::model("domino_row").assemble();
    assert_eq!(state.nodes.len(), COUNT);
    state.parameters.mu[..COUNT].fill(mu);
    let mut workspace = Workspace::new(&system);
    let start = mechanical_energy(&system, &state);
    let mut energy = start;
    let mut found = vec![None; COUNT];
    for step in 1..=steps {
        assert_eq!(advance(&system, &mut state, &mut workspace, STEP), Ok(Quality::Solved), "step {step}");
        let now = mechanical_energy(&system, &state);
        assert!(now - energy < rise * start, "step {step}: {:e} J more", now - energy);
        energy = now;
        for (hit, rotation) in found.iter_mut().zip(&state.rotations) {
            if hit.is_none() && rotation.angular_velocity[1] > 1e-3 {
                *hit = Some(f64::from(step) * STEP);
            }
        }
    }
    (state, found.into_iter().map(|hit| hit.expect("the wave has come")).collect())
}

/// Speed of the wave over the last eight dominoes.
fn wave_speed(hits: &[f64]) -> f64 {
    8.0 * PITCH / (hits[COUNT - 1] - hits[COUNT - 9])
}

#[test]
fn the_wave_is_that_of_the_theory_where_nothing_slides() {
    let expected = hits();
    let (_, found) = run(3.0, 1105, 1e-12);
    for (index, (found, expected)) in found[1..].iter().zip(&expected).enumerate() {
        // A hit is seen at the end of its step.
        let late = found - expected;
        assert!((-1e-4..STEP + 1e-4).contains(&late), "domino {}: {found} s against {expected} s", index + 2);
    }
}

/// What the README says.
#[test]
fn the_wave_runs_down_the_row() {
    let (state, found) = run(1.0, 1110, 1e-12);
    let expected = hits();
    assert!((expected[0] - 0.07088).abs() < 1e-5 && (expected[COUNT - 2] - 0.54941).abs() < 1e-5);
    let last = PITCH / (expected[COUNT - 2] - expected[COUNT - 3]);
    assert!((last - 1.25).abs() < 5e-3, "{last} m/s");
    for (found, expected) in found[1..].iter().zip(&expected) {
        assert!((found - expected).abs() < 0.01 * expected + STEP, "{found} s against {expected} s");
    }
    let speed = wave_speed(&found);
    assert!((speed - 1.26).abs() < 0.02, "{speed} m/s");
    for rotation in &state.rotations[..COUNT - 1] {
        let up = rotation.orientation.to_world(&Vector3::z());
        assert!(up[0] > 0.1 && up[1].abs() < 1e-2, "all fall forward: {up:?}");
    }
}

/// The row is its own mirror image, and so is its motion, whatever the last digits of the steps are.
#[test]
fn the_row_stays_in_its_plane() {
    let (system, start) = common::model("domino_row").assemble();
    for origin in [0.0, 0.3] {
        let mut state = start.clone();
        let mut workspace = Workspace::new(&system);
        let time = |step: u32| origin + f64::from(step) * STEP;
        for step in 0..1110 {
            let quality = advance(&system, &mut state, &mut workspace, time(step + 1) - time(step));
            assert_eq!(quality, Ok(Quality::Solved), "step {step}");
            for node in &state.nodes {
                assert!(node.position.y.abs() < 1e-9, "step {step}: {:e} m", node.position.y);
            }
        }
    }
}
