//! The nonsmooth contact engine. It knows nothing of FMI, files or printing.
//!
//! Constant data ([`System`]) and everything that changes ([`State`]) are two types; [`Workspace`] is scratch
//! memory that carries nothing from one step to the next that would change a result.

mod contact;
mod coupling;
pub mod derivative;
mod elementary;
mod energy;
pub mod events;
pub mod geometry;
mod initial;
mod inputs;
pub mod law;
mod linkage;
mod pile;
mod problem;
mod repeat;
mod rotation;
mod scalar;
mod scheme;
mod solver;
mod start;
mod state;
mod step;
mod system;
pub mod tape;

pub use contact::{Touch, deepest, gap, pose};
pub use coupling::{
    Coupling, CouplingMode, CouplingState, Diagnosis, Finding, HeldForce, Kinetic, Latency, Link, Motion,
    Twist, Wrench, couple_initially, set_latency,
};
pub use energy::{kinetic_energy, mechanical_energy, potential_energy};
pub use geometry::{Details, Facets, NodeShape, Solid, Surface, SurfaceShape};
pub use initial::{
    GivenFault, ORIENTATION_TOLERANCE, START_PENETRATION_TOLERANCE, StartFault, check_given, check_start,
    scale_given, take_given_motion,
};
pub use inputs::Inputs;
pub use linkage::{
    Anchor, Drive, Joint, JointEnd, JointFriction, JointKind, JointMotion, JointState, Linkage, Motor,
    Profile, Spring, Ties, joint_motion, spring_length, spring_tension,
};
pub use pile::{Group, Members, Pile, Thing, nearest_pair};
pub use problem::block_matrix::{Block, BlockMatrix};
pub use problem::boxed::BoxedProblem;
pub use problem::complementarity::{Complementarity, ProblemError};
pub use problem::cone::ConeProblem;
pub use problem::lcp::LcpProblem;
pub use problem::mixed::{Friction, MixedProblem};
pub use problem::residual::natural_residual;
pub use rotation::Orientation;
pub use scalar::{Dual, Scalar};
pub use scheme::continuous::SHORTEST as SHORTEST_CONTACT_INTERVAL;
pub use solver::{
    LcpScratch, LcpSettings, LcpSolver, Report, Solvable, SolverChoice, SolverScratch, SolverSettings,
    Status, complementarity_solve, solve_cone,
};
pub use start::Start;
pub use state::{
    Compression, ContactMemory, ContactMode, ContactRecord, GroupPoint, Input, MAX_INPUT_DERIVATIVE,
    NodeState, Parameters, Past, RotationState, State, StepRecord, Trend,
};
pub use step::{MAX_SUBSTEPS, Quality, StepError, Steppable, Workspace, advance};
pub use system::{
    Between, Contact, FrictionLaw, Impact, Island, Node, Response, Scheme, Settings, Sides, System,
};
