//! Column by column: are the values the right ones?

use pmm_core::{total_variation, wasserstein};
use rayon::prelude::*;
use serde::Serialize;

use super::frame::{ColumnData, Frame, FrameColumn, MISSING, TableError, aligned, enough};

/// How two samples of a column are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// W₁ between the numbers, divided by the standard deviation of the test rows.
    Wasserstein,
    /// ½ Σ |p − q| over the levels.
    TotalVariation,
}

/// The distance of one column from the test rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarginalScore {
    /// The column.
    pub column: String,
    /// How the distance is measured; missing cells are left out of it.
    pub measure: Measure,
    /// From the synthetic to the test rows; 0 is best.
    pub distance: f64,
    /// From as many training rows to the test rows.
    pub baseline: f64,
    /// The share of missing cells in the test rows.
    pub missing: f64,
    /// The share of missing cells in the synthetic rows.
    pub missing_synth: f64,
}

/// Every column's distance from the test rows: for numbers W₁/sd, for levels the total variation.
///
/// The baseline takes as many training rows as there are synthetic ones (all, if there are fewer), chosen by `seed`.
/// A column with no value on one side only is at distance 1.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn, marginals};
/// let table = |cells: [&str; 4]| Frame::new(vec![FrameColumn::named("c", cells)]).unwrap();
/// let (test, synth) = (table(["a", "a", "b", "b"]), table(["a", "a", "a", "b"]));
/// let score = &marginals(&test, &synth, &test, 0)?[0];
/// assert_eq!((score.distance, score.baseline), (0.25, 0.0));
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn marginals(
    test: &Frame,
    synth: &Frame,
    train: &Frame,
    seed: u64,
) -> Result<Vec<MarginalScore>, TableError> {
    for (name, frame) in
        [("the test table", test), ("the synthetic table", synth), ("the training table", train)]
    {
        enough(name, frame.rows(), 1)?;
    }
    let [test, synth, train] = aligned([test, synth, &train.sample(synth.rows(), seed, 1)])?;
    let score = |j: usize| {
        let (real, made, learnt) = (&test.columns[j], &synth.columns[j], &train.columns[j]);
        MarginalScore {
            column: real.name.clone(),
            measure: if real.is_numeric() { Measure::Wasserstein } else { Measure::TotalVariation },
            distance: distance(real, made),
            baseline: distance(real, learnt),
            missing: real.missing(),
            missing_synth: made.missing(),
        }
    };
    Ok((0..test.columns.len()).into_par_iter().map(score).collect())
}

/// The distance of two columns that share their levels.
fn distance(real: &FrameColumn, other: &FrameColumn) -> f64 {
    match (&real.data, &other.data) {
        (ColumnData::Levels { codes: a, levels }, ColumnData::Levels { codes: b, .. }) => {
            one_sided(a.iter().any(|&c| c != MISSING), b.iter().any(|&c| c != MISSING))
                .unwrap_or_else(|| total_variation(&shares(a, levels.len()), &shares(b, levels.len())))
        }
        _ => {
            let present = |column: &FrameColumn| -> Vec<f64> {
                column.to_numbers().into_iter().filter(|v| v.is_finite()).collect()
            };
            let (a, b) = (present(real), present(other));
            one_sided(!a.is_empty(), !b.is_empty()).unwrap_or_else(|| {
                let spread = standard_deviation(&a);
                let apart = wasserstein(&a, &b);
                // A constant has no spread to measure by: the same value or not.
                if spread > 0.0 { apart / spread } else { f64::from(u8::from(apart > 0.0)) }
            })
        }
    }
}

/// The distance if a side has no values.
fn one_sided(first: bool, second: bool) -> Option<f64> {
    match (first, second) {
        (true, true) => None,
        (false, false) => Some(0.0),
        _ => Some(1.0),
    }
}

/// The shares of the levels among the cells that are not missing.
pub(crate) fn shares(codes: &[u32], levels: usize) -> Vec<f64> {
    let mut counts = vec![0.0; levels];
    let present = codes.iter().filter(|&&code| code != MISSING);
    let mut total: f64 = 0.0;
    for &code in present {
        counts[code as usize] += 1.0;
        total += 1.0;
    }
    counts.iter().map(|count| count / total.max(1.0)).collect()
}

/// The standard deviation with n − 1; 0 for a single value.
fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Frame {
        Frame::new(vec![FrameColumn::numbers("x", values.to_vec())]).unwrap()
    }

    /// `wasserstein_distance([0, 1, 2, 3], [1, 2, 3]) / pandas.Series([0, 1, 2, 3]).std()` = 0.5/1.2909944.
    #[test]
    fn numbers_are_measured_in_standard_deviations() {
        let (test, synth) = (numbers(&[0.0, 1.0, 2.0, 3.0]), numbers(&[1.0, f64::NAN, 2.0, 3.0]));
        let score = &marginals(&test, &synth, &test, 0).unwrap()[0];
        assert!((score.distance - 0.387_298_3).abs() < 1e-6 && score.baseline == 0.0, "{score:?}");
        assert_eq!((score.missing, score.missing_synth, score.measure), (0.0, 0.25, Measure::Wasserstein));
    }

    #[test]
    fn empty_columns_and_constant_columns_have_a_distance() {
        let (some, none) = (numbers(&[1.0, 2.0]), numbers(&[f64::NAN, f64::NAN]));
        let between = |a: &Frame, b: &Frame| marginals(a, b, a, 0).unwrap()[0].distance;
        assert_eq!([between(&some, &none), between(&none, &some), between(&none, &none)], [1.0, 1.0, 0.0]);
        assert_eq!(between(&numbers(&[5.0, 5.0]), &numbers(&[5.0, 5.0])), 0.0);
        assert!(matches!(marginals(&numbers(&[]), &some, &some, 0), Err(TableError::Rows { .. })));
    }
}
