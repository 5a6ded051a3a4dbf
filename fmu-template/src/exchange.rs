//! Model exchange: the model as a sampled block.
//!
//! It has no continuous states and no event indicators. Time event k comes at `start + k H`, with H = engine.sample. There
//! the engine makes the same step as fmi2DoStep, over the window that begins, with the inputs at that instant. Outputs
//! are held until the next event:
//!
//! | output | tells of |
//! |---|---|
//! | forces and torques for the master to hold | the window that begins, so they act without latency |
//! | all others | the state at the event and the window that ends there, as after fmi2DoStep to that time |
//!
//! So [`Run::before`](crate::instance::Run) is the state at the event, with the inputs that the step used, and
//! [`Run::state`](crate::instance::Run) that at the end of the window, with the inputs as they are set now.
//!
//! The forces are a function of the inputs at the instant: an importer may get and set in turn, call fmi2NewDiscreteStates
//! again, or leave event mode and come back. As long as time has not moved on, the step is then made again from the state
//! at the event. Events at other times make no step, and what is set there counts from the next time event on.
//!
//! Time events are counted from the first fmi2NewDiscreteStates or fmi2EnterContinuousTimeMode on. OpenModelica calls
//! neither after initialization, and its integrator tries times to and fro before it does: until then a time that is set
//! is only kept.

use crate::abi::{fmi2EventInfo, fmi2False, fmi2Real, fmi2Status, fmi2True};
use crate::arguments;
use crate::do_step::{report, step, warn_inaccurate};
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::lifecycle::{Function, Mode};
use crate::logger::Category;
use contact_fmu::engine::{self, State};
use serde::{Deserialize, Serialize};

/// Where a sampled block is in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Time as the importer has set it.
    pub time: f64,
    /// Time of the first event.
    start: f64,
    /// Number of the last event, and the time at which it came.
    event: u64,
    taken: f64,
    /// Whether something was set since the step of the window was made.
    pub stale: bool,
    /// Whether the importer has asked for events.
    begun: bool,
}

/// An event and the time at hand are the same if they differ by less than this part of the time...
const TIME_TOLERANCE: f64 = 1e-9;
/// ...and at most by this part of a window...
const MOST: f64 = 1e-3;
/// ...or by this part of it in any case.
const WINDOW_TOLERANCE: f64 = 1e-6;
/// An event that comes later than by this part of a window is worth a warning.
const LATE: f64 = 1e-2;

impl Sampling {
    /// Before the first event.
    pub fn new() -> Sampling {
        Sampling { time: 0.0, start: 0.0, event: 0, taken: 0.0, stale: true, begun: false }
    }

    /// Moves to the start of the simulation.
    pub fn begin_at(&mut self, start: f64) {
        *self = Sampling { time: start, start, taken: start, ..Sampling::new() };
    }

    /// Whether it is at a time at all.
    pub fn is_finite(&self) -> bool {
        [self.time, self.start, self.taken].iter().all(|time| time.is_finite())
    }

    /// Time of the next event. Counted, not summed up.
    fn next(&self, window: f64) -> f64 {
        self.start + (self.event as f64 + 1.0) * window
    }

    fn tolerance(&self, window: f64) -> f64 {
        (TIME_TOLERANCE * self.time.abs()).min(MOST * window) + WINDOW_TOLERANCE * window
    }

    fn is_at_event(&self, window: f64) -> bool {
        (self.time - self.taken).abs() <= self.tolerance(window)
    }
}

impl Instance {
    fn window(&self) -> f64 {
        self.run.state.parameters.sample
    }

    fn sampling(&mut self) -> &mut Sampling {
        self.run.sampling.as_mut().expect("the guard lets only instances for model exchange in")
    }

    /// Whether this is the instant of a time event: outputs are then a function of inputs.
    pub fn is_at_event(&self) -> bool {
        let window = self.window();
        self.run.mode == Mode::Event && self.run.sampling.is_some_and(|sampling| sampling.is_at_event(window))
    }

    /// At the instant of a time event, makes the step of the window with the inputs as they are now, unless it was made
    /// with them already.
    pub fn settle(&mut self) -> Result<(), Refusal> {
        if self.is_at_event() && self.sampling().stale { make_step(self) } else { Ok(()) }
    }

    fn is_inaccurate(&self) -> bool {
        self.run.state.step.residual > self.system.settings.solver.tolerance
    }
}

fn make_step(instance: &mut Instance) -> Result<(), Refusal> {
    engine::check_given(&instance.system, &instance.run.state)
        .map_err(|fault| instance.wrong_given(fault))?;
    let window = instance.window();
    let (run, end) = (&mut instance.run, &mut instance.undo);
    State::clone_from(end, &run.before);
    end.take_settings(&run.state);
    step(&instance.system, end, &mut instance.workspace, window).map_err(|error| {
        Refusal::discard(format!(
            "{error} (window of {window} s from {} s; nothing was changed)",
            run.before.time
        ))
    })?;
    run.before.take_settings(&run.state);
    std::mem::swap(&mut run.state, end);
    let sampling = instance.sampling();
    sampling.stale = false;
    instance.run.state.time = sampling.next(window);
    Ok(())
}

/// From initialization to event mode, at the first time event.
pub fn start(instance: &mut Instance) {
    State::clone_from(&mut instance.run.before, &instance.run.state);
    instance.sampling().stale = true;
    instance.run.mode = Mode::Event;
}

/// fmi2EnterEventMode.
pub fn enter_event_mode(instance: &mut Instance, function: Function) -> Answer {
    let status = if instance.sampling().begun { arrive(instance, function)? } else { fmi2Status::fmi2OK };
    instance.run.mode = Mode::Event;
    Ok(status)
}

/// Before events are counted, takes one that has become due meanwhile.
fn catch_up(instance: &mut Instance, function: Function) -> Answer {
    let Sampling { begun, time, start, .. } = *instance.sampling();
    if begun || time == start { OK } else { arrive(instance, function) }
}

/// Begins the next window if its event is due.
fn arrive(instance: &mut Instance, function: Function) -> Answer {
    let window = instance.window();
    let sampling = *instance.sampling();
    let (time, due, tolerance) = (sampling.time, sampling.next(window), sampling.tolerance(window));
    if time < due - tolerance {
        return OK;
    }
    if time >= due + window - tolerance {
        return Err(Refusal::error(format!(
            "the time is {time}, but nextEventTime was {due}: stop at time events, they come every {window} s"
        )));
    }
    report(instance);
    let run = &mut instance.run;
    State::clone_from(&mut run.before, &run.state);
    run.sampling =
        Some(Sampling { event: sampling.event.saturating_add(1), taken: time, stale: true, ..sampling });
    if time > due + LATE * window { Ok(warn_late(instance, function, due)) } else { OK }
}

#[cold]
fn warn_late(instance: &Instance, function: Function, due: f64) -> fmi2Status {
    let message = format!(
        "{}: the event of {due} s comes late: contact forces are meant to act from that time on",
        function.name()
    );
    instance.logger.log(fmi2Status::fmi2Warning, Category::Warning, &message);
    fmi2Status::fmi2Warning
}

/// fmi2NewDiscreteStates.
///
/// # Safety
/// `info` is null or has room for a value.
pub unsafe fn new_discrete_states(instance: &mut Instance, info: *mut fmi2EventInfo) -> Answer {
    // SAFETY: as promised by the caller.
    let info = unsafe { arguments::target(info, "eventInfo")? };
    let (status, next) = update(instance, Function::fmi2NewDiscreteStates)?;
    info.write(fmi2EventInfo {
        newDiscreteStatesNeeded: fmi2False,
        terminateSimulation: fmi2False,
        nominalsOfContinuousStatesChanged: fmi2False,
        valuesOfContinuousStatesChanged: fmi2False,
        nextEventTimeDefined: fmi2True,
        nextEventTime: next,
    });
    Ok(status)
}

/// Makes the step of the window at a time event. Returns the time of the next one too.
pub fn update(instance: &mut Instance, function: Function) -> Result<(fmi2Status, f64), Refusal> {
    let status = catch_up(instance, function)?;
    let window = instance.window();
    let &mut Sampling { time, .. } = instance.sampling();
    let next = instance.sampling().next(window);
    if next <= time {
        return Err(Refusal::error(format!(
            "engine.sample is {window}, too small to change the time {time}"
        )));
    }
    instance.settle()?;
    instance.sampling().begun = true;
    if instance.is_at_event() && instance.is_inaccurate() {
        return Ok((warn_inaccurate(instance, function), next));
    }
    Ok((status, next))
}

/// fmi2EnterContinuousTimeMode.
pub fn enter_continuous_time_mode(instance: &mut Instance, function: Function) -> Answer {
    let status = catch_up(instance, function)?;
    let is_new = instance.is_at_event() && instance.sampling().stale;
    instance.settle()?;
    instance.sampling().begun = true;
    instance.run.mode = Mode::ContinuousTime;
    if is_new && instance.is_inaccurate() {
        return Ok(warn_inaccurate(instance, function));
    }
    Ok(status)
}

/// fmi2CompletedIntegratorStep: never asks for an event.
///
/// # Safety
/// The pointers are null or have room for a value.
pub unsafe fn completed_integrator_step<B: From<bool>>(
    _: &mut Instance,
    enter_event_mode: *mut B,
    terminate: *mut B,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (enter_event_mode, terminate) = unsafe {
        (
            arguments::target(enter_event_mode, "enterEventMode")?,
            arguments::target(terminate, "terminateSimulation")?,
        )
    };
    enter_event_mode.write(false.into());
    terminate.write(false.into());
    OK
}

/// fmi2SetTime. Integrators look ahead and come back, but not behind the last time event. Before initialization it is the
/// start time, which some importers set so.
pub fn set_time(instance: &mut Instance, time: fmi2Real, function: Function) -> Answer {
    if !time.is_finite() {
        return Err(Refusal::error(format!("time is {time}: give a finite number")));
    }
    if instance.run.mode == Mode::Instantiated {
        instance.run.state.time = time;
        instance.sampling().begin_at(time);
        return OK;
    }
    let window = instance.window();
    let before = *instance.sampling();
    let after = Sampling { time, ..before };
    if time < before.taken - after.tolerance(window) {
        return Err(Refusal::error(format!(
            "time is {time}, before the last time event at {}: restore a saved state to go back",
            before.taken
        )));
    }
    if instance.run.mode != Mode::Event {
        instance.sampling().time = time;
        return OK;
    }
    if !after.is_at_event(window) {
        instance.settle()?;
    }
    instance.sampling().time = time;
    if !before.begun {
        return OK;
    }
    arrive(instance, function).inspect_err(|_| instance.sampling().time = before.time)
}

/// fmi2SetContinuousStates, fmi2GetDerivatives, fmi2GetContinuousStates, fmi2GetNominalsOfContinuousStates: there are no
/// continuous states, so only an empty list is right.
pub fn no_states(count: usize) -> Answer {
    none(count, "nx", "continuous states")
}

/// fmi2GetEventIndicators: the same of event indicators.
pub fn no_indicators(count: usize) -> Answer {
    none(count, "ni", "event indicators")
}

/// fmi3GetNumberOfContinuousStates, fmi3GetNumberOfEventIndicators.
///
/// # Safety
/// `count` is null or has room for a value.
pub unsafe fn count_none(count: *mut usize) -> Answer {
    // SAFETY: as promised by the caller.
    let count = unsafe { arguments::target(count, "the number")? };
    count.write(0);
    OK
}

fn none(count: usize, argument: &str, what: &str) -> Answer {
    if count == 0 {
        return OK;
    }
    Err(Refusal::error(format!("{argument} is {count}, but this FMU has no {what}")))
}
