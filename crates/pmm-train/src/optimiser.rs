//! Which rule moves which weights.

use std::ops::Range;

use crate::adagrad::adagrad;
use crate::adamw;
use crate::muon::{self, MuonConfig, MuonMatrix, Pace};
use crate::segment::{Segment, common};
use crate::shard::cut;
use crate::train_config::TrainConfig;
use pmm_store::State;
use rayon::prelude::*;

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

/// All rules at work.
#[derive(Debug)]
pub(crate) struct Optimiser {
    decayed: Vec<f32>,
    /// What can be cut, and into pieces of what size: weights under AdamW into chunks, a matrix under Muon not at all.
    units: Vec<(Range<usize>, usize)>,
    adamw: Vec<Range<usize>>,
    muon: Vec<MuonMatrix>,
    /// Ranges with rate and columns.
    adagrad: Vec<(Range<usize>, f64, usize)>,
}

impl Optimiser {
    pub(crate) fn new(rules: Rules, decayed: Vec<f32>) -> Self {
        let (units, adamw, muon, adagrad) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { units, adamw, muon, adagrad, decayed };
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
        let chunks = all.adamw.iter().map(|range| (range.clone(), adamw::CHUNK));
        let matrices = all.muon.iter().map(|matrix| (matrix.range.clone(), matrix.range.len().max(1)));
        all.units = chunks.chain(matrices).collect();
        all.units.sort_by_key(|(range, _)| range.start);
        all
    }

    /// The segments of so many ranks, as equal as can be where no matrix under Muon, no row and no chunk of a norm may be cut.
    pub(crate) fn segments(&self, ranks: usize) -> Vec<Segment> {
        let (dense, all) = (self.dense(), self.decayed.len());
        let segment = |rank: usize| {
            let (ideal, rows) = (cut(dense, rank, ranks), cut(all - dense, rank, ranks));
            Segment {
                dense: self.border(ideal.start)..self.border(ideal.end),
                rows: self.row(dense + rows.start)..self.row(dense + rows.end),
            }
        };
        (0..ranks).map(segment).collect()
    }

    /// The nearest place where dense weights may be cut.
    fn border(&self, at: usize) -> usize {
        let Some((unit, piece)) = self.units.iter().find(|(unit, _)| unit.contains(&at)) else { return at };
        let before = at - (at - unit.start) % piece;
        let after = (before + piece).min(unit.end);
        if at - before <= after - at { before } else { after }
    }

    /// Where the row begins that a weight under Adagrad is in.
    fn row(&self, at: usize) -> usize {
        let range = self.adagrad.iter().find(|(range, ..)| range.contains(&at));
        range.map_or(at, |(range, _, columns)| at - (at - range.start) % columns)
    }

    /// The number of weights whose gradient is a number for each: all but those under Adagrad, which come last.
    pub(crate) fn dense(&self) -> usize {
        self.adagrad.first().map_or(self.decayed.len(), |(range, ..)| range.start)
    }

    /// Numbers in the row under Adagrad that begins there.
    pub(crate) fn columns(&self, row: usize) -> usize {
        self.adagrad.iter().find(|(range, ..)| range.contains(&row)).map_or(0, |(.., columns)| *columns)
    }

    /// The squares of the gradient of a segment, without the weights under Adagrad: sums over chunks, which are the same however many
    /// segments there are. The root of the sum of all is the gradient's norm.
    pub(crate) fn squares(&self, gradient: &[f32], segment: &Segment) -> Vec<f64> {
        let own = self.units.iter().map(|(unit, _)| common(unit, &segment.dense));
        own.flat_map(|unit| adamw::sums_of_squares(&gradient[unit]).collect::<Vec<_>>()).collect()
    }

    /// One update of a segment. `rows` are the beginnings of its rows under Adagrad that have a gradient, in their order.
    pub(crate) fn update(
        &self,
        state: &mut State,
        segment: &Segment,
        gradient: &[f32],
        scale: f64,
        rows: &[usize],
        config: &TrainConfig,
    ) {
        state.updates += 1;
        let origin = segment.dense_origin();
        for range in self.adamw.iter().map(|range| common(range, &segment.dense)).filter(|r| !r.is_empty()) {
            adamw::update_range(state, range, origin, gradient, scale, &self.decayed, config);
        }
        let share = config.share(state.since());
        let pace = Pace { share, ema: config.ema_at(state.since()) };
        let before = |border: usize| self.muon.partition_point(|matrix| matrix.range.start < border);
        let own = &self.muon[before(segment.dense.start)..before(segment.dense.end)];
        muon::update(state, own, origin, gradient, scale, pace);
        for (range, rate, columns) in &self.adagrad {
            let from = rows.partition_point(|&row| row < range.start);
            let to = rows.partition_point(|&row| row < range.end);
            for &row in &rows[from..to] {
                let (kept, row) = (row - segment.rows_origin(), row..row + columns);
                let sums = &mut state.second_moment[kept..kept + columns];
                adagrad(&mut state.weights[row.clone()], sums, &gradient[row.clone()], (rate * share) as f32);
                state.average[kept..kept + columns].copy_from_slice(&state.weights[row]);
            }
        }
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
            optimiser.update(&mut b, &optimiser.segments(1)[0], &gradient, 0.5, &[], &config());
        }
        assert_eq!(a, b);
    }

    /// Segments of any number of ranks: all weights in their order, and neither a matrix nor a row nor a chunk cut. Moved segment by
    /// segment, each with its own moments, weights go where they go as a whole; norms are the same.
    #[test]
    fn segments_are_parts_of_the_whole() {
        let muon = |pieces| Rule::Muon { shape: [60, 150], pieces, config: MuonConfig::default() };
        let rules = vec![
            (0..40_000, Rule::AdamW),
            (40_000..49_000, muon(1)),
            (49_000..58_000, muon(3)),
            (58_000..100_000, Rule::AdamW),
            (100_000..100_700, Rule::Adagrad { rate: 0.5, columns: 7 }),
            (100_700..101_000, Rule::Adagrad { rate: 0.1, columns: 10 }),
        ];
        let number = |i: usize| ((i * 7919 % 10_007) as f32 - 5000.0) / 3000.0;
        let gradient: Vec<f32> = (0..101_000).map(number).collect();
        let rows = [100_007, 100_350, 100_693, 100_700, 100_990];
        let optimiser = Optimiser::new(rules, vec![1.0; 101_000]);
        let fresh = || State::new((0..101_000).map(|i| number(i + 5)).collect());
        let mut whole = fresh();
        let all = &optimiser.segments(1)[0];
        (0..2).for_each(|_| optimiser.update(&mut whole, all, &gradient, 0.5, &rows, &config()));
        for ranks in [2, 3, 4, 7, 30] {
            let segments = optimiser.segments(ranks);
            let (mut dense, mut tables, mut squares) = (0, 100_000, Vec::new());
            for segment in &segments {
                assert_eq!((segment.dense.start, segment.rows.start), (dense, tables));
                (dense, tables) = (segment.dense.end, segment.rows.end);
                squares.extend(optimiser.squares(&gradient, segment));
                let mut state = fresh();
                crate::ranks::Parts::keep_own(&mut state, segment);
                let own: Vec<usize> = rows.into_iter().filter(|row| segment.rows.contains(row)).collect();
                (0..2).for_each(|_| optimiser.update(&mut state, segment, &gradient, 0.5, &own, &config()));
                assert_eq!(segment.of(&state.weights), segment.of(&whole.weights), "{ranks}: {segment:?}");
                assert_eq!(state.average, segment.of(&whole.average));
                assert_eq!(state.second_moment, segment.of(&whole.second_moment));
                assert_eq!(state.first_moment, segment.of(&whole.first_moment));
            }
            assert_eq!((dense, tables), (100_000, 101_000));
            assert_eq!(squares, optimiser.squares(&gradient, all));
            assert!(segments.iter().filter(|segment| !segment.dense.is_empty()).count() >= ranks.min(4));
        }
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
            let optimiser = Optimiser::new(vec![(0..8, rule)], vec![0.0; 8]);
            optimiser.update(&mut state, &optimiser.segments(1)[0], gradient, 1.0, &[], &config());
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
            let segment = &optimiser.segments(1)[0];
            assert_eq!(optimiser.squares(&gradient, segment).iter().sum::<f64>(), 7.0);
            optimiser.update(&mut state, segment, &gradient, 1.0, &[9], &config());
        }
        let w = &state.weights;
        assert!((w[0] - 0.8).abs() < 1e-5 && w[0] == w[1] && w[0] == w[6], "{w:?}");
        assert!(w[2] < 1.0 && (w[2] - w[0]).abs() > 0.01, "{w:?}");
        assert!((w[9] - 0.1).abs() < 1e-6 && state.average[9] == w[9], "{w:?}");
        assert_eq!((&w[7..9], &w[11..]), (&[1.0; 2][..], &[1.0; 2][..]));
        assert_eq!(state.updates, 2);
    }
}
