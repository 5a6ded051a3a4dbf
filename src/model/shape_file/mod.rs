//! Shapes from files: triangles in STL and OBJ, heights as a grid of numbers.
//!
//! Nothing in a file is believed before it is seen: numbers of triangles in a header do not reserve memory, and every
//! fault is told with its place.

mod grid;
mod hull;
mod obj;
mod stl;

use super::TriangleMesh;
use crate::engine::geometry::polyhedron::{Fault, Polyhedron};
use hull::NoHull;
use nalgebra::Vector3;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest file of a shape that is read.
pub const MAX_BYTES: u64 = 256 << 20;
/// Most triangles of a shape.
pub const MAX_TRIANGLES: usize = 500_000;

/// Farthest corner of a shape: products of three lengths stay numbers.
const FARTHEST: f64 = 1e9;

/// What is wrong, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub struct FileFault {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl FileFault {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> FileFault {
        FileFault { message: message.into(), hint: hint.into() }
    }
}

/// What a file is to become.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// The convex hull of its corners.
    Hull,
    /// The triangles as they are.
    Mesh {
        /// Whether it may have ends.
        open: bool,
    },
    /// A grid of heights.
    Heights {
        /// Distance of neighbours along x and y.
        cell: [f64; 2],
    },
}

/// Triangles as read, with one entry for each place.
#[derive(Clone, Debug, Default, PartialEq)]
struct Raw {
    corners: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Raw {
    fn push(&mut self, triangle: [u32; 3]) -> Result<(), FileFault> {
        let [a, b, c] = triangle;
        // One that was drawn to a line or a point leaves no gap.
        if a != b && b != c && c != a {
            self.triangles.push(triangle);
        }
        if self.triangles.len() > MAX_TRIANGLES {
            return Err(too_many());
        }
        Ok(())
    }
}

fn too_many() -> FileFault {
    FileFault::new(
        format!("has more than {MAX_TRIANGLES} triangles"),
        "simplify it with a mesh editor: contact does not need what is smaller than the bodies",
    )
}

/// The path of a file that a model in `folder` names.
pub fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

/// The shape in a file; its lengths are multiplied by `scale`.
pub fn read(path: &Path, purpose: &Use, scale: f64) -> Result<TriangleMesh, FileFault> {
    let bytes = read_bytes(path)?;
    let mut mesh = match purpose {
        Use::Heights { cell } => grid::read(&bytes, *cell)?,
        Use::Hull | Use::Mesh { .. } => read_triangles(path, &bytes)?,
    };
    let is_grid = matches!(purpose, Use::Heights { .. });
    for corner in &mut mesh.corners {
        for place in corner.iter_mut().skip(if is_grid { 2 } else { 0 }) {
            *place *= scale;
        }
        if !corner.iter().all(|place| place.abs() <= FARTHEST) {
            return Err(FileFault::new(
                format!("has corners farther than {FARTHEST:e} m from its origin"),
                "lengths are in m: choose a smaller `scale` or `cell`",
            ));
        }
    }
    match purpose {
        Use::Hull => hull_of(mesh),
        Use::Mesh { open } => {
            let surface = surface(&mesh)?;
            if !surface.is_closed() && !open {
                return Err(is_open(
                    &surface,
                    "close it in a mesh editor, or write `open = true`: what is behind it is solid then",
                ));
            }
            Ok(mesh.into())
        }
        Use::Heights { .. } => {
            surface(&mesh)?;
            Ok(mesh.into())
        }
    }
}

/// The convex hull of the corners in a file, with factors along its axes, whether its triangles make a surface or not.
pub fn hull_of_file(path: &Path, scale: [f64; 3]) -> Result<TriangleMesh, FileFault> {
    let corners = read_triangles(path, &read_bytes(path)?)?.corners;
    let corners: Vec<[f64; 3]> =
        corners.into_iter().map(|corner| [0, 1, 2].map(|axis| corner[axis] * scale[axis])).collect();
    if !corners.iter().flatten().all(|place| place.abs() <= FARTHEST) {
        return Err(FileFault::new(
            format!("has corners farther than {FARTHEST:e} m from its origin"),
            "lengths are in m: choose a smaller `scale`",
        ));
    }
    hull_of(Raw { corners, triangles: Vec::new() })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, FileFault> {
    let mut bytes = Vec::new();
    let open = || match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        // A pipe would wait for somebody to write.
        false => Err(std::io::Error::other("it is not a file")),
    };
    open().and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| {
        FileFault::new(
            format!("cannot be read: {error}"),
            format!("files are looked for beside the model file: {}", path.display()),
        )
    })?;
    if bytes.is_empty() {
        return Err(FileFault::new("is empty", "export the shape again"));
    }
    if bytes.len() as u64 > MAX_BYTES {
        let limit = MAX_BYTES >> 20;
        return Err(FileFault::new(format!("is larger than {limit} MiB"), "simplify the shape"));
    }
    Ok(bytes)
}

fn read_triangles(path: &Path, bytes: &[u8]) -> Result<Raw, FileFault> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "stl" => stl::read(bytes),
        "obj" => obj::read(bytes),
        _ => Err(FileFault::new(
            "is neither an STL nor an OBJ file by its name",
            "export the shape as .stl (text or binary) or .obj",
        )),
    }
}

/// The convex hull of the corners of a closed mesh, or of points.
fn hull_of(mesh: Raw) -> Result<TriangleMesh, FileFault> {
    if !mesh.triangles.is_empty() {
        let surface = surface(&mesh)?;
        if !surface.is_closed() {
            return Err(is_open(
                &surface,
                "close it in a mesh editor, or write its corners alone, as `v` lines of an OBJ file",
            ));
        }
    }
    hull::hull(&mesh.corners).map_err(|fault| match fault {
        NoHull::Flat => FileFault::new(
            "has all its points in one plane: their hull has no volume",
            "a hull needs four points that are not in one plane",
        ),
        NoHull::TooFine => FileFault::new(
            format!("has a hull with more than {} corners", hull::MAX_CORNERS),
            "simplify it with a mesh editor: a hull works best with some tens of corners",
        ),
    })
}

fn is_open(surface: &Polyhedron, hint: &str) -> FileFault {
    let at = surface.edges.iter().find(|crease| crease.is_open).map_or_else(String::new, |crease| {
        let edge = &crease.edge;
        format!(", one at {}", place(&(edge.start + edge.along * (0.5 * edge.length))))
    });
    let count = surface.open_edges;
    let edges = if count == 1 { "edge belongs" } else { "edges belong" };
    FileFault::new(format!("is not closed: {count} {edges} to one triangle only{at}"), hint)
}

/// The surface of the triangles, if they make one.
fn surface(mesh: &Raw) -> Result<Polyhedron, FileFault> {
    let corners: Vec<_> = mesh.corners.iter().map(|&corner| Vector3::from(corner)).collect();
    let middle = |triangle: usize| {
        let sum: Vector3<f64> =
            mesh.triangles[triangle].iter().map(|&corner| Vector3::from(mesh.corners[corner as usize])).sum();
        place(&(sum / 3.0))
    };
    Polyhedron::new(corners, &mesh.triangles).map_err(|fault| match fault {
        Fault::Empty => FileFault::new("has no triangles", "export the shape as a mesh of triangles"),
        Fault::NoCorner(triangle) => FileFault::new(
            format!("has a triangle (number {}) with a corner that there is not", triangle + 1),
            "export the shape again",
        ),
        Fault::Flat(triangle) => FileFault::new(
            format!("has a triangle without area at {}", middle(triangle)),
            "remove it in a mesh editor (degenerate faces)",
        ),
        Fault::Branching([one, _]) => FileFault::new(
            format!("has an edge that more than two triangles share, at {}", middle(one)),
            "make it manifold in a mesh editor: solids that touch along an edge belong in files of their own",
        ),
        Fault::InsideOut([one, other]) => FileFault::new(
            format!(
                "has neighbouring triangles that do not agree on which side is out, at {} and {}",
                middle(one),
                middle(other)
            ),
            "make the normals consistent in a mesh editor",
        ),
    })
}

/// A place for messages.
fn place(place: &Vector3<f64>) -> String {
    let numbers = place.iter().map(|x| format!("{}", format!("{x:.4e}").parse::<f64>().unwrap_or(*x)));
    format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
}

impl From<Raw> for TriangleMesh {
    fn from(mesh: Raw) -> TriangleMesh {
        TriangleMesh { corners: mesh.corners, triangles: mesh.triangles }
    }
}

/// A number of a text file that must be finite.
fn number(text: &str, line: usize) -> Result<f64, FileFault> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(FileFault::new(
            format!("has a number that is not finite on line {line}: {text}"),
            "export the shape again",
        )),
        Err(_) => Err(FileFault::new(
            format!("has something else than a number on line {line}: {}", shortened(text)),
            "export the shape again; decimals are written with a point",
        )),
    }
}

/// What a file holds that is of another kind, for messages.
fn shortened(text: &str) -> String {
    let start: String = text.chars().take(20).map(|c| if c.is_control() { '?' } else { c }).collect();
    if start.len() < text.len() { format!("`{start}...`") } else { format!("`{start}`") }
}
