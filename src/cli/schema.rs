//! `contact-fmu schema`.

use contact_fmu::model::file;
use std::io::Write;

/// Print the JSON Schema of the model file.
///
/// Editors with TOML support use it to complete and check model files.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  contact-fmu schema > contact-fmu.schema.json")]
pub struct Arguments {}

/// Prints the schema on stdout.
pub fn run(Arguments {}: Arguments) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(&file::schema())?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}
