//! A transformer over the columns of a row.

use std::ops::Range;

use burn::tensor::{Tensor, activation};
use pmm_core::Streams;

use crate::mlp::norm;
use crate::parts::Parts;

/// Every column is a token, h = x W + b by a matrix of its own (b tells it from the others); then every block adds
/// attention(norm(h)) between the columns, without a mask, and silu(norm(h) W₁ + b₁) W₂ + b₂; at last y = norm(h) V + v, again by
/// a matrix of its own. This is the plain composition on Burn, for any device; on the processor `ops/columns.rs` does
/// the same.
///
/// Weights do not grow with the square of the columns but for the matrices at both ends; work does, by the attention.
#[derive(Debug, Clone)]
pub struct ColumnAttention {
    columns: Vec<Span>,
    width: usize,
    blocks: usize,
    parts: Parts,
}

/// Where the features and outputs of a column are.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) features: Range<usize>,
    pub(crate) outputs: Range<usize>,
}

/// Heads of each attention.
pub(crate) const HEADS: usize = 4;
/// Hidden units of a column in a block, over its width.
pub(crate) const WIDER: usize = 2;
/// The first part of the first block; before it are the matrices of the columns, and what is added to them.
pub(crate) const FIRST: usize = 2;
/// Layers of a block: queries, keys and values together; their projection; up; down.
pub(crate) const LAYERS: usize = 4;
/// What is added to a column is uniform within ±, at first.
const APART: f32 = 0.5;

impl ColumnAttention {
    /// Columns of so many features and outputs.
    pub fn new(columns: &[(usize, usize)], width: usize, blocks: usize) -> Self {
        let (mut features, mut outputs) = (0, 0);
        let span = |&(inputs, answers): &(usize, usize)| {
            let span = Span { features: features..features + inputs, outputs: outputs..outputs + answers };
            (features, outputs) = (span.features.end, span.outputs.end);
            span
        };
        let columns: Vec<Span> = columns.iter().map(span).collect();
        let mut parts = Parts::default();
        parts.add("input.weight", features, width);
        parts.add("input.bias", columns.len(), width);
        for block in 0..blocks {
            let name = |part: &str| format!("block.{block}.{part}");
            parts.add_linear(&name("qkv"), width, 3 * width);
            parts.add_linear(&name("project"), width, width);
            parts.add_linear(&name("up"), width, WIDER * width);
            parts.add_linear(&name("down"), WIDER * width, width);
        }
        parts.add_linear("output", width, outputs);
        Self { columns, width, blocks, parts }
    }

    /// Its weights: the matrices of the columns are the rows of `input.weight` and the columns of `output.weight`.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }
    /// Numbers per row that go in.
    pub fn inputs(&self) -> usize {
        self.parts.get(0).shape[0]
    }
    /// Numbers per row that come out.
    pub fn outputs(&self) -> usize {
        self.parts.get(self.output()).shape[1]
    }
    /// Blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }
    /// Numbers of a column.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Hidden units of a block, which dropout thins.
    pub fn hidden(&self) -> usize {
        self.columns.len() * WIDER * self.width
    }

    pub(crate) fn columns(&self) -> &[Span] {
        &self.columns
    }
    /// The part that is the weight of a layer of a block; its bias follows.
    pub(crate) fn layer(&self, block: usize, layer: usize) -> usize {
        FIRST + 2 * (LAYERS * block + layer)
    }
    /// The part that is the weight of the output.
    pub(crate) fn output(&self) -> usize {
        self.layer(self.blocks, 0)
    }

    /// Initial weights: as ever, but the matrices at the input know only the features of their own column, and columns differ.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = self.parts.initial(streams);
        let all = self.inputs() as f32;
        for span in &self.columns {
            let scale = (all / span.features.len() as f32).sqrt();
            let matrix = span.features.start * self.width..span.features.end * self.width;
            weights[matrix].iter_mut().for_each(|w| *w *= scale);
        }
        let apart = APART * (self.columns.len() as f32).sqrt();
        weights[self.parts.get(1).range.clone()].iter_mut().for_each(|w| *w *= apart);
        weights
    }

    /// Outputs of a batch; `masks` are dropout's, `[rows, hidden]`, one per block, or none.
    pub fn forward(&self, parts: &[Tensor<2>], x: Tensor<2>, masks: &[Tensor<2>]) -> Tensor<2> {
        let linear = |x: Tensor<2>, index: usize| x.matmul(parts[index].clone()) + parts[index + 1].clone();
        let rows = x.dims()[0];
        let tokens = rows * self.columns.len();
        let mut h = self.embed(parts, x).reshape([tokens, self.width]);
        for block in 0..self.blocks {
            let [qkv, project, up, down] = [0, 1, 2, 3].map(|layer| self.layer(block, layer));
            h = h.clone() + linear(self.attend(linear(norm(h), qkv), rows), project);
            let mut u = activation::silu(linear(norm(h.clone()), up));
            if let Some(mask) = masks.get(block) {
                u = u * mask.clone().reshape([tokens, WIDER * self.width]);
            }
            h = h + linear(u, down);
        }
        self.answer(parts, norm(h).reshape([rows, self.columns.len() * self.width]))
    }

    /// Features → `[rows, columns · width]`.
    fn embed(&self, parts: &[Tensor<2>], x: Tensor<2>) -> Tensor<2> {
        let column = |(at, span): (usize, &Span)| {
            let (start, len) = (span.features.start, span.features.len());
            let matrix = parts[0].clone().narrow(0, start, len);
            x.clone().narrow(1, start, len).matmul(matrix) + parts[1].clone().narrow(0, at, 1)
        };
        Tensor::cat(self.columns.iter().enumerate().map(column).collect(), 1)
    }

    /// `[rows, columns · width]` → outputs.
    fn answer(&self, parts: &[Tensor<2>], h: Tensor<2>) -> Tensor<2> {
        let output = self.output();
        let column = |(at, span): (usize, &Span)| {
            let matrix = parts[output].clone().narrow(1, span.outputs.start, span.outputs.len());
            h.clone().narrow(1, at * self.width, self.width).matmul(matrix)
        };
        Tensor::cat(self.columns.iter().enumerate().map(column).collect(), 1) + parts[output + 1].clone()
    }

    /// softmax(q kᵀ/√size) v, head by head, between the columns of a row.
    fn attend(&self, qkv: Tensor<2>, rows: usize) -> Tensor<2> {
        let (columns, size) = (self.columns.len(), self.width / HEADS);
        let part = |k: usize| {
            qkv.clone()
                .narrow(1, k * self.width, self.width)
                .reshape([rows, columns, HEADS, size])
                .swap_dims(1, 2)
        };
        let scores = part(0).matmul(part(1).swap_dims(2, 3)) * (1.0 / (size as f64).sqrt());
        let out = activation::softmax(scores, 3).matmul(part(2));
        out.swap_dims(1, 2).reshape([rows * columns, self.width])
    }
}
