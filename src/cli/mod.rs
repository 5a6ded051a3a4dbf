//! The command line: one file a subcommand.

mod build;
mod check;
mod import;
mod inspect;
mod modelica;
mod new;
mod progress;
mod schema;
mod simulate;
mod solve;
mod source;
mod ssp;
mod terminal_plot;

use crate::master::FmuError;
use crate::master::simulate::SimulationError;
use crate::model::diagnostics::{ModelFileError, printable};
use crate::output_folder::FolderError;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

/// Packages a nonsmooth contact engine as an FMI 2.0 or 3.0 FMU for co-simulation and model exchange.
#[derive(Parser)]
#[command(name = "contact-fmu", version, propagate_version = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(new::Arguments),
    Check(check::Arguments),
    Build(build::Arguments),
    Simulate(simulate::Arguments),
    Inspect(inspect::Arguments),
    Import(import::Arguments),
    Modelica(modelica::Arguments),
    Ssp(ssp::Arguments),
    Schema(schema::Arguments),
    Solve(solve::Arguments),
}

const WRONG_USAGE: u8 = 2;

/// Runs the command line, the name of the program first, and returns the exit code: 0 done, 1 the model, FMU or problem is
/// at fault, 2 wrong usage.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line.command,
        Err(usage) => {
            let _ = usage.print();
            return u8::from(usage.use_stderr()) * WRONG_USAGE;
        }
    };
    let result = match command {
        Command::New(arguments) => new::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Build(arguments) => build::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Modelica(arguments) => modelica::run(arguments),
        Command::Ssp(arguments) => ssp::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Solve(arguments) => solve::run(arguments),
    };
    // In the process of an interpreter nobody else would.
    match result.and_then(|()| Ok(io::stdout().flush()?)) {
        Ok(()) => 0,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            report(&error);
            1
        }
    }
}

fn report(error: &anyhow::Error) {
    let text = match error.downcast_ref::<ModelFileError>() {
        Some(error) => error.render(colour_on_stderr()),
        None => match hint(error) {
            Some(hint) => format!("error: {}\nhint: {hint}", printable_lines(&format!("{error:#}"))),
            None => format!("error: {}", printable_lines(&format!("{error:#}"))),
        },
    };
    message(&text);
}

fn hint(error: &anyhow::Error) -> Option<&'static str> {
    let simulation = error.downcast_ref::<SimulationError>().and_then(SimulationError::hint);
    simulation
        .or_else(|| error.downcast_ref::<FmuError>().and_then(FmuError::hint))
        .or_else(|| error.downcast_ref::<FolderError>().and_then(FolderError::hint))
}

/// Names in archives and messages of FMUs may hold anything.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Prints a line on stderr. There is nobody to tell when that fails.
fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn colour_on_stderr() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !no_color && io::stderr().is_terminal()
}

/// The reader of our output has enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
