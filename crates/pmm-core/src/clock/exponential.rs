//! The exponential clock, for real numbers and counts.

use super::Clock;
use crate::error::ParameterError;

/// f = c k e^(kt), A = c (e^(kt) − 1). The paper's: c = 1/250, k = 13, so that A(1) ≈ 1769. (Its table prints e^(t/13); its
/// text, and a sensible A(1), say e^(13t).)
///
/// ```
/// use pmm_core::{Clock, Exponential};
/// let clock = Exponential::default();
/// assert!((clock.information(1.0, 0.0) - 1769.65).abs() < 0.01);
/// assert!((clock.time(clock.information(0.4, 0.0), 0.0) - 0.4).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    scale: f64,
    growth: f64,
}

impl Exponential {
    /// Scale c > 0 and growth k > 0.
    pub fn new(scale: f64, growth: f64) -> Result<Self, ParameterError> {
        Ok(Self {
            scale: ParameterError::positive("the exponential clock's scale c", scale)?,
            growth: ParameterError::positive("the exponential clock's growth k", growth)?,
        })
    }
}

impl Default for Exponential {
    fn default() -> Self {
        Self { scale: 1.0 / 250.0, growth: 13.0 }
    }
}

impl Clock for Exponential {
    fn rate(&self, t: f64, _: f64) -> f64 {
        self.scale * self.growth * (self.growth * t).exp()
    }
    fn information(&self, t: f64, _: f64) -> f64 {
        self.scale * (self.growth * t).exp_m1()
    }
    fn time(&self, a: f64, _: f64) -> f64 {
        (a / self.scale).ln_1p() / self.growth
    }
}
