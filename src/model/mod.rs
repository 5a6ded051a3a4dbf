//! The validated model: what a model file means, with every default filled in and every rule checked.
//!
//! It is what the builder packs into the FMU ([`packed`]) and what [`Model::assemble`] turns into the
//! engine's constant [`System`](crate::engine::System) and initial [`State`](crate::engine::State).

mod assemble;
#[cfg(feature = "cli")]
pub mod copies;
#[cfg(feature = "cli")]
pub mod diagnostics;
#[cfg(feature = "cli")]
pub mod file;
mod friction;
pub mod packed;
pub mod pattern;
#[cfg(feature = "cli")]
pub mod shape_file;
pub mod stops;
#[cfg(feature = "cli")]
mod structure;
#[cfg(feature = "cli")]
pub mod validate;

pub use crate::engine::law::continuous::{Compliance, ContinuousLaw};
pub use crate::engine::{
    Drive, Group, JointFriction, JointKind, Kinetic, Latency, Link, Members, Membership, Profile,
};
pub use crate::engine::{Impact, Scheme, SolverChoice as Solver};
pub use friction::Friction;

use serde::{Deserialize, Serialize};

/// A validated model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Model identifier of the FMU: a C identifier.
    pub name: String,
    /// One line for the reader.
    pub description: String,
    /// Patterns of the names of variables that the FMU shows; none for all.
    pub outputs: Option<Vec<String>>,
    /// Default experiment.
    pub experiment: Experiment,
    /// Time stepping and solver.
    pub engine: Engine,
    /// Nodes, in file order.
    pub nodes: Vec<Node>,
    /// Surfaces, in file order.
    pub surfaces: Vec<Surface>,
    /// Contacts, in file order, wildcards expanded but for those of groups.
    pub contacts: Vec<Contact>,
    /// Springs, in file order.
    pub springs: Vec<Spring>,
    /// Joints, in file order.
    pub joints: Vec<Joint>,
    /// What hulls, meshes and heightfields are made of.
    pub meshes: Vec<TriangleMesh>,
}

/// Triangles of a hull or mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriangleMesh {
    /// Places of the corners.
    pub corners: Vec<[f64; 3]>,
    /// Triangles by their corners, against the clock seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Model {
    /// What the model consists of, in words: `1 node, 1 surface, 1 contact`.
    pub fn parts(&self) -> String {
        let count =
            |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let parts =
            [(self.nodes.len(), "node"), (self.surfaces.len(), "surface"), (self.contacts.len(), "contact")];
        let ties = [(self.springs.len(), "spring"), (self.joints.len(), "joint")];
        let ties = ties.into_iter().filter(|(number, _)| *number > 0);
        parts.into_iter().chain(ties).map(|(number, noun)| count(number, noun)).collect::<Vec<_>>().join(", ")
    }

    /// Name of what a node may touch.
    pub fn name_of(&self, other: Other) -> &str {
        match other {
            Other::Surface(surface) => &self.surfaces[surface].name,
            Other::Node(node) => &self.nodes[node].name,
        }
    }

    /// What may touch, in words: `between ball and floor`.
    pub fn between_text(&self, contact: &Contact) -> String {
        match &contact.between {
            Between::Pair { node, other } => {
                format!("between {} and {}", self.nodes[*node].name, self.name_of(*other))
            }
            Between::Group(_) => format!("in group {}", contact.name),
        }
    }

    /// Whether the start of a step is all that the model needs to know of it, so that it can be sampled. Iterative nodes
    /// look at its end.
    pub fn can_be_sampled(&self) -> bool {
        self.nodes.iter().all(|node| node.coupling != Coupling::Iterative)
    }
}

/// Default experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Stop time.
    pub stop: f64,
    /// Preferred communication step `H`.
    pub step: f64,
}

/// Time stepping and solver settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Engine {
    /// Internal step `h`.
    pub step: f64,
    /// Gravity.
    pub gravity: [f64; 3],
    /// Time stepping scheme.
    pub scheme: Scheme,
    /// Moreau-Jean: weight of the end of the step, 0..1.
    pub theta: f64,
    /// Activation looks `gamma h` ahead.
    pub gamma: f64,
    /// Moreau-Jean: split steps at impacts.
    pub time_of_impact: bool,
    /// How contacts rebound.
    pub impact: Impact,
    /// Remove penetration at position level.
    pub correction: bool,
    /// Close the balance of energy after every interval.
    pub energy_balance: bool,
    /// A simulation may start with shapes inside one another.
    pub allow_initial_penetration: bool,
    /// Contact solver.
    pub solver: Solver,
    /// Relative natural residual that counts as solved.
    pub tolerance: f64,
    /// Limit of solver iterations.
    pub max_iterations: u32,
}

/// A point mass or rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name, unique among nodes, surfaces, contacts, springs and joints.
    pub name: String,
    /// Who moves it.
    pub coupling: Coupling,
    /// Mass.
    pub mass: f64,
    /// Shape around the position.
    pub shape: NodeShape,
    /// Initial position.
    pub position: [f64; 3],
    /// Initial velocity.
    pub velocity: [f64; 3],
    /// What makes it a rigid body; none for a point mass.
    pub rotation: Option<Rotation>,
}

/// Who moves a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Coupling {
    /// The FMU.
    Owned,
    /// A master that never repeats a step.
    Kinetic(Kinetic),
    /// A master that repeats steps until state and force agree.
    Iterative,
    /// The FMU moves the mass that touches, and a spring and a damper join it to the master's.
    Compliant(Link),
}

/// Inertia and initial rotation of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rotation {
    /// Principal moments of inertia, body frame; infinite for a motion that is prescribed.
    pub inertia: [f64; 3],
    /// Initial orientation, a unit quaternion `w x y z`.
    pub orientation: [f64; 4],
    /// Initial angular velocity, world components.
    pub angular_velocity: [f64; 3],
}

/// Shape of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NodeShape {
    /// A point.
    Point,
    /// A sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A disc without thickness.
    Disc {
        /// Radius.
        radius: f64,
        /// Unit vector across the disc, body frame.
        axis: [f64; 3],
    },
    /// A box around the position, its edges along the axes of the body frame.
    Box {
        /// Lengths of its edges.
        size: [f64; 3],
    },
    /// A capsule around the position.
    Capsule {
        /// Radius.
        radius: f64,
        /// From the position to the centre of an end, body frame.
        half_axis: [f64; 3],
    },
    /// A cylinder around the position.
    Cylinder {
        /// Radius.
        radius: f64,
        /// From the position to the centre of a cap, body frame.
        half_axis: [f64; 3],
    },
    /// Points of the body.
    Points {
        /// Body frame.
        points: Vec<[f64; 3]>,
    },
    /// A convex hull.
    Hull {
        /// Its triangles, by place in [`Model::meshes`], body frame.
        mesh: usize,
    },
}

/// A surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Name, unique among nodes, surfaces, contacts, springs and joints.
    pub name: String,
    /// Shape.
    pub shape: SurfaceShape,
    /// A point of a plane, the centre of a solid; of one that moves, the initial origin of its frame.
    pub position: [f64; 3],
    /// How a solid that stands still is turned, a unit quaternion `w x y z`.
    pub orientation: [f64; 4],
    /// How it moves.
    pub motion: Motion,
}

/// How a surface moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Motion {
    /// Not at all.
    Fixed,
    /// As a master says.
    Input(Frame),
}

/// Frame of a surface that a master moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Mass; infinite for a motion that is prescribed.
    pub mass: f64,
    /// Initial velocity of its origin.
    pub velocity: [f64; 3],
    /// Inertia and initial rotation.
    pub rotation: Rotation,
    /// What the coupling does.
    pub coupling: Kinetic,
}

/// Shape of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SurfaceShape {
    /// Solid below the plane.
    Plane {
        /// Unit normal, out of the solid; of a surface that moves, in its frame.
        normal: [f64; 3],
    },
    /// A ball around the position.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box around the position.
    Box {
        /// Lengths of its edges.
        size: [f64; 3],
    },
    /// A capsule around the position.
    Capsule {
        /// Radius.
        radius: f64,
        /// From the position to the centre of an end.
        half_axis: [f64; 3],
    },
    /// A cylinder around the position.
    Cylinder {
        /// Radius.
        radius: f64,
        /// From the position to the centre of a cap.
        half_axis: [f64; 3],
    },
    /// A mesh, solid on the side that its normals point away from.
    Mesh {
        /// Its triangles, by place in [`Model::meshes`].
        mesh: usize,
    },
}

/// What a node may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Other {
    /// A surface, by its index.
    Surface(usize),
    /// Another node, by its index.
    Node(usize),
}

/// What may touch in a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Between {
    /// A node and a surface, or two nodes.
    Pair {
        /// Index of the node.
        node: usize,
        /// What it may touch.
        other: Other,
    },
    /// Any two of many.
    Group(Group),
}

/// A contact between a node and a surface, between two nodes, or between any two of many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Name, unique among nodes, surfaces, contacts, springs and joints.
    pub name: String,
    /// What may touch.
    pub between: Between,
    /// Coefficient of restitution, 0..1: Newton's, or that of the law of a continuous contact.
    pub restitution: f64,
    /// Friction coefficient, 0 for none.
    pub mu: f64,
    /// Friction law.
    pub friction: Friction,
    /// Normal compliance for hyperstatic support, as a stiffness; infinite for none.
    pub normal_stiffness: f64,
    /// A continuous contact; none for a hard one.
    pub compliance: Option<Compliance>,
}

/// A spring and damper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// Name, unique among nodes, surfaces, contacts, springs and joints.
    pub name: String,
    /// What it joins.
    pub ends: [Anchor; 2],
    /// Stiffness.
    pub stiffness: f64,
    /// Damping.
    pub damping: f64,
    /// Length at rest.
    pub length: f64,
}

/// A place on a node, or of the ground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Index of the node; none for the ground.
    pub node: Option<usize>,
    /// In the frame of the node; on the ground, in the world's.
    pub place: [f64; 3],
}

/// A joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Name, unique among nodes, surfaces, contacts, springs and joints.
    pub name: String,
    /// Which motion it leaves.
    pub kind: JointKind,
    /// What it joins.
    pub ends: [JointEnd; 2],
    /// What drives it.
    pub motor: Option<Motor>,
    /// Friction in it.
    pub friction: Option<JointFriction>,
    /// Limits of its coordinate: the angle of a revolute joint, else the distance.
    pub limits: Option<Limits>,
    /// Limits of the angle of a cylindrical joint.
    pub angle_limits: Option<Limits>,
}

/// Hard stops of a coordinate of a joint, of which there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Least value.
    pub lower: Option<f64>,
    /// Largest value.
    pub upper: Option<f64>,
    /// Coefficient of restitution at either.
    pub restitution: f64,
}

/// One side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointEnd {
    /// Where it is.
    pub anchor: Anchor,
    /// Frame of the joint in that of the node, a unit quaternion `w x y z`; its third axis is that of the joint.
    pub frame: [f64; 4],
}

/// What drives a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Motor {
    /// What is prescribed.
    pub drive: Drive,
    /// As which function of time.
    pub profile: Profile,
}
