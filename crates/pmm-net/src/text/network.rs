//! The network of a text, of either kind, and its settings.

use std::sync::Arc;

use burn::tensor::Device;
use pmm_core::{ParameterError, Streams};
use serde::{Deserialize, Serialize};

use super::net::TextNet;
use super::ordered::OrderedNet;
use super::ordered_config::OrderedConfig;
use super::schedule::Schedule;
use crate::parts::Parts;
use crate::setting::SettingError;
use crate::transformer::{Positions, TransformerConfig};

/// The settings of a text's network: `net.kind` says which it is.
///
/// ```
/// use pmm_net::text::{OrderedConfig, TextNetConfig};
/// let config: TextNetConfig = serde_json::from_str(r#"{"kind": "ordered", "width": 96}"#).unwrap();
/// assert_eq!(config, TextNetConfig::Ordered(OrderedConfig { width: 96, ..Default::default() }));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", from = "Flat")]
pub enum TextNetConfig {
    /// Reads tokens in the order of their events: [`OrderedNet`].
    Ordered(OrderedConfig),
    /// Reads masked texts, with the clock's time; the paper's: [`TextNet`].
    Masked(TransformerConfig),
}

impl Default for TextNetConfig {
    fn default() -> Self {
        Self::Ordered(OrderedConfig::default())
    }
}

impl TextNetConfig {
    /// Positions of a text.
    pub fn length(&self) -> usize {
        match self {
            Self::Ordered(config) => config.length,
            Self::Masked(config) => config.length,
        }
    }

    /// With another length.
    pub fn with_length(self, length: usize) -> Self {
        match self {
            Self::Ordered(config) => Self::Ordered(OrderedConfig { length, ..config }),
            Self::Masked(config) => Self::Masked(TransformerConfig { length, ..config }),
        }
    }

    /// Refuses a shape that makes no network.
    pub fn check(&self) -> Result<(), SettingError> {
        match self {
            Self::Ordered(config) => config.check(),
            Self::Masked(config) => config.check(),
        }
    }

    /// The network over so many kinds of tokens. A masked one has a clock and a device; an ordered one needs neither: it runs on the
    /// processor.
    pub fn network(
        &self,
        classes: usize,
        schedule: Schedule,
        device: Device,
    ) -> Result<TextNetwork, ParameterError> {
        Ok(match self {
            Self::Ordered(config) => TextNetwork::Ordered(OrderedNet::new(classes, config)?.into()),
            Self::Masked(config) => {
                TextNetwork::Masked(TextNet::new(classes, config, schedule, device)?.into())
            }
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    #[default]
    Ordered,
    Masked,
}

/// All settings of both kinds, as a file may hold them. Settings of the other kind are passed over: where a user changes the kind alone,
/// those of the recommended one remain beside it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Flat {
    kind: Kind,
    width: Option<usize>,
    blocks: Option<usize>,
    heads: Option<usize>,
    length: Option<usize>,
    condition: Option<usize>,
    positions: Option<Positions>,
    time: Option<bool>,
    window: Option<usize>,
    hash_bits: Option<u32>,
}

impl From<Flat> for TextNetConfig {
    fn from(flat: Flat) -> Self {
        let (ordered, masked) = (OrderedConfig::default(), TransformerConfig::default());
        match flat.kind {
            Kind::Ordered => Self::Ordered(OrderedConfig {
                width: flat.width.unwrap_or(ordered.width),
                blocks: flat.blocks.unwrap_or(ordered.blocks),
                heads: flat.heads.unwrap_or(ordered.heads),
                length: flat.length.unwrap_or(ordered.length),
                window: flat.window.unwrap_or(ordered.window),
                hash_bits: flat.hash_bits.unwrap_or(ordered.hash_bits),
            }),
            Kind::Masked => Self::Masked(TransformerConfig {
                width: flat.width.unwrap_or(masked.width),
                blocks: flat.blocks.unwrap_or(masked.blocks),
                heads: flat.heads.unwrap_or(masked.heads),
                length: flat.length.unwrap_or(masked.length),
                condition: flat.condition.unwrap_or(masked.condition),
                positions: flat.positions.unwrap_or(masked.positions),
                time: flat.time.unwrap_or(masked.time),
            }),
        }
    }
}

/// A text's network of either kind.
#[derive(Debug, Clone)]
pub enum TextNetwork {
    /// Reads tokens in the order of their events.
    Ordered(Arc<OrderedNet>),
    /// Reads masked texts.
    Masked(Arc<TextNet>),
}

impl TextNetwork {
    /// Kinds of tokens.
    pub fn classes(&self) -> usize {
        match self {
            Self::Ordered(net) => net.classes(),
            Self::Masked(net) => net.classes(),
        }
    }

    /// Tokens of a text.
    pub fn length(&self) -> usize {
        match self {
            Self::Ordered(net) => net.length(),
            Self::Masked(net) => net.length(),
        }
    }

    /// Its weights.
    pub fn parts(&self) -> &Parts {
        match self {
            Self::Ordered(net) => net.parts(),
            Self::Masked(net) => net.parts(),
        }
    }

    /// Initial weights.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        match self {
            Self::Ordered(net) => net.initial(streams),
            Self::Masked(net) => net.initial(streams),
        }
    }

    /// Multiplications of a forward pass of one text in training.
    pub fn multiplications(&self) -> f64 {
        match self {
            Self::Ordered(net) => net.config().multiplications(net.classes()),
            // Half of the positions are masked, and only those are answered.
            Self::Masked(net) => net.transformer().multiplications(net.length() / 2),
        }
    }
}
