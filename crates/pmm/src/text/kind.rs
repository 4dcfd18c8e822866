//! Texts as a kind of model.

use std::path::Path;
use std::sync::Arc;

use pmm_core::ParameterError;
use pmm_data::Tokenizer;
use pmm_net::text::TextNetwork;
use pmm_net::{Device, Parts};
use pmm_train::text::TextConfig;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::kind::{DataKind, Kind};

/// The kind `text`.
#[derive(Debug)]
pub(crate) enum Text {}

/// What is known about a fitted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextFacts {
    pub(crate) tokens: u64,
    pub(crate) characters: u64,
}

impl Kind for Text {
    const KIND: DataKind = DataKind::Text;
    const DESCRIPTION_FILE: &'static str = "tokenizer.json";
    const LOSS_UNIT: &'static str = "nats per token";
    type Config = TextConfig;
    type Description = Tokenizer;
    type Net = TextNetwork;
    type More = ();
    type Facts = TextFacts;

    fn write_description(tokenizer: &Tokenizer) -> Result<String, Error> {
        Ok(tokenizer.to_json())
    }

    fn read_description(text: &str, path: &Path) -> Result<Tokenizer, Error> {
        Tokenizer::from_json(text)
            .map_err(|error| Error::DamagedModel { path: path.into(), why: error.to_string() })
    }

    fn network(
        config: &TextConfig,
        tokenizer: &Arc<Tokenizer>,
        device: &Device,
    ) -> Result<TextNetwork, ParameterError> {
        config.network(tokenizer.classes(), device)
    }

    fn parts(net: &TextNetwork) -> &Parts {
        net.parts()
    }

    fn card(model: &Fitted<Self>) -> String {
        format!(
            "# A model of texts, by Posterior Mean Matching\n\n\
             Fitted by pmm {} to {} characters ({} tokens, {}, {} kinds); seed {}; {} weights; {}.\n\n{}\n\
             `state/tokens.bin` is the text itself: whoever has this folder can read it. Going on with the fit needs it; sampling does not.\n",
            model.fit.version,
            model.facts.characters,
            model.facts.tokens,
            model.description.name(),
            model.description.classes(),
            model.config.seed,
            model.weights.len(),
            model.fit.sentence(Self::LOSS_UNIT),
            model.card_end(),
        )
    }

    fn about(model: &Fitted<Self>) -> Vec<(&'static str, String)> {
        let tokenizer = &model.description;
        vec![
            ("text", format!("{} characters, {} tokens", model.facts.characters, model.facts.tokens)),
            ("tokenizer", format!("{}, {} kinds", tokenizer.name(), tokenizer.classes())),
            ("length", format!("{} tokens", model.net.length())),
        ]
    }

    fn details(model: &Fitted<Self>) -> serde_json::Value {
        serde_json::json!({
            "characters": model.facts.characters, "tokens": model.facts.tokens,
            "tokenizer": model.description.name(), "classes": model.description.classes(),
        })
    }

    fn seed(config: &TextConfig) -> u64 {
        config.seed
    }
}
