//! Polyhedral friction: the disc `|p_T| <= mu p_N` replaced by a regular polygon.
//!
//! Inner polygon: `p_T = sum beta_k d_k`, `beta >= 0`, `sum beta <= mu p_N`, an LCP in `p_N`, `beta` and the slip
//! speed `s`. [Stewart and Trinkle 1996; Anitescu and Potra 1997]
//! Outer polygon: `c_i . p_T <= mu p_N`, a mixed problem in `p_N`, `p_T` and the slip speeds `k_i` with
//! `u_T = -sum k_i c_i`. [Klarbring 1986; Fancello 2012, 7.1.2]
//!
//! Turned so that one direction meets the slip, either is exact for straight sliding.

use super::bounded::{turn, turn_back};
use crate::engine::elementary::{atan2, cos, sincos, tan};
use crate::engine::problem::boxed::BoxedProblem;
use crate::engine::scalar::Scalar;

/// Which polygon stands for the disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polygon {
    /// Vertices on the circle.
    Inner,
    /// Sides tangent to the circle.
    Outer,
}

/// One contact's polygon: at least three sides, turned so that one direction is `direction` (a unit vector in
/// tangent coordinates).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facets<S> {
    /// Friction coefficient.
    pub mu: S,
    /// Number of directions.
    pub count: usize,
    /// The first direction.
    pub direction: [S; 2],
}

impl<S: Scalar> Facets<S> {
    /// Unit vector of direction `k`.
    pub fn direction(&self, k: usize) -> [S; 2] {
        self.turned(k as f64)
    }

    /// Unit vector towards a vertex.
    pub fn vertex(&self, polygon: Polygon, k: usize) -> [S; 2] {
        match polygon {
            Polygon::Inner => self.direction(k),
            Polygon::Outer => self.turned(k as f64 + 0.5),
        }
    }

    /// Friction at a vertex as a part of the normal impulse.
    pub fn reach(&self, polygon: Polygon) -> S {
        match polygon {
            Polygon::Inner => self.mu,
            Polygon::Outer => self.mu / S::from(cos(std::f64::consts::PI / self.count as f64)),
        }
    }

    /// The first direction turned on by a part of the angle between neighbours.
    fn turned(&self, part: f64) -> [S; 2] {
        let angle = std::f64::consts::TAU * part / self.count as f64;
        let (sine, cosine) = sincos(angle);
        turn_back([cosine, sine].map(S::from), self.direction)
    }

    /// The direction against the slip `slip`; the first tangent without slip.
    pub fn aligned(slip: [S; 2]) -> [S; 2] {
        let speed = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
        if speed.value() > 0.0 { [-slip[0] / speed, -slip[1] / speed] } else { [S::one(), S::zero()] }
    }

    /// Orthogonal projection onto the polygon for a circle of radius `radius`.
    pub fn project(&self, polygon: Polygon, point: [S; 2], radius: S) -> [S; 2] {
        let half = std::f64::consts::PI / self.count as f64;
        // Sides of the inner polygon lie half an angle on from its vertices, and nearer to the centre.
        let (offset, inradius) = match polygon {
            Polygon::Inner => (0.5, radius * S::from(cos(half))),
            Polygon::Outer => (0.0, radius),
        };
        let own = turn(point, self.direction);
        let part = atan2(own[1].value(), own[0].value()) / (2.0 * half);
        let side = self.turned((part - offset).round() + offset);
        let [across, along] = turn(point, side);
        if across.value() <= inradius.value() {
            return point;
        }
        let limit = inradius * S::from(tan(half));
        let along = if along.value() > limit.value() {
            limit
        } else if along.value() < -limit.value() {
            -limit
        } else {
            along
        };
        turn_back([inradius, along], side)
    }
}

/// Writes the complementarity problem of contacts with operator `w` (row-major, three rows a contact) and
/// velocities `q` without impulse. Unknowns: all normal impulses; then per contact its tangential unknowns
/// (inner: one `beta` a direction; outer: two components); then per contact its slip speeds (inner: one; outer:
/// one a direction).
pub fn assemble(polygon: Polygon, w: &[f64], q: &[f64], facets: &[Facets<f64>], problem: &mut BoxedProblem) {
    let layout = Layout::new(polygon, facets);
    problem.reset(layout.size);
    let rows = q.len();
    let size = layout.size;
    // Each unknown force acts along a vector in one contact's coordinates; rows see velocities along the same.
    let forces = layout.forces(polygon, facets);
    for (row, one) in forces.iter().enumerate() {
        problem.q[row] = (0..3).map(|k| one.vector[k] * q[3 * one.contact + k]).sum();
        for (column, other) in forces.iter().enumerate() {
            let mut entry = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    entry += one.vector[i]
                        * w[(3 * one.contact + i) * rows + 3 * other.contact + j]
                        * other.vector[j];
                }
            }
            problem.m[row * size + column] = entry;
        }
        let free = polygon == Polygon::Outer && row >= facets.len();
        problem.lower[row] = if free { f64::NEG_INFINITY } else { 0.0 };
    }
    for (contact, facets) in facets.iter().enumerate() {
        let tangential = layout.tangential[contact];
        let slips = layout.slips[contact];
        let slip_count = if polygon == Polygon::Inner { 1 } else { facets.count };
        for slip in 0..slip_count {
            let row = slips + slip;
            problem.lower[row] = 0.0;
            problem.m[row * size + contact] = facets.mu;
            for k in 0..layout.tangential_count(polygon, facets) {
                let weight = if polygon == Polygon::Inner { 1.0 } else { facets.direction(slip)[k] };
                problem.m[row * size + tangential + k] = -weight;
                problem.m[(tangential + k) * size + row] = weight;
            }
        }
    }
}

/// Impulses in the contacts' own coordinates, three a contact, from a solution `z` of [`assemble`].
pub fn impulses(polygon: Polygon, facets: &[Facets<f64>], z: &[f64], impulses: &mut [f64]) {
    let layout = Layout::new(polygon, facets);
    impulses.fill(0.0);
    for (force, z) in layout.forces(polygon, facets).iter().zip(z) {
        for k in 0..3 {
            impulses[3 * force.contact + k] += force.vector[k] * z;
        }
    }
}

/// Where the unknowns of each contact are.
struct Layout {
    tangential: Vec<usize>,
    slips: Vec<usize>,
    size: usize,
}

/// An unknown force: which contact, and along which vector of it.
struct Force {
    contact: usize,
    vector: [f64; 3],
}

impl Layout {
    fn new(polygon: Polygon, facets: &[Facets<f64>]) -> Layout {
        let mut layout = Layout { tangential: Vec::new(), slips: Vec::new(), size: facets.len() };
        for one in facets {
            layout.tangential.push(layout.size);
            layout.size += layout.tangential_count(polygon, one);
        }
        for one in facets {
            layout.slips.push(layout.size);
            layout.size += if polygon == Polygon::Inner { 1 } else { one.count };
        }
        layout
    }

    fn tangential_count(&self, polygon: Polygon, facets: &Facets<f64>) -> usize {
        if polygon == Polygon::Inner { facets.count } else { 2 }
    }

    fn forces(&self, polygon: Polygon, facets: &[Facets<f64>]) -> Vec<Force> {
        let normals = (0..facets.len()).map(|contact| Force { contact, vector: [1.0, 0.0, 0.0] });
        let tangents = facets.iter().enumerate().flat_map(|(contact, one)| {
            (0..self.tangential_count(polygon, one)).map(move |k| {
                let [x, y] = match polygon {
                    Polygon::Inner => one.direction(k),
                    Polygon::Outer => [f64::from(u8::from(k == 0)), f64::from(u8::from(k == 1))],
                };
                Force { contact, vector: [0.0, x, y] }
            })
        });
        normals.chain(tangents).collect()
    }
}
