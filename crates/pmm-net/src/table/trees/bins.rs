//! Cells as bytes: what trees see of a row, and the bins in which they tell a number.

use pmm_data::{Coding, Column, Grid, Schema};
use pmm_trees::{Feature, FeatureKind, MOST_BINS};

use crate::table::coordinates::{CellCoordinates, ColumnPlace, Coordinates};

/// Bins of a number that is looked at, at most.
const SEEN_BINS: usize = 128;

/// What trees see of the columns: a byte for the token and one for the value of each, 0 where it is unknown.
#[derive(Debug, Clone)]
pub(crate) struct Binner {
    columns: Vec<ColumnBins>,
    features: Vec<Feature>,
}

#[derive(Debug, Clone)]
struct ColumnBins {
    /// The bin of each code.
    tokens: Option<Vec<u8>>,
    /// Where one bin of the value ends and the next begins.
    edges: Option<Vec<f64>>,
}

impl Binner {
    pub(crate) fn new(coordinates: &Coordinates, schema: &Schema) -> Self {
        let (mut columns, mut features) = (Vec::new(), Vec::new());
        for place in &coordinates.columns {
            let column = &schema.columns[place.column];
            let tokens = place.tokens.as_ref().map(|tokens| {
                let has_order = !tokens.values.is_empty();
                let bins = token_bins(&tokens.counts, tokens.codes, has_order);
                let kind = if has_order { FeatureKind::Ordered } else { FeatureKind::Codes };
                let last = bins.iter().copied().max().unwrap_or(0);
                features.push(Feature { kind, bins: usize::from(last) + 1 });
                bins
            });
            let edges = grid_of(place, column).map(|grid| {
                let edges = edges(grid, SEEN_BINS);
                features.push(Feature { kind: FeatureKind::Ordered, bins: edges.len() + 2 });
                edges
            });
            columns.push(ColumnBins { tokens, edges });
        }
        Self { columns, features }
    }

    pub(crate) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Adds the bytes of a row.
    pub(crate) fn write(&self, cell: impl Fn(usize) -> CellCoordinates, out: &mut Vec<u8>) {
        for (column, bins) in self.columns.iter().enumerate() {
            let cell = cell(column);
            if let Some(tokens) = &bins.tokens {
                let bin = cell.token.and_then(|token| tokens.get(token as usize));
                out.push(bin.copied().unwrap_or(0));
            }
            if let Some(edges) = &bins.edges {
                out.push(cell.value.map_or(0, |value| 1 + edges.partition_point(|edge| *edge < value) as u8));
            }
        }
    }
}

/// The values of a column's continuum.
pub(super) fn grid_of<'a>(place: &ColumnPlace, column: &'a Column) -> Option<&'a Grid> {
    match &column.coding {
        Coding::Numbers(numbers) if place.value.is_some() => Some(&numbers.grid),
        _ => None,
    }
}

/// A bin for every code: where there are more codes than bins, rare names share the last, and neighbours share where there is an order.
fn token_bins(counts: &[u64], codes: usize, has_order: bool) -> Vec<u8> {
    let most = MOST_BINS - 1;
    if codes <= most {
        return (1..=codes).map(|bin| bin as u8).collect();
    }
    if has_order {
        return (0..codes).map(|code| (1 + code * most / codes) as u8).collect();
    }
    let mut by_count: Vec<usize> = (0..codes).collect();
    by_count.sort_by_key(|code| std::cmp::Reverse(counts.get(*code).copied().unwrap_or(0)));
    let mut bins = vec![most as u8; codes];
    by_count.iter().take(most - 1).enumerate().for_each(|(place, &code)| bins[code] = 1 + place as u8);
    bins
}

/// Places between values that leave about as many of them in each of at most so many bins.
fn edges(grid: &Grid, bins: usize) -> Vec<f64> {
    let values = grid.values();
    ends(grid, bins).into_iter().map(|end| 0.5 * values[end] + 0.5 * values[end + 1]).collect()
}

/// The last value of each of at most so many bins but the last; a frequent value has one of its own.
fn ends(grid: &Grid, bins: usize) -> Vec<usize> {
    let step = grid.total() as f64 / bins as f64;
    let (mut below, mut next, mut ends) = (0.0, step, Vec::new());
    for (index, count) in grid.counts().enumerate().take(grid.len() - 1) {
        below += count as f64;
        if below >= next - 1e-9 {
            ends.push(index);
            next = ((below / step).floor() + 1.0) * step;
        }
    }
    ends
}

/// The bins in which a number is told: whole values, and the normal scores that they stand for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueBins {
    /// How many there may be.
    pub(crate) most: usize,
    /// The largest value of every bin but the last.
    uppers: Vec<f64>,
    /// Scores between which the bins lie: −∞ first, ∞ last.
    pub(crate) scores: Vec<f64>,
    pub(crate) counts: Vec<u64>,
}

impl ValueBins {
    pub(crate) fn new(grid: &Grid, bins: usize) -> Self {
        let ends = ends(grid, bins);
        let uppers: Vec<f64> = ends.iter().map(|end| grid.values()[*end]).collect();
        let inner = uppers.iter().map(|upper| grid.score_up_to(*upper, true));
        let scores = std::iter::once(f64::NEG_INFINITY).chain(inner).chain([f64::INFINITY]).collect();
        let mut counts = vec![0; uppers.len() + 1];
        for (value, count) in grid.values().iter().zip(grid.counts()) {
            counts[uppers.partition_point(|upper| upper < value)] += count;
        }
        Self { most: bins, uppers, scores, counts }
    }

    /// The bin of a value.
    pub(crate) fn bin(&self, value: f64) -> u32 {
        self.uppers.partition_point(|upper| *upper < value) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve values in four bins of three; one that makes half of all has a bin of its own.
    #[test]
    fn bins_hold_as_many_values_each() {
        let grid = Grid::new((0..12).map(f64::from).collect(), vec![1; 12]).unwrap();
        let bins = ValueBins::new(&grid, 4);
        assert_eq!((&bins.uppers[..], &bins.counts[..]), (&[2.0, 5.0, 8.0][..], &[3, 3, 3, 3][..]));
        assert_eq!([-1.0, 2.0, 2.5, 8.0, 99.0].map(|value| bins.bin(value)), [0, 0, 1, 2, 3]);
        assert!(bins.scores[2].abs() < 1e-12, "{:?}", bins.scores);
        let grid = Grid::new(vec![1.0, 2.0, 3.0, 4.0], vec![2, 10, 4, 4]).unwrap();
        assert_eq!(ValueBins::new(&grid, 4).counts, [12, 4, 4]);
        assert_eq!(edges(&grid, 4), [2.5, 3.5]);
        assert_eq!(ValueBins::new(&Grid::new(vec![7.0], vec![3]).unwrap(), 4).counts, [3]);
    }

    #[test]
    fn many_codes_share_bins() {
        let counts: Vec<u64> = (0..1000).collect();
        let bins = token_bins(&counts, 1000, false);
        assert_eq!((bins[999], bins[998], bins[0], bins[1]), (1, 2, 255, 255));
        let bins = token_bins(&counts, 1000, true);
        assert!(bins.windows(2).all(|pair| pair[0] <= pair[1]) && bins[999] == 255 && bins[0] == 1);
        assert_eq!(token_bins(&[], 2, false), [1, 2]);
    }
}
