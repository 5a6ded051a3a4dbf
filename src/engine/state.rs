//! All that changes during a simulation, and so all that a saved FMU state holds.

use super::scalar::Scalar;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Highest order of input derivatives that a node's external force takes.
pub const MAX_INPUT_DERIVATIVE: usize = 3;

/// Parameters, inputs, motion and the record of the last step.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct State<S: Scalar> {
    /// Simulated time.
    pub time: f64,
    /// Tunable parameters.
    pub parameters: Parameters<S>,
    /// Forces that the master applies.
    pub inputs: Vec<NodeInput<S>>,
    /// Motion of the nodes.
    pub nodes: Vec<NodeState<S>>,
    /// What the contacts did over the last step.
    pub contacts: Vec<ContactRecord<S>>,
    /// What the engine did over the last step.
    pub step: StepRecord<S>,
}

/// Values that a master may tune.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters<S: Scalar> {
    /// Acceleration of gravity.
    pub gravity: Vector3<S>,
    /// Internal step `h`.
    pub step: f64,
    /// Mass per node.
    pub mass: Vec<S>,
    /// Newton coefficient of restitution per contact.
    pub restitution: Vec<S>,
    /// Friction coefficient per contact.
    pub mu: Vec<S>,
}

/// External force on a node: value and time derivatives at the start of the communication step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeInput<S: Scalar> {
    /// Force.
    pub force: Vector3<S>,
    /// Its derivatives of order 1, 2, ...
    pub derivatives: [Vector3<S>; MAX_INPUT_DERIVATIVE],
}

/// Motion of a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeState<S: Scalar> {
    /// Position.
    pub position: Vector3<S>,
    /// Velocity.
    pub velocity: Vector3<S>,
    /// Sum of the contact impulses over the last communication step.
    pub contact_impulse: Vector3<S>,
}

/// What one contact did over the last communication step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactRecord<S: Scalar> {
    /// Normal impulse on the node.
    pub normal_impulse: S,
    /// Tangential impulse on the node.
    pub tangential_impulse: Vector3<S>,
    /// Tangential speed at the end of the step while closed, else zero.
    pub slip: S,
    /// Open, stick or slip at the end of the step.
    pub mode: ContactMode,
}

/// State of a contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactMode {
    /// No contact force.
    Open,
    /// Pressed, and friction holds.
    Stick,
    /// Pressed, and friction is at its limit.
    Slip,
}

/// What the engine did over the last communication step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord<S: Scalar> {
    /// Length of the communication step; zero before the first one.
    pub duration: f64,
    /// Number of substeps.
    pub substeps: u32,
    /// Solver iterations, summed.
    pub iterations: u32,
    /// Largest relative natural residual.
    pub residual: f64,
    /// Deepest penetration seen at the end of a substep, before correction.
    pub penetration: f64,
    /// Energy taken by impacts, friction and position correction since the start of the simulation.
    pub dissipated: S,
}

impl<S: Scalar> State<S> {
    /// The same state over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> State<T> {
        let vector = |v: &Vector3<S>| v.map(convert);
        let list = |values: &[S]| values.iter().map(|&x| convert(x)).collect();
        State {
            time: self.time,
            parameters: Parameters {
                gravity: vector(&self.parameters.gravity),
                step: self.parameters.step,
                mass: list(&self.parameters.mass),
                restitution: list(&self.parameters.restitution),
                mu: list(&self.parameters.mu),
            },
            inputs: self
                .inputs
                .iter()
                .map(|input| NodeInput {
                    force: vector(&input.force),
                    derivatives: input.derivatives.each_ref().map(vector),
                })
                .collect(),
            nodes: self
                .nodes
                .iter()
                .map(|node| NodeState {
                    position: vector(&node.position),
                    velocity: vector(&node.velocity),
                    contact_impulse: vector(&node.contact_impulse),
                })
                .collect(),
            contacts: self
                .contacts
                .iter()
                .map(|contact| ContactRecord {
                    normal_impulse: convert(contact.normal_impulse),
                    tangential_impulse: vector(&contact.tangential_impulse),
                    slip: convert(contact.slip),
                    mode: contact.mode,
                })
                .collect(),
            step: StepRecord {
                duration: self.step.duration,
                substeps: self.step.substeps,
                iterations: self.step.iterations,
                residual: self.step.residual,
                penetration: self.step.penetration,
                dissipated: convert(self.step.dissipated),
            },
        }
    }

    /// Whether two states belong to systems of the same size.
    pub fn same_size(&self, other: &State<S>) -> bool {
        self.inputs.len() == other.inputs.len()
            && self.nodes.len() == other.nodes.len()
            && self.contacts.len() == other.contacts.len()
            && self.parameters.mass.len() == other.parameters.mass.len()
            && self.parameters.restitution.len() == other.parameters.restitution.len()
            && self.parameters.mu.len() == other.parameters.mu.len()
    }

    /// Whether every position and velocity is a finite number.
    pub fn is_finite(&self) -> bool {
        self.nodes
            .iter()
            .all(|node| node.position.iter().chain(node.velocity.iter()).all(|x| x.value().is_finite()))
    }
}

// Written out because the derived `clone_from` would allocate, and a step must not.
impl<S: Scalar> Clone for State<S> {
    fn clone(&self) -> State<S> {
        self.map(|x| x)
    }

    fn clone_from(&mut self, source: &State<S>) {
        self.time = source.time;
        self.parameters.gravity = source.parameters.gravity;
        self.parameters.step = source.parameters.step;
        copy_list(&mut self.parameters.mass, &source.parameters.mass);
        copy_list(&mut self.parameters.restitution, &source.parameters.restitution);
        copy_list(&mut self.parameters.mu, &source.parameters.mu);
        copy_list(&mut self.inputs, &source.inputs);
        copy_list(&mut self.nodes, &source.nodes);
        copy_list(&mut self.contacts, &source.contacts);
        self.step = source.step;
    }
}

/// `Vec::clone_from` goes element by element; one block copy is several times faster.
fn copy_list<T: Copy>(target: &mut Vec<T>, source: &[T]) {
    if target.len() == source.len() {
        target.copy_from_slice(source);
    } else {
        target.clear();
        target.extend_from_slice(source);
    }
}

impl<S: Scalar> NodeInput<S> {
    /// No force.
    pub fn zero() -> NodeInput<S> {
        NodeInput { force: Vector3::zeros(), derivatives: [Vector3::zeros(); MAX_INPUT_DERIVATIVE] }
    }

    /// Force at `elapsed` after the start of the communication step (Taylor polynomial).
    #[inline]
    pub fn at(&self, elapsed: f64) -> Vector3<S> {
        let mut tail = Vector3::zeros();
        for (index, derivative) in self.derivatives.iter().enumerate().rev() {
            tail = (tail + derivative) * S::from(elapsed / (index + 1) as f64);
        }
        self.force + tail
    }
}

impl<S: Scalar> StepRecord<S> {
    /// Before the first step.
    pub fn none() -> StepRecord<S> {
        StepRecord {
            duration: 0.0,
            substeps: 0,
            iterations: 0,
            residual: 0.0,
            penetration: 0.0,
            dissipated: S::zero(),
        }
    }
}

impl<S: Scalar> ContactRecord<S> {
    /// Nothing has happened.
    pub fn open() -> ContactRecord<S> {
        ContactRecord {
            normal_impulse: S::zero(),
            tangential_impulse: Vector3::zeros(),
            slip: S::zero(),
            mode: ContactMode::Open,
        }
    }
}
