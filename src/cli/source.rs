//! Models as commands take them: in their files, or in FMUs that were made of these.

use crate::master::extract::FmuFile;
use crate::model::file::{self, SourceModel};
use anyhow::anyhow;
use std::path::Path;

/// Reads and validates a model file, or takes the model out of an FMU of contact-fmu, of either version.
pub fn read(path: &Path) -> anyhow::Result<SourceModel> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fmu")) {
        return Ok(file::read(path)?);
    }
    let fmu = FmuFile::open(path)?.extract()?;
    fmu.source().map_err(|why| anyhow!("there is no model in {}: {why}", path.display()))
}
