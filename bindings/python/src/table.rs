//! Models of tables.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use numpy::{PyArray1, PyArray2};
use pmm::table::{Empty, Model, OutputColumn, Sample, ScoredRow};
use pmm::{Error, Event, Watcher};
use pyo3::prelude::*;

use crate::arrays::{matrix, vector};
use crate::arrow_stream::{ArrowRows, TableArgument};
use crate::errors::failure;
use crate::job::{Running, run};
use crate::laws::{Laws, SharedLaws};
use crate::model::AnyModel;
use crate::report::{Evaluating, ReportParts, evaluated};

/// A model of a table.
#[pyclass(frozen, extends = AnyModel, module = "pmm._pmm")]
pub(crate) struct TableModel(Arc<Model>);

impl TableModel {
    pub(crate) fn new(py: Python<'_>, model: Model) -> PyResult<Bound<'_, Self>> {
        let model = Arc::new(model);
        Bound::new(py, PyClassInitializer::from(AnyModel::new(model.clone())).add_subclass(Self(model)))
    }
}

/// How rows are made.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Making {
    seed: u64,
    first_row: u64,
    key: Option<String>,
    steps: Option<usize>,
    snap: bool,
}

/// What is given of a column in all rows.
#[derive(FromPyObject)]
enum Given {
    /// (column, value).
    Is(String, String),
    /// (column, low, high).
    Between(String, Option<String>, Option<String>),
    /// (column, values).
    AnyOf(String, Vec<String>),
}

impl Given {
    fn of(self, sample: Sample<'_>) -> Sample<'_> {
        match self {
            Self::Is(column, value) => sample.given(&column, value),
            Self::Between(column, low, high) => sample.given_range(&column, low, high),
            Self::AnyOf(column, values) => sample.given_any(&column, values),
        }
    }
}

/// Scores of rows: log-likelihoods, their errors, surprises of the cells `[rows, columns]`, broken rules.
type Scored<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Vec<Vec<String>>,
    Vec<String>,
);

#[pymethods]
impl TableModel {
    /// The columns, as JSON.
    fn schema(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(self.0.schema().as_ref()).map_err(|error| failure(py, &error.to_string()))
    }

    /// The column whose prediction matters most.
    fn target(&self) -> Option<String> {
        self.0.config().target.clone()
    }

    /// New rows, and what a person should know of them.
    fn sample(
        &self,
        py: Python<'_>,
        rows: u64,
        given: Vec<Given>,
        partial: Option<TableArgument>,
        making: Making,
        running: Running<'_>,
    ) -> PyResult<(ArrowRows, Vec<String>)> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let mut sample = model.sample(rows).seed(making.seed).first_row(making.first_row);
            for given in given {
                sample = given.of(sample);
            }
            if let Some(partial) = partial {
                sample = sample.given_rows(partial.0);
            }
            if let Some(steps) = making.steps {
                sample = sample.steps(steps);
            }
            if !making.snap {
                sample = sample.without_snapping();
            }
            let (notes, schema) = (sample.notes()?, schema_of(sample.columns()));
            watcher.notice(Event::Started { what: "sampling", total: Some(rows) });
            Ok((collect(schema, sample.rows()?, watcher)?, notes))
        })
    }

    /// Rows whose gaps are filled; how many cells were; and what was noticed.
    fn impute(
        &self,
        py: Python<'_>,
        data: TableArgument,
        draws: Option<u64>,
        making: Making,
        running: Running<'_>,
    ) -> PyResult<(ArrowRows, u64, Vec<String>)> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let mut impute = model.impute(data.0).seed(making.seed).first_row(making.first_row).typed();
            if let Some(column) = &making.key {
                impute = impute.key(column);
            }
            if let Some(draws) = draws {
                impute = impute.draws(draws);
            }
            if let Some(steps) = making.steps {
                impute = impute.steps(steps);
            }
            if !making.snap {
                impute = impute.without_snapping();
            }
            let mut rows = impute.rows()?;
            watcher.notice(Event::Started { what: "imputing", total: None });
            let full = collect(rows.schema().clone(), &mut rows, watcher)?;
            Ok((full, rows.filled(), rows.notes()))
        })
    }

    /// The law of a column in each row, given the others.
    fn predict(
        &self,
        py: Python<'_>,
        data: TableArgument,
        target: String,
        empty_is_unknown: bool,
        making: Making,
        running: Running<'_>,
    ) -> PyResult<Laws> {
        let model = self.0.clone();
        let empty = if empty_is_unknown { Empty::Unknown } else { Empty::Missing };
        run(py, &running, move |watcher| {
            let laws = SharedLaws::try_new(model, |model| {
                let predict = model.predictions(data.0, &target)?.seed(making.seed).empty(empty);
                let mut predict = predict.first_row(making.first_row);
                if let Some(column) = &making.key {
                    predict = predict.key(column);
                }
                predict.all_watched(watcher)
            })?;
            Ok(Laws(laws))
        })
    }

    /// How likely rows are, and what is surprising in them; and what was noticed.
    fn score<'py>(
        &self,
        py: Python<'py>,
        data: TableArgument,
        empty_is_unknown: bool,
        making: Making,
        running: Running<'_>,
    ) -> PyResult<Scored<'py>> {
        let model = self.0.clone();
        let empty = if empty_is_unknown { Empty::Unknown } else { Empty::Missing };
        let (rows, notes) = run(py, &running, move |watcher| {
            let mut score = model.score(data.0).seed(making.seed).first_row(making.first_row).empty(empty);
            if let Some(column) = &making.key {
                score = score.key(column);
            }
            let mut batches = score.batches()?;
            watcher.notice(Event::Started { what: "scoring", total: None });
            let mut rows = Vec::new();
            for batch in batches.by_ref() {
                rows.extend(batch?);
                proceed(watcher, rows.len())?;
            }
            watcher.notice(Event::Finished);
            Ok((rows, batches.notes()))
        })?;
        let surprise = |row: &ScoredRow| -> Vec<f64> {
            row.cells.iter().map(|cell| cell.as_ref().map_or(f64::NAN, |cell| cell.surprise)).collect()
        };
        let surprises: Vec<Vec<f64>> = rows.iter().map(surprise).collect();
        Ok((
            vector(py, rows.iter().map(|row| row.log_likelihood).collect()),
            vector(py, rows.iter().map(|row| row.error).collect()),
            matrix(py, &surprises, self.0.schema().columns.len())?,
            rows.into_iter().map(|row| row.broken).collect(),
            notes,
        ))
    }

    /// Scores on rows that it has not seen.
    fn evaluate(
        &self,
        py: Python<'_>,
        test: TableArgument,
        train: Option<TableArgument>,
        samples: Option<TableArgument>,
        evaluating: Evaluating,
        running: Running<'_>,
    ) -> PyResult<ReportParts> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let mut evaluate = model.evaluate(test.0);
            if let Some(target) = &evaluating.target {
                evaluate = evaluate.target(target);
            }
            let report = evaluated!(evaluate, train, samples.map(|samples| samples.0), evaluating, watcher);
            let (html, json) = (report.html(), report.to_json().to_string());
            let rows = report.summary().into_iter();
            let rows = rows.map(|row| (row.name, row.value, row.baseline, row.meaning)).collect();
            Ok(ReportParts { html, json, rows, words: String::new(), notes: report.notes })
        })
    }

    /// A picture of rows in the making: SVG and PNG.
    fn trace(
        &self,
        py: Python<'_>,
        columns: Vec<String>,
        seed: u64,
        running: Running<'_>,
    ) -> PyResult<(String, Vec<u8>)> {
        let model = self.0.clone();
        run(py, &running, move |_| {
            let picture = model.trace().columns(columns).seed(seed).draw()?;
            Ok((picture.svg(), picture.png()?))
        })
    }
}

fn schema_of(columns: Vec<OutputColumn>) -> SchemaRef {
    Arc::new(Schema::new(columns.into_iter().map(|column| column.field).collect::<Vec<_>>()))
}

/// All batches, unless it should stop.
fn collect(
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    watcher: &mut dyn Watcher,
) -> Result<ArrowRows, Error> {
    let (mut all, mut done) = (Vec::new(), 0);
    for batch in batches {
        let batch = batch?;
        done += batch.num_rows();
        all.push(batch);
        proceed(watcher, done)?;
    }
    watcher.notice(Event::Finished);
    Ok(ArrowRows::new(schema, all))
}

fn proceed(watcher: &mut dyn Watcher, done: usize) -> Result<(), Error> {
    watcher.notice(Event::Progress { done: done as u64 });
    if watcher.wants_stop() { Err(Error::Stopped) } else { Ok(()) }
}
