//! Derivatives of FMI 3.0: directional ones, and adjoint ones by a pass back over the step.

use crate::abi::fmi2Status;
use crate::abi3::fmi3ValueReference;
use crate::arguments;
use crate::derivatives::{Output, adjoints, carried_tangents, directions, outputs};
use crate::guard::{Answer, Refusal};
use crate::instance::Instance;
use crate::logger::Category;
use contact_fmu::variables::Slot;

/// Which derivatives are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// fmi3GetDirectionalDerivative: what [`directional`](crate::derivatives::directional) is in FMI 2.0.
    Directional,
    /// fmi3GetAdjointDerivative: the product of the seed with the derivatives that directional ones are columns of.
    Adjoint,
}

type References = *const fmi3ValueReference;

/// fmi3GetDirectionalDerivative and fmi3GetAdjointDerivative.
///
/// # Safety
/// Arrays are null or have as many entries as said after them.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C functions")]
pub unsafe fn derivative(
    instance: &mut Instance,
    way: Way,
    unknowns: References,
    unknown_count: usize,
    knowns: References,
    known_count: usize,
    seed: *const f64,
    seed_count: usize,
    sensitivity: *mut f64,
    sensitivity_count: usize,
) -> Answer {
    let (seeds, sensitivities) = ((seed_count, "nSeed"), (sensitivity_count, "nSensitivity"));
    let [of_unknowns, of_knowns] = match way {
        Way::Directional => [sensitivities, seeds],
        Way::Adjoint => [seeds, sensitivities],
    };
    // SAFETY: as promised by the caller.
    let (unknowns, knowns, seed, sensitivity) = unsafe {
        (
            arguments::input(unknowns, unknown_count, "unknowns")?,
            arguments::input(knowns, known_count, "knowns")?,
            arguments::input(seed, seed_count, "seed")?,
            arguments::output(sensitivity, sensitivity_count, "sensitivity")?,
        )
    };
    let unknowns = outputs(instance, instance.components(unknowns, of_unknowns.0, of_unknowns.1)?)?;
    let knowns: Vec<_> = instance.components(knowns, of_knowns.0, of_knowns.1)?.collect();
    let (status, derivatives) = match way {
        Way::Directional => {
            let directions = directions(instance, knowns.into_iter().zip(seed.iter().copied()))?;
            (fmi2Status::fmi2OK, carried_tangents(instance, &unknowns, &directions)?)
        }
        Way::Adjoint => adjoint(instance, &unknowns, &knowns, seed)?,
    };
    for (place, derivative) in sensitivity.iter_mut().zip(derivatives) {
        place.write(derivative);
    }
    Ok(status)
}

fn adjoint(
    instance: &mut Instance,
    unknowns: &[Output],
    knowns: &[fmi3ValueReference],
    seed: &[f64],
) -> Result<(fmi2Status, Vec<f64>), Refusal> {
    if let Some(((reference, _), seed)) = unknowns.iter().zip(seed).find(|(_, seed)| !seed.is_finite()) {
        return Err(Refusal::discard(format!("the seed of {} is {seed}", instance.describe(*reference))));
    }
    let directions = directions(instance, knowns.iter().map(|&reference| (reference, 1.0)))?;
    let known: Vec<_> = knowns.iter().copied().zip(directions.iter().map(|&(slot, _)| slot)).collect();
    let weighted: Vec<_> = unknowns.iter().copied().zip(seed.iter().copied()).collect();
    Ok(match adjoints(instance, &weighted, &known)? {
        Some(derivatives) => (fmi2Status::fmi2OK, derivatives),
        None => (warn_columns(instance, known.len()), columns(instance, unknowns, &directions, seed)?),
    })
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
