//! The library of an FMU and its instances, through the C functions of FMI 3.0 co-simulation.

use super::FmuError;
use super::extract::ExtractedFmu;
use super::library::{CallError, Log, LogMessage, Status, Success, c_string, symbol, text};
use crate::description::{Element, Value};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::MAIN_SEPARATOR;
use std::ptr;

type Pointer = *mut c_void;
type Code = c_int;

type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    bool,
    bool,
    *const u32,
    usize,
    Pointer,
    unsafe extern "C" fn(Pointer, c_int, *const c_char, *const c_char),
    Pointer,
) -> Pointer;
type OnInstance = unsafe extern "C" fn(Pointer) -> Code;
type DoStep =
    unsafe extern "C" fn(Pointer, f64, f64, bool, *mut bool, *mut bool, *mut bool, *mut f64) -> Code;
type Get<T> = unsafe extern "C" fn(Pointer, *const u32, usize, *mut T, usize) -> Code;
type Set<T> = unsafe extern "C" fn(Pointer, *const u32, usize, *const T, usize) -> Code;

/// A loaded library.
pub struct Library3 {
    library: libloading::Library,
}

/// What a step has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// How far it came.
    pub reached: f64,
    /// Whether there is an event to be handled.
    pub event: bool,
    /// Whether the FMU wants to end the simulation.
    pub terminate: bool,
}

/// What an event has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Whether it goes on.
    pub again: bool,
    /// Whether the FMU wants to end the simulation.
    pub terminate: bool,
    /// Time of the next event that the FMU knows of.
    pub next: Option<f64>,
}

impl Library3 {
    /// Loads the library of an FMU for this machine.
    pub fn load(fmu: &ExtractedFmu) -> Result<Library3, FmuError> {
        let path = fmu.library()?;
        // SAFETY: loading runs the library's initialisation code; the user asked to run this FMU.
        let library = unsafe { libloading::Library::new(&path) }
            .map_err(|source| FmuError::Load { path: path.clone(), source })?;
        type GetVersion = unsafe extern "C" fn() -> *const c_char;
        // SAFETY: the type is that of the standard, and the function gives a constant string.
        let version = unsafe { text(symbol::<GetVersion>(&library, "fmi3GetVersion")?()) };
        if version != "3.0" && !version.starts_with("3.0.") && !version.starts_with("3.0-") {
            return Err(FmuError::WrongVersion { version, expected: "3.0" });
        }
        Ok(Library3 { library })
    }

    /// A new co-simulation instance. `logging` turns debug logging on, `events` event mode and early return.
    pub fn instantiate(
        &self,
        fmu: &ExtractedFmu,
        name: &str,
        (logging, events): (bool, bool),
        log: Log,
    ) -> Result<Instance3<'_>, FmuError> {
        const FUNCTION: &str = "fmi3InstantiateCoSimulation";
        // SAFETY: the type is that of the standard.
        let instantiate: Instantiate = unsafe { symbol(&self.library, FUNCTION) }?;
        let environment = Box::new(log);
        let mut path = fmu.resources().to_string_lossy().into_owned();
        path.push(MAIN_SEPARATOR);
        let (name, token, path) = (c_string(name), c_string(&fmu.description.guid), c_string(&path));
        // SAFETY: the strings live through the call, the log as long as the instance.
        let pointer = unsafe {
            instantiate(
                name.as_ptr(),
                token.as_ptr(),
                path.as_ptr(),
                false,
                logging,
                events,
                events,
                ptr::null(),
                0,
                (&raw const *environment).cast_mut().cast(),
                logger,
                ptr::null_mut(),
            )
        };
        if pointer.is_null() {
            return Err(FmuError::Instantiate { function: FUNCTION });
        }
        let mut arrays: HashMap<u32, Vec<Option<Value>>> = HashMap::new();
        for variable in &fmu.description.model_variables {
            arrays.entry(variable.value_reference).or_default().push(variable.start.clone());
        }
        Ok(Instance3 {
            library: self,
            pointer,
            initialized: false,
            lost: false,
            arrays,
            _environment: environment,
        })
    }
}

/// An instance of an FMU. Terminated and freed when dropped.
pub struct Instance3<'library> {
    library: &'library Library3,
    pointer: Pointer,
    /// Whether it has to be terminated before it is freed.
    initialized: bool,
    /// After fmi3Fatal no function may be called any more.
    lost: bool,
    /// What arrays were set to last, by reference: they are set as a whole.
    arrays: HashMap<u32, Vec<Option<Value>>>,
    _environment: Box<Log>,
}

/// Calls getter or setter of a type with the Rust type of its values.
macro_rules! for_type {
    ($name:expr, $call:ident($($argument:expr),*)) => {
        match $name {
            "Float64" => $call::<f64>($($argument),*),
            "Float32" => $call::<f32>($($argument),*),
            "Int8" => $call::<i8>($($argument),*),
            "UInt8" => $call::<u8>($($argument),*),
            "Int16" => $call::<i16>($($argument),*),
            "UInt16" => $call::<u16>($($argument),*),
            "Int32" => $call::<i32>($($argument),*),
            "UInt32" => $call::<u32>($($argument),*),
            "Int64" | "Enumeration" => $call::<i64>($($argument),*),
            "UInt64" => $call::<u64>($($argument),*),
            "Boolean" => $call::<Flag>($($argument),*),
            _ => $call::<Text>($($argument),*),
        }
    };
}

/// Names of the getter and setter of a type.
fn accessors(type_name: &str) -> [&'static str; 2] {
    match type_name {
        "Float64" => ["fmi3GetFloat64", "fmi3SetFloat64"],
        "Float32" => ["fmi3GetFloat32", "fmi3SetFloat32"],
        "Int8" => ["fmi3GetInt8", "fmi3SetInt8"],
        "UInt8" => ["fmi3GetUInt8", "fmi3SetUInt8"],
        "Int16" => ["fmi3GetInt16", "fmi3SetInt16"],
        "UInt16" => ["fmi3GetUInt16", "fmi3SetUInt16"],
        "Int32" => ["fmi3GetInt32", "fmi3SetInt32"],
        "UInt32" => ["fmi3GetUInt32", "fmi3SetUInt32"],
        "Int64" | "Enumeration" => ["fmi3GetInt64", "fmi3SetInt64"],
        "UInt64" => ["fmi3GetUInt64", "fmi3SetUInt64"],
        "Boolean" => ["fmi3GetBoolean", "fmi3SetBoolean"],
        _ => ["fmi3GetString", "fmi3SetString"],
    }
}

/// A value as the C functions have it.
trait Native: Sized + Clone {
    fn zero() -> Self;
    fn give(&self) -> Value;
    /// From a value of the right kind; `kept` holds what a pointer needs.
    fn take(value: &Value, kept: &mut Vec<CString>) -> Option<Self>;
}

macro_rules! native_numbers {
    ($variant:ident: $($type:ty),*) => {$(
        impl Native for $type {
            fn zero() -> $type {
                Default::default()
            }
            fn give(&self) -> Value {
                native_numbers!(@give $variant, *self)
            }
            fn take(value: &Value, _: &mut Vec<CString>) -> Option<$type> {
                native_numbers!(@take $variant, value, $type)
            }
        }
    )*};
    (@give Real, $value:expr) => { Value::Real($value.into()) };
    // What is larger than all signed numbers is shown as a real.
    (@give Integer, $value:expr) => {
        i64::try_from($value).map_or(Value::Real($value as f64), Value::Integer)
    };
    (@take Real, $value:expr, $type:ty) => {
        match $value {
            Value::Real(value) => Some(*value as $type),
            _ => None,
        }
    };
    (@take Integer, $value:expr, $type:ty) => {
        match $value {
            Value::Integer(value) => <$type>::try_from(*value).ok(),
            _ => None,
        }
    };
}

native_numbers!(Real: f64, f32);
native_numbers!(Integer: i8, u8, i16, u16, i32, u32, i64, u64);

/// A boolean of C, of which the FMU may write any byte.
#[derive(Clone)]
#[repr(transparent)]
struct Flag(u8);

impl Native for Flag {
    fn zero() -> Flag {
        Flag(0)
    }
    fn give(&self) -> Value {
        Value::Boolean(self.0 != 0)
    }
    fn take(value: &Value, _: &mut Vec<CString>) -> Option<Flag> {
        match value {
            Value::Boolean(value) => Some(Flag((*value).into())),
            _ => None,
        }
    }
}

/// A string of C.
#[derive(Clone)]
#[repr(transparent)]
struct Text(*const c_char);

impl Native for Text {
    fn zero() -> Text {
        Text(ptr::null())
    }
    fn give(&self) -> Value {
        // SAFETY: the FMU gives a C string or null, which lives until the next call.
        Value::String(unsafe { text(self.0) })
    }
    fn take(value: &Value, kept: &mut Vec<CString>) -> Option<Text> {
        let Value::String(value) = value else { return None };
        let value = CString::new(value.as_str()).ok()?;
        let pointer = value.as_ptr();
        kept.push(value);
        Some(Text(pointer))
    }
}

fn get<T: Native>(
    instance: &mut Instance3<'_>,
    function: &'static str,
    reference: u32,
    values: &mut Vec<Value>,
    count: usize,
) -> Result<Success, CallError> {
    let getter: Get<T> = instance.function(function)?;
    let mut native = vec![T::zero(); count];
    // SAFETY: a live instance, one reference, as many values as it has.
    let code = unsafe { getter(instance.pointer, &raw const reference, 1, native.as_mut_ptr(), count) };
    let success = instance.checked(function, code)?;
    values.clear();
    values.extend(native.iter().map(T::give));
    Ok(success)
}

fn set<T: Native>(
    instance: &mut Instance3<'_>,
    function: &'static str,
    type_name: &'static str,
    reference: u32,
    values: &[Value],
) -> Result<Success, CallError> {
    let setter: Set<T> = instance.function(function)?;
    let mut kept = Vec::new();
    let native = values
        .iter()
        .map(|value| {
            T::take(value, &mut kept).ok_or(CallError::OutOfRange {
                value: if let Value::Integer(value) = value { *value } else { 0 },
                type_name,
            })
        })
        .collect::<Result<Vec<T>, CallError>>()?;
    // SAFETY: a live instance, one reference, as many values as it has.
    let code = unsafe { setter(instance.pointer, &raw const reference, 1, native.as_ptr(), native.len()) };
    instance.checked(function, code)
}

impl Instance3<'_> {
    /// Turns debug logging of some categories on or off; no category stands for all.
    pub fn set_debug_logging(&mut self, on: bool, categories: &[&str]) -> Result<Success, CallError> {
        type Function = unsafe extern "C" fn(Pointer, bool, usize, *const *const c_char) -> Code;
        const NAME: &str = "fmi3SetDebugLogging";
        let function: Function = self.function(NAME)?;
        let categories: Vec<CString> = categories.iter().map(|category| c_string(category)).collect();
        let pointers: Vec<*const c_char> = categories.iter().map(|category| category.as_ptr()).collect();
        // SAFETY: a live instance and as many strings as said.
        let code = unsafe { function(self.pointer, on, pointers.len(), pointers.as_ptr()) };
        self.checked(NAME, code)
    }

    /// Enters initialization mode.
    pub fn enter_initialization_mode(
        &mut self,
        tolerance: Option<f64>,
        start: f64,
        stop: Option<f64>,
    ) -> Result<Success, CallError> {
        type Function = unsafe extern "C" fn(Pointer, bool, f64, f64, bool, f64) -> Code;
        const NAME: &str = "fmi3EnterInitializationMode";
        let function: Function = self.function(NAME)?;
        let (tolerance_given, stop_given) = (tolerance.is_some(), stop.is_some());
        let (tolerance, stop) = (tolerance.unwrap_or(0.0), stop.unwrap_or(0.0));
        // SAFETY: a live instance.
        let code = unsafe { function(self.pointer, tolerance_given, tolerance, start, stop_given, stop) };
        self.checked(NAME, code)
    }

    /// Leaves initialization mode: the instance can make steps.
    pub fn exit_initialization_mode(&mut self) -> Result<Success, CallError> {
        let success = self.simple("fmi3ExitInitializationMode")?;
        self.initialized = true;
        Ok(success)
    }

    /// Makes a step of length `step` from `time`.
    pub fn do_step(&mut self, time: f64, step: f64) -> Result<(Success, Step), CallError> {
        const NAME: &str = "fmi3DoStep";
        let function: DoStep = self.function(NAME)?;
        let (mut event, mut terminate, mut early, mut reached) = (false, false, false, time + step);
        // SAFETY: a live instance and places for what is written.
        let code = unsafe {
            let (event, terminate) = (&raw mut event, &raw mut terminate);
            function(self.pointer, time, step, true, event, terminate, &raw mut early, &raw mut reached)
        };
        let success = self.checked(NAME, code)?;
        // Only an early return says that the step has not come to its end.
        let reached = if early || terminate { reached } else { time + step };
        Ok((success, Step { reached, event, terminate }))
    }

    /// Enters event mode.
    pub fn enter_event_mode(&mut self) -> Result<Success, CallError> {
        self.simple("fmi3EnterEventMode")
    }

    /// Enters step mode, after an event or initialization with events.
    pub fn enter_step_mode(&mut self) -> Result<Success, CallError> {
        self.simple("fmi3EnterStepMode")
    }

    /// Goes on with an event.
    pub fn update_discrete_states(&mut self) -> Result<(Success, Update), CallError> {
        type Function = unsafe extern "C" fn(
            Pointer,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut bool,
            *mut f64,
        ) -> Code;
        const NAME: &str = "fmi3UpdateDiscreteStates";
        let function: Function = self.function(NAME)?;
        let (mut again, mut terminate, mut defined, mut time) = (false, false, false, 0.0);
        let (mut nominals, mut values) = (false, false);
        // SAFETY: a live instance and places for what is written.
        let code = unsafe {
            let (again, terminate) = (&raw mut again, &raw mut terminate);
            let (nominals, values) = (&raw mut nominals, &raw mut values);
            function(self.pointer, again, terminate, nominals, values, &raw mut defined, &raw mut time)
        };
        let success = self.checked(NAME, code)?;
        Ok((success, Update { again, terminate, next: defined.then_some(time) }))
    }

    /// Ends the simulation. Values can still be read.
    pub fn terminate(&mut self) -> Result<Success, CallError> {
        self.initialized = false;
        self.simple("fmi3Terminate")
    }

    /// All values of a variable.
    pub fn get(
        &mut self,
        reference: u32,
        element: &Element,
        values: &mut Vec<Value>,
    ) -> Result<Success, CallError> {
        let (name, count) = (accessors(element.fmi3_type)[0], element.elements as usize);
        for_type!(element.fmi3_type, get(self, name, reference, values, count))
    }

    /// Sets one value of a variable; the others stay what they were set to last, or their start values.
    pub fn set(&mut self, reference: u32, element: &Element, value: &Value) -> Result<Success, CallError> {
        let known = self.arrays.entry(reference).or_default();
        if let Some(place) = known.get_mut(element.element as usize) {
            *place = Some(value.clone());
        }
        let values: Vec<Value> =
            known.iter().map(|known| known.clone().unwrap_or_else(|| none_like(value))).collect();
        let (name, type_name) = (accessors(element.fmi3_type)[1], element.fmi3_type);
        for_type!(type_name, set(self, name, type_name, reference, &values))
    }

    /// The present state as bytes.
    pub fn saved_bytes(&mut self) -> Result<Vec<u8>, CallError> {
        type GetState = unsafe extern "C" fn(Pointer, *mut Pointer) -> Code;
        type Size = unsafe extern "C" fn(Pointer, Pointer, *mut usize) -> Code;
        type Serialize = unsafe extern "C" fn(Pointer, Pointer, *mut u8, usize) -> Code;
        let get: GetState = self.function("fmi3GetFMUState")?;
        let free: GetState = self.function("fmi3FreeFMUState")?;
        let size: Size = self.function("fmi3SerializedFMUStateSize")?;
        let serialize: Serialize = self.function("fmi3SerializeFMUState")?;
        let (mut state, mut length) = (ptr::null_mut(), 0);
        // SAFETY: a live instance, a place for a pointer, null for a new state.
        let code = unsafe { get(self.pointer, &raw mut state) };
        self.checked("fmi3GetFMUState", code)?;
        // SAFETY: a live instance, its state, a place for the size.
        let code = unsafe { size(self.pointer, state, &raw mut length) };
        let mut bytes = Vec::new();
        let mut result = self.checked("fmi3SerializedFMUStateSize", code);
        if result.is_ok() {
            bytes.resize(length, 0);
            // SAFETY: a live instance, its state, as many bytes as said.
            let code = unsafe { serialize(self.pointer, state, bytes.as_mut_ptr(), length) };
            result = self.checked("fmi3SerializeFMUState", code);
        }
        // SAFETY: a live instance and its state, which is not used any more.
        let code = unsafe { free(self.pointer, &raw mut state) };
        self.checked("fmi3FreeFMUState", code)?;
        result.map(|_| bytes)
    }

    fn simple(&mut self, name: &'static str) -> Result<Success, CallError> {
        let function: OnInstance = self.function(name)?;
        // SAFETY: a live instance.
        let code = unsafe { function(self.pointer) };
        self.checked(name, code)
    }

    fn checked(&mut self, function: &'static str, code: Code) -> Result<Success, CallError> {
        let status = Status::from(code);
        match status {
            Status::Ok => return Ok(Success::Done),
            Status::Warning => return Ok(Success::Warned),
            Status::Fatal => self.lost = true,
            Status::Error => self.initialized = false,
            _ => {}
        }
        Err(CallError::Status { function, status })
    }

    fn function<F: Copy>(&self, name: &'static str) -> Result<F, CallError> {
        // SAFETY: called with the type of the standard for the name.
        unsafe { symbol(&self.library.library, name) }.map_err(|_| CallError::Missing(name))
    }
}

/// What a value is where neither the user nor the FMU says.
fn none_like(value: &Value) -> Value {
    match value {
        Value::Real(_) => Value::Real(0.0),
        Value::Integer(_) => Value::Integer(0),
        Value::Boolean(_) => Value::Boolean(false),
        Value::String(_) => Value::String(String::new()),
    }
}

impl Drop for Instance3<'_> {
    fn drop(&mut self) {
        if self.initialized && !self.lost {
            let _ = self.terminate();
        }
        if self.lost {
            return;
        }
        if let Ok(free) = self.function::<unsafe extern "C" fn(Pointer)>("fmi3FreeInstance") {
            // SAFETY: the instance has not been freed, and no call follows.
            unsafe { free(self.pointer) };
        }
    }
}

/// Hands a message over to the log that the environment points to.
unsafe extern "C" fn logger(
    environment: Pointer,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the pointer was made from this type and lives as long as the instance.
    let Some(log) = (unsafe { environment.cast::<Log>().as_ref() }) else { return };
    // SAFETY: the FMU gives C strings or null.
    let (category, message) = unsafe { (text(category), text(message)) };
    log(LogMessage { status: status.into(), category, message });
}
