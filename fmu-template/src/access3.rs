//! Getting and setting variables of FMI 3.0, where vectors are arrays and contact states an enumeration. What is refused is
//! that of [`access`]; a value reference in the midst of an array is unknown, and the number of values has to be that of
//! all components together.

use crate::abi3::{fmi3Clock, fmi3ValueReference};
use crate::access::{self, DataType};
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use contact_fmu::variables::Slot;
use std::sync::Arc;

impl Instance {
    /// Scalars of the arrays that are referred to, which have to be `count`.
    pub fn components<'a>(
        &self,
        references: &'a [fmi3ValueReference],
        count: usize,
        argument: &str,
    ) -> Result<impl Iterator<Item = fmi3ValueReference> + Clone + use<'a>, Refusal> {
        let mut total = 0_usize;
        for &reference in references {
            match self.lengths.get(reference as usize) {
                Some(&length) if length > 0 => total += length as usize,
                Some(_) => return Err(self.inside_of_array(reference)),
                None => return Err(self.unknown(reference)),
            }
        }
        if total != count {
            return Err(Refusal::error(format!(
                "{argument} is {count}, but the variables have {total} values together"
            )));
        }
        let lengths = Arc::clone(&self.lengths);
        Ok(references.iter().flat_map(move |&first| first..first + lengths[first as usize]))
    }

    #[cold]
    fn inside_of_array(&self, reference: fmi3ValueReference) -> Refusal {
        Refusal::error(format!(
            "value reference {reference} is unknown: {} is a component of an array",
            self.variables[reference as usize].name
        ))
    }
}

/// fmi3GetFloat64.
///
/// # Safety
/// The arrays are null or have `count` and `value_count` entries.
pub unsafe fn get_float64(
    instance: &mut Instance,
    references: *const fmi3ValueReference,
    count: usize,
    values: *mut f64,
    value_count: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) = unsafe {
        (
            arguments::input(references, count, "valueReferences")?,
            arguments::output(values, value_count, "values")?,
        )
    };
    for (reference, place) in instance.components(references, value_count, "nValues")?.zip(values) {
        place.write(access::read_real(instance, reference)?);
    }
    OK
}

/// fmi3SetFloat64.
///
/// # Safety
/// The arrays are null or have `count` and `value_count` entries.
pub unsafe fn set_float64(
    instance: &mut Instance,
    references: *const fmi3ValueReference,
    count: usize,
    values: *const f64,
    value_count: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) = unsafe {
        (
            arguments::input(references, count, "valueReferences")?,
            arguments::input(values, value_count, "values")?,
        )
    };
    let components = instance.components(references, value_count, "nValues")?;
    access::write_reals(instance, components.zip(values.iter().copied()))
}

/// fmi3GetInt32, and fmi3GetInt64 of enumerations.
///
/// # Safety
/// The arrays are null or have `count` and `value_count` entries.
pub unsafe fn get_whole<T: From<i32>>(
    instance: &mut Instance,
    data_type: DataType,
    references: *const fmi3ValueReference,
    count: usize,
    values: *mut T,
    value_count: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) = unsafe {
        (
            arguments::input(references, count, "valueReferences")?,
            arguments::output(values, value_count, "values")?,
        )
    };
    for (reference, place) in instance.components(references, value_count, "nValues")?.zip(values) {
        place.write(access::read_integer(instance, reference, data_type)?.into());
    }
    OK
}

/// fmi3GetClock.
///
/// # Safety
/// The arrays are null or have `count` entries.
pub unsafe fn get_clock(
    instance: &mut Instance,
    references: *const fmi3ValueReference,
    count: usize,
    values: *mut fmi3Clock,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (references, values) = unsafe {
        (arguments::input(references, count, "valueReferences")?, arguments::output(values, count, "values")?)
    };
    for (&reference, place) in references.iter().zip(values) {
        let slot = instance.find(reference, DataType::Clock)?.slot;
        let Slot::ImpactClock { contact } = slot else { unreachable!("all clocks are those of impacts") };
        let ticks = instance.run.events.as_ref().is_some_and(|events| events.impacts[contact].ticks);
        place.write(ticks.into());
    }
    OK
}
