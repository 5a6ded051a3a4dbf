//! Springs between point masses, without joints, in packed lists: long chains are nothing else, and memory is what they
//! cost.
//!
//! Their matrix depends on where springs point to, not on where masses are: it is written and factored anew when a
//! direction, a mass or a rate has changed. Of springs along an axis none does.

use super::spring::{Rates, Spring, Stiffness, Stretch};
use super::{Linkage, Stiffening, Ties};
use crate::engine::scalar::Scalar;
use crate::engine::state::{NodeState, Parameters};
use nalgebra::{Matrix3, Vector3};

/// A linkage that has springs between point masses only.
#[derive(Clone, Debug)]
pub struct Plain {
    /// In the order of [`Linkage::springs`].
    springs: Vec<PlainSpring>,
    /// Nodes that may touch something, by place among the island's.
    pub touching: Vec<usize>,
}

/// A spring between two masses, or a mass and the ground.
#[derive(Clone, Copy, Debug)]
struct PlainSpring {
    /// Index among all springs.
    index: usize,
    /// Places of the masses among the island's nodes; that of the ground is behind the last.
    ends: [usize; 2],
    /// From the first anchor to the second where both masses are at the origin.
    offset: Vector3<f64>,
    /// Length at rest.
    length: f64,
}

/// What the matrix was made of.
#[derive(Clone, Debug)]
pub struct PlainMatrix<S: Scalar> {
    /// Mass by node of the island.
    masses: Vec<S>,
    springs: Vec<Stiffness<S>>,
    /// Sum of the inverse masses of the ends, by spring.
    mobilities: Vec<S>,
    /// Whether some spring damps.
    pub damps: bool,
    /// Where springs act, by node of the island; the ground last.
    pub at: Vec<Vector3<S>>,
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
        let springs = springs.iter().map(|&index| {
            let Spring { ends: [first, second], length } = ties.springs[index];
            PlainSpring {
                index,
                ends: [first, second].map(|end| end.node.map_or(nodes, &local)),
                offset: second.place - first.place,
                length,
            }
        });
        Plain { springs: springs.collect(), touching }
    }

    /// Power that the dampers take, with nodes at `at` and moving with `velocity`.
    pub fn damping_power<S: Scalar>(
        &self,
        parameters: &Parameters<S>,
        at: &[Vector3<S>],
        velocity: impl Fn(usize) -> Vector3<S>,
    ) -> S {
        let ground = at.len() - 1;
        let velocity = |end: usize| if end == ground { Vector3::zeros() } else { velocity(end) };
        let mut power = S::zero();
        for spring in &self.springs {
            let damping = parameters.damping[spring.index];
            let [first, second] = spring.ends;
            let apart = at[second] - at[first] + spring.offset.map(S::from);
            let square = apart.dot(&apart);
            if !damping.is_zero() && square.value() > 0.0 {
                let rate = apart.dot(&(velocity(second) - velocity(first)));
                power += damping * rate * rate / square;
            }
        }
        power
    }
}

impl<S: Scalar> PlainMatrix<S> {
    /// Nothing known.
    pub fn new(linkage: &Linkage) -> PlainMatrix<S> {
        let nodes = linkage.plain.as_ref().map_or(0, |_| linkage.places.len());
        let springs = linkage.plain.as_ref().map_or(0, |plain| plain.springs.len());
        PlainMatrix {
            masses: vec![S::zero(); nodes],
            springs: vec![Stiffness::none(); springs],
            mobilities: vec![S::zero(); springs],
            damps: false,
            at: vec![Vector3::zeros(); nodes + 1],
        }
    }

    /// Takes the masses of the nodes, and writes their inverses to `mobility`, by node. Returns whether they have changed.
    #[inline]
    pub fn weigh(&mut self, nodes: &[usize], plain: &Plain, masses: &[S], mobility: &mut [S]) -> bool {
        let mut changed = false;
        for (known, &node) in self.masses.iter().zip(nodes) {
            changed |= *known != masses[node];
        }
        if changed {
            for (known, &node) in self.masses.iter_mut().zip(nodes) {
                *known = masses[node];
                mobility[node] = S::one() / *known;
            }
            for (sum, spring) in self.mobilities.iter_mut().zip(&plain.springs) {
                let of = |&end: &usize| self.masses.get(end).map_or(S::zero(), |&mass| S::one() / mass);
                *sum = spring.ends.iter().fold(S::zero(), |sum, end| sum + of(end));
            }
        }
        changed
    }

    /// Adds what the springs do to `right`, with nodes at `at` and moving with `velocity`. Returns whether the matrix has
    /// changed.
    #[inline]
    pub fn pull(
        &mut self,
        plain: &Plain,
        parameters: &Parameters<S>,
        stiffening: &Stiffening<S>,
        velocity: impl Fn(usize) -> Vector3<S>,
        right: &mut [Vector3<S>],
    ) -> bool {
        let PlainMatrix { springs, mobilities, damps, at, .. } = self;
        let ground = at.len() - 1;
        let mut changed = false;
        let weights = Rates { stiffness: stiffening.stiffness, damping: stiffening.damping };
        *damps = false;
        for ((spring, known), &mobility) in plain.springs.iter().zip(springs).zip(mobilities.iter()) {
            let [first, second] = spring.ends;
            let rates = Rates {
                stiffness: parameters.stiffness[spring.index],
                damping: parameters.damping[spring.index],
            };
            let apart = at[second] - at[first] + spring.offset.map(S::from);
            let stretch = Stretch::new(spring.length, rates.stiffness, apart);
            let mut resistance = S::zero();
            if !rates.damping.is_zero() {
                let of = |end: usize| if end == ground { Vector3::zeros() } else { velocity(end) };
                resistance = rates.damping * stretch.direction.dot(&(of(second) - of(first)));
                *damps = true;
            }
            let impulse = stretch.force(resistance) * stiffening.interval;
            if first != ground {
                right[first] += impulse;
            }
            if second != ground {
                right[second] -= impulse;
            }
            let stiffness = Stiffness::new(&stretch, rates, weights, mobility);
            changed |= known.differs(&stiffness);
            *known = stiffness;
        }
        changed
    }

    /// The masses of the nodes, by place.
    pub fn masses(&self) -> &[S] {
        &self.masses
    }

    /// What the springs add to the masses of their ends, spring by spring.
    pub fn stiffnesses(&self) -> impl Iterator<Item = Matrix3<S>> + '_ {
        self.springs.iter().map(Stiffness::matrix)
    }
}

/// Velocity of a node where springs act, when it will have `after` without them.
#[inline]
pub fn acting_velocity<S: Scalar>(node: &NodeState<S>, after: &Vector3<S>, theta: S) -> Vector3<S> {
    node.velocity + (after - node.velocity) * theta
}
