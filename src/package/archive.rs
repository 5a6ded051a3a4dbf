//! A ZIP archive whose bytes depend on its contents only.

use super::entries::Entry;
use std::io::{Cursor, Write};
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// The archive with the entries in their order, dated 1980-01-01, readable by ZIP 2.0.
pub fn write(entries: &[Entry]) -> ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, contents, library } in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::DEFAULT)
            .system(System::Unix)
            .unix_permissions(if *library { 0o755 } else { 0o644 })
            .large_file(false);
        archive.start_file(path.as_str(), options)?;
        archive.write_all(contents)?;
    }
    Ok(archive.finish()?.into_inner())
}
