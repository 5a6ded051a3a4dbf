//! An FMU of the system.

use crate::description::{Causality, ModelDescription, ScalarVariable, read, write};
use crate::model::Model;
use crate::model::file::SourceModel;
use crate::package::guid::guid;
use crate::variables;
use std::path::Path;

/// An FMU of the system.
pub struct Component {
    /// Name in the system: letters, digits and `_`.
    pub name: String,
    /// Path in the package.
    pub source: String,
    /// What the FMU says about itself.
    pub description: ModelDescription,
}

impl Component {
    /// The model's own.
    pub fn of_model(source: &SourceModel) -> Component {
        let model = &source.model;
        let source = format!("resources/{}.fmu", model.name);
        Component { name: model.name.clone(), source, description: description(model) }
    }

    /// Another, named after its file, with a number if `before` has that name.
    pub fn of_fmu(path: &Path, description: ModelDescription, before: &[Component]) -> Component {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut name: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            name.insert_str(0, "fmu_");
        }
        let is_taken = |name: &str| before.iter().any(|other| other.name.eq_ignore_ascii_case(name));
        let unique = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}_{number}")));
        let name = unique.into_iter().find(|name| !is_taken(name)).expect("numbers do not end");
        Component { source: format!("resources/{name}.fmu"), name, description }
    }

    /// Which of its interfaces a tool is to use.
    pub fn implementation(&self) -> &'static str {
        if self.description.co_simulation.is_some() { "CoSimulation" } else { "ModelExchange" }
    }

    /// Variables that are connectors of the system structure, and their kinds.
    pub fn connectors(&self) -> impl Iterator<Item = (&ScalarVariable, &'static str)> {
        self.description.model_variables.iter().filter_map(|variable| {
            let kind = match variable.causality {
                Causality::Input => "input",
                Causality::Output => "output",
                Causality::Parameter => "parameter",
                Causality::CalculatedParameter => "calculatedParameter",
                Causality::Local | Causality::Independent => return None,
            };
            Some((variable, kind))
        })
    }

    /// A component of an array among the connectors.
    pub fn array(&self) -> Option<&ScalarVariable> {
        let mut connectors = self.connectors().map(|(variable, _)| variable);
        connectors.find(|variable| variable.element.is_some_and(|element| element.elements > 1))
    }

    /// Variables of one causality.
    pub fn with(&self, causality: Causality) -> impl Iterator<Item = &ScalarVariable> {
        self.description.model_variables.iter().filter(move |variable| variable.causality == causality)
    }
}

/// What the FMI 2.0 FMU of a model says about itself.
pub fn description(model: &Model) -> ModelDescription {
    let xml = write::write(model, &variables::table(model), &guid(model));
    read::read(xml.as_bytes()).expect("what was just written")
}
