//! Where a number lies, by trees: its mean score and how far it strays, for laws that are narrow.

use pmm_core::Streams;
use pmm_trees::{
    BoostConfig, ColumnTrees, Feature, NumberLoss, Numbers, PackedTrees, Questions, UnpackError, fit_number,
};

use super::ScorePart;

/// Every mean is the average of so many, each of which has not seen a share of the rows: what it misses there is what it
/// would miss elsewhere.
const FOLDS: usize = 4;
/// The law about the mean: a Gaussian, and one in ten from a wider one.
const ABOUT: [(f64, f64); 2] = [(0.9, 1.0), (0.1, 3.0)];
/// The least and the largest standard deviation of a score.
const SPREADS: (f64, f64) = (2e-3, 3.0);

/// The trees of a number's mean and spread, on the normal score.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlaceTrees {
    means: Vec<ColumnTrees>,
    spread: ColumnTrees,
    /// Their share of the trees' law.
    pub(super) share: f64,
}

impl PlaceTrees {
    /// Learns mean and spread of scores; `folds` has the rows that go together.
    pub(super) fn learn(
        features: &[Feature],
        (mut learned, folds): (Numbers, &[u8]),
        mut held_out: Numbers,
        config: &BoostConfig,
        (streams, key): (&Streams, u32),
    ) -> Self {
        let number = |fold: usize| {
            let learns = |at: usize| usize::from(folds[at]) % FOLDS != fold;
            fit_number(
                features,
                NumberLoss::Mean,
                (&learned, learns),
                &held_out,
                config,
                (streams, key + fold as u32),
            )
        };
        let means: Vec<ColumnTrees> = (0..FOLDS).map(number).collect();
        let width = features.len();
        for (at, target) in learned.targets.iter_mut().enumerate() {
            let mean = means[usize::from(folds[at]) % FOLDS].number(&learned.bins[at * width..][..width]);
            *target = (f64::from(*target) - mean).powi(2) as f32;
        }
        for (at, target) in held_out.targets.iter_mut().enumerate() {
            let mean = mean(&means, &held_out.bins[at * width..][..width]);
            *target = (f64::from(*target) - mean).powi(2) as f32;
        }
        let loss = NumberLoss::LogSpread;
        let key = (streams, key + FOLDS as u32);
        let spread = fit_number(features, loss, (&learned, |_| true), &held_out, config, key);
        Self { means, spread, share: 1.0 }
    }

    /// With a share of the trees' law.
    pub(super) fn with_share(self, share: f64) -> Self {
        // As files have it.
        Self { share: f64::from(share as f32), ..self }
    }

    /// The law of the score, with its share.
    pub(super) fn parts(&self, bytes: &[u8]) -> impl Iterator<Item = ScorePart> {
        let (mean, share) = (mean(&self.means, bytes).clamp(-8.0, 8.0), self.share);
        let spread = self.spread.number(bytes).exp().clamp(SPREADS.0, SPREADS.1);
        ABOUT.into_iter().map(move |(weight, wider)| ScorePart::whole(share * weight, mean, wider * spread))
    }

    pub(super) fn trees(&self) -> usize {
        self.means.iter().map(ColumnTrees::trees).sum::<usize>() + self.spread.trees()
    }

    /// As lists of numbers by name.
    pub(super) fn pack(&self) -> Vec<(String, Vec<f32>)> {
        let all = self.means.iter().chain([&self.spread]).enumerate();
        let lists = all.flat_map(|(at, trees)| {
            trees.pack().into_parts().map(|(part, values)| (format!("place.{at}.{part}"), values))
        });
        lists.chain([("place.share".to_owned(), vec![self.share as f32])]).collect()
    }

    /// Of lists of numbers by name; none without any.
    pub(super) fn unpack(
        take: &mut impl FnMut(&str) -> Option<Vec<f32>>,
        features: usize,
    ) -> Result<Option<Self>, UnpackError> {
        let Some(share) = take("place.share").and_then(|share| share.first().copied()) else {
            return Ok(None);
        };
        let mut all = Vec::new();
        for at in 0..=FOLDS {
            let packed =
                PackedTrees::of_parts(|part| take(&format!("place.{at}.{part}"))).unwrap_or_default();
            all.push(ColumnTrees::unpack(&packed, Questions::ordered(&[1, 1]), features)?);
        }
        let spread = all.remove(FOLDS);
        // Not a number is no share either.
        let share = f64::from(share);
        Ok((0.0..=1.0).contains(&share).then_some(Self { means: all, spread, share }))
    }
}

fn mean(means: &[ColumnTrees], bytes: &[u8]) -> f64 {
    means.iter().map(|trees| trees.number(bytes)).sum::<f64>() / means.len().max(1) as f64
}
