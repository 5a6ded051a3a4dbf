//! The command line: one file a subcommand.

mod build;
mod check;
mod inspect;
mod modelica;
mod new;
mod progress;
mod schema;
mod simulate;
mod solve;
mod ssp;
mod terminal_plot;

use clap::{Parser, Subcommand};
use contact_fmu::master::FmuError;
use contact_fmu::master::simulate::SimulationError;
use contact_fmu::model::diagnostics::{ModelFileError, printable};
use contact_fmu::output_folder::FolderError;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

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
    Modelica(modelica::Arguments),
    Ssp(ssp::Arguments),
    Schema(schema::Arguments),
    Solve(solve::Arguments),
}

/// Runs the command line: 0 done, 1 the model, FMU or problem is at fault, 2 wrong usage (by clap).
pub fn run() -> ExitCode {
    let result = match CommandLine::parse().command {
        Command::New(arguments) => new::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Build(arguments) => build::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Modelica(arguments) => modelica::run(arguments),
        Command::Ssp(arguments) => ssp::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Solve(arguments) => solve::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
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
