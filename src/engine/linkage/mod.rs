//! What ties nodes together besides contact: springs, dampers and joints, all in one linear system an interval.
//!
//! Over an interval `dt` the velocities are those of free motion plus `u`:
//!
//! `(M + dt theta C + dt^2 theta^2 K) u = dt f + A^T x + J^T p`, `A (v + u) = b`
//!
//! with the forces `f` of springs and dampers where free motion takes them midway, the impulses `x` of the joints and
//! `p` of the contacts. The matrix is sparse, in blocks of three ([`factor`]), and solved once for free motion and
//! once a contact for how it yields; joints are bilateral rows of it. [Fancello 2012, 3.1; Peiret 2016, eq. 30]

pub mod assembly;
mod factor;
pub mod joint;
pub mod motor;
mod output;
mod pattern;
pub mod plain;
mod rubbing;
pub mod spring;

pub use assembly::{Before, Configuration, Scratch, Springs, Stiffening};
pub use joint::{Joint, JointEnd, JointFriction, JointKind, JointState};
pub use motor::{Drive, Motor, Profile};
pub use output::{JointMotion, joint_motion, spring_apart, spring_energy, spring_length, spring_tension};
pub use rubbing::Rubbing;
pub use spring::Spring;

use super::geometry::Surface;
use super::system::{Contact, Island, Node};
use nalgebra::Vector3;
use pattern::{Entry, Pattern};
pub use plain::Plain;
use std::collections::{BTreeMap, BTreeSet};

/// A place on a node, or of the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Index of the node; none for the ground.
    pub node: Option<usize>,
    /// In the frame of the node; on the ground, in the world's.
    pub place: Vector3<f64>,
}

/// All springs and joints of a system.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// Springs, in the order of [`super::Parameters::stiffness`].
    pub springs: Vec<Spring>,
    /// Joints, in the order of [`super::State::joints`].
    pub joints: Vec<Joint>,
}

impl Ties {
    /// The nodes that are tied to one another, pair by pair.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let springs = self.springs.iter().map(|spring| spring.ends.map(|end| end.node));
        let joints = self.joints.iter().map(|joint| joint.ends.map(|end| end.anchor.node));
        springs.chain(joints).filter_map(|[one, other]| one.zip(other))
    }
}

/// Nodes that touch something are eliminated last where there are no more than this.
const FEW: usize = 16;

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
    pub(super) places: Vec<Place>,
    /// Springs of each node, in the order of the island's.
    pub(super) springs_at: Vec<Vec<usize>>,
    /// Blocks of the springs.
    pub(super) spring_places: Vec<SpringPlace>,
    /// Blocks of the joints: translation, rotation.
    pub(super) joint_places: Vec<[Option<JointPlace>; 2]>,
    pub(super) pattern: Pattern,
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
    pub(super) fn of_islands(
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
        let last = if touching.len() <= FEW {
            let blocks = touching.iter().flat_map(|node| {
                let place = &by_node[node];
                place.angular.into_iter().chain([place.linear])
            });
            blocks.collect()
        } else {
            BTreeSet::new()
        };
        let pattern = Pattern::new(count.start, late, &last, pairs.into_iter());
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
