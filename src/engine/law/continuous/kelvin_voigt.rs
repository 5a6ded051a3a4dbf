//! Kelvin-Voigt: `F = K d + D d'`. The damper acts at once at first touch; where it would pull, the force is zero.
//! [Fancello 2012, 2.1]

use serde::{Deserialize, Serialize};

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KelvinVoigt {
    /// Stiffness `K`.
    pub stiffness: f64,
    /// Damping `D`.
    pub damping: f64,
}
