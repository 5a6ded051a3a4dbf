//! Rules of contacts: which pairs an entry stands for, which of them have a gap function, and that none starts closed.

use super::group::{BOTH_NAMED, Side, covers, may_be_group, rank, shared};
use super::{Named, UNIQUE_NAMES, Validator, rounded};
use crate::engine::geometry::meeting;
use crate::engine::{self, Facets, START_PENETRATION_TOLERANCE, Touch, deepest, gap, nearest_pair};
use crate::model::assemble::{engine_shape, surface_shape};
use crate::model::diagnostics::{Problem, nearest};
use crate::model::file::{ContactEntry, ModelFile};
use crate::model::{Between, Contact, Group, Model, Node, NodeShape, Other, Surface};
use std::collections::{HashMap, HashSet};
use toml::Spanned;

/// Most contacts that a model may have, wildcards expanded.
pub const MAX_CONTACTS: usize = 1_000_000;

/// Pairs of an entry without a name beyond which it is a group, with one set of variables: more are of no use to a reader
/// or a master.
pub const MOST_SHOWN_PAIRS: usize = 10_000;

/// A node and what it may touch.
type Pair = (usize, Other);

/// The entry that decides on a pair, and how particular its names are.
#[derive(Clone, Copy)]
struct Claim {
    entry: usize,
    rank: u32,
}

/// What an entry stands for.
enum Meant {
    Pairs(Vec<Pair>),
    Group(Group),
}

/// Nodes and surfaces that can be in contact.
pub(super) struct Shapes<'a> {
    pub nodes: &'a [Node],
    pub surfaces: &'a [Surface],
    node_shapes: Vec<engine::NodeShape>,
    surface_shapes: Vec<engine::SurfaceShape>,
    /// Nodes that a joint holds together: they do not touch unless told so.
    jointed: HashSet<(usize, usize)>,
}

impl Shapes<'_> {
    pub fn name(&self, named: Named) -> &str {
        match named {
            Named::Node(node) => &self.nodes[node].name,
            Named::Surface(surface) => &self.surfaces[surface].name,
        }
    }

    /// Whether a pair has points of its own at any pose: not where it touches with features that follow from where its
    /// shapes are, unless one is always the nearest.
    fn has_fixed_points(&self, (node, other): Pair) -> bool {
        let surface = match other {
            Other::Surface(surface) => Some(self.surface_shapes[surface]),
            Other::Node(other) => self.node_shapes[other].as_surface(),
        };
        let shape = &self.node_shapes[node];
        surface.is_none_or(|surface| {
            !matches!(meeting(shape, &surface), Some(engine::geometry::Meeting::Features(_)))
                || engine::geometry::has_nearest_point(shape, &surface)
        })
    }

    /// A node and another node or surface, in the order in which they have a gap function; none for two nodes that can
    /// never touch because neither has a volume.
    pub(super) fn pair(&self, node: usize, other: Named) -> Option<Pair> {
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
            let Some(meant) = self.meant(entry, &shapes, &mut total) else { continue };
            let rank = rank_of(entry);
            let mut twice = None;
            if let Meant::Pairs(pairs) = &meant {
                for &pair in pairs {
                    let claim = claims.entry(pair).or_insert(Claim { entry: index, rank });
                    if claim.rank < rank {
                        *claim = Claim { entry: index, rank };
                    } else if claim.entry != index && claim.rank == rank {
                        twice = twice.or(Some(pair));
                    }
                }
            }
            entries.push((index, entry, meant));
            if let Some(pair) = twice {
                self.given_twice(entry, &shapes, pair);
            }
        }
        self.sort_out_groups(&entries, &shapes, &mut claims);
        let mut contacts = Vec::new();
        for (index, entry, meant) in entries {
            match meant {
                Meant::Group(group) => {
                    let contact = self.contact_of_group(file, entry, group);
                    contacts.push(contact);
                }
                Meant::Pairs(pairs) => {
                    let own = |pair: &Pair| claims.get(pair).is_some_and(|claim| claim.entry == index);
                    for pair in pairs.into_iter().filter(own) {
                        let contact = self.contact(file, entry, &shapes, pair);
                        contacts.push(contact);
                    }
                }
            }
        }
        contacts
    }

    /// Takes the pairs of groups from entries that are less particular. Two groups may share pairs if one is more
    /// particular.
    fn sort_out_groups(
        &mut self,
        entries: &[(usize, &ContactEntry, Meant)],
        shapes: &Shapes,
        claims: &mut HashMap<Pair, Claim>,
    ) {
        let groups = entries.iter().filter_map(|(_, entry, meant)| match meant {
            Meant::Group(group) => Some((*entry, group)),
            Meant::Pairs(_) => None,
        });
        let groups: Vec<_> = groups.collect();
        for (place, &(entry, group)) in groups.iter().enumerate() {
            let mut twice = None;
            claims.retain(|&pair, claim| {
                let is_covered = claim.rank <= group.rank && covers(group, pair);
                if is_covered && claim.rank == group.rank {
                    // The first in the file, whatever order the pairs come in.
                    let order = |(node, other): Pair| (node, shapes.name(other.into()));
                    twice = twice.into_iter().chain([pair]).min_by_key(|&pair| order(pair));
                }
                !(is_covered && claim.rank < group.rank)
            });
            let others = groups[..place].iter().filter(|(_, other)| other.rank == group.rank);
            let twice = twice.or_else(|| others.into_iter().find_map(|(_, other)| shared(other, group)));
            if let Some(pair) = twice {
                self.given_twice(entry, shapes, pair);
            }
        }
    }

    fn given_twice(&mut self, entry: &ContactEntry, shapes: &Shapes, (node, other): Pair) {
        let (node, other) = (&shapes.nodes[node].name, shapes.name(other.into()));
        let message = format!("the contact between `{node}` and `{other}` is given twice");
        let problem = Problem::at(entry.between.span(), message);
        self.problems.push(if rank_of(entry) < BOTH_NAMED {
            problem.hint(format!("an entry between [\"{node}\", \"{other}\"] would decide"))
        } else {
            problem.hint("remove one of the two entries")
        });
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

    /// What an entry stands for.
    fn meant(&mut self, entry: &ContactEntry, shapes: &Shapes, total: &mut usize) -> Option<Meant> {
        let [first, second] = entry.between.get_ref();
        let [Some(first), Some(second)] = [self.side(first, shapes), self.side(second, shapes)] else {
            return None;
        };
        let is_several = rank_of(entry) < BOTH_NAMED;
        let pairs = [&first, &second].map(Side::count).iter().product::<usize>();
        if is_several && (entry.name.is_some() || (pairs > MOST_SHOWN_PAIRS && may_be_group(entry))) {
            return self.group(entry, &[first, second]).map(Meant::Group);
        }
        let pairs = match (first, second) {
            (Side::One(first), Side::One(second)) => vec![self.named_pair(entry, shapes, first, second)?],
            (Side::One(one), Side::Many(many)) | (Side::Many(many), Side::One(one)) => {
                self.wild_pairs(entry, shapes, many.into_iter().map(|other| (one, other)), total)?
            }
            (Side::Many(first), Side::Many(second)) => {
                // Of two that are on both sides, once; pairs with surfaces first.
                let place = |named: Named| match named {
                    Named::Node(node) => node,
                    Named::Surface(surface) => shapes.nodes.len() + surface,
                };
                let on_side =
                    |side: &[Named]| -> HashSet<usize> { side.iter().copied().map(place).collect() };
                let (on_first, on_second) = (on_side(&first), on_side(&second));
                let is_again = |one: Named, other: Named| {
                    let (one, other) = (place(one), place(other));
                    other < one && on_first.contains(&other) && on_second.contains(&one)
                };
                let is_flat = |one: Named, other: Named| {
                    matches!(one, Named::Surface(_)) || matches!(other, Named::Surface(_))
                };
                let all = || first.iter().flat_map(|&one| second.iter().map(move |&other| (one, other)));
                let once = || all().filter(|&(one, other)| !is_again(one, other));
                let with_surfaces = once().filter(|&(one, other)| is_flat(one, other));
                let with_nodes = once().filter(|&(one, other)| !is_flat(one, other));
                self.wild_pairs(entry, shapes, with_surfaces.chain(with_nodes), total)?
            }
        };
        Some(Meant::Pairs(pairs))
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

    /// What a name stands for.
    pub(super) fn one_side(&mut self, name: &Spanned<String>) -> Option<Named> {
        let text = name.get_ref().as_str();
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
        named
    }

    fn contact_of_group(&mut self, file: &ModelFile, entry: &ContactEntry, group: Group) -> Contact {
        let (name, span) = match &entry.name {
            Some(name) => (name.get_ref().clone(), name.span()),
            None => (name_of_group(entry), entry.between.span()),
        };
        self.is_taken(&name, span, UNIQUE_NAMES);
        self.other_names.insert(name.clone(), "contact");
        let (friction, mu) = self.friction(file, entry, 0);
        let restitution = entry.restitution.as_ref().map_or(0.0, |given| *given.get_ref());
        let between = Between::Group(group);
        let normal_stiffness = f64::INFINITY;
        Contact { name, between, restitution, mu, friction, normal_stiffness, compliance: None }
    }

    fn contact(
        &mut self,
        file: &ModelFile,
        entry: &ContactEntry,
        shapes: &Shapes,
        (node, other): Pair,
    ) -> Contact {
        let given_name = entry.name.as_ref();
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
        let between = Between::Pair { node, other };
        let hard = Contact { name, between, restitution, mu, friction, normal_stiffness, compliance: None };
        match &entry.compliance {
            None => hard,
            Some(written) => {
                if !shapes.has_fixed_points((node, other)) {
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
        if is_two_nodes && !first.contains('*') && !second.contains('*') {
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
            let sides = match contact.between {
                Between::Pair { .. } => Some(system.contacts[index].sides()),
                Between::Group(_) => nearest_pair(&system, &state, index).map(|(sides, _)| sides),
            };
            let Some(sides) = sides else { continue };
            let mut touch = Touch::blank();
            touch.look_at(&system, &state, index, sides, deepest(&system, &state, sides).unwrap_or(0));
            let normal = touch.normal;
            if normal.norm_squared() == 0.0 {
                continue;
            }
            let entry = &file.node[sides.node];
            let span = entry.position.as_ref().map_or(entry.name.span(), |position| position.span());
            let depth = rounded(depth);
            let other = match contact.between {
                Between::Pair { other, .. } => other,
                Between::Group(_) if sides.surface < model.surfaces.len() => Other::Surface(sides.surface),
                Between::Group(_) => Other::Node(system.surfaces[sides.surface].body.unwrap_or(sides.node)),
            };
            let (node, other) = (&model.nodes[sides.node].name, model.name_of(other));
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

/// How particular the names of an entry are.
fn rank_of(entry: &ContactEntry) -> u32 {
    entry.between.get_ref().iter().map(|name| rank(name.get_ref())).sum()
}

impl From<Other> for Named {
    fn from(other: Other) -> Named {
        match other {
            Other::Surface(surface) => Named::Surface(surface),
            Other::Node(node) => Named::Node(node),
        }
    }
}

/// Name of a group whose entry has none: `["*", "floor"]` is `all_floor`.
fn name_of_group(entry: &ContactEntry) -> String {
    let [first, second] = entry.between.get_ref().each_ref().map(|name| name.get_ref().replace('*', "all"));
    if first == second { first } else { format!("{first}_{second}") }
}
