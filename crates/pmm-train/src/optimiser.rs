//! Which rule moves which weights.

use std::ops::Range;

use crate::adamw;
use crate::muon::{self, MuonConfig, MuonMatrix, Pace};
use crate::train_config::TrainConfig;
use pmm_store::State;

/// How some weights are moved.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// AdamW, as [`TrainConfig`] says.
    AdamW,
    /// Muon, for a matrix of inputs × outputs.
    Muon {
        /// Inputs and outputs.
        shape: [usize; 2],
        /// Into how many matrices of their own the outputs are cut: three for queries, keys and values.
        pieces: usize,
        /// Its settings.
        config: MuonConfig,
    },
    /// Muon, for the kernel of a convolution as a matrix of outputs × (inputs · side²).
    MuonKernel {
        /// Outputs, and inputs times the pixels of the kernel.
        shape: [usize; 2],
        /// Its settings.
        config: MuonConfig,
    },
    /// Adagrad, row by row, for tables of which a step reads few rows: s ← s + g², w ← w − η g/√s. The average of these weights is
    /// the weights themselves, and their gradient is not clipped.
    Adagrad {
        /// The largest learning rate η.
        rate: f64,
        /// Numbers in a row.
        columns: usize,
    },
}

/// The rule of every weight: ranges that follow each other from the first weight to the last, those of [`Rule::Adagrad`] at the end.
/// None at all: AdamW for all.
pub type Rules = Vec<(Range<usize>, Rule)>;

/// Added to √s.
const EPSILON: f32 = 1e-10;

/// All rules at work.
#[derive(Debug)]
pub(crate) struct Optimiser {
    decayed: Vec<f32>,
    adamw: Vec<Range<usize>>,
    muon: Vec<MuonMatrix>,
    /// Ranges with rate and columns.
    adagrad: Vec<(Range<usize>, f64, usize)>,
}

impl Optimiser {
    pub(crate) fn new(rules: Rules, decayed: Vec<f32>) -> Self {
        let mut all = Self { adamw: Vec::new(), muon: Vec::new(), adagrad: Vec::new(), decayed };
        if rules.is_empty() {
            all.adamw.push(0..all.decayed.len());
        }
        for (range, rule) in rules {
            match rule {
                Rule::AdamW => match all.adamw.last_mut().filter(|last| last.end == range.start) {
                    Some(last) => last.end = range.end,
                    None => all.adamw.push(range),
                },
                Rule::Muon { shape, pieces, config } => {
                    let gain = muon::gain(shape[0], shape[1] / pieces);
                    all.muon.push(MuonMatrix { range, shape, pieces, gain, config });
                }
                Rule::MuonKernel { shape, config } => {
                    let gain = muon::gain(shape[1], shape[0]);
                    all.muon.push(MuonMatrix { range, shape, pieces: 1, gain, config });
                }
                Rule::Adagrad { rate, columns } => all.adagrad.push((range, rate, columns)),
            }
        }
        all
    }

    /// The number of weights whose gradient is a number for each: all but those under Adagrad, which come last.
    pub(crate) fn dense(&self) -> usize {
        self.adagrad.first().map_or(self.decayed.len(), |(range, ..)| range.start)
    }

    /// Numbers in the row under Adagrad that begins there.
    pub(crate) fn columns(&self, row: usize) -> usize {
        self.adagrad.iter().find(|(range, ..)| range.contains(&row)).map_or(0, |(.., columns)| *columns)
    }

    /// The norm of the gradient of all weights but those under Adagrad.
    pub(crate) fn norm(&self, gradient: &[f32]) -> f64 {
        adamw::norm(&gradient[..self.dense()])
    }

    /// One update. `rows` are the beginnings of rows under Adagrad that have a gradient, in their order.
    pub(crate) fn update(
        &self,
        state: &mut State,
        gradient: &[f32],
        scale: f64,
        rows: &[usize],
        config: &TrainConfig,
    ) {
        state.updates += 1;
        for range in &self.adamw {
            adamw::update_range(state, range.clone(), gradient, scale, &self.decayed, config);
        }
        let share = config.share(state.since());
        let pace = Pace { share, ema: config.ema_at(state.since()) };
        muon::update(state, &self.muon, gradient, scale, pace);
        for (range, rate, columns) in &self.adagrad {
            let from = rows.partition_point(|&row| row < range.start);
            let to = rows.partition_point(|&row| row < range.end);
            for &row in &rows[from..to] {
                adagrad(state, row..row + columns, gradient, (rate * share) as f32);
            }
        }
    }
}

fn adagrad(state: &mut State, row: Range<usize>, gradient: &[f32], rate: f32) {
    let sums = state.second_moment[row.clone()].iter_mut();
    let weights = state.weights[row.clone()].iter_mut().zip(&mut state.average[row.clone()]);
    for ((sum, (w, average)), g) in sums.zip(weights).zip(&gradient[row]) {
        *sum += g * g;
        *w -= rate * g / (sum.sqrt() + EPSILON);
        *average = *w;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> TrainConfig {
        TrainConfig { learning_rate: 0.1, warmup: 0, decay: false, ..Default::default() }
    }

    /// Without rules: AdamW on everything, to the bit.
    #[test]
    fn no_rules_are_adamw() {
        let (mut a, mut b) = (State::new(vec![1.0; 40_000]), State::new(vec![1.0; 40_000]));
        let gradient: Vec<f32> = (0..40_000).map(|i| (i % 7) as f32 - 3.0).collect();
        let decayed = vec![1.0; 40_000];
        let optimiser = Optimiser::new(Vec::new(), decayed.clone());
        for _ in 0..3 {
            adamw::update(&mut a, &gradient, 0.5, &decayed, &config());
            optimiser.update(&mut b, &gradient, 0.5, &[], &config());
        }
        assert_eq!(a, b);
        assert_eq!(optimiser.norm(&gradient), adamw::norm(&gradient));
    }

    /// A kernel is a matrix whose rows are the outputs: the step of one with more outputs than inputs is longer, as that of a matrix of
    /// inputs × outputs is which has more columns than rows.
    #[test]
    fn a_kernel_is_a_matrix_turned() {
        let muon = MuonConfig::default();
        let gradient = [3.0, -1.0, 0.5, 2.0, 1.0, -4.0, 0.25, 1.5];
        let turned: Vec<f32> = (0..8).map(|i| gradient[i % 4 * 2 + i / 4]).collect();
        let moved = |rule: Rule, gradient: &[f32]| {
            let mut state = State::new(vec![0.0; 8]);
            Optimiser::new(vec![(0..8, rule)], vec![0.0; 8]).update(
                &mut state,
                gradient,
                1.0,
                &[],
                &config(),
            );
            state.weights
        };
        // Four outputs of two inputs, by rows of inputs and by rows of outputs.
        let matrix = moved(Rule::Muon { shape: [2, 4], pieces: 1, config: muon }, &turned);
        let kernel = moved(Rule::MuonKernel { shape: [4, 2], config: muon }, &gradient);
        for (i, w) in matrix.iter().enumerate() {
            assert!((w - kernel[i % 4 * 2 + i / 4]).abs() < 1e-6 && w.abs() > 1e-4, "{matrix:?} {kernel:?}");
        }
    }

    /// Every weight is moved by its own rule; of the rows under Adagrad only those that are named. torch.optim.Adagrad(lr=.5) moves
    /// w = 1 with gradients 3 and then 4 to 1 − .5 · 3/3 − .5 · 4/5 = .1.
    #[test]
    fn every_rule_has_its_weights() {
        let muon = Rule::Muon { shape: [2, 2], pieces: 1, config: MuonConfig::default() };
        let rules = vec![
            (0..1, Rule::AdamW),
            (1..2, Rule::AdamW),
            (2..6, muon),
            (6..7, Rule::AdamW),
            (7..13, Rule::Adagrad { rate: 0.5, columns: 2 }),
        ];
        let optimiser = Optimiser::new(rules, vec![0.0; 13]);
        assert_eq!(optimiser.adamw, [0..2, 6..7]);
        let mut state = State::new(vec![1.0; 13]);
        let mut gradient = vec![1.0; 13];
        for g in [3.0, 4.0] {
            gradient[9..11].fill(g);
            gradient[7..9].fill(f32::NAN);
            assert_eq!(optimiser.norm(&gradient), 7f64.sqrt());
            optimiser.update(&mut state, &gradient, 1.0, &[9], &config());
        }
        let w = &state.weights;
        assert!((w[0] - 0.8).abs() < 1e-5 && w[0] == w[1] && w[0] == w[6], "{w:?}");
        assert!(w[2] < 1.0 && (w[2] - w[0]).abs() > 0.01, "{w:?}");
        assert!((w[9] - 0.1).abs() < 1e-6 && state.average[9] == w[9], "{w:?}");
        assert_eq!((&w[7..9], &w[11..]), (&[1.0; 2][..], &[1.0; 2][..]));
        assert_eq!(state.updates, 2);
    }
}
