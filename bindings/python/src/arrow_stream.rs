//! Rows through the Arrow C stream interface, both ways: no copy, and no library of Python's in between.

use std::collections::HashSet;
use std::ffi::CStr;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pmm::table::Data;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::data_error;

/// What the interface calls a capsule with a stream in it.
const NAME: &CStr = c"arrow_array_stream";

/// A table as an argument: the path of a file, or anything with `__arrow_c_stream__`.
pub(crate) struct TableArgument(pub(crate) Data);

impl<'a, 'py> FromPyObject<'a, 'py> for TableArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(path) = object.extract::<std::path::PathBuf>() {
            return Ok(Self(Data::open(path)));
        }
        let capsule = object.call_method0("__arrow_c_stream__")?;
        read(capsule.cast::<PyCapsule>()?).map(Self)
    }
}

fn read(capsule: &Bound<'_, PyCapsule>) -> PyResult<Data> {
    let stream = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream. The reader takes it out and leaves an empty one, as the interface asks.
    #[allow(unsafe_code)]
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    let unreadable =
        |error: ArrowError| data_error(capsule.py(), &format!("the rows cannot be read: {error}"));
    let reader = reader.map_err(unreadable)?;
    let schema = reader.schema();
    refuse_twins(capsule.py(), &schema)?;
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>().map_err(unreadable)?;
    Ok(Data::from_batches(schema, batches))
}

/// Rows come back under the names that they came with, so each needs one of its own.
fn refuse_twins(py: Python<'_>, schema: &SchemaRef) -> PyResult<()> {
    let mut names = HashSet::new();
    match schema.fields().iter().find(|field| !names.insert(field.name())) {
        Some(field) => Err(data_error(py, &format!("several columns are called {:?}", field.name()))),
        None => Ok(()),
    }
}

/// Rows that were made: whatever reads the Arrow C stream interface takes them without a copy.
#[pyclass(frozen, module = "pmm._pmm")]
pub(crate) struct ArrowRows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowRows {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl ArrowRows {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Other types are asked for in vain, as the interface allows.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let stream =
            FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, self.schema.clone())));
        PyCapsule::new_with_value(py, stream, NAME)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
