//! The C types of FMI 2.0, as in `fmi2TypesPlatform.h` and `fmi2FunctionTypes.h`.
//!
//! Enumerations that the importer passes in are plain integers here: a wrong number must not be undefined
//! behaviour. The one that only this library writes is a Rust enum.

#![allow(non_camel_case_types, non_upper_case_globals, reason = "the names are those of the C headers")]

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Pointer to an instance.
pub type fmi2Component = *mut c_void;
/// Pointer that the logger gets back.
pub type fmi2ComponentEnvironment = *mut c_void;
/// Pointer to a saved state.
pub type fmi2FMUstate = *mut c_void;
/// Position in the variable table.
pub type fmi2ValueReference = c_uint;
/// Several of them.
pub type fmi2ValueReferences = *const fmi2ValueReference;
/// Real number.
pub type fmi2Real = f64;
/// Integer.
pub type fmi2Integer = c_int;
/// Zero is false.
pub type fmi2Boolean = c_int;
/// Zero-terminated UTF-8.
pub type fmi2String = *const c_char;
/// Byte of a serialized state.
pub type fmi2Byte = c_char;

/// False.
pub const fmi2False: fmi2Boolean = 0;
/// True.
pub const fmi2True: fmi2Boolean = 1;

/// Result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fmi2Status {
    /// Done.
    fmi2OK,
    /// Done, with a log line.
    fmi2Warning,
    /// Not done, nothing changed; other arguments may work.
    fmi2Discard,
    /// Not done.
    fmi2Error,
    /// All instances are lost. Never returned here.
    fmi2Fatal,
    /// Still running. Never returned here.
    fmi2Pending,
}

/// Kind of FMU.
pub type fmi2Type = c_int;
/// Model exchange.
pub const fmi2ModelExchange: fmi2Type = 0;
/// Co-simulation.
pub const fmi2CoSimulation: fmi2Type = 1;

/// What a status query asks for.
pub type fmi2StatusKind = c_int;
/// Status of a pending step.
pub const fmi2DoStepStatus: fmi2StatusKind = 0;
/// Text about a pending step.
pub const fmi2PendingStatus: fmi2StatusKind = 1;
/// End of the last step that succeeded.
pub const fmi2LastSuccessfulTime: fmi2StatusKind = 2;
/// Whether the FMU wants to end the simulation.
pub const fmi2Terminated: fmi2StatusKind = 3;

/// Receives log messages; `message` is a printf format.
pub type fmi2CallbackLogger = Option<
    unsafe extern "C" fn(
        environment: fmi2ComponentEnvironment,
        instance_name: fmi2String,
        status: fmi2Status,
        category: fmi2String,
        message: fmi2String,
        ...
    ),
>;
/// Allocates zeroed memory. Not used by this library.
pub type fmi2CallbackAllocateMemory = Option<unsafe extern "C" fn(count: usize, size: usize) -> *mut c_void>;
/// Frees memory. Not used by this library.
pub type fmi2CallbackFreeMemory = Option<unsafe extern "C" fn(memory: *mut c_void)>;
/// Told when a pending step ends. Not used by this library.
pub type fmi2StepFinished =
    Option<unsafe extern "C" fn(environment: fmi2ComponentEnvironment, status: fmi2Status)>;

/// What the importer offers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, reason = "the names are those of the C headers")]
pub struct fmi2CallbackFunctions {
    /// Receives log messages.
    pub logger: fmi2CallbackLogger,
    /// Allocates memory.
    pub allocateMemory: fmi2CallbackAllocateMemory,
    /// Frees memory.
    pub freeMemory: fmi2CallbackFreeMemory,
    /// Told when a pending step ends.
    pub stepFinished: fmi2StepFinished,
    /// Handed to the logger.
    pub componentEnvironment: fmi2ComponentEnvironment,
}

/// Result of an event iteration in model exchange.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, missing_docs, reason = "as in the C headers")]
pub struct fmi2EventInfo {
    pub newDiscreteStatesNeeded: fmi2Boolean,
    pub terminateSimulation: fmi2Boolean,
    pub nominalsOfContinuousStatesChanged: fmi2Boolean,
    pub valuesOfContinuousStatesChanged: fmi2Boolean,
    pub nextEventTimeDefined: fmi2Boolean,
    pub nextEventTime: fmi2Real,
}
