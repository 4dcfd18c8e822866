//! The resolved settings of a text model: `config.toml`.

use pmm_net::text::{Schedule, TextNet};
use pmm_net::{Device, Positions, SettingError, TransformerConfig};
use serde::{Deserialize, Serialize};

use crate::train_config::TrainConfig;

/// What a folder is a model of; a table has no such line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextKind {
    /// A text.
    Text,
}

/// Everything that a fit depends on, beside the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextConfig {
    /// Always `text`.
    pub kind: TextKind,
    /// Fixes every random number.
    pub seed: u64,
    /// `characters`, `bytes`, `bpe`, or the path of a tokenizer.
    pub tokenizer: String,
    /// Size of a vocabulary that is trained (`bpe`).
    pub vocabulary: usize,
    /// The field of JSON lines that holds the text.
    pub field: String,
    /// How the clock runs.
    pub schedule: Schedule,
    /// Share of the text, at its end, held out for validation.
    pub valid: f64,
    /// Texts per step.
    pub batch: usize,
    /// The network.
    pub net: TransformerConfig,
    /// The training.
    pub train: TrainConfig,
}

impl Default for TextConfig {
    fn default() -> Self {
        Self {
            kind: TextKind::Text,
            seed: 0,
            tokenizer: "characters".into(),
            vocabulary: 4096,
            field: "text".into(),
            schedule: Schedule::LogLinear,
            valid: 0.05,
            batch: 16,
            net: TransformerConfig::default(),
            train: TrainConfig {
                learning_rate: 1e-3,
                beta_2: 0.98,
                weight_decay: 0.03,
                ema: 0.998,
                patience: 30,
                checkpoint_seconds: 30.0,
                ..TrainConfig::default()
            },
        }
    }
}

/// The names of the presets, and what each is.
pub const TEXT_PRESETS: [(&str, &str); 4] = [
    ("text8", "the paper's text8 model, full size"),
    ("openwebtext", "the paper's OpenWebText model, full size; takes GPT-2's tokenizer"),
    ("text8-tiny", "text8 in half an hour on two cores"),
    ("shakespeare", "a megabyte of text in ten minutes on two cores"),
];

/// Multiplications that a fit may cost: about ten minutes of two cores.
const BUDGET: f64 = 2.5e13;

impl TextConfig {
    /// A preset by name.
    pub fn preset(name: &str) -> Option<Self> {
        let config = Self::default();
        let paper = |schedule: Schedule, length: usize, steps: u64| Self {
            schedule,
            batch: 512,
            net: TransformerConfig {
                width: 768,
                blocks: 12,
                heads: 12,
                length,
                condition: 128,
                positions: Positions::Learned,
                time: true,
            },
            train: TrainConfig {
                steps,
                learning_rate: 3e-4,
                warmup: 0,
                decay: false,
                weight_decay: 0.0,
                ema: 0.0,
                validate_every: 5000,
                patience: 1000,
                checkpoint_seconds: 600.0,
                ..config.train.clone()
            },
            ..config.clone()
        };
        Some(match name {
            "text8" => paper(Schedule::Staircase, 256, 980_000),
            "openwebtext" => {
                Self { tokenizer: "bpe".into(), vocabulary: 50_257, ..paper(Schedule::Linear, 1024, 940_000) }
            }
            "text8-tiny" => config.with_steps(4_500),
            "shakespeare" => config.with_steps(2_000),
            _ => return None,
        })
    }

    /// The recommended settings for a text of so many tokens of so many kinds.
    pub fn for_text(tokens: u64, classes: usize) -> Self {
        let mut config = Self::default();
        // A short text is cut into a few pieces at least.
        let most = (tokens / 8).max(2) as usize;
        config.net.length = config.net.length.min(most.next_power_of_two() / 2).max(2);
        let net = pmm_net::Transformer::new(classes, &config.net);
        let step = 3.0 * config.batch as f64 * net.multiplications(config.net.length / 2);
        // A token is worth looking at some forty times: masks make every look another one.
        let looks = 40.0 * tokens as f64 / (config.batch * config.net.length) as f64;
        let steps = (BUDGET / step).min(looks).clamp(200.0, 20_000.0);
        config.with_steps((steps / 100.0).round() as u64 * 100)
    }

    /// With so many steps, and all that follows from their number. The average looks back over a tenth of the run.
    pub fn with_steps(self, steps: u64) -> Self {
        Self { train: self.train.with_steps(steps, 10.0), ..self }
    }

    /// The network of so many kinds of tokens, on a device.
    pub fn network(&self, classes: usize, device: &Device) -> Result<TextNet, pmm_core::ParameterError> {
        TextNet::new(classes, &self.net, self.schedule, device.clone())
    }

    /// Refuses settings that make no model.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("batch", self.batch, 1, 1_000_000)?;
        SettingError::between("valid", self.valid, 0.0, 0.5)?;
        // All bytes, and something to merge.
        SettingError::between("vocabulary", self.vocabulary, 257, 10_000_000)?;
        self.net.check()?;
        self.train.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound() {
        for (name, _) in TEXT_PRESETS {
            TextConfig::preset(name).unwrap().check().unwrap();
        }
        assert!(TextConfig::preset("text9").is_none());
    }

    /// The paper's network: twelve blocks of GPT-2 small, an untied output, and modulations of condition 128.
    #[test]
    fn full_size_has_the_paper_s_weights() {
        let config = TextConfig::preset("openwebtext").unwrap();
        let net = pmm_net::Transformer::new(50_257, &config.net);
        let blocks = 12 * (12 * 768 * 768 + 13 * 768 - 4 * 768);
        let modulations = 12 * (128 + 1) * 6 * 768 + (128 + 1) * 2 * 768;
        let embeddings = (50_258 + 1024) * 768 + 50_257 * 769;
        let time = 65 * 128 + 129 * 128;
        assert_eq!(net.parts().len(), blocks + modulations + embeddings + time);
    }

    #[test]
    fn short_texts_get_short_lengths() {
        assert_eq!(TextConfig::for_text(100, 20).net.length, 8);
        assert_eq!(TextConfig::for_text(1_000_000, 60).net.length, 256);
        TextConfig::for_text(3, 2).check().unwrap();
    }
}
