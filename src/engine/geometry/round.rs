//! Cylinders, and discs as cylinders without height, by their parts: two rims, two flat caps and the side between.
//!
//! Which directions are normals of a part decides where it can touch: the axis for a cap, all across it for the side,
//! and for a rim those between at a point of it. The rims of a disc are in the same place, each with the normals of
//! one side.

use super::rim::Circle;
use super::solids::{Cylinder, Disc, any_across, direction};
use super::{Pose, Proximity};
use crate::engine::scalar::{Scalar, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Rims, and caps.
pub(super) const ENDS: usize = 2;
/// Points of a rim over a plane: the lowest one, and four that are fixed to the body.
pub(super) const POINTS: usize = 5;
/// The lowest point of a rim.
pub(super) const LOWEST: usize = 0;

/// A cylinder or a disc, in body components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Unit vector along the axis.
    pub axis: Vector3<f64>,
    /// Half of the height; zero for a disc.
    pub half: f64,
    /// Radius.
    pub radius: f64,
}

impl From<Cylinder> for Round {
    fn from(cylinder: Cylinder) -> Round {
        let (half, axis) = direction(&cylinder.half_axis, 0.0, Vector3::z);
        Round { axis, half, radius: cylinder.radius }
    }
}

impl From<Disc> for Round {
    fn from(disc: Disc) -> Round {
        Round { axis: disc.axis, half: 0.0, radius: disc.radius }
    }
}

impl Round {
    /// Radius of the ball around the centre that holds it.
    pub fn extent(&self) -> f64 {
        self.half + self.radius
    }

    /// Half of how thin it is, where it has a thickness.
    pub fn thickness(&self) -> f64 {
        if self.half > 0.0 { self.half.min(self.radius) } else { self.radius }
    }
}

/// Where a round solid is, in the frame of whatever it meets.
#[derive(Clone, Copy, Debug)]
pub struct Spot<S> {
    /// The solid.
    pub solid: Round,
    /// Its centre.
    pub center: Vector3<S>,
    /// Unit vector along its axis.
    pub axis: Vector3<S>,
    /// Unit vector across, fixed to the body.
    spoke: Vector3<S>,
}

impl<S: Scalar> Spot<S> {
    /// Seen from a place that does not turn.
    pub fn from_place(solid: Round, pose: &Pose<S>, place: &Vector3<S>) -> Spot<S> {
        let to_world = |vector: Vector3<f64>| pose.orientation.to_world(&vector.map(S::from));
        Spot {
            solid,
            center: pose.position - place,
            axis: to_world(solid.axis),
            spoke: to_world(any_across(&solid.axis)),
        }
    }

    /// Seen from a body.
    pub fn from_body(solid: Round, pose: &Pose<S>, body: &Pose<S>) -> Spot<S> {
        let spot = Spot::from_place(solid, pose, &body.position);
        let turned = |vector: &Vector3<S>| body.orientation.to_body(vector);
        Spot { solid, center: turned(&spot.center), axis: turned(&spot.axis), spoke: turned(&spot.spoke) }
    }

    /// Without tangents.
    pub fn values(&self) -> Spot<f64> {
        Spot {
            solid: self.solid,
            center: self.center.map(S::value),
            axis: self.axis.map(S::value),
            spoke: self.spoke.map(S::value),
        }
    }

    /// Unit vector out of a cap.
    pub fn outward(&self, end: usize) -> Vector3<S> {
        if end == 0 { -self.axis } else { self.axis }
    }

    /// The rim around a cap.
    pub fn rim(&self, end: usize) -> Circle<S> {
        let outward = self.outward(end);
        Circle {
            center: self.center + outward * S::from(self.solid.half),
            axis: outward,
            radius: self.solid.radius,
        }
    }

    /// A point of a rim against a plane: gap and touching point of the rim.
    pub fn rim_over_plane(&self, end: usize, point: usize, normal: &Vector3<S>, offset: S) -> Proximity<S> {
        let rim = self.rim(end);
        let radius = S::from(rim.radius);
        let to_rim = rim.axis * S::from(self.solid.half);
        let out = match point {
            LOWEST => {
                // The products keep it in the plane of the rim, however flat that lies.
                let (_, across) = direction(&rim.axis.cross(normal), 1.0, || any_across(&rim.axis));
                -across.cross(&rim.axis)
            }
            1 => self.spoke,
            2 => self.axis.cross(&self.spoke),
            3 => -self.spoke,
            _ => -self.axis.cross(&self.spoke),
        };
        let arm = to_rim + out * radius;
        let gap = match point {
            LOWEST => normal.dot(&rim.center) - length(&rim.axis.cross(normal)) * radius,
            _ => normal.dot(&(self.center + arm)),
        };
        Proximity { gap: gap - offset, normal: *normal, arm }
    }

    /// A rim against a line: gap and touching point of the rim. See `Circle::toward_line` for the branch.
    pub fn rim_over_line(
        &self,
        end: usize,
        branch: usize,
        origin: &Vector3<S>,
        along: &Vector3<S>,
    ) -> Proximity<S> {
        let rim = self.rim(end);
        let out = rim.toward_line(origin, along, branch);
        let place = rim.center + out * S::from(rim.radius);
        let between = place - origin;
        let between = between - along * between.dot(along);
        let size = self.solid.extent() + length(origin).value();
        let (gap, normal) =
            rim.separation(&between, &out, &rim.axis.cross(&out).cross(along), &Vector3::zeros(), size);
        Proximity { gap, normal, arm: place - self.center }
    }

    /// A rim against a point.
    pub fn rim_over_point(&self, end: usize, point: &Vector3<S>, outward: &Vector3<S>) -> Proximity<S> {
        let rim = self.rim(end);
        let to_point = point - rim.center;
        let size = self.solid.extent() + length(point).value();
        let across = to_point - rim.axis * to_point.dot(&rim.axis);
        let (_, out) = direction(&across, size, || self.spoke);
        let place = rim.center + out * S::from(rim.radius);
        let (gap, normal) = rim.separation(&(place - point), &out, &Vector3::zeros(), outward, size);
        Proximity { gap, normal, arm: place - self.center }
    }

    /// A cap against a point.
    pub fn cap_over_point(&self, end: usize, point: &Vector3<S>) -> Proximity<S> {
        let outward = self.outward(end);
        let gap = outward.dot(&(point - self.center)) - S::from(self.solid.half);
        Proximity { gap, normal: -outward, arm: point - self.center - outward * gap }
    }

    /// The side against a point; `outward` is a direction for one on the axis.
    pub fn side_over_point(&self, point: &Vector3<S>, outward: &Vector3<S>) -> Proximity<S> {
        let from_point = self.center - point;
        let size = self.solid.extent() + length(point).value();
        let across = |vector: &Vector3<S>| vector - self.axis * vector.dot(&self.axis);
        let (distance, normal) =
            direction(&across(&from_point), size, || direction(&across(outward), 1.0, || self.spoke).1);
        self.beside(-self.axis * from_point.dot(&self.axis), distance, normal)
    }

    /// The side against a line, which points `outward`; zero for one that is a solid of its own.
    pub fn side_over_line(
        &self,
        origin: &Vector3<S>,
        along: &Vector3<S>,
        outward: &Vector3<S>,
    ) -> Proximity<S> {
        let between = self.center - origin;
        let product = self.axis.cross(along);
        if length(&product).value() < TOLERANCES.half_of_digits {
            let across = between - along * between.dot(along);
            let size = self.solid.extent() + length(origin).value();
            let (distance, normal) =
                direction(&across, size, || direction(outward, 1.0, || any_across(&self.axis)).1);
            return self.beside(Vector3::zeros(), distance, normal);
        }
        let normal = product / length(&product);
        let sign = match outward.map(S::value) == Vector3::zeros() {
            true => normal.dot(&between).value(),
            false => normal.dot(outward).value(),
        };
        let normal = if sign < 0.0 { -normal } else { normal };
        let place = -between.dot(&along.cross(&normal)) / normal.dot(&product);
        self.beside(self.axis * place, normal.dot(&between), normal)
    }

    /// The touching point of the side over a place on the axis.
    fn beside(&self, place: Vector3<S>, distance: S, normal: Vector3<S>) -> Proximity<S> {
        let radius = S::from(self.solid.radius);
        Proximity { gap: distance - radius, normal, arm: place - normal * radius }
    }
}

impl Spot<f64> {
    /// How far the solid reaches in a direction, from its centre.
    pub fn reach(&self, direction: &Vector3<f64>) -> f64 {
        self.solid.half * self.axis.dot(direction).abs()
            + self.solid.radius * self.axis.cross(direction).norm()
    }

    /// The end that is lower over a plane.
    pub fn lower_end(&self, normal: &Vector3<f64>) -> usize {
        usize::from(self.solid.half > 0.0 && self.axis.dot(normal) < 0.0)
    }

    /// Whether the opposite of a normal is one of the normals of a rim at its point `arm`, up to `tolerance`.
    pub fn rim_faces(&self, end: usize, near: &Proximity<f64>, tolerance: f64) -> bool {
        let outward = self.outward(end);
        let inward = -near.normal;
        let out = near.arm - outward * self.solid.half;
        let height = inward.dot(&outward);
        let is_this_end = match (self.solid.half > 0.0, end) {
            (true, _) => height >= -tolerance,
            (false, 0) => height > 0.0,
            (false, _) => height >= 0.0,
        };
        is_this_end && inward.dot(&out) >= -tolerance * self.solid.radius
    }

    /// Rims that may touch a plane, and the points of them that do.
    pub fn each_over_plane(&self, normal: &Vector3<f64>, visitor: &mut impl FnMut(usize, usize)) {
        let slope = self.axis.cross(normal).norm();
        let ends = if self.solid.half > 0.0 { 0..ENDS } else { 0..1 };
        for end in ends {
            let down = -self.outward(end).dot(normal);
            if self.solid.half > 0.0 && down < -TOLERANCES.tilted {
                continue;
            }
            let is_flat = slope < TOLERANCES.tilted;
            for point in 0..if is_flat { POINTS } else { 1 } {
                if point != LOWEST || slope > TOLERANCES.half_of_digits {
                    visitor(end, point);
                }
            }
        }
    }

    /// How far along the axis a point is.
    pub fn along(&self, point: &Vector3<f64>) -> f64 {
        self.axis.dot(&(point - self.center))
    }

    /// How far from the axis a point is.
    pub fn aside(&self, point: &Vector3<f64>) -> f64 {
        self.axis.cross(&(point - self.center)).norm()
    }

    /// Whether a segment passes through the solid, deeper than `slack`; through a disc, between places on both sides.
    pub fn is_pierced(&self, start: &Vector3<f64>, end: &Vector3<f64>, slack: f64) -> bool {
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let [one, other] = [start, end].map(|place| self.along(place));
        let half = self.solid.half - slack;
        if half <= 0.0 {
            if one * other >= 0.0 || one.abs().min(other.abs()) <= slack {
                return false;
            }
            (from, to) = (one / (one - other), one / (one - other));
        } else {
            for (low, high) in [(one - half, other - half), (-one - half, -other - half)] {
                // Heights over a cap.
                if low > 0.0 && high > 0.0 {
                    return false;
                }
                let cut = low / (low - high);
                if low > 0.0 {
                    from = from.max(cut);
                } else if high > 0.0 {
                    to = to.min(cut);
                }
            }
        }
        let across = |vector: Vector3<f64>| vector - self.axis * self.axis.dot(&vector);
        let (origin, way) = (across(start - self.center), across(end - start));
        // The least distance from the axis in between.
        let square = way.norm_squared();
        let least = if square > 0.0 { (-origin.dot(&way) / square).clamp(from, to.max(from)) } else { from };
        from <= to && (origin + way * least).norm() <= self.solid.radius - slack
    }
}
