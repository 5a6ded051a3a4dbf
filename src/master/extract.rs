//! Opening an FMU's archive: reading its description, extracting it safely.

use super::FmuError;
use crate::description::ModelDescription;
use crate::description::read;
use crate::fmi_version::FmiVersion;
use crate::model::file::SourceModel;
use crate::model::{Model, packed};
use std::borrow::Cow;
use std::collections::HashSet;
use std::env::consts::DLL_SUFFIX;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::ZipArchive;
use zip::read::ZipFile;

/// Most files that an FMU may have.
const MAX_FILES: usize = 100_000;
/// Most bytes that an FMU may hold after extraction.
const MAX_BYTES: u64 = 4_000_000_000;
/// Most bytes that its description may have.
const MAX_DESCRIPTION: u64 = 200_000_000;

/// Longest name of a file in it: thousands of folders within one another take minutes to make.
const MAX_NAME: usize = 1000;

const DESCRIPTION: &str = "modelDescription.xml";
/// The model file in the resources of an FMU of this tool.
const SOURCE: &str = "model.toml";

/// An FMU file whose description has been read.
pub struct FmuFile {
    /// What the FMU says about itself.
    pub description: ModelDescription,
    /// Platforms that it has libraries for.
    pub platforms: Vec<String>,
    archive: ZipArchive<BufReader<File>>,
}

/// An FMU in a temporary folder, which goes away with this value.
pub struct ExtractedFmu {
    /// What the FMU says about itself.
    pub description: ModelDescription,
    /// Platforms that it has libraries for.
    pub platforms: Vec<String>,
    folder: TempDir,
}

impl FmuFile {
    /// Opens an FMU and reads its description. Nothing of it is executed.
    pub fn open(path: &Path) -> Result<FmuFile, FmuError> {
        let open = |source| FmuError::Open { path: path.to_owned(), source };
        // Before it is opened: a pipe would wait for somebody to write.
        let metadata = fs::metadata(path).map_err(open)?;
        if metadata.is_dir() {
            return Err(open(std::io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            return Err(open(std::io::Error::other("it is a device or a pipe")));
        }
        let file = File::open(path).map_err(open)?;
        let mut archive = ZipArchive::new(BufReader::new(file))
            .map_err(|source| FmuError::NotAnArchive { path: path.to_owned(), source })?;
        if archive.len() > MAX_FILES {
            return Err(FmuError::TooManyFiles { count: archive.len(), limit: MAX_FILES });
        }
        let names = entry_names(&mut archive)?;
        let index = names
            .iter()
            .position(|name| name == DESCRIPTION)
            .ok_or_else(|| FmuError::NoDescription { path: path.to_owned() })?;
        let mut bytes = Vec::new();
        archive
            .by_index(index)
            .map_err(|error| unreadable(index, error))?
            .take(MAX_DESCRIPTION + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| FmuError::Extract { name: DESCRIPTION.to_owned(), source })?;
        if bytes.len() as u64 > MAX_DESCRIPTION {
            return Err(FmuError::DescriptionTooLarge { limit: MAX_DESCRIPTION });
        }
        let description =
            read::read(&bytes).map_err(|source| FmuError::Description { path: path.to_owned(), source })?;
        Ok(FmuFile { description, platforms: platforms(&names), archive })
    }

    /// Extracts all files to a new temporary folder.
    pub fn extract(mut self) -> Result<ExtractedFmu, FmuError> {
        let folder = temporary_folder()?;
        let mut left = MAX_BYTES;
        for index in 0..self.archive.len() {
            let entry = self.archive.by_index(index).map_err(|error| unreadable(index, error))?;
            left = extract_entry(entry, folder.path(), left)?;
        }
        Ok(ExtractedFmu { description: self.description, platforms: self.platforms, folder })
    }
}

impl ExtractedFmu {
    /// Writes the files of an FMU, by their names in the archive, to a new temporary folder.
    pub fn of_files<'a>(
        files: impl IntoIterator<Item = (&'a str, Cow<'a, [u8]>)>,
    ) -> Result<ExtractedFmu, FmuError> {
        let folder = temporary_folder()?;
        let (mut names, mut description) = (Vec::new(), None);
        for (name, contents) in files {
            let failed = |source| FmuError::Extract { name: name.to_owned(), source };
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(failed)?;
            fs::write(&path, &contents).map_err(failed)?;
            if name == DESCRIPTION {
                let path = PathBuf::from(name);
                description =
                    Some(read::read(&contents).map_err(|source| FmuError::Description { path, source })?);
            }
            names.push(name.to_owned());
        }
        let description =
            description.ok_or_else(|| FmuError::NoDescription { path: folder.path().to_owned() })?;
        Ok(ExtractedFmu { description, platforms: platforms(&names), folder })
    }

    /// Leaves the folder where it is when this value goes away.
    pub fn keep(&mut self) {
        self.folder.disable_cleanup(true);
    }

    /// The model in an FMU of this tool, or why there is none.
    pub fn model(&self) -> Result<Model, String> {
        let bytes = fs::read(self.resources().join(packed::FILE_NAME))
            .map_err(|_| "the FMU is not one of contact-fmu, so its shapes are not known".to_owned())?;
        match packed::read(&bytes) {
            Ok((model, guid)) if guid == self.description.guid => Ok(model),
            Ok(_) => Err("the model in the FMU's resources belongs to another FMU".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The same with the text of its file.
    pub fn source(&self) -> Result<SourceModel, String> {
        let model = self.model()?;
        let source = fs::read_to_string(self.resources().join(SOURCE))
            .map_err(|error| format!("{SOURCE}: {error}"))?;
        Ok(SourceModel { model, source })
    }

    /// The folder `resources`, which need not exist.
    pub fn resources(&self) -> PathBuf {
        self.folder.path().join("resources")
    }

    /// The name of this machine's platform in the version of FMI that the FMU is of.
    fn platform(&self) -> &'static str {
        match self.description.fmi_version {
            FmiVersion::Two => THIS_PLATFORM,
            FmiVersion::Three => THIS_PLATFORM_IN_FMI3,
        }
    }

    /// The library for this machine.
    pub fn library(&self) -> Result<PathBuf, FmuError> {
        let identifier =
            &self.description.co_simulation.as_ref().ok_or(FmuError::NoCoSimulation)?.model_identifier;
        // A library from outside of the FMU is never loaded.
        if identifier.is_empty() || identifier.contains(['/', '\\', ':', '\0']) {
            return Err(FmuError::WrongIdentifier { identifier: identifier.clone() });
        }
        let platform = self.platform();
        let folder = self.folder.path().join("binaries").join(platform);
        let name = format!("{identifier}{DLL_SUFFIX}");
        let path = folder.join(&name);
        if path.is_file() {
            return Ok(path);
        }
        let found = libraries(&folder);
        if found.is_empty() {
            return Err(FmuError::NoLibrary { platform, available: self.platforms.clone() });
        }
        let folder = format!("binaries/{platform}");
        Err(FmuError::WrongLibraryName { folder, found, expected: name })
    }
}

fn temporary_folder() -> Result<TempDir, FmuError> {
    tempfile::Builder::new().prefix("contact-fmu-").tempdir().map_err(FmuError::TemporaryFolder)
}

/// Names of the libraries in a folder, which need not exist.
fn libraries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut libraries: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(DLL_SUFFIX))
        .collect();
    libraries.sort();
    libraries
}

/// FMI's name of the platform that this program runs on.
pub const THIS_PLATFORM: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "linux64"
} else if cfg!(all(target_os = "linux", target_arch = "x86")) {
    "linux32"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "aarch64-linux"
} else if cfg!(all(windows, target_arch = "x86_64")) {
    "win64"
} else if cfg!(all(windows, target_arch = "x86")) {
    "win32"
} else if cfg!(target_os = "macos") {
    "darwin64"
} else {
    "unknown platform"
};

/// The same in FMI 3.0.
const THIS_PLATFORM_IN_FMI3: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "x86_64-linux"
} else if cfg!(all(target_os = "linux", target_arch = "x86")) {
    "x86-linux"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "aarch64-linux"
} else if cfg!(all(windows, target_arch = "x86_64")) {
    "x86_64-windows"
} else if cfg!(all(windows, target_arch = "x86")) {
    "x86-windows"
} else if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
    "x86_64-darwin"
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    "aarch64-darwin"
} else {
    "unknown platform"
};

fn platforms(names: &[String]) -> Vec<String> {
    let mut platforms: Vec<String> = names
        .iter()
        .filter_map(|name| match name.split('/').collect::<Vec<_>>()[..] {
            ["binaries", platform, file] if !file.is_empty() => Some(platform.to_owned()),
            _ => None,
        })
        .collect();
    platforms.sort();
    platforms.dedup();
    platforms
}

/// Paths of all entries, of an archive that is safe to extract as far as its directory tells.
fn entry_names(archive: &mut ZipArchive<BufReader<File>>) -> Result<Vec<String>, FmuError> {
    let mut names = Vec::with_capacity(archive.len());
    let mut seen = HashSet::with_capacity(archive.len());
    let mut announced = 0_u64;
    let mut are_unique = !archive.metadata().has_duplicate_names();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| unreadable(index, error))?;
        announced = announced.saturating_add(entry.size());
        let name = entry_path(&entry)?;
        are_unique &= seen.insert(name.clone());
        names.push(name);
    }
    // Tools differ in which of two they take.
    if !are_unique {
        return Err(FmuError::DuplicateName);
    }
    if archive.has_overlapping_files().map_err(|error| unreadable(0, error))? {
        return Err(FmuError::Overlap);
    }
    if announced > MAX_BYTES {
        return Err(FmuError::TooLarge { limit: MAX_BYTES });
    }
    Ok(names)
}

/// Path of an entry, relative and with forward slashes; folders end in a slash.
fn entry_path<R: Read>(entry: &ZipFile<'_, R>) -> Result<String, FmuError> {
    let raw = String::from_utf8_lossy(entry.name_raw()).into_owned();
    let name = entry.name().map_err(|_| FmuError::UnsafeName { name: raw })?.replace('\\', "/");
    if entry.is_symlink() {
        return Err(FmuError::Link { name });
    }
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.len() > MAX_NAME {
        return Err(FmuError::LongName { limit: MAX_NAME });
    }
    if name.starts_with('/') || drive || name.contains('\0') || name.split('/').any(|part| part == "..") {
        return Err(FmuError::UnsafeName { name });
    }
    Ok(name.strip_prefix("./").unwrap_or(&name).to_owned())
}

/// Writes one entry below `folder`; gives how many bytes are left of `limit`.
fn extract_entry<R: Read>(entry: ZipFile<'_, R>, folder: &Path, limit: u64) -> Result<u64, FmuError> {
    let name = entry_path(&entry)?;
    let failed = |source| FmuError::Extract { name: name.clone(), source };
    let path = folder.join(&name);
    if name.is_empty() || name.ends_with('/') {
        fs::create_dir_all(&path).map_err(failed)?;
        return Ok(limit);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = File::create(&path).map_err(failed)?;
    // The size in the header may lie, so the bytes themselves are counted.
    let written = std::io::copy(&mut entry.take(limit + 1), &mut file).map_err(failed)?;
    limit.checked_sub(written).ok_or(FmuError::TooLarge { limit: MAX_BYTES })
}

fn unreadable(index: usize, error: zip::result::ZipError) -> FmuError {
    FmuError::Extract { name: format!("file {} of the archive", index + 1), source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    #[test]
    fn bytes_are_counted_whatever_the_header_says() {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("a/b.bin", SimpleFileOptions::default()).unwrap();
        archive.write_all(&[0; 1000]).unwrap();
        let mut archive = ZipArchive::new(archive.finish().unwrap()).unwrap();
        let folder = TempDir::new().unwrap();
        let left = extract_entry(archive.by_index(0).unwrap(), folder.path(), 1001).unwrap();
        assert_eq!(left, 1);
        assert_eq!(fs::read(folder.path().join("a/b.bin")).unwrap(), [0; 1000]);
        let error = extract_entry(archive.by_index(0).unwrap(), folder.path(), 999).unwrap_err();
        assert!(matches!(error, FmuError::TooLarge { .. }), "{error}");
    }
}
