//! Islands that are split anew in every substep: the broad phase finds the pairs that may touch within it, and bodies that
//! they connect are stepped together. What a pair remembers from one interval to the next is kept in the state by its
//! node, surface and point ([`super::group_memory`]).

use super::IslandStep;
use super::workspace::Workspace;
use crate::engine::contact::broad_phase::Search;
use crate::engine::contact::islands::Split;
use crate::engine::law::ContactMode;
use crate::engine::solver::Solvable;
use crate::engine::state::State;
use crate::engine::system::{Island, System};
use nalgebra::Vector3;

/// Scratch memory of the search.
#[derive(Debug)]
pub struct PartsScratch {
    search: Search,
    split: Split,
    /// The island at hand.
    island: Island,
}

impl PartsScratch {
    /// Nothing yet.
    pub fn new() -> PartsScratch {
        PartsScratch { search: Search::default(), split: Split::default(), island: Island::empty() }
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
    let mut scratch = workspace.parts.take().unwrap_or_else(|| Box::new(PartsScratch::new()));
    let PartsScratch { search, split, island } = &mut *scratch;
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
    workspace.parts = Some(scratch);
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
