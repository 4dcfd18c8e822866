//! The resolved settings of an image model: `config.toml`.

use pmm_net::image::{ImageNet, ImagePair, ImageShape, Parametrisation};
use pmm_net::{Device, SettingError, Unet, UnetConfig, UnetKind};
use serde::{Deserialize, Serialize};

use super::augment;
use super::facts::ImageFacts;
use crate::muon::MuonConfig;
use crate::train_config::TrainConfig;

/// What a folder is a model of; a table has no such line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageKind {
    /// Images.
    Image,
}

/// Everything that a fit depends on, beside the images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImageConfig {
    /// Always `image`.
    pub kind: ImageKind,
    /// Fixes every random number.
    pub seed: u64,
    /// Height and width to which images are scaled and cropped; without it squares of one size up to 64 stay as they are, and
    /// others are made so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Whether images are made grey; without it they are if all are stored so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grey: Option<bool>,
    /// The pair of the pixels.
    pub pair: ImagePair,
    /// What the network's answer means, for the Normal pair.
    pub parametrisation: Parametrisation,
    /// Whether half of the images are mirrored, left for right, and the network is not told: samples are mirrored as often.
    pub flips: bool,
    /// How often an image is turned upside down (half as often), scaled, rotated, stretched and shifted, each with this
    /// probability; half of the images are also mirrored, unless `flips` does that already. The network is told all of it, and
    /// draws images as they are. 0 changes nothing, and is left out of `config.toml`: models from before this setting stay valid.
    #[serde(skip_serializing_if = "is_zero")]
    pub augment: f64,
    /// Share of images whose class the network is not told, so that it also learns images without one (for guidance).
    pub label_dropout: f64,
    /// Share of images of which a random part is observed, so that it learns to fill in the rest.
    pub observed: f64,
    /// Share of the images held out for validation.
    pub valid: f64,
    /// Images per step.
    pub batch: usize,
    /// The network. Size, channels and classes are those of the images.
    pub net: UnetConfig,
    /// Muon, for the kernels and matrices of the blocks. Not written where AdamW moves them: models from before there was a choice stay
    /// the same.
    #[serde(default = "MuonConfig::off", skip_serializing_if = "MuonConfig::is_off")]
    pub muon: MuonConfig,
    /// The training.
    pub train: TrainConfig,
}

impl Default for ImageConfig {
    fn default() -> Self {
        Self {
            kind: ImageKind::Image,
            seed: 0,
            size: None,
            grey: None,
            pair: ImagePair::Normal,
            parametrisation: Parametrisation::Edm,
            flips: false,
            augment: 0.0,
            label_dropout: 0.1,
            observed: 0.2,
            valid: 0.05,
            batch: 32,
            net: small(16),
            muon: MuonConfig::default(),
            train: TrainConfig {
                learning_rate: 2e-3,
                beta_2: 0.99,
                weight_decay: 0.01,
                patience: 30,
                checkpoint_seconds: 60.0,
                ..TrainConfig::default()
            },
        }
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A network for two cores.
fn small(width: usize) -> UnetConfig {
    UnetConfig {
        kind: UnetKind::Adm,
        width,
        multipliers: vec![1, 2, 4],
        blocks: 1,
        attention: vec![],
        channels_per_head: 32,
        dropout: 0.0,
        ..UnetConfig::default()
    }
}

/// The names of the presets, and what each is.
pub const IMAGE_PRESETS: [(&str, &str); 6] = [
    ("mnist", "digits in half an hour on two cores"),
    ("cifar10-tiny", "small colour images on two cores"),
    ("cifar10", "the paper's CIFAR-10 model, full size"),
    ("cifar10-poisson", "the same with the Poisson pair"),
    ("ffhq64", "the paper's FFHQ model at 64×64, full size"),
    ("afhqv2", "the paper's AFHQv2 model at 64×64, full size"),
];

/// Multiplications that a fit may cost: about half an hour of two cores.
const BUDGET: f64 = 1e14;

impl ImageConfig {
    /// A preset by name.
    pub fn preset(name: &str) -> Option<Self> {
        let config = Self::default();
        let paper = |net: UnetConfig, batch: usize, steps: u64| Self {
            size: Some(net.size),
            parametrisation: Parametrisation::Eps,
            flips: true,
            label_dropout: 0.0,
            observed: 0.0,
            batch,
            net,
            muon: MuonConfig::off(),
            train: TrainConfig {
                steps,
                learning_rate: 1e-4,
                beta_2: 0.999,
                warmup: 0,
                decay: false,
                weight_decay: 0.0,
                ema: 0.9999,
                validate_every: 5000,
                patience: 1000,
                checkpoint_seconds: 600.0,
                ..config.train.clone()
            },
            ..config.clone()
        };
        // The paper augments these images only, at the rate of its source; mirrors are then told.
        let cifar10 = |pair: ImagePair, steps: u64| Self {
            pair,
            flips: false,
            augment: 0.12,
            ..paper(UnetConfig::cifar10(), 512, steps)
        };
        Some(match name {
            "mnist" => Self { size: Some(28), grey: Some(true), ..config.with_steps(12_000) },
            "cifar10-tiny" => {
                Self { size: Some(32), flips: true, net: small(32), ..config.with_steps(4_000) }
            }
            "cifar10" => cifar10(ImagePair::Normal, 637_000),
            "cifar10-poisson" => cifar10(ImagePair::Poisson, 1_200_000),
            // The paper does not say how long; as long as its other model of this size.
            "ffhq64" => paper(UnetConfig::ffhq64(), 1248, 848_000),
            "afhqv2" => paper(UnetConfig::afhqv2(), 624, 848_000),
            _ => return None,
        })
    }

    /// The recommended settings for so many images of a shape (channels, height, width).
    pub fn for_images(count: u64, shape: [usize; 3]) -> Self {
        let mut config = Self::default();
        let size = shape[1];
        // Halve while there is something left to see.
        let levels = (0..4).take_while(|level| size.is_multiple_of(1 << level) && size >> level >= 4).count();
        config.net.multipliers = [1, 2, 4, 4][..levels.max(1)].to_vec();
        config.batch = config.batch.min(count.max(1) as usize);
        let net = Unet::new(&config.clone().for_shape(shape, 0).net);
        let step = 3.0 * config.batch as f64 * net.multiplications();
        // An image is worth looking at some two hundred times: noise makes every look another one.
        let looks = 200.0 * count as f64 / config.batch as f64;
        let steps = (BUDGET / step).min(looks).clamp(200.0, 20_000.0);
        config.with_steps((steps / 100.0).round() as u64 * 100)
    }

    /// Numbers by which the network is told how an image was changed.
    fn numbers(&self) -> usize {
        if self.augment > 0.0 { augment::NUMBERS } else { 0 }
    }

    /// With the shape (channels, height, width) and the number of classes that the images have.
    pub fn for_shape(mut self, shape: [usize; 3], classes: usize) -> Self {
        self.net.size = shape[1];
        self.net.channels_out = shape[0];
        self.net.channels_in = shape[0] + usize::from(self.observed > 0.0);
        self.net.classes = classes;
        self.net.augment = self.numbers();
        self
    }

    /// With so many steps, and all that follows from their number. The average looks back over a tenth of the run.
    pub fn with_steps(self, steps: u64) -> Self {
        Self { train: self.train.with_steps(steps, 10.0), ..self }
    }

    /// The network of images, on a device.
    pub fn network(
        &self,
        images: &ImageFacts,
        device: &Device,
    ) -> Result<ImageNet, pmm_core::ParameterError> {
        let shape =
            ImageShape { pair: self.pair, parametrisation: self.parametrisation, facts: images.pixels };
        ImageNet::new(&self.net, &shape, device.clone())
    }

    /// Refuses settings that make no model.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("batch", self.batch, 1, 1_000_000)?;
        SettingError::between("size", self.size.unwrap_or(1), 1, 4096)?;
        SettingError::between("valid", self.valid, 0.0, 0.5)?;
        SettingError::between("label_dropout", self.label_dropout, 0.0, 1.0)?;
        SettingError::between("observed", self.observed, 0.0, 1.0)?;
        SettingError::between("augment", self.augment, 0.0, 1.0)?;
        let numbers = self.numbers();
        let must = format!("{numbers} with augment = {}", self.augment);
        SettingError::unless(self.net.augment == numbers, "net.augment", self.net.augment, must)?;
        self.net.check()?;
        self.muon.check()?;
        self.train.check(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound() {
        for (name, _) in IMAGE_PRESETS {
            let config = ImageConfig::preset(name).unwrap();
            let size = config.size.unwrap();
            let channels = if config.grey == Some(true) { 1 } else { 3 };
            config.for_shape([channels, size, size], 10).check().unwrap();
        }
        assert!(ImageConfig::preset("mnist2").is_none());
    }

    /// The paper's network, to the weight. The public count of 279,631,875 is that of a network which is told no augmentation;
    /// the preset's takes nine numbers of it to 192 channels, without biases.
    #[test]
    fn full_size_has_the_paper_s_weights() {
        for name in ["cifar10", "cifar10-poisson"] {
            let config = ImageConfig::preset(name).unwrap().for_shape([3, 32, 32], 10);
            let count = |config: &ImageConfig| Unet::new(&config.net).parts().len();
            assert_eq!(count(&config), 279_631_875 + 9 * 192);
            let plain = ImageConfig { augment: 0.0, ..config }.for_shape([3, 32, 32], 10);
            assert_eq!(count(&plain), 279_631_875);
        }
    }

    #[test]
    fn augment_is_a_probability_of_which_the_network_knows() {
        let with = |augment: f64| ImageConfig { augment, ..ImageConfig::default() };
        let shaped = |augment: f64| with(augment).for_shape([3, 32, 32], 0);
        assert_eq!((shaped(0.12).check(), shaped(0.12).net.augment), (Ok(()), 9));
        assert_eq!((shaped(0.0).check(), shaped(0.0).net.augment), (Ok(()), 0));
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert!(shaped(wrong).check().unwrap_err().to_string().starts_with("augment = "), "{wrong}");
        }
        assert!(with(0.5).check().unwrap_err().to_string().contains("net.augment = 0: it must be 9"));
        // A model from before the setting has the settings that it had.
        let table: toml::Table = crate::to_toml(&shaped(0.0)).parse().unwrap();
        assert!(!table.contains_key("augment") && table.contains_key("flips"));
        for augment in [0.0, 0.12] {
            let text = crate::to_toml(&shaped(augment));
            assert_eq!(toml::from_str::<ImageConfig>(&text).unwrap(), shaped(augment));
        }
    }

    #[test]
    fn models_from_before_muon_stay_with_adamw() {
        let before = ImageConfig { muon: MuonConfig::off(), ..ImageConfig::default() };
        let text = crate::to_toml(&before);
        assert!(!text.contains("muon") && crate::to_toml(&ImageConfig::default()).contains("muon"));
        assert_eq!(toml::from_str::<ImageConfig>(&text).unwrap(), before);
    }

    #[test]
    fn any_size_gets_a_network() {
        for size in [1, 2, 3, 7, 8, 28, 30, 64, 100] {
            let config = ImageConfig::for_images(500, [3, size, size]).for_shape([3, size, size], 0);
            config.check().unwrap();
        }
    }
}
