//! The shape of an ordered network.

use serde::{Deserialize, Serialize};

use crate::setting::SettingError;

/// The shape of an [`OrderedNet`](super::OrderedNet).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrderedConfig {
    /// Numbers per step.
    pub width: usize,
    /// Blocks.
    pub blocks: usize,
    /// Heads of each attention; of every three, one has its keys where its step's target is.
    pub heads: usize,
    /// Positions of a text.
    pub length: usize,
    /// How many neighbours on each side are read around the target and around the token; 0 for none.
    pub window: usize,
    /// Each of the five tables of local patterns has 2^this many rows; 0 for no tables.
    pub hash_bits: u32,
}

/// Vocabularies up to this size are characters or bytes: small enough for tables of local patterns.
const FEW_CLASSES: usize = 512;

impl Default for OrderedConfig {
    fn default() -> Self {
        Self { width: 192, blocks: 4, heads: 6, length: 256, window: 8, hash_bits: 17 }
    }
}

impl OrderedConfig {
    /// With a window and tables that make sense for so many kinds of tokens: for characters and bytes all of it, for larger vocabularies
    /// two neighbours on each side and no tables, which would have a column for every token.
    ///
    /// ```
    /// use pmm_net::text::OrderedConfig;
    /// let config = OrderedConfig::default();
    /// assert_eq!(config.clone().for_classes(27), config);
    /// let large = config.for_classes(50_257);
    /// assert_eq!((large.window, large.hash_bits), (2, 0));
    /// ```
    pub fn for_classes(self, classes: usize) -> Self {
        if classes <= FEW_CLASSES { self } else { Self { window: self.window.min(2), hash_bits: 0, ..self } }
    }

    /// Multiplications of a forward pass of one text over so many kinds of tokens.
    ///
    /// ```
    /// use pmm_net::text::OrderedConfig;
    /// let config = OrderedConfig { width: 4, blocks: 2, length: 3, ..Default::default() };
    /// assert_eq!(config.multiplications(5), 3.0 * (2.0 * (12.0 * 16.0 + 3.0 * 4.0) + 4.0 * 5.0));
    /// ```
    pub fn multiplications(&self, classes: usize) -> f64 {
        let (width, length) = (self.width as f64, self.length as f64);
        // A step sees half of the others in the mean: scores and sums of values together are one product.
        let block = 12.0 * width * width + length * width;
        length * (self.blocks as f64 * block + width * classes as f64)
    }

    /// Refuses a shape that makes no network.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("net.width", self.width, 1, 65_536)?;
        SettingError::between("net.blocks", self.blocks, 1, 256)?;
        SettingError::between("net.heads", self.heads, 1, self.width)?;
        SettingError::between("net.length", self.length, 1, 65_536)?;
        SettingError::between("net.window", self.window, 0, 64)?;
        SettingError::between("net.hash_bits", self.hash_bits, 0, 24)?;
        let even = self.width.is_multiple_of(2 * self.heads);
        let must = format!("an even multiple of net.heads = {}", self.heads);
        SettingError::unless(even, "net.width", self.width, must)
    }
}
