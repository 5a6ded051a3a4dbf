//! A model, and its FMU as it is unpacked for simulations.

use crate::failure;
use crate::result::Run;
use contact_fmu::fmi_version::FmiVersion;
use contact_fmu::master::FmuError;
use contact_fmu::master::csv::Table;
use contact_fmu::master::extract::{ExtractedFmu, THIS_PLATFORM};
use contact_fmu::master::library::Library;
use contact_fmu::master::simulate::{Observer, Options, SimulationError};
use contact_fmu::model::diagnostics::ModelFileError;
use contact_fmu::model::file::{self, SourceModel};
use contact_fmu::package::{self, PackageError, entries::Entry};
use contact_fmu::report::recorder;
use contact_fmu::{description::Value, output_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at whether the user has pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// A model file, right or wrong.
#[pyclass(frozen, module = "contact_fmu._native")]
pub struct Model {
    text: String,
    /// Name of the file in messages; files that the model names are beside it.
    origin: String,
    read: Result<Arc<SourceModel>, ModelFileError>,
    unpacked: Mutex<Option<Arc<Unpacked>>>,
}

#[pymethods]
impl Model {
    #[new]
    fn new(py: Python<'_>, text: String, origin: String) -> Model {
        let model = py.detach(|| file::parse(&text, &origin));
        let read = model.map(|model| Arc::new(SourceModel { model, source: text.clone() }));
        Model { text, origin, read, unpacked: Mutex::default() }
    }

    /// Of a file. Only one that cannot be read is an error here.
    #[staticmethod]
    fn of_file(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let text = file::read_text(&path).map_err(|error| failure::model_error(py, &error))?;
        Ok(Model::new(py, text, path.display().to_string()))
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn origin(&self) -> &str {
        &self.origin
    }

    /// Name and parts of a model that is right.
    fn summary(&self) -> Option<(&str, &str, String)> {
        let model = &self.read.as_ref().ok()?.model;
        Some((&model.name, &model.description, model.parts()))
    }

    /// What the text says, as a dictionary.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = self.text.parse::<toml::Table>();
        match (table, &self.read) {
            (Ok(table), _) => crate::data::dictionary(py, &table),
            (Err(_), Err(error)) => Err(failure::model_error(py, error)),
            (Err(error), Ok(_)) => Err(failure::other_error(py, &self.origin, &error, None)),
        }
    }

    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.read {
            Ok(_) => Ok(PyList::empty(py)),
            Err(error) => failure::diagnostics(py, error),
        }
    }

    /// Writes the FMU, by default NAME.fmu, and returns its path.
    fn build(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        platforms: Vec<String>,
        fmi: i64,
    ) -> PyResult<PathBuf> {
        let version = match fmi {
            2 => FmiVersion::Two,
            3 => FmiVersion::Three,
            _ => return Err(PyValueError::new_err(format!("fmi is 2 or 3, not {fmi}"))),
        };
        let source = self.right(py)?;
        let path = path.unwrap_or_else(|| PathBuf::from(format!("{}.fmu", source.model.name)));
        let bytes = py.detach(|| package::build(source, version, &platforms));
        let bytes = bytes.map_err(|error| failure::other_error(py, &self.origin, &error, None))?;
        py.detach(|| output_file::write(&path, &bytes))
            .map_err(|error| failure::write_error(&path, &error))?;
        Ok(path)
    }

    /// Runs the FMU. `set` and `input` are text as in the files and options of the command line.
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python's `simulate`")]
    fn simulate(
        &self,
        py: Python<'_>,
        stop: Option<f64>,
        step: Option<f64>,
        set: Vec<(String, String)>,
        input: Option<(Vec<String>, Vec<Vec<String>>)>,
        log: bool,
        end: Option<Py<End>>,
    ) -> PyResult<Run> {
        let source = self.right(py)?;
        let unpacked = py.detach(|| self.unpack(source)).map_err(|fault| fault.raised(py, &self.origin))?;
        let input = input.map(|(header, rows)| Table { header, rows: (2..).zip(rows).collect() });
        let options = Options { stop, step, set, input, log, with_inputs: true, events: false };
        let mut watch = Watch { looked: Instant::now(), interrupt: None, end: end.as_ref().map(Py::get) };
        let (result, recording) = py.detach(|| {
            let recording = recorder::empty_recording(&unpacked.fmu, Some(&source.model), |_| true);
            recorder::run(&unpacked.fmu, &options, Some(recording), Box::new(|_| {}), &mut watch)
        });
        if let Some(interrupt) = watch.interrupt {
            return Err(interrupt);
        }
        let run = Run {
            recording: recording.unwrap_or_default(),
            source: Arc::clone(source),
            file: Path::new(&self.origin).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            settings: options.set,
            failure: result.as_ref().err().map(SimulationError::chain),
        };
        match result {
            Ok(()) => Ok(run),
            Err(error) => Err(failure::simulation_error(py, &self.origin, &error, run)),
        }
    }

    /// Removes the unpacked FMU as soon as no simulation uses it.
    fn close(&self) {
        self.lock().take();
    }
}

impl Model {
    /// The model, or all that is wrong with it as an exception.
    fn right(&self, py: Python<'_>) -> PyResult<&Arc<SourceModel>> {
        self.read.as_ref().map_err(|error| failure::model_error(py, error))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Unpacked>>> {
        self.unpacked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The FMU, unpacked by the first simulation.
    fn unpack(&self, source: &SourceModel) -> Result<Arc<Unpacked>, Fault> {
        let mut unpacked = self.lock();
        if let Some(unpacked) = &*unpacked {
            return Ok(Arc::clone(unpacked));
        }
        let files =
            package::files(source, FmiVersion::Two, &[THIS_PLATFORM.to_owned()]).map_err(Fault::Package)?;
        let fmu = ExtractedFmu::of_files(files.iter().map(Entry::named)).map_err(Fault::Fmu)?;
        let library = Library::load(&fmu).map_err(Fault::Fmu)?;
        Ok(Arc::clone(unpacked.insert(Arc::new(Unpacked {
            library: Some(library),
            fmu,
            process: std::process::id(),
        }))))
    }
}

/// The FMU of a model in a temporary folder.
struct Unpacked {
    /// Keeps the library loaded between simulations; closed before its file goes.
    library: Option<Library>,
    fmu: ExtractedFmu,
    process: u32,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        self.library = None;
        // A forked process leaves the folder to the one that made it.
        if self.process != std::process::id() {
            self.fmu.keep();
        }
    }
}

/// Why an FMU cannot be unpacked.
enum Fault {
    Package(PackageError),
    Fmu(FmuError),
}

impl Fault {
    fn raised(&self, py: Python<'_>, origin: &str) -> PyErr {
        match self {
            Fault::Package(error) => failure::other_error(py, origin, error, None),
            Fault::Fmu(error) => failure::other_error(py, origin, error, error.hint()),
        }
    }
}

/// Ends simulations that other threads run: only the main one sees that Ctrl-C was pressed.
#[pyclass(frozen, module = "contact_fmu._native")]
#[derive(Default)]
pub struct End {
    is_wanted: AtomicBool,
}

#[pymethods]
impl End {
    #[new]
    fn new() -> End {
        End::default()
    }

    /// Ends them at their next step.
    fn now(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }
}

/// Ends a simulation when the user wants it.
struct Watch<'a> {
    looked: Instant,
    interrupt: Option<PyErr>,
    end: Option<&'a End>,
}

impl Observer for Watch<'_> {
    fn row(&mut self, _time: f64, _values: &[Value]) -> io::Result<()> {
        if self.looked.elapsed() > PATIENCE {
            self.interrupt = Python::attach(|py| py.check_signals()).err();
            self.looked = Instant::now();
        }
        let is_ended = self.end.is_some_and(|end| end.is_wanted.load(Ordering::Relaxed));
        if is_ended || self.interrupt.is_some() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    fn message(&mut self, _text: &str) {}

    fn progress(&mut self, _fraction: f64) {}
}
