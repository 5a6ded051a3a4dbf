//! The path of a node over an interval, as a function of time: where it would be if the interval ended there.

use crate::engine::geometry::Pose;
use crate::engine::math::rotation::{FreeRotation, Orientation};
use crate::engine::scalar::Scalar;
use nalgebra::Vector3;

/// Position `q + t v + t^2 c` and orientation.
#[derive(Clone, Copy, Debug)]
pub struct Flight<S> {
    /// Position at the start.
    pub position: Vector3<S>,
    /// Velocity at the start.
    pub velocity: Vector3<S>,
    /// Half the acceleration of the path.
    pub curvature: Vector3<S>,
    /// How the node turns.
    pub turning: Turning<S>,
}

/// How far a node goes at most.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Of any of its points.
    pub moved: f64,
    /// By how much it turns.
    pub turned: f64,
    /// What turning adds to the way of a point.
    pub swung: f64,
}

/// How a node turns on its path.
#[derive(Clone, Copy, Debug)]
pub enum Turning<S> {
    /// Not at all, or it does not matter.
    None,
    /// Freely.
    Free(FreeRotation<S>),
    /// With contact: the mean angular velocity grows in proportion to time.
    Pushed {
        /// Orientation at the start.
        orientation: Orientation<S>,
        /// Angular velocity at the start.
        angular_velocity: Vector3<S>,
        /// Growth of the mean angular velocity.
        growth: Vector3<S>,
    },
}

impl<S: Scalar> Flight<S> {
    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Flight<T> {
        Flight {
            position: self.position.map(convert),
            velocity: self.velocity.map(convert),
            curvature: self.curvature.map(convert),
            turning: match &self.turning {
                Turning::None => Turning::None,
                Turning::Free(rotation) => Turning::Free(rotation.map(convert)),
                Turning::Pushed { orientation, angular_velocity, growth } => Turning::Pushed {
                    orientation: orientation.map(convert),
                    angular_velocity: angular_velocity.map(convert),
                    growth: growth.map(convert),
                },
            },
        }
    }

    /// Where the node is at time `t`.
    pub fn pose(&self, t: S) -> Pose<S> {
        Pose {
            position: self.position + (self.velocity + self.curvature * t) * t,
            orientation: match &self.turning {
                Turning::None => Orientation::identity(),
                Turning::Free(rotation) => rotation.orientation.turned(&(rotation.over(t).0 * t)),
                Turning::Pushed { orientation, angular_velocity, growth } => {
                    orientation.turned(&((angular_velocity + growth * t) * t))
                }
            },
        }
    }

    /// How far points go within `dt` that are at most `reach` from the centre.
    pub fn farthest(&self, reach: f64, dt: f64) -> Way {
        let size = |vector: &Vector3<S>| vector.iter().map(|x| x.value() * x.value()).sum::<f64>().sqrt();
        let turned = match &self.turning {
            Turning::None => 0.0,
            Turning::Free(rotation) => dt * rotation.fastest(S::from(dt)),
            Turning::Pushed { angular_velocity, growth, .. } => {
                dt * (size(angular_velocity) + dt * size(growth))
            }
        };
        let swung = reach * turned;
        Way { moved: dt * (size(&self.velocity) + dt * size(&self.curvature)) + swung, turned, swung }
    }
}
