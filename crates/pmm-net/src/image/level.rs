//! What the network is shown of a pixel at a clock reading, and what its answer F says about the pixel.

use pmm_core::Clock;
use serde::{Deserialize, Serialize};

use super::pixels::{GAMMA, ImagePair, PixelFacts, WHITE};

/// How the network's answer F makes an estimate, for the Normal pair. With u = S/a, σ = 1/√a, and m and σ_d the mean and
/// standard deviation of the data's pixels:
///
/// | | x̂ | loss per pixel | time in training |
/// |---|---|---|---|
/// | `x` | F | (a + c) ½ (x − x̂)²: the objective, up to a factor | uniform |
/// | `eps` | u − σ F, as in the paper | ½ (ε − F)² | uniform |
/// | `edm` | μ + c_out F | ½ (x − x̂)² / c_out² | log σ about −1.2 |
///
/// In `edm` (Karras et al. 2022) μ = m + c_skip (u − m) is the posterior mean under the prior N(m, σ_d²), and c_out =
/// σ_d/√(1 + σ_d² a) its standard deviation: F has unit size at every noise level.
///
/// The Poisson pair has one parametrisation, the same idea for counts. S has the mean a m and the variance a m + a² σ_d² (Normal: a + a²
/// σ_d²), and the posterior mean under the prior Γ(k, r) of the data's mean and variance, k = m²/σ_d² and r = m/σ_d², is μ = (k + S)/(r +
/// a). The logarithm of a pixel is then known to about 1/√(k + S), so x̂ = μ exp(F/√(k + S)); D has the weight r + a. The network is shown
/// roots of counts, whose noise is about the same in dark and bright pixels (Anscombe 1948), so that it can tell no event from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parametrisation {
    /// The pixel itself.
    X,
    /// The noise.
    Eps,
    /// What the posterior mean lacks.
    Edm,
}

/// Added to the clock where its logarithm or inverse is needed: clock 0 is then a state like any other, which looks like a noise
/// level of 100 whose noise has been taken away.
const NEAR_ZERO: f64 = 1e-4;
/// The centre and the standard deviation of log(σ/σ_d) in training. EDM's centre of log σ is −1.2, for σ_d = 1/2.
const LOG_SIGMA: (f64, f64) = (-1.2 + std::f64::consts::LN_2, 1.2);
/// Counts are learned so much further up the noise, where few events decide what an image shows: digits are then nearer to real ones
/// (`bench/images/LEARNING.md`).
const POISSON_UP: f64 = 0.5;
/// Added to a count before its root is taken: the noise of the root then depends least on how many there are.
const ANSCOMBE: f64 = 3.0 / 8.0;
/// Estimates of intensities stay below so many times white.
const BRIGHTEST: f64 = 2.0;

/// A pair with its parametrisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Levels {
    pub(super) pair: ImagePair,
    pub(super) parametrisation: Parametrisation,
    pub(super) facts: PixelFacts,
}

impl Levels {
    /// The time of training at a place from 0 to 1 (uniform, or stratified).
    ///
    /// `edm` and Poisson: log(σ/σ_d) is logistic, where σ² is the noise of S/a: 1/a, or m/a on average, for counts further up. EDM draws it from a normal law
    /// of the same centre and spread; the logistic one has a quantile function and reaches the ends of the clock more often, which
    /// the bound needs.
    pub(super) fn time(&self, clock: &dyn Clock, place: f64) -> f64 {
        if self.pair == ImagePair::Normal && self.parametrisation != Parametrisation::Edm {
            return place;
        }
        let scale = LOG_SIGMA.1 * 3f64.sqrt() / std::f64::consts::PI;
        let place = place.clamp(1e-9, 1.0 - 1e-9);
        let up = if self.pair == ImagePair::Poisson { POISSON_UP } else { 0.0 };
        let log_sigma = LOG_SIGMA.0 + up + scale * (place / (1.0 - place)).ln() + self.facts.sd.ln();
        clock.time(self.noise() * (-2.0 * log_sigma).exp(), 0.0).min(1.0)
    }

    /// The variance of an observation of one unit of the clock: 1, or the pixel itself, which is m on average.
    fn noise(&self) -> f64 {
        match self.pair {
            ImagePair::Normal => 1.0,
            // All black is as good as a single bright pixel in a thousand.
            ImagePair::Poisson => self.facts.mean.max(1e-3 * WHITE),
        }
    }

    /// Shape k and rate r of the Gamma law of the data's mean and variance.
    fn gamma(&self) -> (f64, f64) {
        let rate = self.noise() / (self.facts.sd * self.facts.sd);
        (self.noise() * rate, rate)
    }

    /// At a finite clock reading.
    pub(super) fn at(&self, a: f64) -> Level {
        Level { levels: *self, a }
    }

    /// What is shown of an observed pixel: the limit of an endless clock.
    pub(super) fn observed(&self, x: f64) -> f32 {
        let PixelFacts { mean, sd } = self.facts;
        let apart = match self.pair {
            ImagePair::Normal => x - mean,
            ImagePair::Poisson => 2.0 * ((self.noise() * x).sqrt() - self.noise()),
        };
        (apart / sd) as f32
    }

    /// An estimate held within what bytes can be: a mean of possible pixels lies among them, so that what the network says beyond is wrong.
    pub(super) fn held(&self, x_hat: f32) -> f32 {
        x_hat.clamp(self.pair.value(0), self.pair.value(255))
    }

    /// Moves an estimate without a class towards, and past, that with one: in the natural parameter, which is x itself for
    /// Normal and log x for Poisson.
    pub(super) fn guide(&self, without: f32, with: f32, guidance: f64) -> f32 {
        match self.pair {
            ImagePair::Normal => without + guidance as f32 * (with - without),
            ImagePair::Poisson => {
                let (without, with) = (f64::from(without).max(1e-12), f64::from(with).max(1e-12));
                let log = without.ln() + guidance * (with.ln() - without.ln());
                log.exp().min(BRIGHTEST * WHITE) as f32
            }
        }
    }
}

/// The pixels of an image at one clock reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    levels: Levels,
    a: f64,
}

impl Level {
    /// What the network is told of the noise: −log(a)/8, which is log(σ)/4 for Normal.
    pub(super) fn noise(&self) -> f32 {
        (-0.125 * (self.a + NEAR_ZERO).ln()) as f32
    }

    /// What it is shown of a pixel, of about unit size at every clock reading, and 0 at clock 0. Normal: S less its mean, over its standard
    /// deviation, which is EDM's (u − m)/√(σ² + σ_d²). Poisson: likewise 2√(S + 3/8), less what it is at the mean of S; its variance is about 1 +
    /// a σ_d²/m where there are many events, and grows with a m where there are few.
    pub(super) fn input(&self, s: f64) -> f32 {
        let (PixelFacts { mean, sd }, noise, a) =
            (self.levels.facts, self.levels.noise(), self.a + NEAR_ZERO);
        let spread = 1.0 + sd * sd * self.a / noise;
        let (apart, variance) = match self.levels.pair {
            ImagePair::Normal => (s - self.a * mean, a * spread),
            ImagePair::Poisson => {
                let root = |s: f64| 2.0 * (s + ANSCOMBE).sqrt();
                let one = root(1.0) - root(0.0);
                let few = one * one * a * noise;
                (root(s) - root(noise * self.a), spread * few / (1.0 + few))
            }
        };
        (apart / variance.sqrt()) as f32
    }

    /// The estimate, and its derivative by the answer.
    ///
    /// A Poisson pixel's is held below twice white; the derivative there leads back.
    pub(super) fn estimate(&self, s: f64, answer: f32) -> (f64, f64) {
        let (a, answer) = (self.a, f64::from(answer));
        let PixelFacts { mean, sd } = self.levels.facts;
        match (self.levels.pair, self.levels.parametrisation) {
            (ImagePair::Poisson, _) => {
                let (shape, rate) = self.levels.gamma();
                // Nearly all black, the data say little of the bright pixels: no less is known than by the paper's prior.
                let scale = 1.0 / (shape.max(GAMMA.0) + s).sqrt();
                let log = ((shape + s) / (rate + a)).ln() + scale * answer;
                let x_hat = log.exp().min(BRIGHTEST * WHITE);
                (x_hat, scale * x_hat)
            }
            (ImagePair::Normal, Parametrisation::X) => (answer, 1.0),
            (ImagePair::Normal, Parametrisation::Eps) => {
                let precision = a.max(NEAR_ZERO);
                ((s - a.sqrt() * answer) / precision, -a.sqrt() / precision)
            }
            (ImagePair::Normal, Parametrisation::Edm) => {
                let spread = 1.0 + sd * sd * a;
                let out = sd / spread.sqrt();
                (mean + sd * sd * (s - a * mean) / spread + out * answer, out)
            }
        }
    }

    /// The weight of D(x, x̂) in the loss.
    fn weight(&self) -> f64 {
        let sd = self.levels.facts.sd;
        match (self.levels.pair, self.levels.parametrisation) {
            (ImagePair::Poisson, _) => self.levels.gamma().1 + self.a,
            (ImagePair::Normal, Parametrisation::X) => self.a + 1.0 / 250.0,
            (ImagePair::Normal, Parametrisation::Eps) => self.a,
            (ImagePair::Normal, Parametrisation::Edm) => 1.0 / (sd * sd) + self.a,
        }
    }

    /// The loss of a pixel, and its derivative by the answer.
    pub(super) fn loss(&self, x: f32, s: f64, answer: f32) -> (f64, f64) {
        let (x, (x_hat, slope)) = (f64::from(x), self.estimate(s, answer));
        let weight = self.weight();
        match self.levels.pair {
            ImagePair::Normal => {
                let error = x_hat - x;
                (weight * 0.5 * error * error, weight * error * slope)
            }
            ImagePair::Poisson => {
                let x_hat = x_hat.max(1e-30);
                let divergence = if x > 0.0 { x * (x / x_hat).ln() - x + x_hat } else { x_hat };
                // dD/dx̂ = 1 − x/x̂, and slope = x̂ times the scale of the answer.
                (weight * divergence, weight * (1.0 - x / x_hat) * slope)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_core::{Exponential, Purpose, Streams};

    const FACTS: PixelFacts = PixelFacts { mean: 0.3, sd: 0.5 };

    fn all() -> Vec<Levels> {
        let normal = |parametrisation| Levels { pair: ImagePair::Normal, parametrisation, facts: FACTS };
        vec![
            normal(Parametrisation::X),
            normal(Parametrisation::Eps),
            normal(Parametrisation::Edm),
            Levels { pair: ImagePair::Poisson, parametrisation: Parametrisation::Edm, facts: FACTS },
        ]
    }

    /// EDM's four coefficients, from its paper, for data of mean m.
    #[test]
    fn edm_has_its_coefficients() {
        let levels = all()[2];
        for (sigma, u) in [(0.02f64, 0.7f64), (0.5, -1.0), (10.0, 4.0)] {
            let (a, d) = (sigma.powi(-2), FACTS.sd);
            let level = levels.at(a);
            let (skip, out) = (d * d / (sigma * sigma + d * d), sigma * d / (sigma * sigma + d * d).sqrt());
            let c_in = 1.0 / (sigma * sigma + d * d).sqrt();
            let expected = FACTS.mean + skip * (u - FACTS.mean) + out * 0.8;
            assert!((level.estimate(u * a, 0.8).0 - expected).abs() < 1e-6, "{sigma}");
            assert!((f64::from(level.input(u * a)) - c_in * (u - FACTS.mean)).abs() < 1e-2, "{sigma}");
            assert!((f64::from(level.noise()) - sigma.ln() / 4.0).abs() < 2e-3);
            assert!((level.weight() - 1.0 / (out * out)).abs() < 1e-6 * level.weight());
        }
    }

    #[test]
    fn an_observed_pixel_is_the_limit() {
        for levels in [all()[2], all()[3]] {
            for x in [0.0, 0.2, 0.7, 4.0] {
                let far = levels.at(1e12).input(x * 1e12);
                assert!((far - levels.observed(x)).abs() < 1e-4, "{levels:?} {x}");
            }
        }
    }

    /// With eps the true noise gives back x, and the loss is that of the noise.
    #[test]
    fn eps_is_the_noise() {
        let (x, a, noise) = (0.4, 9.0f64, -1.3f32);
        let s = a * x + a.sqrt() * f64::from(noise);
        let level = all()[1].at(a);
        assert!((level.estimate(s, noise).0 - x).abs() < 1e-6);
        assert!((level.loss(x as f32, s, 0.7).0 - 0.5 * 4.0).abs() < 1e-5);
    }

    /// Derivatives against differences, and finite numbers at clock 0.
    #[test]
    fn slopes_are_derivatives() {
        for levels in all() {
            for a in [0.0, 1e-3, 1.0, 40.0, 1769.0] {
                let level = levels.at(a);
                for (x, s) in [(0.0f32, 0.0), (0.9, (0.8 * a).round())] {
                    for answer in [-0.5f32, 0.0, 0.6] {
                        let (loss, slope) = level.loss(x, s, answer);
                        let h = 1e-3f32;
                        let (up, down) = (level.loss(x, s, answer + h).0, level.loss(x, s, answer - h).0);
                        let step = f64::from(answer + h) - f64::from(answer - h);
                        let difference = (up - down) / step;
                        assert!(loss.is_finite() && level.input(s).is_finite() && level.noise().is_finite());
                        assert!(
                            (slope - difference).abs() < 2e-3 * (1.0 + slope.abs()),
                            "{levels:?} {a}: {slope} {difference}"
                        );
                    }
                }
            }
        }
    }

    /// Times go down the noise as places go up or down, and stay on the clock.
    #[test]
    fn times_are_on_the_clock() {
        let clock = Exponential::default();
        for levels in all() {
            let times: Vec<f64> = (0..100).map(|i| levels.time(&clock, f64::from(i) / 99.0)).collect();
            assert!(times.iter().all(|t| (0.0..=1.0).contains(t)), "{times:?}");
        }
        let middle = all()[2].time(&clock, 0.5);
        assert!((clock.information(middle, 0.0) - 2.4f64.exp()).abs() < 1e-6);
    }

    /// The input has unit size at every level, so that the network need not care, for counts about so; with the answer 0 the estimate is right on
    /// average, and what it misses has nothing to do with S: no other one that is linear in S is better.
    #[test]
    fn inputs_are_of_one_size_and_zero_is_the_best_linear_estimate() {
        let mut rng = Streams::new(1).stream(Purpose::DATA, 0, 0);
        // Two brightnesses, of the mean and spread in FACTS.
        let bright = FACTS.mean + FACTS.sd * FACTS.sd / FACTS.mean;
        for levels in [all()[2], all()[3]] {
            for a in [0.1, 1.0, 100.0] {
                let level = levels.at(a);
                let (mut square, mut error, mut along) = (0.0, 0.0, 0.0);
                for _ in 0..20_000 {
                    let x = if rng.unit() < FACTS.mean / bright { bright } else { 0.0 };
                    let s = match levels.pair {
                        ImagePair::Normal => a * x + a.sqrt() * rng.normal(),
                        // Arrivals until the time is up.
                        ImagePair::Poisson => {
                            let mut left = a * x - rng.exponential();
                            let mut count = 0.0;
                            while left > 0.0 {
                                left -= rng.exponential();
                                count += 1.0;
                            }
                            count
                        }
                    };
                    let (input, missing) = (f64::from(level.input(s)), x - level.estimate(s, 0.0).0);
                    square += input * input / 20_000.0;
                    error += missing / 20_000.0;
                    along += missing * input / 20_000.0;
                }
                // The square has a kurtosis of at most 40 here, what is missing a standard deviation of at most .5: five standard errors.
                let off = if levels.pair == ImagePair::Normal { 0.22 } else { 0.5 };
                assert!((square - 1.0).abs() < off, "{levels:?} {a}: {square}");
                assert!(error.abs() < 0.018 && along.abs() < 0.05, "{levels:?} {a}: {error} {along}");
            }
        }
    }
}
