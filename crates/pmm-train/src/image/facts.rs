//! What the images of a model are: `images.json`.

use pmm_data::Images;
use pmm_net::SettingError;
use pmm_net::image::{ImagePair, PixelFacts};
use serde::{Deserialize, Serialize};

use super::config::ImageConfig;

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

    /// As text, for `images.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .unwrap_or_else(|error| unreachable!("facts are numbers and texts: {error}"))
    }

    /// Refuses facts that a network of these settings is not for.
    pub fn check(&self, config: &ImageConfig) -> Result<(), SettingError> {
        let [channels, height, width] = self.shape;
        let net = &config.net;
        let fits = [net.channels_out, net.size, net.size] == [channels, height, width];
        SettingError::unless(fits, "shape", format!("{:?}", self.shape), "that of config.toml")?;
        let named = net.classes == self.classes.len() && self.classes.len() == self.class_counts.len();
        SettingError::unless(named, "classes", self.classes.len(), "as many as config.toml says")?;
        let PixelFacts { mean, sd } = self.pixels;
        let spread = mean.is_finite() && sd.is_finite() && sd > 0.0;
        SettingError::unless(spread, "pixels.sd", sd, "a positive number: the pixels have no spread")
    }
}
