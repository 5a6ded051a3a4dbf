//! Reads a URDF file: every fault at once, each with its place in the text.
//!
//! Entities other than the five of XML are refused, never expanded.

use super::robot::{Collision, Geometry, Inertial, Joint, JointKind, Link, Robot, Span, frame};
use crate::model::diagnostics::Problem;
use nalgebra::{Isometry3, Matrix3, Vector3};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::{BTreeMap, HashMap};

/// What to do with a xacro file.
pub const XACRO: &str = "run `xacro robot.xacro > robot.urdf` first (ROS package xacro, or PyPI xacrodoc)";

/// Most elements within one another, and attributes of one: robots need far fewer.
const MAX_DEPTH: usize = 100;
const MAX_ATTRIBUTES: usize = 100;

/// An element with what is inside.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    span: Span,
}

impl Element {
    fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == attribute).map(|(_, value)| value.as_str())
    }

    fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// The robot, or everything wrong with it.
pub fn read(text: &str) -> Result<Robot, Vec<Problem>> {
    let root = tree(text).map_err(|problem| vec![problem])?;
    if root.name != "robot" {
        let message = format!("the document is <{}>, expected <robot>", root.name);
        return Err(vec![Problem::at(root.span, message).hint("give a URDF file")]);
    }
    if let Some(macros) = first_macro(&root) {
        let message = "this is a xacro file, from which a URDF file is made";
        return Err(vec![Problem::at(macros, message).hint(XACRO)]);
    }
    let mut reading = Reading { problems: Vec::new(), unused: BTreeMap::new() };
    let robot = reading.robot(&root);
    if reading.problems.is_empty() { Ok(robot) } else { Err(reading.problems) }
}

/// The first element that xacro would replace.
fn first_macro(element: &Element) -> Option<Span> {
    let is_macro = element.name.starts_with("xacro:")
        || element.attributes.iter().any(|(_, value)| value.contains("${") || value.contains("$("));
    is_macro.then(|| element.span.clone()).or_else(|| element.children.iter().find_map(first_macro))
}

/// The elements of a document.
fn tree(text: &str) -> Result<Element, Problem> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    loop {
        let start = place(reader.buffer_position());
        let event = reader.read_event().map_err(|error| {
            let at = place(reader.error_position()).min(text.len());
            Problem::at(at..at, format!("not well-formed XML: {error}"))
        })?;
        let span = start..place(reader.buffer_position());
        let (element, is_empty) = match event {
            Event::Start(element) => (element, false),
            Event::Empty(element) => (element, true),
            Event::End(_) => {
                let Some(closed) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(closed),
                    None => return Ok(closed),
                }
                continue;
            }
            Event::Eof => {
                let message = match open.last() {
                    Some(element) => format!("the file ends inside <{}>", element.name),
                    None => "the file has no <robot>".to_owned(),
                };
                return Err(Problem::at(span, message).hint("give a whole URDF file"));
            }
            _ => continue,
        };
        let element =
            self::element(&element, span.clone()).map_err(|message| Problem::at(span.clone(), message))?;
        if open.len() == MAX_DEPTH {
            return Err(Problem::at(span, format!("more than {MAX_DEPTH} elements are within one another")));
        }
        match (is_empty, open.last_mut()) {
            (false, _) => open.push(element),
            (true, Some(parent)) => parent.children.push(element),
            (true, None) => return Ok(element),
        }
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

fn element(start: &BytesStart<'_>, span: Span) -> Result<Element, String> {
    let name = String::from_utf8_lossy(start.name().as_ref().as_bytes()).into_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("<{name}>: {error}"))?;
        if attributes.len() == MAX_ATTRIBUTES {
            return Err(format!("<{name}> has more than {MAX_ATTRIBUTES} attributes"));
        }
        let key = attribute.key.as_ref().to_owned();
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| format!("<{name}>, attribute {key}: {error}"))?;
        attributes.push((key, value.into_owned()));
    }
    Ok(Element { name, attributes, children: Vec::new(), span })
}

/// Reading of one robot.
struct Reading {
    problems: Vec<Problem>,
    /// What is not used, with the names of what has it.
    unused: BTreeMap<String, Vec<String>>,
}

impl Reading {
    fn problem(&mut self, at: &Element, message: impl Into<String>, hint: &str) {
        self.problems.push(Problem::at(at.span.clone(), message).hint(hint));
    }

    fn unused(&mut self, what: &str, whose: &str) {
        self.unused.entry(what.to_owned()).or_default().push(whose.to_owned());
    }

    fn robot(&mut self, root: &Element) -> Robot {
        for child in &root.children {
            match child.name.as_str() {
                "link" | "joint" | "material" => {}
                other => self.unused(&format!("<{other}>"), child.get("name").unwrap_or_default()),
            }
        }
        let links: Vec<Link> = root.all("link").map(|element| self.link(element)).collect();
        let mut places = HashMap::new();
        for (place, link) in links.iter().enumerate() {
            if places.insert(link.name.clone(), place).is_some() {
                let message = format!("there are two links called `{}`", link.name);
                self.problems.push(Problem::at(link.span.clone(), message).hint("rename one of them"));
            }
        }
        let elements: Vec<&Element> = root.all("joint").collect();
        let joint_places: HashMap<&str, usize> = elements
            .iter()
            .enumerate()
            .filter_map(|(place, joint)| Some((joint.get("name")?, place)))
            .collect();
        let joints: Vec<Joint> =
            elements.iter().filter_map(|element| self.joint(element, &places, &joint_places)).collect();
        // Places of joints count only where all of them are there.
        if self.problems.is_empty() && links.is_empty() {
            self.problem(root, "the robot has no links", "a robot has at least one <link>");
        }
        let unused = self.unused.iter().map(|(what, whose)| {
            let names: Vec<&str> = whose.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            if names.is_empty() {
                format!("{what} ({})", whose.len())
            } else {
                format!("{what}: {}", names.join(", "))
            }
        });
        let unused = unused.collect();
        Robot { name: root.get("name").unwrap_or("robot").to_owned(), links, joints, unused }
    }

    fn name(&mut self, element: &Element) -> String {
        match element.get("name") {
            Some(name) => name.to_owned(),
            None => {
                self.problem(element, format!("<{}> has no name", element.name), "add the attribute `name`");
                String::new()
            }
        }
    }

    fn link(&mut self, element: &Element) -> Link {
        let name = self.name(element);
        for child in &element.children {
            match child.name.as_str() {
                "inertial" | "collision" => {}
                "visual" => self.unused("what only is to be seen (<visual>)", &name),
                other => self.unused(&format!("<{other}> of links"), &name),
            }
        }
        let inertial = element.child("inertial").and_then(|inertial| self.inertial(inertial));
        let collisions = element.all("collision").filter_map(|collision| self.collision(collision)).collect();
        Link { name, span: element.span.clone(), inertial, collisions }
    }

    /// None where there is no mass.
    fn inertial(&mut self, element: &Element) -> Option<Inertial> {
        let origin = self.origin(element);
        let mass = match element.child("mass") {
            None => 0.0,
            Some(mass) => self.required(mass, "value")?,
        };
        let tensor = match element.child("inertia") {
            None => Matrix3::zeros(),
            Some(inertia) => {
                let keys = ["ixx", "iyy", "izz"].map(|key| self.required(inertia, key));
                let off = ["ixy", "ixz", "iyz"].map(|key| self.number(inertia, key));
                let ([Some(xx), Some(yy), Some(zz)], [xy, xz, yz]) = (keys, off) else { return None };
                let [xy, xz, yz] = [xy, xz, yz].map(|value| value.unwrap_or(0.0));
                Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
            }
        };
        if mass < 0.0 {
            self.problem(element, format!("the mass is {mass:?} kg"), "a mass is above 0");
        }
        (mass > 0.0).then(|| Inertial { origin, mass, tensor, span: element.span.clone() })
    }

    fn collision(&mut self, element: &Element) -> Option<Collision> {
        let origin = self.origin(element);
        let shape = element.child("geometry").and_then(|geometry| geometry.children.first());
        let Some(shape) = shape else {
            self.problem(
                element,
                "<collision> has no shape",
                "put a <geometry> with a shape into it, or remove it",
            );
            return None;
        };
        let geometry = match shape.name.as_str() {
            "box" => Geometry::Box(self.lengths(shape, "size")?),
            "sphere" => Geometry::Sphere(self.length(shape, "radius")?),
            "cylinder" => Geometry::Cylinder(self.length(shape, "radius")?, self.length(shape, "length")?),
            "capsule" => Geometry::Capsule(self.length(shape, "radius")?, self.length(shape, "length")?),
            "mesh" => {
                let Some(file) = shape.get("filename") else {
                    self.problem(shape, "<mesh> has no filename", "add the attribute `filename`");
                    return None;
                };
                let scale = self.vector(shape, "scale").unwrap_or([1.0; 3]);
                if scale.contains(&0.0) {
                    self.problem(shape, "a mesh that is scaled by 0 has no volume", "factors are not 0");
                }
                Geometry::Mesh { file: file.to_owned(), scale }
            }
            other => {
                let message = format!("there is no shape <{other}>");
                self.problem(shape, message, "shapes are box, sphere, cylinder, capsule and mesh");
                return None;
            }
        };
        Some(Collision { origin, geometry, span: shape.span.clone() })
    }

    fn joint(
        &mut self,
        element: &Element,
        links: &HashMap<String, usize>,
        joints: &HashMap<&str, usize>,
    ) -> Option<Joint> {
        let name = self.name(element);
        let word = element.get("type").unwrap_or_default();
        let kind = match word {
            "revolute" | "continuous" => JointKind::Revolute,
            "prismatic" => JointKind::Prismatic,
            "fixed" => JointKind::Fixed,
            "floating" => JointKind::Floating,
            "planar" => {
                self.unused("planar joints, whose links move freely here", &name);
                JointKind::Floating
            }
            other => {
                let message = format!("joint `{name}` has the type `{other}`");
                self.problem(
                    element,
                    message,
                    "types are revolute, continuous, prismatic, fixed, floating and planar",
                );
                return None;
            }
        };
        let mut link = |end: &str| {
            let Some(found) = element.child(end).and_then(|child| child.get("link")) else {
                self.problem(
                    element,
                    format!("joint `{name}` has no {end}"),
                    "add <parent link=\"...\"/> and <child link=\"...\"/>",
                );
                return None;
            };
            let place = links.get(found).copied();
            if place.is_none() {
                let at = element.child(end).unwrap_or(element);
                self.problem(at, format!("there is no link `{found}`"), "name a <link> of this robot");
            }
            place
        };
        let (parent, child) = (link("parent"), link("child"));
        let origin = self.origin(element);
        let axis = element.child("axis").and_then(|axis| self.vector(axis, "xyz")).unwrap_or([1.0, 0.0, 0.0]);
        let moves = matches!(kind, JointKind::Revolute | JointKind::Prismatic);
        let axis = Vector3::from(axis).try_normalize(0.0).unwrap_or_else(|| {
            if moves {
                self.problem(
                    element,
                    format!("the axis of joint `{name}` has no direction"),
                    "write <axis xyz=\"0 0 1\"/>",
                );
            }
            Vector3::x()
        });
        let limits = if moves && word != "continuous" { self.limits(element, &name) } else { None };
        let mimic =
            element.child("mimic").filter(|_| moves).and_then(|mimic| self.mimic(mimic, &name, joints));
        let damping = match element.child("dynamics").filter(|_| kind == JointKind::Prismatic) {
            Some(dynamics) => self.number(dynamics, "damping").unwrap_or(0.0),
            None => 0.0,
        };
        if damping < 0.0 {
            let message = format!("joint `{name}` has the damping {damping:?}");
            self.problem(element, message, "damping is not below 0");
        }
        self.unused_of_joint(element, &name, word);
        Some(Joint {
            name,
            span: element.span.clone(),
            kind,
            parent: parent?,
            child: child?,
            origin,
            axis,
            limits,
            mimic,
            damping,
        })
    }

    fn limits(&mut self, element: &Element, name: &str) -> Option<[f64; 2]> {
        let Some(limit) = element.child("limit") else {
            self.problem(
                element,
                format!("joint `{name}` has no <limit>"),
                "add <limit lower=\"...\" upper=\"...\"/>, or make a revolute joint continuous",
            );
            return None;
        };
        let [lower, upper] = ["lower", "upper"].map(|key| self.number(limit, key).unwrap_or(0.0));
        if lower > upper {
            self.problem(limit, format!("lower is {lower:?} and upper is {upper:?}"), "exchange them");
            return None;
        }
        Some([lower, upper])
    }

    fn mimic(
        &mut self,
        element: &Element,
        name: &str,
        joints: &HashMap<&str, usize>,
    ) -> Option<(usize, f64, f64)> {
        let leader = element.get("joint").unwrap_or_default();
        let factor = self.number(element, "multiplier").unwrap_or(1.0);
        let offset = self.number(element, "offset").unwrap_or(0.0);
        let Some(&place) = joints.get(leader) else {
            self.problem(element, format!("there is no joint `{leader}`"), "name a <joint> of this robot");
            return None;
        };
        self.unused(
            "mimic joints, each of which moves on its own here",
            &format!("{name} (= {factor:?} {leader} + {offset:?})"),
        );
        Some((place, factor, offset))
    }

    fn unused_of_joint(&mut self, element: &Element, name: &str, word: &str) {
        for child in &element.children {
            let whose = |reading: &mut Reading, key: &str, what: &str| {
                if let Some(value) = reading.number(child, key).filter(|value| *value != 0.0) {
                    reading.unused(what, &format!("{name} ({value:?})"));
                }
            };
            match child.name.as_str() {
                "parent" | "child" | "origin" | "axis" | "mimic" => {}
                "limit" if word == "fixed" => {}
                "limit" => {
                    whose(self, "effort", "limits of effort");
                    whose(self, "velocity", "limits of velocity");
                }
                "dynamics" => {
                    if word != "prismatic" {
                        whose(self, "damping", "damping of revolute joints");
                    }
                    whose(
                        self,
                        "friction",
                        "friction of joints, which needs mu_static, mu_kinetic and the bearing here",
                    );
                }
                other => self.unused(&format!("<{other}> of joints"), name),
            }
        }
    }

    fn origin(&mut self, element: &Element) -> Isometry3<f64> {
        let Some(origin) = element.child("origin") else { return Isometry3::identity() };
        let [xyz, rpy] = ["xyz", "rpy"].map(|key| self.vector(origin, key).unwrap_or([0.0; 3]));
        frame(xyz, rpy)
    }

    fn numbers(&mut self, element: &Element, key: &str, count: usize) -> Option<Vec<f64>> {
        let text = element.get(key)?;
        let numbers: Option<Vec<f64>> = text
            .split_whitespace()
            .map(|word| word.parse().ok().filter(|number: &f64| number.is_finite()))
            .collect();
        let numbers = numbers.filter(|numbers| numbers.len() == count);
        if numbers.is_none() {
            let expected = if count == 1 { "a number" } else { "three numbers" };
            let message = format!("<{}> has {key}=\"{text}\", expected {expected}", element.name);
            self.problem(
                element,
                message,
                "decimals are written with a point, and numbers are separated by spaces",
            );
        }
        numbers
    }

    fn vector(&mut self, element: &Element, key: &str) -> Option<[f64; 3]> {
        self.numbers(element, key, 3)?.try_into().ok()
    }

    fn number(&mut self, element: &Element, key: &str) -> Option<f64> {
        self.numbers(element, key, 1)?.first().copied()
    }

    fn required(&mut self, element: &Element, key: &str) -> Option<f64> {
        if element.get(key).is_none() {
            self.problem(element, format!("<{}> has no {key}", element.name), "add the attribute");
        }
        self.number(element, key)
    }

    fn length(&mut self, element: &Element, key: &str) -> Option<f64> {
        let length = self.required(element, key)?;
        if length <= 0.0 {
            self.problem(element, format!("{key} is {length:?} m"), "lengths of shapes are above 0");
        }
        (length > 0.0).then_some(length)
    }

    fn lengths(&mut self, element: &Element, key: &str) -> Option<[f64; 3]> {
        if element.get(key).is_none() {
            self.problem(element, format!("<{}> has no {key}", element.name), "add the attribute");
        }
        let lengths = self.vector(element, key)?;
        if lengths.iter().any(|&length| length <= 0.0) {
            self.problem(element, format!("{key} is {lengths:?} m"), "lengths of shapes are above 0");
            return None;
        }
        Some(lengths)
    }
}
