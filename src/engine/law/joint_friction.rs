//! Friction in revolute, cylindrical and prismatic joints, through two virtual contacts on the axis `a`, at `+-l` from
//! the joint's place. [Chaturvedi, Sandu and Sandu 2024, eq. 2-5]
//!
//! The wrench of the joint, force `F` and moment `T` about its place, is carried by forces `C_k` there:
//! `C_1 + C_2 = F`, `s_1 x C_1 + s_2 x C_2 = T`, `s_k = +-l a` (eq. 2, with the moment), so that
//! `C_k = F / 2 +- (T x a) / (2 l)`, which is what the pseudo-inverse of eq. 2 gives where forces are across the axis.
//! Thrust along the axis of a revolute joint is shared evenly.
//!
//! A pin of radius `R` touches at `s_k - R n_k`, where the friction `p_t` around and `p_a` along the axis acts. The part
//! around is carried by the joint and so is in `C_k = N_k n_k + p_t n_k x a`; at the limit `p_t^2 + p_a^2 = mu^2 N_k^2`,
//! hence `N_k = |C_k| / sqrt(1 + mu^2 c^2)` with the part `c` of friction that is around: the friction circle. Both
//! contacts slide with the same velocity: together they are one disc of radius `sum mu N_k`.

use crate::engine::scalar::{Scalar, length};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Friction in a revolute, cylindrical or prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointFriction {
    /// Coefficient up to the threshold speed.
    pub mu_static: f64,
    /// Coefficient above it.
    pub mu_kinetic: f64,
    /// Radius of the pin; unused in a prismatic joint.
    pub radius: f64,
    /// From the joint's place to either end of the bearing, along the axis.
    pub half_length: f64,
    /// Sliding speed up to which the static coefficient counts.
    pub threshold: f64,
}

/// Impulse on the second end of a joint, and its moment about the joint's place.
#[derive(Clone, Copy, Debug)]
pub struct Wrench<S> {
    /// Impulse.
    pub impulse: Vector3<S>,
    /// Moment.
    pub moment: Vector3<S>,
}

/// The virtual contacts of a joint over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Bearing<S> {
    /// Normal impulse of either.
    pub normals: [S; 2],
    /// Largest friction impulse of both.
    pub bound: S,
}

/// Friction impulse on the second end: around the axis at the radius of the pin, and along it.
pub type Rubbed<S> = [S; 2];

/// Loads `C_k` of a bearing under a wrench.
pub fn loads<S: Scalar>(friction: &JointFriction, axis: &Vector3<S>, wrench: &Wrench<S>) -> [Vector3<S>; 2] {
    let even = wrench.impulse * S::from(0.5);
    let odd = wrench.moment.cross(axis) * S::from(0.5 / friction.half_length);
    [even + odd, even - odd]
}

/// Contacts that carry a wrench while friction is `rubbed`, with the coefficient `mu`. `around` is the part of friction
/// around the axis at the limit.
///
/// Friction along the axis acts off it, at the contacts; that moment, too, is carried by the loads.
pub fn bearing<S: Scalar>(
    friction: &JointFriction,
    mu: f64,
    axis: &Vector3<S>,
    wrench: &Wrench<S>,
    rubbed: Rubbed<S>,
    around: S,
) -> Bearing<S> {
    let coefficient = S::from(mu);
    let slant = (S::one() + coefficient * coefficient * around * around).sqrt();
    let mut carried = loads(friction, axis, wrench);
    if friction.radius > 0.0 && rubbed[1].value() != 0.0 {
        let mut tilted = *wrench;
        for (load, share) in carried.iter().zip(shares(&carried)) {
            let normal = direction(axis, load, rubbed[0] * share);
            tilted.moment += normal.cross(axis) * (rubbed[1] * share * S::from(friction.radius));
        }
        carried = loads(friction, axis, &tilted);
    }
    let sizes = carried.map(|load| length(&load));
    let shares = shares(&carried);
    let normals = [0, 1].map(|contact| {
        let around = rubbed[0] * shares[contact];
        let square = sizes[contact] * sizes[contact] - around * around;
        if square.value() > 0.0 { square.sqrt() } else { S::zero() }
    });
    Bearing { normals, bound: (sizes[0] + sizes[1]) * coefficient / slant }
}

/// Parts of the friction that either contact takes.
fn shares<S: Scalar>(loads: &[Vector3<S>; 2]) -> [S; 2] {
    let [one, other] = [length(&loads[0]), length(&loads[1])];
    let sum = one + other;
    if sum.value() > 0.0 { [one / sum, other / sum] } else { [S::from(0.5); 2] }
}

/// Unit vector `n` of the normal force in a load `N n + around n x axis`.
fn direction<S: Scalar>(axis: &Vector3<S>, load: &Vector3<S>, around: S) -> Vector3<S> {
    let across = load - axis * axis.dot(load);
    let square = across.dot(&across);
    let normal = square - around * around;
    if normal.value() <= 0.0 {
        return Vector3::zeros();
    }
    (across * normal.sqrt() - across.cross(axis) * around) / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector, Matrix3};

    const FRICTION: JointFriction =
        JointFriction { mu_static: 0.3, mu_kinetic: 0.2, radius: 0.03, half_length: 0.07, threshold: 1e-3 };

    fn cross_matrix(a: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::new(0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0)
    }

    #[test]
    fn loads_are_what_the_pseudo_inverse_gives() {
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        let across = |vector: Vector3<f64>| vector - axis * axis.dot(&vector);
        let impulse = across(Vector3::new(3.0, 1.0, -2.0));
        let moment = axis.cross(&impulse) * 0.05 + across(Vector3::new(0.1, -0.1, 0.05));
        let wrench = Wrench { impulse, moment };
        let mut matrix = DMatrix::<f64>::zeros(8, 6);
        for (contact, place) in [axis * 0.07, -axis * 0.07].iter().enumerate() {
            matrix.view_mut((0, 3 * contact), (3, 3)).copy_from(&Matrix3::identity());
            matrix.view_mut((3, 3 * contact), (3, 3)).copy_from(&cross_matrix(place));
            matrix.view_mut((6 + contact, 3 * contact), (1, 3)).copy_from(&(axis * 0.14).transpose());
        }
        let mut right = DVector::zeros(8);
        right.rows_mut(0, 3).copy_from(&wrench.impulse);
        right.rows_mut(3, 3).copy_from(&wrench.moment);
        let expected = matrix.pseudo_inverse(1e-12).unwrap() * right;
        let found = loads(&FRICTION, &axis, &wrench);
        for (contact, found) in found.iter().enumerate() {
            let expected = Vector3::from_column_slice(expected.rows(3 * contact, 3).as_slice());
            assert!((found - expected).norm() < 1e-12, "{found} and {expected}");
        }
        assert!((found[0].norm() - found[1].norm()).abs() > 0.1);
    }

    #[test]
    fn friction_around_the_axis_lies_on_the_friction_circle() {
        let axis = Vector3::z();
        let wrench = Wrench { impulse: Vector3::new(3.0, 4.0, 0.0), moment: Vector3::zeros() };
        let bound = 5.0 * 0.2 / 1.04_f64.sqrt();
        let bearing = bearing(&FRICTION, 0.2, &axis, &wrench, [-bound, 0.0], 1.0);
        assert!((bearing.bound - bound).abs() < 1e-15);
        let normal = 0.5 * bound / 0.2;
        assert!(bearing.normals.iter().all(|found| (found - normal).abs() < 1e-14), "{bearing:?}");
    }

    #[test]
    fn friction_along_the_axis_tilts_the_pin() {
        let axis = Vector3::z();
        let wrench = Wrench { impulse: Vector3::new(-5.0, 0.0, 0.0), moment: Vector3::zeros() };
        let bearing = bearing(&FRICTION, 0.2, &axis, &wrench, [0.0, -1.0], 0.0);
        // The pin is pushed along -x at x = R, and dragged along -z there.
        let tilt = 1.0 * 0.03 / (2.0 * 0.07);
        let mut normals = bearing.normals;
        normals.sort_by(f64::total_cmp);
        assert!((normals[0] - (2.5 - tilt)).abs() < 1e-14 && (normals[1] - (2.5 + tilt)).abs() < 1e-14);
        assert!((bearing.bound - 1.0).abs() < 1e-15);
    }
}
