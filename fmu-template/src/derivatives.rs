//! Directional derivatives of outputs, time derivatives of inputs.

use crate::abi::{fmi2Integer, fmi2Real, fmi2ValueReference};
use crate::access::DataType;
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::{Instance, Run};
use crate::lifecycle::Mode;
use contact_fmu::engine::derivative::Past;
use contact_fmu::engine::tape::Traced;
use contact_fmu::engine::{Dual, MAX_INPUT_DERIVATIVE, State, Steppable, System, Workspace, check_given};
use contact_fmu::variables::{self, Causality, Slot, Variability};
use std::cell::RefCell;

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

/// Derivatives of outputs in a direction, by a step over dual numbers.
fn tangents(
    instance: &mut Instance,
    outputs: &[Output],
    directions: &[(Slot, f64)],
) -> Result<Vec<f64>, Refusal> {
    let Some(past) = past(instance)? else { return Ok(vec![0.0; outputs.len()]) };
    let add = |number: Dual, seed: f64| Dual { tangent: number.tangent + seed, ..number };
    let again = Again::run(instance, past, seeds(&instance.system, directions, add))?;
    again.tangents(instance, outputs, |number| number.tangent)
}

/// The same by the numbers that [`adjoints`] has, so that a library has the step over one kind of them only.
pub fn carried_tangents(
    instance: &mut Instance,
    outputs: &[Output],
    directions: &[(Slot, f64)],
) -> Result<Vec<f64>, Refusal> {
    let Some(past) = past(instance)? else { return Ok(vec![0.0; outputs.len()]) };
    let add = |number: Traced, seed: f64| number.with_tangent(number.tangent() + seed);
    let again = Again::run(instance, past, seeds(&instance.system, directions, add))?;
    again.tangents(instance, outputs, Traced::tangent)
}

/// Adds to the tangents of what is known.
fn seeds<S: Steppable>(
    system: &System,
    directions: &[(Slot, f64)],
    add: impl Fn(S, f64) -> S,
) -> impl Fn(&mut State<S>) {
    move |state| {
        for &(slot, seed) in directions {
            let number = variables::get_real(slot, system, state);
            variables::set_real(slot, state, add(number, seed));
        }
    }
}

/// Derivatives of a weighted sum of outputs with respect to all that is known, in one pass back over the step. None where
/// there is not enough memory for that.
pub fn adjoints(
    instance: &mut Instance,
    outputs: &[(Output, f64)],
    knowns: &[(fmi2ValueReference, Slot)],
) -> Result<Option<Vec<f64>>, Refusal> {
    let Some(past) = past(instance)? else { return Ok(Some(vec![0.0; knowns.len()])) };
    let mut tape = std::mem::take(&mut instance.tape);
    let recorded = tape.record(|| {
        let variables = RefCell::new(Vec::with_capacity(knowns.len()));
        let seed = |state: &mut State<Traced>| {
            for &(_, slot) in knowns {
                let variable = Traced::variable(variables::get_real(slot, &instance.system, state));
                variables::set_real(slot, state, variable);
                variables.borrow_mut().push(variable);
            }
        };
        let again = Again::run(instance, past, seed)?;
        let results: Vec<(Traced, f64)> =
            outputs.iter().map(|&((_, slot), weight)| (again.output(instance, slot), weight)).collect();
        Ok((variables.into_inner(), results))
    });
    let answer = recorded.transpose().and_then(|recorded| {
        let Some((variables, results)) = recorded else { return Ok(None) };
        tape.pass_back(results.into_iter());
        let derivative = |(&(reference, _), variable)| {
            let derivative = tape.derivative(variable);
            if derivative.is_nan() { Err(instance.not_a_number(reference)) } else { Ok(derivative) }
        };
        knowns.iter().zip(variables).map(derivative).collect::<Result<Vec<f64>, Refusal>>().map(Some)
    });
    instance.tape = tape;
    answer
}

/// What derivatives are taken of; none in model exchange between events, where outputs are held.
fn past(instance: &mut Instance) -> Result<Option<Past>, Refusal> {
    instance.ensure_memory()?;
    instance.settle()?;
    let (system, run) = (&instance.system, &instance.run);
    if run.mode == Mode::Initialization {
        check_given(system, &run.state).map_err(|fault| instance.wrong_given(fault))?;
    }
    if run.is_sampled() && !instance.is_at_event() {
        return Ok(None);
    }
    let duration = run.state.step.duration;
    let with_events = run.events.as_ref().and_then(|events| Some((events.step?, events.strikes)));
    Ok(Some(match with_events {
        Some((step, impacts)) => Past::WithEvents(step, impacts),
        None if duration > 0.0 => Past::Step(duration),
        None => Past::Start(before(run).parameters.sample),
    }))
}

/// What the past started from.
fn before(run: &Run) -> &State<f64> {
    if run.mode == Mode::Initialization { &run.state } else { &run.before }
}

/// The past once more, with derivatives.
struct Again<S: Steppable> {
    end: State<S>,
    /// Where outputs are those at an event of model exchange.
    start: Option<State<S>>,
}

impl<S: Steppable> Again<S> {
    fn run(instance: &Instance, past: Past, seed: impl Fn(&mut State<S>)) -> Result<Again<S>, Refusal> {
        let mut end = before(&instance.run).map(S::from);
        seed(&mut end);
        let start = instance.run.is_sampled().then(|| end.clone());
        past.run(&instance.system, &mut end, &mut Workspace::new(&instance.system))
            .map_err(|error| Refusal::discard(error.to_string()))?;
        Ok(Again { end, start })
    }

    /// Tangents of outputs.
    fn tangents(
        &self,
        instance: &Instance,
        outputs: &[Output],
        tangent: impl Fn(S) -> f64,
    ) -> Result<Vec<f64>, Refusal> {
        let of = |&(reference, slot): &Output| {
            let tangent = tangent(self.output(instance, slot));
            if tangent.is_nan() { Err(instance.not_a_number(reference)) } else { Ok(tangent) }
        };
        outputs.iter().map(of).collect()
    }

    fn output(&self, instance: &Instance, slot: Slot) -> S {
        let state = self.start.as_ref().filter(|_| !slot.is_force_for_master()).unwrap_or(&self.end);
        variables::get_real(slot, &instance.system, state)
    }
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
