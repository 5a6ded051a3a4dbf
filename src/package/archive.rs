//! A ZIP archive whose bytes depend on its contents only.

use super::entries::{Contents, Entry};
use super::options::options;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::result::ZipResult;

/// The archive with the entries in their order.
pub fn write(entries: &[Entry]) -> ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, contents } in entries {
        match contents {
            Contents::Plain(bytes) => {
                archive.start_file(path.as_str(), options(0o644))?;
                archive.write_all(bytes)?;
            }
            Contents::Library(packed) => {
                packed.with_entry(|library| archive.raw_copy_file_rename(library, path))?;
            }
        }
    }
    Ok(archive.finish()?.into_inner())
}
