//! `contact-fmu build`.

use crate::model::file;
use crate::output_file;
use crate::package;
use anyhow::Context;
use std::io::{self, Write};
use std::path::PathBuf;

/// Build the FMU of a model file.
///
/// The same model gives the same bytes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu build bouncing_ball.toml\n  contact-fmu build ball.toml -o out/ball.fmu --platform linux64"
)]
pub struct Arguments {
    /// Model file.
    #[arg(value_name = "MODEL.toml")]
    model: PathBuf,
    /// FMU to write; NAME.fmu in the current folder when left out.
    #[arg(short, long, value_name = "OUT.fmu")]
    output: Option<PathBuf>,
    /// FMI platform to put a library in for, such as linux64; repeat for several. All there are when left out.
    #[arg(long = "platform", value_name = "P")]
    platforms: Vec<String>,
}

/// Writes the FMU and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let source = file::read(&arguments.model)?;
    let path = arguments.output.unwrap_or_else(|| PathBuf::from(format!("{}.fmu", source.model.name)));
    let bytes = package::build(&source, &arguments.platforms)?;
    output_file::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(io::stdout().lock(), "{}", path.display())?;
    Ok(())
}
