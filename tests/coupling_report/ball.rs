//! The ball of `models/coupled_ball`, in kinetic coupling.

use super::{RESTITUTION, below_top, model, short, worst};
use crate::common::ExactBounce;
use crate::plot::{self, Axis, Figure, Line, Panel, Scale};
use crate::smooth_side::chain::Chain as Side;
use crate::smooth_side::master::{self, Order, Sample, Span};

pub const STEP: f64 = 1e-3;
const STOP: f64 = 5.0;
const GRAVITY: f64 = 10.0;
const HEIGHT: f64 = 0.801;
/// Where a run is given up.
const FAR: f64 = 1e6;
/// Steps over which an impulse is delivered, at the latest.
const DELIVERY: f64 = 3.0;

/// A master and what the model tells the engine of it.
pub struct OrderRun {
    pub order: Order,
    pub latency: &'static str,
    pub run: Vec<Sample>,
    line: Option<Line>,
}

/// A mass in the model that is not that of the ball.
pub struct MassRun {
    pub mass: f64,
    pub adapt: bool,
    pub run: Vec<Sample>,
}

pub struct Ball {
    pub orders: Vec<OrderRun>,
    pub masses: Vec<MassRun>,
    /// Heights after each step, and times of impacts.
    exact: Vec<f64>,
    impacts: Vec<f64>,
}

fn fall(order: Order, node: &str) -> Vec<Sample> {
    let model = model(STEP, GRAVITY, &format!("{node}\nposition = [0.0, 0.0, {HEIGHT:?}]"));
    let side = Side::falling(1, 1.0, GRAVITY, HEIGHT, 0.0);
    master::kinetic(&model, side, order, Span { step: STEP, stop: STOP, far: FAR })
}

pub fn run() -> Ball {
    let bounce = ExactBounce { height: HEIGHT, g: GRAVITY, restitution: RESTITUTION, along: 0.0, mu: 0.0 };
    let exact = (0..=(STOP / STEP).round() as u32).map(|k| bounce.at(f64::from(k) * STEP).0).collect();
    let mut impacts = vec![(2.0 * HEIGHT / GRAVITY).sqrt()];
    let mut flight = 2.0 * RESTITUTION * impacts[0];
    while flight > STEP {
        impacts.push(impacts.last().expect("an impact") + flight);
        flight *= RESTITUTION;
    }
    let line = |name, tint, width| Some(Line { name, tint, width });
    let orders = [
        (Order::Sequential, "0", line("sequential", plot::BLUE, 4.0)),
        (Order::Sequential, "\"auto\"", None),
        (Order::Parallel, "1", line("parallel, latency 1", plot::GREEN, 1.5)),
        (Order::Parallel, "\"auto\"", None),
        (Order::Parallel, "0", line("parallel, latency 0 (wrong)", plot::ORANGE, 1.5)),
        (Order::Sequential, "1", None),
        (Order::Interpolating, "0", None),
    ];
    let orders = orders.map(|(order, latency, line)| {
        let run = fall(order, &format!("mass = 1.0\nlatency = {latency}"));
        OrderRun { order, latency, run, line }
    });
    let masses = [(0.5, true), (2.0, true), (0.5, false), (2.0, false)].map(|(mass, adapt)| {
        let run = fall(Order::Sequential, &format!("mass = {mass:?}\nlatency = 0\nadapt = {adapt}"));
        MassRun { mass, adapt, run }
    });
    Ball { orders: orders.into(), masses: masses.into(), exact, impacts }
}

/// Energy as a part of that at the start, between the first two impacts; none if the ball is gone by then.
fn energy_after_impact(run: &[Sample]) -> Option<f64> {
    let index = (0.5 / STEP).round() as usize;
    run.get(index).map(|sample| sample.energy / (GRAVITY * HEIGHT))
}

impl MassRun {
    /// The mass that was learnt.
    pub fn adapted(&self) -> f64 {
        self.run.last().and_then(|sample| sample.diagnosis).expect("a coupled ball").mass
    }

    /// Speed after the first impact as a part of that before.
    pub fn rebound(&self) -> f64 {
        energy_after_impact(&self.run).expect("a ball that is there").sqrt()
    }
}

/// The next power of ten, for numbers that are only rounding errors.
fn below(value: f64) -> String {
    format!("below 1e{}", value.log10().ceil())
}

impl Ball {
    /// Largest error besides the steps in which an impulse is on its way and the end of bouncing; infinite for a run
    /// that was given up.
    pub fn error(&self, run: &[Sample]) -> f64 {
        if run.len() < self.exact.len() {
            return f64::INFINITY;
        }
        let last = *self.impacts.last().expect("impacts");
        let is_ending = |time: f64| (last..last + 0.1).contains(&time);
        run.iter()
            .zip(&self.exact)
            .filter(|(sample, _)| !self.is_delivered_at(sample.time) && !is_ending(sample.time))
            .map(|(sample, exact)| (sample.height - exact).abs())
            .fold(0.0, f64::max)
    }

    /// Largest error of all.
    pub fn error_in_impacts(&self, run: &[Sample]) -> f64 {
        worst(run, &self.exact)
    }

    fn is_delivered_at(&self, time: f64) -> bool {
        self.impacts.iter().any(|impact| (*impact..impact + DELIVERY * STEP).contains(&time))
    }

    pub fn tables(&self) -> [String; 2] {
        let mut orders = String::from(
            "| master | `latency` in the model | energy after the first impact (exact: 0.64) | largest error of the height |\n\
             |---|---|---|---|\n",
        );
        for OrderRun { order, latency, run, .. } in &self.orders {
            let master = match order {
                Order::Sequential => "sequential",
                Order::Parallel => "parallel",
                Order::Interpolating => "sequential, but interpolates the force",
            };
            let energy =
                energy_after_impact(run).map_or("out of range".to_owned(), |part| format!("{part:.2}"));
            let error = match self.error(run) {
                error if error < 1e-6 => format!("{} m", below(error)),
                error if error < 1e3 => format!("{} m", short(error)),
                error => short(error),
            };
            orders += &format!("| {master} | {latency} | {energy} | {error} |\n");
        }
        let mut masses = String::from(
            "| mass in the model | `adapt` | rebound / impact speed, first impact (exact: 0.8) | `ball.adapted_mass` after 5 s |\n\
             |---|---|---|---|\n",
        );
        for run in &self.masses {
            let adapted = run.adapted();
            masses +=
                &format!("| {} kg | {} | {:.3} | {adapted:.4} kg |\n", run.mass, run.adapt, run.rebound());
        }
        [orders, masses]
    }

    pub fn figure(&self) -> String {
        let exact = Line { name: "exact", tint: plot::GREY, width: 8.0 };
        let height = Axis { label: "(a) height, m", range: 0.0..1.5, scale: Scale::Linear };
        let energy =
            Axis { label: "(b) energy / energy at the start", range: 1e-3..1e3, scale: Scale::Logarithmic };
        let start = GRAVITY * HEIGHT;
        let steps = self.exact.iter().enumerate().map(|(k, height)| (k as f64 * STEP, *height));
        let exact_energy = |time: f64| {
            let bounces = self.impacts.iter().filter(|impact| **impact <= time).count();
            RESTITUTION.powi(2 * bounces as i32)
        };
        let floor = |value: f64| value.max(energy.range.start);
        let mut heights = vec![(exact, thinned(steps.clone()))];
        let mut energies = vec![(exact, thinned(steps.map(|(time, _)| (time, floor(exact_energy(time))))))];
        for (line, run) in self.orders.iter().filter_map(|order| Some((order.line?, &order.run))) {
            let samples = run.iter();
            let points = samples.clone().map(|sample| (sample.time, sample.height.max(0.0)));
            heights.push((line, thinned(below_top(points, &height).into_iter())));
            let points = samples
                .filter(|sample| !self.is_delivered_at(sample.time))
                .map(|sample| (sample.time, floor(sample.energy / start)));
            energies.push((line, thinned(below_top(points, &energy).into_iter())));
        }
        let legend = heights.iter().map(|(line, _)| *line).collect();
        plot::svg(&Figure {
            width: 760,
            panel_height: 250,
            x_label: "time, s",
            x: 0.0..4.0,
            legend,
            panels: vec![Panel { y: height, lines: heights }, Panel { y: energy, lines: energies }],
        })
    }
}

/// Every fifth point until 4 s, and the last one.
fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let points: Vec<_> =
        points.take_while(|(time, _)| *time <= 4.0 + 1e-9).map(|(time, y)| (time.min(4.0), y)).collect();
    let last = points.len().saturating_sub(1);
    points
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index % 5 == 0 || *index == last)
        .map(|(_, point)| point)
        .collect()
}
