//! Class probabilities against what came.

use serde::Serialize;

use super::frame::{TableError, enough};

/// Bins of the reliability curve.
const BINS: usize = 10;
/// Probabilities are raised to this before their logarithm is taken.
const FLOOR: f64 = 1e-6;

/// How class probabilities fare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassCalibration {
    /// The share of rows whose most probable class is the true one.
    pub accuracy: f64,
    /// The accuracy of always naming the most frequent training class.
    pub accuracy_baseline: f64,
    /// The mean of −ln p(true class); 0 is best.
    pub log_loss: f64,
    /// The log-loss of the training shares as forecast.
    pub log_loss_baseline: f64,
    /// The mean of Σ (p − one-hot)²; 0 is best, 2 worst.
    pub brier: f64,
    /// The Brier score of the training shares as forecast.
    pub brier_baseline: f64,
    /// How often the named class is right, by the probability given to it.
    pub reliability: Vec<ReliabilityBin>,
    /// Expected calibration error: the mean gap of that curve from the diagonal, weighted by rows.
    pub calibration_error: f64,
    /// Rows.
    pub rows: usize,
}

/// Rows whose named class had about the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The mean probability given to the named class.
    pub predicted: f64,
    /// The share of rows where it was right.
    pub observed: f64,
    /// How many rows.
    pub rows: usize,
}

/// Scores `probabilities` `[rows, classes]` against the true classes. `marginal`: the training shares of the classes.
///
/// Rows whose true class is not among the classes (such as missing ones) are left out. Probabilities below 10⁻⁶ count as
/// that in the log-loss.
///
/// ```
/// use pmm_eval::table::class_calibration;
/// let found = class_calibration(&[0.75, 0.25, 0.5, 0.5], &[0, 0], &[0.5, 0.5])?;
/// assert_eq!((found.accuracy, found.brier), (1.0, (0.125 + 0.5) / 2.0));
/// assert!((found.log_loss - (4.0f64 / 3.0 * 2.0).ln() / 2.0).abs() < 1e-12);
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn class_calibration(
    probabilities: &[f64],
    truth: &[u32],
    marginal: &[f64],
) -> Result<ClassCalibration, TableError> {
    let classes = marginal.len();
    enough("the predictions", truth.len(), 1)?;
    let expected = truth.len() * classes;
    if probabilities.len() != expected || classes == 0 {
        return Err(TableError::Shape { what: "probabilities", expected, found: probabilities.len() });
    }
    let rows: Vec<(&[f64], usize)> = probabilities
        .chunks_exact(classes)
        .zip(truth.iter().map(|&y| y as usize))
        .filter(|(_, y)| *y < classes)
        .collect();
    enough("the true classes", rows.len(), 1)?;
    let base: Vec<(&[f64], usize)> = rows.iter().map(|(_, y)| (marginal, *y)).collect();
    let reliability = reliability(&rows);
    let n = rows.len() as f64;
    let gap = |bin: &ReliabilityBin| (bin.predicted - bin.observed).abs() * bin.rows as f64 / n;
    Ok(ClassCalibration {
        accuracy: mean(&rows, hit),
        accuracy_baseline: mean(&base, hit),
        log_loss: mean(&rows, surprise),
        log_loss_baseline: mean(&base, surprise),
        brier: mean(&rows, brier),
        brier_baseline: mean(&base, brier),
        calibration_error: reliability.iter().map(gap).sum(),
        reliability,
        rows: rows.len(),
    })
}

fn mean(rows: &[(&[f64], usize)], score: impl Fn(&[f64], usize) -> f64) -> f64 {
    rows.iter().map(|(p, y)| score(p, *y)).sum::<f64>() / rows.len() as f64
}

/// The first class of the greatest probability.
fn named(p: &[f64]) -> usize {
    (0..p.len()).fold(0, |best, c| if p[c] > p[best] { c } else { best })
}

fn hit(p: &[f64], y: usize) -> f64 {
    if named(p) == y { 1.0 } else { 0.0 }
}

fn surprise(p: &[f64], y: usize) -> f64 {
    -p[y].max(FLOOR).ln()
}

fn brier(p: &[f64], y: usize) -> f64 {
    p.iter().enumerate().map(|(c, p)| (p - if c == y { 1.0 } else { 0.0 }).powi(2)).sum()
}

fn reliability(rows: &[(&[f64], usize)]) -> Vec<ReliabilityBin> {
    let mut bins = [(0.0, 0.0, 0_usize); BINS];
    for (p, y) in rows {
        let top = p[named(p)];
        let bin = &mut bins[((top * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + top, bin.1 + hit(p, *y), bin.2 + 1);
    }
    let filled = bins.iter().filter(|bin| bin.2 > 0);
    let bin = |&(sum, hits, rows): &(f64, f64, usize)| ReliabilityBin {
        predicted: sum / rows as f64,
        observed: hits / rows as f64,
        rows,
    };
    filled.map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sklearn.metrics.log_loss([0, 1, 2, 1], P)` = 0.675020507863 for the rows below; accuracy 3/4.
    #[test]
    fn figures_are_scikit_learns() {
        let p = [0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.3, 0.3, 0.4, 0.5, 0.3, 0.2];
        let found = class_calibration(&p, &[0, 1, 2, 1], &[0.25, 0.5, 0.25]).unwrap();
        assert!((found.log_loss - 0.675_020_507_863).abs() < 1e-9 && found.accuracy == 0.75, "{found:?}");
        assert_eq!(found.accuracy_baseline, 0.5);
        assert!((found.log_loss_baseline - 1.5 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(found.reliability.iter().map(|bin| bin.rows).sum::<usize>(), 4);
    }

    #[test]
    fn missing_truths_are_left_out_and_misfits_refused() {
        let found = class_calibration(&[1.0, 0.0, 0.0, 1.0], &[0, u32::MAX], &[0.5, 0.5]).unwrap();
        assert_eq!((found.rows, found.log_loss), (1, 0.0));
        assert!(matches!(class_calibration(&[1.0], &[0], &[0.5, 0.5]), Err(TableError::Shape { .. })));
        assert!(matches!(class_calibration(&[1.0, 0.0], &[7], &[0.5, 0.5]), Err(TableError::Rows { .. })));
    }

    /// Forecasts of p that come true with share p lie on the diagonal.
    #[test]
    fn honest_forecasts_have_no_calibration_error() {
        let rows = 1000;
        let p: Vec<f64> = (0..rows).flat_map(|_| [0.7, 0.3]).collect();
        let truth: Vec<u32> = (0..rows).map(|i| u32::from(i % 10 >= 7)).collect();
        let found = class_calibration(&p, &truth, &[0.7, 0.3]).unwrap();
        assert!(found.calibration_error < 1e-9 && (found.brier - 0.42).abs() < 1e-9, "{found:?}");
    }
}
