//! FMUs of models, built, loaded through the C interface and timed.

#![allow(dead_code, reason = "every benchmark uses a part of it")]

use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::master::extract::FmuFile;
use contact_fmu::model::file;
use contact_fmu::{package, variables};
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::time::Instant;

/// fmi2DoStep.
pub type DoStep = unsafe extern "C" fn(*mut c_void, f64, f64, c_int) -> c_int;
type Plain = unsafe extern "C" fn(*mut c_void) -> c_int;
type Setup = unsafe extern "C" fn(*mut c_void, c_int, f64, f64, c_int, f64) -> c_int;
/// fmi2FreeInstance.
pub type Free = unsafe extern "C" fn(*mut c_void);
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *const c_char,
    *const c_char,
    *const c_void,
    c_int,
    c_int,
) -> *mut c_void;

/// Nanoseconds per step.
pub fn time(do_step: DoStep, component: *mut c_void, step: f64, steps: usize) -> f64 {
    let start = Instant::now();
    for k in 0..steps {
        // SAFETY: a live component of the library that the function comes from.
        let status = unsafe { do_step(component, k as f64 * step, step, 1) };
        assert_eq!(status, 0);
    }
    start.elapsed().as_secs_f64() * 1e9 / steps as f64
}

/// Steps in a part of a run that is timed by itself: the fastest run of each part is what other processes have not
/// disturbed.
pub const PART: usize = 20;

/// Takes the fastest of what was measured of each part so far, and now.
pub fn keep_fastest(fastest: &mut Vec<f64>, now: Vec<f64>) {
    fastest.resize(now.len(), f64::INFINITY);
    for (fastest, now) in fastest.iter_mut().zip(now) {
        *fastest = fastest.min(now);
    }
}

/// Mean of the parts.
pub fn mean(parts: &[f64]) -> f64 {
    parts.iter().sum::<f64>() / parts.len() as f64
}

/// A built, extracted and loaded FMU.
pub struct Fmu {
    /// Its library.
    pub library: Library,
    guid: CString,
    resources: CString,
    /// Names of its variables, by value reference.
    pub variables: Vec<String>,
    _extracted: contact_fmu::master::extract::ExtractedFmu,
    _folder: tempfile::TempDir,
}

impl Fmu {
    /// The FMU of a model of the repository.
    pub fn build(name: &str) -> Fmu {
        Fmu::build_with(name, "", "")
    }

    /// The FMU of a model with a part of its text replaced.
    pub fn build_with(name: &str, old: &str, new: &str) -> Fmu {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(root.join(format!("models/{name}/model.toml"))).unwrap();
        Fmu::of_text(&text.replacen(old, new, 1))
    }

    /// The FMU of a model file's text.
    pub fn of_text(text: &str) -> Fmu {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.toml");
        std::fs::write(&model, text).unwrap();
        let source = file::read(&model).unwrap();
        let path = folder.path().join("bench.fmu");
        std::fs::write(&path, package::build(&source, FmiVersion::Two, &[]).unwrap()).unwrap();
        let extracted = FmuFile::open(&path).unwrap().extract().unwrap();
        let guid = CString::new(package::guid::guid(&source.model)).unwrap();
        let variables = variables::table(&source.model).into_iter().map(|variable| variable.name).collect();
        let resources = CString::new(format!("file://{}", extracted.resources().display())).unwrap();
        // SAFETY: our own library has no initializers.
        let library = unsafe { Library::new(extracted.library().unwrap()) }.unwrap();
        Fmu { library, guid, resources, variables, _extracted: extracted, _folder: folder }
    }

    /// A new instance.
    pub fn instantiate(&self) -> *mut c_void {
        // SAFETY: the signature of FMI 2.0; callbacks may be null for our FMU.
        unsafe {
            let instantiate = self.library.get::<Instantiate>(b"fmi2Instantiate\0").unwrap();
            let name = c"bench".as_ptr();
            let (guid, resources) = (self.guid.as_ptr(), self.resources.as_ptr());
            let component = instantiate(name, 1, guid, resources, std::ptr::null(), 0, 0);
            assert!(!component.is_null());
            component
        }
    }

    /// Frees an instance.
    pub fn free(&self, component: *mut c_void) {
        // SAFETY: from `instantiate`, freed once.
        unsafe { self.library.get::<Free>(b"fmi2FreeInstance\0").unwrap()(component) }
    }

    /// An instance in step mode and its fmi2DoStep.
    pub fn ready(&self) -> (*mut c_void, DoStep) {
        let component = self.instantiate();
        // SAFETY: the signatures of FMI 2.0 on a live component.
        let do_step = unsafe {
            let plain = |name: &[u8]| assert_eq!(self.library.get::<Plain>(name).unwrap()(component), 0);
            let setup = self.library.get::<Setup>(b"fmi2SetupExperiment\0").unwrap();
            assert_eq!(setup(component, 0, 0.0, 0.0, 0, 0.0), 0);
            plain(b"fmi2EnterInitializationMode\0");
            plain(b"fmi2ExitInitializationMode\0");
            *self.library.get::<DoStep>(b"fmi2DoStep\0").unwrap()
        };
        (component, do_step)
    }

    /// Nanoseconds per step of a fresh run: flight, impacts, rest.
    pub fn time_steps(&self, step: f64, steps: usize) -> f64 {
        let (component, do_step) = self.ready();
        let nanoseconds = time(do_step, component, step, steps);
        self.free(component);
        nanoseconds
    }

    /// The same part by part.
    pub fn time_parts(&self, step: f64, steps: usize) -> Vec<f64> {
        let (component, do_step) = self.ready();
        let parts = (0..steps / PART).map(|part| {
            let start = Instant::now();
            for k in part * PART..(part + 1) * PART {
                // SAFETY: a live component of the library that the function comes from.
                let status = unsafe { do_step(component, k as f64 * step, step, 1) };
                assert_eq!(status, 0);
            }
            start.elapsed().as_secs_f64() * 1e9 / PART as f64
        });
        let parts = parts.collect();
        self.free(component);
        parts
    }

    /// Seconds of an instantiation.
    pub fn time_instantiation(&self) -> f64 {
        let start = Instant::now();
        let component = self.instantiate();
        let seconds = start.elapsed().as_secs_f64();
        self.free(component);
        seconds
    }
}
