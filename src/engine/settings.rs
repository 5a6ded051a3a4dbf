//! What a model chooses of time stepping and of the contact solver.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a substep is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scheme {
    /// Moreau-Jean.
    MoreauJean,
    /// Implicit midpoint.
    Midpoint {
        /// Fixed-point sweeps per substep.
        sweeps: u32,
    },
    /// Two-step formula.
    Multistep {
        /// Asymptotic spectral radius, from 0 to 1.
        rho: f64,
    },
    /// Hilber, Hughes and Taylor's.
    Hht {
        /// Damping of what is stiff, from 0 to 1/3.
        alpha: f64,
    },
}

/// How contacts rebound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// Newton's law of impact; where it would add energy, as it can with friction, all restitutions of the impact are multiplied by the largest number at which it adds none.
    Consistent,
    /// Newton's law of impact, also where it adds energy.
    Newton,
}

/// How time is stepped.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time stepping scheme.
    pub scheme: Scheme,
    /// Moreau-Jean: weight of the end of the step: 1/2 trapezoidal, 1 implicit Euler.
    pub theta: f64,
    /// A contact is active when `gap + gamma h gap_velocity <= 0`.
    pub gamma: f64,
    /// Moreau-Jean: split steps at impacts.
    pub time_of_impact: bool,
    /// How contacts rebound.
    pub impact: Impact,
    /// Remove penetration at position level.
    pub correction: bool,
    /// Close the balance of energy after every interval; for schemes that take none on purpose.
    pub energy_balance: bool,
    /// A simulation may start with shapes inside one another.
    pub allow_initial_penetration: bool,
    /// Contact solver.
    pub solver: SolverSettings,
    /// Start the solver from the contact forces of the last interval instead of zero.
    pub warm_start: bool,
}

/// Which solver, how exact, how long.
#[derive(Clone, Debug)]
pub struct SolverSettings {
    /// Solver to use.
    pub choice: SolverChoice,
    /// Relative natural residual that counts as solved.
    pub tolerance: f64,
    /// Limit of iterations, for every part of a problem that nothing couples to the rest. A guess that
    /// fails costs a few more.
    pub max_iterations: u32,
}

/// Solver to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SolverChoice {
    /// Chosen by problem, with fallbacks.
    Auto,
    /// Lemke's method, for contacts without friction and with friction.facets, friction.box or friction.bristle.
    Lemke,
    /// Principal pivoting, for contacts without friction and with friction.box or friction.bristle.
    Pivoting,
    /// Projected Gauss-Seidel, for contacts without friction and with friction.box or friction.bristle.
    Pgs,
    /// Block nonsmooth Gauss-Seidel, for every friction law.
    Nsgs,
    /// Semismooth Newton, for every friction law.
    Newton,
}

/// A scheme by its name in model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SchemeName {
    /// Moreau-Jean time stepping with theta. With theta = 0.5 energy balances to round-off for point masses, contacts and springs that keep their direction; for springs that turn and bodies in joints it oscillates with an amplitude of order 2 in the step.
    MoreauJean,
    /// Implicit midpoint with sweeps: order 2 also where bodies slide and roll. The energy of springs between point masses balances, also while they turn, as far as the sweeps converge; 5 sweeps reach round-off.
    Midpoint,
    /// Two-step formula with rho: order 2 between impacts, damps motion that is much faster than the step. Energy balances to order 1.
    Multistep,
    /// Hilber, Hughes and Taylor's method with alpha: order 2 between impacts, damps motion that is faster than the step. Energy balances to order 1.
    Hht,
}

/// Parameters of schemes, as far as a model gives them.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemeParameters {
    /// Of the midpoint rule.
    pub sweeps: Option<u32>,
    /// Of the two-step formula.
    pub rho: Option<f64>,
    /// Of Hilber, Hughes and Taylor's method.
    pub alpha: Option<f64>,
}

impl SchemeName {
    /// The scheme with its parameters, or their defaults.
    pub fn with(self, parameters: &SchemeParameters) -> Scheme {
        match self {
            SchemeName::MoreauJean => Scheme::MoreauJean,
            SchemeName::Midpoint => Scheme::Midpoint { sweeps: parameters.sweeps.unwrap_or(3) },
            SchemeName::Multistep => Scheme::Multistep { rho: parameters.rho.unwrap_or(0.6) },
            SchemeName::Hht => Scheme::Hht { alpha: parameters.alpha.unwrap_or(0.1) },
        }
    }

    /// Whether energy that is lost between impacts is lost on purpose, to damp what is faster than the step.
    pub fn damps(self) -> bool {
        match self {
            SchemeName::MoreauJean | SchemeName::Midpoint => false,
            SchemeName::Multistep | SchemeName::Hht => true,
        }
    }

    /// As it is written in a file.
    pub fn text(self) -> &'static str {
        match self {
            SchemeName::MoreauJean => "moreau-jean",
            SchemeName::Midpoint => "midpoint",
            SchemeName::Multistep => "multistep",
            SchemeName::Hht => "hht",
        }
    }
}

impl Scheme {
    /// Whether forces act at the end of a substep, with [`super::State::pasts`].
    #[inline]
    pub fn looks_back(&self) -> bool {
        matches!(self, Scheme::Multistep { .. } | Scheme::Hht { .. })
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::MoreauJean => write!(f, "Moreau-Jean"),
            Scheme::Midpoint { sweeps } => write!(f, "midpoint, {sweeps} sweeps"),
            Scheme::Multistep { rho } => write!(f, "multistep, rho {rho:?}"),
            Scheme::Hht { alpha } => write!(f, "HHT, alpha {alpha:?}"),
        }
    }
}

/// What a solver can solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solves {
    /// Every friction law.
    All,
    /// Linear ones: polygons and bounds.
    Linear,
    /// Bounds alone.
    Bounds,
}

impl SolverChoice {
    /// What it can solve.
    pub fn solves(self) -> Solves {
        match self {
            SolverChoice::Auto | SolverChoice::Nsgs | SolverChoice::Newton => Solves::All,
            SolverChoice::Lemke => Solves::Linear,
            SolverChoice::Pivoting | SolverChoice::Pgs => Solves::Bounds,
        }
    }

    /// Name in model files and reports.
    pub fn name(self) -> &'static str {
        match self {
            SolverChoice::Auto => "auto",
            SolverChoice::Nsgs => "nsgs",
            SolverChoice::Newton => "newton",
            SolverChoice::Lemke => "lemke",
            SolverChoice::Pivoting => "pivoting",
            SolverChoice::Pgs => "pgs",
        }
    }
}
