//! What a substep does at events: stop before impacts, or make those that are due.

use super::IslandStep;
use crate::engine::solver::Solvable;

/// What a substep does at events, and what it has seen of them.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Whether to stop before impacts.
    pub(in crate::engine) stops: bool,
    /// Whether to make impacts that are due, and nothing else.
    pub(in crate::engine) strikes: bool,
    /// When the substep ends; none for all of it.
    pub(in crate::engine) until: Option<f64>,
    /// Time of the impact before which an island was stopped, and of the first end of sliding.
    pub(in crate::engine) impact: f64,
    pub(in crate::engine) slip_end: f64,
    /// Whether there was an impact.
    pub(in crate::engine) struck: bool,
}

impl Watch {
    /// Steps as they are without events.
    pub(in crate::engine) const OFF: Watch = Watch {
        stops: false,
        strikes: false,
        until: None,
        impact: f64::INFINITY,
        slip_end: f64::INFINITY,
        struck: false,
    };
}

impl<S: Solvable> IslandStep<'_, S> {
    /// Takes the velocities that an impact starts from.
    #[inline(never)]
    pub(in crate::engine) fn start_strike(&mut self) {
        for place in 0..self.workspace.strike_from.len() {
            let (node, velocity, angular) = self.workspace.strike_from[place];
            if !self.island.nodes.contains(&node) {
                continue;
            }
            self.state.nodes[node].velocity = velocity;
            if let Some(rotation) = self.system.nodes[node].rotation {
                self.state.rotations[rotation].angular_velocity = angular;
            }
        }
    }
}
