//! Status queries of a slave whose steps are never pending: it knows the time of its last step and that it does
//! not want to end the simulation. Everything else "cannot be retrieved" and so is fmi2Discard (FMI 2.0, 4.2.3).

use crate::abi::{fmi2Boolean, fmi2False, fmi2LastSuccessfulTime, fmi2Real, fmi2StatusKind, fmi2Terminated};
use crate::arguments;
use crate::guard::{Answer, OK, Refusal};
use crate::instance::Instance;

/// fmi2GetRealStatus.
///
/// # Safety
/// `value` is null or has room for a value.
pub unsafe fn get_real(instance: &mut Instance, kind: fmi2StatusKind, value: *mut fmi2Real) -> Answer {
    if kind != fmi2LastSuccessfulTime {
        return Err(not_available(kind));
    }
    // SAFETY: as promised by the caller.
    let target = unsafe { arguments::target(value, "value")? };
    target.write(instance.run.state.time);
    OK
}

/// fmi2GetBooleanStatus.
///
/// # Safety
/// `value` is null or has room for a value.
pub unsafe fn get_boolean(_: &mut Instance, kind: fmi2StatusKind, value: *mut fmi2Boolean) -> Answer {
    if kind != fmi2Terminated {
        return Err(not_available(kind));
    }
    // SAFETY: as promised by the caller.
    let target = unsafe { arguments::target(value, "value")? };
    target.write(fmi2False);
    OK
}

/// fmi2GetStatus, fmi2GetIntegerStatus, fmi2GetStringStatus: nothing of these types can be asked for.
pub fn get_absent(kind: fmi2StatusKind) -> Answer {
    Err(not_available(kind))
}

fn not_available(kind: fmi2StatusKind) -> Refusal {
    Refusal::discard(format!(
        "no status of this type for kind {kind}: steps are never pending; ask for fmi2LastSuccessfulTime (Real) or fmi2Terminated (Boolean)"
    ))
}
