//! The command line `contact-fmu`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(contact_fmu::cli::run(std::env::args_os()))
}
