//! Pairs of columns: do they move together as they should?
//!
//! One family of measures, correlations between ranks or indicators: for two columns of numbers Spearman's ρ, the
//! correlation of ranks (−1 to 1); for a number and a level the correlation ratio η of the ranks, their multiple
//! correlation with the level's indicators; for two levels Cramér's V, the root mean square of the canonical
//! correlations of their indicators (both 0 to 1). Small tables inflate the latter two, so η² is corrected to
//! 1 − (1 − η²)(n − 1)/(n − k) (Kelley 1935), and V as in Bergsma (2013).

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use super::frame::{Frame, TableError, aligned, enough};
use super::rank::{correlation, ranks};

/// Rows beyond these are left out; the error of a correlation is then below .01.
const MOST_ROWS: usize = 20_000;

/// Association of every pair of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dependence {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The matrix of the test rows, row by row; 1 on the diagonal.
    pub test: Vec<Vec<f64>>,
    /// The matrix of the synthetic rows.
    pub synth: Vec<Vec<f64>>,
    /// The mean of |synth − test| over the pairs; 0 is best.
    pub difference: f64,
    /// The mean of |train − test|, with as many training rows as there are synthetic ones.
    pub baseline: f64,
}

/// Compares the association of all pairs of columns with that in the test rows.
///
/// A pair uses the rows in which neither cell is missing; fewer than three give 0. At most 20,000 rows of a table
/// take part, chosen by `seed`.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn, dependence};
/// let table = |y: [f64; 4]| {
///     let x = FrameColumn::numbers("x", vec![1.0, 2.0, 3.0, 4.0]);
///     Frame::new(vec![x, FrameColumn::numbers("y", y.to_vec())]).unwrap()
/// };
/// let (test, synth) = (table([1.0, 2.0, 3.0, 9.0]), table([9.0, 3.0, 2.0, 1.0]));
/// let found = dependence(&test, &synth, &test, 0)?;
/// assert_eq!((found.test[0][1], found.synth[0][1]), (1.0, -1.0));
/// assert_eq!((found.difference, found.baseline), (2.0, 0.0));
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn dependence(test: &Frame, synth: &Frame, train: &Frame, seed: u64) -> Result<Dependence, TableError> {
    for (name, frame) in
        [("the test table", test), ("the synthetic table", synth), ("the training table", train)]
    {
        enough(name, frame.rows(), 1)?;
    }
    let train = train.sample(synth.rows().min(MOST_ROWS), seed, 1);
    let (test, synth) = (test.sample(MOST_ROWS, seed, 2), synth.sample(MOST_ROWS, seed, 3));
    let [test, synth, train] = aligned([&test, &synth, &train])?;
    let [test_matrix, synth_matrix, train_matrix] = [&test, &synth, &train].map(associations);
    Ok(Dependence {
        columns: test.columns.iter().map(|column| column.name.clone()).collect(),
        difference: mean_difference(&synth_matrix, &test_matrix),
        baseline: mean_difference(&train_matrix, &test_matrix),
        test: test_matrix,
        synth: synth_matrix,
    })
}

/// A column ready for comparison.
struct Column {
    numeric: bool,
    values: Vec<f64>,
    /// The ranks, if no cell is missing.
    ranks: Option<Vec<f64>>,
}

/// Association of every pair of columns of a table, a symmetric matrix with 1 on the diagonal.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn, associations};
/// let x = FrameColumn::numbers("x", vec![1.0, 2.0, 3.0, 4.0]);
/// let frame = Frame::new(vec![x, FrameColumn::numbers("y", vec![9.0, 4.0, 3.0, 1.0])])?;
/// assert_eq!(associations(&frame), [[1.0, -1.0], [-1.0, 1.0]]);
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn associations(frame: &Frame) -> Vec<Vec<f64>> {
    let prepare = |j: usize| {
        let values = frame.columns[j].to_numbers();
        let complete = values.iter().all(|v| !v.is_nan());
        let numeric = frame.columns[j].is_numeric();
        Column { numeric, ranks: (numeric && complete).then(|| ranks(&values)), values }
    };
    let width = frame.columns.len();
    let columns: Vec<Column> = (0..width).into_par_iter().map(prepare).collect();
    let row = |i: usize| -> Vec<f64> { (0..i).map(|j| association(&columns[i], &columns[j])).collect() };
    let lower: Vec<Vec<f64>> = (0..width).into_par_iter().map(row).collect();
    let entry = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Greater => lower[i][j],
        std::cmp::Ordering::Less => lower[j][i],
        std::cmp::Ordering::Equal => 1.0,
    };
    (0..width).map(|i| (0..width).map(|j| entry(i, j)).collect()).collect()
}

fn association(a: &Column, b: &Column) -> f64 {
    match (&a.ranks, &b.ranks) {
        (Some(x), Some(y)) if x.len() >= 3 => return correlation(x, y),
        _ => {}
    }
    let present = |i: &usize| !a.values[*i].is_nan() && !b.values[*i].is_nan();
    let rows: Vec<usize> = (0..a.values.len()).filter(present).collect();
    if rows.len() < 3 {
        return 0.0;
    }
    let pick = |column: &Column| -> Vec<f64> { rows.iter().map(|&i| column.values[i]).collect() };
    let (x, y) = (pick(a), pick(b));
    match (a.numeric, b.numeric) {
        (true, true) => correlation(&ranks(&x), &ranks(&y)),
        (true, false) => correlation_ratio(&ranks(&x), &y),
        (false, true) => correlation_ratio(&ranks(&y), &x),
        (false, false) => cramers_v(&x, &y),
    }
}

/// η of `values` by group: √(between-group share of the sum of squares), corrected for chance.
fn correlation_ratio(values: &[f64], groups: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let total: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (value, &group) in values.iter().zip(groups) {
        let group = group as usize;
        sums.resize(sums.len().max(group + 1), (0.0, 0.0));
        sums[group] = (sums[group].0 + value, sums[group].1 + 1.0);
    }
    sums.retain(|sum| sum.1 > 0.0);
    let between: f64 = sums.iter().map(|(sum, count)| count * (sum / count - mean).powi(2)).sum();
    let k = sums.len() as f64;
    if total <= 0.0 || k < 2.0 || n <= k {
        return 0.0;
    }
    (1.0 - (1.0 - between / total) * (n - 1.0) / (n - k)).clamp(0.0, 1.0).sqrt()
}

/// Cramér's V with Bergsma's correction. Only cells of the contingency table that occur are visited:
/// χ² = n (Σ n_ij²/(n_i n_j) − 1).
fn cramers_v(a: &[f64], b: &[f64]) -> f64 {
    let (mut rows, mut columns, mut cells) = (HashMap::new(), HashMap::new(), HashMap::new());
    for (&x, &y) in a.iter().zip(b) {
        let key = (x as u32, y as u32);
        *rows.entry(key.0).or_insert(0.0) += 1.0;
        *columns.entry(key.1).or_insert(0.0) += 1.0;
        *cells.entry(key).or_insert(0.0) += 1.0;
    }
    let (n, r, c) = (a.len() as f64, rows.len() as f64, columns.len() as f64);
    // Summed in sorted order: the order of a hash map differs from run to run.
    let mut terms: Vec<f64> =
        cells.iter().map(|((x, y), m): (&(u32, u32), &f64)| m * m / (rows[x] * columns[y])).collect();
    terms.sort_by(f64::total_cmp);
    let phi2: f64 = terms.iter().sum::<f64>() - 1.0;
    let corrected = (phi2 - (r - 1.0) * (c - 1.0) / (n - 1.0)).max(0.0);
    let least = (r - (r - 1.0).powi(2) / (n - 1.0)).min(c - (c - 1.0).powi(2) / (n - 1.0)) - 1.0;
    if least > 0.0 { (corrected / least).clamp(0.0, 1.0).sqrt() } else { 0.0 }
}

fn mean_difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = (0..a.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let differences: Vec<f64> = pairs.map(|(i, j)| (a[i][j] - b[i][j]).abs()).collect();
    differences.iter().sum::<f64>() / differences.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FrameColumn;

    /// By hand: ranks 1, 2 | 3, 4 in two groups: total 5, between 4, so η² = .8; corrected 1 − .2·3/2 = .7.
    #[test]
    fn the_correlation_ratio_is_that_of_the_formula() {
        let eta = correlation_ratio(&[1.0, 2.0, 3.0, 4.0], &[0.0, 0.0, 1.0, 1.0]);
        assert!((eta - 0.7f64.sqrt()).abs() < 1e-12, "{eta}");
        assert_eq!(correlation_ratio(&[1.0, 2.0], &[0.0, 0.0]), 0.0);
    }

    /// A 2 × 2 table 30, 10 | 10, 30: φ² = .25; corrected (.25 − 1/79)/(1 − 1/79).
    #[test]
    fn cramers_v_is_bergsmas() {
        let cells = [(0.0, 0.0, 30), (0.0, 1.0, 10), (1.0, 0.0, 10), (1.0, 1.0, 30)];
        let expand = |pick: fn(&(f64, f64, usize)) -> f64| -> Vec<f64> {
            cells.iter().flat_map(|cell| std::iter::repeat_n(pick(cell), cell.2)).collect()
        };
        let v = cramers_v(&expand(|c| c.0), &expand(|c| c.1));
        let expected = ((0.25 - 1.0 / 79.0) / (1.0 - 1.0 / 79.0f64)).sqrt();
        assert!((v - expected).abs() < 1e-12, "{v} {expected}");
    }

    #[test]
    fn the_matrix_is_symmetric_and_takes_missing_cells() {
        let n = 60;
        let x: Vec<f64> = (0..n).map(|i| if i % 7 == 0 { f64::NAN } else { f64::from(i) }).collect();
        let y: Vec<f64> = (0..n).map(f64::from).collect();
        let z: Vec<String> = (0..n).map(|i| format!("{}", i / 20)).collect();
        let w: Vec<String> = (0..n).map(|i| format!("{}", i / 20 % 2)).collect();
        let columns = vec![
            FrameColumn::numbers("x", x),
            FrameColumn::numbers("y", y),
            FrameColumn::named("z", z),
            FrameColumn::named("w", w),
        ];
        let frame = Frame::new(columns).unwrap();
        let found = dependence(&frame, &frame, &frame, 0).unwrap();
        assert_eq!((found.difference, found.baseline), (0.0, 0.0));
        assert!((found.test[0][1] - 1.0).abs() < 1e-12 && found.test[2][1] > 0.9 && found.test[3][2] > 0.9);
        for i in 0..4 {
            assert!((0..4).all(|j| found.test[i][j] == found.test[j][i]) && found.test[i][i] == 1.0);
        }
    }
}
