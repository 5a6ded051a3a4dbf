//! Disc against plane: the lowest point of the rim.
//!
//! With the axis `a` of the disc, `e = n - (n.a) a` points up in the plane of the disc: the lowest point of the rim
//! is `r - R e / |e|` and `gap = n . (r - o) - R |e|`.

use super::{Plane, Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Signed distance of a disc from a plane. `axis` is in body components.
pub fn proximity<S: Scalar>(
    radius: f64,
    axis: &Vector3<f64>,
    pose: &Pose<S>,
    plane: &Plane<S>,
) -> Proximity<S> {
    let normal = plane.normal;
    let axis = pose.orientation.to_world(&axis.map(S::from));
    let up = normal - axis * normal.dot(&axis);
    let slope = length(&up);
    let gap = normal.dot(&(pose.position - plane.origin)) - slope * S::from(radius);
    let outward = if slope.value() > TOLERANCES.rounding { up / slope } else { any_across(&axis) };
    Proximity { gap, normal, arm: outward * S::from(-radius) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::math::rotation::Orientation;
    use crate::engine::scalar::Dual;

    const RADIUS: f64 = 0.7;

    /// Numbers between -1 and 1 that look random. [Marsaglia 2003]
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn vector(&mut self) -> Vector3<f64> {
            Vector3::from_fn(|_, _| self.next())
        }

        fn direction(&mut self) -> Vector3<f64> {
            loop {
                let vector = self.vector();
                if (0.1..1.0).contains(&vector.norm()) {
                    return vector.normalize();
                }
            }
        }

        fn pose(&mut self) -> Pose<f64> {
            Pose {
                position: self.vector() * 3.0,
                orientation: Orientation::from_turn(&(self.vector() * 4.0)),
            }
        }
    }

    #[test]
    fn the_lowest_point_of_the_rim_is_found() {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for _ in 0..10_000 {
            let (axis, normal, origin) = (numbers.direction(), numbers.direction(), numbers.vector());
            let pose = numbers.pose();
            let plane = Plane { origin, normal };
            let near = proximity(RADIUS, &axis, &pose, &plane);
            // The height of the rim over the angle has one minimum: look around, then narrow by thirds.
            let first = any_across(&axis);
            let second = axis.cross(&first);
            let point = |angle: f64| {
                pose.orientation.to_world(&((first * angle.cos() + second * angle.sin()) * RADIUS))
            };
            let height = |angle: f64| normal.dot(&(pose.position + point(angle) - origin));
            let around = (0..32).map(|k| f64::from(k) * std::f64::consts::TAU / 32.0);
            let lowest = around.min_by(|&a, &b| height(a).total_cmp(&height(b))).unwrap();
            let (mut low, mut high) = (lowest - 0.2, lowest + 0.2);
            while high - low > 1e-9 {
                let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if height(a) < height(b) { high = b } else { low = a }
            }
            assert!((near.gap - height(low)).abs() < 1e-9);
            assert!((normal.dot(&(pose.position + near.arm - origin)) - near.gap).abs() < 1e-12);
            assert!((near.arm.norm() - RADIUS).abs() < 1e-14, "on the rim");
            assert!(
                near.arm.dot(&pose.orientation.to_world(&axis)).abs() < 1e-12,
                "in the plane of the disc"
            );
            assert_eq!(near.normal, normal);
        }
    }

    #[test]
    fn the_gap_moves_with_the_velocity_of_the_lowest_point() {
        let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
        for _ in 0..1000 {
            let (axis, normal, origin) = (numbers.direction(), numbers.direction(), numbers.vector());
            let (pose, velocity, spin) = (numbers.pose(), numbers.vector(), numbers.vector());
            let plane = Plane { origin, normal };
            let near = proximity(RADIUS, &axis, &pose, &plane);
            if near.arm.dot(&normal).abs() < 0.05 * RADIUS {
                continue;
            }
            let expected = normal.dot(&(velocity + spin.cross(&near.arm)));
            let after = |time: f64| {
                let pose = Pose {
                    position: pose.position + velocity * time,
                    orientation: pose.orientation.turned(&(spin * time)),
                };
                proximity(RADIUS, &axis, &pose, &plane).gap
            };
            let difference = (after(1e-6) - after(-1e-6)) / 2e-6;
            assert!((difference - expected).abs() < 1e-8, "{difference} {expected}");
            let dual = |vector: Vector3<f64>, rate: Vector3<f64>| {
                Vector3::from_fn(|row, _| Dual { value: vector[row], tangent: rate[row] })
            };
            let moving = Pose {
                position: dual(pose.position, velocity),
                orientation: pose.orientation.map(Dual::from).turned(&dual(Vector3::zeros(), spin)),
            };
            let exact = {
                let plane = Plane { origin: origin.map(Dual::from), normal: normal.map(Dual::from) };
                proximity(RADIUS, &axis, &moving, &plane).gap.tangent
            };
            assert!((exact - expected).abs() < 1e-13, "{exact} {expected}");
        }
    }

    #[test]
    fn a_flat_disc_touches_with_some_point_of_its_rim() {
        let normal = Vector3::new(0.48, 0.6, 0.64);
        let across = any_across(&normal);
        // Turns the body axis y into the normal.
        let axis = Vector3::y();
        let orientation =
            Orientation::from_turn(&(axis.cross(&normal).normalize() * axis.dot(&normal).acos()));
        let pose = Pose { position: normal * 0.1 + across * 3.0, orientation };
        let near = proximity(0.5, &axis, &pose, &Plane { origin: Vector3::zeros(), normal });
        assert!((near.gap - 0.1).abs() < 1e-12);
        assert!((near.arm.norm() - 0.5).abs() < 1e-15);
        assert!(near.arm.dot(&normal).abs() < 1e-12);
    }
}
