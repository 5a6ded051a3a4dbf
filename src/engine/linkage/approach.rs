//! Whether an iteration for the motion at the end of an interval comes closer to it.

use crate::engine::tolerances::TOLERANCES;

/// What a step of the iteration changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// Kinetic energy of the change of the velocities.
    pub energy: f64,
    /// Largest angle by which it turns a body further.
    pub turn: f64,
}

impl Change {
    /// Adds a change of velocities with some energy that turns a body by an angle.
    pub fn add(&mut self, energy: f64, turn: f64) {
        self.energy += energy;
        self.turn = self.turn.max(turn);
    }
}

/// Steps of the iteration so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Approach {
    most: f64,
    last: Change,
    gets_closer: bool,
}

impl Approach {
    /// Takes another step.
    pub fn follow(&mut self, change: Change) {
        // By half at least; nothing is known of the first.
        self.gets_closer = self.most == 0.0 || change.energy <= 0.25 * self.last.energy;
        self.most = self.most.max(change.energy);
        self.last = change;
    }

    /// Whether steps do not come closer, and the last one was no small part of all and turned bodies: the interval is too
    /// long.
    pub fn is_lost(&self) -> bool {
        // Also where something is not a number.
        !(self.gets_closer
            || self.last.energy <= TOLERANCES.negligible * self.most
            || self.last.turn <= TOLERANCES.small)
    }

    /// Whether a step that changes so much leads away.
    pub fn grows_by(&self, change: Change) -> bool {
        !(self.most == 0.0 || change.energy <= self.most || change.turn <= TOLERANCES.small)
    }
}
