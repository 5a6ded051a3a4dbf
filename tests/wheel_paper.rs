//! Peiret's wheel beside the paper, and the tables and figures of `models/wheel/README.md`.
//! [Peiret et al. 2016, Figs. 4 and 5]

use crate::common::path;
use crate::plot;
use crate::wheel_report;
use crate::wheel_report::{PaperLaw, Report};
use std::ops::Range;
use std::sync::OnceLock;

const COMMAND: &str = "cargo run --release --example wheel_report";

fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(wheel_report::report)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(&format!("models/wheel/{name}")))
        .unwrap_or_else(|error| panic!("{name}: {error}; `{COMMAND}` writes the figures"))
}

struct Accepted {
    law: &'static str,
    /// In percent.
    force: Range<f64>,
    /// In degrees.
    misalignment: Range<f64>,
    /// In percent and J, as another program with the same scheme finds them.
    position: f64,
    energy: f64,
}

#[test]
fn laws_deviate_from_coulomb_as_the_paper_says() {
    let accepted = [
        Accepted {
            law: "`bristle`",
            force: 1.4..2.1,
            misalignment: 0.5..0.8,
            position: 0.2604,
            energy: 0.01636,
        },
        Accepted {
            law: "`facets` (4, fixed)",
            force: 3.6..4.1,
            misalignment: 12.0..13.5,
            position: 3.0452,
            energy: 0.05378,
        },
        Accepted {
            law: "`box`",
            force: 9.5..10.0,
            misalignment: 13.5..14.5,
            position: 4.4957,
            energy: 0.44391,
        },
        // Friction of the exact law is opposite to the slip.
        Accepted {
            law: "`cone`",
            force: 1.47..1.50,
            misalignment: 0.0..1e-6,
            position: 0.2382,
            energy: 0.00935,
        },
    ];
    assert_eq!(report().laws.len(), accepted.len());
    for (PaperLaw { name, summary, .. }, accepted) in report().laws.iter().zip(accepted) {
        let (force, position) = (100.0 * summary.force, 100.0 * summary.position);
        assert_eq!(*name, accepted.law);
        assert!(accepted.force.contains(&force), "{name}: force {force} %");
        assert!(
            accepted.misalignment.contains(&summary.misalignment),
            "{name}: misalignment {} deg",
            summary.misalignment
        );
        assert!((position / accepted.position - 1.0).abs() < 0.01, "{name}: position {position} %");
        assert!((summary.energy / accepted.energy - 1.0).abs() < 0.01, "{name}: energy {} J", summary.energy);
    }
}

#[test]
fn the_engine_is_closer_than_the_paper() {
    let summary = &report().engine.summary;
    assert!(100.0 * summary.force <= 0.03, "{} %", 100.0 * summary.force);
    assert!(summary.misalignment <= 0.01, "{} deg", summary.misalignment);
    assert!(100.0 * summary.position <= 0.003, "{} %", 100.0 * summary.position);
}

#[test]
fn the_readme_shows_the_tables_of_this_run() {
    let readme = read("README.md");
    assert!(readme.contains(COMMAND));
    for table in report().tables() {
        assert!(readme.contains(&table), "`{COMMAND}` prints this table, not that of the README:\n{table}");
    }
}

#[test]
fn the_figures_are_those_of_this_run() {
    let readme = read("README.md");
    for (name, drawn) in report().figures() {
        assert!(readme.contains(&format!("]({name})")), "the README shows {name}");
        assert!(drawn.len() < 150_000, "{name}: {} bytes", drawn.len());
        plot::assert_same_drawing(&read(name), &drawn, &format!("`{COMMAND}` draws {name} anew"));
    }
}
