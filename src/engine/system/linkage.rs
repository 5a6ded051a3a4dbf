//! Springs and joints of an island, and where they are in its linear system.

use super::pattern::{Entry, Pattern};
use super::{Contact, Island, Node};
use crate::engine::geometry::Surface;
use crate::engine::ties::{Anchor, Spring, Ties};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Springs and joints of one island, and where they are in its linear system.
#[derive(Clone, Debug)]
pub struct Linkage {
    /// Indices of the springs.
    pub springs: Vec<usize>,
    /// Indices of the joints.
    pub joints: Vec<usize>,
    /// Places of the joints that rub among them.
    pub rubbing: Vec<usize>,
    /// Blocks of the nodes, in the order of the island's.
    pub places: Vec<Place>,
    /// Springs of each node, in the order of the island's.
    pub springs_at: Vec<Vec<usize>>,
    /// Blocks of the springs.
    pub spring_places: Vec<SpringPlace>,
    /// Blocks of the joints: translation, rotation.
    pub joint_places: Vec<[Option<JointPlace>; 2]>,
    /// Where its blocks are, before and after elimination.
    pub pattern: Arc<Pattern>,
    /// The same packed, where it has springs between point masses only.
    pub plain: Option<Plain>,
}

/// Blocks of a node in the linear system.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of the node.
    pub node: usize,
    /// Block of the velocity of its centre.
    pub linear: usize,
    /// Block of its angular velocity.
    pub angular: Option<usize>,
}

/// Blocks that a tie acts on: velocity and angular velocity of the first end, of the second.
pub type Blocks = [Option<usize>; 4];

/// Where a spring is in the linear system.
#[derive(Clone, Copy, Debug)]
pub struct SpringPlace {
    /// What it joins, by place among the island's nodes.
    pub ends: [Option<usize>; 2],
    /// Blocks that it acts on.
    pub blocks: Blocks,
    /// Entries between them, where both are there: row by row, the column before the row.
    pub entries: [[Option<Entry>; 4]; 4],
}

/// Where rows of a joint are in the linear system.
#[derive(Clone, Copy, Debug)]
pub struct JointPlace {
    /// What they join, by place among the island's nodes.
    pub ends: [Option<usize>; 2],
    /// Their own block.
    pub block: usize,
    /// Blocks that they act on.
    pub blocks: Blocks,
    /// Entries of these.
    pub entries: [Option<Entry>; 4],
}

impl Linkage {
    /// Finds the linkages of the islands, and tells the islands.
    pub fn of_islands(
        islands: &mut [Island],
        nodes: &[Node],
        surfaces: &[Surface],
        contacts: &[Contact],
        ties: &Ties,
    ) -> Vec<Linkage> {
        let mut homes = vec![0; nodes.len()];
        for (index, island) in islands.iter().enumerate() {
            for &node in &island.nodes {
                homes[node] = index;
            }
        }
        let home = |ends: [Anchor; 2]| ends.iter().find_map(|end| end.node).map(|node| homes[node]);
        let mut members = vec![(Vec::new(), Vec::new()); islands.len()];
        for (index, spring) in ties.springs.iter().enumerate() {
            members[home(spring.ends).expect("a spring has a node")].0.push(index);
        }
        for (index, joint) in ties.joints.iter().enumerate() {
            let ends = joint.ends.map(|end| end.anchor);
            members[home(ends).expect("a joint has a node")].1.push(index);
        }
        let mut linkages = Vec::new();
        for (island, (springs, joints)) in islands.iter_mut().zip(members) {
            if !(springs.is_empty() && joints.is_empty()) {
                island.linkage = Some(linkages.len());
                let touching = island.contacts.iter().flat_map(|&contact| {
                    let sides = contacts[contact].sides();
                    surfaces[sides.surface].body.into_iter().chain([sides.node])
                });
                let touching =
                    if island.is_pile { island.nodes.iter().copied().collect() } else { touching.collect() };
                linkages.push(Linkage::new(island, springs, joints, nodes, &touching, ties));
            }
        }
        linkages
    }

    fn new(
        island: &Island,
        springs: Vec<usize>,
        joints: Vec<usize>,
        nodes: &[Node],
        touching: &BTreeSet<usize>,
        ties: &Ties,
    ) -> Linkage {
        let mut count = 0..;
        let mut next = || count.next().expect("there are enough numbers");
        let mut places: Vec<Place> = Vec::with_capacity(island.nodes.len());
        let mut by_node = BTreeMap::new();
        for &node in &island.nodes {
            let place = Place { node, linear: next(), angular: nodes[node].rotation.map(|_| next()) };
            by_node.insert(node, place);
            places.push(place);
        }
        let late = count.start;
        let local: BTreeMap<usize, usize> =
            island.nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let locals = |ends: [Anchor; 2]| ends.map(|end| end.node.map(|node| local[&node]));
        let blocks = |ends: [Anchor; 2]| -> Blocks {
            let [one, other] = ends.map(|end| end.node.map(|node| by_node[&node]));
            [
                one.map(|place| place.linear),
                one.and_then(|place| place.angular),
                other.map(|place| place.linear),
                other.and_then(|place| place.angular),
            ]
        };
        let spring_blocks: Vec<Blocks> =
            springs.iter().map(|&spring| blocks(ties.springs[spring].ends)).collect();
        let joint_blocks: Vec<[Option<(usize, Blocks)>; 2]> = joints
            .iter()
            .map(|&joint| {
                let joint = &ties.joints[joint];
                let blocks = blocks(joint.ends.map(|end| end.anchor));
                // A point mass has no orientation that could be held.
                let has_orientation = |end: usize| blocks[2 * end].is_none() || blocks[2 * end + 1].is_some();
                let can_turn = has_orientation(0) && has_orientation(1);
                let [moves, turns] = joint.held();
                let mut rows =
                    |held: bool| held.then(|| (count.next().expect("there are enough numbers"), blocks));
                [rows(moves != [false; 3]), rows(turns != [false; 3] && can_turn)]
            })
            .collect();
        let mut pairs = Vec::new();
        for blocks in &spring_blocks {
            let present: Vec<usize> = blocks.iter().flatten().copied().collect();
            pairs.extend(present.iter().flat_map(|&one| present.iter().map(move |&other| (one, other))));
        }
        for &(block, blocks) in joint_blocks.iter().flatten().flatten() {
            pairs.extend(blocks.iter().flatten().map(|&other| (block, other)));
        }
        // Many of them would fill the matrix.
        let last = if touching.len() <= TOLERANCES.touching_last {
            let blocks = touching.iter().flat_map(|node| {
                let place = &by_node[node];
                place.angular.into_iter().chain([place.linear])
            });
            blocks.collect()
        } else {
            BTreeSet::new()
        };
        let pattern = Arc::new(Pattern::new(count.start, late, &last, pairs.into_iter()));
        let spring_places = spring_blocks
            .into_iter()
            .zip(&springs)
            .map(|(blocks, &spring)| SpringPlace {
                ends: locals(ties.springs[spring].ends),
                blocks,
                entries: std::array::from_fn(|row| {
                    std::array::from_fn(|column| {
                        let pair = blocks[row].zip(blocks[column]).filter(|_| column < row);
                        pair.map(|(row, column)| pattern.entry(row, column))
                    })
                }),
            })
            .collect();
        let joint_places = joint_blocks
            .into_iter()
            .zip(&joints)
            .map(|(rows, &joint)| {
                rows.map(|rows| {
                    rows.map(|(block, blocks)| JointPlace {
                        ends: locals(ties.joints[joint].ends.map(|end| end.anchor)),
                        block,
                        blocks,
                        entries: blocks.map(|other| other.map(|other| pattern.entry(block, other))),
                    })
                })
            })
            .collect();
        let is_plain = joints.is_empty() && places.iter().all(|place| place.angular.is_none());
        let plain = is_plain.then(|| {
            let touching = touching.iter().map(|node| local[node]).collect();
            Plain::new(&springs, ties, places.len(), touching, |node| local[&node])
        });
        let mut springs_at = vec![Vec::new(); places.len()];
        for &spring in &springs {
            for place in locals(ties.springs[spring].ends).into_iter().flatten() {
                springs_at[place].push(spring);
            }
        }
        let rubs = |&joint: &usize| ties.joints[joints[joint]].rubs().is_some();
        let rubbing = (0..joints.len()).filter(rubs).collect();
        Linkage { springs, joints, rubbing, places, springs_at, spring_places, joint_places, pattern, plain }
    }

    /// Blocks of a node of the island.
    #[inline]
    pub fn place_of(&self, node: usize) -> &Place {
        &self.places[self.local(node)]
    }

    /// Springs at a node of the island.
    pub fn springs_at(&self, node: usize) -> &[usize] {
        &self.springs_at[self.local(node)]
    }

    fn local(&self, node: usize) -> usize {
        let place = self.places.binary_search_by_key(&node, |place| place.node);
        place.expect("asked of nodes of the island only")
    }

    /// Whether it has joints, whose places are to be kept.
    pub fn has_joints(&self) -> bool {
        !self.joints.is_empty()
    }
}

/// A linkage that has springs between point masses only.
#[derive(Clone, Debug)]
pub struct Plain {
    /// In the order of [`Linkage::springs`].
    pub springs: Vec<PlainSpring>,
    /// From first anchors to second ones where both masses are at the origin: none, and what springs have besides.
    pub offsets: Vec<Vector3<f64>>,
    /// Nodes that may touch something, by place among the island's.
    pub touching: Vec<usize>,
}

/// A spring between two masses, or a mass and the ground. Small numbers, because there may be many.
#[derive(Clone, Copy, Debug)]
pub struct PlainSpring {
    /// Index among all springs.
    pub index: u32,
    /// Place in [`Plain::offsets`].
    pub offset: u32,
    /// Places of the masses among the island's nodes; that of the ground is behind the last.
    pub ends: [u32; 2],
    /// Length at rest.
    pub length: f64,
}

impl PlainSpring {
    /// Places of the masses among the island's nodes.
    #[inline]
    pub fn ends(&self) -> [usize; 2] {
        self.ends.map(|end| end as usize)
    }
}

impl Plain {
    /// The springs of an island without joints and rotations; `local` gives the place of a node.
    pub fn new(
        springs: &[usize],
        ties: &Ties,
        nodes: usize,
        touching: Vec<usize>,
        local: impl Fn(usize) -> usize,
    ) -> Plain {
        let small =
            |number: usize| u32::try_from(number).expect("there are no more than a model file can hold");
        let mut offsets = vec![Vector3::zeros()];
        let springs = springs.iter().map(|&index| {
            let Spring { ends: [first, second], length } = ties.springs[index];
            let offset = second.place - first.place;
            if offset != Vector3::zeros() {
                offsets.push(offset);
            }
            PlainSpring {
                index: small(index),
                offset: small(if offset == Vector3::zeros() { 0 } else { offsets.len() - 1 }),
                ends: [first, second].map(|end| small(end.node.map_or(nodes, &local))),
                length,
            }
        });
        let springs = springs.collect();
        Plain { springs, offsets, touching }
    }
}
