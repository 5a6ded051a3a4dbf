//! Rules that springs and joints share: what they may join, and where their ends are.

use super::{Named, UNIQUE_NAMES, Validator};
use crate::model::diagnostics::{Problem, nearest};
use crate::model::{Anchor, Coupling, Node};
use nalgebra::{Quaternion, Vector3};
use toml::Spanned;

/// What is below this part of the numbers that it comes from is round-off of a file's author: places that are no further
/// apart are the same.
pub(super) const ROUND_OFF: f64 = 1e-9;

const GROUND: &str = "ground";

/// Indices of the nodes that a spring or joint is between; none for the ground.
pub(super) type Ends = [Option<usize>; 2];

impl Validator<'_> {
    /// Checks the name of a spring or joint and makes it known.
    pub(super) fn tie_name(&mut self, name: &Spanned<String>, kind: &'static str) -> String {
        self.entry_name(name);
        if !self.is_taken(name.get_ref(), name.span(), UNIQUE_NAMES) {
            self.other_names.insert(name.get_ref().clone(), kind);
        }
        name.get_ref().clone()
    }

    /// What a spring or joint is between.
    pub(super) fn ends(
        &mut self,
        between: &Spanned<[Spanned<String>; 2]>,
        kind: &str,
        nodes: &[Node],
    ) -> Option<Ends> {
        let names = between.get_ref();
        let [Some(first), Some(second)] = [0, 1].map(|end| self.end(&names[end], kind, nodes)) else {
            return None;
        };
        if first == second {
            let what = match first {
                None => "the ground".to_owned(),
                Some(node) => format!("`{}`", nodes[node].name),
            };
            self.problems.push(
                Problem::at(between.span(), format!("a {kind} cannot join {what} to itself"))
                    .hint("name two nodes, or one node and \"ground\", the fixed frame"),
            );
            return None;
        }
        Some([first, second])
    }

    fn end(&mut self, name: &Spanned<String>, kind: &str, nodes: &[Node]) -> Option<Option<usize>> {
        let text = name.get_ref().as_str();
        if text == GROUND {
            return Some(None);
        }
        let (message, hint) = match self.names.get(text) {
            Some(&Named::Node(node)) if nodes[node].coupling == Coupling::Owned => return Some(Some(node)),
            Some(Named::Node(_)) => (
                format!("`{text}` is moved by the master, and a {kind} acts on nodes that the FMU moves"),
                format!("write coupling = \"owned\" for `{text}`, or leave the {kind} to the master"),
            ),
            Some(Named::Surface(_)) => (
                format!("`{text}` is a surface, and a {kind} is between nodes, or a node and \"ground\""),
                "\"ground\" is the fixed frame, which surfaces that do not move belong to".to_owned(),
            ),
            None => {
                let mut known: Vec<&str> = vec![GROUND];
                known.extend(nodes.iter().map(|node| node.name.as_str()));
                let hint = match nearest(text, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "add it as [[node]], or write \"ground\" for the fixed frame".to_owned(),
                };
                (format!("there is no node `{text}`"), hint)
            }
        };
        self.problems.push(Problem::at(name.span(), message).hint(hint));
        None
    }
}

/// The ends at `places` of the nodes, or at their centres and the origin of the ground.
pub(super) fn anchors(ends: Ends, places: Option<[[f64; 3]; 2]>) -> [Anchor; 2] {
    let places = places.unwrap_or_default();
    [0, 1].map(|end| Anchor { node: ends[end], place: places[end] })
}

/// Where an anchor is at the start.
pub(super) fn in_world(anchor: &Anchor, nodes: &[Node]) -> Vector3<f64> {
    let place = Vector3::from(anchor.place);
    match anchor.node {
        None => place,
        Some(node) => Vector3::from(nodes[node].position) + rotated(orientation(&nodes[node]), place),
    }
}

/// Distance below which the places of anchors count as the same, in any unit of length.
pub(super) fn same_place(ends: &[Anchor], nodes: &[Node]) -> f64 {
    let reach = |anchor: &Anchor| {
        let centre = anchor.node.map_or(0.0, |node| Vector3::from(nodes[node].position).norm());
        centre + Vector3::from(anchor.place).norm()
    };
    ROUND_OFF * ends.iter().map(reach).sum::<f64>()
}

/// The anchor of a node, or of the ground, that is at a place of the world at the start.
pub(super) fn anchor_at(place: [f64; 3], node: Option<usize>, nodes: &[Node]) -> Anchor {
    let place = match node {
        None => place,
        Some(index) => {
            let arm = Vector3::from(place) - Vector3::from(nodes[index].position);
            rotated(orientation(&nodes[index]).conjugate(), arm).into()
        }
    };
    Anchor { node, place }
}

/// Initial orientation of a node; a point mass keeps to the axes of the world.
pub(super) fn orientation(node: &Node) -> Quaternion<f64> {
    let [w, x, y, z] = node.rotation.map_or([1.0, 0.0, 0.0, 0.0], |rotation| rotation.orientation);
    Quaternion::new(w, x, y, z)
}

/// A vector turned by a unit quaternion.
pub(super) fn rotated(turn: Quaternion<f64>, vector: Vector3<f64>) -> Vector3<f64> {
    (turn * Quaternion::from_imag(vector) * turn.conjugate()).imag()
}
