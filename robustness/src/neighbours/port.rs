//! The FMU of a scene behind its C functions: of the library that is linked to this program, with a resources folder as
//! packaging writes it, or of the library that is packed into a whole FMU.

use crate::client::{self, Log};
use contact_fmu::master::library::{Instance, Library, Success};
use contact_fmu::model::{Model, packed};
use contact_fmu::package::guid::guid;
use contact_fmu_runtime::abi::*;
use contact_fmu_runtime::*;
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// What a call came to: warned or not, or the status that says that it failed.
pub type Answer = Result<bool, String>;

/// An instance of an FMU.
pub trait Port {
    /// Reads reals.
    fn reals(&mut self, references: &[u32], values: &mut [f64]) -> Answer;
    /// Reads integers.
    fn integers(&mut self, references: &[u32], values: &mut [i32]) -> Answer;
    /// Sets reals.
    fn set(&mut self, references: &[u32], values: &[f64]) -> Answer;
    /// Sets up and enters initialization mode.
    fn initialize(&mut self, start: f64) -> Answer;
    /// Leaves initialization mode.
    fn start(&mut self) -> Answer;
    /// A step.
    fn step(&mut self, time: f64, step: f64) -> Answer;
    /// The state as bytes.
    fn saved(&mut self) -> Result<Vec<u8>, String>;
    /// Back to a state.
    fn restore(&mut self, bytes: &[u8]) -> Answer;
    /// What was logged since the last call.
    fn lines(&mut self) -> Vec<String>;
}

/// A model with its resources folder.
pub struct Resources {
    location: CString,
    guid: CString,
    _folder: TempDir,
}

impl Resources {
    /// Packs a model.
    pub fn of(model: &Model) -> Resources {
        let folder = TempDir::with_prefix("neighbour-").expect("a folder");
        let guid = guid(model);
        std::fs::write(folder.path().join(packed::FILE_NAME), packed::write(model, &guid))
            .expect("the model is written");
        Resources {
            location: CString::new(folder.path().to_str().expect("UTF-8")).expect("no zero"),
            guid: CString::new(guid).expect("no zero"),
            _folder: folder,
        }
    }
}

/// An instance of the linked library.
pub struct Linked {
    component: fmi2Component,
    log: Box<Log>,
}

impl Linked {
    /// An instance; what was logged where there is none.
    pub fn new(resources: &Resources) -> Result<Linked, String> {
        let (component, log) = client::instantiate(
            Some(c"neighbour"),
            fmi2CoSimulation,
            Some(&resources.guid),
            Some(&resources.location),
        );
        if component.is_null() {
            return Err(format!("fmi2Instantiate: {}", log.take().join("; ")));
        }
        Ok(Linked { component, log })
    }

    fn answer(&self, function: &str, status: fmi2Status) -> Answer {
        match status {
            fmi2Status::fmi2OK => Ok(false),
            fmi2Status::fmi2Warning => Ok(true),
            status => Err(format!("{function}: {status:?}: {}", self.log.take().join("; "))),
        }
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: from fmi2Instantiate, not used afterwards.
        unsafe { fmi2FreeInstance(self.component) };
    }
}

impl Port for Linked {
    fn reals(&mut self, references: &[u32], values: &mut [f64]) -> Answer {
        // SAFETY: a live instance, as many references and values as said.
        let status = unsafe {
            fmi2GetReal(self.component, references.as_ptr(), references.len(), values.as_mut_ptr())
        };
        self.answer("fmi2GetReal", status)
    }

    fn integers(&mut self, references: &[u32], values: &mut [i32]) -> Answer {
        // SAFETY: a live instance, as many references and values as said.
        let status = unsafe {
            fmi2GetInteger(self.component, references.as_ptr(), references.len(), values.as_mut_ptr())
        };
        self.answer("fmi2GetInteger", status)
    }

    fn set(&mut self, references: &[u32], values: &[f64]) -> Answer {
        // SAFETY: a live instance, as many references and values as said.
        let status =
            unsafe { fmi2SetReal(self.component, references.as_ptr(), references.len(), values.as_ptr()) };
        self.answer("fmi2SetReal", status)
    }

    fn initialize(&mut self, start: f64) -> Answer {
        // SAFETY: a live instance.
        let statuses = unsafe {
            [
                fmi2SetupExperiment(self.component, fmi2False, 0.0, start, fmi2False, 0.0),
                fmi2EnterInitializationMode(self.component),
            ]
        };
        self.answer("fmi2SetupExperiment", statuses[0])?;
        self.answer("fmi2EnterInitializationMode", statuses[1])
    }

    fn start(&mut self) -> Answer {
        // SAFETY: a live instance.
        let status = unsafe { fmi2ExitInitializationMode(self.component) };
        self.answer("fmi2ExitInitializationMode", status)
    }

    fn step(&mut self, time: f64, step: f64) -> Answer {
        // SAFETY: a live instance.
        let status = unsafe { fmi2DoStep(self.component, time, step, fmi2True) };
        self.answer("fmi2DoStep", status)
    }

    fn saved(&mut self) -> Result<Vec<u8>, String> {
        let mut state = null_mut();
        let mut size = 0;
        // SAFETY: a live instance, a place for the pointer, room for as many bytes as said.
        unsafe {
            self.answer("fmi2GetFMUstate", fmi2GetFMUstate(self.component, &mut state))?;
            let status = fmi2SerializedFMUstateSize(self.component, state, &mut size);
            self.answer("fmi2SerializedFMUstateSize", status)?;
            let mut bytes = vec![0_u8; size];
            let status = fmi2SerializeFMUstate(self.component, state, bytes.as_mut_ptr().cast(), size);
            self.answer("fmi2SerializeFMUstate", status)?;
            self.answer("fmi2FreeFMUstate", fmi2FreeFMUstate(self.component, &mut state))?;
            Ok(bytes)
        }
    }

    fn restore(&mut self, bytes: &[u8]) -> Answer {
        let mut state = null_mut();
        // SAFETY: a live instance, as many bytes as said, a state of this instance.
        unsafe {
            let status =
                fmi2DeSerializeFMUstate(self.component, bytes.as_ptr().cast(), bytes.len(), &mut state);
            self.answer("fmi2DeSerializeFMUstate", status)?;
            self.answer("fmi2SetFMUstate", fmi2SetFMUstate(self.component, state))?;
            self.answer("fmi2FreeFMUstate", fmi2FreeFMUstate(self.component, &mut state))
        }
    }

    fn lines(&mut self) -> Vec<String> {
        self.log.take()
    }
}

/// An instance of the library in a whole FMU.
pub struct Packed<'library> {
    instance: Instance<'library>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl<'library> Packed<'library> {
    /// An instance; what went wrong where there is none.
    pub fn new(
        library: &'library Library,
        fmu: &contact_fmu::master::extract::ExtractedFmu,
    ) -> Result<Packed<'library>, String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let log = Box::new(move |line: contact_fmu::master::library::LogMessage| {
            kept.lock().expect("no thread has panicked").push(line.message);
        });
        let instance =
            library.instantiate(fmu, "neighbour", false, log).map_err(|error| error.to_string())?;
        Ok(Packed { instance, lines })
    }
}

fn answered(result: Result<Success, contact_fmu::master::library::CallError>) -> Answer {
    result.map(|success| success == Success::Warned).map_err(|error| error.to_string())
}

impl Port for Packed<'_> {
    fn reals(&mut self, references: &[u32], values: &mut [f64]) -> Answer {
        answered(self.instance.get_real(references, values))
    }

    fn integers(&mut self, references: &[u32], values: &mut [i32]) -> Answer {
        answered(self.instance.get_integer(references, values))
    }

    fn set(&mut self, references: &[u32], values: &[f64]) -> Answer {
        answered(self.instance.set_real(references, values))
    }

    fn initialize(&mut self, start: f64) -> Answer {
        answered(self.instance.setup_experiment(None, start, None))?;
        answered(self.instance.enter_initialization_mode())
    }

    fn start(&mut self) -> Answer {
        answered(self.instance.exit_initialization_mode())
    }

    fn step(&mut self, time: f64, step: f64) -> Answer {
        answered(self.instance.do_step(time, step))
    }

    fn saved(&mut self) -> Result<Vec<u8>, String> {
        self.instance.saved_bytes().map_err(|error| error.to_string())
    }

    fn restore(&mut self, bytes: &[u8]) -> Answer {
        let state = self.instance.deserialize_state(bytes).map_err(|error| error.to_string())?;
        answered(self.instance.restore_state(&state))?;
        answered(self.instance.free_state(state))
    }

    fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("no thread has panicked"))
    }
}
