//! What is left of a number after a sum is taken away: nothing, or one of a few values.

/// Values that may be left, at most.
pub(crate) const CONSTANTS: usize = 6;

/// The few values that are left in nearly all rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spectrum {
    /// Most frequent first.
    pub(crate) constants: Vec<f64>,
    /// The share of rows that they explain.
    pub(crate) share: f64,
}

impl Spectrum {
    /// Groups of values that are within a distance of their centre; none if a few do not hold 95 % of all.
    pub(crate) fn new(rest: impl Iterator<Item = f64>, within: f64) -> Option<Self> {
        let mut rest: Vec<f64> = rest.filter(|value| value.is_finite()).collect();
        rest.sort_by(f64::total_cmp);
        let total = rest.len();
        if total < 20 {
            return None;
        }
        let least = (total as f64 * 0.005).max(3.0);
        let mut groups: Vec<(usize, f64)> = groups(&rest, within);
        groups.retain(|group| group.0 as f64 >= least);
        groups.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        groups.truncate(CONSTANTS);
        let held: usize = groups.iter().map(|group| group.0).sum();
        let share = held as f64 / total as f64;
        (share >= 0.95).then(|| Self { constants: groups.into_iter().map(|group| group.1).collect(), share })
    }
}

/// Sorted values in groups no wider than twice the distance: their sizes and short centres.
fn groups(sorted: &[f64], within: f64) -> Vec<(usize, f64)> {
    let mut groups = Vec::new();
    let mut start = 0;
    for end in 1..=sorted.len() {
        let dust = 1e-9 * sorted[start].abs();
        if end == sorted.len() || sorted[end] - sorted[start] > 2.0 * within + dust {
            groups.push((end - start, short(sorted[start], sorted[end - 1], within)));
            start = end;
        }
    }
    groups
}

/// The shortest number that is near enough to all from `low` to `high`; the middle if none is.
fn short(low: f64, high: f64, within: f64) -> f64 {
    let middle = 0.5 * (low + high);
    let dust = 1e-9 * middle.abs().max(1e-3);
    for decimals in 0..10 {
        let scale = 10_f64.powi(decimals);
        let number = (middle * scale).round() / scale;
        if high - number <= within + dust && number - low <= within + dust {
            return number + 0.0;
        }
    }
    middle
}

/// Numbers near one, the shorter first: so many significant digits, and the number itself.
pub(crate) fn shorter(number: f64) -> Vec<f64> {
    let mut short: Vec<f64> =
        (0..7).filter_map(|digits| format!("{number:.digits$e}").parse().ok()).collect();
    short.push(number);
    short.dedup();
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_values_are_a_spectrum() {
        let rest = (0..1_000).map(|i| [0.0, 0.5, 3.3, 0.0][i % 4] + 1e-9 * i as f64);
        let spectrum = Spectrum::new(rest, 0.005).unwrap();
        assert_eq!(spectrum, Spectrum { constants: vec![0.0, 0.5, 3.3], share: 1.0 });
        assert_eq!(Spectrum::new((0..1_000).map(|i| f64::from(i) * 0.1), 0.005), None);
    }

    #[test]
    fn shorter_numbers_come_first() {
        assert_eq!(shorter(1.80001)[..3], [2.0, 1.8, 1.80001]);
    }
}
