//! Models of texts.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pmm::text::{Completion, Data, DocumentScore, Drawing, GapLength, Infill, Model, Sampler, TextOrder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::vector;
use crate::job::{Running, run};
use crate::model::AnyModel;
use crate::report::{Evaluating, ReportParts, evaluated};

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
    order: Option<String>,
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
        let order = match self.order.as_deref() {
            None => None,
            Some("left_to_right") => Some(TextOrder::LeftToRight),
            Some("random") => Some(TextOrder::Random),
            Some(other) => {
                let what = format!("order={other:?} is neither \"left_to_right\" nor \"random\"");
                return Err(PyValueError::new_err(what));
            }
        };
        let Self { steps, temperature, top_k, top_p, .. } = *self;
        Ok(Drawing { order, sampler, steps, temperature, top_k, top_p })
    }
}

/// Which completions are wanted of gaps.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Completing {
    completions: usize,
    candidates: Option<NonZeroUsize>,
    longest: Option<NonZeroUsize>,
    likeliest_length: bool,
    whole_words: bool,
}

impl Completing {
    fn of<'m>(&self, infill: Infill<'m>) -> Infill<'m> {
        let mut infill = infill.completions(self.completions);
        if let Some(candidates) = self.candidates {
            infill = infill.candidates(candidates.get());
        }
        if let Some(longest) = self.longest {
            infill = infill.longest(longest.get());
        }
        if self.likeliest_length {
            infill = infill.gap_length(GapLength::Likeliest);
        }
        if self.whole_words {
            infill = infill.whole_words();
        }
        infill
    }
}

/// What a document costs: name, tokens, characters, bits from left to right, in random orders and under their mixture, and of each
/// token.
type Scored<'py> = (Option<String>, usize, usize, f64, f64, f64, Bound<'py, PyArray1<f64>>);

/// A model of texts.
#[pyclass(frozen, extends = AnyModel, module = "pmm._pmm")]
pub(crate) struct TextModel(Arc<Model>);

impl TextModel {
    pub(crate) fn new(py: Python<'_>, model: Model) -> PyResult<Bound<'_, Self>> {
        let model = Arc::new(model);
        Bound::new(py, PyClassInitializer::from(AnyModel::new(model.clone())).add_subclass(Self(model)))
    }
}

/// Bytes that are no characters are shown as such.
fn readable(text: Vec<u8>) -> String {
    String::from_utf8_lossy(&text).into_owned()
}

#[pymethods]
impl TextModel {
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
        tokens: Option<usize>,
        drawing: TextDrawing,
        running: Running<'_>,
    ) -> PyResult<Vec<String>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        run(py, &running, move |watcher| {
            let mut sample = model.sample(texts).given(&given).seed(drawing.seed).drawing(how);
            if let Some(tokens) = tokens {
                sample = sample.tokens(tokens);
            }
            let (mut sample, mut drawn) = (sample.texts()?, Vec::new());
            while let Some(text) = sample.next_watched(watcher) {
                drawn.push(readable(text?));
            }
            Ok(drawn)
        })
    }

    /// A text with its gaps completed, so many times; beside each its bits, where completions are ranked.
    fn infill(
        &self,
        py: Python<'_>,
        text: String,
        completing: Completing,
        drawing: TextDrawing,
        running: Running<'_>,
    ) -> PyResult<Vec<(String, Option<f64>)>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        run(py, &running, move |watcher| {
            let infill = completing.of(model.infill(&text)).seed(drawing.seed).drawing(how);
            let found = |Completion { text, bits }: Completion| (readable(text), bits);
            Ok(infill.ranked(watcher)?.into_iter().map(found).collect())
        })
    }

    /// What documents cost by their exact likelihoods.
    fn score<'py>(
        &self,
        py: Python<'py>,
        documents: TextArgument,
        orders: Option<usize>,
        seed: u64,
        running: Running<'_>,
    ) -> PyResult<Vec<Scored<'py>>> {
        let model = self.0.clone();
        let scores = run(py, &running, move |watcher| {
            let mut score = model.score(documents.0).seed(seed);
            if let Some(orders) = orders {
                score = score.orders(orders);
            }
            score.run(watcher)
        })?;
        let scored = |found: DocumentScore| {
            let DocumentScore { name, tokens, characters, left_to_right, random, order_averaged, surprises } =
                found;
            (name, tokens, characters, left_to_right, random, order_averaged, vector(py, surprises))
        };
        Ok(scores.into_iter().map(scored).collect())
    }

    /// Scores on text that it has not seen.
    fn evaluate(
        &self,
        py: Python<'_>,
        test: TextArgument,
        train: Option<TextArgument>,
        samples: Option<Vec<String>>,
        evaluating: Evaluating,
        running: Running<'_>,
    ) -> PyResult<ReportParts> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let evaluate = model.evaluate(test.0);
            let report = evaluated!(evaluate, train, samples, evaluating, watcher);
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
