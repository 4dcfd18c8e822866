//! AdamW with a moving average of the weights, in one sweep.
//!
//! Burn's AdamW is ten sweeps over memory, clips each tensor by itself and keeps no average; one sweep over plain buffers
//! is faster on a CPU and makes the state a plain file.

#![expect(
    clippy::needless_range_loop,
    reason = "iterators are not inlined into functions with vectors of their own"
)]

use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use crate::train_config::TrainConfig;
use pmm_store::State;

const BETA_1: f64 = 0.9;
const EPSILON: f64 = 1e-8;
/// Elements per task; fixed, so that nothing depends on the number of threads.
pub(crate) const CHUNK: usize = 16_384;

/// The sum of the squares of each chunk, in f64.
pub(crate) fn sums_of_squares(gradient: &[f32]) -> impl IndexedParallelIterator<Item = f64> {
    gradient.par_chunks(CHUNK).map(sum_of_squares)
}

/// In eight lanes, so that it is vectorised.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_of_squares(values: &[f32]) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0f64; 8];
    for c in 0..chunks.len() {
        let chunk = &chunks[c];
        for l in 0..8 {
            lanes[l] += f64::from(chunk[l]) * f64::from(chunk[l]);
        }
    }
    for i in 0..rest.len() {
        lanes[i] += f64::from(rest[i]) * f64::from(rest[i]);
    }
    lanes.iter().sum()
}

/// One update of all weights.
#[cfg(test)]
pub(crate) fn update(state: &mut State, gradient: &[f32], scale: f64, decayed: &[f32], config: &TrainConfig) {
    state.updates += 1;
    update_range(state, 0..gradient.len(), 0, gradient, scale, decayed, config);
}

/// One update of some weights, which is already counted: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − η (m̂/(√v̂ + ε) + λ w),
/// average ← d·average + (1−d)·w. `decayed` is 1 for weights that decay, else 0. Moments and average of weight i are at i − `origin`.
pub(crate) fn update_range(
    state: &mut State,
    range: Range<usize>,
    origin: usize,
    gradient: &[f32],
    scale: f64,
    decayed: &[f32],
    config: &TrainConfig,
) {
    let rate = config.rate(state.since());
    let updates = state.updates.min(i32::MAX as u64) as i32;
    let rates = Rates {
        scale: scale as f32,
        first: (rate / (1.0 - BETA_1.powi(updates))) as f32,
        second: (1.0 / (1.0 - config.beta_2.powi(updates))).sqrt() as f32,
        decay: (rate * config.weight_decay) as f32,
        ema: config.ema_at(state.since()) as f32,
        beta_2: config.beta_2 as f32,
    };
    let kept = range.start - origin..range.end - origin;
    let weights = state.weights[range.clone()]
        .par_chunks_mut(CHUNK)
        .zip(state.average[kept.clone()].par_chunks_mut(CHUNK));
    let moments = state.first_moment[kept.clone()]
        .par_chunks_mut(CHUNK)
        .zip(state.second_moment[kept].par_chunks_mut(CHUNK));
    let given = gradient[range.clone()].par_chunks(CHUNK).zip(decayed[range].par_chunks(CHUNK));
    weights
        .zip(moments)
        .zip(given)
        .for_each(|(((w, average), (m, v)), (g, decayed))| sweep(w, average, m, v, g, decayed, rates));
}

/// The numbers of one update.
#[derive(Clone, Copy)]
struct Rates {
    scale: f32,
    first: f32,
    second: f32,
    decay: f32,
    ema: f32,
    beta_2: f32,
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sweep(
    w: &mut [f32],
    average: &mut [f32],
    m: &mut [f32],
    v: &mut [f32],
    g: &[f32],
    decayed: &[f32],
    rates: Rates,
) {
    let Rates { scale, first, second, decay, ema, beta_2 } = rates;
    let (beta_1, epsilon) = (BETA_1 as f32, EPSILON as f32);
    // Slices of one known length: without checks inside, the loop is vectorised.
    let n = w.len();
    let (average, m, v, g, decayed) = (&mut average[..n], &mut m[..n], &mut v[..n], &g[..n], &decayed[..n]);
    for i in 0..n {
        let g = g[i] * scale;
        m[i] = beta_1 * m[i] + (1.0 - beta_1) * g;
        v[i] = beta_2 * v[i] + (1.0 - beta_2) * g * g;
        w[i] -= first * m[i] / (v[i].sqrt() * second + epsilon) + decay * decayed[i] * w[i];
        average[i] += (1.0 - ema) * (w[i] - average[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// torch.optim.AdamW(lr=.1, weight_decay=.01), w = [1, -2], gradients [.5, -1] then [-.25, 2].
    #[test]
    fn as_pytorch() {
        let config = TrainConfig {
            learning_rate: 0.1,
            warmup: 0,
            weight_decay: 0.01,
            steps: u64::MAX / 2,
            ..Default::default()
        };
        let mut state = State::new(vec![1.0, -2.0]);
        for gradient in [[0.5, -1.0], [-0.25, 2.0]] {
            update(&mut state, &gradient, 1.0, &[1.0, 1.0], &config);
        }
        // By hand: first step moves by lr·sign(g) and decays by lr·λ·w.
        let mut expected = [1.0f64, -2.0];
        let (mut m, mut v) = ([0.0f64; 2], [0.0f64; 2]);
        for (t, g) in [[0.5, -1.0], [-0.25, 2.0]].iter().enumerate() {
            for i in 0..2 {
                expected[i] -= 0.1 * 0.01 * expected[i];
                m[i] = 0.9 * m[i] + 0.1 * g[i];
                v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
                let (mh, vh) =
                    (m[i] / (1.0 - 0.9f64.powi(t as i32 + 1)), v[i] / (1.0 - 0.999f64.powi(t as i32 + 1)));
                expected[i] -= 0.1 * mh / (vh.sqrt() + 1e-8);
            }
        }
        for (w, e) in state.weights.iter().zip(expected) {
            assert!((f64::from(*w) - e).abs() < 1e-5, "{w} {e}");
        }
    }

    #[test]
    fn squares_of_many() {
        let sums: Vec<f64> = sums_of_squares(&vec![0.5f32; 40_000]).collect();
        assert_eq!(sums, [4096.0, 4096.0, 1808.0]);
    }
}
