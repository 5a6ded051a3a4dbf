//! What checks of gap functions know of solids: their support functions, and the distance by them.

#![cfg(test)]

use super::Pose;
use super::solids::{Ball, Capsule, Cuboid, Cylinder, Disc};
use crate::engine::math::rotation::Orientation;
use nalgebra::{Matrix3, Vector3};

/// Numbers between -1 and 1 that look random. [Marsaglia 2003]
pub struct Numbers(pub u64);

impl Numbers {
    pub fn new() -> Numbers {
        Numbers(0x9e37_79b9_7f4a_7c15)
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next())
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let vector = self.vector();
            if (0.1..1.0).contains(&vector.norm()) {
                return vector.normalize();
            }
        }
    }

    /// A length of a part of a solid.
    pub fn length(&mut self) -> f64 {
        0.6 + 0.5 * self.next()
    }

    pub fn pose(&mut self) -> Pose<f64> {
        Pose { position: self.vector() * 1.5, orientation: Orientation::from_turn(&(self.vector() * 4.0)) }
    }
}

/// A solid seen from outside.
pub trait Solid: Sized {
    /// The point of the core that is farthest in a direction, in body components.
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64>;
    /// How far the solid reaches around its core.
    fn margin(&self) -> f64;
    /// Unit vector along the axis of a round solid.
    fn axis(&self) -> Vector3<f64> {
        Vector3::z()
    }
    fn random(numbers: &mut Numbers) -> Self;
    /// The mirror image in the plane `x = 0`.
    fn mirrored(&self) -> Self;
    fn scaled(&self, scale: f64) -> Self;
}

pub fn mirror(vector: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(-vector[0], vector[1], vector[2])
}

fn signed(vector: &Vector3<f64>, direction: &Vector3<f64>) -> Vector3<f64> {
    if vector.dot(direction) < 0.0 { -vector } else { *vector }
}

fn rim(axis: &Vector3<f64>, radius: f64, direction: &Vector3<f64>) -> Vector3<f64> {
    let across = |vector: Vector3<f64>| (vector - axis * axis.dot(&vector)).try_normalize(1e-14);
    // Twice, because little is left of a direction along the axis but round-off.
    across(*direction).and_then(across).map_or(Vector3::zeros(), |across| across * radius)
}

impl Solid for Ball {
    fn farthest(&self, _: &Vector3<f64>) -> Vector3<f64> {
        Vector3::zeros()
    }
    fn margin(&self) -> f64 {
        self.radius
    }
    fn random(numbers: &mut Numbers) -> Ball {
        Ball { radius: numbers.length() }
    }
    fn mirrored(&self) -> Ball {
        *self
    }
    fn scaled(&self, scale: f64) -> Ball {
        Ball { radius: self.radius * scale }
    }
}

impl Solid for Cuboid {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.half.zip_map(direction, f64::copysign)
    }
    fn margin(&self) -> f64 {
        0.0
    }
    fn random(numbers: &mut Numbers) -> Cuboid {
        Cuboid { half: Vector3::from_fn(|_, _| numbers.length()) }
    }
    fn mirrored(&self) -> Cuboid {
        *self
    }
    fn scaled(&self, scale: f64) -> Cuboid {
        Cuboid { half: self.half * scale }
    }
}

impl Solid for Capsule {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        signed(&self.half_axis, direction)
    }
    fn margin(&self) -> f64 {
        self.radius
    }
    fn axis(&self) -> Vector3<f64> {
        self.half_axis.normalize()
    }
    fn random(numbers: &mut Numbers) -> Capsule {
        Capsule { half_axis: numbers.direction() * numbers.length(), radius: 0.5 * numbers.length() }
    }
    fn mirrored(&self) -> Capsule {
        Capsule { half_axis: mirror(&self.half_axis), ..*self }
    }
    fn scaled(&self, scale: f64) -> Capsule {
        Capsule { half_axis: self.half_axis * scale, radius: self.radius * scale }
    }
}

impl Solid for Cylinder {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        signed(&self.half_axis, direction) + rim(&self.axis(), self.radius, direction)
    }
    fn margin(&self) -> f64 {
        0.0
    }
    fn axis(&self) -> Vector3<f64> {
        self.half_axis.normalize()
    }
    fn random(numbers: &mut Numbers) -> Cylinder {
        Cylinder { half_axis: numbers.direction() * numbers.length(), radius: numbers.length() }
    }
    fn mirrored(&self) -> Cylinder {
        Cylinder { half_axis: mirror(&self.half_axis), ..*self }
    }
    fn scaled(&self, scale: f64) -> Cylinder {
        Cylinder { half_axis: self.half_axis * scale, radius: self.radius * scale }
    }
}

impl Solid for Disc {
    fn farthest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        rim(&self.axis, self.radius, direction)
    }
    fn margin(&self) -> f64 {
        0.0
    }
    fn axis(&self) -> Vector3<f64> {
        self.axis
    }
    fn random(numbers: &mut Numbers) -> Disc {
        Disc { radius: numbers.length(), axis: numbers.direction() }
    }
    fn mirrored(&self) -> Disc {
        Disc { axis: mirror(&self.axis), ..*self }
    }
    fn scaled(&self, scale: f64) -> Disc {
        Disc { radius: self.radius * scale, ..*self }
    }
}

pub fn place(solid: &impl Solid, pose: &Pose<f64>, direction: &Vector3<f64>) -> Vector3<f64> {
    pose.position + pose.orientation.to_world(&solid.farthest(&pose.orientation.to_body(direction)))
}

/// The point of a convex set nearest to the origin; `farthest` is the support function of the set.
pub fn least_norm(farthest: &mut impl FnMut(&Vector3<f64>) -> Vector3<f64>) -> Vector3<f64> {
    let mut nearest = farthest(&Vector3::x());
    let mut corners = vec![nearest];
    for _ in 0..300 {
        let square = nearest.norm_squared();
        let corner = farthest(&-nearest);
        if square < 1e-24 || square - nearest.dot(&corner) < 1e-13 * square {
            break;
        }
        // The nearest point itself is kept: progress then does not depend on the accuracy of the weights.
        corners.retain(|other| *other != corner);
        corners.push(corner);
        let (point, used) = least_of_simplex(&corners);
        if point.norm_squared() < square {
            (nearest, corners) = (point, used);
        } else {
            corners = vec![nearest, corner];
            (nearest, _) = least_of_simplex(&corners);
        }
    }
    nearest
}

/// The point of least norm of the hull of up to four corners, and the corners of the face that it is in.
fn least_of_simplex(corners: &[Vector3<f64>]) -> (Vector3<f64>, Vec<Vector3<f64>>) {
    assert!(corners.len() <= 4);
    let mut best = (corners[0], vec![corners[0]]);
    for subset in 1_usize..1 << corners.len() {
        let face: Vec<_> = (0..corners.len()).filter(|k| subset >> k & 1 == 1).map(|k| corners[k]).collect();
        let sides: Vec<_> = face[1..].iter().map(|corner| corner - face[0]).collect();
        // Unused rows of the normal equations are those of the identity.
        let gram = Matrix3::from_fn(|i, j| match (sides.get(i), sides.get(j)) {
            (Some(one), Some(other)) => one.dot(other),
            _ => f64::from(i == j),
        });
        let right = Vector3::from_fn(|i, _| sides.get(i).map_or(0.0, |side| -side.dot(&face[0])));
        let Some(weights) = gram.lu().solve(&right) else { continue };
        if !(weights.iter().all(|&w| w >= 0.0) && weights.sum() <= 1.0) {
            continue;
        }
        let point = sides.iter().zip(weights.iter()).fold(face[0], |point, (side, &w)| point + side * w);
        if point.norm_squared() < best.0.norm_squared() {
            best = (point, face);
        }
    }
    if best.1.len() == 4 {
        best.1 = vec![best.0];
    }
    best
}
