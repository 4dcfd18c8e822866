//! Special values: atoms in a continuum, and codes far outside of it.

/// The most texts among numbers that are specials.
pub(crate) const MOST_TEXTS: usize = 8;
/// The most values that are found to be special.
const MOST: usize = 32;
/// Cells, and their share of all, that make an atom learnable.
const FEWEST: f64 = 40.0;
const LEAST_SHARE: f64 = 0.005;
/// A continuum has at least this many distinct values.
const CONTINUUM: usize = 10;

/// The special values among `points` (increasing values with counts), most frequent first.
///
/// An *atom* has at least 5 % of all cells, or 40 cells and .5 % of all (round amounts, common rates), 10 times the median count of the
/// values and 10 times the median count of the ten values nearest to it. A *code* is the least or the greatest value, occurs at least 5 times and in .2 % of the cells, and
/// lies farther from the others than these lie from one another. (The code 99999 in the capital gains of `adult` has .49 %.)
pub(crate) fn find(points: &[(f64, u64)]) -> Vec<f64> {
    let total: u64 = points.iter().map(|point| point.1).sum();
    let mut rest: Vec<(f64, u64)> = points.to_vec();
    let mut found: Vec<(f64, u64)> = Vec::new();
    while found.len() < MOST && rest.len() > CONTINUUM {
        let Some(place) = code(&rest, total).or_else(|| atom(&rest, total)) else { break };
        found.push(rest.remove(place));
    }
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.total_cmp(&b.0)));
    found.into_iter().map(|(value, _)| value).collect()
}

/// The place of a code at either end.
fn code(points: &[(f64, u64)], total: u64) -> Option<usize> {
    let n = points.len();
    let often = |place: usize| points[place].1 >= 5 && points[place].1 as f64 >= 0.002 * total as f64;
    let value = |place: usize| points[place].0;
    let above = value(n - 1) - value(n - 2) > value(n - 2) - value(0);
    let below = value(1) - value(0) > value(n - 1) - value(1);
    if above && often(n - 1) {
        return Some(n - 1);
    }
    (below && often(0)).then_some(0)
}

/// The place of the most frequent value that is an atom.
fn atom(points: &[(f64, u64)], total: u64) -> Option<usize> {
    let mut counts: Vec<u64> = points.iter().map(|point| point.1).collect();
    let middle = counts.len() / 2;
    let median = *counts.select_nth_unstable(middle).1 as f64;
    let least = (0.05 * total as f64).min(FEWEST.max(LEAST_SHARE * total as f64)).max(10.0 * median);
    let stands_out = |place: &usize| points[*place].1 as f64 >= 10.0 * neighbours(points, *place);
    let often = (0..points.len()).filter(|place| points[*place].1 as f64 >= least);
    often.filter(stands_out).max_by_key(|place| points[*place].1)
}

/// The median count of the ten values nearest to a place: other atoms among them do not count.
fn neighbours(points: &[(f64, u64)], place: usize) -> f64 {
    let (mut low, mut high) = (place, place + 1);
    let mut counts = Vec::with_capacity(10);
    while counts.len() < 10 && (low > 0 || high < points.len()) {
        let down = if low > 0 { points[place].0 - points[low - 1].0 } else { f64::INFINITY };
        let up = points.get(high).map_or(f64::INFINITY, |point| point.0 - points[place].0);
        if low > 0 && (down <= up || high == points.len()) {
            low -= 1;
            counts.push(points[low].1);
        } else {
            counts.push(points[high].1);
            high += 1;
        }
    }
    counts.sort_unstable();
    counts.get(counts.len() / 2).map_or(0.0, |count| *count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A continuum of 1,000 values, each once, and some more.
    fn with(more: &[(f64, u64)]) -> Vec<(f64, u64)> {
        let mut points: Vec<(f64, u64)> = (1..=1_000).map(|i| (f64::from(i) * 0.37, 1)).collect();
        points.extend(more);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    #[test]
    fn zeros_and_codes() {
        assert_eq!(find(&with(&[(0.0, 500)])), [0.0]);
        assert_eq!(find(&with(&[(99_999.0, 6)])), [99_999.0]);
        assert_eq!(find(&with(&[(-999.0, 10), (0.0, 600), (99_999.0, 20)])), [0.0, 99_999.0, -999.0]);
    }

    /// The same fraction rounded in two ways, and more of them near by: none hides another.
    #[test]
    fn atoms_side_by_side() {
        let atoms = [(0.0, 600), (0.49475, 194), (0.4948, 159), (1.1667, 70), (1.1669, 69)];
        assert_eq!(find(&with(&atoms)), [0.0, 0.49475, 0.4948, 1.1667, 1.1669]);
    }

    #[test]
    fn ordinary_values_are_not_special() {
        assert!(find(&with(&[])).is_empty());
        assert!(find(&with(&[(0.0, 20)])).is_empty(), "2 % are no atom");
        assert!(find(&with(&[(99_999.0, 1)])).is_empty(), "one outlier is no code");
        let geometric: Vec<(f64, u64)> =
            (0..30).map(|i| (f64::from(i), (1e6 * 0.75f64.powi(i)) as u64)).collect();
        assert!(find(&geometric).is_empty(), "counts that fall slowly have no atom");
        assert!(find(&[(0.0, 900), (1.0, 1), (99.0, 50)]).is_empty(), "few values are no continuum");
        assert!(find(&[]).is_empty());
    }
}
