//! The empirical distribution of a number column: values ⇄ ranks ⇄ normal scores.

use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc_inv;
use thiserror::Error;

use super::tail::Tail;

/// Draws of `u` stay this far inside a knot's interval, as a share of its width, so that rounding in Φ(Φ⁻¹(p)) never moves a
/// score to the neighbouring knot.
const INSIDE: f64 = 1e-4;

/// Sorted distinct values with their counts; F is their empirical distribution function.
///
/// A value v has the interval (F(v−), F(v)) of ranks, and the score Φ⁻¹ of a rank in it: the middle for a network's input, a
/// random one for its target. Ranks stay within \[1/4n, 1 − 1/4n\], so that scores are finite.
///
/// ```
/// use pmm_data::Grid;
/// let grid = Grid::new(vec![1.0, 2.0, 5.0], vec![1, 2, 1])?;
/// assert_eq!(grid.interval(2.0), (0.25, 0.75));
/// assert!(grid.score(2.0, 0.5).abs() < 1e-12); // the median
/// assert_eq!(grid.value(grid.score(5.0, 0.9), true), 5.0);
/// assert_eq!(grid.value(0.0, false), 2.0);
/// # Ok::<(), pmm_data::GridError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Knots", into = "Knots")]
pub struct Grid {
    values: Vec<f64>,
    /// `below[i]` values lie below knot i; the last entry is n.
    below: Vec<u64>,
    /// What is above the last value, where it has a heavy tail.
    tail: Option<Tail>,
}

/// What is stored of a grid.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Knots {
    values: Vec<f64>,
    counts: Vec<u64>,
    /// Not written where there is none: schemas from before there was one stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<Tail>,
}

/// Knots that make no distribution.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GridError {
    /// No knots.
    #[error("a grid needs at least one value")]
    NoValues,
    /// As many counts as values are needed.
    #[error("a grid of {values} values has {counts} counts")]
    Lengths {
        /// Number of values.
        values: usize,
        /// Number of counts.
        counts: usize,
    },
    /// Not finite, or not above its predecessor.
    #[error("the values of a grid must be finite and increase, got {0}")]
    NotIncreasing(f64),
    /// A value that never occurs, or counts beyond 2⁵³.
    #[error("the counts of a grid must be positive and sum to at most 2^53")]
    Counts,
    /// A tail that is no law.
    #[error("the shape and the scale of a tail must be positive and finite, got {shape} and {scale}")]
    Tail {
        /// ξ.
        shape: f64,
        /// σ.
        scale: f64,
    },
}

impl TryFrom<Knots> for Grid {
    type Error = GridError;

    fn try_from(knots: Knots) -> Result<Self, GridError> {
        let grid = Self::new(knots.values, knots.counts)?;
        match knots.tail {
            Some(tail) if !tail.is_sound() => Err(GridError::Tail { shape: tail.shape, scale: tail.scale }),
            tail => Ok(grid.with_tail(tail)),
        }
    }
}

impl From<Grid> for Knots {
    fn from(grid: Grid) -> Self {
        let counts = grid.counts().collect();
        Self { values: grid.values, counts, tail: grid.tail }
    }
}

impl Grid {
    /// A grid of increasing finite values, each with its positive count.
    pub fn new(values: Vec<f64>, counts: Vec<u64>) -> Result<Self, GridError> {
        if values.is_empty() {
            return Err(GridError::NoValues);
        }
        if values.len() != counts.len() {
            return Err(GridError::Lengths { values: values.len(), counts: counts.len() });
        }
        for (i, &value) in values.iter().enumerate() {
            if !value.is_finite() || i > 0 && value <= values[i - 1] {
                return Err(GridError::NotIncreasing(value));
            }
        }
        let mut below = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0u64;
        below.push(sum);
        for count in counts {
            sum = sum.saturating_add(count);
            if count == 0 || sum > 1 << 53 {
                return Err(GridError::Counts);
            }
            below.push(sum);
        }
        Ok(Self { values, below, tail: None })
    }

    /// With a law of what is above the last value: interpolated draws go on there.
    ///
    /// ```
    /// use pmm_data::{Grid, Tail};
    /// let grid = Grid::new(vec![1.0, 2.0, 5.0], vec![1, 2, 1])?.with_tail(Some(Tail { shape: 0.5, scale: 1.0 }));
    /// let z = grid.score_up_to(6.0, false);
    /// assert!(z.is_finite() && (grid.value(z, false) - 6.0).abs() < 1e-9);
    /// assert_eq!((grid.value(9.0, true), grid.value(9.0, false) < 20.0), (5.0, true));
    /// # Ok::<(), pmm_data::GridError>(())
    /// ```
    pub fn with_tail(mut self, tail: Option<Tail>) -> Self {
        self.tail = tail;
        self
    }

    /// The law of what is above the last value.
    pub fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// The distinct values, increasing.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The count of each value.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.below.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// Number of distinct values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// A grid is never empty.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The sum of the counts.
    pub fn total(&self) -> u64 {
        self.below[self.values.len()]
    }

    /// The place of the nearest value.
    pub fn index(&self, value: f64) -> usize {
        let above = self.values.partition_point(|&knot| knot < value);
        if above == 0 {
            return 0;
        }
        if above == self.values.len() || value - self.values[above - 1] < self.values[above] - value {
            return above - 1;
        }
        above
    }

    /// (F(v−), F(v)) of the value nearest to v.
    pub fn interval(&self, value: f64) -> (f64, f64) {
        let i = self.index(value);
        (self.rank(i), self.rank(i + 1))
    }

    /// Φ⁻¹(F(v−) + u (F(v) − F(v−))) for u in \[0, 1\]; u = ½ is the mid-rank. Between two values the mid-ranks are
    /// interpolated, beyond the ends the last value counts.
    pub fn score(&self, value: f64, u: f64) -> f64 {
        let i = self.index(value);
        let (low, high) = (self.rank(i), self.rank(i + 1));
        let rank = if self.values[i] == value {
            low + (INSIDE + (1.0 - 2.0 * INSIDE) * u.clamp(0.0, 1.0)) * (high - low)
        } else {
            self.between(value)
        };
        let edge = 0.25 / self.total() as f64;
        quantile(rank.clamp(edge, 1.0 - edge))
    }

    /// The value of a score. With `snap` always one of the values (the inverse of the step function F), so that
    /// `value(score(v, u), true) == v`; else piecewise linear through the mid-ranks. A score that is NaN counts as 0.
    pub fn value(&self, score: f64, snap: bool) -> f64 {
        let rank = phi(if score.is_nan() { 0.0 } else { score });
        if snap {
            return self.values[self.knot_at(rank)];
        }
        let n = self.values.len();
        let above = self.partition_middles(rank);
        if let (Some(tail), true) = (self.tail, above == n) {
            let upper = 0.5 * libm::erfc(score * std::f64::consts::FRAC_1_SQRT_2);
            return self.values[n - 1] + tail.excess(upper / (1.0 - self.middle(n - 1)));
        }
        if above == 0 || above == n {
            return self.values[above.min(n - 1)];
        }
        let (low, high) = (self.middle(above - 1), self.middle(above));
        let t = (rank - low) / (high - low);
        self.values[above - 1] * (1.0 - t) + self.values[above] * t
    }

    /// The share of values below knot i.
    pub(super) fn rank(&self, i: usize) -> f64 {
        self.below[i] as f64 / self.total() as f64
    }

    pub(super) fn middle(&self, i: usize) -> f64 {
        0.5 * (self.rank(i) + self.rank(i + 1))
    }

    /// The knot whose interval holds a rank.
    fn knot_at(&self, rank: f64) -> usize {
        let place = rank * self.total() as f64;
        let above = self.below.partition_point(|&below| below as f64 <= place);
        above.saturating_sub(1).min(self.values.len() - 1)
    }

    /// How many mid-ranks are at most `rank`.
    fn partition_middles(&self, rank: f64) -> usize {
        let knot = self.knot_at(rank);
        knot + usize::from(self.middle(knot) <= rank)
    }

    /// The interpolated mid-rank of a value that is not a knot.
    pub(super) fn between(&self, value: f64) -> f64 {
        let n = self.values.len();
        let above = self.values.partition_point(|&knot| knot < value);
        if above == 0 || above == n {
            return self.middle(above.min(n - 1));
        }
        let (low, high) = (self.values[above - 1], self.values[above]);
        // Halves: the difference of two finite numbers may overflow.
        let t = (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
        self.middle(above - 1) * (1.0 - t) + self.middle(above) * t
    }
}

/// Φ, the normal distribution function. (The `erfc` of `statrs` is wrong in the eleventh digit of a tail, more than a rank of
/// a large file can bear.)
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Φ⁻¹ for ranks inside (0, 1).
pub(super) fn quantile(rank: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `scipy.stats.norm.ppf([1e-9, .025, .5, .9])` and `norm.cdf(-3)`.
    #[test]
    fn normal_functions_are_scipys() {
        for (rank, z) in
            [(1e-9, -5.9978070150076865), (0.025, -1.959963984540054), (0.5, 0.0), (0.9, 1.2815515655446004)]
        {
            assert!((quantile(rank) - z).abs() < 1e-14, "{rank}: {}", quantile(rank));
        }
        assert!((phi(-3.0) - 0.0013498980316300933).abs() < 1e-17);
    }

    #[test]
    fn between_and_beyond() {
        let grid = Grid::new(vec![0.0, 10.0], vec![1, 1]).unwrap();
        assert!((phi(grid.score(5.0, 0.1)) - 0.5).abs() < 1e-12);
        assert!((phi(grid.score(2.0, 0.1)) - 0.35).abs() < 1e-12);
        assert!((phi(grid.score(-99.0, 0.5)) - 0.25).abs() < 1e-12);
        assert!((phi(grid.score(1e300, 0.5)) - 0.75).abs() < 1e-12);
        assert_eq!(grid.value(-40.0, false), 0.0);
        assert_eq!(grid.value(40.0, true), 10.0);
        assert!((grid.value(quantile(0.35), false) - 2.0).abs() < 1e-9);
        assert!(grid.value(f64::NAN, true).is_finite());
        assert!(grid.score(f64::NAN, 0.5).is_finite());
    }

    #[test]
    fn refusals() {
        assert_eq!(Grid::new(vec![], vec![]), Err(GridError::NoValues));
        assert!(matches!(Grid::new(vec![1.0], vec![]), Err(GridError::Lengths { .. })));
        assert_eq!(Grid::new(vec![1.0, 1.0], vec![1, 1]), Err(GridError::NotIncreasing(1.0)));
        assert!(Grid::new(vec![f64::NAN], vec![1]).is_err());
        assert_eq!(Grid::new(vec![1.0, 2.0], vec![u64::MAX, u64::MAX]), Err(GridError::Counts));
        assert_eq!(Grid::new(vec![1.0], vec![0]), Err(GridError::Counts));
    }

    prop_compose! {
        fn grids()(knots in prop::collection::btree_map(-1_000_000i64..1_000_000, 1u64..2_000, 1..60)) -> Grid {
            let values = knots.keys().map(|&knot| knot as f64 * 0.01).collect();
            Grid::new(values, knots.values().copied().collect()).expect("increasing")
        }
    }

    proptest! {
        #[test]
        fn snapped_scores_come_back(grid in grids(), place in 0usize..60, u in 0.0f64..=1.0) {
            let value = grid.values()[place % grid.len()];
            let score = grid.score(value, u);
            prop_assert!(score.is_finite());
            prop_assert_eq!(grid.value(score, true), value);
            // The middle of a knot is on the curve, too.
            let middle = grid.value(grid.score(value, 0.5), false);
            prop_assert!((middle - value).abs() <= 1e-6 * (1.0 + value.abs()), "{} {}", middle, value);
        }

        #[test]
        fn values_increase_with_the_score(grid in grids(), a in -6.0f64..6.0, b in -6.0f64..6.0, snap: bool) {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(grid.value(low, snap) <= grid.value(high, snap) + 1e-9);
        }
    }
}
