//! The order of a U-Net's blocks and their widths, before there are weights.

use super::config::{UnetConfig, UnetKind};
use crate::ops::resample::Resample;

/// One residual block.
#[derive(Debug, Clone)]
pub(super) struct BlockShape {
    /// Such as `enc.16x16_block0`.
    pub(super) name: String,
    /// Channels that come in, with those of the skip.
    pub(super) input: usize,
    /// Channels that go out.
    pub(super) output: usize,
    pub(super) resample: Resample,
    pub(super) attention: bool,
    /// Whether the last unused output of the encoder is put beside the input.
    pub(super) takes_skip: bool,
}

/// All blocks in order of execution.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Channels after the first convolution.
    pub(super) first: usize,
    pub(super) encoder: Vec<BlockShape>,
    pub(super) decoder: Vec<BlockShape>,
    /// Channels before the last norm.
    pub(super) last: usize,
}

impl Plan {
    pub(super) fn new(config: &UnetConfig) -> Self {
        let first = match config.kind {
            UnetKind::Adm => config.width * config.multipliers[0],
            UnetKind::Ddpmpp => config.width,
        };
        let mut maker = Maker { config, width: first, skips: vec![first] };
        let encoder = maker.encoder();
        let decoder = maker.decoder();
        Self { first, encoder, decoder, last: maker.width }
    }
}

/// The widths on the way.
struct Maker<'a> {
    config: &'a UnetConfig,
    /// Channels now.
    width: usize,
    /// Channels of the outputs that the decoder has yet to take.
    skips: Vec<usize>,
}

impl Maker<'_> {
    fn block(&mut self, place: String, output: usize, resample: Resample) -> BlockShape {
        let input = std::mem::replace(&mut self.width, output);
        BlockShape { name: place, input, output, resample, attention: false, takes_skip: false }
    }

    fn encoder(&mut self) -> Vec<BlockShape> {
        let mut encoder = Vec::new();
        for (level, multiplier) in self.config.multipliers.iter().enumerate() {
            let size = self.config.size >> level;
            if level > 0 {
                encoder.push(self.block(format!("enc.{size}x{size}_down"), self.width, Resample::Down));
                self.skips.push(self.width);
            }
            for k in 0..self.config.blocks {
                let name = format!("enc.{size}x{size}_block{k}");
                let mut block = self.block(name, self.config.width * multiplier, Resample::Keep);
                block.attention = self.config.attention.contains(&size);
                encoder.push(block);
                self.skips.push(self.width);
            }
        }
        encoder
    }

    fn decoder(&mut self) -> Vec<BlockShape> {
        let mut decoder = Vec::new();
        let deepest = self.config.multipliers.len() - 1;
        for (level, multiplier) in self.config.multipliers.iter().enumerate().rev() {
            let size = self.config.size >> level;
            let name = |what: &str| format!("dec.{size}x{size}_{what}");
            if level == deepest {
                let mut first = self.block(name("in0"), self.width, Resample::Keep);
                first.attention = true;
                decoder.push(first);
                decoder.push(self.block(name("in1"), self.width, Resample::Keep));
            } else {
                decoder.push(self.block(name("up"), self.width, Resample::Up));
            }
            for k in 0..=self.config.blocks {
                self.width += self.skips.pop().unwrap_or_default();
                let width = self.config.width * multiplier;
                let mut block = self.block(name(&format!("block{k}")), width, Resample::Keep);
                block.takes_skip = true;
                let here = self.config.kind == UnetKind::Adm || k == self.config.blocks;
                block.attention = here && self.config.attention.contains(&size);
                decoder.push(block);
            }
        }
        decoder
    }
}
