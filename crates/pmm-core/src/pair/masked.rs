//! Dirichlet–Categorical at K → ∞: a token is hidden until its first mark, then known.

use super::categorical::check_classes;
use super::{IMPOSSIBLE, Increments, Pair, Support};
use crate::draw;
use crate::error::{ParameterError, ValueError};
use crate::rng::Stream;

/// The state of a token that is still hidden.
pub const MASK: u32 = u32::MAX;

/// By clock a the token is still masked with probability e^(−a), else known; μ is uniform while masked, then one-hot;
/// D = −log x̂\[x\] while masked, 0 after.
///
/// The state is a single token (or [`MASK`]), whatever the vocabulary. A step reveals at most once, so its
/// Kullback–Leibler divergence is (1 − e^(−Δa)) D: this tends to Δa · D as steps shrink, and is finite for Δa = ∞.
/// (The paper prints 1 − e^(−a) for the probability of a mask.)
///
/// ```
/// use pmm_core::{MASK, Masked, Pair};
/// let pair = Masked::new(4)?;
/// let mut mu = [0.0; 4];
/// pair.mean(&[MASK], 1.0, &mut mu);
/// assert_eq!(mu, [0.25; 4]);
/// pair.mean(&[2], 1.0, &mut mu);
/// assert_eq!(mu, [0.0, 0.0, 1.0, 0.0]);
/// assert_eq!(pair.divergence(&[1], &[0.5, 0.25, 0.25, 0.0]), 4f64.ln());
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masked {
    classes: u32,
}

impl Masked {
    /// A vocabulary of V ≥ 2 tokens.
    pub fn new(classes: u32) -> Result<Self, ParameterError> {
        check_classes(classes)?;
        Ok(Self { classes })
    }

    /// The vocabulary size V.
    pub fn classes(&self) -> u32 {
        self.classes
    }
}

/// The probability that a token masked now is revealed within `da`.
#[inline]
pub(crate) fn reveal_probability(da: f64) -> f64 {
    -(-da).exp_m1()
}

impl Pair for Masked {
    type Value = u32;
    type Stat = u32;

    fn name(&self) -> &'static str {
        "Masked"
    }
    fn value_len(&self) -> usize {
        1
    }
    fn stat_len(&self) -> usize {
        1
    }
    fn mean_len(&self) -> usize {
        self.classes as usize
    }

    fn support(&self) -> Support {
        Support::Tokens(self.classes)
    }
    fn increments(&self) -> Increments {
        Increments::Linear
    }
    fn check(&self, x: &[u32]) -> Result<(), ValueError> {
        let (token, classes) = (x[0], self.classes);
        if token < classes { Ok(()) } else { Err(ValueError::NotAToken { token, classes }) }
    }

    #[inline]
    fn start(&self, s: &mut [u32]) {
        s[0] = MASK;
    }
    #[inline]
    fn draw(&self, x: &[u32], a: f64, s: &mut [u32], rng: &mut Stream) {
        s[0] = if draw::bernoulli(reveal_probability(a), rng) { x[0] } else { MASK };
    }
    /// Clocks are mostly shared along a row: there the exponential is taken once, and a word gives eight coins.
    fn draw_row(&self, x: &[u32], a: &[f64], s: &mut [u32], rng: &mut Stream) {
        let clock = a.first().copied().unwrap_or_default();
        let shared = a.iter().fold(true, |shared, a| shared & (*a == clock));
        let eights = if shared { s.len() / 8 * 8 } else { 0 };
        let reveal = reveal_probability(clock);
        for (s, x) in s.as_chunks_mut::<8>().0.iter_mut().zip(x[..eights].as_chunks::<8>().0) {
            let coins = draw::bernoulli_eight(reveal, rng);
            // MASK has all bits set, so that an OR replaces a branch that the processor could not predict.
            s.iter_mut()
                .zip(x)
                .zip(coins)
                .for_each(|((s, x), coin)| *s = x | u32::from(coin).wrapping_sub(1));
        }
        for ((s, x), &a) in s[eights..].iter_mut().zip(&x[eights..]).zip(&a[eights..]) {
            self.draw(std::slice::from_ref(x), a, std::slice::from_mut(s), rng);
        }
    }
    fn advance(&self, s: &mut [u32], da: f64, x_hat: &[f32], rng: &mut Stream) {
        if s[0] == MASK && draw::bernoulli(reveal_probability(da), rng) {
            s[0] = draw::categorical(x_hat, rng) as u32;
        }
    }
    /// Marks arrive along the hidden coordinates as along a line: an exponential draw says how far it is to the next one,
    /// so that coordinates without a mark cost one comparison.
    fn advance_row(&self, s: &mut [u32], da: &[f64], x_hat: &[f32], rng: &mut Stream) {
        let laws = x_hat.chunks_exact(self.classes as usize);
        let mut gap = rng.exponential();
        for ((s, x_hat), &da) in s.iter_mut().zip(laws).zip(da).filter(|((s, _), _)| **s == MASK) {
            if gap < da {
                *s = draw::categorical(x_hat, rng) as u32;
                gap = rng.exponential();
            } else {
                gap -= da;
            }
        }
    }
    fn observed(&self, s: &[u32], x: &mut [u32]) {
        x[0] = s[0];
    }

    fn mean(&self, s: &[u32], _: f64, mu: &mut [f32]) {
        if s[0] == MASK { self.prior_mean(mu) } else { self.embed(s, mu) }
    }
    fn prior_mean(&self, mu: &mut [f32]) {
        mu.fill(1.0 / self.classes as f32);
    }
    fn embed(&self, x: &[u32], point: &mut [f32]) {
        point.fill(0.0);
        point[x[0] as usize] = 1.0;
    }

    fn divergence(&self, x: &[u32], x_hat: &[f32]) -> f64 {
        -f64::from(x_hat[x[0] as usize]).ln()
    }
    fn divergence_gradient(&self, x: &[u32], x_hat: &[f32], gradient: &mut [f64]) {
        gradient.fill(0.0);
        gradient[x[0] as usize] = -1.0 / f64::from(x_hat[x[0] as usize]);
    }
    fn remaining_divergence(&self, s: &[u32], x: &[u32], x_hat: &[f32]) -> f64 {
        if s[0] == MASK { self.divergence(x, x_hat) } else { 0.0 }
    }
    fn step_weight(&self, da: f64) -> f64 {
        reveal_probability(da)
    }

    fn natural(&self, x: &[u32], eta: &mut [f64]) -> f64 {
        eta.fill(IMPOSSIBLE);
        eta[x[0] as usize] = 0.0;
        0.0
    }
    fn add_log_likelihood(&self, s: &[u32], _: f64, eta: &[f64], _: &[f64], log_likelihood: &mut [f64]) {
        if s[0] != MASK {
            let tokens = eta.chunks_exact(self.classes as usize).map(|eta| eta[s[0] as usize]);
            log_likelihood.iter_mut().zip(tokens).for_each(|(l, eta)| *l += eta);
        }
    }
}
