//! What a model of images was found to be worth: numbers, pictures, a page.

use std::path::{Path, PathBuf};

use pmm_data::{grid_png, image_count};
use pmm_eval::image::ImageScores;
use pmm_eval::{DenoisingPoint, ImageReport, Raster};

use super::model::Model;
use super::nearest::NearestImages;
use crate::error::Error;
use crate::{folder, log};

/// Samples that are shown, and how many side by side.
const GRID: (usize, usize) = (64, 8);
/// Pixels of the page across, at most.
const PAGE: usize = 704;

/// An evaluation of a model.
pub struct Report<'m> {
    pub(crate) model: &'m Model,
    pub(crate) seed: u64,
    /// Whether the model made the images.
    pub(crate) is_own: bool,
    /// The scores.
    pub scores: ImageScores,
    /// How far the network is off at each noise level.
    pub denoising: Vec<DenoisingPoint>,
    /// The images that were scored.
    pub images: Vec<Vec<u8>>,
    pub(crate) nearest: Option<NearestImages>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Report<'_> {
    /// The figures in words.
    pub fn summary(&self) -> Result<String, Error> {
        Ok(self.page()?.summary())
    }

    /// The page.
    pub fn html(&self) -> Result<String, Error> {
        Ok(self.page()?.html())
    }

    /// Writes `report.html` and `samples.png` to a folder; returns the page's path.
    pub fn write(&self, to: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let (to, report) = (to.as_ref(), self.page()?);
        folder::make(to)?;
        if let Some(samples) = &report.samples {
            folder::write(&to.join("samples.png"), &samples.png)?;
        }
        let page = to.join("report.html");
        folder::write(&page, report.html().as_bytes())?;
        Ok(page)
    }

    /// All figures.
    pub fn to_json(&self) -> serde_json::Value {
        let bits = self.scores.bits;
        serde_json::json!({
            "bits_per_dimension": bits.map(|bits| bits.mean),
            "standard_error": bits.map(|bits| bits.standard_error),
            "terminal_bits": bits.map(|bits| bits.terminal),
            "plain_bits": bits.map(|bits| bits.plain),
            "images": bits.map(|bits| bits.images),
            "distances": self.scores.distances, "accuracy": self.scores.accuracy, "nearest": self.scores.nearest,
            "denoising": self.denoising, "seed": self.seed, "notes": self.notes,
        })
    }

    fn page(&self) -> Result<ImageReport, Error> {
        let (scores, notes) = (self.scores.clone(), self.notes.clone());
        if !self.is_own {
            return Ok(ImageReport { scores, notes, ..ImageReport::default() });
        }
        let shape = self.model.images().shape;
        let shown = &self.images[..GRID.0.min(self.images.len())];
        let caption = format!("The first {} of {} samples, as they came.", shown.len(), self.images.len());
        let samples = raster(shown, shape, GRID.1, "Samples of the model", caption)?;
        Ok(ImageReport {
            name: format!("How good is the model “{}”?", self.model.fitted.name()),
            lead: format!(
                "{} made by the model, held against images that it has not seen. Scores stand beside a baseline: the same score \
                 for real images, which is what a perfect model would get, or for a model that does not look at the whole image.",
                image_count(self.images.len() as u64)
            ),
            scores,
            notes,
            samples: Some(samples),
            nearest: self.nearest.as_ref().map(|nearest| beside(nearest, shape)).transpose()?,
            denoising: self.denoising.clone(),
            curve: self.model.folder().map(log::learning_curve).unwrap_or_default(),
            facts: self
                .model
                .info()
                .facts()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        })
    }
}

/// Samples above their nearest training images.
fn beside(nearest: &NearestImages, shape: [usize; 3]) -> Result<Raster, Error> {
    let score = &nearest.score;
    let caption = format!(
        "First row: of {} samples those that are nearest to a training image; below each the nearest of {} training images, {}. \
         A sample that equals what is below it is a copy.",
        score.images, score.among, score.unit
    );
    raster(&nearest.images, shape, nearest.columns, "Samples above their nearest training images", caption)
}

fn raster(
    images: &[Vec<u8>],
    shape: [usize; 3],
    columns: usize,
    alt: &str,
    caption: String,
) -> Result<Raster, Error> {
    let png = grid_png(images, shape, columns.max(1))?;
    let across = columns.min(images.len()).max(1) * shape[2];
    Ok(Raster { png, width: across * (PAGE / across).max(1), alt: alt.into(), caption })
}
