//! `contact-fmu import`.

use super::message;
use super::new::{model_name, model_path, write_new};
use crate::urdf::{self, Floor, Options};
use anyhow::bail;
use std::io::Write;
use std::path::PathBuf;

/// Write a model file from a robot description in URDF.
///
/// Links become nodes, with inertia and collision shapes; joints become joints, with limits. What a model has no word for
/// is listed on stderr and on top of the file.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu import robot.urdf\n  contact-fmu import arm.urdf -o arm.toml --fixed-base\n  contact-fmu import dog.urdf --floor -0.5 --packages ~/ros/src"
)]
pub struct Arguments {
    /// Robot description.
    #[arg(value_name = "ROBOT.urdf")]
    robot: PathBuf,
    /// Model file to write, which must not exist yet; NAME.toml in the current folder when left out. Meshes are written
    /// beside it.
    #[arg(short, long, value_name = "MODEL.toml", value_parser = model_path)]
    output: Option<PathBuf>,
    /// Fix the root link to the ground.
    #[arg(long)]
    fixed_base: bool,
    /// Add a floor at this height in m, which all links with a collision shape touch; below the lowest of them when the
    /// height is left out.
    #[arg(long, value_name = "HEIGHT", num_args = 0..=1, allow_negative_numbers = true)]
    floor: Option<Option<f64>>,
    /// Folder in which packages of package://NAME/... are; repeat for several.
    #[arg(long, value_name = "FOLDER")]
    packages: Vec<PathBuf>,
}

/// Writes the model file and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let floor = arguments.floor.map(|height| height.map_or(Floor::Below, Floor::At));
    let options = Options { fixed_base: arguments.fixed_base, floor, packages: arguments.packages };
    let stem = arguments.output.as_deref().map(model_name);
    let imported = urdf::import(&arguments.robot, stem.as_deref(), &options)?;
    let path = arguments.output.unwrap_or_else(|| PathBuf::from(format!("{}.toml", imported.name)));
    if path.exists() {
        bail!(
            "{} already exists\nhint: choose another name with -o, or remove the file first",
            path.display()
        );
    }
    for (name, contents) in &imported.files {
        let file = path.with_file_name(name);
        // The same file may be there from another time.
        if std::fs::read(&file).ok().as_deref() != Some(contents.as_bytes()) {
            write_new(&file, contents.as_bytes())?;
        }
    }
    write_new(&path, imported.text.as_bytes())?;
    for note in &imported.notes {
        message(&format!("not in the model: {note}"));
    }
    writeln!(std::io::stdout().lock(), "{}", path.display())?;
    Ok(())
}
