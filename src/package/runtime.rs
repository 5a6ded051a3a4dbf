//! The libraries that go into FMUs, embedded by the build script.

use super::PackageError;
use crate::fmi_version::FmiVersion;
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::read::ZipFile;

include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));

/// A library in an archive of its own, from which it goes into an FMU as it is.
#[derive(Clone, Copy, Debug)]
pub struct Packed(&'static [u8]);

impl Packed {
    /// Calls `take` with the one entry of the archive.
    pub(super) fn with_entry<T>(self, take: impl FnOnce(ZipFile<'_, Cursor<&'static [u8]>>) -> T) -> T {
        const MADE: &str = "the build script has made the archive";
        let mut archive = ZipArchive::new(Cursor::new(self.0)).expect(MADE);
        take(archive.by_index(0).expect(MADE))
    }

    /// The library.
    pub fn unpack(self) -> Vec<u8> {
        self.with_entry(|mut entry| {
            let mut library = Vec::with_capacity(entry.size() as usize);
            entry.read_to_end(&mut library).expect("the build script has packed the library");
            library
        })
    }
}

/// The libraries for one platform.
#[derive(Debug)]
pub struct Runtime {
    /// Name of the platform in FMI 2.0.
    pub platform: &'static str,
    /// File extension, without the dot.
    pub extension: &'static str,
    /// For FMI 2.0 and 3.0, the folders below `binaries/` with the library of each.
    files: [&'static [(&'static str, Packed)]; 2],
}

impl Runtime {
    /// The folders below `binaries/` in FMUs of a version, with the library of each: that for macOS has one for each
    /// processor in FMI 3.0.
    pub fn files(&self, version: FmiVersion) -> &'static [(&'static str, Packed)] {
        match version {
            FmiVersion::Two => self.files[0],
            FmiVersion::Three => self.files[1],
        }
    }

    /// The one library of FMI 2.0.
    pub fn library(&self) -> Packed {
        self.files[0][0].1
    }

    /// Whether it is for a platform, by the name of either version.
    fn is_for(&self, name: &str) -> bool {
        self.platform == name || self.files(FmiVersion::Three).iter().any(|(folder, _)| *folder == name)
    }
}

/// Platforms that an FMU can be built for.
pub fn platforms() -> Vec<&'static str> {
    RUNTIMES.iter().map(|runtime| runtime.platform).collect()
}

/// The libraries for `platforms` in the order of the FMU; all when none is named.
pub fn select(platforms: &[String]) -> Result<Vec<&'static Runtime>, PackageError> {
    for asked in platforms {
        if !RUNTIMES.iter().any(|runtime| runtime.is_for(asked)) {
            return Err(PackageError::UnknownPlatform { asked: asked.clone(), available: self::platforms() });
        }
    }
    let wanted =
        |runtime: &&Runtime| platforms.is_empty() || platforms.iter().any(|name| runtime.is_for(name));
    Ok(RUNTIMES.iter().filter(wanted).collect())
}
