//! Coupled bodies over a communication step: their motion comes in from the master, the force on them goes out.
//!
//! Before the step they are put where contact is to act on them; the contact problem is that of the engine's own bodies;
//! afterwards impulses become forces for the master to hold.

mod compliant;
mod energy;
pub mod event;
mod growing_force;
mod held_force;
mod iterative;
mod mechanism;
mod window;

pub use energy::{excess, take_back};
pub use held_force::{Finding, HeldForce};
pub use mechanism::{Along, along_contact};
pub use window::{Scratch, begin, end, impulse, onward, place, set_latency, span};
