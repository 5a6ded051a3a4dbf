//! Faults as the exceptions of the package, which carry them as data.

use contact_fmu::master::simulate::SimulationError;
use contact_fmu::model::diagnostics::ModelFileError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::error::Error;
use std::io;
use std::path::Path;

use crate::result::Run;

/// A class of `contact_fmu/_errors.py`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("contact_fmu._errors")?.getattr(name)
}

/// Everything wrong with a model file, as a list of `Diagnostic`.
pub fn diagnostics<'py>(py: Python<'py>, error: &ModelFileError) -> PyResult<Bound<'py, PyList>> {
    let diagnostic = class(py, "Diagnostic")?;
    let list = PyList::empty(py);
    for found in error.diagnostics() {
        let (line, column) = found.place.unzip();
        list.append(diagnostic.call1((
            found.message,
            found.hint,
            error.origin(),
            line,
            column,
            found.text,
        ))?)?;
    }
    Ok(list)
}

/// `ModelError` of a model file.
pub fn model_error(py: Python<'_>, error: &ModelFileError) -> PyErr {
    raised(diagnostics(py, error).and_then(|list| class(py, "ModelError")?.call1((error.to_string(), list))))
}

/// `ModelError` of something that has no place in the file, with its causes.
pub fn other_error(py: Python<'_>, origin: &str, error: &dyn Error, hint: Option<&str>) -> PyErr {
    let (mut message, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    raised(whole(py, "ModelError", origin, &message, hint, None))
}

/// `SimulationError`, with what the FMU said to it, and with what was simulated until then.
pub fn simulation_error(py: Python<'_>, origin: &str, error: &SimulationError, run: Run) -> PyErr {
    let said = run.recording.messages.iter().rev();
    let said = said.map(|message| (message.kind.as_str(), message.text.as_str()));
    let reason = said.into_iter().find(|(kind, _)| !matches!(*kind, "note" | "fmi2OK" | "fmi2Warning"));
    let message = match error {
        // The header is line 1.
        SimulationError::Input(fault) if fault.line > 1 => {
            format!("input, row {}: {}", fault.line - 2, fault.message)
        }
        SimulationError::Input(fault) => format!("input: {}", fault.message),
        SimulationError::Call { .. } => {
            let reason = reason.map_or(String::new(), |(_, text)| format!(": {text}"));
            error.chain() + &reason
        }
        other => other.chain(),
    };
    let hint = error.hint().map(in_python);
    let partial = Some(run).filter(|run| !run.recording.times.is_empty());
    raised(whole(py, "SimulationError", origin, &in_python(&message), hint.as_deref(), partial))
}

fn whole<'py>(
    py: Python<'py>,
    name: &str,
    origin: &str,
    message: &str,
    hint: Option<&str>,
    run: Option<Run>,
) -> PyResult<Bound<'py, PyAny>> {
    let hinted = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    let text = format!("error: {message}{hinted}");
    let none: Option<usize> = None;
    let diagnostic = class(py, "Diagnostic")?.call1((message, hint, origin, none, none, &text))?;
    let exception = class(py, name)?.call1((text, PyList::new(py, [diagnostic])?))?;
    if let Some(run) = run {
        exception.setattr("_run", Py::new(py, run)?)?;
    }
    Ok(exception)
}

/// The master names options of the command line; here they are arguments.
fn in_python(text: &str) -> String {
    let options = [("--stop", "`stop`"), ("--step", "`step`"), ("--set", "`set`"), ("--log", "`log=True`")];
    options.iter().fold(text.to_owned(), |text, (option, argument)| text.replace(option, argument))
}

/// `OSError` that names the file.
pub fn write_error(path: &Path, error: &io::Error) -> PyErr {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())).into()
}

fn raised(exception: PyResult<Bound<'_, PyAny>>) -> PyErr {
    exception.map_or_else(|error| error, PyErr::from_value)
}
