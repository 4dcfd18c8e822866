//! Images as a kind of model.

use std::path::Path;
use std::sync::Arc;

use pmm_core::ParameterError;
use pmm_data::image_count;
use pmm_net::image::ImageNet;
use pmm_net::{Device, Parts, SettingError};
use pmm_train::image::{ImageConfig, ImageFacts};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::kind::{DataKind, Kind};

/// The kind `image`.
#[derive(Debug)]
pub(crate) enum Image {}

/// Nothing is known beyond the description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFacts {}

impl Kind for Image {
    const KIND: DataKind = DataKind::Image;
    const DESCRIPTION_FILE: &'static str = "images.json";
    const LOSS_UNIT: &'static str = "per pixel";
    type Config = ImageConfig;
    type Description = ImageFacts;
    type Net = ImageNet;
    type More = ();
    type Facts = NoFacts;

    fn write_description(images: &ImageFacts) -> Result<String, Error> {
        Ok(images.to_json())
    }

    fn read_description(text: &str, path: &Path) -> Result<ImageFacts, Error> {
        serde_json::from_str(text)
            .map_err(|error| Error::DamagedModel { path: path.into(), why: error.to_string() })
    }

    fn check_description(images: &ImageFacts, config: &ImageConfig) -> Result<(), SettingError> {
        images.check(config)
    }

    fn network(
        config: &ImageConfig,
        images: &Arc<ImageFacts>,
        device: &Device,
    ) -> Result<ImageNet, ParameterError> {
        config.network(images, device)
    }

    fn parts(net: &ImageNet) -> &Parts {
        net.parts()
    }

    fn card(model: &Fitted<Self>) -> String {
        let images = &model.description;
        format!(
            "# A model of images, by Posterior Mean Matching\n\n\
             Fitted by pmm {} to {} of {}; classes: {}; seed {}; {} weights; {}.\n\n{}\n\
             `state/images.bin` holds the images themselves: whoever has this folder can see them. Going on with the fit makes it anew; \
             evaluation compares samples with them, sampling does not need it. Evaluation keeps their features in `cache`, \
             which can be deleted.\n",
            model.fit.version,
            image_count(images.count),
            shape_words(images.shape),
            class_list(&images.classes),
            model.config.seed,
            model.weights.len(),
            model.fit.sentence(Self::LOSS_UNIT),
            model.card_end(),
        )
    }

    fn about(model: &Fitted<Self>) -> Vec<(&'static str, String)> {
        let images = &model.description;
        vec![
            ("images", format!("{}, {}", images.count, shape_words(images.shape))),
            ("classes", class_list(&images.classes)),
        ]
    }

    fn details(model: &Fitted<Self>) -> serde_json::Value {
        serde_json::json!({ "images": &*model.description })
    }

    fn seed(config: &ImageConfig) -> u64 {
        config.seed
    }
}

/// `28×28 pixels, grey`.
pub fn shape_words([channels, height, width]: [usize; 3]) -> String {
    format!("{width}×{height} pixels, {}", if channels == 1 { "grey" } else { "colour" })
}

/// The classes in a line.
pub fn class_list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        few if few.len() <= 12 => format!("{}: {}", few.len(), few.join(", ")),
        many => format!("{}: {}, …", many.len(), many[..12].join(", ")),
    }
}
