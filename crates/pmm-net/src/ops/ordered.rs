//! The network of [`OrderedNet`], forward and backward in one piece.
//!
//! As in [`transformer`](super::transformer): a text goes through all layers, its loss and back on one thread; the gradients of the weights
//! follow for a few texts at a time, shared out by layers and inputs, and are added text by text, so that no sum depends on the
//! threads.

use std::ops::Range;

use rayon::prelude::*;

use super::layers::Layers;
use super::matmul::{Matrix, matmul};
use super::ordered_attention::CausalAttention;
use super::ordered_rows::{
    Angles, Turns, add_to, gained, norm_and_turn, norm_and_turn_back, relu_squared, relu_squared_back,
    rms_norm, rms_norm_back,
};
use super::rows::add_rows;
use super::transformer::cross_entropy;
use crate::text::{OrderedBlock, OrderedNet, OrderedText, TABLES};

/// Texts whose activations are kept at a time.
const WAVE: usize = 8;
/// Inputs of a layer per piece of its gradient.
const SPAN: usize = 128;
/// Scores of the attention are multiplied by this over √head.
const SHARPNESS: f32 = 1.2;

/// The network with its weights, ready to run.
pub(crate) struct Engine<'a> {
    pub(super) net: &'a OrderedNet,
    pub(super) layers: Layers<'a>,
}

/// What the backward pass needs of a text.
pub(crate) struct Tape {
    pub(crate) blocks: Vec<BlockTape>,
    last: Normed,
}

/// A norm's result before its gains, and what it divided by.
struct Normed {
    values: Vec<f32>,
    inverse: Vec<f32>,
}

pub(crate) struct BlockTape {
    norms: [Normed; 2],
    /// Queries and keys normed and turned, and values: `[steps, 3 · width]`.
    pub(crate) qkv: Vec<f32>,
    head_inverse: Vec<f32>,
    attended: Vec<f32>,
    up: Vec<f32>,
}

/// What a layer has seen of a text, and the gradient by what it gave.
struct Seen {
    x: Vec<f32>,
    d: Vec<f32>,
}

/// What comes back from a text.
struct Back {
    loss: f64,
    /// In the order of [`Engine::layer_parts`].
    seen: Vec<Seen>,
    /// By the gains, in the order of [`Engine::gain_parts`].
    gains: Vec<Vec<f32>>,
    /// By the sum of the embeddings.
    d_embedded: Vec<f32>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(net: &'a OrderedNet, weights: &'a [f32]) -> Self {
        Self { net, layers: Layers { parts: net.parts(), weights } }
    }

    fn attention(&self, steps: usize) -> CausalAttention {
        let config = self.net.config();
        CausalAttention { steps, width: config.width, heads: config.heads, scale: self.scale() }
    }

    pub(super) fn scale(&self) -> f32 {
        let config = self.net.config();
        SHARPNESS / ((config.width / config.heads) as f32).sqrt()
    }

    pub(super) fn angles(&self) -> Angles<'_> {
        let config = self.net.config();
        let (cosines, sines) = (&self.net.angles.0[..], &self.net.angles.1[..]);
        Angles { cosines, sines, half: config.width / config.heads / 2 }
    }

    pub(super) fn turns<'t>(&self, text: &'t OrderedText) -> Turns<'t> {
        let heads = self.net.config().heads;
        Turns { own: &text.own, target: &text.target, heads, at_target: heads / 3 }
    }

    /// The sum of embeddings of each step.
    pub(super) fn embed(&self, text: &OrderedText) -> Vec<f32> {
        let width = self.net.config().width;
        let mut h = vec![0.0; text.len() * width];
        for (table, rows) in self.tables(text) {
            let table = self.layers.part(table);
            let each = rows.len() / text.len().max(1);
            for (h, rows) in h.chunks_exact_mut(width).zip(rows.chunks_exact(each.max(1))) {
                rows.iter().for_each(|&row| add_to(h, &table[row as usize * width..][..width]));
            }
        }
        h
    }

    /// The tables of embeddings with the rows that a text reads, as many for each step.
    fn tables<'t>(&self, text: &'t OrderedText) -> Vec<(usize, &'t [u32])> {
        let mut tables = vec![(self.net.at.token, &text.read[..])];
        if let Some(windows) = self.net.at.windows {
            tables.extend(windows.into_iter().zip(text.windows.iter().map(|rows| &rows[..])));
        }
        tables
    }

    /// The last layer and the tables of patterns: `[steps, classes]`.
    fn output(&self, seen: &[f32], patterns: &[u32]) -> Vec<f32> {
        let mut logits = self.layers.linear(self.net.at.output, seen);
        self.add_patterns(&mut logits, patterns);
        logits
    }

    /// Adds what the tables of patterns say to the logits.
    pub(super) fn add_patterns(&self, logits: &mut [f32], patterns: &[u32]) {
        let classes = self.net.classes();
        if let Some(first) = self.net.at.patterns {
            for (logits, rows) in logits.chunks_exact_mut(classes).zip(patterns.chunks_exact(TABLES)) {
                for (table, &row) in rows.iter().enumerate() {
                    add_to(logits, &self.layers.part(first + table)[row as usize * classes..][..classes]);
                }
            }
        }
    }

    fn norm(&self, h: &[f32]) -> Normed {
        let (values, inverse) = rms_norm(h, self.net.config().width);
        Normed { values, inverse }
    }

    /// All steps of a text, without its logits.
    pub(crate) fn run(&self, text: &OrderedText) -> Tape {
        let attention = self.attention(text.len());
        let mut h = self.embed(text);
        let mut blocks = Vec::with_capacity(self.net.at.blocks.len());
        for block in &self.net.at.blocks {
            let first = self.norm(&h);
            let mut qkv = self.layers.product(block.qkv, &self.gained(&first, block.norm_1));
            let head_inverse = norm_and_turn(&mut qkv, self.turns(text), self.angles());
            let attended = attention.forward(&qkv);
            add_to(&mut h, &self.layers.product(block.project, &attended));
            let second = self.norm(&h);
            let up = self.layers.product(block.up, &self.gained(&second, block.norm_2));
            add_to(&mut h, &self.layers.product(block.down, &relu_squared(&up)));
            blocks.push(BlockTape { norms: [first, second], qkv, head_inverse, attended, up });
        }
        Tape { blocks, last: self.norm(&h) }
    }

    fn gained(&self, normed: &Normed, gain: usize) -> Vec<f32> {
        gained(&normed.values, self.layers.part(gain))
    }

    /// Logits `[steps, classes]` of a text.
    pub(crate) fn logits(&self, text: &OrderedText) -> Vec<f32> {
        let tape = self.run(text);
        self.output(&self.gained(&tape.last, self.net.at.norm), &text.patterns)
    }

    pub(crate) fn log_probabilities(&self, text: &OrderedText) -> Vec<f64> {
        let mut logits = self.logits(text);
        let steps = logits.chunks_exact_mut(self.net.classes()).zip(&text.told);
        steps.map(|(logits, &token)| -cross_entropy(logits, token, 1.0)).collect()
    }

    /// −log p of the tokens times a weight, and what the gradient is made of.
    fn backward(&self, text: &OrderedText, weight: f32) -> Back {
        let at = &self.net.at;
        let tape = self.run(text);
        let x = self.gained(&tape.last, at.norm);
        let mut d_logits = self.output(&x, &text.patterns);
        let mut loss = 0.0;
        for (logits, &token) in d_logits.chunks_exact_mut(self.net.classes()).zip(&text.told) {
            loss += f64::from(weight) * cross_entropy(logits, token, weight);
        }
        let mut d_h = vec![0.0; x.len()];
        let mut gains = Vec::new();
        let mut d = self.layers.linear_back(at.output, &d_logits);
        gains.push(self.norm_back(&mut d, &tape.last, at.norm, &mut d_h));
        let mut seen = vec![Seen { x, d: d_logits }];
        for (block, tape) in at.blocks.iter().zip(tape.blocks).rev() {
            self.block_back(block, tape, text, &mut d_h, &mut seen, &mut gains);
        }
        Back { loss, seen, gains, d_embedded: d_h }
    }

    /// Through a norm: adds to `d_h`; returns the gradient by the gains.
    fn norm_back(&self, d: &mut [f32], normed: &Normed, gain: usize, d_h: &mut [f32]) -> Vec<f32> {
        let gain = self.layers.part(gain);
        let mut d_gain = vec![0.0; gain.len()];
        rms_norm_back(d, &normed.values, &normed.inverse, gain, d_h, &mut d_gain);
        d_gain
    }

    /// Through a block: `d_h` becomes the gradient by what went in.
    fn block_back(
        &self,
        block: &OrderedBlock,
        tape: BlockTape,
        text: &OrderedText,
        d_h: &mut [f32],
        seen: &mut Vec<Seen>,
        gains: &mut Vec<Vec<f32>>,
    ) {
        let mut d_up = self.layers.linear_back(block.down, d_h);
        relu_squared_back(&mut d_up, &tape.up);
        seen.push(Seen { x: relu_squared(&tape.up), d: d_h.to_vec() });
        let mut d = self.layers.linear_back(block.up, &d_up);
        seen.push(Seen { x: self.gained(&tape.norms[1], block.norm_2), d: d_up });
        gains.push(self.norm_back(&mut d, &tape.norms[1], block.norm_2, d_h));

        let d_attended = self.layers.linear_back(block.project, d_h);
        let mut d_qkv = self.attention(text.len()).backward(&tape.qkv, &tape.attended, &d_attended);
        norm_and_turn_back(&mut d_qkv, &tape.qkv, &tape.head_inverse, self.turns(text), self.angles());
        seen.push(Seen { x: tape.attended, d: d_h.to_vec() });
        let mut d = self.layers.linear_back(block.qkv, &d_qkv);
        seen.push(Seen { x: self.gained(&tape.norms[0], block.norm_1), d: d_qkv });
        gains.push(self.norm_back(&mut d, &tape.norms[0], block.norm_1, d_h));
    }

    /// The matrices in the order in which [`Engine::backward`] comes by them.
    fn layer_parts(&self) -> Vec<usize> {
        let blocks = self.net.at.blocks.iter().rev();
        let parts = blocks.flat_map(|block| [block.down, block.up, block.project, block.qkv]);
        std::iter::once(self.net.at.output).chain(parts).collect()
    }

    /// The gains in the order in which [`Engine::backward`] comes by them.
    fn gain_parts(&self) -> Vec<usize> {
        let blocks = self.net.at.blocks.iter().rev();
        std::iter::once(self.net.at.norm)
            .chain(blocks.flat_map(|block| [block.norm_2, block.norm_1]))
            .collect()
    }

    /// Σ weight · −log p over all steps of texts, and its gradient by the weights; of the tables of patterns only rows that are read are
    /// written.
    pub(crate) fn gradient(&self, texts: &[OrderedText], weight: f32, gradient: &mut [f32]) -> f64 {
        let mut pieces = self.pieces(gradient);
        pieces.par_iter_mut().for_each(|piece| self.clear(piece, texts));
        let mut loss = 0.0;
        for texts in texts.chunks(WAVE) {
            let backs: Vec<Back> = texts.par_iter().map(|text| self.backward(text, weight)).collect();
            loss += backs.iter().map(|back| back.loss).sum::<f64>();
            pieces.par_iter_mut().for_each(|piece| {
                texts.iter().zip(&backs).for_each(|(text, back)| self.add(piece, text, back));
            });
        }
        loss
    }

    fn clear(&self, piece: &mut Piece<'_>, texts: &[OrderedText]) {
        let Role::Pattern(table) = piece.role else { return piece.out.fill(0.0) };
        let classes = self.net.classes();
        for row in texts.iter().flat_map(|text| text.patterns.iter().skip(table).step_by(TABLES)) {
            piece.out[*row as usize * classes..][..classes].fill(0.0);
        }
    }

    fn pieces<'g>(&self, mut gradient: &'g mut [f32]) -> Vec<Piece<'g>> {
        let (layers, gains) = (self.layer_parts(), self.gain_parts());
        let mut pieces = Vec::new();
        for (index, part) in self.net.parts().iter().enumerate() {
            let [rows, columns] = part.shape;
            for (role, rows) in self.roles(index, rows, &layers, &gains) {
                let (out, rest) = std::mem::take(&mut gradient).split_at_mut(rows * columns);
                gradient = rest;
                pieces.push(Piece { role, out });
            }
        }
        pieces
    }

    /// What a part of the gradient is made of, in pieces of so many rows.
    fn roles(&self, index: usize, rows: usize, layers: &[usize], gains: &[usize]) -> Vec<(Role, usize)> {
        let at = &self.net.at;
        if let Some(layer) = layers.iter().position(|&layer| layer == index) {
            let spans = (0..rows).step_by(SPAN).map(|start| start..rows.min(start + SPAN));
            return spans.map(|span| (Role::Weight(layer, span.clone()), span.len())).collect();
        }
        if let Some(gain) = gains.iter().position(|&gain| gain == index) {
            return vec![(Role::Gain(gain), rows)];
        }
        if let Some(which) = at.windows.and_then(|windows| windows.iter().position(|&part| part == index)) {
            // The windows are what a text reads most of.
            let each = rows / (2 * self.net.config().window);
            let offset = |offset: usize| (Role::Window(which, offset), each);
            return (0..rows / each).map(offset).collect();
        }
        match at.patterns.filter(|&first| index >= first) {
            Some(first) => vec![(Role::Pattern(index - first), rows)],
            None if index == at.token => vec![(Role::Token, rows)],
            None => vec![(Role::Bias, rows)],
        }
    }

    fn add(&self, piece: &mut Piece<'_>, text: &OrderedText, back: &Back) {
        let (width, classes) = (self.net.config().width, self.net.classes());
        let out = &mut *piece.out;
        match &piece.role {
            Role::Token => add_at(out, 0, text.read.iter(), &back.d_embedded, width),
            Role::Window(which, offset) => {
                let each = 2 * self.net.config().window;
                let first = offset * (classes + 2);
                let rows = text.windows[*which].iter().skip(*offset).step_by(each);
                add_at(out, first, rows, &back.d_embedded, width);
            }
            Role::Pattern(table) => {
                let rows = text.patterns.iter().skip(*table).step_by(TABLES);
                add_at(out, 0, rows, &back.seen[0].d, classes);
            }
            Role::Gain(gain) => add_to(out, &back.gains[*gain]),
            Role::Bias => add_rows(out, &back.seen[0].d, true),
            Role::Weight(layer, range) => {
                let Seen { x, d } = &back.seen[*layer];
                let steps = text.len();
                if steps > 0 {
                    let x = Matrix::new(x, steps, x.len() / steps).columns(range.clone()).transposed();
                    matmul(out, true, x, Matrix::new(d, steps, d.len() / steps));
                }
            }
        }
    }
}

/// Adds the rows of `d` to the rows of a table from `first` on.
fn add_at<'r>(out: &mut [f32], first: usize, rows: impl Iterator<Item = &'r u32>, d: &[f32], width: usize) {
    for (&row, d) in rows.zip(d.chunks_exact(width)) {
        add_to(&mut out[(row as usize - first) * width..][..width], d);
    }
}

/// A piece of the gradient.
struct Piece<'a> {
    role: Role,
    out: &'a mut [f32],
}

enum Role {
    Token,
    /// One offset of the window around the target or around the token.
    Window(usize, usize),
    Pattern(usize),
    Gain(usize),
    /// Of the output layer.
    Bias,
    /// Of a layer's matrix the rows of some inputs.
    Weight(usize, Range<usize>),
}
