//! From a model and FMUs of other tools to a System Structure Package, SSP 1.0: one FMU of the model, the others
//! beside it, and connections between them.

mod component;
mod connections;
mod ssd;
mod units;

pub use component::Component;

use crate::fmi_version::FmiVersion;
use crate::master::FmuError;
use crate::master::extract::FmuFile;
use crate::model::file::SourceModel;
use crate::package::entries::{Entry, file};
use crate::package::{self, PackageError, archive};
use connections::Wiring;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a package cannot be made.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SspError {
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Fmu(#[from] FmuError),
    #[error("cannot read {}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{asked}` is not of the form COMPONENT.OUTPUT=COMPONENT.INPUT")]
    NotAConnection { asked: String },
    #[error("there is no {kind} `{asked}`{hint}")]
    NoConnector { kind: &'static str, asked: String, hint: String },
    #[error("`{start}` and `{end}` cannot be connected: {reason}")]
    Incompatible { start: String, end: String, reason: String },
    #[error(
        "{} has arrays of FMI 3.0 (`{variable}`), for which SSP 1.0 has no connectors: take its FMI 2.0 FMU",
        .path.display()
    )]
    Array { path: PathBuf, variable: String },
    #[error("`{end}` would be connected twice")]
    Twice { end: String },
}

/// A package and what is worth telling of it.
pub struct Ssp {
    /// The archive.
    pub bytes: Vec<u8>,
    /// Inputs that were left open although outputs of their name exist, and why; starts that do not agree.
    pub notes: Vec<String>,
}

/// What a system consists of besides the model.
pub struct Parts<'a> {
    /// FMUs of other tools.
    pub others: &'a [PathBuf],
    /// Connections besides those by name, as COMPONENT.OUTPUT=COMPONENT.INPUT.
    pub connections: &'a [String],
    /// What is not connected becomes a connector of the system.
    pub open: bool,
}

/// The package of a model and other FMUs, connected by their names and as asked. The same model and FMUs give the same
/// bytes.
pub fn build(source: &SourceModel, parts: &Parts) -> Result<Ssp, SspError> {
    let own = package::build(source, FmiVersion::Two, &[])?;
    let mut components = vec![Component::of_model(source)];
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    for path in parts.others {
        let mut component = Component::of_fmu(path, FmuFile::open(path)?.description, &components);
        let bytes = match component.array() {
            None => read(path)?,
            Some(variable) => {
                let array = SspError::Array { path: path.clone(), variable: variable.name.clone() };
                let source = FmuFile::open(path)?.extract()?.source().map_err(|_| array)?;
                notes.push(format!(
                    "{} has arrays, for which SSP 1.0 has no connectors: the package has the FMI 2.0 FMU of the same model",
                    path.display()
                ));
                component.description = component::description(&source.model);
                package::build(&source, FmiVersion::Two, &[])?
            }
        };
        entries.push(file(component.source.clone(), bytes));
        components.push(component);
    }
    let wiring = Wiring::new(&components, parts.connections, parts.open)?;
    notes.extend(wiring.notes.iter().cloned());
    let ssd = ssd::write(&source.model, &components, &wiring);
    entries.insert(0, file(components[0].source.clone(), own));
    entries.insert(0, file("SystemStructure.ssd", ssd.into_bytes()));
    let entries: Vec<Entry> = entries;
    let bytes = archive::write(&entries).map_err(PackageError::from)?;
    Ok(Ssp { bytes, notes })
}

fn read(path: &Path) -> Result<Vec<u8>, SspError> {
    fs::read(path).map_err(|source| SspError::Read { path: path.to_owned(), source })
}
