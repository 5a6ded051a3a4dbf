//! `fmi-sim` runs every FMU, of FMI 2.0 and 3.0, in co-simulation and model exchange, with the same numbers of all outputs that
//! it can read, and ends steps at impacts.
//!
//! Version 0.7 records outputs of FMI 3.0 by asking for one value each (`impl_recorder!` in its sim/fmi3/io.rs), clocks as
//! Booleans. So arrays and clocks are no outputs in the descriptions that it gets here; all else of the FMUs is as it was built.

use arrow::array::{Array, Float64Array, RecordBatch};
use fmi::fmi2::import::Fmi2Import;
use fmi::fmi3::import::Fmi3Import;
use fmi::schema::traits::DefaultExperiment;
use fmi::traits::FmiImport;
use fmi_rs::zip::extract_zip_archive;
use fmi_sim::options::{CoSimulationOptions, CommonOptions, ModelExchangeOptions};
use fmi_sim::sim::traits::FmiSim;
use std::path::Path;

mod common;
use common::{assert_same, built, for_each_model};

/// Steps of a run.
const STEPS: f64 = 128.0;

/// An FMU in whose description arrays and clocks are no outputs.
fn with_scalars_only(fmu: &Path) -> Fmi3Import {
    let folder = tempfile::tempdir().unwrap();
    extract_zip_archive(fmu, folder.path()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("modelDescription.xml")).unwrap();
    let following = text.lines().skip(1).chain([""]);
    let lines = text.lines().zip(following).map(|(line, next)| {
        let is_array = next.trim_start().starts_with("<Dimension");
        let is_clock = line.trim_start().starts_with("<Clock");
        if is_array || is_clock {
            line.replace("causality=\"output\"", "causality=\"local\"")
        } else {
            line.to_owned()
        }
    });
    Fmi3Import::new(folder, &lines.collect::<Vec<_>>().join("\n")).unwrap()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Steps,
    Exchange,
    /// Steps that end at events.
    Events,
}

fn run(import: &impl FmiSim, kind: Kind, step: f64) -> Result<RecordBatch, fmi_sim::Error> {
    let common = CommonOptions {
        stop_time: Some(STEPS * step),
        output_interval: Some(step),
        ..CommonOptions::default()
    };
    let (table, _) = match kind {
        Kind::Exchange => {
            let options = ModelExchangeOptions { common, ..ModelExchangeOptions::default() };
            import.simulate_me(&options, None)?
        }
        _ => {
            let events = kind == Kind::Events;
            let options =
                CoSimulationOptions { common, event_mode_used: events, early_return_allowed: events };
            import.simulate_cs(&options, None)?
        }
    };
    Ok(table)
}

/// A column of reals.
fn column<'a>(table: &'a RecordBatch, name: &str) -> Option<&'a [f64]> {
    let column = table.column_by_name(name)?.as_any().downcast_ref::<Float64Array>()?;
    Some(column.values())
}

#[test]
fn every_model_runs_with_the_same_numbers() {
    for_each_model(runs_with_the_same_numbers);
}

fn runs_with_the_same_numbers(model: &str) {
    let [two, three] = ["2", "3"].map(|version| built(model, version, "fmi-sim"));
    let two: Fmi2Import = fmi::import::from_path(two).unwrap();
    let three = with_scalars_only(&three);
    // A power of two, so that times and their differences are exact: its loops for the two versions find steps differently.
    let step = three.model_description().step_size().expect("a step").log2().floor().exp2();
    for kind in [Kind::Steps, Kind::Exchange] {
        if kind == Kind::Exchange && three.model_description().model_exchange.is_none() {
            continue;
        }
        let first = run(&two, kind, step).unwrap();
        let second = run(&three, kind, step).unwrap_or_else(|error| panic!("{model} {kind:?}: {error:?}"));
        assert!(first.num_rows() as f64 > STEPS, "{model}");
        assert_eq!(column(&first, "time"), column(&second, "time"), "{model} {kind:?}");
        let names = second.schema();
        let both = names.fields().iter().filter_map(|field| {
            Some((field.name(), column(&first, field.name())?, column(&second, field.name())?))
        });
        let mut compared = 0;
        for (name, one, other) in both {
            for (row, (one, other)) in one.iter().zip(other).enumerate() {
                assert_same(*one, *other, || format!("{model} {kind:?}: {name} in row {row}"));
            }
            compared += 1;
        }
        // Energies, residual and penetration of every model among them.
        assert!(compared >= 10, "{model}: {compared}");
    }
}

/// It cannot read them: when it can, descriptions need no change.
#[test]
fn arrays_are_not_read() {
    let import: Fmi3Import = fmi::import::from_path(built("bouncing_ball", "3", "fmi-sim-arrays")).unwrap();
    assert!(run(&import, Kind::Steps, 1e-2).is_err());
}

/// Bouncing ball: a fall of 0.801 m under 10 m/s^2, restitution 0.8.
#[test]
fn steps_end_at_impacts() {
    let import = with_scalars_only(&built("bouncing_ball", "3", "fmi-sim-events"));
    let table = run(&import, Kind::Events, 1.0 / 64.0).unwrap();
    let [times, gap, kinetic] =
        ["time", "ball_floor.gap", "engine.kinetic"].map(|name| column(&table, name).unwrap());
    let rows: Vec<usize> = (1..times.len()).filter(|&row| times[row] == times[row - 1]).collect();
    let mut speed = 10.0 * f64::sqrt(2.0 * 0.801 / 10.0);
    let mut expected = speed / 10.0;
    assert!(rows.len() >= 3, "{rows:?}");
    for row in rows {
        assert!((times[row] - expected).abs() < 1e-12, "{} {expected}", times[row]);
        assert!(gap[row].abs() < 1e-12, "{}", gap[row]);
        assert_same(0.64 * kinetic[row - 1], kinetic[row], || format!("energy at {expected}"));
        speed *= 0.8;
        expected += 2.0 * speed / 10.0;
    }
}
