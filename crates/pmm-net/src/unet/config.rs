//! The shape of a U-Net.

use serde::{Deserialize, Serialize};

use super::plan::Plan;

/// Which of the two networks of Karras et al. 2022.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnetKind {
    /// ADM, "Dhariwal": the noise scales and shifts the norms; attention in every block of the listed resolutions.
    Adm,
    /// DDPM++, "Song": the noise is added before the norms; sums are divided by √2; attention with one head.
    Ddpmpp,
}

impl UnetKind {
    /// Added to the variance in the norms.
    pub(super) fn epsilon(self) -> f64 {
        match self {
            Self::Adm => 1e-5,
            Self::Ddpmpp => 1e-6,
        }
    }
}

/// The shape of a U-Net.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UnetConfig {
    /// Which network.
    pub kind: UnetKind,
    /// Height and width of an image.
    pub size: usize,
    /// Channels of the input.
    pub channels_in: usize,
    /// Channels of the output.
    pub channels_out: usize,
    /// Channels of the network, which the levels multiply.
    pub width: usize,
    /// The multiple of each level; each level after the first halves the resolution.
    pub multipliers: Vec<usize>,
    /// Residual blocks per level on the way down; one more on the way up.
    pub blocks: usize,
    /// Resolutions at which blocks attend. The middle always does.
    pub attention: Vec<usize>,
    /// Channels of a head of ADM's attention; DDPM++ has one head whatever this says.
    pub channels_per_head: usize,
    /// Share of hidden units dropped in training.
    pub dropout: f64,
    /// Classes of images that the network is told; 0 for none.
    pub classes: usize,
    /// Numbers that tell the network how an image was augmented; 0 for none.
    pub augment: usize,
}

impl Default for UnetConfig {
    fn default() -> Self {
        Self {
            kind: UnetKind::Adm,
            size: 32,
            channels_in: 3,
            channels_out: 3,
            width: 32,
            multipliers: vec![1, 2, 2],
            blocks: 2,
            attention: vec![8],
            channels_per_head: 32,
            dropout: 0.1,
            classes: 0,
            augment: 0,
        }
    }
}

impl UnetConfig {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let counts = [self.size, self.channels_in, self.channels_out, self.width, self.blocks];
        if counts.contains(&0) || self.channels_per_head == 0 {
            return Some(
                "net.size, channels_in, channels_out, width, blocks and channels_per_head must be at least 1"
                    .into(),
            );
        }
        if self.multipliers.is_empty() || self.multipliers.contains(&0) {
            return Some("net.multipliers needs a number for each level, at least 1".into());
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Some(format!("net.dropout ({}) must be at least 0 and below 1", self.dropout));
        }
        if !self.width.is_multiple_of(4) {
            return Some(format!("net.width ({}) must be a multiple of 4", self.width));
        }
        self.resolution_problem().or_else(|| self.width_problem())
    }

    fn resolution_problem(&self) -> Option<String> {
        let levels = self.multipliers.len();
        if levels > 16 || !self.size.is_multiple_of(1 << (levels - 1)) {
            return Some(format!(
                "net.size ({}) cannot be halved for each of the {levels} levels of net.multipliers",
                self.size
            ));
        }
        let resolutions: Vec<usize> = (0..levels).map(|level| self.size >> level).collect();
        let strange = self.attention.iter().find(|resolution| !resolutions.contains(resolution))?;
        Some(format!("net.attention lists {strange}, but the resolutions are {resolutions:?}"))
    }

    fn width_problem(&self) -> Option<String> {
        let plan = Plan::new(self);
        let blocks = || plan.encoder.iter().chain(&plan.decoder);
        let uneven = |channels: &usize| !channels.is_multiple_of(groups(*channels));
        if let Some(channels) = blocks().flat_map(|block| [block.input, block.output]).find(uneven) {
            return Some(format!(
                "a norm over {channels} channels cannot form {} groups; choose another net.width or other \
                 net.multipliers",
                groups(channels)
            ));
        }
        let uneven = |channels: &usize| !channels.is_multiple_of(self.heads(*channels));
        let channels = blocks().filter(|block| block.attention).map(|block| block.output).find(uneven)?;
        Some(format!(
            "{channels} channels cannot be shared by {} heads; choose another net.channels_per_head",
            self.heads(channels)
        ))
    }

    /// Heads of an attention over so many channels.
    pub(super) fn heads(&self, channels: usize) -> usize {
        match self.kind {
            UnetKind::Adm => (channels / self.channels_per_head).max(1),
            UnetKind::Ddpmpp => 1,
        }
    }
}

/// Groups of a norm over so many channels.
pub(super) fn groups(channels: usize) -> usize {
    (channels / 4).clamp(1, 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cannot be built is refused by name; the default can.
    #[test]
    fn problems() {
        let base = UnetConfig::default;
        assert_eq!(base().problem(), None);
        let wrong = [
            (UnetConfig { blocks: 0, ..base() }, "blocks"),
            (UnetConfig { multipliers: vec![], ..base() }, "net.multipliers"),
            (UnetConfig { dropout: 1.0, ..base() }, "net.dropout (1)"),
            (UnetConfig { width: 30, ..base() }, "net.width (30)"),
            (UnetConfig { size: 30, ..base() }, "net.size (30)"),
            (UnetConfig { attention: vec![12], ..base() }, "lists 12, but the resolutions are [32, 16, 8]"),
            (UnetConfig { width: 144, ..base() }, "144 channels cannot form 32 groups"),
            (UnetConfig { channels_per_head: 20, ..base() }, "64 channels cannot be shared by 3 heads"),
        ];
        for (config, expected) in wrong {
            let problem = config.problem().unwrap_or_default();
            assert!(problem.contains(expected), "{problem:?} does not say {expected:?}");
        }
        let odd = UnetConfig { size: 28, attention: vec![7], channels_in: 1, channels_out: 1, ..base() };
        assert_eq!(odd.problem(), None);
    }
}
