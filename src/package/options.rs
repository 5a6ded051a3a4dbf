//! How files stand in the archives of the builder and of its build script: dated 1980-01-01, readable by ZIP 2.0.

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System};

/// Of a file with these permissions.
pub fn options(permissions: u32) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
        .unix_permissions(permissions)
        .large_file(false)
}
