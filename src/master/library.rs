//! The library of an FMU and its instances, through the C functions of FMI 2.0 co-simulation.

use super::FmuError;
use super::extract::ExtractedFmu;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::path::Path;
use std::ptr;
use thiserror::Error;

type Component = *mut c_void;
type StatePointer = *mut c_void;
type Code = c_int;

/// Kind of instance that `fmi2Instantiate` is asked for.
const CO_SIMULATION: c_int = 1;
/// Status kind that asks for the last successful time.
const LAST_SUCCESSFUL_TIME: c_int = 2;
/// Status kind that asks whether the FMU has ended the simulation.
const TERMINATED: c_int = 3;

macro_rules! required_functions {
    ($($field:ident = $symbol:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that every simulation calls.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            /// The library is one of FMI 2.0.
            unsafe fn load(library: &libloading::Library) -> Result<Functions, FmuError> {
                $(
                    // SAFETY: the type is that of the standard.
                    let $field = unsafe { symbol(library, stringify!($symbol)) }?;
                )*
                Ok(Functions { $($field,)* })
            }
        }
    };
}

required_functions! {
    get_version = fmi2GetVersion() -> *const c_char;
    set_debug_logging = fmi2SetDebugLogging(Component, c_int, usize, *const *const c_char) -> Code;
    instantiate = fmi2Instantiate(
        *const c_char, c_int, *const c_char, *const c_char, *const CallbackFunctions, c_int, c_int
    ) -> Component;
    free_instance = fmi2FreeInstance(Component);
    setup_experiment = fmi2SetupExperiment(Component, c_int, f64, f64, c_int, f64) -> Code;
    enter_initialization_mode = fmi2EnterInitializationMode(Component) -> Code;
    exit_initialization_mode = fmi2ExitInitializationMode(Component) -> Code;
    terminate = fmi2Terminate(Component) -> Code;
    get_real = fmi2GetReal(Component, *const c_uint, usize, *mut f64) -> Code;
    get_integer = fmi2GetInteger(Component, *const c_uint, usize, *mut c_int) -> Code;
    get_boolean = fmi2GetBoolean(Component, *const c_uint, usize, *mut c_int) -> Code;
    get_string = fmi2GetString(Component, *const c_uint, usize, *mut *const c_char) -> Code;
    set_real = fmi2SetReal(Component, *const c_uint, usize, *const f64) -> Code;
    set_integer = fmi2SetInteger(Component, *const c_uint, usize, *const c_int) -> Code;
    set_boolean = fmi2SetBoolean(Component, *const c_uint, usize, *const c_int) -> Code;
    set_string = fmi2SetString(Component, *const c_uint, usize, *const *const c_char) -> Code;
    do_step = fmi2DoStep(Component, f64, f64, c_int) -> Code;
}

// Functions that an FMU may leave out; looked up when they are called.
type Reset = unsafe extern "C" fn(Component) -> Code;
type GetState = unsafe extern "C" fn(Component, *mut StatePointer) -> Code;
type SetState = unsafe extern "C" fn(Component, StatePointer) -> Code;
type FreeState = unsafe extern "C" fn(Component, *mut StatePointer) -> Code;
type SerializedSize = unsafe extern "C" fn(Component, StatePointer, *mut usize) -> Code;
type Serialize = unsafe extern "C" fn(Component, StatePointer, *mut c_char, usize) -> Code;
type Deserialize = unsafe extern "C" fn(Component, *const c_char, usize, *mut StatePointer) -> Code;
type DirectionalDerivative =
    unsafe extern "C" fn(Component, *const c_uint, usize, *const c_uint, usize, *const f64, *mut f64) -> Code;
type SetInputDerivatives =
    unsafe extern "C" fn(Component, *const c_uint, usize, *const c_int, *const f64) -> Code;
type GetRealStatus = unsafe extern "C" fn(Component, c_int, *mut f64) -> Code;
type GetBooleanStatus = unsafe extern "C" fn(Component, c_int, *mut c_int) -> Code;

#[repr(C)]
struct CallbackFunctions {
    logger: unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...),
    allocate_memory: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    free_memory: unsafe extern "C" fn(*mut c_void),
    step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    component_environment: *mut c_void,
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Status that an FMI function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the FMI standard")]
pub enum Status {
    Ok,
    Warning,
    Discard,
    Error,
    Fatal,
    Pending,
    /// Not a status of the standard.
    Unknown(c_int),
}

impl From<c_int> for Status {
    fn from(code: c_int) -> Status {
        match code {
            0 => Status::Ok,
            1 => Status::Warning,
            2 => Status::Discard,
            3 => Status::Error,
            4 => Status::Fatal,
            5 => Status::Pending,
            code => Status::Unknown(code),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Ok => f.write_str("fmi2OK"),
            Status::Unknown(code) => write!(f, "the unknown status {code}"),
            status => write!(f, "fmi2{status:?}"),
        }
    }
}

/// A call that did what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// Without complaint.
    Done,
    /// With fmi2Warning.
    Warned,
}

/// A call that failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// The function returned a status above fmi2Warning.
    #[error("{function} returned {status}")]
    Status {
        /// C function.
        function: &'static str,
        /// What it returned.
        status: Status,
    },
    /// The library does not have the function.
    #[error("the library lacks the function {0}")]
    Missing(&'static str),
    /// The value does not fit into the type of the variable.
    #[error("{value} does not fit into a variable of type {type_name}")]
    OutOfRange {
        /// Value.
        value: i64,
        /// Type.
        type_name: &'static str,
    },
}

/// A line that an FMU logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMessage {
    /// Status that the message goes with.
    pub status: Status,
    /// Log category.
    pub category: String,
    /// Text.
    pub message: String,
}

/// Receives what an FMU logs, from whatever thread it logs.
pub type Log = Box<dyn Fn(LogMessage) + Send + Sync>;

/// A loaded library.
pub struct Library {
    // Dropped after the function pointers into it.
    functions: Functions,
    library: libloading::Library,
}

impl Library {
    /// Loads the library of an FMU for this machine.
    pub fn load(fmu: &ExtractedFmu) -> Result<Library, FmuError> {
        let path = fmu.library()?;
        // SAFETY: loading runs the library's initialisation code; the user asked to run this FMU.
        let library = unsafe { libloading::Library::new(&path) }
            .map_err(|source| FmuError::Load { path: path.clone(), source })?;
        // SAFETY: the description says that it is an FMU of FMI 2.0.
        let functions = unsafe { Functions::load(&library) }?;
        // SAFETY: the function has no preconditions and gives a constant string.
        let version = unsafe { text((functions.get_version)()) };
        if version != "2.0" {
            return Err(FmuError::WrongVersion { version, expected: "2.0" });
        }
        Ok(Library { functions, library })
    }

    /// A new co-simulation instance. `logging` turns debug logging on.
    pub fn instantiate(
        &self,
        fmu: &ExtractedFmu,
        name: &str,
        logging: bool,
        log: Log,
    ) -> Result<Instance<'_>, FmuError> {
        let environment = Box::new(log);
        let callbacks = Box::new(CallbackFunctions {
            // SAFETY: `logger` reads the fixed arguments only, and on the platforms of FMI 2.0 these are passed
            // to a function with variable arguments as to one without.
            logger: unsafe {
                std::mem::transmute::<
                    unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char),
                    unsafe extern "C" fn(
                        *mut c_void,
                        *const c_char,
                        c_int,
                        *const c_char,
                        *const c_char,
                        ...
                    ),
                >(logger)
            },
            allocate_memory: calloc,
            free_memory: free,
            step_finished: None,
            component_environment: (&raw const *environment).cast_mut().cast(),
        });
        let name = c_string(name);
        let guid = c_string(&fmu.description.guid);
        let resources = c_string(&file_uri(&fmu.resources()));
        // SAFETY: the strings live through the call, the callbacks as long as the instance.
        let component = unsafe {
            (self.functions.instantiate)(
                name.as_ptr(),
                CO_SIMULATION,
                guid.as_ptr(),
                resources.as_ptr(),
                &raw const *callbacks,
                0,
                logging.into(),
            )
        };
        if component.is_null() {
            return Err(FmuError::Instantiate { function: "fmi2Instantiate" });
        }
        Ok(Instance {
            library: self,
            component,
            phase: Phase::Instantiated,
            states: Vec::new(),
            _callbacks: callbacks,
            _environment: environment,
        })
    }
}

/// Where an instance is in its life, as far as freeing it depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Instantiated,
    Initialized,
    /// Terminated or in error: only to be freed.
    Ended,
    /// After fmi2Fatal no function may be called any more.
    Fatal,
}

/// An instance of an FMU. Terminated and freed when dropped.
pub struct Instance<'library> {
    library: &'library Library,
    component: Component,
    phase: Phase,
    states: Vec<StatePointer>,
    _callbacks: Box<CallbackFunctions>,
    _environment: Box<Log>,
}

/// A saved state of one instance, which frees it at its own end at the latest.
#[derive(Debug)]
pub struct SavedState(StatePointer);

impl Instance<'_> {
    /// Turns debug logging of some categories on or off; no category stands for all.
    pub fn set_debug_logging(&mut self, on: bool, categories: &[&str]) -> Result<Success, CallError> {
        let categories: Vec<CString> = categories.iter().map(|category| c_string(category)).collect();
        let pointers: Vec<*const c_char> = categories.iter().map(|category| category.as_ptr()).collect();
        // SAFETY: a live instance and as many strings as said.
        let code = unsafe {
            (self.library.functions.set_debug_logging)(
                self.component,
                on.into(),
                pointers.len(),
                pointers.as_ptr(),
            )
        };
        self.checked("fmi2SetDebugLogging", code)
    }

    /// Announces start time, stop time and tolerance.
    pub fn setup_experiment(
        &mut self,
        tolerance: Option<f64>,
        start: f64,
        stop: Option<f64>,
    ) -> Result<Success, CallError> {
        // SAFETY: a live instance.
        let code = unsafe {
            (self.library.functions.setup_experiment)(
                self.component,
                tolerance.is_some().into(),
                tolerance.unwrap_or(0.0),
                start,
                stop.is_some().into(),
                stop.unwrap_or(0.0),
            )
        };
        self.checked("fmi2SetupExperiment", code)
    }

    /// Enters initialization mode.
    pub fn enter_initialization_mode(&mut self) -> Result<Success, CallError> {
        // SAFETY: a live instance.
        let code = unsafe { (self.library.functions.enter_initialization_mode)(self.component) };
        self.checked("fmi2EnterInitializationMode", code)
    }

    /// Leaves initialization mode: the instance can make steps.
    pub fn exit_initialization_mode(&mut self) -> Result<Success, CallError> {
        // SAFETY: a live instance.
        let code = unsafe { (self.library.functions.exit_initialization_mode)(self.component) };
        let success = self.checked("fmi2ExitInitializationMode", code)?;
        self.phase = Phase::Initialized;
        Ok(success)
    }

    /// Makes a step of length `step` from `time`.
    pub fn do_step(&mut self, time: f64, step: f64) -> Result<Success, CallError> {
        // SAFETY: a live instance.
        let code = unsafe { (self.library.functions.do_step)(self.component, time, step, 1) };
        self.checked("fmi2DoStep", code)
    }

    /// How far the last step came that was discarded, if the FMU says.
    pub fn last_successful_time(&mut self) -> Option<f64> {
        let function: GetRealStatus = self.optional("fmi2GetRealStatus").ok()?;
        let mut time = f64::NAN;
        // SAFETY: a live instance and room for one value.
        let code = unsafe { function(self.component, LAST_SUCCESSFUL_TIME, &raw mut time) };
        self.checked("fmi2GetRealStatus", code).ok().map(|_| time)
    }

    /// Whether the last step was discarded because the FMU wants to end the simulation.
    pub fn wants_to_end(&mut self) -> bool {
        let Ok(function) = self.optional::<GetBooleanStatus>("fmi2GetBooleanStatus") else { return false };
        let mut terminated = 0;
        // SAFETY: a live instance and room for one value.
        let code = unsafe { function(self.component, TERMINATED, &raw mut terminated) };
        self.checked("fmi2GetBooleanStatus", code).is_ok() && terminated != 0
    }

    /// Ends the simulation. Values can still be read.
    pub fn terminate(&mut self) -> Result<Success, CallError> {
        self.phase = Phase::Ended;
        // SAFETY: a live instance.
        let code = unsafe { (self.library.functions.terminate)(self.component) };
        self.checked("fmi2Terminate", code)
    }

    /// Back to the state after instantiation.
    pub fn reset(&mut self) -> Result<Success, CallError> {
        let function: Reset = self.optional("fmi2Reset")?;
        // SAFETY: a live instance.
        let code = unsafe { function(self.component) };
        let success = self.checked("fmi2Reset", code)?;
        self.phase = Phase::Instantiated;
        Ok(success)
    }

    /// Reads reals.
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.get_real)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_mut_ptr(),
            )
        };
        self.checked("fmi2GetReal", code)
    }

    /// Reads integers and enumerations.
    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.get_integer)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_mut_ptr(),
            )
        };
        self.checked("fmi2GetInteger", code)
    }

    /// Reads booleans, as FMI's 0 and 1.
    pub fn get_boolean(&mut self, references: &[u32], values: &mut [i32]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.get_boolean)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_mut_ptr(),
            )
        };
        self.checked("fmi2GetBoolean", code)
    }

    /// Reads strings.
    pub fn get_string(&mut self, references: &[u32], values: &mut [String]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        let mut pointers = vec![ptr::null(); references.len()];
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.get_string)(
                self.component,
                references.as_ptr(),
                references.len(),
                pointers.as_mut_ptr(),
            )
        };
        let success = self.checked("fmi2GetString", code)?;
        for (value, pointer) in values.iter_mut().zip(pointers) {
            // SAFETY: the FMU's strings are valid until its next call.
            *value = unsafe { text(pointer) };
        }
        Ok(success)
    }

    /// Writes reals.
    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.set_real)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_ptr(),
            )
        };
        self.checked("fmi2SetReal", code)
    }

    /// Writes integers and enumerations.
    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.set_integer)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_ptr(),
            )
        };
        self.checked("fmi2SetInteger", code)
    }

    /// Writes booleans, as FMI's 0 and 1.
    pub fn set_boolean(&mut self, references: &[u32], values: &[i32]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            (self.library.functions.set_boolean)(
                self.component,
                references.as_ptr(),
                references.len(),
                values.as_ptr(),
            )
        };
        self.checked("fmi2SetBoolean", code)
    }

    /// Writes strings.
    pub fn set_string(&mut self, references: &[u32], values: &[&CStr]) -> Result<Success, CallError> {
        assert_eq!(references.len(), values.len());
        let pointers: Vec<*const c_char> = values.iter().map(|value| value.as_ptr()).collect();
        // SAFETY: a live instance, as many references and strings as said.
        let code = unsafe {
            (self.library.functions.set_string)(
                self.component,
                references.as_ptr(),
                references.len(),
                pointers.as_ptr(),
            )
        };
        self.checked("fmi2SetString", code)
    }

    /// Writes time derivatives of real inputs, of the order given with each.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<Success, CallError> {
        assert!(references.len() == orders.len() && references.len() == values.len());
        let function: SetInputDerivatives = self.optional("fmi2SetRealInputDerivatives")?;
        // SAFETY: a live instance, as many references, orders and values as said.
        let code = unsafe {
            function(self.component, references.as_ptr(), references.len(), orders.as_ptr(), values.as_ptr())
        };
        self.checked("fmi2SetRealInputDerivatives", code)
    }

    /// Derivative of `unknowns` when `knowns` move along `seed`.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
    ) -> Result<Vec<f64>, CallError> {
        assert_eq!(knowns.len(), seed.len());
        let function: DirectionalDerivative = self.optional("fmi2GetDirectionalDerivative")?;
        let mut derivative = vec![f64::NAN; unknowns.len()];
        // SAFETY: a live instance, as many references and values as said.
        let code = unsafe {
            function(
                self.component,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seed.as_ptr(),
                derivative.as_mut_ptr(),
            )
        };
        self.checked("fmi2GetDirectionalDerivative", code)?;
        Ok(derivative)
    }

    /// Saves the state.
    pub fn save_state(&mut self) -> Result<SavedState, CallError> {
        let function: GetState = self.optional("fmi2GetFMUstate")?;
        let mut state = ptr::null_mut();
        // SAFETY: a live instance and room for one pointer, null for a new state.
        let code = unsafe { function(self.component, &raw mut state) };
        self.checked("fmi2GetFMUstate", code)?;
        self.states.push(state);
        Ok(SavedState(state))
    }

    /// Goes back to a state of this instance.
    pub fn restore_state(&mut self, state: &SavedState) -> Result<Success, CallError> {
        let function: SetState = self.optional("fmi2SetFMUstate")?;
        self.assert_own(state);
        // SAFETY: a live instance and a state of its own that has not been freed.
        let code = unsafe { function(self.component, state.0) };
        self.checked("fmi2SetFMUstate", code)
    }

    /// Frees a state of this instance.
    pub fn free_state(&mut self, state: SavedState) -> Result<Success, CallError> {
        let function: FreeState = self.optional("fmi2FreeFMUstate")?;
        self.assert_own(&state);
        self.states.retain(|&own| own != state.0);
        let mut pointer = state.0;
        // SAFETY: a live instance and a state of its own that has not been freed.
        let code = unsafe { function(self.component, &raw mut pointer) };
        self.checked("fmi2FreeFMUstate", code)
    }

    /// A state of this instance as bytes.
    pub fn serialize_state(&mut self, state: &SavedState) -> Result<Vec<u8>, CallError> {
        let size: SerializedSize = self.optional("fmi2SerializedFMUstateSize")?;
        let serialize: Serialize = self.optional("fmi2SerializeFMUstate")?;
        self.assert_own(state);
        let mut length = 0;
        // SAFETY: a live instance, a state of its own, room for one value.
        let code = unsafe { size(self.component, state.0, &raw mut length) };
        self.checked("fmi2SerializedFMUstateSize", code)?;
        let mut bytes = vec![0; length];
        // SAFETY: a live instance, a state of its own, as many bytes as said.
        let code = unsafe { serialize(self.component, state.0, bytes.as_mut_ptr().cast(), length) };
        self.checked("fmi2SerializeFMUstate", code)?;
        Ok(bytes)
    }

    /// The present state as bytes.
    pub fn saved_bytes(&mut self) -> Result<Vec<u8>, CallError> {
        let state = self.save_state()?;
        let bytes = self.serialize_state(&state);
        self.free_state(state)?;
        bytes
    }

    /// A state from bytes, which may come from another process.
    pub fn deserialize_state(&mut self, bytes: &[u8]) -> Result<SavedState, CallError> {
        let function: Deserialize = self.optional("fmi2DeSerializeFMUstate")?;
        let mut state = ptr::null_mut();
        // SAFETY: a live instance, as many bytes as said, room for one pointer.
        let code = unsafe { function(self.component, bytes.as_ptr().cast(), bytes.len(), &raw mut state) };
        self.checked("fmi2DeSerializeFMUstate", code)?;
        self.states.push(state);
        Ok(SavedState(state))
    }

    fn assert_own(&self, state: &SavedState) {
        assert!(self.states.contains(&state.0), "the state belongs to another instance");
    }

    fn checked(&mut self, function: &'static str, code: Code) -> Result<Success, CallError> {
        let status = Status::from(code);
        match status {
            Status::Ok => return Ok(Success::Done),
            Status::Warning => return Ok(Success::Warned),
            Status::Fatal => self.phase = Phase::Fatal,
            Status::Error if self.phase == Phase::Initialized => self.phase = Phase::Ended,
            _ => {}
        }
        Err(CallError::Status { function, status })
    }

    fn optional<F: Copy>(&self, name: &'static str) -> Result<F, CallError> {
        // SAFETY: called with the type of the standard for the name.
        unsafe { symbol(&self.library.library, name) }.map_err(|_| CallError::Missing(name))
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        if self.phase == Phase::Fatal {
            return;
        }
        if let Ok(function) = self.optional::<FreeState>("fmi2FreeFMUstate") {
            for state in &mut self.states {
                // SAFETY: a live instance and a state of its own that has not been freed.
                unsafe { function(self.component, &raw mut *state) };
            }
        }
        if self.phase == Phase::Initialized && self.terminate().is_err() && self.phase == Phase::Fatal {
            return;
        }
        // SAFETY: the instance has not been freed, and no call follows.
        unsafe { (self.library.functions.free_instance)(self.component) };
    }
}

/// # Safety
/// `F` is the type of the function.
pub(super) unsafe fn symbol<F: Copy>(
    library: &libloading::Library,
    name: &'static str,
) -> Result<F, FmuError> {
    // SAFETY: the caller gives the function's type.
    unsafe { library.get::<F>(name) }
        .map(|symbol| *symbol)
        .map_err(|_| FmuError::MissingFunction { function: name })
}

/// Hands a message over to the log that the environment points to. The message is a format string, whose
/// further arguments cannot be read here: only `%%` is replaced.
unsafe extern "C" fn logger(
    environment: *mut c_void,
    _instance: *const c_char,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the pointer was made from this type and lives as long as the instance.
    let Some(log) = (unsafe { environment.cast::<Log>().as_ref() }) else { return };
    // SAFETY: the FMU gives C strings or null.
    let (category, message) = unsafe { (text(category), text(message)) };
    log(LogMessage { status: status.into(), category, message: message.replace("%%", "%") });
}

/// # Safety
/// `pointer` is null or a C string.
pub(super) unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: a C string, as the caller says.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

pub(super) fn c_string(text: &str) -> CString {
    CString::new(text).expect("XML, paths and literals have no NUL")
}

/// `file:///` and the path, percent-encoded.
fn file_uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/:._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_encoded() {
        assert_eq!(file_uri(Path::new("/some/a b/100%/\u{fc}")), "file:///some/a%20b/100%25/%C3%BC");
        assert_eq!(file_uri(Path::new("C:\\fmu\\x")), "file:///C:/fmu/x");
    }
}
