//! Models of images.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pmm::Watcher;
use pmm::image::{Data, Drawing, Ending, Hole, ImageArray, Model, Sample, Sampler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::bytes;
use crate::job::{Running, run};
use crate::model::AnyModel;
use crate::report::{Evaluating, ReportParts, evaluated};

/// Images as an argument: the path of a file or folder, or (shape, pixels, labels, classes).
pub(crate) struct ImageArgument(pub(crate) Data);

impl<'a, 'py> FromPyObject<'a, 'py> for ImageArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(path) = object.extract::<PathBuf>() {
            return Ok(Self(Data::open(path)));
        }
        let (shape, pixels, labels, classes) = object.extract()?;
        Ok(Self(Data::from_array(ImageArray { shape, pixels, labels, classes })))
    }
}

/// How images are drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ImageDrawing {
    seed: u64,
    label: Option<String>,
    guidance: Option<f64>,
    sampler: Option<String>,
    calls: Option<usize>,
    churn: Option<f64>,
    ending: Option<String>,
}

impl ImageDrawing {
    fn drawing(&self) -> PyResult<Drawing> {
        let sampler = match self.sampler.as_deref() {
            None => None,
            Some("sde") => Some(Sampler::Sde),
            Some("sde2") => Some(Sampler::Sde2),
            Some("euler") => Some(Sampler::Euler),
            Some("heun") => Some(Sampler::Heun),
            Some("dpm") => Some(Sampler::Dpm),
            Some("leap") => Some(Sampler::Leap),
            Some(other) => {
                let known = "\"sde\", \"sde2\", \"euler\", \"heun\", \"dpm\", \"leap\"";
                let what = format!("sampler={other:?} is none of {known}");
                return Err(PyValueError::new_err(what));
            }
        };
        let ending = match self.ending.as_deref() {
            None => None,
            Some("estimate") => Some(Ending::Estimate),
            Some("mean") => Some(Ending::Mean),
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "ending={other:?} is neither \"estimate\" nor \"mean\""
                )));
            }
        };
        Ok(Drawing { sampler, calls: self.calls, churn: self.churn, ending })
    }

    fn of<'m>(&self, sample: Sample<'m>, drawing: Drawing) -> Sample<'m> {
        let mut sample = sample.seed(self.seed).drawing(drawing);
        if let Some(label) = &self.label {
            sample = sample.label(label);
        }
        if let Some(guidance) = self.guidance {
            sample = sample.guidance(guidance);
        }
        sample
    }
}

/// A model of images.
#[pyclass(frozen, extends = AnyModel, module = "pmm._pmm")]
pub(crate) struct ImageModel(Arc<Model>);

impl ImageModel {
    pub(crate) fn new(py: Python<'_>, model: Model) -> PyResult<Bound<'_, Self>> {
        let model = Arc::new(model);
        Bound::new(py, PyClassInitializer::from(AnyModel::new(model.clone())).add_subclass(Self(model)))
    }
}

/// Pixels one image after the other, and the classes.
type Drawn<'py> = (Bound<'py, PyArray1<u8>>, Vec<Option<u32>>);

fn draw(sample: Sample<'_>, watcher: &mut dyn Watcher) -> Result<(Vec<u8>, Vec<Option<u32>>), pmm::Error> {
    let (mut pixels, mut labels, mut images) = (Vec::new(), Vec::new(), sample.images()?);
    while let Some(image) = images.next_watched(watcher) {
        let image = image?;
        pixels.extend(image.pixels);
        labels.push(image.label);
    }
    Ok((pixels, labels))
}

#[pymethods]
impl ImageModel {
    /// Channels, height and width; and the names of the classes.
    fn shape(&self) -> ([usize; 3], Vec<String>) {
        (self.0.images().shape, self.0.images().classes.clone())
    }

    /// New images.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        images: u64,
        drawing: ImageDrawing,
        running: Running<'_>,
    ) -> PyResult<Drawn<'py>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        let (pixels, labels) =
            run(py, &running, move |watcher| draw(drawing.of(model.sample(images), how), watcher))?;
        Ok((bytes(py, &pixels), labels))
    }

    /// An image whose unknown pixels are filled in, so many times.
    fn inpaint<'py>(
        &self,
        py: Python<'py>,
        image: Vec<u8>,
        unknown: Vec<bool>,
        count: u64,
        drawing: ImageDrawing,
        running: Running<'_>,
    ) -> PyResult<Drawn<'py>> {
        let (model, how) = (self.0.clone(), drawing.drawing()?);
        let (pixels, labels) = run(py, &running, move |watcher| {
            let sample = model.sample(count).hole(Hole { image, unknown });
            draw(drawing.of(sample, how), watcher)
        })?;
        Ok((bytes(py, &pixels), labels))
    }

    /// Scores on images that it has not seen.
    fn evaluate(
        &self,
        py: Python<'_>,
        test: ImageArgument,
        train: Option<ImageArgument>,
        samples: Option<ImageArgument>,
        evaluating: Evaluating,
        running: Running<'_>,
    ) -> PyResult<ReportParts> {
        let model = self.0.clone();
        run(py, &running, move |watcher| {
            let evaluate = model.evaluate(test.0);
            let report = evaluated!(evaluate, train, samples.map(|samples| samples.0), evaluating, watcher);
            let (html, json) = (report.html()?, report.to_json().to_string());
            Ok(ReportParts { html, json, rows: Vec::new(), words: report.summary()?, notes: report.notes })
        })
    }

    /// A picture that moves: images coming out of noise, as PNG.
    fn trace(&self, py: Python<'_>, seed: u64, running: Running<'_>) -> PyResult<Vec<u8>> {
        let model = self.0.clone();
        run(py, &running, move |watcher| Ok(model.trace().seed(seed).draw(watcher)?.png().to_vec()))
    }
}
