//! Examples: rows of bins with the code that is to be told.

/// Bins of a feature, the one for "unknown" included.
pub const MOST_BINS: usize = 256;

/// What the bins of a feature mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureKind {
    /// They have an order: splits are thresholds.
    Ordered,
    /// They are names: splits are sets.
    Codes,
}

/// A feature: bin 0 is "unknown".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// What its bins mean.
    pub kind: FeatureKind,
    /// How many there are, with that for "unknown"; at most [`MOST_BINS`].
    pub bins: usize,
}

/// Rows of bins, each with its code.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    /// `[examples, features]`.
    pub bins: Vec<u8>,
    /// `[examples]`.
    pub codes: Vec<u32>,
}

impl Examples {
    /// The bins of an example of so many features.
    pub(crate) fn row(&self, example: u32, features: usize) -> &[u8] {
        &self.bins[example as usize * features..][..features]
    }
}
