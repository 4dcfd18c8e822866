//! Dirichlet–Categorical with finite K: categories seen through marks, with a dense posterior mean.

use super::{IMPOSSIBLE, Increments, MarginalLaw, Pair, Support};
use crate::draw;
use crate::error::{ParameterError, ValueError};
use crate::rng::Stream;

/// Prior x ~ Dir(1/K, …, 1/K) over V classes; by clock a there are N ~ Pois(a) marks, each Cat(x), and S counts them;
/// μ = (1/K + S)/(V/K + N); D = Σ x log(x/x̂).
///
/// A state holds V numbers per coordinate. The limit K → ∞, where only the first mark matters, is [`Masked`]: far
/// cheaper, and what text wants. Data are tokens, as one-hot vectors, unless [`Categorical::simplex`] allows any point of
/// the simplex.
///
/// ```
/// use pmm_core::{Categorical, Pair};
/// let pair = Categorical::new(3, 2.0)?; // V, K
/// let mut mu = [0.0; 3];
/// pair.mean(&[0.0, 4.0, 1.0], 5.5, &mut mu); // S; the clock itself does not enter, N does
/// assert_eq!(mu[1], (0.5 + 4.0) / (3.0 / 2.0 + 5.0));
/// assert!(pair.check(&[0.5, 0.5, 0.0]).is_err() && pair.simplex().check(&[0.5, 0.5, 0.0]).is_ok());
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
///
/// [`Masked`]: crate::Masked
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Categorical {
    classes: u32,
    concentration: f64,
    tokens: bool,
}

impl Categorical {
    /// V ≥ 2 classes and a finite K > 0 (each class has prior pseudo-count 1/K).
    pub fn new(classes: u32, k: f64) -> Result<Self, ParameterError> {
        check_classes(classes)?;
        Ok(Self { classes, concentration: 1.0 / ParameterError::positive("the prior's K", k)?, tokens: true })
    }

    /// The same pair for any point of the simplex in place of tokens.
    pub fn simplex(self) -> Self {
        Self { tokens: false, ..self }
    }

    /// The number of classes V.
    pub fn classes(&self) -> u32 {
        self.classes
    }
}

/// Refuses fewer than two classes.
pub(super) fn check_classes(classes: u32) -> Result<(), ParameterError> {
    let holds = (2..super::MASK).contains(&classes);
    ParameterError::unless(
        holds,
        "the number of classes V",
        "at least 2 and below 2^32 - 1",
        classes.into(),
    )?;
    Ok(())
}

/// Adds Pois(da) marks, each Cat(x). A few marks are drawn one by one. More of them are points of a Poisson process on a
/// line of length da, cut into pieces of length da · x[v]: one walk with exponential gaps serves all pieces, and long
/// pieces take one Poisson draw instead.
fn add_marks(s: &mut [f64], x: &[f32], da: f64, rng: &mut Stream) {
    const LONG: f64 = 16.0;
    let mut gap = rng.exponential();
    if da <= FEW {
        return add_few_marks(s, x, da, &mut gap, rng);
    }
    for (s, &x) in s.iter_mut().zip(x) {
        let mut rest = da * f64::from(x);
        if rest > LONG {
            *s += draw::poisson(rest, rng);
            continue;
        }
        while gap < rest {
            *s += 1.0;
            rest -= gap;
            gap = rng.exponential();
        }
        gap -= rest;
    }
}

/// Up to this step, marks are drawn one by one.
const FEW: f64 = 4.0;

/// Adds the marks of a step one by one, the next one being `gap` away.
#[inline]
fn add_few_marks(s: &mut [f64], x: &[f32], mut da: f64, gap: &mut f64, rng: &mut Stream) {
    while *gap < da {
        s[draw::categorical(x, rng)] += 1.0;
        da -= *gap;
        *gap = rng.exponential();
    }
    *gap -= da;
}

/// The class of a one-hot vector, found without a branch.
fn class_of(x: &[f32]) -> usize {
    x.iter().zip(0i32..).map(|(&x, class)| if x != 0.0 { class } else { 0 }).fold(0, i32::max) as usize
}

impl Pair for Categorical {
    type Value = f32;
    type Stat = f64;

    fn name(&self) -> &'static str {
        "Categorical"
    }
    fn value_len(&self) -> usize {
        self.classes as usize
    }
    fn stat_len(&self) -> usize {
        self.classes as usize
    }
    fn mean_len(&self) -> usize {
        self.classes as usize
    }

    fn support(&self) -> Support {
        if self.tokens { Support::Tokens(self.classes) } else { Support::Simplex(self.classes) }
    }
    fn check(&self, x: &[f32]) -> Result<(), ValueError> {
        self.support().check(x)
    }
    fn increments(&self) -> Increments {
        Increments::Linear
    }
    fn marginal_law(&self) -> MarginalLaw {
        MarginalLaw::Vertices
    }

    fn draw(&self, x: &[f32], a: f64, s: &mut [f64], rng: &mut Stream) {
        if a == f64::INFINITY {
            s.iter_mut().zip(x).for_each(|(s, &x)| *s = f64::from(x));
            return;
        }
        s.fill(0.0);
        if self.tokens {
            s[class_of(x)] = draw::poisson(a, rng);
        } else {
            add_marks(s, x, a, rng);
        }
    }
    fn advance(&self, s: &mut [f64], da: f64, x_hat: &[f32], rng: &mut Stream) {
        if da < f64::INFINITY {
            add_marks(s, x_hat, da, rng);
        } else if self.tokens {
            s.fill(0.0);
            s[draw::categorical(x_hat, rng)] = 1.0;
        } else {
            let total: f64 = x_hat.iter().copied().map(f64::from).sum();
            s.iter_mut().zip(x_hat).for_each(|(s, &x)| *s = f64::from(x) / total);
        }
    }
    /// Marks arrive along the coordinates as along a line: those without a mark cost one comparison.
    fn advance_row(&self, s: &mut [f64], da: &[f64], x_hat: &[f32], rng: &mut Stream) {
        let classes = self.classes as usize;
        let mut gap = rng.exponential();
        for ((s, x_hat), &da) in s.chunks_exact_mut(classes).zip(x_hat.chunks_exact(classes)).zip(da) {
            if da <= FEW {
                add_few_marks(s, x_hat, da, &mut gap, rng);
            } else {
                self.advance(s, da, x_hat, rng);
            }
        }
    }
    fn observed(&self, s: &[f64], x: &mut [f32]) {
        x.iter_mut().zip(s).for_each(|(x, &s)| *x = s as f32);
    }

    fn mean(&self, s: &[f64], a: f64, mu: &mut [f32]) {
        if a == f64::INFINITY {
            return self.observed(s, mu);
        }
        let marks: f64 = s.iter().sum();
        let total = f64::from(self.classes) * self.concentration + marks;
        mu.iter_mut().enumerate().for_each(|(v, mu)| *mu = ((self.concentration + s[v]) / total) as f32);
    }
    fn prior_mean(&self, mu: &mut [f32]) {
        mu.fill(1.0 / self.classes as f32);
    }
    fn embed(&self, x: &[f32], point: &mut [f32]) {
        point.copy_from_slice(x);
    }

    fn divergence(&self, x: &[f32], x_hat: &[f32]) -> f64 {
        let terms = x.iter().zip(x_hat).filter(|(x, _)| **x > 0.0);
        let sum: f64 = terms.map(|(&x, &h)| f64::from(x) * (f64::from(x) / f64::from(h)).ln()).sum();
        sum.max(0.0)
    }
    /// −x/x̂, and 0 where x is 0.
    fn divergence_gradient(&self, x: &[f32], x_hat: &[f32], gradient: &mut [f64]) {
        for ((g, &x), &h) in gradient.iter_mut().zip(x).zip(x_hat) {
            *g = if x > 0.0 { -f64::from(x) / f64::from(h) } else { 0.0 };
        }
    }

    /// N does not depend on x, so ψ is constant and left out.
    fn natural(&self, x: &[f32], eta: &mut [f64]) -> f64 {
        eta.iter_mut()
            .zip(x)
            .for_each(|(eta, &x)| *eta = if x > 0.0 { f64::from(x).ln() } else { IMPOSSIBLE });
        0.0
    }
    fn add_log_likelihood(&self, s: &[f64], _: f64, eta: &[f64], _: &[f64], log_likelihood: &mut [f64]) {
        let classes = s.len();
        for (m, l) in log_likelihood.iter_mut().enumerate() {
            let eta = &eta[m * classes..][..classes];
            *l += (0..classes).map(|v| s[v] * eta[v]).sum::<f64>();
        }
    }
}
