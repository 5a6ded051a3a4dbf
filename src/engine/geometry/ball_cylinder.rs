//! Ball against cylinder: with the centre at the distance `p` from the axis and at the height `x` along it,
//! `b = |x| - h` and `o = p - R2`, `gap = max(b, o) - R1` where one of them is negative, else, near the rim,
//! `gap = sqrt(b^2 + o^2) - R1`.

use super::solids::{Ball, Cylinder, any_across, ball_near, direction};
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Signed distance of ball and cylinder.
pub fn proximity<S: Scalar>(
    first: &Ball,
    first_pose: &Pose<S>,
    second: &Cylinder,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    ball_near(first, first_pose, second_pose, |center| distance(second, center))
}

/// Signed distance of a point from a cylinder, and the unit vector away from it, in the frame of the cylinder.
fn distance<S: Scalar>(cylinder: &Cylinder, point: &Vector3<S>) -> (S, Vector3<S>) {
    let half = cylinder.half_axis.norm();
    let size = half.max(cylinder.radius);
    let mut axis = direction(&cylinder.half_axis, 0.0, Vector3::z).1.map(S::from);
    if point.dot(&axis).value() < 0.0 {
        axis = -axis;
    }
    let height = point.dot(&axis);
    let (radial, across) = direction(&(point - axis * height), size, || any_across(&axis));
    let (beyond, outside) = (height - S::from(half), radial - S::from(cylinder.radius));
    if beyond.value() > 0.0 && outside.value() > 0.0 {
        let distance = (beyond * beyond + outside * outside).sqrt();
        if distance.value() > TOLERANCES.rounding * size {
            return (distance, (axis * beyond + across * outside) / distance);
        }
    }
    if outside.value() > beyond.value() { (outside, across) } else { (beyond, axis) }
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::*;

    shape_pair!(Ball, Cylinder, proximity);

    tests_of_every_pair!(0.0);

    #[test]
    fn centres_on_axis_side_cap_and_rim() {
        let axis = Vector3::new(0.0, 0.6, 0.8);
        let pair = Both { first: Ball { radius: 0.25 }, second: Cylinder { half_axis: axis, radius: 0.5 } };
        let places = [
            (Vector3::zeros(), -0.75),
            (axis, -0.25),
            (-axis, -0.25),
            (axis * 1.25, 0.0),
            (Vector3::x() * 0.5, -0.25),
            (Vector3::x() * 0.75, 0.0),
            (Vector3::x() * 0.5 + axis, -0.25),
            (Vector3::x() * -0.8 - axis * 1.4, 0.25),
        ];
        let near = poses::degenerate(&pair, &places.map(|(place, _)| place));
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
    }
}
