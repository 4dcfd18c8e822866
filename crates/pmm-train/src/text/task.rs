//! Texts as a task: windows of a long text with masks, and what the network should say behind them.

use std::ops::Range;
use std::sync::Arc;

use pmm_core::{Purpose, Streams};
use pmm_data::Tokens;
use pmm_net::text::{MaskedText, TextNet};
use rayon::prelude::*;

use super::block_rules::block_rules;
use super::config::TextConfig;
use super::split::split;
use crate::muon::MuonConfig;
use crate::optimiser::Rules;
use crate::shard::Shard;
use crate::task::Task;

/// Texts on which the network is validated.
const VALIDATION: u64 = 128;
/// Validation's masks and times; steps of training count from 0: far from this.
const VALIDATION_STEP: u64 = u64::MAX;

/// A text to learn.
#[derive(Debug)]
pub struct TextTask {
    net: Arc<TextNet>,
    tokens: Arc<Tokens>,
    /// Tokens to learn from; the others are held out.
    train: u64,
    batch: usize,
    muon: MuonConfig,
    validation: Vec<MaskedText>,
    streams: Streams,
}

impl TextTask {
    /// Learns all tokens before the last share `config.valid`, and validates on those. Both must hold a text's length.
    pub fn new(net: Arc<TextNet>, tokens: Arc<Tokens>, config: &TextConfig, streams: Streams) -> Self {
        let (train, held_out) = split(tokens.len(), config.valid, net.length());
        let (batch, muon) = (config.batch, config.muon);
        let mut task = Self { net, tokens, train, batch, muon, validation: Vec::new(), streams };
        let span = task.tokens.len() - held_out - task.net.length() as u64 + 1;
        task.validation = (0..VALIDATION)
            .map(|row| {
                let window = task.window(held_out + (row * span) / VALIDATION);
                // Times in an order of their own, so that late times do not fall on one part of the text.
                let t = ((row * 37 % VALIDATION) as f64 + 0.5) / VALIDATION as f64;
                MaskedText::at(&task.net, &window, t, &task.streams, VALIDATION_STEP, row)
            })
            .collect();
        task
    }

    fn window(&self, start: u64) -> Vec<u32> {
        let mut window = vec![0; self.net.length()];
        self.tokens.copy(start, &mut window);
        window
    }
}

impl Task for TextTask {
    type Batch = Vec<MaskedText>;

    fn batch(&self, step: u64, shard: Shard) -> Vec<MaskedText> {
        let shift = self.streams.stream(Purpose::TIME, step, 0).unit();
        let text = |row: usize| {
            let starts = self.train - self.net.length() as u64 + 1;
            let start = self.streams.stream(Purpose::WINDOW, step, row as u64).below(starts);
            // Stratified: one time in each of as many strata as there are texts.
            let t = ((row as f64 + shift) / self.batch as f64).min(1.0 - f64::EPSILON);
            MaskedText::at(&self.net, &self.window(start), t, &self.streams, step, row as u64)
        };
        shard.rows(self.batch).into_par_iter().map(text).collect()
    }

    fn batch_rows(&self) -> usize {
        self.batch
    }

    fn gradient(&self, weights: &[f32], batch: Vec<MaskedText>, gradient: &mut [f32]) -> f64 {
        self.net.gradient(weights, &batch, gradient)
    }

    fn initial(&self) -> Vec<f32> {
        self.net.initial(&self.streams)
    }

    fn pieces(&self) -> usize {
        self.validation.len()
    }

    fn losses(&self, weights: &[f32], pieces: Range<usize>) -> Vec<f64> {
        self.net.losses(weights, &self.validation[pieces])
    }

    fn decayed(&self) -> Vec<f32> {
        self.net.parts().decayed()
    }

    fn rules(&self) -> Rules {
        block_rules(self.net.parts(), self.muon)
    }
}
