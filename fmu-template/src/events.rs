//! Co-simulation of FMI 3.0 where the importer uses event mode: what it is told of impacts, and of contacts that begin or
//! cease to slide.
//!
//! fmi3DoStep stops just before an event, if the importer allows it to return early, and asks for event mode. Velocities
//! jump when event mode is entered: there the clocks of the contacts that are hit tick, with impulse and time. Where the
//! jump makes another impact due at the same instant, fmi3UpdateDiscreteStates makes it and asks to be called again. Without
//! early return there are no events, and steps are those of FMI 2.0.

use crate::abi3::fmi3Boolean;
use crate::arguments;
use crate::exchange;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::lifecycle::{Function, Interface, Mode};
use contact_fmu::engine::State;
use contact_fmu::engine::events::{self, Record};
use serde::{Deserialize, Serialize};

/// Rounds of impacts at one instant, after which the rest is left to the next step: as many as a step is split at.
const MOST_ROUNDS: u32 = 512;

/// Events of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// Impacts, by contact.
    pub impacts: Vec<Impact>,
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
    /// None yet, of so many contacts.
    pub fn new(contacts: usize) -> Events {
        Events { impacts: vec![Impact::default(); contacts], ..Events::default() }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Events::new(self.impacts.len());
    }

    /// Whether it can belong to a state.
    pub fn fits(&self, state: &State<f64>) -> bool {
        let is_sound = |impact: &Impact| impact.impulse.is_finite() && impact.time.is_finite();
        self.impacts.len() == state.contacts.len()
            && self.impacts.iter().all(is_sound)
            && self.strikes <= MOST_ROUNDS
            && self.step.is_none_or(|step| step.is_sound())
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
    if due {
        strike(instance);
        let run = &mut instance.run;
        let spare = instance.spare.as_mut().expect("there are events");
        events::take_modes_after(&instance.system, &mut run.state, &mut instance.workspace, spare);
    }
    OK
}

/// Makes the impacts that are due. Returns whether there were any.
fn strike(instance: &mut Instance) -> bool {
    let (run, spare) = (&mut instance.run, instance.spare.as_mut().expect("there are events"));
    let events = run.events.as_mut().expect("there are events");
    let before: Vec<f64> = run.state.contacts.iter().map(|contact| contact.normal_impulse).collect();
    if events.strikes >= MOST_ROUNDS
        || !events::strike(&instance.system, &mut run.state, &mut instance.workspace, spare)
    {
        return false;
    }
    events.strikes += 1;
    for (impact, (contact, before)) in events.impacts.iter_mut().zip(run.state.contacts.iter().zip(before)) {
        let impulse = contact.normal_impulse - before;
        if impulse > 0.0 {
            *impact = Impact { ticks: true, impulse, time: run.state.time };
        }
    }
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
