//! What an FMU holds, in archive order.

use super::documentation;
use super::guid::guid;
use super::runtime::{Packed, Runtime};
use crate::description::{terminals, write, write3};
use crate::fmi_version::FmiVersion;
use crate::model::file::SourceModel;
use crate::model::packed;
use crate::variables;
use std::borrow::Cow;

/// A file of the FMU.
pub struct Entry {
    /// Path in the archive, with forward slashes.
    pub path: String,
    /// Contents.
    pub contents: Contents,
}

/// Contents of a file.
pub enum Contents {
    /// As they are.
    Plain(Cow<'static, [u8]>),
    /// A shared library, packed when the builder was built.
    Library(Packed),
}

impl Entry {
    /// Path and contents.
    pub fn named(&self) -> (&str, Cow<'_, [u8]>) {
        let contents = match &self.contents {
            Contents::Plain(bytes) => Cow::Borrowed(bytes.as_ref()),
            Contents::Library(packed) => Cow::Owned(packed.unpack()),
        };
        (&self.path, contents)
    }
}

const ICON: &[u8] = include_bytes!("../../fmu-template/skeleton/model.png");

/// Licenses of this project and of what its library is made of.
pub(crate) const LICENSES: [(&str, &str); 4] = [
    ("license.txt", include_str!("../../LICENSE")),
    ("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../LICENSE-MIT")),
    ("third-party.txt", include_str!("../../fmu-template/skeleton/third-party.txt")),
];

/// The files of a model's FMU.
pub fn entries(source: &SourceModel, version: FmiVersion, runtimes: &[&'static Runtime]) -> Vec<Entry> {
    let SourceModel { model, source } = source;
    let guid = guid(model);
    let (variables, description, icon) = match version {
        FmiVersion::Two => {
            let variables = variables::table(model);
            let description = write::write(model, &variables, &guid);
            (variables, description, "model.png")
        }
        FmiVersion::Three => {
            let variables = variables::table_with_events(model);
            let description = write3::write(model, &variables, &guid);
            (variables, description, "terminalsAndIcons/icon.png")
        }
    };
    let mut entries = vec![file("modelDescription.xml", description.into_bytes()), file(icon, ICON)];
    if let Some(terminals) = terminals::write(model, &variables, version) {
        entries.push(file("terminalsAndIcons/terminalsAndIcons.xml", terminals.into_bytes()));
    }
    for runtime in runtimes {
        for &(folder, library) in runtime.files(version) {
            entries.push(Entry {
                path: format!("binaries/{folder}/{}.{}", model.name, runtime.extension),
                contents: Contents::Library(library),
            });
        }
    }
    entries.push(file(format!("resources/{}", packed::FILE_NAME), packed::write(model, &guid)));
    entries.push(file("resources/model.toml", source.clone().into_bytes()));
    entries
        .push(file("documentation/index.html", documentation::page(model, &variables, version).into_bytes()));
    for (name, text) in LICENSES {
        entries.push(file(format!("documentation/licenses/{name}"), text.as_bytes()));
    }
    entries
}

/// A file that is not a library.
pub(crate) fn file(path: impl Into<String>, contents: impl Into<Cow<'static, [u8]>>) -> Entry {
    Entry { path: path.into(), contents: Contents::Plain(contents.into()) }
}
