//! Getting and setting variables.
//!
//! A get or set with an unknown value reference, the wrong type, or a variable that may not be set in this mode
//! is fmi2Error. A value that is not finite or out of the variable's range is fmi2Discard. Both set nothing.
//! What is not a number leaves by no getter: it is fmi2Discard, "the value cannot be computed" (FMI 2.0, 2.1.3).
//! Getters allow every variable: the standard's narrower list for initialization mode is of no use to anyone.

use crate::abi::{fmi2Integer, fmi2Real, fmi2ValueReference};
use crate::arguments;
use crate::events::Events;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::lifecycle::{Mode, Modes, mode_names};
use contact_fmu::engine::{State, System};
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::variables::{self, Causality, Initial, Kind, Range, Slot, Variability, Variable};
use std::fmt;

/// What get and set need of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Where its value is.
    pub slot: Slot,
    /// Its type.
    pub data_type: DataType,
    /// Modes in which it may be set.
    pub settable: Modes,
    /// Values that it may be set to.
    pub range: Range,
    /// Whether it is an output.
    pub is_output: bool,
}

/// Where a value is read.
struct Value<'a> {
    slot: Slot,
    system: &'a System,
    state: &'a State<f64>,
    /// Time as the importer knows it.
    time: f64,
    events: Option<&'a Events>,
}

impl Value<'_> {
    #[inline]
    fn real(&self) -> f64 {
        match self.slot {
            Slot::Time => self.time,
            Slot::ImpactImpulse { contact } => {
                let normal = self.events.map_or(0.0, |events| events.impacts[contact].impulse);
                variables::impact_impulse(self.system, contact, normal)
            }
            Slot::ImpactTime { contact } => self.events.map_or(0.0, |events| events.impacts[contact].time),
            Slot::CouplingImpulse { coupling, axis } => self.impulse(coupling, axis),
            Slot::CouplingAngularImpulse { coupling, axis } => self.impulse(coupling, 3 + axis),
            slot => variables::get_real(slot, self.system, self.state),
        }
    }
}

impl Value<'_> {
    fn impulse(&self, coupling: usize, component: usize) -> f64 {
        self.events.map_or(0.0, |events| events.impulses[6 * coupling + component])
    }
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum DataType {
    Real,
    Integer,
    Boolean,
    String,
    Float64,
    Int32,
    Enumeration,
    Clock,
    /// A type of FMI 3.0 that no variable has.
    Absent(&'static str),
}

impl DataType {
    /// Of reals.
    pub fn real(version: FmiVersion) -> DataType {
        match version {
            FmiVersion::Two => DataType::Real,
            FmiVersion::Three => DataType::Float64,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Absent(name) => f.write_str(name),
            known => fmt::Debug::fmt(known, f),
        }
    }
}

impl Access {
    /// From the variable table.
    pub fn of(variable: &Variable, version: FmiVersion) -> Access {
        let before_start = Mode::Instantiated.bit() | Mode::Initialization.bit();
        let settable = match (variable.causality, variable.variability, variable.initial) {
            (Causality::Input, ..) | (Causality::Parameter, Variability::Tunable, _) => {
                let whenever = before_start | Mode::Step.bit() | Mode::Event.bit();
                // Inputs follow the importer's continuous states.
                if variable.causality == Causality::Input {
                    whenever | Mode::ContinuousTime.bit()
                } else {
                    whenever
                }
            }
            (Causality::Parameter, ..) | (Causality::Output, _, Some(Initial::Exact)) => before_start,
            (Causality::Output | Causality::Independent, ..) => 0,
        };
        let data_type = match (variable.kind, version) {
            (Kind::Real(_), version) => DataType::real(version),
            (Kind::Integer, FmiVersion::Two) => DataType::Integer,
            (Kind::Integer, FmiVersion::Three) if variable.slot.is_contact_state() => DataType::Enumeration,
            (Kind::Integer, FmiVersion::Three) => DataType::Int32,
            (Kind::Clock, _) => DataType::Clock,
        };
        let is_output = variable.causality == Causality::Output;
        Access { slot: variable.slot, data_type, settable, range: variable.range, is_output }
    }
}

impl Instance {
    /// A variable of the given type.
    #[inline]
    pub fn find(&self, reference: fmi2ValueReference, data_type: DataType) -> Result<&Access, Refusal> {
        match self.access.get(reference as usize) {
            Some(access) if access.data_type == data_type => Ok(access),
            other => Err(self.not_found(reference, data_type, other)),
        }
    }

    /// A variable of the given type that may be set now.
    #[inline]
    pub fn find_settable(
        &self,
        reference: fmi2ValueReference,
        data_type: DataType,
    ) -> Result<&Access, Refusal> {
        let access = self.find(reference, data_type)?;
        if access.settable & self.run.mode.bit() == 0 {
            return Err(self.not_settable(reference, access));
        }
        Ok(access)
    }

    /// Where to read a variable of the given type.
    #[inline]
    fn find_value(
        &mut self,
        reference: fmi2ValueReference,
        data_type: DataType,
    ) -> Result<Value<'_>, Refusal> {
        let &Access { slot, is_output, .. } = self.find(reference, data_type)?;
        if is_output && self.run.mode == Mode::Initialization && !self.system.couplings.is_empty() {
            self.find_start_outputs()?;
            let (state, time) = (&*self.undo, self.undo.time);
            return Ok(Value { slot, system: &self.system, state, time, events: None });
        }
        if slot.is_force_for_master() {
            self.settle()?;
        }
        let run = &self.run;
        let state = if run.is_sampled() && is_output && !slot.is_force_for_master() {
            &run.before
        } else {
            &run.state
        };
        let time = run.sampling.map_or(state.time, |sampling| sampling.time);
        Ok(Value { slot, system: &self.system, state, time, events: run.events.as_ref() })
    }

    /// Name and value reference, for messages.
    pub fn describe(&self, reference: fmi2ValueReference) -> String {
        format!("{} (value reference {reference})", self.variables[reference as usize].name)
    }

    #[cold]
    fn not_found(
        &self,
        reference: fmi2ValueReference,
        data_type: DataType,
        found: Option<&Access>,
    ) -> Refusal {
        match found {
            Some(access) => Refusal::error(format!(
                "{} is {}, not {data_type}",
                self.describe(reference),
                access.data_type
            )),
            None => self.unknown(reference),
        }
    }

    #[cold]
    pub fn unknown(&self, reference: fmi2ValueReference) -> Refusal {
        let last = self.access.len() - 1;
        Refusal::error(format!("value reference {reference} is unknown: there are 0 to {last}"))
    }

    #[cold]
    fn not_settable(&self, reference: fmi2ValueReference, access: &Access) -> Refusal {
        let name = self.describe(reference);
        Refusal::error(if access.settable == 0 {
            format!("{name} cannot be set: it is computed")
        } else {
            format!(
                "{name} cannot be set while the instance is {}, only while it is: {}",
                self.run.mode,
                mode_names(access.settable, &self.run)
            )
        })
    }

    #[cold]
    pub fn not_a_number(&self, reference: fmi2ValueReference) -> Refusal {
        Refusal::discard(format!(
            "{} cannot be computed: look for huge masses, velocities, forces or parameters",
            self.describe(reference)
        ))
    }

    #[cold]
    fn out_of_range(&self, reference: fmi2ValueReference, value: f64, range: Range) -> Refusal {
        Refusal::discard(format!("{} cannot be {value}: allowed is {range}", self.describe(reference)))
    }
}

/// fmi2GetReal.
///
/// # Safety
/// The arrays are null or have `count` entries.
pub unsafe fn get_real(
    instance: &mut Instance,
    references: *const fmi2ValueReference,
    count: usize,
    values: *mut fmi2Real,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) =
        unsafe { (arguments::input(references, count, "vr")?, arguments::output(values, count, "value")?) };
    for (&reference, place) in references.iter().zip(values) {
        place.write(read_real(instance, reference)?);
    }
    OK
}

/// Value of a real.
#[inline]
pub fn read_real(instance: &mut Instance, reference: fmi2ValueReference) -> Result<f64, Refusal> {
    let value = instance.find_value(reference, DataType::real(instance.version))?.real();
    if value.is_nan() {
        return Err(instance.not_a_number(reference));
    }
    Ok(value)
}

/// Value of a variable that is a whole number.
pub fn read_integer(
    instance: &mut Instance,
    reference: fmi2ValueReference,
    data_type: DataType,
) -> Result<i32, Refusal> {
    let Value { slot, state, .. } = instance.find_value(reference, data_type)?;
    Ok(variables::get_integer(slot, state))
}

/// Sets reals, or none of them.
#[inline]
pub fn write_reals(
    instance: &mut Instance,
    changes: impl Iterator<Item = (fmi2ValueReference, f64)> + Clone,
) -> Answer {
    let data_type = DataType::real(instance.version);
    for (reference, value) in changes.clone() {
        let range = instance.find_settable(reference, data_type)?.range;
        if !range.contains(value) {
            return Err(instance.out_of_range(reference, value, range));
        }
    }
    instance.has_start_outputs = false;
    if let Some(sampling) = &mut instance.run.sampling {
        sampling.stale = true;
    }
    for (reference, value) in changes {
        let slot = instance.access[reference as usize].slot;
        if !variables::set_real(slot, &mut instance.run.state, value) {
            unreachable!(
                "{} is settable in the variable table but not in the state",
                instance.describe(reference)
            );
        }
    }
    OK
}

/// fmi2GetInteger.
///
/// # Safety
/// The arrays are null or have `count` entries.
pub unsafe fn get_integer(
    instance: &mut Instance,
    references: *const fmi2ValueReference,
    count: usize,
    values: *mut fmi2Integer,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) =
        unsafe { (arguments::input(references, count, "vr")?, arguments::output(values, count, "value")?) };
    for (&reference, value) in references.iter().zip(values) {
        value.write(read_integer(instance, reference, DataType::Integer)?);
    }
    OK
}

/// fmi2SetReal.
///
/// # Safety
/// The arrays are null or have `count` entries.
pub unsafe fn set_real(
    instance: &mut Instance,
    references: *const fmi2ValueReference,
    count: usize,
    values: *const fmi2Real,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) =
        unsafe { (arguments::input(references, count, "vr")?, arguments::input(values, count, "value")?) };
    write_reals(instance, references.iter().copied().zip(values.iter().copied()))
}

/// fmi2GetBoolean, fmi2GetString, and the getters of FMI 3.0 for other types: no variable has such a type, so only an empty list is right.
///
/// # Safety
/// `references` is null or has `count` entries.
pub unsafe fn get_absent(
    instance: &mut Instance,
    data_type: DataType,
    references: *const fmi2ValueReference,
    count: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    if let Some(&reference) = unsafe { arguments::input(references, count, "vr")? }.first() {
        instance.find(reference, data_type)?;
        unreachable!("the variable table has no {data_type}");
    }
    OK
}

/// fmi2SetInteger, fmi2SetBoolean, fmi2SetString: no variable of such a type may be set, so only an empty list
/// is right.
///
/// # Safety
/// `references` is null or has `count` entries.
pub unsafe fn set_absent(
    instance: &mut Instance,
    data_type: DataType,
    references: *const fmi2ValueReference,
    count: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    if let Some(&reference) = unsafe { arguments::input(references, count, "vr")? }.first() {
        instance.find_settable(reference, data_type)?;
        unreachable!("the variable table has no {data_type} that may be set");
    }
    OK
}
