//! A hundred masses of 1 kg joined by springs fly into the floor; the first one touches.

use super::{RESTITUTION, model, worst};
use crate::plot::{self, Axis, Figure, Line, Panel, Scale};
use crate::smooth_side::chain::Chain as Side;
use crate::smooth_side::exact::Exact;
use crate::smooth_side::master::{self, Order, Sample, Span};

const MASSES: usize = 100;
const STIFFNESS: f64 = 1e4;
const HEIGHT: f64 = 0.1;
const SPEED: f64 = -1.0;
const START_ENERGY: f64 = 50.0;
const STOP: f64 = 2.6;
/// Steps of the masters.
pub const SHORT: f64 = 1e-3;
pub const MIDDLE: f64 = 5e-3;
pub const LONG: f64 = 1e-2;

/// Who moves the mass that touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Kinetic,
    Compliant,
}

pub struct ChainRun {
    pub mode: Mode,
    pub order: Order,
    pub step: f64,
    pub run: Vec<Sample>,
    line: Option<Line>,
}

pub struct Chain {
    pub runs: Vec<ChainRun>,
    /// Height, energy and impulse so far, every `SHORT`.
    exact: Vec<(f64, f64, f64)>,
}

pub fn run() -> Chain {
    let mut motion = Exact::falling(MASSES, STIFFNESS, 0.0, RESTITUTION, HEIGHT, SPEED);
    let mut exact = vec![(motion.height(), motion.energy(), 0.0)];
    for _ in 0..(STOP / SHORT).round() as u32 {
        motion.step(SHORT);
        exact.push((motion.height(), motion.energy(), motion.impulse));
    }
    let line = |name, tint, width| Some(Line { name, tint, width });
    use Mode::{Compliant, Kinetic};
    use Order::{Parallel, Sequential};
    let runs = [
        (LONG, Kinetic, Sequential, line("kinetic 10 ms", plot::BLUE, 2.0)),
        (LONG, Kinetic, Parallel, None),
        (LONG, Compliant, Sequential, line("compliant 10 ms", plot::GREEN, 2.0)),
        (LONG, Compliant, Parallel, None),
        (MIDDLE, Kinetic, Sequential, None),
        (MIDDLE, Kinetic, Parallel, None),
        (MIDDLE, Compliant, Sequential, None),
        (MIDDLE, Compliant, Parallel, None),
        (SHORT, Kinetic, Sequential, line("kinetic 1 ms", plot::PURPLE, 1.2)),
        (SHORT, Kinetic, Parallel, None),
        (SHORT, Compliant, Sequential, line("compliant 1 ms", plot::ORANGE, 1.2)),
        (SHORT, Compliant, Parallel, None),
    ];
    let runs = runs.map(|(step, mode, order, line)| ChainRun {
        mode,
        order,
        step,
        run: fly(mode, order, step),
        line,
    });
    Chain { runs: runs.into(), exact }
}

fn fly(mode: Mode, order: Order, step: f64) -> Vec<Sample> {
    let span = Span { step, stop: STOP, far: 1e6 };
    let latency = u8::from(order == Order::Parallel);
    let node = format!(
        "mass = 1.0\nlatency = {latency}\nposition = [0.0, 0.0, {HEIGHT:?}]\nvelocity = [0.0, 0.0, {SPEED:?}]"
    );
    match mode {
        Mode::Kinetic => {
            let side = Side::falling(MASSES, STIFFNESS, 0.0, HEIGHT, SPEED);
            master::kinetic(&model(step, 0.0, &node), side, order, span)
        }
        Mode::Compliant => {
            let link = format!(
                "coupling = \"compliant\"\ncompliance = {{ stiffness = {STIFFNESS:?}, master_mass = 1.0 }}"
            );
            let side = Side::falling(MASSES - 1, STIFFNESS, 0.0, HEIGHT, SPEED);
            master::compliant(&model(step, 0.0, &format!("{node}\n{link}")), STIFFNESS, side, order, span)
        }
    }
}

impl ChainRun {
    fn is_complete(&self) -> bool {
        self.run.len() == (STOP / self.step).round() as usize + 1
    }

    fn last(&self) -> &Sample {
        self.run.last().expect("samples")
    }

    /// Energy at the end as a part of that at the start.
    pub fn energy(&self) -> f64 {
        self.last().energy / START_ENERGY
    }

    /// Impulse of the floor.
    pub fn impulse(&self) -> f64 {
        self.run.iter().map(|sample| sample.force * self.step).sum()
    }

    /// Exact values at each of its samples.
    fn exact<'a>(&self, chain: &'a Chain) -> impl Iterator<Item = &'a (f64, f64, f64)> {
        chain.exact.iter().step_by((self.step / SHORT).round() as usize)
    }

    /// Largest error of the position of the mass that touches.
    pub fn error(&self, chain: &Chain) -> f64 {
        let exact: Vec<f64> = self.exact(chain).map(|(height, ..)| *height).collect();
        worst(&self.run, &exact)
    }

    /// Whether the master has the chain fly away.
    pub fn grows(&self) -> bool {
        !self.is_complete() || self.energy() > 1e3
    }
}

impl Chain {
    pub fn find(&self, mode: Mode, order: Order, step: f64) -> &ChainRun {
        self.runs
            .iter()
            .find(|run| run.mode == mode && run.order == order && run.step == step)
            .expect("one that was run")
    }

    /// Energy at the end as a part of that at the start, and impulse of the floor.
    pub fn exact_end(&self) -> (f64, f64) {
        let (_, energy, impulse) = self.exact.last().expect("an end");
        (energy / START_ENERGY, *impulse)
    }

    pub fn table(&self) -> String {
        let (energy, impulse) = self.exact_end();
        let mut table = format!(
            "| coupling | H ω | largest error of the position | energy at the end / at the start | impulse of the floor |\n\
             |---|---|---|---|---|\n\
             | exact | | | {energy:.4} | {impulse:.3} N s |\n"
        );
        for run in &self.runs {
            let mode = if run.mode == Mode::Kinetic { "kinetic" } else { "compliant" };
            let order = if run.order == Order::Sequential { "sequential" } else { "parallel" };
            let speed = run.step * STIFFNESS.sqrt();
            table += &format!("| {mode}, {order} | {speed:.1} | ");
            table += &if run.grows() {
                "grows without bound | | |\n".to_owned()
            } else {
                format!("{:.0e} m | {:.4} | {:.3} N s |\n", run.error(self), run.energy(), run.impulse())
            };
        }
        table
    }

    pub fn figure(&self) -> String {
        let exact = Line { name: "exact", tint: plot::GREY, width: 5.0 };
        let shown: Vec<(Line, &ChainRun)> =
            self.runs.iter().filter_map(|run| Some((run.line?, run))).collect();
        let time = |index: usize| index as f64 * LONG;
        let windows = (LONG / SHORT).round() as usize;

        let means: Vec<(f64, f64)> = self
            .exact
            .iter()
            .step_by(windows)
            .zip(self.exact.iter().step_by(windows).skip(1))
            .enumerate()
            .map(|(index, (before, after))| (time(index) + 0.5 * LONG, (after.2 - before.2) / LONG))
            .collect();
        let mut forces = vec![(exact, means)];
        let mut energies = vec![(
            exact,
            self.exact
                .iter()
                .step_by(windows)
                .enumerate()
                .map(|(index, (_, energy, _))| (time(index), energy / START_ENERGY))
                .collect(),
        )];
        let mut errors = Vec::new();
        let floor = 1e-8_f64;
        for (line, run) in shown {
            let steps = (LONG / run.step).round() as usize;
            let samples = &run.run;
            let means = samples[1..].chunks(steps).enumerate().map(|(index, chunk)| {
                let sum: f64 = chunk.iter().map(|sample| sample.force).sum();
                (time(index) + 0.5 * LONG, sum / steps as f64)
            });
            forces.push((line, means.collect()));
            let every = samples.iter().step_by(steps);
            energies.push((line, every.map(|sample| (sample.time, sample.energy / START_ENERGY)).collect()));
            let points = samples
                .iter()
                .zip(run.exact(self))
                .step_by((steps / 2).max(1))
                .map(|(sample, (height, ..))| (sample.time, (sample.height - height).abs().max(floor)));
            errors.push((line, points.collect()));
        }
        let axis = |label, range, scale| Axis { label, range, scale };
        let legend = forces.iter().map(|(line, _)| *line).collect();
        plot::svg(&Figure {
            width: 760,
            panel_height: 220,
            x_label: "time, s",
            x: 0.0..STOP,
            legend,
            panels: vec![
                Panel { y: axis("(a) contact force, N", -50.0..350.0, Scale::Linear), lines: forces },
                Panel {
                    y: axis("(b) energy / energy at the start", 0.96..1.06, Scale::Linear),
                    lines: energies,
                },
                Panel { y: axis("(c) position error, m", floor..1.0, Scale::Logarithmic), lines: errors },
            ],
        })
    }
}
