//! Predictive draws against what came: sharp enough, and no surer than they may be?

use pmm_core::{Purpose, Streams};
use rayon::prelude::*;
use serde::Serialize;

use super::frame::{TableError, enough};
use super::rank::{quantile, sorted};

/// Bins of the PIT histogram.
const BINS: usize = 20;
/// Draws of the baseline forecast.
const MARGINAL: usize = 2_000;

/// How predictive draws fare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Continuous ranked probability score, the mean error of the whole predictive law in units of the column; 0 is best.
    pub crps: f64,
    /// The CRPS of a forecast that knows only the training values of the column.
    pub crps_baseline: f64,
    /// The share of values within the middle half of their draws. Interpolated quantiles of k draws lie a little inside those of
    /// their law, so perfect draws fall short of ½ too: see [`perfect_coverage`](Self::perfect_coverage).
    pub coverage50: f64,
    /// The share of values between the 5 % and 95 % quantiles of their draws.
    pub coverage90: f64,
    /// The mean width of that 90 % interval.
    pub width90: f64,
    /// The mean width of the 90 % interval of the training values.
    pub width90_baseline: f64,
    /// Twenty shares: where among its draws each value fell. All equal if calibrated; ∪ too sure, ∩ too timid.
    pub pit: Vec<f64>,
    /// Rows.
    pub rows: usize,
    /// Draws a row.
    pub draws: usize,
}

impl Calibration {
    /// The coverage that perfect draws show in an interval of share `q`: q (k − 1)/(k + 1) for k draws.
    pub fn perfect_coverage(&self, q: f64) -> f64 {
        q * (self.draws as f64 - 1.0) / (self.draws as f64 + 1.0)
    }
}

/// Scores `draws` `[rows, k]` (k ≥ 2) of a column against its true values.
///
/// CRPS in its fair form, unbiased for any k: mean |xᵢ − y| − Σᵢ<ⱼ |xᵢ − xⱼ|/(k (k − 1)). The place of a
/// value among its draws, (below + U (equal + 1))/(k + 1), is uniform if draws and value have the same law; U comes
/// from the stream of (seed, row). Rows without a true value are left out. `marginal`: the training values.
///
/// ```
/// use pmm_eval::table::calibration;
/// let found = calibration(&[0.0, 1.0, 0.0, 1.0], &[0.5, 3.0], &[0.0, 1.0], 0)?;
/// assert_eq!((found.crps, found.crps_baseline, found.coverage90), (1.0, 1.0, 0.5));
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn calibration(
    draws: &[f64],
    truth: &[f64],
    marginal: &[f64],
    seed: u64,
) -> Result<Calibration, TableError> {
    enough("the predictions", truth.len(), 1)?;
    let k = draws.len() / truth.len();
    if k < 2 || k * truth.len() != draws.len() {
        let expected = k.max(2) * truth.len();
        return Err(TableError::Shape { what: "draws", expected, found: draws.len() });
    }
    let known: Vec<usize> = (0..truth.len()).filter(|&i| truth[i].is_finite()).collect();
    enough("the true values", known.len(), 1)?;
    let streams = Streams::new(seed);
    let one = |&i: &usize| {
        Row::of(&draws[i * k..][..k], truth[i], streams.stream(Purpose::CALIBRATION, 0, i as u64).unit())
    };
    let rows: Vec<Row> = known.par_iter().map(one).collect();
    let baseline = thinned(marginal, seed);
    enough("the training values", baseline.len(), 2)?;
    let mean = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / rows.len() as f64;
    let base: Vec<f64> = known.par_iter().map(|&i| crps_sorted(&baseline, truth[i])).collect();
    Ok(Calibration {
        crps: mean(&|row| row.crps),
        crps_baseline: base.iter().sum::<f64>() / base.len() as f64,
        coverage50: mean(&|row| f64::from(u8::from(row.in50))),
        coverage90: mean(&|row| f64::from(u8::from(row.in90))),
        width90: mean(&|row| row.width90),
        width90_baseline: quantile(&baseline, 0.95) - quantile(&baseline, 0.05),
        pit: shares(rows.iter().map(|row| row.pit)),
        rows: rows.len(),
        draws: k,
    })
}

/// One row's figures.
struct Row {
    crps: f64,
    in50: bool,
    in90: bool,
    width90: f64,
    pit: f64,
}

impl Row {
    fn of(draws: &[f64], y: f64, u: f64) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let within = |low, high| quantile(&sorted, low) <= y && y <= quantile(&sorted, high);
        let below = sorted.partition_point(|x| *x < y);
        let equal = sorted.partition_point(|x| *x <= y) - below;
        Self {
            crps: crps_sorted(&sorted, y),
            in50: within(0.25, 0.75),
            in90: within(0.05, 0.95),
            width90: quantile(&sorted, 0.95) - quantile(&sorted, 0.05),
            pit: (below as f64 + u * (equal as f64 + 1.0)) / (sorted.len() as f64 + 1.0),
        }
    }
}

/// The fair CRPS of sorted draws, for which Σᵢ<ⱼ |xᵢ − xⱼ| = Σ (2i − k − 1) xᵢ with i from 1.
fn crps_sorted(sorted: &[f64], y: f64) -> f64 {
    let k = sorted.len() as f64;
    let near = sorted.iter().map(|x| (x - y).abs()).sum::<f64>() / k;
    let weighted = |(i, x): (usize, &f64)| (2.0 * (i as f64 + 1.0) - k - 1.0) * x;
    near - sorted.iter().enumerate().map(weighted).sum::<f64>() / (k * (k - 1.0))
}

/// The training values, or some of them, sorted.
fn thinned(marginal: &[f64], seed: u64) -> Vec<f64> {
    let rows = super::frame::some_rows(marginal.len(), MARGINAL, seed, 6);
    sorted(rows.into_iter().map(|i| marginal[i]))
}

fn shares(places: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut counts = [0.0; BINS];
    let mut total = 0.0;
    for place in places {
        counts[((place * BINS as f64) as usize).min(BINS - 1)] += 1.0;
        total += 1.0;
    }
    counts.iter().map(|count| count / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(rows: usize, k: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let streams = Streams::new(seed);
        let draw = |i: usize| {
            let mut stream = streams.stream(Purpose::DATA, 0, i as u64);
            (stream.normal(), (0..k).map(|_| stream.normal()).collect::<Vec<f64>>())
        };
        let (truth, draws): (Vec<f64>, Vec<Vec<f64>>) = (0..rows).map(draw).unzip();
        (draws.concat(), truth)
    }

    /// The CRPS of N(0, 1) at its own values is 1/√π = .5642. A row's score has a standard deviation of about .42
    /// (and .1 from 50 draws), so 20,000 rows know it to .003: 6 standard errors are .018. Coverage from 50 draws is
    /// .9·49/51 and .5·49/51, sd below .0036; PIT shares are .05 ± .0015.
    #[test]
    fn normal_draws_against_the_closed_form() {
        let (draws, truth) = normals(20_000, 50, 1);
        let found = calibration(&draws, &truth, &truth, 0).unwrap();
        assert!((found.crps - 1.0 / std::f64::consts::PI.sqrt()).abs() < 0.018, "{}", found.crps);
        assert!(
            (found.crps_baseline - 1.0 / std::f64::consts::PI.sqrt()).abs() < 0.025,
            "{}",
            found.crps_baseline
        );
        assert!((found.coverage90 - found.perfect_coverage(0.9)).abs() < 0.015, "{found:?}");
        assert!((found.coverage50 - found.perfect_coverage(0.5)).abs() < 0.022, "{found:?}");
        assert!(found.pit.iter().all(|share| (share - 0.05).abs() < 0.0095), "{:?}", found.pit);
        assert!((found.width90 - 3.11).abs() < 0.05, "{}", found.width90);
    }

    /// First row: (1 + 0 + 2)/3 − (1 + 3 + 2)/6 = 0; second row: 3 − 0. The mean is 1.5.
    #[test]
    fn small_cases_by_hand() {
        let found = calibration(&[0.0, 1.0, 3.0, 2.0, 2.0, 2.0], &[1.0, 5.0], &[0.0, 1.0], 0).unwrap();
        assert!((found.crps - 1.5).abs() < 1e-12, "{found:?}");
        assert_eq!((found.rows, found.draws, found.coverage90), (2, 3, 0.5));
    }

    /// All values tied: the place is still uniform, since it is drawn among the ties.
    #[test]
    fn ties_are_spread_at_random() {
        let found = calibration(&vec![3.0; 8_000 * 10], &vec![3.0; 8_000], &[3.0, 3.0], 5).unwrap();
        assert!(found.pit.iter().all(|share| (share - 0.05).abs() < 0.015), "{:?}", found.pit);
        assert_eq!((found.crps, found.coverage50), (0.0, 1.0));
    }

    #[test]
    fn misfits_are_refused_and_missing_truths_left_out() {
        assert!(matches!(calibration(&[1.0; 3], &[1.0; 2], &[1.0; 2], 0), Err(TableError::Shape { .. })));
        assert!(matches!(calibration(&[], &[], &[1.0; 2], 0), Err(TableError::Rows { .. })));
        let found = calibration(&[0.0, 1.0, 0.0, 1.0], &[0.5, f64::NAN], &[0.0, 1.0], 0).unwrap();
        assert_eq!(found.rows, 1);
    }
}
