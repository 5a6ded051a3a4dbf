//! Writes the `modelDescription.xml` of FMI 2.0 from a model and its variable table.

use crate::engine::System;
use crate::log_categories::LOG_CATEGORIES;
use crate::model::Model;
use crate::variables::{Causality, Dependence, Initial, Kind, Slot, Unit, Variability, Variable, islands};
use quick_xml::events::{BytesDecl, Event};
use quick_xml::writer::Writer;
use std::collections::BTreeSet;
use std::io;

/// Name and version of this tool, as the FMU tells where it comes from.
pub const GENERATION_TOOL: &str = concat!("contact-fmu ", env!("CARGO_PKG_VERSION"));

/// Relative tolerance for the integrator of an importer in model exchange: what it leaves grows with each impact.
pub(super) const TOLERANCE: f64 = 1e-10;

/// The file's contents. `variables` is the table of `model`.
pub fn write(model: &Model, variables: &[Variable], guid: &str) -> String {
    to_text(|xml| document(xml, model, variables, guid))
}

/// A whole file.
pub(super) fn to_text(document: impl FnOnce(&mut Xml) -> io::Result<()>) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))
        .and_then(|()| document(&mut xml))
        .expect("writing to memory does not fail");
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("only UTF-8 was written")
}

pub(super) type Xml = Writer<Vec<u8>>;

fn document(xml: &mut Xml, model: &Model, variables: &[Variable], guid: &str) -> io::Result<()> {
    xml.create_element("fmiModelDescription")
        .with_attribute(("fmiVersion", "2.0"))
        .with_attribute(("modelName", model.name.as_str()))
        .with_attribute(("guid", guid))
        .with_attribute(("description", legal(&model.description).as_str()))
        .with_attribute(("generationTool", GENERATION_TOOL))
        .with_attribute(("variableNamingConvention", "structured"))
        .with_attribute(("numberOfEventIndicators", "0"))
        .write_inner_content(|xml| {
            if model.can_be_sampled() {
                model_exchange(xml, &model.name)?;
            }
            co_simulation(xml, &model.name)?;
            unit_definitions(xml, variables.iter().filter(|variable| is_listed(variable)))?;
            log_categories(xml)?;
            default_experiment(xml, model)?;
            xml.create_element("ModelVariables").write_inner_content(|xml| {
                let mut listed = variables.iter().enumerate().filter(|(_, variable)| is_listed(variable));
                listed.try_for_each(|(reference, variable)| scalar_variable(xml, reference, variable))
            })?;
            model_structure(xml, model, variables)
        })?;
    Ok(())
}

/// Whether a variable is told of. FMI 2.0 needs no independent variable, and importers trip over it: libcosim logs an
/// error, OpenModelica declares a variable that hides its own `time`. The others keep their value references.
fn is_listed(variable: &Variable) -> bool {
    variable.causality != Causality::Independent
}

fn model_exchange(xml: &mut Xml, identifier: &str) -> io::Result<()> {
    xml.create_element("ModelExchange")
        .with_attribute(("modelIdentifier", identifier))
        .with_attributes([
            ("needsExecutionTool", "false"),
            ("completedIntegratorStepNotNeeded", "true"),
            ("canBeInstantiatedOnlyOncePerProcess", "false"),
            ("canNotUseMemoryManagementFunctions", "true"),
            ("canGetAndSetFMUstate", "true"),
            ("canSerializeFMUstate", "true"),
            ("providesDirectionalDerivative", "true"),
        ])
        .write_empty()?;
    Ok(())
}

fn co_simulation(xml: &mut Xml, identifier: &str) -> io::Result<()> {
    xml.create_element("CoSimulation")
        .with_attribute(("modelIdentifier", identifier))
        .with_attributes([
            ("needsExecutionTool", "false"),
            ("canHandleVariableCommunicationStepSize", "true"),
            ("canInterpolateInputs", "true"),
            ("maxOutputDerivativeOrder", "0"),
            ("canRunAsynchronuously", "false"),
            ("canBeInstantiatedOnlyOncePerProcess", "false"),
            ("canNotUseMemoryManagementFunctions", "true"),
            ("canGetAndSetFMUstate", "true"),
            ("canSerializeFMUstate", "true"),
            ("providesDirectionalDerivative", "true"),
        ])
        .write_empty()?;
    Ok(())
}

/// Definitions of the units of `variables`.
pub(super) fn unit_definitions<'a>(
    xml: &mut Xml,
    variables: impl Iterator<Item = &'a Variable>,
) -> io::Result<()> {
    let unit = |variable: &Variable| match variable.kind {
        Kind::Real(unit) => Some(unit),
        Kind::Integer | Kind::Clock => None,
    };
    let used: BTreeSet<Unit> = variables.filter_map(unit).collect();
    xml.create_element("UnitDefinitions").write_inner_content(|xml| {
        for unit in used {
            xml.create_element("Unit").with_attribute(("name", unit.name())).write_inner_content(|xml| {
                let base = unit.base();
                let mut element = xml.create_element("BaseUnit");
                for (name, exponent) in [("kg", base.kg), ("m", base.m), ("s", base.s), ("rad", base.rad)] {
                    if exponent != 0 {
                        element = element.with_attribute((name, exponent.to_string().as_str()));
                    }
                }
                element.write_empty()?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

pub(super) fn log_categories(xml: &mut Xml) -> io::Result<()> {
    xml.create_element("LogCategories").write_inner_content(|xml| {
        for &(name, description) in LOG_CATEGORIES {
            xml.create_element("Category")
                .with_attribute(("name", name))
                .with_attribute(("description", description))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

pub(super) fn default_experiment(xml: &mut Xml, model: &Model) -> io::Result<()> {
    let mut experiment = xml
        .create_element("DefaultExperiment")
        .with_attribute(("startTime", real(0.0).as_str()))
        .with_attribute(("stopTime", real(model.experiment.stop).as_str()));
    if model.can_be_sampled() {
        experiment = experiment.with_attribute(("tolerance", real(TOLERANCE).as_str()));
    }
    experiment.with_attribute(("stepSize", real(model.experiment.step).as_str())).write_empty()?;
    Ok(())
}

fn scalar_variable(xml: &mut Xml, reference: usize, variable: &Variable) -> io::Result<()> {
    let mut element = xml
        .create_element("ScalarVariable")
        .with_attribute(("name", variable.name.as_str()))
        .with_attribute(("valueReference", reference.to_string().as_str()))
        .with_attribute(("description", variable.description.as_str()))
        .with_attribute(("causality", causality(variable.causality)))
        .with_attribute(("variability", variability(variable.variability)));
    if let Some(given) = variable.initial {
        element = element.with_attribute(("initial", initial(given)));
    }
    element.write_inner_content(|xml| {
        let number = match variable.kind {
            Kind::Real(_) => real,
            Kind::Integer | Kind::Clock => integer,
        };
        let mut element = match variable.kind {
            Kind::Real(unit) => {
                let mut element = xml.create_element("Real");
                if let Some(quantity) = unit.quantity() {
                    element = element.with_attribute(("quantity", quantity));
                }
                element.with_attribute(("unit", unit.name()))
            }
            Kind::Integer | Kind::Clock => xml.create_element("Integer"),
        };
        let range = variable.range;
        for (name, value) in [("min", range.min), ("max", range.max), ("start", variable.start)] {
            if let Some(value) = value {
                element = element.with_attribute((name, number(value).as_str()));
            }
        }
        element.write_empty()?;
        Ok(())
    })?;
    Ok(())
}

pub(super) fn causality(causality: Causality) -> &'static str {
    match causality {
        Causality::Independent => "independent",
        Causality::Parameter => "parameter",
        Causality::Input => "input",
        Causality::Output => "output",
    }
}

pub(super) fn variability(variability: Variability) -> &'static str {
    match variability {
        Variability::Fixed => "fixed",
        Variability::Tunable => "tunable",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

pub(super) fn initial(initial: Initial) -> &'static str {
    match initial {
        Initial::Exact => "exact",
        Initial::Calculated => "calculated",
    }
}

fn model_structure(xml: &mut Xml, model: &Model, variables: &[Variable]) -> io::Result<()> {
    let (system, _) = model.assemble();
    let knowns = Knowns::of(variables, &system);
    let indices = indices(variables);
    let outputs =
        || variables.iter().enumerate().filter(|(_, variable)| variable.causality == Causality::Output);
    xml.create_element("ModelStructure").write_inner_content(|xml| {
        xml.create_element("Outputs").write_inner_content(|xml| {
            for (position, variable) in outputs() {
                unknown(xml, &indices, position, knowns.at_once(variable))?;
            }
            Ok(())
        })?;
        xml.create_element("InitialUnknowns").write_inner_content(|xml| {
            for (position, variable) in outputs() {
                if variable.initial == Some(Initial::Calculated) {
                    unknown(xml, &indices, position, knowns.of_start(variable, &system).as_deref())?;
                }
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(())
}

/// Inputs of an island up to which its outputs list them. Those of a larger one are said to depend on all inputs,
/// because the lists of all outputs together grow with the square of its size.
const LONGEST_LIST: usize = 100;

/// Positions of the variables that outputs may depend on.
pub(super) struct Knowns {
    /// Inputs, by island.
    inputs: Vec<Vec<usize>>,
    /// Start poses, by body.
    starts: Vec<Vec<usize>>,
    /// What the energy is made of.
    energy: Vec<usize>,
    /// Whether an island has bodies that a master moves.
    is_coupled: Vec<bool>,
}

impl Knowns {
    pub(super) fn of(variables: &[Variable], system: &System) -> Knowns {
        let islands = islands(system);
        let mut knowns = Knowns {
            inputs: vec![Vec::new(); system.islands.len()],
            starts: vec![Vec::new(); system.nodes.len()],
            energy: Vec::new(),
            is_coupled: vec![false; system.islands.len()],
        };
        for coupling in &system.couplings {
            knowns.is_coupled[islands[coupling.node]] = true;
        }
        for (position, variable) in variables.iter().enumerate() {
            let is_input = variable.causality == Causality::Input;
            match variable.slot {
                Slot::ExternalForce { node, .. } | Slot::ExternalTorque { node, .. } => {
                    knowns.inputs[islands[node]].push(position);
                }
                Slot::GivenPosition { coupling, .. } | Slot::GivenOrientation { coupling, .. } => {
                    let node = system.couplings[coupling].node;
                    knowns.inputs[islands[node]].push(position);
                    knowns.starts[node].push(position);
                }
                Slot::GivenVelocity { coupling, .. }
                | Slot::GivenAngularVelocity { coupling, .. }
                | Slot::AppliedForce { coupling, .. }
                | Slot::AppliedTorque { coupling, .. } => {
                    knowns.inputs[islands[system.couplings[coupling].node]].push(position);
                }
                Slot::GivenInverseMass { .. } => {
                    let members = &system.mechanism.as_ref().expect("points of mechanisms").members;
                    knowns.inputs[islands[system.couplings[members[0]].node]].push(position);
                }
                Slot::JointDrive { joint, .. } => {
                    let ends = system.ties.joints[joint].ends.iter();
                    let node = ends.filter_map(|end| end.anchor.node).next();
                    knowns.inputs[islands[node.expect("a joint has a node")]].push(position);
                }
                Slot::NodePosition { node, .. } | Slot::NodeOrientation { node, .. }
                    if variable.initial == Some(Initial::Exact) =>
                {
                    knowns.starts[node].push(position);
                    knowns.energy.push(position);
                }
                Slot::NodeVelocity { .. }
                | Slot::NodeAngularVelocity { .. }
                | Slot::NodeMass { .. }
                | Slot::SpringStiffness { .. }
                | Slot::Gravity { .. }
                    if variable.initial == Some(Initial::Exact) =>
                {
                    knowns.energy.push(position);
                }
                _ => assert!(!is_input, "{} is an input that outputs do not know of", variable.name),
            }
        }
        knowns
    }

    /// The inputs that an output depends on at once; none stands for all of them. At communication points and time events,
    /// inputs move nothing before the step that comes; but the forces for that step are there at its start in model
    /// exchange.
    pub(super) fn at_once(&self, variable: &Variable) -> Option<&[usize]> {
        match variable.depends_on {
            _ if !variable.slot.is_force_for_master() => Some(&[]),
            Dependence::Everything => None,
            Dependence::Nothing => Some(&[]),
            Dependence::Island(island) => {
                Some(self.inputs[island].as_slice()).filter(|list| list.len() <= LONGEST_LIST)
            }
        }
    }

    /// What an output is computed from in initialization mode; none stands for everything, as where the first forces
    /// for a master come from. What else belongs to a step is zero before the first one, whatever the start values
    /// are.
    pub(super) fn of_start(&self, variable: &Variable, system: &System) -> Option<Vec<usize>> {
        let is_coupled = match variable.depends_on {
            Dependence::Nothing => false,
            Dependence::Island(island) => self.is_coupled[island],
            Dependence::Everything => self.is_coupled.contains(&true),
        };
        match variable.slot {
            Slot::ContactGap { contact } => {
                if system.contacts[contact].group().is_some() {
                    return None;
                }
                let sides = system.contacts[contact].sides();
                let bodies = [Some(sides.node), system.surfaces[sides.surface].body];
                let starts = bodies.into_iter().flatten().flat_map(|body| &self.starts[body]);
                let mut positions: Vec<usize> = starts.copied().collect();
                positions.sort_unstable();
                Some(positions)
            }
            _ if is_coupled => None,
            Slot::KineticEnergy | Slot::PotentialEnergy | Slot::Energy => Some(self.energy.clone()),
            _ if variable.variability == Variability::Discrete => Some(Vec::new()),
            _ => None,
        }
    }
}

/// Index of each variable of the table in the model structure, which counts those that are listed from 1.
fn indices(variables: &[Variable]) -> Vec<usize> {
    let count = |listed: &mut usize, variable: &Variable| {
        *listed += usize::from(is_listed(variable));
        Some(*listed)
    };
    variables.iter().scan(0, count).collect()
}

fn unknown(
    xml: &mut Xml,
    indices: &[usize],
    position: usize,
    dependencies: Option<&[usize]>,
) -> io::Result<()> {
    let mut element =
        xml.create_element("Unknown").with_attribute(("index", indices[position].to_string().as_str()));
    if let Some(dependencies) = dependencies {
        let indices: Vec<_> = dependencies.iter().map(|&position| indices[position].to_string()).collect();
        element = element.with_attribute(("dependencies", indices.join(" ").as_str()));
    }
    element.write_empty()?;
    Ok(())
}

/// Text without the control characters that XML 1.0 cannot hold.
pub(super) fn legal(text: &str) -> String {
    text.replace(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r'), "\u{fffd}")
}

/// The shortest form that reads back to the same number.
pub(super) fn real(value: f64) -> String {
    format!("{value:?}")
}

pub(super) fn integer(value: f64) -> String {
    format!("{value:.0}")
}
