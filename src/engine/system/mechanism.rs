//! Points of the master that are those of its mechanisms.

use super::{Contact, Island, Node, Pile, Response, System};
use crate::engine::coupling::operator::MOST_ROWS;
use crate::engine::coupling::{Coupling, CouplingMode};
use crate::engine::math::union_find::UnionFind;
use crate::engine::ties::Ties;

/// Points of the master that may respond to forces on one another. They are in one island.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Whether the model says that they are points of mechanisms; otherwise it is found out.
    pub is_said: bool,
    /// Whether the master tells how they respond.
    pub is_given: bool,
    /// Whether all that they touch stands still, so that contact can only take energy from them.
    pub is_on_fixed: bool,
    /// Their couplings.
    pub members: Vec<usize>,
    /// Their contacts.
    pub contacts: Vec<usize>,
}

impl Mechanism {
    /// Most points whose responses are learnt together.
    pub const MOST: usize = MOST_ROWS / 3;

    /// Place of a number of their inverse mass in [`State::inverse_mass`](crate::engine::state::State::inverse_mass).
    pub fn entry(row: usize, column: usize) -> usize {
        let (low, high) = (row.min(column), row.max(column));
        high * (high + 1) / 2 + low
    }

    /// None where the master has no such points.
    pub(super) fn of(system: &System, members: Vec<usize>) -> Option<Mechanism> {
        let Coupling { node: first, mode } = system.couplings[*members.first()?];
        let island = system.islands.iter().find(|island| island.nodes.contains(&first))?;
        let is_of_member = |&contact: &usize| {
            let node = system.contacts[contact].sides().node;
            members.iter().any(|&member| system.couplings[member].node == node)
        };
        let is_fixed = |&contact: &usize| {
            let contact = &system.contacts[contact];
            contact.group().is_none() && system.surfaces[contact.sides().surface].body.is_none()
        };
        Some(Mechanism {
            is_said: mode.is_of_mechanism(),
            is_given: mode.is_given(),
            is_on_fixed: island.contacts.iter().all(is_fixed),
            contacts: island.contacts.iter().copied().filter(is_of_member).collect(),
            members,
        })
    }

    /// The couplings of such points: those that the model names, or else all that may be some, where nothing but hard
    /// contact is between what they touch. `together` is what is connected without regard to them.
    pub(super) fn members(
        nodes: &[Node],
        contacts: &[Contact],
        couplings: &[Coupling],
        ties: &Ties,
        pile: Option<&Pile>,
        together: &mut UnionFind,
    ) -> Vec<usize> {
        let those = |is_one: fn(&CouplingMode) -> bool| {
            (0..couplings.len()).filter(move |&index| is_one(&couplings[index].mode))
        };
        let said: Vec<usize> = those(CouplingMode::is_of_mechanism).collect();
        if !said.is_empty() {
            return said;
        }
        let pairs = || contacts.iter().filter(|contact| contact.group().is_none());
        let coupled = couplings.iter().filter(|entry| !matches!(entry.mode, CouplingMode::Kinetic(_)));
        let soft = pairs().filter(|contact| matches!(contact.response, Response::Continuous { .. }));
        let obstacles = coupled
            .map(|entry| entry.node)
            .chain(soft.map(|contact| contact.sides().node))
            .chain(ties.ends().flatten().flatten())
            .chain(pile.map(Pile::first));
        let mut blocked = vec![false; nodes.len()];
        for node in obstacles {
            blocked[together.leader(node)] = true;
        }
        let may_be: Vec<usize> = those(CouplingMode::may_be_of_mechanism)
            .filter(|&index| {
                let node = couplings[index].node;
                nodes[node].rotation.is_none()
                    && !blocked[together.leader(node)]
                    && pairs().any(|contact| contact.sides().node == node)
            })
            .collect();
        if may_be.len() <= Mechanism::MOST { may_be } else { Vec::new() }
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
