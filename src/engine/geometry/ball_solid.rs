//! A ball against a solid: `gap = d(c) - R`, with the signed distance `d` of its centre `c` in the frame of the solid, in
//! closed form but for hulls. The gap is smooth over faces, edges and corners, so that there is one touching point.
//!
//! - ball: `d = |c| - R2`
//! - box with half edges `h`: `|c - clamp(c, -h, h)|` outside, else `max(|c_i| - h_i)`
//! - capsule with half axis `a`: `|c - t a| - R2`, `t = clamp(c . a / a . a, -1, 1)`
//! - cylinder of the height `2 h`, with `c` at the distance `p` from the axis and at the height `x` along it, `b = |x| - h`,
//!   `o = p - R2`: `max(b, o)` where one of them is negative, else, near the rim, `sqrt(b^2 + o^2)`; a disc has `h = 0`

use super::faceted::Faceted;
use super::round::Round;
use super::solids::{Ball, Capsule, Cuboid, along_segment, any_across, direction, seen_from};
use super::{Details, Pose, Proximity, Solid, convex};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// How a ball is placed to a solid.
///
/// # Panics
/// For a mesh, which balls touch with features.
pub fn proximity<S: Scalar>(
    ball: &Ball,
    pose: &Pose<S>,
    solid: &Solid,
    place: &Pose<S>,
    details: &Details,
) -> Proximity<S> {
    // Two balls need no frame.
    if let Solid::Ball(other) = solid {
        let size = ball.radius + other.radius;
        let (distance, normal) = direction(&(pose.position - place.position), size, Vector3::x);
        return Proximity { gap: distance - S::from(size), normal, arm: normal * S::from(-ball.radius) };
    }
    let center = seen_from(place, &pose.position);
    let (distance, normal) = match *solid {
        Solid::Box(cuboid) => from_box(&cuboid, &center),
        Solid::Capsule(capsule) => from_capsule(&capsule, &center),
        Solid::Cylinder(cylinder) => from_round(&cylinder.into(), &center),
        Solid::Disc(disc) => from_round(&disc.into(), &center),
        Solid::Hull(hull) => {
            let hull = Faceted::Polyhedron(&details.polyhedra[hull.index]);
            return convex::closest(&Faceted::Ball(*ball), pose, &hull, place);
        }
        Solid::Ball(_) | Solid::Mesh(_) => unreachable!("balls touch meshes with features"),
    };
    let normal = place.orientation.to_world(&normal);
    Proximity { gap: distance - S::from(ball.radius), normal, arm: normal * S::from(-ball.radius) }
}

/// Signed distance of a point, and the unit vector away from the solid.
fn from_box<S: Scalar>(cuboid: &Cuboid, point: &Vector3<S>) -> (S, Vector3<S>) {
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

fn from_capsule<S: Scalar>(capsule: &Capsule, point: &Vector3<S>) -> (S, Vector3<S>) {
    let axis = capsule.half_axis.map(S::from);
    let away = point - axis * along_segment(&axis, point);
    let size = capsule.half_axis.norm() + capsule.radius;
    let (distance, normal) = direction(&away, size, || any_across(&direction(&axis, 0.0, Vector3::zeros).1));
    (distance - S::from(capsule.radius), normal)
}

fn from_round<S: Scalar>(round: &Round, point: &Vector3<S>) -> (S, Vector3<S>) {
    let size = round.half.max(round.radius);
    let mut axis = round.axis.map(S::from);
    if point.dot(&axis).value() < 0.0 {
        axis = -axis;
    }
    let height = point.dot(&axis);
    let (radial, across) = direction(&(point - axis * height), size, || any_across(&axis));
    let (beyond, outside) = (height - S::from(round.half), radial - S::from(round.radius));
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
    use super::super::poses::{self, Feature, shape_pair};
    use super::super::solids::{Cylinder, Disc};
    use super::super::support;
    use super::*;

    /// A solid as a shape.
    trait Shaped: support::Solid + Copy {
        fn shape(&self) -> Solid;
    }

    macro_rules! shaped {
        ($($solid:ident as $kind:ident),*) => {$(
            impl Shaped for $solid {
                fn shape(&self) -> Solid {
                    Solid::$kind(*self)
                }
            }
        )*};
    }
    shaped!(Ball as Ball, Cuboid as Box, Capsule as Capsule, Cylinder as Cylinder, Disc as Disc);

    fn at<S: Scalar>(
        _: Feature,
        first: &Solid,
        pose: &Pose<S>,
        second: &Solid,
        place: &Pose<S>,
    ) -> Proximity<S> {
        let Solid::Ball(ball) = first else { unreachable!("the first is a ball") };
        proximity(ball, pose, second, place, &Details::default())
    }

    fn gap<S: Scalar>(first: &Solid, pose: &Pose<S>, second: &Solid, place: &Pose<S>) -> S {
        at(0, first, pose, second, place).gap
    }

    fn features<S: Scalar>(
        first: &Solid,
        pose: &Pose<S>,
        second: &Solid,
        place: &Pose<S>,
        reach: f64,
        found: &mut impl FnMut(Feature, Proximity<S>),
    ) {
        let near = at(0, first, pose, second, place);
        if near.gap.value() < reach {
            found(0, near);
        }
    }

    shape_pair!(Both<A: Shaped, B: Shaped>, shape, shape, features, at, gap, |_: &Solid, _, _: &Solid, _| 0);

    /// Every relation at random poses, and the gaps of a ball with its centre at some places.
    fn holds<B: Shaped>(second: B, places: &[([f64; 3], f64)]) {
        poses::holds::<Both<Ball, B>>(0.0);
        let pair = Both { first: Ball { radius: 0.25 }, second };
        let at: Vec<_> = places.iter().map(|(place, _)| Vector3::from(*place)).collect();
        for (near, (place, expected)) in poses::degenerate(&pair, &at).iter().zip(places) {
            assert!((near.gap - expected).abs() < 1e-15, "{place:?}: {}", near.gap);
        }
    }

    #[test]
    fn balls() {
        holds(Ball { radius: 0.5 }, &[([0.0, 0.0, 0.0], -0.75), ([0.75, 0.0, 0.0], 0.0)]);
        let point = Ball { radius: 0.0 };
        poses::degenerate(&Both { first: point, second: point }, &[Vector3::zeros()]);
    }

    #[test]
    fn boxes() {
        holds(
            Cuboid { half: Vector3::new(1.0, 2.0, 3.0) },
            &[
                ([0.0, 0.0, 0.0], -1.25),
                ([1.0, 0.0, 0.0], -0.25),
                ([1.0, 2.0, 0.0], -0.25),
                ([1.0, 2.0, 3.0], -0.25),
                ([-1.0, -2.0, -3.0], -0.25),
                ([1.25, 0.5, 0.5], 0.0),
                ([0.5, -1.0, 1.0], -0.75),
                ([1.3, -2.4, 0.0], 0.25),
            ],
        );
    }

    #[test]
    fn capsules() {
        holds(
            Capsule { half_axis: Vector3::new(0.0, 0.6, 0.8), radius: 0.5 },
            &[
                ([0.0, 0.0, 0.0], -0.75),
                ([0.0, 0.6, 0.8], -0.75),
                ([0.0, -0.6, -0.8], -0.75),
                ([0.0, 0.3, 0.4], -0.75),
                ([0.0, 1.05, 1.4], 0.0),
                ([0.75, 0.0, 0.0], 0.0),
            ],
        );
        // Without length it is a ball.
        let second = Capsule { half_axis: Vector3::zeros(), radius: 0.5 };
        let places = [Vector3::zeros(), Vector3::new(0.6, 0.0, 0.8)];
        let near = poses::degenerate(&Both { first: Ball { radius: 0.25 }, second }, &places);
        assert!((near[0].gap + 0.75).abs() < 1e-15 && (near[1].gap - 0.25).abs() < 1e-15);
        assert!((near[1].normal - places[1]).norm() < 1e-15);
    }

    #[test]
    fn cylinders() {
        holds(
            Cylinder { half_axis: Vector3::new(0.0, 0.6, 0.8), radius: 0.5 },
            &[
                ([0.0, 0.0, 0.0], -0.75),
                ([0.0, 0.6, 0.8], -0.25),
                ([0.0, -0.6, -0.8], -0.25),
                ([0.0, 0.75, 1.0], 0.0),
                ([0.5, 0.0, 0.0], -0.25),
                ([0.75, 0.0, 0.0], 0.0),
                ([0.5, 0.6, 0.8], -0.25),
                ([-0.8, -0.84, -1.12], 0.25),
            ],
        );
    }

    #[test]
    fn discs() {
        holds(
            Disc { radius: 0.5, axis: Vector3::new(0.0, 0.6, 0.8) },
            &[
                ([0.0, 0.0, 0.0], -0.25),
                ([0.0, 0.15, 0.2], 0.0),
                ([0.0, -0.15, -0.2], 0.0),
                ([0.5, 0.0, 0.0], -0.25),
                ([0.75, 0.0, 0.0], 0.0),
                ([-0.8, -0.24, -0.32], 0.25),
            ],
        );
    }
}
