//! Fits, and models that are read.

use std::path::PathBuf;

use pmm::table::{Overrides, ReadOptions};
use pmm::{DataKind, Error, Model, image, table, text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow_stream::TableArgument;
use crate::errors::raise;
use crate::image::{ImageArgument, ImageModel};
use crate::job::{Running, run, run_stoppable};
use crate::settings::settings;
use crate::table::TableModel;
use crate::text::{TextArgument, TextModel};

/// What every fit can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FitOptions<'py> {
    seed: u64,
    steps: Option<u64>,
    minutes: Option<f64>,
    preset: Option<String>,
    settings: Bound<'py, PyDict>,
    out: Option<PathBuf>,
    /// What to do with a model that is there: `refuse`, `replace` or `resume`.
    existing: String,
}

/// What only a table can be told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TableOptions {
    target: Option<String>,
    held_out: Option<TableArgument>,
    /// `columns.NAME.kind` and the like, with their values.
    columns: Vec<(String, String)>,
    /// How a file is read: markers of missing cells, whether its first line has names, what separates fields.
    missing: Option<Vec<String>>,
    header: Option<bool>,
    delimiter: Option<char>,
    /// Rules that the rows keep, and names of found ones that they need not.
    rules: Vec<String>,
    without_rules: Vec<String>,
}

macro_rules! configured {
    ($fit:expr, $options:expr) => {{
        let options = $options;
        let mut fit = $fit.seed(options.seed).settings(&settings(&options.settings)?);
        if let Some(steps) = options.steps {
            fit = fit.steps(steps);
        }
        if let Some(minutes) = options.minutes {
            fit = fit.minutes(minutes);
        }
        if let Some(preset) = &options.preset {
            fit = fit.preset(preset);
        }
        match (&options.out, options.existing.as_str()) {
            (None, "refuse") => fit,
            (None, _) => return Err(PyValueError::new_err("there is nothing to go on with: give out=")),
            (Some(folder), "refuse") => fit.at(folder),
            (Some(folder), "replace") => fit.replace(folder),
            (Some(folder), "resume") => fit.resume(folder),
            (_, other) => {
                let what = format!("existing={other:?} is none of \"refuse\", \"replace\" and \"resume\"");
                return Err(PyValueError::new_err(what));
            }
        }
    }};
}

/// Fits a table; returns the model, and the exception that has stopped the fit early.
#[pyfunction]
pub(crate) fn fit_table<'py>(
    py: Python<'py>,
    data: TableArgument,
    options: FitOptions<'_>,
    of_table: TableOptions,
    running: Running<'_>,
) -> PyResult<(Bound<'py, TableModel>, Option<PyErr>)> {
    let (overrides, reading) = wishes(&of_table).map_err(|error| raise(py, &error))?;
    let mut fit = table::Fit::new(data.0.reading(reading)).columns(overrides);
    if let Some(target) = &of_table.target {
        fit = fit.target(target);
    }
    if let Some(held_out) = of_table.held_out {
        fit = fit.held_out(held_out.0);
    }
    for rule in &of_table.rules {
        fit = fit.rule(rule);
    }
    for name in &of_table.without_rules {
        fit = fit.without_rule(name);
    }
    let fit = configured!(fit, options);
    let (model, interrupt) = run_stoppable(py, &running, move |watcher| fit.run(watcher))?;
    Ok((TableModel::new(py, model)?, interrupt))
}

/// What is said of columns, and of how a file is read.
fn wishes(given: &TableOptions) -> Result<(Overrides, ReadOptions), Error> {
    let mut overrides = Overrides { missing: given.missing.clone(), ..Overrides::default() };
    for (key, value) in &given.columns {
        overrides.set(key, value)?;
    }
    let header = match given.header {
        None => table::Header::default(),
        Some(true) => table::Header::Yes,
        Some(false) => table::Header::No,
    };
    Ok((overrides, ReadOptions { header, delimiter: given.delimiter }))
}

/// Fits texts.
#[pyfunction]
pub(crate) fn fit_text<'py>(
    py: Python<'py>,
    data: TextArgument,
    options: FitOptions<'_>,
    running: Running<'_>,
) -> PyResult<(Bound<'py, TextModel>, Option<PyErr>)> {
    let fit = configured!(text::Fit::new(data.0), options);
    let (model, interrupt) = run_stoppable(py, &running, move |watcher| fit.run(watcher))?;
    Ok((TextModel::new(py, model)?, interrupt))
}

/// Fits images.
#[pyfunction]
pub(crate) fn fit_images<'py>(
    py: Python<'py>,
    data: ImageArgument,
    options: FitOptions<'_>,
    running: Running<'_>,
) -> PyResult<(Bound<'py, ImageModel>, Option<PyErr>)> {
    let fit = configured!(image::Fit::new(data.0), options);
    let (model, interrupt) = run_stoppable(py, &running, move |watcher| fit.run(watcher))?;
    Ok((ImageModel::new(py, model)?, interrupt))
}

/// Of what kind the data at a path are: `table`, `text` or `image`.
#[pyfunction]
#[pyo3(signature = (path, preset=None))]
pub(crate) fn recognise(py: Python<'_>, path: PathBuf, preset: Option<&str>) -> PyResult<&'static str> {
    pmm::recognise(path, preset).map(DataKind::name).map_err(|error| raise(py, &error))
}

/// Reads a model of any kind.
#[pyfunction]
pub(crate) fn open_model<'py>(
    py: Python<'py>,
    path: PathBuf,
    running: Running<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let model = run(py, &running, move |_| pmm::open(path))?;
    Ok(match model {
        Model::Table(model) => TableModel::new(py, model)?.into_any(),
        Model::Text(model) => TextModel::new(py, model)?.into_any(),
        Model::Image(model) => ImageModel::new(py, model)?.into_any(),
    })
}
