//! Units of the system. Where FMUs mean different things by the same name, the name gets that of the FMU.

use super::Component;
use crate::description::{BaseUnit, ScalarVariable};

/// Units of all components, each once.
#[derive(Default)]
pub struct Units<'a> {
    /// Name in the system and what it is.
    pub list: Vec<(String, &'a BaseUnit)>,
}

impl<'a> Units<'a> {
    /// Those that connectors have.
    pub fn of(components: &'a [Component]) -> Units<'a> {
        let mut units = Units::default();
        for component in components {
            for (variable, _) in component.connectors() {
                if let Some((name, base)) = base_unit(component, variable)
                    && units.find(name, base, component).is_none()
                {
                    let is_taken = units.list.iter().any(|(known, _)| known == name);
                    let name = if is_taken { qualified(name, component) } else { name.to_owned() };
                    units.list.push((name, base));
                }
            }
        }
        units
    }

    /// Name in the system of a variable's unit; none if the FMU does not say what it is.
    pub fn name(&self, component: &Component, variable: &ScalarVariable) -> Option<&str> {
        let (name, base) = base_unit(component, variable)?;
        self.find(name, base, component)
    }

    fn find(&self, name: &str, base: &BaseUnit, component: &Component) -> Option<&str> {
        let entries = self.list.iter().filter(|(_, known)| *known == base).map(|(name, _)| name.as_str());
        entries.into_iter().find(|known| *known == name || *known == qualified(name, component))
    }
}

/// Unit of a variable as its FMU defines it.
pub fn base_unit<'a>(
    component: &'a Component,
    variable: &'a ScalarVariable,
) -> Option<(&'a str, &'a BaseUnit)> {
    let name = component.description.unit_of(variable)?;
    let definition = component.description.unit_definitions.iter().find(|unit| unit.name == name)?;
    Some((name, definition.base_unit.as_ref()?))
}

fn qualified(name: &str, component: &Component) -> String {
    format!("{name} ({})", component.name)
}
