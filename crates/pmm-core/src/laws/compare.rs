//! How draws are compared.

/// The largest gap between the distribution functions of two samples (Kolmogorov–Smirnov).
pub(super) fn largest_gap(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let share = |sorted: &[f64], x: f64| sorted.partition_point(|v| *v <= x) as f64 / sorted.len() as f64;
    a.iter().chain(&b).map(|&x| (share(&a, x) - share(&b, x)).abs()).fold(0.0, f64::max)
}

/// The gap that two samples of `n` from one law exceed with a probability of at most 10⁻⁷: P(gap > g) ≤ 2 exp(−n g²).
pub(super) fn allowed_gap(n: usize) -> f64 {
    ((2.0f64 / 1e-7).ln() / n as f64).sqrt()
}

/// The correlation of two columns; 0 where one is constant.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum::<f64>();
    let scale = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    if scale > 0.0 { sum(&|a, b| a * b) / scale } else { 0.0 }
}
