//! The libraries that go into FMUs, embedded by the build script.

use super::PackageError;

include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));

/// A library for one platform.
#[derive(Debug)]
pub struct Runtime {
    /// Folder below `binaries/`.
    pub platform: &'static str,
    /// File extension, without the dot.
    pub extension: &'static str,
    /// The library.
    pub library: &'static [u8],
}

/// Platforms that an FMU can be built for.
pub fn platforms() -> Vec<&'static str> {
    RUNTIMES.iter().map(|runtime| runtime.platform).collect()
}

/// The libraries for `platforms` in the order of the FMU; all when none is named.
pub fn select(platforms: &[String]) -> Result<Vec<&'static Runtime>, PackageError> {
    for asked in platforms {
        if !RUNTIMES.iter().any(|runtime| runtime.platform == asked) {
            return Err(PackageError::UnknownPlatform { asked: asked.clone(), available: self::platforms() });
        }
    }
    let wanted =
        |runtime: &&Runtime| platforms.is_empty() || platforms.iter().any(|name| name == runtime.platform);
    Ok(RUNTIMES.iter().filter(wanted).collect())
}
