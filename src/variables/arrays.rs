//! Vectors and quaternions of the table as arrays.

use super::{Slot, Variable};
use std::borrow::Cow;

/// A scalar, or the components of a vector or quaternion.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    /// Name, without an index where it has several components.
    pub name: &'a str,
    /// Position of the first component in the table, and so the value reference.
    pub first: usize,
    /// Components.
    pub rows: &'a [Variable],
}

impl<'a> Array<'a> {
    /// What all components have in common.
    pub fn head(&self) -> &'a Variable {
        &self.rows[0]
    }

    /// Whether it has components.
    pub fn is_array(&self) -> bool {
        self.rows.len() > 1
    }

    /// Description of all components together.
    pub fn description(&self) -> Cow<'a, str> {
        let text = self.head().description.as_str();
        let whole = if self.is_array() { text.rsplit_once(", ").map(|(whole, _)| whole) } else { None };
        Cow::Borrowed(whole.unwrap_or(text))
    }
}

/// All variables of a table in its order, components taken together. A vector of which a model does not show all
/// components stays in pieces.
pub fn arrays(table: &[Variable]) -> Vec<Array<'_>> {
    let mut arrays = Vec::new();
    let mut first = 0;
    while first < table.len() {
        let length = length_at(&table[first..]);
        let name = table[first].name.as_str();
        let name = if length > 1 { stem(name).map_or(name, |(stem, _)| stem) } else { name };
        arrays.push(Array { name, first, rows: &table[first..first + length] });
        first += length;
    }
    arrays
}

/// Components of the array that a table begins with; one where it begins with a scalar.
fn length_at(table: &[Variable]) -> usize {
    let components = if is_quaternion(table[0].slot) { 4 } else { 3 };
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
