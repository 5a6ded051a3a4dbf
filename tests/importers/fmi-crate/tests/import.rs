//! The `fmi` crate runs every FMU and gets the numbers of `contact-fmu simulate`.
//!
//! `CONTACT_FMU` names the builder's executable.

use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation, Common};
use fmi::traits::FmiImport;
use std::path::{Path, PathBuf};
use std::process::Command;

fn builder(arguments: &[&str]) {
    let executable = std::env::var("CONTACT_FMU").expect("CONTACT_FMU names the contact-fmu executable");
    let status = Command::new(executable).args(arguments).status().expect("the builder starts");
    assert!(status.success(), "{arguments:?}");
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../models");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    models.sort();
    models
}

#[test]
fn every_model_runs_with_the_same_numbers() {
    let models = models();
    assert!(models.len() >= 5);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for model in models {
        let name = model.file_name().unwrap().to_str().unwrap();
        let fmu = folder.join(format!("{name}.fmu"));
        let csv = folder.join(format!("{name}.csv"));
        builder(&["build", model.join("model.toml").to_str().unwrap(), "-o", fmu.to_str().unwrap()]);
        builder(&["simulate", fmu.to_str().unwrap(), "-o", csv.to_str().unwrap()]);
        compare(&fmu, &csv);
    }
}

fn compare(fmu: &Path, csv: &Path) {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    let text = std::fs::read_to_string(csv).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let variables = &import.model_description().model_variables.variables;
    let references: Vec<(usize, u32)> = header
        .iter()
        .enumerate()
        .filter_map(|(column, name)| {
            let variable = variables.iter().find(|variable| variable.name == *name)?;
            let real = matches!(variable.elem, fmi::schema::fmi2::ScalarVariableElement::Real(_));
            real.then_some((column, variable.value_reference))
        })
        .collect();
    assert!(references.len() > 6);
    let numbers: Vec<u32> = references.iter().map(|(_, reference)| *reference).collect();
    let mut values = vec![0.0; numbers.len()];

    let mut instance = import.instantiate_cs("instance", false, true).unwrap();
    instance.setup_experiment(None, 0.0, None).unwrap();
    instance.enter_initialization_mode().unwrap();
    instance.exit_initialization_mode().unwrap();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|number| number.parse().unwrap()).collect()).collect();
    assert!(rows.len() > 200);
    for (k, row) in rows.iter().enumerate() {
        if k > 0 {
            let before = rows[k - 1][0];
            instance.do_step(before, row[0] - before, true).unwrap();
        }
        instance.get_real(&numbers, &mut values).unwrap();
        for ((column, _), value) in references.iter().zip(&values) {
            assert!((row[*column] - value).abs() <= 1e-9 * value.abs().max(1.0), "{} at {}", header[*column], row[0]);
        }
    }
    instance.terminate().unwrap();
}
