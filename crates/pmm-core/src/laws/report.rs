//! What the suite says: which law, what was compared, what was found.

use thiserror::Error;

use crate::elements::Element;

/// A law that every pair keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// x and y are on the support, and are accepted by the pair's own check.
    OnSupport,
    /// At clock 0 the state is the start, its mean the prior mean; a step of length 0 changes nothing.
    StartsAtPrior,
    /// At clock ∞ the state is x, its mean is x; an infinite last step towards x ends at x.
    EndsAtData,
    /// D(x, x̂) = ⟨x, η(x) − η(x̂)⟩ − ψ(x) + ψ(x̂), which is 0 only at x̂ = x, and ∞ where x̂ rules x out.
    Bregman,
    /// The mean of D over several x is least at their mean.
    LeastAtMean,
    /// The gradient of D with respect to x̂ is that of differences.
    Gradient,
    /// Ratios of ⟨S, η⟩ − a ψ are those of the density.
    Likelihood,
    /// μ is the mean of prior times density, by quadrature; needs [`Case::prior`](super::Case::prior).
    PosteriorMean,
    /// One jump to a clock has the law of many steps to it.
    OneJumpIsManySteps,
    /// Increments have the density given.
    Density,
    /// The divergence of a step is the Kullback–Leibler divergence of its increments.
    StepDivergence,
    /// The posterior mean converges to x, with an error of the order 1/√a.
    Convergence,
    /// Components of a marginal head have the mean and the standard deviation asked for.
    Components,
    /// Rows have the law of single coordinates, and neighbours in them are uncorrelated.
    Rows,
}

impl Law {
    /// Every law, in the order in which they are checked.
    pub const ALL: [Self; 14] = [
        Self::OnSupport,
        Self::StartsAtPrior,
        Self::EndsAtData,
        Self::Bregman,
        Self::LeastAtMean,
        Self::Gradient,
        Self::Likelihood,
        Self::PosteriorMean,
        Self::OneJumpIsManySteps,
        Self::Density,
        Self::StepDivergence,
        Self::Convergence,
        Self::Components,
        Self::Rows,
    ];
}

/// What was compared for a law that holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The law.
    pub law: Law,
    /// How many numbers were compared.
    pub comparisons: usize,
    /// The largest |found − expected| as a share of what is allowed.
    pub worst: f64,
    /// Why nothing was compared, if so.
    pub skipped: Option<&'static str>,
}

/// A broken law, with the first numbers that show it.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{pair} breaks the law {law:?}, {what}: found {found}, expected {expected} within {allowed:e}")]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The pair's name.
    pub pair: &'static str,
    /// What was compared.
    pub what: String,
    /// The number found.
    pub found: f64,
    /// The number expected.
    pub expected: f64,
    /// How far apart they may be.
    pub allowed: f64,
}

/// All laws that a pair breaks.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Violations(pub Vec<Violation>);

/// A law under way.
pub(super) struct Check {
    pair: &'static str,
    evidence: Evidence,
}

impl Check {
    pub(super) fn new(law: Law, pair: &'static str) -> Self {
        Self { pair, evidence: Evidence { law, comparisons: 0, worst: 0.0, skipped: None } }
    }

    pub(super) fn evidence(self) -> Evidence {
        self.evidence
    }

    /// Nothing is to be compared.
    pub(super) fn skip(&mut self, why: &'static str) -> Result<(), Violation> {
        self.evidence.skipped = Some(why);
        Ok(())
    }

    /// A number that may be off by at most `allowed`.
    pub(super) fn near(
        &mut self,
        what: impl Into<String>,
        found: f64,
        expected: f64,
        allowed: f64,
    ) -> Result<(), Violation> {
        self.evidence.comparisons += 1;
        if found == expected {
            return Ok(());
        }
        let off = (found - expected).abs();
        if off <= allowed {
            self.evidence.worst = self.evidence.worst.max(off / allowed);
            return Ok(());
        }
        Err(Violation {
            law: self.evidence.law,
            pair: self.pair,
            what: what.into(),
            found,
            expected,
            allowed,
        })
    }

    /// A condition: 1 is expected, 0 is found where it does not hold.
    pub(super) fn holds(&mut self, what: impl Into<String>, holds: bool) -> Result<(), Violation> {
        self.near(what, f64::from(u8::from(holds)), 1.0, 0.0)
    }

    /// Numbers that must be the same.
    pub(super) fn same<T: Element>(
        &mut self,
        what: &str,
        found: &[T],
        expected: &[T],
    ) -> Result<(), Violation> {
        self.near(format!("{what}, how many"), found.len() as f64, expected.len() as f64, 0.0)?;
        let pairs = found.iter().zip(expected).enumerate();
        for (i, (found, expected)) in pairs {
            self.near(format!("{what}, element {i}"), found.as_f64(), expected.as_f64(), 0.0)?;
        }
        Ok(())
    }
}
