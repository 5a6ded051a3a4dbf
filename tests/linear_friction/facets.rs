//! Polyhedral friction as a complementarity problem. [Stewart and Trinkle 1996; Klarbring 1986]

use contact_fmu::engine::BoxedProblem;
use contact_fmu::engine::law::facets::{Facets, Polygon};

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
