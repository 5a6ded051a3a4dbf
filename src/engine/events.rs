//! Steps that end at events: impacts, and contacts that begin or cease to slide.
//!
//! A substep is made once to see what happens in it. Where something does, it is made again from its start up to the time
//! of the first event, so that all islands stand at that time, just before it. [`strike`] then makes the impacts that are
//! due. Accelerations are those of the whole substep, hence the path is that of a step without events.
//!
//! Impacts are events at their times where steps are split at them: by the scheme of Moreau and Jean with time of impact, in
//! islands without continuous contacts that are not too large. Elsewhere a hard contact that closes is an event at the end of
//! the substep in which it does, with the jump made.

use super::exchange::{self, event};
use super::law::ContactMode;
use super::scheme::watch::Watch;
use super::scheme::workspace::Workspace;
use super::scheme::{IslandStep, parts};
use super::settings::Scheme;
use super::solver::Solvable;
use super::state::State;
use super::step::{Quality, StepError, Steppable, advance_by_substep, begin, cut, is_lost};
use super::system::{Island, Response, System};

pub use super::exchange::event::{Agreement, MOST_ROUNDS, can_have_events, close_window, expect_events};

/// A communication step under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Its length as it was asked for, and that of its substeps.
    duration: f64,
    length: f64,
    substeps: u32,
    /// Substeps made in full.
    done: u32,
    /// Time since its start.
    pub reached: f64,
    /// Whether it stands at an event.
    pub at_event: bool,
}

impl Progress {
    /// Whether nothing is left to do.
    pub fn is_complete(&self) -> bool {
        self.at_event || self.done == self.substeps
    }
}

/// Starts a step of `duration > 0` of a system without bodies that a master moves.
pub fn begin_step(state: &mut State<f64>, duration: f64) -> Result<Progress, StepError> {
    let (substeps, length) = cut(duration, state.parameters.step)?;
    begin(state, duration, substeps);
    Ok(Progress { duration, length, substeps, done: 0, reached: 0.0, at_event: false })
}

/// Makes the next substep; with `stops` it ends at the first event in it. `spare` is scratch memory.
pub fn make_substep(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    spare: &mut State<f64>,
    progress: &mut Progress,
    stops: bool,
) -> Result<(), StepError> {
    let offset = f64::from(progress.done) * progress.length;
    let span = (progress.length, offset);
    let first = if stops {
        spare.clone_from(state);
        try_substep(system, state, workspace, spare, span)
    } else {
        for island in &system.islands {
            advance_by_substep(system, island, state, workspace, span);
        }
        None
    };
    if is_lost(state, progress.done) {
        return Err(StepError::NotFinite);
    }
    match first {
        Some(time) if time < progress.length => {
            state.clone_from(spare);
            advance_until(system, state, workspace, span, time);
            (progress.reached, progress.at_event) = (offset + time, true);
        }
        event => {
            progress.done += 1;
            let is_last = progress.done == progress.substeps;
            progress.reached =
                if is_last { progress.duration } else { f64::from(progress.done) * progress.length };
            progress.at_event = event.is_some();
        }
    }
    if stops && progress.done == progress.substeps && !progress.at_event {
        progress.at_event = is_impact_due(system, state, workspace, spare);
    }
    Ok(())
}

/// Ends a step where it has come to.
pub fn end_step(system: &System, state: &mut State<f64>, progress: &Progress) -> Result<Quality, StepError> {
    state.step.duration = progress.reached;
    state.step.substeps =
        progress.done + u32::from(progress.reached > f64::from(progress.done) * progress.length);
    if !state.is_finite() {
        return Err(StepError::NotFinite);
    }
    let solved = state.step.residual <= system.settings.solver.tolerance;
    Ok(if solved { Quality::Solved } else { Quality::Inaccurate })
}

/// Makes a substep in which islands stop before impacts. Returns when the first event comes, if there is one.
fn try_substep(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    before: &State<f64>,
    span: (f64, f64),
) -> Option<f64> {
    let mut first = f64::INFINITY;
    for island in &system.islands {
        workspace.watch = Watch { stops: has_events(system, island), ..Watch::OFF };
        advance_by_substep(system, island, state, workspace, span);
        let Watch { impact, slip_end, .. } = workspace.watch;
        first = first.min(impact);
        if impact.is_infinite() && changes_sliding(island, before, state) {
            first = first.min(slip_end.min(span.0));
        }
        if !has_events(system, island) && closed_in(system, island, before, state).next().is_some() {
            first = first.min(span.0);
        }
    }
    workspace.watch = Watch::OFF;
    first.is_finite().then_some(first)
}

/// Makes the part of a substep before an event at `time`.
fn advance_until<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    (length, offset): (f64, f64),
    time: f64,
) {
    if time <= 0.0 {
        return;
    }
    for island in &system.islands {
        let span = if has_events(system, island) {
            workspace.watch = Watch { stops: true, until: Some(time), ..Watch::OFF };
            (length, offset)
        } else {
            (time, offset)
        };
        advance_island(system, island, state, workspace, span);
        workspace.watch = Watch::OFF;
    }
}

fn advance_island<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    span: (f64, f64),
) {
    if island.is_searched(system, state) {
        parts::run(system, island, state, workspace, span);
    } else {
        IslandStep::new(system, island, state, workspace, span).run();
    }
}

/// Makes the impacts that are due. Returns whether there were any. `spare` is scratch memory.
pub fn strike<S: Solvable>(
    system: &System,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
    spare: &mut State<S>,
) -> bool {
    let mut struck = false;
    for island in system.islands.iter().filter(|island| has_events(system, island)) {
        // Looking at contacts opens them: what is not struck stays as it is.
        spare.clone_from(state);
        if strike_island(system, island, spare, workspace) {
            state.clone_from(spare);
            struck = true;
        }
    }
    struck
}

/// Whether an impact is due.
pub fn is_impact_due(
    system: &System,
    state: &State<f64>,
    workspace: &mut Workspace<f64>,
    spare: &mut State<f64>,
) -> bool {
    system.islands.iter().filter(|island| has_events(system, island)).any(|island| {
        spare.clone_from(state);
        strike_island(system, island, spare, workspace)
    })
}

fn strike_island<S: Solvable>(
    system: &System,
    island: &Island,
    state: &mut State<S>,
    workspace: &mut Workspace<S>,
) -> bool {
    workspace.watch = Watch { strikes: true, ..Watch::OFF };
    let span = (state.parameters.step, 0.0);
    advance_island(system, island, state, workspace, span);
    std::mem::replace(&mut workspace.watch, Watch::OFF).struck
}

/// Takes what contacts will do after an event: open, stick or slip over the substep that follows.
pub fn take_modes_after(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    spare: &mut State<f64>,
) {
    spare.clone_from(state);
    let span = (state.parameters.step, 0.0);
    for island in &system.islands {
        advance_island(system, island, spare, workspace, span);
    }
    for (contact, after) in state.contacts.iter_mut().zip(&spare.contacts) {
        (contact.mode, contact.slip) = (after.mode, after.slip);
    }
}

/// A step of a system with bodies that a master moves, up to the first impact in it. Returns how it came out, how far it came
/// and whether it stands at an event. `spare` is scratch memory.
pub fn advance_coupled(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    spare: &mut State<f64>,
    duration: f64,
) -> Result<(Quality, f64, bool), StepError> {
    spare.clone_from(state);
    let mut reached = duration;
    let first = try_window(system, state, workspace, duration)?;
    if let Some(time) = first.filter(|&time| time < duration) {
        state.clone_from(spare);
        if time > 0.0 {
            try_window(system, state, workspace, time)?;
        }
        reached = time;
    }
    if !state.is_finite() {
        return Err(StepError::NotFinite);
    }
    let solved = state.step.residual <= system.settings.solver.tolerance;
    Ok((if solved { Quality::Solved } else { Quality::Inaccurate }, reached, first.is_some()))
}

/// A window in which islands stop before impacts. Returns when the first one comes, if there is one.
fn try_window(
    system: &System,
    state: &mut State<f64>,
    workspace: &mut Workspace<f64>,
    duration: f64,
) -> Result<Option<f64>, StepError> {
    let (substeps, _) = cut(duration, state.parameters.step)?;
    exchange::begin(system, state, &mut workspace.couplings, &mut workspace.together, duration);
    begin(state, duration, substeps);
    let mut first = f64::INFINITY;
    for island in &system.islands {
        let (ahead, span, substeps) =
            exchange::span(system, state, island, &mut workspace.couplings, duration, substeps);
        let length = span / f64::from(substeps);
        for substep in 0..substeps {
            let offset = ahead + f64::from(substep) * length;
            workspace.watch = Watch { stops: has_events(system, island), ..Watch::OFF };
            advance_by_substep(system, island, state, workspace, (length, offset));
            let impact = std::mem::replace(&mut workspace.watch, Watch::OFF).impact;
            if impact.is_finite() {
                first = first.min(offset + impact);
                break;
            }
            if is_lost(state, substep) {
                return Err(StepError::NotFinite);
            }
        }
    }
    exchange::end(system, state, &workspace.couplings, &workspace.together, duration);
    Ok(first.is_finite().then_some(first))
}

/// Impulses on the bodies that a master moves, force and torque by coupling, where it has come to the motion that it gives
/// with the impulses `given`; none where nothing is hit. `state` is that before the impact, `struck` becomes that after it.
pub fn strike_coupled(
    system: &System,
    state: &State<f64>,
    workspace: &mut Workspace<f64>,
    struck: &mut State<f64>,
    given: &[f64],
) -> Option<Vec<f64>> {
    workspace.strike_from.clear();
    for (index, coupling) in state.couplings.iter().enumerate() {
        let impulse = given[6 * index..][..6].try_into().expect("six numbers a body");
        workspace.strike_from.push(event::without(system, state, index, &coupling.given, &impulse));
    }
    struck.clone_from(state);
    let mut any = false;
    for island in system.islands.iter().filter(|island| has_events(system, island)) {
        any |= strike_island(system, island, struck, workspace);
    }
    workspace.strike_from.clear();
    let impulses = system.couplings.iter().flat_map(|coupling| {
        let made = struck.nodes[coupling.node].contact_impulse - state.nodes[coupling.node].contact_impulse;
        let turned = system.nodes[coupling.node].rotation.map_or_else(nalgebra::Vector3::zeros, |rotation| {
            struck.rotations[rotation].contact_impulse - state.rotations[rotation].contact_impulse
        });
        [made[0], made[1], made[2], turned[0], turned[1], turned[2]]
    });
    any.then(|| impulses.collect())
}

/// Ends an event: bodies that a master moves have the velocities that it gives.
pub fn take_given(system: &System, state: &mut State<f64>) {
    for (index, entry) in system.couplings.iter().enumerate() {
        let given = state.couplings[index].given;
        exchange::place(system, state, entry.node, &given);
    }
}

/// Whether contacts of an island have events.
fn has_events(system: &System, island: &Island) -> bool {
    let settings = &system.settings;
    matches!(settings.scheme, Scheme::MoreauJean)
        && island.finds_impacts(settings)
        && island.continuous.is_empty()
}

/// Contacts that have closed between two states where steps are not split at impacts, with their impulses.
pub fn closed<'a>(
    system: &'a System,
    before: &'a State<f64>,
    after: &'a State<f64>,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let islands = system.islands.iter().filter(|island| !has_events(system, island));
    islands.flat_map(move |island| closed_in(system, island, before, after))
}

fn closed_in<'a>(
    system: &'a System,
    island: &'a Island,
    before: &'a State<f64>,
    after: &'a State<f64>,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let hard = island.contacts.iter().filter(|&&contact| system.contacts[contact].response == Response::Hard);
    hard.filter_map(move |&contact| {
        let (was, is) = (&before.contacts[contact], &after.contacts[contact]);
        let impulse = is.normal_impulse - was.normal_impulse;
        (was.mode == ContactMode::Open && impulse > 0.0).then_some((contact, impulse))
    })
}

/// Whether a contact of an island that was pressed and is so still has begun or ceased to slide.
fn changes_sliding(island: &Island, before: &State<f64>, after: &State<f64>) -> bool {
    use ContactMode::{Slip, Stick};
    island.contacts.iter().any(|&contact| {
        let modes = (before.contacts[contact].mode, after.contacts[contact].mode);
        matches!(modes, (Stick, Slip) | (Slip, Stick))
    })
}

/// What a step with events has done: enough to do it again over another scalar.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// Length of its substeps.
    length: f64,
    /// Substeps made in full.
    done: u32,
    /// Time in the next one at which it ended.
    rest: f64,
}

impl Progress {
    /// What has been done.
    pub fn record(&self) -> Record {
        let full = f64::from(self.done) * self.length;
        let rest = if self.done < self.substeps { (self.reached - full).max(0.0) } else { 0.0 };
        Record { length: self.length, done: self.done, rest }
    }
}

impl Record {
    /// Whether its numbers can be those of a step.
    pub fn is_sound(&self) -> bool {
        self.length.is_finite() && self.length > 0.0 && (0.0..=self.length).contains(&self.rest)
    }

    /// Makes the step again, stopped before impacts, with the `impacts` made at its end.
    pub fn replay<S: Steppable>(
        &self,
        system: &System,
        state: &mut State<S>,
        workspace: &mut Workspace<S>,
        impacts: u32,
    ) -> Result<(), StepError> {
        let duration = f64::from(self.done) * self.length + self.rest;
        begin(state, duration, self.done.max(1));
        for substep in 0..self.done {
            let span = (self.length, f64::from(substep) * self.length);
            for island in &system.islands {
                workspace.watch = Watch { stops: has_events(system, island), ..Watch::OFF };
                advance_island(system, island, state, workspace, span);
            }
            workspace.watch = Watch::OFF;
            if is_lost(state, substep) {
                return Err(StepError::NotFinite);
            }
        }
        let span = (self.length, f64::from(self.done) * self.length);
        advance_until(system, state, workspace, span, self.rest);
        let mut spare = state.clone();
        for _ in 0..impacts {
            strike(system, state, workspace, &mut spare);
        }
        Ok(())
    }
}
