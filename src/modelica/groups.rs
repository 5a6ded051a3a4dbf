//! Rows of the variable table that belong together: the components of a vector, or one scalar.

use crate::variables::{Kind, Variable};

/// Variables `NAME[1]`, `NAME[2]`, ... or the one variable `NAME`.
pub struct Group<'a> {
    /// Name in the FMU, without index.
    pub name: &'a str,
    /// Value reference of the first.
    pub first: usize,
    /// Its rows.
    pub rows: &'a [Variable],
}

impl<'a> Group<'a> {
    /// All groups of a table, in its order.
    pub fn of(table: &'a [Variable]) -> Vec<Group<'a>> {
        let mut first = 0;
        table
            .chunk_by(|one, next| base(&one.name).is_some() && base(&one.name) == base(&next.name))
            .map(|rows| {
                let name = base(&rows[0].name).unwrap_or(&rows[0].name);
                let group = Group { name, first, rows };
                first += rows.len();
                group
            })
            .collect()
    }

    /// What decides about the whole group.
    pub fn head(&self) -> &'a Variable {
        &self.rows[0]
    }

    /// Whether it is an array in Modelica too.
    pub fn is_vector(&self) -> bool {
        base(&self.head().name).is_some()
    }

    /// Value references.
    pub fn references(&self) -> impl Iterator<Item = usize> + use<> {
        self.first..self.first + self.rows.len()
    }

    /// Description without the name of the component at its end, in words of Modelica.
    pub fn description(&self) -> String {
        let text = self.head().description.as_str();
        let text =
            if self.is_vector() { text.rsplit_once(", ").map_or(text, |(text, _)| text) } else { text };
        text.replace(", given by the master", "")
            .replace(
                " for the master to apply and hold over its next step",
                ", world components, held over the period",
            )
            .replace("the master applies", "the model applies")
    }

    /// What it belongs to: a node, surface, contact, spring or joint; none for the engine's own.
    pub fn owner(&self) -> Option<&'a str> {
        self.name.split_once('.').map(|(owner, _)| owner).filter(|owner| *owner != "engine")
    }

    /// Modelica type with its modifiers besides `more`, in which arrays want `each`.
    pub fn declaration(&self, name: &str, more: &[String]) -> String {
        let (size, each) = match self.is_vector() {
            true => (format!("[{}]", self.rows.len()), "each "),
            false => (String::new(), ""),
        };
        let (type_name, unit) = match self.head().kind {
            Kind::Integer | Kind::Clock => ("Integer".to_owned(), None),
            Kind::Real(unit) => match unit.quantity() {
                Some(quantity) => (format!("SI.{quantity}"), None),
                None => ("Real".to_owned(), Some(format!("unit = \"{}\"", unit.name()))),
            },
        };
        let modifiers: Vec<String> =
            unit.iter().chain(more).map(|modifier| format!("{each}{modifier}")).collect();
        let modifiers =
            if modifiers.is_empty() { String::new() } else { format!("({})", modifiers.join(", ")) };
        format!("{type_name} {name}{size}{modifiers}")
    }
}

fn base(name: &str) -> Option<&str> {
    name.split_once('[').map(|(base, _)| base)
}
