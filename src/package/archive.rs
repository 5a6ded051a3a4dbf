//! A ZIP archive whose bytes depend on its contents only.

use super::entries::{Contents, Entry};
use std::io::{Cursor, Write};
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// The archive with the entries in their order, dated 1980-01-01, readable by ZIP 2.0.
pub fn write(entries: &[Entry]) -> ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
        .unix_permissions(0o644)
        .large_file(false);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, contents } in entries {
        match contents {
            Contents::Plain(bytes) => {
                archive.start_file(path.as_str(), options)?;
                archive.write_all(bytes)?;
            }
            Contents::Library(packed) => {
                packed.with_entry(|library| archive.raw_copy_file_rename(library, path))?;
            }
        }
    }
    Ok(archive.finish()?.into_inner())
}
