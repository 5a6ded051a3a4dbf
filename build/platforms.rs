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

/// The folders below `binaries/` in FMUs of a version that a library for a platform goes to, each with the library. FMI 3.0
/// has a folder for each processor of macOS; a library for several is taken apart.
pub fn files<'a>(
    platform: &Platform,
    version: &str,
    library: &'a [u8],
) -> Result<Vec<(&'static str, &'a [u8])>, String> {
    let folder = match (version, platform.name) {
        ("fmi3", "linux64") => "x86_64-linux",
        ("fmi3", "linux32") => "x86-linux",
        ("fmi3", "win64") => "x86_64-windows",
        ("fmi3", "win32") => "x86-windows",
        ("fmi3", "darwin64") => return slices(library).ok_or_else(|| "is no library for macOS".to_owned()),
        _ => platform.name,
    };
    Ok(vec![(folder, library)])
}

/// The parts of a library for macOS, each with the folder of its processor.
fn slices(library: &[u8]) -> Option<Vec<(&'static str, &[u8])>> {
    let word = |at: usize| Some(<[u8; 4]>::try_from(library.get(at..at + 4)?).unwrap());
    let folder = |processor: u32| match processor {
        0x0100_0007 => Some("x86_64-darwin"),
        0x0100_000c => Some("aarch64-darwin"),
        _ => None,
    };
    if word(0)? != [0xca, 0xfe, 0xba, 0xbe] {
        return Some(vec![(folder(u32::from_le_bytes(word(4)?))?, library)]);
    }
    // Of a universal library the first numbers are count, then processor, kind, offset, size and alignment of each part.
    let number = |at: usize| Some(u32::from_be_bytes(word(at)?));
    (0..number(4)? as usize)
        .map(|part| {
            let entry = 8 + 20 * part;
            let (start, size) = (number(entry + 8)? as usize, number(entry + 12)? as usize);
            Some((folder(number(entry)?)?, library.get(start..start.checked_add(size)?)?))
        })
        .collect()
}

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
