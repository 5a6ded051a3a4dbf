//! Bodies that may touch one another: pairs, and groups of any two of many.
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
use super::state::{ContactMode, State};
use super::step::Workspace;
use super::system::{Island, System};
use nalgebra::Vector3;
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

/// Advances all bodies of an island over a substep, each part that hangs together on its own.
// Not inlined: steps of lone bodies stay short.
#[inline(never)]
pub fn run<S: Solvable>(
    system: &System,
    whole: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (length, offset): (f64, f64),
) {
    let mut scratch = workspace.pile.take().unwrap_or_else(|| Box::new(PileScratch::new()));
    let PileScratch { search, split, island } = &mut *scratch;
    search.find(system, whole, state, (length, offset), &mut split.together);
    let pile = system.pile.as_ref().filter(|_| whole.is_pile);
    if pile.is_some() {
        workspace.memory.begin(system, state, &search.near);
    }
    forget_far(system, whole, state, &search.contacts);
    split.sort(system, whole, &search.near, &search.contacts);
    for part in 0..split.parts() {
        split.take(part, system, whole, &search.near, island);
        IslandStep::new(system, island, state, workspace, (length, offset)).run();
    }
    if let Some(pile) = pile {
        workspace.memory.end(system, pile, state, &search.near);
    }
    workspace.pile = Some(scratch);
}

/// Opens the contacts of an island that are not near.
fn forget_far<S: Solvable>(system: &System, whole: &Island, state: &mut State<S>, near: &[usize]) {
    let mut near = near.iter().peekable();
    for &contact in &whole.contacts {
        if near.next_if(|&&next| next == contact).is_some() {
            continue;
        }
        if state.contacts[contact].mode != ContactMode::Open {
            state.contacts[contact].open_up();
        }
        let first = system.first_points[contact];
        state.guesses[first..first + system.contacts[contact].places()].fill(Vector3::zeros());
    }
}
