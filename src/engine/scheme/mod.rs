//! Time stepping of one island. A scheme decides which contacts act over which interval; the interval itself
//! is always the same: propose velocities that satisfy the contact problem, accept them, move.
//!
//! `M (v+ - v) = h f + J^T p`, `q+ = q + h (theta v+ + (1 - theta) v)`. [Moreau 1988; Jean 1999; Fancello 2012, 3.1]
//!
//! A rigid body turns freely by `FreeRotation`; contact impulses change its angular velocity through the inertia
//! at the start of the interval, and weigh `theta` in the mean angular velocity by which it turns. Where the touching
//! point stays with a body that turns, impulses act on it midway and velocities are those at the end, which makes
//! pivoting of order 2. [`midpoint`] has intervals of its own, and [`end_point`] a free motion of its own.

pub mod acceptance;
mod balance;
mod catch;
mod contact_problem;
pub mod continuous;
pub mod correction;
pub mod end_point;
mod flight;
mod friction;
mod frictionless;
mod group_memory;
mod hht;
mod impact;
mod joint_friction;
mod linked;
mod look;
pub mod midpoint;
pub mod moreau_jean;
mod multistep;
pub mod parts;
mod proposal;
mod repeat;
mod rest;
mod root;
pub mod settling;
pub mod slip_end;
mod thresholds;
pub mod time_of_impact;
mod turning;
pub mod watch;
pub mod workspace;

use crate::engine::scalar::Scalar;
use crate::engine::settings::Scheme;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::system::{Island, System};
use crate::engine::tolerances::TOLERANCES;
use nalgebra::Vector3;
use std::cell::Cell;
use workspace::Workspace;

/// Sliding speeds up to this part of the largest velocity in a contact problem are round-off.
const STILL: f64 = 1e-10;

/// Components of bounded friction up to this part of the bound hold.
const WITHIN_BOUNDS: f64 = 1.0 - TOLERANCES.negligible;

/// The part of their coefficients of restitution with which contacts rebound in a contact problem, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Rebound<S>(S);

impl<S: Scalar> Rebound<S> {
    /// Newton's law.
    fn newton() -> Rebound<S> {
        Rebound(S::one())
    }

    /// Closed contacts stay closed.
    fn none() -> Rebound<S> {
        Rebound(S::zero())
    }
}

/// Where bodies are in a contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placing {
    /// Where impulses of the proposed interval act.
    Acting,
    /// Where they are.
    Present,
}

/// How forces over an interval `dt` change the motion: by `u` the velocity at its end, by `reach u` the mean velocity.
#[derive(Clone, Copy, Debug)]
pub struct Weights<S> {
    /// Time that forces act.
    pub force: S,
    /// Part of `u` that there is where springs act.
    pub acting: S,
    /// Part of `u` in the mean velocity.
    pub reach: S,
    /// The same for contact.
    pub contact: S,
}

/// One island over one substep.
pub struct IslandStep<'a, S: Scalar> {
    /// Constant data.
    pub system: &'a System,
    /// The island.
    pub island: &'a Island,
    /// Changing data.
    pub state: &'a mut State<S>,
    /// Scratch.
    pub workspace: &'a mut Workspace<S>,
    /// Length of the substep.
    pub length: f64,
    /// Where in the communication step the substep starts.
    pub offset: f64,
    /// How much of the substep is done.
    pub elapsed: f64,
    /// Whether the substep has had so many impacts that short bounces are not followed any more.
    pub crowded: bool,
    /// Whether the balance of energy is closed after every interval.
    pub keeps_energy: bool,
    /// Looks at gaps on the way to impacts so far.
    pub looks: Cell<u32>,
    /// Contact problems so far that were not solved.
    pub unsolved: u32,
}

impl<'a, S: Solvable> IslandStep<'a, S> {
    /// A substep of some `length` that starts at `offset`.
    #[inline]
    pub fn new(
        system: &'a System,
        island: &'a Island,
        state: &'a mut State<S>,
        workspace: &'a mut Workspace<S>,
        (length, offset): (f64, f64),
    ) -> IslandStep<'a, S> {
        IslandStep {
            system,
            island,
            state,
            workspace,
            length,
            offset,
            elapsed: 0.0,
            crowded: false,
            keeps_energy: false,
            looks: Cell::new(0),
            unsolved: 0,
        }
    }

    /// Advances the island over the substep.
    #[inline]
    pub fn run(&mut self) {
        let settings = &self.system.settings;
        match settings.scheme {
            Scheme::Midpoint { .. } => self.apply(self.offset + 0.5 * self.length),
            Scheme::MoreauJean => self.apply(self.offset + settings.theta * self.length),
            Scheme::Multistep { rho } => return multistep::run(self, rho),
            Scheme::Hht { alpha } => return hht::run(self, alpha),
        }
        if settings.energy_balance {
            self.keeps_energy = balance::is_due(self);
        }
        if self.island.continuous.is_empty() {
            self.advance(S::from(self.workspace.watch.until.unwrap_or(self.length)));
        } else {
            continuous::run(self);
        }
    }

    /// Takes accelerations and torques without contact, springs and joints as they are `at` after the start of the
    /// communication step.
    #[inline]
    fn apply(&mut self, at: f64) {
        if self.island.has_points_only && !self.state.inputs.are_given() {
            if self.island.linkage.is_some() && linked::begin_evenly(self) {
                return;
            }
            for &node in &self.island.nodes {
                self.workspace.acceleration[node] = self.state.parameters.gravity;
            }
            if self.island.linkage.is_some() {
                linked::begin(self);
            }
            return;
        }
        let parameters = &self.state.parameters;
        for &node in &self.island.nodes {
            let told = || {
                if self.state.inputs.are_given() {
                    self.state.inputs[node].at(at) / parameters.mass[node]
                } else {
                    Vector3::zeros()
                }
            };
            self.workspace.acceleration[node] = match self.system.nodes[node].coupling {
                None => parameters.gravity + told(),
                // What the master is known to apply acts at its end of the link.
                Some(coupling) if self.island.links.contains(&coupling) => parameters.gravity,
                // Of a mechanism it has what all that the master is known to apply makes of it.
                Some(coupling) if self.workspace.together.place(node).is_some() => {
                    self.state.couplings[coupling].acceleration.linear
                }
                Some(coupling) => self.state.couplings[coupling].acceleration.linear + told(),
            };
            if let Some(rotation) = self.system.nodes[node].rotation {
                self.workspace.torque[rotation] = self.state.torques[rotation].at(at);
            }
        }
        if self.island.linkage.is_some() {
            linked::begin(self);
        }
    }

    /// Advances the island by `dt` under constant accelerations and torques.
    #[inline]
    fn advance(&mut self, dt: S) {
        let settings = &self.system.settings;
        if self.island.linkage.is_some() && settings.scheme == Scheme::MoreauJean && self.is_too_long(dt) {
            return self.advance_in_halves(dt);
        }
        match settings.scheme {
            Scheme::Midpoint { sweeps } => midpoint::run(self, sweeps, dt),
            Scheme::MoreauJean if self.island.finds_impacts(settings) => {
                if self.island.is_crowd() {
                    if self.workspace.watch.strikes {
                        return;
                    }
                    let captured = &mut self.workspace.captured_pairs;
                    *captured = (*captured).max(self.island.contacts.len() + self.island.pairs.len());
                    moreau_jean::run(self, dt)
                } else {
                    time_of_impact::run(self, dt)
                }
            }
            Scheme::MoreauJean => moreau_jean::run(self, dt),
            Scheme::Multistep { .. } | Scheme::Hht { .. } => {
                unreachable!("these schemes have no continuous contacts")
            }
        }
    }

    /// Whether springs or joints turn further in `dt` than can be solved for, and it may be cut.
    #[inline]
    fn is_too_long(&mut self, dt: S) -> bool {
        self.may_be_cut(dt.value(), self.length) && linked::is_lost(self, dt)
    }

    /// Whether a part `dt` of a step may be cut: its cost stays bounded.
    fn may_be_cut(&self, dt: f64, step: f64) -> bool {
        dt * f64::from(TOLERANCES.most_parts) > step && self.unsolved <= time_of_impact::MAX_UNSOLVED
    }

    /// Ends with the first half where an event ends the step there. Times of events are those since the start.
    #[inline(never)]
    fn advance_in_halves(&mut self, dt: S) {
        let half = dt * S::from(0.5);
        linked::forget(self);
        self.advance(half);
        let watch = &mut self.workspace.watch;
        if watch.strikes || watch.impact.is_finite() {
            return;
        }
        let slip_end = std::mem::replace(&mut watch.slip_end, f64::INFINITY);
        linked::forget(self);
        self.advance(half);
        let watch = &mut self.workspace.watch;
        watch.impact += half.value();
        watch.slip_end = slip_end.min(watch.slip_end + half.value());
    }

    /// Whether joints hold nodes of the island.
    #[inline]
    fn is_jointed(&self) -> bool {
        self.island.linkage.is_some_and(|linkage| self.system.linkages[linkage].has_joints())
    }

    /// Whether joints of the island rub.
    #[inline]
    fn rubs(&self) -> bool {
        self.island.linkage.is_some_and(|linkage| !self.system.linkages[linkage].rubbing.is_empty())
    }
}
