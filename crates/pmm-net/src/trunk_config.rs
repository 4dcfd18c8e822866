//! The shape of a trunk.

use serde::{Deserialize, Serialize};

use crate::column_attention::{HEADS, WIDER};
use crate::setting::SettingError;

/// Beyond these a network would not fit into any memory.
const MOST_WIDTH: usize = 65_536;
const MOST_BLOCKS: usize = 256;

/// Which network a trunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrunkKind {
    /// A residual perceptron that sees all columns as one vector: [`Mlp`](crate::Mlp).
    #[default]
    Mlp,
    /// Every column a token, with attention between them: [`ColumnAttention`](crate::ColumnAttention).
    Attention,
    /// A perceptron beside boosted trees, each with its share of every column's law.
    Pooled,
    /// Boosted trees alone: the network has no say, and is as small as can be.
    Trees,
}

impl TrunkKind {
    /// Whether there are trees beside the network, or in its place.
    pub fn has_trees(self) -> bool {
        matches!(self, Self::Pooled | Self::Trees)
    }
}

/// The shape of a trunk. The default is that of a perceptron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrunkConfig {
    /// Which network it is. Not written where it is a perceptron: models from before there was a choice stay the same.
    #[serde(skip_serializing_if = "is_mlp")]
    pub kind: TrunkKind,
    /// Width of the hidden layers; of a column, where columns are tokens.
    pub width: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Share of hidden units dropped in training.
    pub dropout: f64,
}

fn is_mlp(kind: &TrunkKind) -> bool {
    *kind == TrunkKind::Mlp
}

impl Default for TrunkConfig {
    fn default() -> Self {
        Self { kind: TrunkKind::Mlp, width: 256, blocks: 3, dropout: 0.1 }
    }
}

impl TrunkConfig {
    /// The recommended shape of a kind.
    pub fn of(kind: TrunkKind) -> Self {
        match kind {
            TrunkKind::Mlp => Self::default(),
            TrunkKind::Attention => Self { kind, width: 32, blocks: 2, ..Self::default() },
            TrunkKind::Pooled => Self { kind, ..Self::default() },
            TrunkKind::Trees => Self { kind, width: 1, blocks: 0, dropout: 0.0 },
        }
    }

    /// Multiplications of a forward pass of one row, from columns of so many features and outputs.
    ///
    /// ```
    /// use pmm_net::{TrunkConfig, TrunkKind};
    /// let mlp = TrunkConfig { width: 10, blocks: 1, ..TrunkConfig::default() };
    /// assert_eq!(mlp.multiplications(&[(2, 1), (3, 4)]), 10.0 * 10.0 + 200.0);
    /// let attention = TrunkConfig { kind: TrunkKind::Attention, width: 4, ..mlp };
    /// assert_eq!(attention.multiplications(&[(2, 1), (3, 4)]), 40.0 + 2.0 * 8.0 * 16.0 + 2.0 * 4.0 * 4.0);
    /// ```
    pub fn multiplications(&self, columns: &[(usize, usize)]) -> f64 {
        let (width, count) = (self.width as f64, columns.len() as f64);
        let ends = width * columns.iter().map(|(features, outputs)| features + outputs).sum::<usize>() as f64;
        let block = match self.kind {
            TrunkKind::Mlp | TrunkKind::Pooled | TrunkKind::Trees => 2.0 * width * width,
            TrunkKind::Attention => {
                let layers = (4 + 2 * WIDER) as f64 * width * width;
                count * layers + 2.0 * count * count * width
            }
        };
        ends + self.blocks as f64 * block
    }

    /// Refuses a shape that makes no network.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("net.width", self.width, 1, MOST_WIDTH)?;
        SettingError::between("net.blocks", self.blocks, 0, MOST_BLOCKS)?;
        let shared = self.kind != TrunkKind::Attention || self.width.is_multiple_of(HEADS);
        SettingError::unless(
            shared,
            "net.width",
            self.width,
            format!("a multiple of {HEADS} with net.kind = \"attention\""),
        )?;
        SettingError::between("net.dropout", self.dropout, 0.0, 0.9)
    }
}
