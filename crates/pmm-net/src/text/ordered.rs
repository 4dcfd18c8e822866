//! A transformer that reads a text in the order of its events: causal in the order, told the position that it must fill next.

use pmm_core::{EventOrder, MASK, Masked, ParameterError, Purpose, Streams};
use rayon::prelude::*;

use super::ordered_config::OrderedConfig;
use super::ordered_text::{Neighbours, OrderedText, TABLES};
use crate::ops::ordered::Engine;
use crate::parts::Parts;

/// The ordered network; its weights come with every call.
///
/// Step i reads token x\[σ(i − 1)\] and the known neighbours of that token and of the target σ(i); its logits are the law of x\[σ(i)\] given
/// x\[σ(0)\], …, x\[σ(i − 1)\]:
///
/// h = token + Σ window around σ(i) + Σ window around σ(i − 1); each block adds attention(norm(h)) and then relu(norm(h) U)² D; the
/// logits are norm(h) W + b + Σ pattern tables. A norm divides by the root of the mean square. Queries are turned by the position of
/// the target, keys by that of the token, in a third of the heads by that of their own step's target.
///
/// ```
/// use pmm_core::{EventOrder, Streams};
/// use pmm_net::text::{OrderedConfig, OrderedNet};
/// let config = OrderedConfig { width: 12, blocks: 1, heads: 3, length: 4, window: 1, hash_bits: 4 };
/// let net = OrderedNet::new(3, &config)?;
/// let weights = net.initial(&Streams::new(1));
/// let text = net.text(&[0, 2, 1, 1], &EventOrder::sorted(&[0.5, 0.1, 0.9, 0.3]));
/// // Output and tables start at 0, so that all three tokens are as likely.
/// let found = net.log_probabilities(&weights, &[text]);
/// assert!(found[0].iter().all(|log_p| (log_p + 3f64.ln()).abs() < 1e-6));
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OrderedNet {
    config: OrderedConfig,
    classes: usize,
    parts: Parts,
    pub(crate) at: OrderedIndex,
    /// Cosines and sines of each position, `[length + 1, head/2]`; the first row is that of the start symbol, at −1.
    pub(crate) angles: (Vec<f32>, Vec<f32>),
}

/// Where the parts are.
#[derive(Debug, Clone)]
pub(crate) struct OrderedIndex {
    pub(crate) token: usize,
    /// Tables of the windows around the target and around the token.
    pub(crate) windows: Option<[usize; 2]>,
    pub(crate) blocks: Vec<OrderedBlock>,
    pub(crate) norm: usize,
    /// Followed by its bias, the only one.
    pub(crate) output: usize,
    /// The first table of patterns; the others follow, and are the last parts.
    pub(crate) patterns: Option<usize>,
}

/// A block's parts; no biases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedBlock {
    pub(crate) norm_1: usize,
    pub(crate) qkv: usize,
    pub(crate) project: usize,
    pub(crate) norm_2: usize,
    pub(crate) up: usize,
    pub(crate) down: usize,
}

/// Base of the angles of positions.
const ROTARY_BASE: f64 = 1_000.0;
/// Spread of the embeddings of tokens at first.
const TOKEN_SPREAD: f64 = 0.5;
/// Spread of the sum over a window at first.
const WINDOW_SPREAD: f64 = 0.3;

impl OrderedNet {
    /// A network over so many kinds of tokens, of a shape that is sound ([`OrderedConfig::check`]).
    pub fn new(classes: usize, config: &OrderedConfig) -> Result<Self, ParameterError> {
        Masked::new(classes as u32)?;
        let mut parts = Parts::default();
        let width = config.width;
        let token = parts.add("token", classes + 1, width);
        let rows = 2 * config.window * (classes + 2);
        let windows = (config.window > 0)
            .then(|| ["window.target", "window.token"].map(|name| parts.add(name, rows, width)));
        let blocks = (0..config.blocks).map(|block| add_block(&mut parts, block, width)).collect();
        let norm = parts.add("norm", 1, width);
        let output = parts.add_linear("output", width, classes);
        let patterns = (config.hash_bits > 0).then_some(output + 2);
        for table in 0..patterns.map_or(0, |_| TABLES) {
            parts.add(format!("pattern.{table}"), 1 << config.hash_bits, classes);
        }
        let at = OrderedIndex { token, windows, blocks, norm, output, patterns };
        let angles = angles(config);
        Ok(Self { config: config.clone(), classes, parts, at, angles })
    }

    /// Its shape.
    pub fn config(&self) -> &OrderedConfig {
        &self.config
    }
    /// Kinds of tokens.
    pub fn classes(&self) -> usize {
        self.classes
    }
    /// Positions of a text.
    pub fn length(&self) -> usize {
        self.config.length
    }
    /// Its weights. Matrices of blocks are named `block.…`, tables of patterns `pattern.…`; the latter come last.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Initial weights: embeddings are normal draws; matrices that read a norm, normal draws of spread 1/√width; gains are 1; and what
    /// is added to the sum of a block or to the logits starts at 0.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = vec![0.0; self.parts.len()];
        for (index, part) in self.parts.iter().enumerate() {
            let place = &mut weights[part.range.clone()];
            let ends = |ending: &str| part.name.ends_with(ending);
            let spread = match part.name.as_str() {
                "token" => TOKEN_SPREAD,
                "window.target" | "window.token" => WINDOW_SPREAD / (2.0 * self.config.window as f64).sqrt(),
                _ if ends(".qkv") || ends(".up") => 1.0 / (self.config.width as f64).sqrt(),
                _ if ends("norm") || ends("norm_1") || ends("norm_2") => {
                    place.fill(1.0);
                    continue;
                }
                _ => continue,
            };
            let mut stream = streams.stream(Purpose::ORDERED_INITIAL, 0, index as u64);
            place.iter_mut().for_each(|w| *w = (spread * stream.normal()) as f32);
        }
        weights
    }

    pub(crate) fn neighbours(&self) -> Neighbours {
        let OrderedConfig { window, hash_bits, .. } = self.config;
        Neighbours { classes: self.classes, window, hash_bits }
    }

    /// A text (tokens by position, as many as [`OrderedNet::length`], all below [`OrderedNet::classes`]) in the order of its events.
    pub fn text(&self, tokens: &[u32], order: &EventOrder) -> OrderedText {
        OrderedText::new(self.neighbours(), tokens, &order.positions, order.positions.len())
    }

    /// A text that may be shorter than [`OrderedNet::length`], in an order of its positions: what would come after it is not known, and
    /// not asked.
    pub fn beginning(&self, tokens: &[u32], order: &EventOrder) -> OrderedText {
        let mut window = tokens.to_vec();
        window.resize(self.length(), MASK);
        OrderedText::new(self.neighbours(), &window, &order.positions, tokens.len())
    }

    /// The mean of −log p over all steps of all texts, in nats, and its gradient. Of the tables of patterns only the rows that the texts
    /// read ([`OrderedNet::rows_read`]) are written; the gradient of all others is 0.
    pub fn gradient(&self, weights: &[f32], texts: &[OrderedText], gradient: &mut [f32]) -> f64 {
        let steps: usize = texts.iter().map(OrderedText::len).sum();
        Engine::new(self, weights).gradient(texts, 1.0 / steps.max(1) as f32, gradient)
    }

    /// The rows of the tables of patterns that texts read, by where they begin in the weights; sorted, each once. A row has as
    /// many numbers as there are kinds of tokens.
    pub fn rows_read(&self, texts: &[OrderedText]) -> Vec<usize> {
        let Some(first) = self.at.patterns else { return Vec::new() };
        let start: Vec<usize> = (0..TABLES).map(|table| self.parts.get(first + table).range.start).collect();
        let row = |(index, &row): (usize, &u32)| start[index % TABLES] + row as usize * self.classes;
        let mut rows: Vec<usize> =
            texts.iter().flat_map(|text| text.patterns.iter().enumerate().map(row)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// log p of every token given those before it in the text's order, in nats: one pass a text. Their sum is the exact log-likelihood
    /// of the text.
    pub fn log_probabilities(&self, weights: &[f32], texts: &[OrderedText]) -> Vec<Vec<f64>> {
        let engine = Engine::new(self, weights);
        texts.par_iter().map(|text| engine.log_probabilities(text)).collect()
    }

    /// The mean of −log p over the steps of each text, in nats.
    pub fn losses(&self, weights: &[f32], texts: &[OrderedText]) -> Vec<f64> {
        let mean = |log_p: Vec<f64>| -log_p.iter().sum::<f64>() / log_p.len().max(1) as f64;
        self.log_probabilities(weights, texts).into_iter().map(mean).collect()
    }
}

fn add_block(parts: &mut Parts, block: usize, width: usize) -> OrderedBlock {
    let mut add = |part: &str, rows, columns| parts.add(format!("block.{block}.{part}"), rows, columns);
    OrderedBlock {
        norm_1: add("norm_1", 1, width),
        qkv: add("qkv", width, 3 * width),
        project: add("project", width, width),
        norm_2: add("norm_2", 1, width),
        up: add("up", width, 4 * width),
        down: add("down", 4 * width, width),
    }
}

fn angles(config: &OrderedConfig) -> (Vec<f32>, Vec<f32>) {
    let half = config.width / config.heads / 2;
    let angle = |i: usize| {
        let (position, pair) = ((i / half) as f64 - 1.0, (i % half) as f64);
        position * ROTARY_BASE.powf(-pair / half as f64)
    };
    (0..(config.length + 1) * half).map(angle).map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip()
}
