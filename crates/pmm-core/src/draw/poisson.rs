//! Poisson draws whose mean changes from draw to draw.

use super::LazyUnit;
use crate::rng::Stream;

/// A Poisson draw of mean `lambda` ≥ 0, as an f64 (exact integers to 2⁵³). Poisson draws add up, so below 112 the mean is
/// written in base 16: a table for each of three digits gives a draw without a logarithm or a rejection, and what remains is
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
fn ln_poisson(k: f64, lambda: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{N, allowed, cdf_gap, stream};
    use super::*;
    use statrs::distribution::{ContinuousCDF, Discrete, DiscreteCDF};

    #[test]
    fn poisson_has_its_law() {
        for (row, lambda) in
            [1e-3, 0.06, 0.5, 3.0, 10.7, 15.99, 16.0, 40.0, 95.9, 111.9, 112.0, 113.0, 1000.0]
                .into_iter()
                .enumerate()
        {
            let mut rng = stream(row as u64);
            let draws: Vec<f64> = (0..N).map(|_| poisson(lambda, &mut rng)).collect();
            let law = statrs::distribution::Poisson::new(lambda).unwrap();
            let below = |k: f64| if k == 0.0 { 0.0 } else { law.cdf(k as u64 - 1) };
            let gap = cdf_gap(draws, |k| law.cdf(k as u64), below);
            assert!(gap < allowed(), "lambda {lambda}: {gap}");
        }
    }

    /// At 10⁶ and beyond a Poisson count is normal to within 1/(3√λ): its standardised law against the normal one.
    #[test]
    fn poisson_of_huge_mean() {
        let law = statrs::distribution::Normal::standard();
        for (row, lambda) in [1e6, 1e9, 1e12].into_iter().enumerate() {
            let mut rng = stream(100 + row as u64);
            let z: Vec<f64> = (0..N).map(|_| (poisson(lambda, &mut rng) - lambda) / lambda.sqrt()).collect();
            let gap = cdf_gap(z, |z| law.cdf(z), |z| law.cdf(z));
            assert!(gap < allowed() + 1.0 / lambda.sqrt(), "{lambda}: {gap}");
        }
    }

    /// Every table gives back its law exactly: a slot's own share, and what others lend it.
    #[test]
    fn tables_hold_their_laws() {
        fn check<const SIZE: usize>(tables: &[Alias<SIZE>], unit: f64) {
            for (digit, table) in tables.iter().enumerate().skip(1) {
                let mut p = vec![0.0; SIZE];
                for slot in 0..SIZE {
                    let own = table.own[slot] as f64 / 2f64.powi(56);
                    p[slot] += own / SIZE as f64;
                    p[table.other[slot] as usize] += (1.0 - own) / SIZE as f64;
                }
                let law = statrs::distribution::Poisson::new(unit * digit as f64).unwrap();
                let gap = (0..SIZE).map(|k| (p[k] - law.pmf(k as u64)).abs()).fold(0.0, f64::max);
                assert!(gap < 1e-14, "mean {}: {gap}", unit * digit as f64);
            }
        }
        check(&SIXTEENTHS, 1.0 / 16.0);
        check(&UNITS, 1.0);
        check(&SIXTEENS, 16.0);
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
}
