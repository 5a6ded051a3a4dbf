//! Ball against disc: with the centre at the distance `p` from the axis and at the height `x` over the disc,
//! `gap = sqrt(x^2 + max(p - R2, 0)^2) - R1`. The disc has two sides and no thickness.

use super::solids::{Ball, Disc, any_across, ball_near, direction};
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Signed distance of ball and disc.
pub fn proximity<S: Scalar>(
    first: &Ball,
    first_pose: &Pose<S>,
    second: &Disc,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    ball_near(first, first_pose, second_pose, |center| distance(second, center))
}

/// Distance of a point from a disc, and the unit vector away from it, in the frame of the disc.
fn distance<S: Scalar>(disc: &Disc, point: &Vector3<S>) -> (S, Vector3<S>) {
    let mut axis = disc.axis.map(S::from);
    if point.dot(&axis).value() < 0.0 {
        axis = -axis;
    }
    let height = point.dot(&axis);
    let (radial, across) = direction(&(point - axis * height), disc.radius, || any_across(&axis));
    let outside = radial - S::from(disc.radius);
    if outside.value() > 0.0 {
        let distance = (height * height + outside * outside).sqrt();
        if distance.value() > TOLERANCES.rounding * disc.radius {
            return (distance, (axis * height + across * outside) / distance);
        }
    }
    (height, axis)
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::*;

    shape_pair!(Ball, Disc, proximity);

    tests_of_every_pair!(0.0);

    #[test]
    fn centres_in_the_disc_and_on_its_rim() {
        let axis = Vector3::new(0.0, 0.6, 0.8);
        let pair = Both { first: Ball { radius: 0.25 }, second: Disc { radius: 0.5, axis } };
        let places = [
            (Vector3::zeros(), -0.25),
            (axis * 0.25, 0.0),
            (axis * -0.25, 0.0),
            (Vector3::x() * 0.5, -0.25),
            (Vector3::x() * 0.75, 0.0),
            (Vector3::x() * -0.8 - axis * 0.4, 0.25),
        ];
        let near = poses::degenerate(&pair, &places.map(|(place, _)| place));
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
    }
}
