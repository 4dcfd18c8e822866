//! Pairs whose coordinate is one number: a handful of formulas in f64, and from these a [`Pair`] once for all of them.

use super::{IMPOSSIBLE, Increments, Pair, Support};
use crate::error::ValueError;
use crate::rng::Stream;

/// A pair whose data value, statistic and mean are one number each. Implement this, and [`Pair`] follows: with it the pair works in
/// spaces, samplers, bounds and oracles.
///
/// The mathematics asks for a natural exponential family in its mean parametrisation, whose increments add up: S over a clock
/// difference Δa has the mean Δa·x, the variance Δa·Var(x) and the density ∝ exp(S η(x) − Δa ψ(x)), with η′ = 1/Var and ψ′ = x/Var. Then
/// the conjugate prior gives μ = (prior pseudo-sum + S)/(prior pseudo-count + a), and D is a Bregman divergence with the gradient
/// (x̂ − x)/Var(x̂). [`laws::Case`](crate::laws::Case) checks all of it.
///
/// Clocks are finite and positive here; the blanket [`Pair`] takes care of 0 and ∞. `examples/negative_binomial.rs` is a pair of a
/// user's own.
///
/// ```
/// use pmm_core::{Normal, ScalarPair};
/// let pair = Normal::new(2.0, 0.5)?; // b, m
/// assert_eq!(pair.prior(), (1.0, 2.0)); // b m, b
/// assert_eq!(pair.posterior_mean(3.0, 4.0), (1.0 + 3.0) / (2.0 + 4.0));
/// assert_eq!(pair.divergence_gradient(1.0, 3.0), 2.0);
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
pub trait ScalarPair: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// The pair's name, for messages.
    const NAME: &'static str;
    /// What an increment needs to know of its clock difference; the difference itself, if there is nothing to prepare.
    type Step;

    /// The values that x can have.
    fn support(&self) -> Support;
    /// The prior's pseudo-sum and pseudo-count, whose ratio is the prior mean.
    fn prior(&self) -> (f64, f64);
    /// Prepares a finite clock difference `da` > 0, once for all neighbours that share it.
    fn step(&self, da: f64) -> Self::Step;
    /// An increment of S over a step.
    fn increment(&self, x: f64, step: &Self::Step, rng: &mut Stream) -> f64;
    /// (η(x), ψ(x)); η may be −∞ at the end of the support.
    fn natural(&self, x: f64) -> (f64, f64);
    /// Var(x), the variance of S per unit of clock.
    fn variance(&self, x: f64) -> f64;
    /// A draw from the prior family with this mean and this standard deviation > 0.
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> f64;

    /// How the increments depend on x.
    fn increments(&self) -> Increments {
        Increments::Nonlinear
    }
    /// The posterior mean at a finite clock: (pseudo-sum + S)/(pseudo-count + a).
    #[inline]
    fn posterior_mean(&self, s: f64, a: f64) -> f64 {
        let (sum, count) = self.prior();
        (sum + s) / (count + a)
    }
    /// The divergence rate D(x, x̂) = x (η(x) − η(x̂)) − ψ(x) + ψ(x̂). A form that loses fewer digits where x̂ is close to x is worth
    /// overriding this for.
    fn divergence(&self, x: f64, x_hat: f64) -> f64 {
        let ((eta, psi), (eta_hat, psi_hat)) = (self.natural(x), self.natural(x_hat));
        let product = if x == 0.0 { 0.0 } else { x * (eta - eta_hat) };
        (product - psi + psi_hat).max(0.0)
    }
    /// ∂D/∂x̂ = (x̂ − x)/Var(x̂).
    fn divergence_gradient(&self, x: f64, x_hat: f64) -> f64 {
        if x == x_hat { 0.0 } else { (x_hat - x) / self.variance(x_hat) }
    }
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

    fn support(&self) -> Support {
        ScalarPair::support(self)
    }
    fn check(&self, x: &[f32]) -> Result<(), ValueError> {
        ScalarPair::support(self).check(x)
    }
    fn increments(&self) -> Increments {
        ScalarPair::increments(self)
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
            s[0] = ScalarPair::support(self).nearest_number(x_hat);
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
        mu[0] = if a == f64::INFINITY { s[0] } else { self.posterior_mean(s[0], a) } as f32;
    }
    fn prior_mean(&self, mu: &mut [f32]) {
        mu[0] = self.posterior_mean(0.0, 0.0) as f32;
    }
    fn embed(&self, x: &[f32], point: &mut [f32]) {
        point[0] = x[0];
    }

    fn divergence(&self, x: &[f32], x_hat: &[f32]) -> f64 {
        ScalarPair::divergence(self, f64::from(x[0]), f64::from(x_hat[0]))
    }
    fn divergence_gradient(&self, x: &[f32], x_hat: &[f32], gradient: &mut [f64]) {
        gradient[0] = ScalarPair::divergence_gradient(self, f64::from(x[0]), f64::from(x_hat[0]));
    }

    fn natural(&self, x: &[f32], eta: &mut [f64]) -> f64 {
        let (natural, psi) = ScalarPair::natural(self, f64::from(x[0]));
        eta[0] = natural.max(IMPOSSIBLE);
        psi
    }
    fn add_log_likelihood(&self, s: &[f64], a: f64, eta: &[f64], psi: &[f64], log_likelihood: &mut [f64]) {
        let (s, points) = (s[0], log_likelihood.len());
        let (eta, psi) = (&eta[..points], &psi[..points]);
        for (m, l) in log_likelihood.iter_mut().enumerate() {
            *l += s * eta[m] - a * psi[m];
        }
    }

    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> Option<f64> {
        Some(if sd > 0.0 { ScalarPair::component(self, mean, sd, rng) } else { mean })
    }
}
