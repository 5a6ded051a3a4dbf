//! The command line: one file a subcommand.

mod check;
mod new;
mod schema;

use clap::{Parser, Subcommand};
use contact_fmu::model::diagnostics::ModelFileError;
use std::io::{ErrorKind, IsTerminal};
use std::process::ExitCode;

/// Packages a nonsmooth contact engine as an FMI 2.0 co-simulation FMU.
#[derive(Parser)]
#[command(name = "contact-fmu", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(new::Arguments),
    Check(check::Arguments),
    Schema(schema::Arguments),
}

/// Runs the command line: 0 done, 1 the model is at fault, 2 wrong usage (by clap).
pub fn main() -> ExitCode {
    let result = match CommandLine::parse().command {
        Command::New(arguments) => new::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
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
    match error.downcast_ref::<ModelFileError>() {
        Some(error) => eprintln!("{}", error.render(colour_on_stderr())),
        None => eprintln!("error: {error:#}"),
    }
}

fn colour_on_stderr() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !no_color && std::io::stderr().is_terminal()
}

/// The reader of our output has enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    io_errors.into_iter().any(|error| error.kind() == ErrorKind::BrokenPipe)
}
