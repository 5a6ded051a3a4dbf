//! The nonsmooth contact engine. It knows nothing of FMI, files or printing.
//!
//! Constant data ([`System`]) and everything that changes ([`State`]) are two types; [`Workspace`] is scratch
//! memory that carries nothing from one step to the next that would change a result.

mod contact;
mod coupling;
pub mod derivative;
mod energy;
pub mod events;
mod exchange;
pub mod geometry;
mod initial;
mod inputs;
pub mod law;
mod linkage;
mod math;
mod problem;
mod scalar;
mod scheme;
mod settings;
mod solver;
mod start;
mod state;
mod step;
mod system;
pub mod tape;
mod ties;
mod tolerances;

pub use contact::{Touch, deepest, gap, nearest_pair, pose};
pub use coupling::{
    Coupling, CouplingMode, CouplingState, Diagnosis, Kinetic, Latency, Link, Membership, Motion,
};
pub use energy::{kinetic_energy, mechanical_energy, potential_energy};
pub use exchange::{Along, Finding, HeldForce, along_contact, set_latency};
pub use geometry::{Details, Facets, NodeShape, Solid, Surface, SurfaceShape};
pub use initial::{
    GivenFault, ORIENTATION_TOLERANCE, START_PENETRATION_TOLERANCE, StartFault, check_given, check_start,
    couple_initially, scale_given, take_given_motion,
};
pub use inputs::{Input, Inputs, MAX_INPUT_DERIVATIVE};
pub use law::{ContactMode, FrictionLaw, JointFriction};
pub use linkage::{JointMotion, joint_motion, spring_length, spring_tension};
pub use math::rotation::Orientation;
pub use math::twist::{Twist, Wrench};
pub use problem::block_matrix::{Block, BlockMatrix};
pub use problem::boxed::{BoxedProblem, ProblemError};
pub use problem::cone::ConeProblem;
pub use problem::mixed::{Friction, MixedProblem};
pub use problem::residual::natural_residual;
pub use scalar::{Dual, Scalar};
pub use scheme::continuous::SHORTEST as SHORTEST_CONTACT_INTERVAL;
pub use scheme::workspace::Workspace;
pub use settings::{
    Impact, Scheme, SchemeName, SchemeParameters, Settings, SolverChoice, SolverSettings, Solves,
};
pub use solver::{
    LcpScratch, LcpSettings, LcpSolver, Report, Solvable, SolverScratch, Status, complementarity_solve,
    solve_cone,
};
pub use start::Start;
pub use state::{
    Compression, ContactMemory, ContactRecord, GroupPoint, NodeState, Parameters, Past, RotationState, State,
    StepRecord, Trend,
};
pub use step::{MAX_SUBSTEPS, Quality, StepError, Steppable, advance};
pub use system::{
    Between, Contact, Group, Island, Linkage, Mechanism, Members, Node, Pile, Response, SecondSide, Sides,
    System,
};
pub use ties::{Anchor, Drive, Joint, JointEnd, JointKind, JointState, Motor, Profile, Spring, Ties};
