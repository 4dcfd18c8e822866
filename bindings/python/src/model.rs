//! What models of tables, texts and images have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pmm::{Error, Info, image, table, text};
use pyo3::prelude::*;

use crate::errors::failure;
use crate::threads::compute;

/// A model of any kind.
pub(crate) trait Kept: Send + Sync {
    fn save(&self, folder: &Path) -> Result<(), Error>;
    fn info(&self) -> Info;
    fn folder(&self) -> Option<&Path>;
}

macro_rules! kept {
    ($($model:ty),*) => {$(
        impl Kept for $model {
            fn save(&self, folder: &Path) -> Result<(), Error> {
                self.save(folder)
            }

            fn info(&self) -> Info {
                self.info()
            }

            fn folder(&self) -> Option<&Path> {
                self.folder()
            }
        }
    )*};
}
kept!(table::Model, text::Model, image::Model);

/// The class of which those of tables, texts and images are.
#[pyclass(frozen, subclass, module = "pmm._pmm")]
pub(crate) struct AnyModel(Arc<dyn Kept>);

impl AnyModel {
    pub(crate) fn new(model: Arc<dyn Kept>) -> Self {
        Self(model)
    }
}

#[pymethods]
impl AnyModel {
    /// Writes the model to a folder; a model that is there is replaced.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        compute(py, || self.0.save(&folder))
    }

    /// Facts as JSON: in words, and all of them.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        let info = self.0.info();
        let all = serde_json::to_value(&info).map_err(|error| failure(py, &error.to_string()))?;
        Ok(serde_json::json!({ "facts": info.facts(), "info": all }).to_string())
    }

    /// The folder that it was read from or fitted in.
    fn folder(&self) -> Option<PathBuf> {
        self.0.folder().map(Into::into)
    }
}
