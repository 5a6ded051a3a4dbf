//! Rules of contacts: which pairs an entry stands for, which of them have a gap function, and that none starts closed.

use super::{Named, Side, UNIQUE_NAMES, Validator, WILDCARD, rounded};
use crate::engine::geometry::meeting;
use crate::engine::{self, Facets, START_PENETRATION_TOLERANCE, Touch, deepest, gap};
use crate::model::assemble::{engine_shape, surface_shape};
use crate::model::diagnostics::{Problem, nearest};
use crate::model::file::{ContactEntry, ModelFile};
use crate::model::{Contact, Model, Node, NodeShape, Other, Surface};
use std::collections::{HashMap, HashSet};
use toml::Spanned;

/// Most contacts that a model may have, wildcards expanded.
pub const MAX_CONTACTS: usize = 1_000_000;

/// A node and what it may touch.
type Pair = (usize, Other);

/// The entry that decides on a pair, and how many of its two sides it names.
#[derive(Clone, Copy)]
struct Claim {
    entry: usize,
    named: usize,
}

/// Nodes and surfaces that can be in contact.
struct Shapes<'a> {
    nodes: &'a [Node],
    surfaces: &'a [Surface],
    node_shapes: Vec<engine::NodeShape>,
    surface_shapes: Vec<engine::SurfaceShape>,
    /// Nodes that a joint holds together: they do not touch unless told so.
    jointed: HashSet<(usize, usize)>,
}

impl Shapes<'_> {
    fn name(&self, named: Named) -> &str {
        match named {
            Named::Node(node) => &self.nodes[node].name,
            Named::Surface(surface) => &self.surfaces[surface].name,
        }
    }

    /// Whether a pair touches with features that follow from where its shapes are.
    fn meets_with_features(&self, (node, other): Pair) -> bool {
        let surface = match other {
            Other::Surface(surface) => Some(self.surface_shapes[surface]),
            Other::Node(other) => self.node_shapes[other].as_surface(),
        };
        let meeting = surface.and_then(|surface| meeting(&self.node_shapes[node], &surface));
        matches!(meeting, Some(engine::geometry::Meeting::Features(_)))
    }

    /// A node and another node or surface, in the order in which they have a gap function; none for two nodes that can
    /// never touch because neither has a volume.
    fn pair(&self, node: usize, other: Named) -> Option<Pair> {
        match other {
            Named::Surface(surface) => Some((node, Other::Surface(surface))),
            Named::Node(other) => {
                let touches = |first: usize, second: usize| {
                    meeting(&self.node_shapes[first], &self.node_shapes[second].as_surface()?)
                };
                let has_volume = |node: usize| {
                    !matches!(self.nodes[node].shape, NodeShape::Point | NodeShape::Points { .. })
                };
                if !has_volume(node) && !has_volume(other) {
                    None
                } else if touches(node, other).is_some() {
                    Some((node, Other::Node(other)))
                } else {
                    touches(other, node).map(|_| (other, Other::Node(node)))
                }
            }
        }
    }
}

impl<'a> Validator<'a> {
    /// The contacts of all entries. Where several entries cover the same pair, the one that names more of it wins.
    pub(super) fn contacts(
        &mut self,
        file: &'a ModelFile,
        nodes: &[Node],
        surfaces: &[Surface],
        facets: &[Facets],
    ) -> Vec<Contact> {
        let shapes = Shapes {
            nodes,
            surfaces,
            node_shapes: nodes
                .iter()
                .map(|node| engine_shape(&node.shape, &mut Vec::new(), facets))
                .collect(),
            surface_shapes: surfaces.iter().map(|surface| surface_shape(surface, facets)).collect(),
            jointed: self.jointed(file),
        };
        let mut claims: HashMap<Pair, Claim> = HashMap::new();
        let mut entries = Vec::new();
        let mut total = 0;
        for (index, entry) in file.contact.iter().enumerate() {
            if let Some(name) = &entry.name {
                self.entry_name(name);
            }
            let Some((pairs, named)) = self.pairs(entry, &shapes, &mut total) else { continue };
            let mut twice = None;
            for &pair in &pairs {
                let claim = claims.entry(pair).or_insert(Claim { entry: index, named });
                if claim.named < named {
                    *claim = Claim { entry: index, named };
                } else if claim.entry != index && claim.named == named {
                    twice = twice.or(Some(pair));
                }
            }
            if let Some((node, other)) = twice {
                let (node, other) = (&nodes[node].name, shapes.name(other.into()));
                let problem = Problem::at(
                    entry.between.span(),
                    format!("the contact between `{node}` and `{other}` is given twice"),
                );
                let is_wildcard = named < 2;
                self.problems.push(if is_wildcard {
                    problem.hint(format!("an entry between [\"{node}\", \"{other}\"] would decide"))
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
                let contact = self.contact(file, entry, name, &shapes, pair);
                contacts.push(contact);
            }
        }
        contacts
    }

    /// Pairs of nodes with a joint between them, the smaller index first.
    fn jointed(&self, file: &ModelFile) -> HashSet<(usize, usize)> {
        let node = |name: &Spanned<String>| match self.names.get(name.get_ref().as_str()) {
            Some(&Named::Node(node)) => Some(node),
            _ => None,
        };
        let pairs = file.joint.iter().filter_map(|entry| {
            let [first, second] = entry.between.get_ref();
            let (first, second) = (node(first)?, node(second)?);
            Some((first.min(second), first.max(second)))
        });
        pairs.collect()
    }

    /// The pairs that an entry stands for, and how many of its two sides are named.
    fn pairs(
        &mut self,
        entry: &ContactEntry,
        shapes: &Shapes,
        total: &mut usize,
    ) -> Option<(Vec<Pair>, usize)> {
        let [first, second] = entry.between.get_ref();
        let (sides, names) = ([self.side(first), self.side(second)], [first.get_ref(), second.get_ref()]);
        let [Some(first), Some(second)] = sides else { return None };
        let named = names.iter().filter(|name| **name != WILDCARD).count();
        if named < 2
            && let Some(name) = &entry.name
        {
            self.problems.push(
                Problem::at(
                    name.span(),
                    "an entry with \"*\" stands for several contacts and cannot have a name",
                )
                .hint("leave `name` out: each contact is called after its two sides"),
            );
        }
        let pairs = match (first, second) {
            (Side::One(first), Side::One(second)) => vec![self.named_pair(entry, shapes, first, second)?],
            (Side::One(one), Side::Any) | (Side::Any, Side::One(one)) => {
                let others = every_node(shapes).chain(every_surface(shapes));
                self.wild_pairs(entry, shapes, others.map(|other| (one, other)), total)?
            }
            (Side::Any, Side::Any) => {
                let nodes = shapes.nodes.len();
                let with_nodes = (0..nodes)
                    .flat_map(|node| (node + 1..nodes).map(move |other| (node, Named::Node(other))));
                let with_surfaces =
                    (0..nodes).flat_map(|node| every_surface(shapes).map(move |other| (node, other)));
                let all = with_surfaces.chain(with_nodes).map(|(node, other)| (Named::Node(node), other));
                self.wild_pairs(entry, shapes, all, total)?
            }
        };
        Some((pairs, named))
    }

    /// The pair of two sides that are named.
    fn named_pair(
        &mut self,
        entry: &ContactEntry,
        shapes: &Shapes,
        first: Named,
        second: Named,
    ) -> Option<Pair> {
        let names = [shapes.name(first), shapes.name(second)];
        let (message, hint) = match (first, second) {
            (Named::Surface(_), Named::Surface(_)) => (
                format!("`{}` and `{}` are both surfaces", names[0], names[1]),
                "a contact is between a node and a surface, or between two nodes",
            ),
            (Named::Node(one), Named::Node(same)) if one == same => (
                format!("`{}` cannot touch itself", names[0]),
                "a contact is between a node and a surface, or between two nodes",
            ),
            (Named::Node(node), other) | (other, Named::Node(node)) => match shapes.pair(node, other) {
                Some(pair) => return Some(pair),
                None => (
                    format!("`{}` and `{}` can never touch: both are points", names[0], names[1]),
                    "give one of them a shape with a volume, such as shape.sphere.radius",
                ),
            },
        };
        self.problems.push(Problem::at(entry.between.span(), message).hint(hint));
        None
    }

    /// Those of the pairs that can touch.
    fn wild_pairs(
        &mut self,
        entry: &ContactEntry,
        shapes: &Shapes,
        candidates: impl Iterator<Item = (Named, Named)>,
        total: &mut usize,
    ) -> Option<Vec<Pair>> {
        let mut pairs = Vec::new();
        for (first, second) in candidates {
            let (node, other) = match (first, second) {
                (Named::Surface(_), Named::Surface(_)) => continue,
                (Named::Node(one), Named::Node(other)) => {
                    let is_jointed = shapes.jointed.contains(&(one.min(other), one.max(other)));
                    if one == other || is_jointed {
                        continue;
                    }
                    (one, second)
                }
                (Named::Node(node), other) | (other, Named::Node(node)) => (node, other),
            };
            let Some(pair) = shapes.pair(node, other) else { continue };
            pairs.push(pair);
            *total += 1;
            if *total > MAX_CONTACTS {
                let message = format!("the model has more than {MAX_CONTACTS} contacts");
                self.problems
                    .push(Problem::at(entry.between.span(), message).hint("name the pairs that can touch"));
                return None;
            }
        }
        Some(pairs)
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
        shapes: &Shapes,
        (node, other): Pair,
    ) -> Contact {
        let (name, span) = match given_name {
            Some(name) => (name.get_ref().clone(), name.span()),
            None => {
                let name = self.default_name(entry, shapes, (node, other));
                (name, entry.between.span())
            }
        };
        let hint = if given_name.is_some() { UNIQUE_NAMES } else { "give this contact a `name`" };
        self.is_taken(&name, span, hint);
        self.other_names.insert(name.clone(), "contact");
        let (friction, mu) = self.friction(file, entry, node);
        let normal_stiffness =
            entry.normal_stiffness.as_ref().map_or(f64::INFINITY, |given| *given.get_ref());
        let restitution = entry.restitution.as_ref().map_or(0.0, |given| *given.get_ref());
        let hard =
            Contact { name, node, other, restitution, mu, friction, normal_stiffness, compliance: None };
        match &entry.compliance {
            None => hard,
            Some(written) => {
                if shapes.meets_with_features((node, other)) {
                    let message = format!(
                        "`compliance` is for contacts of fixed points, and `{}` touches `{}` with whichever edges and corners are near",
                        shapes.nodes[node].name,
                        shapes.name(other.into())
                    );
                    let hint = "leave it out: the contact is hard then";
                    self.problems.push(Problem::at(written.span(), message).hint(hint));
                }
                self.continuous(file, entry, written, hard)
            }
        }
    }

    /// The names of the two sides: as they are written, or, of a wildcard, the node and what it touches. Of two nodes the
    /// first in the file comes first.
    fn default_name(&self, entry: &ContactEntry, shapes: &Shapes, (node, other): Pair) -> String {
        let [first, second] = entry.between.get_ref().each_ref().map(|name| name.get_ref().as_str());
        let is_two_nodes = matches!(other, Other::Node(_));
        if is_two_nodes && first != WILDCARD && second != WILDCARD {
            return format!("{first}_{second}");
        }
        let (one, two) = match other {
            Other::Node(second) if second < node => (second, Named::Node(node)),
            _ => (node, other.into()),
        };
        format!("{}_{}", shapes.nodes[one].name, shapes.name(two))
    }

    /// No node starts inside what it has a hard contact with.
    pub(super) fn starts_outside(&mut self, file: &ModelFile, model: &Model) {
        let (system, state) = model.assemble();
        for (index, contact) in model.contacts.iter().enumerate() {
            let depth = -gap(&system, &state, index);
            if depth <= START_PENETRATION_TOLERANCE || contact.compliance.is_some() {
                continue;
            }
            let mut touch = Touch::blank();
            touch.look(&system, &state, index, deepest(&system, &state, index).unwrap_or(0));
            let normal = touch.normal;
            if normal.norm_squared() == 0.0 {
                continue;
            }
            let entry = &file.node[contact.node];
            let span = entry.position.as_ref().map_or(entry.name.span(), |position| position.span());
            let depth = rounded(depth);
            let (node, other) = (&model.nodes[contact.node].name, model.name_of(contact.other));
            self.problems.push(
                Problem::at(span, format!("`{node}` starts {depth} m inside `{other}`")).hint(format!(
                    "move `position` by {depth} m along the normal [{}, {}, {}] of `{other}`, or further, or set `allow_initial_penetration = true` in [engine]",
                    rounded(normal[0]),
                    rounded(normal[1]),
                    rounded(normal[2]),
                )),
            );
        }
    }
}

fn every_node(shapes: &Shapes) -> impl Iterator<Item = Named> + use<> {
    (0..shapes.nodes.len()).map(Named::Node)
}

fn every_surface(shapes: &Shapes) -> impl Iterator<Item = Named> + use<> {
    (0..shapes.surfaces.len()).map(Named::Surface)
}

impl From<Other> for Named {
    fn from(other: Other) -> Named {
        match other {
            Other::Surface(surface) => Named::Surface(surface),
            Other::Node(node) => Named::Node(node),
        }
    }
}
