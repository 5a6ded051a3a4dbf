//! Groups: contacts between any two of many bodies.
//!
//! In every substep the broad phase ([`near`]) finds the pairs that may touch within it, and what they connect is an
//! island of its own ([`together`]), which is stepped on its own. What a pair remembers from one interval to the next
//! is kept in the state by its node, surface and point ([`memory`]).

mod group;
mod memory;
mod near;
mod together;

pub use group::{Group, Members, Pile, Thing};
pub use memory::Memory;
pub use near::{Near, gap_of_pair, nearest_pair};
pub use together::Together;

use super::scheme::IslandStep;
use super::solver::Solvable;
use super::state::State;
use super::step::Workspace;
use super::system::{Island, System};
use near::Search;
use together::Split;

/// Scratch memory of the pile.
#[derive(Debug)]
pub struct PileScratch {
    search: Search,
    split: Split,
    /// The island at hand.
    island: Island,
}

impl PileScratch {
    /// Nothing yet.
    pub fn new() -> PileScratch {
        PileScratch { search: Search::default(), split: Split::default(), island: Island::empty() }
    }
}

/// Advances all bodies of the pile over a substep.
// Not inlined: steps without groups stay short.
#[inline(never)]
pub fn run<S: Solvable>(
    system: &System,
    whole: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (length, offset): (f64, f64),
) {
    let Some(pile) = &system.pile else { unreachable!("an island of groups") };
    let mut scratch = workspace.pile.take().unwrap_or_else(|| Box::new(PileScratch::new()));
    let PileScratch { search, split, island } = &mut *scratch;
    search.find(system, pile, whole, state, (length, offset), &mut split.together);
    workspace.memory.begin(system, state, &search.near);
    split.sort(system, whole, &search.near);
    for part in 0..split.parts() {
        split.take(part, system, whole, &search.near, island);
        IslandStep::new(system, island, state, workspace, (length, offset)).run();
    }
    workspace.memory.end(system, pile, state, &search.near);
    workspace.pile = Some(scratch);
}
