//! `models/bouncing_ball_compliant`: its balls beside their equations, and the table and figure of its README.

use crate::common::{model, path, reference, run};
use crate::compliance_report;
use crate::compliance_report::Report;
use crate::contact_equations::{RESTITUTIONS, TABLE};
use crate::plot;
use contact_fmu::engine::{State, mechanical_energy};
use std::sync::OnceLock;

const COMMAND: &str = "cargo run --release --example compliance_figures";

fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(compliance_report::report)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(&format!("models/bouncing_ball_compliant/{name}")))
        .unwrap_or_else(|error| panic!("{name}: {error}; `{COMMAND}` draws the figure"))
}

#[test]
fn models_rebound_as_the_table_of_another_program_says() {
    for (name, row) in TABLE {
        let (_, found) = report().effective.iter().find(|(law, _)| law.key == name).unwrap();
        for (given, expected) in RESTITUTIONS.into_iter().zip(row) {
            let place = report().given.iter().position(|&here| (here - given).abs() < 1e-12).unwrap();
            assert!((found[place] - expected).abs() < 1e-3, "{name} {given}: {} {expected}", found[place]);
        }
        assert!((found.last().unwrap() - 1.0).abs() < 1e-12, "{name}");
    }
}

#[test]
fn balls_are_those_of_the_reference() {
    // Of 0.9 m, over two bounces; at ten steps of the paper's length, and at its own.
    for step in [1e-3, 1e-4] {
        let run = run(&model("bouncing_ball_compliant"), step, 1.5);
        let every = (1e-2 / step).round() as usize;
        for (k, row) in reference("bouncing_ball_compliant").iter().enumerate() {
            let state = &run.states[every * k];
            assert!((state.time - row[0]).abs() < 1e-12);
            for ball in 0..6 {
                let error = (state.nodes[ball].position[2] - row[1 + ball]).abs();
                assert!(error < 1e-4, "ball {ball} at {}: {error:e}", row[0]);
            }
        }
    }
}

#[test]
fn the_balance_of_energy_closes() {
    let run = run(&model("bouncing_ball_compliant"), 1e-3, 1.5);
    let total = |state: &State<f64>| mechanical_energy(&run.system, state) + state.step.dissipated;
    let start = total(&run.states[0]);
    for pair in run.states.windows(2) {
        // Forces of 1e5 N work over the round-off of positions.
        assert!(pair[1].step.dissipated - pair[0].step.dissipated > -1e-10, "at {}", pair[1].time);
        assert!((total(&pair[1]) - start).abs() < 1e-9, "at {}", pair[1].time);
    }
}

#[test]
fn the_readme_shows_the_table_and_figure_of_this_run() {
    let readme = read("README.md");
    assert!(readme.contains(COMMAND));
    let table = report().table();
    assert!(readme.contains(&table), "`{COMMAND}` prints this table, not that of the README:\n{table}");
    let (name, drawn) = report().figure();
    assert!(readme.contains(&format!("]({name})")), "the README shows {name}");
    plot::assert_same_drawing(&read(name), &drawn, &format!("`{COMMAND}` draws {name} anew"));
}
