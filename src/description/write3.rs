//! Writes the `modelDescription.xml` of FMI 3.0 from a model and its variable table with the rows of events.

use super::write::{
    GENERATION_TOOL, Knowns, Xml, causality, default_experiment, initial, integer, legal, log_categories,
    real, to_text, unit_definitions, variability,
};
use crate::model::Model;
use crate::variables::{Array, Causality, Initial, Kind, Slot, Unit, Variable, arrays};
use std::collections::BTreeSet;
use std::io;

/// Name of the type of contact states, and its items in the order of their numbers.
const CONTACT_STATE: (&str, [(&str, &str); 3]) = (
    "ContactState",
    [
        ("open", "No contact force"),
        ("stick", "Pressed, and friction holds"),
        ("slip", "Pressed, and sliding"),
    ],
);

/// The file's contents. `variables` is the table of `model` with the rows of events.
pub fn write(model: &Model, variables: &[Variable], token: &str) -> String {
    to_text(|xml| document(xml, model, variables, token))
}

fn document(xml: &mut Xml, model: &Model, variables: &[Variable], token: &str) -> io::Result<()> {
    xml.create_element("fmiModelDescription")
        .with_attribute(("fmiVersion", "3.0"))
        .with_attribute(("modelName", model.name.as_str()))
        .with_attribute(("instantiationToken", token))
        .with_attribute(("description", legal(&model.description).as_str()))
        .with_attribute(("generationTool", GENERATION_TOOL))
        .with_attribute(("variableNamingConvention", "structured"))
        .write_inner_content(|xml| {
            if model.can_be_sampled() {
                xml.create_element("ModelExchange")
                    .with_attribute(("modelIdentifier", model.name.as_str()))
                    .with_attributes(CAPABILITIES)
                    .with_attribute(("needsCompletedIntegratorStep", "false"))
                    .write_empty()?;
            }
            xml.create_element("CoSimulation")
                .with_attribute(("modelIdentifier", model.name.as_str()))
                .with_attributes(CAPABILITIES)
                .with_attributes([
                    ("canHandleVariableCommunicationStepSize", "true"),
                    ("maxOutputDerivativeOrder", "0"),
                    ("providesIntermediateUpdate", "true"),
                    ("mightReturnEarlyFromDoStep", "true"),
                    ("canReturnEarlyAfterIntermediateUpdate", "true"),
                    ("hasEventMode", "true"),
                ])
                .write_empty()?;
            unit_definitions(xml, variables.iter())?;
            type_definitions(xml, variables)?;
            log_categories(xml)?;
            default_experiment(xml, model)?;
            let arrays = arrays(variables);
            xml.create_element("ModelVariables").write_inner_content(|xml| {
                arrays.iter().try_for_each(|array| variable(xml, variables, array))
            })?;
            model_structure(xml, model, variables, &arrays)
        })?;
    Ok(())
}

/// Capabilities of both interfaces.
const CAPABILITIES: [(&str, &str); 6] = [
    ("needsExecutionTool", "false"),
    ("canBeInstantiatedOnlyOncePerProcess", "false"),
    ("canGetAndSetFMUState", "true"),
    ("canSerializeFMUState", "true"),
    ("providesDirectionalDerivatives", "true"),
    ("providesAdjointDerivatives", "true"),
];

/// Types of the quantities and of contact states. Types tell quantities and units, because the `fmi` crate refuses
/// these attributes at a variable.
fn type_definitions(xml: &mut Xml, variables: &[Variable]) -> io::Result<()> {
    let units = variables.iter().filter_map(|variable| match variable.kind {
        Kind::Real(unit) => Some((type_of(unit), unit.name(), unit.quantity())),
        _ => None,
    });
    let units: BTreeSet<_> = units.collect();
    let has_states = variables.iter().any(|variable| variable.slot.is_contact_state());
    xml.create_element("TypeDefinitions").write_inner_content(|xml| {
        for (name, unit, quantity) in units {
            let mut element = xml.create_element("Float64Type").with_attribute(("name", name));
            if let Some(quantity) = quantity {
                element = element.with_attribute(("quantity", quantity));
            }
            element.with_attribute(("unit", unit)).write_empty()?;
        }
        if has_states {
            contact_state(xml)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Name of the type of what has this unit.
fn type_of(unit: Unit) -> &'static str {
    unit.quantity().unwrap_or("Number")
}

fn contact_state(xml: &mut Xml) -> io::Result<()> {
    let (name, items) = CONTACT_STATE;
    xml.create_element("EnumerationType").with_attribute(("name", name)).write_inner_content(|xml| {
        for (value, (name, description)) in items.into_iter().enumerate() {
            xml.create_element("Item")
                .with_attribute(("name", name))
                .with_attribute(("value", value.to_string().as_str()))
                .with_attribute(("description", description))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn variable(xml: &mut Xml, variables: &[Variable], array: &Array) -> io::Result<()> {
    let head = array.head();
    let (element, number): (_, fn(f64) -> String) = match head.kind {
        Kind::Real(_) => ("Float64", real),
        Kind::Integer if head.slot.is_contact_state() => ("Enumeration", integer),
        Kind::Integer => ("Int32", integer),
        Kind::Clock => ("Clock", integer),
    };
    let mut element = xml
        .create_element(element)
        .with_attribute(("name", array.name.as_ref()))
        .with_attribute(("valueReference", array.first.to_string().as_str()))
        .with_attribute(("description", array.description().as_ref()))
        .with_attribute(("causality", causality(head.causality)))
        .with_attribute(("variability", variability(head.variability)));
    if head.kind == Kind::Clock {
        element.with_attribute(("intervalVariability", "triggered")).write_empty()?;
        return Ok(());
    }
    if let Some(contact) = head.slot.clock() {
        let clock = variables.iter().position(|variable| variable.slot == Slot::ImpactClock { contact });
        let clock = clock.expect("clocked variables have their clock");
        element = element.with_attribute(("clocks", clock.to_string().as_str()));
    }
    if let Some(given) = head.initial {
        element = element.with_attribute(("initial", initial(given)));
    }
    match head.kind {
        Kind::Real(unit) => element = element.with_attribute(("declaredType", type_of(unit))),
        _ if head.slot.is_contact_state() => {
            element = element.with_attribute(("declaredType", CONTACT_STATE.0));
        }
        _ => {}
    }
    for (name, value) in [("min", head.range.min), ("max", head.range.max)] {
        if let Some(value) = value {
            element = element.with_attribute((name, number(value).as_str()));
        }
    }
    let starts: Vec<String> = array.rows().filter_map(|row| row.start).map(number).collect();
    if !starts.is_empty() {
        element = element.with_attribute(("start", starts.join(" ").as_str()));
    }
    if array.dimensions.is_empty() {
        element.write_empty()?;
        return Ok(());
    }
    element.write_inner_content(|xml| {
        for size in &array.dimensions {
            let size = size.to_string();
            xml.create_element("Dimension").with_attribute(("start", size.as_str())).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn model_structure(xml: &mut Xml, model: &Model, variables: &[Variable], arrays: &[Array]) -> io::Result<()> {
    let (system, _) = model.assemble();
    let knowns = Knowns::of(variables, &system);
    // Of each row, the value reference of its array.
    let mut references = vec![0; variables.len()];
    for array in arrays {
        array.positions.iter().for_each(|&position| references[position] = array.first);
    }
    let outputs = || arrays.iter().filter(|array| array.head().causality == Causality::Output);
    xml.create_element("ModelStructure").write_inner_content(|xml| {
        for array in outputs() {
            unknown(xml, "Output", &references, array, knowns.at_once(array.head()))?;
        }
        for array in outputs() {
            let head = array.head();
            let is_clocked = head.slot.clock().is_some();
            if head.initial == Some(Initial::Calculated) && !is_clocked {
                let dependencies = knowns.of_start(head, &system);
                unknown(xml, "InitialUnknown", &references, array, dependencies.as_deref())?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn unknown(
    xml: &mut Xml,
    element: &str,
    references: &[usize],
    array: &Array,
    dependencies: Option<&[usize]>,
) -> io::Result<()> {
    let mut element =
        xml.create_element(element).with_attribute(("valueReference", array.first.to_string().as_str()));
    if let Some(dependencies) = dependencies {
        let mut list: Vec<usize> = dependencies.iter().map(|&position| references[position]).collect();
        list.sort_unstable();
        list.dedup();
        let list: Vec<String> = list.iter().map(usize::to_string).collect();
        element = element.with_attribute(("dependencies", list.join(" ").as_str()));
    }
    element.write_empty()?;
    Ok(())
}
