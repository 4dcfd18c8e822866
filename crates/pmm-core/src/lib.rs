//! The mathematics of Posterior Mean Matching (Salazar, Kucer, Wang, Casleton, Blei, 2025): conjugate pairs, clocks,
//! samplers and bounds. No network engine, no file formats.
//!
//! A data value x is watched through noise. Observations add up to a statistic S on an information clock a, and a conjugate
//! prior gives the posterior mean μ = (prior pseudo-sum + S)/(prior pseudo-count + a), which starts at the prior mean and
//! ends at x. A denoiser g learns to tell x from μ; letting the same Bayesian inference run on observations drawn
//! from g's estimate makes new data.
//!
//! | pair | x | S given x at clock a | μ | D(x, x̂) |
//! |---|---|---|---|---|
//! | [`Normal`] | real | N(a x, a) | (b m + S)/(b + a) | ½ (x − x̂)² |
//! | [`Poisson`] | count, x ≥ 0 | Pois(a x) | (β₁ + S)/(β₂ + a) | x log(x/x̂) − x + x̂ |
//! | [`Categorical`] | token, simplex | Pois(a) marks, each Cat(x) | (1/K + S)/(V/K + N) | Σ x log(x/x̂) |
//! | [`Masked`] (K → ∞) | token | masked with probability e^(−a) | uniform, then one-hot | −log x̂\[x\] while masked |
//! | [`Gamma`] | positive | Γ(shape a, scale x) | (β₂ + S)/(β₁ − 1 + a) | log(x̂/x) + x/x̂ − 1 |
//!
//! Pairs are open: a type of any crate that implements [`ScalarPair`] (a coordinate is one number, by a handful of formulas) or
//! [`Pair`] works in a [`Block`], and with it in samplers, bounds and oracles. [`laws`] is the suite that every pair of this crate
//! passes, for authors of others; `examples/negative_binomial.rs` is such a pair in under 100 lines.
//!
//! # Symbols
//!
//! | symbol | in code | meaning |
//! |---|---|---|
//! | x, x̂, x̃ | `x`, `x_hat` | a data value; its estimate E\[x given the state\]; a draw from its marginal posterior |
//! | S, μ | `stat`, `s`; `mu`, `means` | statistic; posterior mean |
//! | t, f, A | `t`, `rate`, `information` | time from 0 to 1; the clock's rate; its reading a = A(t) = ∫ f |
//! | a, Δa | `a`, `clock`; `da` | clock reading (0 unknown, ∞ observed); what a step adds to it |
//! | D | `divergence`, `divergence_gradient` | rate of divergence: Δa·D is the divergence of one step; its gradient with respect to x̂ |
//! | Var | `variance` | variance of S per unit of clock, where x is one number |
//! | η, ψ | `natural` | natural parameter and its potential: log p(S given x) = ⟨S, η⟩ − a ψ |
//! | b, m; β₁, β₂; K | `precision`, `prior_mean`; `shape`, `rate` or `scale`; `k` | parameters of the priors |
//! | V, C, c | `classes`; `width`, `length`; `coordinate`, `position` | vocabulary size; coordinates of a block or text; one of them |
//! | σ, u | `sigma`, `u` | for Normal: noise level 1/√a; S/a |
//!
//! # The way in and the way out
//!
//! In: data → [`Space::check`] → [`States::draw`] → [`Denoiser`] → [`bound`]. Out: [`States::prior`] (with
//! [`States::observe`] for conditioning) → [`online`], [`ode`] or [`leap`] → data; for texts [`events`], [`steps`] or
//! [`parallel`]. [`FiniteTarget`] and [`MarkovChain`] are perfect denoisers of known targets, against which all of this is
//! tested.
//!
//! Randomness always comes from [`Streams`], keyed by (seed, purpose, step, row): results do not depend on threads or batches.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/method.md")]
struct MethodPage;

mod any_pair;
mod bound;
mod clock;
mod denoise;
mod distance;
mod draw;
mod elements;
mod error;
pub mod laws;
mod oracle;
mod order;
mod order_bound;
mod order_grow;
mod order_sample;
mod pair;
mod purpose;
mod rng;
mod sample;
mod sde;
mod space;
mod states;
mod text_bound;

pub use any_pair::AnyPair;
pub use bound::{Bound, MonteCarlo, Terminal, Times, bound};
pub use clock::{Clock, Exponential, Linear, LogLinear, SemiAutoregressive, Staircase, TimeGrid};
pub use denoise::{Denoiser, Estimate, Estimates, Head, Mixture, Texts, TokenDenoiser, TokenPosition};
pub use distance::{
    sliced_wasserstein, total_variation, total_variation_error, total_variation_noise, wasserstein,
};
pub use draw::GammaLaw;
pub use elements::{Element, Elements};
pub use error::{ParameterError, SpaceError, ValueError};
pub use oracle::{FiniteTarget, MarkovChain, TargetError};
pub use order::{EventOrder, OrderLaw, OrderMixture};
pub use order_bound::order_bound;
pub use order_grow::GrowingTexts;
pub use order_sample::{FilledPositions, SequentialDenoiser, fill_positions, in_order};
pub use pair::{
    Categorical, DataKind, Gamma, Increments, MASK, MarginalLaw, Masked, Normal, Pair, Poisson, ScalarPair,
    Support,
};
pub use purpose::Purpose;
pub use rng::{Stream, Streams};
pub use sample::{
    Churn, Filter, Finish, Group, Observer, Order, Parallel, Prompt, Solver, TextError, TextObserver,
    TextSamples, events, leap, ode, online, parallel, reveal, second_order, steps,
};
pub use sde::{normal_sde, poisson_sde};
pub use space::{Block, Space, Values};
pub use states::{States, advance_block, draw_block};
pub use text_bound::{TextBound, text_bound};
