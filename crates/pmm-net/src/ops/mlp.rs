//! The residual multilayer perceptron of [`Mlp`](crate::Mlp), forward and backward in one piece.
//!
//! Rows are cut into chunks of a fixed size; a chunk goes through all layers on one thread, and what its rows add to the gradient of
//! a weight is added in the order of the chunks. So threads wait but once, activations stay in cache, and no sum depends on the threads.
//! Beside the plain composition on burn-flex (`bench/tables/README.md` has the figures) it saves the sweeps of the norm and the
//! activation, and their derivatives.

use std::ops::Range;

use rayon::prelude::*;

use super::layers::Layers;
use super::matmul::{Matrix, matmul, turned};
use super::rows::{add_rows, norm, norm_back, silu, silu_back};
use crate::mlp::Mlp;

/// Rows per chunk.
pub(super) const CHUNK: usize = 64;

/// What the backward pass needs of a chunk.
#[derive(Default)]
pub(super) struct Tape {
    /// norm(h) before each block, and before the output.
    pub(super) normed: Vec<Vec<f32>>,
    /// 1/σ of these rows.
    inverse: Vec<Vec<f32>>,
    /// norm(h) W₁ + b₁ of each block.
    before: Vec<Vec<f32>>,
    /// What W₂ sees.
    hidden: Vec<Vec<f32>>,
}

/// Activations of a batch, and what the output layer sees of each chunk.
pub(crate) struct Tapes(Vec<(Tape, Vec<f32>)>);

/// Outputs `[rows, outputs]` of features `[rows, inputs]`, whatever batch the rows come in: products of few rows round in their
/// own way, so a last chunk is filled up with rows of zeros.
pub(crate) fn outputs(mlp: &Mlp, weights: &[f32], mut x: Vec<f32>) -> Vec<f32> {
    let rows = x.len() / mlp.inputs();
    x.resize(rows.next_multiple_of(CHUNK) * mlp.inputs(), 0.0);
    let (mut y, _) = forward(mlp, weights, &x, &[], false);
    y.truncate(rows * mlp.outputs());
    y
}

/// Outputs `[rows, outputs]` of features `[rows, inputs]`; `masks` are dropout's, or none.
pub(crate) fn forward(
    mlp: &Mlp,
    weights: &[f32],
    x: &[f32],
    masks: &[Vec<f32>],
    keep: bool,
) -> (Vec<f32>, Tapes) {
    let (inputs, outputs) = (mlp.inputs(), mlp.outputs());
    let mut y = vec![0.0; x.len() / inputs * outputs];
    let layers = Layers { parts: mlp.parts(), weights };
    let tapes = y
        .par_chunks_mut(CHUNK * outputs)
        .zip(x.par_chunks(CHUNK * inputs))
        .enumerate()
        .map(|(chunk, (y, x))| {
            let tape = forward_chunk(mlp, layers, x, y, masks, chunk);
            keep.then_some(tape)
        })
        .collect::<Vec<_>>();
    (y, Tapes(tapes.into_iter().flatten().collect()))
}

fn forward_chunk(
    mlp: &Mlp,
    layers: Layers<'_>,
    x: &[f32],
    y: &mut [f32],
    masks: &[Vec<f32>],
    chunk: usize,
) -> (Tape, Vec<f32>) {
    let (width, blocks) = (mlp.width(), mlp.blocks());
    let rows = x.len() / mlp.inputs();
    let masks = masks_of(masks, chunk * CHUNK * width..(chunk * CHUNK + rows) * width);
    let tape = through_blocks(mlp, layers, layers.linear(0, x), &masks);
    let mut last = vec![0.0; rows * (width + mlp.straight().len())];
    for (row, last) in last.chunks_exact_mut(width + mlp.straight().len()).enumerate() {
        let (left, right) = last.split_at_mut(width);
        left.copy_from_slice(&tape.normed[blocks][row * width..][..width]);
        straight(mlp, &x[row * mlp.inputs()..], right);
    }
    layers.set_linear(2 + 4 * blocks, &last, y);
    (tape, last)
}

/// Of dropout's masks, one a block or none, those of some units.
pub(super) fn masks_of(masks: &[Vec<f32>], units: Range<usize>) -> Vec<&[f32]> {
    masks.iter().map(|mask| &mask[units.clone()]).collect()
}

/// Takes rows of the first layer's sums through the blocks.
pub(super) fn through_blocks(mlp: &Mlp, layers: Layers<'_>, mut h: Vec<f32>, masks: &[&[f32]]) -> Tape {
    let mut tape = Tape::default();
    for block in 0..mlp.blocks() {
        let (normed, inverse) = norm(&h, mlp.width());
        let before = layers.linear(2 + 4 * block, &normed);
        let hidden = silu(&before, masks.get(block).copied());
        layers.add_linear(4 + 4 * block, &hidden, &mut h);
        tape.normed.push(normed);
        tape.inverse.push(inverse);
        tape.before.push(before);
        tape.hidden.push(hidden);
    }
    let (normed, inverse) = norm(&h, mlp.width());
    tape.normed.push(normed);
    tape.inverse.push(inverse);
    tape
}

/// The inputs of a row that go straight to the last layer.
pub(super) fn straight(mlp: &Mlp, x: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(mlp.straight()).for_each(|(out, input)| *out = x[*input]);
}

/// The gradient by the weights, given that by the outputs (`slope`).
pub(crate) fn backward(
    mlp: &Mlp,
    weights: &[f32],
    x: &[f32],
    masks: &[Vec<f32>],
    tapes: Tapes,
    slope: &[f32],
    gradient: &mut [f32],
) {
    let turned = turned_layers(mlp, weights);
    let chunks = slope.par_chunks(CHUNK * mlp.outputs()).zip(tapes.0).enumerate();
    // What every layer has seen and what has come back to it, chunk by chunk.
    let seen: Vec<Seen> = chunks
        .map(|(chunk, (slope, tape))| backward_chunk(mlp, &turned, slope, masks, tape, chunk))
        .collect();
    pieces(mlp, gradient).into_par_iter().for_each(|mut piece| {
        let [inputs, outputs] = mlp.parts().get(2 * piece.layer).shape;
        for (chunk, (before, after)) in seen.iter().enumerate() {
            let x = match piece.layer {
                0 => &x[chunk * CHUNK * inputs..x.len().min((chunk + 1) * CHUNK * inputs)],
                layer => &before[layer - 1],
            };
            let d = match after.get(piece.layer) {
                Some(d) => d,
                None => &slope[chunk * CHUNK * outputs..],
            };
            piece.add_product((inputs, outputs), x, &d[..x.len() / inputs * outputs], chunk > 0);
        }
    });
}

/// The matrices of all layers but the first, transposed once for all chunks: products of few rows with a matrix that is not spend
/// a third of their time on reading it.
pub(super) fn turned_layers(mlp: &Mlp, weights: &[f32]) -> Vec<Vec<f32>> {
    let turn = |layer: usize| {
        let part = mlp.parts().get(2 * layer);
        turned(&weights[part.range.clone()], part.shape[0])
    };
    (1..2 * mlp.blocks() + 2).into_par_iter().map(turn).collect()
}

/// What layers have seen of a chunk, and the gradients by what they gave.
pub(super) type Seen = (Vec<Vec<f32>>, Vec<Vec<f32>>);

/// A piece of the gradient: of a layer's matrix the rows of some inputs, or its bias.
pub(super) struct Piece<'a> {
    pub(super) layer: usize,
    inputs: Option<Range<usize>>,
    out: &'a mut [f32],
}

impl Piece<'_> {
    /// Sets or adds what the rows of a chunk say, of what the layer of this shape has seen and what has come back to it.
    pub(super) fn add_product(&mut self, (inputs, outputs): (usize, usize), x: &[f32], d: &[f32], add: bool) {
        let rows = x.len() / inputs;
        match &self.inputs {
            Some(range) => {
                let x = Matrix::new(x, rows, inputs).columns(range.clone()).transposed();
                matmul(self.out, add, x, Matrix::new(d, rows, outputs));
            }
            None => add_rows(self.out, d, add),
        }
    }
}

/// Inputs of a layer per piece.
const SPAN: usize = 128;

pub(super) fn pieces<'a>(mlp: &Mlp, mut gradient: &'a mut [f32]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut take = |len: usize| {
        let (head, tail) = std::mem::take(&mut gradient).split_at_mut(len);
        gradient = tail;
        head
    };
    for (index, part) in mlp.parts().iter().enumerate() {
        let [rows, columns] = part.shape;
        if index % 2 == 1 {
            pieces.push(Piece { layer: index / 2, inputs: None, out: take(rows * columns) });
            continue;
        }
        for start in (0..rows).step_by(SPAN) {
            let range = start..rows.min(start + SPAN);
            let out = take(range.len() * columns);
            pieces.push(Piece { layer: index / 2, inputs: Some(range), out });
        }
    }
    pieces
}

/// What layers 1, 2, … have seen of a chunk, and the gradients by the outputs of layers 0, 1, … but the last.
fn backward_chunk(
    mlp: &Mlp,
    turned: &[Vec<f32>],
    slope: &[f32],
    masks: &[Vec<f32>],
    (tape, last): (Tape, Vec<f32>),
    chunk: usize,
) -> Seen {
    let width = mlp.width();
    let rows = slope.len() / mlp.outputs();
    let masks = masks_of(masks, chunk * CHUNK * width..(chunk * CHUNK + rows) * width);
    let mut d_normed = vec![0.0; rows * width];
    back_through(turned, 2 * mlp.blocks() + 1, slope, &mut d_normed, width);
    let (mut seen, after) = back_through_blocks(mlp, turned, d_normed, tape, &masks);
    seen.push(last);
    (seen, after)
}

/// From the gradient by what a layer gave, that by what it saw of the layer before.
fn back_through(turned: &[Vec<f32>], layer: usize, d: &[f32], out: &mut [f32], width: usize) {
    let rows = out.len() / width;
    let (outputs, turned) = (d.len() / rows, &turned[layer - 1]);
    let matrix = Matrix::new(turned, outputs, turned.len() / outputs).columns(0..width);
    matmul(out, false, Matrix::new(d, rows, outputs), matrix);
}

/// What the layers of the blocks have seen of some rows, and the gradients by the outputs of the first layer and of the blocks' layers,
/// given that by what the output layer saw of the blocks.
pub(super) fn back_through_blocks(
    mlp: &Mlp,
    turned: &[Vec<f32>],
    mut d_normed: Vec<f32>,
    tape: Tape,
    masks: &[&[f32]],
) -> Seen {
    let (width, blocks) = (mlp.width(), mlp.blocks());
    let Tape { normed, inverse, before, hidden } = tape;
    let mut d_h = vec![0.0; d_normed.len()];
    norm_back(&d_normed, &normed[blocks], &inverse[blocks], width, &mut d_h);
    let mut after = Vec::with_capacity(2 * blocks + 1);
    for block in (0..blocks).rev() {
        let mut d_hidden = vec![0.0; d_h.len()];
        back_through(turned, 2 * block + 2, &d_h, &mut d_hidden, width);
        silu_back(&mut d_hidden, &before[block], masks.get(block).copied());
        back_through(turned, 2 * block + 1, &d_hidden, &mut d_normed, width);
        after.push(d_h.clone());
        after.push(d_hidden);
        norm_back(&d_normed, &normed[block], &inverse[block], width, &mut d_h);
    }
    after.push(d_h);
    after.reverse();
    let mut seen = Vec::with_capacity(2 * blocks + 1);
    let mut hidden = hidden.into_iter();
    for normed in normed.into_iter().take(blocks) {
        seen.push(normed);
        seen.extend(hidden.next());
    }
    (seen, after)
}
