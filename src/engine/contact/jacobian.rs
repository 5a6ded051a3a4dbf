//! How a contact sees the velocity of its node: three rows, normal, tangent 1, tangent 2.
//!
//! The velocity of the touching point along `f` is `f . (v + w x arm) = f . v + (arm x f) . w`.

use super::frame::local_frame;
use crate::engine::rotation::Orientation;
use crate::engine::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// Rows of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jacobian<S> {
    /// Acts on the velocity of the centre; orthonormal.
    pub linear: Matrix3<S>,
    /// Acts on the angular velocity in body components; zero for a point mass.
    pub angular: Matrix3<S>,
}

impl<S: Scalar> Jacobian<S> {
    /// Rows of a contact of a node with the given orientation; a point mass has none.
    pub fn new(normal: &Vector3<S>, arm: &Vector3<S>, orientation: Option<&Orientation<S>>) -> Jacobian<S> {
        let linear = local_frame(normal);
        let mut angular = Matrix3::zeros();
        if let Some(orientation) = orientation {
            for row in 0..3 {
                let moment = arm.cross(&linear.row(row).transpose());
                angular.set_row(row, &orientation.to_body(&moment).transpose());
            }
        }
        Jacobian { linear, angular }
    }

    /// Velocity of the touching point. `spin` is the angular velocity in body components.
    pub fn velocity(&self, velocity: &Vector3<S>, spin: &Vector3<S>) -> Vector3<S> {
        self.linear * velocity + self.angular * spin
    }
}
