//! What a model chooses of time stepping and of the contact solver.

/// How a substep is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impact {
    /// Newton's law as far as it adds no energy.
    Consistent,
    /// Newton's law.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverChoice {
    /// Chosen by problem, with fallbacks.
    Auto,
    /// Block nonsmooth Gauss-Seidel.
    Nsgs,
    /// Semismooth Newton, with proximal regularisation where the plain iteration fails.
    Newton,
    /// Lexicographic Lemke, for contacts without friction, polygons and bounded friction.
    Lemke,
    /// Block principal pivoting, for contacts without friction and bounded friction.
    Pivoting,
    /// Projected Gauss-Seidel, for contacts without friction and bounded friction.
    Pgs,
}

impl Scheme {
    /// Whether forces act at the end of a substep, with [`super::State::pasts`].
    #[inline]
    pub fn looks_back(&self) -> bool {
        matches!(self, Scheme::Multistep { .. } | Scheme::Hht { .. })
    }
}

impl SolverChoice {
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
