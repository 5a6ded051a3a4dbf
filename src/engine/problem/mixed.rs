//! The contact problem with any mixture of friction laws.
//!
//! `u = W r + q`; per contact `0 <= r_N _|_ u_N >= 0` and `-u_T` in the normal cone, at `r_T`, of a convex set: the
//! disc or polygon of radius `mu r_N`, or a rectangle of fixed size. Compliance is part of `W` and `q`.

use super::cone::ConeProblem;
use crate::engine::law::bounded::{BoundedRows, turn, turn_back};
use crate::engine::law::facets::{Facets, Polygon};
use crate::engine::scalar::Scalar;

/// Operator, velocities and the friction of every contact.
#[derive(Clone, Debug, Default)]
pub struct MixedProblem<S> {
    /// `W` and `q`; its friction coefficients count for contacts with [`Friction::Cone`] only.
    pub contacts: ConeProblem<S>,
    /// Friction, contact by contact.
    pub friction: Vec<Friction<S>>,
}

/// Friction of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction<S> {
    /// The disc `|r_T| <= mu r_N`.
    Cone,
    /// A polygon in its place.
    Facets(Facets<S>, Polygon),
    /// Two components along and across `direction`, each between `-bound` and `bound`.
    Bounded {
        /// Unit vector in tangent coordinates.
        direction: [S; 2],
        /// Largest impulse of a component.
        bound: S,
    },
}

impl<S: Scalar> Friction<S> {
    /// The same law over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Friction<T> {
        match self {
            Friction::Cone => Friction::Cone,
            Friction::Facets(Facets { mu, count, direction }, polygon) => {
                let facets = Facets { mu: convert(*mu), count: *count, direction: direction.map(convert) };
                Friction::Facets(facets, *polygon)
            }
            Friction::Bounded { direction, bound } => {
                Friction::Bounded { direction: direction.map(convert), bound: convert(*bound) }
            }
        }
    }

    /// Orthogonal projection onto the set of friction impulses at the normal impulse `normal >= 0`.
    pub fn project(&self, mu: S, normal: S, tangential: [S; 2]) -> [S; 2] {
        match self {
            Friction::Cone => {
                let radius = mu * normal;
                let length = (tangential[0] * tangential[0] + tangential[1] * tangential[1]).sqrt();
                if length.value() <= radius.value() {
                    tangential
                } else {
                    tangential.map(|component| component * (radius / length))
                }
            }
            Friction::Facets(facets, polygon) => facets.project(*polygon, tangential, facets.mu * normal),
            Friction::Bounded { direction, bound } => {
                let own = turn(tangential, *direction).map(|component| {
                    if component.value() > bound.value() {
                        *bound
                    } else if component.value() < -bound.value() {
                        -*bound
                    } else {
                        component
                    }
                });
                turn_back(own, *direction)
            }
        }
    }
}

impl<S: Scalar> MixedProblem<S> {
    /// An empty problem that can grow to `contacts` contacts and `blocks` blocks without allocation.
    pub fn with_capacity(contacts: usize, blocks: usize) -> MixedProblem<S> {
        MixedProblem {
            contacts: ConeProblem::with_capacity(contacts, blocks),
            friction: Vec::with_capacity(contacts),
        }
    }

    /// Makes every contact a cone.
    pub fn reset_friction(&mut self) {
        self.friction.clear();
        self.friction.resize(self.contacts.contacts(), Friction::Cone);
    }

    /// Adds compliance `compliance` to a normal row, relaxed at the impulse `preload`.
    pub fn add_normal_compliance(&mut self, contact: usize, compliance: S, preload: S) {
        self.contacts.w.diagonal_mut(contact)[0][0] += compliance;
        self.contacts.q[3 * contact] -= compliance * preload;
    }

    /// Gives a contact bounded rows: their compliance goes into `W` and `q`.
    pub fn set_bounded(&mut self, contact: usize, rows: &BoundedRows<S>) {
        let [cosine, sine] = rows.direction;
        let [along, across] = rows.compliance;
        let block = self.contacts.w.diagonal_mut(contact);
        block[1][1] += along * cosine * cosine + across * sine * sine;
        block[2][2] += along * sine * sine + across * cosine * cosine;
        let mixed = (along - across) * cosine * sine;
        block[1][2] += mixed;
        block[2][1] += mixed;
        let relaxed = [along * rows.preload[0], across * rows.preload[1]];
        let relaxed = turn_back(relaxed, rows.direction);
        self.contacts.q[3 * contact + 1] -= relaxed[0];
        self.contacts.q[3 * contact + 2] -= relaxed[1];
        self.friction[contact] = Friction::Bounded { direction: rows.direction, bound: rows.bound };
    }

    /// Writes the problem without tangents.
    pub fn copy_values(&self, target: &mut MixedProblem<f64>) {
        self.contacts.copy_values(&mut target.contacts);
        target.friction.clear();
        target.friction.extend(self.friction.iter().map(|friction| friction.map(S::value)));
    }
}
