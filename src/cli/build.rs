//! `contact-fmu build`.

use super::source;
use crate::fmi_version::FmiVersion;
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
    after_help = "Examples:\n  contact-fmu build bouncing_ball.toml\n  contact-fmu build ball.toml -o out/ball.fmu --platform linux64\n  contact-fmu build ball.toml --fmi 3"
)]
pub struct Arguments {
    /// Model file, or an FMU of contact-fmu, to make one of the other version.
    #[arg(value_name = "MODEL.toml|X.fmu")]
    model: PathBuf,
    /// FMU to write; NAME.fmu in the current folder when left out.
    #[arg(short, long, value_name = "OUT.fmu")]
    output: Option<PathBuf>,
    /// FMI platform to put a library in for, such as linux64; repeat for several. All there are when left out.
    #[arg(long = "platform", value_name = "P")]
    platforms: Vec<String>,
    /// Version of FMI: 2 for most tools, 3 for those that use event mode at impacts.
    #[arg(long, value_name = "VERSION", default_value = "2", value_parser = version)]
    fmi: FmiVersion,
}

fn version(text: &str) -> Result<FmiVersion, String> {
    match text {
        "2" | "2.0" => Ok(FmiVersion::Two),
        "3" | "3.0" => Ok(FmiVersion::Three),
        _ => Err("expected 2 or 3".to_owned()),
    }
}

/// Writes the FMU and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let source = source::read(&arguments.model)?;
    let path = arguments.output.unwrap_or_else(|| PathBuf::from(format!("{}.fmu", source.model.name)));
    let bytes = package::build(&source, arguments.fmi, &arguments.platforms)?;
    output_file::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(io::stdout().lock(), "{}", path.display())?;
    Ok(())
}
