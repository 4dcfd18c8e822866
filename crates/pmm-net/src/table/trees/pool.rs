//! Pooling: the law of a cell as a mixture of what trees and the network say, by what held-out rows say of each.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::TableTrees;
use crate::table::batch::Batch;
use crate::table::coordinates::CellCoordinates;
use crate::table::head::{Law, Target};
use crate::table::net::TableNet;

/// The trees' shares of a column's law: of its codes, and of its number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// Of the codes.
    pub codes: f64,
    /// Of the number.
    pub value: f64,
}

impl Shares {
    /// All to the trees.
    pub const TREES: Self = Self { codes: 1.0, value: 1.0 };
}

/// Trees with their shares of every column's law; the rest is the network's.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pub(crate) trees: Arc<TableTrees>,
    pub(crate) shares: Arc<[Shares]>,
}

impl Pool {
    /// Whether the network has no say.
    pub(crate) fn is_trees_alone(&self) -> bool {
        self.shares.iter().all(|shares| *shares == Shares::TREES)
    }

    /// The law of a column's cell, of which the network says `law`.
    pub(crate) fn mix(&self, column: usize, law: Law, seen: &[CellCoordinates]) -> Law {
        let shares = self.shares[column];
        if shares == (Shares { codes: 0.0, value: 0.0 }) {
            return law;
        }
        mix(law, self.trees.law(column, seen), shares)
    }
}

/// The mixture of what the network and the trees say.
fn mix(mut law: Law, trees: Law, shares: Shares) -> Law {
    for (p, of_trees) in law.codes.iter_mut().zip(&trees.codes) {
        *p += shares.codes * (of_trees - *p);
    }
    law.parts.iter_mut().for_each(|part| part.weight *= 1.0 - shares.value);
    if shares.value >= 1.0 {
        law.parts.clear();
    }
    if shares.value > 0.0 {
        let weigh = |part: super::ScorePart| super::ScorePart { weight: shares.value * part.weight, ..part };
        law.parts.extend(trees.parts.into_iter().map(weigh));
    }
    law
}

/// What trees say of the cells that batches ask for.
#[derive(Debug, Clone)]
pub struct Answers {
    /// Batch by batch, `[rows, columns]`.
    laws: Vec<Vec<Option<Law>>>,
    /// How many times each row is among them.
    repeats: f64,
}

/// What the shares are shrunk towards ½ by, in held-out cells.
const EVEN: f64 = 4.0;
/// Steps to the best shares.
const STEPS: usize = 60;
/// A share nearer to 0 or 1 than this is none.
const LEAST_SHARE: f64 = 0.03;
/// What a cell that one of them finds impossible is taken to be, at least.
pub(super) const LEAST_LOG: f64 = -30.0;

/// log p of a cell's code and number, where it has them: by the network, and by trees.
type CellLogs = [Option<[f64; 2]>; 2];

impl Answers {
    /// What trees say of batches in which each row stands so many times.
    pub fn new(trees: &TableTrees, net: &TableNet, batches: &[Batch], repeats: usize) -> Self {
        let columns = net.heads().len();
        let of = |batch: &Batch| {
            let law = |at: usize| {
                let row = &batch.seen[at / columns * columns..][..columns];
                (batch.targets[at].weight > 0.0).then(|| trees.law(at % columns, row))
            };
            (0..batch.targets.len()).into_par_iter().with_min_len(64).map(law).collect()
        };
        Self { laws: batches.iter().map(of).collect(), repeats: repeats.max(1) as f64 }
    }
}

impl TableNet {
    /// The trees' shares of every column's law, and the loss of the batches under the pooled laws: a mean over rows.
    ///
    /// The shares are those with the highest log-score on the cells that the batches ask for, shrunk towards equal ones; or all,
    /// where trees are alone.
    pub fn pool(
        &self,
        weights: &[f32],
        batches: &[Batch],
        answers: &Answers,
        alone: bool,
    ) -> (Vec<Shares>, f64) {
        let logs = self.both_logs(weights, batches, answers);
        let columns = self.heads().len();
        let of = |column: usize| {
            let share = |part: usize| {
                let cells = logs.iter().skip(column).step_by(columns);
                best_share(&cells.filter_map(|(_, cell)| cell[part]).collect::<Vec<_>>(), answers.repeats)
            };
            if alone { Shares::TREES } else { Shares { codes: share(0), value: share(1) } }
        };
        let shares: Vec<Shares> = (0..columns).into_par_iter().map(of).collect();
        let cell = |(at, (weight, logs)): (usize, &(f64, CellLogs))| {
            let shares = &shares[at % columns];
            let [codes, value] = [(logs[0], shares.codes), (logs[1], shares.value)]
                .map(|(logs, share)| logs.map_or(0.0, |logs| log_mix(logs, share)));
            -weight * (codes + value)
        };
        let loss: f64 = logs.iter().enumerate().map(cell).sum();
        (shares, loss / (logs.len() / columns.max(1)).max(1) as f64)
    }

    /// The trees' part in what is drawn of a cell of a batch.
    pub(in crate::table) fn pooled_codes(
        &self,
        codes: Vec<f64>,
        (batch, at): (usize, usize),
        pooled: Option<(&Answers, &[Shares])>,
    ) -> Vec<f64> {
        let Some((answers, shares)) = pooled else { return codes };
        let Some(trees) = &answers.laws[batch][at] else { return codes };
        let law = Law { codes, ..Law::default() };
        let trees = Law { codes: trees.codes.clone(), ..Law::default() };
        mix(law, trees, Shares { value: 0.0, ..shares[at % shares.len()] }).codes
    }

    /// log p of the cells of batches, with their weights in the loss: those of a row sum to 1.
    fn both_logs(&self, weights: &[f32], batches: &[Batch], answers: &Answers) -> Vec<(f64, CellLogs)> {
        let columns = self.heads().len();
        let mut all = Vec::new();
        for (batch, laws) in batches.iter().zip(&answers.laws) {
            let outputs = self.outputs_of(weights, batch.features.clone());
            let cell = |at: usize| {
                let target = &batch.targets[at];
                let Some(law) = &laws[at] else { return (0.0, [None; 2]) };
                let outputs = &outputs[at / columns * self.outputs()..][..self.outputs()];
                let rows = (batch.targets.len() / columns) as f64;
                (f64::from(target.weight) * rows, self.cell_logs(at % columns, outputs, target, law))
            };
            all.par_extend((0..batch.targets.len()).into_par_iter().with_min_len(64).map(cell));
        }
        all
    }

    fn cell_logs(&self, column: usize, outputs: &[f32], target: &Target, trees: &Law) -> CellLogs {
        let mut slope = vec![0.0; outputs.len()];
        let mut by_network = |target: Target| -self.heads()[column].loss(outputs, &target, &mut slope);
        let least = |log: f64| if log.is_nan() { LEAST_LOG } else { log.max(LEAST_LOG) };
        let codes = target.token.filter(|token| (*token as usize) < trees.codes.len()).map(|token| {
            let network = by_network(Target { weight: 1.0, value: None, ..*target });
            [least(network), least(trees.codes[token as usize].ln())]
        });
        let value = target.value.filter(|_| !trees.parts.is_empty()).map(|value| {
            let network = by_network(Target { weight: 1.0, token: None, ..*target });
            [least(network), least(trees.log_density(f64::from(value)))]
        });
        [codes, value]
    }
}

/// log((1 − w) eᵃ + w eᵇ).
fn log_mix([network, trees]: [f64; 2], share: f64) -> f64 {
    let most = network.max(trees);
    most + ((1.0 - share) * (network - most).exp() + share * (trees - most).exp()).ln()
}

/// The share of the second of two with the highest log-score (by expectation and maximisation), as if `EVEN` cells more spoke for
/// either.
pub(super) fn best_share(logs: &[[f64; 2]], repeats: f64) -> f64 {
    let prior = EVEN * repeats;
    let mut share = 0.5;
    for _ in 0..STEPS {
        let theirs: f64 = logs.iter().map(|&[a, b]| share / (share + (1.0 - share) * (a - b).exp())).sum();
        share = (prior + theirs) / (2.0 * prior + logs.len() as f64);
    }
    match share {
        share if share < LEAST_SHARE => 0.0,
        share if share > 1.0 - LEAST_SHARE => 1.0,
        share => share,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScorePart;
    use super::*;

    /// Two that are alike share evenly; one that is always better by a nat gets nearly all; without cells, half each.
    #[test]
    fn shares_follow_the_log_scores() {
        assert!((best_share(&[], 1.0) - 0.5).abs() < 1e-12);
        assert!((best_share(&[[-1.0, -1.0]; 500], 1.0) - 0.5).abs() < 1e-9);
        assert_eq!(best_share(&[[-2.0, -1.0]; 500], 1.0), 1.0);
        assert_eq!(best_share(&[[-1.0, -2.0]; 500], 1.0), 0.0);
        // The same cells four times over say no more.
        let few = best_share(&[[-1.5, -1.0]; 20], 1.0);
        assert!(
            (few - best_share(&[[-1.5, -1.0]; 80], 4.0)).abs() < 1e-12 && few > 0.5 && few < 1.0,
            "{few}"
        );
    }

    /// The best share of two that take turns, by trying all: the middle.
    #[test]
    fn the_share_is_the_best_one() {
        let logs: Vec<[f64; 2]> =
            (0..900).map(|i| if i % 3 == 0 { [-0.5, -2.0] } else { [-3.0, -1.0] }).collect();
        let score = |share: f64| logs.iter().map(|&cell| log_mix(cell, share)).sum::<f64>();
        let best = (1..1000).map(|i| f64::from(i) / 1000.0).max_by(|a, b| score(*a).total_cmp(&score(*b)));
        assert!((best_share(&logs, 1.0) - best.unwrap()).abs() < 0.02, "{best:?}");
    }

    /// A mixture of laws is the mixture of their probabilities and densities.
    #[test]
    fn laws_are_mixed() {
        let network =
            Law { codes: vec![0.5, 0.5], parts: vec![ScorePart::whole(1.0, 0.0, 1.0)], ..Law::default() };
        let below = ScorePart { weight: 1.0, mean: 0.0, sd: 1.0, low: f64::NEG_INFINITY, high: 0.0 };
        let trees = Law { codes: vec![1.0, 0.0], parts: vec![below], ..Law::default() };
        let law = mix(network.clone(), trees.clone(), Shares { codes: 0.25, value: 0.5 });
        assert_eq!(law.codes, [0.625, 0.375]);
        let density = |law: &Law, z: f64| law.log_density(z).exp();
        for z in [-1.0, 0.5] {
            let right = 0.5 * (density(&network, z) + density(&trees, z));
            assert!((density(&law, z) - right).abs() < 1e-12);
        }
        assert!((law.cdf(0.0) - 0.75).abs() < 1e-12);
        assert_eq!(mix(network.clone(), trees.clone(), Shares::TREES), trees);
        assert_eq!(mix(network.clone(), trees, Shares { codes: 0.0, value: 0.0 }), network);
    }
}
