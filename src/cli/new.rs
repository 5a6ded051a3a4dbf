//! `contact-fmu new`.

use anyhow::{Context, bail};
use contact_fmu::model::diagnostics::suggestion;
use contact_fmu::model::validate::model_name_fault;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Name and text of the models that can be copied.
const EXAMPLES: [(&str, &str); 5] = [
    ("bouncing_ball", include_str!("../../models/bouncing_ball/model.toml")),
    ("double_impact", include_str!("../../models/double_impact/model.toml")),
    ("resting_block", include_str!("../../models/resting_block/model.toml")),
    ("tilted_plane", include_str!("../../models/tilted_plane/model.toml")),
    ("tilted_plane_friction", include_str!("../../models/tilted_plane_friction/model.toml")),
];

const STARTER: (&str, &str) = ("starter", include_str!("starter.toml"));

/// Write a commented starter model file.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  contact-fmu new my_model\n  contact-fmu new slope.toml --like tilted_plane"
)]
pub struct Arguments {
    /// Name of the model, or path of its file; NAME.toml must not exist yet.
    name: PathBuf,
    /// Copy an example instead: bouncing_ball, double_impact, resting_block, tilted_plane, tilted_plane_friction.
    #[arg(long, value_name = "EXAMPLE")]
    like: Option<String>,
}

/// Writes the file and prints its path on stdout.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let template = match &arguments.like {
        None => STARTER,
        Some(like) => example(like)?,
    };
    let path = with_toml_extension(arguments.name);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    if let Some(fault) = model_name_fault(&name) {
        bail!("the model name `{name}` {fault}");
    }
    write_new(&path, &renamed(template, &name))?;
    writeln!(std::io::stdout().lock(), "{}", path.display())?;
    Ok(())
}

fn example(name: &str) -> anyhow::Result<(&'static str, &'static str)> {
    let found = EXAMPLES.into_iter().find(|(example, _)| *example == name);
    found.with_context(|| {
        let names = EXAMPLES.map(|(example, _)| example);
        format!("there is no example `{name}`\nhint: {}", suggestion(name, &names, "", "examples"))
    })
}

fn with_toml_extension(name: PathBuf) -> PathBuf {
    if name.extension().is_some_and(|extension| extension == "toml") {
        name
    } else {
        let mut name = name.into_os_string();
        name.push(".toml");
        name.into()
    }
}

/// The text of a template with the model called `name`.
fn renamed((template, text): (&str, &str), name: &str) -> String {
    text.replacen(&format!("name = \"{template}\""), &format!("name = \"{name}\""), 1)
        .replace(&format!(" {template}.toml"), &format!(" {name}.toml"))
}

/// Writes a file that must not exist yet: whole or not at all.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // As any new file; temporary ones are private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let cannot_write = || format!("cannot write {}", path.display());
    let mut file = builder.tempfile_in(folder).with_context(cannot_write)?;
    file.write_all(text.as_bytes()).with_context(cannot_write)?;
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
    use contact_fmu::model::file;

    #[test]
    fn every_template_is_valid_under_a_new_name() {
        for template in EXAMPLES.into_iter().chain([STARTER]) {
            let model = file::parse(&renamed(template, "renamed"), "new.toml").unwrap();
            assert_eq!(model.name, "renamed");
        }
    }
}
