//! The C functions of the library as an importer calls them, and what must hold of every answer.

use crate::Entropy;
use crate::models::{Known, MODELS};
use contact_fmu::model::packed;
use contact_fmu::variables::{self, Kind, Variable};
use contact_fmu_runtime::abi::*;
use contact_fmu_runtime::*;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::{LazyLock, Mutex};
use tempfile::TempDir;

/// A model with its resources folder.
pub struct Prepared {
    /// The model.
    pub known: &'static Known,
    /// Its variables, by value reference.
    pub table: Vec<Variable>,
    /// References of all reals.
    pub reals: Vec<u32>,
    location: CString,
    guid: CString,
    folder: TempDir,
}

/// All models.
pub static PREPARED: LazyLock<Vec<Prepared>> = LazyLock::new(|| MODELS.iter().map(Prepared::new).collect());

/// Those that are made and step in microseconds, and the others.
static BY_SIZE: LazyLock<[Vec<usize>; 2]> = LazyLock::new(|| {
    let (quick, slow) = (0..PREPARED.len()).partition(|&index| PREPARED[index].is_quick());
    [quick, slow]
});

/// The place of any of the models in [`PREPARED`]: now and then of a large one.
pub fn any_model(entropy: &mut Entropy) -> usize {
    const LARGE: usize = 64;
    let [quick, large] = &*BY_SIZE;
    let models = if entropy.one_in(LARGE) { large } else { quick };
    *entropy.pick(models)
}

impl Prepared {
    /// Packs the model into a resources folder.
    pub fn new(known: &'static Known) -> Prepared {
        let folder = TempDir::with_prefix("resources-").expect("a folder");
        std::fs::write(folder.path().join(packed::FILE_NAME), packed::write(&known.model, &known.guid))
            .expect("the model is written");
        let table = variables::table(&known.model);
        let is_real = |vr: &u32| matches!(table[*vr as usize].kind, Kind::Real(_));
        Prepared {
            known,
            reals: (0..table.len() as u32).filter(is_real).collect(),
            table,
            location: CString::new(folder.path().to_str().expect("UTF-8")).expect("no zero"),
            guid: CString::new(known.guid.as_str()).expect("no zero"),
            folder,
        }
    }

    /// Whether it is made and steps in microseconds.
    pub fn is_quick(&self) -> bool {
        self.known.model.contacts.len() < 8 && self.known.model.nodes.len() < 8
    }

    /// Identifies the model.
    pub fn guid(&self) -> &CStr {
        &self.guid
    }

    /// The path of the resources folder.
    pub fn location(&self) -> &CStr {
        &self.location
    }

    /// The resources folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Value reference of a variable.
    pub fn reference(&self, name: &str) -> u32 {
        self.table.iter().position(|variable| variable.name == name).expect("a variable") as u32
    }
}

/// What an instance has logged.
#[derive(Default)]
pub struct Log {
    lines: Mutex<Vec<String>>,
}

unsafe extern "C" fn keep_line(
    environment: fmi2ComponentEnvironment,
    _: fmi2String,
    status: fmi2Status,
    _: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the environment that was given to fmi2Instantiate, and a zero-terminated string.
    let (log, message) = unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(message)) };
    let line = format!("{status:?}: {}", message.to_string_lossy());
    log.keep(line);
}

/// An instance and its log. Freed when dropped.
pub struct Client {
    /// The instance.
    pub component: fmi2Component,
    /// The model.
    pub prepared: &'static Prepared,
    /// For co-simulation, or else model exchange.
    pub co_simulation: bool,
    log: Box<Log>,
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: from fmi2Instantiate, not used afterwards.
        unsafe { fmi2FreeInstance(self.component) };
    }
}

/// Makes an instance from any arguments, with a log of its own.
pub fn instantiate(
    name: Option<&CStr>,
    kind: fmi2Type,
    guid: Option<&CStr>,
    location: Option<&CStr>,
) -> (fmi2Component, Box<Log>) {
    let log = Box::new(Log::default());
    (instantiate_with(name, kind, guid, location, &log), log)
}

/// Makes an instance from any arguments. The log has to live as long as the instance.
pub fn instantiate_with(
    name: Option<&CStr>,
    kind: fmi2Type,
    guid: Option<&CStr>,
    location: Option<&CStr>,
    log: &Log,
) -> fmi2Component {
    type Fixed =
        unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);
    let callbacks = fmi2CallbackFunctions {
        // SAFETY: the same named arguments, and none beyond them is ever passed.
        logger: unsafe { std::mem::transmute::<Fixed, fmi2CallbackLogger>(keep_line) },
        allocateMemory: None,
        freeMemory: None,
        stepFinished: None,
        componentEnvironment: (&raw const *log).cast_mut().cast(),
    };
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: pointers as the standard says; the log outlives the instance.
    unsafe {
        fmi2Instantiate(
            pointer(name),
            kind,
            pointer(guid),
            pointer(location),
            &callbacks,
            fmi2False,
            fmi2False,
        )
    }
}

impl Log {
    /// Keeps a line.
    pub fn keep(&self, line: String) {
        self.lines.lock().expect("no thread has panicked").push(line);
    }

    /// Lines since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("no thread has panicked"))
    }
}

impl Client {
    /// An instance of a model; none where it cannot be had, such as model exchange of iterative nodes.
    pub fn new(prepared: &'static Prepared, co_simulation: bool) -> Option<Client> {
        let kind = if co_simulation { fmi2CoSimulation } else { fmi2ModelExchange };
        let (component, log) =
            instantiate(Some(c"case"), kind, Some(&prepared.guid), Some(&prepared.location));
        if component.is_null() {
            let lines = log.take();
            assert!(!lines.is_empty() && !lines[0].contains("internal error"), "{lines:?}");
            return None;
        }
        Some(Client { component, prepared, co_simulation, log })
    }

    /// One in step mode, or at its first event.
    pub fn started(prepared: &'static Prepared, co_simulation: bool) -> Option<Client> {
        let client = Client::new(prepared, co_simulation)?;
        // SAFETY: a live instance.
        let statuses = unsafe {
            [
                fmi2SetupExperiment(client.component, fmi2False, 0.0, 0.0, fmi2False, 0.0),
                fmi2EnterInitializationMode(client.component),
                fmi2ExitInitializationMode(client.component),
            ]
        };
        assert_eq!(statuses, [fmi2Status::fmi2OK; 3], "{:?}", client.log.take());
        Some(client)
    }

    /// Checks the answer to a call: a documented status, a log line with all but fmi2OK, no internal error.
    pub fn check(&self, status: fmi2Status) -> fmi2Status {
        let lines = self.log.take();
        assert!(!lines.iter().any(|line| line.contains("internal error")), "{lines:?}");
        assert!(
            matches!(
                status,
                fmi2Status::fmi2OK
                    | fmi2Status::fmi2Warning
                    | fmi2Status::fmi2Discard
                    | fmi2Status::fmi2Error
            ),
            "{status:?}"
        );
        assert!(status == fmi2Status::fmi2OK || !lines.is_empty(), "{status:?} without a line");
        status
    }

    /// Everything that a saved state holds.
    pub fn bytes(&self) -> Vec<u8> {
        let mut state = null_mut();
        // SAFETY: a live instance, a place for the pointer, room for as many bytes as said.
        unsafe {
            assert_eq!(fmi2GetFMUstate(self.component, &mut state), fmi2Status::fmi2OK);
            let mut size = 0;
            assert_eq!(fmi2SerializedFMUstateSize(self.component, state, &mut size), fmi2Status::fmi2OK);
            let mut bytes = vec![0_u8; size];
            let status = fmi2SerializeFMUstate(self.component, state, bytes.as_mut_ptr().cast(), size);
            assert_eq!(status, fmi2Status::fmi2OK);
            assert_eq!(fmi2FreeFMUstate(self.component, &mut state), fmi2Status::fmi2OK);
            bytes
        }
    }

    /// A saved state from bytes.
    pub fn deserialize(&self, bytes: &[u8]) -> (fmi2Status, fmi2FMUstate) {
        let mut state = null_mut();
        // SAFETY: as many bytes as said.
        let status = unsafe {
            fmi2DeSerializeFMUstate(self.component, bytes.as_ptr().cast(), bytes.len(), &mut state)
        };
        (status, state)
    }

    /// All reals, each of which is a number where the answer is fmi2OK.
    pub fn read_all(&self) -> fmi2Status {
        let references = &self.prepared.reals;
        let mut values = vec![0.0; references.len()];
        // SAFETY: a live instance, as many references and values as said.
        let status = unsafe {
            fmi2GetReal(self.component, references.as_ptr(), references.len(), values.as_mut_ptr())
        };
        if status == fmi2Status::fmi2OK {
            let wrong = references.iter().zip(&values).find(|(_, value)| value.is_nan());
            if let Some((&reference, value)) = wrong {
                panic!("{} is {value}", self.prepared.table[reference as usize].name);
            }
        }
        status
    }

    /// One real; none where it cannot be read now.
    pub fn real(&self, reference: u32) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: a live instance, one reference, one value.
        let status = unsafe { fmi2GetReal(self.component, &reference, 1, &mut value) };
        (status == fmi2Status::fmi2OK).then_some(value)
    }
}
