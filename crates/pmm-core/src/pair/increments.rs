//! What samplers need to know of a pair's increments, and of its marginal law.

/// How the law of the increments depends on x. Where it is linear in x, the mean E[x | state] is all that a small step needs, since
/// the average of the laws over p(x | state) is then the law at the average; where it is not, Algorithm 1 needs the marginal head.
///
/// ```
/// use pmm_core::{Gamma, Increments, Normal, Pair};
/// assert_eq!(Normal::new(1.0, 0.0)?.increments(), Increments::Gaussian);
/// assert!(!Gamma::new(2.0, 1.0)?.increments().mean_is_enough());
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Increments {
    /// N(Δa x, Δa): a Gaussian diffusion, which [`ode`](crate::ode) can sample.
    Gaussian,
    /// Pois(Δa x): events at rate x, which [`leap`](crate::leap) can sample.
    Poisson,
    /// Linear in x in another way: marks whose class has the probabilities x.
    Linear,
    /// Not linear in x.
    Nonlinear,
}

impl Increments {
    /// Whether Algorithm 1 with the posterior mean plugged in becomes exact as its steps shrink.
    pub fn mean_is_enough(self) -> bool {
        self != Self::Nonlinear
    }
}

/// How a marginal head describes p(x | state) for one coordinate of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarginalLaw {
    /// A mixture of numbers: [`Estimate::Mixture`](crate::Estimate::Mixture).
    Mixture,
    /// Probabilities of the vertices of the simplex, one of which is drawn: [`Estimate::Vertex`](crate::Estimate::Vertex).
    Vertices,
    /// The mean itself, which already says all: [`Estimate::Mean`](crate::Estimate::Mean).
    Mean,
}
