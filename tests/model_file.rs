//! The model file: what is accepted and what it means; every kind of bad input with its message, place and caret.

#![cfg(feature = "cli")]

mod ties;

use contact_fmu::engine::law::continuous::kelvin_voigt::KelvinVoigt;
use contact_fmu::engine::law::continuous::spring::PowerSpring;
use contact_fmu::model::file::{self, MAX_BYTES};
use contact_fmu::model::validate::MAX_CONTACTS;
use contact_fmu::model::{
    Between, Compliance, Contact, ContinuousLaw, Coupling, Frame, Kinetic, Latency, Link, Membership, Model,
    Motion, NodeShape, Other, Rotation, Scheme, Solver, SurfaceShape,
};
use std::fs;
use std::path::{Path, PathBuf};

const MINIMAL: &str = r#"[model]
name = "ball_on_floor"

[[node]]
name = "ball"
coupling = "owned"
mass = 1
shape.sphere.radius = 0.1
position = [0, 0, 1]

[[surface]]
name = "floor"
shape.plane.normal = [0, 0, 1]

[[contact]]
between = ["ball", "floor"]
"#;

fn model(source: &str) -> Model {
    file::parse(source, "m.toml").unwrap_or_else(|error| panic!("refused:\n{error}"))
}

fn error(source: &str) -> String {
    match file::parse(source, "m.toml") {
        Ok(_) => panic!("accepted:\n{source}"),
        Err(error) => error.to_string(),
    }
}

/// The error after replacing a part of the minimal model.
fn error_with(from: &str, to: &str) -> String {
    assert!(MINIMAL.contains(from), "{from}");
    error(&MINIMAL.replacen(from, to, 1))
}

/// The error as it should be: `line` is the source line, `marked` the part of it above the carets.
fn expected(message: &str, number: usize, line: &str, marked: &str, hint: &str) -> String {
    let start = line.find(marked).expect("the marked part is in the line");
    let (indent, padding) = (" ".repeat(number.to_string().len()), " ".repeat(start));
    let carets = "^".repeat(marked.len());
    let column = start + 1;
    let hint = if hint.is_empty() { String::new() } else { format!("\nhint: {hint}") };
    format!(
        "error: {message}\n{indent} --> m.toml:{number}:{column}\n{indent} |\n{number} | {line}\n{indent} | {padding}{carets}{hint}"
    )
}

fn example_files() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let folders =
        fs::read_dir(models).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.map(|folder| folder.join("model.toml")).collect();
    files.sort();
    files
}

#[test]
fn defaults_are_filled_in() {
    let model = model(MINIMAL);
    assert_eq!(model.name, "ball_on_floor");
    assert_eq!(model.description, "");
    assert_eq!((model.experiment.stop, model.experiment.step), (1.0, 1e-3));
    let engine = &model.engine;
    assert_eq!(engine.step, 1e-3);
    assert_eq!(engine.gravity, [0.0, 0.0, -9.81]);
    assert_eq!(engine.scheme, Scheme::MoreauJean);
    assert_eq!((engine.theta, engine.gamma), (0.5, 0.5));
    assert!(engine.time_of_impact && engine.correction && !engine.allow_initial_penetration);
    assert_eq!(engine.solver, Solver::Auto);
    assert_eq!((engine.tolerance, engine.max_iterations), (1e-10, 1000));
    assert_eq!(model.nodes[0].mass, 1.0);
    assert_eq!(model.nodes[0].shape, NodeShape::Sphere { radius: 0.1 });
    assert_eq!(model.nodes[0].position, [0.0, 0.0, 1.0]);
    assert_eq!(model.nodes[0].velocity, [0.0; 3]);
    assert_eq!(model.nodes[0].rotation, None);
    assert_eq!(model.surfaces[0].position, [0.0; 3]);
    assert_eq!(model.contacts[0].name, "ball_floor");
    assert_eq!((model.contacts[0].restitution, model.contacts[0].mu), (0.0, 0.0));
}

#[test]
fn every_key_is_read() {
    let model = model(
        r#"
[model]
name = "full"
description = "all keys: µ"
[experiment]
stop = 3
step = 2e-3
[engine]
step = 5e-4
gravity = [1, 2, 3]
scheme = "moreau-jean"
theta = 1
gamma = 0
time_of_impact = false
correction = true
energy_balance = false
allow_initial_penetration = true
solver = "newton"
tolerance = 1e-8
max_iterations = 7
[[node]]
name = "point"
coupling = "owned"
mass = 2.5
position = [1, 2, 3]
velocity = [4, 5, 6]
[[surface]]
name = "wall"
shape.plane.normal = [1, 0, 0]
position = [-1, 0, 0]
motion = "fixed"
[[contact]]
name = "touch"
between = ["wall", "point"]
restitution = 0.5
friction.cone.mu = 0.25
"#,
    );
    assert_eq!(model.description, "all keys: µ");
    assert_eq!((model.experiment.stop, model.experiment.step), (3.0, 2e-3));
    let engine = &model.engine;
    assert_eq!((engine.step, engine.gravity), (5e-4, [1.0, 2.0, 3.0]));
    assert_eq!((engine.theta, engine.gamma), (1.0, 0.0));
    assert!(!engine.time_of_impact && engine.correction && engine.allow_initial_penetration);
    assert_eq!(engine.solver, Solver::Newton);
    assert_eq!((engine.tolerance, engine.max_iterations), (1e-8, 7));
    let node = &model.nodes[0];
    assert_eq!((node.mass, &node.shape), (2.5, &NodeShape::Point));
    assert_eq!((node.position, node.velocity), ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]));
    assert_eq!(model.surfaces[0].position, [-1.0, 0.0, 0.0]);
    let contact = &model.contacts[0];
    let pair = Between::Pair { node: 0, other: Other::Surface(0) };
    assert_eq!((contact.name.as_str(), &contact.between), ("touch", &pair));
    assert_eq!((contact.restitution, contact.mu), (0.5, 0.25));
}

#[test]
fn internal_step_defaults_to_the_communication_step() {
    let model = model(&format!("{MINIMAL}\n[experiment]\nstep = 0.02\n"));
    assert_eq!(model.engine.step, 0.02);
}

#[test]
fn correction_defaults_to_time_of_impact() {
    let model = model(&format!("{MINIMAL}\n[engine]\ntime_of_impact = false\n"));
    assert!(!model.engine.correction);
}

#[test]
fn midpoint_has_its_own_defaults() {
    let model = model(&format!("{MINIMAL}\n[engine]\nscheme = \"midpoint\"\n"));
    assert_eq!(model.engine.scheme, Scheme::Midpoint { sweeps: 3 });
    assert!(!model.engine.time_of_impact && model.engine.correction);
    let model = self::model(&format!(
        "{MINIMAL}\n[engine]\nscheme = \"midpoint\"\nsweeps = 7\ntime_of_impact = false\ncorrection = false\n"
    ));
    assert_eq!(model.engine.scheme, Scheme::Midpoint { sweeps: 7 });
    assert!(!model.engine.correction);
}

const WHEEL: &str = r#"[model]
name = "wheel_on_floor"

[[node]]
name = "wheel"
coupling = "owned"
mass = 1
inertia = [0.3, 0.6, 0.3]
shape.disc.radius = 0.5
position = [0, 0, 1]
"#;

#[test]
fn rigid_bodies_are_read() {
    let node = &model(WHEEL).nodes[0];
    assert_eq!(node.shape, NodeShape::Disc { radius: 0.5, axis: [0.0, 1.0, 0.0] });
    let standing =
        Rotation { inertia: [0.3, 0.6, 0.3], orientation: [1.0, 0.0, 0.0, 0.0], angular_velocity: [0.0; 3] };
    assert_eq!(node.rotation, Some(standing));
    let text = WHEEL
        .replace("shape.disc.radius = 0.5", "shape.disc = { radius = 0.5, axis = [0, 3, 4] }")
        .replace("position", "angular_velocity = [1, 2, 3]\norientation = [0.0, 0.6001, 0.8, 0.0]\nposition");
    let node = &model(&text).nodes[0];
    assert_eq!(node.shape, NodeShape::Disc { radius: 0.5, axis: [0.0, 0.6, 0.8] });
    let rotation = node.rotation.as_ref().unwrap();
    assert_eq!(rotation.angular_velocity, [1.0, 2.0, 3.0]);
    let length: f64 = rotation.orientation.iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-15 && (rotation.orientation[1] - 0.6).abs() < 1e-4);
}

#[test]
fn a_wheel_may_start_on_a_floor_but_not_inside() {
    let floor = "[[surface]]\nname = \"floor\"\nshape.plane.normal = [0, 0, 1]\n[[contact]]\nbetween = [\"wheel\", \"floor\"]\n";
    let tilted = format!("{WHEEL}orientation = [0.8660254037844386, 0.5, 0, 0]\n{floor}"); // 60 deg about x
    model(&tilted.replace("[0, 0, 1]\norientation", "[0, 0, 0.25]\norientation"));
    let text = error(&tilted.replace("[0, 0, 1]\norientation", "[0, 0, 0.24]\norientation"));
    assert!(text.starts_with("error: `wheel` starts 0.01 m inside `floor`\n"), "{text}");
}

const MOMENTS: &str = "add `inertia`, the three principal moments of inertia in kg.m2; a solid sphere has 0.4 mass radius^2, a solid box of edges a, b, c has mass (b^2 + c^2)/12 and so on";

#[test]
fn rotation_without_inertia() {
    assert_eq!(
        error_with("shape.sphere.radius = 0.1", "shape.disc = { radius = 0.1 }"),
        expected(
            "a disc needs `inertia`: without it, the node is a point mass",
            8,
            "shape.disc = { radius = 0.1 }",
            "shape",
            MOMENTS
        )
    );
    for (key, value) in [("orientation", "[1, 0, 0, 0]"), ("angular_velocity", "[0, 0, 0]")] {
        let line = format!("{key} = {value}");
        assert_eq!(
            error_with("mass = 1", &format!("mass = 1\n{line}")),
            expected(
                &format!("`{key}` needs `inertia`: without it, the node is a point mass"),
                8,
                &line,
                value,
                MOMENTS
            )
        );
    }
}

#[test]
fn boxes_and_points_are_read() {
    let cuboid = WHEEL.replace("disc.radius = 0.5", "box.size = [1, 2.5, 0.5]");
    assert_eq!(model(&cuboid).nodes[0].shape, NodeShape::Box { size: [1.0, 2.5, 0.5] });
    let points = WHEEL.replace("disc.radius = 0.5", "points = [[1, 0, 0], [0, 1.5, -2]]");
    let expected = NodeShape::Points { points: vec![[1.0, 0.0, 0.0], [0.0, 1.5, -2.0]] };
    assert_eq!(model(&points).nodes[0].shape, expected);
    let one = WHEEL.replace("disc.radius = 0.5", "points = [[0, 0, -0.1]]").replace("inertia", "#");
    assert_eq!(model(&one).nodes[0].shape, NodeShape::Points { points: vec![[0.0, 0.0, -0.1]] });
}

#[test]
fn a_box_may_start_on_a_floor_but_not_inside() {
    let floor = "[[surface]]\nname = \"floor\"\nshape.plane.normal = [0, 0, 1]\n[[contact]]\nbetween = [\"wheel\", \"floor\"]\n";
    let cuboid = format!("{}{floor}", WHEEL.replace("disc.radius = 0.5", "box.size = [1, 2.5, 0.5]"));
    model(&cuboid.replace("position = [0, 0, 1]", "position = [0, 0, 0.25]"));
    let text = error(&cuboid.replace("position = [0, 0, 1]", "position = [0, 0, 0.24]"));
    assert!(text.starts_with("error: `wheel` starts 0.01 m inside `floor`\n"), "{text}");
}

#[test]
fn wrong_boxes_and_points() {
    let text = error(&WHEEL.replace("disc.radius = 0.5", "box.size = [1, 0, 1]"));
    assert!(text.starts_with("error: `shape.box.size[2]` must be above 0, found 0\n"), "{text}");
    let text = error(&WHEEL.replace("disc.radius = 0.5", "box = { size = 1 }"));
    assert!(
        text.starts_with("error: `shape.box.size` must be an array of 3 numbers, found the number 1\n"),
        "{text}"
    );
    let text = error(&WHEEL.replace("disc.radius = 0.5", "points = [1, 0, 0]"));
    assert!(
        text.starts_with("error: `shape.points[1]` must be an array of 3 numbers, found the number 1\n"),
        "{text}"
    );
    let text = error(&WHEEL.replace("disc.radius = 0.5", "points = 1"));
    assert!(
        text.starts_with(
            "error: `shape.points` must be an array of arrays of 3 numbers, found the number 1\n"
        ),
        "{text}"
    );
    assert!(text.contains("Points of three numbers in m, required: places in the body frame."), "{text}");
    let text = error(&WHEEL.replace("disc.radius = 0.5", "points = [[1, 0]]"));
    assert!(
        text.starts_with("error: `shape.points[1]` must be an array of 3 numbers, found an array of 2\n"),
        "{text}"
    );
    let text = error(&WHEEL.replace("disc.radius = 0.5", "points = [[1, 0, inf]]"));
    assert!(text.starts_with("error: `shape.points[1][3]` must be a finite number, found inf\n"), "{text}");
    let line = "shape.points = []";
    assert_eq!(
        error(&WHEEL.replace("shape.disc.radius = 0.5", line)),
        expected(
            "`shape.points` must not be empty: the node could touch nothing",
            9,
            line,
            "shape",
            "write points = [[0.0, 0.0, 0.0]], or leave `shape` out: the node is then a point"
        )
    );
    for (line, what) in [
        ("shape.box.size = [1, 1, 1]", "a box"),
        ("shape.points = [[1, 0, 0], [0, 1, 0]]", "a shape of several points"),
    ] {
        assert_eq!(
            error_with("shape.sphere.radius = 0.1", line),
            expected(
                &format!("{what} needs `inertia`: without it, the node is a point mass"),
                8,
                line,
                "shape",
                MOMENTS
            )
        );
    }
}

#[test]
fn impossible_inertia() {
    assert_eq!(
        error(&WHEEL.replace("[0.3, 0.6, 0.3]", "[0.3, 0.61, 0.3]")),
        expected(
            "no body has these moments of inertia: one is larger than the other two together",
            8,
            "inertia = [0.3, 0.61, 0.3]",
            "[0.3, 0.61, 0.3]",
            "a flat disc has m r^2/4, m r^2/2, m r^2/4 with the largest along its axis"
        )
    );
    let text = error(&WHEEL.replace("[0.3, 0.6, 0.3]", "[0.3, 0, 0.3]"));
    assert!(text.starts_with("error: `inertia[2]` must be above 0, found 0\n"), "{text}");
    let text = error(&WHEEL.replace("[0.3, 0.6, 0.3]", "0.3"));
    assert!(
        text.starts_with("error: `inertia` must be an array of 3 numbers, found the number 0.3\n"),
        "{text}"
    );
    // Flat up to rounding, and huge.
    model(&WHEEL.replace("[0.3, 0.6, 0.3]", "[0.1, 0.3, 0.2]"));
    model(&WHEEL.replace("[0.3, 0.6, 0.3]", "[1e308, 1e308, 1e308]"));
}

#[test]
fn orientation_that_is_no_rotation() {
    for (given, length) in [("[0, 0, 0, 0]", "0"), ("[1, 1, 0, 0]", "1.41421"), ("[0, 0, 0, 0.99]", "0.99")] {
        let line = format!("orientation = {given}");
        assert_eq!(
            error(&format!("{WHEEL}{line}\n")),
            expected(
                &format!("`orientation` must have length 1, found {length}"),
                11,
                &line,
                given,
                "a turn by an angle a about the x axis is [cos(a/2), sin(a/2), 0.0, 0.0]"
            )
        );
    }
}

#[test]
fn disc_without_a_direction() {
    assert_eq!(
        error(&WHEEL.replace("shape.disc.radius = 0.5", "shape.disc = { radius = 0.5, axis = [0, 0, 0] }")),
        expected(
            "`axis` must not be zero: it has no direction",
            9,
            "shape.disc = { radius = 0.5, axis = [0, 0, 0] }",
            "[0, 0, 0]",
            "a wheel on a floor has axis = [0.0, 1.0, 0.0]"
        )
    );
}

#[test]
fn schemes_that_damp_what_is_fast() {
    for (scheme, keys, expected) in [
        ("multistep", "", Scheme::Multistep { rho: 0.6 }),
        ("multistep", "rho = 0.82\n", Scheme::Multistep { rho: 0.82 }),
        ("hht", "", Scheme::Hht { alpha: 0.1 }),
        ("hht", "alpha = 0\n", Scheme::Hht { alpha: 0.0 }),
    ] {
        let model = model(&format!("{MINIMAL}\n[engine]\nscheme = \"{scheme}\"\n{keys}"));
        assert_eq!(model.engine.scheme, expected);
        assert!(!model.engine.time_of_impact && !model.engine.correction);
        assert_eq!(model.assemble().1.pasts.len(), 1);
    }
}

#[test]
fn keys_of_another_scheme() {
    for (scheme, line, message, hint) in [
        (
            "hht",
            "rho = 0.5",
            "`rho` has no meaning with scheme \"hht\"",
            "leave it out, or write scheme = \"multistep\"",
        ),
        (
            "multistep",
            "alpha = 0.1",
            "`alpha` has no meaning with scheme \"multistep\"",
            "leave it out, or write scheme = \"hht\"",
        ),
        (
            "multistep",
            "theta = 0.5",
            "`theta` has no meaning with scheme \"multistep\"",
            "leave it out, or write scheme = \"moreau-jean\"",
        ),
        (
            "hht",
            "time_of_impact = true",
            "scheme \"hht\" cannot split steps at impacts",
            "leave `time_of_impact` out, or write scheme = \"moreau-jean\"",
        ),
        (
            "hht",
            "energy_balance = true",
            "energy cannot be balanced: scheme \"hht\" takes energy on purpose",
            "leave `energy_balance` out, or take scheme \"moreau-jean\" with theta = 0.5 or scheme \"midpoint\"",
        ),
        (
            "moreau-jean",
            "sweeps = 3",
            "`sweeps` has no meaning with scheme \"moreau-jean\"",
            "leave it out, or write scheme = \"midpoint\"",
        ),
        (
            "midpoint",
            "theta = 0.5",
            "`theta` has no meaning with scheme \"midpoint\"",
            "leave it out, or write scheme = \"moreau-jean\"",
        ),
        (
            "midpoint",
            "time_of_impact = true",
            "scheme \"midpoint\" cannot split steps at impacts",
            "leave `time_of_impact` out, or write scheme = \"moreau-jean\"",
        ),
    ] {
        let value = line.split(" = ").nth(1).unwrap();
        assert_eq!(
            error(&format!("{MINIMAL}[engine]\nscheme = \"{scheme}\"\n{line}\n")),
            expected(message, 19, line, value, hint)
        );
    }
    let text = error(&format!("{MINIMAL}[engine]\nscheme = \"midpoint\"\nsweeps = 0\n"));
    assert!(text.starts_with("error: `sweeps` must be from 1 to 100, found 0\n"), "{text}");
}

#[test]
fn every_example_is_valid() {
    let files = example_files();
    assert!(files.len() >= 5);
    for path in files {
        let read = file::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(read.model.name.as_ref()), path.parent().unwrap().file_name());
        assert_eq!(read.source, fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn unit_normals_keep_their_digits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tilted_plane/model.toml");
    let SurfaceShape::Plane { normal } = file::read(&path).unwrap().model.surfaces[0].shape else {
        panic!("a plane")
    };
    assert_eq!(normal, [0.04997916927067833, 0.0, 0.9987502603949663]);
}

#[test]
fn other_normals_are_scaled_to_length_one() {
    for (written, unit) in [
        ("[0, 0, 2]", [0.0, 0.0, 1.0]),
        ("[3, 0, 4]", [0.6, 0.0, 0.8]),
        ("[0, 0, 1e-200]", [0.0, 0.0, 1.0]),
        ("[0, 0, 1e300]", [0.0, 0.0, 1.0]),
    ] {
        let SurfaceShape::Plane { normal } =
            model(&MINIMAL.replace("normal = [0, 0, 1]", &format!("normal = {written}"))).surfaces[0].shape
        else {
            panic!("a plane")
        };
        for axis in 0..3 {
            assert!((normal[axis] - unit[axis]).abs() < 1e-15, "{written}: {normal:?}");
        }
    }
}

#[test]
fn zero_normal() {
    assert_eq!(
        error_with("normal = [0, 0, 1]", "normal = [0, 0.0, -0.0]"),
        expected(
            "`normal` must not be zero: it has no direction",
            13,
            "shape.plane.normal = [0, 0.0, -0.0]",
            "[0, 0.0, -0.0]",
            "a floor has normal = [0.0, 0.0, 1.0]"
        )
    );
}

#[test]
fn unknown_key() {
    assert_eq!(
        error_with("mass = 1", "mass = 1\ncolour = \"red\""),
        expected(
            "unknown key `colour` in [[node]]",
            8,
            "colour = \"red\"",
            "colour",
            "known keys: `name`, `coupling`, `mass`, `inertia`, `shape`, `position`, `velocity`, `orientation`, `angular_velocity`, `latency`, `shaping`, `adapt`, `guard`, `mechanism`, `iterative`, `compliance`, `copies`"
        )
    );
}

#[test]
fn misspelt_key_gets_the_nearest_one() {
    assert_eq!(
        error_with("coupling = \"owned\"\nmass = 1", "coupling = \"owned\"\nmass = 1\nvelocty = [0, 0, 0]"),
        expected(
            "unknown key `velocty` in [[node]]",
            8,
            "velocty = [0, 0, 0]",
            "velocty",
            "did you mean `velocity`? known keys: `name`, `coupling`, `mass`, `inertia`, `shape`, `position`, `velocity`, `orientation`, `angular_velocity`, `latency`, `shaping`, `adapt`, `guard`, `mechanism`, `iterative`, `compliance`, `copies`"
        )
    );
}

#[test]
fn key_in_the_wrong_section() {
    assert_eq!(
        error_with("mass = 1", "mass = 1\nrestitution = 0.8"),
        expected(
            "unknown key `restitution` in [[node]]",
            8,
            "restitution = 0.8",
            "restitution",
            "`restitution` belongs in [[contact]]"
        )
    );
}

#[test]
fn misspelt_section() {
    assert_eq!(
        error_with("[[surface]]", "[[surfaces]]"),
        expected(
            "unknown key `surfaces` in the top level",
            11,
            "[[surfaces]]",
            "surfaces",
            "did you mean `surface`? known keys: `model`, `experiment`, `engine`, `node`, `surface`, `contact`, `spring`, `joint`"
        )
    );
}

#[test]
fn misspelt_value() {
    assert_eq!(
        error_with("[[node]]", "[engine]\nsolver = \"newtn\"\n[[node]]"),
        expected(
            "`solver` cannot be \"newtn\"",
            5,
            "solver = \"newtn\"",
            "\"newtn\"",
            "did you mean \"newton\"? known values: \"auto\", \"lemke\", \"pivoting\", \"pgs\", \"nsgs\", \"newton\""
        )
    );
}

#[test]
fn negative_mass() {
    for mass in ["-1.0", "0", "-1e-300"] {
        assert_eq!(
            error_with("mass = 1", &format!("mass = {mass}")),
            expected(
                &format!("`mass` must be above 0, found {mass}"),
                7,
                &format!("mass = {mass}"),
                mass,
                "Number above 0 in kg, required: mass."
            )
        );
    }
}

#[test]
fn restitution_outside_its_range() {
    for restitution in ["1.5", "-0.1", "1.0000000000000002"] {
        assert_eq!(
            error_with("\"floor\"]", &format!("\"floor\"]\nrestitution = {restitution}")),
            expected(
                &format!("`restitution` must be from 0 to 1, found {restitution}"),
                17,
                &format!("restitution = {restitution}"),
                restitution,
                "Number from 0 to 1, default 0.0: Newton coefficient of restitution."
            )
        );
    }
}

#[test]
fn numbers_outside_their_range() {
    for (section, line, range) in [
        ("[experiment]", "stop = 0", "above 0"),
        ("[experiment]", "step = -1e-3", "above 0"),
        ("[engine]", "step = 0.0", "above 0"),
        ("[engine]", "theta = 1.1", "from 0 to 1"),
        ("[engine]", "rho = 1.1", "from 0 to 1"),
        ("[engine]", "alpha = 0.4", "from 0 to 0.3333333333333333"),
        ("[engine]", "gamma = -0.1", "from 0 to 1"),
        ("[engine]", "tolerance = 0", "above 0 and below 1"),
        ("[engine]", "tolerance = 1.0", "above 0 and below 1"),
        ("[engine]", "max_iterations = 0", "from 1 to 4294967295"),
        ("[engine]", "max_iterations = 4294967296", "from 1 to 4294967295"),
        ("[engine]", "max_iterations = -1", "from 1 to 4294967295"),
    ] {
        let (key, value) = line.split_once(" = ").unwrap();
        let text = error(&format!("{MINIMAL}{section}\n{line}\n"));
        assert!(text.starts_with(&format!("error: `{key}` must be {range}, found {value}\n")), "{text}");
        assert!(text.contains(&format!("m.toml:18:{}\n", key.len() + 4)), "{text}");
    }
    let text = error_with("radius = 0.1", "radius = 0.0");
    assert!(text.starts_with("error: `shape.sphere.radius` must be above 0, found 0.0\n"), "{text}");
    let text = error(&format!("{MINIMAL}friction.cone.mu = -0.1\n"));
    assert!(text.starts_with("error: `friction.cone.mu` must be at least 0, found -0.1\n"), "{text}");
}

#[test]
fn whole_number_that_no_integer_holds() {
    assert_eq!(
        error_with("mass = 1", "mass = 99999999999999999999"),
        expected(
            "`mass` has more digits than a whole number may have",
            7,
            "mass = 99999999999999999999",
            "99999999999999999999",
            "write it with a decimal point or an exponent"
        )
    );
}

#[test]
fn contact_to_a_missing_node() {
    assert_eq!(
        error_with("[\"ball\", \"floor\"]", "[\"bal\", \"floor\"]"),
        expected(
            "there is no node or surface `bal`",
            16,
            "between = [\"bal\", \"floor\"]",
            "\"bal\"",
            "did you mean `ball`?"
        )
    );
    assert_eq!(
        error_with("[\"ball\", \"floor\"]", "[\"ball\", \"ceiling\"]"),
        expected(
            "there is no node or surface `ceiling`",
            16,
            "between = [\"ball\", \"ceiling\"]",
            "\"ceiling\"",
            "add it as [[node]] or [[surface]]"
        )
    );
}

#[test]
fn node_starting_inside_a_surface() {
    assert_eq!(
        error_with("position = [0, 0, 1]", "position = [0, 0, 0.05]"),
        expected(
            "`ball` starts 0.05 m inside `floor`",
            9,
            "position = [0, 0, 0.05]",
            "[0, 0, 0.05]",
            "move `position` by 0.05 m along the normal [0, 0, 1] of `floor`, or further, or set `allow_initial_penetration = true` in [engine]"
        )
    );
    assert_eq!(
        error_with("position = [0, 0, 1]\n", ""),
        expected(
            "`ball` starts 0.1 m inside `floor`",
            5,
            "name = \"ball\"",
            "\"ball\"",
            "move `position` by 0.1 m along the normal [0, 0, 1] of `floor`, or further, or set `allow_initial_penetration = true` in [engine]"
        )
    );
}

#[test]
fn node_touching_a_surface_is_outside() {
    model(&MINIMAL.replace("position = [0, 0, 1]", "position = [0, 0, 0.1]"));
    model(&MINIMAL.replace("position = [0, 0, 1]", "position = [0, 0, 0.0999999995]"));
    error_with("position = [0, 0, 1]", "position = [0, 0, 0.099999998]");
}

#[test]
fn wrong_type() {
    assert_eq!(
        error_with("mass = 1", "mass = \"heavy\""),
        expected(
            "`mass` must be a number, found a string",
            7,
            "mass = \"heavy\"",
            "\"heavy\"",
            "Number above 0 in kg, required: mass."
        )
    );
    assert_eq!(
        error_with("mass = 1", "mass = \"1.0\""),
        expected(
            "`mass` must be a number, found a string",
            7,
            "mass = \"1.0\"",
            "\"1.0\"",
            "write the number without quotes"
        )
    );
    for (line, message) in [
        ("mass = [1]", "`mass` must be a number, found an array"),
        ("mass = true", "`mass` must be a number, found true"),
        ("mass = 2020-01-01", "`mass` must be a number, found a date"),
        ("mass = {}", "`mass` must be a number, found a table"),
        ("mass = 1\nvelocity = 3", "`velocity` must be an array of 3 numbers, found the number 3"),
        ("mass = 1\nvelocity = [1, 2]", "`velocity` must be an array of 3 numbers, found an array of 2"),
        ("mass = 1\nvelocity = [1, 2, \"x\"]", "`velocity[3]` must be a number, found a string"),
    ] {
        let text = error_with("mass = 1", line);
        assert!(text.starts_with(&format!("error: {message}\n")), "{text}");
    }
    for (line, message) in [
        ("time_of_impact = 1", "`time_of_impact` must be true or false, found the number 1"),
        ("max_iterations = 1e3", "`max_iterations` must be a whole number, found the number 1e3"),
        ("scheme = 1", "`scheme` must be a string, found the number 1"),
    ] {
        let text = error(&format!("{MINIMAL}[engine]\n{line}\n"));
        assert!(text.starts_with(&format!("error: {message}\n")), "{text}");
    }
    let text = error_with("shape.sphere.radius = 0.1", "shape = \"sphere\"");
    assert!(text.starts_with("error: `shape` must be a table, found a string\n"), "{text}");
    let text = error_with("shape.sphere.radius = 0.1", "shape = {}");
    assert!(text.starts_with("error: `shape` must have exactly one key, found 0\n"), "{text}");
}

#[test]
fn section_with_the_wrong_brackets() {
    assert_eq!(
        error_with("[[node]]", "[node]"),
        expected("`node` may occur several times: it is written [[node]]", 4, "[node]", "[node]", "")
    );
    assert_eq!(
        error_with("[model]", "[[model]]"),
        expected("`model` occurs once: it is written [model]", 1, "[[model]]", "[[model]]", "")
    );
}

#[test]
fn missing_key() {
    assert_eq!(
        error_with("mass = 1\n", ""),
        expected(
            "[[node]] needs the key `mass`",
            4,
            "[[node]]",
            "[[node]]",
            "Number above 0 in kg, required: mass."
        )
    );
    assert_eq!(
        error_with("shape.sphere.radius = 0.1", "shape.sphere = {}"),
        expected(
            "`shape.sphere` needs the key `radius`",
            8,
            "shape.sphere = {}",
            "{}",
            "Number above 0 in m, required: radius."
        )
    );
    assert_eq!(
        error("[[node]]\nname = \"a\"\ncoupling = \"owned\"\nmass = 1\n"),
        "error: the top level needs the key `model`\n  --> m.toml\nhint: What the model is called."
    );
}

#[test]
fn empty_file() {
    for source in ["", "\n\n", "# only a comment\n", "\u{feff}"] {
        let text = error(source);
        assert!(
            text.starts_with(
                "error: the model file is empty\n  --> m.toml\nhint: a model needs at least [model]"
            ),
            "{text}"
        );
    }
}

#[test]
fn binary_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    fs::write(&path, b"\n\x89PNG\r\n\x1a\n").unwrap();
    assert_eq!(
        file::read(&path).unwrap_err().to_string(),
        format!(
            "error: not a text file: byte 0x89 at offset 1 is not UTF-8\n  --> {}\nhint: a model file is TOML text, saved as UTF-8",
            path.display()
        )
    );
    assert_eq!(error("x = \0\0").lines().next(), Some("error: control characters are not allowed"));
}

#[test]
fn huge_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    fs::File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
    let text = file::read(&path).unwrap_err().to_string();
    assert!(text.starts_with("error: the model file is larger than 16 MiB\n"), "{text}");
}

#[test]
fn missing_file() {
    let text = file::read(Path::new("no/such/model.toml")).unwrap_err().to_string();
    assert!(text.starts_with("error: cannot read the model file: "), "{text}");
    assert!(text.ends_with("\n  --> no/such/model.toml"), "{text}");
}

#[test]
fn numbers_that_are_not_finite() {
    for number in ["nan", "-nan", "inf", "-inf", "1e999"] {
        let line = format!("position = [0, {number}, 1]");
        assert_eq!(
            error_with("position = [0, 0, 1]", &line),
            expected(&format!("`position[2]` must be a finite number, found {number}"), 9, &line, number, "")
        );
    }
    let text = error_with("mass = 1", "mass = nan");
    assert!(
        text.starts_with("error: `mass` must be a finite number, found nan\n  --> m.toml:7:8\n"),
        "{text}"
    );
}

#[test]
fn syntax_errors() {
    assert_eq!(
        error_with("name = \"ball\"", "name = ball"),
        expected("not a value", 5, "name = ball", "ball", "if it is text, put it in quotes: \"ball\"")
    );
    assert_eq!(
        error_with("mass = 1", "mass = 1,5"),
        expected(
            "unexpected key or value, expected newline, `#`",
            7,
            "mass = 1,5",
            ",",
            "decimals are written with a point: 1.5"
        )
    );
    assert_eq!(
        error_with("mass = 1", "mass = 1\nmass = 2"),
        expected("`mass` is written twice in the same table", 8, "mass = 2", "mass", "")
    );
    assert!(
        error_with("mass = 1", "mass =")
            .starts_with("error: a value is missing after `=`\n  --> m.toml:7:7\n")
    );
    let end_of_file = error("[model]\nname = \"x\"\nvalues = [1,");
    assert!(end_of_file.contains(" --> m.toml:3:13\n"), "{end_of_file}");
}

#[test]
fn carriage_returns_do_not_shift_the_place() {
    let text = error(&MINIMAL.replace("mass = 1", "mass = -1").replace('\n', "\r\n"));
    assert_eq!(
        text,
        expected(
            "`mass` must be above 0, found -1",
            7,
            "mass = -1",
            "-1",
            "Number above 0 in kg, required: mass."
        )
    );
}

#[test]
fn several_errors_at_once() {
    let text = error(
        &MINIMAL
            .replace("mass = 1", "mass = -1\nmas = 1")
            .replace("normal = [0, 0, 1]", "normal = [0, 0, nan]")
            .replace("\"floor\"]", "\"floor\"]\nrestitution = 2"),
    );
    let messages: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(
        messages,
        [
            "error: `mass` must be above 0, found -1",
            "error: unknown key `mas` in [[node]]",
            "error: `shape.plane.normal[3]` must be a finite number, found nan",
            "error: `restitution` must be from 0 to 1, found 2",
        ]
    );
}

#[test]
fn several_broken_rules_at_once() {
    let text = error(
        &MINIMAL
            .replace("ball_on_floor", "ball on floor")
            .replace("position = [0, 0, 1]", "position = [0, 0, 0]")
            .replace("[[contact]]", "[[contact]]\nbetween = [\"ball\", \"flor\"]\n[[contact]]"),
    );
    let messages: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(
        messages,
        [
            "error: `ball on floor` is not a C identifier: use letters, digits and _, and start with a letter or _",
            "error: `ball` starts 0.1 m inside `floor`",
            "error: there is no node or surface `flor`",
        ]
    );
}

#[test]
fn solvers_and_the_laws_they_solve() {
    let with = |solver: &str, law: &str| {
        MINIMAL.replacen("[[node]]", &format!("[engine]\nsolver = \"{solver}\"\n[[node]]"), 1).replacen(
            "\"floor\"]",
            &format!("\"floor\"]\n{law}"),
            1,
        )
    };
    let laws = [
        ("", "all"),
        ("friction.cone.mu = 0.0", "all"),
        ("friction.cone.mu = 0.3", "auto nsgs newton"),
        ("friction.facets.mu = 0.3", "auto nsgs newton lemke"),
        ("friction.facets = { mu = 0.3, outer = true }", "auto nsgs newton lemke"),
        ("friction.facets = { mu = 0.0, outer = true }", "all"),
        ("friction.box.mu = 0.3", "all"),
        ("friction.bristle.mu = 0.3", "all"),
    ];
    let solvers = [
        ("auto", Solver::Auto),
        ("lemke", Solver::Lemke),
        ("pivoting", Solver::Pivoting),
        ("pgs", Solver::Pgs),
        ("nsgs", Solver::Nsgs),
        ("newton", Solver::Newton),
    ];
    for (law, fit) in laws {
        for (name, solver) in solvers {
            let parsed = file::parse(&with(name, law), "m.toml");
            if fit == "all" || fit.split(' ').any(|fit| fit == name) {
                assert_eq!(parsed.unwrap_or_else(|error| panic!("{error}")).engine.solver, solver, "{law}");
            } else {
                assert!(parsed.is_err(), "{name} with {law}");
            }
        }
    }
    assert_eq!(
        error(&with("lemke", "friction.cone.mu = 0.3")),
        expected(
            "solver \"lemke\" cannot solve contact `ball_floor` with friction.cone",
            5,
            "solver = \"lemke\"",
            "\"lemke\"",
            "choose solver \"auto\", \"nsgs\" or \"newton\", or a friction law that \"lemke\" solves: friction.facets, friction.box, friction.bristle or none"
        )
    );
    let floor = "[[surface]]\nname = \"wall\"\nshape.plane.normal = [1, 0, 0]\n[[contact]]\nbetween = [\"ball\", \"wall\"]\nfriction.facets.mu = 0.2\n";
    let text = error(&(with("pgs", "friction.facets = { mu = 0.3, outer = true }") + "\n" + floor));
    let message = "solver \"pgs\" cannot solve contact `ball_floor` with friction.facets (and one more)";
    assert!(text.starts_with(&format!("error: {message}\n")), "{text}");
}

#[test]
fn continuous_contact_laws() {
    let with = |law: &str| MINIMAL.replacen("\"floor\"]", &format!("\"floor\"]\n{law}"), 1);
    let compliance = |law: &str| {
        let contact = model(&with(law)).contacts.remove(0);
        (contact.compliance.expect("a law"), contact.restitution, contact.mu)
    };
    let spring = PowerSpring { stiffness: 1e6, exponent: 1.5 };
    let soft = |law: ContinuousLaw| Compliance { law, tangential_stiffness: None };
    let voigt = ContinuousLaw::KelvinVoigt(KelvinVoigt { stiffness: 1e6, damping: 3.0 });
    let expected = [
        ("compliance.kelvin_voigt = { stiffness = 1e6, damping = 3 }", (soft(voigt), 0.0, 0.0)),
        ("compliance.hertz.stiffness = 1e6", (soft(ContinuousLaw::Hertz(spring)), 1.0, 0.0)),
        (
            "compliance.hunt_crossley = { stiffness = 1e6, exponent = 1.5, restitution = 0 }\nfriction.cone.mu = 0.3",
            (soft(ContinuousLaw::HuntCrossley(spring)), 0.0, 0.3),
        ),
        (
            "compliance.lankarani_nikravesh = { stiffness = 1e6, restitution = 0.8 }",
            (soft(ContinuousLaw::LankaraniNikravesh(spring)), 0.8, 0.0),
        ),
        (
            "friction.cone.mu = 0.2\ncompliance.flores = { stiffness = 1e6, restitution = 0.7, tangential_stiffness = 1e4 }",
            (Compliance { law: ContinuousLaw::Flores(spring), tangential_stiffness: Some(1e4) }, 0.7, 0.2),
        ),
        (
            "compliance.schmucker = { stiffness = 1e5, restitution = 0.8, mu = 0.4 }",
            (soft(ContinuousLaw::Schmucker { stiffness: 1e5 }), 0.8, 0.4),
        ),
    ];
    for (law, expected) in expected {
        assert_eq!(compliance(law), expected, "{law}");
    }
    // The start may be inside: the contact is pressed then.
    let inside =
        with("compliance.hertz.stiffness = 1e6").replace("position = [0, 0, 1]", "position = [0, 0, 0.099]");
    assert!(file::parse(&inside, "m.toml").is_ok());
}

#[test]
fn continuous_contacts_that_cannot_be() {
    let last = MINIMAL.lines().position(|line| line.contains("\"floor\"]")).expect("a contact") + 1;
    let hard = "leave it out: `compliance.flores` has its own";
    let flores = "compliance.flores = { stiffness = 1e6, restitution = 0.8 }";
    let cases = [
        (
            format!("{flores}\nrestitution = 0.8"),
            "`restitution` is of hard contact and has no meaning with `compliance`",
            2,
            "0.8",
            format!("{hard} `restitution`"),
        ),
        (
            "compliance.hertz.stiffness = 1e6\nrestitution = 0.8".to_owned(),
            "`restitution` is of hard contact and has no meaning with `compliance`",
            2,
            "0.8",
            "leave it out, or take a law with restitution: hunt_crossley, lankarani_nikravesh, flores, schmucker"
                .to_owned(),
        ),
        (
            format!("{flores}\nnormal_stiffness = 1e8"),
            "`normal_stiffness` is of hard contact and has no meaning with `compliance`",
            2,
            "1e8",
            format!("{hard} `stiffness`"),
        ),
        (
            format!("{flores}\nfriction.box = {{ mu = 0.3 }}"),
            "`compliance` goes with friction.cone only, by an anchor spring",
            2,
            "friction",
            "write friction.cone.mu, or leave `compliance` out".to_owned(),
        ),
        (
            "compliance.schmucker = { stiffness = 1, restitution = 1 }\nfriction = { cone.mu = 0.3 }".to_owned(),
            "`friction` has no meaning with `compliance.schmucker`, which has its own `mu`",
            2,
            "{ cone.mu = 0.3 }",
            "write mu in compliance.schmucker instead".to_owned(),
        ),
        (
            "compliance = { hertz = { stiffness = 1, tangential_stiffness = 1 } }".to_owned(),
            "`tangential_stiffness` has no meaning without friction",
            1,
            "{ hertz = { stiffness = 1, tangential_stiffness = 1 } }",
            "add friction.cone.mu, or leave it out".to_owned(),
        ),
        (
            "compliance = { kelvin_voigt = { stiffness = 1e16 } }".to_owned(),
            "contact `ball_floor` is too stiff for a mass of 1 kg: it would have to be followed in intervals of 2.5e-10 s, and 1e-9 s is the shortest",
            1,
            "{ kelvin_voigt = { stiffness = 1e16 } }",
            "take a lower `stiffness` or `damping`, a higher `restitution`, or leave `compliance` out: hard contact is as stiff as it gets"
                .to_owned(),
        ),
    ];
    for (written, message, line, marked, hint) in cases {
        let text = error_with("\"floor\"]", &format!("\"floor\"]\n{written}"));
        let source = written.lines().nth(line - 1).expect("a line");
        assert_eq!(text, expected(message, last + line, source, marked, &hint));
    }
    for (law, fault) in [
        ("hertz.stiffness = 0", "`compliance.hertz.stiffness` must be above 0, found 0"),
        ("hertz.stiffness = nan", "`compliance.hertz.stiffness` must be a finite number, found nan"),
        ("hertz = { exponent = 1.5 }", "`compliance.hertz` needs the key `stiffness`"),
        (
            "hertz = { stiffness = 1, exponent = 0.5 }",
            "`compliance.hertz.exponent` must be from 1 to 10, found 0.5",
        ),
        ("hertz = { stiffness = 1, damping = 1 }", "unknown key `damping` in `compliance.hertz`"),
        (
            "kelvin_voigt = { stiffness = 1, damping = -1 }",
            "`compliance.kelvin_voigt.damping` must be at least 0, found -1",
        ),
        (
            "flores = { stiffness = 1, restitution = 0 }",
            "`compliance.flores.restitution` must be above 0 and at most 1, found 0",
        ),
        (
            "schmucker = { stiffness = 1, restitution = 2 }",
            "`compliance.schmucker.restitution` must be above 0 and at most 1, found 2",
        ),
        (
            "schmucker = { stiffness = 1, restitution = 1, mu = -1 }",
            "`compliance.schmucker.mu` must be at least 0, found -1",
        ),
        (
            "hunt_crossley = { stiffness = 1, restitution = -1 }",
            "`compliance.hunt_crossley.restitution` must be from 0 to 1, found -1",
        ),
        ("flores = { stiffness = 1 }", "`compliance.flores` needs the key `restitution`"),
        ("herz.stiffness = 1", "unknown key `herz` in `compliance`"),
    ] {
        let text = error_with("\"floor\"]", &format!("\"floor\"]\ncompliance.{law}"));
        assert!(text.starts_with(&format!("error: {fault}\n")), "{text}");
    }
    let coupled = MINIMAL.replacen("\"owned\"", "\"kinetic\"", 1).replacen(
        "\"floor\"]",
        "\"floor\"]\ncompliance.hertz.stiffness = 1e6",
        1,
    );
    let text = error(&coupled);
    let fault = "`compliance` is for nodes with coupling = \"owned\", and the master moves `ball`";
    assert!(text.starts_with(&format!("error: {fault}\n")), "{text}");
}

#[test]
fn friction_laws() {
    let friction = |law: &str| format!("\"floor\"]\n{law}");
    for law in [
        "friction.facets = { mu = 0.3 }",
        "friction.facets = { mu = 0.3, facets = 4, aligned = false, outer = true }",
        "friction.box = { mu = 0.3, iterations = 2 }",
        "friction.bristle = { mu = 0.3, stiffness = 1e9, threshold = 0.01, iterations = 1 }",
        "friction.bristle.mu = 0.3\nnormal_stiffness = 1e8",
    ] {
        let source = MINIMAL.replace("\"floor\"]", &friction(law));
        assert!(file::parse(&source, "m.toml").is_ok(), "{law}");
    }
    for (law, fault) in [
        (
            "friction.facets = { mu = 0.3, facets = 3 }",
            "`friction.facets.facets` must be from 4 to 1000, found 3",
        ),
        ("friction.box.mu = -0.1", "`friction.box.mu` must be at least 0, found -0.1"),
        ("normal_stiffness = 0", "`normal_stiffness` must be above 0, found 0"),
        (
            "friction.bristle = { mu = 0.3, stiffness = 1e3 }",
            "the bristle is too soft: under the node's own weight it would start and stop sliding by itself",
        ),
    ] {
        let text = error_with("\"floor\"]", &friction(law));
        assert!(text.starts_with(&format!("error: {fault}\n")), "{text}");
    }
}

const FREE: Kinetic = Kinetic {
    latency: Latency::Auto,
    shaping: true,
    adapt: true,
    guard: true,
    mechanism: Membership::Unsaid,
};

/// The coupling of a ball with other keys in place of its `coupling`.
fn coupling(keys: &str) -> Coupling {
    model(&MINIMAL.replace("coupling = \"owned\"", keys)).nodes[0].coupling
}

#[test]
fn nodes_are_kinetic_unless_told_otherwise() {
    assert_eq!(coupling(""), Coupling::Kinetic(FREE));
    assert_eq!(coupling("coupling = \"kinetic\""), Coupling::Kinetic(FREE));
    assert_eq!(coupling("latency = \"auto\"\niterative = false"), Coupling::Kinetic(FREE));
    for (number, latency) in [("0", 0), ("1", 1), ("0x1", 1)] {
        let kinetic = Kinetic { latency: Latency::Known(latency), ..FREE };
        assert_eq!(coupling(&format!("latency = {number}")), Coupling::Kinetic(kinetic));
    }
    assert_eq!(
        coupling("latency = 1\nshaping = false\nadapt = false\nguard = false"),
        Coupling::Kinetic(Kinetic {
            latency: Latency::Known(1),
            shaping: false,
            adapt: false,
            guard: false,
            mechanism: Membership::Unsaid
        })
    );
    for (said, mechanism) in [("true", Membership::Learnt), ("false", Membership::No)] {
        let kinetic = Kinetic { mechanism, ..FREE };
        assert_eq!(coupling(&format!("mechanism = {said}")), Coupling::Kinetic(kinetic));
    }
    let given = Kinetic { mechanism: Membership::Given, latency: Latency::Known(1), ..FREE };
    assert_eq!(coupling("mechanism = \"given\"\nlatency = 1"), Coupling::Kinetic(given));
    assert_eq!(coupling("iterative = true"), Coupling::Iterative);
    assert_eq!(coupling("coupling = \"owned\""), Coupling::Owned);
}

#[test]
fn compliant_nodes() {
    let compliant = "coupling = \"compliant\"\n";
    assert_eq!(
        coupling(&format!("{compliant}compliance = {{ stiffness = 1e4, master_mass = 2 }}")),
        Coupling::Compliant(Link { latency: Latency::Auto, stiffness: 1e4, damping: 0.0, master_mass: 2.0 })
    );
    assert_eq!(
        coupling(&format!(
            "{compliant}latency = 0\ncompliance = {{ stiffness = 1e4, damping = 3, master_mass = 2 }}"
        )),
        Coupling::Compliant(Link {
            latency: Latency::Known(0),
            stiffness: 1e4,
            damping: 3.0,
            master_mass: 2.0
        })
    );
    assert_eq!(
        error_with("\"owned\"", "\"compliant\""),
        expected(
            "coupling = \"compliant\" needs the key `compliance`",
            6,
            "coupling = \"compliant\"",
            "\"compliant\"",
            "write compliance = { stiffness = 1e4, damping = 0.0, master_mass = 1.0 }"
        )
    );
    for (table, fault) in [
        ("{ stiffness = 0, master_mass = 1 }", "`compliance.stiffness` must be above 0, found 0"),
        ("{ stiffness = 1, master_mass = -1 }", "`compliance.master_mass` must be above 0, found -1"),
        (
            "{ stiffness = 1, damping = -1, master_mass = 1 }",
            "`compliance.damping` must be at least 0, found -1",
        ),
        ("{ stiffness = 1 }", "`compliance` needs the key `master_mass`"),
        ("{ master_mass = 1 }", "`compliance` needs the key `stiffness`"),
        ("{ stiffness = 1, mass = 1, master_mass = 1 }", "unknown key `mass` in `compliance`"),
        ("1e4", "`compliance` must be a table, found the number 1e4"),
    ] {
        let text = error_with("\"owned\"", &format!("\"compliant\"\ncompliance = {table}"));
        assert!(text.starts_with(&format!("error: {fault}\n")), "{text}");
    }
    let link = "\"compliant\"\ncompliance = { stiffness = 1, master_mass = 1 }\ninertia = [1, 1, 1]";
    assert_eq!(
        error_with("\"owned\"", link),
        expected(
            "a node with coupling = \"compliant\" is a point mass",
            8,
            "inertia = [1, 1, 1]",
            "[1, 1, 1]",
            "leave `inertia` out, or write coupling = \"kinetic\""
        )
    );
}

#[test]
fn latency_is_auto_or_a_number_of_steps() {
    for (written, found) in [
        ("2", "the number 2"),
        ("-1", "the number -1"),
        ("1.0", "the number 1.0"),
        ("\"one\"", "\"one\""),
        ("true", "true"),
        ("[0]", "an array"),
    ] {
        let line = format!("latency = {written}");
        let hint = "\"auto\", 0 or 1, default \"auto\", for coupling \"kinetic\" and \"compliant\" only: communication steps after which the master applies a force.";
        assert_eq!(
            error_with("coupling = \"owned\"", &line),
            expected(&format!("`latency` must be \"auto\", 0 or 1, found {found}"), 6, &line, written, hint)
        );
    }
}

#[test]
fn keys_of_another_coupling() {
    let link = "compliance = { stiffness = 1, master_mass = 1 }";
    for (keys, key, with, without) in [
        (
            "coupling = \"owned\"\nlatency = 1",
            "latency",
            "coupling = \"owned\"",
            "coupling = \"kinetic\" or \"compliant\"",
        ),
        ("coupling = \"owned\"\nshaping = true", "shaping", "coupling = \"owned\"", "coupling = \"kinetic\""),
        ("coupling = \"owned\"\nadapt = true", "adapt", "coupling = \"owned\"", "coupling = \"kinetic\""),
        ("coupling = \"owned\"\nguard = true", "guard", "coupling = \"owned\"", "coupling = \"kinetic\""),
        (
            "coupling = \"owned\"\niterative = false",
            "iterative",
            "coupling = \"owned\"",
            "coupling = \"kinetic\"",
        ),
        (
            &format!("coupling = \"owned\"\n{link}"),
            "compliance",
            "coupling = \"owned\"",
            "coupling = \"compliant\"",
        ),
        (
            &format!("guard = true\n{link}"),
            "compliance",
            "coupling = \"kinetic\"",
            "coupling = \"compliant\"",
        ),
        ("iterative = true\nlatency = 0", "latency", "iterative = true", "iterative = false"),
        ("iterative = true\nshaping = true", "shaping", "iterative = true", "iterative = false"),
        ("iterative = true\nadapt = true", "adapt", "iterative = true", "iterative = false"),
        ("iterative = true\nguard = true", "guard", "iterative = true", "iterative = false"),
        ("iterative = true\nmechanism = true", "mechanism", "iterative = true", "iterative = false"),
        (
            "coupling = \"owned\"\nmechanism = true",
            "mechanism",
            "coupling = \"owned\"",
            "coupling = \"kinetic\"",
        ),
        (
            &format!("coupling = \"compliant\"\n{link}\nshaping = true"),
            "shaping",
            "coupling = \"compliant\"",
            "coupling = \"kinetic\"",
        ),
        (
            &format!("coupling = \"compliant\"\n{link}\niterative = true"),
            "iterative",
            "coupling = \"compliant\"",
            "coupling = \"kinetic\"",
        ),
    ] {
        let text = error_with("coupling = \"owned\"", keys);
        assert!(text.starts_with(&format!("error: `{key}` has no meaning with {with}\n")), "{text}");
        assert!(text.ends_with(&format!("\nhint: leave it out, or write {without}")), "{text}");
        assert_eq!(text.matches("error: ").count(), 1, "{text}");
    }
}

#[test]
fn what_goes_with_points_of_mechanisms() {
    let point = MINIMAL.replace("coupling = \"owned\"", "mechanism = true");
    model(&point);
    let with = |keys: &str| error(&point.replace("mechanism = true", &format!("mechanism = true\n{keys}")));
    assert_eq!(
        with("inertia = [1, 1, 1]"),
        expected(
            "a node with mechanism = true is a point",
            7,
            "inertia = [1, 1, 1]",
            "[1, 1, 1]",
            "leave `inertia` out, or `mechanism` where the node is a whole rigid body"
        )
    );
    for key in ["shaping", "adapt"] {
        let text = with(&format!("{key} = false"));
        let fault = format!("error: {key} = false has no meaning with mechanism = true\n");
        assert!(text.starts_with(&fault), "{text}");
    }
    let text = error(&point.replace("true", "\"given\""));
    let fault = "error: mechanism = \"given\" needs the key `latency`: nothing is found out then\n";
    assert!(text.starts_with(fault), "{text}");
    let given = point.replace("mechanism = true", "mechanism = \"given\"\nlatency = 0");
    model(&given);
    let other = "[[node]]\nname = \"other\"\nmass = 1\nmechanism = true\nposition = [3, 0, 1]\n";
    let text = error(&format!("{given}\n{other}"));
    assert!(text.starts_with("error: mechanism = true, and that of `ball` is another\n"), "{text}");
    let text = error(&point.replace("true", "\"told\""));
    let fault = "error: `mechanism` must be true, false or \"given\", found \"told\"\n";
    assert!(text.starts_with(fault), "{text}");
    let text = error(&format!("{point}compliance.hertz.stiffness = 1e5\n"));
    let fault = "error: points of mechanisms, and what they touch, cannot have contacts with `compliance`\n";
    assert!(text.starts_with(fault), "{text}");
    let many = point.replace(
        "mechanism = true",
        "mechanism = true\ncopies = { count = [17, 1, 1], spacing = [1, 0, 0] }",
    );
    let many = many.replace("\"ball\", \"floor\"", "\"ball_1\", \"floor\"");
    let text = error(&many);
    assert!(text.starts_with("error: at most 16 nodes can be points of mechanisms\n"), "{text}");
}

#[test]
fn schemes_that_move_their_own_nodes_only() {
    let midpoint = format!("{MINIMAL}\n[engine]\nscheme = \"midpoint\"\n");
    model(&midpoint);
    let hint = "write coupling = \"owned\" for it, or scheme = \"moreau-jean\"";
    let message = "scheme \"midpoint\" moves its own nodes only, and `ball` has coupling = \"kinetic\"";
    assert_eq!(
        error(&midpoint.replace("\"owned\"", "\"kinetic\"")),
        expected(message, 6, "coupling = \"kinetic\"", "\"kinetic\"", hint)
    );
    assert_eq!(
        error(&midpoint.replace("coupling = \"owned\"", "")),
        expected(&format!("{message} by default"), 5, "name = \"ball\"", "\"ball\"", hint)
    );
    let text = error(&midpoint.replace("coupling = \"owned\"", "iterative = true"));
    assert!(text.starts_with(&format!("error: {message} by default\n")), "{text}");
    model(&midpoint.replace("normal = [0, 0, 1]", "normal = [0, 0, 1]\nmotion = \"input\""));
    for scheme in ["multistep", "hht"] {
        let other = midpoint.replace("\"midpoint\"", &format!("\"{scheme}\""));
        model(&other);
        let text = error(&other.replace("\"owned\"", "\"kinetic\""));
        assert!(text.starts_with(&format!("error: scheme \"{scheme}\" moves its own nodes only")), "{text}");
    }
}

/// The floor with more keys.
fn floor(keys: &str) -> String {
    MINIMAL.replace("normal = [0, 0, 1]", &format!("normal = [0, 0, 1]\n{keys}"))
}

#[test]
fn surfaces_that_a_master_moves() {
    let Motion::Input(frame) = model(&floor("motion = \"input\"")).surfaces[0].motion else {
        panic!("it moves")
    };
    let standing = Rotation {
        inertia: [f64::INFINITY; 3],
        orientation: [1.0, 0.0, 0.0, 0.0],
        angular_velocity: [0.0; 3],
    };
    let coupling = Kinetic { mechanism: Membership::No, ..FREE };
    assert_eq!(frame, Frame { mass: f64::INFINITY, velocity: [0.0; 3], rotation: standing, coupling });
    let surface = &model(&floor(
        "motion = \"input\"\nposition = [0, 0, -1]\nmass = 3\ninertia = [1, 2, 3]\norientation = [0.6, 0, 0, 0.8]\nvelocity = [1, 2, 3]\nangular_velocity = [4, 5, 6]\nlatency = 1\nshaping = false\nadapt = false\nguard = false",
    ))
    .surfaces[0];
    assert_eq!(surface.position, [0.0, 0.0, -1.0]);
    assert_eq!(
        surface.motion,
        Motion::Input(Frame {
            mass: 3.0,
            velocity: [1.0, 2.0, 3.0],
            rotation: Rotation {
                inertia: [1.0, 2.0, 3.0],
                orientation: [0.6, 0.0, 0.0, 0.8],
                angular_velocity: [4.0, 5.0, 6.0],
            },
            coupling: Kinetic {
                latency: Latency::Known(1),
                shaping: false,
                adapt: false,
                guard: false,
                mechanism: Membership::No
            },
        })
    );
    assert_eq!(model(&floor("motion = \"fixed\"")).surfaces[0].motion, Motion::Fixed);
}

#[test]
fn moving_surfaces_keep_the_rules_of_rigid_bodies() {
    for (keys, fault) in [
        ("mass = 0", "`mass` must be above 0, found 0"),
        ("inertia = [1, 1, 0]", "`inertia[3]` must be above 0, found 0"),
        (
            "inertia = [1, 1, 3]",
            "no body has these moments of inertia: one is larger than the other two together",
        ),
        ("orientation = [1, 1, 0, 0]", "`orientation` must have length 1, found 1.41421"),
        ("latency = 2", "`latency` must be \"auto\", 0 or 1, found the number 2"),
        ("iterative = true", "unknown key `iterative` in [[surface]]"),
    ] {
        let text = error(&floor(&format!("motion = \"input\"\n{keys}")));
        assert!(text.starts_with(&format!("error: {fault}\n")), "{text}");
    }
    for (key, value) in [
        ("mass", "1"),
        ("inertia", "[1, 1, 1]"),
        ("orientation", "[1, 0, 0, 0]"),
        ("velocity", "[0, 0, 0]"),
        ("angular_velocity", "[0, 0, 0]"),
        ("latency", "0"),
        ("shaping", "true"),
        ("adapt", "true"),
        ("guard", "true"),
    ] {
        let line = format!("{key} = {value}");
        let refused = expected(
            &format!("`{key}` has no meaning with motion = \"fixed\""),
            14,
            &line,
            value,
            "leave it out, or write motion = \"input\"",
        );
        assert_eq!(error(&floor(&line)), refused);
        assert_eq!(error(&floor(&format!("{line}\nmotion = \"fixed\""))), refused);
    }
}

#[test]
fn a_node_may_not_start_inside_a_surface_that_moves() {
    // The floor is turned on its head: it is solid above z = 0.5.
    let turned = "motion = \"input\"\nposition = [0, 0, 0.5]\norientation = [0, 1, 0, 0]";
    let text = error(&floor(turned));
    assert!(text.starts_with("error: `ball` starts 0.6 m inside `floor`\n"), "{text}");
    assert!(text.contains("move `position` by 0.6 m along the normal [0, 0, -1]"), "{text}");
    model(&floor(turned).replace("[0, 0, 1]\n\n[[surface]]", "[0, 0, 0.4]\n\n[[surface]]"));
}

#[test]
fn a_start_inside_a_surface_may_be_allowed() {
    let inside = MINIMAL.replace("position = [0, 0, 1]", "position = [0, 0, 0.05]");
    error(&inside);
    let (system, _) = model(&format!("{inside}\n[engine]\nallow_initial_penetration = true\n")).assemble();
    assert!(system.settings.allow_initial_penetration);
}

#[test]
fn bodies_are_the_nodes_and_then_the_surfaces_that_move() {
    let text = floor("motion = \"input\"\nposition = [0, 0, -1]\nmass = 3")
        + "[[node]]\nname = \"wheel\"\ninertia = [1, 1, 1]\nmass = 2\nposition = [0, 0, 3]\nangular_velocity = [1, 2, 3]\n\
           [[node]]\nname = \"tip\"\nmass = 0.1\nposition = [0, 0, 2]\ncoupling = \"compliant\"\nlatency = 1\ncompliance = { stiffness = 1, master_mass = 5 }\n";
    let model = model(&text);
    assert!(model.body_names().eq(["ball", "wheel", "tip", "floor"]));
    let (system, state) = model.assemble();
    assert_eq!(system.nodes.len(), 4);
    assert_eq!(
        system.nodes.iter().map(|node| node.coupling).collect::<Vec<_>>(),
        [None, Some(0), Some(1), Some(2)]
    );
    assert_eq!(
        system.nodes.iter().map(|node| node.rotation).collect::<Vec<_>>(),
        [None, Some(0), None, Some(1)]
    );
    assert_eq!(system.couplings.iter().map(|coupling| coupling.node).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(state.parameters.mass, [1.0, 2.0, 0.1, 3.0]);
    assert_eq!(state.parameters.inertia[1][0], f64::INFINITY);
    assert_eq!(state.couplings[0].given.position[2], 3.0);
    assert_eq!(state.couplings[0].given.angular_velocity[1], 2.0);
    assert_eq!(state.couplings[2].given.position[2], -1.0);
    let masses: Vec<f64> = state.couplings.iter().map(|coupling| coupling.diagnosis.mass).collect();
    assert_eq!(masses, [2.0, 5.0, 3.0], "a compliant node responds with the mass that the master moves");
    let latencies: Vec<_> = state.couplings.iter().map(|coupling| coupling.diagnosis.latency).collect();
    assert_eq!(latencies, [None, Some(1), None]);
}

#[test]
fn model_names() {
    for (name, fault) in [
        ("2balls", "is not a C identifier"),
        ("a-b", "is not a C identifier"),
        ("", "is not a C identifier"),
        ("größe", "is not a C identifier"),
        ("double", "is a keyword of C"),
    ] {
        let text = error_with("ball_on_floor", name);
        assert!(text.starts_with(&format!("error: `{name}` {fault}: ")), "{text}");
        assert!(text.contains(" --> m.toml:2:8\n"), "{text}");
    }
    assert_eq!(model(&MINIMAL.replace("ball_on_floor", "_A9")).name, "_A9");
}

#[test]
fn entry_names() {
    assert_eq!(
        error_with("name = \"floor\"", "name = \"the floor\"").split("\n\n").next().unwrap(),
        expected(
            "`the floor` is not a name",
            12,
            "name = \"the floor\"",
            "\"the floor\"",
            "use letters, digits and _, and start with a letter or _"
        )
    );
    for reserved in ["engine", "gravity", "time", "ground"] {
        let text = error(&MINIMAL.replace("ball\"", &format!("{reserved}\"")));
        assert!(text.starts_with(&format!("error: the name `{reserved}` is reserved\n")), "{text}");
    }
    let second_ball = "[[node]]\nname = \"ball\"\ncoupling = \"owned\"\nmass = 1\n";
    assert_eq!(
        error(&format!("{MINIMAL}{second_ball}")),
        expected(
            "the name `ball` is already taken by a node",
            18,
            "name = \"ball\"",
            "\"ball\"",
            "nodes, surfaces, contacts, springs and joints share their names"
        )
    );
    let text = error(&format!("{MINIMAL}name = \"floor\"\n"));
    assert!(text.starts_with("error: the name `floor` is already taken by a surface\n"), "{text}");
    let text =
        error(&format!("{MINIMAL}\n[[node]]\nname = \"ball_floor\"\ncoupling = \"owned\"\nmass = 1\n"));
    assert!(text.starts_with("error: the name `ball_floor` is already taken by a node\n"), "{text}");
    assert!(text.ends_with("hint: give this contact a `name`"), "{text}");
}

#[test]
fn description_fits_one_line() {
    let text = error_with("[model]", "[model]\ndescription = \"two\\nlines\"");
    assert!(
        text.starts_with(
            "error: `description` must be one line without control characters\n  --> m.toml:2:15\n"
        ),
        "{text}"
    );
}

#[test]
fn no_node() {
    assert_eq!(
        error("[model]\nname = \"nothing\"\n"),
        "error: the model has no node\n  --> m.toml\nhint: add a [[node]]"
    );
}

#[test]
fn contacts_of_two_nodes_or_two_surfaces() {
    let more = "[[node]]\nname = \"cube\"\ncoupling = \"owned\"\nmass = 1\nposition = [0, 0, 2]\n\
                [[surface]]\nname = \"wall\"\nshape.plane.normal = [1, 0, 0]\n";
    let contact = |first: &str, second: &str| {
        format!("{MINIMAL}{more}[[contact]]\nbetween = [\"{first}\", \"{second}\"]\n")
    };
    let contacts = model(&contact("cube", "ball")).contacts;
    let other = |contact: &Contact| match contact.between {
        Between::Pair { other, .. } => Some(other),
        Between::Group(_) => None,
    };
    assert_eq!((contacts[1].name.as_str(), other(&contacts[1])), ("cube_ball", Some(Other::Node(0))));
    assert_eq!(
        error(&contact("ball", "ball")),
        expected(
            "`ball` cannot touch itself",
            26,
            "between = [\"ball\", \"ball\"]",
            "[\"ball\", \"ball\"]",
            "a contact is between a node and a surface, or between two nodes"
        )
    );
    let text = error(&contact("ball", "cube").replace("shape.sphere.radius = 0.1", ""));
    assert!(text.starts_with("error: `ball` and `cube` can never touch: both are points\n"), "{text}");
    let text = error(&format!("{MINIMAL}{more}[[contact]]\nbetween = [\"wall\", \"floor\"]\n"));
    assert!(text.starts_with("error: `wall` and `floor` are both surfaces\n"), "{text}");
}

const TWO_BY_TWO: &str = r#"[model]
name = "two_by_two"
[[node]]
name = "a"
coupling = "owned"
mass = 1
[[node]]
name = "b"
coupling = "owned"
mass = 1
[[surface]]
name = "floor"
shape.plane.normal = [0, 0, 1]
[[surface]]
name = "wall"
shape.plane.normal = [1, 0, 0]
"#;

/// Name and restitution of the contacts.
fn contacts(entries: &str) -> Vec<(String, f64)> {
    let contacts = model(&format!("{TWO_BY_TWO}{entries}")).contacts;
    contacts.into_iter().map(|contact| (contact.name, contact.restitution)).collect()
}

fn named<const N: usize>(list: [(&str, f64); N]) -> Vec<(String, f64)> {
    list.into_iter().map(|(name, restitution)| (name.to_owned(), restitution)).collect()
}

#[test]
fn wildcards_stand_for_every_node_and_surface() {
    assert_eq!(
        contacts("[[contact]]\nbetween = [\"*\", \"floor\"]\nrestitution = 0.5\n"),
        named([("a_floor", 0.5), ("b_floor", 0.5)])
    );
    assert_eq!(
        contacts("[[contact]]\nbetween = [\"b\", \"*\"]\n"),
        named([("b_floor", 0.0), ("b_wall", 0.0)])
    );
    assert_eq!(
        contacts("[[contact]]\nbetween = [\"*\", \"*\"]\n"),
        named([("a_floor", 0.0), ("a_wall", 0.0), ("b_floor", 0.0), ("b_wall", 0.0)])
    );
}

#[test]
fn the_entry_that_names_more_wins() {
    let any = "[[contact]]\nbetween = [\"*\", \"*\"]\n";
    let floor = "[[contact]]\nbetween = [\"floor\", \"*\"]\nrestitution = 0.25\n";
    let pair = "[[contact]]\nname = \"special\"\nbetween = [\"floor\", \"a\"]\nrestitution = 0.5\n";
    assert_eq!(
        contacts(&format!("{any}{floor}{pair}")),
        named([("a_wall", 0.0), ("b_wall", 0.0), ("b_floor", 0.25), ("special", 0.5)])
    );
    assert_eq!(
        contacts(&format!("{pair}{floor}{any}")),
        named([("special", 0.5), ("b_floor", 0.25), ("a_wall", 0.0), ("b_wall", 0.0)])
    );
}

#[test]
fn the_same_pair_twice() {
    let twice = "[[contact]]\nbetween = [\"a\", \"floor\"]\n[[contact]]\nbetween = [\"floor\", \"a\"]\nname = \"x\"\n";
    assert_eq!(
        error(&format!("{TWO_BY_TWO}{twice}")),
        expected(
            "the contact between `a` and `floor` is given twice",
            20,
            "between = [\"floor\", \"a\"]",
            "[\"floor\", \"a\"]",
            "remove one of the two entries"
        )
    );
    let crossing = "[[contact]]\nbetween = [\"a\", \"*\"]\n[[contact]]\nbetween = [\"*\", \"wall\"]\n";
    let text = error(&format!("{TWO_BY_TWO}{crossing}"));
    assert!(text.starts_with("error: the contact between `a` and `wall` is given twice\n"), "{text}");
    assert!(text.ends_with("hint: an entry between [\"a\", \"wall\"] would decide"), "{text}");
}

#[test]
fn too_many_contacts() {
    let mut source =
        "[model]\nname = \"many\"\n[[contact]]\nbetween = [\"*\", \"*\"]\nnormal_stiffness = 1e8\n"
            .to_owned();
    for index in 0..=MAX_CONTACTS.isqrt() {
        source += &format!("[[node]]\nname = \"n{index}\"\ncoupling = \"owned\"\nmass = 1\n");
        source += &format!("[[surface]]\nname = \"s{index}\"\nshape.plane.normal = [0, 0, 1]\n");
    }
    let text = error(&source);
    assert!(
        text.starts_with("error: the model has more than 1000000 contacts\n  --> m.toml:4:11\n"),
        "{text}"
    );
}

#[test]
fn internal_step_far_below_the_communication_step() {
    let text = error(&format!("{MINIMAL}[engine]\nstep = 1e-20\n"));
    assert!(text.starts_with("error: `step` is too small: "), "{text}");
    assert!(text.contains(" --> m.toml:18:8\n"), "{text}");
}

#[test]
fn schema_describes_what_is_read() {
    let schema = file::schema();
    let schema = schema.as_value();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "contact-fmu model file");
    assert!(schema.get("$id").is_none());
    let node = &schema["properties"]["node"]["items"];
    assert_eq!(node["required"], serde_json::json!(["name", "mass"]));
    assert_eq!(node["properties"]["mass"]["type"], "number");
    assert_eq!(node["properties"]["mass"]["exclusiveMinimum"], 0.0);
    assert_eq!(node["properties"]["inertia"]["items"]["exclusiveMinimum"], 0.0);
    assert_eq!(node["properties"]["latency"]["enum"], serde_json::json!(["auto", 0, 1]));
    assert_eq!(node["properties"]["compliance"]["required"], serde_json::json!(["stiffness", "master_mass"]));
    assert_eq!(schema["properties"]["engine"]["properties"]["tolerance"]["default"], 1e-10);
    assert_documented(schema, "");
}

/// Every table is closed, every key has a description, and nothing may be null.
fn assert_documented(schema: &serde_json::Value, path: &str) {
    assert_ne!(schema["type"], "null", "{path}");
    assert!(!schema["type"].is_array(), "{path}");
    assert!(schema.get("default").is_none_or(|default| !default.is_null()), "{path}");
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{path}");
    }
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        let is_variant = [
            "sphere",
            "disc",
            "plane",
            "capsule",
            "cylinder",
            "hull",
            "mesh",
            "heightfield",
            "cone",
            "facets",
            "box",
            "bristle",
            "kelvin_voigt",
            "hertz",
            "hunt_crossley",
            "lankarani_nikravesh",
            "flores",
            "schmucker",
            "sine",
            "ramp",
        ]
        .contains(&key.as_str());
        assert!(is_variant || property["description"].is_string(), "{path}");
        assert_documented(property, &path);
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let is_choice_of_keys = variant.get("properties").is_none() && variant.get("const").is_none();
        assert!(is_choice_of_keys || variant["description"].is_string(), "{path}");
        assert_documented(variant, path);
    }
    for option in schema["anyOf"].as_array().into_iter().flatten() {
        assert_documented(option, path);
    }
    if let Some(items) = schema.get("items") {
        assert_documented(items, &format!("{path}[]"));
    }
}

#[test]
fn wildcards_take_pairs_of_nodes_that_can_touch() {
    let ball = |name: &str, x: f64| {
        format!(
            "[[node]]\nname = \"{name}\"\ncoupling = \"owned\"\nmass = 1\ninertia = [1, 1, 1]\n\
             shape.sphere.radius = 0.1\nposition = [{x}, 0, 1]\n"
        )
    };
    let source = format!(
        "[model]\nname = \"three\"\n{}{}{}[[joint]]\nname = \"pin\"\nbetween = [\"a\", \"c\"]\n\
         fixed.position = [0, 0, 1]\n[[contact]]\nbetween = [\"*\", \"*\"]\n",
        ball("a", 0.0),
        ball("b", 1.0),
        ball("c", 2.0)
    );
    let names: Vec<String> = model(&source).contacts.into_iter().map(|contact| contact.name).collect();
    assert_eq!(names, ["a_b", "b_c"], "what a joint holds together does not touch");
    let overlapping = source.replace("position = [1, 0, 1]", "position = [0.15, 0, 1]");
    let text = error(&overlapping);
    assert!(text.starts_with("error: `a` starts 0.05 m inside `b`\n"), "{text}");
}

#[test]
fn shapes_of_surfaces() {
    let with_shape = |shape: &str| MINIMAL.replace("shape.plane.normal = [0, 0, 1]", shape);
    let shape = |text: &str| model(&with_shape(text)).surfaces[0].shape;
    assert_eq!(shape("shape.sphere.radius = 0.5"), SurfaceShape::Sphere { radius: 0.5 });
    assert_eq!(shape("shape.box.size = [1, 2, 0.5]"), SurfaceShape::Box { size: [1.0, 2.0, 0.5] });
    assert_eq!(
        shape("shape.cylinder = { radius = 0.5, length = 0.4, axis = [2, 0, 0] }"),
        SurfaceShape::Cylinder { radius: 0.5, half_axis: [0.2, 0.0, 0.0] }
    );
    assert_eq!(
        shape("shape.capsule = { radius = 0.5, length = 0.4 }"),
        SurfaceShape::Capsule { radius: 0.5, half_axis: [0.0, 0.0, 0.2] }
    );
    let text = error(&with_shape("shape.cylinder = { radius = 0.5, length = 0.4, axis = [0, 0, 0] }"));
    assert!(text.starts_with("error: `axis` must not be zero: it has no direction\n"), "{text}");
    let text = error(&with_shape("shape.box.size = [1, 2, 3]"));
    assert!(text.starts_with("error: `ball` starts 0.6 m inside `floor`\n"), "{text}");
    let turned = "shape.box.size = [1, 2, 0.5]\norientation = [0, 1, 0, 0]";
    assert_eq!(model(&with_shape(turned)).surfaces[0].orientation, [0.0, 1.0, 0.0, 0.0]);
}
