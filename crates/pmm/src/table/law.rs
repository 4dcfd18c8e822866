//! The law of one number: atoms, and a mixture of Gaussians on the normal scores of its column.

use pmm_core::Stream;
use pmm_data::{Coding, Column, Numbers};
use pmm_net::table::{CellLaw, ColumnPlace, ScorePart};

/// The law of a number, in the column's own unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NumberLaw {
    /// (value, probability), values increasing.
    atoms: Vec<(f64, f64)>,
    /// Parts of the law of the normal score.
    continuum: Vec<ScorePart>,
}

/// Nodes of the trapezoidal rule for a mean, and how many to a standard deviation.
const NODES: (i32, f64) = (12, 3.0);
/// Quantiles that stand for a part with ends.
const QUANTILES: u32 = 16;
/// Scores beyond which nothing lies.
const FARTHEST: f64 = 12.0;

impl NumberLaw {
    /// The mixture of cases, by their probabilities; texts among numbers are left out.
    pub(crate) fn mixture(cases: &[(f64, CellLaw)], place: &ColumnPlace, column: &Column) -> Self {
        let mut law = Self::default();
        for (weight, case) in cases {
            match case {
                CellLaw::Cell(cell) => law.atoms.extend(column.number(*cell).map(|value| (value, *weight))),
                CellLaw::Open { codes, parts } => law.add(*weight, codes, parts, place, column),
            }
        }
        law.settle()
    }

    /// The law of draws, each as likely as the others.
    pub(crate) fn of_draws(draws: impl Iterator<Item = f64>) -> Self {
        let atoms = draws.filter(|value| value.is_finite()).map(|value| (value, 1.0)).collect();
        Self { atoms, continuum: Vec::new() }.settle()
    }

    fn add(&mut self, weight: f64, codes: &[f64], parts: &[ScorePart], place: &ColumnPlace, column: &Column) {
        let mut ordinary = weight;
        if let (Some(tokens), Coding::Numbers(numbers)) = (&place.tokens, &column.coding) {
            if !tokens.values.is_empty() {
                let values = tokens.values.iter().zip(codes);
                self.atoms.extend(values.map(|(value, p)| (*value, weight * p)));
                return;
            }
            let specials = numbers.specials.iter().zip(&codes[1..]);
            self.atoms.extend(specials.filter_map(|(special, p)| Some((special.value?, weight * p))));
            ordinary *= codes[0];
        }
        self.continuum.extend(parts.iter().map(|part| ScorePart { weight: ordinary * part.weight, ..*part }));
    }

    /// Sums to 1; equal atoms together.
    fn settle(mut self) -> Self {
        self.atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.atoms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let atoms: f64 = self.atoms.iter().map(|(_, p)| p).sum();
        let total = atoms + self.continuum.iter().map(|part| part.weight).sum::<f64>();
        if total > 0.0 {
            self.atoms.iter_mut().for_each(|(_, p)| *p /= total);
            self.continuum.iter_mut().for_each(|part| part.weight /= total);
        }
        self
    }

    /// P(X ≤ y).
    pub(crate) fn cdf(&self, numbers: &Numbers, y: f64) -> f64 {
        let atoms: f64 = self.atoms.iter().take_while(|(value, _)| *value <= y).map(|(_, p)| p).sum();
        (atoms + self.scores_below(numbers.grid.score_up_to(y, numbers.snap))).min(1.0)
    }

    fn scores_below(&self, z: f64) -> f64 {
        self.continuum.iter().map(|part| part.weight * part.cdf(z)).sum()
    }

    /// E X.
    pub(crate) fn mean(&self, numbers: &Numbers) -> f64 {
        self.expect(numbers, |value| value)
    }

    /// The root of E (X − E X)².
    pub(crate) fn standard_deviation(&self, numbers: &Numbers) -> f64 {
        let mean = self.mean(numbers);
        self.expect(numbers, |value| (value - mean).powi(2)).sqrt()
    }

    /// E f(X).
    fn expect(&self, numbers: &Numbers, f: impl Fn(f64) -> f64) -> f64 {
        let mut sum: f64 = self.atoms.iter().map(|(value, p)| f(*value) * p).sum();
        for part in &self.continuum {
            let value = |z: f64| f(numbers.grid.value(z, numbers.snap));
            if part.low > f64::NEG_INFINITY || part.high < f64::INFINITY {
                let middles = (0..QUANTILES).map(|k| (f64::from(k) + 0.5) / f64::from(QUANTILES));
                let values = middles.map(|share| value(part.quantile(share)));
                sum += part.weight * values.sum::<f64>() / f64::from(QUANTILES);
                continue;
            }
            let (mut inner, mut total) = (0.0, 0.0);
            for node in -NODES.0..=NODES.0 {
                let z = f64::from(node) / NODES.1;
                let density = (-0.5 * z * z).exp();
                inner += density * value(part.mean + part.sd * z);
                total += density;
            }
            sum += part.weight * inner / total;
        }
        sum
    }

    /// The least value that at least a share q is not above.
    pub(crate) fn quantile(&self, numbers: &Numbers, q: f64) -> f64 {
        // Rounding may leave the sum of all a little below 1.
        let reached = |y: f64| self.cdf(numbers, y) >= q - 1e-12;
        let atom = self.atoms.iter().map(|(value, _)| *value).find(|value| reached(*value));
        if self.continuum.is_empty() {
            return atom.or(self.atoms.last().map(|(value, _)| *value)).unwrap_or(f64::NAN);
        }
        let value = |z: f64| numbers.grid.value(z, numbers.snap);
        let (mut low, mut high) = (-FARTHEST, FARTHEST);
        if reached(value(low)) {
            high = low;
        }
        while high - low > 1e-9 {
            let middle = 0.5 * (low + high);
            if reached(value(middle)) { high = middle } else { low = middle }
        }
        let ordinary = numbers.on_grid(value(high));
        atom.map_or(ordinary, |atom| atom.min(ordinary))
    }

    /// The logarithm of the density at y, or of the probability where values repeat or y is an atom; −∞ where there is neither.
    pub(crate) fn log_density(&self, numbers: &Numbers, y: f64) -> f64 {
        let atom: f64 = self.atoms.iter().filter(|(value, _)| *value == y).map(|(_, p)| p).sum();
        let grid = &numbers.grid;
        if atom > 0.0 || numbers.snap || self.continuum.is_empty() {
            let is_knot = grid.values().binary_search_by(|value| value.total_cmp(&y)).is_ok();
            let below = grid.values().iter().rev().find(|value| **value < y).copied();
            let share = match (is_knot && numbers.snap, below) {
                (false, _) => 0.0,
                (true, below) => {
                    let low = below.map_or(f64::NEG_INFINITY, |below| grid.score_up_to(below, true));
                    self.scores_below(grid.score_up_to(y, true)) - self.scores_below(low)
                }
            };
            return (atom + share).ln();
        }
        let z = grid.score(y, 0.5);
        let density: f64 = self.continuum.iter().map(|part| part.weight * part.density(z)).sum();
        (density * grid.score_slope(y)).ln()
    }

    /// A draw.
    pub(crate) fn draw(&self, numbers: &Numbers, rng: &mut Stream) -> f64 {
        let mut u = rng.unit();
        for &(value, p) in &self.atoms {
            u -= p;
            if u < 0.0 {
                return value;
            }
        }
        let chosen = self.continuum.iter().find(|part| {
            u -= part.weight;
            u < 0.0
        });
        // Rounding may have left a rest.
        let Some(part) = chosen.or(self.continuum.last()) else {
            return self.atoms.last().map_or(f64::NAN, |(value, _)| *value);
        };
        let free = part.low == f64::NEG_INFINITY && part.high == f64::INFINITY;
        let z = if free { part.mean + part.sd * rng.normal() } else { part.quantile(rng.unit()) };
        numbers.on_grid(numbers.grid.value(z, numbers.snap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_core::{Purpose, Streams};
    use pmm_data::{Overrides, ReadOptions, Schema, Source};

    /// A continuum around 10 with exact zeros, as a column of a file.
    fn numbers() -> Numbers {
        let mut rng = Streams::new(3).stream(Purpose::DATA, 0, 0);
        let mut text = String::from("x,y\n");
        for i in 0..4000 {
            let x = if i % 4 == 0 { "0".to_owned() } else { format!("{:.6}", 10.0 + rng.normal()) };
            text.push_str(&format!("{x},{}\n", i % 5));
        }
        let source = Source::from_bytes("t.csv", text.into_bytes(), &ReadOptions::default()).unwrap();
        let schema = Schema::infer(&source, &Overrides::default()).unwrap();
        let Coding::Numbers(numbers) = schema.columns[0].coding.clone() else { panic!("numbers") };
        assert!(!numbers.snap && numbers.specials.len() == 1);
        numbers
    }

    fn law() -> NumberLaw {
        let continuum = vec![part(0.5, -0.3, 0.6), part(0.25, 0.8, 0.4)];
        NumberLaw { atoms: vec![(0.0, 0.25)], continuum }
    }

    fn part(weight: f64, mean: f64, sd: f64) -> ScorePart {
        ScorePart { weight, mean, sd, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    #[test]
    fn quantiles_invert_the_distribution_function() {
        let (law, numbers) = (law(), numbers());
        assert_eq!(law.quantile(&numbers, 0.2), 0.0);
        for q in [0.26, 0.5, 0.75, 0.9, 0.99] {
            let y = law.quantile(&numbers, q);
            assert!((law.cdf(&numbers, y) - q).abs() < 1e-4, "{q}: {y}");
        }
        assert_eq!((law.cdf(&numbers, -1.0), law.cdf(&numbers, 1e9)), (0.0, 1.0));
    }

    /// Against 200,000 draws: five standard errors.
    #[test]
    fn mean_and_distribution_are_those_of_draws() {
        let (law, numbers) = (law(), numbers());
        let mut rng = Streams::new(1).stream(Purpose::DATA, 0, 0);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| law.draw(&numbers, &mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let sd = (draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        assert!(
            (mean - law.mean(&numbers)).abs() < 5.0 * sd / (n as f64).sqrt(),
            "{mean} {}",
            law.mean(&numbers)
        );
        let fourth = draws.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / n as f64;
        let error = (fourth / sd.powi(4) - 1.0).sqrt() * sd / 2.0 / (n as f64).sqrt();
        let found = law.standard_deviation(&numbers);
        assert!((sd - found).abs() < 5.0 * error, "{sd} {found} ± {error}");
        for y in [0.0, 9.0, 10.0, 11.0] {
            let share = draws.iter().filter(|x| **x <= y).count() as f64 / n as f64;
            assert!((share - law.cdf(&numbers, y)).abs() < 5.0 * (0.25 / n as f64).sqrt(), "{y}");
        }
    }

    #[test]
    fn the_density_is_the_slope_of_the_distribution() {
        let (law, numbers) = (law(), numbers());
        assert!((law.log_density(&numbers, 0.0) - 0.25f64.ln()).abs() < 1e-12);
        let values = numbers.grid.values();
        for i in [500, 1500, 2500] {
            // Within one piece of the interpolation.
            let (low, high) = (values[i], values[i + 1]);
            let at = |share: f64| low + share * (high - low);
            let slope = (law.cdf(&numbers, at(0.7)) - law.cdf(&numbers, at(0.3))) / (at(0.7) - at(0.3));
            let density = law.log_density(&numbers, at(0.5)).exp();
            assert!((density / slope - 1.0).abs() < 0.01, "{density} {slope}");
        }
        assert_eq!(law.log_density(&numbers, 1e9), f64::NEG_INFINITY);
    }

    #[test]
    fn probabilities_of_repeated_values_sum_to_one() {
        let text: String = (0..3000).map(|i| format!("{},{}\n", (i * i) % 211, i % 3)).collect();
        let source =
            Source::from_bytes("t.csv", format!("x,y\n{text}").into_bytes(), &ReadOptions::default())
                .unwrap();
        let schema = Schema::infer(&source, &Overrides::default()).unwrap();
        let Coding::Numbers(numbers) = &schema.columns[0].coding else { panic!("numbers") };
        assert!(numbers.snap && !numbers.discrete);
        let law = NumberLaw { atoms: vec![], continuum: vec![part(0.6, -0.3, 0.6), part(0.4, 0.8, 0.4)] };
        let sum: f64 = numbers.grid.values().iter().map(|&y| law.log_density(numbers, y).exp()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert_eq!(law.log_density(numbers, 0.5), f64::NEG_INFINITY);
    }
}
