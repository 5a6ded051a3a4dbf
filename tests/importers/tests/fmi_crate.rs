//! The `fmi` crate runs every FMU, of FMI 2.0 and 3.0, and gets the numbers of `contact-fmu simulate`.

use fmi::EventFlags;
use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation, Common};
use fmi::fmi3::import::Fmi3Import;
use fmi::fmi3::schema::{AbstractVariableTrait, Variable};
use fmi::fmi3::{
    CoSimulation as CoSimulation3, Common as Common3, Fmi3Model, GetSet, ModelExchange as ModelExchange3,
};
use fmi::traits::FmiImport;
use std::path::Path;

mod common;
use common::{assert_same, builder, built, for_each_model};

#[test]
fn every_model_runs_with_the_same_numbers() {
    for_each_model(runs_with_the_same_numbers);
}

fn runs_with_the_same_numbers(model: &str) {
    let [two, three] = ["2", "3"].map(|version| built(model, version, "fmi"));
    let csv = two.with_extension("csv");
    builder(["simulate", two.to_str().unwrap(), "-o", csv.to_str().unwrap()]);
    compare(&two, &csv);
    compare3(&three, &csv);
}

/// Rows that are compared: `simulate` and other importers run to the end.
const MOST_ROWS: usize = 1000;

/// Columns of a table.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(csv: &Path) -> Table {
        let text = std::fs::read_to_string(csv).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let numbers = |line: &str| line.split(',').map(|number| number.parse().unwrap()).collect();
        Table { header, rows: lines.take(MOST_ROWS).map(numbers).collect() }
    }

    /// Columns of the components of a variable, which has none in the table where it is no output of FMI 2.0.
    fn columns(&self, name: &str) -> Vec<usize> {
        let is_component = |column: &str| {
            column == name || column.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))
        };
        (0..self.header.len()).filter(|&column| is_component(&self.header[column])).collect()
    }
}

/// Steps of the 3.0 FMU, and its start in model exchange, against the table of the 2.0 FMU.
fn compare3(fmu: &Path, csv: &Path) {
    let import: Fmi3Import = fmi::import::from_path(fmu).unwrap();
    let table = Table::read(csv);
    let variables = import.model_description().model_variables.variables.iter();
    let outputs: Vec<(u32, Vec<usize>)> = variables
        .filter_map(|variable| match variable {
            Variable::Float64(variable) => Some((variable.value_reference(), table.columns(variable.name()))),
            _ => None,
        })
        .filter(|(_, columns)| !columns.is_empty())
        .collect();
    assert!(outputs.len() > 4);
    let check = |get: &mut dyn FnMut(u32, &mut [f64]), row: &[f64]| {
        for (reference, columns) in &outputs {
            let mut values = vec![0.0; columns.len()];
            get(*reference, &mut values);
            for (&column, value) in columns.iter().zip(&values) {
                assert_same(row[column], *value, || format!("{} at {}", table.header[column], row[0]));
            }
        }
    };
    let mut instance = import.instantiate_cs("instance", false, true, false, false, &[]).unwrap();
    instance.enter_initialization_mode(None, 0.0, None).unwrap();
    instance.exit_initialization_mode().unwrap();
    for (k, row) in table.rows.iter().enumerate() {
        if k > 0 {
            let before = table.rows[k - 1][0];
            let (mut event, mut terminate, mut early, mut last) = (false, false, false, 0.0);
            let length = row[0] - before;
            instance
                .do_step(before, length, true, &mut event, &mut terminate, &mut early, &mut last)
                .unwrap();
            assert!(!event && !terminate && !early);
        }
        let mut get = |reference: u32, values: &mut [f64]| {
            instance.get_float64(&[reference], values).unwrap();
        };
        check(&mut get, row);
    }
    instance.terminate().unwrap();
    if import.model_description().model_exchange.is_none() {
        return;
    }
    let mut instance = import.instantiate_me("exchange", false, true).unwrap();
    instance.enter_initialization_mode(None, 0.0, None).unwrap();
    instance.exit_initialization_mode().unwrap();
    let mut flags = EventFlags::default();
    instance.update_discrete_states(&mut flags).unwrap();
    assert!(!flags.discrete_states_need_update);
    let next = flags.next_event_time.expect("a sampled block has time events");
    instance.enter_continuous_time_mode().unwrap();
    instance.set_time(next).unwrap();
    instance.enter_event_mode().unwrap();
    instance.update_discrete_states(&mut flags).unwrap();
    assert!(flags.next_event_time.is_some_and(|after| after > next));
    instance.terminate().unwrap();
}

fn compare(fmu: &Path, csv: &Path) {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    let Table { header, rows } = Table::read(csv);
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
    assert!(rows.len() > 200);
    for (k, row) in rows.iter().enumerate() {
        if k > 0 {
            let before = rows[k - 1][0];
            instance.do_step(before, row[0] - before, true).unwrap();
        }
        instance.get_real(&numbers, &mut values).unwrap();
        for ((column, _), value) in references.iter().zip(&values) {
            assert_same(row[*column], *value, || format!("{} at {}", header[*column], row[0]));
        }
    }
    instance.terminate().unwrap();
}
