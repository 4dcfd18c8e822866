//! The perceptron of [`Mlp`](crate::Mlp) for rows that get to know one column after the other, and are asked for one column at a time.
//!
//! What a column adds to the first layer does not depend on the others, so a row keeps that layer's sums x W + b: a column more
//! costs the products of its own features, of which most are 0, and an answer those of its own outputs. Only the blocks between
//! are computed anew. Beside its sums a row keeps the inputs that go straight to the last layer. A row's sums are added up in the order in which its columns became known, whatever rows are beside it.

use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use super::layers::Layers;
use super::mlp::{CHUNK, straight};
use super::rows::{norm_in_place, silu_in_place};
use crate::mlp::Mlp;

/// A perceptron with its weights.
pub(crate) struct Revealing<'a> {
    mlp: &'a Mlp,
    layers: Layers<'a>,
}

impl<'a> Revealing<'a> {
    pub(crate) fn new(mlp: &'a Mlp, weights: &'a [f32]) -> Self {
        Self { mlp, layers: Layers { parts: mlp.parts(), weights } }
    }

    /// Numbers that a row keeps: the sums, and the inputs that go straight to the last layer.
    pub(crate) fn kept(&self) -> usize {
        self.mlp.width() + self.mlp.straight().len()
    }

    /// What a row keeps that knows nothing.
    pub(crate) fn blank(&self) -> Vec<f32> {
        let mut blank = self.layers.part(1).to_vec();
        blank.resize(self.kept(), 0.0);
        blank
    }

    /// What rows keep, `[rows, kept]`, that know features `[rows, inputs]`.
    pub(crate) fn sums(&self, mut features: Vec<f32>) -> Vec<f32> {
        let (inputs, width) = (self.mlp.inputs(), self.mlp.width());
        let rows = features.len() / inputs;
        features.resize(rows.next_multiple_of(CHUNK) * inputs, 0.0);
        let mut sums = vec![0.0; features.len() / inputs * width];
        let chunks = sums.par_chunks_mut(CHUNK * width).zip(features.par_chunks(CHUNK * inputs));
        chunks.for_each(|(sums, features)| self.layers.set_linear(0, features, sums));
        let mut kept = vec![0.0; rows * self.kept()];
        let rows = kept.chunks_exact_mut(self.kept()).zip(sums.chunks_exact(width));
        for ((kept, sums), features) in rows.zip(features.chunks_exact(inputs)) {
            let (left, right) = kept.split_at_mut(width);
            left.copy_from_slice(sums);
            straight(self.mlp, features, right);
        }
        kept
    }

    /// A row knows a column more, whose features are inputs from `first` on.
    pub(crate) fn reveal(&self, kept: &mut [f32], first: usize, features: &[f32]) {
        let width = self.mlp.width();
        let rows = &self.layers.part(0)[first * width..][..features.len() * width];
        let (sums, inputs) = kept.split_at_mut(width);
        add_products(sums, features, rows);
        for (kept, input) in inputs.iter_mut().zip(self.mlp.straight()) {
            if let Some(feature) = input.checked_sub(first).and_then(|at| features.get(at)) {
                *kept = *feature;
            }
        }
    }

    /// What the output layer sees, `[rows, kept]`, of what rows keep.
    pub(crate) fn hidden(&self, mut kept: Vec<f32>) -> Vec<f32> {
        let (width, each) = (self.mlp.width(), self.kept());
        // Products of few rows round in their own way: a last chunk is filled up.
        kept.par_chunks_mut(CHUNK * each).for_each(|rows| {
            let mut h = vec![0.0; CHUNK * width];
            let sums = rows.chunks_exact(each).map(|row| &row[..width]);
            h.chunks_exact_mut(width).zip(sums).for_each(|(h, sums)| h.copy_from_slice(sums));
            self.through_blocks(&mut h);
            let rows = rows.chunks_exact_mut(each).zip(h.chunks_exact(width));
            rows.for_each(|(row, h)| row[..width].copy_from_slice(h));
        });
        kept
    }

    fn through_blocks(&self, h: &mut [f32]) {
        let width = self.mlp.width();
        let (mut normed, mut inner) = (vec![0.0; h.len()], vec![0.0; h.len()]);
        for block in 0..self.mlp.blocks() {
            normed.copy_from_slice(h);
            norm_in_place(&mut normed, width);
            self.layers.set_linear(2 + 4 * block, &normed, &mut inner);
            silu_in_place(&mut inner, None);
            self.layers.add_linear(4 + 4 * block, &inner, h);
        }
        norm_in_place(h, width);
    }

    /// Some neighbouring outputs, `[rows, outputs]`, of rows of what [`hidden`](Self::hidden) gave.
    pub(crate) fn answers(&self, outputs: Range<usize>, rows: &[&[f32]]) -> Vec<f32> {
        let (layer, all, count) = (2 + 4 * self.mlp.blocks(), self.mlp.outputs(), outputs.len());
        // The columns of the matrix side by side, filled up to whole tiles.
        let tiles = count.div_ceil(TILE);
        let mut matrix = vec![0.0; tiles * self.kept() * TILE];
        let mut bias = vec![0.0; tiles * TILE];
        bias[..count].copy_from_slice(&self.layers.part(layer + 1)[outputs.clone()]);
        for (input, weights) in self.layers.part(layer).chunks_exact(all).enumerate() {
            for (tile, weights) in weights[outputs.clone()].chunks(TILE).enumerate() {
                matrix[(tile * self.kept() + input) * TILE..][..weights.len()].copy_from_slice(weights);
            }
        }
        let mut answers = vec![0.0; rows.len() * count];
        for (answer, row) in answers.chunks_exact_mut(count.max(1)).zip(rows) {
            answer_row(answer, row, &matrix, &bias);
        }
        answers
    }
}

/// Outputs that are summed at once, in registers.
const TILE: usize = 32;

/// sums += features · matrix.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn add_products(sums: &mut [f32], features: &[f32], matrix: &[f32]) {
    let width = sums.len();
    for feature in 0..features.len() {
        let x = features[feature];
        if x == 0.0 {
            continue;
        }
        let weights = &matrix[feature * width..][..width];
        for i in 0..width {
            sums[i] += x * weights[i];
        }
    }
}

/// bias + row · matrix, tile by tile.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn answer_row(answer: &mut [f32], row: &[f32], matrix: &[f32], bias: &[f32]) {
    let (tiles, _) = matrix.as_chunks::<TILE>();
    let (biases, _) = bias.as_chunks::<TILE>();
    for tile in 0..biases.len() {
        let mut sums = biases[tile];
        let tile_rows = &tiles[tile * row.len()..][..row.len()];
        for input in 0..row.len() {
            let (x, weights) = (row[input], &tile_rows[input]);
            for i in 0..TILE {
                sums[i] += x * weights[i];
            }
        }
        let from = tile * TILE;
        let count = TILE.min(answer.len() - from);
        answer[from..from + count].copy_from_slice(&sums[..count]);
    }
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;
    use crate::ops;

    fn numbers(n: usize, key: u64) -> Vec<f32> {
        let mut stream = Streams::new(7).stream(Purpose::DATA, key, 0);
        (0..n).map(|_| stream.normal() as f32).collect()
    }

    /// Columns of 4, 70 and 3 features, with 2, 45 and 1 outputs.
    fn case() -> (Mlp, Vec<f32>, Vec<f32>) {
        let mlp = Mlp::new(77, 48, 24, 2, vec![1, 40, 75]);
        let weights = numbers(mlp.parts().len(), 0).into_iter().map(|w| 0.2 * w).collect();
        let x = numbers(100 * 77, 1).into_iter().map(|x| x.max(0.0)).collect();
        (mlp, weights, x)
    }

    const COLUMNS: [(Range<usize>, Range<usize>); 3] = [(0..4, 0..2), (4..74, 2..47), (74..77, 47..48)];

    /// Column by column in any order, from sums of some or of none: what the whole pass says, to 1e-4.
    #[test]
    fn agrees_with_the_whole_pass() {
        let (mlp, weights, x) = case();
        let whole = ops::mlp::outputs(&mlp, &weights, x.clone());
        let net = Revealing::new(&mlp, &weights);
        for order in [[0, 1, 2], [2, 0, 1]] {
            for first in 0..3 {
                let mut begun = x.clone();
                for row in begun.chunks_exact_mut(77) {
                    order[first..].iter().for_each(|column| row[COLUMNS[*column].0.clone()].fill(0.0));
                }
                let mut sums = net.sums(begun);
                for (sums, x) in sums.chunks_exact_mut(27).zip(x.chunks_exact(77)) {
                    for column in &order[first..] {
                        let inputs = COLUMNS[*column].0.clone();
                        net.reveal(sums, inputs.start, &x[inputs]);
                    }
                }
                let hidden = net.hidden(sums);
                let rows: Vec<&[f32]> = hidden.chunks_exact(27).collect();
                for (_, outputs) in COLUMNS {
                    let answers = net.answers(outputs.clone(), &rows);
                    for (answer, whole) in answers.chunks_exact(outputs.len()).zip(whole.chunks_exact(48)) {
                        let right = &whole[outputs.clone()];
                        assert!(answer.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-4), "{answer:?}");
                    }
                }
            }
        }
    }

    /// A row is what it is to the bit, alone or among others; one that knows nothing has the sums of zeros.
    #[test]
    fn rows_do_not_depend_on_each_other() {
        let (mlp, weights, x) = case();
        let net = Revealing::new(&mlp, &weights);
        let all = net.sums(x.clone());
        assert_eq!(net.sums(x[70 * 77..71 * 77].to_vec()), all[70 * 27..71 * 27]);
        assert_eq!(net.sums(vec![0.0; 77]), net.blank());
        let hidden = net.hidden(all.clone());
        assert_eq!(net.hidden(all[70 * 27..73 * 27].to_vec()), hidden[70 * 27..73 * 27]);
        let rows: Vec<&[f32]> = hidden.chunks_exact(27).collect();
        let answers = net.answers(2..47, &rows);
        assert_eq!(net.answers(2..47, &rows[70..71]), answers[70 * 45..71 * 45]);
        // Some of the outputs are what they are among more.
        assert_eq!(net.answers(20..21, &rows[70..71])[0], answers[70 * 45 + 18]);
    }
}
