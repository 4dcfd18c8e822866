//! Gamma–Poisson: counts and intensities seen through Poisson events.

use super::{IMPOSSIBLE, Increments, ScalarPair, Support};
use crate::draw;
use crate::error::ParameterError;
use crate::rng::Stream;

/// Prior x ~ Γ(shape β₁, rate β₂); S given x at clock a is Pois(a x); μ = (β₁ + S)/(β₂ + a);
/// D = x log(x/x̂) − x + x̂.
///
/// Events arrive at rate x, which is linear in x, so the posterior mean is all that a small step needs. The paper's
/// main text adds α·y to the pseudo-sum where its appendix (and conjugacy) has y; this is the latter. Data are counts
/// (whole numbers, which f32 holds exactly to 2²⁴) unless [`Poisson::intensities`] allows any x ≥ 0. A value of 0 is fine: it never makes an event.
///
/// ```
/// use pmm_core::{Pair, Poisson};
/// let pair = Poisson::new(0.5, 2.0)?; // β₁, β₂
/// let mut mu = [0.0];
/// pair.mean(&[3.0], 4.0, &mut mu); // S, a
/// assert_eq!(mu[0], (0.5 + 3.0) / (2.0 + 4.0) as f32);
/// assert_eq!(pair.divergence(&[0.0], &[3.0]), 3.0);
/// assert!(pair.check(&[2.5]).is_err() && pair.intensities().check(&[2.5]).is_ok());
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    shape: f64,
    rate: f64,
    counts: bool,
}

impl Poisson {
    /// Prior shape β₁ > 0 and rate β₂ > 0, for counts.
    pub fn new(shape: f64, rate: f64) -> Result<Self, ParameterError> {
        Ok(Self {
            shape: ParameterError::positive("the prior shape beta_1", shape)?,
            rate: ParameterError::positive("the prior rate beta_2", rate)?,
            counts: true,
        })
    }

    /// The same pair for any x ≥ 0 in place of counts.
    pub fn intensities(self) -> Self {
        Self { counts: false, ..self }
    }

    /// The prior shape β₁.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The prior rate β₂.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

impl ScalarPair for Poisson {
    const NAME: &'static str = "Poisson";

    type Step = f64;

    fn support(&self) -> Support {
        if self.counts { Support::Counts } else { Support::NonNegative }
    }
    #[inline]
    fn prior(&self) -> (f64, f64) {
        (self.shape, self.rate)
    }
    fn increments(&self) -> Increments {
        Increments::Poisson
    }
    #[inline]
    fn step(&self, da: f64) -> f64 {
        da
    }
    #[inline]
    fn increment(&self, x: f64, da: &f64, rng: &mut Stream) -> f64 {
        draw::poisson(da * x, rng)
    }
    /// With r = (x̂ − x)/x this is x (r − log(1 + r)), which loses half as many digits as the plain form when x̂ is close to x.
    fn divergence(&self, x: f64, x_hat: f64) -> f64 {
        if x == 0.0 {
            return x_hat;
        }
        let r = (x_hat - x) / x;
        x * (r - r.ln_1p())
    }
    /// 1 − x/x̂, and 1 at x = 0 also where x̂ = 0.
    fn divergence_gradient(&self, x: f64, x_hat: f64) -> f64 {
        if x == 0.0 { 1.0 } else { 1.0 - x / x_hat }
    }
    fn variance(&self, x: f64) -> f64 {
        x
    }
    fn natural(&self, x: f64) -> (f64, f64) {
        (if x > 0.0 { x.ln() } else { IMPOSSIBLE }, x)
    }
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> f64 {
        if mean > 0.0 { draw::gamma((mean / sd).powi(2), rng) * sd * sd / mean } else { 0.0 }
    }
}
