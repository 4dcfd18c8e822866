//! Errors of the library as exceptions of Python, of the kind that a Python programmer expects.

use std::io::ErrorKind;

use pmm::Error;
use pyo3::prelude::*;

/// An exception of `pmm._errors` with a message and what to do.
fn exception(py: Python<'_>, kind: &str, message: &str, remedy: Option<String>) -> PyErr {
    let made = py
        .import("pmm._errors")
        .and_then(|errors| errors.getattr(kind))
        .and_then(|class| class.call1((message, remedy)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Data that cannot be used.
pub(crate) fn data_error(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "DataError", message, None)
}

/// What is not the caller's fault.
pub(crate) fn failure(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "PmmError", message, None)
}

/// An error of the library.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let kind = match file_trouble(error) {
        Some(ErrorKind::NotFound) => "DataNotFoundError",
        Some(ErrorKind::PermissionDenied) => "DataPermissionError",
        Some(_) => "DataAccessError",
        None => kind(error),
    };
    exception(py, kind, &error.to_string(), error.remedy())
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::NotAModel { .. } => "ModelNotFoundError",
        Error::ModelExists { .. } | Error::FolderInUse { .. } => "ModelExistsError",
        Error::Locked(_) => "ModelLockedError",
        Error::Unfinished { .. }
        | Error::DamagedModel { .. }
        | Error::Schema { .. }
        | Error::Tensors(_)
        | Error::OtherKind { .. }
        | Error::NothingToResume { .. }
        | Error::OtherSettings { .. }
        | Error::OtherData { .. } => "ModelError",
        Error::UnknownPreset { .. }
        | Error::UnknownSetting { .. }
        | Error::Setting(_)
        | Error::NotAGroup { .. }
        | Error::SettingsFile { .. }
        | Error::Column(_) => "SettingError",
        Error::Diverged { .. } | Error::NotFinite | Error::TooLarge { .. } => "FitError",
        Error::NoColumn { .. } | Error::NotModelled { .. } => "ColumnError",
        Error::Device(_) => "DeviceError",
        _ => "DataError",
    }
}

/// What the system says of a file, where that is what went wrong.
fn file_trouble(error: &Error) -> Option<ErrorKind> {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<std::io::Error>() {
            return Some(error.kind());
        }
        cause = found.source();
    }
    None
}
