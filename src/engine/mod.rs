//! The nonsmooth contact engine. It knows nothing of FMI, files or printing.
//!
//! Constant data ([`System`]) and everything that changes ([`State`]) are two types; [`Workspace`] is scratch
//! memory that carries nothing from one step to the next.

mod contact;
pub mod derivative;
mod energy;
mod geometry;
mod initial;
mod law;
mod problem;
mod scalar;
mod scheme;
mod solver;
mod state;
mod step;
mod system;

pub use contact::gap;
pub use energy::mechanical_energy;
pub use geometry::{NodeShape, SurfaceShape};
pub use initial::{START_PENETRATION_TOLERANCE, start_penetration};
pub use problem::block_matrix::{Block, BlockMatrix};
pub use problem::cone::ConeProblem;
pub use problem::residual::natural_residual;
pub use scalar::{Dual, Scalar};
pub use solver::{Report, Solvable, SolverChoice, SolverScratch, SolverSettings, Status, solve_cone};
pub use state::{
    ContactMode, ContactRecord, MAX_INPUT_DERIVATIVE, NodeInput, NodeState, Parameters, State, StepRecord,
};
pub use step::{MAX_SUBSTEPS, Quality, StepError, Workspace, advance};
pub use system::{ContactPair, Island, Settings, System};
