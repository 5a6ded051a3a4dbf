//! What a simulation leaves: samples, messages, the report.

use crate::failure;
use contact_fmu::model::file::SourceModel;
use contact_fmu::output_file::OutputFile;
use contact_fmu::report::recording::Recording;
use contact_fmu::report::{self, Report};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Samples and messages of a simulation.
#[pyclass(frozen, module = "contact_fmu._native")]
pub struct Run {
    /// The samples.
    pub recording: Recording,
    /// The model.
    pub source: Arc<SourceModel>,
    /// Name of its file.
    pub file: String,
    /// Start values that the user gave.
    pub settings: Vec<(String, String)>,
    /// Why the simulation ended early.
    pub failure: Option<String>,
}

#[pymethods]
impl Run {
    /// Name, unit and description of each column but the time.
    fn columns(&self) -> Vec<(&str, &str, &str)> {
        self.recording
            .columns
            .iter()
            .map(|column| (column.name.as_str(), column.unit.as_str(), column.description.as_str()))
            .collect()
    }

    /// Values of the column at a place, in the bytes of this machine.
    fn column<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyBytes>> {
        let column = self.recording.columns.get(place);
        let column = column.ok_or_else(|| pyo3::exceptions::PyIndexError::new_err(place))?;
        bytes(py, &column.values)
    }

    /// Times of the samples, in the bytes of this machine.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, &self.recording.times)
    }

    /// Time, kind and text of all messages that were kept.
    fn messages(&self) -> Vec<(f64, &str, &str)> {
        let messages = self.recording.messages.iter();
        messages.map(|message| (message.time, message.kind.as_str(), message.text.as_str())).collect()
    }

    /// The report page.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let mut page = Vec::new();
        py.detach(|| self.write(&mut page))?;
        Ok(String::from_utf8(page)?)
    }

    /// Writes the report page to a file: whole or not at all.
    fn write_report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| {
            let mut file = OutputFile::create(&path)?;
            self.write(&mut file)?;
            file.finish()
        });
        written.map_err(|error| failure::write_error(&path, &error))
    }
}

impl Run {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let report = Report {
            name: &self.source.model.name,
            description: &self.source.model.description,
            source: &self.file,
            settings: &self.settings,
            recording: &self.recording,
            model: Ok(&self.source.model),
            failure: self.failure.clone(),
        };
        report::write(&report, out)
    }
}

fn bytes<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, std::mem::size_of_val(values), |bytes| {
        for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
            place.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })
}
