//! A transformer over the positions of a text: GPT-2's blocks without the causal mask, each norm modulated by the clock.

use burn::tensor::{Int, Tensor, TensorData, activation};
use pmm_core::{Purpose, Streams};
use serde::{Deserialize, Serialize};

use crate::parts::Parts;
use crate::setting::SettingError;

/// How positions are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Positions {
    /// A learned vector for each.
    Learned,
    /// Queries and keys are turned by angles that grow with the position.
    Rotary,
}

/// The shape of a transformer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransformerConfig {
    /// Numbers per position.
    pub width: usize,
    /// Blocks.
    pub blocks: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Positions.
    pub length: usize,
    /// Numbers that tell the clock.
    pub condition: usize,
    /// How positions are told apart.
    pub positions: Positions,
    /// Whether the network is told the clock.
    pub time: bool,
}

impl Default for TransformerConfig {
    fn default() -> Self {
        Self {
            width: 192,
            blocks: 4,
            heads: 4,
            length: 256,
            condition: 64,
            // Learned positions take far longer to find out which tokens are neighbours.
            positions: Positions::Rotary,
            time: true,
        }
    }
}

impl TransformerConfig {
    /// Refuses a shape that makes no network.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("net.width", self.width, 1, 65_536)?;
        SettingError::between("net.blocks", self.blocks, 1, 256)?;
        SettingError::between("net.heads", self.heads, 1, self.width)?;
        SettingError::between("net.length", self.length, 1, 65_536)?;
        SettingError::between("net.condition", self.condition, 1, 65_536)?;
        let must = format!("a multiple of net.heads = {}", self.heads);
        SettingError::unless(self.width.is_multiple_of(self.heads), "net.width", self.width, must)?;
        let even = self.positions != Positions::Rotary || (self.width / self.heads).is_multiple_of(2);
        let must = "an even multiple of net.heads with rotary positions";
        SettingError::unless(even, "net.width", self.width, must)
    }
}

/// Numbers that describe a clock reading to the network: waves of its logarithm.
pub(crate) const CLOCK_FEATURES: usize = 64;
/// Added to the variance in the norm.
pub(crate) const EPSILON: f64 = 1e-5;
/// Base of the angles of rotary positions.
const ROTARY_BASE: f64 = 10_000.0;

/// Tokens and a clock reading in, hidden states and logits out. Weights come with every call.
///
/// h = token + position; each block adds gate₁ · attention(mod₁(norm(h))) and then gate₂ · mlp(mod₂(norm(h))), with
/// mod(n) = n (1 + scale) + shift; the logits are mod(norm(h)) W + b. Scales, shifts and gates are linear in what is told of the
/// clock, and start at 0.
#[derive(Debug, Clone)]
pub struct Transformer {
    config: TransformerConfig,
    classes: usize,
    parts: Parts,
    pub(crate) at: Index,
}

/// Where the parts are.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) token: usize,
    pub(crate) position: Option<usize>,
    /// The two layers that read the clock.
    pub(crate) time: Option<(usize, usize)>,
    pub(crate) blocks: Vec<BlockIndex>,
    pub(crate) modulation: usize,
    pub(crate) output: usize,
}

/// Weights, each followed by its bias; a modulation without a clock is its bias alone.
#[derive(Debug, Clone)]
pub(crate) struct BlockIndex {
    pub(crate) modulation: usize,
    pub(crate) qkv: usize,
    pub(crate) project: usize,
    pub(crate) up: usize,
    pub(crate) down: usize,
}

impl Transformer {
    /// A transformer over so many classes of tokens.
    pub fn new(classes: usize, config: &TransformerConfig) -> Self {
        let mut parts = Parts::default();
        let width = config.width;
        let token = parts.add("token", classes + 1, width);
        let learned = config.positions == Positions::Learned;
        let position = learned.then(|| parts.add("position", config.length, width));
        let time = config.time.then(|| {
            let first = parts.add_linear("time.in", CLOCK_FEATURES, config.condition);
            (first, parts.add_linear("time.out", config.condition, config.condition))
        });
        let modulation = |parts: &mut Parts, name: &str, numbers: usize| {
            if config.time {
                parts.add_linear(name, config.condition, numbers)
            } else {
                parts.add(format!("{name}.bias"), 1, numbers)
            }
        };
        let blocks = (0..config.blocks)
            .map(|block| {
                let name = |part: &str| format!("block.{block}.{part}");
                BlockIndex {
                    modulation: modulation(&mut parts, &name("modulation"), 6 * width),
                    qkv: parts.add_linear(&name("qkv"), width, 3 * width),
                    project: parts.add_linear(&name("project"), width, width),
                    up: parts.add_linear(&name("up"), width, 4 * width),
                    down: parts.add_linear(&name("down"), 4 * width, width),
                }
            })
            .collect();
        let modulation = modulation(&mut parts, "modulation", 2 * width);
        let output = parts.add_linear("output", width, classes);
        let at = Index { token, position, time, blocks, modulation, output };
        Self { config: config.clone(), classes, parts, at }
    }

    /// Its shape.
    pub fn config(&self) -> &TransformerConfig {
        &self.config
    }
    /// Kinds of tokens; a mask is one more at the input.
    pub fn classes(&self) -> usize {
        self.classes
    }
    /// Its weights.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Initial weights: embeddings of spread .02, modulations and output 0, so that all tokens are alike at first.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = self.parts.initial(streams);
        for (index, part) in self.parts.iter().enumerate() {
            let place = &mut weights[part.range.clone()];
            if part.name == "token" || part.name == "position" {
                let mut stream = streams.stream(Purpose::EMBEDDING, 0, index as u64);
                place.iter_mut().for_each(|w| *w = 0.02 * stream.normal() as f32);
            } else if part.name.contains("modulation") || part.name.starts_with("output") {
                place.fill(0.0);
            }
        }
        weights
    }

    /// Multiplications of a forward pass of one text with logits at so many positions.
    pub fn multiplications(&self, logits: usize) -> f64 {
        let (width, length) = (self.config.width as f64, self.config.length as f64);
        let block = length * 12.0 * width * width + 2.0 * length * length * width;
        self.config.blocks as f64 * block + (logits * self.config.width * self.classes) as f64
    }

    /// The cosines and sines of rotary positions, `[length, head/2]` each; empty without them.
    pub(crate) fn angles(&self) -> (Vec<f32>, Vec<f32>) {
        if self.config.positions != Positions::Rotary {
            return (Vec::new(), Vec::new());
        }
        let half = self.config.width / self.config.heads / 2;
        let angle = |i: usize| {
            let (position, pair) = (i / half, i % half);
            position as f64 * ROTARY_BASE.powf(-(pair as f64) / half as f64)
        };
        let angles = (0..self.config.length * half).map(angle);
        angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip()
    }

    /// The plain composition on Burn, for any device: hidden states `[rows · length, width]` after the last modulation, from tokens
    /// `[rows, length]` (the mask is `classes`) and features of the clock `[rows, CLOCK_FEATURES]`.
    pub(crate) fn hidden(&self, parts: &[Tensor<2>], tokens: &[u32], clocks: Vec<f32>) -> Tensor<2> {
        let (length, width) = (self.config.length, self.config.width);
        let rows = tokens.len() / length;
        let device = parts[0].device();
        let ids: Vec<i32> = tokens.iter().map(|&token| token as i32).collect();
        let ids = Tensor::<1, Int>::from_data(TensorData::new(ids, [tokens.len()]), &device);
        let mut h = parts[self.at.token].clone().select(0, ids);
        if let Some(position) = self.at.position {
            h = (h.reshape([rows, length, width]) + parts[position].clone().unsqueeze::<3>())
                .reshape([rows * length, width]);
        }
        let clock = self.at.time.map(|(first, second)| {
            let x = Tensor::<2>::from_data(TensorData::new(clocks, [rows, CLOCK_FEATURES]), &device);
            let c = activation::silu(x.matmul(parts[first].clone()) + parts[first + 1].clone());
            activation::silu(c.matmul(parts[second].clone()) + parts[second + 1].clone())
        });
        let modulation = |index: usize| match &clock {
            Some(c) => c.clone().matmul(parts[index].clone()) + parts[index + 1].clone(),
            None => parts[index].clone().repeat_dim(0, rows),
        };
        // The k-th vector of a modulation, at every position.
        let spread = |m: &Tensor<2>, k: usize| {
            let m = m.clone().narrow(1, k * width, width).reshape([rows, 1, width]);
            m.repeat_dim(1, length).reshape([rows * length, width])
        };
        let modulated = |h: &Tensor<2>, m: &Tensor<2>, k: usize| {
            norm(h.clone()) * (spread(m, k + 1) + 1.0) + spread(m, k)
        };
        let linear = |x: Tensor<2>, index: usize| x.matmul(parts[index].clone()) + parts[index + 1].clone();
        for block in &self.at.blocks {
            let m = modulation(block.modulation);
            let qkv = linear(modulated(&h, &m, 0), block.qkv);
            let y = linear(self.attention(qkv, rows), block.project);
            h = h + y * spread(&m, 2);
            let z = linear(activation::gelu_approximate(linear(modulated(&h, &m, 3), block.up)), block.down);
            h = h + z * spread(&m, 5);
        }
        let m = modulation(self.at.modulation);
        modulated(&h, &m, 0)
    }

    fn attention(&self, qkv: Tensor<2>, rows: usize) -> Tensor<2> {
        let (length, width, heads) = (self.config.length, self.config.width, self.config.heads);
        let size = width / heads;
        let device = qkv.device();
        let part = |k: usize| {
            qkv.clone().narrow(1, k * width, width).reshape([rows, length, heads, size]).swap_dims(1, 2)
        };
        let (cosines, sines) = self.angles();
        let turn = |x: Tensor<4>| {
            if cosines.is_empty() {
                return x;
            }
            let half = size / 2;
            let table = |values: &[f32]| {
                Tensor::<2>::from_data(TensorData::new(values.to_vec(), [length, half]), &device)
                    .reshape([1, 1, length, half])
            };
            let (c, s) = (table(&cosines), table(&sines));
            let (a, b) = (x.clone().narrow(3, 0, half), x.narrow(3, half, half));
            Tensor::cat(vec![a.clone() * c.clone() - b.clone() * s.clone(), a * s + b * c], 3)
        };
        let (q, k, v) = (turn(part(0)), turn(part(1)), part(2));
        let scores = q.matmul(k.swap_dims(2, 3)) * (1.0 / (size as f64).sqrt());
        let out = activation::softmax(scores, 3).matmul(v);
        out.swap_dims(1, 2).reshape([rows * length, width])
    }
}

/// (h − mean)/σ by rows.
fn norm(h: Tensor<2>) -> Tensor<2> {
    let centred = h.clone() - h.mean_dim(1);
    let variance = (centred.clone() * centred.clone()).mean_dim(1);
    centred * (variance + EPSILON).sqrt().recip()
}
