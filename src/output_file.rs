//! Files that are complete or not there: written aside, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How the names of temporary files begin.
const PREFIX: &str = ".contact-fmu-";

/// A file being written. It appears at its path with [`OutputFile::finish`].
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    Aside(BufWriter<NamedTempFile>),
    /// A device or pipe, which a rename would replace.
    Device(BufWriter<File>),
}

impl OutputFile {
    /// Begins to write the file at `path`, in the same folder.
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        // Through a link the file is written, not the link replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let target = match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => Target::Device(BufWriter::new(File::create(&path)?)),
            _ => Target::Aside(BufWriter::new(temporary_beside(&path)?)),
        };
        Ok(OutputFile { path, target })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Target::Device(mut file) => file.flush(),
            Target::Aside(file) => {
                let file = file.into_inner().map_err(|error| error.into_error())?;
                file.persist(&self.path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Aside(file) => file.write(bytes),
            Target::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Aside(file) => file.flush(),
            Target::Device(file) => file.flush(),
        }
    }
}

/// Writes a whole file.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(contents)?;
    file.finish()
}

/// A temporary file in the folder of `path`, with the permissions of any new file.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    #[cfg(unix)]
    abandoned::remove(folder);
    let mut builder = tempfile::Builder::new();
    // Less what the user's umask takes away; a temporary file is private otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.prefix(PREFIX).tempfile_in(folder).map_err(|error| {
        // Without the path of the temporary file, which tells the user nothing.
        match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), format!("there is no folder {}", folder.display()))
            }
            kind => io::Error::new(kind, format!("no file can be made in {}: {kind}", folder.display())),
        }
    })?;
    // Tells others that it is in use. Where there are no locks, nobody asks for one.
    #[cfg(unix)]
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// What writers that were killed have left behind.
#[cfg(unix)]
mod abandoned {
    use std::fs::{self, DirEntry, File};
    use std::path::Path;
    use std::time::Duration;

    /// Younger files are left alone: theirs may be about to lock them.
    const AGE: Duration = Duration::from_secs(60);

    /// Removes temporary files that nobody locks any more. What cannot be removed stays.
    pub fn remove(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_ours = entry.file_name().as_encoded_bytes().starts_with(super::PREFIX.as_bytes());
            if is_ours && is_abandoned(&entry) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn is_abandoned(entry: &DirEntry) -> bool {
        let is_old = entry.metadata().is_ok_and(|metadata| {
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
            metadata.is_file() && age.is_some_and(|age| age > AGE)
        });
        is_old && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
    }
}
