//! `contact-fmu schema`.

use crate::model::file;
use std::io::Write;

/// Print the JSON Schema of the model file.
///
/// Editors with TOML support use it to complete and check model files.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  contact-fmu schema > contact-fmu.schema.json\n\nA model file names it in its first line:\n  #:schema ./contact-fmu.schema.json\n\nOr a file .taplo.toml gives it to all files called *.contact.toml:\n  [[rule]]\n  include = [\"**/*.contact.toml\"]\n  schema.path = \"contact-fmu.schema.json\""
)]
pub struct Arguments {}

/// Prints the schema on stdout.
pub fn run(Arguments {}: Arguments) -> anyhow::Result<()> {
    std::io::stdout().lock().write_all(text()?.as_bytes())?;
    Ok(())
}

/// The schema as it is printed.
pub fn text() -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&file::schema())? + "\n")
}
