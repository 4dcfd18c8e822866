//! The exact posterior for a finite target: weighted points in any number of coordinates, pairs mixed as they come.

use rayon::prelude::*;
use thiserror::Error;

use crate::bound::Terminal;
use crate::denoise::{Denoiser, Estimate, Estimates, Head, Mixture};
use crate::draw;
use crate::elements::{Element, Elements};
use crate::error::SpaceError;
use crate::pair::{MarginalLaw, Pair};
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::{Space, Values};
use crate::states::{BlockStates, States};

/// A target that puts weight wₘ on point xₘ. Given states, p(xₘ | state) ∝ wₘ exp Σ_c (⟨S_c, η(x_mc)⟩ − a_c ψ(x_mc)), so
/// posterior mean and marginal posterior are sums: a perfect [`Denoiser`].
///
/// A coordinate observed at a value that no point has selects the points nearest to it in divergence; a state that no
/// point explains (an approximate sampler can make one) selects those that contradict it least. The oracle is never
/// undefined.
///
/// ```
/// use pmm_core::{Block, Estimate, Estimates, Exponential, FiniteTarget, Normal, Space, States, Elements, Values};
/// let space = Space::new(vec![Block::new(Normal::new(1.0, 0.0)?, 1, Exponential::default())?]);
/// let points = Values::new(vec![Elements::from(vec![-1.0f32, 3.0])]);
/// let target = FiniteTarget::new(&space, points, &[0.75, 0.25])?;
/// let mut estimates = Estimates::default();
/// estimates.ask(&target, &States::prior(&space, 0, 1))?;
/// assert!(matches!(&estimates.blocks[0], Estimate::Mean(x_hat) if x_hat[0].abs() < 1e-6)); // ¾·(−1) + ¼·3
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FiniteTarget {
    space: Space,
    points: Values,
    weights: Vec<f64>,
    head: Head,
    blocks: Vec<PointTable>,
}

/// What is known of a block's points beforehand, coordinate by coordinate.
#[derive(Debug, Clone)]
pub(crate) struct PointTable {
    /// η, `[width, points, mean_len]`.
    eta: Vec<f64>,
    /// ψ, `[width, points]`.
    psi: Vec<f64>,
    /// The points as means, `[width, points, mean_len]`.
    means: Vec<f32>,
    /// The distinct values of each coordinate that is a number, and which of them each point has.
    atoms: Vec<Atoms>,
}

#[derive(Debug, Clone)]
struct Atoms {
    values: Vec<f32>,
    of_point: Vec<usize>,
}

/// A target that cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TargetError {
    /// A point off the space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Weights that do not fit.
    #[error(
        "a finite target needs one positive finite weight per point: {points} points, weights {weights:?}"
    )]
    Weights {
        /// The number of points.
        points: usize,
        /// The weights given.
        weights: Vec<f64>,
    },
}

impl FiniteTarget {
    /// Points with positive weights (scaled to sum to 1).
    pub fn new(space: &Space, points: Values, weights: &[f64]) -> Result<Self, TargetError> {
        let count = space.check(&points)?;
        let positive = weights.iter().all(|w| *w > 0.0 && w.is_finite());
        if weights.len() != count || count == 0 || !positive {
            return Err(TargetError::Weights { points: count, weights: weights.to_vec() });
        }
        let total: f64 = weights.iter().sum();
        let tables = space
            .blocks()
            .iter()
            .zip(points.blocks())
            .map(|(block, points)| block.pair.erased().point_table(block.width, points));
        let blocks = tables.collect();
        let weights = weights.iter().map(|w| w / total).collect();
        Ok(Self { space: space.clone(), points, weights, head: Head::Mean, blocks })
    }

    /// The same target answering with this head.
    pub fn with_head(self, head: Head) -> Self {
        Self { head, ..self }
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The points.
    pub fn points(&self) -> &Values {
        &self.points
    }

    /// The weights, which sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// −Σ w log w, in nats.
    pub fn entropy(&self) -> f64 {
        -self.weights.iter().map(|w| w * w.ln()).sum::<f64>()
    }

    /// Exact draws: the numbers of the points chosen for `rows` rows.
    pub fn choose(&self, streams: &Streams, first_row: u64, rows: usize) -> Vec<usize> {
        let stream = |row| streams.stream(Purpose::DATA, 0, first_row + row as u64);
        (0..rows).map(|row| draw::categorical(&self.weights, &mut stream(row))).collect()
    }

    /// The points of these numbers, as rows of data.
    pub fn rows(&self, chosen: &[usize]) -> Values {
        let blocks = self.space.blocks().iter().zip(self.points.blocks());
        let blocks =
            blocks.map(|(block, points)| points.select(block.width * block.pair.value_len(), chosen));
        Values::new(blocks.collect())
    }

    /// The share of rows nearest to each point: the law of samples, to be held against [`FiniteTarget::weights`].
    pub fn law_of(&self, rows: &Values) -> Result<Vec<f64>, SpaceError> {
        let count = self.space.check(rows)?;
        let mut states = States::prior(&self.space, 0, count);
        states.observe(rows, |_, _, _| true)?;
        let mut law = vec![0.0; self.weights.len()];
        for p in self.posterior(&states).chunks_exact(law.len()) {
            let nearest = (0..p.len()).fold(0, |best, m| if p[m] > p[best] { m } else { best });
            law[nearest] += 1.0 / count as f64;
        }
        Ok(law)
    }

    /// p(point | state), `[rows, points]`.
    pub fn posterior(&self, states: &States) -> Vec<f64> {
        let count = self.weights.len();
        let ln_weights: Vec<f64> = self.weights.iter().map(|w| w.ln()).collect();
        let mut posterior = vec![0.0; states.rows() * count];
        let rows = posterior.par_chunks_mut(count).with_min_len(1 + 512 / count).enumerate();
        rows.for_each_init(
            || vec![0.0; count],
            |distance, (row, p)| {
                p.copy_from_slice(&ln_weights);
                distance.fill(0.0);
                for (index, (block, table)) in self.space.blocks().iter().zip(&self.blocks).enumerate() {
                    let posterior = RowPosterior { log_likelihood: p, distance };
                    block.pair.erased().add_to_posterior(table, states.block(index), row, posterior);
                }
                keep_nearest(p, distance);
                softmax(p);
            },
        );
        posterior
    }
}

/// Rules out the points that are further from the observed values than the nearest, up to rounding.
fn keep_nearest(p: &mut [f64], distance: &[f64]) {
    let nearest = distance.iter().copied().fold(f64::INFINITY, f64::min);
    let kept = nearest + 1e-9 * nearest + 1e-12;
    p.iter_mut().zip(distance).filter(|(_, d)| **d > kept).for_each(|(p, _)| *p = f64::NEG_INFINITY);
}

/// Turns log-weights into probabilities; those below e^(−60) of the largest, far under the rounding of the sum, count as 0.
fn softmax(p: &mut [f64]) {
    let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for p in p.iter_mut() {
        *p = if *p - top < -60.0 { 0.0 } else { (*p - top).exp() };
        total += *p;
    }
    p.iter_mut().for_each(|p| *p /= total);
}

/// What is known of a row so far: for each point, its log-likelihood up to a constant, and how far it is from observed values.
pub(crate) struct RowPosterior<'a> {
    log_likelihood: &'a mut [f64],
    distance: &'a mut [f64],
}

impl PointTable {
    pub(crate) fn new<P: Pair>(pair: &P, width: usize, points: &Elements) -> Self {
        let values = P::Value::get(points).unwrap_or(&[]);
        let (len, mean_len) = (pair.value_len(), pair.mean_len());
        let count = values.len() / (width * len);
        let mut table = Self {
            eta: vec![0.0; width * count * mean_len],
            psi: vec![0.0; width * count],
            means: vec![0.0; width * count * mean_len],
            atoms: Vec::new(),
        };
        for entry in 0..width * count {
            let (c, m) = (entry / count, entry % count);
            let x = &values[(m * width + c) * len..][..len];
            let means = entry * mean_len..(entry + 1) * mean_len;
            table.psi[entry] = pair.natural(x, &mut table.eta[means.clone()]);
            pair.embed(x, &mut table.means[means]);
        }
        if mean_len == 1 {
            table.atoms = table.means.chunks_exact(count).map(Atoms::new).collect();
        }
        table
    }

    /// Adds, for one row of states, the log-likelihood of unobserved and the distance from observed coordinates.
    pub(crate) fn add<P: Pair>(
        &self,
        pair: &P,
        states: &BlockStates,
        row: usize,
        posterior: RowPosterior<'_>,
    ) {
        let RowPosterior { log_likelihood, distance } = posterior;
        let stat = P::Stat::get(&states.stat).unwrap_or(&[]);
        let (count, len) = (log_likelihood.len(), pair.mean_len());
        let width = self.psi.len() / count;
        for c in 0..width {
            let coordinate = row * width + c;
            let a = states.clock[coordinate];
            let s = &stat[coordinate * pair.stat_len()..][..pair.stat_len()];
            if a < f64::INFINITY {
                let (eta, psi) =
                    (&self.eta[c * count * len..][..count * len], &self.psi[c * count..][..count]);
                pair.add_log_likelihood(s, a, eta, psi, log_likelihood);
            } else {
                self.add_distance(pair, s, c, distance);
            }
        }
    }

    /// Adds how far each point is from an observed value.
    fn add_distance<P: Pair>(&self, pair: &P, s: &[P::Stat], c: usize, distance: &mut [f64]) {
        let (count, len) = (distance.len(), pair.mean_len());
        let mut x = vec![P::Value::default(); pair.value_len()];
        pair.observed(s, &mut x);
        for (d, mean) in distance.iter_mut().zip(self.means[c * count * len..].chunks_exact(len)) {
            *d += pair.divergence(&x, mean);
        }
    }
}

impl Atoms {
    fn new(means: &[f32]) -> Self {
        let mut values = means.to_vec();
        values.sort_by(f32::total_cmp);
        values.dedup();
        let of_point = means.iter().map(|x| values.partition_point(|v| v < x)).collect();
        Self { values, of_point }
    }
}

impl Denoiser for FiniteTarget {
    fn denoise(&self, states: &States, estimates: &mut Estimates) {
        let posterior = self.posterior(states);
        for ((block, table), estimate) in
            self.space.blocks().iter().zip(&self.blocks).zip(&mut estimates.blocks)
        {
            let len = block.pair.mean_len();
            *estimate = match (self.head, block.pair.marginal_law()) {
                (Head::Mean, _) | (_, MarginalLaw::Mean) => {
                    Estimate::Mean(fill_means(table, block.width, len, &posterior, estimate))
                }
                (Head::Marginal, MarginalLaw::Vertices) => {
                    Estimate::Vertex(fill_means(table, block.width, len, &posterior, estimate))
                }
                (Head::Marginal, MarginalLaw::Mixture) => {
                    Estimate::Mixture(fill_mixture(table, block.width, &posterior, estimate))
                }
            };
        }
    }
}

impl Terminal for FiniteTarget {
    /// −log p(x | state): the posterior mass of all points equal to x.
    fn surprise(&self, states: &States, x: &Values) -> Vec<f64> {
        let mut given = states.clone();
        // Observing x leaves, of the posterior, the points equal to x.
        let fits = match given.observe(x, |_, _, _| true) {
            Ok(()) => self.posterior(&given),
            Err(_) => return vec![f64::INFINITY; states.rows()],
        };
        let rows = self.posterior(states);
        let per_row = rows.chunks_exact(self.weights.len()).zip(fits.chunks_exact(self.weights.len()));
        let mass = |(p, fits): (&[f64], &[f64])| -> f64 {
            p.iter().zip(fits).filter(|(_, fits)| **fits > 0.0).map(|(p, _)| p).sum()
        };
        // A mass of 1 may be off by rounding, and its surprise with it.
        per_row.map(|row| (-mass(row).ln()).max(0.0)).collect()
    }
}

/// x̂ = Σ p(m | state) xₘ, summed in f64.
fn fill_means(
    table: &PointTable,
    width: usize,
    len: usize,
    posterior: &[f64],
    estimate: &mut Estimate,
) -> Vec<f32> {
    let count = table.psi.len() / width;
    let rows = posterior.len() / count;
    let mut x_hat = estimate.take_buffer(rows * width * len);
    x_hat.par_chunks_mut(width * len).with_min_len(1 + 512 / count).enumerate().for_each(|(row, x_hat)| {
        let p = &posterior[row * count..][..count];
        for (c, x_hat) in x_hat.chunks_exact_mut(len).enumerate() {
            let means = &table.means[c * count * len..][..count * len];
            for (v, x_hat) in x_hat.iter_mut().enumerate() {
                let terms = (0..count).map(|m| p[m] * f64::from(means[m * len + v]));
                *x_hat = terms.sum::<f64>() as f32;
            }
        }
    });
    x_hat
}

/// The marginal law of each coordinate: an atom per distinct value.
fn fill_mixture(table: &PointTable, width: usize, posterior: &[f64], estimate: &mut Estimate) -> Mixture {
    let count = table.psi.len() / width;
    let components = table.atoms.iter().map(|atoms| atoms.values.len()).max().unwrap_or(0);
    let len = posterior.len() / count * width * components;
    let mut mixture = match std::mem::replace(estimate, Estimate::Mean(Vec::new())) {
        Estimate::Mixture(mixture) => mixture,
        _ => Mixture::default(),
    };
    mixture.components = components;
    mixture.weight.clear();
    mixture.weight.resize(len, 0.0);
    mixture.mean.resize(len, table.means[0]);
    mixture.sd.resize(len, 0.0);
    for (row, p) in posterior.chunks_exact(count).enumerate() {
        for (c, atoms) in table.atoms.iter().enumerate() {
            let start = (row * width + c) * components;
            mixture.mean[start..][..atoms.values.len()].copy_from_slice(&atoms.values);
            for (p, &atom) in p.iter().zip(&atoms.of_point) {
                mixture.weight[start + atom] += *p as f32;
            }
        }
    }
    mixture
}
