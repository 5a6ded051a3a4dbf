//! The model file of a robot.

use super::Floor;
use super::nodes::{Damper, Joint, Model, Motion, Node, Shape};
use nalgebra::Vector3;
use std::collections::HashSet;
use std::fmt::Write;

/// Names that no node or joint may have.
const RESERVED: [&str; 5] = ["engine", "gravity", "time", "ground", "floor"];

/// Names of the model: letters, digits and _, each once.
#[derive(Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A name like `wanted`; `kind` is added where it is taken.
    pub fn unique(&mut self, wanted: &str, kind: &str) -> String {
        let plain = identifier(wanted);
        let others = std::iter::once(format!("{plain}_{kind}"));
        let numbered = (2..).map(|number| format!("{plain}_{kind}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(others).chain(numbered);
        let is_free = |name: &String| !self.taken.contains(name) && !RESERVED.contains(&name.as_str());
        let name = names.find(is_free).expect("there are enough numbers");
        self.taken.insert(name.clone());
        name
    }
}

/// A name of letters, digits and _ that does not begin with a digit.
pub fn identifier(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
        .collect();
    if plain.starts_with(|first: char| first.is_ascii_digit()) || plain.is_empty() {
        format!("_{plain}")
    } else {
        plain
    }
}

/// The text of the model file, with notes on top.
pub fn text(
    model: &Model,
    name: &str,
    source: &str,
    floor: Option<Floor>,
    notes: &mut Vec<String>,
) -> String {
    let height = floor.map(|floor| match floor {
        Floor::At(height) => height,
        Floor::Below => model.nodes.iter().filter_map(Node::lowest).fold(f64::INFINITY, f64::min),
    });
    let height = height.filter(|height| height.is_finite());
    if floor.is_some() && height.is_none() {
        notes.push("the floor: no link has a collision shape that could touch it".to_owned());
    }
    let mut text = format!("# {} as contact-fmu import has read it.\n", one_line(source));
    if !notes.is_empty() {
        text.push_str("#\n# Not in this model:\n");
        for note in notes.iter_mut() {
            *note = one_line(note);
            let _ = writeln!(text, "# - {note}");
        }
    }
    if !model.shared.is_empty() {
        text.push_str("#\n# One node for several links:\n");
        for shared in &model.shared {
            let _ = writeln!(text, "# - {}", one_line(shared));
        }
    }
    let description = one_line(source).replace(['"', '\\'], "_");
    let _ = write!(text, "\n[model]\nname = \"{name}\"\ndescription = \"Imported from {description}\"\n");
    text.push_str("\n[experiment]\nstop = 1.0\nstep = 1e-3\n");
    for node in &model.nodes {
        write_node(&mut text, node);
    }
    for joint in &model.joints {
        write_joint(&mut text, joint);
    }
    for damper in &model.dampers {
        write_damper(&mut text, damper);
    }
    write_floor(&mut text, model, height);
    text
}

/// Names of a robot may hold anything.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn numbers(values: impl IntoIterator<Item = f64>) -> String {
    let numbers: Vec<String> = values.into_iter().map(number).collect();
    format!("[{}]", numbers.join(", "))
}

/// A number of TOML; there is no minus zero to read.
fn number(value: f64) -> String {
    format!("{:?}", value + 0.0)
}

fn vector(vector: &Vector3<f64>) -> String {
    numbers(vector.iter().copied())
}

fn write_node(text: &mut String, node: &Node) {
    let [x, y, z, w] = <[f64; 4]>::from(node.at.rotation.coords);
    let _ = write!(
        text,
        "\n[[node]] # {}\nname = \"{}\"\ncoupling = \"owned\"\nmass = {}\ninertia = {}\n",
        one_line(&node.comment),
        node.name,
        number(node.mass),
        vector(&node.moments)
    );
    if let Some(shape) = &node.shape {
        let _ = writeln!(text, "{}", shape_text(shape));
    }
    let _ = writeln!(text, "position = {}", vector(&node.at.translation.vector));
    if [x, y, z] != [0.0; 3] {
        let _ = writeln!(text, "orientation = {}", numbers([w, x, y, z]));
    }
}

fn shape_text(shape: &Shape) -> String {
    match shape {
        Shape::Sphere { radius } => format!("shape.sphere.radius = {}", number(*radius)),
        Shape::Box { size } => format!("shape.box.size = {}", numbers(*size)),
        Shape::Cylinder { radius, length, axis } => round_text("cylinder", *radius, *length, axis),
        Shape::Capsule { radius, length, axis } => round_text("capsule", *radius, *length, axis),
        Shape::Hull { file, .. } => format!("shape.hull.file = \"{file}\""),
    }
}

fn round_text(kind: &str, radius: f64, length: f64, axis: &Vector3<f64>) -> String {
    format!(
        "shape.{kind} = {{ radius = {}, length = {}, axis = {} }}",
        number(radius),
        number(length),
        vector(axis)
    )
}

fn write_joint(text: &mut String, joint: &Joint) {
    let comment = joint.comment.as_ref().map_or(String::new(), |comment| format!(" # {}", one_line(comment)));
    let [first, second] = &joint.between;
    let _ = write!(
        text,
        "\n[[joint]]{comment}\nname = \"{}\"\nbetween = [\"{first}\", \"{second}\"]\n",
        joint.name
    );
    let (kind, axis, position, limits) = match &joint.motion {
        Motion::Fixed => {
            text.push_str("fixed = {}\n");
            return;
        }
        Motion::Revolute { axis, position, limits } => ("revolute", axis, position, limits),
        Motion::Prismatic { axis, position, limits } => ("prismatic", axis, position, limits),
    };
    let _ = writeln!(text, "{kind} = {{ axis = {}, position = {} }}", vector(axis), vector(position));
    if let Some([lower, upper]) = limits {
        let _ = writeln!(
            text,
            "limits = {{ lower = {}, upper = {}, restitution = 0.0 }}",
            number(*lower),
            number(*upper)
        );
    }
}

fn write_damper(text: &mut String, damper: &Damper) {
    let [first, second] = &damper.between;
    let _ = write!(
        text,
        "\n[[spring]] # {}\nname = \"{}\"\nbetween = [\"{first}\", \"{second}\"]\nstiffness = 0.0\ndamping = {}\nanchors = [{}, {}]\n",
        one_line(&damper.comment),
        damper.name,
        number(damper.damping),
        vector(&damper.anchors[0]),
        vector(&damper.anchors[1])
    );
}

fn write_floor(text: &mut String, model: &Model, height: Option<f64>) {
    let touching: Vec<&str> =
        model.nodes.iter().filter(|node| node.shape.is_some()).map(|node| node.name.as_str()).collect();
    let mut lines = format!(
        "\n[[surface]]\nname = \"floor\"\nshape.plane.normal = [0.0, 0.0, 1.0]\nposition = [0.0, 0.0, {}]\n",
        number(height.unwrap_or(0.0))
    );
    for name in touching {
        let _ = write!(
            lines,
            "\n[[contact]]\nbetween = [\"{name}\", \"floor\"]\nrestitution = 0.0\nfriction.cone.mu = 0.5\n"
        );
    }
    if height.is_some() {
        text.push_str(&lines);
        return;
    }
    text.push_str("\n# A floor to stand on, which `--floor` writes; contacts between links are written in the same way.\n");
    for line in lines.trim_start().lines() {
        text.push_str(if line.is_empty() { "#\n" } else { "# " });
        if !line.is_empty() {
            let _ = writeln!(text, "{line}");
        }
    }
}
