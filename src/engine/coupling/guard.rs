//! The ledger of energy: what the forces held by the master did, against what the impulses of the contact should have
//! done. A surplus is taken from the rebound of the next impact: `e'^2 = e^2 - 2 E / (m u^2)`.

use crate::engine::scalar::Scalar;
use serde::{Deserialize, Serialize};

/// Work that is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger<S: Scalar> {
    /// Work that the contact should do in the last two windows, newest first.
    pub due: [S; 2],
    /// Work done, and work that was due, while an impulse is not fully delivered.
    done: S,
    owed: S,
    /// Kinetic energy of the body when there was nothing left to deliver.
    kinetic_energy: f64,
    /// Settlements to come that are taken together, and count only if large, because the coupling was just learned anew.
    void: u8,
}

/// Part of the body's kinetic energy before an impact above which a surplus is no error of what was just learned.
const LARGE: f64 = 0.15;

impl<S: Scalar> Ledger<S> {
    /// Nothing done, nothing due.
    pub fn new() -> Ledger<S> {
        Ledger { due: [S::zero(); 2], done: S::zero(), owed: S::zero(), kinetic_energy: 0.0, void: 0 }
    }

    /// The same over another scalar type.
    pub fn map<T: Scalar>(&self, convert: impl Fn(S) -> T + Copy) -> Ledger<T> {
        Ledger {
            due: self.due.map(convert),
            done: convert(self.done),
            owed: convert(self.owed),
            kinetic_energy: self.kinetic_energy,
            void: self.void,
        }
    }

    /// Takes the next `windows` settlements together, and leaves them out unless they are large.
    pub fn void(&mut self, windows: u8) {
        self.void = windows;
    }

    /// What is due was found with a mass that turned out to be another by `factor`.
    pub fn rescale(&mut self, factor: S) {
        self.due = self.due.map(|work| work * factor);
        self.owed *= factor;
        self.kinetic_energy *= factor.value();
    }

    /// Books the work done in a window by a body with the given kinetic energy. With nothing left to deliver, adds the
    /// surplus to the excess.
    pub fn book(&mut self, done: S, kinetic_energy: f64, latency: u8, settled: bool, excess: &mut S) {
        self.done += done;
        self.owed += self.due[usize::from(latency)];
        if !settled {
            return;
        }
        let surplus = self.done - self.owed;
        if self.void == 0 {
            *excess += surplus;
        } else {
            self.void -= 1;
            *excess = S::zero();
            if self.void > 0 {
                return;
            }
            if surplus.value() > LARGE * self.kinetic_energy {
                *excess = surplus;
            }
        }
        (self.done, self.owed) = (S::zero(), S::zero());
        self.kinetic_energy = kinetic_energy;
    }

    /// Notes what the contact should do in the window to come.
    pub fn expect(&mut self, work: S) {
        self.due = [work, self.due[0]];
    }
}

/// Restitution that takes `excess` from a rebound with the given energy before restitution, `m u^2 / 2`.
pub fn restitution<S: Scalar>(restitution: S, excess: S, impact_energy: S) -> S {
    if excess.value() <= 0.0 || impact_energy.value() <= 0.0 {
        return restitution;
    }
    let square = restitution * restitution - excess / impact_energy;
    if square.value() > 0.0 { square.sqrt() } else { S::zero() }
}
