//! The clock that runs from left to right.

use super::Clock;
use crate::error::ParameterError;

/// f = σ((t − c/C)/w)/w, A = softplus((t − c/C)/w) − softplus(−c/(C w)), where c/C is the coordinate's place. The paper's:
/// w = .01. The last position only reaches A(1) = log 2: half of the time it is still masked, and a sampler draws it from
/// the last estimate.
///
/// ```
/// use pmm_core::{Clock, SemiAutoregressive};
/// let clock = SemiAutoregressive::default();
/// assert!(clock.information(0.5, 0.1) > 35.0); // long known
/// assert!(clock.information(0.5, 0.9) < 1e-15); // still hidden
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemiAutoregressive {
    width: f64,
}

impl SemiAutoregressive {
    /// Width w > 0 of the front, as a share of the text.
    pub fn new(width: f64) -> Result<Self, ParameterError> {
        Ok(Self { width: ParameterError::positive("the semi-autoregressive clock's width w", width)? })
    }
}

impl Default for SemiAutoregressive {
    fn default() -> Self {
        Self { width: 0.01 }
    }
}

/// log(1 + e^z) without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

impl Clock for SemiAutoregressive {
    fn rate(&self, t: f64, place: f64) -> f64 {
        let z = (t - place) / self.width;
        1.0 / ((1.0 + (-z).exp()) * self.width)
    }
    fn information(&self, t: f64, place: f64) -> f64 {
        softplus((t - place) / self.width) - softplus(-place / self.width)
    }
    /// z = log(e^A − 1) of the total A = a + softplus(−place/w).
    fn time(&self, a: f64, place: f64) -> f64 {
        let total = a + softplus(-place / self.width);
        place + self.width * (total + (-(-total).exp_m1()).ln())
    }
}
