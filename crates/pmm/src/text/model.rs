//! The folder of a text model: as that of a table, with `tokenizer.json` in place of a schema.

use std::path::Path;
use std::sync::Arc;

use pmm_data::Tokenizer;
use pmm_net::text::{TextDenoiser, TextNet};

use crate::model::{self, CONFIG, ModelError, gather, is_kind, read};
use crate::text_config::TextConfig;
use pmm_store::Facts;

const TOKENIZER: &str = "tokenizer.json";

/// A model of texts.
#[derive(Debug)]
pub struct TextModel {
    /// The settings.
    pub config: TextConfig,
    /// Text ⇄ tokens.
    pub tokenizer: Tokenizer,
    /// The network.
    pub denoiser: TextDenoiser,
    /// Facts about the fit.
    pub facts: Facts,
}

/// Whether a folder holds a model of texts.
pub fn is_text_model(folder: &Path) -> bool {
    is_kind(folder, "text")
}

/// What a model's files belong together by.
pub fn text_identity(data: &str, tokenizer: &Tokenizer, config: &TextConfig) -> Facts {
    let mut config = config.clone();
    config.train.checkpoint_seconds = crate::TrainConfig::default().checkpoint_seconds;
    model::facts(data, &tokenizer.to_json(), &model::to_toml(&config))
}

/// The network of settings, on the chosen device.
pub fn text_network(classes: usize, config: &TextConfig) -> Result<TextNet, pmm_core::ParameterError> {
    TextNet::new(classes, &config.net, config.schedule, pmm_net::device())
}

/// Writes settings and tokenizer.
pub fn save_text_settings(
    folder: &Path,
    config: &TextConfig,
    tokenizer: &Tokenizer,
) -> Result<(), ModelError> {
    model::write(folder, TOKENIZER, &tokenizer.to_json())?;
    model::write(folder, CONFIG, &model::to_toml(config))
}

/// Settings and tokenizer of a folder.
pub fn load_text_settings(folder: &Path) -> Result<(TextConfig, Tokenizer), ModelError> {
    let fault = |why: String| ModelError::Config { path: folder.join(CONFIG), why };
    let config: TextConfig =
        toml::from_str(&read(folder, CONFIG)?).map_err(|error| fault(error.to_string()))?;
    if let Some(why) = config.problem() {
        return Err(fault(why));
    }
    let tokenizer = Tokenizer::from_json(&read(folder, TOKENIZER)?)
        .map_err(|error| ModelError::Config { path: folder.join(TOKENIZER), why: error.to_string() })?;
    Ok((config, tokenizer))
}

impl TextModel {
    /// Reads a model, whole and unaltered.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let (config, tokenizer) = load_text_settings(folder)?;
        let net = text_network(tokenizer.classes(), &config)?;
        let identity = |data: &str| Ok(text_identity(data, &tokenizer, &config));
        let (weights, facts) = gather(folder, net.parts(), identity)?;
        Ok(Self { config, tokenizer, denoiser: TextDenoiser::new(Arc::new(net), weights), facts })
    }
}
