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
    /// Row by row.
    blocks: Vec<Matrix3<S>>,
    operator: Vec<f64>,
    turns: Vec<f64>,
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
            operator: Vec::new(),
            turns: Vec::new(),
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
        self.blocks.clear();
        self.blocks.resize(count * count, Matrix3::zeros());
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

    /// Velocity of the body at one place for impulses at another.
    #[inline]
    pub fn block(&self, one: usize, other: usize) -> &Matrix3<S> {
        &self.blocks[one * self.nodes.len() + other]
    }

    /// Where the operator is to be written, three rows a body, row by row, and room to work in.
    pub fn buffers(&mut self) -> (&mut Vec<f64>, &mut Vec<f64>) {
        (&mut self.operator, &mut self.turns)
    }

    /// Takes the operator that was written.
    pub fn set(&mut self) {
        let (operator, rows) = (std::mem::take(&mut self.operator), 3 * self.nodes.len());
        self.write(|row, column| S::from(operator[row * rows + column]));
        self.operator = operator;
    }

    /// Takes an operator by its numbers.
    pub fn write(&mut self, entry: impl Fn(usize, usize) -> S) {
        let count = self.nodes.len();
        for one in 0..count {
            for other in 0..count {
                self.blocks[one * count + other] = Matrix3::from_fn(|r, c| entry(3 * one + r, 3 * other + c));
            }
        }
    }

    /// Velocities for impulses, or displacements for their time integrals, of the body at a place.
    pub fn response(&self, place: usize, impulse: impl Fn(usize) -> Vector3<S>) -> Vector3<S> {
        (0..self.nodes.len())
            .fold(Vector3::zeros(), |sum, other| sum + self.block(place, other) * impulse(other))
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
