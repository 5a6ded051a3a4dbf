//! Ball against capsule: with the centre `c` in the frame of the capsule, `a` its half axis and
//! `t = clamp(c . a / a . a, -1, 1)`, `gap = |c - t a| - R1 - R2`.

use super::solids::{Ball, Capsule, along_segment, any_across, ball_near, direction};
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Signed distance of ball and capsule.
pub fn proximity<S: Scalar>(
    first: &Ball,
    first_pose: &Pose<S>,
    second: &Capsule,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    ball_near(first, first_pose, second_pose, |center| distance(second, center))
}

/// Signed distance of a point from a capsule, and the unit vector away from it, in the frame of the capsule.
fn distance<S: Scalar>(capsule: &Capsule, point: &Vector3<S>) -> (S, Vector3<S>) {
    let axis = capsule.half_axis.map(S::from);
    let away = point - axis * along_segment(&axis, point);
    let size = capsule.half_axis.norm() + capsule.radius;
    let (distance, normal) = direction(&away, size, || any_across(&direction(&axis, 0.0, Vector3::zeros).1));
    (distance - S::from(capsule.radius), normal)
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::*;

    shape_pair!(Ball, Capsule, proximity);

    tests_of_every_pair!(0.0);

    #[test]
    fn centres_on_the_axis() {
        let axis = Vector3::new(0.0, 0.6, 0.8);
        let pair = Both { first: Ball { radius: 0.25 }, second: Capsule { half_axis: axis, radius: 0.5 } };
        let places = [Vector3::zeros(), axis, -axis, axis * 0.5, axis * 1.75, Vector3::x() * 0.75];
        let near = poses::degenerate(&pair, &places);
        for (near, expected) in near.iter().zip([-0.75, -0.75, -0.75, -0.75, 0.0, 0.0]) {
            assert!((near.gap - expected).abs() < 1e-15, "{}", near.gap);
        }
    }

    #[test]
    fn a_capsule_without_length_is_a_ball() {
        let capsule = Capsule { half_axis: Vector3::zeros(), radius: 0.5 };
        let pair = Both { first: Ball { radius: 0.25 }, second: capsule };
        let near = poses::degenerate(&pair, &[Vector3::zeros(), Vector3::new(0.6, 0.0, 0.8)]);
        assert!((near[0].gap + 0.75).abs() < 1e-15);
        assert!((near[1].gap - 0.25).abs() < 1e-15);
        assert!((near[1].normal - Vector3::new(0.6, 0.0, 0.8)).norm() < 1e-15);
    }
}
