//! Columns of which one is never below the other.

use super::super::rule::Rule;
use super::Candidate;
use super::chance::ln_at_most;
use super::sample::{Sample, SampleColumn};

/// The least share of rows that chance must break: columns that live on different ranges say nothing.
const OVERLAP: f64 = 0.05;
/// The same between dates and between whole numbers, which are counts or years: they are of one kind more often.
const OVERLAP_WHOLE: f64 = 0.01;
/// Fewer values than this have no scale to speak of.
const VALUES: usize = 5;

/// a ≤ b and a < b between numbers or dates whose ranges overlap.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let fits = |column: &&SampleColumn| column.ordered() && column.distinct() >= VALUES;
    let columns: Vec<&SampleColumn> = sample.columns.iter().filter(fits).collect();
    let sorted: Vec<Vec<f64>> = columns.iter().map(|column| sorted(column)).collect();
    let tests = 2 * columns.len() * columns.len().saturating_sub(1);
    let threshold = (error_rate / tests.max(1) as f64).ln();
    let mut candidates = Vec::new();
    for a in 0..columns.len() {
        for b in a + 1..columns.len() {
            if columns[a].date.is_some() == columns[b].date.is_some() {
                let pair = Pair { columns: [columns[a], columns[b]], sorted: [&sorted[a], &sorted[b]] };
                candidates.extend(pair.rule(threshold));
            }
        }
    }
    candidates
}

fn sorted(column: &SampleColumn) -> Vec<f64> {
    let mut numbers: Vec<f64> = column.number.iter().copied().filter(|number| number.is_finite()).collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

struct Pair<'a> {
    columns: [&'a SampleColumn; 2],
    sorted: [&'a [f64]; 2],
}

impl Pair<'_> {
    fn rule(&self, threshold: f64) -> Option<Candidate> {
        let [below, equal, above] = self.counts(|_| true);
        let rows = below + equal + above;
        let [low, high] = if above <= below { [0, 1] } else { [1, 0] };
        let breaks = above.min(below);
        if rows < 20.0 || breaks > 0.01 * rows {
            return None;
        }
        let (chance, ties) = chances(self.sorted[low], self.sorted[high]);
        if !self.tells(breaks, rows, chance, threshold) || !self.holds_without_zeros(low, high, threshold) {
            return None;
        }
        let strict = equal <= 0.001 * ties * rows && ln_at_most(equal, rows, ties) <= threshold;
        let name = |place: usize| self.columns[place].name.clone();
        let chance = if strict { chance + ties } else { chance };
        let rule = Rule::Order { low: name(low), high: name(high), strict };
        Some(Candidate { rule, chance: Some(chance) })
    }

    /// That two columns are 0 together is a gate, not an order: where neither is, the order must be no chance either.
    fn holds_without_zeros(&self, low: usize, high: usize, threshold: f64) -> bool {
        let nonzero = |sorted: &[f64]| -> Vec<f64> { sorted.iter().copied().filter(|x| *x != 0.0).collect() };
        let [of_low, of_high] = [nonzero(self.sorted[low]), nonzero(self.sorted[high])];
        if of_low.len() == self.sorted[low].len() && of_high.len() == self.sorted[high].len() {
            return true;
        }
        let counts = self.counts(|x| x != 0.0);
        let breaks = if low == 0 { counts[2] } else { counts[0] };
        let (chance, _) = chances(&of_low, &of_high);
        self.tells(breaks, counts.iter().sum(), chance, threshold)
    }

    /// Whether so few breaks tell of an order: the ranges overlap, and chance would have broken it much more often.
    fn tells(&self, breaks: f64, rows: f64, chance: f64, ln_threshold: f64) -> bool {
        let whole = self.columns.iter().all(|column| column.date.is_some() || column.step >= 1.0);
        chance >= if whole { OVERLAP_WHOLE } else { OVERLAP }
            && breaks <= 0.05 * chance * rows
            && ln_at_most(breaks, rows, chance) <= ln_threshold
    }

    /// Rows in which the first is below, equal to and above the second, among values of some sort.
    fn counts(&self, counted: impl Fn(f64) -> bool) -> [f64; 3] {
        let mut counts = [0.0; 3];
        for (&a, &b) in self.columns[0].number.iter().zip(&self.columns[1].number) {
            if let Some(order) = a.partial_cmp(&b)
                && counted(a)
                && counted(b)
            {
                counts[(order as i8 + 1) as usize] += 1.0;
            }
        }
        counts
    }
}

/// The chances that a value of the one is above, and equal to, a value of the other, by merging both in order.
fn chances(low: &[f64], high: &[f64]) -> (f64, f64) {
    let (mut above, mut equal) = (0.0, 0.0);
    let (mut less, mut at_most) = (0, 0);
    for value in low {
        while less < high.len() && high[less] < *value {
            less += 1;
        }
        at_most = at_most.max(less);
        while at_most < high.len() && high[at_most] <= *value {
            at_most += 1;
        }
        above += less as f64;
        equal += (at_most - less) as f64;
    }
    let pairs = (low.len() * high.len()).max(1) as f64;
    (above / pairs, equal / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_count_all_pairs() {
        // (2 > 1), (3 > 1), (3 > 2); (2 = 2), (3 = 3).
        assert_eq!(chances(&[2.0, 3.0], &[1.0, 2.0, 3.0]), (3.0 / 6.0, 2.0 / 6.0));
        assert_eq!(chances(&[1.0, 1.0], &[1.0, 5.0]), (0.0, 0.5));
    }
}
