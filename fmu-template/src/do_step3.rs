//! fmi3DoStep: the step of [`do_step`](crate::do_step), which may end early at an event or where the importer asks for it,
//! and of whose parts the importer may be told.
//!
//! Between the parts nobody is in a call on the instance, so that the importer may read it there.

use crate::abi::fmi2Status;
use crate::abi3::{fmi3Boolean, fmi3InstanceEnvironment, fmi3IntermediateUpdateCallback};
use crate::arguments;
use crate::do_step::{conclude, prepare, step, undo};
use crate::guard::{self, Answer, Refusal};
use crate::instance::Instance;
use crate::lifecycle::{Function, Mode};
use contact_fmu::engine::events::{self, Progress};
use contact_fmu::engine::{Quality, State, scale_given};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Whom to tell of parts of a step.
#[derive(Clone, Copy, Debug)]
pub struct Intermediate {
    /// The importer's function.
    pub callback: unsafe extern "C" fn(
        fmi3InstanceEnvironment,
        f64,
        bool,
        bool,
        bool,
        bool,
        *mut fmi3Boolean,
        *mut f64,
    ),
}

impl Intermediate {
    /// From what the importer gives.
    pub fn new(callback: fmi3IntermediateUpdateCallback) -> Option<Intermediate> {
        callback.map(|callback| Intermediate { callback })
    }
}

/// What a step answers.
struct Outputs<'a> {
    event_needed: &'a mut MaybeUninit<fmi3Boolean>,
    terminate: &'a mut MaybeUninit<fmi3Boolean>,
    early_return: &'a mut MaybeUninit<fmi3Boolean>,
    reached: &'a mut MaybeUninit<f64>,
}

impl Outputs<'_> {
    fn write(&mut self, event: bool, early: bool, reached: f64) {
        self.event_needed.write(event.into());
        self.terminate.write(false.into());
        self.early_return.write(early.into());
        self.reached.write(reached);
    }
}

/// fmi3DoStep.
///
/// # Safety
/// `component` is null or an instance, the pointers are null or have room for a value.
pub unsafe fn do_step(
    component: *mut c_void,
    point: f64,
    step: f64,
    event_needed: *mut fmi3Boolean,
    terminate: *mut fmi3Boolean,
    early_return: *mut fmi3Boolean,
    reached: *mut f64,
) -> fmi2Status {
    let mut teller = None;
    // SAFETY: as promised by the caller.
    let begun = unsafe {
        guard::enter(component, Function::fmi3DoStep, |instance| {
            let mut outputs = Outputs {
                event_needed: arguments::target(event_needed, "eventHandlingNeeded")?,
                terminate: arguments::target(terminate, "terminateSimulation")?,
                early_return: arguments::target(early_return, "earlyReturn")?,
                reached: arguments::target(reached, "lastSuccessfulTime")?,
            };
            outputs.write(false, false, instance.run.state.time);
            begin(instance, point, step)?;
            teller = instance.intermediate.map(|teller| (teller, instance.logger.environment()));
            match teller {
                None => {
                    while !is_complete(instance) {
                        make_part(instance, point, step)?;
                    }
                    end(instance, point, step, &mut outputs)
                }
                Some(_) => {
                    instance.run.mode = Mode::Intermediate;
                    Ok(fmi2Status::fmi2OK)
                }
            }
        })
    };
    let Some((teller, environment)) = teller.filter(|_| begun == fmi2Status::fmi2OK) else { return begun };
    loop {
        let (mut told, mut can_return) = (None, false);
        // SAFETY: as promised by the caller.
        let status = unsafe {
            guard::resume(component, Function::fmi3DoStep, |instance| {
                make_part(instance, point, step).inspect_err(|_| instance.run.mode = Mode::Step)?;
                can_return = instance.early_return && !is_complete(instance);
                told = Some((instance.run.state.time, is_complete(instance)));
                Ok(fmi2Status::fmi2OK)
            })
        };
        let Some((time, is_last)) = told else { return status };
        let (mut wants_return, mut _return_time) = (0, time);
        // SAFETY: the importer's function, called with what the standard says; no call on the instance is under way.
        unsafe {
            let (wants, until) = (&raw mut wants_return, &raw mut _return_time);
            (teller.callback)(environment, time, false, true, true, can_return, wants, until);
        }
        if is_last || can_return && wants_return != 0 {
            break;
        }
    }
    // SAFETY: as promised by the caller.
    unsafe {
        guard::resume(component, Function::fmi3DoStep, |instance| {
            instance.run.mode = Mode::Step;
            let mut outputs = Outputs {
                event_needed: arguments::target(event_needed, "eventHandlingNeeded")?,
                terminate: arguments::target(terminate, "terminateSimulation")?,
                early_return: arguments::target(early_return, "earlyReturn")?,
                reached: arguments::target(reached, "lastSuccessfulTime")?,
            };
            end(instance, point, step, &mut outputs)
        })
    }
}

/// Whether the steps of an instance end at events.
fn stops(instance: &Instance) -> bool {
    instance.early_return && instance.run.events.is_some()
}

/// The way of a body that the importer moves is foretold, and the longer ahead the worse. So a step ends this part of it
/// before an impact that is not near yet, and the next one foretells the rest from what the importer gives there: an error of
/// the acceleration moves the impact by its square.
const APPROACH: f64 = 1e-2;

/// A step under way.
#[derive(Clone, Copy, Debug)]
pub enum UnderWay {
    /// Made by substeps.
    Parts(Progress),
    /// Made as a whole; once it is, with its quality, how far it came, and whether it stands at an event.
    Whole(Option<(Quality, f64, bool)>),
}

impl UnderWay {
    fn is_complete(&self) -> bool {
        match self {
            UnderWay::Parts(progress) => progress.is_complete(),
            UnderWay::Whole(whole) => whole.is_some(),
        }
    }
}

/// Starts a step. Bodies that the importer moves are moved in one part.
fn begin(instance: &mut Instance, point: f64, step: f64) -> Result<(), Refusal> {
    prepare(instance, point, step)?;
    instance.under_way = Some(
        if instance.system.couplings.is_empty() && (stops(instance) || instance.intermediate.is_some()) {
            match events::begin_step(&mut instance.run.state, step) {
                Ok(progress) => UnderWay::Parts(progress),
                Err(error) => return Err(undo(instance, point, step, error)),
            }
        } else {
            UnderWay::Whole(None)
        },
    );
    Ok(())
}

fn is_complete(instance: &Instance) -> bool {
    instance.under_way.is_none_or(|under_way| under_way.is_complete())
}

/// Makes a substep, or the whole step.
fn make_part(instance: &mut Instance, point: f64, duration: f64) -> Result<(), Refusal> {
    let stops = stops(instance);
    let (state, workspace) = (&mut instance.run.state, &mut instance.workspace);
    let (made, reached) = match &mut instance.under_way {
        None => return Ok(()),
        Some(UnderWay::Whole(whole)) if stops && instance.exchanges => {
            scale_given(state);
            let spare = instance.spare.as_mut().expect("made with the instance");
            let mut made = events::advance_coupled(&instance.system, state, workspace, spare, duration);
            let margin = APPROACH * duration;
            if let Ok((_, reached, true)) = made
                && reached > 2.0 * margin
            {
                State::clone_from(state, &instance.undo);
                scale_given(state);
                let shorter = reached - margin;
                made = events::advance_coupled(&instance.system, state, workspace, spare, shorter);
            }
            let reached = made.map_or(0.0, |(_, reached, _)| reached);
            (made.map(|made| *whole = Some(made)), reached)
        }
        Some(UnderWay::Whole(whole)) => {
            let made = step(&instance.system, state, workspace, duration);
            (made.map(|made| *whole = Some((made, duration, false))), duration)
        }
        Some(UnderWay::Parts(progress)) => {
            let spare = instance.spare.as_mut().expect("made with the instance");
            let made = events::make_substep(&instance.system, state, workspace, spare, progress, stops);
            state.step.duration = progress.reached;
            (made, progress.reached)
        }
    };
    state.time = point + reached;
    made.map_err(|error| undo(instance, point, duration, error))
}

/// Ends a step where it has come to.
fn end(instance: &mut Instance, point: f64, duration: f64, outputs: &mut Outputs<'_>) -> Answer {
    let (quality, reached, at_event, record) = match instance.under_way.take() {
        Some(UnderWay::Parts(progress)) => {
            let quality = events::end_step(&instance.system, &mut instance.run.state, &progress)
                .map_err(|error| undo(instance, point, duration, error))?;
            let record = stops(instance).then(|| progress.record());
            let (system, run) = (&instance.system, &mut instance.run);
            if let (Some(events), Some(before), true) = (&mut run.events, &instance.spare, progress.at_event)
            {
                events.closed = events::closed(system, before, &run.state).collect();
            }
            (quality, progress.reached, progress.at_event, record)
        }
        Some(UnderWay::Whole(Some((quality, reached, at_event)))) => (quality, reached, at_event, None),
        _ => unreachable!("a step ends after it was made"),
    };
    if let Some(events) = &mut instance.run.events {
        (events.due, events.step, events.strikes, events.agreement) = (at_event, record, 0, None);
    }
    let status = conclude(instance, point, reached, quality, Function::fmi3DoStep)?;
    outputs.write(at_event, reached < duration, point + reached);
    Ok(status)
}
