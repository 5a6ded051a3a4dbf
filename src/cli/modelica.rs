//! `contact-fmu modelica`.

use super::source;
use crate::package::entries::Entry;
use crate::{modelica, output_folder};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Write a Modelica package of a model file.
///
/// Its model has a frame of Modelica.Mechanics.MultiBody for each node and surface that the Modelica model moves, and
/// runs the contact engine without FMI import. The same model gives the same files.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu modelica coupled_ball.toml\n  contact-fmu modelica ball.toml -o libraries/BallContact --platform linux64"
)]
pub struct Arguments {
    /// Model file, or an FMU of contact-fmu.
    #[arg(value_name = "MODEL.toml|X.fmu")]
    model: PathBuf,
    /// Folder to write, whose name is that of the package; NAME in the current folder when left out. One that
    /// contact-fmu has written is replaced.
    #[arg(short, long, value_name = "DIR", value_parser = package_folder)]
    output: Option<PathBuf>,
    /// Platform to put a library in for, such as linux64; repeat for several. All there are when left out.
    #[arg(long = "platform", value_name = "P")]
    platforms: Vec<String>,
}

/// Writes the package and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let source = source::read(&arguments.model)?;
    let folder = match arguments.output {
        Some(folder) => folder,
        None => match modelica::package_name_fault(&source.model.name) {
            None => PathBuf::from(&source.model.name),
            Some(fault) => anyhow::bail!("the model name `{}` {fault}, with -o DIR", source.model.name),
        },
    };
    let package = package_name(&folder);
    let files = modelica::files(&source, &package, &arguments.platforms)?;
    output_folder::write(&folder, files.iter().map(Entry::named))?;
    writeln!(io::stdout().lock(), "{}", folder.display())?;
    Ok(())
}

/// A folder whose name can be that of a package.
fn package_folder(text: &str) -> Result<PathBuf, String> {
    let folder: PathBuf = Path::new(text).components().collect();
    let name = package_name(&folder);
    match modelica::package_name_fault(&name) {
        Some(fault) => Err(format!("the folder's name is that of the package, and `{name}` {fault}")),
        None => Ok(folder),
    }
}

fn package_name(folder: &Path) -> String {
    match folder.components().next_back() {
        Some(Component::Normal(name)) => name.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}
