//! Counting values into bars.

/// The density of `values` in `bins` equal bins over `range`: bars (from, to, height) whose areas sum to the
/// share of values that lie within the range.
///
/// Values that are not finite count as outside. An empty range, no bins or no values give no bars.
///
/// ```
/// let bars = pmm_eval::chart::histogram(&[0.1, 0.2, 0.9, 7.0], (0.0, 1.0), 2);
/// assert_eq!(bars, [(0.0, 0.5, 1.0), (0.5, 1.0, 0.5)]);
/// ```
pub fn histogram(values: &[f64], range: (f64, f64), bins: usize) -> Vec<(f64, f64, f64)> {
    let (low, high) = range;
    let width = (high - low) / bins as f64;
    if values.is_empty() || !(width.is_finite() && width > 0.0) {
        return Vec::new();
    }
    let mut counts = vec![0_usize; bins];
    for &value in values.iter().filter(|&&value| value >= low && value <= high) {
        counts[(((value - low) / width) as usize).min(bins - 1)] += 1;
    }
    let edge = |i: usize| if i == bins { high } else { low + i as f64 * width };
    let height = |count: usize| count as f64 / (values.len() as f64 * width);
    counts.into_iter().enumerate().map(|(i, count)| (edge(i), edge(i + 1), height(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_sum_to_the_share_inside() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.01).collect();
        let inside = values.iter().filter(|&&v| (2.0..=7.0).contains(&v)).count() as f64 / 1000.0;
        let area: f64 = histogram(&values, (2.0, 7.0), 13).iter().map(|(a, b, h)| (b - a) * h).sum();
        assert!((area - inside).abs() < 1e-12, "{area} {inside}");
    }

    #[test]
    fn the_upper_edge_belongs_to_the_last_bin() {
        assert_eq!(histogram(&[1.0], (0.0, 1.0), 4)[3], (0.75, 1.0, 4.0));
    }

    #[test]
    fn unusable_input_gives_no_bars() {
        assert!(histogram(&[], (0.0, 1.0), 3).is_empty());
        assert!(histogram(&[1.0], (0.0, 1.0), 0).is_empty());
        assert!(histogram(&[1.0], (1.0, 1.0), 3).is_empty());
        assert!(histogram(&[1.0], (0.0, f64::INFINITY), 3).is_empty());
        assert_eq!(histogram(&[f64::NAN], (0.0, 1.0), 1), [(0.0, 1.0, 0.0)]);
    }
}
