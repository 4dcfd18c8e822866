//! Scalar draws whose parameter changes from draw to draw: Poisson, Gamma, Bernoulli, one of several.
//!
//! The distributions of `rand_distr` prepare constants once for many draws; here every coordinate has its own
//! parameter, and preparing dominates: measured per draw with a new parameter each time, `rand_distr` took 34–88 ns for
//! a Poisson and 33–114 ns for a Gamma deviate, about what NumPy takes. Those below take a half to a third of that
//! (`bench/core`). Where a comparison with a uniform draw decides, its first 8 bits nearly always suffice; the rest of
//! the bits are drawn only when they do not, so the law is exact.

use crate::rng::Stream;

/// A uniform draw on [0, 1) whose bits are revealed as needed: 8 at first, 61 in the end.
struct LazyUnit {
    byte: u8,
}

impl LazyUnit {
    #[inline]
    fn new(rng: &mut Stream) -> Self {
        Self { byte: rng.byte() }
    }

    /// Certainly at most `bound`, judging by the first 8 bits.
    #[inline]
    fn surely_below(&self, bound: f64) -> bool {
        f64::from(self.byte) + 1.0 <= bound * 256.0
    }

    #[inline]
    fn value(&self, rng: &mut Stream) -> f64 {
        (f64::from(self.byte) + rng.unit()) / 256.0
    }
}

/// True with probability `p`, exactly for any f64: bits of the uniform are compared eight at a time.
#[inline]
pub(crate) fn bernoulli(p: f64, rng: &mut Stream) -> bool {
    let mut rest = p * 256.0;
    loop {
        let (byte, digit) = (u32::from(rng.byte()), rest as u32);
        if byte != digit {
            return byte < digit;
        }
        rest = (rest - f64::from(digit)) * 256.0;
        if rest == 0.0 {
            return false;
        }
    }
}

/// A Poisson draw of mean `lambda` ≥ 0, as an f64 (exact integers to 2⁵³): inversion below 10, above it Hörmann's
/// transformed rejection (PTRS, 1993) with a log-probability that stays accurate for means of 10⁹ and more.
#[inline]
pub(crate) fn poisson(lambda: f64, rng: &mut Stream) -> f64 {
    if lambda >= 10.0 { poisson_by_rejection(lambda, rng) } else { poisson_by_inversion(lambda, rng) }
}

#[inline]
fn poisson_by_inversion(lambda: f64, rng: &mut Stream) -> f64 {
    let mut u = rng.unit();
    let mut p = (-lambda).exp();
    let mut k = 0;
    // The mass left beyond 63 is under 1e-30 for a mean of 10.
    while u >= p && k < 63 {
        u -= p;
        k += 1;
        p *= lambda * RECIPROCALS[k];
    }
    k as f64
}

const RECIPROCALS: [f64; 64] = {
    let mut table = [0.0; 64];
    let mut k = 1;
    while k < 64 {
        table[k] = 1.0 / k as f64;
        k += 1;
    }
    table
};

#[inline]
fn poisson_by_rejection(lambda: f64, rng: &mut Stream) -> f64 {
    let b = 0.931 + 2.53 * lambda.sqrt();
    let a = -0.059 + 0.02483 * b;
    let v_r = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = rng.unit() - 0.5;
        let v = LazyUnit::new(rng);
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + lambda + 0.43).floor();
        if us >= 0.07 && v.surely_below(v_r) {
            return k;
        }
        let v = v.value(rng);
        if us >= 0.07 && v <= v_r {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
        if (v * inv_alpha / (a / (us * us) + b)).ln() <= ln_poisson(k, lambda) {
            return k;
        }
    }
}

/// log of the Poisson probability of `k` at mean `lambda`, without cancellation at large values (Loader 2000).
pub(crate) fn ln_poisson(k: f64, lambda: f64) -> f64 {
    if k == 0.0 {
        return -lambda;
    }
    let e = (k - lambda) / lambda;
    let deviance = lambda * ((1.0 + e) * e.ln_1p() - e);
    -deviance - 0.5 * (std::f64::consts::TAU * k).ln() - stirling_error(k)
}

/// log k! − log of Stirling's formula, for k ≥ 1; below 16 from the factorial itself.
fn stirling_error(k: f64) -> f64 {
    if k < 16.0 {
        let ln_factorial: f64 = (2..=k as u32).map(f64::from).product::<f64>().ln();
        return ln_factorial - (k * k.ln() - k + 0.5 * (std::f64::consts::TAU * k).ln());
    }
    let r = 1.0 / (k * k);
    (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / k
}

/// A Gamma draw of the given shape ≥ 0 and scale 1: Marsaglia and Tsang (2000) from shape 1 on, Ahrens and Dieter's GS
/// (1974) below. Draws under 1e-308 (common for shapes below 0.01) come out as 0.
#[inline]
pub(crate) fn gamma(shape: f64, rng: &mut Stream) -> f64 {
    if shape >= 1.0 {
        gamma_from_one(shape, rng)
    } else if shape >= 0.2 {
        gamma_from_one(shape + 1.0, rng) * (-rng.exponential() / shape).exp()
    } else if shape > 0.0 {
        gamma_near_zero(shape, rng)
    } else {
        0.0
    }
}

/// With y = c x, the logarithm of the probability to accept is −c² x⁴ Σₙ (−y)ⁿ/(4 + n)/3, so this probability is at least
/// 1 − c² x⁴/6 where y ≥ −½: a far tighter squeeze than the usual one, and seldom missed.
#[inline]
fn gamma_from_one(shape: f64, rng: &mut Stream) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c2 = 1.0 / (9.0 * d);
    let c = c2.sqrt();
    loop {
        let x = rng.normal();
        let root = 1.0 + c * x;
        let v = root * root * root;
        let u = LazyUnit::new(rng);
        if root >= 0.5 && u.surely_below(1.0 - c2 / 6.0 * (x * x) * (x * x)) {
            return d * v;
        }
        if root > 0.0 && u.value(rng).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// GS for small shapes. Its logarithms of uniform draws are exponential draws: x = e^(−E/shape) below 1, x = 1 + E above.
#[inline]
fn gamma_near_zero(shape: f64, rng: &mut Stream) -> f64 {
    let below_one = 1.0 / (1.0 + shape / std::f64::consts::E);
    loop {
        if bernoulli(below_one, rng) {
            let x = (-rng.exponential() / shape).exp();
            let u = LazyUnit::new(rng);
            if u.surely_below(1.0 - x) || u.value(rng) <= (-x).exp() {
                return x;
            }
        } else {
            let x = 1.0 + rng.exponential();
            if rng.unit() <= x.powf(shape - 1.0) {
                return x;
            }
        }
    }
}

/// An index drawn with probability proportional to `weights` (finite, ≥ 0, not all 0), summed and compared in f64.
#[inline]
pub(crate) fn categorical<W: Copy + Into<f64>>(weights: &[W], rng: &mut Stream) -> usize {
    let total: f64 = weights.iter().map(|&w| w.into()).sum();
    let mut left = rng.unit() * total;
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        let weight = weight.into();
        if weight > 0.0 {
            if left < weight {
                return index;
            }
            left -= weight;
            last = index;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};
    use statrs::distribution::{ContinuousCDF, Discrete, DiscreteCDF};

    fn stream(row: u64) -> Stream {
        Streams::new(11).stream(Purpose::STATE, 0, row)
    }

    /// Largest gap between an empirical and a true CDF over the drawn points; for a step CDF `below` is its left limit.
    fn cdf_gap(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64, below: impl Fn(f64) -> f64) -> f64 {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mut gap: f64 = 0.0;
        let mut start = 0;
        while start < draws.len() {
            let end = start + draws[start..].partition_point(|&d| d == draws[start]);
            gap = gap.max((cdf(draws[start]) - end as f64 / n).abs());
            gap = gap.max((below(draws[start]) - start as f64 / n).abs());
            start = end;
        }
        gap
    }

    /// Dvoretzky–Kiefer–Wolfowitz: n = 200,000, false alarm 1e-7 each; a CDF off by 0.013 fails with probability 1 − 1e-7.
    const N: usize = 200_000;
    fn allowed() -> f64 {
        ((2.0f64 / 1e-7).ln() / (2.0 * N as f64)).sqrt()
    }

    #[test]
    fn poisson_has_its_law() {
        for (row, lambda) in [1e-3, 0.5, 3.0, 9.99, 10.0, 12.5, 40.0, 1000.0].into_iter().enumerate() {
            let mut rng = stream(row as u64);
            let draws: Vec<f64> = (0..N).map(|_| poisson(lambda, &mut rng)).collect();
            let law = statrs::distribution::Poisson::new(lambda).unwrap();
            let below = |k: f64| if k == 0.0 { 0.0 } else { law.cdf(k as u64 - 1) };
            let gap = cdf_gap(draws, |k| law.cdf(k as u64), below);
            assert!(gap < allowed(), "lambda {lambda}: {gap}");
        }
    }

    /// At 10⁹ and beyond: mean and variance, each within 6 standard errors (false alarm 2e-9 each).
    #[test]
    fn poisson_of_huge_mean() {
        for (row, lambda) in [1e6, 1e9, 1e12].into_iter().enumerate() {
            let mut rng = stream(100 + row as u64);
            let z: Vec<f64> = (0..N).map(|_| (poisson(lambda, &mut rng) - lambda) / lambda.sqrt()).collect();
            let (mean, square) =
                (z.iter().sum::<f64>() / N as f64, z.iter().map(|z| z * z).sum::<f64>() / N as f64);
            assert!(mean.abs() < 6.0 / (N as f64).sqrt(), "{lambda}: {mean}");
            assert!((square - 1.0).abs() < 6.0 * (2.0 / N as f64).sqrt(), "{lambda}: {square}");
        }
    }

    #[test]
    fn poisson_at_the_edges() {
        let mut rng = stream(200);
        assert_eq!(poisson(0.0, &mut rng), 0.0);
        assert!((0..1000).all(|_| poisson(1e17, &mut rng) > 0.0));
    }

    #[test]
    fn ln_poisson_is_statrs() {
        for (k, lambda) in [(0, 3.0), (1, 3.0), (15, 9.0), (16, 9.0), (200, 180.0), (30, 400.0)] {
            let exact = statrs::distribution::Poisson::new(lambda).unwrap().ln_pmf(k);
            assert!(
                (ln_poisson(k as f64, lambda) - exact).abs() < 1e-9 * exact.abs().max(1.0),
                "{k} {lambda}"
            );
        }
    }

    #[test]
    fn gamma_has_its_law() {
        for (row, shape) in [0.05, 0.3, 0.9, 1.0, 1.5, 8.0, 300.0].into_iter().enumerate() {
            let mut rng = stream(300 + row as u64);
            let draws: Vec<f64> = (0..N).map(|_| gamma(shape, &mut rng)).collect();
            let law = statrs::distribution::Gamma::new(shape, 1.0).unwrap();
            let gap = cdf_gap(draws, |x| law.cdf(x), |x| law.cdf(x));
            assert!(gap < allowed(), "shape {shape}: {gap}");
        }
    }

    /// Shapes as small as a sampler's first steps: P(X > 1e-100) = 1 − x^a/Γ(1+a) to first order.
    #[test]
    fn gamma_of_tiny_shape() {
        let shape = 1e-3;
        let mut rng = stream(400);
        let above = (0..N).filter(|_| gamma(shape, &mut rng) > 1e-100).count() as f64 / N as f64;
        let exact = 1.0 - 1e-100f64.powf(shape) / statrs::function::gamma::gamma(1.0 + shape);
        assert!((above - exact).abs() < allowed(), "{above} {exact}");
        assert_eq!(gamma(0.0, &mut rng), 0.0);
    }

    /// Six standard errors (2e-9) for each p; p below 2⁻⁸ needs the second byte.
    #[test]
    fn bernoulli_has_its_probability() {
        for (row, p) in [1e-4, 0.002, 0.3, 0.5, 0.9999].into_iter().enumerate() {
            let mut rng = stream(500 + row as u64);
            let n = 2_000_000;
            let share = (0..n).filter(|_| bernoulli(p, &mut rng)).count() as f64 / n as f64;
            assert!((share - p).abs() < 6.0 * (p * (1.0 - p) / n as f64).sqrt(), "{p}: {share}");
        }
        let mut rng = stream(600);
        assert!((0..1000).all(|_| bernoulli(1.0, &mut rng) && !bernoulli(0.0, &mut rng)));
    }

    #[test]
    fn categorical_skips_zero_weights() {
        let mut rng = stream(700);
        let weights = [0.0f32, 1.0, 0.0, 3.0, 0.0];
        let n = 100_000;
        let mut counts = [0.0; 5];
        (0..n).for_each(|_| counts[categorical(&weights, &mut rng)] += 1.0);
        assert_eq!([counts[0], counts[2], counts[4]], [0.0; 3]);
        assert!((counts[1] / n as f64 - 0.25).abs() < 6.0 * (0.1875 / n as f64).sqrt());
    }
}
