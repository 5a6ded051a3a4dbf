//! From the validated model to the engine's system and initial state.

use super::{Model, NodeShape, Scheme, Solver, SurfaceShape};
use crate::engine::{
    self, ContactPair, ContactRecord, Input, NodeState, Orientation, Parameters, RotationState, Settings,
    SolverChoice, SolverSettings, State, StepRecord, System, Trend,
};
use nalgebra::Vector3;

impl Model {
    /// The constant system and the initial state.
    pub fn assemble(&self) -> (System, State<f64>) {
        (self.system(), self.initial_state())
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
        let nodes = self
            .nodes
            .iter()
            .map(|node| engine::Node {
                shape: match node.shape {
                    NodeShape::Point => engine::NodeShape::Sphere { radius: 0.0 },
                    NodeShape::Sphere { radius } => engine::NodeShape::Sphere { radius },
                    NodeShape::Disc { radius, axis } => {
                        engine::NodeShape::Disc { radius, axis: Vector3::from(axis) }
                    }
                },
                rotation: node.rotation.as_ref().and_then(|_| rotations.next()),
            })
            .collect();
        let surfaces = self
            .surfaces
            .iter()
            .map(|surface| match surface.shape {
                SurfaceShape::Plane { normal } => engine::SurfaceShape::Plane {
                    position: Vector3::from(surface.position),
                    normal: Vector3::from(normal),
                },
            })
            .collect();
        let contacts = self
            .contacts
            .iter()
            .map(|contact| ContactPair { node: contact.node, surface: contact.surface })
            .collect();
        System::new(settings, nodes, surfaces, contacts)
    }

    fn initial_state(&self) -> State<f64> {
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
            step: StepRecord::none(),
        }
    }
}
