//! The stochastic differential equations of the paper's two theorems, as paths one can run.

use crate::clock::{Clock, TimeGrid};
use crate::draw;
use crate::pair::{Normal, Poisson, ScalarPair};
use crate::rng::Stream;

/// Normal pair: dμ = f (x̂ − μ)/(b + A) dt + √f/(b + A) dW by Euler–Maruyama. Returns μ at every time of the grid.
///
/// `x_hat(μ, t)` is the data value itself (the theorem), or an estimate of it (a sampler).
///
/// ```
/// use pmm_core::{Exponential, TimeGrid, Normal, Purpose, Streams, normal_sde};
/// let mut rng = Streams::new(0).stream(Purpose::ADVANCE, 0, 0);
/// let path = normal_sde(&Normal::new(2.0, 0.0)?, &Exponential::default(), &TimeGrid::uniform(2000)?, |_, _| 1.5, &mut rng);
/// assert_eq!(path[0], 0.0); // the prior mean
/// assert!((path[2000] - 1.5).abs() < 0.1); // the data value
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
pub fn normal_sde(
    pair: &Normal,
    clock: &dyn Clock,
    grid: &TimeGrid,
    x_hat: impl Fn(f64, f64) -> f64,
    rng: &mut Stream,
) -> Vec<f64> {
    euler(grid, pair.posterior_mean(0.0, 0.0), |mu, t, dt| {
        let (f, total) = (clock.rate(t, 0.0), pair.precision() + clock.information(t, 0.0));
        mu + f * (x_hat(mu, t) - mu) / total * dt + (f * dt).sqrt() / total * rng.normal()
    })
}

/// Poisson pair: dμ = (L' + (κ'/κ)(μ − L)) dt + κ dN with κ = 1/(β₂ + A), L = β₁ κ, and N a Cox process of rate x̂ f (the
/// paper leaves f out). Since L' = −β₁ f κ² and κ'/κ = −f κ, the drift is −f κ μ. Returns μ at every time of the
/// grid.
pub fn poisson_sde(
    pair: &Poisson,
    clock: &dyn Clock,
    grid: &TimeGrid,
    x_hat: impl Fn(f64, f64) -> f64,
    rng: &mut Stream,
) -> Vec<f64> {
    euler(grid, pair.posterior_mean(0.0, 0.0), |mu, t, dt| {
        let (f, kappa) = (clock.rate(t, 0.0), 1.0 / (pair.rate() + clock.information(t, 0.0)));
        let jumps = draw::poisson(x_hat(mu, t) * f * dt, rng);
        mu - f * kappa * mu * dt + kappa * jumps
    })
}

fn euler(grid: &TimeGrid, start: f64, mut step: impl FnMut(f64, f64, f64) -> f64) -> Vec<f64> {
    let mut path = vec![start];
    for times in grid.times().windows(2) {
        path.push(step(path[path.len() - 1], times[0], times[1] - times[0]));
    }
    path
}
