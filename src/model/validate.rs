//! The rules that concern several keys of a model file, each once: names, contact pairs, normals, initial gaps.

use super::diagnostics::{Problem, nearest};
use super::file::{
    ContactEntry, Coupling, FrictionEntry, ModelFile, Motion, NodeEntry, NodeShapeEntry, Scheme, SolverName,
    SurfaceEntry, SurfaceShapeEntry,
};
use super::{Contact, Engine, Experiment, Model, Node, NodeShape, Solver, Surface, SurfaceShape};
use crate::engine::{MAX_SUBSTEPS, START_PENETRATION_TOLERANCE, gap};
use nalgebra::Vector3;
use std::collections::{HashMap, HashSet};
use toml::Spanned;

/// Most contacts that a model may have, wildcards expanded.
pub const MAX_CONTACTS: usize = 1_000_000;

const WILDCARD: &str = "*";

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
pub(super) fn validate(file: &ModelFile) -> Result<Model, Vec<Problem>> {
    let mut validator = Validator::default();
    let nodes = file.node.iter().map(|entry| validator.node(entry)).collect();
    let surfaces = file.surface.iter().map(|entry| validator.surface(entry)).collect();
    let model = Model {
        name: validator.model_name(&file.model.name),
        description: validator.description(file.model.description.as_ref()),
        experiment: Experiment { stop: file.experiment.stop, step: file.experiment.step },
        engine: validator.engine(file),
        contacts: validator.contacts(file),
        nodes,
        surfaces,
    };
    if model.nodes.is_empty() {
        validator.problems.push(Problem::of_file("the model has no node").hint("add a [[node]]"));
    }
    validator.starts_outside(file, &model);
    if validator.problems.is_empty() { Ok(model) } else { Err(validator.problems) }
}

#[derive(Default)]
struct Validator<'a> {
    problems: Vec<Problem>,
    names: HashMap<&'a str, Named>,
    contact_names: HashSet<String>,
    node_count: usize,
    surface_count: usize,
}

/// What a name stands for, by its place in the file.
#[derive(Clone, Copy)]
enum Named {
    Node(usize),
    Surface(usize),
}

/// One side of a contact.
#[derive(Clone, Copy)]
enum Side {
    Any,
    One(Named),
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
        let Scheme::MoreauJean = entry.scheme;
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
            theta: entry.theta,
            gamma: entry.gamma,
            time_of_impact: entry.time_of_impact,
            correction: entry.correction.unwrap_or(entry.time_of_impact),
            solver: match entry.solver {
                SolverName::Auto => Solver::Auto,
                SolverName::Nsgs => Solver::Nsgs,
                SolverName::Newton => Solver::Newton,
            },
            tolerance: entry.tolerance,
            max_iterations: entry.max_iterations,
        }
    }

    fn node(&mut self, entry: &'a NodeEntry) -> Node {
        let Coupling::Owned = entry.coupling;
        self.declare(&entry.name, Named::Node(self.node_count));
        self.node_count += 1;
        Node {
            name: entry.name.get_ref().clone(),
            mass: entry.mass,
            shape: match entry.shape {
                None => NodeShape::Point,
                Some(NodeShapeEntry::Sphere { radius }) => NodeShape::Sphere { radius },
            },
            position: entry.position.as_ref().map_or([0.0; 3], |position| *position.get_ref()),
            velocity: entry.velocity,
        }
    }

    fn surface(&mut self, entry: &'a SurfaceEntry) -> Surface {
        let Motion::Fixed = entry.motion;
        self.declare(&entry.name, Named::Surface(self.surface_count));
        self.surface_count += 1;
        let shape = match &entry.shape {
            SurfaceShapeEntry::Plane { normal } => SurfaceShape::Plane { normal: self.normal(normal) },
        };
        Surface { name: entry.name.get_ref().clone(), shape, position: entry.position }
    }

    fn normal(&mut self, normal: &Spanned<[f64; 3]>) -> [f64; 3] {
        let given = Vector3::from(*normal.get_ref());
        let largest = given.amax();
        if largest == 0.0 {
            self.problems.push(
                Problem::at(normal.span(), "`normal` must not be zero: it has no direction")
                    .hint("a floor has normal = [0.0, 0.0, 1.0]"),
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
        if let Some(previous) = self.names.get(name.get_ref().as_str()) {
            let kind = match previous {
                Named::Node(_) => "node",
                Named::Surface(_) => "surface",
            };
            let message = format!("the name `{}` is already taken by a {kind}", name.get_ref());
            self.problems.push(Problem::at(name.span(), message).hint(UNIQUE_NAMES));
        } else {
            self.names.insert(name.get_ref(), named);
        }
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

    /// The contacts of all entries. Where several entries cover the same pair, the one that names more of it wins.
    fn contacts(&mut self, file: &'a ModelFile) -> Vec<Contact> {
        let mut claims: HashMap<(usize, usize), Claim> = HashMap::new();
        let mut entries = Vec::new();
        let mut total = 0;
        for (index, entry) in file.contact.iter().enumerate() {
            if let Some(name) = &entry.name {
                self.entry_name(name);
            }
            let Some((pairs, named)) = self.pairs(entry, &mut total) else { continue };
            let mut twice = None;
            for &pair in &pairs {
                let claim = claims.entry(pair).or_insert(Claim { entry: index, named });
                if claim.named < named {
                    *claim = Claim { entry: index, named };
                } else if claim.entry != index && claim.named == named {
                    twice = twice.or(Some(pair));
                }
            }
            if let Some((node, surface)) = twice {
                let (node, surface) = (file.node[node].name.get_ref(), file.surface[surface].name.get_ref());
                let problem = Problem::at(
                    entry.between.span(),
                    format!("the contact between `{node}` and `{surface}` is given twice"),
                );
                let is_wildcard = named < 2;
                self.problems.push(if is_wildcard {
                    problem.hint(format!("an entry between [\"{node}\", \"{surface}\"] would decide"))
                } else {
                    problem.hint("remove one of the two entries")
                });
            }
            // An entry with a wildcard cannot have a name.
            let name = entry.name.as_ref().filter(|_| named == 2);
            entries.push((index, entry, name, pairs));
        }
        let mut contacts = Vec::new();
        for (index, entry, name, pairs) in entries {
            for pair in pairs.into_iter().filter(|pair| claims[pair].entry == index) {
                let contact = self.contact(file, entry, name, pair);
                contacts.push(contact);
            }
        }
        contacts
    }

    /// The node-surface pairs that an entry stands for, and how many of its two sides are named.
    fn pairs(&mut self, entry: &ContactEntry, total: &mut usize) -> Option<(Vec<(usize, usize)>, usize)> {
        let [first, second] = entry.between.get_ref();
        let (sides, names) = ([self.side(first), self.side(second)], [first.get_ref(), second.get_ref()]);
        let [Some(first), Some(second)] = sides else { return None };
        let mut refuse = |message: String, hint: &str| {
            self.problems.push(Problem::at(entry.between.span(), message).hint(hint));
            None
        };
        let (nodes, surfaces) = match (first, second) {
            (Side::One(Named::Node(node)), Side::One(Named::Surface(surface)))
            | (Side::One(Named::Surface(surface)), Side::One(Named::Node(node))) => {
                (node..node + 1, surface..surface + 1)
            }
            (Side::One(Named::Node(node)), Side::Any) | (Side::Any, Side::One(Named::Node(node))) => {
                (node..node + 1, 0..self.surface_count)
            }
            (Side::One(Named::Surface(surface)), Side::Any)
            | (Side::Any, Side::One(Named::Surface(surface))) => (0..self.node_count, surface..surface + 1),
            (Side::Any, Side::Any) => (0..self.node_count, 0..self.surface_count),
            (Side::One(Named::Node(_)), Side::One(Named::Node(_))) => {
                return refuse(
                    format!(
                        "this version does not support contact between two nodes yet: `{}` and `{}`",
                        names[0], names[1]
                    ),
                    "a contact is between a node and a surface",
                );
            }
            (Side::One(Named::Surface(_)), Side::One(Named::Surface(_))) => {
                return refuse(
                    format!("`{}` and `{}` are both surfaces: they do not move", names[0], names[1]),
                    "a contact is between a node and a surface",
                );
            }
        };
        let named = names.iter().filter(|name| **name != WILDCARD).count();
        if named < 2
            && let Some(name) = &entry.name
        {
            self.problems.push(
                Problem::at(
                    name.span(),
                    "an entry with \"*\" stands for several contacts and cannot have a name",
                )
                .hint("leave `name` out: each contact is called after its node and surface"),
            );
        }
        *total = total.saturating_add(nodes.len().saturating_mul(surfaces.len()));
        if *total > MAX_CONTACTS {
            let message = format!("the model has more than {MAX_CONTACTS} contacts");
            self.problems
                .push(Problem::at(entry.between.span(), message).hint("name the pairs that can touch"));
            return None;
        }
        let pairs = nodes.flat_map(|node| surfaces.clone().map(move |surface| (node, surface))).collect();
        Some((pairs, named))
    }

    fn side(&mut self, name: &Spanned<String>) -> Option<Side> {
        let text = name.get_ref().as_str();
        if text == WILDCARD {
            return Some(Side::Any);
        }
        let named = self.names.get(text).copied();
        if named.is_none() {
            let problem = Problem::at(name.span(), format!("there is no node or surface `{text}`"));
            let mut known: Vec<&str> = self.names.keys().copied().collect();
            known.sort_unstable();
            self.problems.push(match nearest(text, known) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint("add it as [[node]] or [[surface]]"),
            });
        }
        named.map(Side::One)
    }

    fn contact(
        &mut self,
        file: &ModelFile,
        entry: &ContactEntry,
        given_name: Option<&Spanned<String>>,
        (node, surface): (usize, usize),
    ) -> Contact {
        let (name, span) = match given_name {
            Some(name) => (name.get_ref().clone(), name.span()),
            None => {
                let (node, surface) = (file.node[node].name.get_ref(), file.surface[surface].name.get_ref());
                (format!("{node}_{surface}"), entry.between.span())
            }
        };
        let taken_by = match (self.names.get(name.as_str()), self.contact_names.contains(&name)) {
            (Some(Named::Node(_)), _) => Some("node"),
            (Some(Named::Surface(_)), _) => Some("surface"),
            (None, true) => Some("contact"),
            (None, false) => None,
        };
        if let Some(kind) = taken_by {
            let hint = if given_name.is_some() { UNIQUE_NAMES } else { "give this contact a `name`" };
            self.problems.push(
                Problem::at(span, format!("the name `{name}` is already taken by a {kind}")).hint(hint),
            );
        }
        self.contact_names.insert(name.clone());
        let mu = match entry.friction {
            None => 0.0,
            Some(FrictionEntry::Cone { mu }) => mu,
        };
        Contact { name, node, surface, restitution: entry.restitution, mu }
    }

    /// No node starts inside a surface that it has a contact with.
    fn starts_outside(&mut self, file: &ModelFile, model: &Model) {
        let (system, state) = model.assemble();
        for (index, contact) in model.contacts.iter().enumerate() {
            let SurfaceShape::Plane { normal } = model.surfaces[contact.surface].shape;
            let depth = -gap(&system, &state, index);
            if normal == [0.0; 3] || depth <= START_PENETRATION_TOLERANCE {
                continue;
            }
            let entry = &file.node[contact.node];
            let span = entry.position.as_ref().map_or(entry.name.span(), |position| position.span());
            let depth = rounded(depth);
            let (node, surface) = (&model.nodes[contact.node].name, &model.surfaces[contact.surface].name);
            self.problems.push(
                Problem::at(span, format!("`{node}` starts {depth} m inside `{surface}`")).hint(format!(
                    "move `position` by {depth} m along the normal [{}, {}, {}] of `{surface}`, or further",
                    rounded(normal[0]),
                    rounded(normal[1]),
                    rounded(normal[2]),
                )),
            );
        }
    }
}

/// The entry that decides on a pair, and how many of its two sides it names.
#[derive(Clone, Copy)]
struct Claim {
    entry: usize,
    named: usize,
}

const UNIQUE_NAMES: &str = "nodes, surfaces and contacts share their names";

/// Six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
