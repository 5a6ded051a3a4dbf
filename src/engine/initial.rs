//! Whether a simulation may start from a state, and whether a motion that a master gives can be used.

use super::contact::{gap, pose};
use super::coupling::{CouplingMode, CouplingState, Motion};
use super::exchange::impulse;
use super::geometry::NodeShape;
use super::geometry::stop::Coordinate;
use super::math::twist::{Twist, Wrench};
use super::scalar::Scalar;
use super::scheme::continuous::begin_inside;
use super::scheme::workspace::Workspace;
use super::state::State;
use super::step::{Steppable, advance};
use super::system::{Mechanism, Response, System};
use crate::engine::ties::JointEnd;
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;

/// Depth below which a start inside a surface counts as rounding.
pub const START_PENETRATION_TOLERANCE: f64 = TOLERANCES.negligible;

/// Difference of an orientation's length from 1 that is taken for rounding.
pub const ORIENTATION_TOLERANCE: f64 = TOLERANCES.slight;

/// The same for orientations that a master gives: they come out of its integrator.
const GIVEN_ORIENTATION_TOLERANCE: f64 = TOLERANCES.much_less;

/// Why a simulation cannot start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartFault {
    /// An orientation is not a unit quaternion.
    Orientation {
        /// Index of the node.
        node: usize,
        /// Index of its rotation.
        rotation: usize,
        /// Length of the quaternion.
        length: f64,
    },
    /// A motion that the master gives cannot be used.
    Given(GivenFault),
    /// A joint is open.
    Joint {
        /// Joint that is off farthest.
        joint: usize,
        /// By how much, in m or rad.
        error: f64,
    },
    /// A joint is beyond its stop.
    Stop {
        /// Joint that is farthest beyond.
        joint: usize,
        /// Its angle or distance.
        coordinate: f64,
        /// Its bound.
        bound: f64,
    },
    /// A node starts inside a surface of hard contact.
    Penetration {
        /// Contact that is deepest.
        contact: usize,
        /// How deep.
        depth: f64,
    },
}

/// What the master gives cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GivenFault {
    /// An orientation is far from a unit quaternion.
    Orientation {
        /// Index of the coupling.
        coupling: usize,
        /// Length of the quaternion.
        length: f64,
    },
    /// A number of an inverse mass, by which an impulse would make energy.
    InverseMass {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
}

/// Scales orientations to length 1, takes the motion that a master gives, and begins continuous contacts that start inside
/// one another, and looks for what keeps a simulation from starting.
pub fn check_start(system: &System, state: &mut State<f64>) -> Result<(), StartFault> {
    for (node, entry) in system.nodes.iter().enumerate() {
        let (Some(rotation), None) = (entry.rotation, entry.coupling) else { continue };
        let orientation = &mut state.rotations[rotation].orientation;
        let length = orientation.length();
        if (length - 1.0).abs() > ORIENTATION_TOLERANCE {
            return Err(StartFault::Orientation { node, rotation, length });
        }
        *orientation = orientation.normalized();
    }
    check_given(system, state).map_err(StartFault::Given)?;
    take_given_motion(system, state);
    let farthest = (0..system.ties.joints.len())
        .map(|joint| (joint, start_joint(system, state, joint)))
        .filter(|(_, error)| *error > TOLERANCES.negligible)
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some((joint, error)) = farthest {
        return Err(StartFault::Joint { joint, error });
    }
    begin_inside(system, state);
    if system.settings.allow_initial_penetration {
        return Ok(());
    }
    let is_hard = |&contact: &usize| system.contacts[contact].response == Response::Hard;
    let deepest = (0..system.contacts.len())
        .filter(is_hard)
        .map(|contact| (contact, -gap(system, state, contact)))
        .filter(|(_, depth)| *depth > START_PENETRATION_TOLERANCE)
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    match deepest {
        Some((contact, depth)) => match system.contacts[contact].group() {
            None => Err(inside(system, state, contact, depth)),
            Some(_) => Err(StartFault::Penetration { contact, depth }),
        },
        None => Ok(()),
    }
}

/// What is wrong where a contact of a pair starts too deep.
fn inside(system: &System, state: &State<f64>, contact: usize, depth: f64) -> StartFault {
    match system.stop(system.contacts[contact].sides()) {
        None => StartFault::Penetration { contact, depth },
        Some(stop) => {
            let joint = &state.joints[stop.joint];
            let coordinate = match stop.coordinate {
                Coordinate::Angle { .. } => joint.angle,
                Coordinate::Distance => joint.distance,
            };
            StartFault::Stop { joint: stop.joint, coordinate, bound: stop.bound }
        }
    }
}

/// Takes the coordinates of a joint from where its ends are. Returns by how much it is open.
fn start_joint(system: &System, state: &mut State<f64>, joint: usize) -> f64 {
    let entry = &system.ties.joints[joint];
    let poses = entry.ends.map(|end| end.anchor.node.map(|node| pose(system, state, node)));
    let placed = entry.placed(poses.each_ref().map(Option::as_ref));
    state.joints[joint].follow(entry, &placed);
    let holds_orientation =
        |end: &JointEnd| end.anchor.node.is_none_or(|node| system.nodes[node].rotation.is_some());
    let [moves, mut turns] = entry.held();
    if !entry.ends.iter().all(holds_orientation) {
        turns = [false; 3];
    }
    let errors = [entry.translation_error(&placed, None), entry.rotation_error(&placed, 0.0, None)];
    let open = |error: &Vector3<f64>, held: [bool; 3]| {
        (0..3).filter(|&row| held[row]).fold(0.0_f64, |most, row| most.max(error[row].abs()))
    };
    open(&errors[0], moves).max(open(&errors[1], turns))
}

/// Whether every orientation that the master gives is nearly a unit quaternion, and its inverse masses are not seen to be
/// indefinite.
pub fn check_given(system: &System, state: &State<f64>) -> Result<(), GivenFault> {
    for (coupling, (entry, state)) in system.couplings.iter().zip(&state.couplings).enumerate() {
        let length = state.given.orientation.length();
        let is_near = (length - 1.0).abs() <= GIVEN_ORIENTATION_TOLERANCE;
        if system.nodes[entry.node].rotation.is_some() && !is_near {
            return Err(GivenFault::Orientation { coupling, length });
        }
    }
    match indefinite_entry(system, state) {
        None => Ok(()),
        Some((row, column)) => Err(GivenFault::InverseMass { row, column }),
    }
}

/// A number of the inverse mass that is none of a matrix without negative eigenvalues.
fn indefinite_entry(system: &System, state: &State<f64>) -> Option<(usize, usize)> {
    let mechanism = system.mechanism.as_ref().filter(|mechanism| mechanism.is_given)?;
    let rows = 3 * mechanism.members.len();
    let entry = |row, column| state.inverse_mass[Mechanism::entry(row, column)];
    let slack = TOLERANCES.small * (0..rows).fold(0.0_f64, |most, row| most.max(entry(row, row)));
    let is_wrong = |&(row, column): &(usize, usize)| {
        let own = [row, column].map(|place| entry(place, place) + slack);
        own[1] <= 0.0 || entry(row, column).powi(2) > own[0] * own[1]
    };
    (0..rows).flat_map(|column| (0..=column).map(move |row| (row, column))).find(is_wrong)
}

/// Scales the orientations that the master gives to length 1.
pub fn scale_given<S: Scalar>(state: &mut State<S>) {
    for coupling in &mut state.couplings {
        coupling.given.orientation = coupling.given.orientation.normalized();
    }
}

/// Puts coupled bodies where the master gives them, with orientations of length 1.
pub fn take_given_motion<S: Scalar>(system: &System, state: &mut State<S>) {
    scale_given(state);
    for (coupling, &CouplingState { given, .. }) in system.couplings.iter().zip(&state.couplings) {
        let Motion { position, velocity, orientation, angular_velocity } = given;
        let node = &mut state.nodes[coupling.node];
        (node.position, node.velocity) = (position, velocity);
        if let Some(rotation) = system.nodes[coupling.node].rotation {
            let rotation = &mut state.rotations[rotation];
            (rotation.orientation, rotation.angular_velocity) = (orientation, angular_velocity);
        }
    }
}

/// Forces for the master to hold over its first step, of the given length.
pub fn couple_initially<S: Steppable>(system: &System, state: &mut State<S>, step: f64) {
    if system.couplings.is_empty() {
        return;
    }
    guess_acceleration(system, state);
    let mut trial = state.clone();
    for coupling in &mut trial.couplings {
        coupling.memory.latency.windows = 0;
    }
    // What cannot be stepped is told by the first step.
    if advance(system, &mut trial, &mut Workspace::new(system), step).is_err() {
        return;
    }
    let entries = state.couplings.iter_mut().zip(&system.couplings);
    for ((coupling, entry), tried) in entries.zip(&trial.couplings) {
        coupling.output = tried.output;
        if matches!(entry.mode, CouplingMode::Kinetic(_)) && !tried.memory.latency.known {
            // What holds the body acts in any case; a displacement might come twice.
            let Wrench { force, torque } = impulse(system, &trial, entry.node);
            let h = S::from(step);
            coupling.output = Wrench { force: force / h, torque: torque / h };
        }
        coupling.memory.take_first(coupling.output, &tried.memory);
    }
}

/// Acceleration with which the observers of a coupled body start.
fn guess_acceleration<S: Scalar>(system: &System, state: &mut State<S>) {
    for (coupling, entry) in state.couplings.iter_mut().zip(&system.couplings) {
        // What carries a surface mostly rests on something.
        let falls = !matches!(system.nodes[entry.node].shape, NodeShape::Surface);
        let linear = if falls { state.parameters.gravity } else { Vector3::zeros() };
        coupling.memory.guess(Twist { linear, angular: Vector3::zeros() });
    }
}
