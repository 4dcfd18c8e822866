//! The objective and the likelihood bound, by Monte Carlo with a standard error.
//!
//! −log p(x) ≤ E ∫₀¹ f(t) D(x, x̂(state at t)) dt + E[−log p(x | state at t = 1)], in nats. The integral is over a time
//! stratified within each row, so that rows stay independent and the standard error over rows is the right one. (With the
//! log-linear clock of tokens f·D has a second moment that diverges, though only logarithmically, so there the standard
//! error comes out somewhat low.)

use std::num::NonZeroUsize;

use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimate, Estimates};
use crate::elements::{Element, Elements};
use crate::error::SpaceError;
use crate::pair::Pair;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::{Block, Values};
use crate::states::States;

/// A mean over independent rows with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonteCarlo {
    /// The mean.
    pub mean: f64,
    /// Its standard error; infinite for fewer than two rows.
    pub standard_error: f64,
}

impl MonteCarlo {
    /// The mean of independent values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let standard_error = if n < 2.0 { f64::INFINITY } else { (squares / (n - 1.0) / n).sqrt() };
        Self { mean, standard_error }
    }

    /// Σ numerator / Σ denominator over independent rows, with the standard error of a ratio.
    pub(crate) fn ratio(numerator: &[f64], denominator: &[f64]) -> Self {
        let n = numerator.len() as f64;
        let (top, bottom) = (numerator.iter().sum::<f64>() / n, denominator.iter().sum::<f64>() / n);
        let mean = top / bottom;
        let residuals: Vec<f64> =
            numerator.iter().zip(denominator).map(|(a, b)| (a - mean * b) / bottom).collect();
        Self { mean, standard_error: Self::of(&residuals).standard_error }
    }
}

/// A likelihood bound in nats per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The integral of the divergence: the training objective.
    pub objective: MonteCarlo,
    /// −log p(x | state at t = 1).
    pub terminal: MonteCarlo,
    /// Their sum: an upper bound of −log p(x) in the mean.
    pub nelbo: MonteCarlo,
    /// The sum row by row.
    pub rows: Vec<f64>,
}

impl Bound {
    pub(crate) fn new(objective: &[f64], terminal: &[f64]) -> Self {
        let rows: Vec<f64> = objective.iter().zip(terminal).map(|(o, t)| o + t).collect();
        Self {
            objective: MonteCarlo::of(objective),
            terminal: MonteCarlo::of(terminal),
            nelbo: MonteCarlo::of(&rows),
            rows,
        }
    }
}

/// The last term of the bound: what remains to be said about x once the clock has run out.
pub trait Terminal {
    /// −log p(x | state), in nats, for every row.
    fn surprise(&self, states: &States, x: &Values) -> Vec<f64>;
}

/// Which times the bound is taken over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Times<'a> {
    /// Continuous time: the bound of infinitely small steps, by this many draws of t per row, one in each stratum.
    Continuous {
        /// Draws per row.
        draws: NonZeroUsize,
    },
    /// The bound of Algorithm 1 with the mean plugged in, on this grid: every step counts, one call each.
    Grid(&'a TimeGrid),
}

/// The bound for rows x, which are checked first; a mixture counts by its mean. Coordinates that `states` (usually [`States::prior`]) already observes are conditioned on: the bound is then
/// that of the others given them. Missing cells ([`States::hide`]) have no weight in the objective.
///
/// Where x̂ is the exact posterior mean and the pair's increments are linear in x ([`Increments::mean_is_enough`]: Normal, Poisson,
/// Categorical), the continuous bound is attained: it equals the entropy in the mean. For Gamma it exceeds it by what plugging in the
/// mean loses.
///
/// [`Increments::mean_is_enough`]: crate::Increments::mean_is_enough
pub fn bound(
    denoiser: &dyn Denoiser,
    terminal: &dyn Terminal,
    states: &States,
    x: &Values,
    times: Times<'_>,
    streams: &Streams,
) -> Result<Bound, SpaceError> {
    states.space().check(x)?;
    let mut objective = vec![0.0; states.rows()];
    match times {
        Times::Continuous { draws } => {
            let draws = draws.get();
            for stratum in 0..draws {
                let t = stratified(states, stratum, draws, streams);
                let weight = |block: &Block, row: usize, c: usize| {
                    block.clock.rate(t[row], block.relative_position(c)) / draws as f64
                };
                add_divergence(denoiser, states, x, &t, weight, stratum as u64, streams, &mut objective)?;
            }
        }
        Times::Grid(grid) => {
            for (step, ends) in grid.times().windows(2).enumerate() {
                let weight = |block: &Block, _: usize, c: usize| {
                    let da = block.information(ends[1], c) - block.information(ends[0], c);
                    block.pair.erased().step_weight(da)
                };
                let t = vec![ends[0]; states.rows()];
                add_divergence(denoiser, states, x, &t, weight, step as u64, streams, &mut objective)?;
            }
        }
    }
    let mut last = states.clone();
    last.draw(x, &vec![1.0; states.rows()], streams, u64::MAX)?;
    Ok(Bound::new(&objective, &terminal.surprise(&last, x)))
}

/// A time in this stratum for every row; never 1, where rates may be infinite.
fn stratified(states: &States, stratum: usize, strata: usize, streams: &Streams) -> Vec<f64> {
    let rows = (0..states.rows()).map(|row| states.first_row() + row as u64);
    rows.map(|row| stratified_time(stratum, strata, row, streams)).collect()
}

pub(crate) fn stratified_time(stratum: usize, strata: usize, row: u64, streams: &Streams) -> f64 {
    let u = streams.stream(Purpose::TIME, stratum as u64, row).unit();
    ((stratum as f64 + u) / strata as f64).min(1.0 - f64::EPSILON)
}

/// Draws states at the given times and adds the weighted divergence of every unobserved coordinate to its row.
#[expect(clippy::too_many_arguments, reason = "one call site's worth of context, in one place")]
fn add_divergence(
    denoiser: &dyn Denoiser,
    states: &States,
    x: &Values,
    times: &[f64],
    weight: impl Fn(&Block, usize, usize) -> f64,
    step: u64,
    streams: &Streams,
    sums: &mut [f64],
) -> Result<(), SpaceError> {
    let mut drawn = states.clone();
    drawn.draw(x, times, streams, step)?;
    let mut estimates = Estimates::default();
    estimates.ask(denoiser, &drawn)?;
    for (index, block) in drawn.space().blocks().iter().enumerate() {
        let pair = block.pair.erased();
        let divergences = pair.divergences(drawn.stat(index), &x.blocks()[index], &estimates.blocks[index]);
        let held = drawn.block(index);
        let counts = |i: usize| held.clock[i] < f64::INFINITY && !held.is_missing(i);
        for (i, d) in divergences.iter().enumerate().filter(|(i, _)| counts(*i)) {
            let (row, c) = (i / block.width, i % block.width);
            // 0 · ∞ is 0: nothing is left to learn, however fast the clock.
            if *d != 0.0 {
                sums[row] += weight(block, row, c) * d;
            }
        }
    }
    Ok(())
}

/// The remaining divergence of every coordinate of a block.
pub(crate) fn divergences<P: Pair>(pair: &P, stat: &Elements, x: &Elements, estimate: &Estimate) -> Vec<f64> {
    let (stat, x) = (P::Stat::get(stat).unwrap_or(&[]), P::Value::get(x).unwrap_or(&[]));
    let mut scratch = vec![0.0; pair.mean_len()];
    let coordinates = stat.chunks_exact(pair.stat_len()).zip(x.chunks_exact(pair.value_len())).enumerate();
    coordinates.map(|(i, (s, x))| pair.remaining_divergence(s, x, estimate.mean(i, &mut scratch))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_by_hand() {
        let estimate = MonteCarlo::of(&[1.0, 2.0, 6.0]);
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.standard_error - (14.0f64 / 2.0 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(MonteCarlo::of(&[1.0]).standard_error, f64::INFINITY);
        // A constant ratio has no error.
        assert_eq!(
            MonteCarlo::ratio(&[2.0, 4.0], &[1.0, 2.0]),
            MonteCarlo { mean: 2.0, standard_error: 0.0 }
        );
    }

    #[test]
    fn times_are_stratified_and_below_one() {
        let streams = Streams::new(0);
        for stratum in 0..8 {
            let t = stratified_time(stratum, 8, 3, &streams);
            assert!(t >= stratum as f64 / 8.0 && t < (stratum + 1) as f64 / 8.0);
        }
    }
}
