//! A library packed once, so that building an FMU copies it.

use std::io::{Cursor, Write};
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// An archive with the library as its one entry, dated 1980-01-01, readable by ZIP 2.0.
pub fn write(library: &[u8]) -> ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
        .unix_permissions(0o755)
        .large_file(false);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("library", options)?;
    archive.write_all(library)?;
    Ok(archive.finish()?.into_inner())
}
