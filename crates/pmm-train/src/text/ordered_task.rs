//! Texts in the order of their events, as a task.

use std::ops::Range;
use std::sync::Arc;

use pmm_core::{MonteCarlo, OrderLaw, OrderMixture, ParameterError, Purpose, Streams};
use pmm_data::Tokens;
use pmm_net::Part;
use pmm_net::text::{OrderedNet, OrderedText};
use rayon::prelude::*;

use super::block_rules::block_rule;
use super::config::TextConfig;
use super::read_ahead::ReadAhead;
use super::split::split;
use crate::muon::MuonConfig;
use crate::optimiser::{Rule, Rules};
use crate::shard::Shard;
use crate::task::Task;
use pmm_store::State;

/// Held-out windows; each is read from left to right and in a random order.
const VALIDATION: u64 = 64;
/// The orders of validation; steps of training count from 0: far from this.
const VALIDATION_STEP: u64 = u64::MAX;

/// A text to learn in the orders of a mixture.
#[derive(Debug)]
pub struct OrderedTask {
    net: Arc<OrderedNet>,
    tokens: Arc<Tokens>,
    /// Tokens to learn from; the others are held out.
    train: u64,
    batch: usize,
    orders: OrderMixture,
    muon: MuonConfig,
    pattern_rate: f64,
    /// Windows that the tables of patterns read ahead at most.
    windows_ahead: u64,
    /// The held-out windows from left to right, then the same in random orders.
    validation: Vec<OrderedText>,
    streams: Streams,
}

/// The texts of a step, and the rows that they read of the tables of patterns.
#[derive(Debug)]
pub struct OrderedBatch {
    /// The texts.
    pub texts: Vec<OrderedText>,
    rows: Vec<usize>,
}

/// −log₂ p of held-out tokens in two orders, in bits per token, with the standard error over windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderBits {
    /// Read from left to right.
    pub left_to_right: MonteCarlo,
    /// Read in a random order.
    pub random: MonteCarlo,
}

impl OrderedTask {
    /// Learns all tokens before the last share `config.valid`, and validates on those. Both must hold a text's length.
    pub fn new(
        net: Arc<OrderedNet>,
        tokens: Arc<Tokens>,
        config: &TextConfig,
        streams: Streams,
    ) -> Result<Self, ParameterError> {
        let (train, held_out) = split(tokens.len(), config.valid, net.length());
        let all = train / net.length() as u64;
        let mut task = Self {
            net,
            tokens,
            train,
            batch: config.batch,
            orders: config.order.mixture(config.schedule)?,
            muon: config.muon,
            pattern_rate: config.pattern_rate,
            windows_ahead: windows_ahead(config, all),
            validation: Vec::new(),
            streams,
        };
        let laws = [OrderLaw::LeftToRight, OrderLaw::Random];
        task.validation = laws.iter().flat_map(|law| task.held_out(held_out, law)).collect();
        Ok(task)
    }

    /// Windows of what is held out, evenly spaced, in orders of a law.
    fn held_out(&self, start: u64, law: &OrderLaw) -> Vec<OrderedText> {
        let length = self.net.length();
        let span = self.tokens.len() - start - length as u64 + 1;
        let text = |row: u64| {
            let mut rng = self.streams.stream(Purpose::EVENT_ORDER, VALIDATION_STEP, row);
            self.net.text(&self.window(start + row * span / VALIDATION), &law.draw(length, &mut rng))
        };
        (0..VALIDATION).map(text).collect()
    }

    fn window(&self, start: u64) -> Vec<u32> {
        let mut window = vec![0; self.net.length()];
        self.tokens.copy(start, &mut window);
        window
    }

    /// Bits per token of the held-out windows.
    pub fn held_out_bits(&self, weights: &[f32]) -> OrderBits {
        order_bits(&self.losses(weights, 0..self.pieces()))
    }

    fn rule(&self, part: &Part) -> Rule {
        if part.name.starts_with("pattern.") {
            Rule::Adagrad { rate: self.pattern_rate, columns: part.shape[1] }
        } else {
            block_rule(part, self.muon)
        }
    }
}

/// How many of a text's windows the tables of patterns read ahead: none where the network comes to all of them, for what both have seen often
/// the tables know by heart.
fn windows_ahead(config: &TextConfig, all: u64) -> u64 {
    let read = config.train.steps * config.batch as u64;
    if read < all { (config.read_ahead * read as f64) as u64 } else { 0 }
}

/// Of the losses of all held-out windows in both orders.
fn order_bits(losses: &[f64]) -> OrderBits {
    let bits: Vec<f64> = losses.iter().map(|nats| nats / std::f64::consts::LN_2).collect();
    let (left_to_right, random) = bits.split_at(bits.len() / 2);
    OrderBits { left_to_right: MonteCarlo::of(left_to_right), random: MonteCarlo::of(random) }
}

impl Task for OrderedTask {
    type Batch = OrderedBatch;

    fn batch(&self, step: u64, shard: Shard) -> OrderedBatch {
        let text = |row: usize| {
            let (row, rows) = (row as u64, self.batch as u64);
            let starts = self.train - self.net.length() as u64 + 1;
            let start = self.streams.stream(Purpose::WINDOW, step, row).below(starts);
            let order = self.orders.draw(self.net.length(), step, row, rows, &self.streams);
            self.net.text(&self.window(start), &order)
        };
        let texts: Vec<OrderedText> = shard.rows(self.batch).into_par_iter().map(text).collect();
        let rows = self.net.rows_read(&texts);
        OrderedBatch { texts, rows }
    }

    fn batch_rows(&self) -> usize {
        self.batch
    }

    fn gradient(&self, weights: &[f32], batch: OrderedBatch, gradient: &mut [f32]) -> f64 {
        self.net.gradient(weights, &batch.texts, gradient)
    }

    fn initial(&self) -> Vec<f32> {
        self.net.initial(&self.streams)
    }

    /// The tables of patterns read the text.
    fn prepare(&self, state: &mut State, goes_on: &mut dyn FnMut(u64, u64) -> bool) {
        let ahead = ReadAhead {
            net: &self.net,
            orders: &self.orders,
            streams: &self.streams,
            window: &|start| self.window(start),
            tokens: self.train,
            most: self.windows_ahead,
            rate: self.pattern_rate as f32,
            share: 1.0 / (self.batch * self.net.length()) as f32,
        };
        ahead.run(state, goes_on);
    }

    fn pieces(&self) -> usize {
        self.validation.len()
    }

    fn losses(&self, weights: &[f32], pieces: Range<usize>) -> Vec<f64> {
        self.net.losses(weights, &self.validation[pieces])
    }

    /// The mean of both orders, in nats per token.
    fn mean_loss(&self, losses: &[f64]) -> f64 {
        let bits = order_bits(losses);
        0.5 * (bits.left_to_right.mean + bits.random.mean) * std::f64::consts::LN_2
    }

    fn decayed(&self) -> Vec<f32> {
        self.net.parts().decayed()
    }

    fn rules(&self) -> Rules {
        self.net.parts().iter().map(|part| (part.range.clone(), self.rule(part))).collect()
    }

    fn rows_read<'b>(&self, batch: &'b OrderedBatch) -> &'b [usize] {
        &batch.rows
    }
}
