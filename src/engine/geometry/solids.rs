//! Solids around the centre of their body, in body components, and what the gap functions of their pairs share.
//!
//! The file of pairs that meet at one point has the function `proximity`, with the signed distance. That of pairs with
//! features has three functions. `gap` is the signed distance of two solids: the distance when apart, else
//! minus the depth, the shortest way that parts them. `features` finds where they touch or nearly touch. `at` follows
//! such a feature to other poses. Its gap changes with the velocity of the touching points,
//! `d gap / dt = n . (v1 - v2)`, because each feature is the distance of two parts that do not change.

use super::Pose;
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Names the parts of two shapes that touch. Each pair has its own numbering.
pub type Feature = u32;

/// A solid ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Radius; a point has radius zero.
    pub radius: f64,
}

/// A solid box along the body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Half of the edge lengths.
    pub half: Vector3<f64>,
}

/// All points nearer than `radius` to the segment from `-half_axis` to `half_axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// From the centre to an end of the segment.
    pub half_axis: Vector3<f64>,
    /// Radius.
    pub radius: f64,
}

/// A solid cylinder with flat caps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// From the centre to the centre of a cap.
    pub half_axis: Vector3<f64>,
    /// Radius.
    pub radius: f64,
}

/// A disc without thickness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Radius.
    pub radius: f64,
    /// Unit vector across the disc.
    pub axis: Vector3<f64>,
}

/// Length and direction of a vector. One much shorter than `size` has the unit direction `otherwise`.
#[inline]
pub(super) fn direction<S: Scalar>(
    vector: &Vector3<S>,
    size: f64,
    otherwise: impl FnOnce() -> Vector3<S>,
) -> (S, Vector3<S>) {
    let length = length(vector);
    if length.value() > TOLERANCES.rounding * size {
        return (length, vector / length);
    }
    let unit = otherwise();
    (vector.dot(&unit), unit)
}

/// Some unit vector perpendicular to the unit vector `axis`.
pub(super) fn any_across<S: Scalar>(axis: &Vector3<S>) -> Vector3<S> {
    let least = (0..3)
        .min_by(|&i, &j| axis[i].value().abs().total_cmp(&axis[j].value().abs()))
        .expect("a vector has components");
    let mut across = axis * -axis[least];
    across[least] += S::one();
    across / length(&across)
}

/// The same for a vector between parts of two solids: where it points against `outward`, they overlap and the length
/// is negative.
#[inline]
pub(super) fn oriented<S: Scalar>(vector: &Vector3<S>, size: f64, outward: &Vector3<S>) -> (S, Vector3<S>) {
    let (length, unit) = direction(vector, size, || direction(outward, 1.0, Vector3::x).1);
    if unit.dot(outward).value() < 0.0 { (-length, -unit) } else { (length, unit) }
}

/// Where a point of world space is, seen from a body.
#[inline]
pub(super) fn seen_from<S: Scalar>(pose: &Pose<S>, point: &Vector3<S>) -> Vector3<S> {
    pose.orientation.to_body(&(point - pose.position))
}

/// Factor between -1 and 1 of the point of the segment from `-half_axis` to `half_axis` that is nearest to `point`.
#[inline]
pub(super) fn along_segment<S: Scalar>(half_axis: &Vector3<S>, point: &Vector3<S>) -> S {
    let square = half_axis.dot(half_axis);
    if square.value() == 0.0 {
        return S::zero();
    }
    let factor = point.dot(half_axis) / square;
    if factor.value().abs() <= 1.0 { factor } else { S::from(1_f64.copysign(factor.value())) }
}
