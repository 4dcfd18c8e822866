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

/// Eight times [`bernoulli`], from one word unless a byte of it decides nothing.
#[inline]
pub(crate) fn bernoulli_eight(p: f64, rng: &mut Stream) -> [bool; 8] {
    let digit = (p * 256.0) as u32;
    let bytes = rng.word().to_le_bytes().map(u32::from);
    let mut coins = bytes.map(|byte| byte < digit);
    if bytes.contains(&digit) {
        let ties = coins.iter_mut().zip(bytes).filter(|(_, byte)| *byte == digit);
        ties.for_each(|(coin, _)| *coin = bernoulli(p * 256.0 - f64::from(digit), rng));
    }
    coins
}

/// A Poisson draw of mean `lambda` ≥ 0, as an f64 (exact integers to 2⁵³). Poisson draws add up, so below 112 the mean is
/// written in base 16: a table for each of three digits gives a draw without a logarithm or a guess, and what remains is
/// below 1/16 and nearly always draws 0. From 112 on it is Hörmann's transformed rejection (PTRS, 1993) with a
/// log-probability that stays accurate for means of 10⁹ and more.
#[inline]
pub(crate) fn poisson(lambda: f64, rng: &mut Stream) -> f64 {
    if lambda >= 112.0 {
        return poisson_by_rejection(lambda, rng);
    }
    let digits = (lambda * 16.0) as usize;
    let mut k = poisson_near_zero(lambda - digits as f64 / 16.0, rng);
    for (digit, table) in [(digits % 16, &SIXTEENTHS), (digits / 16 % 16, &UNITS)] {
        if digit > 0 {
            k += table[digit].draw(rng);
        }
    }
    if digits >= 256 {
        k += SIXTEENS[digits / 256].draw(rng);
    }
    f64::from(k)
}

/// For means below 1/16, by inversion: P(0) ≥ 1 − λ settles most draws before any exponential.
#[inline]
fn poisson_near_zero(lambda: f64, rng: &mut Stream) -> u32 {
    let u = LazyUnit::new(rng);
    if u.surely_below(1.0 - lambda) {
        return 0;
    }
    let (mut u, mut p, mut k) = (u.value(rng), (-lambda).exp(), 0);
    // The mass beyond 16 is under 1e-30.
    while u >= p && k < 16 {
        u -= p;
        k += 1;
        p *= lambda / f64::from(k);
    }
    k
}

static SIXTEENTHS: [Alias<64>; 16] = Alias::tables(1.0 / 16.0);
static UNITS: [Alias<64>; 16] = Alias::tables(1.0);
static SIXTEENS: [Alias<256>; 7] = Alias::tables(16.0);

/// A law on 0..N, drawn from by one word (Walker 1977): a slot k is chosen evenly, and gives k or its other number.
struct Alias<const N: usize> {
    /// How often a slot gives its own number, of 2⁵⁶.
    own: [u64; N],
    other: [u8; N],
}

impl<const N: usize> Alias<N> {
    #[inline]
    fn draw(&self, rng: &mut Stream) -> u32 {
        let word = rng.word();
        let slot = word as usize % N;
        if word >> 8 < self.own[slot] { slot as u32 } else { u32::from(self.other[slot]) }
    }

    /// Tables of the Poisson laws of means 0, `unit`, 2 `unit`, …
    const fn tables<const M: usize>(unit: f64) -> [Self; M] {
        let mut tables = [const { Self::poisson(0.0) }; M];
        let mut digit = 1;
        while digit < M {
            tables[digit] = Self::poisson(unit * digit as f64);
            digit += 1;
        }
        tables
    }

    /// The Poisson law of a mean; with 64 numbers for means to 15, 256 for means to 96, the mass beyond is under 1e-18.
    const fn poisson(mean: f64) -> Self {
        let (mut share, mut total, mut k) = ([1.0; N], 1.0, 1);
        while k < N {
            share[k] = share[k - 1] * mean / k as f64;
            total += share[k];
            k += 1;
        }
        k = 0;
        while k < N {
            share[k] *= N as f64 / total;
            k += 1;
        }
        Self::new(share)
    }

    /// From probabilities times N: what a slot lacks to 1 is taken from one that has more (Vose 1991).
    const fn new(mut share: [f64; N]) -> Self {
        let mut table = Self { own: [1 << 56; N], other: [0; N] };
        let (mut less, mut more) = (Stack::<N>::new(), Stack::<N>::new());
        let mut k = 0;
        while k < N {
            if share[k] < 1.0 {
                less.push(k)
            } else {
                more.push(k)
            }
            k += 1;
        }
        while less.len > 0 && more.len > 0 {
            let (poor, rich) = (less.pop(), more.pop());
            table.own[poor] = (share[poor] * (1u64 << 56) as f64) as u64;
            table.other[poor] = rich as u8;
            share[rich] -= 1.0 - share[poor];
            if share[rich] < 1.0 { less.push(rich) } else { more.push(rich) }
        }
        table
    }
}

/// A stack for use in constants.
struct Stack<const N: usize> {
    items: [usize; N],
    len: usize,
}

impl<const N: usize> Stack<N> {
    const fn new() -> Self {
        Self { items: [0; N], len: 0 }
    }
    const fn push(&mut self, item: usize) {
        self.items[self.len] = item;
        self.len += 1;
    }
    const fn pop(&mut self) -> usize {
        self.len -= 1;
        self.items[self.len]
    }
}

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

/// A Gamma draw of the given shape ≥ 0 and scale 1; see [`GammaLaw`].
#[inline]
pub(crate) fn gamma(shape: f64, rng: &mut Stream) -> f64 {
    GammaLaw::new(shape).draw(rng)
}

/// Gamma laws of scale 1, prepared for many draws: Marsaglia and Tsang (2000) from shape 1 on; from 1/5 on the same of
/// shape + 1, times U^(1/shape); Ahrens and Dieter's GS (1974) below. Logarithms of uniform draws are exponential draws.
/// Draws under 1e-308 (common for shapes below 0.01) come out as 0.
#[derive(Debug, Clone, Copy)]
pub struct GammaLaw {
    shape: f64,
    inverse_shape: f64,
    /// Of Marsaglia and Tsang: d (c x + 1)³ with a normal x is nearly Gamma.
    d: f64,
    c: f64,
}

impl GammaLaw {
    #[inline]
    pub(crate) fn new(shape: f64) -> Self {
        let d = if shape >= 1.0 { shape } else { shape + 1.0 } - 1.0 / 3.0;
        Self { shape, inverse_shape: 1.0 / shape, d, c: (9.0 * d).sqrt().recip() }
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut Stream) -> f64 {
        if self.shape >= 1.0 {
            self.one_and_above(rng)
        } else if self.shape >= 0.2 {
            self.one_and_above(rng) * (-rng.exponential() * self.inverse_shape).exp()
        } else if self.shape > 0.0 {
            self.near_zero(rng)
        } else {
            0.0
        }
    }

    /// With y = c x, the logarithm of the probability to accept is −c² x⁴/3 · Σₙ (−y)ⁿ/(4 + n), so this probability is at
    /// least 1 − c² x⁴/6 where y ≥ −½: a far tighter squeeze than the usual one, and seldom missed.
    #[inline]
    fn one_and_above(&self, rng: &mut Stream) -> f64 {
        let (d, c) = (self.d, self.c);
        loop {
            let x = rng.normal();
            let root = 1.0 + c * x;
            let v = root * root * root;
            let u = LazyUnit::new(rng);
            if root >= 0.5 && u.surely_below(1.0 - c * c * (1.0 / 6.0) * (x * x) * (x * x)) {
                return d * v;
            }
            if root > 0.0 && u.value(rng).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    #[inline]
    fn near_zero(&self, rng: &mut Stream) -> f64 {
        let below_one = 1.0 / (1.0 + self.shape / std::f64::consts::E);
        loop {
            if bernoulli(below_one, rng) {
                let x = (-rng.exponential() * self.inverse_shape).exp();
                let u = LazyUnit::new(rng);
                if u.surely_below(1.0 - x) || u.value(rng) <= (-x).exp() {
                    return x;
                }
            } else {
                let x = 1.0 + rng.exponential();
                if rng.unit() <= x.powf(self.shape - 1.0) {
                    return x;
                }
            }
        }
    }
}

/// An index drawn with probability proportional to `weights` (finite, ≥ 0, not all 0), summed and compared in f64. First
/// the group of eight is found, then the place in it, both by counting: where the draw falls cannot be guessed.
#[inline]
pub(crate) fn categorical<W: Copy + Into<f64>>(weights: &[W], rng: &mut Stream) -> usize {
    let (groups, rest) = weights.as_chunks::<GROUP>();
    let total = groups.iter().map(sum).sum::<f64>() + rest.iter().map(|&w| w.into()).sum::<f64>();
    let left = rng.unit() * total;
    let (mut cumulative, mut passed, mut first) = (0.0, 0.0, 0);
    for group in groups.iter().map(sum) {
        cumulative += group;
        let pass = u32::from(cumulative <= left);
        passed += group * f64::from(pass);
        first += pass as usize;
    }
    let group = groups.get(first).map_or(rest, |group| group);
    let mut index = first * GROUP;
    for &weight in group.split_last().map_or(group, |(_, but_last)| but_last) {
        passed += weight.into();
        index += usize::from(passed <= left);
    }
    if weights.get(index).is_some_and(|&weight| weight.into() > 0.0) {
        return index;
    }
    // Only by rounding: the last that can be drawn.
    weights.iter().rposition(|&weight| weight.into() > 0.0).unwrap_or(0)
}

/// Numbers that are summed side by side: in a chain each addition would wait for the one before.
const GROUP: usize = 8;

#[inline]
fn sum<W: Copy + Into<f64>>(group: &[W; GROUP]) -> f64 {
    let [a, b, c, d, e, f, g, h] = group.map(Into::into);
    ((a + b) + (c + d)) + ((e + f) + (g + h))
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
            let of_eight =
                (0..n / 8).map(|_| bernoulli_eight(p, &mut rng).into_iter().filter(|c| *c).count());
            let share_of_eight = of_eight.sum::<usize>() as f64 / n as f64;
            for share in [share, share_of_eight] {
                assert!((share - p).abs() < 6.0 * (p * (1.0 - p) / n as f64).sqrt(), "{p}: {share}");
            }
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
