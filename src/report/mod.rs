//! The report of a simulation: one HTML page that needs nothing else, with plots, the motion in 3D, energy, solver
//! statistics and warnings.
//!
//! Rust gathers and packs the numbers ([`recorder`], [`recording`], [`film`], `packing`, `scene`, `touching`, `summary`); the page in `assets/`
//! shows them. What the page holds is data only: no name or text of a model becomes markup or program.

pub mod film;
mod packing;
mod page;
pub mod recorder;
pub mod recording;
mod scene;
mod summary;
mod touching;

pub use page::write;

use crate::model::Model;
use recording::Recording;

/// What a report tells.
pub struct Report<'a> {
    /// Name of the model.
    pub name: &'a str,
    /// One line on it.
    pub description: &'a str,
    /// What was simulated: the file's name.
    pub source: &'a str,
    /// Start values that the user gave.
    pub settings: &'a [(String, String)],
    /// The samples and what was said meanwhile.
    pub recording: &'a Recording,
    /// The model, or why there is none to show in 3D.
    pub model: Result<&'a Model, String>,
    /// Why the simulation ended early.
    pub failure: Option<String>,
}
