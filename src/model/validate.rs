//! The rules that concern several keys of a model file, each once: names, contact pairs, normals, initial gaps, ties.

mod compliance;
mod contact;
mod coupling;
mod group;
mod joint;
mod output;
mod shape;
mod spring;
mod tie;

pub use contact::{MAX_CONTACTS, MOST_SHOWN_PAIRS};

use super::assemble::{facets, polyhedra};
use super::diagnostics::Problem;
use super::file::{
    ContactEntry, EngineSection, ModelFile, NodeEntry, NodeShapeEntry, SurfaceEntry, SurfaceShapeEntry,
};
use super::shape_file::Use;
use super::{
    Contact, Engine, Experiment, Friction, Model, Motion, Node, NodeShape, Rotation, Scheme, Surface,
    SurfaceShape,
};
use crate::engine::law::bristle::{self, Bristle};
use crate::engine::{MAX_SUBSTEPS, Membership, ORIENTATION_TOLERANCE, SchemeName, SchemeParameters, Solves};
use nalgebra::{Vector3, Vector4};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Names of FMU variables, and of the fixed frame.
const RESERVED_NAMES: [&str; 4] = ["engine", "gravity", "time", "ground"];

const C_KEYWORDS: &str = "\
    auto break case char const continue default do double else enum extern float for goto if \
    inline int long register restrict return short signed sizeof static struct switch typedef \
    union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic \
    _Imaginary _Noreturn _Static_assert _Thread_local";

/// What is wrong with `name` as the name of a model, if anything.
pub fn model_name_fault(name: &str) -> Option<&'static str> {
    if !is_identifier(name) {
        Some("is not a C identifier: use letters, digits and _, and start with a letter or _")
    } else if C_KEYWORDS.split_whitespace().any(|keyword| keyword == name) {
        Some("is a keyword of C: choose another name")
    } else {
        None
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// The model that a file means, or everything wrong with it.
pub(super) fn validate(file: &ModelFile, folder: &Path) -> Result<Model, Vec<Problem>> {
    let mut validator = Validator { folder: folder.to_owned(), ..Validator::default() };
    let nodes: Vec<Node> = file.node.iter().map(|entry| validator.node(entry, file.engine.scheme)).collect();
    let surfaces: Vec<Surface> = file.surface.iter().map(|entry| validator.surface(entry)).collect();
    let meshes = validator.shapes.meshes();
    let facets = facets(&polyhedra(&meshes));
    let model = Model {
        name: validator.model_name(&file.model.name),
        outputs: validator.outputs(file.model.outputs.as_ref()),
        description: validator.description(file.model.description.as_ref()),
        experiment: Experiment { stop: file.experiment.stop, step: file.experiment.step },
        engine: validator.engine(file),
        contacts: validator.contacts(file, &nodes, &surfaces, &facets),
        springs: validator.springs(file, &nodes),
        joints: validator.joints(file, &nodes),
        nodes,
        surfaces,
        meshes,
    };
    if model.nodes.is_empty() {
        validator.problems.push(Problem::of_file("the model has no node").hint("add a [[node]]"));
    }
    validator.solver_fits(file, &model);
    validator.outputs_exist(file, &model);
    validator.joints_can_start(file, &model);
    validator.mechanisms_fit(&model);
    validator.intervals_are_long_enough(&model);
    if !model.engine.allow_initial_penetration {
        validator.starts_outside(file, &model);
    }
    if validator.problems.is_empty() { Ok(model) } else { Err(validator.problems) }
}

#[derive(Default)]
struct Validator<'a> {
    problems: Vec<Problem>,
    names: HashMap<&'a str, Named>,
    /// Names of contacts, springs and joints, and which of these they are.
    other_names: HashMap<String, &'static str>,
    /// Where the compliance of a contact is written.
    compliances: HashMap<String, Range<usize>>,
    /// Nodes that are points of mechanisms, and where they say so and how.
    mechanism_nodes: Vec<(String, Range<usize>, Membership)>,
    node_count: usize,
    surface_count: usize,
    /// Where files are looked for.
    folder: PathBuf,
    shapes: shape::Shapes,
}

/// What a name stands for, by its place in the file.
#[derive(Clone, Copy)]
enum Named {
    Node(usize),
    Surface(usize),
}

impl<'a> Validator<'a> {
    fn model_name(&mut self, name: &Spanned<String>) -> String {
        if let Some(fault) = model_name_fault(name.get_ref()) {
            self.problems.push(Problem::at(name.span(), format!("`{}` {fault}", name.get_ref())));
        }
        name.get_ref().clone()
    }

    fn description(&mut self, description: Option<&Spanned<String>>) -> String {
        let Some(description) = description else { return String::new() };
        // XML cannot hold these.
        let forbidden = |character: char| character.is_control() || "\u{fffe}\u{ffff}".contains(character);
        if description.get_ref().contains(forbidden) {
            self.problems.push(
                Problem::at(description.span(), "`description` must be one line without control characters")
                    .hint("put longer text in comments"),
            );
        }
        description.get_ref().clone()
    }

    fn engine(&mut self, file: &ModelFile) -> Engine {
        let entry = &file.engine;
        let scheme = self.scheme(entry);
        let is_midpoint = matches!(scheme, Scheme::Midpoint { .. });
        let splits = matches!(scheme, Scheme::MoreauJean);
        let time_of_impact = entry.time_of_impact.as_ref().map_or(splits, |given| *given.get_ref());
        let step = entry.step.as_ref().map_or(file.experiment.step, |step| *step.get_ref());
        if let Some(written) = &entry.step
            && file.experiment.step / step > MAX_SUBSTEPS
        {
            let message = format!(
                "`step` is too small: one communication step of {:e} s would take more than {MAX_SUBSTEPS:e} internal steps",
                file.experiment.step
            );
            self.problems.push(
                Problem::at(written.span(), message)
                    .hint("take a larger `step` here, or a smaller one in [experiment]"),
            );
        }
        Engine {
            step,
            gravity: entry.gravity,
            scheme,
            theta: entry.theta.as_ref().map_or(0.5, |theta| *theta.get_ref()),
            gamma: entry.gamma,
            time_of_impact,
            impact: entry.impact,
            correction: entry.correction.unwrap_or(time_of_impact || is_midpoint),
            energy_balance: self.energy_balance(entry),
            allow_initial_penetration: entry.allow_initial_penetration,
            solver: *entry.solver.get_ref(),
            tolerance: entry.tolerance,
            max_iterations: entry.max_iterations,
        }
    }

    /// Whether energy is to be balanced; refused where the scheme takes some on purpose.
    fn energy_balance(&mut self, entry: &EngineSection) -> bool {
        let Some(written) = entry.energy_balance.as_ref().filter(|given| *given.get_ref()) else {
            return false;
        };
        let theta = entry.theta.as_ref().map_or(0.5, |theta| *theta.get_ref());
        let damps = if entry.scheme.damps() {
            format!("scheme \"{}\" takes energy on purpose", entry.scheme.text())
        } else if entry.scheme == SchemeName::MoreauJean && theta != 0.5 {
            format!("theta = {theta:?} takes or adds energy on purpose")
        } else {
            return true;
        };
        self.problems.push(
            Problem::at(written.span(), format!("energy cannot be balanced: {damps}")).hint(
                "leave `energy_balance` out, or take scheme \"moreau-jean\" with theta = 0.5 or scheme \"midpoint\"",
            ),
        );
        false
    }

    /// The scheme; keys that belong to another one are refused, because they would do nothing.
    fn scheme(&mut self, entry: &EngineSection) -> Scheme {
        let name = entry.scheme.text();
        let keys = [
            ("theta", entry.theta.as_ref().map(Spanned::span), SchemeName::MoreauJean),
            ("sweeps", entry.sweeps.as_ref().map(Spanned::span), SchemeName::Midpoint),
            ("rho", entry.rho.as_ref().map(Spanned::span), SchemeName::Multistep),
            ("alpha", entry.alpha.as_ref().map(Spanned::span), SchemeName::Hht),
        ];
        for (key, span, owner) in keys {
            if let Some(span) = span.filter(|_| owner != entry.scheme) {
                let message = format!("`{key}` has no meaning with scheme \"{name}\"");
                let hint = format!("leave it out, or write scheme = \"{}\"", owner.text());
                self.problems.push(Problem::at(span, message).hint(hint));
            }
        }
        if let Some(written) = entry.time_of_impact.as_ref().filter(|given| *given.get_ref())
            && entry.scheme != SchemeName::MoreauJean
        {
            self.problems.push(
                Problem::at(written.span(), format!("scheme \"{name}\" cannot split steps at impacts"))
                    .hint("leave `time_of_impact` out, or write scheme = \"moreau-jean\""),
            );
        }
        entry.scheme.with(&SchemeParameters {
            sweeps: entry.sweeps.as_ref().map(|sweeps| *sweeps.get_ref()),
            rho: entry.rho.as_ref().map(|rho| *rho.get_ref()),
            alpha: entry.alpha.as_ref().map(|alpha| *alpha.get_ref()),
        })
    }

    fn node(&mut self, entry: &'a NodeEntry, scheme: SchemeName) -> Node {
        self.declare(&entry.name, Named::Node(self.node_count));
        self.node_count += 1;
        Node {
            name: entry.name.get_ref().clone(),
            coupling: self.coupling(entry, scheme),
            mass: entry.mass,
            shape: self.node_shape(entry),
            rotation: self.rotation(entry),
            position: entry.position.as_ref().map_or([0.0; 3], |position| *position.get_ref()),
            velocity: entry.velocity,
        }
    }

    fn node_shape(&mut self, entry: &NodeEntry) -> NodeShape {
        let Some(shape) = &entry.shape else { return NodeShape::Point };
        match shape.get_ref() {
            NodeShapeEntry::Sphere { radius } => NodeShape::Sphere { radius: *radius },
            NodeShapeEntry::Disc { radius, axis } => {
                if entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a disc");
                }
                let axis = axis.as_ref().map_or([0.0, 1.0, 0.0], |axis| {
                    self.direction(axis, "axis", "a wheel on a floor has axis = [0.0, 1.0, 0.0]")
                });
                NodeShape::Disc { radius: *radius, axis }
            }
            NodeShapeEntry::Box { size } => {
                if entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a box");
                }
                NodeShape::Box { size: *size }
            }
            NodeShapeEntry::Capsule { radius, length, axis } => {
                if entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a capsule");
                }
                NodeShape::Capsule { radius: *radius, half_axis: self.half_axis(*length, axis.as_ref()) }
            }
            NodeShapeEntry::Cylinder { radius, length, axis } => {
                if entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a cylinder");
                }
                NodeShape::Cylinder { radius: *radius, half_axis: self.half_axis(*length, axis.as_ref()) }
            }
            NodeShapeEntry::Hull { file, scale } => {
                if entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a hull");
                }
                match self.shape_of_file(file, Use::Hull, *scale) {
                    Some(mesh) => NodeShape::Hull { mesh },
                    None => NodeShape::Point,
                }
            }
            NodeShapeEntry::Points(points) => {
                if points.is_empty() {
                    self.problems.push(
                        Problem::at(shape.span(), "`shape.points` must not be empty: the node could touch nothing")
                            .hint("write points = [[0.0, 0.0, 0.0]], or leave `shape` out: the node is then a point"),
                    );
                    return NodeShape::Point;
                }
                if points.len() > 1 && entry.inertia.is_none() {
                    self.needs_inertia(shape.span(), "a shape of several points");
                }
                NodeShape::Points { points: points.clone() }
            }
        }
    }

    fn rotation(&mut self, entry: &NodeEntry) -> Option<Rotation> {
        let Some(inertia) = &entry.inertia else {
            if let Some(orientation) = &entry.orientation {
                self.needs_inertia(orientation.span(), "`orientation`");
            }
            if let Some(angular_velocity) = &entry.angular_velocity {
                self.needs_inertia(angular_velocity.span(), "`angular_velocity`");
            }
            return None;
        };
        Some(Rotation {
            inertia: self.inertia(inertia),
            orientation: entry
                .orientation
                .as_ref()
                .map_or([1.0, 0.0, 0.0, 0.0], |orientation| self.orientation(orientation)),
            angular_velocity: entry.angular_velocity.as_ref().map_or([0.0; 3], |given| *given.get_ref()),
        })
    }

    fn needs_inertia(&mut self, span: Range<usize>, what: &str) {
        self.problems.push(
            Problem::at(span, format!("{what} needs `inertia`: without it, the node is a point mass")).hint(
                "add `inertia`, the three principal moments of inertia in kg.m2; a solid sphere has 0.4 mass radius^2, a solid box of edges a, b, c has mass (b^2 + c^2)/12 and so on",
            ),
        );
    }

    /// Two moments together are at least the third, as for any distribution of mass.
    fn inertia(&mut self, inertia: &Spanned<[f64; 3]>) -> [f64; 3] {
        /// Moments of a flat body may miss it by rounding.
        const ROUNDING: f64 = 1e-6;
        let moments = *inertia.get_ref();
        let largest = moments.into_iter().fold(0.0, f64::max);
        // Halved, because the sum may overflow.
        let half_sum: f64 = moments.iter().map(|moment| 0.5 * moment).sum();
        if largest > half_sum * (1.0 + ROUNDING) {
            self.problems.push(
                Problem::at(
                    inertia.span(),
                    "no body has these moments of inertia: one is larger than the other two together",
                )
                .hint("a flat disc has m r^2/4, m r^2/2, m r^2/4 with the largest along its axis"),
            );
        }
        moments
    }

    fn orientation(&mut self, orientation: &Spanned<[f64; 4]>) -> [f64; 4] {
        let given = Vector4::from(*orientation.get_ref());
        let length = given.norm();
        if (length - 1.0).abs() > ORIENTATION_TOLERANCE {
            let length = rounded(length);
            self.problems.push(
                Problem::at(orientation.span(), format!("`orientation` must have length 1, found {length}"))
                    .hint("a turn by an angle a about the x axis is [cos(a/2), sin(a/2), 0.0, 0.0]"),
            );
            return [1.0, 0.0, 0.0, 0.0];
        }
        (given / length).into()
    }

    fn surface(&mut self, entry: &'a SurfaceEntry) -> Surface {
        self.declare(&entry.name, Named::Surface(self.surface_count));
        self.surface_count += 1;
        let shape = match &entry.shape {
            SurfaceShapeEntry::Plane { normal } => SurfaceShape::Plane {
                normal: self.direction(normal, "normal", "a floor has normal = [0.0, 0.0, 1.0]"),
            },
            SurfaceShapeEntry::Sphere { radius } => SurfaceShape::Sphere { radius: *radius },
            SurfaceShapeEntry::Box { size } => SurfaceShape::Box { size: *size },
            SurfaceShapeEntry::Cylinder { radius, length, axis } => {
                SurfaceShape::Cylinder { radius: *radius, half_axis: self.half_axis(*length, axis.as_ref()) }
            }
            SurfaceShapeEntry::Capsule { radius, length, axis } => {
                SurfaceShape::Capsule { radius: *radius, half_axis: self.half_axis(*length, axis.as_ref()) }
            }
            SurfaceShapeEntry::Mesh { file, scale, open } => {
                self.mesh_surface(file, Use::Mesh { open: *open }, *scale)
            }
            SurfaceShapeEntry::Heightfield { file, cell, scale } => {
                self.mesh_surface(file, Use::Heights { cell: *cell }, *scale)
            }
        };
        let motion = self.motion(entry);
        let turned = entry.orientation.as_ref().filter(|_| motion == Motion::Fixed);
        let orientation = turned.map_or([1.0, 0.0, 0.0, 0.0], |orientation| self.orientation(orientation));
        Surface { name: entry.name.get_ref().clone(), shape, position: entry.position, orientation, motion }
    }

    /// From the middle to an end of something `length` long.
    fn half_axis(&mut self, length: f64, axis: Option<&Spanned<[f64; 3]>>) -> [f64; 3] {
        let axis = axis.map_or([0.0, 0.0, 1.0], |axis| {
            self.direction(axis, "axis", "one that stands has axis = [0.0, 0.0, 1.0]")
        });
        axis.map(|component| component * 0.5 * length)
    }

    /// The unit vector along a vector.
    fn direction(&mut self, vector: &Spanned<[f64; 3]>, key: &str, example: &str) -> [f64; 3] {
        let given = Vector3::from(*vector.get_ref());
        let largest = given.amax();
        if largest == 0.0 {
            self.problems.push(
                Problem::at(vector.span(), format!("`{key}` must not be zero: it has no direction"))
                    .hint(example),
            );
        }
        // A unit vector keeps its digits.
        if largest == 0.0 || (given.norm_squared() - 1.0).abs() < 1e-15 {
            return given.into();
        }
        // Divided by the largest component first, because squares may overflow.
        (given / largest).normalize().into()
    }

    /// Checks the name of a node or surface and makes it known.
    fn declare(&mut self, name: &'a Spanned<String>, named: Named) {
        self.entry_name(name);
        if !self.is_taken(name.get_ref(), name.span(), UNIQUE_NAMES) {
            self.names.insert(name.get_ref(), named);
        }
    }

    /// Whether a name stands for something already, which is a problem.
    fn is_taken(&mut self, name: &str, span: Range<usize>, hint: &str) -> bool {
        let kind = match (self.names.get(name), self.other_names.get(name)) {
            (Some(Named::Node(_)), _) => "node",
            (Some(Named::Surface(_)), _) => "surface",
            (None, Some(kind)) => kind,
            (None, None) => return false,
        };
        let message = format!("the name `{name}` is already taken by a {kind}");
        self.problems.push(Problem::at(span, message).hint(hint));
        true
    }

    fn entry_name(&mut self, name: &Spanned<String>) {
        let text = name.get_ref();
        if !is_identifier(text) {
            self.problems.push(
                Problem::at(name.span(), format!("`{text}` is not a name"))
                    .hint("use letters, digits and _, and start with a letter or _"),
            );
        } else if RESERVED_NAMES.contains(&text.as_str()) {
            let reserved = RESERVED_NAMES.join(", ");
            self.problems.push(
                Problem::at(name.span(), format!("the name `{text}` is reserved"))
                    .hint(format!("choose another name than {reserved}")),
            );
        }
    }

    /// The friction law of an entry, and its coefficient.
    fn friction(&mut self, file: &ModelFile, entry: &ContactEntry, node: usize) -> (Friction, f64) {
        let law = entry.friction.as_ref().map(Spanned::get_ref);
        let span = || entry.friction.as_ref().map_or(entry.between.span(), Spanned::span);
        let Some(law) = law else { return (Friction::Cone, 0.0) };
        let (friction, mu) = law.read();
        if let Friction::Bristle { stiffness, threshold, .. } = friction {
            self.bristle_holds(file, node, &Bristle { stiffness, threshold }, mu, span());
        }
        (friction, mu)
    }

    /// A bristle must not be so soft that letting go of it alone makes the contact slide.
    fn bristle_holds(&mut self, file: &ModelFile, node: usize, law: &Bristle, mu: f64, span: Range<usize>) {
        let mass = file.node[node].mass;
        let weight = mass * Vector3::from(file.engine.gravity).norm();
        if mu > 0.0 && weight > 0.0 && bristle::toggles(law, mu, mass, weight) {
            let least = (mu * weight).powi(2) / (mass * law.threshold.powi(2));
            self.problems.push(
                Problem::at(span, "the bristle is too soft: under the node's own weight it would start and stop sliding by itself")
                    .hint(format!(
                        "`stiffness` above {:.1e} N/m, or a higher `threshold`, holds (stiffness mass threshold^2 > (mu weight)^2)",
                        least
                    )),
            );
        }
    }

    /// The solver can solve the friction law of every contact.
    fn solver_fits(&mut self, file: &ModelFile, model: &Model) {
        let solver = model.engine.solver;
        if solver.solves() == Solves::All {
            return;
        }
        let name = solver.name();
        let law = |contact: &Contact| {
            let matters = contact.mu > 0.0 && contact.compliance.is_none();
            matters.then(|| contact.friction.unsolved_by(solver)).flatten()
        };
        let misfits = || model.contacts.iter().filter_map(|contact| law(contact).map(|law| (contact, law)));
        let Some((contact, law)) = misfits().next() else { return };
        let others = match misfits().count() - 1 {
            0 => String::new(),
            1 => " (and one more)".to_owned(),
            count => format!(" (and {count} more)"),
        };
        let message = format!("solver \"{name}\" cannot solve contact `{}` with {law}{others}", contact.name);
        let facets = if solver.solves() == Solves::Linear { "friction.facets, " } else { "" };
        self.problems.push(Problem::at(file.engine.solver.span(), message).hint(format!(
            "choose solver \"auto\", \"nsgs\" or \"newton\", or a friction law that \"{name}\" solves: {facets}friction.box, friction.bristle or none"
        )));
    }
}

const UNIQUE_NAMES: &str = "nodes, surfaces, contacts, springs and joints share their names";

/// Six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
