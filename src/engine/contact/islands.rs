//! The islands of a substep: bodies that pairs which are near connect.

use crate::engine::math::union_find::UnionFind;
use crate::engine::system::{Island, Near, System};

/// The islands of a substep.
#[derive(Clone, Debug, Default)]
pub struct Split {
    pub together: UnionFind,
    /// Island, by node.
    homes: Vec<usize>,
    nodes: Sorted,
    pairs: Sorted,
    contacts: Sorted,
}

/// Indices sorted by island.
#[derive(Clone, Debug, Default)]
struct Sorted {
    /// Where islands begin, one more than there are.
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Sorted {
    /// Sorts `items`, which have a `home` among so many; those of one stay in order.
    fn sort(&mut self, homes: usize, items: impl Iterator<Item = (usize, usize)> + Clone) {
        self.starts.clear();
        self.starts.resize(homes + 1, 0);
        let mut count = 0;
        for (_, home) in items.clone() {
            self.starts[home] += 1;
            count += 1;
        }
        let mut first = 0;
        for start in &mut self.starts {
            first += *start;
            *start = first - *start;
        }
        self.items.clear();
        self.items.resize(count, 0);
        for (item, home) in items {
            self.items[self.starts[home]] = item;
            self.starts[home] += 1;
        }
        // Each start is now where the next one was.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn of(&self, home: usize) -> &[usize] {
        &self.items[self.starts[home]..self.starts[home + 1]]
    }
}

impl Split {
    /// Number of islands.
    pub fn parts(&self) -> usize {
        self.nodes.starts.len() - 1
    }

    /// Finds the islands of nodes that are together, in the order of their smallest nodes.
    pub fn sort(&mut self, system: &System, whole: &Island, near: &[Near], near_contacts: &[usize]) {
        let Split { together, homes, nodes, pairs, contacts } = self;
        homes.clear();
        homes.resize(system.nodes.len(), 0);
        let mut count = 0;
        for &node in &whole.nodes {
            let leader = together.leader(node);
            if leader == node {
                homes[node] = count;
                count += 1;
            } else {
                homes[node] = homes[leader];
            }
        }
        nodes.sort(count, whole.nodes.iter().map(|&node| (node, homes[node])));
        pairs.sort(count, near.iter().map(|near| (near.number, homes[near.sides.node])));
        let home = |&contact: &usize| (contact, homes[system.contacts[contact].sides().node]);
        contacts.sort(count, near_contacts.iter().map(home));
    }

    /// The first node of an island.
    pub fn first(&self, part: usize) -> usize {
        self.nodes.of(part)[0]
    }

    /// Whether a node is in an island because it carries surfaces there: no impulse moves it, and so it connects nothing.
    pub fn is_guest(&self, part: usize, node: usize) -> bool {
        self.homes[node] != part
    }

    /// Writes one of the islands, with the bodies that carry surfaces of it.
    pub fn take(&self, part: usize, system: &System, whole: &Island, near: &[Near], island: &mut Island) {
        let fill = |list: &mut Vec<usize>, items: &[usize]| {
            list.clear();
            list.extend_from_slice(items);
        };
        fill(&mut island.nodes, self.nodes.of(part));
        fill(&mut island.contacts, self.contacts.of(part));
        island.pairs.clear();
        island.pairs.extend(self.pairs.of(part).iter().map(|&number| near[number]));
        let turns = |near: &Near| {
            let surface = &system.surfaces[near.sides.surface];
            let shape = &system.nodes[near.sides.node].shape;
            shape.has_edges() || surface.body.is_some() || !surface.shape.is_flat()
        };
        island.turns_along = island.contacts.iter().any(|&contact| system.contacts[contact].turns_along)
            || island.pairs.iter().any(turns);
        fill(&mut island.continuous, &whole.continuous);
        fill(&mut island.links, &whole.links);
        for index in 0..island.contacts.len() + island.pairs.len() {
            let sides = match island.contacts.get(index) {
                Some(&contact) => system.contacts[contact].sides(),
                None => island.pairs[index - island.contacts.len()].sides,
            };
            if let Some(body) = system.surfaces[sides.surface].body
                && self.is_guest(part, body)
                && !island.nodes.contains(&body)
            {
                island.nodes.push(body);
            }
        }
        island.couplings.clear();
        island.couplings.extend(island.nodes.iter().filter_map(|&node| system.nodes[node].coupling));
        let is_point = |&node: &usize| system.nodes[node].rotation.is_none();
        island.has_points_only = island.couplings.is_empty() && island.nodes.iter().all(is_point);
        (island.has_own, island.iterates, island.linkage) = (whole.has_own, whole.iterates, whole.linkage);
        (island.is_pile, island.is_part, island.rest) = (whole.is_pile, true, whole.rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_order_within_their_home() {
        let mut sorted = Sorted::default();
        for _ in 0..2 {
            sorted.sort(3, [(7, 2), (8, 0), (9, 2), (10, 0)].into_iter());
            assert_eq!([sorted.of(0), sorted.of(1), sorted.of(2)], [&[8, 10][..], &[], &[7, 9]]);
        }
    }
}
