//! A master for FMI 2.0 and 3.0 co-simulation FMUs of any tool.

pub mod csv;
pub mod extract;
pub mod library;
pub mod library3;
pub mod simulate;
mod slave;

use crate::description::read::DescriptionError;
use std::path::PathBuf;
use thiserror::Error;

/// Why an FMU cannot be opened, loaded or instantiated.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum FmuError {
    #[error("cannot open {}", .path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("{} is not an FMU: it is not a ZIP archive", .path.display())]
    NotAnArchive { path: PathBuf, source: zip::result::ZipError },
    #[error("{} is not an FMU: it has no modelDescription.xml", .path.display())]
    NoDescription { path: PathBuf },
    #[error("{}", .path.display())]
    Description { path: PathBuf, source: DescriptionError },
    #[error("`{name}` in the archive points outside of it: the FMU is not safe to extract")]
    UnsafeName { name: String },
    #[error("`{name}` in the archive is a link: the FMU is not safe to extract")]
    Link { name: String },
    #[error("two files of the archive have the same name: the FMU is not safe to extract")]
    DuplicateName,
    #[error("a name in the archive has more than {limit} bytes: the FMU is not safe to extract")]
    LongName { limit: usize },
    #[error("files of the archive share bytes: the FMU is not safe to extract")]
    Overlap,
    #[error("the FMU has {count} files, more than {limit}")]
    TooManyFiles { count: usize, limit: usize },
    #[error("the FMU holds more than {} MB", .limit / 1_000_000)]
    TooLarge { limit: u64 },
    #[error("modelDescription.xml has more than {} MB", .limit / 1_000_000)]
    DescriptionTooLarge { limit: u64 },
    #[error("cannot extract `{name}`")]
    Extract { name: String, source: std::io::Error },
    #[error("no temporary folder to extract to")]
    TemporaryFolder(#[source] std::io::Error),
    #[error("the FMU offers model exchange only, not co-simulation")]
    NoCoSimulation,
    #[error("the FMU's modelIdentifier `{identifier}` is not the name of a file")]
    WrongIdentifier { identifier: String },
    #[error("the FMU has no library for this machine ({platform}), {}", have(.available))]
    NoLibrary { platform: &'static str, available: Vec<String> },
    #[error(
        "the library in {folder} is called {}, but by the FMU's modelIdentifier it should be `{expected}`",
        quoted(.found)
    )]
    WrongLibraryName { folder: String, found: Vec<String>, expected: String },
    #[error("cannot load {}", .path.display())]
    Load { path: PathBuf, source: libloading::Error },
    #[error("the library lacks the function {function}")]
    MissingFunction { function: &'static str },
    #[error("the library says it is of FMI version {version}, not {expected}")]
    WrongVersion { version: String, expected: &'static str },
    #[error("the FMU refused to be instantiated ({function})")]
    Instantiate { function: &'static str },
}

impl FmuError {
    /// What the user can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            FmuError::NotAnArchive { .. } => Some(
                "give an .fmu file; `contact-fmu build` makes one from a model file, whose name ends in .toml",
            ),
            FmuError::TemporaryFolder(_) => Some(
                "let the environment variable TMPDIR (TEMP on Windows) name a folder that can be written",
            ),
            FmuError::NoCoSimulation => Some("export the FMU again with a co-simulation interface"),
            FmuError::NoLibrary { .. } => Some("build the FMU again for this platform"),
            FmuError::WrongLibraryName { .. } => {
                Some("give the library the name that modelIdentifier says, or export the FMU again")
            }
            FmuError::Instantiate { .. } => Some("run again with --log to see what the FMU says"),
            _ => None,
        }
    }
}

fn have(platforms: &[String]) -> String {
    if platforms.is_empty() {
        "nor for any other".to_owned()
    } else {
        format!("only for {}", platforms.join(", "))
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
