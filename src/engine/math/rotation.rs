//! Rotations in space: unit quaternions over any scalar, and the free rotation of a rigid body.

use crate::engine::scalar::{Dual, Scalar, cross, dot, length};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Orientation of a body: turns body components into world components. A quaternion `w x y z` of length 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orientation<S> {
    /// Components `w x y z`.
    pub wxyz: [S; 4],
}

impl<S: Scalar> Orientation<S> {
    /// Body axes along world axes.
    #[inline]
    pub fn identity() -> Orientation<S> {
        Orientation { wxyz: [S::one(), S::zero(), S::zero(), S::zero()] }
    }

    /// `exp(turn)`: the rotation about the direction of `turn` by its length, in rad.
    ///
    /// By the power series, so that it is smooth at zero and has the same digits on every platform.
    #[inline]
    pub fn from_turn(turn: &Vector3<S>) -> Orientation<S> {
        let half = turn * S::from(0.5);
        let square = dot(&half, &half);
        // What is not finite stays so, and the step that made it is refused.
        if square.value() > 1.0 && square.value().is_finite() {
            let part = Orientation::from_turn(&half);
            return part.after(&part);
        }
        let (sinc, cos) = sinc_cos(square);
        let axis = half * sinc;
        Orientation { wxyz: [cos, axis[0], axis[1], axis[2]] }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T) -> Orientation<T> {
        Orientation { wxyz: self.wxyz.map(convert) }
    }

    /// Length of the quaternion: 1 up to rounding, unless it was set from outside.
    pub fn length(&self) -> S {
        let [w, x, y, z] = self.wxyz;
        (w * w + x * x + y * y + z * z).sqrt()
    }

    /// Scaled to length 1.
    #[inline]
    pub fn normalized(&self) -> Orientation<S> {
        let values = self.map(S::value);
        let length = values.length();
        let unit = values.wxyz.map(|component| component / length);
        let slope =
            |row: usize, column: usize| (f64::from(row == column) - unit[row] * unit[column]) / length;
        let slopes = || [0, 1, 2, 3].map(|row| [0, 1, 2, 3].map(|column| slope(row, column)));
        Orientation { wxyz: S::function(unit, self.wxyz, slopes) }
    }

    /// The orientation after a further rotation by `turn`, given in world components.
    #[inline]
    pub fn turned(&self, turn: &Vector3<S>) -> Orientation<S> {
        Orientation::from_turn(turn).after(self).normalized()
    }

    /// The orientation after a further rotation by `turn`, given in body components.
    #[inline]
    pub fn turned_in_body(&self, turn: &Vector3<S>) -> Orientation<S> {
        self.after(&Orientation::from_turn(turn)).normalized()
    }

    /// The turn, in world components, that makes this orientation of another.
    ///
    /// By the power series of the arc sine, after halving the angle until it converges fast.
    pub fn turn_from(&self, other: &Orientation<S>) -> Vector3<S> {
        /// Squared sine of half the angle for which the series below is exact to round-off.
        const SMALL: f64 = TOLERANCES.coarse;
        const SERIES: [f64; 6] =
            [1.0 / 6.0, 3.0 / 40.0, 15.0 / 336.0, 105.0 / 3456.0, 945.0 / 42240.0, 10395.0 / 599040.0];
        let [a, b, c, d] = other.wxyz;
        let [mut w, x, y, z] = self.after(&Orientation { wxyz: [a, -b, -c, -d] }).wxyz;
        let mut axis = Vector3::new(x, y, z);
        if w.value() < 0.0 {
            (w, axis) = (-w, -axis);
        }
        let mut factor = 2.0;
        while dot(&axis, &axis).value() > SMALL {
            let half = ((S::one() + w) * S::from(0.5)).sqrt();
            axis /= half * S::from(2.0);
            (w, factor) = (half, factor * 2.0);
        }
        let square = dot(&axis, &axis);
        let tail = SERIES.iter().rev().fold(S::zero(), |tail, &term| (tail + S::from(term)) * square);
        axis * ((S::one() + tail) * S::from(factor))
    }

    /// First `first`, then this.
    #[inline]
    pub fn after(&self, first: &Orientation<S>) -> Orientation<S> {
        let [w, x, y, z] = self.wxyz.map(S::value);
        let [a, b, c, d] = first.wxyz.map(S::value);
        let product = [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ];
        let ([i, j, k, l], [m, n, o, p]) = (self.wxyz, first.wxyz);
        let slopes = || {
            [
                [a, -b, -c, -d, w, -x, -y, -z],
                [b, a, d, -c, x, w, -z, y],
                [c, -d, a, b, y, z, w, -x],
                [d, c, -b, a, z, -y, x, w],
            ]
        };
        Orientation { wxyz: S::function(product, [i, j, k, l, m, n, o, p], slopes) }
    }

    /// World components of a vector given in body components.
    #[inline]
    pub fn to_world(&self, vector: &Vector3<S>) -> Vector3<S> {
        let [w, x, y, z] = self.wxyz;
        rotate(w, Vector3::new(x, y, z), vector)
    }

    /// Body components of a vector given in world components.
    #[inline]
    pub fn to_body(&self, vector: &Vector3<S>) -> Vector3<S> {
        let [w, x, y, z] = self.wxyz;
        rotate(w, Vector3::new(-x, -y, -z), vector)
    }
}

#[inline]
fn rotate<S: Scalar>(w: S, axis: Vector3<S>, vector: &Vector3<S>) -> Vector3<S> {
    let (q, a, v) = (w.value(), axis.map(S::value), vector.map(S::value));
    let once = a.cross(&v) * 2.0;
    let rotated = v + once * q + a.cross(&once);
    let slopes = || {
        let one = Matrix3::identity();
        let by_axis =
            (a * v.transpose() - v * a.transpose() * 2.0 + one * a.dot(&v) - cross_matrix(&v) * q) * 2.0;
        let by_vector = one * (1.0 - 2.0 * a.dot(&a)) + (a * a.transpose() + cross_matrix(&a) * q) * 2.0;
        let part = |part: &Matrix3<f64>, row: usize, column: usize| part[(row, column)];
        [0, 1, 2].map(|row| {
            let [x, y, z] = [0, 1, 2].map(|column| part(&by_axis, row, column));
            let [i, j, k] = [0, 1, 2].map(|column| part(&by_vector, row, column));
            [once[row], x, y, z, i, j, k]
        })
    };
    let of = [w, axis[0], axis[1], axis[2], vector[0], vector[1], vector[2]];
    S::function(rotated.into(), of, slopes).into()
}

/// Mean of a vector that turns by `turn` and is `midway` halfway: what turns with the mean angular velocity moves as if it
/// were there all the time.
pub fn mean_of_turning<S: Scalar>(midway: &Vector3<S>, turn: &Vector3<S>) -> Vector3<S> {
    let square = dot(turn, turn);
    if square.value() == 0.0 {
        return *midway;
    }
    let (mut half, mut doublings) = (square * S::from(0.25), 0);
    while half.value() > 1.0 {
        (half, doublings) = (half * S::from(0.25), doublings + 1);
    }
    let (mut sinc, mut cos) = sinc_cos(half);
    for _ in 0..doublings {
        (sinc, cos) = (sinc * cos, cos * cos * S::from(2.0) - S::one());
    }
    let along = turn * (dot(turn, midway) / square);
    along + (midway - along) * sinc
}

/// `sin(x)/x` and `cos(x)` from `x^2`, which is at most 1, exact to round-off.
#[inline]
fn sinc_cos<S: Scalar>(square: S) -> (S, S) {
    /// Below this the first four terms do.
    const SMALL: f64 = TOLERANCES.slight;
    const SINC: [f64; 9] = [6.0, 20.0, 42.0, 72.0, 110.0, 156.0, 210.0, 272.0, 342.0];
    const COS: [f64; 9] = [2.0, 12.0, 30.0, 56.0, 90.0, 132.0, 182.0, 240.0, 306.0];
    let terms = if square.value() < SMALL { 4 } else { 9 };
    let series = |ratios: &[f64]| {
        ratios.iter().rev().fold(S::one(), |tail, ratio| S::one() - square * tail * S::from(1.0 / ratio))
    };
    (series(&SINC[..terms]), series(&COS[..terms]))
}

/// Angular momentum in world components.
#[inline]
pub fn angular_momentum<S: Scalar>(
    orientation: &Orientation<S>,
    inertia: &Vector3<S>,
    angular_velocity: &Vector3<S>,
) -> Vector3<S> {
    orientation.to_world(&inertia.component_mul(&orientation.to_body(angular_velocity)))
}

/// Angular velocity in world components that a change of angular momentum by `impulse` makes.
#[inline]
pub fn spin<S: Scalar>(
    orientation: &Orientation<S>,
    inertia: &Vector3<S>,
    impulse: &Vector3<S>,
) -> Vector3<S> {
    orientation.to_world(&orientation.to_body(impulse).component_div(inertia))
}

/// Whether a body with these moments of inertia spins faster or slower when it turns.
#[inline]
pub fn is_uneven<S: Scalar>(inertia: &Vector3<S>) -> bool {
    let [x, y, z] = [0, 1, 2].map(|axis| inertia[axis].value());
    (x != y || y != z) && (x + y + z).is_finite()
}

/// Turn, in rad, up to which a free rotation is computed in one part: well below the pole of the tangent of half of it.
pub const LARGEST_TURN: f64 = TOLERANCES.largest_turn;

/// The turn nearest to `way` among those that make the same rotation as `turn`.
fn nearest_turn<S: Scalar>(turn: &Vector3<S>, way: &Vector3<S>) -> Vector3<S> {
    let angle = length(turn);
    if angle.value() == 0.0 {
        return *turn;
    }
    let full = std::f64::consts::TAU;
    let turns = ((way.dot(turn) / angle - angle).value() / full).round();
    turn + turn * (S::from(turns * full) / angle)
}

/// A body that turns freely under a constant torque and whatever else accelerates it, all in world components.
#[derive(Clone, Copy, Debug)]
pub struct FreeRotation<S> {
    /// Orientation at the start.
    pub orientation: Orientation<S>,
    /// Angular velocity at the start.
    pub angular_velocity: Vector3<S>,
    /// Principal moments of inertia; where one is infinite, `acceleration` alone changes the angular velocity.
    pub inertia: Vector3<S>,
    /// Torque.
    pub torque: Vector3<S>,
    /// Angular acceleration besides that of the torque and of Euler's equations.
    pub acceleration: Option<Vector3<S>>,
}

impl<S: Scalar> FreeRotation<S> {
    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> FreeRotation<T> {
        FreeRotation {
            orientation: self.orientation.map(convert),
            angular_velocity: self.angular_velocity.map(convert),
            inertia: self.inertia.map(convert),
            torque: self.torque.map(convert),
            acceleration: self.acceleration.map(|acceleration| acceleration.map(convert)),
        }
    }

    /// Mean angular velocity over `dt`, with which the orientation turns, and angular velocity at its end.
    ///
    /// The interval is cut where the body turns by more than [`LARGEST_TURN`]. The mean is then that of the turns nearest to
    /// the way of all parts among those that lead to the same orientation. Of more than `TOLERANCES.most_parts` the energy is not kept.
    #[inline]
    pub fn over(&self, dt: S) -> (Vector3<S>, Vector3<S>) {
        if self.is_prescribed() {
            let growth = self.acceleration.unwrap_or_else(Vector3::zeros);
            return (
                self.angular_velocity + growth * (dt * S::from(0.5)),
                self.angular_velocity + growth * dt,
            );
        }
        match self.part(dt) {
            Some(motion) => motion,
            None => self.in_parts(dt),
        }
    }

    #[inline(never)]
    fn in_parts(&self, dt: S) -> (Vector3<S>, Vector3<S>) {
        let mut body = *self;
        let (mut left, mut way) = (dt, Vector3::zeros());
        let mut part = 1.0;
        for _ in 0..TOLERANCES.most_parts {
            let share = part * LARGEST_TURN / (length(&body.angular_velocity).value() * left.value());
            let length = if share < 1.0 { left * S::from(share) } else { left };
            let Some((mean, end)) = body.part(length) else {
                part *= 0.5;
                continue;
            };
            body.orientation = body.orientation.turned(&(mean * length));
            body.angular_velocity = end;
            way += mean * length;
            left -= length;
            if left.value() <= 0.0 {
                let turn = nearest_turn(&body.orientation.turn_from(&self.orientation), &way);
                return (turn / dt, body.angular_velocity);
            }
            part = 1.0;
        }
        // The rest as if it spun evenly: of so many turns the angular momentum alone is kept.
        let momentum = angular_momentum(&body.orientation, &self.inertia, &body.angular_velocity);
        let rest = body.angular_velocity * left;
        body.orientation = body.orientation.turned(&rest);
        let turn = nearest_turn(&body.orientation.turn_from(&self.orientation), &(way + rest));
        (turn / dt, spin(&body.orientation, &self.inertia, &momentum))
    }

    /// Half of what the torque does, the free rotation, the other half. Order 2, and the angular momentum is exact. Without
    /// torque the energy is kept to round-off too. None where the body turns too far for that.
    #[inline]
    fn part(&self, dt: S) -> Option<(Vector3<S>, Vector3<S>)> {
        let half = dt * S::from(0.5);
        let pushed = self.angular_velocity + self.growth_at(&self.orientation) * half;
        let momentum = angular_momentum(&self.orientation, &self.inertia, &pushed);
        let mean = self.orientation.to_world(&self.tumble(&self.orientation.to_body(&pushed), dt)?);
        let end = self.orientation.turned(&(mean * dt));
        Some((mean, spin(&end, &self.inertia, &momentum) + self.growth_at(&end) * half))
    }

    /// Mean angular velocity over `dt` of a body that nothing turns, in body components; none where the turn is too large
    /// to find it.
    ///
    /// `I (w - w0) + k w x I w = 0` makes `I (2 w - w0)` of `I w0` by the inverse of the Cayley transform of `2 k w`. With
    /// `k = tan(dt |w| / 2) / |w|` that is the turn `dt w`: angular momentum and energy are kept, and what spins evenly
    /// turns exactly. [Simo and Wong 1991, with `k = dt / 2`]
    ///
    /// How it changes follows from the equation at its solution.
    fn tumble(&self, start: &Vector3<S>, dt: S) -> Option<Vector3<S>> {
        let half = dt * S::from(0.5);
        let values = start.map(S::value);
        let size = values.dot(&values);
        if size * dt.value() * dt.value() > LARGEST_TURN * LARGEST_TURN {
            let growth = cross(start, &self.inertia.component_mul(start)).component_div(&self.inertia);
            return (start - growth * half == *start || self.is_spherical()).then_some(*start);
        }
        let inertia = self.inertia.map(S::value);
        let mean = tumble(&inertia, &values, half.value())?;
        let held = mean.map(S::from);
        let (sinc, cos) = sinc_cos(half * half * S::from(mean.dot(&mean)));
        let k = half * sinc / cos;
        let missing = self.inertia.component_mul(&(start - held))
            - cross(&held, &self.inertia.component_mul(&held)) * k;
        let slopes = || {
            let half = half.value();
            let square = Dual { value: half * half * mean.dot(&mean), tangent: 1.0 };
            let (sinc, cos) = sinc_cos(square);
            let growth = (sinc / cos).tangent * 2.0 * half * half * half;
            let turned = mean.cross(&inertia.component_mul(&mean)) * growth;
            let tangent = tangent(&inertia, &mean, k.value()) + turned * mean.transpose();
            tangent.try_inverse().unwrap_or_else(Matrix3::zeros).transpose().into()
        };
        Some(S::function(mean.into(), missing.into(), slopes).into())
    }

    /// No angular velocity over `dt` is larger.
    pub fn fastest(&self, dt: S) -> f64 {
        let acceleration = self.acceleration.map_or(0.0, |acceleration| length(&acceleration).value());
        if self.is_prescribed() {
            return length(&self.angular_velocity).value() + acceleration * dt.value();
        }
        let moments = || self.inertia.iter().map(|moment| moment.value());
        let momentum = angular_momentum(&self.orientation, &self.inertia, &self.angular_velocity);
        let torque = length(&self.torque).value() + acceleration * moments().fold(0.0, f64::max);
        let most = length(&momentum).value() + torque * dt.value();
        most / moments().fold(f64::INFINITY, f64::min)
    }

    /// Whether every axis is a principal one, up to round-off.
    fn is_spherical(&self) -> bool {
        let moments = self.inertia.map(|moment| moment.value());
        moments.max() - moments.min() <= 4.0 * f64::EPSILON * moments.max()
    }

    fn is_prescribed(&self) -> bool {
        self.inertia.iter().any(|moment| moment.value() == f64::INFINITY)
    }

    /// Angular acceleration of a body with the given orientation, but for that of Euler's equations.
    #[inline]
    fn growth_at(&self, orientation: &Orientation<S>) -> Vector3<S> {
        let growth = spin(orientation, &self.inertia, &self.torque);
        self.acceleration.map_or(growth, |acceleration| growth + acceleration)
    }
}

/// [`FreeRotation::tumble`] in values, over twice the time `half`.
fn tumble(inertia: &Vector3<f64>, start: &Vector3<f64>, half: f64) -> Option<Vector3<f64>> {
    let size = start.dot(start);
    let mut mean = start - start.cross(&inertia.component_mul(start)).component_div(inertia) * half;
    if mean == *start {
        return Some(mean);
    }
    for _ in 0..TOLERANCES.newton_steps {
        let momentum = inertia.component_mul(&mean);
        let square = mean.dot(&mean) * half * half;
        if square > LARGEST_TURN * LARGEST_TURN {
            return None;
        }
        let (sinc, cos) = sinc_cos(square);
        let k = half * sinc / cos;
        let missing = inertia.component_mul(&(start - mean)) - mean.cross(&momentum) * k;
        let change = solve(&tangent(inertia, &mean, k), &missing);
        let changed = change.dot(&change);
        if changed.is_nan() || changed > size {
            return None;
        }
        mean += change;
        if changed <= TOLERANCES.rounding * TOLERANCES.rounding * size {
            return Some(mean);
        }
    }
    None
}

/// How what the equation of [`tumble`] misses changes with the mean, where `k` is what it is.
fn tangent(inertia: &Vector3<f64>, mean: &Vector3<f64>, k: f64) -> Matrix3<f64> {
    let moments = Matrix3::from_diagonal(inertia);
    moments + (cross_matrix(mean) * moments - cross_matrix(&inertia.component_mul(mean))) * k
}

/// `cross_matrix(a) b = a x b`.
pub fn cross_matrix<S: Scalar>(a: &Vector3<S>) -> Matrix3<S> {
    let zero = S::zero();
    Matrix3::new(zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero)
}

/// Cramer's rule.
pub fn solve<S: Scalar>(matrix: &Matrix3<S>, right: &Vector3<S>) -> Vector3<S> {
    let [x, y, z] = [0, 1, 2].map(|column| Vector3::from(matrix.column(column)));
    let cross = y.cross(&z);
    Vector3::new(right.dot(&cross), x.dot(&right.cross(&z)), x.dot(&y.cross(right))) / x.dot(&cross)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> Vector3<f64> {
        Vector3::new(0.3, -0.7, 1.1)
    }

    #[test]
    fn a_turn_is_rodrigues_formula() {
        for size in [1e-9, 0.01, 0.04, 0.05, 1.0, 1.4, 1.6, 5.0, 50.0] {
            let turn = turn() * size;
            let (angle, axis) = (turn.norm(), turn.normalize());
            let vector = Vector3::new(0.2, 0.5, -0.4);
            let expected = vector * angle.cos()
                + axis.cross(&vector) * angle.sin()
                + axis * axis.dot(&vector) * (1.0 - angle.cos());
            let orientation = Orientation::from_turn(&turn);
            let tolerance = 2e-15 * angle.max(1.0);
            assert!((orientation.to_world(&vector) - expected).norm() < tolerance, "{size}");
            assert!((orientation.to_body(&expected) - vector).norm() < tolerance, "{size}");
            assert!((orientation.length() - 1.0).abs() < tolerance, "{size}");
        }
    }

    #[test]
    fn what_turns_moves_by_the_turn_about_its_mean() {
        let start = Vector3::new(0.2, 0.5, -0.4);
        for size in [0.0, 1e-9, 0.01, 1.0, 1.4, 1.6, 5.0, 50.0] {
            let turn = turn() * size;
            let [midway, end] =
                [0.5, 1.0].map(|part| Orientation::from_turn(&(turn * part)).to_world(&start));
            let moved = turn.cross(&mean_of_turning(&midway, &turn));
            assert!((end - start - moved).norm() < 1e-14 * size.max(0.1), "{size}");
        }
    }

    #[test]
    fn the_turn_between_orientations_is_found() {
        let from = Orientation::from_turn(&Vector3::new(0.4, 1.0, -2.0));
        for size in [0.0, 1e-9, 0.1, 1.0, 2.0] {
            let turn = turn() * size;
            assert!((from.turned(&turn).turn_from(&from) - turn).norm() < 1e-14 * size.max(0.1), "{size}");
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for turn in [f64::NAN, f64::INFINITY, 1e200] {
            assert!(!Orientation::from_turn(&Vector3::new(0.0, turn, 0.0)).length().is_finite());
        }
    }

    #[test]
    fn turns_follow_one_another() {
        let first = Orientation::from_turn(&turn());
        let next = Vector3::new(-0.2, 0.4, 0.9);
        let vector = Vector3::new(0.2, 0.5, -0.4);
        let expected = Orientation::from_turn(&next).to_world(&first.to_world(&vector));
        assert!((first.turned(&next).to_world(&vector) - expected).norm() < 1e-15);
        let in_body = first.turned_in_body(&first.to_body(&next));
        assert!((in_body.to_world(&vector) - expected).norm() < 1e-15);
    }

    /// A body that tumbles.
    fn tumbling(angular_velocity: Vector3<f64>) -> FreeRotation<f64> {
        FreeRotation {
            orientation: Orientation::from_turn(&turn()),
            angular_velocity,
            inertia: Vector3::new(0.01, 0.02, 0.026),
            torque: Vector3::zeros(),
            acceleration: None,
        }
    }

    #[test]
    fn free_rotation_keeps_angular_momentum_and_energy() {
        let mut body = tumbling(Vector3::new(3.0, -2.0, 4.0));
        let state = |body: &FreeRotation<f64>| {
            let momentum = angular_momentum(&body.orientation, &body.inertia, &body.angular_velocity);
            (momentum, 0.5 * momentum.dot(&body.angular_velocity))
        };
        for dt in [1e-3, 0.1, 0.2, 1.0, 10.0] {
            let (momentum, energy) = state(&body);
            for _ in 0..10_000 {
                let (mean, end) = body.over(dt);
                body.orientation = body.orientation.turned(&(mean * dt));
                body.angular_velocity = end;
            }
            let (momentum_then, energy_then) = state(&body);
            // Round-off of ten thousand turns, and of the parts that they are cut into.
            let (turned, gained) =
                ((momentum_then - momentum).norm() / momentum.norm(), energy_then / energy - 1.0);
            let most = 1e-11 * f64::max(1.0, 10.0 * dt);
            assert!(turned < most && gained.abs() < most, "{dt}: {turned:e}, {gained:e}");
        }
    }

    #[test]
    fn a_long_interval_is_cut() {
        let long = tumbling(Vector3::new(3.0, -2.0, 4.0));
        let (mean, end) = long.over(20.0);
        let energy = |body: &FreeRotation<f64>, spin: &Vector3<f64>| {
            angular_momentum(&body.orientation, &body.inertia, spin).dot(spin)
        };
        let after = FreeRotation { orientation: long.orientation.turned(&(mean * 20.0)), ..long };
        let change = energy(&after, &end) / energy(&long, &long.angular_velocity) - 1.0;
        assert!(change.abs() < 1e-12, "{change:e}");
        // A full turn more or less is the same orientation, but not the same mean.
        let ratio = mean.norm() / long.angular_velocity.norm();
        assert!(ratio > 0.5 && ratio < 1.5, "{ratio}");
        // Of a million turns the angular momentum is kept.
        let (mean, end) = long.over(1e6);
        let after = long.orientation.turned(&(mean * 1e6));
        let [before, after] = [(&long.orientation, &long.angular_velocity), (&after, &end)]
            .map(|(orientation, spin)| angular_momentum(orientation, &long.inertia, spin));
        assert!((after - before).norm() < 1e-8 * before.norm());
    }

    /// Half the step makes a quarter of the error.
    #[test]
    fn free_rotation_is_of_order_two() {
        let after = |steps: u32| {
            let mut body = tumbling(Vector3::new(3.0, -2.0, 4.0));
            body.torque = Vector3::new(0.1, 0.0, -0.05);
            let dt = 0.5 / f64::from(steps);
            for _ in 0..steps {
                let (mean, end) = body.over(dt);
                body.orientation = body.orientation.turned(&(mean * dt));
                body.angular_velocity = end;
            }
            body.orientation
        };
        let exact = after(20_000);
        let [coarse, fine] = [50, 100].map(|steps| after(steps).turn_from(&exact).norm());
        assert!((coarse / fine - 4.0).abs() < 0.1, "{coarse:e} {fine:e}");
    }

    #[test]
    fn what_spins_evenly_turns_exactly() {
        let mut body = tumbling(Vector3::zeros());
        body.angular_velocity = body.orientation.to_world(&Vector3::new(0.0, 7.0, 0.0));
        let (mean, end) = body.over(0.1);
        assert!((mean - body.angular_velocity).norm() < 1e-14 && (end - mean).norm() < 1e-14);
    }

    #[test]
    fn derivatives_of_a_turn_agree_with_finite_differences() {
        let vector = Vector3::new(0.2, 0.5, -0.4);
        for size in [0.0, 0.05, 1.0, 2.0] {
            for axis in 0..3 {
                let mut seeded = (turn() * size).map(Dual::from);
                seeded[axis].tangent = 1.0;
                let exact = Orientation::from_turn(&seeded).to_world(&vector.map(Dual::from));
                let shifted = |shift: f64| {
                    let mut turn = turn() * size;
                    turn[axis] += shift;
                    Orientation::from_turn(&turn).to_world(&vector)
                };
                let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                assert!((exact.map(|x| x.tangent) - difference).norm() < 1e-9, "{size}");
            }
        }
    }

    /// Derivatives that are written down are those of differences, in any direction.
    #[test]
    fn derivatives_of_rotations_are_those_of_differences() {
        fn numbers<S: Scalar>(x: [S; 14]) -> Vec<S> {
            let vector = |first: usize| Vector3::new(x[first], x[first + 1], x[first + 2]);
            let orientation = Orientation { wxyz: [x[0], x[1], x[2], x[3]] };
            let body = FreeRotation {
                orientation: orientation.normalized(),
                angular_velocity: vector(4),
                inertia: vector(7),
                torque: vector(10),
                acceleration: None,
            };
            let (mean, end) = body.over(x[13]);
            let turned = orientation.turned(&vector(4));
            let seen = [
                orientation.to_world(&vector(7)),
                orientation.to_body(&vector(10)),
                cross(&vector(4), &vector(7)),
                crate::engine::scalar::times(&cross_matrix(&vector(4)), &vector(10)),
                mean,
                end,
            ];
            let all = seen.iter().flat_map(|vector| vector.iter().copied()).chain(turned.wxyz);
            all.chain([dot(&vector(4), &vector(10))]).collect()
        }
        let at = [0.5, -0.3, 0.7, 0.4, 1.1, -0.6, 0.8, 0.9, 1.4, 2.0, 0.3, 0.2, -0.5, 0.4];
        let shift = 1e-6;
        for k in 0..at.len() {
            let of =
                |change: f64| numbers(std::array::from_fn(|i| if i == k { at[i] + change } else { at[i] }));
            let seeded = std::array::from_fn(|i| Dual { value: at[i], tangent: f64::from(u8::from(i == k)) });
            for ((number, plus), minus) in numbers(seeded).into_iter().zip(of(shift)).zip(of(-shift)) {
                let difference = (plus - minus) / (2.0 * shift);
                assert!(
                    (number.tangent - difference).abs() < 1e-8,
                    "{k}: {} and {difference}",
                    number.tangent
                );
            }
        }
    }
}
