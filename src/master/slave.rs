//! An instance of either version of FMI, as far as a simulation needs it.

use super::FmuError;
use super::extract::ExtractedFmu;
use super::library::{CallError, Instance, Library, Log, Status, Success};
use super::library3::{Instance3, Library3, Update};
use crate::description::{Element, ScalarVariable, Value};
use crate::fmi_version::FmiVersion;
use std::ffi::CString;

/// A loaded library of either version.
pub enum AnyLibrary {
    Two(Library),
    Three(Library3),
}

impl AnyLibrary {
    /// Loads the library of an FMU for this machine.
    pub fn load(fmu: &ExtractedFmu) -> Result<AnyLibrary, FmuError> {
        match fmu.description.fmi_version {
            FmiVersion::Two => Library::load(fmu).map(AnyLibrary::Two),
            FmiVersion::Three => Library3::load(fmu).map(AnyLibrary::Three),
        }
    }

    /// A new co-simulation instance; `events` are those of FMI 3.0.
    pub fn instantiate(
        &self,
        fmu: &ExtractedFmu,
        name: &str,
        (logging, events): (bool, bool),
        log: Log,
    ) -> Result<Slave<'_>, FmuError> {
        match self {
            AnyLibrary::Two(library) => library.instantiate(fmu, name, logging, log).map(Slave::Two),
            AnyLibrary::Three(library) => {
                library.instantiate(fmu, name, (logging, events), log).map(Slave::Three)
            }
        }
    }
}

/// An instance of either version.
pub enum Slave<'library> {
    Two(Instance<'library>),
    Three(Instance3<'library>),
}

/// Where a scalar is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    reference: u32,
    element: Option<Element>,
}

impl Place {
    /// Of a variable.
    pub fn of(variable: &ScalarVariable) -> Place {
        Place { reference: variable.value_reference, element: variable.element }
    }

    /// Its value reference.
    pub fn reference(&self) -> u32 {
        self.reference
    }
}

/// What a step has come to.
pub enum Outcome {
    /// Its end, or with events how far it came, and whether there is an event.
    Made(Success),
    Early(Success, f64, bool),
    /// The FMU wants to end the simulation, at a time if it says.
    Ended(Option<f64>),
}

impl Slave<'_> {
    /// The status of a call that warns.
    pub fn warning(&self) -> &'static str {
        match self {
            Slave::Two(_) => "fmi2Warning",
            Slave::Three(_) => "fmi3Warning",
        }
    }

    /// Turns debug logging of some categories on.
    pub fn log_categories(&mut self, categories: &[&str]) -> Result<Success, CallError> {
        match self {
            Slave::Two(instance) => instance.set_debug_logging(true, categories),
            Slave::Three(instance) => instance.set_debug_logging(true, categories),
        }
    }

    /// Announces the experiment and enters initialization mode.
    pub fn begin_initialization(
        &mut self,
        tolerance: Option<f64>,
        start: f64,
        stop: f64,
    ) -> Result<Success, CallError> {
        match self {
            Slave::Two(instance) => {
                let announced = instance.setup_experiment(tolerance, start, Some(stop))?;
                Ok(worse(announced, instance.enter_initialization_mode()?))
            }
            Slave::Three(instance) => instance.enter_initialization_mode(tolerance, start, Some(stop)),
        }
    }

    /// Leaves initialization mode.
    pub fn exit_initialization_mode(&mut self) -> Result<Success, CallError> {
        match self {
            Slave::Two(instance) => instance.exit_initialization_mode(),
            Slave::Three(instance) => instance.exit_initialization_mode(),
        }
    }

    /// Makes a step. With an error comes how far it came, if the FMU says.
    pub fn do_step(&mut self, from: f64, length: f64) -> Result<Outcome, (CallError, Option<f64>)> {
        match self {
            Slave::Two(instance) => match instance.do_step(from, length) {
                Ok(success) => Ok(Outcome::Made(success)),
                Err(error @ CallError::Status { status: Status::Discard, .. }) => {
                    let reached = instance.last_successful_time().filter(|time| time.is_finite());
                    if instance.wants_to_end() { Ok(Outcome::Ended(reached)) } else { Err((error, reached)) }
                }
                Err(error) => Err((error, None)),
            },
            Slave::Three(instance) => match instance.do_step(from, length) {
                Ok((_, step)) if step.terminate => Ok(Outcome::Ended(Some(step.reached))),
                Ok((success, step)) if step.event || step.reached < from + length => {
                    Ok(Outcome::Early(success, step.reached, step.event))
                }
                Ok((success, _)) => Ok(Outcome::Made(success)),
                Err(error) => Err((error, None)),
            },
        }
    }

    /// Enters event mode, of FMI 3.0.
    pub fn enter_event_mode(&mut self) -> Result<Success, CallError> {
        match self {
            Slave::Two(_) => Ok(Success::Done),
            Slave::Three(instance) => instance.enter_event_mode(),
        }
    }

    /// Goes on with an event, of FMI 3.0.
    pub fn update_discrete_states(&mut self) -> Result<(Success, Update), CallError> {
        match self {
            Slave::Two(_) => Ok((Success::Done, Update { again: false, terminate: false, next: None })),
            Slave::Three(instance) => instance.update_discrete_states(),
        }
    }

    /// Ends an event, of FMI 3.0.
    pub fn enter_step_mode(&mut self) -> Result<Success, CallError> {
        match self {
            Slave::Two(_) => Ok(Success::Done),
            Slave::Three(instance) => instance.enter_step_mode(),
        }
    }

    /// Ends the simulation.
    pub fn terminate(&mut self) -> Result<Success, CallError> {
        match self {
            Slave::Two(instance) => instance.terminate(),
            Slave::Three(instance) => instance.terminate(),
        }
    }

    /// The present state as bytes.
    pub fn saved_bytes(&mut self) -> Result<Vec<u8>, CallError> {
        match self {
            Slave::Two(instance) => instance.saved_bytes(),
            Slave::Three(instance) => instance.saved_bytes(),
        }
    }

    /// Sets a scalar.
    pub fn set(&mut self, place: &Place, value: &Value) -> Result<Success, CallError> {
        let reference = [place.reference];
        match (self, &place.element) {
            (Slave::Three(instance), Some(element)) => instance.set(place.reference, element, value),
            (Slave::Three(_), None) => unreachable!("variables of FMI 3.0 have their place"),
            (Slave::Two(instance), _) => match value {
                Value::Real(value) => instance.set_real(&reference, &[*value]),
                Value::Integer(value) => {
                    let out_of_range = CallError::OutOfRange { value: *value, type_name: "Integer" };
                    let value = i32::try_from(*value).map_err(|_| out_of_range)?;
                    instance.set_integer(&reference, &[value])
                }
                Value::Boolean(value) => instance.set_boolean(&reference, &[i32::from(*value)]),
                Value::String(value) => {
                    let value = CString::new(value.as_str()).expect("values are parsed without NUL");
                    instance.set_string(&reference, &[&value])
                }
            },
        }
    }

    /// Sets reals, in one call where that can be.
    pub fn set_reals(&mut self, places: &[Place], values: &[f64]) -> Result<Success, CallError> {
        match self {
            Slave::Two(instance) => {
                let references: Vec<u32> = places.iter().map(Place::reference).collect();
                instance.set_real(&references, values)
            }
            Slave::Three(_) => {
                let mut all = Success::Done;
                for (place, &value) in places.iter().zip(values) {
                    all = worse(all, self.set(place, &Value::Real(value))?);
                }
                Ok(all)
            }
        }
    }
}

/// Warned if one of two calls was.
pub fn worse(one: Success, other: Success) -> Success {
    if other == Success::Warned { other } else { one }
}

/// Reads scalars of FMI 3.0, array by array.
pub fn read_arrays(
    instance: &mut Instance3<'_>,
    places: &[Place],
    row: &mut [Value],
    array: &mut Vec<Value>,
) -> Result<Success, CallError> {
    let mut success = Success::Done;
    let mut known = None;
    for (place, value) in places.iter().zip(row) {
        let element = place.element.expect("variables of FMI 3.0 have their place");
        if known != Some(place.reference) {
            success = worse(success, instance.get(place.reference, &element, array)?);
            known = Some(place.reference);
        }
        if let Some(read) = array.get(element.element as usize) {
            value.clone_from(read);
        }
    }
    Ok(success)
}
