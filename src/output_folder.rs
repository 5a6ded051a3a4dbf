//! Folders that are complete or not there: written aside, then renamed.
//!
//! A folder written here lists its files in [`LIST`], so that one with anything else in it is never replaced.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;
use thiserror::Error;

/// Names the files of the folder, one a line.
pub const LIST: &str = "Resources/contact-fmu-files.txt";

/// Why a folder cannot be written.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It holds what was not written here.
    #[error("{} is there already and holds {found}, which contact-fmu has not written", .folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// A file in it.
        found: String,
    },
    /// It is a file.
    #[error("{} is a file, not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The system refuses.
    #[error("cannot write {}", .folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl FolderError {
    /// What the user can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            FolderError::Foreign { .. } | FolderError::NotAFolder(_) => {
                Some("choose another folder, or remove it first")
            }
            FolderError::Io { .. } => None,
        }
    }
}

/// Writes a folder with files at relative paths. One that is there already is replaced if it is empty or if everything
/// in it was written by this function.
pub fn write<'a>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'a str, Cow<'a, [u8]>)>,
) -> Result<(), FolderError> {
    check(folder)?;
    let failed = |source| FolderError::Io { folder: folder.to_owned(), source };
    // Through a link the folder is written, not the link replaced.
    let place = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let parent = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let aside = tempfile::Builder::new().prefix(".contact-fmu-").tempdir_in(parent).map_err(|error| {
        failed(match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), format!("there is no folder {}", parent.display()))
            }
            kind => io::Error::new(kind, format!("no folder can be made in {}: {kind}", parent.display())),
        })
    })?;
    fill(&aside, files).and_then(|new| exchange(&aside, &new, &place)).map_err(failed)
}

/// Writes the files to a new folder inside `aside`, which is private to its user.
fn fill<'a>(
    aside: &TempDir,
    files: impl IntoIterator<Item = (&'a str, Cow<'a, [u8]>)>,
) -> io::Result<PathBuf> {
    let new = aside.path().join("new");
    let put = |path: &str, contents: &[u8]| {
        let file = new.join(path);
        fs::create_dir_all(file.parent().expect("a file is in a folder"))?;
        fs::write(file, contents)
    };
    let mut list = BTreeSet::from([LIST.to_owned()]);
    for (path, contents) in files {
        put(path, &contents)?;
        list.insert(path.to_owned());
    }
    put(LIST, list.iter().map(|path| format!("{path}\n")).collect::<String>().as_bytes())?;
    Ok(new)
}

/// Puts the new folder in the place of the old one, which goes away with `aside`.
fn exchange(aside: &TempDir, new: &Path, folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return fs::rename(new, folder);
    }
    let old = aside.path().join("old");
    fs::rename(folder, &old)?;
    fs::rename(new, folder).inspect_err(|_| {
        // What was there before is better than nothing.
        let _ = fs::rename(&old, folder);
    })
}

/// Whether the folder may be replaced.
fn check(folder: &Path) -> Result<(), FolderError> {
    let failed = |source| FolderError::Io { folder: folder.to_owned(), source };
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.is_dir() => return Err(FolderError::NotAFolder(folder.to_owned())),
        Ok(_) => {}
    }
    let list = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    let known: BTreeSet<&str> = list.lines().collect();
    let mut found = Vec::new();
    contents(folder, Path::new(""), &mut found).map_err(failed)?;
    match found.into_iter().find(|path| !known.contains(path.as_str())) {
        Some(found) => Err(FolderError::Foreign { folder: folder.to_owned(), found }),
        None => Ok(()),
    }
}

/// Paths of all files below a folder, with forward slashes.
fn contents(folder: &Path, below: &Path, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            contents(folder, &path, found)?;
        } else {
            let parts: Vec<_> = path
                .components()
                .map(|part| match part {
                    Component::Normal(name) => name.to_string_lossy().into_owned(),
                    _ => String::new(),
                })
                .collect();
            found.push(parts.join("/"));
        }
    }
    found.sort();
    Ok(())
}
