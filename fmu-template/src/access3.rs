//! Getting and setting variables of FMI 3.0, where vectors are arrays and contact states an enumeration. What is refused is
//! that of [`access`]; a value reference in the midst of an array is unknown, and the number of values has to be that of
//! all components together.

use crate::abi3::{fmi3Clock, fmi3ValueReference};
use crate::access::{self, DataType};
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;
use contact_fmu::variables::{self, Slot, Variable};
use std::sync::Arc;

/// Which variables of a table are taken together.
#[derive(Debug)]
pub struct Arrays {
    /// By position in the table: where the components of the array that begins there are listed, and how many they are; none
    /// in the midst of one.
    places: Vec<(u32, u32)>,
    components: Vec<fmi3ValueReference>,
}

impl Arrays {
    /// Of a table.
    pub fn of(table: &[Variable]) -> Arrays {
        let mut places = vec![(0, 0); table.len()];
        let mut components = Vec::with_capacity(table.len());
        for array in variables::arrays(table) {
            places[array.first] = (components.len() as u32, array.size() as u32);
            components.extend(array.positions.iter().map(|&position| position as fmi3ValueReference));
        }
        Arrays { places, components }
    }

    /// Scalars of a variable; none where there is no such variable.
    pub fn components(&self, reference: fmi3ValueReference) -> Option<&[fmi3ValueReference]> {
        let &(first, count) = self.places.get(reference as usize)?;
        (count > 0).then(|| &self.components[first as usize..(first + count) as usize])
    }
}

impl Instance {
    /// Scalars of the variables that are referred to, which have to be `count`.
    pub fn components<'a>(
        &self,
        references: &'a [fmi3ValueReference],
        count: usize,
        argument: &str,
    ) -> Result<impl Iterator<Item = fmi3ValueReference> + Clone + use<'a>, Refusal> {
        let mut total = 0;
        for &reference in references {
            total += self.arrays.components(reference).ok_or_else(|| self.no_variable(reference))?.len();
        }
        if total != count {
            return Err(Refusal::error(format!(
                "{argument} is {count}, but the variables have {total} values together"
            )));
        }
        let arrays = Arc::clone(&self.arrays);
        let place = move |&reference: &fmi3ValueReference| {
            let (first, count) = arrays.places[reference as usize];
            let arrays = Arc::clone(&arrays);
            (first..first + count).map(move |place| arrays.components[place as usize])
        };
        Ok(references.iter().flat_map(place))
    }

    #[cold]
    fn no_variable(&self, reference: fmi3ValueReference) -> Refusal {
        match self.variables.get(reference as usize) {
            Some(variable) => Refusal::error(format!(
                "value reference {reference} is unknown: {} is a component of an array",
                variable.name
            )),
            None => self.unknown(reference),
        }
    }
}

/// Lets closures be written without the types of their arguments.
fn call<T>(
    instance: &mut Instance,
    scalar: fmi3ValueReference,
    read: impl FnOnce(&mut Instance, fmi3ValueReference) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    read(instance, scalar)
}

/// Defines a getter: its name, the type of its values, and how one of them is read.
macro_rules! getters {
    ($($(#[$documentation:meta])* $name:ident: $type:ty = $read:expr;)*) => {$(
        $(#[$documentation])*
        ///
        /// # Safety
        /// The arrays are null or have `count` and `value_count` entries.
        pub unsafe fn $name(
            instance: &mut Instance,
            references: *const fmi3ValueReference,
            count: usize,
            values: *mut $type,
            value_count: usize,
        ) -> Answer {
            // SAFETY: as promised by the caller.
            let (references, values) = unsafe {
                (
                    arguments::input(references, count, "valueReferences")?,
                    arguments::output(values, value_count, "values")?,
                )
            };
            for (scalar, place) in instance.components(references, value_count, "nValues")?.zip(values) {
                place.write(call(instance, scalar, $read)?);
            }
            OK
        }
    )*};
}

getters! {
    /// fmi3GetFloat64.
    get_float64: f64 = access::read_real;
    /// fmi3GetInt32.
    get_int32: i32 = |instance, scalar| access::read_integer(instance, scalar, DataType::Int32);
    /// fmi3GetInt64, of enumerations.
    get_int64: i64 = |instance, scalar| {
        access::read_integer(instance, scalar, DataType::Enumeration).map(i64::from)
    };
    /// The values of fmi3GetClock.
    get_ticks: fmi3Clock = read_clock;
}

/// fmi3GetClock: clocks are scalars.
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
    unsafe { get_ticks(instance, references, count, values, count) }
}

fn read_clock(instance: &mut Instance, scalar: fmi3ValueReference) -> Result<fmi3Clock, Refusal> {
    let slot = instance.find(scalar, DataType::Clock)?.slot;
    let Slot::ImpactClock { contact } = slot else { unreachable!("all clocks are those of impacts") };
    Ok(instance.run.events.as_ref().is_some_and(|events| events.impacts[contact].ticks).into())
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
