//! The command line `contact-fmu`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
