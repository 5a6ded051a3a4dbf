//! STL, OBJ and heightfield files: refused, or a shape that bodies can touch.

use crate::{Entropy, damage};
use contact_fmu::engine::{self, Workspace};
use contact_fmu::model::file;
use contact_fmu::model::shape_file::{self, MAX_TRIANGLES, Use};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::with_prefix("shapes-").expect("a folder"));

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

const GRID: &str = "0 0.1 0.2 0.1\n0.1 0.3 0.2 0\n0 0 0.1 0.2\n";

const TETRAHEDRON: [[[f32; 3]; 3]; 4] = [
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

fn stl_text() -> String {
    let facets = TETRAHEDRON.map(|corners| {
        let lines = corners.map(|[x, y, z]| format!("vertex {x} {y} {z}\n")).concat();
        format!("facet normal 0 0 0\nouter loop\n{lines}endloop\nendfacet\n")
    });
    format!("solid t\n{}endsolid t\n", facets.concat())
}

fn stl_binary() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((TETRAHEDRON.len() as u32).to_le_bytes());
    for corners in TETRAHEDRON {
        bytes.extend([0; 12]);
        bytes.extend(corners.iter().flatten().flat_map(|place| place.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// One file.
pub fn run(entropy: &mut Entropy) {
    let (extension, known) = match entropy.below(4) {
        0 => ("obj", CUBE.as_bytes().to_vec()),
        1 => ("txt", GRID.as_bytes().to_vec()),
        2 => ("stl", stl_text().into_bytes()),
        _ => ("stl", stl_binary()),
    };
    let bytes = match String::from_utf8(known) {
        Ok(text) if !entropy.one_in(4) => {
            let times = entropy.below(6);
            let others = [CUBE, GRID];
            damage::text(entropy, &text, &others, times).into_bytes()
        }
        other => {
            let mut bytes = other.map_or_else(|error| error.into_bytes(), String::into_bytes);
            let times = entropy.below(8);
            damage::bytes(entropy, &mut bytes, times);
            bytes
        }
    };
    let path = path(extension);
    std::fs::write(&path, bytes).expect("the file is written");
    let purpose = match entropy.below(4) {
        0 => Use::Mesh { open: false },
        1 => Use::Mesh { open: true },
        2 if extension != "txt" => Use::Hull,
        _ => Use::Heights { cell: [0.5, 0.25] },
    };
    let scale = if entropy.one_in(4) { entropy.hostile_number() } else { 1.0 };
    match shape_file::read(&path, &purpose, scale) {
        Err(fault) => assert!(!fault.message.is_empty() && !fault.hint.is_empty()),
        Ok(mesh) => {
            assert!(mesh.triangles.len() <= MAX_TRIANGLES);
            assert!(mesh.corners.iter().flatten().all(|place| place.is_finite()));
            if matches!(purpose, Use::Hull) && scale == 1.0 {
                drop_it(extension);
            }
        }
    }
}

fn path(extension: &str) -> PathBuf {
    // Threads of one process do not share a file.
    let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_ascii_digit(), "");
    FOLDER.path().join(format!("shape{thread}.{extension}"))
}

/// Lets the hull fall on a plane.
fn drop_it(extension: &str) {
    let file = path(extension);
    let name = file.file_name().expect("a name").to_string_lossy();
    let text = format!(
        "[model]\nname = \"hull\"\n[engine]\nallow_initial_penetration = true\n[[node]]\nname = \"body\"\ncoupling = \"owned\"\nmass = 1\n\
         inertia = [0.1, 0.1, 0.1]\nshape.hull.file = \"{name}\"\nposition = [0, 0, 0.01]\n[[surface]]\nname = \"floor\"\n\
         shape.plane.normal = [0, 0, 1]\n[[contact]]\nbetween = [\"body\", \"floor\"]\nfriction.cone.mu = 0.3\n"
    );
    let Ok(model) = file::parse(&text, &FOLDER.path().join("model.toml").to_string_lossy()) else { return };
    let (system, mut state) = model.assemble();
    let mut workspace = Workspace::new(&system);
    for _ in 0..3 {
        if engine::advance(&system, &mut state, &mut workspace, 1e-3).is_err() {
            return;
        }
        assert!(state.is_finite());
    }
}
