//! contact-fmu packages a nonsmooth contact engine as an FMI 2.0 or 3.0 FMU for co-simulation and model exchange.
//!
//! Two flows: `model.toml -> Model -> variable table -> modelDescription.xml + library -> .fmu`
//! ([`model`], [`variables`], `description`, `package`) and `doStep -> substeps -> contact problem -> outputs`
//! ([`engine`]). Without the feature `cli` the crate is the engine side that the library inside the FMU is made of.

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
