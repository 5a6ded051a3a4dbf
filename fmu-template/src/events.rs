//! Co-simulation of FMI 3.0 where the importer uses event mode: what it is told of impacts, and of contacts that begin or
//! cease to slide.
//!
//! fmi3DoStep stops just before an event, if the importer allows it to return early, and asks for event mode. Velocities
//! jump when event mode is entered: there the clocks of the contacts that are hit tick, with impulse and time. Where the
//! jump makes another impact due at the same instant, fmi3UpdateDiscreteStates makes it and asks to be called again. Without
//! early return there are no events, and steps are those of FMI 2.0.
//!
//! Kinetic bodies: the importer moves its own model to the time of the event and gives the motion there before event mode.
//! It applies the impulses that it finds in event mode to the velocities before, gives the new ones, and calls
//! fmi3UpdateDiscreteStates, which asks to be called again with other impulses until both agree.

use crate::abi::fmi2Status;
use crate::abi3::fmi3Boolean;
use crate::arguments;
use crate::exchange;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::lifecycle::{Function, Interface, Mode};
use crate::logger::Category;
use contact_fmu::engine::events::{self, Agreement, Record};
use contact_fmu::engine::{self, State};
use serde::{Deserialize, Serialize};

/// Rounds of impacts at one instant, after which the rest is left to the next step: as many as a step is split at.
const MOST_ROUNDS: u32 = 512;

/// Events of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// Impacts, by contact.
    pub impacts: Vec<Impact>,
    /// Impulses on the bodies that the importer moves, six numbers each, and the rounds in which they were found; none where
    /// nothing is to be agreed on.
    pub impulses: Vec<f64>,
    pub agreement: Option<Agreement>,
    /// Contacts that have closed in the last internal step, and their impulses: the clocks tick in event mode.
    pub closed: Vec<(usize, f64)>,
    /// Whether the last step has ended at an event that is yet to be handled.
    pub due: bool,
    /// What the last step was, and rounds of impacts at its end.
    pub step: Option<Record>,
    pub strikes: u32,
}

/// The last impact of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// Whether its clock ticks.
    pub ticks: bool,
    /// Normal impulse.
    pub impulse: f64,
    /// Time.
    pub time: f64,
}

impl Events {
    /// None yet, of so many contacts and bodies that the importer moves.
    pub fn new(contacts: usize, couplings: usize) -> Events {
        let impacts = vec![Impact::default(); contacts];
        Events { impacts, impulses: vec![0.0; 6 * couplings], ..Events::default() }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Events::new(self.impacts.len(), self.impulses.len() / 6);
    }

    /// Whether it can belong to a state.
    pub fn fits(&self, state: &State<f64>) -> bool {
        let is_sound = |impact: &Impact| impact.impulse.is_finite() && impact.time.is_finite();
        self.impacts.len() == state.contacts.len()
            && self.impacts.iter().all(is_sound)
            && self.impulses.len() == 6 * state.couplings.len()
            && self.impulses.iter().all(|impulse| impulse.is_finite())
            && self.agreement.as_ref().is_none_or(|agreement| agreement.fits(self.impulses.len()))
            && self
                .closed
                .iter()
                .all(|&(contact, impulse)| contact < self.impacts.len() && impulse.is_finite())
            && self.strikes <= MOST_ROUNDS
            && self.step.is_none_or(|step| step.is_sound())
    }

    /// Clocks tick of the contacts that are hit between two states.
    fn tick(&mut self, before: &State<f64>, after: &State<f64>) {
        let contacts = before.contacts.iter().zip(&after.contacts);
        for (impact, (was, is)) in self.impacts.iter_mut().zip(contacts) {
            let impulse = is.normal_impulse - was.normal_impulse;
            if impulse > 0.0 {
                *impact = Impact { ticks: true, impulse, time: before.time };
            }
        }
    }

    /// Clocks tick of the contacts that have closed.
    fn tick_closed(&mut self, time: f64) {
        for (contact, impulse) in self.closed.drain(..) {
            self.impacts[contact] = Impact { ticks: true, impulse, time };
        }
    }

    fn stop_clocks(&mut self) {
        self.impacts.iter_mut().for_each(|impact| impact.ticks = false);
    }
}

/// fmi3EnterEventMode.
pub fn enter_event_mode(instance: &mut Instance) -> Answer {
    if instance.run.interface() == Interface::ModelExchange {
        return exchange::enter_event_mode(instance, Function::fmi3EnterEventMode);
    }
    let Some(events) = &mut instance.run.events else {
        return Err(Refusal::error("the instance was made without event mode (eventModeUsed is false)"));
    };
    let due = std::mem::take(&mut events.due);
    instance.run.mode = Mode::Event;
    if instance.exchanges {
        if due {
            engine::check_given(&instance.system, &instance.run.state)
                .map_err(|fault| instance.wrong_given(fault))
                .inspect_err(|_| instance.run.mode = Mode::Step)?;
            meet(instance);
        }
        return OK;
    }
    if due {
        events.tick_closed(instance.run.state.time);
        strike(instance);
        let run = &mut instance.run;
        let spare = instance.spare.as_mut().expect("there are events");
        events::take_modes_after(&instance.system, &mut run.state, &mut instance.workspace, spare);
    }
    OK
}

/// Finds the impulses with which an impact of bodies that the importer moves begins.
fn meet(instance: &mut Instance) {
    let (system, run) = (&instance.system, &mut instance.run);
    engine::scale_given(&mut run.state);
    events::close_window(system, &mut run.state);
    let struck = instance.spare.as_mut().expect("there are events");
    let events = run.events.as_mut().expect("there are events");
    events.impulses.fill(0.0);
    let found = events::strike_coupled(system, &run.state, &mut instance.workspace, struck, &events.impulses);
    events.agreement = None;
    if let Some(impulses) = found {
        let mut agreement = Agreement::default();
        if let Some(first) = agreement.next(&events.impulses, &impulses) {
            events.impulses = first;
        }
        events.agreement = Some(agreement);
        events.tick(&run.state, struck);
    }
}

/// Compares the velocities that the importer has come to with what contact makes of them. Returns whether both do not agree
/// yet, and whether they were given up.
fn agree(instance: &mut Instance) -> (bool, bool) {
    let (system, run) = (&instance.system, &mut instance.run);
    let struck = instance.spare.as_mut().expect("there are events");
    let events = run.events.as_mut().expect("there are events");
    let Some(mut agreement) = events.agreement.take() else { return (false, false) };
    engine::scale_given(&mut run.state);
    let found = events::strike_coupled(system, &run.state, &mut instance.workspace, struck, &events.impulses);
    let next = found.and_then(|impulses| agreement.next(&events.impulses, &impulses));
    let given_up = next.is_some() && agreement.rounds() >= events::MOST_ROUNDS;
    match next {
        Some(impulses) if !given_up => {
            events.impulses = impulses;
            events.agreement = Some(agreement);
            events.tick(&run.state, struck);
            (true, false)
        }
        _ => {
            events.tick(&run.state, struck);
            events.stop_clocks();
            run.state.clone_from(struck);
            events::take_given(system, &mut run.state);
            events::take_modes_after(system, &mut run.state, &mut instance.workspace, struck);
            (false, given_up)
        }
    }
}

/// Makes the impacts that are due. Returns whether there were any.
fn strike(instance: &mut Instance) -> bool {
    let (run, spare) = (&mut instance.run, instance.spare.as_mut().expect("there are events"));
    let events = run.events.as_mut().expect("there are events");
    let before = run.state.clone();
    if events.strikes >= MOST_ROUNDS
        || !events::strike(&instance.system, &mut run.state, &mut instance.workspace, spare)
    {
        return false;
    }
    events.strikes += 1;
    events.tick(&before, &run.state);
    true
}

/// fmi3UpdateDiscreteStates.
///
/// # Safety
/// The pointers are null or have room for a value.
pub unsafe fn update_discrete_states(
    instance: &mut Instance,
    need_update: *mut fmi3Boolean,
    terminate: *mut fmi3Boolean,
    nominals_changed: *mut fmi3Boolean,
    values_changed: *mut fmi3Boolean,
    next_event_defined: *mut fmi3Boolean,
    next_event: *mut f64,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (need_update, terminate, nominals, values, defined, next) = unsafe {
        (
            arguments::target(need_update, "discreteStatesNeedUpdate")?,
            arguments::target(terminate, "terminateSimulation")?,
            arguments::target(nominals_changed, "nominalsOfContinuousStatesChanged")?,
            arguments::target(values_changed, "valuesOfContinuousStatesChanged")?,
            arguments::target(next_event_defined, "nextEventTimeDefined")?,
            arguments::target(next_event, "nextEventTime")?,
        )
    };
    let (status, again, time) = match instance.run.interface() {
        Interface::ModelExchange => {
            let (status, time) = exchange::update(instance, Function::fmi3UpdateDiscreteStates)?;
            (Ok(status), false, Some(time))
        }
        Interface::CoSimulation if instance.exchanges => {
            engine::check_given(&instance.system, &instance.run.state)
                .map_err(|fault| instance.wrong_given(fault))?;
            if let Some(events) = &mut instance.run.events {
                events.stop_clocks();
            }
            let (again, given_up) = agree(instance);
            let status = if given_up { Ok(warn_given_up(instance)) } else { OK };
            (status, again, None)
        }
        Interface::CoSimulation => (OK, update(instance), None),
    };
    need_update.write(again.into());
    terminate.write(false.into());
    nominals.write(false.into());
    values.write(false.into());
    defined.write(time.is_some().into());
    next.write(time.unwrap_or(0.0));
    status
}

/// Tells that impulses and velocities do not come together.
#[cold]
fn warn_given_up(instance: &Instance) -> fmi2Status {
    let message = format!(
        "fmi3UpdateDiscreteStates: impulses and velocities of the impact at {} s do not agree after {} rounds: apply the impulses of NODE.impulse to the velocities before the impact, in each round, and give the velocities that come of it",
        instance.run.state.time,
        events::MOST_ROUNDS
    );
    instance.logger.log(fmi2Status::fmi2Warning, Category::Warning, &message);
    fmi2Status::fmi2Warning
}

/// Ends the instant at which clocks tick, and makes an impact that has become due in it. Returns whether there was one.
fn update(instance: &mut Instance) -> bool {
    let events = instance.run.events.as_mut().expect("only with events there is event mode");
    events.stop_clocks();
    if !instance.system.couplings.is_empty() || !instance.early_return {
        return false;
    }
    strike(instance)
}

/// fmi3EnterStepMode.
pub fn enter_step_mode(instance: &mut Instance) -> Answer {
    if let Some(events) = &mut instance.run.events {
        events.stop_clocks();
    }
    instance.run.mode = Mode::Step;
    OK
}
