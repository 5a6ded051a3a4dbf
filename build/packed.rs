//! A library packed once, so that building an FMU copies it.

use super::options::options;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::result::ZipResult;

/// An archive with the library as its one entry.
pub fn write(library: &[u8]) -> ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("library", options(0o755))?;
    archive.write_all(library)?;
    Ok(archive.finish()?.into_inner())
}
