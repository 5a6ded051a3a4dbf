//! Capsule against capsule: the distance of their segments, less the radii.
//!
//! Feature 0 is the crossing of the axes `d1`, `d2`: `gap = |n . (r1 - r2)| - R1 - R2` with `n = d1 x d2 / |d1 x d2|`.
//! Features 1 and 2 are the ends `-a`, `a` of the first against the segment of the second, 3 and 4 the ends of the
//! second against the segment of the first: `gap = |p1 - p2| - R1 - R2`. Capsules that are nearly parallel touch at the
//! ends that are beside the other, else they touch at one point.

use super::solids::{Capsule, Feature, along_segment, any_across, direction, values};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Number of features.
pub const FEATURES: usize = 5;

const CROSSING: Feature = 0;
const ENDS: std::ops::RangeInclusive<Feature> = 1..=4;

/// Reports where the capsules are nearer than `reach`.
///
/// The smallest gap reported is at most `1e-6` times the sum of the radii larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Capsule,
    first_pose: &Pose<S>,
    second: &Capsule,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let axes = Axes::new(first, &values(first_pose), second, &values(second_pose));
    let nearest = axes.nearest();
    let near = at(nearest, first, first_pose, second, second_pose);
    if near.gap.value() >= reach {
        return;
    }
    let mut deepest = f64::INFINITY;
    if axes.sine() < TOLERANCES.tilted {
        for feature in ENDS.filter(|&feature| axes.is_beside(feature)) {
            let near = at(feature, first, first_pose, second, second_pose);
            if near.gap.value() < reach {
                deepest = deepest.min(near.gap.value());
                found(feature, near);
            }
        }
    }
    if deepest > near.gap.value() + TOLERANCES.small * (first.radius + second.radius) {
        found(nearest, near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Capsule,
    first_pose: &Pose<S>,
    second: &Capsule,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let half1 = first_pose.orientation.to_world(&first.half_axis.map(S::from));
    let half2 = second_pose.orientation.to_world(&second.half_axis.map(S::from));
    let between = first_pose.position - second_pose.position;
    let sign = |is_end: bool| S::from(if is_end { 1.0 } else { -1.0 });
    let product = half1.cross(&half2);
    let across = || {
        let parallel = || any_across(&direction(&half1, 0.0, Vector3::zeros).1);
        direction(
            &product,
            TOLERANCES.half_of_digits * first.half_axis.norm() * second.half_axis.norm(),
            parallel,
        )
        .1
    };
    // From the centre of each to its point.
    let (point1, point2) = match feature {
        CROSSING => {
            let square = product.dot(&product);
            if square.value() == 0.0 {
                (Vector3::zeros(), Vector3::zeros())
            } else {
                let factor1 = -between.cross(&half2).dot(&product) / square;
                let factor2 = -between.cross(&half1).dot(&product) / square;
                (half1 * factor1, half2 * factor2)
            }
        }
        1 | 2 => {
            let end = half1 * sign(feature == 2);
            (end, half2 * along_segment(&half2, &(between + end)))
        }
        _ => {
            let end = half2 * sign(feature == 4);
            (half1 * along_segment(&half1, &(end - between)), end)
        }
    };
    let size = first.half_axis.norm() + second.half_axis.norm() + first.radius + second.radius;
    let apart = between + point1 - point2;
    let (distance, normal) = direction(&apart, size, across);
    Proximity {
        gap: distance - S::from(first.radius + second.radius),
        normal,
        arm: point1 - normal * S::from(first.radius),
    }
}

/// The feature whose gap is the signed distance of the capsules.
pub fn nearest(
    first: &Capsule,
    first_pose: &Pose<f64>,
    second: &Capsule,
    second_pose: &Pose<f64>,
) -> Feature {
    Axes::new(first, first_pose, second, second_pose).nearest()
}

/// Signed distance of the capsules.
pub fn gap<S: Scalar>(first: &Capsule, first_pose: &Pose<S>, second: &Capsule, second_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &values(first_pose), second, &values(second_pose));
    at(nearest, first, first_pose, second, second_pose).gap
}

/// Two segments.
struct Axes {
    half1: Vector3<f64>,
    half2: Vector3<f64>,
    /// From the centre of the second to that of the first.
    between: Vector3<f64>,
}

impl Axes {
    fn new(first: &Capsule, first_pose: &Pose<f64>, second: &Capsule, second_pose: &Pose<f64>) -> Axes {
        Axes {
            half1: first_pose.orientation.to_world(&first.half_axis),
            half2: second_pose.orientation.to_world(&second.half_axis),
            between: first_pose.position - second_pose.position,
        }
    }

    /// Sine of the angle between; zero if one has no length.
    fn sine(&self) -> f64 {
        let lengths = self.half1.norm() * self.half2.norm();
        if lengths > 0.0 { length(&self.half1.cross(&self.half2)) / lengths } else { 0.0 }
    }

    /// An end, the half axis of the other, both seen from the other's centre.
    fn end(&self, feature: Feature) -> (Vector3<f64>, Vector3<f64>) {
        match feature {
            1 => (self.between - self.half1, self.half2),
            2 => (self.between + self.half1, self.half2),
            3 => (-self.between - self.half2, self.half1),
            _ => (-self.between + self.half2, self.half1),
        }
    }

    /// Whether an end is beside the other segment. Of two ends beside each other, that of the first counts.
    fn is_beside(&self, feature: Feature) -> bool {
        let (end, half) = self.end(feature);
        let square = half.norm_squared();
        // Over the other's half length.
        let along = if square > 0.0 { end.dot(&half) / square } else { 0.0 };
        let is_doubled = feature > 2 && {
            let own = if along < 0.0 { 1 } else { 2 };
            (along.abs() - 1.0).abs() <= 2.0 * TOLERANCES.sliver && self.is_beside(own)
        };
        along.abs() <= 1.0 + TOLERANCES.sliver && !is_doubled
    }

    fn nearest(&self) -> Feature {
        let distance = |feature: &Feature| {
            let (end, half) = self.end(*feature);
            length(&(end - half * along_segment(&half, &end)))
        };
        let close = TOLERANCES.rounding * (self.half1.norm() + self.half2.norm() + self.between.norm());
        let nearest_end = ENDS
            .map(|feature| (distance(&feature), feature))
            // Ends that face each other are as far from one another as the other way round.
            .reduce(|best, next| if next.0 < best.0 - close { next } else { best })
            .expect("segments have ends");
        let product = self.half1.cross(&self.half2);
        if self.sine() <= TOLERANCES.half_of_digits {
            return nearest_end.1;
        }
        let place = |half: &Vector3<f64>| -self.between.cross(half).dot(&product) / product.norm_squared();
        let crosses = place(&self.half2).abs() <= 1.0 && place(&self.half1).abs() <= 1.0;
        let distance = self.between.dot(&product).abs() / product.norm();
        if crosses && distance < nearest_end.0 { CROSSING } else { nearest_end.1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::poses::{self, shape_pair, tests_of_every_pair};
    use super::super::support::Numbers;
    use super::*;
    use crate::engine::math::rotation::Orientation;

    shape_pair!(Capsule, Capsule, nearest);

    tests_of_every_pair!(2.0 * TOLERANCES.small);

    #[test]
    fn parallel_capsules_touch_at_the_ends_of_their_common_length() {
        let along = Vector3::new(0.6, 0.8, 0.0);
        let long = Capsule { half_axis: along, radius: 0.25 };
        let short = Capsule { half_axis: along * 0.5, radius: 0.5 };
        let still = Pose { position: Vector3::zeros(), orientation: Orientation::identity() };
        let mut numbers = Numbers::new();
        for (first, second, shift, expected) in [
            (long, long, 0.0, vec![1, 2]),
            (long, long, 0.4, vec![1, 4]),
            (long, long, -0.4, vec![2, 3]),
            (short, long, 0.0, vec![1, 2]),
            (short, long, 0.5, vec![1, 2]),
            (long, short, 0.0, vec![3, 4]),
            (long, long, 2.0, vec![1]),
        ] {
            let pair = Both { first, second };
            let size = first.radius + second.radius;
            let place = along * shift + Vector3::z() * size;
            let names = |pose: &Pose<f64>| {
                let list = poses::found(&pair, pose, &still, 1e-3);
                list.iter().map(|(feature, _)| *feature).collect::<Vec<_>>()
            };
            assert_eq!(names(&Pose { position: place, ..still }), expected, "{shift}");
            for (_, near) in poses::found(&pair, &Pose { position: place, ..still }, &still, 1e-3) {
                assert!(near.gap.abs() < 1e-15 && (near.normal - Vector3::z()).norm() < 1e-15);
            }
            for _ in 0..200 {
                let position = place + numbers.vector() * 1e-6;
                let orientation = Orientation::from_turn(&(numbers.vector() * 1e-6));
                assert_eq!(names(&Pose { position, orientation }), expected, "{shift}");
                let tilted = Orientation::from_turn(&(numbers.direction() * 0.05));
                poses::rates_at(&pair, &Pose { position, orientation: tilted }, &still, &mut numbers);
            }
        }
    }

    #[test]
    fn axes_that_meet() {
        let axis = Vector3::new(0.0, 0.6, 0.8);
        let pair = Both {
            first: Capsule { half_axis: axis, radius: 0.25 },
            second: Capsule { half_axis: axis, radius: 0.5 },
        };
        let places = [Vector3::zeros(), axis, axis * 2.0, axis * -2.0, axis * 2.75, Vector3::x() * 0.75];
        let near = poses::degenerate(&pair, &places);
        for (near, expected) in near.iter().zip([-0.75, -0.75, -0.75, -0.75, 0.0, 0.0]) {
            assert!((near.gap - expected).abs() < 1e-14, "{}", near.gap);
        }
        let crossed = Both { second: Capsule { half_axis: Vector3::x(), radius: 0.5 }, ..pair };
        let near = poses::degenerate(&crossed, &[Vector3::zeros(), axis, Vector3::x(), axis + Vector3::x()]);
        for near in near {
            assert!((near.gap + 0.75).abs() < 1e-14);
        }
        let point = Capsule { half_axis: Vector3::zeros(), radius: 0.5 };
        poses::degenerate(&Both { second: point, ..pair }, &[Vector3::zeros(), axis, Vector3::x()]);
        poses::degenerate(&Both { first: point, second: point }, &[Vector3::zeros(), Vector3::x()]);
    }
}
