//! Vectors and quaternions of the table as arrays, and those of numbered bodies (`ball_1`, `ball_2`, ... as `copies` makes
//! them) as one array over all of them.

use super::{Slot, Variable};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A scalar, the components of a vector or quaternion, or those of several bodies, body by body.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    /// Name, without an index where it has several components, and without the number of a body where it has several.
    pub name: Cow<'a, str>,
    /// Position of the first component in the table, and so the value reference.
    pub first: usize,
    /// Positions of all components.
    pub positions: Vec<usize>,
    /// Sizes; none for a scalar.
    pub dimensions: Vec<usize>,
    table: &'a [Variable],
}

impl<'a> Array<'a> {
    /// What all components have in common.
    pub fn head(&self) -> &'a Variable {
        &self.table[self.first]
    }

    /// Components.
    pub fn rows(&self) -> impl Iterator<Item = &'a Variable> {
        self.positions.iter().map(|&position| &self.table[position])
    }

    /// Number of components.
    pub fn size(&self) -> usize {
        self.positions.len()
    }

    /// Whether it is of several bodies.
    pub fn is_over_bodies(&self) -> bool {
        !self.head().name.starts_with(self.name.as_ref())
    }

    /// Description of all components together.
    pub fn description(&self) -> Cow<'a, str> {
        let head = self.head();
        let text = head.description.as_str();
        let is_vector = head.name.ends_with(']') && !self.dimensions.is_empty();
        let whole = if is_vector { text.rsplit_once(", ").map(|(whole, _)| whole) } else { None };
        let whole = whole.unwrap_or(text);
        if !self.is_over_bodies() {
            return Cow::Borrowed(whole);
        }
        let body = |position: usize| self.table[position].name.split('.').next().unwrap_or_default();
        let (first, last) = (body(self.first), body(*self.positions.last().expect("not empty")));
        Cow::Owned(whole.replace(first, &format!("{first} to {last}")))
    }
}

/// All variables of a table one by one.
pub fn singles(table: &[Variable]) -> impl Iterator<Item = Array<'_>> {
    table.iter().enumerate().map(|(position, variable)| Array {
        name: Cow::Borrowed(&variable.name),
        first: position,
        positions: vec![position],
        dimensions: Vec::new(),
        table,
    })
}

/// All variables of a table in its order, components taken together. A vector of which a model does not show all
/// components stays in pieces, as do bodies that do not show the same.
pub fn arrays(table: &[Variable]) -> Vec<Array<'_>> {
    let vectors = vectors(table);
    let mut taken = vec![false; vectors.len()];
    let mut found = Vec::new();
    for members in over_bodies(table, &vectors) {
        let head = &vectors[members[0]];
        let (stem, _, rest) = numbered(&head.name).expect("a numbered body");
        let mut dimensions = vec![members.len()];
        dimensions.extend(&head.dimensions);
        found.push(Array {
            name: Cow::Owned(format!("{stem}.{rest}")),
            first: head.first,
            positions: members.iter().flat_map(|&member| vectors[member].positions.clone()).collect(),
            dimensions,
            table,
        });
        members.iter().for_each(|&member| taken[member] = true);
    }
    let single = vectors.into_iter().zip(taken).filter(|(_, taken)| !taken).map(|(vector, _)| vector);
    found.extend(single);
    found.sort_by_key(|array| array.first);
    found
}

/// Scalars, vectors and quaternions.
fn vectors(table: &[Variable]) -> Vec<Array<'_>> {
    let mut vectors = Vec::new();
    let mut first = 0;
    while first < table.len() {
        let length = length_at(&table[first..]);
        let name = table[first].name.as_str();
        let name = if length > 1 { stem(name).map_or(name, |(stem, _)| stem) } else { name };
        vectors.push(Array {
            name: Cow::Borrowed(name),
            first,
            positions: (first..first + length).collect(),
            dimensions: if length > 1 { vec![length] } else { Vec::new() },
            table,
        });
        first += length;
    }
    vectors
}

/// Lists of vectors that are the same of bodies 1, 2, ... of one name, which the FMU moves itself: those that a master moves
/// are connected one by one.
fn over_bodies(table: &[Variable], vectors: &[Array]) -> Vec<Vec<usize>> {
    let names: BTreeSet<&str> = table.iter().map(|variable| variable.name.as_str()).collect();
    let is_moved = |variable: &&Variable| matches!(variable.slot, Slot::GivenPosition { .. });
    let moved: BTreeSet<&str> =
        table.iter().filter(is_moved).filter_map(|variable| variable.name.split('.').next()).collect();
    // Members of each list, and whether it lacks some that should be there.
    let mut lists: BTreeMap<(&str, &str), (Vec<usize>, bool)> = BTreeMap::new();
    for (index, vector) in vectors.iter().enumerate() {
        let body = vector.name.split('.').next().unwrap_or_default();
        if let Some((stem, number, rest)) = numbered(&vector.name) {
            let (list, has_gaps) = lists.entry((stem, rest)).or_default();
            *has_gaps |= number != list.len() + 1 || !is_of_body(vector.head().slot) || moved.contains(body);
            list.push(index);
        }
    }
    let is_alike = |one: &Array, other: &Array| {
        let (a, b) = (one.head(), other.head());
        let what = |row: &Variable| (row.kind, row.causality, row.variability, row.initial, row.range);
        one.size() == other.size() && what(a) == what(b)
    };
    lists
        .into_iter()
        .filter(|((stem, rest), (list, has_gaps))| {
            let is_free = !names.contains(format!("{stem}.{rest}").as_str())
                && !names.contains(format!("{stem}.{rest}[1]").as_str());
            list.len() > 1
                && is_free
                && !has_gaps
                && list.iter().all(|&member| is_alike(&vectors[list[0]], &vectors[member]))
        })
        .map(|(_, (list, _))| list)
        .collect()
}

fn is_of_body(slot: Slot) -> bool {
    matches!(
        slot,
        Slot::NodePosition { .. }
            | Slot::NodeVelocity { .. }
            | Slot::NodeOrientation { .. }
            | Slot::NodeAngularVelocity { .. }
            | Slot::ExternalForce { .. }
            | Slot::ExternalTorque { .. }
            | Slot::NodeForce { .. }
            | Slot::NodeTorque { .. }
            | Slot::NodeMass { .. }
    )
}

/// `ball`, 7 and `r` of `ball_7.r`.
fn numbered(name: &str) -> Option<(&str, usize, &str)> {
    let (body, rest) = name.split_once('.')?;
    let (stem, number) = body.rsplit_once('_')?;
    let number: usize = number.parse().ok().filter(|known: &usize| known.to_string() == number)?;
    Some((stem, number, rest))
}

/// Components of the array that a table begins with; one where it begins with a scalar.
fn length_at(table: &[Variable]) -> usize {
    let components = match table[0].slot {
        slot if is_quaternion(slot) => 4,
        Slot::GivenInverseMass { row, column } if row / 3 == column / 3 => 6,
        Slot::GivenInverseMass { .. } => 9,
        _ => 3,
    };
    let Some((whole, _)) = stem(&table[0].name) else { return 1 };
    let is_component = |(index, row): (usize, &Variable)| {
        stem(&row.name).is_some_and(|(name, number)| name == whole && number == (index + 1).to_string())
    };
    match table.get(..components) {
        Some(rows) if rows.iter().enumerate().all(is_component) => components,
        _ => 1,
    }
}

fn is_quaternion(slot: Slot) -> bool {
    matches!(slot, Slot::NodeOrientation { .. } | Slot::GivenOrientation { .. })
}

/// Name and index of a component.
fn stem(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(']')?.rsplit_once('[')
}
