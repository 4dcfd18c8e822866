//! Boosting of a number: where it lies, and how far from there it strays.

use pmm_core::{Purpose, Streams};

use crate::boost::BoostConfig;
use crate::column_trees::{ColumnTrees, value_of};
use crate::examples::Feature;
use crate::grow::{Grower, Grown, Pulled, Spare};
use crate::histogram::{Layout, SplitRule};
use crate::questions::Questions;

/// What a boosted number F is to be for a target y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberLoss {
    /// The mean: (F − y)²/2.
    Mean,
    /// The logarithm of the standard deviation, where y is a squared error: F + y e^(−2F)/2.
    LogSpread,
}

impl NumberLoss {
    /// Gradient, curvature (the expected one) and loss.
    fn of(self, f: f32, y: f32) -> (f32, f32, f64) {
        match self {
            Self::Mean => (f - y, 1.0, 0.5 * f64::from(f - y).powi(2)),
            Self::LogSpread => {
                let ratio = y * (-2.0 * f).exp();
                (1.0 - ratio, 2.0, f64::from(f) + 0.5 * f64::from(ratio))
            }
        }
    }

    /// The best constant.
    fn base(self, targets: impl Iterator<Item = f32>) -> f32 {
        let (sum, n) = targets.fold((0.0, 0.0), |(sum, n), y| (sum + f64::from(y), n + 1.0));
        let mean = if n > 0.0 { sum / n } else { 0.0 };
        match self {
            Self::Mean => mean as f32,
            Self::LogSpread => (0.5 * mean.max(1e-8).ln()) as f32,
        }
    }
}

/// Rows of bins, `[examples, features]`, each with a number that is to be told.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    /// `[examples, features]`.
    pub bins: Vec<u8>,
    /// `[examples]`.
    pub targets: Vec<f32>,
}

/// The trees of one number; its value is [`ColumnTrees::number`].
///
/// Trees are grown from the examples that `learns` names, as long as those of `held_out` gain.
pub fn fit_number(
    features: &[Feature],
    loss: NumberLoss,
    (learned, learns): (&Numbers, impl Fn(usize) -> bool),
    held_out: &Numbers,
    config: &BoostConfig,
    (streams, key): (&Streams, u32),
) -> ColumnTrees {
    let layout = Layout::new(features);
    let rule = SplitRule { l2: config.l2, codes_l2: config.l2, least: config.least, gain: 1e-6 };
    let (leaves, rate) = (config.leaves, config.rate);
    let grower = Grower { layout: &layout, bins: &learned.bins, rule, leaves, rate };
    let examples: Vec<u32> =
        (0..learned.targets.len()).filter(|at| learns(*at)).map(|at| at as u32).collect();
    let base = loss.base(examples.iter().map(|at| learned.targets[*at as usize]));
    let mut now = vec![base; examples.len()];
    let mut checked = vec![base; held_out.targets.len()];
    let score =
        |values: &[f32]| values.iter().zip(&held_out.targets).map(|(f, y)| loss.of(*f, *y).2).sum::<f64>();
    let (mut best, mut kept) = (score(&checked), 0);
    let (mut grown, mut spare, mut pulled): (Vec<Vec<Grown>>, Spare, Vec<Pulled>) = Default::default();
    let row = |at: usize| at * features.len()..(at + 1) * features.len();
    for round in 0..config.rounds {
        let mut rng = streams.block_stream(Purpose::TREE_EXAMPLES, key, round as u64, 1);
        pulled.clear();
        for (f, &example) in now.iter().zip(&examples) {
            if rng.unit() < config.share {
                let (gradient, curvature, _) = loss.of(*f, learned.targets[example as usize]);
                pulled.push(Pulled { example, gradient: gradient.clamp(-1e3, 1e3), curvature });
            }
        }
        let Some(tree) = (!pulled.is_empty()).then(|| grower.grow(&mut pulled, &mut spare)).flatten() else {
            break;
        };
        for (f, &example) in now.iter_mut().zip(&examples) {
            *f += value_of(&tree, &learned.bins[row(example as usize)]);
        }
        for (at, f) in checked.iter_mut().enumerate() {
            *f += value_of(&tree, &held_out.bins[row(at)]);
        }
        grown.push(tree);
        let found = score(&checked);
        if found < best || held_out.targets.is_empty() {
            (best, kept) = (found, grown.len());
        }
        if grown.len() - kept > config.patience {
            break;
        }
    }
    grown.truncate(kept);
    ColumnTrees::new(Questions::ordered(&[1, 1]), features.len(), vec![base], &[grown])
}

impl ColumnTrees {
    /// The value of a boosted number, given the bins of a row's features.
    pub fn number(&self, bins: &[u8]) -> f64 {
        f64::from(self.log_odds(0, bins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::FeatureKind;

    /// y = x/10 + noise, whose standard deviation is 1 above the middle and .1 below: both are found.
    #[test]
    fn places_and_spreads_are_found() {
        let features = [Feature { kind: FeatureKind::Ordered, bins: 101 }];
        let config =
            BoostConfig { rounds: 300, rate: 0.1, leaves: 8, l2: 1.0, least: 5.0, share: 0.7, patience: 20 };
        let mut rng = Streams::new(8).stream(Purpose::TREE_EXAMPLES, 0, 0);
        let mut draw = |n: usize| {
            let mut numbers = Numbers::default();
            for _ in 0..n {
                let x = 1 + rng.below(100) as u8;
                let spread = if x > 50 { 1.0 } else { 0.1 };
                numbers.bins.push(x);
                numbers.targets.push(f32::from(x) / 10.0 + (spread * rng.normal()) as f32);
            }
            numbers
        };
        let (learned, held_out) = (draw(4000), draw(1000));
        let key = (&Streams::new(0), 0);
        let means = fit_number(&features, NumberLoss::Mean, (&learned, |_| true), &held_out, &config, key);
        for x in [5u8, 30, 70, 95] {
            assert!((means.number(&[x]) - f64::from(x) / 10.0).abs() < 0.4, "{x}: {}", means.number(&[x]));
        }
        let errors = |of: &Numbers| Numbers {
            bins: of.bins.clone(),
            targets: of
                .targets
                .iter()
                .zip(&of.bins)
                .map(|(y, x)| (f64::from(*y) - means.number(&[*x])).powi(2) as f32)
                .collect(),
        };
        let (learned, held_out) = (errors(&learned), errors(&held_out));
        let spreads =
            fit_number(&features, NumberLoss::LogSpread, (&learned, |_| true), &held_out, &config, key);
        let at = |x: u8| spreads.number(&[x]).exp();
        assert!((at(75) - 1.0).abs() < 0.2 && (at(25) - 0.1).abs() < 0.05, "{} {}", at(75), at(25));
    }

    /// By hand: the best constant of a squared error is its mean; of spreads, half the log of the mean square.
    #[test]
    fn constants_are_the_best_ones() {
        assert_eq!(NumberLoss::Mean.base([1.0, 3.0].into_iter()), 2.0);
        assert!((NumberLoss::LogSpread.base([1.0, 7.0].into_iter()) - 2f32.ln()).abs() < 1e-6);
        assert_eq!(NumberLoss::LogSpread.of(0.0, 1.0).0, 0.0);
    }
}
