//! Scratch memory of a step.

use super::continuous::ContinuousScratch;
use super::end_point::EndPointScratch;
use super::group_memory::GroupMemory;
use super::midpoint::MidpointScratch;
use super::parts::{Guest, PartsScratch};
use super::repeat::Repeat;
use super::watch::Watch;
use crate::engine::contact::{Impulse, InverseMass, Jacobian, Touch};
use crate::engine::exchange;
use crate::engine::linkage;
use crate::engine::math::rotation::Orientation;
use crate::engine::problem::delassus::Neighbours;
use crate::engine::problem::mixed::MixedProblem;
use crate::engine::scalar::Scalar;
use crate::engine::settings::Scheme;
use crate::engine::solver::SolverScratch;
use crate::engine::state::State;
use crate::engine::system::{Island, System};
use nalgebra::Vector3;

/// Scratch memory of a step, allocated once.
pub struct Workspace<S: Scalar> {
    /// Acceleration without contact, by node.
    pub(in crate::engine) acceleration: Vec<Vector3<S>>,
    /// Angular acceleration without contact in islands with joints, by rotating node.
    pub(in crate::engine) angular_acceleration: Vec<Vector3<S>>,
    /// Velocity of a node's centre for a unit impulse over the interval at hand, by node: the inverse mass.
    pub(in crate::engine) mobility: Vec<S>,
    /// Proposed velocity, by node.
    pub(in crate::engine) velocity: Vec<Vector3<S>>,
    /// External torque, by rotating node.
    pub(in crate::engine) torque: Vec<Vector3<S>>,
    /// Proposed rotation, by rotating node.
    pub(in crate::engine) turns: Vec<Turn<S>>,
    /// What corrects positions: in place of impulses by node, and of their moments by rotating node.
    pub(in crate::engine) shifts: Vec<Vector3<S>>,
    pub(in crate::engine) moments: Vec<Vector3<S>>,
    /// Proposed velocities and rotations without contact, while contact problems are repeated.
    pub(in crate::engine) free_velocity: Vec<Vector3<S>>,
    pub(in crate::engine) free_turns: Vec<Turn<S>>,
    /// Contact pairs of the island at hand.
    pub(in crate::engine) touches: Vec<Touch<S>>,
    /// Those that act, as positions in `touches`.
    pub(in crate::engine) active: Vec<usize>,
    /// Proposed impulses of the active contacts.
    pub(in crate::engine) impulses: Vec<Impulse<S>>,
    /// Through which impulses of the active contacts act.
    pub(in crate::engine) columns: Vec<Jacobian<S>>,
    /// Which of them push the same bodies.
    pub(in crate::engine) neighbours: Neighbours,
    /// Scales of the active contacts in the contact problem.
    pub(in crate::engine) scales: Vec<S>,
    /// Normal impulses that bound the friction of the active contacts.
    pub(in crate::engine) limits: Vec<S>,
    /// By active contact: how the impulses of the last pass change its velocity.
    pub(in crate::engine) pushed: Vec<Vector3<S>>,
    /// Sizes of all impulses on each node over the interval at hand.
    pub(in crate::engine) loads: Vec<f64>,
    /// Contact problem of the active contacts, and its unknowns.
    pub(in crate::engine) problem: MixedProblem<S>,
    pub(in crate::engine) unknowns: Vec<S>,
    pub(in crate::engine) solver: SolverScratch,
    pub(in crate::engine) midpoint: MidpointScratch<S>,
    pub(in crate::engine) continuous: ContinuousScratch<S>,
    pub(in crate::engine) end_point: EndPointScratch<S>,
    pub(in crate::engine) couplings: Vec<exchange::Scratch<S>>,
    /// Bodies of the master that respond to one another.
    pub(in crate::engine) together: InverseMass<S>,
    /// Linear systems of springs and joints, by [`Island::linkage`].
    pub(in crate::engine) linkages: Vec<linkage::Scratch<S>>,
    /// What pairs of groups remember, and what finds out which bodies hang together; made when it is first needed.
    pub(in crate::engine) memory: GroupMemory<S>,
    pub(in crate::engine) parts: Option<Box<PartsScratch>>,
    /// Bodies that no impulse moves in the part at hand.
    pub(in crate::engine) guests: Vec<Guest<S>>,
    /// Most pairs in an island whose steps are captured because it is too large to be split at impacts.
    pub(in crate::engine) captured_pairs: usize,
    /// What to do at events.
    pub(in crate::engine) watch: Watch,
    /// Velocities, turning ones too, that impacts on nodes start from where these are not those before them.
    pub(in crate::engine) strike_from: Vec<(usize, Vector3<S>, Vector3<S>)>,
    /// Substeps that may repeat themselves, by [`Island::rest`].
    pub(in crate::engine) repeats: Vec<Repeat<S>>,
    /// State of a window on trial; made when there is the first one.
    pub(in crate::engine) trial: Option<Box<State<S>>>,
}

/// Proposed rotation of a body over an interval, in world components.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Turn<S> {
    /// Angular velocity by which the orientation turns.
    pub mean: Vector3<S>,
    /// Angular velocity at the end.
    pub end: Vector3<S>,
    /// Orientation in which impulses act.
    pub acting: Orientation<S>,
    /// The part of `end` by which impulses, as they turn the body on, change how it spins.
    pub gyration: Vector3<S>,
}

impl<S: Scalar> Turn<S> {
    pub fn none() -> Turn<S> {
        Turn {
            mean: Vector3::zeros(),
            end: Vector3::zeros(),
            acting: Orientation::identity(),
            gyration: Vector3::zeros(),
        }
    }
}

impl<S: Scalar> Workspace<S> {
    /// Scratch memory for steps of `system`.
    pub fn new(system: &System) -> Workspace<S> {
        let nodes = system.nodes.len();
        let rotations = system.nodes.iter().filter(|node| node.rotation.is_some()).count();
        let is_midpoint = matches!(system.settings.scheme, Scheme::Midpoint { .. });
        let touches = |island: &Island| -> usize {
            island.contacts.iter().map(|&contact| system.likely_points(contact)).sum()
        };
        let contacts = system.islands.iter().map(touches).max().unwrap_or(0);
        let rubbing = system.linkages.iter().map(|linkage| linkage.rubbing.len()).max().unwrap_or(0);
        let coupled = contacts + rubbing;
        // Contacts with more neighbours than this only cost an allocation, once.
        const LIKELY_NEIGHBOURS: usize = 16;
        let blocks = coupled * coupled.min(LIKELY_NEIGHBOURS);
        Workspace {
            acceleration: vec![Vector3::zeros(); nodes],
            angular_acceleration: vec![Vector3::zeros(); rotations],
            mobility: vec![S::zero(); nodes],
            velocity: vec![Vector3::zeros(); nodes],
            torque: vec![Vector3::zeros(); rotations],
            turns: vec![Turn::none(); rotations],
            free_velocity: vec![Vector3::zeros(); nodes],
            free_turns: vec![Turn::none(); rotations],
            shifts: vec![Vector3::zeros(); nodes],
            moments: vec![Vector3::zeros(); rotations],
            touches: Vec::with_capacity(contacts),
            active: Vec::with_capacity(contacts),
            impulses: Vec::with_capacity(contacts),
            columns: Vec::with_capacity(coupled),
            neighbours: Neighbours::with_capacity(nodes, coupled),
            scales: Vec::with_capacity(coupled),
            limits: Vec::with_capacity(coupled),
            pushed: Vec::with_capacity(coupled),
            loads: vec![0.0; nodes],
            problem: MixedProblem::with_capacity(coupled, blocks),
            unknowns: Vec::with_capacity(3 * contacts.max(coupled)),
            solver: SolverScratch::with_capacity(coupled, blocks),
            midpoint: if is_midpoint {
                MidpointScratch::with_capacity(nodes, contacts)
            } else {
                MidpointScratch::with_capacity(0, 0)
            },
            continuous: ContinuousScratch::new(system),
            end_point: EndPointScratch::with_capacity(if system.settings.scheme.looks_back() {
                nodes
            } else {
                0
            }),
            couplings: vec![exchange::Scratch::new(); system.couplings.len()],
            together: InverseMass::none(),
            linkages: system.linkages.iter().map(linkage::Scratch::new).collect(),
            memory: GroupMemory::new(),
            parts: None,
            guests: Vec::new(),
            captured_pairs: 0,
            watch: Watch::OFF,
            strike_from: Vec::new(),
            repeats: Repeat::of_islands(system),
            trial: None,
        }
    }

    /// Most pairs in an island too large to be split at impacts since the last call; zero where all were split
    /// that are to be.
    pub fn take_captured_pairs(&mut self) -> usize {
        std::mem::take(&mut self.captured_pairs)
    }
}
