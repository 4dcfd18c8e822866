//! Models of texts.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use pmm::text::{Data, Drawing, Model, Sampler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::job::{Running, run};
use crate::report::{Evaluating, ReportParts, facts};
use crate::threads::compute;

/// Texts as an argument: the path of a file or folder, or a list of documents.
pub(crate) struct TextArgument(pub(crate) Data);

impl<'a, 'py> FromPyObject<'a, 'py> for TextArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<PathBuf>() {
            Ok(path) => Ok(Self(Data::open(path))),
            Err(_) => Ok(Self(Data::from_documents(object.extract::<Vec<String>>()?))),
        }
    }
}

/// How texts are drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TextDrawing {
    seed: u64,
    sampler: Option<String>,
    steps: Option<NonZeroUsize>,
    temperature: Option<f64>,
    top_k: Option<usize>,
    top_p: Option<f64>,
}

impl TextDrawing {
    fn drawing(&self) -> PyResult<Drawing> {
        let sampler = match self.sampler.as_deref() {
            None => None,
            Some("events") => Some(Sampler::Events),
            Some("steps") => Some(Sampler::Steps),
            Some("parallel") => Some(Sampler::Parallel),
            Some("confident") => Some(Sampler::Confident),
            Some(other) => {
                let what = format!(
                    "sampler={other:?} is none of \"events\", \"steps\", \"parallel\", \"confident\""
                );
                return Err(PyValueError::new_err(what));
            }
        };
        let Self { steps, temperature, top_k, top_p, .. } = *self;
        Ok(Drawing { sampler, steps, temperature, top_k, top_p, ..Drawing::default() })
    }
}

/// A model of texts.
#[pyclass(frozen, module = "pmm._pmm")]
pub(crate) struct TextModel(pub(crate) Arc<Model>);

impl TextModel {
    pub(crate) fn new(model: Model) -> Self {
        Self(Arc::new(model))
    }
}

/// Bytes that are no characters are shown as such.
fn readable(text: Vec<u8>) -> String {
    String::from_utf8_lossy(&text).into_owned()
}

#[pymethods]
impl TextModel {
    /// Writes the model to a folder; a model that is there is replaced.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        compute(py, || self.0.save(folder))
    }

    /// Facts, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        facts(py, &self.0.info())
    }

    /// The folder that it was read from or fitted in.
    fn folder(&self) -> Option<PathBuf> {
        self.0.folder().map(Into::into)
    }

    /// Tokens of a text that is drawn.
    fn length(&self) -> usize {
        self.0.length()
    }

    /// New texts.
    fn sample(
        &self,
        py: Python<'_>,
        texts: u64,
        given: String,
        drawing: TextDrawing,
        running: Running<'_>,
    ) -> PyResult<Vec<String>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        run(py, &running, move |watcher| {
            let mut sample = model.sample(texts).given(&given).seed(drawing.seed).drawing(how).texts()?;
            let mut drawn = Vec::new();
            while let Some(text) = sample.next_watched(watcher) {
                drawn.push(readable(text?));
            }
            Ok(drawn)
        })
    }

    /// A text with its gaps completed, so many times.
    fn infill(
        &self,
        py: Python<'_>,
        text: String,
        completions: usize,
        drawing: TextDrawing,
        running: Running<'_>,
    ) -> PyResult<Vec<String>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        run(py, &running, move |watcher| {
            let infill = model.infill(&text).completions(completions).seed(drawing.seed).drawing(how);
            Ok(infill.texts(watcher)?.into_iter().map(readable).collect())
        })
    }

    /// Scores on text that it has not seen.
    fn evaluate(
        &self,
        py: Python<'_>,
        test: TextArgument,
        train: Option<TextArgument>,
        evaluating: Evaluating,
        running: Running<'_>,
    ) -> PyResult<ReportParts> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let mut evaluate = model.evaluate(test.0).seed(evaluating.seed);
            if let Some(train) = train {
                evaluate = evaluate.train(train.0);
            }
            let report = evaluate.run(watcher)?;
            if let Some(out) = evaluating.out {
                report.write(out)?;
            }
            let (html, json) = (report.html(), report.to_json().to_string());
            Ok(ReportParts { html, json, rows: Vec::new(), words: report.summary(), notes: report.notes })
        })
    }

    /// A picture of a text coming out of its masks.
    fn trace(&self, py: Python<'_>, seed: u64, running: Running<'_>) -> PyResult<String> {
        let model = self.0.clone();
        run(py, &running, move |_| Ok(model.trace().seed(seed).draw(|_| ())?.svg().to_owned()))
    }
}
