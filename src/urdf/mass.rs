//! Mass, centre of mass and inertia: sums, principal axes, solids.

use super::robot::Geometry;
use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion, Vector3};

/// Off-diagonal parts of a tensor, over its largest moment, that are round-off.
const ROUND_OFF: f64 = 1e-12;
/// By how much a moment may exceed the sum of the others: flat bodies, rounded.
const FLAT: f64 = 1e-6;

/// How mass is distributed, in world components.
#[derive(Clone, Copy, Debug)]
pub struct Mass {
    /// Mass.
    pub mass: f64,
    /// Centre of mass.
    pub centre: Vector3<f64>,
    /// Tensor about it.
    pub tensor: Matrix3<f64>,
}

impl Mass {
    /// Nothing.
    pub fn none() -> Mass {
        Mass { mass: 0.0, centre: Vector3::zeros(), tensor: Matrix3::zeros() }
    }

    /// A tensor about the origin of a frame.
    pub fn placed(mass: f64, tensor: &Matrix3<f64>, at: &Isometry3<f64>) -> Mass {
        let rotation = at.rotation.to_rotation_matrix();
        let tensor = rotation.matrix() * tensor * rotation.matrix().transpose();
        Mass { mass, centre: at.translation.vector, tensor }
    }

    /// Both together.
    pub fn with(&self, other: &Mass) -> Mass {
        self.combined(other, 1.0)
    }

    /// What is left without a part.
    pub fn without(&self, part: &Mass) -> Mass {
        self.combined(part, -1.0)
    }

    fn combined(&self, other: &Mass, sign: f64) -> Mass {
        let mass = self.mass + sign * other.mass;
        if mass == 0.0 {
            return Mass::none();
        }
        let centre = (self.centre * self.mass + other.centre * (sign * other.mass)) / mass;
        let about = |part: &Mass| part.tensor + shifted(part.mass, &(part.centre - centre));
        Mass { mass, centre, tensor: about(self) + about(other) * sign }
    }

    /// Principal moments along the axes of a frame, if the tensor has them there.
    pub fn moments_along(&self, axes: &UnitQuaternion<f64>) -> Option<Vector3<f64>> {
        let rotation = axes.to_rotation_matrix();
        let tensor = rotation.matrix().transpose() * self.tensor * rotation.matrix();
        let diagonal = tensor.diagonal();
        let off = (tensor - Matrix3::from_diagonal(&diagonal)).amax();
        (off <= ROUND_OFF * diagonal.amax()).then_some(diagonal)
    }

    /// A frame of principal axes, and the moments along them.
    pub fn principal(&self) -> (UnitQuaternion<f64>, Vector3<f64>) {
        let found = self.tensor.symmetric_eigen();
        let mut axes = found.eigenvectors;
        if axes.determinant() < 0.0 {
            axes.column_mut(2).neg_mut();
        }
        let rotation = Rotation3::from_matrix_unchecked(axes);
        (UnitQuaternion::from_rotation_matrix(&rotation), found.eigenvalues)
    }

    /// Whether a body can have its mass so distributed.
    pub fn is_possible(&self) -> bool {
        let (_, moments) = self.principal();
        self.mass > 0.0 && moments.min() > 0.0 && 2.0 * moments.max() <= moments.sum() * (1.0 + FLAT)
    }
}

/// Tensor of a point mass at an offset.
fn shifted(mass: f64, offset: &Vector3<f64>) -> Matrix3<f64> {
    (Matrix3::identity() * offset.norm_squared() - offset * offset.transpose()) * mass
}

/// Moments of inertia of a solid of mass 1 about the axes of its frame; of a mesh those of the box of its size.
pub fn unit_moments(geometry: &Geometry, mesh_size: [f64; 3]) -> Matrix3<f64> {
    let cuboid = |[x, y, z]: [f64; 3]| Vector3::new(y * y + z * z, x * x + z * z, x * x + y * y) / 12.0;
    let moments = match *geometry {
        Geometry::Box(size) => cuboid(size),
        Geometry::Sphere(radius) => Vector3::from_element(0.4 * radius * radius),
        Geometry::Cylinder(radius, length) | Geometry::Capsule(radius, length) => {
            let across = radius * radius / 4.0 + length * length / 12.0;
            Vector3::new(across, across, radius * radius / 2.0)
        }
        Geometry::Mesh { .. } => cuboid(mesh_size),
    };
    Matrix3::from_diagonal(&moments)
}
