//! One more step of each of several texts, with the keys and values of all steps before it kept.
//!
//! Products of few rows are summed input by input in every column, so that a row's result does not depend on the rows beside it.

use multiversion::multiversion;

use super::attention::softmax;
use super::ordered::Engine;
use super::ordered_rows::{add_to, gained, norm_and_turn, relu_squared, rms_norm};
use crate::text::{OrderedBlock, OrderedText};

/// The keys and values of the steps of one text so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past {
    pub(crate) steps: usize,
    /// Of each block, `[steps, width]`.
    pub(crate) blocks: Vec<KeysValues>,
}

/// Keys and values, `[rows, width]` each.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeysValues {
    pub(crate) keys: Vec<f32>,
    pub(crate) values: Vec<f32>,
}

impl Past {
    /// Adds a row of what a step has made.
    pub(crate) fn push(&mut self, made: &[KeysValues], row: usize, width: usize) {
        let range = row * width..(row + 1) * width;
        for (past, made) in self.blocks.iter_mut().zip(made) {
            past.keys.extend_from_slice(&made.keys[range.clone()]);
            past.values.extend_from_slice(&made.values[range.clone()]);
        }
        self.steps += 1;
    }
}

impl Engine<'_> {
    /// All steps of a text, kept.
    pub(crate) fn past(&self, text: &OrderedText) -> Past {
        let width = self.net.config().width;
        if text.is_empty() {
            return Past { steps: 0, blocks: vec![KeysValues::default(); self.net.at.blocks.len()] };
        }
        let blocks = self.run(text).blocks.into_iter().map(|tape| split(&tape.qkv, width)).collect();
        Past { steps: text.len(), blocks }
    }

    /// One step more of texts with a past each: their logits `[texts, classes]`, and of each block the keys and values of the step.
    pub(crate) fn step(&self, steps: &OrderedText, pasts: &[&Past]) -> (Vec<f32>, Vec<KeysValues>) {
        let at = &self.net.at;
        let mut h = self.embed(steps);
        let mut made = Vec::with_capacity(at.blocks.len());
        for (index, block) in at.blocks.iter().enumerate() {
            made.push(self.step_block(block, index, steps, pasts, &mut h));
        }
        let seen = self.normed(&h, at.norm);
        let mut logits = self.layers.part(at.output + 1).repeat(steps.len());
        few_rows(&seen, self.layers.part(at.output), &mut logits, self.net.classes());
        self.add_patterns(&mut logits, &steps.patterns);
        (logits, made)
    }

    fn normed(&self, h: &[f32], gain: usize) -> Vec<f32> {
        gained(&rms_norm(h, self.net.config().width).0, self.layers.part(gain))
    }

    fn few(&self, index: usize, x: &[f32]) -> Vec<f32> {
        let [inputs, outputs] = self.layers.parts.get(index).shape;
        let mut out = vec![0.0; x.len() / inputs * outputs];
        few_rows(x, self.layers.part(index), &mut out, outputs);
        out
    }

    fn step_block(
        &self,
        block: &OrderedBlock,
        index: usize,
        steps: &OrderedText,
        pasts: &[&Past],
        h: &mut [f32],
    ) -> KeysValues {
        let (width, heads) = (self.net.config().width, self.net.config().heads);
        let mut qkv = self.few(block.qkv, &self.normed(h, block.norm_1));
        norm_and_turn(&mut qkv, self.turns(steps), self.angles());
        let mut attended = vec![0.0; h.len()];
        for ((out, qkv), past) in attended.chunks_exact_mut(width).zip(qkv.chunks_exact(3 * width)).zip(pasts)
        {
            look_back(out, qkv, &past.blocks[index], heads, self.scale());
        }
        add_to(h, &self.few(block.project, &attended));
        let up = self.few(block.up, &self.normed(h, block.norm_2));
        add_to(h, &self.few(block.down, &relu_squared(&up)));
        split(&qkv, width)
    }
}

/// The keys and values in `[rows, 3 · width]`.
fn split(qkv: &[f32], width: usize) -> KeysValues {
    let part = |which: usize| {
        qkv.chunks_exact(3 * width).flat_map(|row| &row[which * width..][..width]).copied().collect()
    };
    KeysValues { keys: part(1), values: part(2) }
}

/// Attention of one query to a past and to itself. Step by step, all heads of one after the other: a long past is read from memory once,
/// in its order.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn look_back(out: &mut [f32], qkv: &[f32], past: &KeysValues, heads: usize, scale: f32) {
    let width = out.len();
    let (size, steps) = (width / heads, past.keys.len() / width);
    let (q, own) = qkv.split_at(width);
    let (own_key, own_value) = own.split_at(width);
    let mut shares = vec![0.0; heads * (steps + 1)];
    for step in 0..=steps {
        let key = if step < steps { &past.keys[step * width..][..width] } else { own_key };
        for head in 0..heads {
            let product = inner(&q[head * size..][..size], &key[head * size..][..size]);
            shares[head * (steps + 1) + step] = scale * product;
        }
    }
    for head in 0..heads {
        softmax(&mut shares[head * (steps + 1)..][..steps + 1]);
    }
    out.fill(0.0);
    for step in 0..=steps {
        let value = if step < steps { &past.values[step * width..][..width] } else { own_value };
        for head in 0..heads {
            let share = shares[head * (steps + 1) + step];
            let (out, value) = (&mut out[head * size..][..size], &value[head * size..][..size]);
            for i in 0..size {
                out[i] += share * value[i];
            }
        }
    }
}

/// Numbers that are summed side by side.
const LANES: usize = 16;

/// The inner product of two heads; lanes are added two by two.
#[inline(always)]
fn inner(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0f32; LANES];
    for c in 0..a.len().min(b.len()) {
        for l in 0..LANES {
            lanes[l] += a[c][l] * b[c][l];
        }
    }
    let mut rest = 0.0;
    for i in 0..a_rest.len().min(b_rest.len()) {
        rest += a_rest[i] * b_rest[i];
    }
    // In arrays of fixed lengths, which stay in registers.
    let mut eight = [0f32; 8];
    for l in 0..8 {
        eight[l] = lanes[l] + lanes[l + 8];
    }
    let mut four = [0f32; 4];
    for l in 0..4 {
        four[l] = eight[l] + eight[l + 4];
    }
    (four[0] + four[2]) + (four[1] + four[3]) + rest
}

/// Columns that are summed side by side.
const COLUMNS: usize = 32;
/// Rows that are.
const ROWS: usize = 4;

/// out += x W for few rows: every number is a sum over the inputs in their order, whatever the rows beside it. Some columns of W at a
/// time, so that they stay in cache for all rows.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn few_rows(x: &[f32], w: &[f32], out: &mut [f32], outputs: usize) {
    let inputs = w.len() / outputs;
    let rows = out.len() / outputs;
    let whole = outputs - outputs % COLUMNS;
    for column in (0..whole).step_by(COLUMNS) {
        let mut row = 0;
        while row < rows {
            let count = if rows - row < ROWS { 1 } else { ROWS };
            let x = &x[row * inputs..][..count * inputs];
            let out = &mut out[row * outputs..][..count * outputs];
            if count == ROWS {
                tile::<ROWS>(x, w, out, outputs, column);
            } else {
                tile::<1>(x, w, out, outputs, column);
            }
            row += count;
        }
    }
    for row in 0..rows {
        let (x, out) = (&x[row * inputs..][..inputs], &mut out[row * outputs..][..outputs]);
        for column in whole..outputs {
            for k in 0..inputs {
                out[column] += x[k] * w[k * outputs + column];
            }
        }
    }
}

#[inline(always)]
fn tile<const R: usize>(x: &[f32], w: &[f32], out: &mut [f32], outputs: usize, column: usize) {
    let inputs = x.len() / R;
    let mut sums = [[0f32; COLUMNS]; R];
    for r in 0..R {
        sums[r].copy_from_slice(&out[r * outputs + column..][..COLUMNS]);
    }
    for k in 0..inputs {
        let line = &w[k * outputs + column..][..COLUMNS];
        for r in 0..R {
            let factor = x[r * inputs + k];
            for c in 0..COLUMNS {
                sums[r][c] += factor * line[c];
            }
        }
    }
    for r in 0..R {
        out[r * outputs + column..][..COLUMNS].copy_from_slice(&sums[r]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the plain triple sum, and the same bits alone as among others.
    #[test]
    fn few_rows_are_products() {
        let (rows, inputs, outputs) = (7, 5, 75);
        let number = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 17.0;
        let x: Vec<f32> = (0..rows * inputs).map(number).collect();
        let w: Vec<f32> = (0..inputs * outputs).map(|i| number(i + 9)).collect();
        let mut out = vec![0.5; rows * outputs];
        few_rows(&x, &w, &mut out, outputs);
        for row in 0..rows {
            for column in 0..outputs {
                let sum: f64 = (0..inputs)
                    .map(|k| f64::from(x[row * inputs + k]) * f64::from(w[k * outputs + column]))
                    .sum();
                assert!((f64::from(out[row * outputs + column]) - sum - 0.5).abs() < 1e-4);
            }
            let mut alone = vec![0.5; outputs];
            few_rows(&x[row * inputs..][..inputs], &w, &mut alone, outputs);
            assert_eq!(alone, out[row * outputs..][..outputs]);
        }
    }
}
