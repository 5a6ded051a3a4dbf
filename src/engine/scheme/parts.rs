//! Islands that are split anew in every substep: the broad phase finds the pairs that may touch within it, and bodies that
//! they connect are stepped together. What a pair remembers from one interval to the next is kept in the state by its
//! node, surface and point ([`super::group_memory`]).

use super::IslandStep;
use super::workspace::Workspace;
use crate::engine::contact::broad_phase::Search;
use crate::engine::contact::islands::Split;
use crate::engine::contact::pose;
use crate::engine::geometry::Pose;
use crate::engine::law::ContactMode;
use crate::engine::scalar::Scalar;
use crate::engine::solver::Solvable;
use crate::engine::state::{Past, State, Trend};
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

/// Motion of a body at the start of a substep.
#[derive(Clone, Copy, Debug)]
pub struct Guest<S: Scalar> {
    node: usize,
    pose: Pose<S>,
    velocity: Vector3<S>,
    angular_velocity: Vector3<S>,
    trend: Option<Trend<S>>,
    past: Option<Past<S>>,
}

impl<S: Scalar> Guest<S> {
    fn of(system: &System, state: &State<S>, node: usize) -> Guest<S> {
        let spin = |rotation: usize| state.rotations[rotation].angular_velocity;
        Guest {
            node,
            pose: pose(system, state, node),
            velocity: state.nodes[node].velocity,
            angular_velocity: system.nodes[node].rotation.map_or(Vector3::zeros(), spin),
            trend: state.trends.get(node).copied(),
            past: state.pasts.get(node).copied(),
        }
    }

    fn restore(&self, system: &System, state: &mut State<S>) {
        let node = &mut state.nodes[self.node];
        (node.position, node.velocity) = (self.pose.position, self.velocity);
        if let Some(rotation) = system.nodes[self.node].rotation {
            let rotation = &mut state.rotations[rotation];
            (rotation.orientation, rotation.angular_velocity) =
                (self.pose.orientation, self.angular_velocity);
        }
        if let Some(trend) = self.trend {
            state.trends[self.node] = trend;
        }
        if let Some(past) = self.past {
            state.pasts[self.node] = past;
        }
    }
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
    // Each part sees a body that no impulse moves from the start of the substep on; its own part is the last to move it.
    let is_prescribed = |state: &State<S>, part: usize| !system.yields(state, split.first(part));
    let parts =
        (0..split.parts()).map(|part| (part, false)).chain((0..split.parts()).map(|part| (part, true)));
    for (part, is_last) in parts {
        if is_prescribed(state, part) != is_last {
            continue;
        }
        split.take(part, system, whole, &search.near, island);
        let mut guests = std::mem::take(&mut workspace.guests);
        guests.clear();
        for &node in island.nodes.iter().filter(|&&node| split.is_guest(part, node)) {
            guests.push(Guest::of(system, state, node));
        }
        IslandStep::new(system, island, state, workspace, (length, offset)).run();
        guests.iter().for_each(|guest| guest.restore(system, state));
        workspace.guests = guests;
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
