//! The distribution of a column of numbers: distinct values, other texts, and the grid made of them.

use super::dates::DateFormat;
use super::grid::Grid;
use super::profile::{Nature, Profile, Seen};
use super::tail::Tail;

/// Knots of a grid whose values hardly repeat.
const KNOTS: usize = 4_096;

/// Distinct values and other texts with their counts.
pub(crate) struct Spectrum {
    /// Increasing distinct values with counts.
    pub(crate) points: Vec<(f64, u64)>,
    /// Texts among them (infinities, too), most frequent first.
    pub(crate) tokens: Vec<(String, u64)>,
    /// Cells per count: above 1 if the points are a sample.
    pub(crate) scale: f64,
    /// The least value, and whether all are integers, in the whole file.
    low: f64,
    whole: bool,
    /// Decimal places of the values in the whole file; none if they lie on no grid.
    pub(crate) places: Option<u8>,
}

impl Spectrum {
    /// Reads the texts of a profile as numbers, or as dates; none if they were not kept that way.
    pub(crate) fn new(profile: &Profile, date: Option<DateFormat>) -> Option<Self> {
        let (mut values, mut tokens) = (Vec::new(), Vec::new());
        let (mut scale, mut low, mut whole) = (1.0, f64::INFINITY, true);
        match &profile.seen {
            Seen::Texts(texts) => {
                for (text, entry) in texts {
                    let value = match date {
                        Some(date) if profile.nature != Nature::Dates => {
                            date.value(text.trim()).unwrap_or(f64::NAN)
                        }
                        _ => entry.value,
                    };
                    if value.is_finite() {
                        values.push((value + 0.0, entry.count));
                    } else {
                        tokens.push((text.to_string(), entry.count));
                    }
                }
            }
            Seen::Values(sample) if sample.date.is_some() == date.is_some() => {
                values.extend(sample.values.iter().map(|&value| (value + 0.0, 1)));
                tokens.extend(sample.tokens.iter().map(|(text, &count)| (text.clone(), count)));
                scale = sample.seen() as f64 / sample.values.len().max(1) as f64;
                (low, whole) = (sample.low, sample.whole);
            }
            _ => return None,
        }
        tokens.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let points = merged(values);
        low = points.first().map_or(low, |point| point.0.min(low));
        whole &= points.iter().all(|point| point.0.fract() == 0.0);
        Some(Self { points, tokens, scale, low, whole, places: profile.places })
    }

    /// Takes a value out; its estimated number of cells.
    pub(crate) fn take(&mut self, value: f64) -> Option<u64> {
        let place = self.points.iter().position(|point| point.0 == value)?;
        let (_, count) = self.points.remove(place);
        // What is left is judged by itself: codes such as −999 or .5 do not make a count a real number.
        self.low = self.points.first().map_or(f64::INFINITY, |point| point.0);
        self.whole = self.points.iter().all(|point| point.0.fract() == 0.0);
        if self.whole && self.scale == 1.0 && self.places.is_some() {
            self.places = Some(0);
        }
        Some((count as f64 * self.scale).round() as u64)
    }

    /// Whether the values are non-negative integers.
    pub(crate) fn is_count(&self) -> bool {
        self.whole && self.low >= 0.0
    }

    /// Whether the values are positive.
    pub(crate) fn is_positive(&self) -> bool {
        self.low > 0.0
    }

    /// Whether values repeat: at most half of them are distinct.
    pub(crate) fn repeats(&self) -> bool {
        self.points.len() as u64 * 2 <= self.total()
    }

    pub(crate) fn total(&self) -> u64 {
        self.points.iter().map(|point| point.1).sum()
    }

    /// Skewness of the values, after a function of them.
    pub(crate) fn skewness(&self, of: fn(f64) -> f64) -> f64 {
        let n = self.total() as f64;
        let moment = |centre: f64, power: i32| {
            self.points
                .iter()
                .map(|&(value, count)| count as f64 * (of(value) - centre).powi(power))
                .sum::<f64>()
                / n
        };
        let mean = moment(0.0, 1);
        moment(mean, 3) / moment(mean, 2).powf(1.5)
    }

    /// The grid of the values; a thinner one if values hardly repeat. None without values.
    pub(crate) fn grid(&self) -> Option<Grid> {
        let thin = !self.repeats() && self.points.len() > KNOTS;
        let points = if thin { thinned(&self.points, KNOTS) } else { self.points.clone() };
        let (values, counts) = points.into_iter().unzip();
        Grid::new(values, counts).ok()
    }

    /// The law of what is above the largest value, if values hardly repeat and have a heavy tail.
    pub(crate) fn tail(&self) -> Option<Tail> {
        let each = |&(value, count): &(f64, u64)| std::iter::repeat_n(value, count as usize);
        if self.repeats() { None } else { Tail::fit(&self.points.iter().flat_map(each).collect::<Vec<_>>()) }
    }
}

/// Sorted, equal values merged.
fn merged(mut values: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    values.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    values
}

/// Evenly spaced points, both ends among them; each takes the counts of the points nearest to it.
fn thinned(points: &[(f64, u64)], knots: usize) -> Vec<(f64, u64)> {
    let last = points.len() - 1;
    let place = |knot: usize| (knot * last + (knots - 1) / 2) / (knots - 1);
    let mut thin: Vec<(f64, u64)> = Vec::with_capacity(knots);
    let mut from = 0;
    for knot in 0..knots {
        let to = if knot + 1 == knots { points.len() } else { (place(knot) + place(knot + 1)).div_ceil(2) };
        let count = points[from..to].iter().map(|point| point.1).sum();
        thin.push((points[place(knot)].0, count));
        from = to;
    }
    thin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_ends_counts_and_quantiles() {
        for n in [4_097, 5_000, 65_536] {
            let points: Vec<(f64, u64)> = (0..n).map(|i| (f64::from(i), 1)).collect();
            let thin = thinned(&points, KNOTS);
            assert_eq!((thin.len(), thin[0].0, thin[KNOTS - 1].0), (KNOTS, 0.0, f64::from(n - 1)));
            assert_eq!(thin.iter().map(|point| point.1).sum::<u64>(), n as u64);
            let (values, counts) = thin.into_iter().unzip();
            let grid = Grid::new(values, counts).unwrap();
            for p in [0.01, 0.25, 0.5, 0.9] {
                let value = f64::from(n) * p;
                let (low, high) = grid.interval(value);
                assert!((0.5 * (low + high) - p).abs() < 3e-4, "{n} {p} {low} {high}");
            }
        }
    }

    #[test]
    fn equal_values_merge() {
        assert_eq!(merged(vec![(2.0, 1), (0.0, 2), (2.0, 3)]), [(0.0, 2), (2.0, 4)]);
    }
}
