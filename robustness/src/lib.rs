//! What nothing may break: inputs made to do harm, physics under stress.
//!
//! Each target makes one case from [`Entropy`] and checks what must hold whatever comes in: no panic, no hang, only
//! documented statuses, no number that is not one, nothing changed by a call that was refused. The same targets run
//! from a seed (`cargo run --release -p robustness`, and a small count in the tests) and under `cargo fuzz` (`fuzz/`).

pub mod archives;
pub mod calls;
pub mod client;
pub mod damage;
pub mod entropy;
pub mod long_runs;
pub mod model_files;
pub mod models;
pub mod neighbours;
pub mod problems;
pub mod runner;
pub mod scenes;
pub mod shape_files;
pub mod states;
pub mod stress;
pub mod trajectories;

pub use entropy::Entropy;
use std::sync::LazyLock;

/// Whether every file and call is told, to look into a seed.
static TRACE: LazyLock<bool> = LazyLock::new(|| std::env::var_os("ROBUSTNESS_TRACE").is_some());

/// A kind of cases.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// One case; panics where something is wrong.
    pub run: fn(&mut Entropy),
}

/// All kinds.
pub const TARGETS: [Target; 8] = [
    Target { name: "model-files", run: model_files::run },
    Target { name: "shape-files", run: shape_files::run },
    Target { name: "archives", run: archives::run },
    Target { name: "problems", run: problems::run },
    Target { name: "states", run: states::run },
    Target { name: "calls", run: calls::run },
    Target { name: "calls3", run: calls::run3 },
    Target { name: "stress", run: stress::run },
];
