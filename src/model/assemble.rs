//! From the validated model to the engine's system and initial state.

use super::{
    Anchor, Between, Coupling, Frame, Latency, Model, Motion, NodeShape, Other, Rotation, Surface,
    SurfaceShape, TriangleMesh,
};
use crate::engine::geometry::polyhedron::Polyhedron;
use crate::engine::geometry::solids::{Ball, Capsule, Cuboid, Cylinder};
use crate::engine::{
    self, CouplingMode, CouplingState, Details, Facets, NodeState, Orientation, Parameters, RotationState,
    Settings, Solid, SolverSettings, Start, State, System, Ties,
};
use nalgebra::Vector3;

impl Model {
    /// The constant system and the initial state.
    pub fn assemble(&self) -> (System, State<f64>) {
        let system = self.system();
        let state = self.initial_state(&system);
        (system, state)
    }

    fn system(&self) -> System {
        let settings = Settings {
            scheme: self.engine.scheme,
            theta: self.engine.theta,
            gamma: self.engine.gamma,
            time_of_impact: self.engine.time_of_impact,
            impact: self.engine.impact,
            correction: self.engine.correction,
            energy_balance: self.engine.energy_balance,
            allow_initial_penetration: self.engine.allow_initial_penetration,
            solver: SolverSettings {
                choice: self.engine.solver,
                tolerance: self.engine.tolerance,
                max_iterations: self.engine.max_iterations,
            },
            warm_start: true,
        };
        let mut points = Vec::new();
        let polyhedra = polyhedra(&self.meshes);
        let facets = facets(&polyhedra);
        let mut nodes: Vec<engine::Node> = self
            .nodes
            .iter()
            .map(|node| engine_node(engine_shape(&node.shape, &mut points, &facets)))
            .collect();
        nodes.extend(self.frames().map(|_| engine_node(engine::NodeShape::Surface)));
        let mut couplings = Vec::new();
        let mut rotations = 0..;
        for (index, body) in self.bodies().enumerate() {
            nodes[index].rotation = body.rotation.and_then(|_| rotations.next());
            nodes[index].coupling = body.mode.map(|mode| {
                couplings.push(engine::Coupling { node: index, mode });
                couplings.len() - 1
            });
        }
        let mut surfaces = self.engine_surfaces(&facets);
        let solids = self.solids_of_nodes(&nodes, &mut surfaces);
        let (mut memories, mut compressions) = (0, 0);
        let mut contacts: Vec<engine::Contact> = self
            .contacts
            .iter()
            .map(|contact| {
                let friction = contact.friction.law();
                let (node, other) = match &contact.between {
                    Between::Pair { node, other } => (*node, *other),
                    Between::Group(group) => return engine::Contact::of_group(group.clone(), friction),
                };
                let surface = match other {
                    Other::Surface(surface) => surface,
                    Other::Node(node) => solids[node].expect("validated: the node is solid"),
                };
                let pair = engine::Contact::new(
                    (node, &nodes[node].shape),
                    (surface, &surfaces[surface]),
                    friction,
                    contact.normal_stiffness,
                    &mut memories,
                );
                match contact.compliance {
                    None => pair,
                    Some(compliance) => pair.continuous(compliance, &mut compressions),
                }
            })
            .collect();
        self.add_stops(&mut surfaces, &mut contacts);
        let details = Details { points, polyhedra };
        System::new(settings, nodes, details, surfaces, contacts, couplings, self.ties())
    }

    fn initial_state(&self, system: &System) -> State<f64> {
        let gravity = Vector3::from(self.engine.gravity);
        let rotations = || self.bodies().filter_map(|body| body.rotation);
        let stopped = || {
            self.bounded().flat_map(|bounded| {
                let stops = bounded.stops.lower.into_iter().chain(bounded.stops.upper);
                stops.map(move |_| bounded.limits.restitution)
            })
        };
        let start = Start {
            parameters: Parameters {
                gravity,
                step: self.engine.step,
                sample: self.experiment.step,
                mass: self.bodies().map(|body| body.mass).collect(),
                inertia: rotations().map(|rotation| Vector3::from(rotation.inertia)).collect(),
                restitution: self
                    .contacts
                    .iter()
                    .map(|contact| contact.restitution)
                    .chain(stopped())
                    .collect(),
                mu: self.contacts.iter().map(|contact| contact.mu).chain(stopped().map(|_| 0.0)).collect(),
                stiffness: self.springs.iter().map(|spring| spring.stiffness).collect(),
                damping: self.springs.iter().map(|spring| spring.damping).collect(),
            },
            nodes: self
                .bodies()
                .map(|body| NodeState {
                    position: Vector3::from(body.position),
                    velocity: Vector3::from(body.velocity),
                    contact_impulse: Vector3::zeros(),
                })
                .collect(),
            rotations: rotations()
                .map(|rotation| RotationState {
                    orientation: Orientation { wxyz: rotation.orientation },
                    angular_velocity: Vector3::from(rotation.angular_velocity),
                    contact_impulse: Vector3::zeros(),
                })
                .collect(),
            couplings: self
                .bodies()
                .filter_map(|body| body.mode.map(|mode| coupling_state(&body, &mode, gravity)))
                .collect(),
        };
        start.state(system)
    }

    /// What moves: the nodes, then the surfaces that a master moves, each in file order.
    fn bodies(&self) -> impl Iterator<Item = Body<'_>> {
        let nodes = self.nodes.iter().map(|node| Body {
            position: node.position,
            velocity: node.velocity,
            mass: node.mass,
            rotation: node.rotation.as_ref(),
            mode: match node.coupling {
                Coupling::Owned => None,
                Coupling::Kinetic(kinetic) => Some(CouplingMode::Kinetic(kinetic)),
                Coupling::Iterative => Some(CouplingMode::Iterative),
                Coupling::Compliant(link) => Some(CouplingMode::Compliant(link)),
            },
        });
        let frames = self.frames().map(|(surface, frame)| Body {
            position: surface.position,
            velocity: frame.velocity,
            mass: frame.mass,
            rotation: Some(&frame.rotation),
            mode: Some(CouplingMode::Kinetic(frame.coupling)),
        });
        nodes.chain(frames)
    }

    /// Names of the bodies, in the order of the engine's nodes: nodes, then surfaces that a master moves.
    pub fn body_names(&self) -> impl Iterator<Item = &str> {
        let nodes = self.nodes.iter().map(|node| node.name.as_str());
        nodes.chain(self.frames().map(|(surface, _)| surface.name.as_str()))
    }

    /// Surfaces that a master moves, with their frames.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (&Surface, &Frame)> {
        self.surfaces.iter().filter_map(|surface| match &surface.motion {
            Motion::Fixed => None,
            Motion::Input(frame) => Some((surface, frame)),
        })
    }

    fn ties(&self) -> Ties {
        let springs = self
            .springs
            .iter()
            .map(|spring| engine::Spring { ends: spring.ends.map(engine_anchor), length: spring.length });
        let joints = self.joints.iter().map(|joint| engine::Joint {
            kind: joint.kind,
            ends: joint.ends.map(|end| engine::JointEnd {
                anchor: engine_anchor(end.anchor),
                frame: Orientation { wxyz: end.frame },
            }),
            motor: joint
                .motor
                .as_ref()
                .map(|motor| engine::Motor { drive: motor.drive, profile: motor.profile.clone() }),
            friction: joint.friction,
        });
        Ties { springs: springs.collect(), joints: joints.collect() }
    }

    fn engine_surfaces(&self, facets: &[Facets]) -> Vec<engine::Surface> {
        let mut bodies = self.nodes.len()..;
        self.surfaces
            .iter()
            .map(|surface| {
                let body = match surface.motion {
                    Motion::Fixed => None,
                    Motion::Input(_) => bodies.next(),
                };
                engine::Surface { shape: surface_shape(surface, facets), body }
            })
            .collect()
    }

    /// Appends the shapes of nodes that other nodes touch to the surfaces. Returns their places, by node.
    fn solids_of_nodes(
        &self,
        nodes: &[engine::Node],
        surfaces: &mut Vec<engine::Surface>,
    ) -> Vec<Option<usize>> {
        let mut places = vec![None; nodes.len()];
        for contact in &self.contacts {
            let Between::Pair { other: Other::Node(node), .. } = contact.between else { continue };
            let (None, Some(shape)) = (places[node], nodes[node].shape.as_surface()) else { continue };
            places[node] = Some(surfaces.len());
            surfaces.push(engine::Surface { shape, body: Some(node) });
        }
        places
    }
}

/// Something that moves.
struct Body<'a> {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
    rotation: Option<&'a Rotation>,
    /// None for one that the engine moves.
    mode: Option<CouplingMode>,
}

fn engine_anchor(anchor: Anchor) -> engine::Anchor {
    engine::Anchor { node: anchor.node, place: Vector3::from(anchor.place) }
}

fn engine_node(shape: engine::NodeShape) -> engine::Node {
    engine::Node { shape, rotation: None, coupling: None }
}

fn coupling_state(body: &Body, mode: &CouplingMode, gravity: Vector3<f64>) -> CouplingState<f64> {
    let given = engine::Motion {
        position: Vector3::from(body.position),
        velocity: Vector3::from(body.velocity),
        orientation: match body.rotation {
            None => Orientation::identity(),
            Some(rotation) => Orientation { wxyz: rotation.orientation },
        },
        angular_velocity: body
            .rotation
            .map_or(Vector3::zeros(), |rotation| Vector3::from(rotation.angular_velocity)),
    };
    let (mass, latency, shaping) = match mode {
        CouplingMode::Kinetic(kinetic) => (body.mass, kinetic.latency, kinetic.shaping || kinetic.adapt),
        CouplingMode::Iterative => (body.mass, Latency::Known(0), false),
        CouplingMode::Compliant(link) => (link.master_mass, link.latency, false),
    };
    // What is prescribed does not fall.
    let acceleration = if body.mass.is_finite() { gravity } else { Vector3::zeros() };
    let mut state = CouplingState::new(given, acceleration, mass, latency.given());
    state.diagnosis.shaping = shaping;
    state
}

/// The shape for the engine; points that may touch are appended to `points`.
pub(super) fn engine_shape(
    shape: &NodeShape,
    points: &mut Vec<Vector3<f64>>,
    facets: &[Facets],
) -> engine::NodeShape {
    let first = points.len();
    match shape {
        NodeShape::Point => return engine::NodeShape::Sphere { radius: 0.0 },
        NodeShape::Sphere { radius } => return engine::NodeShape::Sphere { radius: *radius },
        NodeShape::Disc { radius, axis } => {
            return engine::NodeShape::Disc { radius: *radius, axis: Vector3::from(*axis) };
        }
        NodeShape::Box { size } => return engine::NodeShape::Box(cuboid(*size)),
        NodeShape::Capsule { radius, half_axis } => {
            return engine::NodeShape::Capsule(Capsule {
                half_axis: Vector3::from(*half_axis),
                radius: *radius,
            });
        }
        NodeShape::Cylinder { radius, half_axis } => {
            return engine::NodeShape::Cylinder(Cylinder {
                half_axis: Vector3::from(*half_axis),
                radius: *radius,
            });
        }
        NodeShape::Hull { mesh } => return engine::NodeShape::Hull(facets[*mesh]),
        NodeShape::Points { points: given } => {
            points.extend(given.iter().map(|&point| Vector3::from(point)));
        }
    }
    engine::NodeShape::Points { first, count: points.len() - first }
}

/// The shape for the engine, in the frame of the body that carries the surface: one that moves has it at the origin.
pub(super) fn surface_shape(surface: &Surface, facets: &[Facets]) -> engine::SurfaceShape {
    let (position, wxyz) = match surface.motion {
        Motion::Fixed => (surface.position, surface.orientation),
        Motion::Input(_) => ([0.0; 3], [1.0, 0.0, 0.0, 0.0]),
    };
    let position = Vector3::from(position);
    let solid = match surface.shape {
        SurfaceShape::Plane { normal } => {
            return engine::SurfaceShape::Plane { position, normal: Vector3::from(normal) };
        }
        SurfaceShape::Sphere { radius } => Solid::Ball(Ball { radius }),
        SurfaceShape::Box { size } => Solid::Box(cuboid(size)),
        SurfaceShape::Capsule { radius, half_axis } => {
            Solid::Capsule(Capsule { half_axis: Vector3::from(half_axis), radius })
        }
        SurfaceShape::Cylinder { radius, half_axis } => {
            Solid::Cylinder(Cylinder { half_axis: Vector3::from(half_axis), radius })
        }
        SurfaceShape::Mesh { mesh } => Solid::Mesh(facets[mesh]),
    };
    engine::SurfaceShape::Solid { position, orientation: Orientation { wxyz }, solid }
}

/// The polyhedra of meshes that have been validated.
pub(super) fn polyhedra(meshes: &[TriangleMesh]) -> Vec<Polyhedron> {
    let polyhedra = meshes.iter().map(|mesh| {
        let corners = mesh.corners.iter().map(|&corner| Vector3::from(corner)).collect();
        Polyhedron::new(corners, &mesh.triangles).expect("validated: the triangles make a surface")
    });
    polyhedra.collect()
}

/// What shapes say of polyhedra.
pub(super) fn facets(polyhedra: &[Polyhedron]) -> Vec<Facets> {
    polyhedra.iter().enumerate().map(|(index, polyhedron)| Facets::of(index, polyhedron)).collect()
}

fn cuboid(size: [f64; 3]) -> Cuboid {
    Cuboid { half: Vector3::from(size) * 0.5 }
}
