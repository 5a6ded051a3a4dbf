//! From a robot description in URDF to a model file.
//!
//! `robot.urdf -> Robot ([`read`]) -> bodies at the start ([`bodies`]) -> nodes with shapes ([`nodes`]) -> model.toml
//! ([`write`])`. What the model language has no word for is told in notes, on top of the model file and to the user.

mod bodies;
mod mass;
mod meshes;
mod nodes;
mod read;
mod robot;
mod write;

use crate::model::diagnostics::{ModelFileError, Problem};
use std::path::{Path, PathBuf};

/// How a robot is to be imported.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the root link is fixed to the ground.
    pub fixed_base: bool,
    /// Adds a floor that all links with shapes touch.
    pub floor: Option<Floor>,
    /// Folders in which the packages of `package://` addresses are looked for, besides those that the file is in.
    pub packages: Vec<PathBuf>,
}

/// Where the floor is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// Below the lowest point of the robot.
    Below,
    /// At a height.
    At(f64),
}

/// A model file and what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Name of the model.
    pub name: String,
    /// Text of the model file.
    pub text: String,
    /// Files that it names, to be written beside it.
    pub files: Vec<(String, String)>,
    /// What is not in the model, each on one line.
    pub notes: Vec<String>,
}

/// Reads a robot and makes a model of it that is to be called `stem` where it is given, else as the robot; files are
/// named by it too.
pub fn import(path: &Path, stem: Option<&str>, options: &Options) -> Result<Imported, ModelFileError> {
    let origin = path.display().to_string();
    let of_file = |message: String, hint: &str| {
        ModelFileError::new(&origin, "", vec![Problem::of_file(message).hint(hint)])
    };
    let bytes = std::fs::read(path).map_err(|error| {
        of_file(format!("the robot cannot be read: {error}"), "give the path of a .urdf file")
    })?;
    if path.extension().is_some_and(|extension| extension == "xacro") {
        return Err(of_file("this is a xacro file, from which a URDF file is made".to_owned(), read::XACRO));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| of_file("the robot is not UTF-8 text".to_owned(), "save it as UTF-8"))?;
    let told = |problems: Vec<Problem>| ModelFileError::new(&origin, &text, problems);
    let one = |problem: Problem| told(vec![problem]);
    let robot = read::read(&text).map_err(told)?;
    let mut notes = robot.unused.clone();
    let bodies = bodies::bodies(&robot, options, &mut notes).map_err(one)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = stem.map_or_else(|| write::identifier(&robot.name), str::to_owned);
    let meshes = meshes::Meshes { folder, packages: &options.packages };
    let model = nodes::nodes(&robot, bodies, &meshes, &name, &mut notes).map_err(one)?;
    let source = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = write::text(&model, &name, &source, options.floor, &mut notes);
    Ok(Imported { name, text, files: model.files, notes })
}
