//! Predictive laws of a column, one for each row.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pmm::table::{Model, OutputColumn};
use pyo3::prelude::*;

use crate::arrays::{matrix, vector};
use crate::arrow_stream::ArrowRows;
use crate::errors::failure;
use crate::threads::compute;

type ModelLaws<'m> = pmm::table::Laws<'m>;

self_cell::self_cell!(
    /// Laws, and the model that they are of.
    pub(crate) struct SharedLaws {
        owner: Arc<Model>,
        #[covariant]
        dependent: ModelLaws,
    }
);

/// The law of a column in each of some rows.
#[pyclass(frozen, module = "pmm._pmm")]
pub(crate) struct Laws(pub(crate) SharedLaws);

impl Laws {
    fn laws(&self) -> &ModelLaws<'_> {
        self.0.borrow_dependent()
    }
}

#[pymethods]
impl Laws {
    fn __len__(&self) -> usize {
        self.laws().len()
    }

    fn column(&self) -> String {
        self.laws().column().name.clone()
    }

    fn is_number(&self) -> bool {
        self.laws().is_number()
    }

    fn is_date(&self) -> bool {
        self.laws().is_date()
    }

    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, compute(py, || self.laws().mean())?))
    }

    fn standard_deviation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, compute(py, || self.laws().standard_deviation())?))
    }

    fn quantile<'py>(&self, py: Python<'py>, q: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, compute(py, || self.laws().quantile(q))?))
    }

    fn cdf<'py>(
        &self,
        py: Python<'py>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let y = y.as_slice()?;
        Ok(vector(py, compute(py, || self.laws().cdf(y))?))
    }

    fn log_density<'py>(
        &self,
        py: Python<'py>,
        y: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let y = y.as_slice()?;
        Ok(vector(py, compute(py, || self.laws().log_density(y))?))
    }

    fn draws<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let draws = compute(py, || self.laws().draws(k))?;
        matrix(py, &draws, k)
    }

    fn level_draws<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let draws = compute(py, || self.laws().level_draws(k))?;
        let draws: Vec<Vec<u64>> =
            draws.into_iter().map(|row| row.into_iter().map(|code| code as u64).collect()).collect();
        matrix(py, &draws, k)
    }

    fn levels(&self) -> Vec<String> {
        self.laws().levels()
    }

    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shares = compute(py, || self.laws().probabilities())?;
        matrix(py, &shares, self.laws().levels().len())
    }

    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let best = compute(py, || self.laws().best())?;
        Ok(vector(py, best.into_iter().map(|code| code as u64).collect()))
    }

    /// Numbers as values of the column's own type.
    fn values(&self, py: Python<'_>, values: PyReadonlyArray1<'_, f64>) -> PyResult<ArrowRows> {
        let values = values.as_slice()?;
        rows_of(py, compute(py, || self.laws().values_column(&self.column(), values))?)
    }

    /// The likeliest level of each row, in the column's own type.
    fn best_values(&self, py: Python<'_>) -> PyResult<ArrowRows> {
        rows_of(py, compute(py, || self.laws().best_column(&self.column()))?)
    }

    /// The levels, in the column's own type.
    fn level_values(&self, py: Python<'_>) -> PyResult<ArrowRows> {
        rows_of(py, compute(py, || self.laws().level_column(&self.column()))?)
    }
}

/// A column as rows.
fn rows_of(py: Python<'_>, (column, array): (OutputColumn, ArrayRef)) -> PyResult<ArrowRows> {
    let schema = Arc::new(Schema::new(vec![column.field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]);
    Ok(ArrowRows::new(schema, vec![batch.map_err(|error| failure(py, &error.to_string()))?]))
}
