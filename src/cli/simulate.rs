//! `contact-fmu simulate`.

use super::progress::{CLEAR_LINE, Progress};
use super::terminal_plot;
use super::{message, printable_lines};
use crate::description::{ModelDescription, Value, VariableType};
use crate::fmi_version::FmiVersion;
use crate::master::csv::{self, Table};
use crate::master::extract::{ExtractedFmu, FmuFile, THIS_PLATFORM};
use crate::master::library::LogMessage;
use crate::master::simulate::{self, Observer, Options, SimulationError};
use crate::model::{Model, file};
use crate::output_file::OutputFile;
use crate::package::{self, entries::Entry};
use crate::report::recording::Recording;
use crate::report::{self, Report, recorder};
use anyhow::{Context, bail};
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Run an FMU, or the FMU of a model file, and write its outputs as CSV, as a report, or draw them.
///
/// Runs FMI 2.0 and 3.0 co-simulation FMUs of any tool. The table has a column `time` and one for each output.
/// When the FMU fails, what came until then is written and the exit code is 1.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu simulate bouncing_ball.toml -o ball.csv\n  contact-fmu simulate ball.fmu --stop 2 --step 1e-3 --set ball.mass=2 --input forces.csv\n  contact-fmu simulate bouncing_ball.toml --report ball.html\n  contact-fmu simulate bouncing_ball.toml --plot ball.r[3] ball_floor.f_n"
)]
pub struct Arguments {
    /// FMU or model file.
    #[arg(value_name = "X.fmu|MODEL.toml")]
    fmu: PathBuf,
    /// Stop time in s; the FMU's default when left out.
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    stop: Option<f64>,
    /// Communication step in s; the FMU's default when left out.
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true)]
    step: Option<f64>,
    /// Start value of a parameter, an input or a variable with a start value; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    settings: Vec<(String, String)>,
    /// Table of inputs: a column `time` and one for each input. Continuous reals are interpolated.
    #[arg(long, value_name = "IN.csv")]
    input: Option<PathBuf>,
    /// Table to write; standard output when left out and neither --report nor --plot is given.
    #[arg(short, long, value_name = "OUT.csv")]
    output: Option<PathBuf>,
    /// Page to write: plots, the motion in 3D, energy, solver statistics, warnings. It needs no network.
    #[arg(long, value_name = "OUT.html")]
    report: Option<PathBuf>,
    /// Outputs or inputs to draw on the terminal.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    plot: Vec<String>,
    /// End steps at events of the FMU, such as impacts, with a row before and one after each. FMI 3.0 only; model files are
    /// built for it.
    #[arg(long)]
    events: bool,
    /// Show all that the FMU logs, not only warnings and errors.
    #[arg(long)]
    log: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or("expected a number".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|&value| value > 0.0).ok_or("expected a number above 0".to_owned())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Runs the FMU and writes what was asked for.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let input = arguments.input.as_deref().map(read_table).transpose()?;
    let version = if arguments.events { FmiVersion::Three } else { FmiVersion::Two };
    let fmu = open(&arguments.fmu, version)?;
    check_plots(&fmu.description, &arguments.plot)?;
    let recorded = arguments.report.is_some() || !arguments.plot.is_empty();
    let options = Options {
        stop: arguments.stop,
        step: arguments.step,
        set: arguments.settings,
        input,
        log: arguments.log,
        with_inputs: recorded,
        events: arguments.events,
    };
    let page = arguments.report.as_deref().map(create).transpose()?;
    let table = match arguments.output {
        Some(path) => Some(TableFile::File(create(&path)?, path)),
        None if recorded => None,
        None => Some(TableFile::Stdout(BufWriter::new(io::stdout().lock()))),
    };
    let model = page.is_some().then(|| fmu.model());
    let recording = recorded.then(|| {
        let wanted = |name: &str| page.is_some() || arguments.plot.iter().any(|plotted| plotted == name);
        recorder::empty_recording(&fmu, model.as_ref().and_then(|model| model.as_ref().ok()), wanted)
    });
    let (result, Taken { table, recording }) = record(&fmu, &options, table, recording);
    // What can be written is, before the first error is told.
    let table = table.map_or(Ok(()), TableFile::finish);
    let shown = recording.filter(|recording| !recording.times.is_empty()).map_or(Ok(()), |recording| {
        if let (Some(path), Some(mut file), Some(model)) = (&arguments.report, page, &model) {
            let failure = result.as_ref().err().map(SimulationError::chain);
            write_report(&fmu, model, &arguments.fmu, &options, &recording, failure, &mut file)
                .and_then(|()| file.finish())
                .with_context(|| cannot_write(path))?;
            message(&format!("report: {}", path.display()));
        }
        draw_plots(&recording, &arguments.plot).context(TO_STDOUT)
    });
    match (result, &arguments.input) {
        (Err(error @ SimulationError::Input(_)), Some(path)) => {
            Err(error).context(path.display().to_string())
        }
        (result, _) => Ok(result?),
    }?;
    table.and(shown)
}

const TO_STDOUT: &str = "cannot write to standard output";

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

fn create(path: &Path) -> anyhow::Result<OutputFile> {
    OutputFile::create(path).with_context(|| cannot_write(path))
}

/// Where the table goes.
enum TableFile {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    File(OutputFile, PathBuf),
}

impl TableFile {
    fn finish(self) -> anyhow::Result<()> {
        match self {
            TableFile::Stdout(mut out) => out.flush().context(TO_STDOUT),
            TableFile::File(file, path) => file.finish().with_context(|| cannot_write(&path)),
        }
    }
}

impl Write for TableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            TableFile::Stdout(out) => out.write(bytes),
            TableFile::File(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            TableFile::Stdout(out) => out.flush(),
            TableFile::File(file, _) => file.flush(),
        }
    }
}

/// Names to draw must be variables that are recorded and numbers.
fn check_plots(description: &ModelDescription, names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let known = || simulate::recorded(description, true);
        match known().find(|variable| variable.name == *name) {
            Some(variable) if variable.variable_type == VariableType::String => {
                bail!("cannot plot `{name}`: it is text")
            }
            Some(_) => {}
            None => match description.variable(name) {
                Some(variable) => {
                    bail!(
                        "cannot plot `{name}`: it is neither an output nor an input ({})",
                        variable.causality
                    )
                }
                None => {
                    let fault = simulate::unknown(name, known().map(|variable| variable.name.as_str()));
                    bail!("cannot plot `{name}`: {fault}")
                }
            },
        }
    }
    Ok(())
}

fn draw_plots(recording: &Recording, names: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for place in names.iter().filter_map(|name| recording.find(name)) {
        let column = &recording.columns[place];
        let text = terminal_plot::draw(&column.name, &column.unit, &recording.times, &column.values);
        writeln!(out, "{text}")?;
    }
    out.flush()
}

fn write_report(
    fmu: &ExtractedFmu,
    model: &Result<Model, String>,
    source: &Path,
    options: &Options,
    recording: &Recording,
    failure: Option<String>,
    out: &mut impl Write,
) -> io::Result<()> {
    let report = Report {
        name: &fmu.description.model_name,
        description: fmu.description.description.as_deref().unwrap_or_default(),
        source: &source.file_name().unwrap_or_default().to_string_lossy(),
        settings: &options.set,
        recording,
        model: model.as_ref().map_err(Clone::clone),
        failure,
    };
    report::write(&report, out)
}

/// What a run leaves: the table, when there are rows in it, also those before an error; the recording.
struct Taken {
    table: Option<TableFile>,
    recording: Option<Recording>,
}

fn record(
    fmu: &ExtractedFmu,
    options: &Options,
    table: Option<TableFile>,
    recording: Option<Recording>,
) -> (Result<(), SimulationError>, Taken) {
    let names: Vec<&str> = fmu.description.outputs().map(|variable| variable.name.as_str()).collect();
    let mut follower = Follower {
        table: table.map(|table| csv::Writer::new(table, names.iter().copied())),
        outputs: names.len(),
        has_rows: false,
        progress: Progress::new(),
    };
    let log = Box::new(|line: LogMessage| print_log(&line));
    let (result, recording) = recorder::run(fmu, options, recording, log, &mut follower);
    follower.progress.clear();
    let table = follower.table.filter(|_| follower.has_rows).map(csv::Writer::into_inner);
    (result, Taken { table, recording })
}

fn read_table(path: &Path) -> anyhow::Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Table::parse(&text).with_context(|| path.display().to_string())
}

/// Opens the FMU, or builds that of a model file and opens it.
fn open(path: &Path, version: FmiVersion) -> anyhow::Result<ExtractedFmu> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Ok(FmuFile::open(path)?.extract()?);
    }
    let source = file::read(path)?;
    let files = package::files(&source, version, &[THIS_PLATFORM.to_owned()])?;
    Ok(ExtractedFmu::of_files(files.iter().map(Entry::named))?)
}

/// Writes the table and tells the user.
struct Follower {
    table: Option<csv::Writer<TableFile>>,
    /// Number of outputs, which come first in a row.
    outputs: usize,
    has_rows: bool,
    progress: Progress,
}

impl Observer for Follower {
    fn row(&mut self, time: f64, values: &[Value]) -> io::Result<()> {
        self.has_rows = true;
        self.table.as_mut().map_or(Ok(()), |table| table.row(time, &values[..self.outputs]))
    }

    fn message(&mut self, text: &str) {
        self.progress.clear();
        message(&format!("note: {text}"));
    }

    fn progress(&mut self, fraction: f64) {
        self.progress.show(fraction);
    }
}

fn print_log(LogMessage { status, category, message: text }: &LogMessage) {
    let start = if io::stderr().is_terminal() { CLEAR_LINE } else { "" };
    let line = printable_lines(&format!("fmu: {status} ({category}): {text}"));
    message(&format!("{start}{line}"));
}
