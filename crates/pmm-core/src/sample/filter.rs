//! Temperature, top-k and top-p: how logits become a law to draw from.

use crate::error::ParameterError;

/// How logits become a law to draw from: temperature, then top-k, then top-p. The default changes nothing and is exact.
///
/// ```
/// use pmm_core::Filter;
/// let mut law = [0.0; 4];
/// let filter = Filter::new(1.0, Some(2), None)?;
/// filter.law(&[0.0, 2f32.ln(), 3f32.ln(), -1.0], &mut law);
/// assert!((law[2] - 0.6).abs() < 1e-6 && law[0] == 0.0 && law[3] == 0.0);
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    temperature: f64,
    top_k: Option<usize>,
    top_p: Option<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: None }
    }
}

impl Filter {
    /// Temperature ≥ 0 (0 takes the likeliest token), the k ≥ 1 likeliest tokens, and of these the fewest that hold a share
    /// of 0 < p ≤ 1.
    pub fn new(temperature: f64, top_k: Option<usize>, top_p: Option<f64>) -> Result<Self, ParameterError> {
        let warm = temperature >= 0.0 && temperature.is_finite();
        ParameterError::unless(warm, "the temperature", "at least 0 and finite", temperature)?;
        let (k, p) = (top_k.unwrap_or(1), top_p.unwrap_or(1.0));
        ParameterError::unless(k >= 1, "top-k", "at least 1", k as f64)?;
        ParameterError::unless(p > 0.0 && p <= 1.0, "top-p", "above 0 and at most 1", p)?;
        Ok(Self { temperature, top_k, top_p })
    }

    /// Writes the law (it sums to 1) for these logits.
    pub fn law(&self, logits: &[f32], law: &mut [f64]) {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (p, &logit) in law.iter_mut().zip(logits) {
            let below = f64::from(logit) - f64::from(top);
            *p = if below == 0.0 { 1.0 } else { (below / self.temperature).exp() };
        }
        self.keep(law);
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
    }

    /// Zeroes what top-k and top-p leave out; of equally likely tokens the first is kept.
    fn keep(&self, law: &mut [f64]) {
        if self.top_k.is_none() && self.top_p.is_none() {
            return;
        }
        let likelier = |&i: &usize, &j: &usize| law[j].total_cmp(&law[i]).then(i.cmp(&j));
        let mut order: Vec<usize> = (0..law.len()).collect();
        let mut kept = self.top_k.unwrap_or(law.len()).min(law.len());
        if kept < order.len() {
            order.select_nth_unstable_by(kept - 1, likelier);
        }
        order[..kept].sort_unstable_by(likelier);
        if let Some(share) = self.top_p {
            let total: f64 = order[..kept].iter().map(|&i| law[i]).sum();
            let mut sum = 0.0;
            let enough = order[..kept].iter().position(|&i| {
                sum += law[i];
                sum >= share * total
            });
            kept = enough.map_or(kept, |last| last + 1);
        }
        order[kept..].iter().for_each(|&i| law[i] = 0.0);
    }
}
