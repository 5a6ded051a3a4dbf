//! Rules of groups: contacts with a name between several nodes and surfaces, and names with `*`.

use super::contact::Shapes;
use super::{Named, Validator};
use crate::model::diagnostics::Problem;
use crate::model::file::ContactEntry;
use crate::model::friction::FrictionEntry;
use crate::model::pattern::fits;
use crate::model::{Group, Members, Other};
use toml::Spanned;

/// One side of a contact.
pub(super) enum Side {
    /// A name.
    One(Named),
    /// What a pattern fits.
    Many(Vec<Named>),
}

impl Side {
    /// How many it stands for.
    pub(super) fn count(&self) -> usize {
        match self {
            Side::One(_) => 1,
            Side::Many(many) => many.len(),
        }
    }
}

/// Whether a group can have the laws of an entry.
pub(super) fn may_be_group(entry: &ContactEntry) -> bool {
    let is_bounded = |friction: &FrictionEntry| {
        matches!(friction, FrictionEntry::Box { .. } | FrictionEntry::Bristle { .. })
    };
    !entry.friction.as_ref().is_some_and(|friction| is_bounded(friction.get_ref()))
        && entry.normal_stiffness.is_none()
        && entry.compliance.is_none()
}

/// How particular a name is: two names of a contact together decide which entry has a pair.
pub(super) fn rank(name: &str) -> u32 {
    match name {
        "*" => 0,
        _ if name.contains('*') => 1,
        _ => 2,
    }
}

/// Rank of an entry with two names that are exact.
pub(super) const BOTH_NAMED: u32 = 4;

impl Validator<'_> {
    /// What a name of a contact stands for.
    pub(super) fn side(&mut self, name: &Spanned<String>, shapes: &Shapes) -> Option<Side> {
        let text = name.get_ref().as_str();
        if !text.contains('*') {
            return self.one_side(name).map(Side::One);
        }
        let nodes = (0..shapes.nodes.len()).map(Named::Node);
        let surfaces = (0..shapes.surfaces.len()).map(Named::Surface);
        let many: Vec<Named> =
            nodes.chain(surfaces).filter(|named| fits(text, shapes.name(*named))).collect();
        if many.is_empty() {
            self.problems.push(
                Problem::at(name.span(), format!("no node or surface has a name like `{text}`"))
                    .hint("\"*\" stands for any characters: \"ball_*\" for ball_1, ball_2 and so on"),
            );
            return None;
        }
        Some(Side::Many(many))
    }

    /// The group that an entry with a name means.
    pub(super) fn group(&mut self, entry: &ContactEntry, sides: &[Side; 2]) -> Option<Group> {
        let before = self.problems.len();
        if let Some(friction) = &entry.friction
            && matches!(friction.get_ref(), FrictionEntry::Box { .. } | FrictionEntry::Bristle { .. })
        {
            let message = "a group has friction.cone or friction.facets only";
            let hint = "leave `name` out: every pair then is a contact of its own";
            self.problems.push(Problem::at(friction.span(), message).hint(hint));
        }
        let others = [
            ("normal_stiffness", entry.normal_stiffness.as_ref().map(Spanned::span)),
            ("compliance", entry.compliance.as_ref().map(Spanned::span)),
        ];
        for (key, span) in others {
            if let Some(span) = span {
                let hint = "leave it out, or `name`: every pair then is a contact of its own";
                self.problems.push(Problem::at(span, format!("a group has no `{key}`")).hint(hint));
            }
        }
        let members = sides.each_ref().map(|side| match side {
            Side::One(named) => std::slice::from_ref(named),
            Side::Many(many) => many.as_slice(),
        });
        let names = entry.between.get_ref().each_ref().map(|name| rank(name.get_ref()));
        let group = Group { sides: members.map(split), rank: names.iter().sum() };
        if !can_touch(&group) && self.problems.len() == before {
            let message = "no two of these can touch";
            let hint = "a contact is between a node and a surface, or between two nodes";
            self.problems.push(Problem::at(entry.between.span(), message).hint(hint));
        }
        (self.problems.len() == before).then_some(group)
    }
}

fn split(side: &[Named]) -> Members {
    let mut members = Members::default();
    for &named in side {
        match named {
            Named::Node(node) => members.nodes.push(node),
            Named::Surface(surface) => members.surfaces.push(surface),
        }
    }
    members
}

/// Whether a group has a pair at all.
fn can_touch(group: &Group) -> bool {
    let [one, other] = &group.sides;
    let with_surfaces = |one: &Members, other: &Members| !one.nodes.is_empty() && !other.surfaces.is_empty();
    let two_nodes = one.nodes.iter().any(|first| other.nodes.iter().any(|second| first != second));
    with_surfaces(one, other) || with_surfaces(other, one) || two_nodes
}

/// Whether a group has a pair.
pub(super) fn covers(group: &Group, (node, other): (usize, Other)) -> bool {
    let has = |side: &Members, named: Other| match named {
        Other::Node(node) => side.nodes.binary_search(&node).is_ok(),
        Other::Surface(surface) => side.surfaces.binary_search(&surface).is_ok(),
    };
    let [one, two] = &group.sides;
    let node = Other::Node(node);
    (has(one, node) && has(two, other)) || (has(two, node) && has(one, other))
}

/// A pair that two groups share, if there is one.
pub(super) fn shared(one: &Group, other: &Group) -> Option<(usize, Other)> {
    let both = |first: &[usize], second: &[usize]| -> Vec<usize> {
        first.iter().filter(|index| second.binary_search(index).is_ok()).copied().take(2).collect()
    };
    for order in [[0, 1], [1, 0]] {
        let common = [0, 1].map(|side| Members {
            nodes: both(&one.sides[side].nodes, &other.sides[order[side]].nodes),
            surfaces: both(&one.sides[side].surfaces, &other.sides[order[side]].surfaces),
        });
        for [first, second] in [[&common[0], &common[1]], [&common[1], &common[0]]] {
            let Some(&node) = first.nodes.first() else { continue };
            if let Some(&surface) = second.surfaces.first() {
                return Some((node, Other::Surface(surface)));
            }
            let mut nodes =
                first.nodes.iter().flat_map(|one| second.nodes.iter().map(move |other| (one, other)));
            if let Some((one, other)) = nodes.find(|(one, other)| one != other) {
                return Some((*one, Other::Node(*other)));
            }
        }
    }
    None
}
