//! How a contact sees the velocity of its node and of the body that carries its surface: three rows, normal,
//! tangent 1, tangent 2.
//!
//! The velocity of the touching point along `f` is `f . (v + w x arm) = f . v + (arm x f) . w`; that of the
//! surface is seen with the opposite sign.

use super::frame::local_frame;
use crate::engine::math::rotation::Orientation;
use crate::engine::scalar::{Scalar, cross, times};
use nalgebra::{Matrix3, Vector3};

/// Rows of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jacobian<S> {
    /// Acts on the velocity of the centre, and with the opposite sign on that of the surface's body; orthonormal.
    pub linear: Matrix3<S>,
    /// Acts on the angular velocity in body components; zero for a point mass.
    pub angular: Matrix3<S>,
    /// Acts on the angular velocity of the surface's body in its components, sign included; zero for a fixed surface.
    pub carrier: Matrix3<S>,
}

impl<S: Scalar> Jacobian<S> {
    /// Rows of a contact of a node with the given orientation and a fixed surface; a point mass has none.
    pub fn new(normal: &Vector3<S>, arm: &Vector3<S>, orientation: Option<&Orientation<S>>) -> Jacobian<S> {
        let linear = local_frame(normal);
        let angular = orientation.map_or(Matrix3::zeros(), |orientation| moments(&linear, arm, orientation));
        Jacobian { linear, angular, carrier: Matrix3::zeros() }
    }

    /// The same with a surface that a body carries.
    pub fn carried(mut self, arm: &Vector3<S>, orientation: &Orientation<S>) -> Jacobian<S> {
        self.carrier = -moments(&self.linear, arm, orientation);
        self
    }

    /// Velocity of the touching point over a fixed surface. `spin` is the angular velocity in body components.
    pub fn velocity(&self, velocity: &Vector3<S>, spin: &Vector3<S>) -> Vector3<S> {
        times(&self.linear, velocity) + times(&self.angular, spin)
    }
}

/// Rows `arm x f` in body components.
fn moments<S: Scalar>(frame: &Matrix3<S>, arm: &Vector3<S>, orientation: &Orientation<S>) -> Matrix3<S> {
    let mut rows = Matrix3::zeros();
    for row in 0..3 {
        let moment = cross(arm, &frame.row(row).transpose());
        rows.set_row(row, &orientation.to_body(&moment).transpose());
    }
    rows
}
