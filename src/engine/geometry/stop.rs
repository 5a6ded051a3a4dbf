//! The stop of a joint, as a surface: the second side of the joint turns about the third axis of the first, or slides
//! along it, and may not pass a bound. With the coordinate `c`, the bound `b`, and `s` 1 below and -1 above,
//!
//! `gap = s l (c - b)`
//!
//! It touches at the place of the joint, along the axis, with `l = 1`; or beside the axis at the distance `l`, fixed to
//! the node, across the axis. The joint takes the force itself, so that only its moment about the axis is left, and `l`
//! has no effect on the motion.

use super::{Pose, Proximity};
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;
use std::f64::consts::FRAC_PI_2;

/// A bound of the coordinate of a joint.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Index of the joint.
    pub joint: usize,
    /// Place and frame of the joint on the node.
    pub on_node: Pose<f64>,
    /// The same on the body that carries the stop; in the world where there is none.
    pub on_carrier: Pose<f64>,
    /// Whether the node is the second side.
    pub node_is_second: bool,
    /// What is bounded.
    pub coordinate: Coordinate,
    /// The bound.
    pub bound: f64,
    /// Whether the coordinate may not fall below it; else it may not rise above it.
    pub is_lower: bool,
}

/// What a stop bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// The angle about the axis.
    Angle {
        /// Distance from the axis at which the stop acts.
        lever: f64,
    },
    /// The distance along the axis.
    Distance,
}

impl Stop {
    /// How much the gap opens for a unit of the coordinate, and what a unit impulse along the normal is to it: a moment,
    /// or a force.
    pub fn lever(&self) -> f64 {
        let lever = match self.coordinate {
            Coordinate::Angle { lever } => lever,
            Coordinate::Distance => 1.0,
        };
        if self.is_lower { lever } else { -lever }
    }

    /// Which angles are meant: those within half a turn of this number of quarter turns, as a touching point.
    pub fn turns<S: Scalar>(&self, angle: S) -> usize {
        match self.coordinate {
            Coordinate::Angle { .. } => (angle.value() / FRAC_PI_2).round() as isize as usize,
            Coordinate::Distance => 0,
        }
    }

    /// How the node is placed to the stop, both sides at their poses, with the angle near so many quarter turns
    /// ([`Stop::turns`]).
    pub fn proximity<S: Scalar>(
        &self,
        pose: &Pose<S>,
        carrier: Option<&Pose<S>>,
        turns: usize,
    ) -> Proximity<S> {
        let lift = |place: &Pose<f64>| Pose {
            position: place.position.map(S::from),
            orientation: place.orientation.map(S::from),
        };
        let node = pose.of(&lift(&self.on_node));
        let other = carrier.map_or(lift(&self.on_carrier), |carrier| carrier.of(&lift(&self.on_carrier)));
        let (first, second) = if self.node_is_second { (&other, &node) } else { (&node, &other) };
        let own_side = if self.node_is_second { 1.0 } else { -1.0 };
        let (value, touching, along) = match self.coordinate {
            Coordinate::Distance => {
                let axis = axis(&first.orientation, 2);
                (axis.dot(&(second.position - first.position)), second.position, axis)
            }
            Coordinate::Angle { lever } => {
                let near = turns as isize as f64 * FRAC_PI_2;
                let expected =
                    first.orientation.turned_in_body(&Vector3::new(S::zero(), S::zero(), S::from(near)));
                let turn = second.orientation.turn_from(&expected);
                let angle = S::from(near) + axis(&first.orientation, 2).dot(&turn);
                let beside = node.position + axis(&node.orientation, 0) * S::from(lever);
                (angle, beside, axis(&node.orientation, 1))
            }
        };
        let away = if self.is_lower { own_side } else { -own_side };
        Proximity {
            gap: (value - S::from(self.bound)) * S::from(self.lever()),
            normal: along * S::from(away),
            arm: touching - pose.position,
        }
    }
}

fn axis<S: Scalar>(frame: &Orientation<S>, index: usize) -> Vector3<S> {
    let mut axis = Vector3::zeros();
    axis[index] = S::one();
    frame.to_world(&axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poses of the two sides of a joint whose frames are turned and displaced in their bodies, at a coordinate.
    fn at(stop: &Stop, angle: f64, distance: f64) -> (Pose<f64>, Pose<f64>) {
        let first = Pose {
            position: Vector3::new(0.3, -0.2, 0.9),
            orientation: Orientation::from_turn(&Vector3::new(0.4, -1.1, 0.6)),
        };
        let (own, other) = (&stop.on_node, &stop.on_carrier);
        let (on_first, on_second) = if stop.node_is_second { (other, own) } else { (own, other) };
        let joint = first.of(on_first);
        let frame = joint.orientation.turned_in_body(&Vector3::new(0.0, 0.0, angle));
        let [w, x, y, z] = on_second.orientation.wxyz;
        let orientation = frame.after(&Orientation { wxyz: [w, -x, -y, -z] });
        let place = joint.position + axis(&joint.orientation, 2) * distance;
        let second = Pose { position: place - orientation.to_world(&on_second.position), orientation };
        if stop.node_is_second { (second, first) } else { (first, second) }
    }

    #[test]
    fn the_gap_opens_as_fast_as_the_touching_point_moves_along_the_normal() {
        let place = |position: [f64; 3], turn: [f64; 3]| Pose {
            position: Vector3::from(position),
            orientation: Orientation::from_turn(&Vector3::from(turn)),
        };
        for coordinate in [Coordinate::Angle { lever: 0.7 }, Coordinate::Distance] {
            for (node_is_second, is_lower) in [(true, true), (true, false), (false, true), (false, false)] {
                let stop = Stop {
                    joint: 0,
                    on_node: place([0.2, 0.1, -0.4], [0.3, 0.8, -0.5]),
                    on_carrier: place([-0.1, 0.5, 0.2], [-0.9, 0.2, 0.4]),
                    node_is_second,
                    coordinate,
                    bound: 6.5,
                    is_lower,
                };
                let (angle, distance) = match coordinate {
                    Coordinate::Angle { .. } => (7.1, 0.0),
                    Coordinate::Distance => (0.0, 7.1),
                };
                let small = 1e-6;
                let see = |by: f64| {
                    let (by_angle, by_distance) = if angle != 0.0 { (by, 0.0) } else { (0.0, by) };
                    let (node, carrier) = at(&stop, angle + by_angle, distance + by_distance);
                    let near = stop.proximity(&node, Some(&carrier), stop.turns(7.0));
                    // The same points of both bodies, where they touch.
                    (near, node, carrier)
                };
                let (here, node, carrier) = see(0.0);
                let expected = stop.lever() * (7.1 - 6.5);
                assert!((here.gap - expected).abs() < 1e-12, "{} and {expected}", here.gap);
                let point = node.position + here.arm;
                let on = |body: &Pose<f64>| body.orientation.to_body(&(point - body.position));
                let (on_node, on_carrier) = (on(&node), on(&carrier));
                let (more, node, carrier) = see(small);
                let moved =
                    |body: &Pose<f64>, place: &Vector3<f64>| body.position + body.orientation.to_world(place);
                let opened = here.normal.dot(&(moved(&node, &on_node) - moved(&carrier, &on_carrier)));
                let rate = (more.gap - here.gap) / small;
                assert!((rate - opened / small).abs() < 1e-5, "{rate} and {}", opened / small);
                assert!((rate - stop.lever()).abs() < 1e-5, "{rate}");
            }
        }
    }
}
