//! Two cylinders or discs.
//!
//! As with [flat faces](super::round_faceted), the signed distance is the largest separation over the normals of a cap,
//! of both sides, of a rim and a side, and of two rims; and parts that are over each other along nearly the same normal
//! touch together.

use super::part_pairs::Kinds;
use super::rim::BRANCHES;
use super::round::{ENDS, LOWEST, POINTS, Round, Spot};
use super::solids::Feature;
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Number of features.
pub const FEATURES: usize = KINDS.count();

const KINDS: Kinds = Kinds([
    (ENDS * POINTS, ENDS),
    (ENDS * POINTS, ENDS),
    (1, 1),
    (ENDS, BRANCHES),
    (ENDS, BRANCHES),
    (ENDS * ENDS, BRANCHES),
]);

/// Parts that touch, with their ends, and the point or branch of a rim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    /// End and point of a rim of the first, and a cap of the second.
    RimCap(usize, usize, usize),
    /// A cap of the first, end and point of a rim of the second.
    CapRim(usize, usize, usize),
    /// Both sides.
    SideSide,
    /// End of the first and branch.
    RimSide(usize, usize),
    /// End of the second and branch.
    SideRim(usize, usize),
    /// Ends of both and branch.
    RimRim(usize, usize, usize),
}

impl Parts {
    fn feature(self) -> Feature {
        let (kind, one, other) = match self {
            Parts::RimCap(end, point, cap) => (0, end * POINTS + point, cap),
            Parts::CapRim(cap, end, point) => (1, end * POINTS + point, cap),
            Parts::SideSide => (2, 0, 0),
            Parts::RimSide(end, branch) => (3, end, branch),
            Parts::SideRim(end, branch) => (4, end, branch),
            Parts::RimRim(end, other_end, branch) => (5, end * ENDS + other_end, branch),
        };
        KINDS.feature(kind, one, other)
    }

    fn of(feature: Feature) -> Parts {
        match KINDS.parts(feature) {
            (0, rim, cap) => Parts::RimCap(rim / POINTS, rim % POINTS, cap),
            (1, rim, cap) => Parts::CapRim(cap, rim / POINTS, rim % POINTS),
            (2, ..) => Parts::SideSide,
            (3, end, branch) => Parts::RimSide(end, branch),
            (4, end, branch) => Parts::SideRim(end, branch),
            (_, ends, branch) => Parts::RimRim(ends / ENDS, ends % ENDS, branch),
        }
    }
}

/// Reports where the solids are nearer than `reach`.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the smaller thickness larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Round,
    first_pose: &Pose<S>,
    second: &Round,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let two = Two::new(first, first_pose, second, second_pose);
    let now = two.values();
    if now.first.center.norm() - first.extent() - second.extent() >= reach {
        return;
    }
    let nearest = now.nearest();
    let near = two.at(nearest);
    if near.gap.value() >= reach {
        return;
    }
    let sliver = now.sliver();
    let mut deepest = f64::INFINITY;
    now.manifold(&near.normal.map(S::value), &mut |parts| {
        let near = two.at(parts);
        if near.gap.value() < reach {
            deepest = deepest.min(near.gap.value());
            found(parts.feature(), near);
        }
    });
    if deepest > near.gap.value() + sliver {
        found(nearest.feature(), near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Round,
    first_pose: &Pose<S>,
    second: &Round,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    Two::new(first, first_pose, second, second_pose).at(Parts::of(feature))
}

/// The feature whose gap is the signed distance of the solids.
pub fn nearest(first: &Round, first_pose: &Pose<f64>, second: &Round, second_pose: &Pose<f64>) -> Feature {
    Two::new(first, first_pose, second, second_pose).nearest().feature()
}

/// Signed distance of the solids.
pub fn gap<S: Scalar>(first: &Round, first_pose: &Pose<S>, second: &Round, second_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &first_pose.values(), second, &second_pose.values());
    at(nearest, first, first_pose, second, second_pose).gap
}

/// Two solids seen from the centre of the second.
struct Two<S> {
    first: Spot<S>,
    second: Spot<S>,
}

impl<S: Scalar> Two<S> {
    fn new(first: &Round, first_pose: &Pose<S>, second: &Round, second_pose: &Pose<S>) -> Two<S> {
        let place = &second_pose.position;
        Two {
            first: Spot::from_place(*first, first_pose, place),
            second: Spot::from_place(*second, second_pose, place),
        }
    }

    fn values(&self) -> Two<f64> {
        Two { first: self.first.values(), second: self.second.values() }
    }

    fn at(&self, parts: Parts) -> Proximity<S> {
        let (first, second) = (&self.first, &self.second);
        match parts {
            Parts::RimCap(end, point, cap) => {
                let offset = S::from(second.solid.half);
                first.rim_over_plane(end, point, &second.outward(cap), offset)
            }
            Parts::CapRim(cap, end, point) => {
                let normal = first.outward(cap);
                let offset = normal.dot(&first.center) + S::from(first.solid.half);
                second.rim_over_plane(end, point, &normal, offset).exchanged(&second.center, &first.center)
            }
            Parts::SideSide => {
                let near = first.side_over_line(&second.center, &second.axis, &Vector3::zeros());
                Proximity { gap: near.gap - S::from(second.solid.radius), ..near }
            }
            Parts::RimSide(end, branch) => {
                let near = first.rim_over_line(end, branch, &second.center, &second.axis);
                Proximity { gap: near.gap - S::from(second.solid.radius), ..near }
            }
            Parts::SideRim(end, branch) => {
                let near = second.rim_over_line(end, branch, &first.center, &first.axis);
                let near = Proximity { gap: near.gap - S::from(first.solid.radius), ..near };
                near.exchanged(&second.center, &first.center)
            }
            Parts::RimRim(end, other_end, branch) => {
                let (rim, other) = (first.rim(end), second.rim(other_end));
                let out = rim.toward_circle(&other, branch);
                let place = rim.center + out * S::from(rim.radius);
                let (between, toward) = other.from(&place);
                let product = rim.axis.cross(&out).cross(&other.axis.cross(&toward.out));
                let size = first.solid.extent() + second.solid.extent() + length(&first.center).value();
                let outward = toward.out + other.axis;
                let (gap, normal) = rim.separation(&between, &out, &product, &outward, size);
                Proximity { gap, normal, arm: place - first.center }
            }
        }
    }
}

impl Two<f64> {
    fn sliver(&self) -> f64 {
        TOLERANCES.sliver * self.first.solid.thickness().min(self.second.solid.thickness())
    }

    fn nearest(&self) -> Parts {
        let mut best = (f64::NEG_INFINITY, Parts::SideSide);
        let mut compare = |parts: Parts| self.compare(parts, &mut best);
        for cap in 0..ENDS {
            compare(Parts::RimCap(self.first.lower_end(&self.second.outward(cap)), LOWEST, cap));
            compare(Parts::CapRim(cap, self.second.lower_end(&self.first.outward(cap)), LOWEST));
        }
        if self.is_over_cap(best.1) {
            return best.1;
        }
        let mut compare = |parts: Parts| self.compare(parts, &mut best);
        if self.first.axis.cross(&self.second.axis).norm() > TOLERANCES.slight {
            compare(Parts::SideSide);
        }
        for end in 0..ENDS {
            for branch in 0..BRANCHES {
                compare(Parts::RimSide(end, branch));
                compare(Parts::SideRim(end, branch));
            }
        }
        for end in 0..ENDS {
            for other_end in 0..ENDS {
                for branch in 0..BRANCHES {
                    compare(Parts::RimRim(end, other_end, branch));
                }
            }
        }
        best.1
    }

    /// Takes parts that are worth more: the separation along their normal, less by how much that of the parts is wrong.
    fn compare(&self, parts: Parts, best: &mut (f64, Parts)) {
        let near = self.at(parts);
        if near.gap <= best.0 || !self.face_each_other(parts, &near, TOLERANCES.small) {
            return;
        }
        let normal = &near.normal;
        let separation =
            normal.dot(&self.first.center) - self.first.reach(normal) - self.second.reach(normal);
        let worth = 2.0 * separation - near.gap;
        if worth > best.0 {
            *best = (worth, parts);
        }
    }

    /// Whether a rim is over a cap and does not overlap with it: no two points of the solids are nearer then.
    fn is_over_cap(&self, parts: Parts) -> bool {
        let near = self.at(parts);
        let place = self.first.center + near.arm;
        let close = TOLERANCES.rounding * (self.first.solid.extent() + self.second.solid.extent());
        near.gap >= -close
            && match parts {
                Parts::RimCap(..) => self.second.aside(&place) <= self.second.solid.radius,
                Parts::CapRim(..) => self.first.aside(&place) <= self.first.solid.radius,
                _ => false,
            }
    }

    /// Whether the normal of two parts is one of both.
    fn face_each_other(&self, parts: Parts, near: &Proximity<f64>, tolerance: f64) -> bool {
        let from_second = || near.exchanged(&self.first.center, &self.second.center);
        match parts {
            Parts::RimCap(..) | Parts::CapRim(..) | Parts::SideSide => true,
            Parts::RimSide(end, _) => self.first.rim_faces(end, near, tolerance),
            Parts::SideRim(end, _) => self.second.rim_faces(end, &from_second(), tolerance),
            Parts::RimRim(end, other_end, _) => {
                self.first.rim_faces(end, near, tolerance)
                    && self.second.rim_faces(other_end, &from_second(), tolerance)
            }
        }
    }

    /// Parts that are over each other, along nearly the given normal.
    fn manifold(&self, normal: &Vector3<f64>, found: &mut impl FnMut(Parts)) {
        let sliver = self.sliver();
        let (first, second) = (&self.first, &self.second);
        let mut report = |parts: Parts, is_over: &dyn Fn(&Vector3<f64>) -> bool| {
            let near = self.at(parts);
            if near.normal.dot(normal) > TOLERANCES.aligned
                && is_over(&(first.center + near.arm - near.normal * near.gap))
                && self.face_each_other(parts, &near, TOLERANCES.tilted)
            {
                found(parts);
            }
        };
        let [upright, other_upright] = [first, second].map(|spot| spot.axis.dot(normal));
        let [stands, other_stands] = [upright, other_upright].map(|cosine| cosine.abs() > TOLERANCES.aligned);
        let [lies, other_lies] = [(first, upright), (second, other_upright)]
            .map(|(spot, cosine)| cosine.abs() < 2.0 * TOLERANCES.tilted && spot.solid.half > 0.0);
        if other_stands {
            let cap = usize::from(other_upright > 0.0);
            first.each_over_plane(&second.outward(cap), &mut |end, point| {
                report(Parts::RimCap(end, point, cap), &|place| {
                    second.aside(place) <= second.solid.radius + sliver
                });
            });
        }
        if stands {
            // Of rims on each other, one counts.
            let within = if other_stands { first.solid.radius - sliver } else { first.solid.radius + sliver };
            let cap = usize::from(upright < 0.0);
            second.each_over_plane(&first.outward(cap), &mut |end, point| {
                report(Parts::CapRim(cap, end, point), &|place| first.aside(place) <= within);
            });
        }
        if stands && other_stands {
            let (end, other_end) = (usize::from(upright < 0.0), usize::from(other_upright > 0.0));
            let aside = first.aside(&second.center);
            let (one, other) = (first.solid.radius, second.solid.radius);
            if aside > (one - other).abs() + sliver && aside < one + other - sliver {
                for branch in 0..BRANCHES {
                    report(Parts::RimRim(end, other_end, branch), &|_| true);
                }
            }
        }
        if lies && other_lies && first.axis.cross(&second.axis).norm() > TOLERANCES.slight {
            report(Parts::SideSide, &|place| {
                first.along(place).abs() <= first.solid.half - sliver
                    && second.along(place).abs() <= second.solid.half - sliver
            });
        }
        for end in 0..ENDS {
            for branch in 0..BRANCHES {
                if other_lies && first.rim(end).minimum(&second.center, &second.axis, branch).is_some() {
                    report(Parts::RimSide(end, branch), &|place| {
                        second.along(place).abs() <= second.solid.half + sliver
                    });
                }
                if lies && second.rim(end).minimum(&first.center, &first.axis, branch).is_some() {
                    let within = if other_lies { -sliver } else { sliver };
                    report(Parts::SideRim(end, branch), &|place| {
                        first.along(place).abs() <= first.solid.half + within
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_have_numbers_of_their_own() {
        for number in 0..FEATURES as Feature {
            assert_eq!(Parts::of(number).feature(), number);
        }
    }
}
