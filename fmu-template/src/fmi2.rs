//! The functions of FMI 2.0, a line each.
//!
//! [`fmi2_functions`](crate::fmi2_functions) is the list of them. Here it defines them; the library of FMI 2.0 FMUs exports them by it.

use crate::abi::*;
use crate::access::{self, DataType};
use crate::guard::{self, refused};
use crate::lifecycle::{self, Function};
use crate::{derivatives, do_step, exchange, fmu_state, instance, logger, status};
use std::ffi::c_char;

const NO_OUTPUT_DERIVATIVES: &str = "this FMU gives no output derivatives (maxOutputDerivativeOrder is 0)";
const NOT_ASYNCHRONOUS: &str = "steps of this FMU are never pending, so there is none to cancel";

/// Hands all functions of FMI 2.0 to a macro: those written out, and those that work on an instance with what does the work.
#[macro_export]
macro_rules! fmi2_functions {
    ($take:ident) => {
        $take! {
            written {
                fmi2GetTypesPlatform() -> *const c_char;
                fmi2GetVersion() -> *const c_char;
                fmi2Instantiate(name: fmi2String, fmu_type: fmi2Type, guid: fmi2String, resource_location: fmi2String,
                                callbacks: *const fmi2CallbackFunctions, visible: fmi2Boolean, logging_on: fmi2Boolean)
                    -> fmi2Component;
                fmi2FreeInstance(component: fmi2Component) -> ();
            }
            on_instance {
                fmi2SetDebugLogging(on: fmi2Boolean, n: usize, categories: *const fmi2String) => logger::set_debug_logging;

                fmi2SetupExperiment(tolerance_defined: fmi2Boolean, tolerance: fmi2Real, start: fmi2Real,
                                    stop_defined: fmi2Boolean, stop: fmi2Real) => lifecycle::setup_experiment;
                fmi2EnterInitializationMode() => lifecycle::enter_initialization;
                fmi2ExitInitializationMode() => lifecycle::exit_initialization;
                fmi2Terminate() => lifecycle::terminate;
                fmi2Reset() => lifecycle::reset;

                fmi2GetReal(vr: fmi2ValueReferences, n: usize, value: *mut fmi2Real) => access::get_real;
                fmi2GetInteger(vr: fmi2ValueReferences, n: usize, value: *mut fmi2Integer) => access::get_integer;
                fmi2GetBoolean(vr: fmi2ValueReferences, n: usize, value: *mut fmi2Boolean)
                    => |instance, vr, n, _| access::get_absent(instance, DataType::Boolean, vr, n);
                fmi2GetString(vr: fmi2ValueReferences, n: usize, value: *mut fmi2String)
                    => |instance, vr, n, _| access::get_absent(instance, DataType::String, vr, n);
                fmi2SetReal(vr: fmi2ValueReferences, n: usize, value: *const fmi2Real) => access::set_real;
                fmi2SetInteger(vr: fmi2ValueReferences, n: usize, value: *const fmi2Integer)
                    => |instance, vr, n, _| access::set_absent(instance, DataType::Integer, vr, n);
                fmi2SetBoolean(vr: fmi2ValueReferences, n: usize, value: *const fmi2Boolean)
                    => |instance, vr, n, _| access::set_absent(instance, DataType::Boolean, vr, n);
                fmi2SetString(vr: fmi2ValueReferences, n: usize, value: *const fmi2String)
                    => |instance, vr, n, _| access::set_absent(instance, DataType::String, vr, n);

                fmi2GetFMUstate(state: *mut fmi2FMUstate) => fmu_state::get;
                fmi2SetFMUstate(state: fmi2FMUstate) => fmu_state::set;
                fmi2FreeFMUstate(state: *mut fmi2FMUstate) => fmu_state::free;
                fmi2SerializedFMUstateSize(state: fmi2FMUstate, size: *mut usize) => fmu_state::serialized_size;
                fmi2SerializeFMUstate(state: fmi2FMUstate, bytes: *mut fmi2Byte, size: usize) => fmu_state::serialize;
                fmi2DeSerializeFMUstate(bytes: *const fmi2Byte, size: usize, state: *mut fmi2FMUstate)
                    => fmu_state::deserialize;

                fmi2GetDirectionalDerivative(unknown: fmi2ValueReferences, n_unknown: usize, known: fmi2ValueReferences, n_known: usize,
                                             dv_known: *const fmi2Real, dv_unknown: *mut fmi2Real)
                    => derivatives::directional;
                fmi2SetRealInputDerivatives(vr: fmi2ValueReferences, n: usize, order: *const fmi2Integer, value: *const fmi2Real)
                    => derivatives::set_input;

                fmi2DoStep(point: fmi2Real, step: fmi2Real, no_set_state_prior: fmi2Boolean) => do_step::do_step;
                fmi2GetStatus(kind: fmi2StatusKind, value: *mut fmi2Status) => |_, kind, _| status::get_absent(kind);
                fmi2GetRealStatus(kind: fmi2StatusKind, value: *mut fmi2Real) => status::get_real;
                fmi2GetIntegerStatus(kind: fmi2StatusKind, value: *mut fmi2Integer) => |_, kind, _| status::get_absent(kind);
                fmi2GetBooleanStatus(kind: fmi2StatusKind, value: *mut fmi2Boolean) => status::get_boolean;
                fmi2GetStringStatus(kind: fmi2StatusKind, value: *mut fmi2String) => |_, kind, _| status::get_absent(kind);

                fmi2EnterEventMode() => |instance| exchange::enter_event_mode(instance, Function::fmi2EnterEventMode);
                fmi2NewDiscreteStates(info: *mut fmi2EventInfo) => exchange::new_discrete_states;
                fmi2EnterContinuousTimeMode()
                    => |instance| exchange::enter_continuous_time_mode(instance, Function::fmi2EnterContinuousTimeMode);
                fmi2CompletedIntegratorStep(no_set_state_prior: fmi2Boolean, enter_event_mode: *mut fmi2Boolean,
                                            terminate: *mut fmi2Boolean)
                    => |instance, _, enter, terminate| exchange::completed_integrator_step(instance, enter, terminate);
                fmi2SetTime(time: fmi2Real)
                    => |instance, time| exchange::set_time(instance, time, Function::fmi2SetTime);
                fmi2SetContinuousStates(x: *const fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
                fmi2GetDerivatives(derivatives: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
                fmi2GetEventIndicators(indicators: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_indicators(n);
                fmi2GetContinuousStates(x: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);
                fmi2GetNominalsOfContinuousStates(nominals: *mut fmi2Real, n: usize) => |_, _, n| exchange::no_states(n);

                fmi2GetRealOutputDerivatives(vr: fmi2ValueReferences, n: usize, order: *const fmi2Integer, value: *mut fmi2Real)
                    => |_, _, _, _, _| refused(NO_OUTPUT_DERIVATIVES);
                fmi2CancelStep() => |_| refused(NOT_ASYNCHRONOUS);
            }
        }
    };
}

macro_rules! define {
    (
        written { $($written:tt)* }
        on_instance { $($name:ident($($argument:ident: $type:ty),*) => $work:expr;)* }
    ) => {$(
        #[doc = concat!("`", stringify!($name), "` of FMI 2.0.")]
        ///
        /// # Safety
        /// Pointers are null or as the standard says.
        #[allow(non_snake_case, reason = "the name of the C function")]
        pub unsafe extern "C" fn $name(component: fmi2Component $(, $argument: $type)*) -> fmi2Status {
            // SAFETY: the caller follows the standard.
            unsafe { guard::enter(component, Function::$name, |instance| $work(instance $(, $argument)*)) }
        }
    )*};
}

fmi2_functions!(define);

/// `fmi2GetTypesPlatform` of FMI 2.0.
#[allow(non_snake_case, reason = "the name of the C function")]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

/// `fmi2GetVersion` of FMI 2.0.
#[allow(non_snake_case, reason = "the name of the C function")]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// `fmi2Instantiate` of FMI 2.0.
///
/// # Safety
/// Pointers are null or as the standard says.
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
#[allow(non_snake_case, reason = "the name of the C function")]
pub unsafe extern "C" fn fmi2FreeInstance(component: fmi2Component) {
    // SAFETY: the caller follows the standard.
    unsafe { guard::free(component, Function::fmi2FreeInstance) }
}
