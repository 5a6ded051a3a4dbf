//! Directional derivatives of outputs, time derivatives of inputs.

use crate::abi::{fmi2Integer, fmi2Real, fmi2ValueReference};
use crate::access::DataType;
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::lifecycle::Mode;
use contact_fmu::engine::derivative::{differentiate, differentiate_start};
use contact_fmu::engine::{Dual, MAX_INPUT_DERIVATIVE, State, check_given};
use contact_fmu::variables::{self, Causality, Slot, Variability};

/// fmi2GetDirectionalDerivative: of outputs, with respect to inputs and tunable parameters, in initialization
/// mode also to start values of outputs.
///
/// After a step it is the derivative of that step's outputs with respect to the inputs and parameters that the
/// step used; what was set since does not count. Before the first step, it is the derivative of the outputs at the
/// start. In model exchange it is that of the outputs at the instant of a time event, and zero between events, where
/// outputs are held.
///
/// # Safety
/// The arrays are null or have `unknown_count` and `known_count` entries.
pub unsafe fn directional(
    instance: &mut Instance,
    unknowns: *const fmi2ValueReference,
    unknown_count: usize,
    knowns: *const fmi2ValueReference,
    known_count: usize,
    seeds: *const fmi2Real,
    sensitivities: *mut fmi2Real,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (unknowns, knowns, seeds, sensitivities) = unsafe {
        (
            arguments::input(unknowns, unknown_count, "vUnknown_ref")?,
            arguments::input(knowns, known_count, "vKnown_ref")?,
            arguments::input(seeds, known_count, "dvKnown")?,
            arguments::output(sensitivities, unknown_count, "dvUnknown")?,
        )
    };
    let outputs = outputs(instance, unknowns.iter().copied())?;
    let directions = directions(instance, knowns.iter().copied().zip(seeds.iter().copied()))?;
    let tangents = tangents(instance, &outputs, &directions)?;
    for (sensitivity, tangent) in sensitivities.iter_mut().zip(tangents) {
        sensitivity.write(tangent);
    }
    OK
}

/// An output whose derivative is asked for.
pub type Output = (fmi2ValueReference, Slot);

/// Outputs by their references.
pub fn outputs(
    instance: &Instance,
    references: impl Iterator<Item = fmi2ValueReference>,
) -> Result<Vec<Output>, Refusal> {
    references.map(|reference| Ok((reference, output_slot(instance, reference)?))).collect()
}

/// What is known, by its reference, with the direction in which it moves.
pub fn directions(
    instance: &Instance,
    seeds: impl Iterator<Item = (fmi2ValueReference, f64)>,
) -> Result<Vec<(Slot, f64)>, Refusal> {
    seeds
        .map(|(reference, seed)| {
            let slot = known_slot(instance, reference)?;
            if seed.is_finite() {
                Ok((slot, seed))
            } else {
                Err(Refusal::discard(format!("the seed of {} is {seed}", instance.describe(reference))))
            }
        })
        .collect()
}

/// Derivatives of outputs in a direction.
pub fn tangents(
    instance: &mut Instance,
    outputs: &[Output],
    directions: &[(Slot, f64)],
) -> Result<Vec<f64>, Refusal> {
    instance.ensure_memory()?;
    instance.settle()?;
    let (system, run) = (&instance.system, &instance.run);
    if run.mode == Mode::Initialization {
        check_given(system, &run.state).map_err(|fault| instance.wrong_given(fault))?;
    }
    if run.is_sampled() && !instance.is_at_event() {
        return Ok(vec![0.0; outputs.len()]);
    }
    let duration = run.state.step.duration;
    let before = if run.mode == Mode::Initialization { &run.state } else { &*run.before };
    let seed = |state: &mut State<Dual>| {
        for &(slot, seed) in directions {
            let Dual { value, tangent } = variables::get_real(slot, system, state);
            variables::set_real(slot, state, Dual { value, tangent: tangent + seed });
        }
    };
    let with_events = run.events.as_ref().and_then(|events| Some((events.step?, events.strikes)));
    let end = if let Some((step, impacts)) = with_events {
        let mut state = before.map(Dual::from);
        seed(&mut state);
        step.replay(system, &mut state, impacts).map_err(|error| Refusal::discard(error.to_string()))?;
        state
    } else if duration > 0.0 {
        differentiate(system, before, duration, seed).map_err(|error| Refusal::discard(error.to_string()))?
    } else {
        differentiate_start(system, before, before.parameters.sample, seed)
    };
    let start = run.is_sampled().then(|| {
        let mut start = before.map(Dual::from);
        seed(&mut start);
        start
    });
    let tangent = |&(reference, slot): &Output| {
        let state = start.as_ref().filter(|_| !slot.is_force_for_master()).unwrap_or(&end);
        let tangent = variables::get_real(slot, system, state).tangent;
        if tangent.is_nan() { Err(instance.not_a_number(reference)) } else { Ok(tangent) }
    };
    outputs.iter().map(tangent).collect()
}

fn output_slot(instance: &Instance, reference: fmi2ValueReference) -> Result<Slot, Refusal> {
    let slot = instance.find(reference, DataType::real(instance.version))?.slot;
    match instance.variables[reference as usize].causality {
        Causality::Output => Ok(slot),
        _ => Err(Refusal::error(format!("{} is not an output", instance.describe(reference)))),
    }
}

fn known_slot(instance: &Instance, reference: fmi2ValueReference) -> Result<Slot, Refusal> {
    let access = instance.find(reference, DataType::real(instance.version))?;
    let variable = &instance.variables[reference as usize];
    let settable_at = |mode: Mode| access.settable & mode.bit() != 0;
    let start_value = instance.run.mode == Mode::Initialization
        && variable.causality == Causality::Output
        && settable_at(Mode::Initialization);
    if (settable_at(Mode::Step) && variable.variability != Variability::Fixed) || start_value {
        return Ok(access.slot);
    }
    Err(Refusal::error(format!(
        "{} is not an input or tunable parameter{}",
        instance.describe(reference),
        if instance.run.mode == Mode::Initialization { " or start value" } else { "" }
    )))
}

/// fmi2SetRealInputDerivatives.
///
/// # Safety
/// The arrays are null or have `count` entries.
pub unsafe fn set_input(
    instance: &mut Instance,
    references: *const fmi2ValueReference,
    count: usize,
    orders: *const fmi2Integer,
    values: *const fmi2Real,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, orders, values) = unsafe {
        (
            arguments::input(references, count, "vr")?,
            arguments::input(orders, count, "order")?,
            arguments::input(values, count, "value")?,
        )
    };
    let mut changes = Vec::with_capacity(count);
    for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
        let slot = instance.find(reference, DataType::real(instance.version))?.slot;
        if instance.variables[reference as usize].causality != Causality::Input {
            return Err(Refusal::error(format!("{} is not an input", instance.describe(reference))));
        }
        let order = usize::try_from(order)
            .ok()
            .filter(|order| (1..=MAX_INPUT_DERIVATIVE).contains(order))
            .ok_or_else(|| {
                Refusal::error(format!(
                    "order {order} of {} is not 1 to {MAX_INPUT_DERIVATIVE}",
                    instance.describe(reference)
                ))
            })?;
        if !value.is_finite() {
            let name = instance.describe(reference);
            return Err(Refusal::discard(format!("derivative {order} of {name} cannot be {value}")));
        }
        changes.push((slot, order, value));
    }
    for (slot, order, value) in changes {
        if !variables::set_input_derivative(slot, &mut instance.run.state, order, value) {
            unreachable!("an input of the variable table takes no derivative of order {order}");
        }
    }
    OK
}
