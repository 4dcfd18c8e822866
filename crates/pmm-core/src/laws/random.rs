//! The laws that compare draws; error rates are stated in the module's documentation.

use super::Case;
use super::compare::{allowed_gap, correlation, largest_gap};
use super::report::{Check, Law, Violation};
use crate::bound::MonteCarlo;
use crate::pair::{MarginalLaw, Pair};

/// How many standard errors a mean may be off: a false alarm of 2·10⁻⁹.
const ERRORS: f64 = 6.0;

impl<P: Pair> Case<P> {
    /// 40,000 jumps to a clock of 1.3 against as many walks of five steps.
    pub(super) fn one_jump_is_many_steps(&self, check: &mut Check) -> Result<(), Violation> {
        const N: usize = 40_000;
        let point = self.point(&self.x);
        let (mut once, mut often) =
            (self.rng(Law::OneJumpIsManySteps, 0), self.rng(Law::OneJumpIsManySteps, 1));
        let jumps = (0..N).map(|_| (self.summary)(&self.draw(&self.x, 1.3, &mut once))).collect();
        let walk = |_| {
            let mut s = self.start();
            for da in [0.1, 0.4, 0.05, 0.25, 0.5] {
                self.pair.advance(&mut s, da, &point, &mut often);
            }
            (self.summary)(&s)
        };
        let walks = (0..N).map(walk).collect();
        let gap = largest_gap(jumps, walks);
        check.near("the largest gap between the two distribution functions", gap, 0.0, allowed_gap(N))
    }

    /// Over draws from x̂ = ¾ x + ¼ y, p(S | x)/p(S | x̂) has the mean 1: by 100,000 increments over a clock of 1/2.
    pub(super) fn density(&self, check: &mut Check) -> Result<(), Violation> {
        let (x, x_hat, da) = (self.point(&self.x), self.between(), 0.5);
        let mut rng = self.rng(Law::Density, 0);
        let ratio = |_| {
            let mut s = self.start();
            self.pair.advance(&mut s, da, &x_hat, &mut rng);
            ((self.log_density)(&s, &x, da) - (self.log_density)(&s, &x_hat, da)).exp()
        };
        let found = MonteCarlo::of(&(0..100_000).map(ratio).collect::<Vec<f64>>());
        check.near("the mean of p(S | x)/p(S | x̂)", found.mean, 1.0, ERRORS * found.standard_error)
    }

    /// By Monte Carlo over 100,000 increments with the density given.
    pub(super) fn step_divergence(&self, check: &mut Check) -> Result<(), Violation> {
        let (x, x_hat) = (self.point(&self.x), self.between());
        for (part, da) in [(0, 0.2), (1, 2.0)] {
            let mut rng = self.rng(Law::StepDivergence, part);
            let ratio = |_| {
                let s = self.draw(&self.x, da, &mut rng);
                (self.log_density)(&s, &x, da) - (self.log_density)(&s, &x_hat, da)
            };
            let kl = MonteCarlo::of(&(0..100_000).map(ratio).collect::<Vec<f64>>());
            let found = self.pair.step_kl(&self.x, &x_hat, da);
            let what = format!("the divergence of a step of {da}");
            check.near(what, found, kl.mean, ERRORS * kl.standard_error + 1e-9)?;
        }
        Ok(())
    }

    /// The scale c of the error c/√a is measured at a clock of 10⁴ with 256 draws; at 10⁶ and 10⁹ the error is at most 8 c/√a, and the
    /// rounding of f32.
    pub(super) fn convergence(&self, check: &mut Check) -> Result<(), Violation> {
        let point = self.point(&self.x);
        let largest = point.iter().fold(0f32, |largest, x| largest.max(x.abs()));
        let errors = |a: f64, part: u64| -> Vec<f64> {
            let s = self.draw(&self.x, a, &mut self.rng(Law::Convergence, part));
            self.mean(&s, a).iter().zip(&point).map(|(mu, x)| f64::from(mu - x)).collect()
        };
        let mut scale = vec![0.0; point.len()];
        for part in 0..256 {
            let squares = errors(1e4, part).into_iter().map(|e| e * e * 1e4 / 256.0);
            scale.iter_mut().zip(squares).for_each(|(scale, square)| *scale += square);
        }
        for (part, a) in [(256, 1e6f64), (257, 1e9)] {
            for (i, error) in errors(a, part).into_iter().enumerate() {
                let allowed = 8.0 * (scale[i] / a).sqrt() + 2e-7 * f64::from(largest);
                check.near(format!("μ − x at clock {a:e}, entry {i}"), error, 0.0, allowed)?;
            }
        }
        Ok(())
    }

    /// Mean and variance of 200,000 draws with the mean ¾ x + ¼ y and a quarter of it as standard deviation.
    pub(super) fn components(&self, check: &mut Check) -> Result<(), Violation> {
        if self.pair.marginal_law() != MarginalLaw::Mixture {
            return check.skip("the marginal law is not a mixture of numbers");
        }
        let mean = f64::from(self.between()[0]);
        let sd = if mean == 0.0 { 0.25 } else { 0.25 * mean.abs() };
        let mut rng = self.rng(Law::Components, 0);
        let mut component = |sd| self.pair.component(mean, sd, &mut rng).unwrap_or(f64::NAN);
        check.near("a component without spread", component(0.0), mean, 0.0)?;
        let draws: Vec<f64> = (0..200_000).map(|_| component(sd)).collect();
        let squares: Vec<f64> = draws.iter().map(|d| (d - mean) * (d - mean)).collect();
        for (what, values, expected) in [("mean", draws, mean), ("variance", squares, sd * sd)] {
            let found = MonteCarlo::of(&values);
            let allowed = ERRORS * found.standard_error;
            check.near(format!("the {what} of a component"), found.mean, expected, allowed)?;
        }
        Ok(())
    }

    /// Rows of 24 at shared and at unequal clocks (0, tiny and ∞ among them), drawn and then advanced, against single coordinates.
    pub(super) fn rows(&self, check: &mut Check) -> Result<(), Violation> {
        if self.pair.mean_len() >= 100 {
            return check.skip("100 classes or more take too long");
        }
        for (part, clocks) in [(0, [0.7; 6]), (2, [0.5, 0.0, 3.0, 1e-3, 6.0, f64::INFINITY])] {
            let (rows, single) = self.row_draws(part, clocks);
            for (c, single) in single.into_iter().enumerate() {
                let pooled: Vec<f64> = rows.iter().skip(c).step_by(6).flatten().copied().collect();
                let allowed = allowed_gap(pooled.len());
                let what =
                    format!("the largest gap between rows and single coordinates, a step of {}", clocks[c]);
                check.near(what, largest_gap(pooled, single), 0.0, allowed)?;
            }
            for (c, pair) in rows.windows(2).enumerate() {
                let allowed = ERRORS / (ROW_DRAWS as f64).sqrt();
                let what = format!("the correlation of coordinates {c} and {}", c + 1);
                check.near(what, correlation(&pair[0], &pair[1]), 0.0, allowed)?;
            }
        }
        Ok(())
    }

    /// Summaries of every coordinate of a row, and of single coordinates at each of the six clocks.
    fn row_draws(&self, part: u64, clocks: [f64; 6]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (x, x_hat) = (self.x.repeat(WIDTH), self.between());
        let (x_hats, da) = (x_hat.repeat(WIDTH), clocks.repeat(WIDTH / 6));
        let (mut rng_rows, mut rng_single) = (self.rng(Law::Rows, part), self.rng(Law::Rows, part + 1));
        let (mut rows, mut single) = (vec![Vec::new(); WIDTH], vec![Vec::new(); 6]);
        let mut s = self.start().repeat(WIDTH);
        for _ in 0..ROW_DRAWS {
            self.pair.draw_row(&x, &[0.4; WIDTH], &mut s, &mut rng_rows);
            self.pair.advance_row(&mut s, &da, &x_hats, &mut rng_rows);
            let summaries = s.chunks_exact(self.pair.stat_len()).map(|s| (self.summary)(s));
            rows.iter_mut().zip(summaries).for_each(|(row, summary)| row.push(summary));
            for (c, da) in da.iter().enumerate() {
                let mut s = self.draw(&self.x, 0.4, &mut rng_single);
                self.pair.advance(&mut s, *da, &x_hat, &mut rng_single);
                single[c % 6].push((self.summary)(&s));
            }
        }
        (rows, single)
    }
}

/// Coordinates of a row.
const WIDTH: usize = 24;
/// Rows that are drawn.
const ROW_DRAWS: usize = 6_000;
