//! `contact-fmu check`.

use super::message;
use contact_fmu::model::file;
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
    let parts = [
        count(model.nodes.len(), "node"),
        count(model.surfaces.len(), "surface"),
        count(model.contacts.len(), "contact"),
    ];
    let ties = [(model.springs.len(), "spring"), (model.joints.len(), "joint")];
    let ties = ties.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number, noun));
    let parts: Vec<String> = parts.into_iter().chain(ties).collect();
    message(&format!("ok: {}: {}", model.name, parts.join(", ")));
    Ok(())
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
