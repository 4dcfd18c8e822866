//! Pairs whose coordinate is one number: their formulas in f64, and from these a [`Pair`] once for all of them.

use super::Pair;
use crate::error::ValueError;
use crate::rng::Stream;

/// The formulas of a pair with a scalar statistic. Clocks are finite here; the blanket [`Pair`] handles 0 and ∞.
pub(crate) trait ScalarPair: Clone + std::fmt::Debug + Send + Sync {
    /// The pair's name.
    const NAME: &'static str;
    /// Refuses x off the support.
    fn check(&self, x: f32) -> Result<(), ValueError>;
    /// The nearest value of the support, for the last step of a sampler.
    fn settle(&self, x_hat: f64) -> f64;
    /// What an increment needs to know of its clock difference.
    type Step;
    /// Prepares a finite clock difference `da` > 0, once for all neighbours that share it.
    fn step(&self, da: f64) -> Self::Step;
    /// An increment of S over a step.
    fn increment(&self, x: f64, step: &Self::Step, rng: &mut Stream) -> f64;
    /// The posterior mean at a finite clock.
    fn mean(&self, s: f64, a: f64) -> f64;
    /// The divergence rate D(x, x̂).
    fn divergence(&self, x: f64, x_hat: f64) -> f64;
    /// (η(x), ψ(x)).
    fn natural(&self, x: f64) -> (f64, f64);
    /// A draw from the prior family with this mean and this standard deviation > 0.
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> f64;
}

/// The step of a clock difference: the last one again, if that was of the same difference.
#[inline]
fn shared_step<'a, P: ScalarPair>(pair: &P, da: f64, last: &'a mut (f64, P::Step)) -> &'a P::Step {
    if da != last.0 {
        *last = (da, pair.step(da));
    }
    &last.1
}

impl<P: ScalarPair> Pair for P {
    type Value = f32;
    type Stat = f64;

    fn name(&self) -> &'static str {
        P::NAME
    }
    fn value_len(&self) -> usize {
        1
    }
    fn stat_len(&self) -> usize {
        1
    }
    fn mean_len(&self) -> usize {
        1
    }

    fn check(&self, x: &[f32]) -> Result<(), ValueError> {
        ScalarPair::check(self, x[0])
    }

    #[inline]
    fn start(&self, s: &mut [f64]) {
        s[0] = 0.0;
    }
    #[inline]
    fn draw(&self, x: &[f32], a: f64, s: &mut [f64], rng: &mut Stream) {
        let x = f64::from(x[0]);
        s[0] = if a == f64::INFINITY {
            x
        } else if a > 0.0 {
            self.increment(x, &self.step(a), rng)
        } else {
            0.0
        };
    }
    fn draw_row(&self, x: &[f32], a: &[f64], s: &mut [f64], rng: &mut Stream) {
        let mut shared = (1.0, self.step(1.0));
        for ((s, x), &a) in s.iter_mut().zip(x).zip(a) {
            if a > 0.0 && a < f64::INFINITY {
                *s = self.increment(f64::from(*x), shared_step(self, a, &mut shared), rng);
            } else {
                self.draw(std::slice::from_ref(x), a, std::slice::from_mut(s), rng);
            }
        }
    }
    #[inline]
    fn advance(&self, s: &mut [f64], da: f64, x_hat: &[f32], rng: &mut Stream) {
        let x_hat = f64::from(x_hat[0]);
        if da == f64::INFINITY {
            s[0] = self.settle(x_hat);
        } else if da > 0.0 {
            s[0] += self.increment(x_hat, &self.step(da), rng);
        }
    }
    fn advance_row(&self, s: &mut [f64], da: &[f64], x_hat: &[f32], rng: &mut Stream) {
        let mut shared = (1.0, self.step(1.0));
        for ((s, x_hat), &da) in s.iter_mut().zip(x_hat).zip(da) {
            if da > 0.0 && da < f64::INFINITY {
                *s += self.increment(f64::from(*x_hat), shared_step(self, da, &mut shared), rng);
            } else {
                self.advance(std::slice::from_mut(s), da, std::slice::from_ref(x_hat), rng);
            }
        }
    }
    fn observed(&self, s: &[f64], x: &mut [f32]) {
        x[0] = s[0] as f32;
    }

    #[inline]
    fn mean(&self, s: &[f64], a: f64, mu: &mut [f32]) {
        mu[0] = if a == f64::INFINITY { s[0] } else { ScalarPair::mean(self, s[0], a) } as f32;
    }
    fn prior_mean(&self, mu: &mut [f32]) {
        mu[0] = ScalarPair::mean(self, 0.0, 0.0) as f32;
    }
    fn embed(&self, x: &[f32], point: &mut [f32]) {
        point[0] = x[0];
    }

    fn divergence(&self, x: &[f32], x_hat: &[f32]) -> f64 {
        ScalarPair::divergence(self, f64::from(x[0]), f64::from(x_hat[0]))
    }
    fn remaining_divergence(&self, _: &[f64], x: &[f32], x_hat: &[f32]) -> f64 {
        Pair::divergence(self, x, x_hat)
    }

    fn natural(&self, x: &[f32], eta: &mut [f64]) -> f64 {
        let (natural, psi) = ScalarPair::natural(self, f64::from(x[0]));
        eta[0] = natural;
        psi
    }
    fn add_log_likelihood(&self, s: &[f64], a: f64, eta: &[f64], psi: &[f64], log_likelihood: &mut [f64]) {
        let s = s[0];
        for ((l, eta), psi) in log_likelihood.iter_mut().zip(eta).zip(psi) {
            *l += s * eta - a * psi;
        }
    }

    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> Option<f64> {
        Some(if sd > 0.0 { ScalarPair::component(self, mean, sd, rng) } else { mean })
    }
}
