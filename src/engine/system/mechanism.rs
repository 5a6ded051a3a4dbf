//! Points of the master that are those of its mechanisms.

use super::{Island, System};
use crate::engine::coupling::operator::MOST_ROWS;

/// Points of the master that may respond to forces on one another. They are in one island.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Their couplings.
    pub members: Vec<usize>,
    /// Their contacts.
    pub contacts: Vec<usize>,
}

impl Mechanism {
    /// Most points whose responses are learnt together.
    pub const MOST: usize = MOST_ROWS / 3;

    /// None where the master has no such points.
    pub(super) fn of(system: &System) -> Option<Mechanism> {
        let is_member = |&index: &usize| system.couplings[index].mode.is_of_mechanism();
        let members: Vec<usize> = (0..system.couplings.len()).filter(is_member).collect();
        let first = system.couplings[*members.first()?].node;
        let island = system.islands.iter().find(|island| island.nodes.contains(&first))?;
        let is_of_member = |&contact: &usize| {
            let node = system.contacts[contact].sides().node;
            members.iter().any(|&member| system.couplings[member].node == node)
        };
        let contacts = island.contacts.iter().copied().filter(is_of_member).collect();
        Some(Mechanism { members, contacts })
    }
}

impl Island {
    /// What keeps points in it from being those of a mechanism, if anything.
    pub fn obstacle_of_mechanisms(&self) -> Option<&'static str> {
        let obstacles = [
            (self.linkage.is_some(), "springs and joints"),
            (self.is_pile, "contacts of groups"),
            (self.iterates, "nodes with iterative = true"),
            (!self.links.is_empty(), "nodes with coupling = \"compliant\""),
            (!self.continuous.is_empty(), "contacts with `compliance`"),
        ];
        obstacles.into_iter().find_map(|(is_there, name)| is_there.then_some(name))
    }
}
