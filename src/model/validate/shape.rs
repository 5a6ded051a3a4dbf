//! Shapes from files: each file is read once for each use.

use super::Validator;
use crate::model::diagnostics::Problem;
use crate::model::shape_file::{self, FileFault, Use};
use crate::model::{SurfaceShape, TriangleMesh};
use toml::Spanned;

/// What has been read.
#[derive(Default)]
pub(super) struct Shapes {
    read: Vec<Read>,
}

struct Read {
    file: String,
    purpose: Use,
    scale: f64,
    /// None where it could not be read, which has been told.
    mesh: Option<TriangleMesh>,
}

impl Shapes {
    /// The meshes that have been read, in the order of their numbers.
    pub fn meshes(&mut self) -> Vec<TriangleMesh> {
        self.read.iter_mut().filter_map(|read| read.mesh.take()).collect()
    }
}

impl Validator<'_> {
    /// The number of the mesh that a file stands for; none where it cannot be read, which is a problem.
    pub(super) fn shape_of_file(
        &mut self,
        file: &Spanned<String>,
        purpose: Use,
        scale: f64,
    ) -> Option<usize> {
        let name = file.get_ref();
        let is_same = |read: &Read| read.file == *name && read.purpose == purpose && read.scale == scale;
        let place = self.shapes.read.iter().position(is_same).unwrap_or_else(|| {
            let heights = matches!(purpose, Use::Heights { .. });
            let mesh = match shape_file::read(&shape_file::path(&self.folder, name), &purpose, scale) {
                Ok(mesh) => Some(mesh),
                Err(FileFault { message, hint }) => {
                    let kind = if heights { "heightfield" } else { "shape" };
                    let problem = Problem::at(file.span(), format!("the {kind} file `{name}` {message}"));
                    self.problems.push(problem.hint(hint));
                    None
                }
            };
            self.shapes.read.push(Read { file: name.clone(), purpose, scale, mesh });
            self.shapes.read.len() - 1
        });
        let read = &self.shapes.read[..=place];
        read[place].mesh.as_ref()?;
        Some(read[..place].iter().filter(|read| read.mesh.is_some()).count())
    }

    pub(super) fn mesh_surface(&mut self, file: &Spanned<String>, purpose: Use, scale: f64) -> SurfaceShape {
        match self.shape_of_file(file, purpose, scale) {
            Some(mesh) => SurfaceShape::Mesh { mesh },
            // Told already: what the surface is instead does not matter.
            None => SurfaceShape::Sphere { radius: 0.0 },
        }
    }
}
