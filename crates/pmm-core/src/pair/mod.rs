//! Conjugate pairs: how one coordinate is observed on its information clock, and what the posterior mean is.
//!
//! A pair is an exponential family seen twice. Observations up to clock `a` add up to a statistic S whose law depends
//! on the data value x only through `⟨S, η(x)⟩ − a ψ(x)` ([`Pair::natural`]). The prior is conjugate, so the posterior
//! mean is always (prior pseudo-sum + S) / (prior pseudo-count + a). And the divergence
//! `D(x, x̂) = ⟨x, η(x) − η(x̂)⟩ − ψ(x) + ψ(x̂)` is the Bregman divergence of the family: `Δa·D` is the
//! Kullback–Leibler divergence between one step's increments under x and under x̂, and its expectation is smallest at
//! x̂ = E[x | S].

mod categorical;
mod gamma;
mod increments;
mod masked;
mod normal;
mod poisson;
mod scalar;
mod support;

pub use categorical::Categorical;
pub use gamma::Gamma;
pub use increments::{Increments, MarginalLaw};
pub(crate) use masked::reveal_probability;
pub use masked::{MASK, Masked};
pub use normal::Normal;
pub use poisson::Poisson;
pub use scalar::ScalarPair;
pub use support::{DataKind, Support};

use crate::elements::Element;
use crate::error::ValueError;
use crate::rng::Stream;

/// Stands for the logarithm of 0: finite, so that 0 · log 0 = 0 and states that no x explains can still be compared.
pub(crate) const IMPOSSIBLE: f64 = -1e30;

/// One kind of coordinate. Slices hold one coordinate: `value_len` elements of x, `stat_len` of S, `mean_len` of μ or x̂.
///
/// A clock of ∞ means *observed*: the statistic's slot then holds x itself, and the posterior mean is x.
///
/// The trait is open: a type of any crate that implements it works in [`Block`](crate::Block)s, and so in samplers, bounds and
/// oracles. Where x is one number, implement the shorter [`ScalarPair`]. [`laws::Case`](crate::laws::Case) checks an implementation.
pub trait Pair: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// An element of the data.
    type Value: Element;
    /// An element of the statistic.
    type Stat: Element;

    /// The pair's name, for messages.
    fn name(&self) -> &'static str;
    /// Elements of x per coordinate.
    fn value_len(&self) -> usize;
    /// Elements of S per coordinate.
    fn stat_len(&self) -> usize;
    /// Elements of μ and x̂ per coordinate.
    fn mean_len(&self) -> usize;

    /// The values that x can have.
    fn support(&self) -> Support;
    /// Refuses x off the support.
    fn check(&self, x: &[Self::Value]) -> Result<(), ValueError>;

    /// The kind of data that the pair is made for.
    fn kind(&self) -> DataKind {
        self.support().kind()
    }
    /// Whether data of a kind can be its values.
    fn serves(&self, kind: DataKind) -> bool {
        self.support().serves(kind)
    }
    /// How the increments depend on x: which samplers can move the pair, and whether the mean is enough.
    fn increments(&self) -> Increments {
        Increments::Nonlinear
    }
    /// How a marginal head describes p(x | state): a mixture, where x is one number.
    fn marginal_law(&self) -> MarginalLaw {
        if self.mean_len() == 1 { MarginalLaw::Mixture } else { MarginalLaw::Mean }
    }

    /// The statistic at clock 0.
    fn start(&self, s: &mut [Self::Stat]) {
        s.fill(Self::Stat::default());
    }
    /// The statistic at clock `a` (from 0 to ∞), drawn straight from x.
    fn draw(&self, x: &[Self::Value], a: f64, s: &mut [Self::Stat], rng: &mut Stream);
    /// A row of coordinates, each at its own clock, from one stream.
    fn draw_row(&self, x: &[Self::Value], a: &[f64], s: &mut [Self::Stat], rng: &mut Stream) {
        let coordinates = x.chunks_exact(self.value_len()).zip(s.chunks_exact_mut(self.stat_len()));
        for ((x, s), &a) in coordinates.zip(a) {
            self.draw(x, a, s, rng);
        }
    }
    /// Adds the observations of a further `da` (0 to ∞), drawn from the estimate x̂. At ∞ the coordinate becomes
    /// observed, at the value nearest to x̂ on the support (for tokens: a draw from x̂).
    fn advance(&self, s: &mut [Self::Stat], da: f64, x_hat: &[f32], rng: &mut Stream);
    /// A row of coordinates, each by its own `da`, from one stream.
    fn advance_row(&self, s: &mut [Self::Stat], da: &[f64], x_hat: &[f32], rng: &mut Stream) {
        let coordinates = s.chunks_exact_mut(self.stat_len()).zip(x_hat.chunks_exact(self.mean_len()));
        for ((s, x_hat), &da) in coordinates.zip(da) {
            self.advance(s, da, x_hat, rng);
        }
    }
    /// The value of an observed coordinate.
    fn observed(&self, s: &[Self::Stat], x: &mut [Self::Value]);

    /// The posterior mean μ at clock `a`.
    fn mean(&self, s: &[Self::Stat], a: f64, mu: &mut [f32]);
    /// The prior mean: μ at clock 0.
    fn prior_mean(&self, mu: &mut [f32]);
    /// x as a point of the space of means (itself; one-hot for a token).
    fn embed(&self, x: &[Self::Value], point: &mut [f32]);

    /// The divergence rate D(x, x̂) ≥ 0 while the coordinate is not yet known; infinite where x̂ rules x out.
    fn divergence(&self, x: &[Self::Value], x_hat: &[f32]) -> f64;
    /// The gradient of D with respect to x̂, `mean_len` long; each entry of x̂ counts as free, also where they sum to 1.
    fn divergence_gradient(&self, x: &[Self::Value], x_hat: &[f32], gradient: &mut [f64]);
    /// The part of D that counts at this state: all of it, except that a revealed token has nothing left to learn.
    fn remaining_divergence(&self, _s: &[Self::Stat], x: &[Self::Value], x_hat: &[f32]) -> f64 {
        self.divergence(x, x_hat)
    }
    /// What D counts over a step of length `da`: `da` itself, except for tokens, which are revealed at most once.
    fn step_weight(&self, da: f64) -> f64 {
        da
    }
    /// The Kullback–Leibler divergence between the increments of one step of length `da` under x and under x̂.
    fn step_kl(&self, x: &[Self::Value], x_hat: &[f32], da: f64) -> f64 {
        self.step_weight(da) * self.divergence(x, x_hat)
    }

    /// The natural parameter η(x), written to `eta` (`mean_len` long), and ψ(x), returned.
    fn natural(&self, x: &[Self::Value], eta: &mut [f64]) -> f64;
    /// Adds `⟨S, η⟩ − a ψ`, the log-likelihood of S at a finite clock `a`, for each of many x: `eta` is
    /// `[points, mean_len]`, `psi` and `log_likelihood` are `[points]`.
    fn add_log_likelihood(
        &self,
        s: &[Self::Stat],
        a: f64,
        eta: &[f64],
        psi: &[f64],
        log_likelihood: &mut [f64],
    );

    /// Draws x̃ from one component of a marginal head: a member of the pair's prior family, by mean and standard
    /// deviation (0 for an atom). `None` where the marginal law is not a mixture of numbers ([`Pair::marginal_law`]).
    fn component(&self, _mean: f64, _sd: f64, _rng: &mut Stream) -> Option<f64> {
        None
    }
}
