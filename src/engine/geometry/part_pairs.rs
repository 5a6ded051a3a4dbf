//! Pairs of corners, edges and faces of two solids, and their numbers as features.

use super::box_parts::{CORNERS, EDGES, FACES};
use super::solids::Feature;

/// How many parts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Corners.
    pub corners: usize,
    /// Edges.
    pub edges: usize,
    /// Faces.
    pub faces: usize,
}

/// Parts of a box.
pub const BOX: Counts = Counts { corners: CORNERS, edges: EDGES, faces: FACES };

/// Parts that touch: first that of the first solid, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// A corner of the first and a face of the second.
    CornerFace(usize, usize),
    /// A face and a corner.
    FaceCorner(usize, usize),
    /// Two edges.
    EdgeEdge(usize, usize),
    /// A corner and an edge.
    CornerEdge(usize, usize),
    /// An edge and a corner.
    EdgeCorner(usize, usize),
    /// Two corners.
    CornerCorner(usize, usize),
}

/// Kinds of pairs of parts, each with how many of the one and of the other there are. Features are numbered kind by kind.
pub(super) struct Kinds(pub [(usize, usize); 6]);

impl Kinds {
    /// Number of features.
    pub const fn count(&self) -> usize {
        self.before(self.0.len())
    }

    const fn before(&self, kind: usize) -> usize {
        let (mut count, mut index) = (0, 0);
        while index < kind {
            count += self.0[index].0 * self.0[index].1;
            index += 1;
        }
        count
    }

    /// The feature of two parts of a kind.
    #[inline]
    pub fn feature(&self, kind: usize, one: usize, other: usize) -> Feature {
        (self.before(kind) + one * self.0[kind].1 + other) as Feature
    }

    /// Kind and parts of a feature.
    #[inline]
    pub fn parts(&self, feature: Feature) -> (usize, usize, usize) {
        let mut number = feature as usize;
        for (kind, (ones, others)) in self.0.into_iter().enumerate() {
            if number < ones * others {
                return (kind, number / others, number % others);
            }
            number -= ones * others;
        }
        unreachable!("the pair has the feature")
    }
}

/// Number of features of two solids.
pub const fn feature_count(first: &Counts, second: &Counts) -> usize {
    kinds(first, second).count()
}

const fn kinds(first: &Counts, second: &Counts) -> Kinds {
    Kinds([
        (first.corners, second.faces),
        (first.faces, second.corners),
        (first.edges, second.edges),
        (first.corners, second.edges),
        (first.edges, second.corners),
        (first.corners, second.corners),
    ])
}

impl Parts {
    /// The number of the feature.
    #[inline]
    pub fn feature(self, first: &Counts, second: &Counts) -> Feature {
        let (kind, one, other) = match self {
            Parts::CornerFace(one, other) => (0, one, other),
            Parts::FaceCorner(one, other) => (1, one, other),
            Parts::EdgeEdge(one, other) => (2, one, other),
            Parts::CornerEdge(one, other) => (3, one, other),
            Parts::EdgeCorner(one, other) => (4, one, other),
            Parts::CornerCorner(one, other) => (5, one, other),
        };
        kinds(first, second).feature(kind, one, other)
    }

    /// The parts of a feature.
    #[inline]
    pub fn of(feature: Feature, first: &Counts, second: &Counts) -> Parts {
        const KINDS: [fn(usize, usize) -> Parts; 6] = [
            Parts::CornerFace,
            Parts::FaceCorner,
            Parts::EdgeEdge,
            Parts::CornerEdge,
            Parts::EdgeCorner,
            Parts::CornerCorner,
        ];
        let (kind, one, other) = kinds(first, second).parts(feature);
        KINDS[kind](one, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_numbers_of_their_own() {
        let (first, second) =
            (Counts { corners: 2, edges: 1, faces: 3 }, Counts { corners: 5, edges: 4, faces: 7 });
        for number in 0..feature_count(&first, &second) as Feature {
            assert_eq!(Parts::of(number, &first, &second).feature(&first, &second), number);
        }
    }
}
