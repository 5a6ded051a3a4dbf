//! Which outputs go to which inputs.
//!
//! An input is connected to the output of the same name of another FMU, if there is exactly one, both have the same
//! type and their units do not differ. Connections that the user asks for come first, whatever the names. What is left
//! may become a connector of the system: under its own name, or `COMPONENT.NAME` where FMUs share that name, with `_` for
//! dots and brackets, which OMSimulator refuses there. libcosim and ecos read no system with such connectors.

use super::units::base_unit;
use super::{Component, SspError};
use crate::description::{Causality, ScalarVariable};
use std::collections::{BTreeMap, BTreeSet};

/// Connections of the system and its own connectors.
pub struct Wiring<'a> {
    /// From output to input, in the order of inputs.
    pub inner: Vec<(Port<'a>, Port<'a>)>,
    /// Connectors of the system: their names and what they stand for.
    pub outer: Vec<(String, Port<'a>)>,
    /// Inputs that were left open although outputs of their name exist, and why; starts that do not agree.
    pub notes: Vec<String>,
}

/// A connector of a component.
#[derive(Clone, Copy)]
pub struct Port<'a> {
    /// The component.
    pub component: &'a Component,
    /// Its variable.
    pub variable: &'a ScalarVariable,
}

impl Port<'_> {
    /// Whether values go in here.
    pub fn is_input(&self) -> bool {
        self.variable.causality == Causality::Input
    }

    fn name(&self) -> String {
        format!("{}.{}", self.component.name, self.variable.name)
    }

    fn is(&self, other: &Port) -> bool {
        std::ptr::eq(self.variable, other.variable)
    }

    /// Why an input cannot take what this output gives.
    fn fault(&self, input: &Port) -> Option<String> {
        let types = [self, input].map(|port| port.variable.variable_type);
        if types[0] != types[1] {
            return Some(format!("one is {}, the other {}", types[0], types[1]));
        }
        let units = [self, input].map(|port| base_unit(port.component, port.variable));
        match units {
            [Some((one, base)), Some((other, other_base))] if base != other_base => {
                Some(format!("one is in {one}, the other in {other}"))
            }
            _ => None,
        }
    }
}

impl<'a> Wiring<'a> {
    /// Connects components by names and as `asked`; where the system is `open`, what is left becomes its connectors.
    pub fn new(components: &'a [Component], asked: &[String], open: bool) -> Result<Wiring<'a>, SspError> {
        let inputs = ports(components, Causality::Input);
        let outputs = ports(components, Causality::Output);
        let asked = asked_connections(&inputs, &outputs, asked)?;
        let mut wiring = Wiring { inner: Vec::new(), outer: Vec::new(), notes: Vec::new() };
        for input in &inputs {
            let chosen = asked.iter().find(|(_, end)| end.is(input)).map(|(start, _)| *start);
            let source = chosen.or_else(|| wiring.by_name(input, &outputs));
            wiring.inner.extend(source.map(|start| (start, *input)));
        }
        let jumps = wiring.inner.iter().filter_map(|(output, input)| jump(output, input));
        wiring.notes.extend(jumps.collect::<Vec<_>>());
        if !open {
            return Ok(wiring);
        }
        let left: Vec<Port> = inputs
            .iter()
            .filter(|input| !wiring.inner.iter().any(|(_, end)| end.is(input)))
            .chain(outputs.iter().filter(|output| !wiring.inner.iter().any(|(start, _)| start.is(output))))
            .copied()
            .collect();
        wiring.outer = named(&left);
        Ok(wiring)
    }

    /// Whether a variable is told to be a connector of its component: FMPy reads no system in which an input is left
    /// open.
    pub fn shows(&self, variable: &ScalarVariable) -> bool {
        let is = |port: &Port| std::ptr::eq(port.variable, variable);
        variable.causality != Causality::Input
            || self.inner.iter().any(|(_, end)| is(end))
            || self.outer.iter().any(|(_, port)| is(port))
    }

    /// The output that an input is connected to by its name.
    fn by_name(&mut self, input: &Port<'a>, outputs: &[Port<'a>]) -> Option<Port<'a>> {
        let others: Vec<&Port> = outputs
            .iter()
            .filter(|output| !std::ptr::eq(output.component, input.component))
            .filter(|output| output.variable.name == input.variable.name)
            .collect();
        let reason = match others.as_slice() {
            [] => return None,
            [output] => match output.fault(input) {
                None => return Some(**output),
                Some(fault) => format!("of {}: {fault}", output.name()),
            },
            several => {
                let names: Vec<String> = several.iter().map(|output| output.name()).collect();
                format!("because there are several outputs of its name: {}", names.join(", "))
            }
        };
        self.notes.push(format!("input {} is not connected {reason}", input.name()));
        None
    }
}

/// Tells that an input starts elsewhere than the output that it is connected to, as far as the FMUs say.
fn jump(output: &Port, input: &Port) -> Option<String> {
    let [from, to] = [output, input].map(|port| port.variable.start.as_ref());
    let (from, to) = (from?, to?);
    (from != to).then(|| {
        format!(
            "input {} starts at {to}, but {}, to which it is connected, at {from}",
            input.name(),
            output.name()
        )
    })
}

fn ports(components: &[Component], causality: Causality) -> Vec<Port<'_>> {
    let of =
        |component| Component::with(component, causality).map(move |variable| Port { component, variable });
    components.iter().flat_map(of).collect()
}

/// Reads `COMPONENT.OUTPUT=COMPONENT.INPUT`.
fn asked_connections<'a>(
    inputs: &[Port<'a>],
    outputs: &[Port<'a>],
    asked: &[String],
) -> Result<Vec<(Port<'a>, Port<'a>)>, SspError> {
    let mut found: Vec<(Port, Port)> = Vec::new();
    for text in asked {
        let (start, end) =
            text.split_once('=').ok_or_else(|| SspError::NotAConnection { asked: text.clone() })?;
        let start = find(outputs, start.trim(), "output")?;
        let end = find(inputs, end.trim(), "input")?;
        if let Some(reason) = start.fault(&end) {
            return Err(SspError::Incompatible { start: start.name(), end: end.name(), reason });
        }
        if found.iter().any(|(_, known)| known.is(&end)) {
            return Err(SspError::Twice { end: end.name() });
        }
        found.push((start, end));
    }
    Ok(found)
}

fn find<'a>(ports: &[Port<'a>], name: &str, kind: &'static str) -> Result<Port<'a>, SspError> {
    ports.iter().find(|port| port.name() == name).copied().ok_or_else(|| {
        let distance = |port: &Port| strsim::damerau_levenshtein(&port.name(), name);
        let nearest = ports.iter().min_by_key(|port| distance(port));
        let hint = nearest.map_or_else(String::new, |port| format!(", the nearest is `{}`", port.name()));
        SspError::NoConnector { kind, asked: name.to_owned(), hint }
    })
}

/// Names of connectors of the system, each once.
fn named<'a>(ports: &[Port<'a>]) -> Vec<(String, Port<'a>)> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for port in ports {
        *count.entry(&port.variable.name).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    ports
        .iter()
        .map(|port| {
            let own = port.variable.name.as_str();
            let mut name = plain(&if count[own] == 1 { own.to_owned() } else { port.name() });
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            (name, *port)
        })
        .collect()
}

/// Letters, digits and `_` only: `ball.f_ext[1]` is `ball_f_ext_1`.
fn plain(name: &str) -> String {
    let name = name.trim_end_matches(']');
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}
