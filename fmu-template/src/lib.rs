//! The library packed into every FMU: the FMI 2.0 C interface for co-simulation and model exchange over the contact
//! engine.
//!
//! Every exported function is one line below. Those that work on an instance go through [`guard`], which
//! turns wrong pointers, wrong modes and panics into fmi2Error; the table of modes is in [`lifecycle`].
//! Nothing here knows physics: values are read and written through the variable table.
//!
//! Statuses: fmi2Error for a call that is wrong (its arguments, its time), fmi2Discard for a right call whose
//! values cannot be used, fmi2Warning for a step that was made less exactly than asked. Each comes with a log
//! line. After fmi2Error and fmi2Discard the instance is as before the call, except after an internal error
//! (a panic): then it is failed and can only be read, reset, restored or freed. fmi2DoStep has its own
//! [table](do_step); what model exchange means here is in [`exchange`].

pub mod abi;
mod access;
mod arguments;
mod coupling_log;
mod derivatives;
mod do_step;
mod exchange;
mod fmu_state;
mod guard;
mod held_force_log;
mod instance;
mod lifecycle;
mod logger;
pub mod memory;
mod repeat_log;
mod resources;
mod status;

use abi::*;
use access::DataType;
use lifecycle::Function;
use std::ffi::c_char;

/// Functions on an instance: name, arguments after the component, and what does the work.
macro_rules! on_instance {
    ($($name:ident($($argument:ident: $type:ty),*) => $work:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of FMI 2.0.")]
        ///
        /// # Safety
        /// Pointers are null or as the standard says.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the name of the C function")]
        pub unsafe extern "C" fn $name(component: fmi2Component $(, $argument: $type)*) -> fmi2Status {
            // SAFETY: the caller follows the standard.
            unsafe { guard::enter(component, Function::$name, |instance| $work(instance $(, $argument)*)) }
        }
    )*};
}

/// Functions on an instance that are always refused: name, argument types after the component, and why.
macro_rules! refused {
    ($($name:ident($($type:ty),*) => $reason:expr;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of FMI 2.0: always fmi2Error.")]
        ///
        /// # Safety
        /// Pointers are null or as the standard says.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the name of the C function")]
        pub unsafe extern "C" fn $name(component: fmi2Component $(, _: $type)*) -> fmi2Status {
            // SAFETY: the caller follows the standard.
            unsafe { guard::enter(component, Function::$name, |_| Err(guard::Refusal::error($reason))) }
        }
    )*};
}

/// `fmi2GetTypesPlatform` of FMI 2.0.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name of the C function")]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

/// `fmi2GetVersion` of FMI 2.0.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name of the C function")]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// `fmi2Instantiate` of FMI 2.0.
///
/// # Safety
/// Pointers are null or as the standard says.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name of the C function")]
pub unsafe extern "C" fn fmi2Instantiate(
    name: fmi2String,
    fmu_type: fmi2Type,
    guid: fmi2String,
    resource_location: fmi2String,
    callbacks: *const fmi2CallbackFunctions,
    _visible: fmi2Boolean,
    logging_on: fmi2Boolean,
) -> fmi2Component {
    // SAFETY: the caller follows the standard.
    unsafe { instance::instantiate(name, fmu_type, guid, resource_location, callbacks, logging_on) }
}

/// `fmi2FreeInstance` of FMI 2.0.
///
/// # Safety
/// `component` is null or from fmi2Instantiate, and is not used afterwards.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name of the C function")]
pub unsafe extern "C" fn fmi2FreeInstance(component: fmi2Component) {
    // SAFETY: the caller follows the standard.
    unsafe { guard::free(component) }
}

const NO_OUTPUT_DERIVATIVES: &str = "this FMU gives no output derivatives (maxOutputDerivativeOrder is 0)";
const NOT_ASYNCHRONOUS: &str = "steps of this FMU are never pending, so there is none to cancel";

type References = *const fmi2ValueReference;

on_instance! {
    fmi2SetDebugLogging(on: fmi2Boolean, n: usize, categories: *const fmi2String) => logger::set_debug_logging;

    fmi2SetupExperiment(tolerance_defined: fmi2Boolean, tolerance: fmi2Real, start: fmi2Real,
                        stop_defined: fmi2Boolean, stop: fmi2Real) => lifecycle::setup_experiment;
    fmi2EnterInitializationMode() => lifecycle::enter_initialization;
    fmi2ExitInitializationMode() => lifecycle::exit_initialization;
    fmi2Terminate() => lifecycle::terminate;
    fmi2Reset() => lifecycle::reset;

    fmi2GetReal(vr: References, n: usize, value: *mut fmi2Real) => access::get_real;
    fmi2GetInteger(vr: References, n: usize, value: *mut fmi2Integer) => access::get_integer;
    fmi2GetBoolean(vr: References, n: usize, _value: *mut fmi2Boolean)
        => |instance, vr, n, _| access::get_absent(instance, DataType::Boolean, vr, n);
    fmi2GetString(vr: References, n: usize, _value: *mut fmi2String)
        => |instance, vr, n, _| access::get_absent(instance, DataType::String, vr, n);
    fmi2SetReal(vr: References, n: usize, value: *const fmi2Real) => access::set_real;
    fmi2SetInteger(vr: References, n: usize, _value: *const fmi2Integer)
        => |instance, vr, n, _| access::set_absent(instance, DataType::Integer, vr, n);
    fmi2SetBoolean(vr: References, n: usize, _value: *const fmi2Boolean)
        => |instance, vr, n, _| access::set_absent(instance, DataType::Boolean, vr, n);
    fmi2SetString(vr: References, n: usize, _value: *const fmi2String)
        => |instance, vr, n, _| access::set_absent(instance, DataType::String, vr, n);

    fmi2GetFMUstate(state: *mut fmi2FMUstate) => fmu_state::get;
    fmi2SetFMUstate(state: fmi2FMUstate) => fmu_state::set;
    fmi2FreeFMUstate(state: *mut fmi2FMUstate) => fmu_state::free;
    fmi2SerializedFMUstateSize(state: fmi2FMUstate, size: *mut usize) => fmu_state::serialized_size;
    fmi2SerializeFMUstate(state: fmi2FMUstate, bytes: *mut fmi2Byte, size: usize) => fmu_state::serialize;
    fmi2DeSerializeFMUstate(bytes: *const fmi2Byte, size: usize, state: *mut fmi2FMUstate)
        => fmu_state::deserialize;

    fmi2GetDirectionalDerivative(unknown: References, n_unknown: usize, known: References, n_known: usize,
                                 dv_known: *const fmi2Real, dv_unknown: *mut fmi2Real)
        => derivatives::directional;
    fmi2SetRealInputDerivatives(vr: References, n: usize, order: *const fmi2Integer, value: *const fmi2Real)
        => derivatives::set_input;

    fmi2DoStep(point: fmi2Real, step: fmi2Real, no_set_state_prior: fmi2Boolean) => do_step::do_step;
    fmi2GetStatus(kind: fmi2StatusKind, _value: *mut fmi2Status) => |_, kind, _| status::get_absent(kind);
    fmi2GetRealStatus(kind: fmi2StatusKind, value: *mut fmi2Real) => status::get_real;
    fmi2GetIntegerStatus(kind: fmi2StatusKind, _value: *mut fmi2Integer) => |_, kind, _| status::get_absent(kind);
    fmi2GetBooleanStatus(kind: fmi2StatusKind, value: *mut fmi2Boolean) => status::get_boolean;
    fmi2GetStringStatus(kind: fmi2StatusKind, _value: *mut fmi2String) => |_, kind, _| status::get_absent(kind);

    fmi2EnterEventMode() => exchange::enter_event_mode;
    fmi2NewDiscreteStates(info: *mut fmi2EventInfo) => exchange::new_discrete_states;
    fmi2EnterContinuousTimeMode() => exchange::enter_continuous_time_mode;
    fmi2CompletedIntegratorStep(no_set_state_prior: fmi2Boolean, enter_event_mode: *mut fmi2Boolean,
                                terminate: *mut fmi2Boolean) => exchange::completed_integrator_step;
    fmi2SetTime(time: fmi2Real) => exchange::set_time;
    fmi2SetContinuousStates(_x: *const fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
    fmi2GetDerivatives(_derivatives: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
    fmi2GetEventIndicators(_indicators: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_indicators(n);
    fmi2GetContinuousStates(_x: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
    fmi2GetNominalsOfContinuousStates(_nominals: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
}

refused! {
    fmi2GetRealOutputDerivatives(References, usize, *const fmi2Integer, *mut fmi2Real) => NO_OUTPUT_DERIVATIVES;
    fmi2CancelStep() => NOT_ASYNCHRONOUS;
}
