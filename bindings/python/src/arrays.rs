//! Rows of numbers as arrays of NumPy.

use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;

/// `[rows][columns]` as one array; `columns` says how many there are where there is no row.
pub(crate) fn matrix<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    rows: &[impl AsRef<[T]>],
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let flat: Vec<T> = rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect();
    PyArray1::from_vec(py, flat).reshape([rows.len(), columns])
}

/// One number for each row.
pub(crate) fn vector<'py, T: numpy::Element>(py: Python<'py>, values: Vec<T>) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}

/// Bytes of pixels.
pub(crate) fn bytes<'py>(py: Python<'py>, values: &[u8]) -> Bound<'py, PyArray1<u8>> {
    values.to_pyarray(py)
}
