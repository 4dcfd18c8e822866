//! Grids: the times at which a sampler stops to ask the denoiser.

use super::Clock;
use crate::error::ParameterError;

/// Times 0 = t₀ < t₁ < … < tₙ ≤ 1, for n steps.
///
/// A grid is a list of times rather than of clock readings, so that blocks with different clocks share one. The grids
/// uniform in log a and Karras's are laid out on the clock that is passed; both take one first step from a = 0 to their
/// smallest a.
///
/// ```
/// use pmm_core::{Clock, Exponential, TimeGrid};
/// let clock = Exponential::default();
/// assert_eq!(TimeGrid::uniform(4)?.times(), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// let grid = TimeGrid::log_information(&clock, 0.01, 3)?;
/// let a: Vec<f64> = grid.times().iter().map(|&t| clock.information(t, 0.0)).collect();
/// assert!((a[2] * a[2] - a[1] * a[3]).abs() < 1e-6); // a geometric sequence after a[0] = 0
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TimeGrid {
    times: Vec<f64>,
}

impl TimeGrid {
    /// Uniform in t.
    pub fn uniform(steps: usize) -> Result<Self, ParameterError> {
        check_steps(steps)?;
        Ok(Self { times: (0..=steps).map(|i| i as f64 / steps as f64).collect() })
    }

    /// Uniform in log a from `first` to the clock's end, which must be finite, after a step from 0 to `first`.
    pub fn log_information(clock: &dyn Clock, first: f64, steps: usize) -> Result<Self, ParameterError> {
        let end = check_range(clock, first, steps)?;
        let ratio = (end / first).ln();
        Self::through(clock, steps, |share| first * (ratio * share).exp())
    }

    /// Karras et al. (2022): σ = 1/√a such that σ^(1/ρ) is uniform, from `sigma_max` to the clock's end, after a step from
    /// 0. ρ = 7 is customary.
    pub fn karras(clock: &dyn Clock, sigma_max: f64, rho: f64, steps: usize) -> Result<Self, ParameterError> {
        ParameterError::positive("the largest noise level sigma_max", sigma_max)?;
        ParameterError::positive("the exponent rho", rho)?;
        let end = check_range(clock, sigma_max.powi(-2), steps)?;
        let (from, to) = (sigma_max.powf(1.0 / rho), end.powf(-0.5 / rho));
        Self::through(clock, steps, |share| (from + share * (to - from)).powf(-2.0 * rho))
    }

    /// t₀ = 0, then the times at which information(0), …, information(1) is reached; the last is exactly 1.
    fn through(
        clock: &dyn Clock,
        steps: usize,
        information: impl Fn(f64) -> f64,
    ) -> Result<Self, ParameterError> {
        let last = (steps - 1).max(1) as f64;
        let mut times: Vec<f64> = (0..steps).map(|i| clock.time(information(i as f64 / last), 0.0)).collect();
        times.insert(0, 0.0);
        times[steps] = 1.0;
        match times.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => {
                ParameterError::unless(false, "the grid's next time", "above the one before", pair[1])
            }
            None => Ok(0.0),
        }?;
        Ok(Self { times })
    }

    /// t₀, …, tₙ.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The number of steps n.
    pub fn steps(&self) -> usize {
        self.times.len() - 1
    }
}

fn check_steps(steps: usize) -> Result<(), ParameterError> {
    ParameterError::unless(steps >= 1, "the number of steps", "at least 1", steps as f64).map(|_| ())
}

/// The clock's end, once `first` is known to lie between 0 and it.
fn check_range(clock: &dyn Clock, first: f64, steps: usize) -> Result<f64, ParameterError> {
    check_steps(steps)?;
    let end = clock.information(1.0, 0.0);
    ParameterError::unless(end.is_finite(), "the clock's end A(1)", "finite for this grid", end)?;
    let inside = first > 0.0 && first < end;
    ParameterError::unless(inside, "the first clock reading", "above 0 and below the clock's end", first)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponential, LogLinear};

    #[test]
    fn karras_is_uniform_in_its_power() {
        let clock = Exponential::default();
        let grid = TimeGrid::karras(&clock, 80.0, 7.0, 9).unwrap();
        let roots: Vec<f64> =
            grid.times()[1..].iter().map(|&t| clock.information(t, 0.0).powf(-0.5 / 7.0)).collect();
        let gap = (roots[8] - roots[0]) / 8.0;
        assert!((roots[0] - 80f64.powf(1.0 / 7.0)).abs() < 1e-9);
        assert!(roots.windows(2).all(|pair| (pair[1] - pair[0] - gap).abs() < 1e-9), "{roots:?}");
    }

    #[test]
    fn grids_end_at_one_for_any_number_of_steps() {
        let clock = Exponential::default();
        for steps in 1..50 {
            for grid in [
                TimeGrid::log_information(&clock, 1e-3, steps),
                TimeGrid::karras(&clock, 80.0, 7.0, steps),
                TimeGrid::uniform(steps),
            ] {
                let grid = grid.unwrap();
                assert_eq!((grid.steps(), grid.times()[0], *grid.times().last().unwrap()), (steps, 0.0, 1.0));
            }
        }
    }

    #[test]
    fn bad_ranges_are_refused() {
        let clock = Exponential::default();
        assert!(TimeGrid::uniform(0).is_err());
        assert!(TimeGrid::log_information(&clock, 0.0, 5).is_err());
        assert!(TimeGrid::log_information(&clock, 1e9, 5).is_err());
        assert!(TimeGrid::log_information(&LogLinear, 0.1, 5).is_err());
        assert!(TimeGrid::karras(&clock, f64::NAN, 7.0, 5).is_err());
    }
}
