//! A model of the package: frames of the bodies that the Modelica model moves, parameters, inputs and outputs, all
//! from the variable table.
//!
//! Sign and frame of force and torque are those of Modelica.Mechanics.MultiBody: a cut force acts on this component, so
//! what acts on the body is its negative, resolved in the frame.

use super::groups::Group;
use super::text::{Names, escaped, fill, html, integers, real};
use crate::model::Model;
use crate::package::guid::guid;
use crate::variables::{self, Causality, Initial, Kind, Slot, Variability};
use std::collections::BTreeMap;

const MODEL: &str = include_str!("templates/model.mo");
/// A ball on the ground.
pub const ICON: &str = include_str!("templates/ball_icon.txt");

/// Names that the template uses.
const TAKEN: [&str; 15] = [
    "SI",
    "Frames",
    "samplePeriod",
    "startTime",
    "libraries",
    "data",
    "parameterReferences",
    "inputReferences",
    "stateReferences",
    "resultReferences",
    "countReferences",
    "states",
    "results",
    "counts",
    "engine",
];

/// Where a model goes.
pub struct Place<'a> {
    /// The package.
    pub package: &'a str,
    /// What it is in: the package or one inside it.
    pub within: &'a str,
    /// Name of the model.
    pub class: &'a str,
}

/// The text of a model.
pub fn write(model: &Model, place: &Place) -> String {
    let table = variables::table(model);
    let mut class = Class::new(model, place.package);
    for group in Group::of(&table) {
        class.add(&group);
    }
    class.finish(model, place)
}

/// Bodies that the Modelica model moves, each with a frame: nodes, then surfaces.
pub fn frame_count(model: &Model) -> usize {
    model.assemble().0.couplings.len()
}

/// The text as it grows.
#[derive(Default)]
struct Class {
    package: String,
    names: Names,
    /// Names of the frames, by coupling.
    frames: Vec<String>,
    /// Whether the body rotates, by coupling.
    rotates: Vec<bool>,
    /// What goes to the engine and comes from it.
    parameters: Exchange,
    inputs: Exchange,
    states: Exchange,
    results: Exchange,
    counts: Exchange,
    /// Declarations and equations.
    connectors: String,
    parameter_lines: String,
    output_lines: String,
    protected_lines: String,
    equations: String,
    /// Constants of one unit each, by quantity.
    units: BTreeMap<&'static str, String>,
    /// Of the documentation.
    frame_table: String,
    /// Input connectors so far.
    signals: i32,
}

/// Variables that go to the engine or come from it in one array.
#[derive(Default)]
struct Exchange {
    references: Vec<usize>,
    values: Vec<String>,
}

impl Exchange {
    /// Variables that go to the engine.
    fn give(&mut self, group: &Group, value: String) {
        self.references.extend(group.references());
        self.values.push(if group.is_vector() { value } else { format!("{{{value}}}") });
    }

    /// Variables that come from the engine, as elements of `array`.
    fn take(&mut self, group: &Group, array: &str) -> String {
        let first = self.references.len() + 1;
        self.references.extend(group.references());
        if group.is_vector() {
            format!("{array}[{first}:{}]", self.references.len())
        } else {
            format!("{array}[{first}]")
        }
    }

    /// What goes to the engine.
    fn array(&self) -> String {
        match self.values.as_slice() {
            [] => "fill(0.0, 0)".to_owned(),
            values => format!("cat(1, {})", values.join(", ")),
        }
    }
}

impl Class {
    fn new(model: &Model, package: &str) -> Class {
        let (system, _) = model.assemble();
        let mut class = Class { package: package.to_owned(), names: Names::new(&TAKEN), ..Class::default() };
        let bodies: Vec<&str> = model.body_names().collect();
        let count = system.couplings.len();
        for (index, coupling) in system.couplings.iter().enumerate() {
            let body = bodies[coupling.node];
            let frame =
                class.names.take(&if count == 1 { "frame_a".to_owned() } else { format!("frame_{body}") });
            let node = model.nodes.get(coupling.node);
            let surface = model.surfaces.iter().find(|surface| surface.name == body);
            let position = node.map(|node| node.position).or(surface.map(|surface| surface.position));
            let kind = if node.is_some() { "node" } else { "surface" };
            let rotates = system.nodes[coupling.node].rotation.is_some();
            let height = 80 - (160 * (2 * index + 1) / (2 * count)) as i32;
            class.connectors += &format!(
                "  Modelica.Mechanics.MultiBody.Interfaces.Frame_a {frame} \"Frame of the {kind} {body}\" {};\n",
                placement(-100, height, 16)
            );
            class.frame_table += &format!(
                "<tr><td><code>{frame}</code></td><td>the {kind} {body}, {}</td><td>{{{}}} m</td></tr>\n",
                if rotates { "a rigid body" } else { "a point" },
                position.unwrap_or_default().map(real).join(", ")
            );
            class.frames.push(frame);
            class.rotates.push(rotates);
        }
        class
    }

    fn add(&mut self, group: &Group) {
        let head = group.head();
        match head.causality {
            Causality::Independent => self.output(group, "engine_time", "Time of the last exchange"),
            // The model has it for its own events.
            Causality::Parameter if head.slot == Slot::EngineSample => {
                self.parameters.give(group, "samplePeriod".to_owned());
            }
            Causality::Parameter => self.parameter(group, &identifier(group.name), &group.description()),
            Causality::Input => self.input(group),
            Causality::Output => {
                if head.initial == Some(Initial::Exact) {
                    let description = format!("{} at the start", group.description());
                    self.parameter(group, &format!("{}_start", identifier(group.name)), &description);
                }
                self.output(group, &identifier(group.name), &group.description());
            }
        }
    }

    /// A value that the engine is given before it starts.
    fn parameter(&mut self, group: &Group, wish: &str, description: &str) {
        let name = self.names.take(wish);
        let range = group.head().range;
        let bounds: Vec<String> = [("min", range.min), ("max", range.max)]
            .into_iter()
            .filter_map(|(bound, value)| Some(format!("{bound} = {}", real(value?))))
            .collect();
        let starts: Vec<String> =
            group.rows.iter().map(|row| real(row.start.expect("a parameter has a value"))).collect();
        let value = if group.is_vector() { format!("{{{}}}", starts.join(", ")) } else { starts.concat() };
        self.parameter_lines += &format!(
            "  parameter {} = {value} \"{}\" annotation(Dialog(group = \"{}\"));\n",
            group.declaration(&name, &bounds),
            escaped(description),
            group.owner().unwrap_or("Engine")
        );
        self.parameters.give(group, name);
    }

    /// A value that the engine is given at every exchange.
    fn input(&mut self, group: &Group) {
        let frame = |coupling: usize| self.frames[coupling].clone();
        let value = match group.head().slot {
            Slot::GivenPosition { coupling, .. } => format!("{}.r_0", frame(coupling)),
            Slot::GivenVelocity { coupling, .. } => {
                let frame = frame(coupling);
                let name = self.names.take(&identifier(group.name));
                self.output_lines +=
                    &format!("  {} \"{}\";\n", group.declaration(&name, &[]), escaped(&group.description()));
                self.equations += &format!("  {name} = der({frame}.r_0);\n");
                name
            }
            Slot::GivenOrientation { coupling, .. } => {
                format!("{}.Internal.quaternion({}.R.T)", self.package, frame(coupling))
            }
            Slot::GivenAngularVelocity { coupling, .. } => {
                format!("Frames.angularVelocity1({}.R)", frame(coupling))
            }
            Slot::JointDrive { .. } | Slot::GivenInverseMass { .. } => self.signal(group, None),
            _ => {
                let switch = self.names.take(&format!("use_{}", identifier(group.name)));
                self.parameter_lines += &format!(
                    "  parameter Boolean {switch} = false \"Whether {} is an input, else it is zero\" \
                     annotation(Evaluate = true, choices(checkBox = true), Dialog(group = \"{}\"));\n",
                    group.name,
                    group.owner().unwrap_or("Engine")
                );
                self.signal(group, Some(switch))
            }
        };
        self.inputs.give(group, value);
    }

    /// An input connector, and the name of what it holds; `switch` says whether it is there.
    fn signal(&mut self, group: &Group, switch: Option<String>) -> String {
        let name = self.names.take(&identifier(group.name));
        let Kind::Real(unit) = group.head().kind else { unreachable!("inputs are reals") };
        let (size, unit) = match group.is_vector() {
            true => (format!("[{}]", group.rows.len()), format!("each unit = \"{}\"", unit.name())),
            false => (String::new(), format!("unit = \"{}\"", unit.name())),
        };
        let condition = switch.as_ref().map_or_else(String::new, |switch| format!(" if {switch}"));
        self.connectors += &format!(
            "  Modelica.Blocks.Interfaces.RealInput {name}{size}({unit}){condition} \"{}\" {};\n",
            escaped(&group.description()),
            placement(-120, -100 - 40 * self.signals, 20)
        );
        self.signals += 1;
        let Some(switch) = switch else { return name };
        let inner = self.names.take(&format!("{name}_in"));
        self.protected_lines += &format!(
            "  Modelica.Blocks.Interfaces.RealInput {inner}{size}({unit}) \"What {name} holds, or zero\";\n"
        );
        let zero = if group.is_vector() { format!("zeros({})", group.rows.len()) } else { "0".to_owned() };
        self.equations += &format!(
            "  connect({name}, {inner});\n  if not {switch} then\n    {inner} = {zero};\n  end if;\n"
        );
        inner
    }

    /// A value that comes from the engine at every exchange.
    fn output(&mut self, group: &Group, wish: &str, description: &str) {
        let head = group.head();
        let name = self.names.take(wish);
        let value = match (head.kind, head.variability) {
            (Kind::Integer | Kind::Clock, _) => self.counts.take(group, "counts"),
            (Kind::Real(_), Variability::Continuous) => self.states.take(group, "states"),
            (Kind::Real(_), _) => self.results.take(group, "results"),
        };
        self.output_lines += &format!("  {} \"{}\";\n", group.declaration(&name, &[]), escaped(description));
        let unit = self.unit(head.kind).map_or_else(String::new, |unit| format!("*{unit}"));
        self.equations += &format!("  {name} = {value}{unit};\n");
        match head.slot {
            Slot::CouplingForce { coupling, .. } => {
                let frame = &self.frames[coupling];
                self.equations += &format!("  {frame}.f = -Frames.resolve2({frame}.R, {name});\n");
                if !self.rotates[coupling] {
                    self.equations += &format!("  {frame}.t = zeros(3);\n");
                }
            }
            Slot::CouplingTorque { coupling, .. } => {
                let frame = &self.frames[coupling];
                self.equations += &format!("  {frame}.t = -Frames.resolve2({frame}.R, {name});\n");
            }
            _ => {}
        }
    }

    /// Name of the constant that is one unit of a kind of number: arrays that hold all kinds have no unit of their own.
    fn unit(&mut self, kind: Kind) -> Option<&str> {
        let Kind::Real(unit) = kind else { return None };
        let quantity = unit.quantity()?;
        let names = &mut self.names;
        Some(self.units.entry(quantity).or_insert_with(|| names.take(&format!("unit{quantity}"))))
    }

    fn unit_lines(&self) -> String {
        let line = |(quantity, name): (&&str, &String)| {
            format!("  constant SI.{quantity} {name} = 1 \"One unit\";\n")
        };
        self.units.iter().map(line).collect()
    }

    fn finish(self, model: &Model, place: &Place) -> String {
        let description = match model.description.as_str() {
            "" => format!("Contact of {}", model.name),
            text => text.to_owned(),
        };
        fill(
            MODEL,
            &[
                ("package", place.package),
                ("within", place.within),
                ("class", place.class),
                ("description", &escaped(&description)),
                ("html_description", &html(&description)),
                ("guid", &guid(model)),
                ("period", &real(model.experiment.step)),
                ("connectors", &self.connectors),
                ("parameters", &self.parameter_lines),
                ("outputs", &self.output_lines),
                ("units", &self.unit_lines()),
                ("protected", &self.protected_lines),
                ("equations", &self.equations),
                ("frame_table", &self.frame_table),
                ("ball_icon", ICON.trim_end()),
                ("parameter_references", &integers(&self.parameters.references)),
                ("input_references", &integers(&self.inputs.references)),
                ("state_references", &integers(&self.states.references)),
                ("result_references", &integers(&self.results.references)),
                ("count_references", &integers(&self.counts.references)),
                ("parameter_values", &self.parameters.array()),
                ("input_values", &self.inputs.array()),
                ("state_count", &self.states.references.len().to_string()),
                ("result_count", &self.results.references.len().to_string()),
                ("count_count", &self.counts.references.len().to_string()),
            ],
        )
    }
}

fn placement(x: i32, y: i32, half: i32) -> String {
    format!(
        "annotation(Placement(transformation(extent = {{{{{}, {}}}, {{{}, {}}}}})))",
        x - half,
        y - half,
        x + half,
        y + half
    )
}

fn identifier(name: &str) -> String {
    name.replace('.', "_")
}
