//! Writes `terminalsAndIcons/terminalsAndIcons.xml`: one terminal for each body that exchanges motion and force with its
//! master, so that tools connect it in one stroke. The format is that of FMI 3.0, in FMUs of FMI 2.0 too.

use super::write::{Xml, to_text};
use crate::fmi_version::FmiVersion;
use crate::model::Model;
use crate::variables::{Array, Variable, arrays};
use std::io;

/// Kind of the terminals: tools connect those of one kind.
const KIND: &str = "io.github.contact-fmu.body";

/// What belongs to the terminal of a body, by the end of its name.
const MEMBERS: [&str; 12] =
    ["r", "v", "q", "w", "f", "t", "f_ext", "t_ext", "f_applied", "t_applied", "impulse", "angular_impulse"];

/// The file's contents; none where no body has a terminal.
pub fn write(model: &Model, variables: &[Variable], version: FmiVersion) -> Option<String> {
    let shown = match version {
        FmiVersion::Two => variables.iter().map(|variable| variable.name.clone()).collect(),
        // Terminals have whole variables, and those of several bodies are not of one.
        FmiVersion::Three => names(arrays(variables).into_iter().filter(|array| !array.is_over_bodies())),
    };
    let terminals: Vec<(&str, Vec<Member>)> = model
        .body_names()
        .map(|name| (name, members(name, &shown)))
        .filter(|(_, members)| !members.is_empty())
        .collect();
    (!terminals.is_empty()).then(|| to_text(|xml| document(xml, &terminals)))
}

fn names<'a>(arrays: impl Iterator<Item = Array<'a>>) -> Vec<String> {
    arrays.map(|array| array.name.into_owned()).collect()
}

struct Member {
    variable: String,
    name: String,
}

/// Variables of a body; their names in the terminal are those without the body's.
fn members(body: &str, variables: &[String]) -> Vec<Member> {
    let member = |variable: &String| {
        let name = variable.strip_prefix(body)?.strip_prefix('.')?;
        let whole = name.split('[').next()?;
        MEMBERS.contains(&whole).then(|| Member { variable: variable.clone(), name: name.to_owned() })
    };
    variables.iter().filter_map(member).collect()
}

fn document(xml: &mut Xml, terminals: &[(&str, Vec<Member>)]) -> io::Result<()> {
    xml.create_element("fmiTerminalsAndIcons").with_attribute(("fmiVersion", "3.0")).write_inner_content(
        |xml| {
            xml.create_element("Terminals").write_inner_content(|xml| {
                terminals.iter().try_for_each(|(name, members)| terminal(xml, name, members))
            })?;
            Ok(())
        },
    )?;
    Ok(())
}

fn terminal(xml: &mut Xml, name: &str, members: &[Member]) -> io::Result<()> {
    xml.create_element("Terminal")
        .with_attribute(("name", name))
        .with_attribute(("matchingRule", "plug"))
        .with_attribute(("terminalKind", KIND))
        .with_attribute(("description", format!("Motion of {name} and the forces on it").as_str()))
        .write_inner_content(|xml| {
            for Member { variable, name } in members {
                xml.create_element("TerminalMemberVariable")
                    .with_attribute(("variableName", variable.as_str()))
                    .with_attribute(("memberName", name.as_str()))
                    .with_attribute(("variableKind", "signal"))
                    .write_empty()?;
            }
            Ok(())
        })?;
    Ok(())
}
