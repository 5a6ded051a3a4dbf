//! The state in which a simulation starts: what a model tells, and places for all that its system needs.

use super::coupling::{CouplingState, Operator};
use super::inputs::{Input, Inputs};
use super::settings::Scheme;
use super::state::{
    Compression, ContactMemory, ContactRecord, NodeState, Parameters, Past, RotationState, State, StepRecord,
    Trend,
};
use super::system::System;
use super::ties::{JointState, Profile};
use nalgebra::Vector3;

/// What a model tells of its start.
#[derive(Debug)]
pub struct Start {
    /// Parameters.
    pub parameters: Parameters<f64>,
    /// Motion of the nodes.
    pub nodes: Vec<NodeState<f64>>,
    /// Rotation of the rotating nodes.
    pub rotations: Vec<RotationState<f64>>,
    /// Bodies that a master moves.
    pub couplings: Vec<CouplingState<f64>>,
}

impl Start {
    /// The state at time zero: nothing has touched yet, and the master gives nothing.
    pub fn state(self, system: &System) -> State<f64> {
        let nodes = system.nodes.len();
        let predicts = matches!(system.settings.scheme, Scheme::Midpoint { .. });
        let profiles = system.ties.joints.iter().filter_map(|joint| joint.motor.as_ref());
        let inverse_mass = self.inverse_mass(system);
        let driven = profiles.filter(|motor| matches!(motor.profile, Profile::Input(_))).count();
        State {
            time: 0.0,
            inputs: Inputs::none(nodes),
            torques: vec![Input::zero(); self.rotations.len()],
            trends: vec![Trend::none(); if predicts { nodes } else { 0 }],
            pasts: vec![Past::none(); if system.settings.scheme.looks_back() { nodes } else { 0 }],
            contacts: vec![ContactRecord::open(); system.contacts.len()],
            memories: vec![ContactMemory::none(); system.memories()],
            compressions: vec![Compression::open(); system.compressions()],
            joints: vec![JointState::new(); system.ties.joints.len()],
            drives: vec![Input::zero(); driven],
            guesses: vec![Vector3::zeros(); system.points_of_contacts()],
            points: Vec::new(),
            step: StepRecord::none(),
            parameters: self.parameters,
            nodes: self.nodes,
            rotations: self.rotations,
            couplings: self.couplings,
            operator: Operator::new(system.mechanism.as_ref().map_or(0, |mechanism| mechanism.members.len())),
            inverse_mass,
        }
    }

    /// Of points whose response the master tells, until it does: that of free masses.
    fn inverse_mass(&self, system: &System) -> Vec<f64> {
        let Some(mechanism) = system.mechanism.as_ref().filter(|mechanism| mechanism.is_given) else {
            return Vec::new();
        };
        let rows = 3 * mechanism.members.len();
        let mass = |row: usize| self.parameters.mass[system.couplings[mechanism.members[row / 3]].node];
        let places = (0..rows).flat_map(|column| (0..=column).map(move |row| (row, column)));
        places.map(|(row, column)| if row == column { 1.0 / mass(row) } else { 0.0 }).collect()
    }
}
