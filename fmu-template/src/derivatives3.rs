//! Derivatives of FMI 3.0: directional ones, and adjoint ones as the transposed columns of these.

use crate::abi3::fmi3ValueReference;
use crate::arguments;
use crate::derivatives::{directions, outputs, tangents};
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;

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
    let tangents = tangents(instance, &outputs, &directions)?;
    for (place, tangent) in call.sensitivity.iter_mut().zip(tangents) {
        place.write(tangent);
    }
    OK
}

/// fmi3GetAdjointDerivative: the products of the seed with the columns of the known variables, each of which is a step over
/// dual numbers.
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
    let directions = directions(instance, call.knowns.iter().map(|&reference| (reference, 1.0)))?;
    let mut columns = Vec::with_capacity(directions.len());
    for direction in &directions {
        let tangents = tangents(instance, &outputs, std::slice::from_ref(direction))?;
        columns.push(tangents.iter().zip(call.seed).map(|(tangent, seed)| tangent * seed).sum::<f64>());
    }
    for (place, column) in call.sensitivity.iter_mut().zip(columns) {
        place.write(column);
    }
    OK
}
