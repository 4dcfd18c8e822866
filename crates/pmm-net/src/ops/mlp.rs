//! The residual multilayer perceptron of [`Mlp`](crate::Mlp), forward and backward in one piece.
//!
//! Rows are cut into chunks of a fixed size; a chunk goes through all layers on one thread, and the gradients of chunks are
//! added in order. So threads never wait within a pass, activations stay in cache, and no sum depends on the threads.
//! Beside the plain composition on burn-flex (`bench/tables/README.md` has the figures) it saves the sweeps of the norm and the
//! activation, and their derivatives.

use rayon::prelude::*;

use super::activation::sigmoid;
use super::matmul::{Matrix, matmul};
use crate::mlp::{EPSILON, Mlp};

/// Rows per chunk.
const CHUNK: usize = 64;

/// What the backward pass needs of a chunk.
struct Tape {
    /// norm(h) before each block, and before the output.
    normed: Vec<Vec<f32>>,
    /// 1/σ of these rows.
    inverse: Vec<Vec<f32>>,
    /// norm(h) W₁ + b₁ of each block.
    before: Vec<Vec<f32>>,
    /// What W₂ sees.
    hidden: Vec<Vec<f32>>,
}

/// Activations of a batch.
pub(crate) struct Tapes(Vec<Tape>);

struct Layers<'a> {
    mlp: &'a Mlp,
    weights: &'a [f32],
}

impl<'a> Layers<'a> {
    fn part(&self, index: usize) -> &'a [f32] {
        &self.weights[self.mlp.parts().get(index).range.clone()]
    }

    fn matrix(&self, index: usize) -> Matrix<'a> {
        let [rows, columns] = self.mlp.parts().get(index).shape;
        Matrix::new(self.part(index), rows, columns)
    }

    /// x W + b, or out + x W + b.
    fn linear(&self, index: usize, x: &[f32], rows: usize, add: bool, out: &mut [f32]) {
        let [inputs, outputs] = self.mlp.parts().get(index).shape;
        let bias = self.part(index + 1);
        for out in out.chunks_exact_mut(outputs) {
            if add {
                out.iter_mut().zip(bias).for_each(|(out, b)| *out += b);
            } else {
                out.copy_from_slice(bias);
            }
        }
        matmul(out, true, Matrix::new(x, rows, inputs), self.matrix(index));
    }
}

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
    let layers = Layers { mlp, weights };
    let tapes = y
        .par_chunks_mut(CHUNK * outputs)
        .zip(x.par_chunks(CHUNK * inputs))
        .enumerate()
        .map(|(chunk, (y, x))| {
            let tape = forward_chunk(&layers, x, y, masks, chunk);
            keep.then_some(tape)
        })
        .collect::<Vec<_>>();
    (y, Tapes(tapes.into_iter().flatten().collect()))
}

fn forward_chunk(layers: &Layers<'_>, x: &[f32], y: &mut [f32], masks: &[Vec<f32>], chunk: usize) -> Tape {
    let (width, blocks) = (layers.mlp.width(), layers.mlp.blocks());
    let rows = x.len() / layers.mlp.inputs();
    let mut tape = Tape { normed: Vec::new(), inverse: Vec::new(), before: Vec::new(), hidden: Vec::new() };
    let mut h = vec![0.0; rows * width];
    layers.linear(0, x, rows, false, &mut h);
    for block in 0..blocks {
        let (normed, inverse) = norm(&h, width);
        let mut before = vec![0.0; rows * width];
        layers.linear(2 + 4 * block, &normed, rows, false, &mut before);
        let mut hidden: Vec<f32> = before.iter().map(|p| p * sigmoid(*p)).collect();
        if let Some(mask) = masks.get(block) {
            let mask = &mask[chunk * CHUNK * width..][..rows * width];
            hidden.iter_mut().zip(mask).for_each(|(u, m)| *u *= m);
        }
        layers.linear(4 + 4 * block, &hidden, rows, true, &mut h);
        tape.normed.push(normed);
        tape.inverse.push(inverse);
        tape.before.push(before);
        tape.hidden.push(hidden);
    }
    let (normed, inverse) = norm(&h, width);
    layers.linear(2 + 4 * blocks, &normed, rows, false, y);
    tape.normed.push(normed);
    tape.inverse.push(inverse);
    tape
}

/// The gradient by the weights, given that by the outputs (`slope`).
pub(crate) fn backward(
    mlp: &Mlp,
    weights: &[f32],
    x: &[f32],
    masks: &[Vec<f32>],
    tapes: &Tapes,
    slope: &[f32],
    gradient: &mut [f32],
) {
    let layers = Layers { mlp, weights };
    let chunks =
        x.par_chunks(CHUNK * mlp.inputs()).zip(slope.par_chunks(CHUNK * mlp.outputs())).zip(&tapes.0);
    let parts: Vec<Vec<f32>> = chunks
        .enumerate()
        .map(|(chunk, ((x, slope), tape))| backward_chunk(&layers, x, slope, masks, tape, chunk))
        .collect();
    // Added element by element in the order of the chunks.
    const SPAN: usize = 16_384;
    gradient.par_chunks_mut(SPAN).enumerate().for_each(|(span, out)| {
        let at = span * SPAN;
        out.copy_from_slice(&parts[0][at..at + out.len()]);
        for part in &parts[1..] {
            out.iter_mut().zip(&part[at..]).for_each(|(out, g)| *out += g);
        }
    });
}

fn backward_chunk(
    layers: &Layers<'_>,
    x: &[f32],
    slope: &[f32],
    masks: &[Vec<f32>],
    tape: &Tape,
    chunk: usize,
) -> Vec<f32> {
    let mlp = layers.mlp;
    let (width, blocks) = (mlp.width(), mlp.blocks());
    let rows = x.len() / mlp.inputs();
    let mut gradient = vec![0.0; layers.weights.len()];
    let mut d_normed = vec![0.0; rows * width];
    let last = 2 + 4 * blocks;
    linear_back(layers, last, &tape.normed[blocks], slope, rows, &mut gradient);
    matmul(&mut d_normed, false, Matrix::new(slope, rows, mlp.outputs()), layers.matrix(last).transposed());
    let mut d_h = vec![0.0; rows * width];
    norm_back(&d_normed, &tape.normed[blocks], &tape.inverse[blocks], width, &mut d_h);
    let mut d_hidden = vec![0.0; rows * width];
    for block in (0..blocks).rev() {
        let (up, down) = (2 + 4 * block, 4 + 4 * block);
        linear_back(layers, down, &tape.hidden[block], &d_h, rows, &mut gradient);
        matmul(&mut d_hidden, false, Matrix::new(&d_h, rows, width), layers.matrix(down).transposed());
        if let Some(mask) = masks.get(block) {
            let mask = &mask[chunk * CHUNK * width..][..rows * width];
            d_hidden.iter_mut().zip(mask).for_each(|(d, m)| *d *= m);
        }
        for (d, p) in d_hidden.iter_mut().zip(&tape.before[block]) {
            let s = sigmoid(*p);
            *d *= s * (1.0 + p * (1.0 - s));
        }
        linear_back(layers, up, &tape.normed[block], &d_hidden, rows, &mut gradient);
        matmul(&mut d_normed, false, Matrix::new(&d_hidden, rows, width), layers.matrix(up).transposed());
        norm_back(&d_normed, &tape.normed[block], &tape.inverse[block], width, &mut d_h);
    }
    linear_back(layers, 0, x, &d_h, rows, &mut gradient);
    gradient
}

/// xᵀ d and the sum of d's rows, to the gradient's place for the layer.
fn linear_back(layers: &Layers<'_>, index: usize, x: &[f32], d: &[f32], rows: usize, gradient: &mut [f32]) {
    let parts = layers.mlp.parts();
    let [inputs, outputs] = parts.get(index).shape;
    let place = &mut gradient[parts.get(index).range.clone()];
    matmul(place, false, Matrix::new(x, rows, inputs).transposed(), Matrix::new(d, rows, outputs));
    let bias = &mut gradient[parts.get(index + 1).range.clone()];
    for d in d.chunks_exact(outputs) {
        bias.iter_mut().zip(d).for_each(|(b, d)| *b += d);
    }
}

/// (h − mean)/σ by rows, and 1/σ.
fn norm(h: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let mut normed = vec![0.0; h.len()];
    let mut inverse = Vec::with_capacity(h.len() / width);
    for (out, h) in normed.chunks_exact_mut(width).zip(h.chunks_exact(width)) {
        let mean = sum(h.iter().copied()) / width as f32;
        let variance = sum(h.iter().map(|h| (h - mean) * (h - mean))) / width as f32;
        let scale = 1.0 / (variance + EPSILON as f32).sqrt();
        out.iter_mut().zip(h).for_each(|(out, h)| *out = (h - mean) * scale);
        inverse.push(scale);
    }
    (normed, inverse)
}

/// d_h += 1/σ (d − mean(d) − n mean(d n)).
fn norm_back(d: &[f32], normed: &[f32], inverse: &[f32], width: usize, d_h: &mut [f32]) {
    let rows = d.chunks_exact(width).zip(normed.chunks_exact(width)).zip(inverse);
    for (out, ((d, n), scale)) in d_h.chunks_exact_mut(width).zip(rows) {
        let mean = sum(d.iter().copied()) / width as f32;
        let along = sum(d.iter().zip(n).map(|(d, n)| d * n)) / width as f32;
        for ((out, d), n) in out.iter_mut().zip(d).zip(n) {
            *out += scale * (d - mean - n * along);
        }
    }
}

/// A sum in eight lanes: vectorised, and as precise as eight short sums.
fn sum(values: impl Iterator<Item = f32>) -> f32 {
    let mut lanes = [0f32; 8];
    for (i, value) in values.enumerate() {
        lanes[i % 8] += value;
    }
    lanes.iter().sum()
}
