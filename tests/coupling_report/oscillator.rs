//! Two masses of 1 kg joined by a spring fall on the floor; the lower one touches.

use super::{RESTITUTION, below_top, model, short, worst};
use crate::plot::{self, Axis, Figure, Line, Panel, Scale};
use crate::smooth_side::chain::Chain as Side;
use crate::smooth_side::exact::Exact;
use crate::smooth_side::master::{self, Exchange, Order, Sample, Span};

const STIFFNESS: f64 = 1e4;
const GRAVITY: f64 = 10.0;
const HEIGHT: f64 = 0.801;
const STOP: f64 = 1.0;
/// Step of the exact motion, short against its period.
const FINE: f64 = 1e-4;

/// How the masses are split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// Both in the master.
    Kinetic(Order),
    /// The lower one and the spring in the FMU.
    Compliant(Order),
    /// The lower one in the FMU.
    Owned(Exchange),
}

/// All of them, with the heads of their columns.
pub const SPLITS: [(Split, &str); 6] = [
    (Split::Kinetic(Order::Sequential), "kinetic, sequential"),
    (Split::Kinetic(Order::Parallel), "kinetic, parallel"),
    (Split::Compliant(Order::Sequential), "compliant, sequential"),
    (Split::Compliant(Order::Parallel), "compliant, parallel"),
    (Split::Owned(Exchange::Linear), "owned, force with derivative"),
    (Split::Owned(Exchange::Held), "owned, held"),
];

/// Runs of all splits at one step.
pub struct AtStep {
    pub step: f64,
    exact: Vec<f64>,
    runs: Vec<Vec<Sample>>,
}

pub struct Oscillator {
    pub steps: Vec<AtStep>,
}

pub fn run() -> Oscillator {
    Oscillator { steps: [1e-4, 1e-3, 2e-3, 5e-3, 1e-2].map(at_step).into() }
}

/// `H omega` of the spring at the node.
pub fn speed(step: f64) -> f64 {
    step * STIFFNESS.sqrt()
}

fn at_step(step: f64) -> AtStep {
    let mut motion = Exact::falling(2, STIFFNESS, GRAVITY, RESTITUTION, HEIGHT, 0.0);
    let mut exact = vec![HEIGHT];
    for _ in 0..(STOP / step).round() as u32 {
        (0..(step / FINE).round() as u32).for_each(|_| motion.step(FINE));
        exact.push(motion.height());
    }
    let runs = SPLITS.map(|(split, _)| samples(split, step));
    AtStep { step, exact, runs: runs.into() }
}

fn samples(split: Split, step: f64) -> Vec<Sample> {
    let span = Span { step, stop: STOP, far: f64::INFINITY };
    let latency = |order| u8::from(order == Order::Parallel);
    let node = |lines: String| {
        model(step, GRAVITY, &format!("mass = 1.0\nposition = [0.0, 0.0, {HEIGHT:?}]\n{lines}"))
    };
    match split {
        Split::Kinetic(order) => {
            let side = Side::falling(2, STIFFNESS, GRAVITY, HEIGHT, 0.0);
            master::kinetic(&node(format!("latency = {}", latency(order))), side, order, span)
        }
        Split::Compliant(order) => {
            let model = node(format!(
                "coupling = \"compliant\"\nlatency = {}\ncompliance = {{ stiffness = {STIFFNESS:?}, master_mass = 1.0 }}",
                latency(order)
            ));
            let side = Side::falling(1, STIFFNESS, GRAVITY, HEIGHT, 0.0);
            master::compliant(&model, STIFFNESS, side, order, span)
        }
        Split::Owned(exchange) => {
            let model = node("coupling = \"owned\"".to_owned());
            master::owned(&model, STIFFNESS, (&[HEIGHT], &[0.0]), exchange, step, STOP)
        }
    }
}

impl AtStep {
    /// Largest error of the position of the mass that touches.
    pub fn error(&self, split: Split) -> f64 {
        worst(self.samples(split), &self.exact)
    }

    pub fn samples(&self, split: Split) -> &[Sample] {
        let index = SPLITS.iter().position(|(other, _)| *other == split).expect("one of them");
        &self.runs[index]
    }
}

impl Oscillator {
    pub fn at(&self, step: f64) -> &AtStep {
        self.steps.iter().find(|at| at.step == step).expect("a step that was run")
    }

    pub fn table(&self) -> String {
        let mut table = String::from("| H ω | H, s |");
        SPLITS.iter().for_each(|(_, head)| table += &format!(" {head} |"));
        table += "\n|---|---|";
        SPLITS.iter().for_each(|_| table += "---|");
        table += "\n";
        for at in &self.steps {
            table += &format!("| {:.2} | {:e} |", speed(at.step), at.step);
            SPLITS.iter().for_each(|(split, _)| table += &format!(" {} |", short(at.error(*split))));
            table += "\n";
        }
        table
    }

    pub fn figure(&self) -> String {
        let lines = [
            (Split::Owned(Exchange::Held), Line { name: "owned, held", tint: plot::ORANGE, width: 1.5 }),
            (
                Split::Owned(Exchange::Linear),
                Line { name: "owned, with derivative", tint: plot::PURPLE, width: 1.5 },
            ),
            (Split::Kinetic(Order::Sequential), Line { name: "kinetic", tint: plot::BLUE, width: 1.5 }),
            (Split::Compliant(Order::Sequential), Line { name: "compliant", tint: plot::GREEN, width: 1.5 }),
        ];
        let panels = [(1e-3, "(a) H ω = 0.1: position error, m"), (5e-3, "(b) H ω = 0.5: position error, m")]
            .map(|(step, label)| {
                let y = Axis { label, range: 1e-7..10.0, scale: Scale::Logarithmic };
                let at = self.at(step);
                let lines = lines.map(|(split, line)| {
                    let points = at.samples(split).iter().zip(&at.exact).map(|(sample, exact)| {
                        (sample.time, (sample.height - exact).abs().max(y.range.start))
                    });
                    (line, below_top(points.filter(|(time, _)| *time >= FROM), &y))
                });
                Panel { lines: lines.into(), y }
            });
        plot::svg(&Figure {
            width: 760,
            panel_height: 230,
            x_label: "time, s",
            x: FROM..STOP,
            legend: lines.iter().rev().map(|(_, line)| *line).collect(),
            panels: panels.into(),
        })
    }
}

/// Shortly before the first impact, at 0.400 s.
const FROM: f64 = 0.35;
