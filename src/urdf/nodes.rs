//! Bodies as nodes of a model.
//!
//! A node has one shape about its centre of mass, with axes along the principal ones; a hull may be anywhere, because its
//! corners are written in that frame. So a body with one collision element about its centre, or one with corners, is one
//! node. Any other element becomes a node of its own, fixed to that of the body, with a small part of its mass: all of
//! them together weigh what the body does, to round-off.

use super::bodies::{Bodies, Body};
use super::mass::{Mass, unit_moments};
use super::meshes::Meshes;
use super::robot::{self, Geometry, JointKind, Robot, Span};
use super::write::Names;
use crate::model::TriangleMesh;
use crate::model::diagnostics::Problem;
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use std::fmt::Write;

/// Part of a body's mass that an element on a node of its own has, at first.
const PART: f64 = 0.01;
/// Distance of a shape from the centre, and of its axes from those of the body, over its size, that is round-off.
const CENTRED: f64 = 1e-9;

/// What goes into a model file.
#[derive(Debug, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub joints: Vec<Joint>,
    pub dampers: Vec<Damper>,
    /// Meshes that nodes name.
    pub files: Vec<(String, String)>,
    /// Links that share a node, for comments.
    pub shared: Vec<String>,
}

/// A node.
#[derive(Debug)]
pub struct Node {
    pub name: String,
    /// What it stands for.
    pub comment: String,
    pub mass: f64,
    pub moments: Vector3<f64>,
    pub at: Isometry3<f64>,
    pub shape: Option<Shape>,
}

/// Shape of a node about its centre, along its axes.
#[derive(Clone, Debug)]
pub enum Shape {
    Sphere { radius: f64 },
    Box { size: [f64; 3] },
    Cylinder { radius: f64, length: f64, axis: Vector3<f64> },
    Capsule { radius: f64, length: f64, axis: Vector3<f64> },
    Hull { file: String, corners: Vec<Vector3<f64>> },
}

/// A joint of the model.
#[derive(Debug)]
pub struct Joint {
    pub name: String,
    pub comment: Option<String>,
    /// Names of nodes, or the ground.
    pub between: [String; 2],
    pub motion: Motion,
}

/// What a joint leaves.
#[derive(Debug)]
pub enum Motion {
    Fixed,
    Revolute { axis: Vector3<f64>, position: Vector3<f64>, limits: Option<[f64; 2]> },
    Prismatic { axis: Vector3<f64>, position: Vector3<f64>, limits: Option<[f64; 2]> },
}

/// A damper along the axis of a prismatic joint.
#[derive(Debug)]
pub struct Damper {
    pub name: String,
    pub comment: String,
    pub between: [String; 2],
    pub damping: f64,
    /// Its ends in the frames of the nodes, or in the world's on the ground.
    pub anchors: [Vector3<f64>; 2],
}

/// A collision element in the world.
struct Placed<'a> {
    geometry: &'a Geometry,
    at: Isometry3<f64>,
    /// Of a mesh, in the frame of the element.
    hull: Option<TriangleMesh>,
}

/// Makes nodes of bodies.
pub fn nodes(
    robot: &Robot,
    bodies: Bodies,
    meshes: &Meshes,
    stem: &str,
    notes: &mut Vec<String>,
) -> Result<Model, Problem> {
    let mut names = Names::default();
    let mut model = Model::default();
    let mut node_of = Vec::new();
    let mut without_shape = Vec::new();
    for body in &bodies.bodies {
        let link = &robot.links[body.links[0]];
        let elements = elements(robot, body, &bodies.frames, meshes, notes)?;
        if body.is_ground {
            node_of.push("ground".to_owned());
            if !elements.is_empty() {
                notes.push(format!(
                    "collision shapes of {}, which is the ground: add them as [[surface]]",
                    link.name
                ));
            }
            continue;
        }
        if elements.is_empty() {
            without_shape.push(link.name.clone());
        }
        let name = names.unique(&link.name, "link");
        node_of.push(name.clone());
        if body.links.len() > 1 {
            let others: Vec<&str> =
                body.links[1..].iter().map(|&link| robot.links[link].name.as_str()).collect();
            model.shared.push(format!(
                "{name}: {} and what is fixed to it, {}",
                link.name,
                others.join(", ")
            ));
        }
        let first = &bodies.frames[body.links[0]];
        let comment = format!("link {}", link.name);
        add_body(&mut model, &mut names, body, first, (name, comment), elements, stem);
    }
    if !without_shape.is_empty() {
        notes.push(format!(
            "links without a collision shape, which touch nothing: {}",
            without_shape.join(", ")
        ));
    }
    for hinge in &bodies.joints {
        let joint = &robot.joints[hinge.joint];
        let (axis, position) = (hinge.axis, hinge.position);
        let limits = joint.limits.map(|limits| limits.map(|limit| limit - hinge.start));
        let motion = match joint.kind {
            JointKind::Prismatic => Motion::Prismatic { axis, position, limits },
            _ => Motion::Revolute { axis, position, limits },
        };
        let comment =
            (hinge.start != 0.0).then(|| format!("counts from {:?} of {}", hinge.start, joint.name));
        let between = hinge.between.map(|body| node_of[body].clone());
        let name = names.unique(&joint.name, "joint");
        if joint.damping > 0.0 {
            let damper = names.unique(&format!("{name}_damper"), "spring");
            let ends = [position, position + axis * damper_reach(joint, hinge.start)];
            let anchors = [0, 1].map(|end| model.in_frame_of(&between[end], &ends[end]));
            let comment = format!("damping of {}", joint.name);
            let (between, damping) = (between.clone(), joint.damping);
            model.dampers.push(Damper { name: damper, comment, between, damping, anchors });
        }
        model.joints.push(Joint { name, comment, between, motion });
    }
    if model.nodes.is_empty() {
        let span = robot.links[bodies.bodies[0].links[0]].span.clone();
        return Err(Problem::at(span, "nothing of the robot moves").hint("a model has at least one node"));
    }
    Ok(model)
}

fn elements<'a>(
    robot: &'a Robot,
    body: &Body,
    frames: &[Isometry3<f64>],
    meshes: &Meshes,
    notes: &mut Vec<String>,
) -> Result<Vec<Placed<'a>>, Problem> {
    let mut found = Vec::new();
    for &link in &body.links {
        for collision in &robot.links[link].collisions {
            let hull = match &collision.geometry {
                Geometry::Mesh { file, .. } if is_other_format(file) => {
                    let name = &robot.links[link].name;
                    notes.push(format!("mesh {file} of link {name}: convert it to STL or OBJ"));
                    continue;
                }
                Geometry::Mesh { file, scale } => Some(mesh(meshes, file, *scale, &collision.span)?),
                _ => None,
            };
            let at = frames[link] * collision.origin;
            found.push(Placed { geometry: &collision.geometry, at, hull });
        }
    }
    Ok(found)
}

/// Whether a mesh is in a file that cannot be read.
fn is_other_format(file: &str) -> bool {
    let lower = file.to_lowercase();
    !(lower.ends_with(".stl") || lower.ends_with(".obj"))
}

fn mesh(meshes: &Meshes, file: &str, scale: [f64; 3], span: &Span) -> Result<TriangleMesh, Problem> {
    meshes.hull(file, scale).map_err(|fault| {
        Problem::at(span.clone(), format!("the mesh `{file}` {}", fault.message)).hint(fault.hint)
    })
}

/// Adds the nodes of a body, whose first link has the frame `first`.
fn add_body(
    model: &mut Model,
    names: &mut Names,
    body: &Body,
    first: &Isometry3<f64>,
    (name, comment): (String, String),
    elements: Vec<Placed>,
    stem: &str,
) {
    let axes = |mass: &Mass| {
        let frames = elements.iter().map(|element| element.at.rotation).chain([first.rotation]);
        let along = frames.into_iter().find_map(|axes| Some((axes, mass.moments_along(&axes)?)));
        along.unwrap_or_else(|| mass.principal())
    };
    let node = |mass: &Mass| {
        let (axes, moments) = axes(mass);
        let at = Isometry3::from_parts(Translation3::from(mass.centre), axes);
        Node { name: name.clone(), comment: comment.clone(), mass: mass.mass, moments, at, shape: None }
    };
    if let [element] = &elements[..] {
        let mut whole = node(&body.mass);
        whole.shape = shape_about(element, &whole.at);
        if whole.shape.is_some() {
            model.nodes.push(whole);
            return;
        }
    }
    let host = elements.iter().position(|element| element.corners().is_some());
    let others: Vec<&Placed> = elements
        .iter()
        .enumerate()
        .filter(|(place, _)| Some(*place) != host)
        .map(|(_, other)| other)
        .collect();
    let (rest, parts) = split(&body.mass, &others);
    let mut main = node(&rest);
    if let Some(mesh) = host.and_then(|host| elements[host].corners()) {
        main.shape = Some(model.hull(&mesh, &main.at, &format!("{stem}_{name}.obj")));
    }
    model.nodes.push(main);
    for (element, part) in others.into_iter().zip(parts) {
        let own = names.unique(&format!("{name}_shape"), "shape");
        let at = Isometry3::from_parts(Translation3::from(part.centre), element.at.rotation);
        let moments = part.moments_along(&at.rotation).unwrap_or_else(|| part.tensor.diagonal());
        let shape = shape_about(element, &at)
            .or_else(|| Some(model.hull(&element.corners()?, &at, &format!("{stem}_{own}.obj"))));
        model.nodes.push(Node {
            name: own.clone(),
            comment: format!("collision shape of {comment}"),
            mass: part.mass,
            moments,
            at,
            shape,
        });
        model.joints.push(Joint {
            name: names.unique(&format!("{own}_mount"), "joint"),
            comment: None,
            between: [name.clone(), own],
            motion: Motion::Fixed,
        });
    }
}

impl Placed<'_> {
    /// Corners and triangles in the world, of what has corners.
    fn corners(&self) -> Option<TriangleMesh> {
        let own = match (&self.hull, self.geometry) {
            (Some(hull), _) => hull.clone(),
            (None, Geometry::Box(size)) => cuboid(*size),
            _ => return None,
        };
        let corners =
            own.corners.iter().map(|&corner| (self.at * Point3::from(corner)).coords.into()).collect();
        Some(TriangleMesh { corners, triangles: own.triangles })
    }
}

/// A box as triangles.
fn cuboid(size: [f64; 3]) -> TriangleMesh {
    const TRIANGLES: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let corner =
        |number: usize| [0, 1, 2].map(|axis| if number >> axis & 1 == 1 { 0.5 } else { -0.5 } * size[axis]);
    TriangleMesh { corners: (0..8).map(corner).collect(), triangles: TRIANGLES.to_vec() }
}

/// Distance at the start of the ends of a damper, which are as far apart as the joint can move when it is at its lower limit.
fn damper_reach(joint: &robot::Joint, start: f64) -> f64 {
    let [lower, upper] = joint.limits.expect("a prismatic joint has limits");
    (upper - lower) + (start - lower)
}

impl Model {
    /// A place in the world in the frame of a node; that of the ground is the world's.
    fn in_frame_of(&self, name: &str, place: &Vector3<f64>) -> Vector3<f64> {
        let node = self.nodes.iter().find(|node| node.name == name);
        node.map_or(*place, |node| node.at.inverse_transform_point(&Point3::from(*place)).coords)
    }

    /// The hull of a mesh in the world as the shape of a node at `at`, in a file.
    fn hull(&mut self, mesh: &TriangleMesh, at: &Isometry3<f64>, file: &str) -> Shape {
        let corners: Vec<Vector3<f64>> = mesh
            .corners
            .iter()
            .map(|&corner| at.inverse_transform_point(&Point3::from(corner)).coords)
            .collect();
        self.files.push((file.to_owned(), object_file(&corners, &mesh.triangles)));
        Shape::Hull { file: file.to_owned(), corners }
    }
}

/// A body as the parts that elements have of its mass, and the rest. Parts are as small as the rest needs to be a body.
fn split(whole: &Mass, elements: &[&Placed]) -> (Mass, Vec<Mass>) {
    let mut part = PART.min(0.5 / (1 + elements.len()) as f64);
    loop {
        let parts: Vec<Mass> = elements.iter().map(|element| part_of(whole, part, element)).collect();
        let rest = parts.iter().fold(*whole, |rest, part| rest.without(part));
        // What is flat to round-off stays so.
        if rest.is_possible() || part < f64::EPSILON {
            return (rest, parts);
        }
        part *= 0.5;
    }
}

fn part_of(whole: &Mass, part: f64, element: &Placed) -> Mass {
    let (centre, size) = match &element.hull {
        None => (Vector3::zeros(), [0.0; 3]),
        Some(hull) => middle(hull),
    };
    let mass = whole.mass * part;
    let at = Isometry3::from_parts(
        Translation3::from((element.at * Point3::from(centre)).coords),
        element.at.rotation,
    );
    Mass::placed(mass, &(unit_moments(element.geometry, size) * mass), &at)
}

/// Middle and edges of the box around a mesh.
fn middle(mesh: &TriangleMesh) -> (Vector3<f64>, [f64; 3]) {
    let corners = || mesh.corners.iter().map(|&corner| Vector3::from(corner));
    let low = corners().fold(Vector3::from_element(f64::INFINITY), |low, corner| low.inf(&corner));
    let high = corners().fold(Vector3::from_element(f64::NEG_INFINITY), |high, corner| high.sup(&corner));
    ((low + high) * 0.5, (high - low).into())
}

/// The shape of an element on a node at `at`, if it is about the centre and along the axes.
fn shape_about(element: &Placed, at: &Isometry3<f64>) -> Option<Shape> {
    let own = at.inverse() * element.at;
    let is_centred = |size: f64| own.translation.vector.norm() <= CENTRED * size;
    let axis = own.rotation * Vector3::z();
    match *element.geometry {
        Geometry::Sphere(radius) => is_centred(radius).then_some(Shape::Sphere { radius }),
        Geometry::Cylinder(radius, length) => {
            is_centred(radius).then_some(Shape::Cylinder { radius, length, axis })
        }
        Geometry::Capsule(radius, length) => {
            is_centred(radius).then_some(Shape::Capsule { radius, length, axis })
        }
        Geometry::Box(size) => {
            let size = Vector3::from(size);
            let turned = along_axes(&own.rotation)? * size;
            is_centred(size.min()).then(|| Shape::Box { size: turned.into() })
        }
        Geometry::Mesh { .. } => None,
    }
}

/// Which axes go to which, if a rotation takes axes to axes.
fn along_axes(rotation: &UnitQuaternion<f64>) -> Option<Matrix3<f64>> {
    let matrix = rotation.to_rotation_matrix().into_inner().abs();
    let rounded = matrix.map(f64::round);
    ((matrix - rounded).amax() <= CENTRED).then_some(rounded)
}

/// An OBJ file.
fn object_file(corners: &[Vector3<f64>], triangles: &[[u32; 3]]) -> String {
    let mut text = String::new();
    for corner in corners {
        let _ = writeln!(text, "v {:?} {:?} {:?}", corner[0], corner[1], corner[2]);
    }
    for [a, b, c] in triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}

impl Node {
    /// Height of its lowest point; none without a shape.
    pub fn lowest(&self) -> Option<f64> {
        let up = self.at.rotation.inverse() * Vector3::z();
        let reach = match self.shape.as_ref()? {
            Shape::Sphere { radius } => *radius,
            Shape::Box { size } => (0..3).map(|axis| 0.5 * size[axis] * up[axis].abs()).sum(),
            Shape::Capsule { radius, length, axis } => radius + 0.5 * length * up.dot(axis).abs(),
            Shape::Cylinder { radius, length, axis } => {
                let along = up.dot(axis);
                0.5 * length * along.abs() + radius * (1.0 - along * along).max(0.0).sqrt()
            }
            Shape::Hull { corners, .. } => {
                -corners.iter().map(|corner| up.dot(corner)).fold(f64::INFINITY, f64::min)
            }
        };
        Some(self.at.translation.z - reach)
    }
}
