//! `modelDescription.xml`: written from the variable table (`write` for FMI 2.0, `write3` for 3.0), read from any FMU
//! ([`read`]); and the terminals of bodies ([`terminals`]).

pub mod read;
mod read3;
pub mod terminals;
pub mod write;
pub mod write3;

use crate::fmi_version::FmiVersion;
use serde::Serialize;
use std::collections::HashMap;

/// What the `modelDescription.xml` of an FMU says. Arrays of FMI 3.0 are told component by component.
///
/// Fields have the names of the XML attributes, also when serialized; where the versions differ, those of FMI 2.0.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct ModelDescription {
    pub fmi_version: FmiVersion,
    pub model_name: String,
    pub guid: String,
    pub description: Option<String>,
    pub author: Option<String>,
    pub version: Option<String>,
    pub copyright: Option<String>,
    pub license: Option<String>,
    pub generation_tool: Option<String>,
    pub generation_date_and_time: Option<String>,
    pub variable_naming_convention: Option<String>,
    pub co_simulation: Option<CoSimulation>,
    pub model_exchange: Option<ModelExchange>,
    pub unit_definitions: Vec<UnitDefinition>,
    pub type_definitions: Vec<SimpleType>,
    pub log_categories: Vec<LogCategory>,
    pub default_experiment: DefaultExperiment,
    pub model_variables: Vec<ScalarVariable>,
    pub model_structure: ModelStructure,
}

/// The co-simulation interface and its capabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct CoSimulation {
    pub model_identifier: String,
    pub needs_execution_tool: bool,
    pub can_handle_variable_communication_step_size: bool,
    pub can_interpolate_inputs: bool,
    pub max_output_derivative_order: u32,
    pub can_run_asynchronuously: bool,
    pub can_be_instantiated_only_once_per_process: bool,
    pub can_not_use_memory_management_functions: bool,
    #[serde(rename = "canGetAndSetFMUstate")]
    pub can_get_and_set_fmu_state: bool,
    #[serde(rename = "canSerializeFMUstate")]
    pub can_serialize_fmu_state: bool,
    pub provides_directional_derivative: bool,
    /// What only FMI 3.0 knows.
    #[serde(flatten)]
    pub fmi3: Option<Fmi3Capabilities>,
}

/// Capabilities that only FMI 3.0 knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct Fmi3Capabilities {
    pub has_event_mode: bool,
    pub might_return_early_from_do_step: bool,
    pub can_return_early_after_intermediate_update: bool,
    pub provides_intermediate_update: bool,
    pub provides_adjoint_derivatives: bool,
}

/// The model-exchange interface and its capabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct ModelExchange {
    pub model_identifier: String,
    pub needs_execution_tool: bool,
    pub completed_integrator_step_not_needed: bool,
    pub can_be_instantiated_only_once_per_process: bool,
    pub can_not_use_memory_management_functions: bool,
    #[serde(rename = "canGetAndSetFMUstate")]
    pub can_get_and_set_fmu_state: bool,
    #[serde(rename = "canSerializeFMUstate")]
    pub can_serialize_fmu_state: bool,
    pub provides_directional_derivative: bool,
}

/// A unit and what it is in SI base units.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitDefinition {
    /// Spelling, as the variables use it.
    pub name: String,
    /// Absent when the FMU does not say.
    pub base_unit: Option<BaseUnit>,
}

/// `value in SI = factor * value + offset`, with the exponents of the SI base units.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct BaseUnit {
    pub kg: i32,
    pub m: i32,
    pub s: i32,
    #[serde(rename = "A")]
    pub a: i32,
    #[serde(rename = "K")]
    pub k: i32,
    pub mol: i32,
    pub cd: i32,
    pub rad: i32,
    pub factor: f64,
    pub offset: f64,
}

/// A type that variables may refer to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SimpleType {
    /// Name that `declaredType` refers to.
    pub name: String,
    /// Unit of a real type.
    pub unit: Option<String>,
    /// Items of an enumeration.
    pub items: Vec<EnumerationItem>,
}

/// An item of an enumeration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct EnumerationItem {
    pub name: String,
    pub value: i64,
}

/// A log category.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct LogCategory {
    pub name: String,
    pub description: Option<String>,
}

/// What a master runs when the user does not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct DefaultExperiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub step_size: Option<f64>,
}

/// One scalar variable. Variables with the same type and value reference are aliases.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct ScalarVariable {
    pub name: String,
    pub value_reference: u32,
    pub description: Option<String>,
    pub causality: Causality,
    pub variability: Variability,
    pub initial: Option<Initial>,
    #[serde(rename = "type")]
    pub variable_type: VariableType,
    pub declared_type: Option<String>,
    pub quantity: Option<String>,
    pub unit: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub start: Option<Value>,
    /// Where it is in an FMU of FMI 3.0.
    #[serde(flatten)]
    pub element: Option<Element>,
}

/// Type of FMI 3.0, and which of the values of an array it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Element {
    /// Type by its name in FMI 3.0.
    pub fmi3_type: &'static str,
    /// Position in the array, from 0.
    pub element: u32,
    /// Values that the array has.
    pub elements: u32,
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub enum VariableType {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration,
    Binary,
    Clock,
}

/// Value of a variable. An enumeration has the integer of its item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(String),
}

/// FMI causality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub enum Causality {
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
}

/// FMI variability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    Continuous,
}

/// FMI initial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub enum Initial {
    Exact,
    Approx,
    Calculated,
}

/// Outputs, state derivatives and initial unknowns with what they depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub struct ModelStructure {
    pub outputs: Vec<Unknown>,
    pub derivatives: Vec<Unknown>,
    pub initial_unknowns: Vec<Unknown>,
}

/// An entry of the model structure. Indices count the variables from 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unknown {
    /// Index of the variable.
    pub index: u32,
    /// Indices of the variables that it depends on; absent means all.
    pub dependencies: Option<Vec<u32>>,
}

impl ModelDescription {
    /// The variable called `name`.
    pub fn variable(&self, name: &str) -> Option<&ScalarVariable> {
        self.model_variables.iter().find(|variable| variable.name == name)
    }

    /// The variables with causality output that have values for a table, in the order of the file.
    pub fn outputs(&self) -> impl Iterator<Item = &ScalarVariable> {
        let has_value = |kind| !matches!(kind, VariableType::Binary | VariableType::Clock);
        let outputs = self.model_variables.iter().filter(|variable| variable.causality == Causality::Output);
        outputs.filter(move |variable| has_value(variable.variable_type))
    }

    /// Unit of a variable, its own or that of its declared type.
    pub fn unit_of<'a>(&'a self, variable: &'a ScalarVariable) -> Option<&'a str> {
        variable.unit.as_deref().or_else(|| self.declared_type(variable)?.unit.as_deref())
    }

    /// Units of the declared types, for many variables.
    pub fn type_units(&self) -> HashMap<&str, &str> {
        let units = self.type_definitions.iter().rev();
        units.filter_map(|definition| Some((definition.name.as_str(), definition.unit.as_deref()?))).collect()
    }

    /// The declared type of a variable.
    pub fn declared_type(&self, variable: &ScalarVariable) -> Option<&SimpleType> {
        let name = variable.declared_type.as_ref()?;
        self.type_definitions.iter().find(|definition| &definition.name == name)
    }
}

impl ScalarVariable {
    /// FMI initial, with the default of the standard where the file does not say.
    pub fn effective_initial(&self) -> Option<Initial> {
        use Causality as C;
        use Variability as V;
        self.initial.or(match (self.causality, self.variability) {
            (C::Input | C::Independent, _) => None,
            (C::Parameter, _) | (_, V::Constant) => Some(Initial::Exact),
            _ => Some(Initial::Calculated),
        })
    }
}

impl ScalarVariable {
    /// Name of its type in the version of FMI that its FMU is of.
    pub fn type_name(&self) -> String {
        self.element.map_or_else(|| self.variable_type.to_string(), |element| element.fmi3_type.to_owned())
    }
}

impl std::fmt::Display for VariableType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

impl std::fmt::Display for Causality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Causality::Parameter => "parameter",
            Causality::CalculatedParameter => "calculatedParameter",
            Causality::Input => "input",
            Causality::Output => "output",
            Causality::Local => "local",
            Causality::Independent => "independent",
        })
    }
}

/// Reals in the shortest form that reads back to the same number.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::String(value) => f.write_str(value),
        }
    }
}
