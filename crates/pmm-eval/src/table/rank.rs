//! Ranks, and what is made of them: correlation and the area under the ROC curve.

/// Ranks from 1, ties sharing their mean rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut out = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let tied = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]).count().max(1);
        let rank = start as f64 + (tied as f64 + 1.0) / 2.0;
        order[start..start + tied].iter().for_each(|&i| out[i] = rank);
        start += tied;
    }
    out
}

/// Pearson's correlation; 0 if a side does not vary.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (dx, dy) = (x - mean_a, y - mean_b);
        (ab, aa, bb) = (ab + dx * dy, aa + dx * dx, bb + dy * dy);
    }
    if aa > 0.0 && bb > 0.0 { (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The chance that a positive scores higher than a negative, ties counting half: (R − m(m + 1)/2)/(m n), with R the
/// rank sum of the m positives among n negatives.
pub(crate) fn auc(scores: &[f64], positive: &[bool]) -> f64 {
    let m = positive.iter().filter(|&&p| p).count() as f64;
    let n = scores.len() as f64 - m;
    let sum: f64 = ranks(scores).iter().zip(positive).filter(|(_, p)| **p).map(|(rank, _)| rank).sum();
    if m > 0.0 && n > 0.0 { (sum - m * (m + 1.0) / 2.0) / (m * n) } else { 0.5 }
}

/// The quantile of sorted values, interpolated as NumPy does: place q (n − 1) between neighbours.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q * last as f64;
    let low = (place.floor() as usize).min(last);
    let high = (low + 1).min(last);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// The finite values, ascending.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.rankdata([3, 1, 4, 1, 5, 3])` and `spearmanr` of it with `range(6)`.
    #[test]
    fn ranks_and_their_correlation_are_scipys() {
        let found = ranks(&[3.0, 1.0, 4.0, 1.0, 5.0, 3.0]);
        assert_eq!(found, [3.5, 1.5, 5.0, 1.5, 6.0, 3.5]);
        let rho = correlation(&found, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((rho - 0.294_244_943_168).abs() < 1e-9, "{rho}");
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }

    /// By hand: pairs (0.2 | 0.1, 0.4): 1 of 2; (0.4 | 0.1, 0.4): 1.5 of 2.
    #[test]
    fn auc_counts_ties_half() {
        assert_eq!(auc(&[0.1, 0.4, 0.2, 0.4], &[false, false, true, true]), 2.5 / 4.0);
        assert_eq!(auc(&[1.0], &[true]), 0.5);
    }

    /// `numpy.quantile([1, 2, 4, 8], [0.05, 0.5, 0.9])`.
    #[test]
    fn quantiles_are_numpys() {
        let found = [0.05, 0.5, 0.9].map(|q| quantile(&[1.0, 2.0, 4.0, 8.0], q));
        for (a, b) in found.iter().zip([1.15, 3.0, 6.8]) {
            assert!((a - b).abs() < 1e-12, "{found:?}");
        }
        assert!(quantile(&[], 0.5).is_nan() && quantile(&[7.0], 0.9) == 7.0);
    }
}
