//! Bodies that respond to one another's impulses, as points of one mechanism do: `v_i += sum_j W_ij p_j`, with the inverse
//! mass operator `W = J M^-1 J^T` of the mechanism at these points [Featherstone 2008, 11.2].

use crate::engine::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// The operator, in blocks; without bodies where each responds to its own impulses only.
#[derive(Clone, Debug)]
pub struct InverseMass<S> {
    /// Place of a node among the bodies, by node; empty without bodies.
    places: Vec<Option<usize>>,
    nodes: Vec<usize>,
    /// Row by row, as contact has it: what hardly moves is raised, so that impulses stay bounded.
    blocks: Vec<Matrix3<S>>,
    /// As it is known, by which motion is foretold: what no impulse moves is not taken to have moved.
    known: Vec<Matrix3<S>>,
    operators: [Vec<f64>; 2],
    room: [Vec<f64>; 2],
    /// Time integral of impulses since the window began, by body: the displacement is `W` times it.
    pub reach: Vec<Vector3<S>>,
}

impl<S: Scalar> InverseMass<S> {
    /// Without bodies.
    pub fn none() -> InverseMass<S> {
        InverseMass {
            places: Vec::new(),
            nodes: Vec::new(),
            blocks: Vec::new(),
            known: Vec::new(),
            operators: [Vec::new(), Vec::new()],
            room: [Vec::new(), Vec::new()],
            reach: Vec::new(),
        }
    }

    /// Of these bodies among so many `nodes`; nothing moves yet.
    pub fn join(&mut self, nodes: usize, bodies: impl Iterator<Item = usize>) {
        self.nodes.clear();
        self.nodes.extend(bodies);
        self.places.clear();
        self.places.resize(nodes, None);
        for (place, &node) in self.nodes.iter().enumerate() {
            self.places[node] = Some(place);
        }
        let count = self.nodes.len();
        for blocks in [&mut self.blocks, &mut self.known] {
            blocks.clear();
            blocks.resize(count * count, Matrix3::zeros());
        }
        self.reach.clear();
        self.reach.resize(count, Vector3::zeros());
    }

    /// Whether there are no bodies.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Forgets the bodies.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.places.clear();
    }

    /// Place of a node among the bodies.
    #[inline]
    pub fn place(&self, node: usize) -> Option<usize> {
        self.places.get(node).copied().flatten()
    }

    /// The bodies.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// The node that stands for all of them in lists of what hangs together.
    #[inline]
    pub fn leader(&self, node: usize) -> usize {
        if self.place(node).is_some() { self.nodes[0] } else { node }
    }

    /// Velocity of the body at one place for impulses at another, as contact has it.
    #[inline]
    pub fn block(&self, one: usize, other: usize) -> &Matrix3<S> {
        &self.blocks[one * self.nodes.len() + other]
    }

    /// Where the operator is to be written as it is known and as contact has it, three rows a body, row by row, and room to
    /// work in.
    pub fn buffers(&mut self) -> (&mut [Vec<f64>; 2], &mut [Vec<f64>; 2]) {
        (&mut self.operators, &mut self.room)
    }

    /// Takes the operator that was written.
    pub fn set(&mut self) {
        let (operators, rows) = (std::mem::take(&mut self.operators), 3 * self.nodes.len());
        self.write(|row, column| operators.each_ref().map(|entries| S::from(entries[row * rows + column])));
        self.operators = operators;
    }

    /// Takes an operator by its numbers: as it is known and as contact has it.
    pub fn write(&mut self, entry: impl Fn(usize, usize) -> [S; 2]) {
        let count = self.nodes.len();
        for one in 0..count {
            for other in 0..count {
                let entry = |r: usize, c: usize| entry(3 * one + r, 3 * other + c);
                let place = one * count + other;
                self.known[place] = Matrix3::from_fn(|r, c| entry(r, c)[0]);
                self.blocks[place] = Matrix3::from_fn(|r, c| entry(r, c)[1]);
            }
        }
    }

    /// Velocities for impulses, or displacements for their time integrals, of the body at a place, as the operator is known.
    pub fn response(&self, place: usize, impulse: impl Fn(usize) -> Vector3<S>) -> Vector3<S> {
        let row = &self.known[place * self.nodes.len()..][..self.nodes.len()];
        row.iter().enumerate().fold(Vector3::zeros(), |sum, (other, block)| sum + block * impulse(other))
    }

    /// Adds what an impulse on the body at a place makes of velocities, by node.
    pub fn push(&self, velocity: &mut [Vector3<S>], place: usize, impulse: &Vector3<S>) {
        for (other, &node) in self.nodes.iter().enumerate() {
            velocity[node] += self.block(other, place) * impulse;
        }
    }

    /// How easily a body moves, as the mean over all directions.
    pub fn mean(&self, place: usize) -> S {
        self.block(place, place).trace() / S::from(3.0)
    }
}
