//! Histograms: sums of gradients and curvatures in the bins of every feature, and the best split that they show.

use crate::examples::{Feature, FeatureKind};

/// Gradient and curvature.
pub(crate) type Sums = [f64; 2];

/// Where the bins of every feature begin.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) features: Vec<Feature>,
    starts: Vec<u32>,
    bins: usize,
}

/// What a split must be worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitRule {
    /// Added to the curvature of a leaf: shrinks its value to 0.
    pub(crate) l2: f64,
    /// The same, more, where a split is a set of names.
    pub(crate) codes_l2: f64,
    /// The least curvature of a leaf: four examples of even odds have 1.
    pub(crate) least: f64,
    /// The least gain.
    pub(crate) gain: f64,
}

/// Which bins go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Test {
    /// Known bins up to this one, and unknown cells where so said.
    UpTo(u8, bool),
    /// The bins of a set.
    In([u64; 4]),
}

impl Test {
    #[inline]
    pub(crate) fn is_left(&self, bin: u8) -> bool {
        match self {
            Self::UpTo(last, unknown) => {
                if bin == 0 {
                    *unknown
                } else {
                    bin <= *last
                }
            }
            Self::In(set) => contains(set, bin),
        }
    }
}

/// Whether a set of bins has a bin.
#[inline]
pub(crate) fn contains(set: &[u64; 4], bin: u8) -> bool {
    set[usize::from(bin >> 6)] >> (bin & 63) & 1 == 1
}

/// A split and what it gains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    pub(crate) gain: f64,
    pub(crate) feature: u16,
    pub(crate) test: Test,
    pub(crate) left: Sums,
}

/// Curvatures below this are none but rounding.
const NOTHING: f64 = 1e-9;

impl Layout {
    pub(crate) fn new(features: &[Feature]) -> Self {
        let mut bins = 0;
        let starts = features
            .iter()
            .map(|feature| {
                bins += feature.bins;
                (bins - feature.bins) as u32
            })
            .collect();
        Self { features: features.to_vec(), starts, bins }
    }

    pub(crate) fn empty(&self) -> Vec<Sums> {
        vec![[0.0; 2]; self.bins]
    }

    /// Adds an example to a histogram.
    #[inline]
    pub(crate) fn add(&self, sums: &mut [Sums], row: &[u8], gradient: f32, curvature: f32) {
        let (g, h) = (f64::from(gradient), f64::from(curvature));
        for (&start, &bin) in self.starts.iter().zip(row) {
            let sum = &mut sums[start as usize + usize::from(bin)];
            sum[0] += g;
            sum[1] += h;
        }
    }

    /// The best split of a leaf, the first of equals.
    pub(crate) fn best(&self, sums: &[Sums], total: Sums, rule: &SplitRule) -> Option<Split> {
        let mut best: Option<Split> = None;
        for (index, feature) in self.features.iter().enumerate() {
            let bins = &sums[self.starts[index] as usize..][..feature.bins];
            let found = match feature.kind {
                FeatureKind::Ordered => ordered(bins, total, rule),
                FeatureKind::Codes => unordered(bins, total, rule),
            };
            if let Some((gain, test, left)) = found
                && best.as_ref().is_none_or(|best| gain > best.gain)
            {
                best = Some(Split { gain, feature: index as u16, test, left });
            }
        }
        best
    }
}

/// Half the drop of the quadratic loss in one leaf: G²/(H + λ), twice.
#[inline]
fn worth(sums: Sums, l2: f64) -> f64 {
    sums[0] * sums[0] / (sums[1] + l2)
}

/// The value of a leaf: −G/(H + λ).
pub(crate) fn leaf_value(sums: Sums, l2: f64) -> f64 {
    -sums[0] / (sums[1] + l2)
}

/// What is gained if a leaf is split, where both sides are large enough.
#[inline]
fn gain(left: Sums, total: Sums, before: f64, l2: f64, rule: &SplitRule) -> f64 {
    let right = [total[0] - left[0], total[1] - left[1]];
    if left[1] < rule.least || right[1] < rule.least {
        return f64::NEG_INFINITY;
    }
    worth(left, l2) + worth(right, l2) - before
}

fn ordered(bins: &[Sums], total: Sums, rule: &SplitRule) -> Option<(f64, Test, Sums)> {
    let unknown = bins[0];
    let before = worth(total, rule.l2);
    let (mut best, mut found) = (rule.gain, None);
    let mut left = [0.0; 2];
    for (bin, sums) in bins.iter().enumerate().skip(1) {
        if sums[1] <= NOTHING {
            continue;
        }
        left = [left[0] + sums[0], left[1] + sums[1]];
        let right_unknown = gain(left, total, before, rule.l2, rule);
        if right_unknown > best {
            (best, found) = (right_unknown, Some((bin, false, left)));
        }
        let with = [left[0] + unknown[0], left[1] + unknown[1]];
        let left_unknown = gain(with, total, before, rule.l2, rule);
        if left_unknown > best {
            (best, found) = (left_unknown, Some((bin, true, with)));
        }
    }
    let (bin, mut is_left, left) = found?;
    if unknown[1] <= NOTHING {
        // Nothing says where unknown cells belong: to the larger side.
        is_left = left[1] > total[1] - left[1];
    }
    Some((best, Test::UpTo(bin as u8, is_left), left))
}

/// Names in the order of their own best values: the best set is a first part of them.
fn unordered(bins: &[Sums], total: Sums, rule: &SplitRule) -> Option<(f64, Test, Sums)> {
    let mut seen: Vec<(f64, usize)> = Vec::with_capacity(bins.len());
    for (bin, sums) in bins.iter().enumerate() {
        if sums[1] > NOTHING {
            seen.push((sums[0] / (sums[1] + rule.codes_l2), bin));
        }
    }
    seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let l2 = rule.l2 + if seen.len() > 3 { rule.codes_l2 } else { 0.0 };
    let before = worth(total, l2);
    let (mut best, mut found) = (rule.gain, None);
    let mut left = [0.0; 2];
    for (place, &(_, bin)) in seen.iter().enumerate() {
        left = [left[0] + bins[bin][0], left[1] + bins[bin][1]];
        let gain = gain(left, total, before, l2, rule);
        if gain > best {
            (best, found) = (gain, Some((place, left)));
        }
    }
    let (place, left) = found?;
    let mut set = [0u64; 4];
    let mut put = |bin: usize| set[bin >> 6] |= 1 << (bin & 63);
    seen[..=place].iter().for_each(|&(_, bin)| put(bin));
    if left[1] > total[1] - left[1] {
        // Names that were not met go where most went.
        (0..bins.len()).filter(|&bin| bins[bin][1] <= NOTHING).for_each(put);
    }
    Some((best, Test::In(set), left))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: SplitRule = SplitRule { l2: 1.0, codes_l2: 0.0, least: 0.5, gain: 0.0 };

    /// By hand: G = (−3, 1, 2), H = (2, 1, 1), λ = 1, nothing unknown. All together 0; after the first bin
    /// 9/3 + 9/3 = 6; after the second 4/4 + 4/2 = 3.
    #[test]
    fn gains_are_those_of_the_formula() {
        let bins = [[0.0, 0.0], [-3.0, 2.0], [1.0, 1.0], [2.0, 1.0]];
        let (gain, test, left) = ordered(&bins, [0.0, 4.0], &RULE).unwrap();
        assert_eq!((gain, test, left), (6.0, Test::UpTo(1, false), [-3.0, 2.0]));
        assert_eq!(leaf_value([-3.0, 2.0], 1.0), 1.0);
        let strict = SplitRule { least: 2.5, ..RULE };
        assert_eq!(ordered(&bins, [0.0, 4.0], &strict), None);
        assert_eq!(ordered(&bins, [0.0, 4.0], &SplitRule { gain: 6.0, ..RULE }), None);
    }

    /// Unknown cells like those of the first bin go with them: (−3 − 3, 2 + 2), 36/5 + 9/3 − 9/7.
    #[test]
    fn unknown_cells_go_where_they_gain() {
        let bins = [[-3.0, 2.0], [-3.0, 2.0], [1.0, 1.0], [2.0, 1.0]];
        let (gain, test, _) = ordered(&bins, [-3.0, 6.0], &RULE).unwrap();
        assert!(
            (gain - (7.2 + 3.0 - 9.0 / 7.0)).abs() < 1e-12 && test == Test::UpTo(1, true),
            "{gain} {test:?}"
        );
        assert!(test.is_left(0) && test.is_left(1) && !test.is_left(2));
    }

    /// Names 1 and 3 against 2: no threshold can say that, a set can.
    #[test]
    fn sets_need_no_order() {
        let bins = [[0.0, 0.0], [-2.0, 1.0], [4.0, 2.0], [-2.0, 1.0], [0.0, 0.0]];
        let (gain, test, left) = unordered(&bins, [0.0, 4.0], &RULE).unwrap();
        assert_eq!((gain, left), (2.0 * 16.0 / 3.0, [-4.0, 2.0]));
        assert!(test.is_left(1) && test.is_left(3) && !test.is_left(2));
    }
}
