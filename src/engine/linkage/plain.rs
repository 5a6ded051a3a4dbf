//! Springs between point masses, without joints, in packed lists: long chains are nothing else, and memory is what they
//! cost.
//!
//! Their matrix depends on where springs point to, not on where masses are: it is written and factored anew when a
//! direction, a mass or a rate has changed. Of springs along an axis none does. Until then a contact is answered in the
//! same way, which is kept.

use super::Stiffening;
use crate::engine::scalar::{Scalar, held, largest};
use crate::engine::state::{NodeState, Parameters};
use crate::engine::system::linkage::{Linkage, Plain, PlainSpring};
use crate::engine::ties::spring::{Rates, Stiffness, Stretch, distance, rounding};
use nalgebra::{Matrix3, Vector3};

/// What the matrix was made of.
#[derive(Clone, Debug)]
pub struct PlainMatrix<S: Scalar> {
    /// Mass by node of the island.
    masses: Vec<S>,
    springs: Vec<Known<S>>,
    /// Whether some spring damps.
    pub damps: bool,
    /// Where springs act, by node of the island; the ground last.
    pub at: Vec<Vector3<S>>,
    /// Acceleration of all nodes without springs and contact, where it is the same.
    pub even: Option<Vector3<S>>,
    pub answer: Answer<S>,
}

/// What is known of a spring.
#[derive(Clone, Copy, Debug)]
struct Known<S: Scalar> {
    stiffness: Stiffness<S>,
    /// Sum of the inverse masses of its ends.
    mobility: S,
}

/// Velocities that a unit impulse on a node makes.
#[derive(Clone, Debug)]
pub struct Answer<S: Scalar> {
    /// Place of the node, and direction of the impulse; none where nothing is known.
    pub to: Option<(usize, Vector3<S>)>,
    /// By node of the island.
    pub velocities: Vec<Vector3<S>>,
}

impl Plain {
    /// From the first end of a spring to the second, with nodes at `at`.
    #[inline]
    fn apart<S: Scalar>(&self, spring: &PlainSpring, at: &[Vector3<S>]) -> Vector3<S> {
        self.apart_of(spring, |end| at[end])
    }

    #[inline]
    fn apart_of<S: Scalar>(&self, spring: &PlainSpring, at: impl Fn(usize) -> Vector3<S>) -> Vector3<S> {
        let [first, second] = spring.ends();
        at(second) - at(first) + self.offsets[spring.offset as usize].map(S::from)
    }

    /// Potential energy with masses at `at`, by place; the origin is behind the last. And how much of all impulses over
    /// `interval` may be round-off.
    pub fn energy<S: Scalar>(
        &self,
        parameters: &Parameters<S>,
        interval: S,
        at: impl Fn(usize) -> Vector3<S>,
    ) -> (f64, f64) {
        let (mut energy, mut rounded) = (0.0, 0.0);
        for spring in &self.springs {
            let stiffness = parameters.stiffness[spring.index as usize].value();
            let stretch = distance(&self.apart_of(spring, &at)).value() - spring.length;
            energy += 0.5 * stiffness * stretch * stretch;
            let distances = spring.ends().into_iter().fold(0.0, |sum, end| sum + largest(&at(end)));
            rounded += rounding(stiffness, interval.value(), distances);
        }
        (energy, rounded)
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
            let damping = parameters.damping[spring.index as usize];
            let [first, second] = spring.ends();
            let apart = self.apart(spring, at);
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
            springs: vec![Known { stiffness: Stiffness::none(), mobility: S::zero() }; springs],
            damps: false,
            at: vec![Vector3::zeros(); nodes + 1],
            even: None,
            answer: Answer { to: None, velocities: vec![Vector3::zeros(); nodes] },
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
            self.weigh_anew(nodes, plain, masses, mobility);
        }
        changed
    }

    #[inline(never)]
    fn weigh_anew(&mut self, nodes: &[usize], plain: &Plain, masses: &[S], mobility: &mut [S]) {
        for (known, &node) in self.masses.iter_mut().zip(nodes) {
            *known = masses[node];
            mobility[node] = S::one() / *known;
        }
        for (known, spring) in self.springs.iter_mut().zip(&plain.springs) {
            let of = |end: usize| self.masses.get(end).map_or(S::zero(), |&mass| S::one() / mass);
            known.mobility = spring.ends().into_iter().fold(S::zero(), |sum, end| sum + of(end));
        }
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
        let stretch = |spring: &PlainSpring, stiffness: S, apart: Vector3<S>| {
            Stretch::new(spring.length, stiffness, apart)
        };
        self.pull_as(plain, parameters, stiffening, velocity, (right, true), stretch)
    }

    /// The same after a `part` of an interval with nodes at `before`, where springs are to keep their energy. Unless the
    /// `target`, the right side, says that it is to stiffen, the matrix is left alone and values alone are found.
    #[inline(never)]
    pub fn pull_between(
        &mut self,
        plain: &Plain,
        parameters: &Parameters<S>,
        stiffening: &Stiffening<S>,
        (before, part): (impl Fn(usize) -> Vector3<S>, S),
        velocity: impl Fn(usize) -> Vector3<S>,
        target: (&mut [Vector3<S>], bool),
    ) {
        let (ground, stiffens) = (self.at.len() - 1, target.1);
        let at = |end: usize| if end == ground { Vector3::zeros() } else { before(end) };
        let stretch = |spring: &PlainSpring, stiffness: S, apart: Vector3<S>| {
            let before = plain.apart_of(spring, |end| if stiffens { at(end) } else { held(&at(end)) });
            Stretch::between(spring.length, stiffness, apart, &before, part)
        };
        self.pull_as(plain, parameters, stiffening, velocity, target, stretch);
    }

    #[inline(always)]
    fn pull_as(
        &mut self,
        plain: &Plain,
        parameters: &Parameters<S>,
        stiffening: &Stiffening<S>,
        velocity: impl Fn(usize) -> Vector3<S>,
        (right, stiffens): (&mut [Vector3<S>], bool),
        stretch: impl Fn(&PlainSpring, S, Vector3<S>) -> Stretch<S>,
    ) -> bool {
        let PlainMatrix { springs, damps, at, .. } = self;
        let ground = at.len() - 1;
        let mut changed = false;
        let weights = Rates { stiffness: stiffening.stiffness, damping: stiffening.damping };
        *damps = false;
        let seen = |number: S| if stiffens { number } else { S::from(number.value()) };
        for (spring, known) in plain.springs.iter().zip(springs) {
            let [first, second] = spring.ends();
            let index = spring.index as usize;
            let rates = Rates {
                stiffness: seen(parameters.stiffness[index]),
                damping: seen(parameters.damping[index]),
            };
            let apart = plain.apart_of(spring, |end| at[end].map(seen));
            let stretch = stretch(spring, rates.stiffness, apart);
            let mut resistance = S::zero();
            if !parameters.damping[index].is_zero() {
                let of = |end: usize| if end == ground { Vector3::zeros() } else { velocity(end).map(seen) };
                resistance = rates.damping * stretch.direction.dot(&(of(second) - of(first)));
                *damps = true;
            }
            let impulse = stretch.force(resistance) * stiffening.interval;
            if let Some(right) = right.get_mut(first) {
                *right += impulse;
            }
            if let Some(right) = right.get_mut(second) {
                *right -= impulse;
            }
            if !stiffens {
                continue;
            }
            let stiffness = Stiffness::new(&stretch, rates, weights, known.mobility);
            // Not written where it is the same: memory is what long chains cost.
            if known.stiffness.differs(&stiffness) {
                known.stiffness = stiffness;
                changed = true;
            }
        }
        changed
    }

    /// The masses of the nodes, by place.
    pub fn masses(&self) -> &[S] {
        &self.masses
    }

    /// What the springs add to the masses of their ends, spring by spring.
    pub fn stiffnesses(&self) -> impl Iterator<Item = Matrix3<S>> + '_ {
        self.springs.iter().map(|known| known.stiffness.matrix())
    }
}

/// Velocity of a node where springs act, when it will have `after` without them.
#[inline]
pub fn acting_velocity<S: Scalar>(node: &NodeState<S>, after: &Vector3<S>, theta: S) -> Vector3<S> {
    node.velocity + (after - node.velocity) * theta
}
