//! Who may touch in a group, and all that groups are made of.

use super::{Contact, Node, Sides};
use crate::engine::geometry::{Meeting, Surface, SurfaceShape, meeting};
use crate::engine::ties::Ties;
use serde::{Deserialize, Serialize};

/// Any of the one side may touch any of the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The two sides.
    pub sides: [Members; 2],
    /// How particular it is: of several groups with the same pair, the one with the largest has it.
    pub rank: u32,
}

/// One side of a group, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// Indices of nodes.
    pub nodes: Vec<usize>,
    /// Indices of surfaces that are not those of nodes.
    pub surfaces: Vec<usize>,
}

/// What groups are made of.
#[derive(Clone, Debug)]
pub struct Pile {
    /// Groups with what belongs to them, the most particular first.
    groups: Vec<Sorted>,
    /// Nodes that may touch.
    pub nodes: Vec<usize>,
    /// Surfaces of finite size.
    pub solids: Vec<usize>,
    /// Planes.
    pub planes: Vec<usize>,
    /// Shapes of nodes as surfaces, by node.
    surface_of: Vec<Option<usize>>,
    /// Pairs that no group has, in ascending order: they have a contact of their own, or a joint holds them together.
    except: Vec<(usize, SecondSide)>,
}

/// A group, with a table of its members.
#[derive(Clone, Debug)]
struct Sorted {
    contact: usize,
    /// Whether it is on either side, by node.
    nodes: Vec<[bool; 2]>,
    /// The same by surface.
    surfaces: Vec<[bool; 2]>,
}

/// What a node may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecondSide {
    /// Another node.
    Node(usize),
    /// A surface that is not that of a node.
    Surface(usize),
}

impl Pile {
    /// What the groups among the contacts are made of; none where there are none. Appends the shapes of nodes that others
    /// may touch to the surfaces.
    pub fn of(
        nodes: &[Node],
        surfaces: &mut Vec<Surface>,
        contacts: &[Contact],
        ties: &Ties,
    ) -> Option<Pile> {
        let mut sorted: Vec<(usize, &Group)> = contacts
            .iter()
            .enumerate()
            .filter_map(|(index, contact)| Some((index, contact.group()?)))
            .collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.sort_by_key(|(index, group)| (std::cmp::Reverse(group.rank), *index));
        let given = surfaces.len();
        let mut is_member = (vec![false; nodes.len()], vec![false; given]);
        let groups = sorted
            .iter()
            .map(|&(contact, group)| {
                let mut sorted = Sorted {
                    contact,
                    nodes: vec![[false; 2]; nodes.len()],
                    surfaces: vec![[false; 2]; given],
                };
                for (side, members) in group.sides.iter().enumerate() {
                    for &node in &members.nodes {
                        sorted.nodes[node][side] = true;
                        is_member.0[node] = true;
                    }
                    for &surface in &members.surfaces {
                        sorted.surfaces[surface][side] = true;
                        is_member.1[surface] = true;
                    }
                }
                sorted
            })
            .collect();
        let listed = |is_member: &[bool]| -> Vec<usize> {
            (0..is_member.len()).filter(|&index| is_member[index]).collect()
        };
        let is_plane = |&surface: &usize| surfaces[surface].shape.is_flat();
        let (planes, solids) = listed(&is_member.1).into_iter().partition(is_plane);
        let except = except(nodes, surfaces, contacts, ties);
        let surface_of = shapes_of_nodes(nodes, &is_member.0, surfaces);
        Some(Pile { groups, nodes: listed(&is_member.0), solids, planes, surface_of, except })
    }

    /// One of its nodes.
    pub fn first(&self) -> usize {
        self.nodes[0]
    }

    /// Its nodes, and the bodies that carry its surfaces.
    pub fn bodies<'a>(&'a self, surfaces: &'a [Surface]) -> impl Iterator<Item = usize> + 'a {
        let carried = self.solids.iter().chain(&self.planes);
        self.nodes.iter().copied().chain(carried.filter_map(|&surface| surfaces[surface].body))
    }

    /// Contacts that are groups.
    pub fn contacts(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|group| group.contact)
    }

    /// The group that has a pair, if one has.
    pub fn contact_of(&self, node: usize, other: SecondSide) -> Option<usize> {
        let group = self.groups.iter().find(|group| {
            let [one, two] = group.nodes[node];
            let [first, second] = match other {
                SecondSide::Node(other) => group.nodes[other],
                SecondSide::Surface(surface) => group.surfaces[surface],
            };
            (one && second) || (two && first)
        })?;
        self.except.binary_search(&key(node, other)).is_err().then_some(group.contact)
    }

    /// The pair as node and surface, and how it touches; none where it never does.
    pub fn sides(
        &self,
        nodes: &[Node],
        surfaces: &[Surface],
        node: usize,
        other: SecondSide,
    ) -> Option<(Sides, Meeting)> {
        let meets = |node: usize, surface: usize| {
            // Two points never touch.
            if matches!(surfaces[surface].shape, SurfaceShape::Solid { solid, .. } if solid.extent() == 0.0) {
                return None;
            }
            let meeting = meeting(&nodes[node].shape, &surfaces[surface].shape)?;
            Some((Sides { node, surface }, meeting))
        };
        match other {
            SecondSide::Surface(surface) => meets(node, surface),
            SecondSide::Node(other) => {
                let both = |node: usize, other: usize| meets(node, self.surface_of[other]?);
                both(node, other).or_else(|| both(other, node))
            }
        }
    }
}

/// The smaller node first.
fn key(node: usize, other: SecondSide) -> (usize, SecondSide) {
    match other {
        SecondSide::Node(other) => (node.min(other), SecondSide::Node(node.max(other))),
        SecondSide::Surface(_) => (node, other),
    }
}

/// Shapes of nodes as surfaces, by node; those that are missing are appended.
fn shapes_of_nodes(nodes: &[Node], is_member: &[bool], surfaces: &mut Vec<Surface>) -> Vec<Option<usize>> {
    let mut places = vec![None; nodes.len()];
    for (index, surface) in surfaces.iter().enumerate() {
        if let Some(node) = carrying_node(nodes, surface) {
            places[node] = Some(index);
        }
    }
    for (node, place) in places.iter_mut().enumerate().filter(|(node, _)| is_member[*node]) {
        if let (None, Some(shape)) = (*place, nodes[node].shape.as_surface()) {
            *place = Some(surfaces.len());
            surfaces.push(Surface { shape, body: Some(node) });
        }
    }
    places
}

/// The node whose shape a surface is; none for a surface of its own.
fn carrying_node(nodes: &[Node], surface: &Surface) -> Option<usize> {
    let is_node = |&node: &usize| nodes[node].shape.as_surface().is_some();
    let is_solid = matches!(surface.shape, SurfaceShape::Solid { .. });
    surface.body.filter(|node| is_solid && is_node(node))
}

fn except(
    nodes: &[Node],
    surfaces: &[Surface],
    contacts: &[Contact],
    ties: &Ties,
) -> Vec<(usize, SecondSide)> {
    let own = contacts.iter().filter(|contact| contact.group().is_none()).map(|contact| {
        let sides = contact.sides();
        let node = carrying_node(nodes, &surfaces[sides.surface]);
        key(sides.node, node.map_or(SecondSide::Surface(sides.surface), SecondSide::Node))
    });
    let jointed = ties.joints.iter().filter_map(|joint| {
        let [first, second] = joint.ends.map(|end| end.anchor.node);
        Some(key(first?, SecondSide::Node(second?)))
    });
    let mut pairs: Vec<_> = own.chain(jointed).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
