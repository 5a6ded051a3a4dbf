//! The local frame of a contact: rows normal, tangent 1, tangent 2.

use crate::engine::scalar::{Scalar, length};
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
    let second = normal.cross(&first);
    Matrix3::from_rows(&[normal.transpose(), first.transpose(), second.transpose()])
}

/// The frame turned so that `normal` is its first row, tangents as near as they can be.
pub fn turned_to<S: Scalar>(frame: &Matrix3<S>, normal: &Vector3<S>) -> Matrix3<S> {
    let before = frame.row(1).transpose();
    let across = before - normal * normal.dot(&before);
    let first = across / length(&across);
    let second = normal.cross(&first);
    Matrix3::from_rows(&[normal.transpose(), first.transpose(), second.transpose()])
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
}
