//! The resolved settings of a text model: `config.toml`.

use pmm_net::text::{OrderedConfig, Schedule, TextNetConfig, TextNetwork};
use pmm_net::{Device, Positions, SettingError, TransformerConfig};
use serde::{Deserialize, Serialize};

use super::order_weights::OrderWeights;
use crate::muon::MuonConfig;
use crate::train_config::{RateSchedule, TrainConfig};

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
    /// Whether documents are sequences, read from FASTA: set by the file's name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sequences: bool,
    /// How the clock of a masked network runs; also of the orders under `order.clock`.
    pub schedule: Schedule,
    /// Share of the text, at its end, held out for validation.
    pub valid: f64,
    /// Texts per step.
    pub batch: usize,
    /// The largest learning rate of an ordered network's tables of local patterns, which Adagrad moves.
    pub pattern_rate: f64,
    /// Of a text of which the network will not come to all, these tables read this many times as many tokens as the network will, before it
    /// begins; each part of the text once at most.
    pub read_ahead: f64,
    /// The network.
    pub net: TextNetConfig,
    /// In which orders an ordered network learns texts.
    pub order: OrderWeights,
    /// How the matrices of blocks are moved; by AdamW in a masked network, unless a rate is set.
    pub muon: MuonConfig,
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
            sequences: false,
            schedule: Schedule::LogLinear,
            valid: 0.05,
            batch: 16,
            pattern_rate: 0.1,
            read_ahead: 16.0,
            net: TextNetConfig::default(),
            order: OrderWeights::default(),
            muon: MuonConfig::default(),
            train: TrainConfig {
                learning_rate: 4e-3,
                warmup: 50,
                schedule: RateSchedule::Trapezoid,
                beta_2: 0.95,
                weight_decay: 0.0,
                patience: 30,
                // The tables of patterns make checkpoints large.
                checkpoint_seconds: 120.0,
                ..TrainConfig::default()
            },
        }
    }
}

/// The names of the presets, and what each is.
pub const TEXT_PRESETS: [(&str, &str); 6] = [
    ("text8", "the paper's text8 model, full size"),
    ("openwebtext", "the paper's OpenWebText model, full size; takes GPT-2's tokenizer"),
    ("text8-ordered", "an ordered network of the size of the paper's text8 model"),
    ("text8-tiny", "text8 in half an hour on two cores"),
    ("text8-tiny-masked", "the same with the paper's masked network"),
    ("shakespeare", "a megabyte of text in ten minutes on two cores"),
];

/// Multiplications that a fit may cost: about ten minutes of two cores.
const BUDGET: f64 = 2.5e13;

/// The rate of tables of patterns that no text is read twice by; those of a short text would know it by heart.
const LONG_TEXT_RATE: f64 = 0.3;

impl TextConfig {
    /// The recommended settings of a masked network, which is the paper's.
    pub fn masked() -> Self {
        Self {
            net: TextNetConfig::Masked(TransformerConfig::default()),
            muon: MuonConfig::off(),
            train: TrainConfig {
                learning_rate: 1e-3,
                beta_2: 0.98,
                weight_decay: 0.03,
                ema: 0.998,
                patience: 30,
                checkpoint_seconds: 30.0,
                ..TrainConfig::default()
            },
            ..Self::default()
        }
    }

    /// A preset by name.
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "text8" => Self::paper(Schedule::Staircase, 256, 980_000),
            "openwebtext" => {
                let paper = Self::paper(Schedule::Linear, 1024, 940_000);
                Self { tokenizer: "bpe".into(), vocabulary: 50_257, ..paper }
            }
            "text8-ordered" => {
                let net = OrderedConfig { width: 768, blocks: 12, heads: 24, ..Default::default() };
                let config = Self { batch: 512, net: TextNetConfig::Ordered(net), ..Self::default() };
                config.with_steps(200_000)
            }
            "text8-tiny" => {
                // As many characters as it reads have more patterns than a short text.
                let net = OrderedConfig { hash_bits: 18, ..Default::default() };
                // Random orders are the hardest to learn.
                let order = OrderWeights { random: 2.0, ..Default::default() };
                Self {
                    pattern_rate: LONG_TEXT_RATE,
                    order,
                    net: TextNetConfig::Ordered(net),
                    ..Self::default()
                }
                .with_steps(4_300)
            }
            "text8-tiny-masked" => Self::masked().with_steps(4_500),
            "shakespeare" => Self::default().with_steps(1_600),
            _ => return None,
        })
    }

    /// The paper's network and training, full size.
    fn paper(schedule: Schedule, length: usize, steps: u64) -> Self {
        let config = Self::masked();
        let net = TransformerConfig {
            width: 768,
            blocks: 12,
            heads: 12,
            length,
            condition: 128,
            positions: Positions::Learned,
            time: true,
        };
        let train = TrainConfig {
            steps,
            learning_rate: 3e-4,
            warmup: 0,
            decay: false,
            weight_decay: 0.0,
            ema: 0.0,
            validate_every: 5000,
            patience: 1000,
            checkpoint_seconds: 600.0,
            ..config.train
        };
        Self { schedule, batch: 512, net: TextNetConfig::Masked(net), train, ..config }
    }

    /// The recommended settings for a text of so many tokens of so many kinds.
    pub fn for_text(tokens: u64, classes: usize) -> Self {
        let mut config = Self::default();
        // A short text is cut into a few pieces at least.
        let most = (tokens / 8).max(2) as usize;
        let length = config.net.length().min(most.next_power_of_two() / 2).max(2);
        let mut net = OrderedConfig { length, ..OrderedConfig::default() }.for_classes(classes);
        // A short text has few patterns to tell apart.
        net.hash_bits = net.hash_bits.min((tokens / 4).max(256).ilog2());
        let step = 3.0 * config.batch as f64 * net.multiplications(classes);
        // A token is worth looking at some forty times: another order makes every look another one.
        let looks = 40.0 * tokens as f64 / (config.batch * net.length) as f64;
        let steps = (BUDGET / step).min(looks).clamp(200.0, 20_000.0);
        if steps * ((config.batch * net.length) as f64) < tokens as f64 {
            config.pattern_rate = LONG_TEXT_RATE;
        }
        config.net = TextNetConfig::Ordered(net);
        config.with_steps((steps / 100.0).round() as u64 * 100)
    }

    /// For sequences of residues: neighbours say so little of a residue that tables of patterns learn noise (with them held-out proteins cost .26
    /// bits per residue more, after 250 steps), so there are none.
    pub fn for_sequences(mut self) -> Self {
        if let TextNetConfig::Ordered(net) = &mut self.net {
            net.hash_bits = 0;
        }
        Self { sequences: true, ..self }
    }

    /// With so many steps, and all that follows from their number. The average of a masked network looks back over a tenth of the
    /// run; an ordered one ends with a small learning rate, and needs little of it.
    pub fn with_steps(self, steps: u64) -> Self {
        let masked = matches!(self.net, TextNetConfig::Masked(_));
        let mut train = self.train.with_steps(steps, if masked { 10.0 } else { 50.0 });
        if !masked {
            train.warmup = train.warmup.min(50);
        }
        Self { train, ..self }
    }

    /// The network of so many kinds of tokens, on a device.
    pub fn network(&self, classes: usize, device: &Device) -> Result<TextNetwork, pmm_core::ParameterError> {
        self.net.network(classes, self.schedule, device.clone())
    }

    /// Refuses settings that make no model.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("batch", self.batch, 1, 1_000_000)?;
        SettingError::between("valid", self.valid, 0.0, 0.5)?;
        // All bytes, and something to merge.
        SettingError::between("vocabulary", self.vocabulary, 257, 10_000_000)?;
        SettingError::between("pattern_rate", self.pattern_rate, 0.0, 1e3)?;
        SettingError::between("read_ahead", self.read_ahead, 0.0, 1e6)?;
        self.net.check()?;
        self.order.check()?;
        self.muon.check()?;
        self.train.check(self.batch)
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
        let TextNetConfig::Masked(net) = &config.net else { unreachable!("the paper's network is masked") };
        let net = pmm_net::Transformer::new(50_257, net);
        let blocks = 12 * (12 * 768 * 768 + 13 * 768 - 4 * 768);
        let modulations = 12 * (128 + 1) * 6 * 768 + (128 + 1) * 2 * 768;
        let embeddings = (50_258 + 1024) * 768 + 50_257 * 769;
        let time = 65 * 128 + 129 * 128;
        assert_eq!(net.parts().len(), blocks + modulations + embeddings + time);
    }

    #[test]
    fn short_texts_get_short_lengths() {
        assert_eq!(TextConfig::for_text(100, 20).net.length(), 8);
        assert_eq!(TextConfig::for_text(1_000_000, 60).net.length(), 256);
        TextConfig::for_text(3, 2).check().unwrap();
        let rate = |tokens| TextConfig::for_text(tokens, 27).pattern_rate;
        assert!(rate(100_000_000) > rate(1_000_000));
    }

    /// `net.kind` is a line like any other: all settings go through a file, a kind alone chooses the network, what the other kind had
    /// is passed over, and what neither has is refused.
    #[test]
    fn the_kind_of_network_is_a_setting() {
        for (name, _) in TEXT_PRESETS {
            let config = TextConfig::preset(name).unwrap();
            assert_eq!(toml::from_str::<TextConfig>(&crate::to_toml(&config)).unwrap(), config, "{name}");
        }
        let mut table: toml::Table = crate::to_toml(&TextConfig::default()).parse().unwrap();
        let net = table["net"].as_table_mut().unwrap();
        net.insert("kind".into(), "masked".into());
        net.insert("width".into(), 96.into());
        let config: TextConfig = table.clone().try_into().unwrap();
        let expected = TransformerConfig { width: 96, heads: 6, ..Default::default() };
        assert_eq!(config.net, TextNetConfig::Masked(expected));
        table["net"].as_table_mut().unwrap().insert("colour".into(), "red".into());
        assert!(table.try_into::<TextConfig>().unwrap_err().to_string().contains("colour"));
        let bare: TextConfig = toml::from_str("[net]\nblocks = 2").unwrap();
        assert_eq!(bare.net, TextNetConfig::Ordered(OrderedConfig { blocks: 2, ..Default::default() }));
    }
}
