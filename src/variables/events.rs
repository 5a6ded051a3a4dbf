//! Rows that only FMI 3.0 has: a clock for each hard contact that ticks at its impacts, and what is clocked by it.

use super::{Dependence, Kind, Role, Rows, Slot, Unit, Variable, table};
use crate::engine::{CouplingMode, Response};
use crate::model::{Between, Model};

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
            rows.impact(index, &contact.name, &model.between_text(contact), own);
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

    fn impact(&mut self, contact: usize, name: &str, pair: &str, own: Dependence) {
        // Shown with the clock or not at all.
        let shown = self.shown.take();
        for (suffix, description, slot, kind) in [
            ("impact", format!("Ticks at impacts {pair}"), Slot::ImpactClock { contact }, Kind::Clock),
            (
                "impact_impulse",
                format!("Normal impulse of the last impact {pair}"),
                Slot::ImpactImpulse { contact },
                Kind::Real(Unit::NewtonSecond),
            ),
            (
                "impact_time",
                format!("Time of the last impact {pair}"),
                Slot::ImpactTime { contact },
                Kind::Real(Unit::Second),
            ),
        ] {
            self.push(format!("{name}.{suffix}"), description, slot, kind, Role::PerStep(own));
        }
        self.shown = shown;
    }
}
