//! How far samples are from a target.

use crate::purpose::Purpose;
use crate::rng::Streams;

/// Total variation ½ Σ |p − q| between two laws on the same finite set.
///
/// ```
/// assert!((pmm_core::total_variation(&[0.5, 0.5], &[0.75, 0.25]) - 0.25).abs() < 1e-12);
/// ```
pub fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
}

/// The total variation that `n` exact draws from a law show against it on average: less than this cannot be seen.
pub fn total_variation_noise(law: &[f64], n: usize) -> f64 {
    let spread = |p: &f64| (2.0 * p * (1.0 - p) / (std::f64::consts::PI * n as f64)).sqrt();
    0.5 * law.iter().map(spread).sum::<f64>()
}

/// The standard error of the total variation between the shares of `n` draws and a law: that of the signed sum
/// ½ Σ ±(p − q), with the signs that the shares show.
pub fn total_variation_error(shares: &[f64], law: &[f64], n: usize) -> f64 {
    let signed: f64 = shares.iter().zip(law).map(|(p, q)| p * (p - q).signum()).sum();
    0.5 * ((1.0 - signed * signed) / n as f64).max(0.0).sqrt()
}

/// Wasserstein distance W₁ between two samples of numbers, of any sizes: the area between their quantile functions.
///
/// ```
/// assert_eq!(pmm_core::wasserstein(&[0.0, 2.0], &[1.0]), 1.0);
/// ```
pub fn wasserstein(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let (mut i, mut j, mut done, mut area) = (0, 0, 0.0, 0.0);
    while i < a.len() && j < b.len() {
        let (end_a, end_b) = ((i + 1) as f64 / a.len() as f64, (j + 1) as f64 / b.len() as f64);
        let end = end_a.min(end_b);
        area += (end - done) * (a[i] - b[j]).abs();
        done = end;
        i += usize::from(end_a <= end);
        j += usize::from(end_b <= end);
    }
    area
}

/// Sliced Wasserstein distance: the mean of W₁ over random directions of two samples of points, each `[n, dimension]`.
pub fn sliced_wasserstein(
    a: &[f32],
    b: &[f32],
    dimension: usize,
    directions: usize,
    streams: &Streams,
) -> f64 {
    let mut rng = streams.stream(Purpose::DATA, 0, 0);
    let mut total = 0.0;
    for _ in 0..directions {
        let direction: Vec<f64> = (0..dimension).map(|_| rng.normal()).collect();
        let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
        let shadow = |points: &[f32]| -> Vec<f64> {
            let project =
                |x: &[f32]| x.iter().zip(&direction).map(|(x, d)| f64::from(*x) * d).sum::<f64>() / norm;
            points.chunks_exact(dimension).map(project).collect()
        };
        total += wasserstein(&shadow(a), &shadow(b));
    }
    total / directions as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the area between the two empirical distribution functions, integrated piece by piece.
        #[test]
        fn wasserstein_is_the_area_between_cdfs(
            a in prop::collection::vec(-10.0..10.0f64, 1..20),
            b in prop::collection::vec(-10.0..10.0f64, 1..20),
        ) {
            let mut cuts: Vec<f64> = a.iter().chain(&b).copied().collect();
            cuts.sort_by(f64::total_cmp);
            let cdf = |sample: &[f64], x: f64| sample.iter().filter(|v| **v <= x).count() as f64 / sample.len() as f64;
            let area: f64 = cuts.windows(2).map(|w| (w[1] - w[0]) * (cdf(&a, w[0]) - cdf(&b, w[0])).abs()).sum();
            prop_assert!((wasserstein(&a, &b) - area).abs() < 1e-9);
        }
    }

    /// Against 400 runs of 1,000 exact draws: the mean within 6 standard errors.
    #[test]
    fn noise_is_what_exact_draws_show() {
        let law = [0.5, 0.3, 0.2];
        let one = |row: u64| {
            let mut rng = Streams::new(2).stream(Purpose::DATA, 0, row);
            let mut shares = [0.0; 3];
            (0..1000).for_each(|_| shares[crate::draw::categorical(&law, &mut rng)] += 1e-3);
            total_variation(&shares, &law)
        };
        let found = crate::MonteCarlo::of(&(0..400).map(one).collect::<Vec<f64>>());
        let expected = total_variation_noise(&law, 1000);
        assert!((found.mean - expected).abs() < 6.0 * found.standard_error, "{found:?} {expected}");
        // Far from the law, the error is that of a share: √(p (1 − p)/n).
        let error = total_variation_error(&[0.9, 0.05, 0.05], &law, 1000);
        assert!((error - (0.9f64 * 0.1 / 1000.0).sqrt()).abs() < 1e-12);
    }

    /// A shift by δ in the plane has a shadow of length |cos| δ, 2/π on average.
    #[test]
    fn a_shift_slices_to_two_over_pi() {
        let a: Vec<f32> = (0..100).flat_map(|i| [i as f32 * 0.01, 0.5]).collect();
        let b: Vec<f32> = a.iter().map(|x| x + 1.0).collect();
        let d = sliced_wasserstein(&a, &b, 2, 20_000, &Streams::new(1));
        assert!((d - 2f64.sqrt() * 2.0 / std::f64::consts::PI).abs() < 0.02, "{d}");
    }
}
