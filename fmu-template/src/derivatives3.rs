//! Derivatives of FMI 3.0: directional ones, and adjoint ones by a pass back over the step.

use crate::abi::fmi2Status;
use crate::abi3::fmi3ValueReference;
use crate::arguments;
use crate::derivatives::{Output, adjoints, carried_tangents, directions, outputs};
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use crate::logger::Category;
use contact_fmu::variables::Slot;

/// Arrays of a call.
struct Call<'a> {
    unknowns: Vec<fmi3ValueReference>,
    knowns: Vec<fmi3ValueReference>,
    seed: &'a [f64],
    sensitivity: &'a mut [std::mem::MaybeUninit<f64>],
}

type References = *const fmi3ValueReference;

/// # Safety
/// Arrays are null or have as many entries as said with them.
unsafe fn call<'a>(
    instance: &Instance,
    [unknowns, knowns]: [(References, usize); 2],
    (seed, seed_count): (*const f64, usize),
    (sensitivity, sensitivity_count): (*mut f64, usize),
    counts: [(usize, &str); 2],
) -> Result<Call<'a>, Refusal> {
    // SAFETY: as promised by the caller.
    unsafe {
        let unknowns = arguments::input(unknowns.0, unknowns.1, "unknowns")?;
        let knowns = arguments::input(knowns.0, knowns.1, "knowns")?;
        Ok(Call {
            unknowns: instance.components(unknowns, counts[0].0, counts[0].1)?.collect(),
            knowns: instance.components(knowns, counts[1].0, counts[1].1)?.collect(),
            seed: arguments::input(seed, seed_count, "seed")?,
            sensitivity: arguments::output(sensitivity, sensitivity_count, "sensitivity")?,
        })
    }
}

/// fmi3GetDirectionalDerivative: what [`directional`](crate::derivatives::directional) is in FMI 2.0.
///
/// # Safety
/// Arrays are null or have as many entries as said after them.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C function")]
pub unsafe fn directional(
    instance: &mut Instance,
    unknowns: References,
    unknown_count: usize,
    knowns: References,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    sensitivity: *mut f64,
    sensitivity_count: usize,
) -> Answer {
    let lists = [(unknowns, unknown_count), (knowns, known_count)];
    let counts = [(sensitivity_count, "nSensitivity"), (seed_count, "nSeed")];
    // SAFETY: as promised by the caller.
    let call =
        unsafe { call(instance, lists, (seed, seed_count), (sensitivity, sensitivity_count), counts)? };
    let outputs = outputs(instance, call.unknowns.iter().copied())?;
    let directions = directions(instance, call.knowns.iter().copied().zip(call.seed.iter().copied()))?;
    let tangents = carried_tangents(instance, &outputs, &directions)?;
    for (place, tangent) in call.sensitivity.iter_mut().zip(tangents) {
        place.write(tangent);
    }
    OK
}

/// fmi3GetAdjointDerivative: the product of the seed with the derivatives that [`directional`] gives columns of.
///
/// # Safety
/// Arrays are null or have as many entries as said after them.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C function")]
pub unsafe fn adjoint(
    instance: &mut Instance,
    unknowns: References,
    unknown_count: usize,
    knowns: References,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    sensitivity: *mut f64,
    sensitivity_count: usize,
) -> Answer {
    let lists = [(unknowns, unknown_count), (knowns, known_count)];
    let counts = [(seed_count, "nSeed"), (sensitivity_count, "nSensitivity")];
    // SAFETY: as promised by the caller.
    let call =
        unsafe { call(instance, lists, (seed, seed_count), (sensitivity, sensitivity_count), counts)? };
    let outputs = outputs(instance, call.unknowns.iter().copied())?;
    if let Some((reference, seed)) = call.unknowns.iter().zip(call.seed).find(|(_, seed)| !seed.is_finite()) {
        return Err(Refusal::discard(format!("the seed of {} is {seed}", instance.describe(*reference))));
    }
    let knowns = directions(instance, call.knowns.iter().map(|&reference| (reference, 1.0)))?;
    let known: Vec<_> = call.knowns.iter().copied().zip(knowns.iter().map(|&(slot, _)| slot)).collect();
    let weighted: Vec<_> = outputs.iter().copied().zip(call.seed.iter().copied()).collect();
    let (status, derivatives) = match adjoints(instance, &weighted, &known)? {
        Some(derivatives) => (fmi2Status::fmi2OK, derivatives),
        None => (warn_columns(instance, known.len()), columns(instance, &outputs, &knowns, call.seed)?),
    };
    for (place, derivative) in call.sensitivity.iter_mut().zip(derivatives) {
        place.write(derivative);
    }
    Ok(status)
}

/// The products of the seed with the columns of the known variables, each of which is a step.
fn columns(
    instance: &mut Instance,
    outputs: &[Output],
    knowns: &[(Slot, f64)],
    seed: &[f64],
) -> Result<Vec<f64>, Refusal> {
    let column = |known: &(Slot, f64)| {
        let tangents = carried_tangents(instance, outputs, std::slice::from_ref(known))?;
        Ok(tangents.iter().zip(seed).map(|(tangent, seed)| tangent * seed).sum())
    };
    knowns.iter().map(column).collect()
}

#[cold]
fn warn_columns(instance: &Instance, knowns: usize) -> fmi2Status {
    let message = format!(
        "fmi3GetAdjointDerivative: the step has too many operations to go back over them, so it is made again for each of {knowns} known values: make shorter communication steps, or ask for directional derivatives where these are fewer"
    );
    instance.logger.log(fmi2Status::fmi2Warning, Category::Warning, &message);
    fmi2Status::fmi2Warning
}
