//! The local frame of a contact: rows normal, tangent 1, tangent 2.

use crate::engine::scalar::{Scalar, cross, dot, length};
use nalgebra::{Matrix3, Vector3};

/// Orthonormal right-handed frame with `normal` as its first row.
pub fn local_frame<S: Scalar>(normal: &Vector3<S>) -> Matrix3<S> {
    let least = (0..3)
        .min_by(|&i, &j| normal[i].value().abs().total_cmp(&normal[j].value().abs()))
        .expect("a vector has components");
    let mut axis = Vector3::zeros();
    axis[least] = S::one();
    let across = axis - normal * normal[least];
    let first = across / length(&across);
    let second = cross(normal, &first);
    Matrix3::from_rows(&[normal.transpose(), first.transpose(), second.transpose()])
}

/// The frame turned by the smallest angle that makes `normal`, which is not opposite to it, its first row: the tangents
/// go along whichever they are.
pub fn turned_to<S: Scalar>(frame: &Matrix3<S>, normal: &Vector3<S>) -> Matrix3<S> {
    let before = frame.row(0).transpose();
    let axis = cross(&before, normal);
    let nearness = S::one() / (S::one() + dot(&before, normal));
    let turned = |row: usize| {
        let tangent = frame.row(row).transpose();
        let along = cross(&axis, &tangent);
        (tangent + along + cross(&axis, &along) * nearness).transpose()
    };
    Matrix3::from_rows(&[normal.transpose(), turned(1), turned(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_rotations() {
        for normal in [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-1.0, 0.0, 0.0], [0.48, 0.6, 0.64]] {
            let frame = local_frame(&Vector3::from(normal));
            assert!((frame * frame.transpose() - Matrix3::identity()).abs().max() < 1e-15);
            assert!((frame.determinant() - 1.0).abs() < 1e-15);
            assert_eq!(frame.row(0).transpose(), Vector3::from(normal));
        }
    }

    /// A tangent goes along in the same way in any frame.
    #[test]
    fn turned_frames_do_not_depend_on_their_tangents() {
        let (normal, after) = (Vector3::new(0.48, 0.6, 0.64), Vector3::new(0.6, 0.0, 0.8));
        let frame = local_frame(&normal);
        let (sine, cosine) = (0.6, 0.8);
        let spun = Matrix3::new(1.0, 0.0, 0.0, 0.0, cosine, sine, 0.0, -sine, cosine) * frame;
        let turned = [frame, spun].map(|frame| turned_to(&frame, &after).transpose() * frame);
        assert!((turned[0] - turned[1]).abs().max() < 1e-15);
        assert!((turned[0] * normal - after).abs().max() < 1e-15);
        assert!((turned[0] * normal.cross(&after) - normal.cross(&after)).abs().max() < 1e-15);
    }
}
