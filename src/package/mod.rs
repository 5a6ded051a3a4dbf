//! From a model to the bytes of its FMU.

pub(crate) mod archive;
mod documentation;
pub mod entries;
pub mod guid;
mod options;
pub mod runtime;

use crate::fmi_version::FmiVersion;
use crate::model::file::SourceModel;
use entries::Entry;
use thiserror::Error;

/// Why an FMU cannot be built.
#[derive(Debug, Error)]
pub enum PackageError {
    /// No library for that platform is embedded.
    #[error("no library for platform `{asked}`: this contact-fmu can build for {}", .available.join(", "))]
    UnknownPlatform {
        /// Platform that was asked for.
        asked: String,
        /// Platforms that can be had.
        available: Vec<&'static str>,
    },
    /// The archive could not be made.
    #[error("the archive could not be written")]
    Archive(#[from] zip::result::ZipError),
}

/// The FMU of a model with libraries for `platforms`, or for all that are embedded when none is named.
/// The same model gives the same bytes.
pub fn build(
    source: &SourceModel,
    version: FmiVersion,
    platforms: &[String],
) -> Result<Vec<u8>, PackageError> {
    Ok(archive::write(&files(source, version, platforms)?)?)
}

/// The files of that FMU.
pub fn files(
    source: &SourceModel,
    version: FmiVersion,
    platforms: &[String],
) -> Result<Vec<Entry>, PackageError> {
    Ok(entries::entries(source, version, &runtime::select(platforms)?))
}
