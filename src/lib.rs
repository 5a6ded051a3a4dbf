//! contact-fmu packages a nonsmooth contact engine as an FMI 2.0 or 3.0 FMU for co-simulation and model exchange.
//!
//! # The problem
//!
//! Rigid bodies with configuration `q` and velocity `v` (twists of bodies, on SE(3)) obey, as measures in time,
//!
//! ```text
//! M dv = f(t, q, v) dt + A^T dx + J^T dp
//! A v = b(t)                                  joints and motors
//! g(q) >= 0                                   gaps of contacts
//! 0 <= dp_N  _|_  u_N + e u_N^- >= 0          Signorini, with Newton's restitution, where g = 0
//! |dp_T| <= mu dp_N,  dp_T |u_T| = -mu dp_N u_T    Coulomb
//! u = J v                                     relative velocity at contacts: normal, two tangents
//! ```
//!
//! Over an interval `h` the scheme of Moreau and Jean asks for impulses `p`:
//!
//! ```text
//! M (v+ - v) = h f + A^T x + J^T p            q+ = q (+) h (theta v+ + (1 - theta) v)
//! u = W p + c                                 W = J Y J^T, the Delassus operator
//! K* ∋ u + mu |u_T| n  _|_  p ∈ K             K = product of {|p_T| <= mu p_N}
//! ```
//!
//! `Y` is the inverse of `M` with springs and joints eliminated, `c` the velocity without contact impulse plus what
//! restitution asks for. Other friction laws put a polygon or a rectangle in the place of the disc. The natural residual
//! `|p - Proj_K(p - u - mu |u_T| n)| / |c|` is the only judge of a solution.
//!
//! | symbol | unit | meaning |
//! |---|---|---|
//! | `q`, `v` | m, m/s; rad/s | poses and twists of bodies |
//! | `M`, `f` | kg, kg m^2; N, N m | inertia; forces that are not contact |
//! | `g`, `u` | m, m/s | gap; velocity at a contact point in its frame (`_N` normal, `_T` tangential) |
//! | `p`, `x` | N s | impulses of contacts, of joints |
//! | `e`, `mu` | | restitution, friction coefficient |
//! | `theta`, `h` | , s | weight of the end of an interval, its length |
//!
//! One contact, solved and judged: a mass of 1 kg that falls with 2 m/s and slides with 1 m/s on a floor of friction 0.3.
//!
//! ```
//! use contact_fmu::engine::{ConeProblem, SolverChoice, SolverScratch, SolverSettings, natural_residual, solve_cone};
//!
//! let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
//! let problem = ConeProblem::from_dense(&identity, vec![-2.0, 1.0, 0.0], vec![0.3]);
//! let settings = SolverSettings { choice: SolverChoice::Auto, tolerance: 1e-10, max_iterations: 100 };
//! let mut impulse = [0.0; 3];
//! solve_cone(&problem, &mut impulse, &settings, &mut SolverScratch::default());
//! assert!((impulse[0] - 2.0).abs() < 1e-9 && (impulse[1] + 0.6).abs() < 1e-9);
//! assert!(natural_residual(&problem, &impulse) < 1e-9);
//! ```
//!
//! # References
//!
//! - J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988.
//! - M. Jean, The non-smooth contact dynamics method, 1999.
//! - P. Alart and A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution methods, 1991.
//! - V. Acary and B. Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008.
//! - V. Acary, M. Brémond and O. Huber, On solving contact problems with Coulomb friction, 2018.
//! - O. Gonzalez, Time integration and discrete Hamiltonian systems, 1996.
//!
//! # The code
//!
//! Two flows: `model.toml -> Model -> variable table -> modelDescription.xml + library -> .fmu`
//! ([`model`], [`variables`], `description`, `package`) and `doStep -> substeps -> contact problem -> outputs`
//! ([`engine`]). ARCHITECTURE.md walks along both. Without the feature `cli` the crate is the engine side that the library
//! inside the FMU is made of.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod description;
pub mod engine;
#[cfg(feature = "cli")]
pub mod examples;
pub mod fmi_version;
pub mod log_categories;
#[cfg(feature = "cli")]
pub mod master;
pub mod model;
#[cfg(feature = "cli")]
pub mod modelica;
#[cfg(feature = "cli")]
pub mod output_file;
#[cfg(feature = "cli")]
pub mod output_folder;
#[cfg(feature = "cli")]
pub mod package;
#[cfg(feature = "cli")]
pub mod problem_file;
#[cfg(feature = "cli")]
pub mod report;
pub mod saved_state;
#[cfg(feature = "cli")]
pub mod ssp;
#[cfg(feature = "cli")]
pub mod urdf;
pub mod variables;
