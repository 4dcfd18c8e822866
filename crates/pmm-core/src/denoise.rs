//! The seam between mathematics and network: given states on clocks, estimate x.

use crate::any_pair::AnyPair;
use crate::draw;
use crate::error::SpaceError;
use crate::pair::{MarginalLaw, Pair, Support};
use crate::rng::Stream;
use crate::states::States;

/// Which summary of p(x | state) a denoiser gives for each coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Head {
    /// The posterior mean x̂ = E[x | state], as in the paper.
    #[default]
    Mean,
    /// The marginal posterior law: each step draws x̃ from it, then the increment from x̃. As steps shrink, coordinates
    /// move one at a time, so marginals suffice, for every pair; those whose increments are not linear in x
    /// ([`Increments`](crate::Increments)), such as [`Gamma`](crate::Gamma), need it.
    Marginal,
}

/// A network, or an oracle: estimates x for every coordinate of a batch.
pub trait Denoiser: Sync {
    /// Fills `estimates`, one entry per block, reusing its buffers. What it says about observed coordinates is ignored.
    fn denoise(&self, states: &States, estimates: &mut Estimates);
}

/// What a denoiser says about each block.
#[derive(Debug, Clone, Default)]
pub struct Estimates {
    /// One per block.
    pub blocks: Vec<Estimate>,
}

/// What a denoiser says about one block.
#[derive(Debug, Clone)]
pub enum Estimate {
    /// x̂, `[rows, width, mean_len]`: for tokens, probabilities.
    Mean(Vec<f32>),
    /// A mixture per coordinate (marginal head of a number).
    Mixture(Mixture),
    /// Probabilities of the vertices, `[rows, width, classes]` (marginal head of a dense categorical block).
    Vertex(Vec<f32>),
}

/// A mixture per coordinate, each buffer `[rows, width, components]`. A component is a member of the pair's prior family
/// with that mean and standard deviation: Normal for reals, Gamma for counts, inverse Gamma for positives; an atom
/// where the standard deviation is 0.
#[derive(Debug, Clone, Default)]
pub struct Mixture {
    /// Components per coordinate.
    pub components: usize,
    /// Weights ≥ 0; they need not sum to 1.
    pub weight: Vec<f32>,
    /// Means.
    pub mean: Vec<f32>,
    /// Standard deviations ≥ 0.
    pub sd: Vec<f32>,
}

impl Mixture {
    fn range(&self, coordinate: usize) -> std::ops::Range<usize> {
        coordinate * self.components..(coordinate + 1) * self.components
    }

    /// The mean of the mixture of a coordinate, counted through the batch.
    pub fn mean_of(&self, coordinate: usize) -> f64 {
        let range = self.range(coordinate);
        let terms = self.weight[range.clone()].iter().zip(&self.mean[range]);
        let (total, sum) =
            terms.fold((0.0, 0.0), |(t, s), (&w, &m)| (t + f64::from(w), s + f64::from(w) * f64::from(m)));
        sum / total
    }

    fn draw<P: Pair>(&self, pair: &P, coordinate: usize, rng: &mut Stream) -> f32 {
        let range = self.range(coordinate);
        let chosen = range.start + draw::categorical(&self.weight[range], rng);
        let (mean, sd) = (f64::from(self.mean[chosen]), f64::from(self.sd[chosen]));
        pair.component(mean, sd, rng).map_or(self.mean[chosen], |x| x as f32)
    }
}

impl Estimate {
    /// The point that a step plugs in at a coordinate: x̂ itself, or a draw x̃ from the marginal law. `scratch` is
    /// `mean_len` long.
    #[inline]
    pub(crate) fn plug_in<'a, P: Pair>(
        &'a self,
        pair: &P,
        coordinate: usize,
        scratch: &'a mut [f32],
        rng: &mut Stream,
    ) -> &'a [f32] {
        let len = scratch.len();
        match self {
            Self::Mean(x_hat) => &x_hat[coordinate * len..][..len],
            Self::Mixture(mixture) => {
                scratch[0] = mixture.draw(pair, coordinate, rng);
                scratch
            }
            Self::Vertex(probabilities) => {
                scratch.fill(0.0);
                scratch[draw::categorical(&probabilities[coordinate * len..][..len], rng)] = 1.0;
                scratch
            }
        }
    }

    /// The mean x̂ of a coordinate, whatever the head.
    pub(crate) fn mean<'a>(&'a self, coordinate: usize, scratch: &'a mut [f32]) -> &'a [f32] {
        let len = scratch.len();
        match self {
            Self::Mean(x_hat) | Self::Vertex(x_hat) => &x_hat[coordinate * len..][..len],
            Self::Mixture(mixture) => {
                scratch[0] = mixture.mean_of(coordinate) as f32;
                scratch
            }
        }
    }

    /// Takes out a buffer of this length to fill and put back, so that calls need not allocate.
    pub fn take_buffer(&mut self, len: usize) -> Vec<f32> {
        let mut buffer = match std::mem::replace(self, Self::Mean(Vec::new())) {
            Self::Mean(buffer) | Self::Vertex(buffer) => buffer,
            Self::Mixture(mixture) => mixture.mean,
        };
        buffer.resize(len, 0.0);
        buffer
    }
}

impl Estimates {
    /// Asks the denoiser, and refuses an answer from which no step could be drawn: of the wrong kind or length, NaN, a
    /// negative rate, probabilities that do not sum to 1.
    pub fn ask(&mut self, denoiser: &dyn Denoiser, states: &States) -> Result<(), SpaceError> {
        let blocks = states.space().blocks();
        self.blocks.resize_with(blocks.len(), || Estimate::Mean(Vec::new()));
        denoiser.denoise(states, self);
        if self.blocks.len() != blocks.len() {
            let (expected, found) =
                (format!("one of {} blocks", blocks.len()), format!("{}", self.blocks.len()));
            return Err(SpaceError::Shape { block: self.blocks.len(), expected, found });
        }
        for (index, (block, estimate)) in blocks.iter().zip(&self.blocks).enumerate() {
            if let Err((coordinate, value, why)) = check(estimate, &block.pair, states.clock(index)) {
                let (row, coordinate) = (coordinate / block.width, coordinate % block.width);
                return Err(SpaceError::Estimate { row, block: index, coordinate, value, why });
            }
        }
        Ok(())
    }
}

/// (coordinate, number, what is wrong with it).
type Complaint = (usize, f64, &'static str);

fn check(estimate: &Estimate, pair: &AnyPair, clock: &[f64]) -> Result<(), Complaint> {
    let mut unknown = (0..clock.len()).filter(|&i| clock[i] < f64::INFINITY);
    let (support, law, len) = (pair.support(), pair.marginal_law(), pair.mean_len());
    match estimate {
        Estimate::Mixture(mixture) if law == MarginalLaw::Mixture => {
            check_mixture(mixture, support, clock.len(), unknown)
        }
        Estimate::Mixture(_) => Err((0, f64::NAN, "a mixture of numbers where probabilities are wanted")),
        Estimate::Vertex(_) if law != MarginalLaw::Vertices => {
            Err((0, f64::NAN, "a law of vertices, which only a Categorical block has"))
        }
        Estimate::Mean(x_hat) | Estimate::Vertex(x_hat) => {
            check_len(x_hat, clock.len() * len)?;
            if len == 1 {
                return unknown.try_for_each(|i| check_number(i, x_hat[i], support));
            }
            unknown.try_for_each(|i| check_mean(i, &x_hat[i * len..][..len], support))
        }
    }
}

/// Refuses what cannot be the mean of values of the support.
fn check_mean(coordinate: usize, x_hat: &[f32], support: Support) -> Result<(), Complaint> {
    if support.is_probabilities() {
        return check_law(coordinate, x_hat);
    }
    x_hat.iter().try_for_each(|&x_hat| check_number(coordinate, x_hat, support))
}

fn check_len(buffer: &[f32], expected: usize) -> Result<(), Complaint> {
    if buffer.len() == expected {
        Ok(())
    } else {
        Err((0, buffer.len() as f64, "numbers in all, which is not one per coordinate"))
    }
}

#[inline]
fn check_number(coordinate: usize, x_hat: f32, support: Support) -> Result<(), Complaint> {
    let (holds, why) = match support {
        Support::NonNegative | Support::Counts => (x_hat >= 0.0, "not the mean of values of at least 0"),
        Support::Positive => (x_hat > 0.0, "not the mean of positive values"),
        _ => (true, ""),
    };
    if !x_hat.is_finite() {
        return Err((coordinate, x_hat.into(), "not a finite number"));
    }
    if holds { Ok(()) } else { Err((coordinate, x_hat.into(), why)) }
}

fn check_weights(coordinate: usize, weights: &[f32]) -> Result<(), Complaint> {
    if let Some(&bad) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
        return Err((coordinate, bad.into(), "not a probability"));
    }
    let total: f64 = weights.iter().copied().map(f64::from).sum();
    if total > 0.0 { Ok(()) } else { Err((coordinate, total, "as the sum of all probabilities")) }
}

/// Probabilities that sum to 1, up to the rounding of f32 over a large vocabulary.
fn check_law(coordinate: usize, p: &[f32]) -> Result<(), Complaint> {
    check_weights(coordinate, p)?;
    let total: f64 = p.iter().copied().map(f64::from).sum();
    if (total - 1.0).abs() < 1e-3 {
        Ok(())
    } else {
        Err((coordinate, total, "as the sum of all probabilities"))
    }
}

fn check_mixture(
    mixture: &Mixture,
    support: Support,
    coordinates: usize,
    unknown: impl Iterator<Item = usize>,
) -> Result<(), Complaint> {
    if mixture.components == 0 {
        return Err((0, 0.0, "components of a mixture"));
    }
    for buffer in [&mixture.weight, &mixture.mean, &mixture.sd] {
        check_len(buffer, coordinates * mixture.components)?;
    }
    for i in unknown {
        let range = mixture.range(i);
        check_weights(i, &mixture.weight[range.clone()])?;
        for part in range {
            check_number(i, mixture.mean[part], support)?;
            if !(mixture.sd[part] >= 0.0 && mixture.sd[part].is_finite()) {
                return Err((i, mixture.sd[part].into(), "not a standard deviation"));
            }
        }
    }
    Ok(())
}

/// The seam for texts: one masked block, of which only a few positions are asked at a time.
///
/// A vocabulary-sized answer at every position would be mostly thrown away, so a sampler says where it wants one.
pub trait TokenDenoiser: Sync {
    /// The vocabulary size V.
    fn classes(&self) -> usize;
    /// The length of a text.
    fn length(&self) -> usize;
    /// Writes the logits (log-probabilities up to a constant; −∞ is allowed) at the wanted positions to `logits`,
    /// `[wanted, V]`.
    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]);
}

/// Partly masked texts, as a [`TokenDenoiser`] sees them.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Tokens or [`MASK`](crate::MASK), `[rows, length]`.
    pub tokens: &'a [u32],
    /// The time t of each row.
    pub times: &'a [f64],
}

/// The position of a token: its row, and where it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPosition {
    /// The row within the batch.
    pub row: usize,
    /// The position within the text.
    pub position: usize,
}
