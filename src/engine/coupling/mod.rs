//! Bodies that a master moves, body by body: what the engine believes their motion to be, and how it learns it.

pub mod guard;
pub mod kinetic;
pub mod latency;
pub mod memory;
mod observer;
pub mod operator;
mod position_rule;
pub mod response;
mod shaping;
mod state;
mod turning;

pub use operator::Operator;
pub use state::{CouplingState, Diagnosis, Motion};

use serde::{Deserialize, Serialize};

/// How a body is coupled to its master.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// Index of the body among the nodes.
    pub node: usize,
    /// Who does what.
    pub mode: CouplingMode,
}

/// Who does what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CouplingMode {
    /// The master owns the mass and never repeats a step.
    Kinetic(Kinetic),
    /// The master owns the mass and repeats steps until state and force agree.
    Iterative,
    /// The engine owns the mass that touches; a spring and a damper join it to the master's.
    Compliant(Link),
}

/// What a kinetic coupling does against the ways of masters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinetic {
    /// When the master applies a force.
    pub latency: Latency,
    /// Spread an impulse over two windows, so that position and velocity are right after them.
    pub shaping: bool,
    /// Learn the mass from how the body responds.
    pub adapt: bool,
    /// Take back energy that the coupling has added.
    pub guard: bool,
    /// Whether the body is a point of a mechanism of the master, as others may be, all of which may respond to forces on
    /// each.
    pub mechanism: Membership,
}

/// Whether a body is a point of a mechanism of the master, as far as the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Membership {
    /// That is to be found out.
    Unsaid,
    /// It is not.
    No,
    /// It is, and how all of them respond is learnt.
    Learnt,
    /// It is, and the master tells how all of them respond.
    Given,
}

/// When a master applies the force of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Latency {
    /// To be found out.
    Auto,
    /// That many communication steps later: 0 or 1.
    Known(u8),
}

/// Spring and damper between the mass that touches and the master's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// When the master applies a force.
    pub latency: Latency,
    /// Stiffness, in all directions.
    pub stiffness: f64,
    /// Damping, in all directions.
    pub damping: f64,
    /// Mass at the master's end.
    pub master_mass: f64,
}

impl CouplingMode {
    /// Whether the model says that the body is a point of a mechanism of the master.
    pub fn is_of_mechanism(&self) -> bool {
        let CouplingMode::Kinetic(settings) = self else { return false };
        matches!(settings.mechanism, Membership::Learnt | Membership::Given)
    }

    /// Whether it is one whose response the master tells.
    pub fn is_given(&self) -> bool {
        matches!(self, CouplingMode::Kinetic(Kinetic { mechanism: Membership::Given, .. }))
    }

    /// Whether it is to be found out if it is one.
    pub fn may_be_of_mechanism(&self) -> bool {
        let CouplingMode::Kinetic(settings) = self else { return false };
        settings.mechanism == Membership::Unsaid && settings.shaping && settings.adapt
    }
}

impl Latency {
    /// As far as it is given.
    pub fn given(self) -> Option<u8> {
        match self {
            Latency::Auto => None,
            Latency::Known(windows) => Some(windows),
        }
    }
}
