//! The laws that every pair keeps, checked by one suite against densities from elsewhere (`statrs`).
//!
//! Statistical laws have fixed seeds; their false-alarm rates are stated at the checks.

use super::{Categorical, Gamma, MASK, Masked, Normal, Pair, Poisson};
use crate::bound::MonteCarlo;
use crate::purpose::Purpose;
use crate::rng::{Stream, Streams};
use statrs::distribution::{Continuous, Discrete};

/// A pair with two data values and the density of an increment, written independently of the code under test.
struct Case<P: Pair> {
    pair: P,
    x: Vec<P::Value>,
    y: Vec<P::Value>,
    /// log p(S | point) for S gathered over a clock of `a`.
    log_density: fn(&[P::Stat], &[f32], f64) -> f64,
    /// One number of the statistic, to compare laws by.
    summary: fn(&[P::Stat]) -> f64,
}

fn rng(row: u64) -> Stream {
    Streams::new(2025).stream(Purpose::STATE, 0, row)
}

impl<P: Pair> Case<P> {
    fn point(&self, x: &[P::Value]) -> Vec<f32> {
        let mut point = vec![0.0; self.pair.mean_len()];
        self.pair.embed(x, &mut point);
        point
    }

    /// A point strictly inside the space of means: ¾ x + ¼ y.
    fn between(&self) -> Vec<f32> {
        self.point(&self.x).iter().zip(self.point(&self.y)).map(|(x, y)| 0.75 * x + 0.25 * y).collect()
    }

    fn draw(&self, x: &[P::Value], a: f64, rng: &mut Stream) -> Vec<P::Stat> {
        let mut s = vec![Default::default(); self.pair.stat_len()];
        self.pair.draw(x, a, &mut s, rng);
        s
    }

    fn mean(&self, s: &[P::Stat], a: f64) -> Vec<f32> {
        let mut mu = vec![0.0; self.pair.mean_len()];
        self.pair.mean(s, a, &mut mu);
        mu
    }

    fn run(&self) {
        self.data_are_on_the_support();
        self.clock_zero_is_the_prior();
        self.clock_infinity_is_the_data();
        self.one_jump_is_many_steps();
        self.divergence_is_bregman();
        self.divergence_is_least_at_the_mean();
        self.step_kl_is_that_of_the_increments();
        self.likelihood_is_the_density();
        self.posterior_mean_converges();
        if self.pair.mean_len() < 100 {
            self.rows_have_the_law_of_single_coordinates();
        }
    }

    fn data_are_on_the_support(&self) {
        assert!(self.pair.check(&self.x).is_ok() && self.pair.check(&self.y).is_ok());
    }

    fn clock_zero_is_the_prior(&self) {
        let mut start = vec![Default::default(); self.pair.stat_len()];
        self.pair.start(&mut start);
        assert_eq!(self.draw(&self.x, 0.0, &mut rng(0)), start);
        let mut prior = vec![0.0; self.pair.mean_len()];
        self.pair.prior_mean(&mut prior);
        assert_eq!(self.mean(&start, 0.0), prior);
        let before = start.clone();
        self.pair.advance(&mut start, 0.0, &self.point(&self.x), &mut rng(0));
        assert_eq!(start, before, "a step of length 0 changes nothing");
    }

    fn clock_infinity_is_the_data(&self) {
        let s = self.draw(&self.x, f64::INFINITY, &mut rng(1));
        assert_eq!(self.mean(&s, f64::INFINITY), self.point(&self.x));
        let mut x = vec![Default::default(); self.pair.value_len()];
        self.pair.observed(&s, &mut x);
        assert_eq!(x, self.x);
        // A last step of infinite length lands on the data as well, from any state.
        let mut s = self.draw(&self.x, 1.5, &mut rng(2));
        self.pair.advance(&mut s, f64::INFINITY, &self.point(&self.x), &mut rng(3));
        self.pair.observed(&s, &mut x);
        assert_eq!(x, self.x);
    }

    /// Two-sample Kolmogorov–Smirnov with 40,000 draws each: false alarm 1e-6, a gap of .04 is found with 1 − 1e-6.
    fn one_jump_is_many_steps(&self) {
        const N: usize = 40_000;
        let a = 1.3;
        let point = self.point(&self.x);
        let (mut once, mut rng_steps) = (rng(4), rng(5));
        let jumps: Vec<f64> = (0..N).map(|_| (self.summary)(&self.draw(&self.x, a, &mut once))).collect();
        let walk = |_| {
            let mut s = vec![Default::default(); self.pair.stat_len()];
            self.pair.start(&mut s);
            for da in [0.1, 0.4, 0.05, 0.25, 0.5] {
                self.pair.advance(&mut s, da, &point, &mut rng_steps);
            }
            (self.summary)(&s)
        };
        let walks: Vec<f64> = (0..N).map(walk).collect();
        let gap = ks(jumps, walks);
        let allowed = ((2.0f64 / 1e-6).ln() / N as f64).sqrt();
        assert!(gap < allowed, "{:?}: {gap} over {allowed}", self.pair);
    }

    /// D = ⟨x, η(x) − η(x̂)⟩ − ψ(x) + ψ(x̂), and 0 only at equality.
    fn divergence_is_bregman(&self) {
        let (x, y) = (self.point(&self.x), self.point(&self.y));
        assert!(self.pair.divergence(&self.x, &x).abs() < 1e-12);
        assert!(self.pair.divergence(&self.x, &self.between()) > 0.0);
        let mut eta = [vec![0.0; x.len()], vec![0.0; x.len()]];
        let psi = [&self.x, &self.y].map(|v| self.pair.natural(v, &mut eta[usize::from(v == &self.y)]));
        if eta[1].iter().any(|e| *e < -1e20) {
            assert_eq!(self.pair.divergence(&self.x, &y), f64::INFINITY, "{:?}: y rules x out", self.pair);
            return;
        }
        let inner: f64 = (0..x.len()).map(|v| f64::from(x[v]) * (eta[0][v] - eta[1][v])).sum();
        let (bregman, d) = (inner - psi[0] + psi[1], self.pair.divergence(&self.x, &y));
        assert!((bregman - d).abs() < 1e-6 * d.max(1.0), "{:?}: {bregman} {d}", self.pair);
    }

    /// E D(x, ·) over x with weight ¾, y with ¼ is least at the mean: every move towards x or y costs.
    fn divergence_is_least_at_the_mean(&self) {
        let cost = |point: &[f32]| {
            0.75 * self.pair.divergence(&self.x, point) + 0.25 * self.pair.divergence(&self.y, point)
        };
        let best = self.between();
        for towards in [self.point(&self.x), self.point(&self.y)] {
            let moved: Vec<f32> = best.iter().zip(towards).map(|(b, t)| 0.9 * b + 0.1 * t).collect();
            assert!(cost(&moved) > cost(&best), "{:?}", self.pair);
        }
    }

    /// KL by Monte Carlo over 100,000 increments with the independent density: 6 standard errors, false alarm 2e-9.
    fn step_kl_is_that_of_the_increments(&self) {
        let (x, x_hat) = (self.point(&self.x), self.between());
        for (row, da) in [(6, 0.2), (7, 2.0)] {
            let mut rng = rng(row);
            let ratio = |_| {
                let s = self.draw(&self.x, da, &mut rng);
                (self.log_density)(&s, &x, da) - (self.log_density)(&s, &x_hat, da)
            };
            let kl = MonteCarlo::of(&(0..100_000).map(ratio).collect::<Vec<f64>>());
            let exact = self.pair.step_kl(&self.x, &x_hat, da);
            let off = (kl.mean - exact).abs();
            assert!(off < 6.0 * kl.standard_error + 1e-9, "{:?}, {da}: {exact} against {kl:?}", self.pair);
        }
    }

    /// The oracle's log-likelihood ratios are those of the independent density.
    fn likelihood_is_the_density(&self) {
        let (a, len) = (2.5, self.pair.mean_len());
        let mut eta = vec![0.0; 2 * len];
        let psi = [self.pair.natural(&self.x, &mut eta[..len]), self.pair.natural(&self.y, &mut eta[len..])];
        for row in 8..20 {
            let s = self.draw(&self.x, a, &mut rng(row));
            let mut l = [0.0; 2];
            self.pair.add_log_likelihood(&s, a, &eta, &psi, &mut l);
            let density = |x: &[P::Value]| (self.log_density)(&s, &self.point(x), a);
            let (ratio, exact) = (l[0] - l[1], density(&self.x) - density(&self.y));
            let agree = (ratio - exact).abs() < 1e-6 * exact.abs().max(1.0)
                || (ratio > 1e20 && exact == f64::INFINITY);
            assert!(agree, "{:?}: {ratio} {exact}", self.pair);
        }
    }

    /// Rows take short cuts that single coordinates do not. Rows of 24 at shared and at unequal clocks (0, tiny, ∞ among them),
    /// drawn and then advanced: at each clock the law of single draws (two-sample Kolmogorov–Smirnov of 24,000, false alarm
    /// 1e-7 each, a gap of .05 is found all but surely), and neighbours uncorrelated (6 standard errors, 2e-9).
    fn rows_have_the_law_of_single_coordinates(&self) {
        const WIDTH: usize = 24;
        const N: usize = 6_000;
        let (x, x_hat) = (self.x.repeat(WIDTH), self.between().repeat(WIDTH));
        let unequal = [0.5, 0.0, 3.0, 1e-3, 6.0, f64::INFINITY];
        for clocks in [[0.7; 6], unequal] {
            let da: Vec<f64> = (0..WIDTH).map(|c| clocks[c % 6]).collect();
            let (mut rng_rows, mut rng_single) = (rng(60), rng(61));
            let mut rows: Vec<Vec<f64>> = vec![Vec::new(); WIDTH];
            let mut single: Vec<Vec<f64>> = vec![Vec::new(); 6];
            let mut s = vec![Default::default(); WIDTH * self.pair.stat_len()];
            for _ in 0..N {
                self.pair.draw_row(&x, &[0.4; WIDTH], &mut s, &mut rng_rows);
                self.pair.advance_row(&mut s, &da, &x_hat, &mut rng_rows);
                let summaries = s.chunks_exact(self.pair.stat_len()).map(|s| (self.summary)(s));
                rows.iter_mut().zip(summaries).for_each(|(row, summary)| row.push(summary));
                for c in 0..WIDTH {
                    let mut s = self.draw(&self.x, 0.4, &mut rng_single);
                    self.pair.advance(&mut s, da[c], &x_hat[..self.pair.mean_len()], &mut rng_single);
                    single[c % 6].push((self.summary)(&s));
                }
            }
            let allowed = ((2.0f64 / 1e-7).ln() / (N * WIDTH / 6) as f64).sqrt();
            for (c, single) in single.into_iter().enumerate() {
                let pooled: Vec<f64> = rows.iter().skip(c).step_by(6).flatten().copied().collect();
                let gap = ks(pooled, single);
                assert!(gap < allowed, "{:?}, a step of {}: {gap}", self.pair, da[c]);
            }
            for pair in rows.windows(2) {
                let r = correlation(&pair[0], &pair[1]);
                assert!(r.abs() < 6.0 / (N as f64).sqrt(), "{:?}: neighbours correlate by {r}", self.pair);
            }
        }
    }

    /// At clocks of 10⁶ and 10⁹ the posterior mean is within 6 standard deviations (√(x²/a) covers all pairs) of x.
    fn posterior_mean_converges(&self) {
        for (row, a) in [(30, 1e6), (31, 1e9)] {
            let mu = self.mean(&self.draw(&self.x, a, &mut rng(row)), a);
            for (mu, x) in mu.iter().zip(self.point(&self.x)) {
                let allowed = 6.0 * f64::from(1.0 + x.abs()) / a.sqrt() + 1e-6 * f64::from(x.abs());
                assert!((f64::from(mu - x)).abs() < allowed, "{:?} at {a}: {mu} {x}", self.pair);
            }
        }
    }
}

/// The two-sample Kolmogorov–Smirnov statistic.
fn ks(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let share = |sorted: &[f64], x: f64| sorted.partition_point(|v| *v <= x) as f64 / sorted.len() as f64;
    a.iter().chain(&b).map(|&x| (share(&a, x) - share(&b, x)).abs()).fold(0.0, f64::max)
}

/// The correlation of two columns; 0 where one is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum::<f64>();
    let scale = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    if scale > 0.0 { sum(&|a, b| a * b) / scale } else { 0.0 }
}

fn poisson_ln_pmf(k: f64, lambda: f64) -> f64 {
    if lambda == 0.0 {
        return if k == 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    statrs::distribution::Poisson::new(lambda).unwrap().ln_pmf(k as u64)
}

#[test]
fn normal() {
    let log_density = |s: &[f64], x: &[f32], a: f64| {
        statrs::distribution::Normal::new(a * f64::from(x[0]), a.sqrt()).unwrap().ln_pdf(s[0])
    };
    for (x, y) in [(1.5, -0.5), (0.0, 3.0), (-2.0, -1.0)] {
        Case { pair: Normal::new(2.0, 0.3).unwrap(), x: vec![x], y: vec![y], log_density, summary: |s| s[0] }
            .run();
    }
}

#[test]
fn poisson() {
    let log_density = |s: &[f64], x: &[f32], a: f64| poisson_ln_pmf(s[0], a * f64::from(x[0]));
    for (x, y) in [(3.0, 1.0), (0.0, 2.0), (2.0, 0.0), (40.0, 60.0)] {
        Case {
            pair: Poisson::new(0.5, 2.0).unwrap(),
            x: vec![x],
            y: vec![y],
            log_density,
            summary: |s| s[0],
        }
        .run();
    }
}

#[test]
fn gamma() {
    let log_density = |s: &[f64], x: &[f32], a: f64| {
        statrs::distribution::Gamma::new(a, 1.0 / f64::from(x[0])).unwrap().ln_pdf(s[0])
    };
    for (x, y) in [(2.0, 0.5), (0.1, 0.3), (50.0, 40.0)] {
        Case { pair: Gamma::new(3.0, 4.0).unwrap(), x: vec![x], y: vec![y], log_density, summary: |s| s[0] }
            .run();
    }
}

#[test]
fn categorical() {
    let log_density = |s: &[f64], x: &[f32], a: f64| {
        s.iter().zip(x).map(|(s, x)| poisson_ln_pmf(*s, a * f64::from(*x))).sum()
    };
    let tokens = Categorical::new(3, 2.0).unwrap();
    let (x, y) = (vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]);
    Case { pair: tokens, x, y, log_density, summary: |s| s[1] }.run();
    let (x, y) = (vec![0.5, 0.25, 0.25], vec![0.125, 0.125, 0.75]);
    Case { pair: tokens.simplex(), x, y, log_density, summary: |s| s[0] - 2.0 * s[2] }.run();
}

#[test]
fn masked() {
    let log_density = |s: &[u32], x: &[f32], a: f64| match s[0] {
        MASK => -a,
        token => (1.0 - (-a).exp()).ln() + f64::from(x[token as usize]).ln(),
    };
    Case { pair: Masked::new(3).unwrap(), x: vec![2], y: vec![0], log_density, summary: |s| f64::from(s[0]) }
        .run();
    let pair = Masked::new(50_257).unwrap();
    Case { pair, x: vec![50_256], y: vec![7], log_density, summary: |s| f64::from(s[0]) }.run();
}

/// Marks give independent Poisson counts: each class and all together, 6 standard errors (2e-9) on mean and variance, for few marks,
/// for a walk along them, and for pieces so long that they take single draws.
#[test]
fn marks_are_independent_poisson_counts() {
    let pair = Categorical::new(4, 1.0).unwrap().simplex();
    let x = [0.05f32, 0.2, 0.7, 0.05];
    let n = 200_000;
    for (row, a) in [(40, 3.0), (41, 9.0), (42, 40.0)] {
        let mut rng = rng(row);
        let mut counts = vec![Vec::new(); 5];
        for _ in 0..n {
            let mut s = [0.0; 4];
            pair.advance(&mut s, a, &x, &mut rng);
            (0..4).for_each(|v| counts[v].push(s[v]));
            counts[4].push(s.iter().sum());
        }
        for (counts, share) in counts.iter().zip(x.iter().chain(&[1.0])) {
            let (estimate, mean) = (MonteCarlo::of(counts), a * f64::from(*share));
            let variance = estimate.standard_error.powi(2) * n as f64;
            assert!((estimate.mean - mean).abs() < 6.0 * estimate.standard_error, "{mean}: {estimate:?}");
            // Var of the sample variance of a Poisson count: (μ + 2μ²)/n.
            let spread = ((mean + 2.0 * mean * mean) / n as f64).sqrt();
            assert!((variance - mean).abs() < 6.0 * spread, "{mean}: {variance}");
        }
    }
}

/// 50,257 classes: the dense state sums to its marks and its mean to 1.
#[test]
fn dense_categorical_of_a_large_vocabulary() {
    let pair = Categorical::new(50_257, 100.0).unwrap();
    let mut x = vec![0.0f32; 50_257];
    x[50_256] = 1.0;
    let (mut s, mut mu) = (vec![0.0; 50_257], vec![0.0f32; 50_257]);
    pair.draw(&x, 1e9, &mut s, &mut rng(41));
    pair.mean(&s, 1e9, &mut mu);
    assert!(s[..50_256].iter().all(|s| *s == 0.0) && (s[50_256] - 1e9).abs() < 6.0 * 1e9f64.sqrt());
    assert!((mu.iter().copied().map(f64::from).sum::<f64>() - 1.0).abs() < 1e-6 && mu[50_256] > 0.999);
}

/// Mixture components have the mean and standard deviation asked for: 6 standard errors of the mean (2e-9); 3 % on the deviation.
#[test]
fn components_have_their_moments() {
    fn check<P: Pair>(pair: &P, mean: f64, sd: f64, row: u64) {
        let mut rng = rng(row);
        let draws: Vec<f64> = (0..200_000).map(|_| pair.component(mean, sd, &mut rng).unwrap()).collect();
        let estimate = MonteCarlo::of(&draws);
        let found = estimate.standard_error * (draws.len() as f64).sqrt();
        assert!((estimate.mean - mean).abs() < 6.0 * estimate.standard_error, "{pair:?}: {estimate:?}");
        assert!((found / sd - 1.0).abs() < 0.03, "{pair:?}: {found} for {sd}");
        assert_eq!(pair.component(mean, 0.0, &mut rng), Some(mean));
    }
    check(&Normal::new(1.0, 0.0).unwrap(), -1.5, 0.7, 50);
    check(&Poisson::new(1.0, 1.0).unwrap(), 3.0, 1.2, 51);
    check(&Gamma::new(2.0, 1.0).unwrap(), 3.0, 0.6, 52);
}

/// μ is the mean of prior × likelihood: by quadrature over x = e^z (or x itself, for Normal), with priors from `statrs`.
#[test]
fn posterior_means_are_those_of_bayes() {
    fn check<P: Pair<Value = f32, Stat = f64>>(
        pair: &P,
        prior: impl Fn(f64) -> f64,
        positive: bool,
        s: f64,
        a: f64,
    ) {
        let (mut total, mut sum) = (0.0, 0.0);
        for i in -40_000..40_000 {
            let z = f64::from(i) * 5e-4;
            let (x, jacobian) = if positive { (z.exp(), z.exp()) } else { (z, 1.0) };
            let mut eta = [0.0];
            let psi = pair.natural(&[x as f32], &mut eta);
            let weight = (prior(x) + s * eta[0] - a * psi).exp() * jacobian;
            total += weight;
            sum += weight * x;
        }
        let mut mu = [0.0];
        pair.mean(&[s], a, &mut mu);
        let exact = sum / total;
        assert!(
            (f64::from(mu[0]) - exact).abs() < 1e-4 * exact.abs(),
            "{pair:?} at S = {s}, a = {a}: {} {exact}",
            mu[0]
        );
    }
    let normal = statrs::distribution::Normal::new(0.3, 0.5f64.sqrt()).unwrap();
    let gamma = statrs::distribution::Gamma::new(0.7, 2.0).unwrap();
    let inverse = statrs::distribution::InverseGamma::new(3.0, 4.0).unwrap();
    for (s, a) in [(0.0, 0.0), (1.0, 0.5), (7.0, 2.0)] {
        check(&Normal::new(2.0, 0.3).unwrap(), |x| normal.ln_pdf(x), false, s, a);
        check(&Poisson::new(0.7, 2.0).unwrap(), |x| gamma.ln_pdf(x), true, s, a);
        check(&Gamma::new(3.0, 4.0).unwrap(), |x| inverse.ln_pdf(x), true, s, a);
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let nan = f64::NAN;
    for (b, m) in [(0.0, 0.0), (-1.0, 0.0), (nan, 0.0), (f64::INFINITY, 0.0), (1.0, nan)] {
        assert!(Normal::new(b, m).is_err(), "{b} {m}");
    }
    for (shape, rate) in [(0.0, 1.0), (1.0, 0.0), (nan, 1.0), (1.0, f64::INFINITY)] {
        assert!(Poisson::new(shape, rate).is_err(), "{shape} {rate}");
    }
    for (shape, scale) in [(1.0, 1.0), (0.5, 1.0), (2.0, 0.0), (nan, 1.0), (f64::INFINITY, 1.0)] {
        assert!(Gamma::new(shape, scale).is_err(), "{shape} {scale}");
    }
    for (classes, k) in [(1, 1.0), (0, 1.0), (MASK, 1.0), (3, 0.0), (3, f64::INFINITY), (3, nan)] {
        assert!(Categorical::new(classes, k).is_err(), "{classes} {k}");
    }
    assert!(Masked::new(1).is_err() && Masked::new(2).is_ok());
    let message = Normal::new(-2.0, 0.0).unwrap_err().to_string();
    assert_eq!(message, "the prior precision b must be positive and finite, got -2");
}

#[test]
fn values_off_the_support_are_refused() {
    let message = |result: Result<(), crate::ValueError>| result.unwrap_err().to_string();
    let counts = Poisson::new(1.0, 1.0).unwrap();
    assert_eq!(
        message(Pair::check(&counts, &[2.5])),
        "a count must be a whole number of at least 0, got 2.5"
    );
    assert_eq!(
        message(Pair::check(&counts, &[-1.0])),
        "a count must be a whole number of at least 0, got -1"
    );
    assert!(Pair::check(&counts, &[f32::INFINITY]).is_err());
    let intensities = counts.intensities();
    assert_eq!(
        message(Pair::check(&intensities, &[-0.5])),
        "an intensity must be finite and at least 0, got -0.5"
    );
    let positive = Gamma::new(2.0, 1.0).unwrap();
    assert_eq!(message(Pair::check(&positive, &[0.0])), "a positive value must be finite and above 0, got 0");
    let dense = Categorical::new(3, 1.0).unwrap().simplex();
    assert_eq!(
        message(dense.check(&[0.5, 0.5, 0.5])),
        "the entries of a point of the simplex must sum to 1, got 1.5"
    );
    let negative = message(dense.check(&[1.5, -0.5, 0.0]));
    assert_eq!(negative, "a probability must be finite and at least 0, got -0.5 at class 1");
    let token = message(Masked::new(3).unwrap().check(&[3]));
    assert_eq!(token, "a token must be below the vocabulary size 3, got 3");
}
