//! Models that are open: read once, and again when their files have changed.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use pmm::Model;

use crate::problem::Problem;
use crate::workspace::Workspace;

/// Models that are kept open.
const MOST: usize = 8;

/// A model that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) model: Model,
    /// BLAKE3 of its settings, description and weights: the same model has the same.
    pub(crate) hash: String,
}

/// The models that are open, the last asked for last.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    models: Mutex<Vec<(Stamp, Arc<Opened>)>>,
}

/// By what a change of a model's files is noticed.
type Stamp = Option<(SystemTime, u64)>;

impl Shelf {
    /// A model of the folder. Call it where it may take its time.
    pub(crate) fn open(&self, workspace: &Workspace, name: &str) -> Result<Arc<Opened>, Problem> {
        let path = workspace.model(name)?;
        let stamp = stamp(&path);
        if let Some(opened) = self.take(name, stamp) {
            return Ok(opened);
        }
        let model = pmm::open(&path).map_err(|error| Problem::of(&error).within(workspace.root()))?;
        let hash = hash(&path)?;
        let opened = Arc::new(Opened { name: name.to_owned(), model, hash });
        let mut models = self.lock();
        models.retain(|(_, other)| other.name != name);
        if models.len() >= MOST {
            models.remove(0);
        }
        models.push((stamp, opened.clone()));
        Ok(opened)
    }

    fn take(&self, name: &str, stamp: Stamp) -> Option<Arc<Opened>> {
        let mut models = self.lock();
        let place = models.iter().position(|(found, model)| model.name == name && *found == stamp)?;
        let found = models.remove(place);
        let opened = found.1.clone();
        models.push(found);
        Some(opened)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Stamp, Arc<Opened>)>> {
        self.models.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn stamp(folder: &Path) -> Stamp {
    let found = std::fs::metadata(folder.join("weights.safetensors")).ok()?;
    Some((found.modified().ok()?, found.len()))
}

fn hash(folder: &Path) -> Result<String, Problem> {
    let mut hasher = blake3::Hasher::new();
    let names = ["config.toml", "schema.json", "tokenizer.json", "images.json", "weights.safetensors"];
    for name in names {
        match std::fs::read(folder.join(name)) {
            Ok(bytes) => hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes),
            // A model has one description.
            Err(_) => hasher.update(&[0; 8]),
        };
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

impl Opened {
    /// The model of a table, or a problem that says what it is.
    pub(crate) fn table(&self) -> Result<&pmm::table::Model, Problem> {
        match &self.model {
            Model::Table(model) => Ok(model),
            _ => Err(self.stranger("table")),
        }
    }

    /// The model of texts.
    pub(crate) fn text(&self) -> Result<&pmm::text::Model, Problem> {
        match &self.model {
            Model::Text(model) => Ok(model),
            _ => Err(self.stranger("text")),
        }
    }

    /// The model of images.
    pub(crate) fn image(&self) -> Result<&pmm::image::Model, Problem> {
        match &self.model {
            Model::Image(model) => Ok(model),
            _ => Err(self.stranger("image")),
        }
    }

    fn stranger(&self, wanted: &str) -> Problem {
        let kind = self.model.kind().name();
        Problem::conflict(format!("{} is a model of {kind}s, not of {wanted}s", self.name))
    }
}
