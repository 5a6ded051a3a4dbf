//! Ball against box: with the centre `c` in the frame of the box, and `d = c - clamp(c, -h, h)`, `gap = |d| - R` where
//! the centre is outside, else `max(|c_i| - h_i) - R`. One feature: the gap is smooth over faces, edges and corners.

use super::solids::{Ball, Cuboid, ball_near};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Signed distance of ball and box.
pub fn proximity<S: Scalar>(
    first: &Ball,
    first_pose: &Pose<S>,
    second: &Cuboid,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    ball_near(first, first_pose, second_pose, |center| distance(second, center))
}

/// Signed distance of a point from a box, and the unit vector away from it, in the frame of the box.
pub(super) fn distance<S: Scalar>(cuboid: &Cuboid, point: &Vector3<S>) -> (S, Vector3<S>) {
    let half = &cuboid.half;
    let outside = Vector3::from_fn(|axis, _| {
        let value = point[axis].value();
        if value.abs() <= half[axis] { S::zero() } else { point[axis] - S::from(half[axis].copysign(value)) }
    });
    let length = length(&outside);
    if length.value() > TOLERANCES.rounding * half.max() {
        return (length, outside / length);
    }
    let above = |axis: usize| point[axis].value().abs() - half[axis];
    let axis = (1..3).fold(0, |best, axis| if above(axis) > above(best) { axis } else { best });
    let sign = S::from(if point[axis].value() < 0.0 { -1.0 } else { 1.0 });
    let mut normal = Vector3::zeros();
    normal[axis] = sign;
    (point[axis] * sign - S::from(half[axis]), normal)
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::*;

    shape_pair!(Ball, Cuboid, proximity);

    tests_of_every_pair!(0.0);

    #[test]
    fn centres_on_faces_edges_corners_and_in_the_middle() {
        let pair =
            Both { first: Ball { radius: 0.25 }, second: Cuboid { half: Vector3::new(1.0, 2.0, 3.0) } };
        let places = [
            ([0.0, 0.0, 0.0], -1.25),
            ([1.0, 0.0, 0.0], -0.25),
            ([1.0, 2.0, 0.0], -0.25),
            ([1.0, 2.0, 3.0], -0.25),
            ([-1.0, -2.0, -3.0], -0.25),
            ([1.25, 0.5, 0.5], 0.0),
            ([0.5, -1.0, 1.0], -0.75),
            ([1.3, -2.4, 0.0], 0.25),
        ];
        let near = poses::degenerate(&pair, &places.map(|(place, _)| Vector3::from(place)));
        for (near, (place, expected)) in near.iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
    }
}
