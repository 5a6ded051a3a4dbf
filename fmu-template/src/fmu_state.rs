//! Saved states: get, set, free, serialize, deserialize.
//!
//! The serialized form is that of [`saved_state`], with a [`Run`] as payload.

use crate::abi::{fmi2Byte, fmi2FMUstate};
use crate::access::{Access, DataType};
use crate::arguments;
use crate::coupling_log::CouplingLog;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::{Instance, Run};
use contact_fmu::engine::State;
use contact_fmu::saved_state::{self, SavedStateError};
use contact_fmu::variables;

const STATE_MAGIC: u64 = u64::from_le_bytes(*b"CFMUsave");

/// What a fmi2FMUstate points to.
struct SavedState {
    /// Tells a saved state from other memory; zero once freed.
    magic: u64,
    guid: String,
    run: Run,
}

impl SavedState {
    fn give(guid: &str, run: Run) -> fmi2FMUstate {
        Box::into_raw(Box::new(SavedState { magic: STATE_MAGIC, guid: guid.to_owned(), run })).cast()
    }

    /// # Safety
    /// `pointer` is null or points to readable memory that nobody else uses as long as the answer.
    unsafe fn find<'a>(pointer: fmi2FMUstate) -> Result<&'a mut SavedState, Refusal> {
        let pointer = pointer.cast::<SavedState>();
        if pointer.is_null() {
            return Err(Refusal::error("FMUstate is NULL"));
        }
        // SAFETY: aligned and readable; an integer may hold any bits.
        if !pointer.is_aligned() || unsafe { (&raw const (*pointer).magic).read() } != STATE_MAGIC {
            return Err(Refusal::error("FMUstate is not a saved state of this FMU, or was freed"));
        }
        // SAFETY: the magic word says that `give` made this.
        Ok(unsafe { &mut *pointer })
    }
}

/// fmi2GetFMUstate: a new saved state, or a fresh content for the one given.
///
/// # Safety
/// `place` is null or points to null or a saved state.
pub unsafe fn get(instance: &mut Instance, place: *mut fmi2FMUstate) -> Answer {
    // SAFETY: as promised by the caller.
    let place = unsafe { arguments::place(place, "FMUstate")? };
    if place.is_null() {
        instance.ensure_memory()?;
        *place = SavedState::give(&instance.guid, instance.run.clone());
    } else {
        // SAFETY: as promised by the caller.
        let saved = unsafe { SavedState::find(*place)? };
        saved.guid.clone_from(&instance.guid);
        saved.run.copy_from(&instance.run);
    }
    OK
}

/// fmi2SetFMUstate.
///
/// # Safety
/// `state` is null or a saved state.
pub unsafe fn set(instance: &mut Instance, state: fmi2FMUstate) -> Answer {
    // SAFETY: as promised by the caller.
    let saved = unsafe { SavedState::find(state)? };
    saved_state::check_guid(&instance.guid, &saved.guid).map_err(refusal)?;
    check_interface(instance, &saved.run)?;
    instance.run.copy_from(&saved.run);
    instance.has_start_outputs = false;
    CouplingLog::go_on_from_restored(instance);
    OK
}

/// fmi2FreeFMUstate: null is ignored.
///
/// # Safety
/// `place` is null or points to null or a saved state, which is not used afterwards.
pub unsafe fn free(_: &mut Instance, place: *mut fmi2FMUstate) -> Answer {
    // SAFETY: as promised by the caller.
    let Some(place) = (unsafe { place.as_mut() }) else { return OK };
    if !place.is_null() {
        // SAFETY: as promised by the caller.
        let saved = unsafe { SavedState::find(*place)? };
        // SAFETY: an exclusive reference; volatile because nothing but a wrong later call reads it. `give` made
        // the saved state with a Box.
        unsafe {
            std::ptr::write_volatile(&mut saved.magic, 0);
            drop(Box::from_raw(saved));
        }
        *place = std::ptr::null_mut();
    }
    OK
}

/// fmi2SerializedFMUstateSize.
///
/// # Safety
/// `state` is null or a saved state; `size` is null or has room for a value.
pub unsafe fn serialized_size(instance: &mut Instance, state: fmi2FMUstate, size: *mut usize) -> Answer {
    // SAFETY: as promised by the caller.
    let (saved, size) = unsafe { (SavedState::find(state)?, arguments::target(size, "size")?) };
    instance.ensure_memory()?;
    size.write(encode(saved).len());
    OK
}

/// fmi2SerializeFMUstate.
///
/// # Safety
/// `state` is null or a saved state; `bytes` is null or has room for `size` bytes.
pub unsafe fn serialize(
    instance: &mut Instance,
    state: fmi2FMUstate,
    bytes: *mut fmi2Byte,
    size: usize,
) -> Answer {
    // SAFETY: as promised by the caller.
    let saved = unsafe { SavedState::find(state)? };
    instance.ensure_memory()?;
    let encoded = encode(saved);
    if size != encoded.len() {
        return Err(Refusal::error(format!(
            "size is {size} but this state takes {} bytes: ask for its serialized size",
            encoded.len()
        )));
    }
    // SAFETY: as promised by the caller.
    let bytes = unsafe { arguments::output(bytes.cast::<u8>(), size, "serializedState")? };
    for (target, byte) in bytes.iter_mut().zip(encoded) {
        target.write(byte);
    }
    OK
}

/// fmi2DeSerializeFMUstate: always a new saved state, because the standard does not ask the importer to
/// initialise `place`.
///
/// # Safety
/// `bytes` is null or has `size` bytes; `place` is null or has room for a pointer.
pub unsafe fn deserialize(
    instance: &mut Instance,
    bytes: *const fmi2Byte,
    size: usize,
    place: *mut fmi2FMUstate,
) -> Answer {
    // SAFETY: as promised by the caller.
    let (bytes, place) = unsafe {
        (
            arguments::input(bytes.cast::<u8>(), size, "serializedState")?,
            arguments::target(place, "FMUstate")?,
        )
    };
    instance.ensure_memory()?;
    let run = decode(instance, bytes)?;
    place.write(SavedState::give(&instance.guid, run));
    OK
}

fn encode(saved: &SavedState) -> Vec<u8> {
    let payload = postcard::to_stdvec(&saved.run).expect("a state holds only plain data");
    saved_state::write(&saved.guid, &payload)
}

fn decode(instance: &Instance, bytes: &[u8]) -> Result<Run, Refusal> {
    let damaged = || refusal(SavedStateError::Damaged);
    let payload = saved_state::read(&instance.guid, bytes).map_err(refusal)?;
    let (run, rest) = postcard::take_from_bytes::<Run>(payload).map_err(|_| damaged())?;
    let fits = instance.initial.same_size(&run.state) && instance.initial.same_size(&run.before);
    if !(fits && rest.is_empty()) {
        return Err(damaged());
    }
    check_interface(instance, &run)?;
    let values_are_right =
        [&run.state, &*run.before].into_iter().all(|state| has_right_values(instance, state));
    if !(run.mode.is_of(&run)
        && run.sampling.is_none_or(|sampling| sampling.is_finite())
        && run.events.as_ref().is_none_or(|events| events.fits(&run.state))
        && values_are_right)
    {
        return Err(damaged());
    }
    Ok(run)
}

/// Whether all that can be set is in its range or as it was at the start, and all that moves is a number.
fn has_right_values(instance: &Instance, state: &State<f64>) -> bool {
    let is_right = |access: &Access| {
        let [value, start] =
            [state, &instance.initial].map(|state| variables::get_real(access.slot, &instance.system, state));
        access.range.contains(value) || value.to_bits() == start.to_bits()
    };
    let is_set =
        |access: &&Access| access.settable != 0 && access.data_type == DataType::real(instance.version);
    state.time.is_finite() && state.is_finite() && instance.access.iter().filter(is_set).all(is_right)
}

fn refusal(error: SavedStateError) -> Refusal {
    Refusal::error(error.to_string())
}

fn check_interface(instance: &Instance, run: &Run) -> Result<(), Refusal> {
    let [saved, this] = [run.interface(), instance.run.interface()];
    if saved == this && run.events.is_some() == instance.run.events.is_some() {
        return Ok(());
    }
    if saved == this {
        return Err(Refusal::error(
            "the saved state belongs to an instance that uses event mode, and this one does not, or the other way round",
        ));
    }
    Err(Refusal::error(format!("the saved state belongs to an instance for {saved}, this one is for {this}")))
}
