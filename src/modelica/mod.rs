//! From a model to a Modelica package whose models run the contact engine, without FMI import.
//!
//! The package holds a model with a multibody frame for each body that the Modelica model moves (`class`), an
//! external object over a C header that calls the FMI functions of the embedded library, and an example. Each exchange
//! is an event, and its force acts in the period that starts there: the packed model says so (latency 0).

mod class;
mod groups;
mod text;

pub use text::package_name_fault;

use crate::description::write::GENERATION_TOOL;
use crate::model::file::{self, SourceModel};
use crate::model::{Coupling, Latency, Model, Motion, packed};
use crate::package::entries::{Contents, Entry, LICENSES, file as text_file};
use crate::package::guid::guid;
use crate::package::{PackageError, runtime};
use class::Place;
use text::{escaped, fill, html};
use thiserror::Error;

/// Why a Modelica package cannot be made.
#[derive(Debug, Error)]
pub enum ModelicaError {
    /// As for an FMU.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A node whose steps a master must repeat.
    #[error(
        "node `{0}` has iterative = true, but a Modelica simulation does not repeat its periods: leave it out"
    )]
    Iterative(String),
}

/// Name of the library of each platform, without its extension, as the C header has it.
const LIBRARY: &str = "contact_fmu";

const TIP: &str = include_str!("templates/Examples/PendulumTip.toml");

/// Text files of the package besides its models.
const TEMPLATES: [(&str, &str); 10] = [
    ("package.mo", include_str!("templates/package.mo")),
    ("package.order", include_str!("templates/package.order")),
    ("Examples/package.mo", include_str!("templates/Examples/package.mo")),
    ("Examples/package.order", include_str!("templates/Examples/package.order")),
    ("Examples/PendulumOnFloor.mo", include_str!("templates/Examples/PendulumOnFloor.mo")),
    ("Internal/package.mo", include_str!("templates/Internal/package.mo")),
    ("Internal/package.order", include_str!("templates/Internal/package.order")),
    ("Internal/Engine.mo", include_str!("templates/Internal/Engine.mo")),
    ("Internal/step.mo", include_str!("templates/Internal/step.mo")),
    ("Internal/quaternion.mo", include_str!("templates/Internal/quaternion.mo")),
];

const HEADER: &str = include_str!("templates/ContactFmu.h");

/// The files of the package called `package`, with libraries for `platforms`, or for all that are embedded when none is
/// named. The same model gives the same files.
pub fn files(source: &SourceModel, package: &str, platforms: &[String]) -> Result<Vec<Entry>, ModelicaError> {
    let runtimes = runtime::select(platforms)?;
    let iterative = source.model.nodes.iter().find(|node| node.coupling == Coupling::Iterative);
    if let Some(node) = iterative {
        return Err(ModelicaError::Iterative(node.name.clone()));
    }
    let model = without_latency(&source.model);
    let class = if class::frame_count(&model) == 1 { "ContactNode" } else { "ContactSystem" };
    let names: Vec<&str> = runtimes.iter().map(|runtime| runtime.platform).collect();
    let description = if model.description.is_empty() { &model.name } else { &model.description };
    let values = [
        ("package", package),
        ("class", class),
        ("description", &escaped(description)),
        ("html_description", &html(description)),
        ("version", env!("CARGO_PKG_VERSION")),
        ("platforms", &names.join(", ")),
        ("tool", GENERATION_TOOL),
        ("ball_icon", class::ICON.trim_end()),
    ];
    let mut files: Vec<Entry> = TEMPLATES
        .iter()
        .map(|(path, template)| text_file(*path, fill(template, &values).into_bytes()))
        .collect();
    files.extend(model_files(&model, &source.source, &Place { package, within: package, class }));
    let tip = file::parse(TIP, "PendulumTip.toml").expect("the example is a good model");
    let examples = format!("{package}.Examples");
    files.extend(model_files(&tip, TIP, &Place { package, within: &examples, class: "PendulumTip" }));
    files.push(text_file("Resources/Include/ContactFmu.h", HEADER.as_bytes()));
    for runtime in runtimes {
        files.push(Entry {
            path: format!("Resources/Library/{}/{LIBRARY}.{}", runtime.platform, runtime.extension),
            contents: Contents::Library(runtime.library()),
        });
    }
    for (name, text) in LICENSES {
        files.push(text_file(format!("Resources/Licenses/{name}"), text.as_bytes()));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// A model's text, and its packed model beside its source.
fn model_files(model: &Model, source: &str, place: &Place) -> [Entry; 3] {
    let folder = place.within.strip_prefix(place.package).unwrap_or_default().replace('.', "");
    let path = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let data = format!("Resources/Data/{}", place.class);
    [
        text_file(format!("{path}{}.mo", place.class), class::write(model, place).into_bytes()),
        text_file(format!("{data}/{}", packed::FILE_NAME), packed::write(model, &guid(model))),
        text_file(format!("{data}/model.toml"), source.as_bytes().to_vec()),
    ]
}

/// The model for a master that applies each force in the period for which it is computed.
fn without_latency(model: &Model) -> Model {
    let mut model = model.clone();
    for node in &mut model.nodes {
        match &mut node.coupling {
            Coupling::Kinetic(kinetic) => kinetic.latency = Latency::Known(0),
            Coupling::Compliant(link) => link.latency = Latency::Known(0),
            Coupling::Owned | Coupling::Iterative => {}
        }
    }
    for surface in &mut model.surfaces {
        if let Motion::Input(frame) = &mut surface.motion {
            frame.coupling.latency = Latency::Known(0);
        }
    }
    model
}
