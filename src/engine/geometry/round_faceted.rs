//! Cylinder or disc against a convex solid with flat faces, or a capsule.
//!
//! The signed distance is the largest separation over all directions, which is attained at a normal of both solids: of
//! a face or cap, of the side and an edge or corner, of a rim and an edge or corner, where the separation of the two
//! parts is stationary. A direction that separates two parts by more than the solids is no normal of them.
//!
//! Parts that are over each other, along nearly the same normal, touch together: rims over a face, corners under a cap,
//! edges that cross a rim or the side.

use super::faceted::Faceted;
use super::flat_parts::Edge;
use super::rim::BRANCHES;
use super::round::{ENDS, LOWEST, Round, Spot};
use super::round_parts::Parts;
use super::solids::Feature;
use super::{Pose, Proximity};
use crate::engine::scalar::Scalar;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Reports where the solids are nearer than `reach`.
///
/// The smallest gap reported is at most `TOLERANCES.sliver` times the smaller thickness larger than [`gap`].
pub fn features<S: Scalar>(
    first: &Round,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
    reach: f64,
    found: &mut impl FnMut(Feature, Proximity<S>),
) {
    let spot = Spot::from_body(*first, first_pose, second_pose);
    let two = Two { spot: spot.values(), second };
    if two.spot.center.norm() - first.extent() - second.extent() - second.margin() >= reach {
        return;
    }
    let nearest = two.nearest();
    let near = nearest.in_world(&spot, second, second_pose);
    if near.gap.value() >= reach {
        return;
    }
    let counts = second.counts();
    let sliver = two.sliver();
    let mut deepest = f64::INFINITY;
    two.manifold(&two.at(nearest).normal, reach, &mut |parts| {
        let near = parts.in_world(&spot, second, second_pose);
        if near.gap.value() < reach {
            deepest = deepest.min(near.gap.value());
            found(parts.feature(&counts), near);
        }
    });
    if deepest > near.gap.value() + sliver {
        found(nearest.feature(&counts), near);
    }
}

/// A feature at other poses.
pub fn at<S: Scalar>(
    feature: Feature,
    first: &Round,
    first_pose: &Pose<S>,
    second: &Faceted,
    second_pose: &Pose<S>,
) -> Proximity<S> {
    let spot = Spot::from_body(*first, first_pose, second_pose);
    Parts::of(feature, &second.counts()).in_world(&spot, second, second_pose)
}

/// The parts whose gap is the signed distance of the solids.
pub fn nearest(first: &Round, first_pose: &Pose<f64>, second: &Faceted, second_pose: &Pose<f64>) -> Parts {
    Two { spot: Spot::from_body(*first, first_pose, second_pose), second }.nearest()
}

/// Signed distance of the solids.
pub fn gap<S: Scalar>(first: &Round, first_pose: &Pose<S>, second: &Faceted, second_pose: &Pose<S>) -> S {
    let nearest = nearest(first, &first_pose.values(), second, &second_pose.values());
    let spot = Spot::from_body(*first, first_pose, second_pose);
    nearest.in_world(&spot, second, second_pose).gap
}

/// The best parts so far, and what they are worth.
struct Best {
    worth: f64,
    parts: Parts,
}

/// Two solids in the frame of the second.
struct Two<'a> {
    spot: Spot<f64>,
    second: &'a Faceted<'a>,
}

impl Two<'_> {
    fn sliver(&self) -> f64 {
        TOLERANCES.sliver * self.spot.solid.thickness().min(self.second.thickness())
    }

    fn close(&self) -> f64 {
        TOLERANCES.rounding * (self.spot.solid.extent() + self.second.extent())
    }

    fn at(&self, parts: Parts) -> Proximity<f64> {
        parts.at(&self.spot, self.second)
    }

    /// How far a direction separates the solids, without margin.
    fn separation(&self, normal: &Vector3<f64>) -> f64 {
        let corners = 0..self.second.counts().corners;
        let highest = corners.map(|corner| normal.dot(&self.second.corner(corner)));
        normal.dot(&self.spot.center) - self.spot.reach(normal) - highest.fold(f64::NEG_INFINITY, f64::max)
    }

    fn nearest(&self) -> Parts {
        let counts = self.second.counts();
        let mut best = Best { worth: f64::NEG_INFINITY, parts: Parts::CapCorner(0, 0) };
        for face in 0..counts.faces {
            let end = self.spot.lower_end(&self.second.face(face).normal);
            self.compare(Parts::RimFace(end, LOWEST, face), &mut best);
        }
        if let Parts::RimFace(_, _, face) = best.parts {
            let near = self.at(best.parts);
            let place = self.spot.center + near.arm;
            // No two points of the solids are nearer than their separation.
            if near.gap >= -self.close() && self.second.is_over(face, &place, 0.0) {
                return best.parts;
            }
        }
        for end in 0..ENDS {
            let inward = -self.spot.outward(end);
            let height = |corner: usize| inward.dot(&self.second.corner(corner));
            let highest = (0..counts.corners).max_by(|&one, &other| height(one).total_cmp(&height(other)));
            self.compare(Parts::CapCorner(end, highest.expect("it has corners")), &mut best);
        }
        for corner in 0..counts.corners {
            self.compare(Parts::SideCorner(corner), &mut best);
            for end in 0..ENDS {
                self.compare(Parts::RimCorner(end, corner), &mut best);
            }
        }
        for index in 0..counts.edges {
            let edge = self.second.edge(index);
            if self.limit(&edge) <= best.worth {
                continue;
            }
            if self.crosses(&edge) {
                self.compare(Parts::SideEdge(index), &mut best);
            }
            for end in 0..ENDS {
                let rim = self.spot.rim(end);
                for branch in 0..BRANCHES {
                    if rim.minimum(&edge.start, &edge.along, branch).is_some() {
                        self.compare(Parts::RimEdge(end, branch, index), &mut best);
                    }
                }
            }
        }
        best.parts
    }

    /// Takes parts that are worth more: the separation along their normal, less by how much that of the parts is wrong.
    fn compare(&self, parts: Parts, best: &mut Best) {
        let near = self.at(parts);
        if near.gap <= best.worth || !self.face_each_other(parts, &near, TOLERANCES.small) {
            return;
        }
        let worth = 2.0 * self.separation(&near.normal) - near.gap;
        if worth > best.worth {
            *best = Best { worth, parts };
        }
    }

    /// Whether the axis is not along an edge.
    fn crosses(&self, edge: &Edge) -> bool {
        self.spot.axis.cross(&edge.along).norm() > TOLERANCES.slight
    }

    /// What no normal of an edge separates more than.
    fn limit(&self, edge: &Edge) -> f64 {
        let between = self.spot.center - edge.start;
        let across = between - edge.along * between.dot(&edge.along);
        if edge.faces(&across, 0.0) {
            return across.norm();
        }
        let highest = edge.blocked.iter().map(|blocked| {
            let normal = edge.along.cross(blocked);
            normal.dot(&across) * if normal.dot(&edge.outward) < 0.0 { -1.0 } else { 1.0 }
        });
        highest.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether the normal of two parts is one of both.
    fn face_each_other(&self, parts: Parts, near: &Proximity<f64>, tolerance: f64) -> bool {
        let normal = &near.normal;
        match parts {
            Parts::RimFace(..) => true,
            Parts::CapCorner(_, corner) | Parts::SideCorner(corner) => {
                self.second.corner_faces(corner, normal, tolerance)
            }
            Parts::RimCorner(end, corner) => {
                self.spot.rim_faces(end, near, tolerance)
                    && self.second.corner_faces(corner, normal, tolerance)
            }
            Parts::RimEdge(end, _, edge) => {
                self.spot.rim_faces(end, near, tolerance) && self.second.edge(edge).faces(normal, tolerance)
            }
            Parts::SideEdge(edge) => self.second.edge(edge).faces(normal, tolerance),
        }
    }

    /// Parts that are over each other, along nearly the given normal, and may be nearer than `reach`.
    fn manifold(&self, normal: &Vector3<f64>, reach: f64, found: &mut impl FnMut(Parts)) {
        let counts = self.second.counts();
        let sliver = self.sliver();
        let upright = self.spot.axis.dot(normal);
        let mut report = |parts: Parts, is_over: &dyn Fn(&Vector3<f64>) -> bool| {
            let near = self.at(parts);
            if near.normal.dot(normal) > TOLERANCES.aligned
                && is_over(&(self.spot.center + near.arm - near.normal * near.gap))
                && self.face_each_other(parts, &near, TOLERANCES.tilted)
            {
                found(parts);
            }
        };
        let cosine = |face: usize| self.second.face(face).normal.dot(normal);
        let face = (0..counts.faces).max_by(|&one, &other| cosine(one).total_cmp(&cosine(other)));
        if let Some(face) = face {
            self.spot.each_over_plane(&self.second.face(face).normal, &mut |end, point| {
                report(Parts::RimFace(end, point, face), &|place| self.second.is_over(face, place, sliver));
            });
        }
        let end = usize::from(upright < 0.0);
        let is_standing = upright.abs() > TOLERANCES.aligned;
        let is_lying = upright.abs() < 2.0 * TOLERANCES.tilted;
        let half = self.spot.solid.half;
        for corner in 0..counts.corners {
            if is_standing {
                report(Parts::CapCorner(end, corner), &|place| {
                    self.spot.aside(place) <= self.spot.solid.radius + sliver
                });
            }
            if is_lying && half > 0.0 {
                report(Parts::SideCorner(corner), &|place| self.spot.along(place).abs() <= half + sliver);
            }
        }
        for index in 0..counts.edges {
            let edge = self.second.edge(index);
            let aside = edge.along.cross(&(self.spot.center - edge.start)).norm();
            if aside > self.spot.solid.extent() + self.second.margin() + reach
                || edge.along.dot(normal).abs() > 0.5
                || !edge.faces(normal, 0.5)
            {
                continue;
            }
            let is_beside = |place: &Vector3<f64>| {
                let along = edge.along.dot(&(place - edge.start));
                along >= -sliver && along <= edge.length + sliver
            };
            if is_lying && half > 0.0 && self.crosses(&edge) {
                report(Parts::SideEdge(index), &|place| {
                    is_beside(place) && self.spot.along(place).abs() <= half - sliver
                });
            }
            for end in 0..ENDS {
                for branch in 0..BRANCHES {
                    if self.spot.rim(end).minimum(&edge.start, &edge.along, branch).is_some() {
                        report(Parts::RimEdge(end, branch, index), &is_beside);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
