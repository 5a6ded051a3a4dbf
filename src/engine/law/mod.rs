//! Contact laws, one file each.
//!
//! [`coulomb_cone`] is solved as a cone problem; [`box_friction`] and [`bristle`] give rows between bounds
//! ([`bounded`]); [`facets`] gives a complementarity problem. All take `W = J M^-1 J^T` and the velocities `q`
//! without impulse of any system, three rows a contact. The laws of [`continuous`] are forces instead of hard contact,
//! [`joint_friction`] gives discs of known radius.

pub mod bounded;
pub mod box_friction;
pub mod bristle;
pub mod continuous;
pub mod coulomb_cone;
pub mod facets;
pub mod friction;
pub mod joint_friction;
pub mod newton_impact;

pub use friction::FrictionLaw;
pub use joint_friction::JointFriction;

use serde::{Deserialize, Serialize};

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
