//! The folder of an image model: as that of a table, with `images.json` in place of a schema.

use std::path::Path;
use std::sync::Arc;

use pmm_data::Images;
use pmm_net::image::{ImageDenoiser, ImageNet, ImagePair, ImageShape, PixelFacts};
use serde::{Deserialize, Serialize};

use crate::image_config::ImageConfig;
use crate::model::{self, CONFIG, ModelError, gather, is_kind, read};
use pmm_store::Facts;

const IMAGES: &str = "images.json";

/// What the images of a model are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFacts {
    /// How many there are.
    pub count: u64,
    /// Channels (1: grey, 3: colour), height and width.
    pub shape: [usize; 3],
    /// The names of the classes.
    pub classes: Vec<String>,
    /// Images of each class.
    pub class_counts: Vec<u64>,
    /// Mean and spread of the pixels, in the pair's unit.
    pub pixels: PixelFacts,
}

impl ImageFacts {
    /// Those of images; one pass over all of them.
    pub fn of(images: &Images, pair: ImagePair) -> Self {
        let mut bytes = [0u64; 256];
        let mut class_counts = vec![0; images.classes().len()];
        for index in 0..images.len() {
            images.pixels(index).iter().for_each(|byte| bytes[usize::from(*byte)] += 1);
            if let Some(label) = images.label(index) {
                class_counts.get_mut(label as usize).into_iter().for_each(|count| *count += 1);
            }
        }
        Self {
            count: images.len() as u64,
            shape: images.shape(),
            classes: images.classes().to_vec(),
            class_counts,
            pixels: pair.facts(&bytes),
        }
    }

    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|error| unreachable!("facts are numbers and texts: {error}"))
    }

    /// What is wrong with it, beside a network of these settings, if anything.
    fn problem(&self, config: &ImageConfig) -> Option<String> {
        let [channels, height, width] = self.shape;
        let net = &config.net;
        if [net.channels_out, net.size, net.size] != [channels, height, width]
            || net.classes != self.classes.len()
            || self.classes.len() != self.class_counts.len()
        {
            return Some("its shape or classes are not those of config.toml".into());
        }
        let PixelFacts { mean, sd } = self.pixels;
        (!(mean.is_finite() && sd.is_finite() && sd > 0.0)).then(|| "its pixels have no spread".into())
    }
}

/// A model of images.
#[derive(Debug)]
pub struct ImageModel {
    /// The settings.
    pub config: ImageConfig,
    /// What the images are.
    pub images: ImageFacts,
    /// The network.
    pub denoiser: ImageDenoiser,
    /// Facts about the fit.
    pub facts: Facts,
}

/// Whether a folder holds a model of images.
pub fn is_image_model(folder: &Path) -> bool {
    is_kind(folder, "image")
}

/// What a model's files belong together by.
pub fn image_identity(data: &str, images: &ImageFacts, config: &ImageConfig) -> Facts {
    let mut config = config.clone();
    config.train.checkpoint_seconds = crate::TrainConfig::default().checkpoint_seconds;
    model::facts(data, &images.to_json(), &model::to_toml(&config))
}

/// The network of settings and images, on the chosen device.
pub fn image_network(
    images: &ImageFacts,
    config: &ImageConfig,
) -> Result<ImageNet, pmm_core::ParameterError> {
    let shape =
        ImageShape { pair: config.pair, parametrisation: config.parametrisation, facts: images.pixels };
    ImageNet::new(&config.net, &shape, pmm_net::device())
}

/// Writes settings and what the images are.
pub fn save_image_settings(
    folder: &Path,
    config: &ImageConfig,
    images: &ImageFacts,
) -> Result<(), ModelError> {
    model::write(folder, IMAGES, &images.to_json())?;
    model::write(folder, CONFIG, &model::to_toml(config))
}

/// Settings of a folder, and what its images are.
pub fn load_image_settings(folder: &Path) -> Result<(ImageConfig, ImageFacts), ModelError> {
    let fault = |file: &str, why: String| ModelError::Config { path: folder.join(file), why };
    let config: ImageConfig =
        toml::from_str(&read(folder, CONFIG)?).map_err(|error| fault(CONFIG, error.to_string()))?;
    if let Some(why) = config.problem() {
        return Err(fault(CONFIG, why));
    }
    let images: ImageFacts =
        serde_json::from_str(&read(folder, IMAGES)?).map_err(|error| fault(IMAGES, error.to_string()))?;
    match images.problem(&config) {
        Some(why) => Err(fault(IMAGES, why)),
        None => Ok((config, images)),
    }
}

impl ImageModel {
    /// Reads a model, whole and unaltered.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let (config, images) = load_image_settings(folder)?;
        let net = image_network(&images, &config)?;
        let identity = |data: &str| Ok(image_identity(data, &images, &config));
        let (weights, facts) = gather(folder, net.parts(), identity)?;
        Ok(Self { config, images, denoiser: ImageDenoiser::new(Arc::new(net), &weights), facts })
    }
}
