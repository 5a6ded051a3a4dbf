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
mod pattern;
pub mod spring;

pub use assembly::{Configuration, Scratch, Stiffening, System};
pub use joint::{Joint, JointEnd, JointFriction, JointKind, JointState};
pub use motor::{Drive, Motor, Profile};
pub use spring::Spring;

use super::geometry::Pose;
use super::scalar::Scalar;
use super::system::{Island, Node};
use nalgebra::Vector3;
use pattern::{Entry, Pattern};
use std::collections::BTreeMap;

/// A place on a node, or of the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Index of the node; none for the ground.
    pub node: Option<usize>,
    /// In the frame of the node; on the ground, in the world's.
    pub place: Vector3<f64>,
}

impl Anchor {
    /// Where it is, with nodes at their poses.
    pub fn in_world<S: Scalar>(&self, pose: impl FnOnce(usize) -> Pose<S>) -> Vector3<S> {
        let place = self.place.map(S::from);
        match self.node.map(pose) {
            None => place,
            Some(pose) => pose.position + pose.orientation.to_world(&place),
        }
    }
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

/// Springs and joints of one island, and where they are in its linear system.
#[derive(Clone, Debug)]
pub struct Linkage {
    /// Indices of the springs.
    pub springs: Vec<usize>,
    /// Indices of the joints.
    pub joints: Vec<usize>,
    /// Blocks of the nodes, in the order of the island's.
    pub(super) places: Vec<Place>,
    /// Blocks of the springs.
    pub(super) spring_places: Vec<SpringPlace>,
    /// Blocks of the joints: translation, rotation.
    pub(super) joint_places: Vec<[Option<JointPlace>; 2]>,
    pub(super) pattern: Pattern,
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
    pub(super) fn of_islands(islands: &mut [Island], nodes: &[Node], ties: &Ties) -> Vec<Linkage> {
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
                linkages.push(Linkage::new(island, springs, joints, nodes, ties));
            }
        }
        linkages
    }

    fn new(island: &Island, springs: Vec<usize>, joints: Vec<usize>, nodes: &[Node], ties: &Ties) -> Linkage {
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
        let pattern = Pattern::new(count.start, late, pairs.into_iter());
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
        Linkage { springs, joints, places, spring_places, joint_places, pattern }
    }

    /// Blocks of a node of the island.
    #[inline]
    pub fn place_of(&self, node: usize) -> &Place {
        let place = self.places.binary_search_by_key(&node, |place| place.node);
        &self.places[place.expect("asked of nodes of the island only")]
    }

    /// Whether it has joints, whose places are to be kept.
    pub fn has_joints(&self) -> bool {
        !self.joints.is_empty()
    }
}
