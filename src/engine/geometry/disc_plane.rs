//! Disc against plane: the lowest point of the rim.
//!
//! With the axis `a` of the disc, `e = n - (n.a) a` points up in the plane of the disc: the lowest point of the rim
//! is `r - R e / |e|` and `gap = n . (r - o) - R |e|`.

use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;

/// Slope `|e|` below which the disc counts as flat on the plane: every point of its rim is then as low as the others.
const FLAT: f64 = 1e-12;

/// Signed distance of a disc from the plane through `origin` with unit `normal`. `axis` is in body components.
#[inline(never)]
pub fn proximity<S: Scalar>(
    radius: f64,
    axis: &Vector3<f64>,
    pose: &Pose<S>,
    origin: &Vector3<f64>,
    normal: &Vector3<f64>,
) -> Proximity<S> {
    let normal: Vector3<S> = normal.map(S::from);
    let axis = pose.orientation.to_world(&axis.map(S::from));
    let up = normal - axis * normal.dot(&axis);
    let slope = length(&up);
    let gap = normal.dot(&(pose.position - origin.map(S::from))) - slope * S::from(radius);
    let outward = if slope.value() > FLAT { up / slope } else { any_across(&axis) };
    Proximity { gap, normal, arm: outward * S::from(-radius) }
}

/// Some unit vector perpendicular to the unit vector `axis`.
fn any_across<S: Scalar>(axis: &Vector3<S>) -> Vector3<S> {
    let least = (0..3)
        .min_by(|&i, &j| axis[i].value().abs().total_cmp(&axis[j].value().abs()))
        .expect("a vector has components");
    let mut across = axis * -axis[least];
    across[least] += S::one();
    across / length(&across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rotation::Orientation;

    #[test]
    fn a_flat_disc_touches_with_some_point_of_its_rim() {
        let normal = Vector3::new(0.48, 0.6, 0.64);
        let across = any_across(&normal);
        // Turns the body axis y into the normal.
        let axis = Vector3::y();
        let orientation =
            Orientation::from_turn(&(axis.cross(&normal).normalize() * axis.dot(&normal).acos()));
        let pose = Pose { position: normal * 0.1 + across * 3.0, orientation };
        let near = proximity(0.5, &axis, &pose, &Vector3::zeros(), &normal);
        assert!((near.gap - 0.1).abs() < 1e-12);
        assert!((near.arm.norm() - 0.5).abs() < 1e-15);
        assert!(near.arm.dot(&normal).abs() < 1e-12);
    }
}
