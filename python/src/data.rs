//! Models as plain data of Python: dictionaries to the text of a model file and back.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::{Table, Value};

/// A list within itself would never end.
const DEEPEST: usize = 64;

/// The text of a model file that says what the dictionary says.
#[pyfunction]
pub fn model_text(data: &Bound<'_, PyMapping>) -> PyResult<String> {
    let table = table(data, "", 0)?;
    toml::to_string(&table).map_err(|error| PyTypeError::new_err(error.to_string()))
}

fn table(data: &Bound<'_, PyMapping>, place: &str, depth: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for item in data.items()?.iter() {
        let (key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{}a key is to be text, not {key}", prefix(place))))?;
        let inner = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        table.insert(key, value(&item, &inner, depth + 1)?);
    }
    Ok(table)
}

fn value(item: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyTypeError::new_err(format!("{place}: a model is not nested that deeply")));
    }
    if item.is_instance_of::<PyBool>() {
        Ok(Value::Boolean(item.extract()?))
    } else if item.is_instance_of::<PyInt>() {
        let number = item.extract();
        number.map(Value::Integer).map_err(|_| refused(item, place, "it does not fit into 64 bits"))
    } else if item.is_instance_of::<PyFloat>() {
        Ok(Value::Float(item.extract()?))
    } else if let Ok(text) = item.cast::<PyString>() {
        Ok(Value::String(text.to_cow()?.into_owned()))
    } else if let Ok(data) = item.cast::<PyMapping>() {
        Ok(Value::Table(table(data, place, depth)?))
    } else if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
        let items = item.try_iter()?.enumerate();
        let values = items.map(|(index, item)| value(&item?, &format!("{place}[{index}]"), depth + 1));
        Ok(Value::Array(values.collect::<PyResult<_>>()?))
    } else if item.hasattr("tolist")? {
        // Arrays and scalars of NumPy.
        value(&item.call_method0("tolist")?, place, depth + 1)
    } else if item.hasattr("__fspath__")? {
        value(&item.call_method0("__fspath__")?, place, depth + 1)
    } else if item.is_none() {
        Err(refused(item, place, "leave the key out instead"))
    } else {
        Err(refused(item, place, "a model holds numbers, booleans, text, lists and dictionaries"))
    }
}

fn refused(item: &Bound<'_, PyAny>, place: &str, why: &str) -> PyErr {
    PyTypeError::new_err(format!("{place}: {item} ({}): {why}", item.get_type()))
}

fn prefix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

/// What the text of a model file says, as a dictionary.
pub fn dictionary<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (key, value) in table {
        dictionary.set_item(key, object(py, value)?)?;
    }
    Ok(dictionary)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Boolean(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        // No key of a model file is a time.
        Value::Datetime(time) => PyString::new(py, &time.to_string()).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => dictionary(py, table)?.into_any(),
    })
}
