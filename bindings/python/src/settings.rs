//! Settings as Python has them.

use pmm::Settings;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::Value;

use crate::errors::raise;

/// Settings by dotted names.
pub(crate) fn settings(given: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let mut settings = Settings::new();
    for (key, value) in given.iter() {
        let key: String = key.extract()?;
        settings.set(&key, to_toml(&key, &value)?).map_err(|error| raise(given.py(), &error))?;
    }
    Ok(settings)
}

fn to_toml(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Boolean(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Value::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| to_toml(key, &item?));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    // Numbers of NumPy and the like.
    if let Ok(number) = value.call_method0("__index__") {
        return Ok(Value::Integer(number.extract()?));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{key} is a {kind}: settings are numbers, texts, truths and lists of these"
    )))
}
