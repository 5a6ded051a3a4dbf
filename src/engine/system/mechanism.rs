//! Points of the master that may belong to one mechanism.

use super::{Island, System};
use crate::engine::coupling::CouplingMode;
use crate::engine::coupling::operator::MOST_ROWS;
use crate::engine::settings::Scheme;

/// Points of the master that may belong to one mechanism.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Their couplings.
    pub members: Vec<usize>,
    /// Those among [`System::islands`] that have one.
    pub islands: Vec<usize>,
    /// All of these as one.
    pub island: Island,
    /// Their contacts.
    pub contacts: Vec<usize>,
}

impl Mechanism {
    /// Of the points that a master moves without iteration and that touch by hard contacts; none where there are none.
    pub fn of(system: &System) -> Option<Mechanism> {
        if system.settings.scheme != Scheme::MoreauJean {
            return None;
        }
        let is_member = |&index: &usize| {
            let coupling = &system.couplings[index];
            matches!(coupling.mode, CouplingMode::Kinetic(_))
                && system.nodes[coupling.node].rotation.is_none()
                && system.surfaces.iter().all(|surface| surface.body != Some(coupling.node))
        };
        let may_join = |island: &Island| {
            island.linkage.is_none()
                && !island.is_pile
                && !island.iterates
                && island.links.is_empty()
                && island.continuous.is_empty()
                && !island.contacts.is_empty()
        };
        let mut found = Mechanism {
            members: Vec::new(),
            islands: Vec::new(),
            island: Island::empty(),
            contacts: Vec::new(),
        };
        for (index, island) in system.islands.iter().enumerate().filter(|(_, island)| may_join(island)) {
            let members = island.couplings.iter().copied().filter(is_member);
            let before = found.members.len();
            found.members.extend(members);
            if found.members.len() == before {
                continue;
            }
            found.islands.push(index);
            found.island.nodes.extend(&island.nodes);
            found.island.contacts.extend(&island.contacts);
            found.island.couplings.extend(&island.couplings);
            found.island.turns_along |= island.turns_along;
            found.island.has_own |= island.has_own;
        }
        let is_of_member = |&contact: &usize| {
            let node = system.contacts[contact].sides().node;
            found.members.iter().any(|&member| system.couplings[member].node == node)
        };
        found.contacts = found.island.contacts.iter().copied().filter(is_of_member).collect();
        let fits = !found.members.is_empty() && 3 * found.members.len() <= MOST_ROWS;
        fits.then_some(found)
    }
}
