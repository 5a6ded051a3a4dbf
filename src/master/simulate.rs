//! Runs an FMU from its start to its stop time and hands over its outputs.
//!
//! Communication points are `start + k H`, by multiplication, so that time does not drift; the last step ends at
//! the stop time.

use super::FmuError;
use super::csv::{CsvError, Table};
use super::extract::ExtractedFmu;
use super::library::{CallError, Instance, Log, Status, Success};
use super::slave::{AnyLibrary, Outcome, Place, Slave, read_arrays, worse};
use crate::description::{
    Causality, Initial, ModelDescription, ScalarVariable, Value, Variability, VariableType,
};
use crate::model::diagnostics::nearest;
use thiserror::Error;

/// A remainder below this part of a step is not a step of its own.
const NEGLIGIBLE_STEP: f64 = 1e-9;
/// Most communication steps of one run.
const MAX_STEPS: f64 = 1e12;
/// Most rounds of one event, and most events at one time: there are models whose events do not come to an end.
const MAX_ROUNDS: u32 = 10_000;
/// Number of steps where neither the user nor the FMU gives a step.
const DEFAULT_STEPS: f64 = 1000.0;

/// What to run. Where nothing is given the FMU's default experiment holds.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Stop time.
    pub stop: Option<f64>,
    /// Communication step.
    pub step: Option<f64>,
    /// Start values: names and values as text.
    pub set: Vec<(String, String)>,
    /// Inputs over time: a column `time` and one for each input.
    pub input: Option<Table>,
    /// Whether the FMU is to log everything.
    pub log: bool,
    /// Whether rows hold the inputs too.
    pub with_inputs: bool,
    /// Whether steps end at events of the FMU, each of which has a row before and after it.
    pub events: bool,
}

/// The variables of a row: the outputs, then the inputs if they are asked for.
pub fn recorded(description: &ModelDescription, with_inputs: bool) -> impl Iterator<Item = &ScalarVariable> {
    let inputs = description.model_variables.iter().filter(|variable| variable.causality == Causality::Input);
    description.outputs().chain(inputs.filter(move |_| with_inputs))
}

/// Follows a simulation.
pub trait Observer {
    /// Values at a communication point, in the order of [`recorded`].
    fn row(&mut self, time: f64, values: &[Value]) -> std::io::Result<()>;
    /// Whether it wants the saved state at the communication point whose row comes next.
    fn wants_state(&self) -> bool {
        false
    }
    /// Takes that state, as bytes.
    fn state(&mut self, _bytes: &[u8]) {}
    /// Something that the user should know.
    fn message(&mut self, text: &str);
    /// How much is done, 0 to 1.
    fn progress(&mut self, fraction: f64);
}

/// Why a simulation did not reach its stop time.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The FMU cannot be loaded.
    #[error(transparent)]
    Fmu(#[from] FmuError),
    /// Neither the user nor the FMU says when to stop.
    #[error("the FMU has no default stop time")]
    NoStopTime,
    /// Events are asked for where there are none.
    #[error("the FMU has no event mode")]
    NoEventMode,
    /// Events do not come to an end.
    #[error("the events at t = {time:?} s do not come to an end: {MAX_ROUNDS} were handled")]
    EndlessEvents {
        /// Simulated time.
        time: f64,
    },
    /// Stop time or step is impossible.
    #[error("{0}")]
    Experiment(String),
    /// A start value cannot be set.
    #[error("cannot set `{name}`: {message}")]
    Set {
        /// Variable.
        name: String,
        /// Why.
        message: String,
    },
    /// The input table is wrong.
    #[error("input table")]
    Input(#[from] CsvError),
    /// An FMI function failed.
    #[error("the FMU failed at t = {time:?} s{}", progress_text(.reached))]
    Call {
        /// Simulated time.
        time: f64,
        /// How far the FMU says it came.
        reached: Option<f64>,
        /// What failed.
        source: CallError,
    },
    /// The observer could not take a row.
    #[error("the results cannot be written")]
    Output(#[source] std::io::Error),
}

impl SimulationError {
    /// What happened and why, on one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            SimulationError::Fmu(error) => error.hint(),
            SimulationError::NoStopTime => Some("give one with --stop"),
            SimulationError::NoEventMode => {
                Some("events are those of FMI 3.0 FMUs with hasEventMode: run without --events")
            }
            SimulationError::Call { source: CallError::Status { status: Status::Pending, .. }, .. } => {
                Some("the FMU works asynchronously, which is not supported")
            }
            SimulationError::Call { .. } => Some("run again with --log to see all that the FMU says"),
            _ => None,
        }
    }
}

fn progress_text(reached: &Option<f64>) -> String {
    reached.map(|time| format!(" (it came to {time:?} s)")).unwrap_or_default()
}

/// Runs the FMU. Rows handed over before an error are good.
pub fn run(
    fmu: &ExtractedFmu,
    options: &Options,
    log: Log,
    observer: &mut dyn Observer,
) -> Result<(), SimulationError> {
    let description = &fmu.description;
    let schedule = Schedule::new(description, options, observer)?;
    let starts = StartValues::new(description, &options.set)?;
    let inputs = match &options.input {
        Some(table) => Inputs::new(description, table, &options.set)?,
        None => Inputs::default(),
    };
    if options.events && !has_event_mode(description) {
        return Err(SimulationError::NoEventMode);
    }
    let library = AnyLibrary::load(fmu)?;
    let instance = library.instantiate(fmu, &description.model_name, (options.log, options.events), log)?;
    let outputs = description.outputs().count();
    let mut run = Run {
        instance,
        outputs: Readings::new(description.outputs().collect()),
        given: Readings::new(recorded(description, options.with_inputs).skip(outputs).collect()),
        row: Vec::new(),
        inputs,
        observer,
        warned_calls: 0,
        time: schedule.start,
        events: options.events,
        next_event: None,
    };
    run.initialize(description, options, &schedule, &starts)?;
    let mut goes_on = !options.events || run.update()?;
    run.record()?;
    for k in 0..schedule.steps {
        if !goes_on {
            break;
        }
        goes_on = run.step(schedule.time(k), schedule.time(k + 1), schedule.length(k))?;
        run.observer.progress((k + 1) as f64 / schedule.steps as f64);
    }
    let terminated = run.instance.terminate();
    run.done(terminated)?;
    if run.warned_calls > 1 {
        run.observer.message(&format!("the FMU warned {} times", run.warned_calls));
    }
    Ok(())
}

fn has_event_mode(description: &ModelDescription) -> bool {
    let interface = description.co_simulation.as_ref();
    interface.and_then(|interface| interface.fmi3.as_ref()).is_some_and(|more| more.has_event_mode)
}

/// Communication points.
struct Schedule {
    start: f64,
    stop: f64,
    step: f64,
    steps: u64,
    equal_steps: bool,
}

impl Schedule {
    fn new(
        description: &ModelDescription,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Schedule, SimulationError> {
        let refuse = |text: String| Err(SimulationError::Experiment(text));
        let defaults = &description.default_experiment;
        let start = defaults.start_time.unwrap_or(0.0);
        if !start.is_finite() {
            return refuse(format!("the start time {start:?} s is not a finite number"));
        }
        let stop = options.stop.or(defaults.stop_time).ok_or(SimulationError::NoStopTime)?;
        if !stop.is_finite() {
            return refuse(format!("the stop time {stop:?} s is not a finite number"));
        }
        if stop < start {
            return refuse(format!("the stop time {stop:?} s is before the start at {start:?} s"));
        }
        let step = match options.step.or(defaults.step_size) {
            Some(step) => step,
            None => {
                let step = if stop > start { (stop - start) / DEFAULT_STEPS } else { 1.0 };
                observer.message(&format!("the FMU has no default step, taking {step:?} s (see --step)"));
                step
            }
        };
        if !(step.is_finite() && step > 0.0) {
            return refuse(format!("the communication step must be above 0, not {step:?} s"));
        }
        let exact = (stop - start) / step;
        if exact > MAX_STEPS {
            return refuse(format!("steps of {step:?} s to {stop:?} s are too many ({exact:.1e})"));
        }
        let mut steps = (exact - NEGLIGIBLE_STEP).ceil().max(0.0) as u64;
        if stop > start {
            steps = steps.max(1);
        }
        let equal_steps = description
            .co_simulation
            .as_ref()
            .is_some_and(|interface| !interface.can_handle_variable_communication_step_size);
        let schedule = Schedule { start, stop, step, steps, equal_steps };
        if equal_steps && steps > 0 && schedule.length(steps - 1) < step * (1.0 - NEGLIGIBLE_STEP) {
            observer.message("the last step is shorter, but the FMU says it takes equal steps only");
        }
        Ok(schedule)
    }

    fn time(&self, k: u64) -> f64 {
        if k == self.steps { self.stop } else { self.start + k as f64 * self.step }
    }

    /// Length of step `k`: between its communication points, so that the steps add up to the time, as other
    /// masters do it; the very number that was asked for where the FMU takes equal steps only.
    fn length(&self, k: u64) -> f64 {
        let between = self.time(k + 1) - self.time(k);
        if self.equal_steps && between > self.step * (1.0 - NEGLIGIBLE_STEP) { self.step } else { between }
    }
}

struct Run<'a> {
    instance: Slave<'a>,
    outputs: Readings,
    given: Readings,
    row: Vec<Value>,
    inputs: Inputs,
    observer: &'a mut dyn Observer,
    warned_calls: u64,
    time: f64,
    /// Whether steps end at events, and the time of the next one that the FMU has told.
    events: bool,
    next_event: Option<f64>,
}

impl Run<'_> {
    fn initialize(
        &mut self,
        description: &ModelDescription,
        options: &Options,
        schedule: &Schedule,
        starts: &StartValues,
    ) -> Result<(), SimulationError> {
        if !options.log {
            self.log_problems_only(description)?;
        }
        for (place, value) in &starts.before_initialization {
            let call = self.instance.set(place, value);
            self.done(call)?;
        }
        let tolerance = description.default_experiment.tolerance;
        let call = self.instance.begin_initialization(tolerance, schedule.start, schedule.stop);
        self.done(call)?;
        for (place, value) in &starts.inputs {
            let call = self.instance.set(place, value);
            self.done(call)?;
        }
        self.apply_inputs()?;
        let call = self.instance.exit_initialization_mode();
        self.done(call)
    }

    fn log_problems_only(&mut self, description: &ModelDescription) -> Result<(), SimulationError> {
        const PROBLEMS: [&str; 4] =
            ["logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"];
        let categories: Vec<&str> = description
            .log_categories
            .iter()
            .map(|category| category.name.as_str())
            .filter(|name| PROBLEMS.contains(name))
            .collect();
        if categories.is_empty() {
            return Ok(());
        }
        let call = self.instance.log_categories(&categories);
        self.done(call)
    }

    /// Makes a step, in parts where events are in it. Returns whether the FMU lets the simulation go on.
    fn step(&mut self, from: f64, to: f64, length: f64) -> Result<bool, SimulationError> {
        if !self.events {
            return self.part(from, to, length).map(|(goes_on, _)| goes_on);
        }
        let (mut at, mut events) = (from, 0);
        while at < to {
            let told = self.next_event.filter(|&next| next > at && next < to);
            let end = told.unwrap_or(to);
            let (goes_on, is_event) = self.part(at, end, end - at)?;
            if !goes_on {
                return Ok(false);
            }
            let is_due = is_event || self.next_event.is_some_and(|next| next <= self.time);
            events = if self.time > at { 0 } else { events + 1 };
            if events > MAX_ROUNDS {
                return Err(SimulationError::EndlessEvents { time: self.time });
            }
            at = self.time;
            if is_due && !self.event()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Handles an event, and tells what is after it. Returns whether the FMU lets the simulation go on.
    fn event(&mut self) -> Result<bool, SimulationError> {
        let call = self.instance.enter_event_mode();
        self.done(call)?;
        self.apply_inputs()?;
        let goes_on = self.update()?;
        self.record()?;
        Ok(goes_on)
    }

    /// Goes through an event that has been entered. Returns whether the FMU lets the simulation go on.
    fn update(&mut self) -> Result<bool, SimulationError> {
        for _ in 0..MAX_ROUNDS {
            let (success, update) =
                self.instance.update_discrete_states().map_err(|source| self.failed(source))?;
            self.done(Ok(success))?;
            self.next_event = update.next;
            if update.terminate {
                self.end(self.time)?;
                return Ok(false);
            }
            if !update.again {
                let call = self.instance.enter_step_mode();
                return self.done(call).map(|()| true);
            }
        }
        Err(SimulationError::EndlessEvents { time: self.time })
    }

    /// Makes a step, or with events what comes before the first one. Returns whether the FMU lets the simulation go on, and
    /// whether there is an event.
    fn part(&mut self, from: f64, to: f64, length: f64) -> Result<(bool, bool), SimulationError> {
        self.apply_inputs()?;
        let (mut end, mut is_event) = (to, false);
        match self.instance.do_step(from, length) {
            Ok(Outcome::Made(success)) => self.done(Ok(success))?,
            Ok(Outcome::Early(success, reached, event)) => {
                self.done(Ok(success))?;
                if self.events {
                    end = if reached < from + length { reached } else { to };
                    is_event = event;
                }
            }
            Ok(Outcome::Ended(reached)) => {
                self.end(reached.unwrap_or(from))?;
                return Ok((false, false));
            }
            Err((source, reached)) => {
                return Err(SimulationError::Call { time: self.time, reached, source });
            }
        }
        self.time = end;
        self.record()?;
        Ok((true, is_event))
    }

    /// The FMU has ended the simulation within a step.
    fn end(&mut self, reached: f64) -> Result<(), SimulationError> {
        if reached > self.time {
            self.time = reached;
            self.record()?;
        }
        self.observer.message(&format!("the FMU ended the simulation at t = {:?} s", self.time));
        Ok(())
    }

    fn apply_inputs(&mut self) -> Result<(), SimulationError> {
        let call = self.inputs.apply(&mut self.instance, self.time);
        self.done(call)
    }

    fn record(&mut self) -> Result<(), SimulationError> {
        let call = self.outputs.read(&mut self.instance);
        self.done(call)?;
        if self.observer.wants_state() {
            let call = self.instance.saved_bytes();
            let bytes = call.map_err(|source| self.failed(source))?;
            self.observer.state(&bytes);
        }
        if self.given.row.is_empty() {
            return self.observer.row(self.time, &self.outputs.row).map_err(SimulationError::Output);
        }
        // Those of this time, which the next step starts with, and not those of the step before.
        self.apply_inputs()?;
        let call = self.given.read(&mut self.instance);
        self.done(call)?;
        self.row.clear();
        self.row.extend(self.outputs.row.iter().chain(&self.given.row).cloned());
        self.observer.row(self.time, &self.row).map_err(SimulationError::Output)
    }

    /// Turns what a call gave into the run's own terms; the first warning is told at once.
    fn done(&mut self, call: Result<Success, CallError>) -> Result<(), SimulationError> {
        match call {
            Ok(Success::Done) => Ok(()),
            Ok(Success::Warned) => {
                if self.warned_calls == 0 {
                    let status = self.instance.warning();
                    self.observer.message(&format!("the FMU warned ({status}) at t = {:?} s", self.time));
                }
                self.warned_calls += 1;
                Ok(())
            }
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: CallError) -> SimulationError {
        SimulationError::Call { time: self.time, reached: None, source }
    }
}

/// A value of the variable's type from text.
fn parse(description: &ModelDescription, variable: &ScalarVariable, text: &str) -> Result<Value, String> {
    let text = if variable.variable_type == VariableType::String { text } else { text.trim() };
    let item = || {
        let definition = description.declared_type(variable)?;
        definition.items.iter().find(|item| item.name == text).map(|item| item.value)
    };
    let (value, expected) = match variable.variable_type {
        VariableType::Real => (text.parse().ok().map(Value::Real), "a number"),
        VariableType::Integer if variable.element.is_none() => {
            (text.parse::<i32>().ok().map(|value| Value::Integer(value.into())), "a whole number")
        }
        VariableType::Integer => (text.parse().ok().map(Value::Integer), "a whole number"),
        VariableType::Enumeration => {
            (text.parse().ok().or_else(item).map(Value::Integer), "an item of the enumeration or its number")
        }
        VariableType::Boolean => (
            match text {
                "true" | "1" => Some(Value::Boolean(true)),
                "false" | "0" => Some(Value::Boolean(false)),
                _ => None,
            },
            "true or false",
        ),
        VariableType::String => {
            ((!text.contains('\0')).then(|| Value::String(text.to_owned())), "text without NUL characters")
        }
        VariableType::Binary | VariableType::Clock => (None, "of a type that can be set from text"),
    };
    value.ok_or_else(|| format!("`{text}` is not {expected}"))
}

/// The user's start values, by when they are to be set.
#[derive(Default)]
struct StartValues {
    before_initialization: Vec<(Place, Value)>,
    inputs: Vec<(Place, Value)>,
}

impl StartValues {
    fn new(
        description: &ModelDescription,
        settings: &[(String, String)],
    ) -> Result<StartValues, SimulationError> {
        let mut starts = StartValues::default();
        for (name, text) in settings {
            let refuse = |message: String| SimulationError::Set { name: name.clone(), message };
            let variable = description.variable(name).ok_or_else(|| {
                let names = description.model_variables.iter().filter(|variable| settable(variable));
                refuse(unknown(name, names.map(|variable| variable.name.as_str())))
            })?;
            if !settable(variable) {
                return Err(refuse(format!("it is computed by the FMU ({})", variable.causality)));
            }
            let value = parse(description, variable, text).map_err(refuse)?;
            let list = if variable.causality == Causality::Input {
                &mut starts.inputs
            } else {
                &mut starts.before_initialization
            };
            list.push((Place::of(variable), value));
        }
        Ok(starts)
    }
}

fn settable(variable: &ScalarVariable) -> bool {
    variable.causality == Causality::Input
        || variable.variability != Variability::Constant
            && matches!(variable.effective_initial(), Some(Initial::Exact | Initial::Approx))
}

/// Says that there is no such variable, and which one may be meant.
pub fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, names) {
        Some(candidate) => format!("the FMU has no such variable, did you mean `{candidate}`?"),
        None => "the FMU has no such variable".to_owned(),
    }
}

/// Inputs over time.
#[derive(Default)]
struct Inputs {
    times: Vec<f64>,
    continuous: Vec<(Place, Vec<f64>)>,
    held: Vec<(Place, Vec<Value>)>,
}

impl Inputs {
    fn new(
        description: &ModelDescription,
        table: &Table,
        settings: &[(String, String)],
    ) -> Result<Inputs, SimulationError> {
        let header = |message: String| CsvError { line: 1, message };
        let time_column = table
            .header
            .iter()
            .position(|name| name == "time")
            .ok_or_else(|| header("the header has no column `time`".to_owned()))?;
        if table.rows.is_empty() {
            return Err(header("no rows follow the header".to_owned()).into());
        }
        let mut inputs = Inputs { times: times(table, time_column)?, ..Inputs::default() };
        for (column, name) in table.header.iter().enumerate() {
            if column == time_column {
                continue;
            }
            let variable = input_variable(description, name).map_err(header)?;
            if table.header[..column].contains(name) || settings.iter().any(|(set, _)| set == name) {
                return Err(header(format!("`{name}` is given twice")).into());
            }
            let values = table
                .rows
                .iter()
                .map(|(line, row)| {
                    parse(description, variable, &row[column])
                        .map_err(|message| CsvError { line: *line, message: format!("`{name}`: {message}") })
                })
                .collect::<Result<Vec<Value>, _>>()?;
            if variable.variable_type == VariableType::Real && variable.variability == Variability::Continuous
            {
                let reals = values.iter().filter_map(|value| match value {
                    Value::Real(value) => Some(*value),
                    _ => None,
                });
                inputs.continuous.push((Place::of(variable), reals.collect()));
            } else {
                inputs.held.push((Place::of(variable), values));
            }
        }
        Ok(inputs)
    }

    /// Sets the inputs at `time`: continuous ones interpolated, the others as in the last row; outside of the
    /// table its first or last row holds. Where two rows have the same time the second one counts.
    fn apply(&self, instance: &mut Slave<'_>, time: f64) -> Result<Success, CallError> {
        if self.times.is_empty() {
            return Ok(Success::Done);
        }
        let row = self.times.partition_point(|&at| at <= time).saturating_sub(1);
        let next = (row + 1).min(self.times.len() - 1);
        let span = self.times[next] - self.times[row];
        let part = if span > 0.0 { ((time - self.times[row]) / span).max(0.0) } else { 0.0 };
        let mut success = Success::Done;
        let places: Vec<Place> = self.continuous.iter().map(|(place, _)| *place).collect();
        let values: Vec<f64> = self
            .continuous
            .iter()
            .map(
                |(_, values)| {
                    if part > 0.0 { values[row] + part * (values[next] - values[row]) } else { values[row] }
                },
            )
            .collect();
        if !places.is_empty() {
            success = worse(success, instance.set_reals(&places, &values)?);
        }
        for (place, values) in &self.held {
            success = worse(success, instance.set(place, &values[row])?);
        }
        Ok(success)
    }
}

fn times(table: &Table, column: usize) -> Result<Vec<f64>, CsvError> {
    let mut times: Vec<f64> = Vec::with_capacity(table.rows.len());
    for (line, row) in &table.rows {
        let text = &row[column];
        let refuse = |message: String| CsvError { line: *line, message };
        let time: f64 = text
            .parse()
            .ok()
            .filter(|time: &f64| time.is_finite())
            .ok_or_else(|| refuse(format!("time `{text}` is not a number")))?;
        if let Some(&before) = times.last()
            && time < before
        {
            return Err(refuse(format!("time {time:?} comes after {before:?}: sort the rows by time")));
        }
        times.push(time);
    }
    Ok(times)
}

fn input_variable<'a>(description: &'a ModelDescription, name: &str) -> Result<&'a ScalarVariable, String> {
    match description.variable(name) {
        Some(variable) if variable.causality == Causality::Input => Ok(variable),
        Some(variable) if settable(variable) => {
            Err(format!("`{name}` is not an input ({}): set it with --set", variable.causality))
        }
        Some(variable) => Err(format!("`{name}` is not an input ({})", variable.causality)),
        None => {
            let inputs = description
                .model_variables
                .iter()
                .filter(|variable| variable.causality == Causality::Input)
                .map(|variable| variable.name.as_str());
            Err(format!("`{name}`: {}", unknown(name, inputs)))
        }
    }
}

/// Variables by type, so that each type is read with one call, and the row that they make.
struct Readings {
    reals: Block<f64>,
    integers: Block<i32>,
    booleans: Block<i32>,
    strings: Block<String>,
    row: Vec<Value>,
    places: Vec<Place>,
    array: Vec<Value>,
}

struct Block<T> {
    references: Vec<u32>,
    /// Positions in the row.
    columns: Vec<usize>,
    values: Vec<T>,
}

impl<T: Clone + Default> Block<T> {
    fn new(variables: &[&ScalarVariable], types: &[VariableType]) -> Block<T> {
        let columns: Vec<usize> =
            (0..variables.len()).filter(|&column| types.contains(&variables[column].variable_type)).collect();
        Block {
            references: columns.iter().map(|&column| variables[column].value_reference).collect(),
            values: vec![T::default(); columns.len()],
            columns,
        }
    }

    fn read(
        &mut self,
        row: &mut [Value],
        get: impl FnOnce(&[u32], &mut [T]) -> Result<Success, CallError>,
        value: impl Fn(&T) -> Value,
    ) -> Result<Success, CallError> {
        if self.references.is_empty() {
            return Ok(Success::Done);
        }
        let success = get(&self.references, &mut self.values)?;
        for (&column, read) in self.columns.iter().zip(&self.values) {
            row[column] = value(read);
        }
        Ok(success)
    }
}

impl Readings {
    fn new(variables: Vec<&ScalarVariable>) -> Readings {
        Readings {
            reals: Block::new(&variables, &[VariableType::Real]),
            integers: Block::new(&variables, &[VariableType::Integer, VariableType::Enumeration]),
            booleans: Block::new(&variables, &[VariableType::Boolean]),
            strings: Block::new(&variables, &[VariableType::String]),
            row: vec![Value::Integer(0); variables.len()],
            places: variables.iter().map(|variable| Place::of(variable)).collect(),
            array: Vec::new(),
        }
    }

    fn read(&mut self, instance: &mut Slave<'_>) -> Result<Success, CallError> {
        match instance {
            Slave::Two(instance) => self.read_scalars(instance),
            Slave::Three(instance) => read_arrays(instance, &self.places, &mut self.row, &mut self.array),
        }
    }

    fn read_scalars(&mut self, instance: &mut Instance<'_>) -> Result<Success, CallError> {
        let row = &mut self.row;
        let successes = [
            self.reals.read(row, |at, to| instance.get_real(at, to), |&value| Value::Real(value))?,
            self.integers.read(
                row,
                |at, to| instance.get_integer(at, to),
                |&value| Value::Integer(value.into()),
            )?,
            self.booleans.read(
                row,
                |at, to| instance.get_boolean(at, to),
                |&value| Value::Boolean(value != 0),
            )?,
            self.strings.read(
                row,
                |at, to| instance.get_string(at, to),
                |value| Value::String(value.clone()),
            )?,
        ];
        Ok(if successes.contains(&Success::Warned) { Success::Warned } else { Success::Done })
    }
}
