//! Shared by the tests: models of the repository, reference files, runs of the engine.

#![allow(dead_code, reason = "each test file uses its own part")]

use contact_fmu::engine::{Quality, State, System, Workspace, advance};
use contact_fmu::model::{Model, file};
use std::path::{Path, PathBuf};

/// A file of the repository.
pub fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// A model of the repository.
pub fn model(name: &str) -> Model {
    file::read(&path(&format!("models/{name}/model.toml"))).unwrap_or_else(|error| panic!("{error}")).model
}

/// The same model with event capturing instead of time of impact.
pub fn capturing(name: &str) -> Model {
    let mut model = model(name);
    model.engine.time_of_impact = false;
    model.engine.correction = false;
    model
}

/// Columns of `models/NAME/reference.csv`, row by row, without the header.
pub fn reference(name: &str) -> Vec<Vec<f64>> {
    numbers(&format!("models/{name}/reference.csv"))
}

/// Columns of a file of the repository, row by row, without the header.
pub fn numbers(file: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect()
}

/// A run of the engine: states at every communication point, the first one included.
pub struct Run {
    /// Constant data.
    pub system: System,
    /// States, with their times.
    pub states: Vec<State<f64>>,
}

/// Runs a model with communication steps of `step` until `stop`. Every step must be solved.
pub fn run(model: &Model, step: f64, stop: f64) -> Run {
    let (system, mut state) = model.assemble();
    let mut workspace = Workspace::new(&system);
    let mut states = vec![state.clone()];
    for k in 1..=(stop / step).round() as usize {
        assert_eq!(advance(&system, &mut state, &mut workspace, step), Ok(Quality::Solved), "step {k}");
        state.time = k as f64 * step;
        states.push(state.clone());
    }
    Run { system, states }
}

/// Largest value of `error` over the states whose time is in `range`.
pub fn worst(
    states: &[State<f64>],
    range: std::ops::RangeInclusive<f64>,
    error: impl Fn(&State<f64>) -> f64,
) -> f64 {
    let mut seen = 0;
    let mut worst = 0.0_f64;
    for state in states.iter().filter(|state| range.contains(&state.time)) {
        seen += 1;
        let here = error(state);
        assert!(here.is_finite(), "not finite at {}", state.time);
        worst = worst.max(here);
    }
    assert!(seen > 0, "no state in {range:?}");
    worst
}

/// A bouncing point with constant acceleration `-g` above zero: exact height and, with Coulomb friction while it
/// slides without reversing, exact travel along the surface under the constant acceleration `along`.
pub struct ExactBounce {
    /// Initial height.
    pub height: f64,
    /// Acceleration towards the surface.
    pub g: f64,
    /// Restitution.
    pub restitution: f64,
    /// Acceleration along the surface.
    pub along: f64,
    /// Friction.
    pub mu: f64,
}

impl ExactBounce {
    /// Height and travel at time `t`.
    pub fn at(&self, t: f64) -> (f64, f64) {
        let fall = (2.0 * self.height / self.g).sqrt();
        if t <= fall {
            return (self.height - 0.5 * self.g * t * t, 0.5 * self.along * t * t);
        }
        let mut impact = fall;
        let mut travel = 0.5 * self.along * fall * fall;
        let mut sliding = self.along * fall;
        let mut speed = self.g * fall;
        for _ in 0..2000 {
            sliding -= self.mu * (1.0 + self.restitution) * speed;
            speed *= self.restitution;
            let flight = 2.0 * speed / self.g;
            let since = t - impact;
            if since <= flight {
                let height = since * (speed - 0.5 * self.g * since);
                return (height, travel + since * (sliding + 0.5 * self.along * since));
            }
            travel += flight * (sliding + 0.5 * self.along * flight);
            sliding += self.along * flight;
            impact += flight;
        }
        let since = t - impact;
        (0.0, travel + since * (sliding + 0.5 * (self.along - self.mu * self.g) * since))
    }
}
