//! The networks at two sizes each, with a batch.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use pmm_core::{Filter, OrderLaw, Prompt, Purpose, Streams, events, in_order};
use pmm_net::image::{ImageNet, ImagePair, ImageShape, Known, NoisyImage, Parametrisation, PixelFacts};
use pmm_net::text::{
    MaskedText, OrderedConfig, OrderedDenoiser, OrderedNet, OrderedText, Schedule, TextDenoiser, TextNet,
};
use pmm_net::{Device, Part, Parts, Positions, TransformerConfig, Trunk, TrunkConfig, UnetConfig, UnetKind};
use pmm_train::{MuonConfig, Rule, Rules};
use serde_json::{Value, json};

pub(crate) enum Case {
    Table { trunk: Trunk, config: TrunkConfig, x: Vec<f32>, y: Vec<f32> },
    Text { net: Arc<TextNet>, config: TransformerConfig, texts: Vec<MaskedText> },
    Ordered { net: Arc<OrderedNet>, texts: Vec<OrderedText>, rows: Vec<usize> },
    Image { net: Box<ImageNet>, config: UnetConfig, images: Vec<NoisyImage> },
}

/// Inputs and outputs of a trunk, as of a table of a dozen columns.
const INPUTS: usize = 300;
const OUTPUTS: usize = 200;
/// Characters of text8.
const CLASSES: usize = 27;
/// Positions of a text.
const LENGTH: usize = 256;
/// The rate of the tables of patterns in `text8-tiny`.
const PATTERN_RATE: f64 = 0.3;
const FACTS: PixelFacts = PixelFacts { mean: -0.5, sd: 0.6 };

impl Case {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "table" => Self::table(256, 256),
            "table-large" => Self::table(512, 2048),
            "text" => Self::text(192, 4, 4, 16),
            "text-large" => Self::text(384, 6, 6, 8),
            "ordered" => Self::ordered(16),
            "image" => Self::image(28, 1, 16, vec![1, 2, 4], 64),
            "image-large" => Self::image(32, 3, 64, vec![1, 2, 2], 16),
            _ => return None,
        })
    }

    fn table(width: usize, rows: usize) -> Self {
        let config = TrunkConfig { width, blocks: 3, dropout: 0.0, ..TrunkConfig::default() };
        let trunk = Trunk::new(&[(INPUTS, OUTPUTS)], vec![], &config, Device::flex());
        Self::Table { trunk, config, x: normals(rows * INPUTS, 0), y: normals(rows * OUTPUTS, 1) }
    }

    fn text(width: usize, blocks: usize, heads: usize, rows: u64) -> Self {
        let config = TransformerConfig {
            width,
            blocks,
            heads,
            length: LENGTH,
            condition: 64,
            positions: Positions::Rotary,
            time: true,
        };
        let net = TextNet::new(CLASSES, &config, Schedule::LogLinear, Device::flex())
            .unwrap_or_else(|error| unreachable!("a valid network: {error}"));
        let streams = Streams::new(5);
        let text = |row: u64| {
            MaskedText::at(&net, &characters(row), (row as f64 + 0.5) / rows as f64, &streams, 0, row)
        };
        let texts = (0..rows).map(text).collect();
        Self::Text { net: Arc::new(net), config, texts }
    }

    /// `text8-tiny`, a third of the texts from left to right and the others in random orders.
    fn ordered(rows: u64) -> Self {
        let config = OrderedConfig { hash_bits: 18, ..OrderedConfig::default() };
        let net = OrderedNet::new(CLASSES, &config)
            .unwrap_or_else(|error| unreachable!("a valid network: {error}"));
        let text = |row: u64| {
            let law = if row.is_multiple_of(3) { OrderLaw::LeftToRight } else { OrderLaw::Random };
            let mut rng = Streams::new(5).stream(Purpose::EVENT_ORDER, 0, row);
            net.text(&characters(row), &law.draw(LENGTH, &mut rng))
        };
        let texts: Vec<OrderedText> = (0..rows).map(text).collect();
        let rows = net.rows_read(&texts);
        Self::Ordered { net: Arc::new(net), texts, rows }
    }

    fn image(size: usize, channels: usize, width: usize, multipliers: Vec<usize>, rows: u64) -> Self {
        let config = UnetConfig {
            kind: UnetKind::Adm,
            size,
            channels_in: channels + 1,
            channels_out: channels,
            width,
            multipliers,
            blocks: 1,
            attention: vec![],
            channels_per_head: 32,
            dropout: 0.0,
            classes: 10,
            augment: 0,
        };
        let shape =
            ImageShape { pair: ImagePair::Normal, parametrisation: Parametrisation::Edm, facts: FACTS };
        let net = ImageNet::new(&config, &shape, Device::flex())
            .unwrap_or_else(|error| unreachable!("a valid network: {error}"));
        let streams = Streams::new(5);
        let pixels = size * size;
        let image = |row: u64| {
            let mut rng = streams.stream(Purpose::DATA, 0, row);
            let x = (0..channels * pixels).map(|_| net.pair().value(rng.below(256) as u8)).collect();
            let known =
                Known { x, observed: vec![false; pixels], label: Some(row as u32 % 10), augment: vec![] };
            NoisyImage::at(&net, known, (row as f64 + 0.5) / rows as f64, &streams, 0, row)
        };
        let images = (0..rows).map(image).collect();
        Self::Image { net: Box::new(net), config, images }
    }

    pub(crate) fn parts(&self) -> &Parts {
        match self {
            Self::Table { trunk, .. } => trunk.parts(),
            Self::Text { net, .. } => net.parts(),
            Self::Ordered { net, .. } => net.parts(),
            Self::Image { net, .. } => net.parts(),
        }
    }

    /// By which rule each weight is moved; all by AdamW where it is not said.
    pub(crate) fn rules(&self) -> Rules {
        match self {
            Self::Ordered { net, .. } => {
                net.parts().iter().map(|part| (part.range.clone(), ordered_rule(part))).collect()
            }
            _ => Rules::default(),
        }
    }

    /// The rows that the batch reads of weights under Adagrad.
    pub(crate) fn rows_read(&self) -> Vec<usize> {
        match self {
            Self::Ordered { rows, .. } => rows.clone(),
            _ => Vec::new(),
        }
    }

    /// Multiplications of a forward pass; a training step has three times as many.
    pub(crate) fn multiplications(&self) -> f64 {
        match self {
            Self::Table { trunk, x, .. } => {
                let matrices = trunk.parts().iter().filter(|part| part.shape[0] > 1);
                matrices.map(|part| part.range.len() as f64).sum::<f64>() * (x.len() / INPUTS) as f64
            }
            Self::Text { net, texts, .. } => {
                texts.iter().map(|text| net.transformer().multiplications(text.wanted.len())).sum()
            }
            Self::Ordered { net, texts, .. } => {
                texts.len() as f64 * net.config().multiplications(net.classes())
            }
            Self::Image { net, images, .. } => images.len() as f64 * net.unet().multiplications(),
        }
    }

    /// Weights away from the zeros that training starts with, so that all of the network counts.
    pub(crate) fn initial(&self) -> Vec<f32> {
        let initial = match self {
            Self::Table { trunk, .. } => trunk.parts().initial(&Streams::new(1)),
            Self::Text { net, .. } => net.initial(&Streams::new(1)),
            Self::Ordered { net, .. } => net.initial(&Streams::new(1)),
            Self::Image { net, .. } => net.initial(&Streams::new(1)),
        };
        initial.iter().zip(normals(initial.len(), 2)).map(|(w, noise)| w + 0.02 * noise).collect()
    }

    pub(crate) fn gradient(&self, weights: &[f32], gradient: &mut [f32]) -> f64 {
        match self {
            Self::Table { trunk, x, y, .. } => {
                let share = 1.0 / y.len() as f32;
                let loss = |row: usize, outputs: &[f32], slope: &mut [f32]| {
                    squares(outputs, &y[row * OUTPUTS..][..OUTPUTS], share, slope)
                };
                trunk.backward(weights, x.clone(), vec![], loss, gradient)
            }
            Self::Text { net, texts, .. } => net.gradient(weights, texts, gradient),
            Self::Ordered { net, texts, .. } => net.gradient(weights, texts, gradient),
            Self::Image { net, images, .. } => {
                net.gradient(weights, images, Streams::new(0), (0, 0), gradient)
            }
        }
    }

    /// The loss, without a gradient.
    pub(crate) fn forward(&self, weights: &[f32]) -> f64 {
        let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / losses.len() as f64;
        match self {
            Self::Table { trunk, x, y, .. } => {
                let outputs = trunk.forward(weights, x.clone());
                squares(&outputs, y, 1.0 / y.len() as f32, &mut vec![0.0; y.len()])
            }
            Self::Text { net, texts, .. } => mean(net.losses(weights, texts)),
            Self::Ordered { net, texts, .. } => mean(net.losses(weights, texts)),
            Self::Image { net, images, .. } => mean(net.losses(weights, images)),
        }
    }

    /// Writes so many texts at once, from nothing: with a cache from left to right, or by the sampler `events`. Their tokens.
    pub(crate) fn write_texts(&self, weights: &Arc<[f32]>, count: usize) -> Result<Vec<u32>, Box<dyn Error>> {
        let (prompt, streams) = (Prompt::empty(0, count, LENGTH), Streams::new(1));
        let found = match self {
            Self::Ordered { net, .. } => {
                let denoiser = OrderedDenoiser::new(net.clone(), weights.clone());
                let law = OrderLaw::LeftToRight;
                in_order(&denoiser, &law, prompt, Filter::default(), &streams, &mut ())?
            }
            Self::Text { net, .. } => {
                let denoiser = TextDenoiser::new(net.clone(), weights.clone());
                events(&denoiser, net.clock(), prompt, Filter::default(), &streams, &mut ())?
            }
            _ => return Err("only networks of texts write".into()),
        };
        Ok(found.tokens)
    }

    /// The weights, and the batch with its loss for the other side to agree with.
    pub(crate) fn write(&self, folder: &Path, weights: &[f32]) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        pmm_train::save_weights(&folder.join("weights.safetensors"), self.parts(), weights, &())?;
        let (config, batch): (Value, Value) = match self {
            Self::Table { config, x, y, .. } => (json!(config), json!({ "x": x, "y": y })),
            Self::Text { config, texts, .. } => (json!(config), texts.iter().map(text).collect()),
            Self::Ordered { net, texts, .. } => {
                (json!(net.config()), texts.iter().map(ordered_text).collect())
            }
            Self::Image { config, images, .. } => (json!(config), images.iter().map(image).collect()),
        };
        let facts = json!({ "mean": FACTS.mean, "sd": FACTS.sd });
        let value = json!({
            "net": config, "inputs": INPUTS, "outputs": OUTPUTS, "classes": CLASSES, "pixels": facts, "batch": batch,
            "loss": self.forward(weights), "multiplications": self.multiplications(),
        });
        Ok(std::fs::write(folder.join("case.json"), value.to_string())?)
    }
}

fn text(text: &MaskedText) -> Value {
    json!({
        "tokens": text.tokens, "clock": text.clock, "wanted": text.wanted, "targets": text.targets, "weights": text.weights,
    })
}

fn ordered_text(text: &OrderedText) -> Value {
    json!({ "positions": text.positions().collect::<Vec<_>>(), "tokens": text.tokens() })
}

fn image(image: &NoisyImage) -> Value {
    json!({ "x": image.x, "stat": image.stat, "clock": image.clock, "observed": image.observed, "label": image.label })
}

/// Half of the squared differences, each with its share in the mean; their gradient goes to `slope`.
fn squares(outputs: &[f32], y: &[f32], share: f32, slope: &mut [f32]) -> f64 {
    slope.iter_mut().zip(outputs.iter().zip(y)).for_each(|(slope, (a, b))| *slope = share * (a - b));
    let loss = outputs.iter().zip(y).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    0.5 * loss * f64::from(share)
}

/// Characters of a text.
fn characters(row: u64) -> Vec<u32> {
    let mut rng = Streams::new(5).stream(Purpose::DATA, 0, row);
    (0..LENGTH).map(|_| rng.below(CLASSES as u64) as u32).collect()
}

/// As a fit moves an ordered network: Muon the matrices of blocks, Adagrad the tables of patterns, AdamW the rest.
fn ordered_rule(part: &Part) -> Rule {
    if part.name.starts_with("pattern.") {
        Rule::Adagrad { rate: PATTERN_RATE, columns: part.shape[1] }
    } else if part.name.starts_with("block.") && part.shape[0] > 1 {
        let pieces = if part.name.ends_with(".qkv") { 3 } else { 1 };
        Rule::Muon { shape: part.shape, pieces, config: MuonConfig::default() }
    } else {
        Rule::AdamW
    }
}

fn normals(n: usize, key: u64) -> Vec<f32> {
    let mut rng = Streams::new(5).stream(Purpose::DATA, 9 + key, 0);
    (0..n).map(|_| rng.normal() as f32).collect()
}
