//! Reads the `modelDescription.xml` of any FMI 2.0 or 3.0 FMU.
//!
//! Elements and attributes that the crate has no use for are passed over; entities other than the five of XML
//! are refused, never expanded.

use super::read3::Variable3;
use super::{
    BaseUnit, Causality, CoSimulation, DefaultExperiment, EnumerationItem, Fmi3Capabilities, Initial,
    LogCategory, ModelDescription, ModelExchange, ScalarVariable, SimpleType, UnitDefinition, Unknown, Value,
    Variability, VariableType,
};
use crate::fmi_version::FmiVersion;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::borrow::Cow;
use std::str::FromStr;
use thiserror::Error;

/// What is wrong with a `modelDescription.xml`, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("modelDescription.xml, line {line}: {message}")]
pub struct DescriptionError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Most elements within one another, and attributes of one: the schema of FMI 2.0 needs far fewer.
const MAX_DEPTH: usize = 100;
const MAX_ATTRIBUTES: usize = 100;

/// Reads the file's contents.
pub fn read(bytes: &[u8]) -> Result<ModelDescription, DescriptionError> {
    let text = decode(bytes)?;
    if let Some(at) = text.find(is_forbidden) {
        let message = "not well-formed XML: it has a control character".to_owned();
        return Err(DescriptionError { line: line_of(&text, at), message });
    }
    let mut reader = Reader::from_str(&text);
    let mut document = Document::default();
    loop {
        let start = position(reader.buffer_position());
        let event = reader.read_event().map_err(|error| {
            let at = position(reader.error_position());
            DescriptionError { line: line_of(&text, at), message: format!("not well-formed XML: {error}") }
        })?;
        let end_of_file = matches!(event, Event::Eof);
        document.event(event).map_err(|message| DescriptionError { line: line_of(&text, start), message })?;
        if end_of_file {
            return Ok(document.description);
        }
    }
}

/// FMI asks for UTF-8; some tools write Latin-1 and say so.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, DescriptionError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if declares_latin_1(bytes) => Ok(bytes.iter().copied().map(char::from).collect()),
        Err(error) => Err(DescriptionError {
            line: 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count(),
            message: "not UTF-8 text".to_owned(),
        }),
    }
}

fn declares_latin_1(bytes: &[u8]) -> bool {
    let declaration = bytes.split(|&byte| byte == b'>').next().unwrap_or_default().to_ascii_lowercase();
    declaration.starts_with(b"<?xml") && declaration.windows(10).any(|window| window == b"iso-8859-1")
}

/// Characters that XML 1.0 does not allow; a zero would end a string of C.
fn is_forbidden(character: char) -> bool {
    character < ' ' && !matches!(character, '\t' | '\n' | '\r')
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn line_of(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    // An element is reported where its tag is, not at the white space before it.
    let tag = text[offset..].find('<').map_or(offset, |skipped| {
        if text[offset..offset + skipped].trim().is_empty() { offset + skipped } else { offset }
    });
    1 + text[..tag].matches('\n').count()
}

/// The part of the file read so far and the elements that are open.
#[derive(Default)]
struct Document {
    description: ModelDescription,
    open: Vec<String>,
    root_seen: bool,
    variable: Option<ScalarVariable>,
    variable_has_type: bool,
    /// The variable of FMI 3.0 that is open.
    variable3: Option<Variable3>,
}

impl Document {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(element) => self.start(&element),
            Event::Empty(element) => {
                self.start(&element)?;
                self.end()
            }
            Event::End(_) => self.end(),
            Event::Eof => self.end_of_file(),
            _ => Ok(()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        self.open.push(element.local_name().as_ref().to_owned());
        if self.open.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} elements are within one another"));
        }
        let attributes = Attributes::of(element)?;
        let open: Vec<&str> = self.open.iter().map(String::as_str).collect();
        let Some((&"fmiModelDescription", inner)) = open.split_first() else {
            return Err(format!(
                "the document is <{}>, expected <fmiModelDescription>: is this an FMU?",
                self.open[0]
            ));
        };
        let description = &mut self.description;
        match inner {
            [] => {
                self.root_seen = true;
                root(description, &attributes)?;
            }
            ["CoSimulation"] => {
                description.co_simulation = Some(co_simulation(&attributes, description.fmi_version)?);
            }
            ["ModelExchange"] => description.model_exchange = Some(model_exchange(&attributes)?),
            ["UnitDefinitions", "Unit"] => description
                .unit_definitions
                .push(UnitDefinition { name: attributes.required("name")?, base_unit: None }),
            ["UnitDefinitions", "Unit", "BaseUnit"] => {
                if let Some(unit) = description.unit_definitions.last_mut() {
                    unit.base_unit = Some(base_unit(&attributes)?);
                }
            }
            ["TypeDefinitions", "SimpleType"] => description
                .type_definitions
                .push(SimpleType { name: attributes.required("name")?, ..SimpleType::default() }),
            ["TypeDefinitions", "SimpleType", "Real"] => {
                if let Some(definition) = description.type_definitions.last_mut() {
                    definition.unit = attributes.text("unit");
                }
            }
            ["TypeDefinitions", "SimpleType", "Enumeration", "Item"] => {
                if let Some(definition) = description.type_definitions.last_mut() {
                    let name = attributes.required("name")?;
                    let value = attributes.number("value")?.ok_or("<Item> has no value")?;
                    definition.items.push(EnumerationItem { name, value });
                }
            }
            ["TypeDefinitions", "Float64Type" | "Float32Type" | "EnumerationType"] => {
                let (name, unit) = (attributes.required("name")?, attributes.text("unit"));
                description.type_definitions.push(SimpleType { name, unit, ..SimpleType::default() });
            }
            ["TypeDefinitions", "EnumerationType", "Item"] => {
                if let Some(definition) = description.type_definitions.last_mut() {
                    let name = attributes.required("name")?;
                    let value = attributes.number("value")?.ok_or("<Item> has no value")?;
                    definition.items.push(EnumerationItem { name, value });
                }
            }
            ["LogCategories", "Category"] => description.log_categories.push(LogCategory {
                name: attributes.required("name")?,
                description: attributes.text("description"),
            }),
            ["DefaultExperiment"] => {
                description.default_experiment = DefaultExperiment {
                    start_time: attributes.real("startTime")?,
                    stop_time: attributes.real("stopTime")?,
                    tolerance: attributes.real("tolerance")?,
                    step_size: attributes.real("stepSize")?,
                }
            }
            ["ModelVariables", element] if description.fmi_version == FmiVersion::Three => {
                self.variable3 = Variable3::new(element, scalar_variable(&attributes)?, &attributes)?;
            }
            ["ModelVariables", _, inner] if description.fmi_version == FmiVersion::Three => {
                if let Some(variable) = &mut self.variable3 {
                    variable.inner(inner, &attributes, &description.model_variables)?;
                }
            }
            ["ModelStructure", list @ ("Output" | "ContinuousStateDerivative" | "InitialUnknown")] => {
                let entries = super::read3::unknowns(&attributes, &description.model_variables)?;
                let structure = &mut description.model_structure;
                match *list {
                    "Output" => structure.outputs.extend(entries),
                    "ContinuousStateDerivative" => structure.derivatives.extend(entries),
                    _ => structure.initial_unknowns.extend(entries),
                }
            }
            ["ModelVariables", "ScalarVariable"] => {
                self.variable = Some(scalar_variable(&attributes)?);
                self.variable_has_type = false;
            }
            ["ModelVariables", "ScalarVariable", kind] => {
                if let (Some(kind), Some(variable)) = (variable_type(kind), &mut self.variable) {
                    typed(variable, kind, &attributes)?;
                    self.variable_has_type = true;
                }
            }
            ["ModelStructure", list @ ("Outputs" | "Derivatives" | "InitialUnknowns"), "Unknown"] => {
                let entry = unknown(&attributes, description.model_variables.len())?;
                let structure = &mut description.model_structure;
                match *list {
                    "Outputs" => structure.outputs.push(entry),
                    "Derivatives" => structure.derivatives.push(entry),
                    _ => structure.initial_unknowns.push(entry),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let closed = self.open.pop();
        if self.open.len() == 2
            && let Some(variable) = self.variable3.take()
        {
            variable.expand(&mut self.description.model_variables)?;
            return Ok(());
        }
        if closed.as_deref() == Some("ScalarVariable")
            && self.open.len() == 2
            && let Some(variable) = self.variable.take()
        {
            if !self.variable_has_type {
                return Err(format!(
                    "variable `{}` has no type: expected <Real>, <Integer>, <Boolean>, <String> or <Enumeration>",
                    variable.name
                ));
            }
            self.description.model_variables.push(variable);
        }
        Ok(())
    }

    fn end_of_file(&self) -> Result<(), String> {
        if let Some(element) = self.open.last() {
            return Err(format!("the file ends inside <{element}>"));
        }
        if !self.root_seen {
            return Err("the file has no <fmiModelDescription>".to_owned());
        }
        if self.description.co_simulation.is_none() && self.description.model_exchange.is_none() {
            return Err("neither <CoSimulation> nor <ModelExchange> is there".to_owned());
        }
        Ok(())
    }
}

fn root(description: &mut ModelDescription, attributes: &Attributes) -> Result<(), String> {
    let version = attributes.required("fmiVersion")?;
    let identity;
    (description.fmi_version, identity) = match version.trim() {
        "2.0" => (FmiVersion::Two, "guid"),
        "3.0" => (FmiVersion::Three, "instantiationToken"),
        text if text.starts_with("3.0.") || text.starts_with("3.0-") => {
            (FmiVersion::Three, "instantiationToken")
        }
        _ => return Err(format!("FMI version {version} is not supported, only 2.0 and 3.0")),
    };
    description.model_name = attributes.required("modelName")?;
    description.guid = attributes.required(identity)?;
    description.description = attributes.text("description");
    description.author = attributes.text("author");
    description.version = attributes.text("version");
    description.copyright = attributes.text("copyright");
    description.license = attributes.text("license");
    description.generation_tool = attributes.text("generationTool");
    description.generation_date_and_time = attributes.text("generationDateAndTime");
    description.variable_naming_convention = attributes.text("variableNamingConvention");
    Ok(())
}

fn co_simulation(attributes: &Attributes, version: FmiVersion) -> Result<CoSimulation, String> {
    let fmi3 = match version {
        FmiVersion::Two => None,
        FmiVersion::Three => Some(Fmi3Capabilities {
            has_event_mode: attributes.flag("hasEventMode")?,
            might_return_early_from_do_step: attributes.flag("mightReturnEarlyFromDoStep")?,
            can_return_early_after_intermediate_update: attributes
                .flag("canReturnEarlyAfterIntermediateUpdate")?,
            provides_intermediate_update: attributes.flag("providesIntermediateUpdate")?,
            provides_adjoint_derivatives: attributes.flag("providesAdjointDerivatives")?,
        }),
    };
    Ok(CoSimulation {
        fmi3,
        model_identifier: attributes.required("modelIdentifier")?,
        needs_execution_tool: attributes.flag("needsExecutionTool")?,
        can_handle_variable_communication_step_size: attributes
            .flag("canHandleVariableCommunicationStepSize")?,
        can_interpolate_inputs: attributes.flag("canInterpolateInputs")?,
        max_output_derivative_order: attributes.number("maxOutputDerivativeOrder")?.unwrap_or(0),
        can_run_asynchronuously: attributes.flag("canRunAsynchronuously")?,
        can_be_instantiated_only_once_per_process: attributes.flag("canBeInstantiatedOnlyOncePerProcess")?,
        can_not_use_memory_management_functions: attributes.flag("canNotUseMemoryManagementFunctions")?,
        can_get_and_set_fmu_state: attributes.flag_of(["canGetAndSetFMUstate", "canGetAndSetFMUState"])?,
        can_serialize_fmu_state: attributes.flag_of(["canSerializeFMUstate", "canSerializeFMUState"])?,
        provides_directional_derivative: attributes
            .flag_of(["providesDirectionalDerivative", "providesDirectionalDerivatives"])?,
    })
}

fn model_exchange(attributes: &Attributes) -> Result<ModelExchange, String> {
    Ok(ModelExchange {
        model_identifier: attributes.required("modelIdentifier")?,
        needs_execution_tool: attributes.flag("needsExecutionTool")?,
        completed_integrator_step_not_needed: attributes.flag("completedIntegratorStepNotNeeded")?,
        can_be_instantiated_only_once_per_process: attributes.flag("canBeInstantiatedOnlyOncePerProcess")?,
        can_not_use_memory_management_functions: attributes.flag("canNotUseMemoryManagementFunctions")?,
        can_get_and_set_fmu_state: attributes.flag_of(["canGetAndSetFMUstate", "canGetAndSetFMUState"])?,
        can_serialize_fmu_state: attributes.flag_of(["canSerializeFMUstate", "canSerializeFMUState"])?,
        provides_directional_derivative: attributes
            .flag_of(["providesDirectionalDerivative", "providesDirectionalDerivatives"])?,
    })
}

fn base_unit(attributes: &Attributes) -> Result<BaseUnit, String> {
    let exponent = |name| attributes.number(name).map(|value| value.unwrap_or(0));
    Ok(BaseUnit {
        kg: exponent("kg")?,
        m: exponent("m")?,
        s: exponent("s")?,
        a: exponent("A")?,
        k: exponent("K")?,
        mol: exponent("mol")?,
        cd: exponent("cd")?,
        rad: exponent("rad")?,
        factor: attributes.real("factor")?.unwrap_or(1.0),
        offset: attributes.real("offset")?.unwrap_or(0.0),
    })
}

/// The attributes that do not depend on the type.
fn scalar_variable(attributes: &Attributes) -> Result<ScalarVariable, String> {
    let causality = attributes.choice(
        "causality",
        &[
            ("parameter", Causality::Parameter),
            ("calculatedParameter", Causality::CalculatedParameter),
            ("input", Causality::Input),
            ("output", Causality::Output),
            ("local", Causality::Local),
            ("independent", Causality::Independent),
            ("structuralParameter", Causality::Parameter),
        ],
    )?;
    let variability = attributes.choice(
        "variability",
        &[
            ("constant", Variability::Constant),
            ("fixed", Variability::Fixed),
            ("tunable", Variability::Tunable),
            ("discrete", Variability::Discrete),
            ("continuous", Variability::Continuous),
        ],
    )?;
    let initial = attributes.choice(
        "initial",
        &[("exact", Initial::Exact), ("approx", Initial::Approx), ("calculated", Initial::Calculated)],
    )?;
    Ok(ScalarVariable {
        name: attributes.required("name")?,
        value_reference: attributes
            .number("valueReference")?
            .ok_or_else(|| format!("<{}> has no valueReference", attributes.element))?,
        description: attributes.text("description"),
        causality: causality.unwrap_or(Causality::Local),
        variability: variability.unwrap_or(Variability::Continuous),
        initial,
        variable_type: VariableType::Real,
        declared_type: None,
        quantity: None,
        unit: None,
        min: None,
        max: None,
        start: None,
        element: None,
    })
}

fn variable_type(element: &str) -> Option<VariableType> {
    Some(match element {
        "Real" => VariableType::Real,
        "Integer" => VariableType::Integer,
        "Boolean" => VariableType::Boolean,
        "String" => VariableType::String,
        "Enumeration" => VariableType::Enumeration,
        _ => return None,
    })
}

/// Adds what the element of the type says.
fn typed(variable: &mut ScalarVariable, kind: VariableType, attributes: &Attributes) -> Result<(), String> {
    variable.variable_type = kind;
    variable.declared_type = attributes.text("declaredType");
    variable.quantity = attributes.text("quantity");
    variable.unit = attributes.text("unit");
    variable.min = attributes.real("min")?;
    variable.max = attributes.real("max")?;
    variable.start = match kind {
        VariableType::Real => attributes.real("start")?.map(Value::Real),
        VariableType::Integer | VariableType::Enumeration => {
            attributes.number::<i32>("start")?.map(|start| Value::Integer(start.into()))
        }
        VariableType::Boolean => attributes.boolean("start")?.map(Value::Boolean),
        VariableType::String => attributes.text("start").map(Value::String),
        VariableType::Binary | VariableType::Clock => None,
    };
    Ok(())
}

fn unknown(attributes: &Attributes, variables: usize) -> Result<Unknown, String> {
    let index: u32 = attributes.number("index")?.ok_or("<Unknown> has no index")?;
    let dependencies = match attributes.text("dependencies") {
        Some(list) => Some(
            list.split_whitespace()
                .map(|item| {
                    item.parse().map_err(|_| format!("dependencies=\"{list}\" is not a list of indices"))
                })
                .collect::<Result<Vec<u32>, _>>()?,
        ),
        None => None,
    };
    for &index in dependencies.iter().flatten().chain([&index]) {
        if index == 0 || index as usize > variables {
            return Err(format!("index {index} names no variable: there are {variables}, counted from 1"));
        }
    }
    Ok(Unknown { index, dependencies })
}

/// The attributes of one element, unescaped.
pub(super) struct Attributes {
    element: String,
    values: Vec<(String, String)>,
}

impl Attributes {
    fn of(element: &BytesStart<'_>) -> Result<Attributes, String> {
        let name = element.local_name().as_ref().to_owned();
        let mut values = Vec::new();
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|error| format!("<{name}>: {error}"))?;
            if values.len() == MAX_ATTRIBUTES {
                return Err(format!("<{name}> has more than {MAX_ATTRIBUTES} attributes"));
            }
            let key = attribute.key.as_ref().to_owned();
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| format!("<{name}>, attribute {key}: {error}"))?;
            if value.contains(is_forbidden) {
                return Err(format!("<{name}>, attribute {key}: it has a control character"));
            }
            values.push((key, value.into_owned()));
        }
        Ok(Attributes { element: name, values })
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    pub(super) fn required(&self, name: &str) -> Result<String, String> {
        self.text(name).ok_or_else(|| format!("<{}> has no {name}", self.element))
    }

    fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match parse(text.trim()) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("<{}>: {name}=\"{text}\" is not {expected}", self.element)),
        }
    }

    pub(super) fn real(&self, name: &str) -> Result<Option<f64>, String> {
        self.parsed(name, "a number", |text| text.parse().ok())
    }

    pub(super) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        self.parsed(name, "a whole number of the allowed range", |text| text.parse().ok())
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, String> {
        self.parsed(name, "true or false", |text| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        })
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.boolean(name)?.unwrap_or(false))
    }

    /// A flag that has another name in FMI 3.0.
    fn flag_of(&self, names: [&str; 2]) -> Result<bool, String> {
        Ok(self.flag(names[0])? || self.flag(names[1])?)
    }

    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, String> {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        self.parsed(name, &format!("one of {}", names.join(", ")), |text| {
            choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice)
        })
    }
}
