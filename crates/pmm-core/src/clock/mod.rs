//! Clocks: how information a = A(t) = ∫₀ᵗ f is gathered as time t runs from 0 to 1.

mod exponential;
mod linear;
mod log_linear;
mod semi_autoregressive;
mod staircase;
mod time_grid;

pub use exponential::Exponential;
pub use linear::Linear;
pub use log_linear::LogLinear;
pub use semi_autoregressive::SemiAutoregressive;
pub use staircase::Staircase;
pub use time_grid::TimeGrid;

/// A schedule. `place` = c/C in [0, 1) is where the coordinate stands in its block; only clocks that run from left to
/// right look at it.
pub trait Clock: std::fmt::Debug + Send + Sync {
    /// The rate f(t) ≥ 0.
    fn rate(&self, t: f64, place: f64) -> f64;
    /// The information A(t), from 0 at t = 0; ∞ is allowed at t = 1.
    fn information(&self, t: f64, place: f64) -> f64;
    /// The time A⁻¹(a) at which information `a` is reached; 1 or more where that is after the end.
    fn time(&self, a: f64, place: f64) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clocks() -> Vec<Box<dyn Clock>> {
        vec![
            Box::new(Exponential::default()),
            Box::new(Linear::default()),
            Box::new(Staircase::default()),
            Box::new(SemiAutoregressive::default()),
            Box::new(LogLinear),
        ]
    }

    /// ∫ f by Simpson's rule on `n` panels, independent of the closed form.
    fn integral(clock: &dyn Clock, from: f64, to: f64, place: f64, n: usize) -> f64 {
        let h = (to - from) / n as f64;
        let f = |t: f64| clock.rate(t, place);
        let panel = |i: usize| {
            let t = from + i as f64 * h;
            h / 6.0 * (f(t) + 4.0 * f(t + h / 2.0) + f(t + h))
        };
        (0..n).map(panel).sum()
    }

    #[test]
    fn information_is_the_integral_of_the_rate() {
        for clock in clocks() {
            for place in [0.0, 0.3, 0.99] {
                assert_eq!(clock.information(0.0, place), 0.0, "{clock:?}");
                // The staircase jumps at .985: stop before it, and take the rest in its own test.
                let t = 0.98;
                let (exact, sum) = (clock.information(t, place), integral(&*clock, 0.0, t, place, 20_000));
                assert!((exact - sum).abs() < 1e-7 * exact.max(1e-3), "{clock:?} at {place}: {exact} {sum}");
            }
        }
    }

    #[test]
    fn ends_are_those_of_the_paper() {
        let ends: Vec<f64> = clocks().iter().map(|clock| clock.information(1.0, 0.0)).collect();
        let exact =
            [(13f64.exp() - 1.0) / 250.0, 10.01, 8.75, 100.0 + (1.0 + (-100f64).exp()).ln() - 2f64.ln()];
        for (end, exact) in ends.iter().zip(exact) {
            assert!((end - exact).abs() < 1e-9 * exact, "{end} {exact}");
        }
        assert_eq!(ends[4], f64::INFINITY);
        // The last position of a long text ends half masked.
        assert!((SemiAutoregressive::default().information(1.0, 1.0) - 2f64.ln()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn time_inverts_information(which in 0usize..5, t in 1e-3..0.999f64, place in 0.0..1.0f64) {
            let clock = &clocks()[which];
            let a = clock.information(t, place);
            // Where the semi-autoregressive clock has barely started, a is too small to invert in f64.
            prop_assume!(a > 1e-9);
            let back = clock.time(a, place);
            prop_assert!((back - t).abs() < 1e-6, "{:?}: {} {}", clock, t, back);
        }

        #[test]
        fn information_never_decreases(which in 0usize..5, t in 0.0..1.0f64, dt in 0.0..1.0f64, place in 0.0..1.0f64) {
            let clock = &clocks()[which];
            let later = (t + dt).min(1.0);
            prop_assert!(clock.rate(t, place) >= 0.0);
            prop_assert!(clock.information(later, place) >= clock.information(t, place));
        }
    }
}
