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
struct Tape {
    /// norm(h) before each block, and before the output.
    normed: Vec<Vec<f32>>,
    /// 1/σ of these rows.
    inverse: Vec<Vec<f32>>,
    /// norm(h) W₁ + b₁ of each block.
    before: Vec<Vec<f32>>,
    /// What W₂ sees.
    hidden: Vec<Vec<f32>>,
    /// What the output layer sees.
    last: Vec<f32>,
}

/// Activations of a batch.
pub(crate) struct Tapes(Vec<Tape>);

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
) -> Tape {
    let (width, blocks) = (mlp.width(), mlp.blocks());
    let rows = x.len() / mlp.inputs();
    let mut tape = Tape::default();
    let mut h = layers.linear(0, x);
    for block in 0..blocks {
        let (normed, inverse) = norm(&h, width);
        let before = layers.linear(2 + 4 * block, &normed);
        let mask = masks.get(block).map(|mask| &mask[chunk * CHUNK * width..][..rows * width]);
        let hidden = silu(&before, mask);
        layers.add_linear(4 + 4 * block, &hidden, &mut h);
        tape.normed.push(normed);
        tape.inverse.push(inverse);
        tape.before.push(before);
        tape.hidden.push(hidden);
    }
    let (normed, inverse) = norm(&h, width);
    let mut last = vec![0.0; rows * (width + mlp.straight().len())];
    for (row, last) in last.chunks_exact_mut(width + mlp.straight().len()).enumerate() {
        let (left, right) = last.split_at_mut(width);
        left.copy_from_slice(&normed[row * width..][..width]);
        straight(mlp, &x[row * mlp.inputs()..], right);
    }
    layers.set_linear(2 + 4 * blocks, &last, y);
    tape.normed.push(normed);
    tape.inverse.push(inverse);
    tape.last = last;
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
    let pieces: Vec<Piece<'_>> = pieces(mlp, gradient);
    pieces.into_par_iter().for_each(|piece| {
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
            let rows = x.len() / inputs;
            let d = &d[..rows * outputs];
            match &piece.inputs {
                Some(range) => {
                    let x = Matrix::new(x, rows, inputs).columns(range.clone()).transposed();
                    matmul(piece.out, chunk > 0, x, Matrix::new(d, rows, outputs));
                }
                None => add_rows(piece.out, d, chunk > 0),
            }
        }
    });
}

/// The matrices of all layers but the first, transposed once for all chunks: products of few rows with a matrix that is not spend
/// a third of their time on reading it.
fn turned_layers(mlp: &Mlp, weights: &[f32]) -> Vec<Vec<f32>> {
    let turn = |layer: usize| {
        let part = mlp.parts().get(2 * layer);
        turned(&weights[part.range.clone()], part.shape[0])
    };
    (1..2 * mlp.blocks() + 2).into_par_iter().map(turn).collect()
}

/// What layers have seen of a chunk, and the gradients by what they gave.
type Seen = (Vec<Vec<f32>>, Vec<Vec<f32>>);

/// A piece of the gradient: of a layer's matrix the rows of some inputs, or its bias.
struct Piece<'a> {
    layer: usize,
    inputs: Option<Range<usize>>,
    out: &'a mut [f32],
}

/// Inputs of a layer per piece.
const SPAN: usize = 128;

fn pieces<'a>(mlp: &Mlp, mut gradient: &'a mut [f32]) -> Vec<Piece<'a>> {
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
    tape: Tape,
    chunk: usize,
) -> Seen {
    let (width, blocks) = (mlp.width(), mlp.blocks());
    let rows = slope.len() / mlp.outputs();
    let Tape { normed, inverse, before, hidden, last } = tape;
    // From the gradient by what a layer gave, that by what it saw of the layer before.
    let through = |layer: usize, d: &[f32], out: &mut [f32]| {
        let outputs = d.len() / rows;
        let turned = &turned[layer - 1];
        let matrix = Matrix::new(turned, outputs, turned.len() / outputs).columns(0..width);
        matmul(out, false, Matrix::new(d, rows, outputs), matrix);
    };
    let mut d_normed = vec![0.0; rows * width];
    through(2 * blocks + 1, slope, &mut d_normed);
    let mut d_h = vec![0.0; rows * width];
    norm_back(&d_normed, &normed[blocks], &inverse[blocks], width, &mut d_h);
    let mut after = Vec::with_capacity(2 * blocks + 1);
    for block in (0..blocks).rev() {
        let mut d_hidden = vec![0.0; rows * width];
        through(2 * block + 2, &d_h, &mut d_hidden);
        let mask = masks.get(block).map(|mask| &mask[chunk * CHUNK * width..][..rows * width]);
        silu_back(&mut d_hidden, &before[block], mask);
        through(2 * block + 1, &d_hidden, &mut d_normed);
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
    seen.push(last);
    (seen, after)
}
