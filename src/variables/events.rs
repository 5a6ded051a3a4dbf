//! Rows that only FMI 3.0 has: a clock for each hard contact and stop of a joint that ticks at its impacts, and what is clocked
//! by it.

use super::{Dependence, Kind, Role, Rows, Slot, Unit, Variable, table};
use crate::engine::{CouplingMode, Response};
use crate::model::{Between, JointKind, Model};

/// The table with the rows of FMI 3.0 at its end.
pub fn table_with_events(model: &Model) -> Vec<Variable> {
    let (system, state) = model.assemble();
    let mut rows = Rows { variables: table(model), ..Rows::new(model, &system, &state) };
    for (index, contact) in model.contacts.iter().enumerate() {
        if system.contacts[index].response == Response::Hard
            && rows.is_shown(&format!("{}.impact", contact.name))
        {
            let node = match &contact.between {
                Between::Pair { node, .. } => Some(node),
                Between::Group(group) => group.sides.iter().flat_map(|side| &side.nodes).next(),
            };
            let own = node.map_or(Dependence::Everything, |&node| Dependence::Island(rows.islands[node]));
            let name = format!("{}.impact", contact.name);
            rows.impact(index, &name, &model.between_text(contact), Unit::NewtonSecond, own);
        }
    }
    for bounded in model.bounded() {
        let joint = &model.joints[bounded.joint];
        let own = rows.island_of(joint.ends.map(|end| end.anchor.node));
        let prefix = if bounded.is_angle && joint.kind == JointKind::Cylindrical { "angle_" } else { "" };
        let unit = if bounded.is_angle { Unit::NewtonMeterSecond } else { Unit::NewtonSecond };
        for (stop, which) in [(bounded.stops.lower, "lower"), (bounded.stops.upper, "upper")] {
            let name = format!("{}.{prefix}{which}_impact", joint.name);
            if let Some(stop) = stop.filter(|_| rows.is_shown(&name)) {
                rows.impact(stop, &name, &format!("on the {which} stop of {}", joint.name), unit, own);
            }
        }
    }
    for (coupling, entry) in system.couplings.iter().enumerate() {
        if matches!(entry.mode, CouplingMode::Kinetic(_)) {
            let name = model.body_names().nth(entry.node).expect("a body has a name");
            rows.coupling_impulse(coupling, entry.node, name);
        }
    }
    rows.variables
}

impl Rows<'_> {
    fn coupling_impulse(&mut self, coupling: usize, node: usize, name: &str) {
        let own = Dependence::Island(self.islands[node]);
        self.vector(
            &format!("{name}.impulse"),
            &format!("Impulse of an impact on {name} for the master to apply in event mode"),
            |axis| Slot::CouplingImpulse { coupling, axis },
            Unit::NewtonSecond,
            || Role::PerStep(own),
        );
        if self.system.nodes[node].rotation.is_some() {
            self.vector(
                &format!("{name}.angular_impulse"),
                &format!("Its moment about the centre of {name}"),
                |axis| Slot::CouplingAngularImpulse { coupling, axis },
                Unit::NewtonMeterSecond,
                || Role::PerStep(own),
            );
        }
    }

    fn impact(&mut self, contact: usize, name: &str, pair: &str, unit: Unit, own: Dependence) {
        // Shown with the clock or not at all.
        let shown = self.shown.take();
        for (suffix, description, slot, kind) in [
            ("", format!("Ticks at impacts {pair}"), Slot::ImpactClock { contact }, Kind::Clock),
            (
                "_impulse",
                format!("Impulse of the last impact {pair}"),
                Slot::ImpactImpulse { contact },
                Kind::Real(unit),
            ),
            (
                "_time",
                format!("Time of the last impact {pair}"),
                Slot::ImpactTime { contact },
                Kind::Real(Unit::Second),
            ),
        ] {
            self.push(format!("{name}{suffix}"), description, slot, kind, Role::PerStep(own));
        }
        self.shown = shown;
    }
}
