//! The native module of the Python package `contact_fmu`: the command line, and the functions behind it for models as
//! Python objects. What users call is in `contact_fmu/*.py`; nothing of the simulation is written here a second time.

mod data;
mod failure;
mod model;
mod result;

/// The module.
#[pyo3::pymodule]
mod _native {
    use contact_fmu::master::csv::Table;
    use contact_fmu::package::runtime;
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::data::model_text;
    #[pymodule_export]
    use crate::model::{End, Model};
    #[pymodule_export]
    use crate::result::Run;

    /// Runs the command line, the name of the program first, and returns the exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| contact_fmu::cli::run(arguments))
    }

    /// Header and rows of a CSV table.
    #[pyfunction]
    fn table(text: &str) -> PyResult<(Vec<String>, Vec<Vec<String>>)> {
        let table = Table::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((table.header, table.rows.into_iter().map(|(_, row)| row).collect()))
    }

    /// Platforms that FMUs are built for.
    #[pyfunction]
    fn platforms() -> Vec<&'static str> {
        runtime::platforms()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
