//! The shape of a U-Net.

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::setting::SettingError;

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
    /// Refuses a shape that makes no network.
    pub fn check(&self) -> Result<(), SettingError> {
        let counts = [
            ("net.size", self.size, 4096),
            ("net.channels_in", self.channels_in, 1024),
            ("net.channels_out", self.channels_out, 1024),
            ("net.width", self.width, 4096),
            ("net.blocks", self.blocks, 64),
            ("net.channels_per_head", self.channels_per_head, 65_536),
        ];
        counts.into_iter().try_for_each(|(key, value, most)| SettingError::between(key, value, 1, most))?;
        SettingError::between("net.classes", self.classes, 0, 1_000_000)?;
        SettingError::between("net.augment", self.augment, 0, 1024)?;
        let levels = self.multipliers.iter().all(|multiple| (1..=64).contains(multiple));
        let levels = levels && (1..=16).contains(&self.multipliers.len());
        let multipliers = format!("{:?}", self.multipliers);
        let must = "a number between 1 and 64 for each of at most 16 levels";
        SettingError::unless(levels, "net.multipliers", multipliers, must)?;
        let share = (0.0..1.0).contains(&self.dropout);
        SettingError::unless(share, "net.dropout", self.dropout, "at least 0 and below 1")?;
        let even = self.width.is_multiple_of(4);
        SettingError::unless(even, "net.width", self.width, "a multiple of 4")?;
        self.check_resolutions()?;
        self.check_widths()
    }

    fn check_resolutions(&self) -> Result<(), SettingError> {
        let levels = self.multipliers.len();
        let halved = self.size.is_multiple_of(1 << (levels - 1));
        let must = format!("divisible by 2 for each of the {levels} levels of net.multipliers but the first");
        SettingError::unless(halved, "net.size", self.size, must)?;
        let resolutions: Vec<usize> = (0..levels).map(|level| self.size >> level).collect();
        let known = self.attention.iter().all(|resolution| resolutions.contains(resolution));
        let attention = format!("{:?}", self.attention);
        SettingError::unless(
            known,
            "net.attention",
            attention,
            format!("some of the resolutions {resolutions:?}"),
        )
    }

    fn check_widths(&self) -> Result<(), SettingError> {
        let plan = Plan::new(self);
        let blocks = || plan.encoder.iter().chain(&plan.decoder);
        let uneven = |channels: &usize| !channels.is_multiple_of(groups(*channels));
        if let Some(channels) = blocks().flat_map(|block| [block.input, block.output]).find(uneven) {
            let must =
                format!("such that a norm over {channels} channels can form {} groups", groups(channels));
            SettingError::unless(false, "net.width", self.width, must)?;
        }
        let uneven = |channels: &usize| !channels.is_multiple_of(self.heads(*channels));
        match blocks().filter(|block| block.attention).map(|block| block.output).find(uneven) {
            None => Ok(()),
            Some(channels) => {
                let must =
                    format!("such that {channels} channels can be shared by {} heads", self.heads(channels));
                SettingError::unless(false, "net.channels_per_head", self.channels_per_head, must)
            }
        }
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
    fn refusals_name_the_setting() {
        let base = UnetConfig::default;
        base().check().unwrap();
        let wrong = [
            (UnetConfig { blocks: 0, ..base() }, "net.blocks = 0"),
            (UnetConfig { blocks: 1_000_000_000, ..base() }, "net.blocks = 1000000000"),
            (UnetConfig { multipliers: vec![], ..base() }, "net.multipliers = []"),
            (UnetConfig { dropout: 1.0, ..base() }, "net.dropout = 1"),
            (UnetConfig { width: 30, ..base() }, "net.width = 30"),
            (UnetConfig { size: 30, ..base() }, "net.size = 30"),
            (UnetConfig { attention: vec![12], ..base() }, "some of the resolutions [32, 16, 8]"),
            (UnetConfig { width: 144, ..base() }, "144 channels can form 32 groups"),
            (UnetConfig { channels_per_head: 20, ..base() }, "64 channels can be shared by 3 heads"),
        ];
        for (config, expected) in wrong {
            let error = config.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not say {expected:?}");
        }
        UnetConfig { size: 28, attention: vec![7], channels_in: 1, channels_out: 1, ..base() }
            .check()
            .unwrap();
    }
}
