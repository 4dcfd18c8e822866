//! The transformer over columns of [`ColumnAttention`], forward and backward in one piece.
//!
//! A row of the table goes through all layers, its loss and back on one thread. The gradients of the weights follow for a few rows
//! at a time (a *wave*), shared out by layers and columns, and are added row by row: memory does not grow with the batch, and
//! no sum depends on the threads. Features that are 0 (most of a row's, where cells are unknown) cost nothing.

use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use super::attention::Attention;
use super::layers::Layers;
use super::matmul::{Matrix, matmul};
use super::rows::{add_rows, norm, norm_back, silu, silu_back};
use crate::column_attention::{ColumnAttention, FIRST, HEADS, LAYERS};

/// Rows whose activations are kept at a time.
const WAVE: usize = 16;
/// Rows of the output's matrix per piece of its gradient.
const SPAN: usize = 16;

/// The network with its weights, ready to run.
pub(crate) struct Engine<'a> {
    net: &'a ColumnAttention,
    layers: Layers<'a>,
}

/// What the backward pass needs of a row.
struct Tape {
    blocks: Vec<BlockTape>,
    /// What the output saw, and 1/σ.
    normed: Vec<f32>,
    inverse: Vec<f32>,
}

struct BlockTape {
    normed: [Vec<f32>; 2],
    inverse: [Vec<f32>; 2],
    qkv: Vec<f32>,
    attended: Vec<f32>,
    up: Vec<f32>,
    hidden: Vec<f32>,
}

/// What a layer has seen of a row, and the gradient by what it gave.
struct Seen {
    x: Vec<f32>,
    d: Vec<f32>,
}

/// What comes back from a row.
struct Back {
    loss: f64,
    /// By the layers of the blocks, in their order.
    seen: Vec<Seen>,
    /// What the output saw, and the gradient by the outputs.
    output: Seen,
    /// By the embedded columns.
    d_embedded: Vec<f32>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(net: &'a ColumnAttention, weights: &'a [f32]) -> Self {
        Self { net, layers: Layers { parts: net.parts(), weights } }
    }

    fn attention(&self) -> Attention<'static> {
        let (length, width) = (self.net.columns().len(), self.net.width());
        Attention { length, width, heads: HEADS, angles: (&[], &[]), causal: false }
    }

    /// Every column by its own matrix.
    fn embed(&self, x: &[f32]) -> Vec<f32> {
        let (width, matrices) = (self.net.width(), self.layers.part(0));
        let mut h = self.layers.part(1).to_vec();
        for (span, h) in self.net.columns().iter().zip(h.chunks_exact_mut(width)) {
            add_scaled_rows(h, &x[span.features.clone()], &matrices[span.features.start * width..]);
        }
        h
    }

    /// Outputs of a row, each by the matrix of its column.
    fn answer(&self, normed: &[f32]) -> Vec<f32> {
        let (width, output) = (self.net.width(), self.net.output());
        let mut y = self.layers.part(output + 1).to_vec();
        for (span, n) in self.net.columns().iter().zip(normed.chunks_exact(width)) {
            let matrix = self.layers.matrix(output).columns(span.outputs.clone());
            matmul(&mut y[span.outputs.clone()], true, Matrix::new(n, 1, width), matrix);
        }
        y
    }

    /// The gradient by what [`Engine::answer`] saw.
    fn answer_back(&self, slope: &[f32]) -> Vec<f32> {
        let (width, output) = (self.net.width(), self.net.output());
        let mut d = vec![0.0; self.net.columns().len() * width];
        for (span, d) in self.net.columns().iter().zip(d.chunks_exact_mut(width)) {
            let slope = &slope[span.outputs.clone()];
            if slope.iter().any(|slope| *slope != 0.0) {
                let matrix = self.layers.matrix(output).columns(span.outputs.clone()).transposed();
                matmul(d, false, Matrix::new(slope, 1, slope.len()), matrix);
            }
        }
        d
    }

    /// Outputs `[rows, outputs]` of features `[rows, inputs]`.
    pub(crate) fn outputs(&self, x: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len() / self.net.inputs() * self.net.outputs()];
        let rows = y.par_chunks_mut(self.net.outputs()).zip(x.par_chunks(self.net.inputs()));
        rows.for_each(|(y, x)| y.copy_from_slice(&self.forward(x, &[]).0));
        y
    }

    fn forward(&self, x: &[f32], masks: &[&[f32]]) -> (Vec<f32>, Tape) {
        let width = self.net.width();
        let mut h = self.embed(x);
        let mut blocks = Vec::with_capacity(self.net.blocks());
        for block in 0..self.net.blocks() {
            let [qkv, project, up, down] = self.layers(block);
            let (normed_1, inverse_1) = norm(&h, width);
            let qkv = self.layers.linear(qkv, &normed_1);
            let attended = self.attention().forward(&qkv);
            self.layers.add_linear(project, &attended, &mut h);
            let (normed_2, inverse_2) = norm(&h, width);
            let up = self.layers.linear(up, &normed_2);
            let hidden = silu(&up, masks.get(block).copied());
            self.layers.add_linear(down, &hidden, &mut h);
            let (normed, inverse) = ([normed_1, normed_2], [inverse_1, inverse_2]);
            blocks.push(BlockTape { normed, inverse, qkv, attended, up, hidden });
        }
        let (normed, inverse) = norm(&h, width);
        (self.answer(&normed), Tape { blocks, normed, inverse })
    }

    fn layers(&self, block: usize) -> [usize; LAYERS] {
        [0, 1, 2, 3].map(|layer| self.net.layer(block, layer))
    }

    /// The loss of a row, and what the gradient of the weights is made of.
    fn backward(&self, x: &[f32], masks: &[&[f32]], loss: impl Fn(&[f32], &mut [f32]) -> f64) -> Back {
        let width = self.net.width();
        let (y, tape) = self.forward(x, masks);
        let mut slope = vec![0.0; y.len()];
        let loss = loss(&y, &mut slope);
        let mut d_h = vec![0.0; tape.normed.len()];
        norm_back(&self.answer_back(&slope), &tape.normed, &tape.inverse, width, &mut d_h);
        let mut seen = Vec::with_capacity(LAYERS * self.net.blocks());
        for (block, tape) in tape.blocks.into_iter().enumerate().rev() {
            self.block_back(block, tape, masks.get(block).copied(), &mut d_h, &mut seen);
        }
        seen.reverse();
        Back { loss, seen, output: Seen { x: tape.normed, d: slope }, d_embedded: d_h }
    }

    /// Through a block, its last layer first: `d_h` becomes the gradient by what went in.
    fn block_back(
        &self,
        block: usize,
        tape: BlockTape,
        mask: Option<&[f32]>,
        d_h: &mut [f32],
        seen: &mut Vec<Seen>,
    ) {
        let width = self.net.width();
        let [qkv, project, up, down] = self.layers(block);
        let [normed_1, normed_2] = tape.normed;
        let mut d_up = self.layers.linear_back(down, d_h);
        silu_back(&mut d_up, &tape.up, mask);
        seen.push(Seen { x: tape.hidden, d: d_h.to_vec() });
        norm_back(&self.layers.linear_back(up, &d_up), &normed_2, &tape.inverse[1], width, d_h);
        seen.push(Seen { x: normed_2, d: d_up });

        let d_attended = self.layers.linear_back(project, d_h);
        let d_qkv = self.attention().backward(&tape.qkv, &tape.attended, &d_attended);
        seen.push(Seen { x: tape.attended, d: d_h.to_vec() });
        norm_back(&self.layers.linear_back(qkv, &d_qkv), &normed_1, &tape.inverse[0], width, d_h);
        seen.push(Seen { x: normed_1, d: d_qkv });
    }

    /// The sum of the losses of rows and its gradient by the weights. `loss(row, outputs, slope)` puts the gradient by the
    /// outputs, which is 0 before, to `slope`.
    pub(crate) fn gradient(
        &self,
        x: &[f32],
        masks: &[Vec<f32>],
        loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
        gradient: &mut [f32],
    ) -> f64 {
        let hidden = self.net.hidden();
        let rows: Vec<&[f32]> = x.chunks_exact(self.net.inputs()).collect();
        let mut sum = 0.0;
        for (wave, rows) in rows.chunks(WAVE).enumerate() {
            let back = |(at, x): (usize, &&[f32])| {
                let row = wave * WAVE + at;
                let masks: Vec<&[f32]> = masks.iter().map(|mask| &mask[row * hidden..][..hidden]).collect();
                self.backward(x, &masks, |y, slope| loss(row, y, slope))
            };
            let backs: Vec<Back> = rows.par_iter().enumerate().map(back).collect();
            sum += backs.iter().map(|back| back.loss).sum::<f64>();
            self.pieces(gradient).into_par_iter().for_each(|piece| {
                if wave == 0 {
                    piece.out.fill(0.0);
                }
                rows.iter().zip(&backs).for_each(|(x, back)| self.add(&piece.role, x, back, piece.out));
            });
        }
        sum
    }

    fn pieces<'g>(&self, mut gradient: &'g mut [f32]) -> Vec<Piece<'g>> {
        let width = self.net.width();
        let mut pieces = Vec::new();
        let mut take = |role: Role, len: usize| {
            let (out, rest) = std::mem::take(&mut gradient).split_at_mut(len);
            gradient = rest;
            pieces.push(Piece { role, out });
        };
        for (column, span) in self.net.columns().iter().enumerate() {
            take(Role::Column(column), span.features.len() * width);
        }
        take(Role::Apart, self.net.columns().len() * width);
        for layer in 0..LAYERS * self.net.blocks() {
            let part = |index: usize| self.net.parts().get(FIRST + 2 * layer + index).range.len();
            take(Role::Weight(layer), part(0));
            take(Role::Bias(layer), part(1));
        }
        for start in (0..width).step_by(SPAN) {
            let range = start..width.min(start + SPAN);
            take(Role::Output(range.clone()), range.len() * self.net.outputs());
        }
        take(Role::OutputBias, self.net.outputs());
        pieces
    }

    fn add(&self, role: &Role, x: &[f32], back: &Back, out: &mut [f32]) {
        let width = self.net.width();
        match role {
            Role::Column(column) => {
                let cell = &x[self.net.columns()[*column].features.clone()];
                add_outer(out, cell, &back.d_embedded[column * width..][..width]);
            }
            Role::Apart => add_rows(out, &back.d_embedded, true),
            Role::Weight(layer) => {
                let Seen { x, d } = &back.seen[*layer];
                let rows = self.net.columns().len();
                let x = Matrix::new(x, rows, x.len() / rows).transposed();
                matmul(out, true, x, Matrix::new(d, rows, d.len() / rows));
            }
            Role::Bias(layer) => add_rows(out, &back.seen[*layer].d, true),
            Role::Output(range) => {
                let stride = self.net.outputs();
                for (span, n) in self.net.columns().iter().zip(back.output.x.chunks_exact(width)) {
                    let slope = &back.output.d[span.outputs.clone()];
                    if slope.iter().any(|slope| *slope != 0.0) {
                        let out = out.chunks_exact_mut(stride).map(|out| &mut out[span.outputs.clone()]);
                        out.zip(&n[range.clone()]).for_each(|(out, n)| add_outer(out, &[*n], slope));
                    }
                }
            }
            Role::OutputBias => add_rows(out, &back.output.d, true),
        }
    }
}

/// A piece of the gradient.
struct Piece<'a> {
    role: Role,
    out: &'a mut [f32],
}

enum Role {
    /// The matrix of a column at the input.
    Column(usize),
    /// What tells columns apart.
    Apart,
    /// The matrix of a layer of the blocks.
    Weight(usize),
    Bias(usize),
    /// Some rows of the matrices at the output.
    Output(Range<usize>),
    OutputBias,
}

/// out += Σ factorᵢ rowᵢ.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_scaled_rows(out: &mut [f32], factors: &[f32], rows: &[f32]) {
    let width = out.len();
    for k in 0..factors.len() {
        let (factor, row) = (factors[k], &rows[k * width..][..width]);
        if factor != 0.0 {
            for i in 0..width {
                out[i] += factor * row[i];
            }
        }
    }
}

/// out += factors ⊗ row.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_outer(out: &mut [f32], factors: &[f32], row: &[f32]) {
    let width = row.len();
    for k in 0..factors.len() {
        let (factor, out) = (factors[k], &mut out[k * width..][..width]);
        if factor != 0.0 {
            for i in 0..width {
                out[i] += factor * row[i];
            }
        }
    }
}
