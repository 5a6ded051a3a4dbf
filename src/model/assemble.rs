//! From the validated model to the engine's system and initial state.

use super::{Friction, Model, NodeShape, Scheme, Solver, SurfaceShape};
use crate::engine::law::bristle::Bristle;
use crate::engine::law::facets::Polygon;
use crate::engine::{
    self, ContactMemory, ContactPair, ContactRecord, FrictionLaw, Input, NodeState, Orientation, Parameters,
    RotationState, Settings, SolverChoice, SolverSettings, State, StepRecord, System, Trend,
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
            scheme: match self.engine.scheme {
                Scheme::MoreauJean => engine::Scheme::MoreauJean,
                Scheme::Midpoint { sweeps } => engine::Scheme::Midpoint { sweeps },
            },
            theta: self.engine.theta,
            gamma: self.engine.gamma,
            time_of_impact: self.engine.time_of_impact,
            correction: self.engine.correction,
            solver: SolverSettings {
                choice: match self.engine.solver {
                    Solver::Auto => SolverChoice::Auto,
                    Solver::Nsgs => SolverChoice::Nsgs,
                    Solver::Newton => SolverChoice::Newton,
                },
                tolerance: self.engine.tolerance,
                max_iterations: self.engine.max_iterations,
            },
        };
        let mut rotations = 0..;
        let mut points = Vec::new();
        let nodes = self
            .nodes
            .iter()
            .map(|node| engine::Node {
                shape: engine_shape(&node.shape, &mut points),
                rotation: node.rotation.as_ref().and_then(|_| rotations.next()),
                coupling: None,
            })
            .collect::<Vec<engine::Node>>();
        let surfaces = self
            .surfaces
            .iter()
            .map(|surface| engine::Surface {
                shape: match surface.shape {
                    SurfaceShape::Plane { normal } => engine::SurfaceShape::Plane {
                        position: Vector3::from(surface.position),
                        normal: Vector3::from(normal),
                    },
                },
                body: None,
            })
            .collect::<Vec<engine::Surface>>();
        let mut memories = 0;
        let contacts = self
            .contacts
            .iter()
            .map(|contact| {
                let friction = friction_law(contact.friction);
                ContactPair::new(
                    (contact.node, &nodes[contact.node].shape),
                    (contact.surface, &surfaces[contact.surface]),
                    friction,
                    contact.normal_stiffness,
                    &mut memories,
                )
            })
            .collect();
        System::new(settings, nodes, points, surfaces, contacts, Vec::new())
    }

    fn initial_state(&self, system: &System) -> State<f64> {
        let rotations = || self.nodes.iter().filter_map(|node| node.rotation.as_ref());
        State {
            time: 0.0,
            parameters: Parameters {
                gravity: Vector3::from(self.engine.gravity),
                step: self.engine.step,
                mass: self.nodes.iter().map(|node| node.mass).collect(),
                inertia: rotations().map(|rotation| Vector3::from(rotation.inertia)).collect(),
                restitution: self.contacts.iter().map(|contact| contact.restitution).collect(),
                mu: self.contacts.iter().map(|contact| contact.mu).collect(),
            },
            inputs: vec![Input::zero(); self.nodes.len()],
            torques: vec![Input::zero(); rotations().count()],
            nodes: self
                .nodes
                .iter()
                .map(|node| NodeState {
                    position: Vector3::from(node.position),
                    velocity: Vector3::from(node.velocity),
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
            trends: match self.engine.scheme {
                Scheme::MoreauJean => Vec::new(),
                Scheme::Midpoint { .. } => vec![Trend::none(); self.nodes.len()],
            },
            contacts: vec![ContactRecord::open(); self.contacts.len()],
            memories: vec![ContactMemory::none(); system.memories()],
            couplings: Vec::new(),
            step: StepRecord::none(),
        }
    }
}

/// The shape for the engine; points that may touch are appended to `points`.
fn engine_shape(shape: &NodeShape, points: &mut Vec<Vector3<f64>>) -> engine::NodeShape {
    let first = points.len();
    match shape {
        NodeShape::Point => return engine::NodeShape::Sphere { radius: 0.0 },
        NodeShape::Sphere { radius } => return engine::NodeShape::Sphere { radius: *radius },
        NodeShape::Disc { radius, axis } => {
            return engine::NodeShape::Disc { radius: *radius, axis: Vector3::from(*axis) };
        }
        NodeShape::Box { size } => points.extend((0..8).map(|corner| {
            Vector3::from_fn(|axis, _| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 } * size[axis])
        })),
        NodeShape::Points { points: given } => {
            points.extend(given.iter().map(|&point| Vector3::from(point)));
        }
    }
    engine::NodeShape::Points { first, count: points.len() - first }
}

fn friction_law(friction: Friction) -> FrictionLaw {
    match friction {
        Friction::Cone => FrictionLaw::Cone,
        Friction::Facets { facets, aligned, outer } => FrictionLaw::Facets {
            count: facets as usize,
            aligned,
            polygon: if outer { Polygon::Outer } else { Polygon::Inner },
        },
        Friction::Box { iterations } => FrictionLaw::Box { iterations },
        Friction::Bristle { stiffness, threshold, iterations } => {
            FrictionLaw::Bristle { bristle: Bristle { stiffness, threshold }, iterations }
        }
    }
}
