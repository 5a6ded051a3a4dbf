//! The couplings in numbers and figures, as `docs/coupling.md` shows them: a ball, an oscillator and a chain above a
//! floor, moved by exact masters, beside their exact motion.

#![allow(dead_code, reason = "the test looks closer than the page")]

pub mod ball;
pub mod chain;
pub mod oscillator;

use crate::plot::Axis;
use crate::smooth_side::master::Sample;
use contact_fmu::model::{Model, file};

use ball::Ball;
use chain::Chain;
use oscillator::Oscillator;

pub const RESTITUTION: f64 = 0.8;

pub struct Report {
    pub ball: Ball,
    pub oscillator: Oscillator,
    pub chain: Chain,
}

/// Runs everything.
pub fn report() -> Report {
    Report { ball: ball::run(), oscillator: oscillator::run(), chain: chain::run() }
}

impl Report {
    /// Tables in Markdown.
    pub fn tables(&self) -> [String; 4] {
        let [orders, masses] = self.ball.tables();
        [orders, masses, self.oscillator.table(), self.chain.table()]
    }

    /// File names and contents.
    pub fn figures(&self) -> [(&'static str, String); 3] {
        [
            ("ball.svg", self.ball.figure()),
            ("oscillator.svg", self.oscillator.figure()),
            ("chain.svg", self.chain.figure()),
        ]
    }
}

/// The page with tables in place of those that have the same heads.
pub fn with_tables(page: &str, tables: &[String]) -> String {
    let mut page = page.to_owned();
    for table in tables {
        let head = table.lines().next().expect("a head");
        let start = page.find(head).unwrap_or_else(|| panic!("no table with the head {head}"));
        let old: usize =
            page[start..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
        page.replace_range(start..start + old, table);
    }
    page
}

/// A model of one node of 1 kg above a floor; `node` are the lines of the node besides its name.
fn model(step: f64, gravity: f64, node: &str) -> Model {
    let text = format!(
        "[model]\nname = \"side\"\n[experiment]\nstep = {step:?}\n[engine]\ngravity = [0.0, 0.0, {:?}]\n\
         [[node]]\nname = \"node\"\n{node}\n\
         [[surface]]\nname = \"floor\"\nshape.plane.normal = [0.0, 0.0, 1.0]\n\
         [[contact]]\nbetween = [\"node\", \"floor\"]\nrestitution = {RESTITUTION:?}\n",
        -gravity
    );
    file::parse(&text, "model").unwrap_or_else(|error| panic!("{error}"))
}

/// Largest difference of the heights from `exact`, sample by sample.
fn worst(samples: &[Sample], exact: &[f64]) -> f64 {
    samples.iter().zip(exact).map(|(sample, exact)| (sample.height - exact).abs()).fold(0.0, f64::max)
}

/// As a table shows a length in m.
fn short(value: f64) -> String {
    match value {
        _ if value < 1.0 => format!("{value:.0e}"),
        _ if value < 1e3 => format!("{value:.0}"),
        _ => "grows without bound".to_owned(),
    }
}

/// Points up to the one at which the line leaves the axis at its top, and there the border itself.
fn below_top(points: impl Iterator<Item = (f64, f64)>, axis: &Axis) -> Vec<(f64, f64)> {
    let top = axis.range.end;
    let mut inside: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        if y <= top {
            inside.push((x, y));
            continue;
        }
        if let Some(&(last_x, last_y)) = inside.last() {
            inside.push((last_x + (x - last_x) * axis.part(last_y, y, top), top));
        }
        break;
    }
    inside
}
