//! The C types of FMI 3.0, as in `fmi3PlatformTypes.h` and `fmi3FunctionTypes.h`.
//!
//! Booleans that the importer passes in are bytes here, as its enumerations are integers: a wrong number must not be
//! undefined behaviour.

#![allow(non_camel_case_types, non_upper_case_globals, reason = "the names are those of the C headers")]

use crate::abi::fmi2Status;
use std::ffi::{c_char, c_int, c_void};

/// Pointer to an instance.
pub type fmi3Instance = *mut c_void;
/// Pointer that callbacks get back.
pub type fmi3InstanceEnvironment = *mut c_void;
/// Pointer to a saved state.
pub type fmi3FMUState = *mut c_void;
/// Position in the variable table of the first component.
pub type fmi3ValueReference = u32;
/// Several of them.
pub type fmi3ValueReferences = *const fmi3ValueReference;
/// Zero is false.
pub type fmi3Boolean = u8;
/// Whether a clock ticks; zero is no.
pub type fmi3Clock = u8;
/// Zero-terminated UTF-8.
pub type fmi3String = *const c_char;
/// Bytes.
pub type fmi3Binary = *const u8;
/// Byte of a serialized state.
pub type fmi3Byte = u8;
/// Result of a call: the numbers are those of FMI 2.0.
pub type fmi3Status = fmi2Status;
/// How an output depends on a variable.
pub type fmi3DependencyKind = c_int;
/// What is known of the interval of a clock.
pub type fmi3IntervalQualifier = c_int;

/// False.
pub const fmi3False: fmi3Boolean = 0;
/// True.
pub const fmi3True: fmi3Boolean = 1;

/// Receives log messages.
pub type fmi3LogMessageCallback = Option<
    unsafe extern "C" fn(
        environment: fmi3InstanceEnvironment,
        status: fmi3Status,
        category: fmi3String,
        message: fmi3String,
    ),
>;

/// Is told of a part of a step, and may end it.
pub type fmi3IntermediateUpdateCallback = Option<
    unsafe extern "C" fn(
        environment: fmi3InstanceEnvironment,
        time: f64,
        set_requested: bool,
        get_allowed: bool,
        step_finished: bool,
        can_return_early: bool,
        early_return_requested: *mut fmi3Boolean,
        early_return_time: *mut f64,
    ),
>;

/// Told that a clock ticks. Not used by this library.
pub type fmi3ClockUpdateCallback = Option<unsafe extern "C" fn(environment: fmi3InstanceEnvironment)>;
/// Keeps others out or lets them in. Not used by this library.
pub type fmi3PreemptionCallback = Option<unsafe extern "C" fn()>;
