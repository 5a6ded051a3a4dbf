//! The platforms that libraries are made for, by their names in FMI 2.0, and ready libraries for them in a folder.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Platform {
    /// Folder below `binaries/` in an FMU.
    pub name: &'static str,
    /// Of a shared library, without the dot.
    pub extension: &'static str,
}

pub const PLATFORMS: [Platform; 6] = [
    Platform { name: "linux64", extension: "so" },
    Platform { name: "linux32", extension: "so" },
    Platform { name: "aarch64-linux", extension: "so" },
    Platform { name: "win64", extension: "dll" },
    Platform { name: "win32", extension: "dll" },
    Platform { name: "darwin64", extension: "dylib" },
];

/// The platform that a target of the compiler is.
pub fn of_target(target: &str) -> Option<&'static Platform> {
    let architecture = target.split('-').next()?;
    let name = match architecture {
        "x86_64" if target.contains("-linux-") => "linux64",
        "i586" | "i686" if target.contains("-linux-") => "linux32",
        "aarch64" if target.contains("-linux-") => "aarch64-linux",
        "x86_64" if target.contains("-windows-") => "win64",
        "i586" | "i686" if target.contains("-windows-") => "win32",
        "x86_64" | "aarch64" if target.contains("-apple-darwin") => "darwin64",
        _ => return None,
    };
    PLATFORMS.iter().find(|platform| platform.name == name)
}

/// The platform that a library says it is for, by its first bytes.
pub fn of_library(library: &[u8]) -> Option<&'static str> {
    let word = |at: usize| Some(u16::from_le_bytes(library.get(at..at + 2)?.try_into().ok()?));
    match library.get(..4)? {
        b"\x7fELF" => match (library.get(4)?, word(18)?) {
            (2, 62) => Some("linux64"),
            (1, 3) => Some("linux32"),
            (2, 183) => Some("aarch64-linux"),
            _ => None,
        },
        [b'M', b'Z', ..] => {
            let header = u32::from_le_bytes(library.get(60..64)?.try_into().ok()?) as usize;
            match (library.get(header..header.checked_add(4)?)?, word(header + 4)?) {
                (b"PE\0\0", 0x8664) => Some("win64"),
                (b"PE\0\0", 0x14c) => Some("win32"),
                _ => None,
            }
        }
        // Universal, and for one processor of 64 bits.
        [0xca, 0xfe, 0xba, 0xbe] | [0xcf, 0xfa, 0xed, 0xfe] => Some("darwin64"),
        _ => None,
    }
}

/// The libraries of FMI 2.0 and 3.0 for a platform.
pub type Libraries = (&'static Platform, [PathBuf; 2]);

/// How the names of the libraries of FMI 2.0 and 3.0 end, without extension.
pub const VERSIONS: [&str; 2] = ["fmi2", "fmi3"];

/// The libraries in each folder named as a platform below `folder`, in the order of [`PLATFORMS`].
pub fn libraries_in(folder: &Path) -> Result<Vec<Libraries>, Box<dyn Error>> {
    let names = || PLATFORMS.map(|platform| platform.name).join(", ");
    let entries = fs::read_dir(folder).map_err(|error| {
        format!("{}: {error}; `scripts/all-platforms` makes such a folder", folder.display())
    })?;
    let mut libraries = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let place = PLATFORMS.iter().position(|platform| name == platform.name);
        let place = place.filter(|_| path.is_dir()).ok_or_else(|| {
            format!("{} is not a folder for a platform, which are {}", path.display(), names())
        })?;
        libraries.push((place, both_in(&path, &PLATFORMS[place])?));
    }
    if libraries.is_empty() {
        return Err(format!("{} has none of the folders {}", folder.display(), names()).into());
    }
    libraries.sort();
    Ok(libraries.into_iter().map(|(place, libraries)| (&PLATFORMS[place], libraries)).collect())
}

fn both_in(folder: &Path, platform: &Platform) -> Result<[PathBuf; 2], Box<dyn Error>> {
    let count = fs::read_dir(folder)?.count();
    if count != VERSIONS.len() {
        let names = VERSIONS.map(|version| format!("*{version}.{}", platform.extension)).join(" and ");
        return Err(
            format!("{} holds {count} files, expected two libraries, {names}", folder.display()).into()
        );
    }
    let [two, three] = VERSIONS.map(|version| library_in(folder, platform, version));
    Ok([two?, three?])
}

fn library_in(folder: &Path, platform: &Platform, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let end = format!("{version}.{}", platform.extension);
    let mut library = None;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(&end)) {
            library = Some(path);
        }
    }
    let library = library.ok_or_else(|| format!("{} has no library named *{end}", folder.display()))?;
    match of_library(&fs::read(&library)?) {
        Some(found) if found == platform.name => Ok(library),
        Some(found) => Err(format!("{} is a library for {found}", library.display()).into()),
        None => Err(format!("{} is no library for {}", library.display(), platform.name).into()),
    }
}
