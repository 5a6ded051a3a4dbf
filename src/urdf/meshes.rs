//! Meshes that links name: where their files are, and the convex hulls of what is in them.

use crate::model::TriangleMesh;
use crate::model::shape_file::{self, FileFault};
use std::path::{Path, PathBuf};

/// Where files are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Meshes<'a> {
    /// Folder of the robot's file.
    pub folder: &'a Path,
    /// Folders of packages.
    pub packages: &'a [PathBuf],
}

impl Meshes<'_> {
    /// The convex hull of a mesh, with factors along its axes.
    pub fn hull(&self, address: &str, scale: [f64; 3]) -> Result<TriangleMesh, FileFault> {
        let path = self.path(address).ok_or_else(|| FileFault {
            message: "cannot be found".to_owned(),
            hint: "meshes are looked for beside the robot and, as package://NAME/..., in folders NAME beside and above it and in those of --packages".to_owned(),
        })?;
        shape_file::hull_of_file(&path, scale)
    }

    fn path(&self, address: &str) -> Option<PathBuf> {
        let plain = address.strip_prefix("file://").unwrap_or(address);
        let Some(inside) = ["package://", "model://"].iter().find_map(|scheme| address.strip_prefix(scheme))
        else {
            return Some(self.folder.join(plain)).filter(|path| path.is_file());
        };
        let (package, rest) = inside.split_once('/')?;
        let folder = self.folder.canonicalize().ok()?;
        let own = folder.ancestors().flat_map(|above| {
            let is_it = above.file_name().is_some_and(|name| name == package);
            [Some(above.join(package)), is_it.then(|| above.to_owned())].into_iter().flatten()
        });
        let given = self.packages.iter().map(|folder| folder.join(package));
        own.chain(given).map(|folder| folder.join(rest)).find(|path| path.is_file())
    }
}
