//! `fmi-rs` finds nothing wrong with the description of any FMU but what FMPy wants, runs all of them, of FMI 2.0 and 3.0, in
//! co-simulation and model exchange, with the same numbers, and ends steps at impacts.

use fmi_rs::fmi3::LibraryKind;
use fmi_rs::model_description::{DefaultExperiment, fmi2, fmi3};
use fmi_rs::sim::fmi3::VariableValue;
use fmi_rs::sim::solver::ForwardEulerFactory;
use fmi_rs::sim::{fmi2 as sim2, fmi3 as sim3};
use fmi_rs::zip::extract_zip_archive;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod common;
use common::{assert_same, built, for_each_model};

/// Steps of a run: a power of two, so that `STEPS * step / step` is exact.
const STEPS: f64 = 128.0;
/// Times that differ by less are the same.
const TOLERANCE: f64 = 1e-9;

/// The folder of an FMU that was just built.
fn extracted(model: &str, version: &str, test: &str) -> PathBuf {
    let fmu = built(model, version, test);
    let target = fmu.with_extension("");
    extract_zip_archive(&fmu, &target).unwrap();
    target
}

fn step(experiment: &Option<DefaultExperiment>) -> f64 {
    let experiment = experiment.as_ref().expect("a default experiment");
    experiment.stepSize.as_ref().expect("a step").parse().unwrap()
}

/// Times, and columns by their names in FMI 2.0.
#[derive(Default)]
struct Table {
    times: Vec<f64>,
    columns: BTreeMap<String, Vec<f64>>,
}

fn settings2(
    folder: &Path,
    description: &Arc<fmi2::ModelDescription>,
    step: f64,
) -> sim2::SimulationSettings {
    sim2::SimulationSettings {
        unzipdir: folder.to_owned(),
        model_description: Arc::clone(description),
        start_time: 0.0,
        stop_time: STEPS * step,
        logging_on: false,
        set_stop_time: true,
        output_interval: step,
        log_time_scale: false,
        tolerance: TOLERANCE,
        set_tolerance: false,
        start_values: Vec::new(),
        log_fmi_calls: false,
        input_file: None,
        early_return_allowed: false,
        event_mode_used: false,
        log_file: None,
        initial_fmu_state_file: None,
        final_fmu_state_file: None,
    }
}

fn settings3(
    folder: &Path,
    description: &Arc<fmi3::ModelDescription>,
    step: f64,
) -> sim3::SimulationSettings {
    sim3::SimulationSettings {
        unzipdir: folder.to_owned(),
        model_description: Arc::clone(description),
        library_kind: LibraryKind::Native,
        enable_dae: false,
        start_time: 0.0,
        stop_time: STEPS * step,
        visible: false,
        logging_on: false,
        set_stop_time: true,
        output_interval: step,
        log_time_scale: false,
        tolerance: TOLERANCE,
        set_tolerance: false,
        start_values: Vec::new(),
        log_fmi_calls: false,
        intermediate_update: false,
        input_file: None,
        early_return_allowed: false,
        event_mode_used: false,
        log_file: None,
        initial_fmu_state_file: None,
        final_fmu_state_file: None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Steps,
    Exchange,
}

fn run2(folder: &Path, description: &Arc<fmi2::ModelDescription>, kind: Kind) -> Table {
    let step = step(&description.defaultExperiment);
    let is_real_output = |variable: &fmi2::ScalarVariable| {
        variable.causality == fmi2::Causality::Output
            && matches!(variable.variableType, fmi2::VariableType::Real { .. })
    };
    let all = description.modelVariables.iter().enumerate();
    let wanted = all.filter(|(_, variable)| is_real_output(variable)).map(|(index, _)| index).collect();
    let trajectories = sim2::Trajectories::new(Arc::clone(description), wanted);
    let recorder = Arc::new(sim2::recorder::Recorder::new(trajectories));
    let settings = settings2(folder, description, step);
    match kind {
        Kind::Steps => sim2::cs::simulate(&settings, None, Arc::clone(&recorder)),
        Kind::Exchange => sim2::me::simulate(
            &settings,
            &ForwardEulerFactory { fixed_step_size: step },
            None,
            Arc::clone(&recorder),
        ),
    }
    .unwrap();
    let trajectories = recorder.trajectories.borrow();
    trajectories.validate().unwrap();
    let mut table = Table { times: trajectories.time.clone(), ..Table::default() };
    for row in &trajectories.rows {
        for (variable, value) in trajectories.variables().zip(row) {
            table.columns.entry(variable.name.clone()).or_default().push(value.to_f64().unwrap());
        }
    }
    table
}

/// Records all real outputs that no clock guards.
fn recorder3(description: &Arc<fmi3::ModelDescription>) -> Arc<sim3::recorder::Recorder> {
    let is_real_output = |variable: &fmi3::ModelVariable| {
        variable.causality == fmi3::Causality::Output
            && matches!(variable.variableType, fmi3::VariableType::Float64 { .. })
            && variable.clocks.is_empty()
    };
    let all = description.modelVariables.iter().enumerate();
    let wanted = all.filter(|(_, variable)| is_real_output(variable)).map(|(index, _)| index).collect();
    Arc::new(sim3::recorder::Recorder::new(sim3::Trajectories::new(Arc::clone(description), wanted)))
}

/// Names in FMI 2.0 of the components of a variable.
fn names(variable: &fmi3::ModelVariable) -> Vec<String> {
    let sizes = variable.dimensions.iter().map(|dimension| match dimension {
        fmi3::Dimension::Fixed { start } => *start,
        fmi3::Dimension::Variable { .. } => unreachable!("no structural parameters"),
    });
    let name = &variable.name;
    let of_copies = |copies: usize, rest: &[String]| {
        let (body, quantity) = name.split_once('.').expect("a variable of a node");
        let of_copy = |copy| rest.iter().map(move |rest| format!("{body}_{copy}.{quantity}{rest}"));
        (1..=copies).flat_map(of_copy).collect()
    };
    let components = |count: usize| (1..=count).map(|index| format!("[{index}]")).collect::<Vec<_>>();
    match sizes.collect::<Vec<_>>()[..] {
        [] => vec![name.clone()],
        [count @ (3 | 4)] => components(count).iter().map(|rest| format!("{name}{rest}")).collect(),
        [copies] => of_copies(copies, &[String::new()]),
        [copies, count] => of_copies(copies, &components(count)),
        _ => unreachable!("arrays have two dimensions at most"),
    }
}

fn table3(recorder: &sim3::recorder::Recorder) -> Table {
    let trajectories = recorder.trajectories.borrow();
    trajectories.validate().unwrap();
    let mut table = Table { times: trajectories.time.clone(), ..Table::default() };
    for row in &trajectories.rows {
        for (variable, value) in trajectories.variables().zip(row) {
            let VariableValue::Float64(values) = value else { unreachable!("reals are recorded") };
            for (name, value) in names(variable).into_iter().zip(values) {
                table.columns.entry(name).or_default().push(*value);
            }
        }
    }
    table
}

fn run3(folder: &Path, description: &Arc<fmi3::ModelDescription>, kind: Kind) -> Table {
    let step = step(&description.defaultExperiment);
    let recorder = recorder3(description);
    let settings = settings3(folder, description, step);
    match kind {
        Kind::Steps => sim3::cs::simulate(&settings, None, Arc::clone(&recorder)),
        Kind::Exchange => sim3::me::simulate(
            &settings,
            &ForwardEulerFactory { fixed_step_size: step },
            None,
            Arc::clone(&recorder),
        ),
    }
    .unwrap();
    table3(&recorder)
}

/// The description, with which nothing is wrong but that output clocks are initial unknowns: FMPy's validation wants them to be,
/// that of `fmi-rs` wants them not to.
fn description3(folder: &Path) -> Arc<fmi3::ModelDescription> {
    let text = std::fs::read_to_string(folder.join("modelDescription.xml")).unwrap();
    let description = fmi3::ModelDescription::from_string(&text).unwrap();
    let clocks = description
        .modelVariables
        .iter()
        .filter(|variable| matches!(variable.variableType, fmi3::VariableType::Clock { .. }));
    let entries: Vec<String> =
        clocks.map(|clock| format!("<InitialUnknown valueReference=\"{}\"", clock.valueReference)).collect();
    let is_clock = |line: &str| {
        entries.iter().any(|entry| {
            line.trim_start().starts_with(&format!("{entry} "))
                || line.trim_start().starts_with(&format!("{entry}/"))
        })
    };
    let without: Vec<&str> = text.lines().filter(|line| !is_clock(line)).collect();
    assert_eq!(text.lines().count(), without.len() + entries.len());
    let problems = fmi3::ModelDescription::from_string(&without.join("\n")).unwrap().validate();
    let messages: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
    assert!(messages.is_empty(), "{}: {messages:#?}", description.modelName);
    Arc::new(description)
}

#[test]
fn every_model_is_valid_and_runs_with_the_same_numbers() {
    for_each_model(is_valid_and_runs_with_the_same_numbers);
}

fn is_valid_and_runs_with_the_same_numbers(model: &str) {
    let [folder2, folder3] = ["2", "3"].map(|version| extracted(model, version, "fmi-rs"));
    let two = Arc::new(fmi2::ModelDescription::from_path(&folder2.join("modelDescription.xml")).unwrap());
    let problems: Vec<String> = two.validate().into_iter().map(|problem| problem.message).collect();
    assert!(problems.is_empty(), "{model}: {problems:#?}");
    let three = description3(&folder3);
    assert_eq!(two.modelExchange.is_some(), three.modelExchange.is_some());
    for kind in [Kind::Steps, Kind::Exchange] {
        if kind == Kind::Exchange && two.modelExchange.is_none() {
            continue;
        }
        let [first, second] = [run2(&folder2, &two, kind), run3(&folder3, &three, kind)];
        assert!(first.times.len() as f64 > STEPS && first.columns.len() > 4, "{model}");
        assert_eq!(first.times, second.times, "{model} {kind:?}");
        for (name, values) in &first.columns {
            for ((one, other), time) in values.iter().zip(&second.columns[name]).zip(&first.times) {
                assert_same(*one, *other, || format!("{model} {kind:?}: {name} at {time}"));
            }
        }
    }
}

/// Bouncing ball: a fall of 0.801 m under 10 m/s^2, restitution 0.8.
#[test]
fn steps_end_at_impacts() {
    let folder = extracted("bouncing_ball", "3", "fmi-rs-events");
    let description = description3(&folder);
    let recorder = recorder3(&description);
    let step = 1.0 / 64.0;
    let settings = sim3::SimulationSettings {
        event_mode_used: true,
        early_return_allowed: true,
        ..settings3(&folder, &description, step)
    };
    sim3::cs::simulate(&settings, None, Arc::clone(&recorder)).unwrap();
    let mut speed = 10.0 * f64::sqrt(2.0 * 0.801 / 10.0);
    let mut expected = vec![speed / 10.0];
    for _ in 0..3 {
        speed *= 0.8;
        expected.push(expected.last().unwrap() + 2.0 * speed / 10.0);
    }
    let events = recorder.trajectories.borrow().events();
    assert_eq!(events.len(), expected.len(), "{events:?}");
    for (event, expected) in events.iter().zip(&expected) {
        assert!((event - expected).abs() < 1e-12, "{event} {expected}");
    }
    let table = table3(&recorder);
    let velocities = &table.columns["ball.v[3]"];
    for (row, times) in table.times.windows(2).enumerate().filter(|(_, times)| times[0] == times[1]) {
        let [before, after] = [velocities[row], velocities[row + 1]];
        assert!((after + 0.8 * before).abs() < 1e-12, "{before} {after} at {times:?}");
    }
}
