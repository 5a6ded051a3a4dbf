//! The command line: one file a subcommand.

mod solve;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Packages a nonsmooth contact engine as an FMI 2.0 co-simulation FMU.
#[derive(Parser)]
#[command(name = "contact-fmu", version, propagate_version = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Arguments),
}

/// Runs the command line: 0 done, 1 the problem is at fault, 2 wrong usage (by clap).
pub fn run() -> ExitCode {
    let result = match CommandLine::parse().command {
        Command::Solve(arguments) => solve::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
