//! `contact-fmu check`.

use super::message;
use crate::model::file;
use std::path::PathBuf;

/// Check a model file.
///
/// Errors point at line and column, say what was expected and suggest the nearest name.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  contact-fmu check bouncing_ball.toml")]
pub struct Arguments {
    /// Model file.
    #[arg(value_name = "MODEL.toml")]
    model: PathBuf,
}

/// Checks the model file and says what it holds on stderr.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let model = file::read(&arguments.model)?.model;
    message(&format!("ok: {}: {}", model.name, model.parts()));
    Ok(())
}
