//! A fitted model of images.

use std::path::Path;

use pmm_net::Device;
use pmm_net::image::ImageDenoiser;
use pmm_train::image::{ImageConfig, ImageFacts};

use super::data::Data;
use super::evaluate::Evaluate;
use super::kind::Image;
use super::sample::Sample;
use super::trace::Trace;
use crate::error::Error;
use crate::fitted::{FitSummary, Fitted};
use crate::info::Info;

/// A model of images.
pub struct Model {
    pub(crate) fitted: Fitted<Image>,
    pub(crate) denoiser: ImageDenoiser,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("weights", &self.fitted.weights.len()).finish_non_exhaustive()
    }
}

impl Model {
    pub(crate) fn new(fitted: Fitted<Image>) -> Self {
        let denoiser = ImageDenoiser::new(fitted.net.clone(), &fitted.weights);
        Self { fitted, denoiser }
    }

    /// Reads a model, whole and unaltered, to compute on a device.
    pub fn open(folder: impl AsRef<Path>, device: &Device) -> Result<Self, Error> {
        Ok(Self::new(Fitted::load(folder.as_ref(), device)?))
    }

    /// Writes the model to a folder, whole; a model that is there is replaced.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        self.fitted.save(folder.as_ref())
    }

    /// What the images are.
    pub fn images(&self) -> &ImageFacts {
        &self.fitted.description
    }

    /// The settings.
    pub fn config(&self) -> &ImageConfig {
        &self.fitted.config
    }

    /// How the fit went.
    pub fn summary(&self) -> &FitSummary {
        &self.fitted.fit
    }

    /// What it is, how it was trained and how big it is.
    pub fn info(&self) -> Info {
        self.fitted.info()
    }

    /// The folder that it was read from or fitted in.
    pub fn folder(&self) -> Option<&Path> {
        self.fitted.folder.as_deref()
    }

    /// New images.
    pub fn sample(&self, images: u64) -> Sample<'_> {
        Sample::new(self, images)
    }

    /// An image whose unknown pixels are filled in: bytes `[channels, height, width]`, and which pixels `[height, width]` are
    /// unknown.
    pub fn inpaint(&self, image: Vec<u8>, unknown: Vec<bool>) -> Sample<'_> {
        Sample::new(self, 1).hole(super::sample::Hole { image, unknown })
    }

    /// Scores of the model on images that it has not seen.
    pub fn evaluate(&self, test: impl Into<Data>) -> Evaluate<'_> {
        Evaluate::new(self, test.into())
    }

    /// A picture of images coming out of noise.
    pub fn trace(&self) -> Trace<'_> {
        Trace::new(self)
    }

    /// The place of a class.
    pub(crate) fn class(&self, name: &str) -> Result<u32, Error> {
        let classes = &self.images().classes;
        if classes.is_empty() {
            return Err(Error::request("the images of this model have no classes", "ask for no class"));
        }
        match classes.iter().position(|class| class == name.trim()) {
            Some(class) => Ok(class as u32),
            None => {
                let some: Vec<&str> = classes.iter().take(20).map(String::as_str).collect();
                let more = if classes.len() > 20 { ", …" } else { "" };
                Err(Error::request(
                    format!("there is no class {:?}", name.trim()),
                    format!("classes are {}{more}", some.join(", ")),
                ))
            }
        }
    }
}
