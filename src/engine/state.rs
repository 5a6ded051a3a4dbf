//! All that changes during a simulation, and so all that a saved FMU state holds.

use super::coupling::{CouplingState, Operator};
use super::inputs::{Input, Inputs};
use super::law::ContactMode;
use super::math::rotation::Orientation;
use super::math::twist::Twist;
use super::scalar::Scalar;
use super::ties::JointState;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Parameters, inputs, motion and the record of the last step.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct State<S: Scalar> {
    /// Simulated time.
    pub time: f64,
    /// Tunable parameters.
    pub parameters: Parameters<S>,
    /// Forces that the master applies, by node.
    pub inputs: Inputs<S>,
    /// Torques that the master applies, by rotating node ([`super::Node::rotation`]).
    pub torques: Vec<Input<S>>,
    /// Motion of the nodes.
    pub nodes: Vec<NodeState<S>>,
    /// Rotation of the rotating nodes; point masses have none.
    pub rotations: Vec<RotationState<S>>,
    /// How nodes accelerated, by node; empty unless the scheme predicts from it.
    pub trends: Vec<Trend<S>>,
    /// What came before the last substep, by node; empty unless the scheme looks back at it.
    pub pasts: Vec<Past<S>>,
    /// What the contacts did over the last step.
    pub contacts: Vec<ContactRecord<S>>,
    /// Forces of the last interval, of the contacts whose law looks back at them.
    pub memories: Vec<ContactMemory<S>>,
    /// Continuous contacts, by touching point.
    pub compressions: Vec<Compression<S>>,
    /// Bodies that a master moves, by [`super::Node::coupling`].
    pub couplings: Vec<CouplingState<S>>,
    /// What is learnt of the inverse mass of the master at points that it moves ([`super::System::mechanism`]).
    pub operator: Operator,
    /// Their inverse mass as the master tells it: the upper triangle, column by column, three rows for each. Empty where it
    /// does not.
    pub inverse_mass: Vec<S>,
    /// Joints.
    pub joints: Vec<JointState<S>>,
    /// What the master gives to motors ([`super::Profile::Input`]).
    pub drives: Vec<Input<S, 1>>,
    /// Forces on the nodes, by touching point of a contact, in the last interval whose contacts were solved together, world components:
    /// where solvers start. They have no tangents, because a solution does not depend on them. Empty where no
    /// contacts are solved together. Those of [`State::points`] come last.
    pub guesses: Vec<Vector3<f64>>,
    /// Points of pairs of groups that touched in the last interval or got an impulse in the last step, in the order of
    /// group, node and surface.
    pub points: Vec<GroupPoint<S>>,
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
    /// Communication step `H` that the master is expected to make before it has made one.
    pub sample: f64,
    /// Mass per node.
    pub mass: Vec<S>,
    /// Principal moments of inertia in the body frame, per rotating node.
    pub inertia: Vec<Vector3<S>>,
    /// Coefficient of restitution per contact: Newton's, or that of the law of a continuous contact.
    pub restitution: Vec<S>,
    /// Friction coefficient per contact.
    pub mu: Vec<S>,
    /// Stiffness per spring.
    pub stiffness: Vec<S>,
    /// Damping per spring.
    pub damping: Vec<S>,
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

/// Rotation of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RotationState<S: Scalar> {
    /// From body to world.
    pub orientation: Orientation<S>,
    /// Angular velocity, world components.
    pub angular_velocity: Vector3<S>,
    /// Sum of the contact impulses' moments about the centre over the last communication step.
    pub contact_impulse: Vector3<S>,
}

/// Mean acceleration of a node over the last substep; zero before the first one and after an impact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend<S: Scalar> {
    /// Acceleration.
    pub acceleration: Vector3<S>,
    /// Angular acceleration in body components; zero for a point mass.
    pub angular: Vector3<S>,
}

/// The last substep of a node, for schemes that look back at it. Angular parts are in body components. A jump of the
/// velocity within the substep is taken for one before it, so that what is left is smooth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past<S: Scalar> {
    /// Its length; zero where there is nothing to look back at: before the first substep and after an impact.
    pub length: f64,
    /// Velocity at its start.
    pub velocity: Twist<S>,
    /// Displacement over it.
    pub way: Twist<S>,
    /// Acceleration at its start, or the one that the scheme carries along.
    pub acceleration: Twist<S>,
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

/// A touching point of a pair of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupPoint<S: Scalar> {
    /// Index of the group among the contacts.
    pub contact: u32,
    /// Index of the node.
    pub node: u32,
    /// Index of the surface.
    pub surface: u32,
    /// Which of the points or features of the pair.
    pub point: u32,
    /// Open, stick or slip at the end of the last interval.
    pub mode: ContactMode,
    /// Tangential speed then while closed, else zero.
    pub slip: S,
    /// Whether it was pressed over the interval before.
    pub held: bool,
    /// Sum of the impulses on the node over the last communication step, world components. It has no tangents, because
    /// nothing is computed from it.
    pub impulse: Vector3<f64>,
}

/// Contact force over the last interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory<S: Scalar> {
    /// Normal force on the node.
    pub normal: S,
    /// Friction force on the node, world components.
    pub tangential: Vector3<S>,
}

/// What a touching point of a continuous contact remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compression<S: Scalar> {
    /// Whether it touches.
    pub touching: bool,
    /// Speed at first touch.
    pub impact_speed: S,
    /// From the anchor of friction to the touching point, in the frame of the body that carries the surface, else the
    /// world's.
    pub stretch: Vector3<S>,
    /// Stiffness of the spring to the anchor.
    pub tangential_stiffness: S,
    /// Elastic energy.
    pub stored: S,
}

/// What the engine did over the last communication step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord<S: Scalar> {
    /// Length of the communication step; zero before the first one.
    pub duration: f64,
    /// Number of substeps.
    pub substeps: u32,
    /// Those whose impacts were too many to be followed one by one: the rest of them was captured.
    pub captured: u32,
    /// Solver iterations, summed.
    pub iterations: u32,
    /// Largest relative natural residual.
    pub residual: f64,
    /// Deepest penetration of hard contacts seen at the end of a substep, before correction.
    pub penetration: S,
    /// Energy taken since the start of the simulation by impacts, friction, damping and position correction.
    pub dissipated: S,
    /// The part of it that friction took.
    pub dissipated_by_friction: S,
    /// The part of it that dampers took.
    pub dissipated_by_damping: S,
}

impl<S: Scalar> ContactRecord<S> {
    /// Forgets what it did at the end of the step.
    #[inline]
    pub(super) fn open_up(&mut self) {
        self.mode = ContactMode::Open;
        self.slip = S::zero();
    }
}

impl<S: Scalar> State<S> {
    /// The same state over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> State<T> {
        let numbers = |values: &[S]| values.iter().map(|&x| convert(x)).collect();
        State {
            time: self.time,
            parameters: Parameters {
                gravity: self.parameters.gravity.map(convert),
                step: self.parameters.step,
                sample: self.parameters.sample,
                mass: numbers(&self.parameters.mass),
                inertia: self.parameters.inertia.iter().map(|moments| moments.map(convert)).collect(),
                restitution: numbers(&self.parameters.restitution),
                mu: numbers(&self.parameters.mu),
                stiffness: numbers(&self.parameters.stiffness),
                damping: numbers(&self.parameters.damping),
            },
            inputs: self.inputs.map(convert),
            torques: self.torques.iter().map(|input| input.map(convert)).collect(),
            nodes: self.nodes.iter().map(|node| node.map(convert)).collect(),
            rotations: self.rotations.iter().map(|rotation| rotation.map(convert)).collect(),
            trends: self.trends.iter().map(|trend| trend.map(convert)).collect(),
            pasts: self.pasts.iter().map(|past| past.map(convert)).collect(),
            contacts: self.contacts.iter().map(|contact| contact.map(convert)).collect(),
            memories: self.memories.iter().map(|memory| memory.map(convert)).collect(),
            compressions: self.compressions.iter().map(|compression| compression.map(convert)).collect(),
            couplings: self.couplings.iter().map(|coupling| coupling.map(convert)).collect(),
            operator: self.operator.clone(),
            inverse_mass: numbers(&self.inverse_mass),
            joints: self.joints.iter().map(|joint| joint.map(convert)).collect(),
            drives: self.drives.iter().map(|drive| drive.map(convert)).collect(),
            guesses: self.guesses.clone(),
            points: self.points.iter().map(|point| point.map(convert)).collect(),
            step: self.step.map(convert),
        }
    }

    /// Takes what a master sets, and nothing else, from another state of the same system: parameters, inputs, and the
    /// motion of the bodies that it moves. Does not allocate.
    pub fn take_settings(&mut self, source: &State<S>) {
        let (target, given) = (&mut self.parameters, &source.parameters);
        (target.gravity, target.step, target.sample) = (given.gravity, given.step, given.sample);
        for (list, values) in [
            (&mut target.mass, &given.mass),
            (&mut target.restitution, &given.restitution),
            (&mut target.mu, &given.mu),
            (&mut target.stiffness, &given.stiffness),
            (&mut target.damping, &given.damping),
        ] {
            copy_list(list, values);
        }
        copy_list(&mut target.inertia, &given.inertia);
        self.inputs.copy_from(&source.inputs);
        copy_list(&mut self.torques, &source.torques);
        copy_list(&mut self.drives, &source.drives);
        copy_list(&mut self.inverse_mass, &source.inverse_mass);
        for (coupling, from) in self.couplings.iter_mut().zip(&source.couplings) {
            (coupling.given, coupling.applied) = (from.given, from.applied);
        }
    }

    /// Whether two states belong to systems of the same size.
    pub fn same_size(&self, other: &State<S>) -> bool {
        self.sizes().eq(other.sizes())
            && self.operator.same_size(&other.operator)
            && self.guesses.len() + other.points.len() == other.guesses.len() + self.points.len()
    }

    /// Lengths of the lists that do not change during a simulation.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let Parameters { mass, inertia, restitution, mu, stiffness, damping, .. } = &self.parameters;
        let numbers = [mass, restitution, mu, stiffness, damping].map(Vec::len);
        let motion = [self.nodes.len(), self.rotations.len(), self.trends.len(), self.pasts.len()];
        let contacts = [self.contacts.len(), self.memories.len(), self.compressions.len()];
        let given = [self.inputs.len(), self.torques.len(), self.drives.len(), self.couplings.len()];
        let others = [inertia.len(), self.joints.len(), self.inverse_mass.len()];
        numbers.into_iter().chain(motion).chain(contacts).chain(given).chain(others)
    }

    /// Whether every position, velocity and force is a finite number, and what was dissipated.
    pub fn is_finite(&self) -> bool {
        // Without branches: zero times what is finite is zero, times anything else it is not a number.
        let mut nothing = Vector3::zeros();
        nothing[0] += self.step.dissipated.value() * 0.0;
        for contact in &self.contacts {
            nothing[1] += contact.normal_impulse.value() * 0.0;
        }
        for NodeState { position, velocity, .. } in &self.nodes {
            let part = |axis: usize| position[axis].value() * 0.0 + velocity[axis].value() * 0.0;
            nothing += Vector3::new(part(0), part(1), part(2));
        }
        nothing == Vector3::zeros()
            && self.rotations.iter().all(|rotation| {
                let components = rotation.orientation.wxyz.iter().chain(rotation.angular_velocity.iter());
                components.into_iter().all(|x| x.value().is_finite())
            })
            && (self.couplings.is_empty() && self.joints.is_empty() || self.has_finite_ties())
    }

    /// The same of what goes to masters and through joints.
    #[inline(never)]
    fn has_finite_ties(&self) -> bool {
        let are_finite = |vector: &Vector3<S>| vector.iter().all(|x| x.value().is_finite());
        self.couplings
            .iter()
            .all(|coupling| are_finite(&coupling.output.force) && are_finite(&coupling.output.torque))
            && self.joints.iter().all(|joint| are_finite(&joint.impulse) && are_finite(&joint.moment))
    }
}

// Written out because the derived `clone_from` would allocate, and a step must not.
impl<S: Scalar> Clone for State<S> {
    fn clone(&self) -> State<S> {
        self.map(|x| x)
    }

    fn clone_from(&mut self, source: &State<S>) {
        self.time = source.time;
        let (target, given) = (&mut self.parameters, &source.parameters);
        (target.gravity, target.step, target.sample) = (given.gravity, given.step, given.sample);
        copy_list(&mut target.mass, &given.mass);
        copy_list(&mut target.inertia, &given.inertia);
        copy_list(&mut target.restitution, &given.restitution);
        copy_list(&mut target.mu, &given.mu);
        copy_list(&mut target.stiffness, &given.stiffness);
        copy_list(&mut target.damping, &given.damping);
        self.inputs.copy_from(&source.inputs);
        copy_list(&mut self.torques, &source.torques);
        copy_list(&mut self.nodes, &source.nodes);
        copy_list(&mut self.rotations, &source.rotations);
        copy_list(&mut self.trends, &source.trends);
        copy_list(&mut self.pasts, &source.pasts);
        copy_list(&mut self.contacts, &source.contacts);
        copy_list(&mut self.memories, &source.memories);
        copy_list(&mut self.compressions, &source.compressions);
        if !(self.couplings.is_empty() && source.couplings.is_empty()) {
            copy_list(&mut self.couplings, &source.couplings);
            self.operator.copy_from(&source.operator);
            copy_list(&mut self.inverse_mass, &source.inverse_mass);
        }
        copy_list(&mut self.joints, &source.joints);
        copy_list(&mut self.drives, &source.drives);
        copy_list(&mut self.guesses, &source.guesses);
        copy_list(&mut self.points, &source.points);
        self.step = source.step;
    }
}

/// `Vec::clone_from` goes element by element; one block copy is several times faster, and none is faster still.
#[inline]
fn copy_list<T: Copy>(target: &mut Vec<T>, source: &[T]) {
    if target.len() != source.len() {
        target.clear();
        target.extend_from_slice(source);
    } else if !source.is_empty() {
        target.copy_from_slice(source);
    }
}

/// Writes the function `map` of a type: the same over another scalar type, by the fields that are copied, those that are
/// numbers, and those that have such a function.
macro_rules! over_scalars {
    ($name:ident: [$($copied:ident),*], [$($number:ident),*], [$($mapped:ident),*]) => {
        impl<S: Scalar> $name<S> {
            fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> $name<T> {
                $name {
                    $($copied: self.$copied,)*
                    $($number: convert(self.$number),)*
                    $($mapped: self.$mapped.map(convert),)*
                }
            }
        }
    };
}

over_scalars!(NodeState: [], [], [position, velocity, contact_impulse]);
over_scalars!(RotationState: [], [], [orientation, angular_velocity, contact_impulse]);
over_scalars!(Trend: [], [], [acceleration, angular]);
over_scalars!(Past: [length], [], [velocity, way, acceleration]);
over_scalars!(ContactRecord: [mode], [normal_impulse, slip], [tangential_impulse]);
over_scalars!(ContactMemory: [], [normal], [tangential]);
over_scalars!(Compression: [touching], [impact_speed, tangential_stiffness, stored], [stretch]);
over_scalars!(GroupPoint: [contact, node, surface, point, mode, held, impulse], [slip], []);
over_scalars!(
    StepRecord: [duration, substeps, captured, iterations, residual],
    [penetration, dissipated, dissipated_by_friction, dissipated_by_damping], []
);

impl<S: Scalar> Trend<S> {
    /// Nothing to go by.
    pub fn none() -> Trend<S> {
        Trend { acceleration: Vector3::zeros(), angular: Vector3::zeros() }
    }
}

impl<S: Scalar> Past<S> {
    /// Nothing to look back at.
    pub fn none() -> Past<S> {
        Past { length: 0.0, velocity: Twist::zero(), way: Twist::zero(), acceleration: Twist::zero() }
    }
}

impl<S: Scalar> ContactMemory<S> {
    /// No force.
    pub fn none() -> ContactMemory<S> {
        ContactMemory { normal: S::zero(), tangential: Vector3::zeros() }
    }
}

impl<S: Scalar> Compression<S> {
    /// Nothing touches.
    pub fn open() -> Compression<S> {
        Compression {
            touching: false,
            impact_speed: S::zero(),
            stretch: Vector3::zeros(),
            tangential_stiffness: S::zero(),
            stored: S::zero(),
        }
    }
}

impl<S: Scalar> StepRecord<S> {
    /// Before the first step.
    pub fn none() -> StepRecord<S> {
        StepRecord {
            duration: 0.0,
            substeps: 0,
            captured: 0,
            iterations: 0,
            residual: 0.0,
            penetration: S::zero(),
            dissipated: S::zero(),
            dissipated_by_friction: S::zero(),
            dissipated_by_damping: S::zero(),
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
