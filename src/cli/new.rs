//! `contact-fmu new`.

use super::schema;
use crate::examples::{self, EXAMPLES, Example};
use crate::model::validate::model_name_fault;
use crate::output_file::temporary_beside;
use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What the first line of the starter file names.
const SCHEMA: &str = "contact-fmu.schema.json";
const STARTER: Example = Example { name: "starter", text: include_str!("starter.toml"), files: &[] };

/// Write a commented starter model file, and beside it the schema by which editors check it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu new my_model\n  contact-fmu new slope.toml --like tilted_plane\n  contact-fmu new drop.contact.toml"
)]
pub struct Arguments {
    /// Name of the model, or path of its file, which must not exist yet. NAME.contact.toml is a file that an editor can
    /// tell from other TOML files.
    #[arg(value_parser = model_path)]
    name: PathBuf,
    /// Copy an example instead, with the files that it names.
    #[arg(long, value_name = "EXAMPLE", value_parser = PossibleValuesParser::new(examples::names()))]
    like: Option<String>,
}

/// Writes the file and prints its path on stdout.
pub fn run(Arguments { name: path, like }: Arguments) -> anyhow::Result<()> {
    let example = like.and_then(|like| EXAMPLES.iter().find(|example| example.name == like));
    let example = example.unwrap_or(&STARTER);
    for (name, contents) in example.files {
        let file = path.with_file_name(name);
        // The same file may be there from another copy.
        if std::fs::read(&file).ok().as_deref() != Some(contents) {
            write_new(&file, contents)?;
        }
    }
    write_new(&path, renamed(example, &path).as_bytes())?;
    let schema = path.with_file_name(SCHEMA);
    if example.name == STARTER.name && !schema.exists() {
        write_new(&schema, schema::text()?.as_bytes())?;
    }
    writeln!(std::io::stdout().lock(), "{}", path.display())?;
    Ok(())
}

/// The path of the model file that a name or path stands for.
pub(super) fn model_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(if text.ends_with(".toml") { text.to_owned() } else { format!("{text}.toml") });
    let name = model_name(&path);
    match model_name_fault(&name) {
        Some(fault) => Err(format!("the model name `{name}` {fault}")),
        None => Ok(path),
    }
}

/// The name of the model in a file, without `.toml` or `.contact.toml`.
pub(super) fn model_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_suffix(".contact").unwrap_or(&stem).to_owned()
}

/// The text of a template for a model file at `path`.
fn renamed(Example { name: template, text, .. }: &Example, path: &Path) -> String {
    let (name, file) = (model_name(path), path.file_name().unwrap_or_default().to_string_lossy());
    text.replacen(&format!("name = \"{template}\""), &format!("name = \"{name}\""), 1)
        .replace(&format!(" {template}.toml"), &format!(" {file}"))
}

/// Writes a file that must not exist yet: whole or not at all.
pub(super) fn write_new(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let cannot_write = || format!("cannot write {}", path.display());
    let mut file = temporary_beside(path).with_context(cannot_write)?;
    file.write_all(contents).with_context(cannot_write)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} already exists\nhint: choose another name, or remove the file first", path.display())
        }
        Err(error) => Err(error.error).with_context(cannot_write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file;

    #[test]
    fn every_template_is_valid_under_a_new_name() {
        for template in EXAMPLES.iter().chain([&STARTER]) {
            let folder = tempfile::tempdir().unwrap();
            let name = folder.path().join("renamed.toml");
            for _ in 0..2 {
                let like = (template.name != STARTER.name).then(|| template.name.to_owned());
                run(Arguments { name: name.clone(), like }).unwrap();
                assert_eq!(file::read(&name).unwrap().model.name, "renamed");
                std::fs::remove_file(&name).unwrap();
            }
        }
    }
}
