//! The usual clock of masked diffusion.

use super::Clock;

/// f = 1/(1 − t), A = −log(1 − t): a token is still masked with probability 1 − t, and A(1) = ∞.
///
/// ```
/// use pmm_core::{Clock, LogLinear};
/// assert!(((-LogLinear.information(0.3, 0.0)).exp() - 0.7).abs() < 1e-15);
/// assert_eq!(LogLinear.information(1.0, 0.0), f64::INFINITY);
/// assert_eq!(LogLinear.time(f64::INFINITY, 0.0), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLinear;

impl Clock for LogLinear {
    fn rate(&self, t: f64, _: f64) -> f64 {
        1.0 / (1.0 - t)
    }
    fn information(&self, t: f64, _: f64) -> f64 {
        -(-t).ln_1p()
    }
    fn time(&self, a: f64, _: f64) -> f64 {
        -(-a).exp_m1()
    }
}
