//! The functions of FMI 3.0, a line each.
//!
//! [`fmi3_functions`](crate::fmi3_functions) is the list of them. Here it defines them; the library of FMI 3.0 FMUs exports them by it.

use crate::abi3::*;
use crate::access::{self, DataType};
use crate::derivatives3::Way;
use crate::guard::{self, Refusal, refused};
use crate::instance::{Instance, create, hand_over};
use crate::lifecycle::{self, Function, Interface};
use crate::logger::Logger;
use crate::{access3, arguments, derivatives3, do_step3, events, exchange, fmu_state, logger};
use contact_fmu::fmi_version::FmiVersion;
use std::ffi::c_char;
use std::sync::Arc;

const NO_OUTPUT_DERIVATIVES: &str = "this FMU gives no output derivatives (maxOutputDerivativeOrder is 0)";
const NO_DEPENDENCIES: &str =
    "this FMU tells of dependencies in modelDescription.xml only (providesPerElementDependencies is false)";
const NO_CONFIGURATION: &str = "this FMU has no structural parameters, and so no configuration mode";
const NO_INTERVALS: &str = "the clocks of this FMU are triggered by impacts, and have no intervals";
const NO_EVALUATION: &str =
    "this FMU does not evaluate discrete states on trial (providesEvaluateDiscreteStates is false)";
const NO_SCHEDULE: &str = "this FMU is for co-simulation and model exchange, not for scheduled execution";

/// Hands all functions of FMI 3.0 to a macro: those written out, and those that work on an instance with what does the work.
#[macro_export]
macro_rules! fmi3_functions {
    ($take:ident) => {
        $take! {
            written {
                fmi3GetVersion() -> *const c_char;
                fmi3InstantiateModelExchange(name: fmi3String, token: fmi3String, resource_path: fmi3String, visible: fmi3Boolean,
                                             logging_on: fmi3Boolean, environment: fmi3InstanceEnvironment, log: fmi3LogMessageCallback)
                    -> fmi3Instance;
                fmi3InstantiateCoSimulation(name: fmi3String, token: fmi3String, resource_path: fmi3String, visible: fmi3Boolean,
                                            logging_on: fmi3Boolean, event_mode_used: fmi3Boolean, early_return_allowed: fmi3Boolean,
                                            intermediate_variables: fmi3ValueReferences, intermediate_count: usize,
                                            environment: fmi3InstanceEnvironment, log: fmi3LogMessageCallback,
                                            intermediate_update: fmi3IntermediateUpdateCallback)
                    -> fmi3Instance;
                fmi3InstantiateScheduledExecution(name: fmi3String, token: fmi3String, resource_path: fmi3String, visible: fmi3Boolean,
                                                  logging_on: fmi3Boolean, environment: fmi3InstanceEnvironment,
                                                  log: fmi3LogMessageCallback, clock_update: fmi3ClockUpdateCallback,
                                                  lock_preemption: fmi3PreemptionCallback, unlock_preemption: fmi3PreemptionCallback)
                    -> fmi3Instance;
                fmi3FreeInstance(instance: fmi3Instance) -> ();
                fmi3DoStep(instance: fmi3Instance, point: f64, step: f64, no_set_state_prior: fmi3Boolean,
                           event_needed: *mut fmi3Boolean, terminate: *mut fmi3Boolean, early_return: *mut fmi3Boolean,
                           last_successful_time: *mut f64) -> fmi3Status;
            }
            on_instance {
                fmi3SetDebugLogging(on: fmi3Boolean, n: usize, categories: *const fmi3String)
                    => |instance, on: fmi3Boolean, n, categories| logger::set_debug_logging(instance, on.into(), n, categories);
                fmi3EnterInitializationMode(tolerance_defined: fmi3Boolean, tolerance: f64, start: f64, stop_defined: fmi3Boolean, stop: f64)
                    => lifecycle::begin_initialization;
                fmi3ExitInitializationMode()
                    => lifecycle::exit_initialization;
                fmi3EnterEventMode()
                    => events::enter_event_mode;
                fmi3Terminate()
                    => lifecycle::terminate;
                fmi3Reset()
                    => lifecycle::reset;
                fmi3GetFloat64(vr: fmi3ValueReferences, n: usize, values: *mut f64, count: usize)
                    => access3::get_float64;
                fmi3GetInt32(vr: fmi3ValueReferences, n: usize, values: *mut i32, count: usize)
                    => access3::get_int32;
                fmi3GetInt64(vr: fmi3ValueReferences, n: usize, values: *mut i64, count: usize)
                    => access3::get_int64;
                fmi3GetFloat32(vr: fmi3ValueReferences, n: usize, values: *mut f32, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("Float32"), vr, n);
                fmi3GetInt8(vr: fmi3ValueReferences, n: usize, values: *mut i8, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("Int8"), vr, n);
                fmi3GetUInt8(vr: fmi3ValueReferences, n: usize, values: *mut u8, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("UInt8"), vr, n);
                fmi3GetInt16(vr: fmi3ValueReferences, n: usize, values: *mut i16, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("Int16"), vr, n);
                fmi3GetUInt16(vr: fmi3ValueReferences, n: usize, values: *mut u16, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("UInt16"), vr, n);
                fmi3GetUInt32(vr: fmi3ValueReferences, n: usize, values: *mut u32, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("UInt32"), vr, n);
                fmi3GetUInt64(vr: fmi3ValueReferences, n: usize, values: *mut u64, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("UInt64"), vr, n);
                fmi3GetBoolean(vr: fmi3ValueReferences, n: usize, values: *mut fmi3Boolean, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("Boolean"), vr, n);
                fmi3GetString(vr: fmi3ValueReferences, n: usize, values: *mut fmi3String, count: usize)
                    => |instance, vr, n, _, _| access::get_absent(instance, DataType::Absent("String"), vr, n);
                fmi3GetBinary(vr: fmi3ValueReferences, n: usize, sizes: *mut usize, values: *mut fmi3Binary, count: usize)
                    => |instance, vr, n, _, _, _| access::get_absent(instance, DataType::Absent("Binary"), vr, n);
                fmi3GetClock(vr: fmi3ValueReferences, n: usize, values: *mut fmi3Clock)
                    => access3::get_clock;
                fmi3SetFloat64(vr: fmi3ValueReferences, n: usize, values: *const f64, count: usize)
                    => access3::set_float64;
                fmi3SetInt32(vr: fmi3ValueReferences, n: usize, values: *const i32, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Int32, vr, n);
                fmi3SetInt64(vr: fmi3ValueReferences, n: usize, values: *const i64, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Enumeration, vr, n);
                fmi3SetFloat32(vr: fmi3ValueReferences, n: usize, values: *const f32, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("Float32"), vr, n);
                fmi3SetInt8(vr: fmi3ValueReferences, n: usize, values: *const i8, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("Int8"), vr, n);
                fmi3SetUInt8(vr: fmi3ValueReferences, n: usize, values: *const u8, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("UInt8"), vr, n);
                fmi3SetInt16(vr: fmi3ValueReferences, n: usize, values: *const i16, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("Int16"), vr, n);
                fmi3SetUInt16(vr: fmi3ValueReferences, n: usize, values: *const u16, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("UInt16"), vr, n);
                fmi3SetUInt32(vr: fmi3ValueReferences, n: usize, values: *const u32, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("UInt32"), vr, n);
                fmi3SetUInt64(vr: fmi3ValueReferences, n: usize, values: *const u64, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("UInt64"), vr, n);
                fmi3SetBoolean(vr: fmi3ValueReferences, n: usize, values: *const fmi3Boolean, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("Boolean"), vr, n);
                fmi3SetString(vr: fmi3ValueReferences, n: usize, values: *const fmi3String, count: usize)
                    => |instance, vr, n, _, _| access::set_absent(instance, DataType::Absent("String"), vr, n);
                fmi3SetBinary(vr: fmi3ValueReferences, n: usize, sizes: *const usize, values: *const fmi3Binary, count: usize)
                    => |instance, vr, n, _, _, _| access::set_absent(instance, DataType::Absent("Binary"), vr, n);
                fmi3SetClock(vr: fmi3ValueReferences, n: usize, values: *const fmi3Clock)
                    => |instance, vr, n, _| access::set_absent(instance, DataType::Clock, vr, n);
                fmi3GetNumberOfVariableDependencies(vr: fmi3ValueReference, count: *mut usize)
                    => |_, _, _| refused(NO_DEPENDENCIES);
                fmi3GetVariableDependencies(vr: fmi3ValueReference, elements: *mut usize, independents: *mut fmi3ValueReference, independent_elements: *mut usize, kinds: *mut fmi3DependencyKind, count: usize)
                    => |_, _, _, _, _, _, _| refused(NO_DEPENDENCIES);
                fmi3GetFMUState(state: *mut fmi3FMUState)
                    => fmu_state::get;
                fmi3SetFMUState(state: fmi3FMUState)
                    => fmu_state::set;
                fmi3FreeFMUState(state: *mut fmi3FMUState)
                    => fmu_state::free;
                fmi3SerializedFMUStateSize(state: fmi3FMUState, size: *mut usize)
                    => fmu_state::serialized_size;
                fmi3SerializeFMUState(state: fmi3FMUState, bytes: *mut fmi3Byte, size: usize)
                    => |instance, state, bytes: *mut fmi3Byte, size| fmu_state::serialize(instance, state, bytes.cast(), size);
                fmi3DeserializeFMUState(bytes: *const fmi3Byte, size: usize, state: *mut fmi3FMUState)
                    => |instance, bytes: *const fmi3Byte, size, state| fmu_state::deserialize(instance, bytes.cast(), size, state);
                fmi3GetDirectionalDerivative(unknowns: fmi3ValueReferences, unknown_count: usize, knowns: fmi3ValueReferences, known_count: usize, seed: *const f64, seed_count: usize, sensitivity: *mut f64, sensitivity_count: usize)
                    => |instance, u, nu, k, nk, seed, ns, s, n| derivatives3::derivative(instance, Way::Directional, u, nu, k, nk, seed, ns, s, n);
                fmi3GetAdjointDerivative(unknowns: fmi3ValueReferences, unknown_count: usize, knowns: fmi3ValueReferences, known_count: usize, seed: *const f64, seed_count: usize, sensitivity: *mut f64, sensitivity_count: usize)
                    => |instance, u, nu, k, nk, seed, ns, s, n| derivatives3::derivative(instance, Way::Adjoint, u, nu, k, nk, seed, ns, s, n);
                fmi3EnterConfigurationMode()
                    => |_| refused(NO_CONFIGURATION);
                fmi3ExitConfigurationMode()
                    => |_| refused(NO_CONFIGURATION);
                fmi3GetIntervalDecimal(vr: fmi3ValueReferences, n: usize, intervals: *mut f64, qualifiers: *mut fmi3IntervalQualifier)
                    => |_, _, _, _, _| refused(NO_INTERVALS);
                fmi3GetIntervalFraction(vr: fmi3ValueReferences, n: usize, counters: *mut u64, resolutions: *mut u64, qualifiers: *mut fmi3IntervalQualifier)
                    => |_, _, _, _, _, _| refused(NO_INTERVALS);
                fmi3GetShiftDecimal(vr: fmi3ValueReferences, n: usize, shifts: *mut f64)
                    => |_, _, _, _| refused(NO_INTERVALS);
                fmi3GetShiftFraction(vr: fmi3ValueReferences, n: usize, counters: *mut u64, resolutions: *mut u64)
                    => |_, _, _, _, _| refused(NO_INTERVALS);
                fmi3SetIntervalDecimal(vr: fmi3ValueReferences, n: usize, intervals: *const f64)
                    => |_, _, _, _| refused(NO_INTERVALS);
                fmi3SetIntervalFraction(vr: fmi3ValueReferences, n: usize, counters: *const u64, resolutions: *const u64)
                    => |_, _, _, _, _| refused(NO_INTERVALS);
                fmi3SetShiftDecimal(vr: fmi3ValueReferences, n: usize, shifts: *const f64)
                    => |_, _, _, _| refused(NO_INTERVALS);
                fmi3SetShiftFraction(vr: fmi3ValueReferences, n: usize, counters: *const u64, resolutions: *const u64)
                    => |_, _, _, _, _| refused(NO_INTERVALS);
                fmi3EvaluateDiscreteStates()
                    => |_| refused(NO_EVALUATION);
                fmi3UpdateDiscreteStates(need_update: *mut fmi3Boolean, terminate: *mut fmi3Boolean, nominals_changed: *mut fmi3Boolean, values_changed: *mut fmi3Boolean, next_event_defined: *mut fmi3Boolean, next_event: *mut f64)
                    => events::update_discrete_states;
                fmi3EnterContinuousTimeMode()
                    => |instance| exchange::enter_continuous_time_mode(instance, Function::fmi3EnterContinuousTimeMode);
                fmi3CompletedIntegratorStep(no_set_state_prior: fmi3Boolean, enter_event_mode: *mut fmi3Boolean, terminate: *mut fmi3Boolean)
                    => |instance, _, enter, terminate| exchange::completed_integrator_step(instance, enter, terminate);
                fmi3SetTime(time: f64)
                    => |instance, time| exchange::set_time(instance, time, Function::fmi3SetTime);
                fmi3SetContinuousStates(x: *const f64, n: usize)
                    => |_, _, n| exchange::no_states(n);
                fmi3GetContinuousStateDerivatives(values: *mut f64, n: usize)
                    => |_, _, n| exchange::no_states(n);
                fmi3GetContinuousStates(values: *mut f64, n: usize)
                    => |_, _, n| exchange::no_states(n);
                fmi3GetNominalsOfContinuousStates(values: *mut f64, n: usize)
                    => |_, _, n| exchange::no_states(n);
                fmi3GetEventIndicators(values: *mut f64, n: usize)
                    => |_, _, n| exchange::no_indicators(n);
                fmi3GetNumberOfEventIndicators(count: *mut usize)
                    => |_, count| exchange::count_none(count);
                fmi3GetNumberOfContinuousStates(count: *mut usize)
                    => |_, count| exchange::count_none(count);
                fmi3EnterStepMode()
                    => events::enter_step_mode;
                fmi3GetOutputDerivatives(vr: fmi3ValueReferences, n: usize, orders: *const i32, values: *mut f64, count: usize)
                    => |_, _, _, _, _, _| refused(NO_OUTPUT_DERIVATIVES);
                fmi3ActivateModelPartition(clock: fmi3ValueReference, time: f64)
                    => |_, _, _| refused(NO_SCHEDULE);
            }
        }
    };
}

macro_rules! define {
    (
        written { $($written:tt)* }
        on_instance { $($name:ident($($argument:ident: $type:ty),*) => $work:expr;)* }
    ) => {$(
        #[doc = concat!("`", stringify!($name), "` of FMI 3.0.")]
        ///
        /// # Safety
        /// Pointers are null or as the standard says.
        #[allow(non_snake_case, reason = "the name of the C function")]
        pub unsafe extern "C" fn $name(instance: fmi3Instance $(, $argument: $type)*) -> fmi3Status {
            // SAFETY: the caller follows the standard.
            unsafe { guard::enter(instance, Function::$name, |instance| $work(instance $(, $argument)*)) }
        }
    )*};
}

fmi3_functions!(define);

/// `fmi3GetVersion` of FMI 3.0.
#[allow(non_snake_case, reason = "the name of the C function")]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// `fmi3InstantiateModelExchange` of FMI 3.0.
///
/// # Safety
/// Pointers are null or as the standard says.
#[allow(non_snake_case, reason = "the name of the C function")]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: fmi3String,
    token: fmi3String,
    resource_path: fmi3String,
    _visible: fmi3Boolean,
    logging_on: fmi3Boolean,
    environment: fmi3InstanceEnvironment,
    log: fmi3LogMessageCallback,
) -> fmi3Instance {
    let strings = [name, token, resource_path];
    let logger = Arc::new(Logger::for_fmi3(log, environment, logging_on != fmi3False));
    // SAFETY: the caller follows the standard.
    unsafe {
        instantiate("fmi3InstantiateModelExchange", Interface::ModelExchange, strings, &logger, |_| Ok(()))
    }
}

/// `fmi3InstantiateCoSimulation` of FMI 3.0.
///
/// # Safety
/// Pointers are null or as the standard says.
#[allow(non_snake_case, clippy::too_many_arguments, reason = "the C function")]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: fmi3String,
    token: fmi3String,
    resource_path: fmi3String,
    _visible: fmi3Boolean,
    logging_on: fmi3Boolean,
    event_mode_used: fmi3Boolean,
    early_return_allowed: fmi3Boolean,
    intermediate_variables: fmi3ValueReferences,
    intermediate_count: usize,
    environment: fmi3InstanceEnvironment,
    log: fmi3LogMessageCallback,
    intermediate_update: fmi3IntermediateUpdateCallback,
) -> fmi3Instance {
    let strings = [name, token, resource_path];
    let logger = Arc::new(Logger::for_fmi3(log, environment, logging_on != fmi3False));
    let prepare = |instance: &mut Instance| {
        // SAFETY: the caller follows the standard.
        let wanted = unsafe {
            arguments::input(intermediate_variables, intermediate_count, "requiredIntermediateVariables")
        };
        let wanted = wanted.map_err(Refusal::into_message)?;
        for &reference in wanted {
            // All can be read; unknown ones are told at once.
            if instance.arrays.components(reference).is_none() {
                return Err(format!(
                    "requiredIntermediateVariables has the unknown value reference {reference}"
                ));
            }
        }
        instance.use_events(event_mode_used != fmi3False, early_return_allowed != fmi3False);
        instance.intermediate = do_step3::Intermediate::new(intermediate_update);
        Ok(())
    };
    // SAFETY: the caller follows the standard.
    unsafe { instantiate("fmi3InstantiateCoSimulation", Interface::CoSimulation, strings, &logger, prepare) }
}

/// `fmi3InstantiateScheduledExecution` of FMI 3.0: always null.
///
/// # Safety
/// Pointers are null or as the standard says.
#[allow(non_snake_case, clippy::too_many_arguments, reason = "the C function")]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _name: fmi3String,
    _token: fmi3String,
    _resource_path: fmi3String,
    _visible: fmi3Boolean,
    logging_on: fmi3Boolean,
    environment: fmi3InstanceEnvironment,
    log: fmi3LogMessageCallback,
    _clock_update: fmi3ClockUpdateCallback,
    _lock_preemption: fmi3PreemptionCallback,
    _unlock_preemption: fmi3PreemptionCallback,
) -> fmi3Instance {
    let logger = Logger::for_fmi3(log, environment, logging_on != fmi3False);
    hand_over("fmi3InstantiateScheduledExecution", &logger, || Err(NO_SCHEDULE.to_owned()))
}

/// # Safety
/// Strings are null or zero-terminated.
unsafe fn instantiate(
    function: &str,
    interface: Interface,
    [name, token, resource_path]: [fmi3String; 3],
    logger: &Arc<Logger>,
    prepare: impl FnOnce(&mut Instance) -> Result<(), String>,
) -> fmi3Instance {
    // SAFETY: as promised by the caller.
    let [name, token, path] = unsafe { [name, token, resource_path].map(|text| arguments::text(text)) };
    hand_over(function, logger, || {
        name.ok_or("instanceName is NULL")?;
        let mut instance = create(FmiVersion::Three, interface, token, path, logger)?;
        prepare(&mut instance)?;
        Ok(instance)
    })
}

/// `fmi3FreeInstance` of FMI 3.0.
///
/// # Safety
/// `instance` is null or from one of the functions that instantiate, and is not used afterwards.
#[allow(non_snake_case, reason = "the name of the C function")]
pub unsafe extern "C" fn fmi3FreeInstance(instance: fmi3Instance) {
    // SAFETY: the caller follows the standard.
    unsafe { guard::free(instance, Function::fmi3FreeInstance) }
}

/// `fmi3DoStep` of FMI 3.0.
///
/// # Safety
/// Pointers are null or as the standard says.
#[allow(non_snake_case, clippy::too_many_arguments, reason = "the C function")]
pub unsafe extern "C" fn fmi3DoStep(
    instance: fmi3Instance,
    point: f64,
    step: f64,
    _no_set_state_prior: fmi3Boolean,
    event_needed: *mut fmi3Boolean,
    terminate: *mut fmi3Boolean,
    early_return: *mut fmi3Boolean,
    last_successful_time: *mut f64,
) -> fmi3Status {
    // SAFETY: the caller follows the standard.
    unsafe {
        do_step3::do_step(instance, point, step, event_needed, terminate, early_return, last_successful_time)
    }
}
