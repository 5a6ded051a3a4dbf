//! One communication step: cut into equal substeps, each island advanced on its own.

use super::contact::{Impulse, InverseMass, Jacobian, Neighbours, Touch};
use super::coupling;
use super::events::Watch;
use super::linkage;
use super::pile::{self, PileScratch};
use super::problem::mixed::MixedProblem;
use super::repeat::Repeat;
use super::rotation::Orientation;
use super::scalar::{Dual, Scalar};
use super::scheme::IslandStep;
use super::scheme::continuous::ContinuousScratch;
use super::scheme::end_point::EndPointScratch;
use super::scheme::midpoint::MidpointScratch;
use super::solver::{Solvable, SolverScratch};
use super::state::{ContactRecord, State, StepRecord};
use super::system::{Island, Scheme, System};
use nalgebra::Vector3;
use thiserror::Error;

/// Most substeps that one communication step may be cut into.
pub const MAX_SUBSTEPS: f64 = 1e7;

/// A communication step may be longer than a whole number of internal steps by this part of one, so that
/// round-off in the master's step does not add a substep.
const SUBSTEP_SLACK: f64 = 1e-6;

/// Scratch memory of a step, allocated once.
pub struct Workspace<S: Scalar> {
    /// Acceleration without contact, by node.
    pub(super) acceleration: Vec<Vector3<S>>,
    /// Angular acceleration without contact in islands with joints, by rotating node.
    pub(super) angular_acceleration: Vec<Vector3<S>>,
    /// Velocity of a node's centre for a unit impulse over the interval at hand, by node: the inverse mass.
    pub(super) mobility: Vec<S>,
    /// Proposed velocity, by node.
    pub(super) velocity: Vec<Vector3<S>>,
    /// External torque, by rotating node.
    pub(super) torque: Vec<Vector3<S>>,
    /// Proposed rotation, by rotating node.
    pub(super) turns: Vec<Turn<S>>,
    /// What corrects positions: in place of impulses by node, and of their moments by rotating node.
    pub(super) shifts: Vec<Vector3<S>>,
    pub(super) moments: Vec<Vector3<S>>,
    /// Proposed velocities and rotations without contact, while contact problems are repeated.
    pub(super) free_velocity: Vec<Vector3<S>>,
    pub(super) free_turns: Vec<Turn<S>>,
    /// Contact pairs of the island at hand.
    pub(super) touches: Vec<Touch<S>>,
    /// Those that act, as positions in `touches`.
    pub(super) active: Vec<usize>,
    /// Proposed impulses of the active contacts.
    pub(super) impulses: Vec<Impulse<S>>,
    /// Through which impulses of the active contacts act.
    pub(super) columns: Vec<Jacobian<S>>,
    /// Which of them push the same bodies.
    pub(super) neighbours: Neighbours,
    /// Scales of the active contacts in the contact problem.
    pub(super) scales: Vec<S>,
    /// Normal impulses that bound the friction of the active contacts.
    pub(super) limits: Vec<S>,
    /// Sizes of all impulses on each node over the interval at hand.
    pub(super) loads: Vec<f64>,
    /// Contact problem of the active contacts, and its unknowns.
    pub(super) problem: MixedProblem<S>,
    pub(super) unknowns: Vec<S>,
    pub(super) solver: SolverScratch,
    pub(super) midpoint: MidpointScratch<S>,
    pub(super) continuous: ContinuousScratch<S>,
    pub(super) end_point: EndPointScratch<S>,
    pub(super) couplings: Vec<coupling::Scratch<S>>,
    /// Bodies of the master that respond to one another.
    pub(super) together: InverseMass<S>,
    /// Linear systems of springs and joints, by [`Island::linkage`].
    pub(super) linkages: Vec<linkage::Scratch<S>>,
    /// What pairs of groups remember, and what finds out which bodies hang together; made when it is first needed.
    pub(super) memory: pile::Memory<S>,
    pub(super) pile: Option<Box<PileScratch>>,
    /// Most pairs in an island whose steps are captured because it is too large to be split at impacts.
    pub(super) captured_pairs: usize,
    /// What to do at events.
    pub(super) watch: Watch,
    /// Velocities, turning ones too, that impacts on nodes start from where these are not those before them.
    pub(super) strike_from: Vec<(usize, Vector3<S>, Vector3<S>)>,
    /// Substeps that may repeat themselves, by [`Island::rest`].
    repeats: Vec<Repeat<S>>,
    /// State of a window on trial; made when there is the first one.
    trial: Option<Box<State<S>>>,
}

/// Proposed rotation of a body over an interval, in world components.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn<S> {
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

/// How good a finished step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Every contact problem was solved to tolerance.
    Solved,
    /// Some contact problem was not; see the residual.
    Inaccurate,
}

/// Why a step could not be made. The state is then not to be trusted.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum StepError {
    /// Too long for the internal step.
    #[error(
        "a communication step of {duration} s with internal steps of {step} s needs {needed:e} substeps, more than {MAX_SUBSTEPS:e}: take a smaller communication step or a larger engine.step"
    )]
    TooManySubsteps {
        /// Communication step.
        duration: f64,
        /// Internal step.
        step: f64,
        /// Substeps that it would take.
        needed: f64,
    },
    /// Position or velocity overflowed.
    #[error(
        "a position or velocity is no longer a finite number: look for huge forces, velocities, spins or steps"
    )]
    NotFinite,
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
            couplings: vec![coupling::Scratch::new(); system.couplings.len()],
            together: InverseMass::none(),
            linkages: system.linkages.iter().map(linkage::Scratch::new).collect(),
            memory: pile::Memory::new(),
            pile: None,
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

/// A scalar over which steps can be made.
// A trait, so that the step is compiled here, once for each scalar, and not by all that call it.
pub trait Steppable: Solvable {
    /// Advances the state by `duration > 0`. Does not touch `state.time`: the caller knows the exact time.
    fn advance(
        system: &System,
        state: &mut State<Self>,
        workspace: &mut Workspace<Self>,
        duration: f64,
    ) -> Result<Quality, StepError>;
}

impl Steppable for f64 {
    fn advance(
        system: &System,
        state: &mut State<f64>,
        workspace: &mut Workspace<f64>,
        duration: f64,
    ) -> Result<Quality, StepError> {
        advance_over(system, state, workspace, duration)
    }
}

impl Steppable for Dual {
    fn advance(
        system: &System,
        state: &mut State<Dual>,
        workspace: &mut Workspace<Dual>,
        duration: f64,
    ) -> Result<Quality, StepError> {
        advance_over(system, state, workspace, duration)
    }
}

/// Advances the state by `duration > 0`. Does not touch `state.time`: the caller knows the exact time.
pub fn advance<S: Steppable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<Quality, StepError> {
    S::advance(system, state, workspace, duration)
}

fn advance_over<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<Quality, StepError> {
    if system.couplings.is_empty() {
        let (substeps, length) = cut(duration, state.parameters.step)?;
        begin(state, duration, substeps);
        for substep in 0..substeps {
            let offset = f64::from(substep) * length;
            for island in &system.islands {
                advance_by_substep(system, island, state, workspace, (length, offset));
            }
            if is_lost(state, substep) {
                return Err(StepError::NotFinite);
            }
        }
    } else {
        advance_coupled(system, state, workspace, duration)?;
    }
    if !state.is_finite() {
        return Err(StepError::NotFinite);
    }
    let solved = state.step.residual <= system.settings.solver.tolerance;
    Ok(if solved { Quality::Solved } else { Quality::Inaccurate })
}

/// The same where a master moves some of the bodies: islands have windows of their own.
fn advance_coupled<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    duration: f64,
) -> Result<(), StepError> {
    let (substeps, _) = cut(duration, state.parameters.step)?;
    coupling::begin(system, state, &mut workspace.couplings, &mut workspace.together, duration);
    begin(state, duration, substeps);
    let joined = !workspace.together.is_empty();
    for island in system.stepped(joined) {
        let window = coupling::span(system, state, island, &mut workspace.couplings, duration, substeps);
        advance_island(system, island, state, workspace, window);
    }
    for island in system.stepped(joined) {
        if coupling::onward(system, state, island, &mut workspace.couplings, duration) {
            let mut trial = workspace.trial.take().unwrap_or_else(|| Box::new(state.clone()));
            State::clone_from(&mut trial, state);
            let substeps = workspace.couplings[island.couplings[0]].substeps;
            advance_island(system, island, &mut trial, workspace, (duration, duration, substeps));
            workspace.trial = Some(trial);
        }
    }
    coupling::end(system, state, &workspace.couplings, &workspace.together, duration);
    Ok(())
}

/// Advances an island over a window that starts `ahead` of the present.
fn advance_island<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (ahead, span, substeps): (f64, f64, u32),
) {
    state.step.substeps = state.step.substeps.max(substeps);
    let length = span / f64::from(substeps);
    for substep in 0..substeps {
        let offset = ahead + f64::from(substep) * length;
        advance_by_substep(system, island, state, workspace, (length, offset));
        if is_lost(state, substep) {
            return;
        }
    }
}

/// Whether there is no use to go on after a substep: looks now and then, for steps may have millions of them.
#[inline]
pub(super) fn is_lost<S: Scalar>(state: &State<S>, substep: u32) -> bool {
    const NOW_AND_THEN: u32 = 32;
    substep % NOW_AND_THEN == NOW_AND_THEN - 1 && !state.is_finite()
}

/// Advances an island over a substep that starts at `offset`.
#[inline]
pub(super) fn advance_by_substep<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (length, offset): (f64, f64),
) {
    if let Some(place) = island.rest
        && workspace.repeats[place].begin(system, island, state, (length, offset))
    {
        return;
    }
    if island.is_searched() {
        pile::run(system, island, state, workspace, (length, offset));
    } else {
        IslandStep::new(system, island, state, workspace, (length, offset)).run();
    }
    if let Some(place) = island.rest {
        workspace.repeats[place].end(system, island, state, length);
    }
}

/// Number and length of the substeps of a communication step.
pub(super) fn cut(duration: f64, step: f64) -> Result<(u32, f64), StepError> {
    let needed = (duration / step - SUBSTEP_SLACK).ceil().max(1.0);
    if needed > MAX_SUBSTEPS {
        return Err(StepError::TooManySubsteps { duration, step, needed });
    }
    Ok((needed as u32, duration / needed))
}

pub(super) fn begin<S: Scalar>(state: &mut State<S>, duration: f64, substeps: u32) {
    state.step = StepRecord {
        duration,
        substeps,
        captured: 0,
        iterations: 0,
        residual: 0.0,
        penetration: S::zero(),
        ..state.step
    };
    for contact in &mut state.contacts {
        // The mode stays until a substep has looked at the contact.
        *contact = ContactRecord { mode: contact.mode, ..ContactRecord::open() };
    }
    for node in &mut state.nodes {
        node.contact_impulse = Vector3::zeros();
    }
    for rotation in &mut state.rotations {
        rotation.contact_impulse = Vector3::zeros();
    }
    for point in &mut state.points {
        point.impulse = Vector3::zeros();
    }
    for joint in &mut state.joints {
        joint.impulse = Vector3::zeros();
        joint.moment = Vector3::zeros();
    }
}
