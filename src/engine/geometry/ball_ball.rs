//! Ball against ball: `gap = |r1 - r2| - R1 - R2`, normal `(r1 - r2) / |r1 - r2|`.

use super::solids::{Ball, direction};
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Signed distance of the balls.
pub fn proximity<S: Scalar>(
    first: &Ball,
    first_pose: &Pose<S>,
    second: &Ball,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let size = first.radius + second.radius;
    let between = first_pose.position - second_pose.position;
    let (distance, normal) = direction(&between, size, Vector3::x);
    Proximity { gap: distance - S::from(size), normal, arm: normal * S::from(-first.radius) }
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::*;

    shape_pair!(Ball, Ball, proximity);

    tests_of_every_pair!(0.0);

    #[test]
    fn centres_that_coincide() {
        let pair = Both { first: Ball { radius: 0.3 }, second: Ball { radius: 0.2 } };
        let near = poses::degenerate(&pair, &[Vector3::zeros(), Vector3::new(0.5, 0.0, 0.0)]);
        assert_eq!(near[0].gap, -0.5);
        assert_eq!(near[1].gap, 0.0);
        poses::degenerate(
            &Both { first: Ball { radius: 0.0 }, second: Ball { radius: 0.0 } },
            &[Vector3::zeros()],
        );
    }
}
