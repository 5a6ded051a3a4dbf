//! Peiret's wheel in numbers and figures: the paper's scheme with the friction laws, and the engine's own scheme.
//! [Peiret et al. 2016, Figs. 4 and 5]

mod paper_scheme;

use crate::common::{Run, model, run, worst};
use crate::plot::{self, Axis, Figure, Line, Panel, Scale};
use crate::wheel_equations::deviation::{Deviation, Summary, summary};
use crate::wheel_equations::exact::{STEP, exact, is_sliding};
use crate::wheel_equations::friction_used;
use contact_fmu::engine::{State, gap, mechanical_energy};
use contact_fmu::model::Scheme;
use paper_scheme::{Law, Sample, deviations, simulate};

/// What the paper prints.
struct Printed {
    /// In percent.
    force: &'static str,
    /// In degrees.
    misalignment: &'static str,
}

/// A friction law in the paper's scheme.
pub struct PaperLaw {
    pub name: &'static str,
    printed: Option<Printed>,
    line: Option<Line>,
    deviations: Vec<Deviation>,
    pub summary: Summary,
}

/// The engine's wheel beside the exact motion.
pub struct EngineWheel {
    deviations: Vec<Deviation>,
    pub summary: Summary,
    gap: f64,
    last_slip: f64,
    energy_balance: f64,
}

pub struct Report {
    ideal: Vec<Sample>,
    pub laws: Vec<PaperLaw>,
    pub engine: EngineWheel,
    /// Largest part of the distance from the start, with the other scheme of the engine.
    moreau_jean: f64,
}

const COULOMB: Line = Line { name: "Coulomb, 10 kHz", tint: plot::GREY, width: 5.0 };
const ENGINE: Line = Line { name: "engine: midpoint, cone", tint: plot::PURPLE, width: 1.2 };

/// Runs every wheel.
pub fn report() -> Report {
    let ideal = simulate(paper_scheme::cone(), 1e-4);
    let line = |name, tint, width| Some(Line { name, tint, width });
    let printed = |force, misalignment| Some(Printed { force, misalignment });
    let measured = |name, law: Box<dyn Law>, printed, line| {
        let deviations = deviations(&simulate(law, 1e-3), &ideal);
        PaperLaw { name, printed, line, summary: summary(&deviations), deviations }
    };
    let laws = vec![
        measured(
            "`bristle`",
            paper_scheme::bristles(),
            printed("1.67", "0.7"),
            line("bristle", plot::BLUE, 2.5),
        ),
        measured(
            "`facets` (4, fixed)",
            paper_scheme::polygon(4),
            printed("3.76", "14.0"),
            line("facets (4)", plot::GREEN, 1.5),
        ),
        measured("`box`", paper_scheme::fixed_box(), printed("9.70", "12.6"), line("box", plot::ORANGE, 1.5)),
        measured("`cone`", paper_scheme::cone(), None, None),
    ];
    let mut wheel = model("wheel");
    let engine = engine_wheel(&run(&wheel, STEP, 5.0));
    wheel.engine.scheme = Scheme::MoreauJean;
    wheel.engine.time_of_impact = true;
    let moreau_jean = summary(&exact().deviations(&run(&wheel, STEP, 5.0))).position;
    Report { ideal, laws, engine, moreau_jean }
}

fn engine_wheel(run: &Run) -> EngineWheel {
    let deviations = exact().deviations(run);
    let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
    let start = total(&run.states[0]);
    EngineWheel {
        summary: summary(&deviations),
        deviations,
        gap: worst(&run.states, 0.0..=5.0, |state| gap(&run.system, state, 0).abs()),
        last_slip: run.states.iter().rfind(|state| is_sliding(state)).expect("a wheel that slides").time,
        energy_balance: worst(&run.states, 0.0..=5.0, |state| (total(state) - start).abs()),
    }
}

/// The next power of ten, for numbers that are only rounding errors.
fn below(value: f64) -> String {
    format!("below 1e{}", value.log10().ceil())
}

impl Report {
    /// Tables in Markdown: the paper's scheme, the engine's scheme.
    pub fn tables(&self) -> [String; 2] {
        [self.paper_table(), self.engine_table()]
    }

    fn paper_table(&self) -> String {
        let mut table = String::from(
            "| law | force: here | force: paper | misalignment: here | misalignment: paper | position | energy |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for PaperLaw { name, printed, summary, .. } in &self.laws {
            let (force, misalignment) = match printed {
                Some(Printed { force, misalignment }) => {
                    (format!("{force} %"), format!("{misalignment} deg"))
                }
                None => ("-".to_string(), "-".to_string()),
            };
            table += &format!(
                "| {name} | {:.2} % | {force} | {:.2} deg | {misalignment} | {:.2} % | {:.3} J |\n",
                100.0 * summary.force,
                summary.misalignment,
                100.0 * summary.position,
                summary.energy,
            );
        }
        table
    }

    fn engine_table(&self) -> String {
        let EngineWheel { summary, gap, last_slip, energy_balance, .. } = &self.engine;
        format!(
            "| | difference from the exact motion |\n\
             |---|---|\n\
             | used part of friction, \\|f_T\\| / (mu f_N), mean over each step, RMS | {:.4} % |\n\
             | direction of friction while it slides, RMS | {:.4} deg |\n\
             | position, largest part of the distance from the start (after 0.1 s) | {:.5} % |\n\
             | the same with `moreau-jean` | {:.5} % |\n\
             | mechanical energy, largest | {:.0e} J |\n\
             | energy balance with what friction takes | {} J |\n\
             | gap | {} m |\n\
             | last step that slides | ends at {last_slip:.3} s |\n",
            100.0 * summary.force,
            summary.misalignment,
            100.0 * summary.position,
            100.0 * self.moreau_jean,
            summary.energy,
            below(*energy_balance),
            below(*gap),
        )
    }

    /// File names and contents.
    pub fn figures(&self) -> [(&'static str, String); 2] {
        [("figure4.svg", plot::svg(&self.figure_4())), ("figure5.svg", plot::svg(&self.figure_5()))]
    }

    /// Drawn laws, then the engine.
    fn curves(&self) -> Vec<(Line, &[Deviation])> {
        let laws = self.laws.iter().filter_map(|law| Some((law.line?, law.deviations.as_slice())));
        laws.chain([(ENGINE, self.engine.deviations.as_slice())]).collect()
    }

    fn figure(&self, legend: Vec<Line>, panel_height: u32, panels: Vec<Panel>) -> Figure {
        Figure { width: 760, panel_height, x_label: "time, s", x: 0.0..5.0, legend, panels }
    }

    /// Normalised friction force.
    fn figure_4(&self) -> Figure {
        let ideal =
            self.ideal.iter().skip(9).step_by(10).map(|sample| (sample.time, friction_used(&sample.force)));
        let mut lines = vec![(COULOMB, thinned(ideal))];
        for (line, deviations) in self.curves() {
            let points = deviations.iter().map(|deviation| (deviation.time, deviation.friction_used));
            lines.push((line, thinned(points)));
        }
        let legend = lines.iter().map(|(line, _)| *line).collect();
        let y =
            Axis { label: "friction force / (μ · normal force)", range: 0.0..1.2, scale: Scale::Linear };
        self.figure(legend, 340, vec![Panel { y, lines }])
    }

    /// Errors of position and energy, and misalignment.
    fn figure_5(&self) -> Figure {
        type Value = fn(&Deviation) -> Option<f64>;
        let panels: [(Axis, Value); 3] = [
            (
                Axis { label: "(a) position error, %", range: 1e-6..10.0, scale: Scale::Logarithmic },
                |deviation| Some(100.0 * deviation.position),
            ),
            (
                Axis { label: "(b) energy error, J", range: 1e-9..1.0, scale: Scale::Logarithmic },
                |deviation| Some(deviation.energy.abs()),
            ),
            (
                Axis { label: "(c) misalignment, deg", range: -50.0..50.0, scale: Scale::Linear },
                |deviation| deviation.misalignment,
            ),
        ];
        let panels = panels.map(|(y, value)| {
            let lines = self.curves().into_iter().map(|(line, deviations)| {
                let points = deviations.iter().filter_map(|at| Some((at.time, value(at)?)));
                (line, thinned(points))
            });
            Panel { y, lines: lines.collect() }
        });
        let legend = self.curves().into_iter().map(|(line, _)| line).collect();
        self.figure(legend, 230, panels.into())
    }
}

/// Every tenth point, and all of them around the end of sliding, where friction jumps.
fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    points
        .enumerate()
        .filter(|(index, (time, _))| index % 10 == 9 || (1.9..2.02).contains(time))
        .map(|(_, point)| point)
        .collect()
}
