//! Shapes from files: what they become, and every kind of bad file with its message.

#![cfg(feature = "cli")]

use contact_fmu::model::{Model, NodeShape, SurfaceShape, file, packed};
use std::fs;

/// A model with a shape, beside files.
fn parse(files: &[(&str, &[u8])], node: &str, surface: &str) -> Result<Model, String> {
    parse_with(files, node, surface, "")
}

/// The same with more entries.
fn parse_with(files: &[(&str, &[u8])], node: &str, surface: &str, more: &str) -> Result<Model, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let source = format!(
        r#"[model]
name = "shapes"

[[node]]
name = "body"
coupling = "owned"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
shape.{node}
position = [0.0, 0.0, 5.0]

[[surface]]
name = "floor"
shape.{surface}

[[contact]]
between = ["body", "floor"]
{more}"#
    );
    let path = folder.path().join("m.toml");
    fs::write(&path, source).unwrap();
    file::read(&path).map(|read| read.model).map_err(|error| error.to_string())
}

const PLANE: &str = "plane.normal = [0.0, 0.0, 1.0]";
const BALL: &str = "sphere.radius = 0.1";

fn hull(name: &str, bytes: &[u8]) -> Result<Model, String> {
    parse(&[(name, bytes)], &format!("hull.file = \"{name}\""), PLANE)
}

fn mesh(name: &str, bytes: &[u8]) -> Result<Model, String> {
    parse(&[(name, bytes)], BALL, &format!("mesh.file = \"{name}\""))
}

fn heights(bytes: &[u8]) -> Result<Model, String> {
    parse(&[("t.txt", bytes)], BALL, "heightfield = { file = \"t.txt\", cell = [0.5, 0.25] }")
}

/// The message names the file and says what is wrong and what to do.
fn refused(result: Result<Model, String>, name: &str, wrong: &str, hint: &str) {
    let error = result.err().unwrap_or_else(|| panic!("accepted: {wrong}"));
    assert!(error.contains(&format!("file `{name}` {wrong}")), "{error}");
    assert!(error.contains(&format!("hint: {hint}")), "{error}");
    assert!(error.contains("m.toml:"), "it has a place: {error}");
}

const TETRAHEDRON: [[[f32; 3]; 3]; 4] = {
    const A: [f32; 3] = [0.0, 0.0, 0.0];
    const B: [f32; 3] = [1.0, 0.0, 0.0];
    const C: [f32; 3] = [0.0, 1.0, 0.0];
    const D: [f32; 3] = [0.0, 0.0, 1.0];
    [[A, C, B], [A, B, D], [B, C, D], [C, A, D]]
};

fn binary(facets: &[[[f32; 3]; 3]]) -> Vec<u8> {
    // As some programs write it: with the word that text files start with.
    let mut bytes = b"solid made in binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((facets.len() as u32).to_le_bytes());
    for facet in facets {
        bytes.extend([0; 12]);
        bytes.extend(facet.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn text(facets: &[[[f32; 3]; 3]]) -> String {
    let mut text = String::from("solid tetrahedron\n");
    for facet in facets {
        text.push_str("  facet normal 0 0 0\n    outer loop\n");
        for [x, y, z] in facet {
            text.push_str(&format!("      vertex {x:e} {y:e} {z:e}\n"));
        }
        text.push_str("    endloop\n  endfacet\n");
    }
    text + "endsolid tetrahedron\n"
}

const OBJ: &str = "# a tetrahedron\no it\nv 0 0 0\nv 1.0 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\ns off\nf 1 3 2\nf 1/1/1 2//1 -1\nf 2 3 4\nf 3 1 4\n";

#[test]
fn the_same_solid_from_every_format() {
    let models = [
        ("t.stl", binary(&TETRAHEDRON)),
        ("t.STL", text(&TETRAHEDRON).into_bytes()),
        ("t.obj", OBJ.as_bytes().to_vec()),
        ("p.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n".to_vec()),
    ]
    .map(|(name, bytes)| hull(name, &bytes).unwrap());
    for model in &models {
        assert_eq!(model.nodes[0].shape, NodeShape::Hull { mesh: 0 });
        let mut corners = model.meshes[0].corners.clone();
        corners.sort_by(|one, other| one.partial_cmp(other).unwrap());
        assert_eq!(corners, [[0.0; 3], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
        assert_eq!(model.meshes[0].triangles.len(), 4);
    }
    for bytes in [binary(&TETRAHEDRON), text(&TETRAHEDRON).into_bytes()] {
        let model = mesh("t.stl", &bytes).unwrap();
        assert_eq!(model.surfaces[0].shape, SurfaceShape::Mesh { mesh: 0 });
        assert_eq!((model.meshes[0].corners.len(), model.meshes[0].triangles.len()), (4, 4));
    }
}

/// The packed model has all of it, so that an FMU needs no file; files that are used twice are there once.
#[test]
fn shapes_are_packed_once() {
    let files: &[(&str, &[u8])] = &[("t.obj", OBJ.as_bytes())];
    let model = parse(files, "hull = { file = \"t.obj\", scale = 0.5 }", PLANE).unwrap();
    assert!(model.meshes[0].corners.contains(&[0.5, 0.0, 0.0]));
    let guid = "{00000000-0000-0000-0000-000000000000}";
    assert_eq!(packed::read(&packed::write(&model, guid)).unwrap().0, model);
    let (system, state) = model.assemble();
    assert_eq!(system.details.polyhedra.len(), 1);
    assert_eq!(system.details.polyhedra[0].faces.len(), 4);
    // Saved states do not hold the shapes.
    assert!(postcard::to_stdvec(&state).unwrap().len() < 1500);

    let model = parse(files, "hull.file = \"t.obj\"", "mesh.file = \"t.obj\"").unwrap();
    assert_eq!(model.meshes.len(), 2);
}

#[test]
fn heights_become_triangles_around_the_middle() {
    let model = heights(b"# two rows\n0 0.5, 1\n\n0;0.25\t1 # the second\n").unwrap();
    let mesh = &model.meshes[0];
    let expected = [
        [-0.5, -0.125, 0.0],
        [0.0, -0.125, 0.5],
        [0.5, -0.125, 1.0],
        [-0.5, 0.125, 0.0],
        [0.0, 0.125, 0.25],
        [0.5, 0.125, 1.0],
    ];
    assert_eq!(mesh.corners, expected);
    assert_eq!(mesh.triangles, [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]]);
}

#[test]
fn files_that_are_no_shapes_are_refused() {
    let refuse_both = |name: &str, bytes: &[u8], wrong: &str, hint: &str| {
        refused(hull(name, bytes), name, wrong, hint);
        refused(mesh(name, bytes), name, wrong, hint);
    };
    refuse_both("e.stl", b"", "is empty", "export the shape again");
    refuse_both("e.obj", b"", "is empty", "export the shape again");
    refuse_both(
        "a.txt",
        b"solid",
        "is neither an STL nor an OBJ file by its name",
        "export the shape as .stl",
    );
    refuse_both("n.stl", b"not a mesh", "is no STL file", "export the shape as .stl");
    refuse_both("n.obj", b"not a mesh", "is no OBJ file: line 1 starts with `not`", "export the shape as");
    refuse_both("b.obj", &[0x7f, b'E', b'L', b'F', 0xff], "is no OBJ file: it is not text", "export");
    refuse_both("s.stl", b"solid x\nwhat is it", "is no STL file: line 2 starts with `what`", "export");
    refuse_both("v.obj", b"v 1 2 x\n", "has something else than a number on line 1: `x`", "export");
    refuse_both("w.obj", b"v 1 2\n", "has something else than a number on line 1", "export");
    let missing = |node: &str, surface: &str| parse(&[], node, surface);
    let beside = "files are looked for beside the model file";
    refused(missing("hull.file = \"no.stl\"", PLANE), "no.stl", "cannot be read", beside);
    refused(missing(BALL, "mesh.file = \"no.stl\""), "no.stl", "cannot be read", beside);
    let field = "heightfield = { file = \"no.txt\", cell = [1.0, 1.0] }";
    refused(missing(BALL, field), "no.txt", "cannot be read", beside);
}

/// A header that claims 2 GB reserves nothing.
#[test]
fn numbers_in_headers_are_not_believed() {
    for count in [41_000_000, u32::MAX] {
        let mut bytes = binary(&TETRAHEDRON);
        bytes[..5].copy_from_slice(b"frame");
        bytes[80..84].copy_from_slice(&count.to_le_bytes());
        let wrong = format!("is damaged: it says that it has {count} triangles");
        refused(mesh("big.stl", &bytes), "big.stl", &wrong, "export or copy the shape again");
        refused(hull("big.stl", &bytes), "big.stl", &wrong, "export or copy the shape again");
    }
    let mut cut = binary(&TETRAHEDRON);
    cut[..5].copy_from_slice(b"frame");
    cut.truncate(200);
    refused(mesh("cut.stl", &cut), "cut.stl", "is damaged", "export or copy");
}

#[test]
fn triangles_that_make_no_solid_are_refused() {
    let open = &TETRAHEDRON[..3];
    let both = [binary(open), text(open).into_bytes()];
    for bytes in both {
        let wrong = "is not closed: 3 edges belong to one triangle only, one at [0, 0.5, 0]";
        refused(mesh("t.stl", &bytes), "t.stl", wrong, "close it in a mesh editor, or write `open = true`");
        refused(hull("t.stl", &bytes), "t.stl", wrong, "close it in a mesh editor, or write its corners");
        let sheet = parse(&[("t.stl", &bytes)], BALL, "mesh = { file = \"t.stl\", open = true }");
        assert_eq!(sheet.unwrap().meshes[0].triangles.len(), 3);
    }
    for value in [f32::NAN, f32::INFINITY] {
        let mut facets = TETRAHEDRON;
        facets[1][2][0] = value;
        refused(
            mesh("t.stl", &binary(&facets)),
            "t.stl",
            "has a number that is not finite in triangle 2",
            "export",
        );
        refused(
            hull("t.stl", &binary(&facets)),
            "t.stl",
            "has a number that is not finite in triangle 2",
            "export",
        );
    }
    refused(
        mesh("n.obj", b"v 0 0 nan\n"),
        "n.obj",
        "has a number that is not finite on line 1: nan",
        "export",
    );
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\n";
    for (faces, wrong, hint) in [
        ("f 1 2 9\n", "has a face with corner 9 on line 6, and 5 corners up to there", "export"),
        ("f 1 2 0\n", "has a face with corner 0 on line 6", "export"),
        ("f 1 2 -7\n", "has a face with corner -7 on line 6", "export"),
        ("f 1 2\n", "has a face with fewer than three corners on line 6", "export"),
        ("f 1 x 2\n", "has a face with `x` in place of a corner on line 6", "export"),
        (
            "f 1 2 3\nf 1 2 4\n",
            "has neighbouring triangles that do not agree on which side is out",
            "make the normals",
        ),
        ("f 1 2 3\nf 2 1 4\nf 1 2 5\n", "has an edge that more than two triangles share", "make it manifold"),
    ] {
        refused(mesh("c.obj", format!("{corners}{faces}").as_bytes()), "c.obj", wrong, hint);
        refused(hull("c.obj", format!("{corners}{faces}").as_bytes()), "c.obj", wrong, hint);
    }
    refused(mesh("p.obj", corners.as_bytes()), "p.obj", "has no triangles", "export the shape as a mesh");
    let line = b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n";
    refused(mesh("l.obj", line), "l.obj", "has a triangle without area at [1, 0, 0]", "remove it");
    let plane = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n";
    refused(hull("p.obj", plane), "p.obj", "has all its points in one plane", "a hull needs four points");
    let quad = text(&TETRAHEDRON).replacen("    endloop", "      vertex 1 1 1\n    endloop", 1);
    refused(mesh("q.stl", quad.as_bytes()), "q.stl", "has a facet with 4 corners on line 9", "facets of STL");
    let half = text(&TETRAHEDRON);
    let half = &half[..half.find("endfacet").unwrap()];
    refused(mesh("h.stl", half.as_bytes()), "h.stl", "ends within a facet", "export or copy");
}

#[test]
fn grids_that_are_none_are_refused() {
    refused(heights(b""), "t.txt", "is empty", "export");
    refused(heights(b"1 2 3\n4 5\n"), "t.txt", "has 2 numbers on line 2, and 3 on those before", "all rows");
    refused(heights(b"1 2 3\n"), "t.txt", "has 1 rows of 3 heights", "a heightfield has at least two rows");
    refused(heights(b"1\n2\n"), "t.txt", "has 2 rows of 1 heights", "a heightfield has at least two rows");
    refused(
        heights(b"# nothing\n"),
        "t.txt",
        "has 0 rows of 0 heights",
        "a heightfield has at least two rows",
    );
    refused(heights(b"1 2\n3 inf\n"), "t.txt", "has a number that is not finite on line 2: inf", "export");
    refused(
        heights(b"1 2\n3 four\n"),
        "t.txt",
        "has something else than a number on line 2: `four`",
        "export",
    );
    refused(heights(&[0xff, 0xfe, 0, 1]), "t.txt", "is not text", "a heightfield is a text file");
    refused(
        heights(b"1 2\n3 1e300\n"),
        "t.txt",
        "has corners farther than 1e9 m from its origin",
        "lengths are in m",
    );
}

/// Largest file that is accepted in the time that a user waits: the hills are read, checked and packed.
#[test]
fn a_heightfield_of_many_cells_is_read() {
    let row = |y: u32| {
        let numbers: Vec<String> =
            (0..300).map(|x: u32| format!("{:.3}", 0.001 * f64::from(x * y % 97))).collect();
        numbers.join(" ")
    };
    let grid: Vec<String> = (0..300).map(row).collect();
    let model = heights(grid.join("\n").as_bytes()).unwrap();
    assert_eq!(model.meshes[0].triangles.len(), 2 * 299 * 299);
    let many = format!("{}\n", "0 ".repeat(600)).repeat(600);
    refused(heights(many.as_bytes()), "t.txt", "has more than 500000 triangles", "simplify it");
}

/// Every shape of a node may be paired with every shape of a surface; `tests/validation/test_pairs.py` lets them fall.
#[test]
fn every_node_goes_with_every_surface() {
    let files: &[(&str, &[u8])] = &[("t.obj", OBJ.as_bytes()), ("t.txt", b"0 0\n0 0\n")];
    let surfaces = [
        ("plane", PLANE),
        ("sphere", "sphere.radius = 0.5"),
        ("box", "box.size = [1.0, 1.0, 1.0]"),
        ("capsule", "capsule = { radius = 0.1, length = 0.2 }"),
        ("mesh", "mesh.file = \"t.obj\""),
        ("heightfield", "heightfield = { file = \"t.txt\", cell = [1.0, 1.0] }"),
        ("cylinder", "cylinder = { radius = 0.1, length = 0.2 }"),
    ];
    for (node, shape) in NODES {
        for (surface, other) in surfaces {
            let model = parse(files, shape, other);
            assert!(model.is_ok_and(|model| model.contacts.len() == 1), "{node} on {surface}");
        }
    }
}

const NODES: [(&str, &str); 7] = [
    ("points", "points = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]"),
    ("sphere", BALL),
    ("box", "box.size = [0.1, 0.1, 0.1]"),
    ("capsule", "capsule = { radius = 0.1, length = 0.2 }"),
    ("hull", "hull.file = \"t.obj\""),
    ("disc", "disc.radius = 0.1"),
    ("cylinder", "cylinder = { radius = 0.1, length = 0.2 }"),
];

/// All nodes may be paired, in either order, but for points.
#[test]
fn every_node_goes_with_every_node() {
    let files: &[(&str, &[u8])] = &[("t.obj", OBJ.as_bytes())];
    for (node, shape) in NODES {
        for (other, second) in NODES {
            let more = format!(
                "[[node]]\nname = \"other\"\ncoupling = \"owned\"\nmass = 1\ninertia = [1, 1, 1]\n\
                 position = [0, 0, 30]\nshape.{second}\n[[contact]]\nbetween = [\"body\", \"other\"]\n"
            );
            match parse_with(files, shape, PLANE, &more) {
                Ok(model) => assert_eq!(model.contacts.len(), 2, "{node} and {other}"),
                Err(error) => {
                    assert!(node == "points" && other == "points", "{node} and {other}: {error}");
                    assert!(error.contains("can never touch: both are points"), "{error}");
                }
            }
        }
    }
}

/// The way out of a start inside is along the normal of what is deepest.
#[test]
fn a_start_inside_is_told_with_the_way_out() {
    let files: &[(&str, &[u8])] = &[("t.txt", b"5 5\n5 5\n")];
    let field = "heightfield = { file = \"t.txt\", cell = [1.0, 1.0] }";
    for (shape, depth) in [(BALL, "0.1"), ("box.size = [0.1, 0.1, 0.3]", "0.15")] {
        let error = parse(files, shape, field).unwrap_err();
        assert!(error.contains(&format!("`body` starts {depth} m inside `floor`")), "{error}");
        assert!(error.contains("along the normal [0, 0, 1] of `floor`"), "{error}");
    }
}
