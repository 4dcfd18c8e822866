//! The upper tail of a heavy-tailed column, beyond the largest value that was seen.

use serde::{Deserialize, Serialize};

/// The law of values above the largest one: generalised Pareto, P(y − max > e) ∝ (1 + ξ e/σ)^(−1/ξ).
///
/// Exceedances over a high threshold have such a law in the limit (Pickands, Balkema and de Haan), with a shape ξ that does not
/// depend on the threshold. It is fitted to the largest tenth of the values, as Zhang and Stephens (2009) do: θ = ξ/σ is averaged
/// over a grid by its profile likelihood, and ξ = mean log(1 + θ e), drawn a little towards ½ where exceedances are few.
///
/// ```
/// use pmm_data::Tail;
/// // Quantiles of a Pareto law, P(y > v) = v^(−2): ξ = ½.
/// let values: Vec<f64> = (0..2000).map(|i| (1.0 - (i as f64 + 0.5) / 2000.0).powf(-0.5)).collect();
/// let tail = Tail::fit(&values).unwrap();
/// assert!((tail.shape - 0.5).abs() < 0.05);
/// // Half as often exceeded: √2 times as large.
/// let largest = values[1999];
/// assert!((tail.excess(0.5) / (largest * (2f64.sqrt() - 1.0)) - 1.0).abs() < 0.1);
/// assert!((tail.share(tail.excess(0.3)) - 0.3).abs() < 1e-12);
/// // An exponential law needs none.
/// let light: Vec<f64> = (0..2000).map(|i| -(1.0 - (i as f64 + 0.5) / 2000.0f64).ln()).collect();
/// assert_eq!(Tail::fit(&light), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// ξ, above 0.
    pub shape: f64,
    /// σ, of exceedances over the largest value.
    pub scale: f64,
}

/// Share of the values that are fitted, and how many at least and at most.
const TENTH: usize = 10;
const FEWEST: usize = 30;
const MOST: usize = 2000;
/// Lighter tails than this end soon enough by themselves; heavier ones have no mean.
const LEAST_SHAPE: f64 = 0.1;
const MOST_SHAPE: f64 = 0.9;
/// A draw goes no further than to where a table so many times as long would be expected to end: a few exceedances tell no more.
const REACH: f64 = 50.0;
/// Exceedances that say ½, beside those that were seen.
const PRIOR: (f64, f64) = (10.0, 0.5);

impl Tail {
    /// The tail of increasing values, if it is clearly heavy: by more than one standard error of the shape.
    pub fn fit(values: &[f64]) -> Option<Self> {
        let count = (values.len() / TENTH).min(MOST);
        if count < FEWEST {
            return None;
        }
        let (below, above) = values.split_at(values.len() - count);
        let threshold = *below.last()?;
        let excesses: Vec<f64> = above.iter().map(|value| value - threshold).collect();
        let (shape, scale) = generalised_pareto(&excesses)?;
        let error = (1.0 + shape) / (count as f64).sqrt();
        if shape - error < LEAST_SHAPE {
            return None;
        }
        let shape = shape.min(MOST_SHAPE);
        // The same law from the rank of the largest value on, of which half a value is expected beyond.
        let scale = scale * (2.0 * count as f64).powf(shape);
        (scale.is_finite() && scale > 0.0).then_some(Self { shape, scale })
    }

    /// How far above the largest value a share of the exceedances is.
    pub fn excess(&self, share: f64) -> f64 {
        self.scale * (share.clamp(1.0 / REACH, 1.0).powf(-self.shape) - 1.0) / self.shape
    }

    /// The share of exceedances beyond an excess; 0 beyond the reach.
    pub fn share(&self, excess: f64) -> f64 {
        let share = (1.0 + self.shape * excess.max(0.0) / self.scale).powf(-1.0 / self.shape);
        if share * REACH < 1.0 - 1e-9 { 0.0 } else { share }
    }

    /// −d share/d excess.
    pub fn density(&self, excess: f64) -> f64 {
        if self.share(excess) == 0.0 {
            return 0.0;
        }
        (1.0 + self.shape * excess.max(0.0) / self.scale).powf(-1.0 / self.shape - 1.0) / self.scale
    }

    /// Whether its numbers make a law.
    pub(super) fn is_sound(&self) -> bool {
        self.shape > 0.0 && self.scale > 0.0 && self.shape.is_finite() && self.scale.is_finite()
    }
}

/// ξ and σ of increasing positive exceedances; none if they do not spread.
fn generalised_pareto(excesses: &[f64]) -> Option<(f64, f64)> {
    let (n, largest) = (excesses.len() as f64, *excesses.last()?);
    let quarter = excesses[(n / 4.0 + 0.5) as usize - 1];
    if !(quarter > 0.0 && largest.is_finite()) {
        return None;
    }
    let points = 30 + n.sqrt() as usize;
    let shape_at = |theta: f64| excesses.iter().map(|excess| (-theta * excess).ln_1p()).sum::<f64>() / n;
    // θ here is −ξ/σ, below 1/largest.
    let theta =
        |j: usize| 1.0 / largest + (1.0 - (points as f64 / (j as f64 + 0.5)).sqrt()) / (3.0 * quarter);
    let thetas: Vec<f64> = (0..points).map(theta).filter(|theta| *theta != 0.0).collect();
    let likelihood = |theta: &f64| {
        let shape = shape_at(*theta);
        n * ((-theta / shape).ln() - shape - 1.0)
    };
    let logs: Vec<f64> = thetas.iter().map(likelihood).collect();
    let most = logs.iter().copied().filter(|log| log.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> =
        logs.iter().map(|log| if log.is_finite() { (log - most).exp() } else { 0.0 }).collect();
    let total: f64 = weights.iter().sum();
    let theta = thetas.iter().zip(&weights).map(|(theta, weight)| theta * weight).sum::<f64>() / total;
    let shape = shape_at(theta);
    let scale = -shape / theta;
    let drawn = (n * shape + PRIOR.0 * PRIOR.1) / (n + PRIOR.0);
    (drawn.is_finite() && scale.is_finite() && scale > 0.0).then_some((drawn, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pareto(n: usize, shape: f64) -> Vec<f64> {
        (0..n).map(|i| (1.0 - (i as f64 + 0.5) / n as f64).powf(-shape)).collect()
    }

    /// Quantiles of Pareto laws of several shapes: found to .06, and the excess that a tenth of the exceedances have to a fifth.
    #[test]
    fn finds_the_shape_of_pareto_laws() {
        for shape in [0.3, 0.5, 0.8] {
            let values = pareto(5000, shape);
            let tail = Tail::fit(&values).unwrap();
            assert!((tail.shape - shape).abs() < 0.06, "{shape}: {tail:?}");
            let right = (0.1 * 0.5 / 5000f64).powf(-shape) - (0.5 / 5000f64).powf(-shape);
            assert!((tail.excess(0.1) / right - 1.0).abs() < 0.2, "{shape}: {} {right}", tail.excess(0.1));
        }
    }

    #[test]
    fn light_few_and_constant_values_have_none() {
        let uniform: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(Tail::fit(&uniform), None);
        assert_eq!(Tail::fit(&pareto(200, 0.5)), None, "20 exceedances are too few");
        assert_eq!(Tail::fit(&[3.0; 1000]), None);
        assert_eq!(Tail::fit(&[]), None);
    }

    /// Neither cut off nor absurd: the farthest draw is where a table fifty times as long would end.
    #[test]
    fn draws_end_where_nothing_is_known() {
        let tail = Tail { shape: 0.5, scale: 2.0 };
        assert_eq!(tail.excess(0.0), tail.excess(1.0 / 50.0));
        assert_eq!(tail.excess(1.0), 0.0);
        assert_eq!((tail.share(1e9), tail.density(1e9)), (0.0, 0.0));
        let (e, d) = (3.0, 1e-5);
        assert!((tail.density(e) - (tail.share(e - d) - tail.share(e + d)) / (2.0 * d)).abs() < 1e-8);
    }
}
