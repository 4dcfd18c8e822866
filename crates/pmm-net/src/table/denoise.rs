//! The network of a table as a denoiser of states.

use std::sync::Arc;

use pmm_core::{Denoiser, Estimate, Estimates, Head, Mixture, States};
use pmm_data::Coding;
use rayon::prelude::*;

use super::cell_law::ScorePart;
use super::coordinates::{CellCoordinates, ClockKind, ColumnPlace, Scale, ValuePlace};
use super::features::View;
use super::head::Law;
use super::net::TableNet;
use super::trees::{Pool, Shares, TableTrees};
use super::trim::trim;

/// A network with its weights: what samplers ask.
#[derive(Debug, Clone)]
pub struct TableDenoiser {
    net: Arc<TableNet>,
    weights: Arc<[f32]>,
    /// Never say "missing": for imputation, where a value is wanted.
    complete: bool,
    /// For every column, the codes' shares and how far below them a probability counts as none in drawing.
    trims: Arc<[(f64, Vec<f64>)]>,
    /// Trees beside the network.
    pool: Option<Pool>,
}

/// Nodes and weights of Gauss–Hermite quadrature for the standard normal law.
const HERMITE: [(f64, f64); 5] = [
    (-2.856_970_013_872_806, 0.011_257_411_327_720_69),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_64),
    (2.856_970_013_872_806, 0.011_257_411_327_720_69),
];

impl TableDenoiser {
    /// A network with weights of its own.
    pub fn new(net: Arc<TableNet>, weights: impl Into<Arc<[f32]>>) -> Self {
        Self { net, weights: weights.into(), complete: false, trims: Arc::new([]), pool: None }
    }

    /// Trees beside the network, with their shares of every column's law; only for clocks that reveal.
    pub fn pooled(mut self, trees: Arc<TableTrees>, shares: &[Shares]) -> Self {
        self.pool = Some(Pool { trees, shares: shares.into() });
        self
    }

    /// Drawing no code that is less probable than this part of its share, column by column. Laws that are asked for stay whole.
    pub fn trimmed(mut self, trims: &[f64]) -> Self {
        let columns = trims.iter().enumerate();
        self.trims = columns.map(|(column, &limit)| (limit, self.net.shares_of(column))).collect();
        self
    }

    /// With probability 0 for "missing", which gives every cell a value.
    pub fn complete(mut self, complete: bool) -> Self {
        self.complete = complete;
        self
    }

    /// With laws as they are, nothing ruled out.
    pub fn whole(&self) -> Self {
        Self { complete: false, trims: Arc::new([]), ..self.clone() }
    }

    /// The network.
    pub fn net(&self) -> &Arc<TableNet> {
        &self.net
    }

    /// The weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The law of a column in rows whose cells are seen as `view` says.
    pub fn laws(&self, rows: usize, view: impl Fn(usize, usize) -> View + Sync, column: usize) -> Vec<Law> {
        let columns = self.net.coordinates.columns.len();
        let seen = |row: usize| (0..columns).map(|column| view(row, column).cell()).collect::<Vec<_>>();
        let outputs = self.outputs_at(rows, &view);
        let law = |row: usize| self.law_of(column, &outputs[row * self.net.outputs()..], &seen(row));
        (0..rows).into_par_iter().with_min_len(16).map(law).collect()
    }

    /// The network's outputs for rows; zeros where the trees have all the say.
    pub(super) fn outputs_at(&self, rows: usize, view: impl Fn(usize, usize) -> View + Sync) -> Vec<f32> {
        if self.is_trees_alone() {
            return vec![0.0; rows * self.net.outputs()];
        }
        self.net.outputs_of(&self.weights, self.net.features(rows, view))
    }

    /// What the outputs of a row, and the trees, say about a cell.
    pub(super) fn law_of(&self, column: usize, outputs: &[f32], seen: &[CellCoordinates]) -> Law {
        self.with_trees(column, self.net.heads()[column].law(outputs, 0.0, 0.0), seen)
    }

    /// The law of a cell of which the network says `law`, with what the trees say.
    pub(super) fn with_trees(&self, column: usize, mut law: Law, seen: &[CellCoordinates]) -> Law {
        if let Some(pool) = &self.pool {
            law = pool.mix(column, law, seen);
        }
        self.settle(&self.net.coordinates.columns[column], &mut law);
        law
    }

    /// Whether the network has no say.
    pub(super) fn is_trees_alone(&self) -> bool {
        self.pool.as_ref().is_some_and(Pool::is_trees_alone)
    }

    /// How far below its share a code of a column counts as impossible in drawing, with the shares.
    pub(super) fn trim_of(&self, column: usize) -> Option<(f64, &[f64])> {
        let (limit, shares) = self.trims.get(column)?;
        (*limit > 0.0).then_some((*limit, shares))
    }

    fn settle(&self, place: &ColumnPlace, law: &mut Law) {
        let missing = place.tokens.as_ref().and_then(|tokens| tokens.missing);
        if let (true, Some(missing)) = (self.complete, missing) {
            law.codes[missing as usize] = 0.0;
            let sum: f64 = law.codes.iter().sum();
            if sum > 0.0 {
                law.codes.iter_mut().for_each(|p| *p /= sum);
            } else {
                law.codes[0] = 1.0;
            }
        }
    }
}

impl Denoiser for TableDenoiser {
    fn denoise(&self, states: &States, estimates: &mut Estimates) {
        let net = &self.net;
        let means = net.value_means(states);
        let view = |row: usize, column: usize| net.view(states, column, means[column].as_deref(), row);
        let outputs = self.outputs_at(states.rows(), view);
        let columns = net.coordinates.columns.len();
        let cells = states.rows() * columns * usize::from(self.pool.is_some());
        let seen: Vec<CellCoordinates> =
            (0..cells).map(|at| view(at / columns, at % columns).cell()).collect();
        for (index, place) in net.coordinates.columns.iter().enumerate() {
            let column = Answer {
                denoiser: self,
                place,
                index,
                outputs: &outputs,
                means: means[index].as_deref(),
                seen: &seen,
            };
            column.write(states, estimates);
        }
    }
}

/// What the network says about one column.
struct Answer<'a> {
    denoiser: &'a TableDenoiser,
    place: &'a ColumnPlace,
    index: usize,
    outputs: &'a [f32],
    means: Option<&'a [f32]>,
    /// The known cells, `[rows, columns]`, where trees are asked.
    seen: &'a [CellCoordinates],
}

impl Answer<'_> {
    fn write(&self, states: &States, estimates: &mut Estimates) {
        let net = &self.denoiser.net;
        let rows: Vec<&[f32]> = self.outputs.chunks_exact(net.outputs()).collect();
        let law = |row: usize| {
            let (mean, clock) = self.anchor(row, states);
            let mut law = net.heads()[self.index].law(rows[row], mean, clock);
            if let Some(pool) = &self.denoiser.pool {
                let columns = net.coordinates.columns.len();
                law = pool.mix(self.index, law, &self.seen[row * columns..][..columns]);
            }
            // First "missing" is ruled out, lest a cell that is sure to be missing have all its levels trimmed away.
            self.denoiser.settle(self.place, &mut law);
            if let Some((limit, shares)) = self.denoiser.trims.get(self.index)
                && *limit > 0.0
            {
                trim(&mut law.codes, shares, *limit);
            }
            law
        };
        let laws: Vec<Law> = (0..rows.len()).into_par_iter().with_min_len(16).map(law).collect();
        if let Some(tokens) = &self.place.tokens {
            let estimate = &mut estimates.blocks[tokens.block];
            let mut buffer = estimate.take_buffer(rows.len() * tokens.codes);
            for (out, law) in buffer.chunks_exact_mut(tokens.codes).zip(&laws) {
                out.iter_mut().zip(&law.codes).for_each(|(out, p)| *out = *p as f32);
            }
            *estimate = Estimate::Mean(buffer);
        }
        let Some(value) = &self.place.value else { return };
        estimates.blocks[value.block] = match (net.head, value.scale) {
            (Head::Mean, _) => {
                let estimate = |row: usize| {
                    let (mean, clock) = self.anchor(row, states);
                    net.heads()[self.index].estimate(rows[row], mean, clock)
                };
                Estimate::Mean((0..rows.len()).map(estimate).collect())
            }
            (Head::Marginal, _) if value.atoms.is_some() => Estimate::Mixture(points(&laws, value)),
            (Head::Marginal, Scale::Score) => Estimate::Mixture(normals(&laws)),
            (Head::Marginal, Scale::Ratio(unit)) => {
                Estimate::Mixture(self.mapped(&laws, unit, states.clock(value.block)))
            }
        };
    }

    /// Where the head's mixture or estimate starts from: posterior mean and clock, in the head's unit.
    fn anchor(&self, row: usize, states: &States) -> (f32, f32) {
        let net = &self.denoiser.net;
        match (self.means, &self.place.value) {
            (Some(means), Some(value))
                if net.clock == ClockKind::Gradual && states.clock(value.block)[row] < f64::INFINITY =>
            {
                net.anchor(self.index, states, f64::from(means[row]), row)
            }
            _ => (0.0, 0.0),
        }
    }

    /// The law of a value in the block's unit: every component of its score with the mean and the standard deviation of the values that
    /// it stands for. What is known has no law.
    fn mapped(&self, laws: &[Law], unit: f64, clock: &[f64]) -> Mixture {
        let column = &self.denoiser.net.schema.columns[self.place.column];
        let Coding::Numbers(numbers) = &column.coding else { return Mixture::default() };
        let components = laws.first().map_or(0, |law| law.parts.len());
        let value = |score: f64| numbers.grid.value(score, false) / unit;
        let moments = |part: &ScorePart| {
            let (mean, sd) = moments(value, part.mean, part.sd);
            (mean as f32, sd as f32)
        };
        let law = |(law, clock): (&Law, &f64)| match clock.is_finite() {
            true => law.parts.iter().map(moments).collect(),
            false => vec![(1.0, 0.0); components],
        };
        let laws_of_values: Vec<Vec<(f32, f32)>> =
            laws.par_iter().zip(clock).with_min_len(16).map(law).collect();
        let (mean, sd) = laws_of_values.into_iter().flatten().unzip();
        let weight = laws.iter().flat_map(|law| &law.parts).map(|part| part.weight as f32).collect();
        Mixture { components, weight, mean, sd }
    }
}

/// Mean and standard deviation of what a map makes of a normal score, by Gauss–Hermite.
fn moments(value: impl Fn(f64) -> f64, centre: f64, spread: f64) -> (f64, f64) {
    let values = HERMITE.map(|(z, weight)| (value(centre + spread * z), weight));
    let mean: f64 = values.iter().map(|(value, weight)| weight * value).sum();
    let variance: f64 = values.iter().map(|(value, weight)| weight * (value - mean).powi(2)).sum();
    (mean, variance.sqrt())
}

/// The law of a number of few values.
fn points(laws: &[Law], value: &ValuePlace) -> Mixture {
    let x = value.atoms.as_ref().map_or(&[][..], |atoms| &atoms.x);
    let weight: Vec<f32> = laws.iter().flat_map(|law| &law.atoms).map(|p| *p as f32).collect();
    Mixture { components: x.len(), sd: vec![0.0; weight.len()], mean: x.repeat(laws.len()), weight }
}

/// The law of a score; a Gaussian that is cut counts by its mean and standard deviation.
fn normals(laws: &[Law]) -> Mixture {
    let moments = laws.iter().flat_map(|law| &law.parts).map(ScorePart::moments);
    let (mean, sd) = moments.map(|(mean, sd)| (mean as f32, sd as f32)).unzip();
    Mixture {
        components: laws.first().map_or(0, |law| law.parts.len()),
        weight: laws.iter().flat_map(|law| &law.parts).map(|part| part.weight as f32).collect(),
        mean,
        sd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line keeps a normal law; an exponential makes it lognormal, whose mean is e^(c + s²/2) and whose variance is
    /// mean² (e^(s²) − 1).
    #[test]
    fn moments_of_mapped_scores() {
        let (mean, sd) = moments(|z| 3.0 - 2.0 * z, 0.5, 0.7);
        assert!((mean - 2.0).abs() < 1e-6 && (sd - 1.4).abs() < 1e-6, "{mean} {sd}");
        let (c, s) = (0.3f64, 0.4f64);
        let (mean, sd) = moments(f64::exp, c, s);
        let right = (c + s * s / 2.0).exp();
        assert!((mean / right - 1.0).abs() < 1e-3, "{mean} {right}");
        assert!((sd / (right * ((s * s).exp() - 1.0).sqrt()) - 1.0).abs() < 1e-2, "{sd}");
    }
}
