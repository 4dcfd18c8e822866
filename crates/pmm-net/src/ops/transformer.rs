//! The transformer of [`Transformer`](crate::Transformer), forward and backward in one piece.
//!
//! A text goes through all layers, its loss and back on one thread. The gradients of the weights follow for a few texts at a time
//! (a *wave*), shared out by layers and inputs, and are added text by text: memory does not grow with the batch, and no sum
//! depends on the threads.

use std::ops::Range;

use rayon::prelude::*;

use super::attention::Attention;
use super::layers::Layers;
use super::matmul::{Matrix, matmul};
use super::rows::{
    add_gated, add_rows, gated_back, gelu, gelu_back, modulate, modulate_back, norm, norm_back, silu,
    silu_back,
};
use crate::transformer::Transformer;

/// Texts whose activations are kept at a time.
const WAVE: usize = 8;
/// Inputs of a layer per piece of its gradient.
const SPAN: usize = 128;

/// A text as the network sees it.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// Tokens; the mask is `classes`.
    pub(crate) tokens: &'a [u32],
    /// Features of the clock; empty without a clock.
    pub(crate) clock: &'a [f32],
    /// Positions that are asked for.
    pub(crate) wanted: &'a [u32],
}

/// The network with its weights, ready to run.
pub(crate) struct Engine<'a> {
    net: &'a Transformer,
    layers: Layers<'a>,
    angles: (Vec<f32>, Vec<f32>),
}

/// What the backward pass needs of a text.
struct Tape {
    /// Before and after each activation of the layers that read the clock.
    clock: Option<ClockTape>,
    blocks: Vec<BlockTape>,
    /// The last norm at the wanted positions, 1/σ, the modulation, and what the output layer saw.
    normed: Vec<f32>,
    inverse: Vec<f32>,
    modulation: Vec<f32>,
    seen: Vec<f32>,
}

struct ClockTape {
    first: Vec<f32>,
    first_out: Vec<f32>,
    second: Vec<f32>,
    condition: Vec<f32>,
}

struct BlockTape {
    modulation: Vec<f32>,
    normed: [Vec<f32>; 2],
    inverse: [Vec<f32>; 2],
    qkv: Vec<f32>,
    attended: Vec<f32>,
    projected: Vec<f32>,
    up: Vec<f32>,
    down: Vec<f32>,
}

/// What a layer has seen of a text, and the gradient by what it gave.
struct Seen {
    x: Vec<f32>,
    d: Vec<f32>,
}

/// What comes back from a text.
struct Back {
    loss: f64,
    /// By [`Role`]'s numbers.
    seen: Vec<Seen>,
    /// By the sum of the embeddings.
    d_embedded: Vec<f32>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(net: &'a Transformer, weights: &'a [f32]) -> Self {
        Self { net, layers: Layers { parts: net.parts(), weights }, angles: net.angles() }
    }

    fn attention(&self) -> Attention<'_> {
        let config = self.net.config();
        Attention {
            length: config.length,
            width: config.width,
            heads: config.heads,
            angles: (&self.angles.0, &self.angles.1),
            causal: false,
        }
    }

    fn modulation(&self, index: usize, clock: Option<&ClockTape>) -> Vec<f32> {
        match clock {
            Some(clock) => self.layers.linear(index, &clock.condition),
            None => self.layers.part(index).to_vec(),
        }
    }

    fn read_clock(&self, features: &[f32]) -> Option<ClockTape> {
        let (first_layer, second_layer) = self.net.at.time?;
        let first = self.layers.linear(first_layer, features);
        let first_out = silu(&first, None);
        let second = self.layers.linear(second_layer, &first_out);
        let condition = silu(&second, None);
        Some(ClockTape { first, first_out, second, condition })
    }

    fn embed(&self, text: &Text<'_>) -> Vec<f32> {
        let width = self.net.config().width;
        let table = self.layers.part(self.net.at.token);
        let mut h = Vec::with_capacity(text.tokens.len() * width);
        text.tokens.iter().for_each(|&token| h.extend_from_slice(&table[token as usize * width..][..width]));
        if let Some(position) = self.net.at.position {
            h.iter_mut().zip(self.layers.part(position)).for_each(|(h, p)| *h += p);
        }
        h
    }

    /// Logits `[wanted, classes]` of a text.
    pub(crate) fn logits(&self, text: &Text<'_>) -> Vec<f32> {
        self.forward(text).0
    }

    fn forward(&self, text: &Text<'_>) -> (Vec<f32>, Tape) {
        let width = self.net.config().width;
        let attention = self.attention();
        let clock = self.read_clock(text.clock);
        let mut h = self.embed(text);
        let mut blocks = Vec::with_capacity(self.net.at.blocks.len());
        for block in &self.net.at.blocks {
            let modulation = self.modulation(block.modulation, clock.as_ref());
            let m: Vec<&[f32]> = modulation.chunks_exact(width).collect();
            let (normed_1, inverse_1) = norm(&h, width);
            let mut qkv = self.layers.linear(block.qkv, &modulate(&normed_1, m[0], m[1]));
            attention.turn(&mut qkv, false);
            let attended = attention.forward(&qkv);
            let projected = self.layers.linear(block.project, &attended);
            add_gated(&mut h, &projected, m[2]);
            let (normed_2, inverse_2) = norm(&h, width);
            let up = self.layers.linear(block.up, &modulate(&normed_2, m[3], m[4]));
            let down = self.layers.linear(block.down, &gelu(&up));
            add_gated(&mut h, &down, m[5]);
            let (normed, inverse) = ([normed_1, normed_2], [inverse_1, inverse_2]);
            blocks.push(BlockTape { modulation, normed, inverse, qkv, attended, projected, up, down });
        }
        let wanted: Vec<f32> =
            text.wanted.iter().flat_map(|&p| &h[p as usize * width..][..width]).copied().collect();
        let modulation = self.modulation(self.net.at.modulation, clock.as_ref());
        let (normed, inverse) = norm(&wanted, width);
        let seen = modulate(&normed, &modulation[..width], &modulation[width..]);
        let logits = self.layers.linear(self.net.at.output, &seen);
        (logits, Tape { clock, blocks, normed, inverse, modulation, seen })
    }

    /// −log p of the targets times their weights, and what the gradient of the weights is made of.
    fn backward(&self, text: &Text<'_>, targets: &[u32], weights: &[f32]) -> Back {
        let width = self.net.config().width;
        let (mut d_logits, tape) = self.forward(text);
        let mut loss = 0.0;
        for ((logits, &target), &weight) in
            d_logits.chunks_exact_mut(self.net.classes()).zip(targets).zip(weights)
        {
            loss += f64::from(weight) * cross_entropy(logits, target, weight);
        }
        let mut d_modulation = vec![0.0; 2 * width];
        let mut d = self.layers.linear_back(self.net.at.output, &d_logits);
        let (d_shift, d_scale) = d_modulation.split_at_mut(width);
        modulate_back(&mut d, &tape.normed, &tape.modulation[width..], d_shift, d_scale);
        let mut d_wanted = vec![0.0; d.len()];
        norm_back(&d, &tape.normed, &tape.inverse, width, &mut d_wanted);
        let mut d_h = vec![0.0; text.tokens.len() * width];
        for (d, &p) in d_wanted.chunks_exact(width).zip(text.wanted) {
            d_h[p as usize * width..][..width].copy_from_slice(d);
        }
        let mut seen = vec![Seen { x: tape.seen, d: d_logits }];
        let mut modulations = vec![(self.net.at.modulation, d_modulation)];
        for (block, tape) in self.net.at.blocks.iter().zip(tape.blocks).rev() {
            modulations.push((block.modulation, self.block_back(block, tape, &mut d_h, &mut seen)));
        }
        self.clock_back(text, tape.clock, modulations, &mut seen);
        Back { loss, seen, d_embedded: d_h }
    }

    /// Through a block: `d_h` becomes the gradient by what went in; returns that by the modulation.
    fn block_back(
        &self,
        block: &crate::transformer::BlockIndex,
        tape: BlockTape,
        d_h: &mut [f32],
        seen: &mut Vec<Seen>,
    ) -> Vec<f32> {
        let width = self.net.config().width;
        let m: Vec<&[f32]> = tape.modulation.chunks_exact(width).collect();
        let mut d_modulation = vec![0.0; 6 * width];
        let mut dm: Vec<&mut [f32]> = d_modulation.chunks_exact_mut(width).collect();
        let [shift_1, scale_1, gate_1, shift_2, scale_2, gate_2] = &mut dm[..] else { unreachable!() };
        let d_down = gated_back(d_h, &tape.down, m[5], gate_2);
        let mut d_up = self.layers.linear_back(block.down, &d_down);
        gelu_back(&mut d_up, &tape.up);
        seen.push(Seen { x: gelu(&tape.up), d: d_down });
        let mut d = self.layers.linear_back(block.up, &d_up);
        seen.push(Seen { x: modulate(&tape.normed[1], m[3], m[4]), d: d_up });
        modulate_back(&mut d, &tape.normed[1], m[4], shift_2, scale_2);
        norm_back(&d, &tape.normed[1], &tape.inverse[1], width, d_h);

        let d_projected = gated_back(d_h, &tape.projected, m[2], gate_1);
        let d_attended = self.layers.linear_back(block.project, &d_projected);
        let attention = self.attention();
        let mut d_qkv = attention.backward(&tape.qkv, &tape.attended, &d_attended);
        attention.turn(&mut d_qkv, true);
        seen.push(Seen { x: tape.attended, d: d_projected });
        let mut d = self.layers.linear_back(block.qkv, &d_qkv);
        seen.push(Seen { x: modulate(&tape.normed[0], m[0], m[1]), d: d_qkv });
        modulate_back(&mut d, &tape.normed[0], m[1], shift_1, scale_1);
        norm_back(&d, &tape.normed[0], &tape.inverse[0], width, d_h);
        d_modulation
    }

    /// Through the modulations to the layers that read the clock.
    fn clock_back(
        &self,
        text: &Text<'_>,
        tape: Option<ClockTape>,
        modulations: Vec<(usize, Vec<f32>)>,
        seen: &mut Vec<Seen>,
    ) {
        let (Some(tape), Some((_, second_layer))) = (tape, self.net.at.time) else {
            seen.extend(modulations.into_iter().map(|(_, d)| Seen { x: Vec::new(), d }));
            return;
        };
        let mut d = vec![0.0; tape.condition.len()];
        for (index, d_modulation) in &modulations {
            let back = self.layers.linear_back(*index, d_modulation);
            d.iter_mut().zip(back).for_each(|(d, back)| *d += back);
        }
        let condition = &tape.condition;
        seen.extend(modulations.into_iter().map(|(_, d)| Seen { x: condition.clone(), d }));
        silu_back(&mut d, &tape.second, None);
        let mut d_first = self.layers.linear_back(second_layer, &d);
        seen.push(Seen { x: tape.first_out, d });
        silu_back(&mut d_first, &tape.first, None);
        seen.push(Seen { x: text.clock.to_vec(), d: d_first });
    }

    /// The weight parts in the order in which [`Engine::backward`] comes by them.
    fn layers(&self) -> Vec<usize> {
        let at = &self.net.at;
        let mut layers = vec![at.output];
        let blocks = || at.blocks.iter().rev();
        layers.extend(blocks().flat_map(|block| [block.down, block.up, block.project, block.qkv]));
        layers.push(at.modulation);
        layers.extend(blocks().map(|block| block.modulation));
        layers.extend(at.time.iter().flat_map(|&(first, second)| [second, first]));
        layers
    }

    /// Σ weight · −log p(target) over texts, and its gradient by the weights. Every text comes with its targets and their
    /// weights, one per wanted position.
    pub(crate) fn gradient(&self, texts: &[(Text<'_>, &[u32], &[f32])], gradient: &mut [f32]) -> f64 {
        let layers = self.layers();
        let mut loss = 0.0;
        for (wave, texts) in texts.chunks(WAVE).enumerate() {
            let backs: Vec<Back> = texts
                .par_iter()
                .map(|(text, targets, weights)| self.backward(text, targets, weights))
                .collect();
            loss += backs.iter().map(|back| back.loss).sum::<f64>();
            self.pieces(&layers, gradient).into_par_iter().for_each(|piece| {
                if wave == 0 {
                    piece.out.fill(0.0);
                }
                for ((text, ..), back) in texts.iter().zip(&backs) {
                    self.add(&piece.role, text, back, piece.out);
                }
            });
        }
        loss
    }

    fn pieces<'g>(&self, layers: &[usize], mut gradient: &'g mut [f32]) -> Vec<Piece<'g>> {
        let at = &self.net.at;
        let mut pieces = Vec::new();
        for (index, part) in self.net.parts().iter().enumerate() {
            let [rows, columns] = part.shape;
            let layer = |index: usize| layers.iter().position(|&layer| layer == index);
            let roles: Vec<(Role, usize)> = match layer(index) {
                Some(layer) if rows > 1 => (0..rows)
                    .step_by(SPAN)
                    .map(|start| start..rows.min(start + SPAN))
                    .map(|range| (Role::Weight(layer, range.clone()), range.len() * columns))
                    .collect(),
                Some(layer) => vec![(Role::Bias(layer), columns)],
                None if index == at.token => vec![(Role::Token, rows * columns)],
                None if Some(index) == at.position => vec![(Role::Position, rows * columns)],
                None => vec![(Role::Bias(layer(index - 1).unwrap_or_default()), columns)],
            };
            for (role, len) in roles {
                let (out, rest) = std::mem::take(&mut gradient).split_at_mut(len);
                gradient = rest;
                pieces.push(Piece { role, out });
            }
        }
        pieces
    }

    fn add(&self, role: &Role, text: &Text<'_>, back: &Back, out: &mut [f32]) {
        let width = self.net.config().width;
        match role {
            Role::Token => {
                for (&token, d) in text.tokens.iter().zip(back.d_embedded.chunks_exact(width)) {
                    let out = &mut out[token as usize * width..][..width];
                    out.iter_mut().zip(d).for_each(|(out, d)| *out += d);
                }
            }
            Role::Position => out.iter_mut().zip(&back.d_embedded).for_each(|(out, d)| *out += d),
            Role::Bias(layer) => add_rows(out, &back.seen[*layer].d, true),
            Role::Weight(layer, range) => {
                let Seen { x, d } = &back.seen[*layer];
                let outputs = out.len() / range.len();
                let rows = d.len() / outputs;
                if rows > 0 {
                    let x = Matrix::new(x, rows, x.len() / rows).columns(range.clone()).transposed();
                    matmul(out, true, x, Matrix::new(d, rows, outputs));
                }
            }
        }
    }
}

/// A piece of the gradient.
struct Piece<'a> {
    role: Role,
    out: &'a mut [f32],
}

enum Role {
    Token,
    Position,
    /// Of a layer's matrix the rows of some inputs.
    Weight(usize, Range<usize>),
    Bias(usize),
}

/// −log softmax(logits)\[target\]; the logits become its gradient times `weight`.
pub(crate) fn cross_entropy(logits: &mut [f32], target: u32, weight: f32) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let told = logits[target as usize];
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - most).exp();
        sum += *logit;
    }
    let scale = weight / sum;
    logits.iter_mut().for_each(|p| *p *= scale);
    logits[target as usize] -= weight;
    f64::from(sum.ln() + most - told)
}
