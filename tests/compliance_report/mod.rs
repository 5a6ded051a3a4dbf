//! Effective restitution of the continuous contact laws, as models find it: table and figure of
//! `models/bouncing_ball_compliant/README.md`. [Fancello 2012, Fig. 2.4]

use crate::plot::{self, Axis, BLUE, Figure, GREEN, GREY, Line, ORANGE, PURPLE, Panel, Scale};
use contact_fmu::engine::{Quality, Workspace, advance};
use contact_fmu::model::file;

/// A law and how it is drawn.
pub struct Law {
    /// Key below `compliance` in a model file.
    pub key: &'static str,
    /// Its parameters but for the restitution.
    parameters: &'static str,
    line: Line,
}

const fn line(name: &'static str, tint: plot::Tint) -> Line {
    Line { name, tint, width: 1.5 }
}

const STEEL: &str = "stiffness = 2.4e10, exponent = 1.5";

/// Laws with a coefficient of restitution.
pub const LAWS: [Law; 4] = [
    Law { key: "hunt_crossley", parameters: STEEL, line: line("Hunt-Crossley", BLUE) },
    Law { key: "lankarani_nikravesh", parameters: STEEL, line: line("Lankarani-Nikravesh", GREEN) },
    Law { key: "flores", parameters: STEEL, line: line("Flores", ORANGE) },
    Law { key: "schmucker", parameters: "stiffness = 1e8", line: line("Schmucker", PURPLE) },
];

const GIVEN: Line = Line { name: "given", tint: GREY, width: 1.0 };

/// Rebound over impact speed of every law, by coefficient of restitution.
pub struct Report {
    pub given: Vec<f64>,
    pub effective: Vec<(&'static Law, Vec<f64>)>,
}

/// Runs all models.
pub fn report() -> Report {
    let given: Vec<f64> = (1..=20).map(|k| f64::from(k) / 20.0).collect();
    let effective =
        LAWS.iter().map(|law| (law, given.iter().map(|&given| rebound(law, given)).collect())).collect();
    Report { given, effective }
}

/// A ball that comes with 4.2 m/s, without gravity.
fn rebound(law: &Law, restitution: f64) -> f64 {
    const SPEED: f64 = 4.2;
    let Law { key, parameters, .. } = law;
    let source = format!(
        r#"
        [model]
        name = "rebound"
        [engine]
        gravity = [0.0, 0.0, 0.0]
        [[node]]
        name = "ball"
        coupling = "owned"
        mass = 1.0
        shape.sphere.radius = 0.1
        position = [0.0, 0.0, 0.102]
        velocity = [0.0, 0.0, -{SPEED}]
        [[surface]]
        name = "floor"
        shape.plane.normal = [0.0, 0.0, 1.0]
        [[contact]]
        between = ["ball", "floor"]
        compliance.{key} = {{ {parameters}, restitution = {restitution} }}
        "#
    );
    let (system, mut state) =
        file::parse(&source, "rebound.toml").unwrap_or_else(|error| panic!("{error}")).assemble();
    let mut workspace = Workspace::new(&system);
    for _ in 0..20 {
        assert_eq!(advance(&system, &mut state, &mut workspace, 1e-3), Ok(Quality::Solved));
    }
    let velocity = state.nodes[0].velocity[2];
    assert!(velocity > 0.0 && state.nodes[0].position[2] > 0.1, "{key} {restitution}");
    velocity / SPEED
}

impl Report {
    /// In Markdown, in steps of a tenth.
    pub fn table(&self) -> String {
        let tenths = |values: &[f64], digits: usize| -> String {
            values.iter().skip(1).step_by(2).map(|value| format!(" {value:.digits$} |")).collect()
        };
        let mut table = format!("| given |{}\n|---|{}\n", tenths(&self.given, 1), "---|".repeat(10));
        for (law, effective) in &self.effective {
            table += &format!("| `{}` |{}\n", law.key, tenths(effective, 3));
        }
        table
    }

    /// File name and content.
    pub fn figure(&self) -> (&'static str, String) {
        let mut lines = vec![(GIVEN, vec![(0.0, 0.0), (1.0, 1.0)])];
        for (law, effective) in &self.effective {
            lines.push((
                law.line,
                self.given.iter().copied().zip(effective.iter().map(|e| e.min(1.0))).collect(),
            ));
        }
        let legend = lines.iter().map(|(line, _)| *line).collect();
        let y = Axis { label: "rebound / impact speed", range: 0.0..1.0, scale: Scale::Linear };
        let figure = Figure {
            width: 760,
            panel_height: 420,
            x_label: "given coefficient of restitution",
            x: 0.0..1.0,
            legend,
            panels: vec![Panel { y, lines }],
        };
        ("restitution.svg", plot::svg(&figure))
    }
}
