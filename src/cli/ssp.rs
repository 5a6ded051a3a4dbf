//! `contact-fmu ssp`.

use super::{message, source};
use crate::output_file::OutputFile;
use crate::ssp::{self, Parts};
use anyhow::Context;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Write a system structure package (SSP 1.0) of a model file and FMUs of other tools.
///
/// Inputs are connected to outputs of other FMUs that have the same name, type and unit. The same model and FMUs give
/// the same bytes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu ssp ball.toml\n  contact-fmu ssp ball.toml --with vehicle.fmu -o system.ssp\n  contact-fmu ssp ball.toml --with vehicle.fmu --connect 'vehicle.z=ball.ball.r[3]' --connect 'ball.ball.f[3]=vehicle.force'"
)]
pub struct Arguments {
    /// Model file, or an FMU of contact-fmu.
    #[arg(value_name = "MODEL.toml|X.fmu")]
    model: PathBuf,
    /// Another FMU, of FMI 2.0, or 3.0 without arrays; repeat for several. Its name in the system is that of its file. One of
    /// contact-fmu with arrays is put in as FMI 2.0.
    #[arg(long = "with", value_name = "OTHER.fmu")]
    others: Vec<PathBuf>,
    /// Connection besides those by name, as COMPONENT.OUTPUT=COMPONENT.INPUT; repeat for several. The component of the
    /// model has the model's name.
    #[arg(long = "connect", value_name = "OUTPUT=INPUT")]
    connections: Vec<String>,
    /// Make connectors of the system of what is not connected, for use within a larger one. Not every tool reads them.
    #[arg(long)]
    open: bool,
    /// Package to write; NAME.ssp in the current folder when left out.
    #[arg(short, long, value_name = "X.ssp")]
    output: Option<PathBuf>,
}

/// Writes the package and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let source = source::read(&arguments.model)?;
    let path = arguments.output.unwrap_or_else(|| PathBuf::from(format!("{}.ssp", source.model.name)));
    let parts =
        Parts { others: &arguments.others, connections: &arguments.connections, open: arguments.open };
    let package = ssp::build(&source, &parts)?;
    for note in &package.notes {
        message(&format!("note: {note}"));
    }
    write(&path, &package.bytes).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(io::stdout().lock(), "{}", path.display())?;
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}
