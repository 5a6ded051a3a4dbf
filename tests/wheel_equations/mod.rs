//! Peiret's wheel in Euler angles: q = (x, y, z, psi, theta, phi), v = dq/dt. [Peiret et al. 2016, Table 1]

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod deviation;
pub mod exact;

use nalgebra::{Matrix3x6, Matrix6, Vector3, Vector6};

pub const RADIUS: f64 = 0.5;
const MASS: f64 = 1.0;
const AXIAL: f64 = 0.6;
const ACROSS: f64 = 0.3;
pub const MU: f64 = 0.3;
const GRAVITY: f64 = 9.81;
/// Weight of the wheel.
pub const WEIGHT: f64 = MASS * GRAVITY;

pub fn mass_matrix(q: &Vector6<f64>) -> Matrix6<f64> {
    let (s, c) = q[4].sin_cos();
    let mut mass = Matrix6::from_diagonal(&Vector6::new(
        MASS,
        MASS,
        MASS,
        ACROSS * c * c + AXIAL * s * s,
        ACROSS,
        AXIAL,
    ));
    mass[(3, 5)] = AXIAL * s;
    mass[(5, 3)] = AXIAL * s;
    mass
}

pub fn force(q: &Vector6<f64>, v: &Vector6<f64>) -> Vector6<f64> {
    let (s, c) = q[4].sin_cos();
    let (psi, theta, phi) = (v[3], v[4], v[5]);
    Vector6::new(
        0.0,
        0.0,
        -WEIGHT,
        -2.0 * (AXIAL - ACROSS) * s * c * theta * psi - AXIAL * c * theta * phi,
        -ACROSS * psi * psi * s * c + AXIAL * (phi + psi * s) * psi * c,
        -AXIAL * c * theta * psi,
    )
}

/// Velocity of the lowest point of the rim along z, x, y.
#[rustfmt::skip]
pub fn jacobian(q: &Vector6<f64>) -> Matrix3x6<f64> {
    let ((sp, cp), (s, c)) = (q[3].sin_cos(), q[4].sin_cos());
    Matrix3x6::new(
        0.0, 0.0, 1.0, 0.0, RADIUS * s, 0.0,
        1.0, 0.0, 0.0, -RADIUS * s * cp, -RADIUS * c * sp, -RADIUS * cp,
        0.0, 1.0, 0.0, -RADIUS * s * sp, RADIUS * c * cp, -RADIUS * sp,
    )
}

/// Tilted by 20 degrees, thrown along x, turning about the vertical.
pub fn start() -> (Vector6<f64>, Vector6<f64>) {
    let tilt = 20.0_f64.to_radians();
    (Vector6::new(0.0, 0.0, RADIUS * tilt.cos(), 0.0, tilt, 0.0), Vector6::new(6.0, 0.0, 0.0, -2.0, 0.0, 0.0))
}

pub fn position(q: &Vector6<f64>) -> Vector3<f64> {
    q.fixed_rows::<3>(0).into_owned()
}

/// Mechanical energy, zero at the height of the floor.
pub fn energy(q: &Vector6<f64>, v: &Vector6<f64>) -> f64 {
    0.5 * v.dot(&(mass_matrix(q) * v)) + WEIGHT * q[2]
}

/// `|f_T| / (mu f_N)` of a contact force along z, x, y.
pub fn friction_used(force: &Vector3<f64>) -> f64 {
    force[1].hypot(force[2]) / (MU * force[0])
}
