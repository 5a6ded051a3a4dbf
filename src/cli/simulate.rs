//! `contact-fmu simulate`.

use super::message;
use anyhow::Context;
use contact_fmu::description::Value;
use contact_fmu::master::csv::{self, Table};
use contact_fmu::master::extract::{ExtractedFmu, FmuFile, THIS_PLATFORM};
use contact_fmu::master::library::LogMessage;
use contact_fmu::master::simulate::{self, Observer, Options, SimulationError};
use contact_fmu::model::file;
use contact_fmu::output_file::OutputFile;
use contact_fmu::package;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Run an FMU, or the FMU of a model file, and write its outputs as CSV.
///
/// Runs FMI 2.0 co-simulation FMUs of any tool. The table has a column `time` and one for each output.
/// When the FMU fails, the rows until then are written and the exit code is 1.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu simulate bouncing_ball.toml -o ball.csv\n  contact-fmu simulate ball.fmu --stop 2 --step 1e-3 --set ball.mass=2 --input forces.csv"
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
    /// Table to write; standard output when left out.
    #[arg(short, long, value_name = "OUT.csv")]
    output: Option<PathBuf>,
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

/// Runs the FMU and writes the table.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let input = arguments.input.as_deref().map(read_table).transpose()?;
    let fmu = open(&arguments.fmu)?;
    let options = Options {
        stop: arguments.stop,
        step: arguments.step,
        set: arguments.settings,
        input,
        log: arguments.log,
    };
    let (result, written) = match &arguments.output {
        None => {
            let (result, out) = record(&fmu, &options, BufWriter::new(io::stdout().lock()));
            (result, out.map_or(Ok(()), |mut out| out.flush()).context("cannot write to standard output"))
        }
        Some(path) => {
            let failure = || format!("cannot write {}", path.display());
            let file = OutputFile::create(path).with_context(failure)?;
            let (result, file) = record(&fmu, &options, file);
            (result, file.map_or(Ok(()), OutputFile::finish).with_context(failure))
        }
    };
    match (result, &arguments.input) {
        (Err(error @ SimulationError::Input(_)), Some(path)) => {
            Err(error).context(path.display().to_string())
        }
        (result, _) => Ok(result?),
    }?;
    written
}

/// Runs the FMU; gives `out` back when there are rows in it, also those before an error.
fn record<W: Write>(
    fmu: &ExtractedFmu,
    options: &Options,
    out: W,
) -> (Result<(), SimulationError>, Option<W>) {
    let names = fmu.description.outputs().map(|variable| variable.name.as_str());
    let mut recorder =
        Recorder { table: csv::Writer::new(out, names), has_rows: false, progress: Progress::new() };
    let result = simulate::run(fmu, options, Box::new(print_log), &mut recorder);
    recorder.progress.clear();
    (result, recorder.has_rows.then(|| recorder.table.into_inner()))
}

fn read_table(path: &Path) -> anyhow::Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Table::parse(&text).with_context(|| path.display().to_string())
}

/// Opens the FMU, or builds that of a model file and opens it.
fn open(path: &Path) -> anyhow::Result<ExtractedFmu> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Ok(FmuFile::open(path)?.extract()?);
    }
    let source = file::read(path)?;
    let bytes = package::build(&source, &[THIS_PLATFORM.to_owned()])?;
    let mut fmu = NamedTempFile::with_suffix(".fmu").context("cannot make a temporary file")?;
    fmu.write_all(&bytes).context("cannot write the temporary FMU")?;
    Ok(FmuFile::open(fmu.path())?.extract()?)
}

struct Recorder<W: Write> {
    table: csv::Writer<W>,
    has_rows: bool,
    progress: Progress,
}

impl<W: Write> Observer for Recorder<W> {
    fn row(&mut self, time: f64, values: &[Value]) -> io::Result<()> {
        self.has_rows = true;
        self.table.row(time, values)
    }

    fn message(&mut self, text: &str) {
        self.progress.clear();
        message(&format!("note: {text}"));
    }

    fn progress(&mut self, fraction: f64) {
        self.progress.show(fraction);
    }
}

fn print_log(line: LogMessage) {
    let LogMessage { status, category, message: text } = line;
    let start = if io::stderr().is_terminal() { CLEAR_LINE } else { "" };
    message(&format!("{start}fmu: {status} ({category}): {text}"));
}

const CLEAR_LINE: &str = "\r\x1b[K";

/// How much is done, on one line of a terminal.
struct Progress {
    terminal: bool,
    shown_percent: Option<u32>,
}

impl Progress {
    fn new() -> Progress {
        Progress { terminal: io::stderr().is_terminal(), shown_percent: None }
    }

    fn show(&mut self, fraction: f64) {
        let percent = (fraction * 100.0) as u32;
        if self.terminal && self.shown_percent != Some(percent) {
            let _ = write!(io::stderr().lock(), "\r{percent:3} %");
            self.shown_percent = Some(percent);
        }
    }

    fn clear(&mut self) {
        if self.shown_percent.take().is_some() {
            let _ = write!(io::stderr().lock(), "{CLEAR_LINE}");
        }
    }
}
