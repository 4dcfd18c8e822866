//! The clock whose rate is linear in time, for OpenWebText.

use super::Clock;
use crate::error::ParameterError;

/// f = c (1 + k t), A = c (t + k t²/2). The paper's: c = 0.01, k = 2000, so that A(1) = 10.01.
///
/// ```
/// use pmm_core::{Clock, Linear};
/// let clock = Linear::default();
/// assert!((clock.information(1.0, 0.0) - 10.01).abs() < 1e-12);
/// assert!((clock.rate(0.5, 0.0) - 10.01).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    scale: f64,
    slope: f64,
}

impl Linear {
    /// Scale c > 0 and slope k > 0.
    pub fn new(scale: f64, slope: f64) -> Result<Self, ParameterError> {
        Ok(Self {
            scale: ParameterError::positive("the linear clock's scale c", scale)?,
            slope: ParameterError::positive("the linear clock's slope k", slope)?,
        })
    }
}

impl Default for Linear {
    fn default() -> Self {
        Self { scale: 0.01, slope: 2000.0 }
    }
}

impl Clock for Linear {
    fn rate(&self, t: f64, _: f64) -> f64 {
        self.scale * (1.0 + self.slope * t)
    }
    fn information(&self, t: f64, _: f64) -> f64 {
        self.scale * t * (1.0 + self.slope * t / 2.0)
    }
    /// The positive root of k t²/2 + t = a/c, written without cancellation.
    fn time(&self, a: f64, _: f64) -> f64 {
        let q = a / self.scale;
        if q == f64::INFINITY { q } else { 2.0 * q / (1.0 + (1.0 + 2.0 * self.slope * q).sqrt()) }
    }
}
