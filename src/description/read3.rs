//! Variables of FMI 3.0, whose arrays become scalars.

use super::read::Attributes;
use super::{Causality, Element, ScalarVariable, Unknown, Value, Variability, VariableType};

/// Most values that an array may have, so that a description cannot ask for all memory.
const MOST_ELEMENTS: u64 = 10_000_000;

/// A variable whose dimensions are yet to be read.
pub(super) struct Variable3 {
    scalar: ScalarVariable,
    type_name: &'static str,
    start: Vec<String>,
    dimensions: Vec<u64>,
}

/// Names of the types, and what they are here.
const TYPES: [(&str, VariableType); 15] = [
    ("Float64", VariableType::Real),
    ("Float32", VariableType::Real),
    ("Int8", VariableType::Integer),
    ("UInt8", VariableType::Integer),
    ("Int16", VariableType::Integer),
    ("UInt16", VariableType::Integer),
    ("Int32", VariableType::Integer),
    ("UInt32", VariableType::Integer),
    ("Int64", VariableType::Integer),
    ("UInt64", VariableType::Integer),
    ("Boolean", VariableType::Boolean),
    ("String", VariableType::String),
    ("Enumeration", VariableType::Enumeration),
    ("Binary", VariableType::Binary),
    ("Clock", VariableType::Clock),
];

impl Variable3 {
    /// From the element of a variable; none where it is no variable.
    pub(super) fn new(
        element: &str,
        scalar: ScalarVariable,
        attributes: &Attributes,
    ) -> Result<Option<Variable3>, String> {
        let Some(&(type_name, variable_type)) = TYPES.iter().find(|(name, _)| *name == element) else {
            return Ok(None);
        };
        let mut scalar = ScalarVariable {
            variable_type,
            declared_type: attributes.text("declaredType"),
            quantity: attributes.text("quantity"),
            unit: attributes.text("unit"),
            ..scalar
        };
        if variable_type != VariableType::String {
            (scalar.min, scalar.max) = (attributes.real("min")?, attributes.real("max")?);
        }
        // What is not a real changes at events only, unless the file says something else.
        if attributes.get("variability").is_none() && variable_type != VariableType::Real {
            scalar.variability = Variability::Discrete;
        }
        if matches!(scalar.causality, Causality::Parameter) && attributes.get("variability").is_none() {
            scalar.variability = Variability::Fixed;
        }
        let start = attributes.get("start").map(|text| text.split_whitespace().map(str::to_owned).collect());
        let start = start.unwrap_or_default();
        Ok(Some(Variable3 { scalar, type_name, start, dimensions: Vec::new() }))
    }

    /// Takes an element within that of the variable.
    pub(super) fn inner(
        &mut self,
        element: &str,
        attributes: &Attributes,
        known: &[ScalarVariable],
    ) -> Result<(), String> {
        match element {
            "Dimension" => {
                let fixed = attributes.number::<u64>("start")?;
                let by_variable = |reference: u32| {
                    let variable = known.iter().find(|variable| variable.value_reference == reference)?;
                    match variable.start {
                        Some(Value::Integer(size)) => u64::try_from(size).ok(),
                        _ => None,
                    }
                };
                let size = match fixed {
                    Some(size) => Some(size),
                    None => attributes.number("valueReference")?.and_then(by_variable),
                };
                let size =
                    size.ok_or_else(|| format!("`{}` has a dimension of unknown size", self.scalar.name))?;
                self.dimensions.push(size);
            }
            "Start" if self.scalar.variable_type == VariableType::String => {
                self.start.push(attributes.required("value")?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds its scalars to the list.
    pub(super) fn expand(self, variables: &mut Vec<ScalarVariable>) -> Result<(), String> {
        let Variable3 { scalar, type_name, start, dimensions } = self;
        let count = dimensions.iter().try_fold(1_u64, |count, &size| count.checked_mul(size));
        let count = count
            .filter(|&count| count <= MOST_ELEMENTS)
            .ok_or_else(|| format!("`{}` has more than {MOST_ELEMENTS} values", scalar.name))?;
        for index in 0..count {
            let text = start.get(index as usize).or(if start.len() == 1 { start.first() } else { None });
            let value = text.map(|text| value(&scalar, text)).transpose()?;
            variables.push(ScalarVariable {
                name: format!("{}{}", scalar.name, subscript(index, &dimensions)),
                start: value,
                element: Some(Element {
                    fmi3_type: type_name,
                    element: index as u32,
                    elements: count as u32,
                }),
                ..scalar.clone()
            });
        }
        Ok(())
    }
}

/// `[1,2]` for the second value of a matrix; nothing for a scalar.
fn subscript(mut index: u64, dimensions: &[u64]) -> String {
    if dimensions.is_empty() {
        return String::new();
    }
    let mut numbers = Vec::new();
    for &size in dimensions.iter().rev() {
        numbers.push((index % size + 1).to_string());
        index /= size;
    }
    numbers.reverse();
    format!("[{}]", numbers.join(","))
}

fn value(scalar: &ScalarVariable, text: &str) -> Result<Value, String> {
    let wrong = || format!("start=\"{text}\" of `{}` is not a value of its type", scalar.name);
    Ok(match scalar.variable_type {
        VariableType::Real => Value::Real(text.parse().map_err(|_| wrong())?),
        VariableType::Integer | VariableType::Enumeration => {
            Value::Integer(text.parse().map_err(|_| wrong())?)
        }
        VariableType::Boolean => match text {
            "true" | "1" => Value::Boolean(true),
            "false" | "0" => Value::Boolean(false),
            _ => return Err(wrong()),
        },
        VariableType::String | VariableType::Binary | VariableType::Clock => Value::String(text.to_owned()),
    })
}

/// Entries of the model structure, which names variables by their references.
pub(super) fn unknowns(
    attributes: &Attributes,
    variables: &[ScalarVariable],
) -> Result<Vec<Unknown>, String> {
    let reference: u32 = attributes.number("valueReference")?.ok_or("an unknown has no valueReference")?;
    let indices = |reference: u32| -> Result<Vec<u32>, String> {
        let found: Vec<u32> = (1..)
            .zip(variables)
            .filter(|(_, variable)| variable.value_reference == reference)
            .map(|(index, _)| index)
            .collect();
        if found.is_empty() {
            return Err(format!("valueReference {reference} names no variable"));
        }
        Ok(found)
    };
    let dependencies = match attributes.get("dependencies") {
        None => None,
        Some(list) => {
            let mut all = Vec::new();
            for item in list.split_whitespace() {
                let reference = item
                    .parse()
                    .map_err(|_| format!("dependencies=\"{list}\" is not a list of references"))?;
                all.extend(indices(reference)?);
            }
            Some(all)
        }
    };
    let entries = indices(reference)?.into_iter();
    Ok(entries.map(|index| Unknown { index, dependencies: dependencies.clone() }).collect())
}
