//! How points turn with one another: those whose distances stay as they are belong to one body, and how they respond to
//! forces turns with it.
//!
//! Displacements u over a window between places of mean d from their centre are those of a turn by the vector `2 tan(phi/2)`
//! about its axis, `u = turn x d` [Cayley 1846]. It is found by least squares; points on a line turn across it only.

use super::operator::{FADING, MOST_ROWS};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Most points.
const MOST: usize = MOST_ROWS / 3;
/// What is known of how points turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turning {
    /// Places of the points at the end of the last window, and whether there was one.
    places: Vec<[f64; 3]>,
    seen: bool,
    /// By pair of points: part of their motion against one another by which they came nearer, largest of late; less than a
    /// thousandth in a rigid body, which masters move with tolerances.
    nearing: Vec<f64>,
    /// Angular velocities at the end of the last window.
    pub spins: Vec<[f64; 3]>,
}

impl Turning {
    /// Of so many points, of which nothing is known.
    pub fn new(points: usize) -> Turning {
        Turning {
            places: vec![[0.0; 3]; points],
            seen: false,
            nearing: vec![0.0; points * points],
            spins: vec![[0.0; 3]; points],
        }
    }

    /// Without allocation where sizes agree.
    pub fn copy_from(&mut self, source: &Turning) {
        self.places.clone_from(&source.places);
        self.seen = source.seen;
        self.nearing.clone_from(&source.nearing);
        self.spins.clone_from(&source.spins);
    }

    /// Whether all lists have the size for so many points.
    pub fn has_size(&self, points: usize) -> bool {
        self.places.len() == points && self.nearing.len() == points * points && self.spins.len() == points
    }

    /// Takes places and velocities at the end of a window. Returns the rotations over it, by point.
    pub fn see(
        &mut self,
        place: impl Fn(usize, usize) -> f64,
        velocity: impl Fn(usize, usize) -> f64,
    ) -> [Matrix3<f64>; MOST] {
        let count = self.places.len();
        let mut rotations = [Matrix3::identity(); MOST];
        let [mut means, mut moves, mut ends, mut velocities] = [[Vector3::zeros(); MOST]; 4];
        for point in 0..count {
            ends[point] = Vector3::from_fn(|axis, _| place(point, axis));
            let before = if self.seen { Vector3::from(self.places[point]) } else { ends[point] };
            velocities[point] = Vector3::from_fn(|axis, _| velocity(point, axis));
            moves[point] = ends[point] - before;
            means[point] = (ends[point] + before) * 0.5;
            self.places[point] = ends[point].into();
        }
        self.seen = true;
        for one in 0..count {
            for other in 0..one {
                let (line, moved) = (means[one] - means[other], moves[one] - moves[other]);
                let most = line.norm() * moved.norm();
                let rounding = f64::EPSILON * (ends[one].norm() + ends[other].norm()) * line.norm();
                let nearing = &mut self.nearing[one * count + other];
                *nearing *= FADING;
                if most * TOLERANCES.slight > rounding {
                    *nearing = nearing.max(line.dot(&moved).abs() / most);
                }
            }
        }
        let mut taken = [false; MOST];
        self.spins.fill([0.0; 3]);
        for first in 0..count {
            if taken[first] {
                continue;
            }
            let mut body = [first; MOST];
            let mut size = 1;
            for (point, taken) in taken.iter_mut().enumerate().take(count).skip(first + 1) {
                let is_rigid = |&other: &usize| self.nearing[point * count + other] < TOLERANCES.slight;
                if !*taken && body[..size].iter().all(is_rigid) {
                    body[size] = point;
                    size += 1;
                    *taken = true;
                }
            }
            let body = &body[..size];
            let half = turn(body, &means, &moves) * 0.5;
            let spin = turn(body, &ends, &velocities);
            let cross = half.cross_matrix();
            let twice = (cross + cross * cross) * (2.0 / (1.0 + half.norm_squared()));
            for &point in body {
                rotations[point] += twice;
                self.spins[point] = spin.into();
            }
        }
        rotations
    }
}

/// The vector whose cross products with places from their centre come nearest to moves against the mean one.
fn turn(body: &[usize], places: &[Vector3<f64>], moves: &[Vector3<f64>]) -> Vector3<f64> {
    let mean =
        |of: &[Vector3<f64>]| body.iter().map(|&point| of[point]).sum::<Vector3<f64>>() / body.len() as f64;
    let (centre, moved) = (mean(places), mean(moves));
    let (mut gyration, mut sum) = (Matrix3::zeros(), Vector3::zeros());
    for &point in body {
        let (arm, moves) = (places[point] - centre, moves[point] - moved);
        gyration += Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
        sum += arm.cross(&moves);
    }
    let least = f64::EPSILON.sqrt() * gyration.trace();
    (gyration + Matrix3::identity() * least)
        .try_inverse()
        .map_or_else(Vector3::zeros, |inverse| inverse * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    /// Four points of a body that turns about a fixed axis, and one that rises from it.
    #[test]
    fn points_of_a_body_turn_with_it() {
        let axis = Vector3::new(1.0, -2.0, 0.5).normalize();
        let (spin, length) = (4.0, 1e-3);
        let arms = [[0.4, 0.3, -0.35], [0.4, -0.3, -0.35], [-0.4, 0.3, -0.35], [-0.4, -0.3, -0.35]];
        let motion = |window: i32, point: usize| {
            let turned = Rotation3::new(axis * (spin * length * f64::from(window)));
            let rising = if point == 4 { f64::from(window) * length } else { 0.0 };
            let arm = turned * Vector3::from(*arms.get(point).unwrap_or(&[0.0, 0.5, 1.0]));
            (arm * (1.0 + rising), axis.cross(&arm) * (spin * (1.0 + rising)) + arm * f64::from(point == 4))
        };
        let mut turning = Turning::new(5);
        let mut rotations = [Matrix3::identity(); MOST];
        for window in 0..3 {
            let at = |point: usize| motion(window, point);
            rotations = turning.see(|point, k| at(point).0[k], |point, k| at(point).1[k]);
        }
        let exact = Rotation3::new(axis * (spin * length));
        for (rotation, &found) in rotations.iter().zip(&turning.spins).take(4) {
            assert!((rotation - exact.matrix()).norm() < 1e-9);
            assert!((Vector3::from(found) - axis * spin).norm() < 1e-6);
        }
        assert_eq!((rotations[4], turning.spins[4]), (Matrix3::identity(), [0.0; 3]));
    }
}
