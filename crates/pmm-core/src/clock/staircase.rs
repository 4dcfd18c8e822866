//! The staircase clock, for text8.

use super::Clock;
use crate::error::ParameterError;

/// f = c (1 + h·[t ≥ s]), A = c t + c h (t − s)₊. The paper's: c = 3.5, h = 100, s = .985, so that A(1) = 8.75: slow for
/// nearly all of the time, then the rest at once.
///
/// ```
/// use pmm_core::{Clock, Staircase};
/// let clock = Staircase::default();
/// assert!((clock.information(1.0, 0.0) - 8.75).abs() < 1e-12);
/// assert_eq!(clock.rate(0.5, 0.0), 3.5);
/// assert_eq!(clock.rate(0.99, 0.0), 3.5 * 101.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Staircase {
    base: f64,
    height: f64,
    start: f64,
}

impl Staircase {
    /// Base rate c > 0, relative height h > 0 of the step, and its time s in (0, 1).
    pub fn new(base: f64, height: f64, start: f64) -> Result<Self, ParameterError> {
        let inside = start > 0.0 && start < 1.0;
        Ok(Self {
            base: ParameterError::positive("the staircase clock's base rate c", base)?,
            height: ParameterError::positive("the staircase clock's height h", height)?,
            start: ParameterError::unless(inside, "the staircase clock's step s", "between 0 and 1", start)?,
        })
    }
}

impl Default for Staircase {
    fn default() -> Self {
        Self { base: 3.5, height: 100.0, start: 0.985 }
    }
}

impl Clock for Staircase {
    fn rate(&self, t: f64, _: f64) -> f64 {
        self.base * (1.0 + if t >= self.start { self.height } else { 0.0 })
    }
    fn information(&self, t: f64, _: f64) -> f64 {
        self.base * (t + self.height * (t - self.start).max(0.0))
    }
    fn time(&self, a: f64, _: f64) -> f64 {
        let q = a / self.base;
        if q <= self.start { q } else { (q + self.height * self.start) / (1.0 + self.height) }
    }
}
