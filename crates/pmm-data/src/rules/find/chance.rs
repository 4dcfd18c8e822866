//! How likely something is by chance, in logarithms.

/// ln of an upper bound of P(X ≥ k), X ~ Binomial(n, p): Chernoff's exp(−n KL(k/n ‖ p)). It also bounds draws without
/// replacement and sums of unequal chances with mean p (Hoeffding).
///
/// At k = n it is exact: n ln p.
pub(crate) fn ln_at_least(k: f64, n: f64, p: f64) -> f64 {
    if n <= 0.0 || k <= n * p { 0.0 } else { -n * divergence(k / n, p) }
}

/// ln of an upper bound of P(X ≤ k).
pub(crate) fn ln_at_most(k: f64, n: f64, p: f64) -> f64 {
    if n <= 0.0 || k >= n * p { 0.0 } else { -n * divergence(k / n, p) }
}

/// q ln(q/p) + (1−q) ln((1−q)/(1−p)).
fn divergence(q: f64, p: f64) -> f64 {
    let part = |a: f64, b: f64| if a <= 0.0 { 0.0 } else { a * (a / b).ln() };
    part(q, p) + part(1.0 - q, 1.0 - p)
}

/// ln of the chance that `a` rows of one kind and `b` rows of another, among `n`, have none in common:
/// C(n−a, b) / C(n, b).
pub(crate) fn ln_disjoint(n: f64, a: f64, b: f64) -> f64 {
    if a + b > n {
        return f64::NEG_INFINITY;
    }
    let ln = |x: f64| libm::lgamma(x + 1.0);
    ln(n - a) + ln(n - b) - ln(n) - ln(n - a - b)
}

/// A share that was counted, less or more three standard errors: what a test may rely on.
pub(crate) fn cautious(count: f64, of: f64) -> f64 {
    let share = (count + 1.0) / (of + 1.0);
    (share + 3.0 * (share * (1.0 - share) / of.max(1.0)).sqrt()).min(1.0)
}

/// Which of several tests may be believed at a family-wise error rate, by Tarone's rule: a test whose least possible p-value is
/// above the threshold can never be a false finding, so it is not counted. Given ln of all least p-values, ln of the threshold.
pub(crate) fn ln_threshold(mut least: Vec<f64>, error_rate: f64) -> f64 {
    least.sort_by(f64::total_cmp);
    // The largest threshold rate/k such that at most k tests can reach it.
    let mut k = 1;
    loop {
        let threshold = (error_rate / k as f64).ln();
        let reached = least.partition_point(|&ln| ln <= threshold);
        if reached <= k {
            return threshold;
        }
        k = k.max(reached.min(k * 2)).max(k + 1);
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    #[test]
    fn bounds_are_above_the_exact_tails_and_near_them() {
        for (k, n, p) in [(9_u64, 10_u64, 0.5), (40, 100, 0.2), (100, 100, 0.3), (700, 1000, 0.6)] {
            let exact = Binomial::new(p, n).unwrap().sf(k - 1).ln();
            let bound = ln_at_least(k as f64, n as f64, p);
            assert!(bound >= exact - 1e-9 && bound < exact + 4.0, "{k} {n} {p}: {exact} {bound}");
            let mirrored = ln_at_most((n - k) as f64, n as f64, 1.0 - p);
            assert!((bound - mirrored).abs() < 1e-9);
        }
        assert_eq!(ln_at_least(1.0, 10.0, 0.5), 0.0);
    }

    #[test]
    fn disjoint_sets() {
        // Two of four cards, twice: C(2, 2) / C(4, 2) = 1/6.
        assert!((ln_disjoint(4.0, 2.0, 2.0).exp() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(ln_disjoint(4.0, 3.0, 2.0), f64::NEG_INFINITY);
    }

    #[test]
    fn tests_that_cannot_reach_the_threshold_do_not_count() {
        let least: Vec<f64> = [1e-9, 1e-8, 0.1, 0.2, 0.3].iter().map(|p: &f64| p.ln()).collect();
        assert!((ln_threshold(least, 0.01).exp() - 0.005).abs() < 1e-12);
        assert!((ln_threshold(vec![-50.0; 10], 0.01).exp() - 0.001).abs() < 1e-12);
        assert!((ln_threshold(Vec::new(), 0.01).exp() - 0.01).abs() < 1e-12);
    }
}
