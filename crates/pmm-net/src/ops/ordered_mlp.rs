//! The perceptron of [`Mlp`](crate::Mlp) for rows whose columns become known one after the other: all that a row is asked on its way, in
//! one pass.
//!
//! What a column adds to the first layer does not depend on the others, so the sums of the first layer are a running sum along the way,
//! and on the way back the gradient by them is one, too. Of the output layer each question needs its own column's part only. What is
//! left for every question are the blocks between. Sums have a fixed order, whatever the threads.

use std::ops::Range;

use pmm_data::rules::RowWay;
use rayon::prelude::*;

use super::layers::Layers;
use super::matmul::{Matrix, matmul};
use super::mlp::{Seen, Tape, back_through_blocks, masks_of, pieces, through_blocks, turned_layers};
use super::revealing::Revealing;
use super::rows::{add_bias, add_rows};
use crate::mlp::Mlp;

/// Rows on their ways.
pub(crate) struct OrderedRows<'a> {
    /// Features of all their cells, `[rows, inputs]`.
    pub(crate) features: &'a [f32],
    /// The inputs and the outputs of every column.
    pub(crate) columns: &'a [(Range<usize>, Range<usize>)],
    pub(crate) ways: &'a [RowWay],
}

/// Questions that a chunk of rows should have about.
const CHUNK: usize = 64;

/// A chunk on its way.
struct Chunk {
    ways: Range<usize>,
    /// Its questions, among all.
    questions: Range<usize>,
}

/// What a column's questions say.
struct Answered {
    /// The loss of each, and the gradient by what the output layer saw of the blocks.
    losses: Vec<f64>,
    d_normed: Vec<f32>,
    /// By the column's part of the output layer.
    d_matrix: Vec<f32>,
    d_bias: Vec<f32>,
}

/// The sum of a loss over all questions, row by row; its gradient by the weights is added to `gradient`. `masks` are dropout's, a row a
/// question. `loss(question, outputs, slope)` sees the outputs of the column that is asked for, and puts its gradient to `slope`.
pub(crate) fn gradient(
    mlp: &Mlp,
    weights: &[f32],
    rows: &OrderedRows<'_>,
    masks: &[Vec<f32>],
    loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
    gradient: &mut [f32],
) -> f64 {
    let (width, kept) = (mlp.width(), mlp.width() + mlp.straight().len());
    let layers = Layers { parts: mlp.parts(), weights };
    let chunks = chunks(rows);
    let masks = |chunk: &Chunk| masks_of(masks, chunk.questions.start * width..chunk.questions.end * width);
    let (tapes, seen): (Vec<Tape>, Vec<Vec<f32>>) = chunks
        .par_iter()
        .map(|chunk| {
            let last = states(mlp, weights, rows, chunk);
            let sums = last.chunks_exact(kept).flat_map(|last| &last[..width]).copied().collect();
            let tape = through_blocks(mlp, layers, sums, &masks(chunk));
            (tape, last)
        })
        .unzip();
    // What the output layer sees: the blocks' rows in the place of the sums.
    let mut last = seen.concat();
    let normed = tapes.iter().flat_map(|tape| tape.normed[mlp.blocks()].chunks_exact(width));
    last.chunks_exact_mut(kept).zip(normed).for_each(|(last, normed)| last[..width].copy_from_slice(normed));
    let groups = by_column(rows);
    let answered: Vec<Answered> = groups
        .par_iter()
        .enumerate()
        .map(|(column, questions)| answer(mlp, layers, &last, questions, &rows.columns[column].1, &loss))
        .collect();
    let (losses, d_normed) = by_question(&groups, &answered, width);
    add_output_layer(mlp, rows.columns, &answered, gradient);
    let turned = turned_layers(mlp, weights);
    let back: Vec<Seen> = chunks
        .par_iter()
        .zip(tapes)
        .map(|(chunk, tape)| {
            let d = d_normed[chunk.questions.start * width..chunk.questions.end * width].to_vec();
            back_through_blocks(mlp, &turned, d, tape, &masks(chunk))
        })
        .collect();
    add_blocks(mlp, &back, gradient);
    add_first_layer(mlp, rows, &chunks, &back, gradient);
    losses.iter().sum()
}

fn chunks(rows: &OrderedRows<'_>) -> Vec<Chunk> {
    let each = (CHUNK / rows.columns.len().max(1)).max(1);
    let mut first = 0;
    (0..rows.ways.len())
        .step_by(each)
        .map(|start| {
            let ways = start..rows.ways.len().min(start + each);
            let questions: usize = rows.ways[ways.clone()].iter().map(|way| way.asked.len()).sum();
            first += questions;
            Chunk { ways, questions: first - questions..first }
        })
        .collect()
}

/// The sums of the first layer at every question of a chunk, and the inputs that go straight to the last layer.
fn states(mlp: &Mlp, weights: &[f32], rows: &OrderedRows<'_>, chunk: &Chunk) -> Vec<f32> {
    let network = Revealing::new(mlp, weights);
    let mut states = Vec::with_capacity(chunk.questions.len() * network.kept());
    for row in chunk.ways.clone() {
        let (way, features) = (&rows.ways[row], &rows.features[row * mlp.inputs()..][..mlp.inputs()]);
        let (mut kept, mut known) = (network.blank(), 0);
        for &(count, _) in &way.asked {
            for &column in &way.revealed[known..count] {
                let inputs = rows.columns[column].0.clone();
                network.reveal(&mut kept, inputs.start, &features[inputs]);
            }
            known = count;
            states.extend_from_slice(&kept);
        }
    }
    states
}

/// The questions about every column.
fn by_column(rows: &OrderedRows<'_>) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); rows.columns.len()];
    let asked = rows.ways.iter().flat_map(|way| &way.asked);
    asked.enumerate().for_each(|(question, &(_, column))| groups[column].push(question));
    groups
}

fn answer(
    mlp: &Mlp,
    layers: Layers<'_>,
    last: &[f32],
    questions: &[usize],
    outputs: &Range<usize>,
    loss: &(impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync),
) -> Answered {
    let (width, layer) = (mlp.width(), 2 + 4 * mlp.blocks());
    let (kept, count) = (width + mlp.straight().len(), outputs.len());
    let seen: Vec<f32> =
        questions.iter().flat_map(|question| &last[question * kept..][..kept]).copied().collect();
    let matrix = layers.matrix(layer).columns(outputs.clone());
    let mut y = vec![0.0; questions.len() * count];
    add_bias(&mut y, &layers.part(layer + 1)[outputs.clone()], false);
    matmul(&mut y, true, Matrix::new(&seen, questions.len(), kept), matrix);
    let mut slope = vec![0.0; y.len()];
    let each = questions.iter().zip(y.chunks_exact(count).zip(slope.chunks_exact_mut(count)));
    let losses = each.map(|(question, (y, slope))| loss(*question, y, slope)).collect();
    let slope = Matrix::new(&slope, questions.len(), count);
    let (mut d_last, mut d_matrix) = (vec![0.0; questions.len() * kept], vec![0.0; kept * count]);
    matmul(&mut d_last, false, slope, matrix.transposed());
    matmul(&mut d_matrix, false, Matrix::new(&seen, questions.len(), kept).transposed(), slope);
    let mut d_bias = vec![0.0; count];
    add_rows(&mut d_bias, slope.values(), false);
    let d_normed = d_last.chunks_exact(kept).flat_map(|d| &d[..width]).copied().collect();
    Answered { losses, d_normed, d_matrix, d_bias }
}

/// Losses and gradients in the order of the questions.
fn by_question(groups: &[Vec<usize>], answered: &[Answered], width: usize) -> (Vec<f64>, Vec<f32>) {
    let count = groups.iter().map(Vec::len).sum::<usize>();
    let (mut losses, mut d_normed) = (vec![0.0; count], vec![0.0; count * width]);
    for (questions, answered) in groups.iter().zip(answered) {
        for (at, &question) in questions.iter().enumerate() {
            losses[question] = answered.losses[at];
            d_normed[question * width..][..width].copy_from_slice(&answered.d_normed[at * width..][..width]);
        }
    }
    (losses, d_normed)
}

fn add_output_layer(
    mlp: &Mlp,
    columns: &[(Range<usize>, Range<usize>)],
    answered: &[Answered],
    gradient: &mut [f32],
) {
    let layer = 2 + 4 * mlp.blocks();
    let (matrix, bias) = (mlp.parts().get(layer).range.clone(), mlp.parts().get(layer + 1).range.clone());
    for ((_, outputs), answered) in columns.iter().zip(answered) {
        let rows = gradient[matrix.clone()].chunks_exact_mut(mlp.outputs());
        for (to, from) in rows.zip(answered.d_matrix.chunks_exact(outputs.len().max(1))) {
            add_rows(&mut to[outputs.clone()], from, true);
        }
        add_rows(&mut gradient[bias.clone()][outputs.clone()], &answered.d_bias, true);
    }
}

fn add_blocks(mlp: &Mlp, back: &[Seen], gradient: &mut [f32]) {
    let inner = pieces(mlp, gradient).into_par_iter();
    inner.filter(|piece| (1..=2 * mlp.blocks()).contains(&piece.layer)).for_each(|mut piece| {
        let shape = (mlp.width(), mlp.width());
        for (seen, after) in back {
            piece.add_product(shape, &seen[piece.layer - 1], &after[piece.layer], true);
        }
    });
}

/// A column of a row has added to the sums at every question after it became known: what comes back to it is the sum over those.
fn add_first_layer(mlp: &Mlp, rows: &OrderedRows<'_>, chunks: &[Chunk], back: &[Seen], gradient: &mut [f32]) {
    let (width, count) = (mlp.width(), rows.ways.len());
    let mut d_columns = vec![0.0; rows.columns.len() * count * width]; // [columns, rows, width]
    let bias = mlp.parts().get(1).range.clone();
    for (chunk, (_, after)) in chunks.iter().zip(back) {
        add_rows(&mut gradient[bias.clone()], &after[0], true);
        let mut d_sums = after[0].chunks_exact(width);
        for row in chunk.ways.clone() {
            let way = &rows.ways[row];
            let d_row: Vec<&[f32]> = d_sums.by_ref().take(way.asked.len()).collect();
            let mut sum = vec![0.0; width];
            for (question, d) in d_row.into_iter().enumerate().rev() {
                add_rows(&mut sum, d, true);
                let before = question.checked_sub(1).map_or(0, |before| way.asked[before].0);
                for column in &way.revealed[before..way.asked[question].0] {
                    d_columns[(column * count + row) * width..][..width].copy_from_slice(&sum);
                }
            }
        }
    }
    let input = mlp.parts().get(0).range.clone();
    let mut rest = &mut gradient[input];
    let mut places = Vec::with_capacity(rows.columns.len());
    for (inputs, _) in rows.columns {
        let (place, after) = std::mem::take(&mut rest).split_at_mut(inputs.len() * width);
        places.push(place);
        rest = after;
    }
    let features = Matrix::new(rows.features, count, mlp.inputs());
    let columns = places.into_par_iter().zip(d_columns.par_chunks(count * width)).zip(rows.columns);
    columns.for_each(|((place, d), (inputs, _))| {
        matmul(place, true, features.columns(inputs.clone()).transposed(), Matrix::new(d, count, width));
    });
}
