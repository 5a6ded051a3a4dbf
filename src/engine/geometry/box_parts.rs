//! Corners, edges and faces of a box by number, in body components.

use nalgebra::Vector3;

/// Corners of a box.
pub(super) const CORNERS: usize = 8;
/// Edges of a box.
pub(super) const EDGES: usize = 12;
/// Faces of a box.
pub(super) const FACES: usize = 6;

/// An edge: all points `center + t e_axis`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub axis: usize,
    pub center: Vector3<f64>,
    /// Unit vector between the normals of the two faces that meet here.
    pub outward: Vector3<f64>,
}

/// A face with the outward normal `sign e_axis`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub axis: usize,
    pub sign: f64,
}

impl Face {
    pub fn normal(&self) -> Vector3<f64> {
        Vector3::ith(self.axis, self.sign)
    }
}

fn sign(plus: bool) -> f64 {
    if plus { 1.0 } else { -1.0 }
}

/// Corner of a box; bit `i` of its number is set on the positive side along axis `i`.
pub(super) fn corner(half: &Vector3<f64>, index: usize) -> Vector3<f64> {
    Vector3::from_fn(|axis, _| sign(index >> axis & 1 == 1) * half[axis])
}

/// The corner on these sides.
pub(super) fn corner_at(plus: [bool; 3]) -> usize {
    (0..3).map(|axis| usize::from(plus[axis]) << axis).sum()
}

/// Unit vector out of a corner.
pub(super) fn corner_outward(index: usize) -> Vector3<f64> {
    corner(&Vector3::from_element(1.0 / 3_f64.sqrt()), index)
}

/// Edge of a box.
pub(super) fn edge(half: &Vector3<f64>, index: usize) -> Edge {
    let axis = index / 4;
    let mut center = Vector3::zeros();
    let mut outward = Vector3::zeros();
    for (bit, side) in [(axis + 1) % 3, (axis + 2) % 3].into_iter().enumerate() {
        let sign = sign(index >> bit & 1 == 1);
        center[side] = sign * half[side];
        outward[side] = sign * std::f64::consts::FRAC_1_SQRT_2;
    }
    Edge { axis, center, outward }
}

/// The edge along `axis` on these sides; that of `axis` itself does not count.
pub(super) fn edge_at(axis: usize, plus: [bool; 3]) -> usize {
    4 * axis + usize::from(plus[(axis + 1) % 3]) + 2 * usize::from(plus[(axis + 2) % 3])
}

/// Corners at the ends of an edge, that on the negative side first.
pub(super) fn edge_ends(index: usize) -> [u32; 2] {
    let axis = index / 4;
    let mut plus = [false; 3];
    plus[(axis + 1) % 3] = index & 1 == 1;
    plus[(axis + 2) % 3] = index >> 1 & 1 == 1;
    [false, true].map(|side| {
        plus[axis] = side;
        corner_at(plus) as u32
    })
}

/// Sides of the corners of a face, one after the other around it.
pub(super) const AROUND: [(bool, bool); 4] = [(false, false), (true, false), (true, true), (false, true)];

/// Numbers of corners and edges around a face, and its two axes; edge `k` is from corner `k` to corner `k + 1`.
pub(super) fn around(index: usize) -> ([usize; 4], [usize; 4], [usize; 2]) {
    let face = face(index);
    let [u, v] = [(face.axis + 1) % 3, (face.axis + 2) % 3];
    let sides = |along_u: bool, along_v: bool| {
        let mut plus = [face.sign > 0.0; 3];
        (plus[u], plus[v]) = (along_u, along_v);
        plus
    };
    let corners = AROUND.map(|(a, b)| corner_at(sides(a, b)));
    let edges = [
        edge_at(u, sides(false, false)),
        edge_at(v, sides(true, false)),
        edge_at(u, sides(false, true)),
        edge_at(v, sides(false, false)),
    ];
    (corners, edges, [u, v])
}

/// Face of a box.
pub(super) fn face(index: usize) -> Face {
    Face { axis: index / 2, sign: sign(index % 2 == 1) }
}

/// The face across `axis` on this side.
pub(super) fn face_at(axis: usize, plus: bool) -> usize {
    2 * axis + usize::from(plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_numbers_of_their_sides() {
        let half = Vector3::new(1.0, 2.0, 3.0);
        for index in 0..CORNERS {
            let place = corner(&half, index);
            assert_eq!(place.abs(), half);
            assert_eq!(corner_at([0, 1, 2].map(|axis| place[axis] > 0.0)), index);
            assert!((corner_outward(index).norm() - 1.0).abs() < 1e-15);
            assert!(corner_outward(index).iter().zip(place.iter()).all(|(a, b)| a * b > 0.0));
        }
        for index in 0..EDGES {
            let edge = edge(&half, index);
            assert_eq!(edge.center[edge.axis], 0.0);
            assert_eq!(edge.center.iter().zip(half.iter()).filter(|(a, b)| a.abs() == **b).count(), 2);
            assert_eq!(edge_at(edge.axis, [0, 1, 2].map(|axis| edge.center[axis] > 0.0)), index);
            assert!(edge.outward.iter().zip(edge.center.iter()).all(|(a, b)| a * b >= 0.0));
        }
        for index in 0..FACES {
            let face = face(index);
            assert_eq!(face_at(face.axis, face.normal()[face.axis] > 0.0), index);
        }
    }
}
