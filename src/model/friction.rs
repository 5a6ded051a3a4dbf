//! Friction laws of the model file: their keys, what they mean, and the laws of the engine that they become.

use crate::engine::law::bristle::Bristle;
use crate::engine::law::facets::Polygon;
use crate::engine::{FrictionLaw, SolverChoice, Solves};
use serde::{Deserialize, Serialize};

/// Friction law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Friction {
    /// The exact Coulomb cone.
    Cone,
    /// A regular polygon in place of the circle.
    Facets {
        /// Number of directions, 4 or more.
        facets: u32,
        /// Turned so that one direction meets the predicted slip.
        aligned: bool,
        /// Around the circle instead of inside it.
        outer: bool,
    },
    /// Bounded components in a fixed basis.
    Box {
        /// Fixed-point iterations of the bounds.
        iterations: u32,
    },
    /// Regularised friction.
    Bristle {
        /// Stiffness; may be infinite.
        stiffness: f64,
        /// Speed up to which a contact is static.
        threshold: f64,
        /// Fixed-point iterations of the bounds.
        iterations: u32,
    },
}

/// A friction law as a model file writes it.
#[cfg(feature = "cli")]
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) enum FrictionEntry {
    /// Coulomb's law with the exact cone.
    Cone {
        /// Number from 0 up, required: friction coefficient.
        #[schemars(range(min = 0.0))]
        mu: f64,
    },
    /// Coulomb's law with a regular polygon in place of the circle.
    Facets {
        /// Number from 0 up, required: friction coefficient.
        #[schemars(range(min = 0.0))]
        mu: f64,
        /// Integer from 4 to 1000, default 16: number of directions.
        #[serde(default = "default_facets")]
        #[schemars(range(min = 4, max = 1000))]
        facets: u32,
        /// Boolean, default true: turned so that one direction is that of the predicted slip; otherwise fixed.
        #[serde(default = "default_aligned")]
        aligned: bool,
        /// Boolean, default false: a polygon around the circle instead of inside it.
        #[serde(default)]
        outer: bool,
    },
    /// Each of the two tangential components has its own bounds, in a fixed basis.
    Box {
        /// Number from 0 up, required: friction coefficient.
        #[schemars(range(min = 0.0))]
        mu: f64,
        /// Integer from 0 to 100, default 0: fixed-point iterations of the bounds, which come from the last step.
        #[serde(default)]
        #[schemars(range(min = 0, max = 100))]
        iterations: u32,
    },
    /// Peiret's regularised law: a static bristle, and friction aligned with the slip above a threshold.
    Bristle {
        /// Number from 0 up, required: friction coefficient.
        #[schemars(range(min = 0.0))]
        mu: f64,
        /// Number above 0 in N/m, default infinitely stiff: stiffness of the bristle.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        stiffness: Option<f64>,
        /// Number above 0 in m/s, default 0.01: slip speed up to which the contact is static.
        #[serde(default = "default_threshold")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        threshold: f64,
        /// Integer from 0 to 100, default 0: fixed-point iterations of the bounds, which come from the last step.
        #[serde(default)]
        #[schemars(range(min = 0, max = 100))]
        iterations: u32,
    },
}

impl Friction {
    /// The law of the engine.
    pub fn law(self) -> FrictionLaw {
        match self {
            Friction::Cone => FrictionLaw::Cone,
            Friction::Facets { facets, aligned, outer } => FrictionLaw::Facets {
                count: facets as usize,
                aligned,
                polygon: if outer { Polygon::Outer } else { Polygon::Inner },
            },
            Friction::Box { iterations } => FrictionLaw::Box { iterations },
            Friction::Bristle { stiffness, threshold, iterations } => {
                FrictionLaw::Bristle { bristle: Bristle { stiffness, threshold }, iterations }
            }
        }
    }

    /// Its key, where a solver cannot solve it.
    pub fn unsolved_by(self, solver: SolverChoice) -> Option<&'static str> {
        match (self, solver.solves()) {
            (Friction::Cone, Solves::Linear | Solves::Bounds) => Some("friction.cone"),
            (Friction::Facets { .. }, Solves::Bounds) => Some("friction.facets"),
            _ => None,
        }
    }
}

#[cfg(feature = "cli")]
impl FrictionEntry {
    /// The law and its coefficient.
    pub fn read(&self) -> (Friction, f64) {
        match *self {
            FrictionEntry::Cone { mu } => (Friction::Cone, mu),
            FrictionEntry::Facets { mu, facets, aligned, outer } => {
                (Friction::Facets { facets, aligned, outer }, mu)
            }
            FrictionEntry::Box { mu, iterations } => (Friction::Box { iterations }, mu),
            FrictionEntry::Bristle { mu, stiffness, threshold, iterations } => {
                let stiffness = stiffness.unwrap_or(f64::INFINITY);
                (Friction::Bristle { stiffness, threshold, iterations }, mu)
            }
        }
    }
}

#[cfg(feature = "cli")]
fn default_facets() -> u32 {
    16
}

#[cfg(feature = "cli")]
fn default_aligned() -> bool {
    true
}

#[cfg(feature = "cli")]
fn default_threshold() -> f64 {
    0.01
}
