//! Springs and joints in the model file: what they mean, and every kind of bad input.

use super::{error, expected, model};
use contact_fmu::engine::{joint_motion, potential_energy, spring_length, spring_tension};
use contact_fmu::model::{Drive, Joint, JointFriction, JointKind, Model, Motor, Profile};

/// A point mass, two rigid bodies, one of them turned, and a node that the master moves.
const BODIES: &str = r#"[model]
name = "tied"

[[node]]
name = "ball"
coupling = "owned"
mass = 1
position = [0, 0, 1]

[[node]]
name = "rod"
coupling = "owned"
mass = 2
inertia = [1, 1, 1]
position = [1, 0, 0]
orientation = [0.5, 0.5, 0.5, 0.5] # x to y to z to x

[[node]]
name = "plate"
coupling = "owned"
mass = 1
inertia = [1, 1, 1]
position = [2, 0, 0]

[[node]]
name = "far"
mass = 1

[[surface]]
name = "floor"
shape.plane.normal = [0, 0, 1]
"#;

/// Line of what follows the bodies.
fn first_line() -> usize {
    BODIES.lines().count() + 1
}

fn tied(entries: &str) -> Model {
    model(&format!("{BODIES}{entries}"))
}

/// The only error of the bodies with an entry, whose `line` is marked.
#[track_caller]
fn refused(entry: &str, message: &str, line: &str, marked: &str, hint: &str) {
    let place = entry.lines().position(|candidate| candidate == line).expect("the line is in the entry");
    assert_eq!(
        error(&format!("{BODIES}{entry}")),
        expected(message, first_line() + place, line, marked, hint)
    );
}

fn spring(keys: &str) -> String {
    format!("[[spring]]\nname = \"k\"\nstiffness = 100\n{keys}\n")
}

fn joint(keys: &str) -> String {
    format!("[[joint]]\nname = \"j\"\n{keys}\n")
}

/// A hinge between the ground and the rod, about z through the origin, with further keys.
fn hinge(keys: &str) -> String {
    let keys = format!(
        "between = [\"ground\", \"rod\"]\nrevolute = {{ axis = [0, 0, 2], position = [0, 0, 0] }}\n{keys}"
    );
    joint(&keys)
}

fn only_joint(entry: &str) -> Joint {
    let [joint] = tied(entry).joints.try_into().expect("one joint");
    joint
}

#[test]
fn springs_are_read() {
    let springs = tied(
        "[[spring]]\nname = \"k\"\nbetween = [\"ball\", \"ground\"]\nstiffness = 100\n\
         [[spring]]\nname = \"l\"\nbetween = [\"ground\", \"rod\"]\nstiffness = 0\ndamping = 2\nlength = 0.5\n\
         anchors = [[0, 0, 3], [0, 0, 1]]\n",
    )
    .springs;
    assert_eq!((springs[0].stiffness, springs[0].damping, springs[0].length), (100.0, 0.0, 0.0));
    assert_eq!(springs[0].ends.map(|end| (end.node, end.place)), [(Some(0), [0.0; 3]), (None, [0.0; 3])]);
    assert_eq!((springs[1].stiffness, springs[1].damping, springs[1].length), (0.0, 2.0, 0.5));
    let ends = springs[1].ends.map(|end| (end.node, end.place));
    assert_eq!(ends, [(None, [0.0, 0.0, 3.0]), (Some(1), [0.0, 0.0, 1.0])]);
}

#[test]
fn springs_pull_along_the_line_between_their_ends() {
    let model = tied(&spring(
        "between = [\"ground\", \"rod\"]\ndamping = 3\nlength = 1\nanchors = [[0, 0, 0], [0, 0, 1]]",
    ));
    let (system, mut state) = model.assemble();
    state.nodes[1].velocity.x = 0.5;
    state.rotations[0].angular_velocity.y = 1.0;
    // The rod's third axis lies along x, so that its end is at x = 2 and moves along x with its centre only.
    assert_eq!(spring_length(&system, &state, 0), 2.0);
    assert_eq!(spring_tension(&system, &state, 0), 100.0 * 1.0 + 3.0 * 0.5);
    let gravity = 9.81 * (1.0 * 1.0);
    assert!((potential_energy(&system, &state) - gravity - 50.0).abs() < 1e-12);
}

#[test]
fn springs_without_a_direction() {
    let message = "the ends of spring `k` are at the same place at the start: it has no direction";
    let hint = "move a node, or give `anchors` that are apart; without them, ends are at the centres of nodes and the origin of the ground; or leave out `length`: a spring without it needs no direction";
    let line = "anchors = [[0, 0, -1], [0, 0, 0]]";
    let entry = spring(&format!("between = [\"ball\", \"ground\"]\nlength = 0.1\n{line}"));
    refused(&entry, message, line, "[[0, 0, -1], [0, 0, 0]]", hint);
    let line = "between = [\"ball\", \"low\"]";
    let low = "[[node]]\nname = \"low\"\ncoupling = \"owned\"\nmass = 1\nposition = [0, 0, 1]\n";
    let entry = format!("{}{low}", spring(&format!("{line}\nlength = 1")));
    refused(&entry, message, line, "[\"ball\", \"low\"]", hint);
}

#[test]
fn a_spring_without_length_may_start_without_a_direction() {
    let anchors = "anchors = [[0, 0, -1], [0, 0, 0]]";
    let model = tied(&spring(&format!("between = [\"ball\", \"ground\"]\n{anchors}")));
    let (system, state) = model.assemble();
    assert_eq!((spring_length(&system, &state, 0), spring_tension(&system, &state, 0)), (0.0, 0.0));
}

#[test]
fn what_springs_and_joints_may_be_between() {
    for (kind, entry) in [
        ("spring", spring as fn(&str) -> String),
        ("joint", |keys| joint(&format!("{keys}\ndistance = {{}}"))),
    ] {
        let line = "between = [\"rod\", \"rod\"]";
        let hint = "name two nodes, or one node and \"ground\", the fixed frame";
        refused(
            &entry(line),
            &format!("a {kind} cannot join `rod` to itself"),
            line,
            "[\"rod\", \"rod\"]",
            hint,
        );
        let line = "between = [\"ground\", \"ground\"]";
        refused(
            &entry(line),
            &format!("a {kind} cannot join the ground to itself"),
            line,
            "[\"ground\", \"ground\"]",
            hint,
        );
        let line = "between = [\"bal\", \"rod\"]";
        refused(&entry(line), "there is no node `bal`", line, "\"bal\"", "did you mean `ball`?");
        let line = "between = [\"rod\", \"sky\"]";
        let hint = "add it as [[node]], or write \"ground\" for the fixed frame";
        refused(&entry(line), "there is no node `sky`", line, "\"sky\"", hint);
        let line = "between = [\"rod\", \"floor\"]";
        refused(
            &entry(line),
            &format!("`floor` is a surface, and a {kind} is between nodes, or a node and \"ground\""),
            line,
            "\"floor\"",
            "\"ground\" is the fixed frame, which surfaces that do not move belong to",
        );
        let line = "between = [\"far\", \"rod\"]";
        refused(
            &entry(line),
            &format!("`far` is moved by the master, and a {kind} acts on nodes that the FMU moves"),
            line,
            "\"far\"",
            &format!("write coupling = \"owned\" for `far`, or leave the {kind} to the master"),
        );
    }
}

#[test]
fn names_of_springs_and_joints() {
    for (name, kind) in [("rod", "node"), ("floor", "surface"), ("k", "spring")] {
        let again = format!(
            "[[joint]]\nname = \"{name}\"\nbetween = [\"ball\", \"rod\"]\ndistance = {{}}\n{}",
            spring("between = [\"ball\", \"rod\"]")
        );
        let line = format!("name = \"{name}\"");
        refused(
            &again,
            &format!("the name `{name}` is already taken by a {kind}"),
            &line,
            &format!("\"{name}\""),
            "nodes, surfaces, contacts, springs and joints share their names",
        );
    }
}

#[test]
fn numbers_of_springs() {
    for (line, marked, message) in [
        ("stiffness = -1", "-1", "`stiffness` must be at least 0, found -1"),
        ("damping = -0.5", "-0.5", "`damping` must be at least 0, found -0.5"),
        ("length = -1", "-1", "`length` must be at least 0, found -1"),
        ("length = inf", "inf", "`length` must be a finite number, found inf"),
    ] {
        let stiffness = if line.starts_with("stiffness") { "" } else { "stiffness = 1\n" };
        let entry =
            format!("[[spring]]\nname = \"k\"\nbetween = [\"ball\", \"ground\"]\n{stiffness}{line}\n");
        let text = error(&format!("{BODIES}{entry}"));
        assert!(text.starts_with(&format!("error: {message}\n")), "{text}");
        assert!(text.contains(&"^".repeat(marked.len())), "{text}");
    }
}

/// Both frames of a joint agree at the start, their third axis is that of the joint, and the ends are at its place.
#[test]
fn joints_start_at_their_place() {
    for axis in [[0.0, 0.0, 2.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [-3.0, 0.0, -4.0], [1e-9, 0.0, -1.0]] {
        let entry = joint(&format!(
            "between = [\"rod\", \"plate\"]\ncylindrical = {{ axis = {axis:?}, position = [1.5, 1, 0] }}"
        ));
        let model = tied(&entry);
        assert_eq!(model.joints[0].kind, JointKind::Cylindrical);
        let (system, mut state) = model.assemble();
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (index, component) in axis.into_iter().enumerate() {
            let unit = component / length;
            state.nodes[2].velocity[index] = 2.0 * unit;
            state.rotations[1].angular_velocity[index] = 3.0 * unit;
        }
        let motion = joint_motion(&system, &state, 0);
        assert!(motion.apart.norm() < 1e-15, "{axis:?}");
        assert!((motion.spin - nalgebra::Vector3::new(0.0, 0.0, 3.0)).norm() < 1e-14, "{axis:?}");
        assert!((motion.velocity.z - 2.0).abs() < 1e-14, "{axis:?}");
        let [first, second] = system.ties.joints[0].ends;
        for index in 0..3 {
            let mut unit = nalgebra::Vector3::zeros();
            unit[index] = 1.0;
            let one = state.rotations[0].orientation.to_world(&first.frame.to_world(&unit));
            let other = state.rotations[1].orientation.to_world(&second.frame.to_world(&unit));
            assert!((one - other).norm() < 1e-15, "{axis:?}");
        }
    }
}

#[test]
fn joints_are_read() {
    let pin = only_joint(&hinge(
        "friction = { mu_static = 0.3, mu_kinetic = 0.2, radius = 0.05, half_length = 0.04 }\ndrive.rate = 2",
    ));
    assert_eq!((pin.name.as_str(), pin.kind), ("j", JointKind::Revolute));
    assert_eq!(
        pin.friction,
        Some(JointFriction {
            mu_static: 0.3,
            mu_kinetic: 0.2,
            radius: 0.05,
            half_length: 0.04,
            threshold: 1e-3
        })
    );
    assert_eq!(pin.motor, Some(Motor { drive: Drive::Rate, profile: Profile::Constant(2.0) }));
    assert_eq!(pin.ends[0].anchor.node, None);
    assert_eq!(
        pin.ends[1].anchor.place,
        [0.0, 0.0, -1.0],
        "in the frame of the rod, whose third axis lies along x"
    );
    let on_wire = only_joint(&joint(
        "between = [\"ball\", \"ground\"]\nprismatic = { axis = [1, 0, 0], position = [0, 0, 1] }",
    ));
    assert_eq!((on_wire.kind, on_wire.ends[0].anchor.place), (JointKind::Prismatic, [0.0; 3]));
    let ball = only_joint(&joint("between = [\"rod\", \"plate\"]\nspherical.position = [1, 1, 0]"));
    assert_eq!((ball.kind, ball.ends[1].anchor.place), (JointKind::Spherical, [-1.0, 1.0, 0.0]));
    let weld = only_joint(&joint("between = [\"rod\", \"plate\"]\nfixed = {}"));
    assert_eq!(
        (weld.kind, weld.ends[1].anchor.place),
        (JointKind::Fixed, [0.0; 3]),
        "at the second's centre"
    );
    let weld = only_joint(&joint("between = [\"plate\", \"ground\"]\nfixed = {}"));
    assert_eq!(weld.ends[0].anchor.place, [0.0; 3], "at the centre of the only node");
    let link = only_joint(&joint("between = [\"rod\", \"plate\"]\ndistance = {}"));
    assert_eq!(link.kind, JointKind::Distance { length: 1.0 }, "as at the start");
    let link = only_joint(&joint(
        "between = [\"rod\", \"ground\"]\ndistance = { length = 2.0, anchors = [[0, 0, 1], [0, 0, 0]] }",
    ));
    assert_eq!(link.kind, JointKind::Distance { length: 2.0 });
}

#[test]
fn motors_follow_functions_of_time() {
    let motor = |drive: &str| only_joint(&hinge(drive)).motor.expect("a motor");
    let sine = Profile::Sine { amplitude: 1.0, frequency: 2.0, phase: 0.0, offset: 0.0 };
    assert_eq!(
        motor("drive.position.sine = { amplitude = 1, frequency = 2 }"),
        Motor { drive: Drive::Position, profile: sine }
    );
    let ramp = Profile::Ramp { from: 0.0, to: 3.0, start: 1.0, duration: 0.5 };
    assert_eq!(
        motor("drive = { position = { ramp = { from = 0, to = 3, start = 1, duration = 0.5 } } }"),
        Motor { drive: Drive::Position, profile: ramp }
    );
    assert_eq!(
        motor("drive.rate.table = [[0, 1], [2, 3.5]]").profile,
        Profile::Table(vec![[0.0, 1.0], [2.0, 3.5]])
    );
    let slide = "[[joint]]\nname = \"slide\"\nbetween = [\"ground\", \"ball\"]\n\
                 prismatic = { axis = [1, 0, 0], position = [0, 0, 1] }\ndrive.position = \"input\"\n";
    let joints = tied(&format!("{}{slide}", hinge("drive.rate = \"input\""))).joints;
    let profiles = joints.into_iter().map(|joint| joint.motor.expect("a motor").profile);
    assert!(profiles.eq([Profile::Input(0), Profile::Input(1)]));
}

#[test]
fn motors_that_cannot_be() {
    let line = "drive.rate = \"inptu\"";
    refused(
        &hinge(line),
        "`drive.rate` cannot be \"inptu\"",
        line,
        "\"inptu\"",
        "did you mean \"input\"? known values: \"input\"",
    );
    let line = "drive.rate = true";
    let hint = "\"input\" for an FMU input, a number, or a table with sine, ramp or table";
    refused(&hinge(line), "`drive.rate` cannot be true", line, "true", hint);
    let line = "drive.rate.sine = { amplitude = 1 }";
    let text = error(&format!("{BODIES}{}", hinge(line)));
    assert!(text.starts_with("error: `drive.rate.sine` needs the key `frequency`\n"), "{text}");
    let line = "drive.torque = 1";
    let text = error(&format!("{BODIES}{}", hinge(line)));
    assert!(text.starts_with("error: unknown key `torque` in `drive`\n"), "{text}");
    let hint = "write table = [[0.0, 0.0], [1.0, 2.0]]: time in s, then the value";
    for table in ["[]", "[[1, 0], [1, 2]]"] {
        let line = format!("drive = {{ rate.table = {table} }}");
        let marked = format!("{{ rate.table = {table} }}");
        refused(&hinge(&line), "`table` needs points whose times rise", &line, &marked, hint);
    }
    let hint =
        "angles and distances of joints are counted from the start: begin with 0, for example by a ramp";
    for (profile, start) in [
        ("0.5", "0.5"),
        ("{ sine = { amplitude = 2, frequency = 1, offset = 1 } }", "1"),
        ("{ ramp = { from = 0, to = 2, start = -1, duration = 2 } }", "1"),
        ("{ table = [[-1, 0], [1, 3]] }", "1.5"),
    ] {
        let line = format!("drive = {{ position = {profile} }}");
        let message = format!("the motor starts at {start}, and its joint at 0");
        refused(&hinge(&line), &message, &line, &format!("{{ position = {profile} }}"), hint);
    }
    let entry = joint("between = [\"rod\", \"plate\"]\nfixed = {}\ndrive = { rate = 1 }");
    refused(
        &entry,
        "`drive` has no meaning in a fixed joint",
        "drive = { rate = 1 }",
        "{ rate = 1 }",
        "leave it out: motors drive revolute and prismatic joints",
    );
}

#[test]
fn exactly_one_kind_of_joint() {
    let hint = "they are: `revolute`, `cylindrical`, `spherical`, `prismatic`, `fixed`, `distance`";
    let entry = joint("between = [\"ball\", \"rod\"]");
    let message = "[[joint]] must have exactly one of these keys, found 0";
    refused(&entry, message, "[[joint]]", "[[joint]]", hint);
    let entry = joint("between = [\"ball\", \"rod\"]\nfixed = {}\ndistance = {}");
    let message = "[[joint]] must have exactly one of these keys, found 2";
    refused(&entry, message, "distance = {}", "distance", hint);
    let text = error(&format!("{BODIES}{}", joint("between = [\"ball\", \"rod\"]\nfixd = {}")));
    assert!(text.contains("error: unknown key `fixd` in [[joint]]"), "{text}");
    assert!(text.contains("did you mean `fixed`?"), "{text}");
}

#[test]
fn axes_without_a_direction() {
    let line = "revolute = { axis = [0, 0, 0], position = [0, 0, 0] }";
    refused(
        &joint(&format!("between = [\"rod\", \"ground\"]\n{line}")),
        "`axis` must not be zero: it has no direction",
        line,
        "[0, 0, 0]",
        "a hinge that lies along y has axis = [0.0, 1.0, 0.0]",
    );
}

#[test]
fn point_masses_cannot_be_held_from_turning() {
    let turning = |kind: &str| format!("{kind} = {{ axis = [1, 0, 0], position = [0, 0, 1] }}");
    for (other, kind, hint) in [
        ("ground", "revolute", "a spherical joint"),
        ("rod", "revolute", "a spherical joint"),
        ("ground", "cylindrical", "a prismatic joint"),
        ("rod", "cylindrical", "a spherical or a distance joint"),
        ("rod", "prismatic", "a spherical or a distance joint"),
        ("rod", "fixed", "a spherical or a distance joint"),
    ] {
        let line = if kind == "fixed" { "fixed = {}".to_owned() } else { turning(kind) };
        let entry = joint(&format!("between = [\"ball\", \"{other}\"]\n{line}"));
        refused(
            &entry,
            &format!("`ball` is a point mass: it has no orientation that a {kind} joint could hold"),
            &line,
            &line[line.find('{').unwrap()..],
            &format!("give `ball` an `inertia`, or use {hint}"),
        );
    }
    tied(&joint("between = [\"ball\", \"ground\"]\nfixed = {}"));
    tied(&joint("between = [\"ball\", \"rod\"]\nspherical.position = [0, 0, 1]"));
    let line = "spherical.position = [0, 0, 0]";
    refused(
        &joint(&format!("between = [\"ball\", \"rod\"]\n{line}")),
        "`ball` is a point mass 1 m away from the joint: it cannot turn about it",
        line,
        "[0, 0, 0]",
        "use a distance joint, give `ball` an `inertia`, or put the joint at its centre [0.0, 0.0, 1.0]",
    );
}

#[test]
fn distances_that_are_not_there() {
    let line = "distance.length = 1.1";
    refused(
        &joint(&format!("between = [\"rod\", \"plate\"]\n{line}")),
        "the ends of joint `j` are 1.0 m apart at the start, not 1.1 m",
        line,
        "1.1",
        "leave `length` out to keep the distance at the start, or move a node or an anchor",
    );
    tied(&joint("between = [\"rod\", \"plate\"]\ndistance.length = 1.0000000001"));
    let line = "distance.anchors = [[0, 0, 1], [0, 0, 0]]";
    refused(
        &joint(&format!("between = [\"rod\", \"plate\"]\n{line}")),
        "the ends of joint `j` are at the same place at the start: it has no direction",
        line,
        "[[0, 0, 1], [0, 0, 0]]",
        "move a node, or give `anchors` that are apart; without them, ends are at the centres of nodes and the origin of the ground",
    );
}

#[test]
fn friction_that_cannot_be() {
    let line = "friction = { mu_static = 0.2, mu_kinetic = 0.3, radius = 0.1, half_length = 0.1 }";
    refused(
        &hinge(line),
        "`mu_kinetic` must not be above `mu_static`, found 0.3 and 0.2",
        line,
        &line["friction = ".len()..],
        "what slides is not held better than what sticks",
    );
    let line = "friction = { mu_static = 0.2, mu_kinetic = 0.2, half_length = 0.1 }";
    refused(
        &hinge(line),
        "`friction` of a revolute joint needs the key `radius`",
        line,
        &line["friction = ".len()..],
        "it is the radius of the pin, in m",
    );
    tied(&joint(&format!(
        "between = [\"ground\", \"rod\"]\nprismatic = {{ axis = [1, 0, 0], position = [0, 0, 0] }}\n{line}"
    )));
    for kind in ["spherical.position = [0, 0, 0]", "fixed = {}", "distance = {}"] {
        let name = kind.split([' ', '.']).next().unwrap();
        refused(
            &joint(&format!("between = [\"rod\", \"ground\"]\n{kind}\n{line}")),
            &format!("`friction` has no meaning in a {name} joint"),
            line,
            &line["friction = ".len()..],
            "leave it out: friction is for revolute, cylindrical and prismatic joints",
        );
    }
}

/// The bodies with other velocities of the rod.
fn moving(velocity: &str, angular_velocity: &str, entry: &str) -> String {
    let position = "position = [1, 0, 0]";
    let moving = format!("{position}\nvelocity = {velocity}\nangular_velocity = {angular_velocity}");
    format!("{}{entry}", BODIES.replace(position, &moving))
}

#[test]
fn velocities_that_a_joint_does_not_allow() {
    let hint =
        "a body that turns with w about a place p has velocity = w x (position - p) and angular_velocity = w";
    let told = |source: &str, fault: &str| {
        let message = format!("joint `j` does not allow the initial velocities: its ends would {fault}");
        assert_eq!(error(source), expected(&message, first_line() + 3, "name = \"j\"", "\"j\"", hint));
    };
    model(&moving("[0, 3, 0]", "[0, 0, 3]", &hinge("")));
    model(&moving("[0, 3.000001, 0]", "[0, 0, 3]", &hinge("")));
    told(&moving("[0, 2, 0]", "[0, 0, 3]", &hinge("")), "move apart at 1 m/s");
    told(&moving("[0, 3, 0]", "[4, 0, 3]", &hinge("")), "turn against it at 4 rad/s");
    let link = joint("between = [\"rod\", \"plate\"]\ndistance = {}");
    model(&moving("[0, 2, 0]", "[0, 0, 3]", &link));
    told(&moving("[0.5, 2, 0]", "[0, 0, 3]", &link), "move apart at 0.5 m/s");
    let motor = hinge("drive.rate = 7");
    model(&moving("[0, 3, 0]", "[0, 0, 3]", &motor));
}

#[test]
fn motors_against_other_joints() {
    let hint = "remove one of them, or the motor";
    let motor = hinge("drive.rate = 1");
    let other =
        |keys: &str| format!("[[joint]]\nname = \"other\"\nbetween = [\"rod\", \"ground\"]\n{keys}\n");
    let turning = |axis: &str| format!("revolute = {{ axis = {axis}, position = [0, 0, 0] }}");
    for keys in [
        "fixed = {}",
        "spherical.position = [1, 0, 0]",
        "distance.anchors = [[0, 0, 0], [1, 1, 0]]",
        &turning("[0, 1, 1]"),
        &format!("{}\ndrive.rate = 2", turning("[0, 0, -1]")),
    ] {
        refused(
            &format!("{motor}{}", other(keys)),
            "joints `j` and `other` contradict each other: the motor of one drives what the other holds",
            "name = \"other\"",
            "\"other\"",
            hint,
        );
    }
    for keys in [
        "spherical.position = [0, 0, 4]",
        "distance.anchors = [[0, 0, 0], [0, 0, 1]]",
        &turning("[0, 0, -1]"),
    ] {
        tied(&format!("{motor}{}", other(keys)));
    }
    tied(&format!("{}{}", hinge("drive.rate = 0"), other("fixed = {}")));
    let slide = joint(
        "between = [\"ground\", \"rod\"]\nprismatic = { axis = [1, 0, 0], position = [0, 0, 0] }\ndrive.rate = 1",
    );
    let text = error(&format!("{BODIES}{slide}{}", other("distance = {}")));
    assert!(text.starts_with("error: joints `j` and `other` contradict each other"), "{text}");
}
