//! From the validated model to the engine's system and initial state.

use super::{Model, NodeShape, Solver, SurfaceShape};
use crate::engine::{
    self, ContactPair, ContactRecord, NodeInput, NodeState, Parameters, Settings, SolverChoice,
    SolverSettings, State, StepRecord, System,
};
use nalgebra::Vector3;

impl Model {
    /// The constant system and the initial state.
    pub fn assemble(&self) -> (System, State<f64>) {
        (self.system(), self.initial_state())
    }

    fn system(&self) -> System {
        let settings = Settings {
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
        let nodes = self
            .nodes
            .iter()
            .map(|node| match node.shape {
                NodeShape::Point => engine::NodeShape::Sphere { radius: 0.0 },
                NodeShape::Sphere { radius } => engine::NodeShape::Sphere { radius },
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
        State {
            time: 0.0,
            parameters: Parameters {
                gravity: Vector3::from(self.engine.gravity),
                step: self.engine.step,
                mass: self.nodes.iter().map(|node| node.mass).collect(),
                restitution: self.contacts.iter().map(|contact| contact.restitution).collect(),
                mu: self.contacts.iter().map(|contact| contact.mu).collect(),
            },
            inputs: vec![NodeInput::zero(); self.nodes.len()],
            nodes: self
                .nodes
                .iter()
                .map(|node| NodeState {
                    position: Vector3::from(node.position),
                    velocity: Vector3::from(node.velocity),
                    contact_impulse: Vector3::zeros(),
                })
                .collect(),
            contacts: vec![ContactRecord::open(); self.contacts.len()],
            step: StepRecord::none(),
        }
    }
}
