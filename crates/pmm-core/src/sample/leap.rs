//! Midpoint tau-leaping for Poisson blocks: second order in the step.

use super::Observer;
use super::ode::require;
use super::online::{Finish, advance, conclude};
use crate::any_pair::AnyPair;
use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimate, Estimates};
use crate::error::SpaceError;
use crate::pair::Increments;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::{Block, Values};
use crate::states::States;

/// Midpoint leaps along the grid, for states whose unobserved coordinates all have Poisson increments ([`Increments::Poisson`]); two
/// calls a step, and one at the end.
///
/// The midpoint is a state that really is drawn: the first half of the step runs at rate x̂, the second at
/// (2 x̂_mid − x̂)₊, so that the whole step has the midpoint's rate in the mean and stays a Poisson draw on whole numbers.
/// This is the trapezoidal leap of Anderson and Koyama with θ = ½. (The classic midpoint, which guesses S at half time and throws the
/// guess away, is no better than Algorithm 1 here: S must be a whole number, and rounding the guess decouples it from the path.)
/// A mixture head counts by its mean.
pub fn leap(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &TimeGrid,
    streams: &Streams,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let poisson = |pair: &AnyPair| pair.increments() == Increments::Poisson && pair.mean_len() == 1;
    require(&states, "midpoint tau-leaping", "Poisson", poisson)?;
    let (mut start, mut middle) = (Estimates::default(), Estimates::default());
    for (step, times) in grid.times().windows(2).enumerate() {
        let end = |block: &Block, c: usize| block.information(times[1], c);
        let half = |block: &Block, c: usize| midpoint(block.information(times[0], c), end(block, c));
        start.ask(denoiser, &states)?;
        observer.observe(step, &states, &start);
        to_mean(&mut start);
        advance(&mut states, &start, half, Purpose::ADVANCE, 2 * step as u64, streams);
        middle.ask(denoiser, &states)?;
        to_mean(&mut middle);
        extrapolate(&mut middle, &start);
        advance(&mut states, &middle, end, Purpose::ADVANCE, 2 * step as u64 + 1, streams);
    }
    conclude(denoiser, states, start, grid.steps(), streams, Finish::Estimate, observer)
}

/// Halfway, or nowhere when the end is ∞: a reveal has no middle.
fn midpoint(from: f64, to: f64) -> f64 {
    if to < f64::INFINITY { 0.5 * (from + to) } else { from }
}

/// Replaces mixtures by their means.
pub(super) fn to_mean(estimates: &mut Estimates) {
    for estimate in &mut estimates.blocks {
        if let Estimate::Mixture(mixture) = estimate {
            let coordinates = mixture.weight.len() / mixture.components;
            *estimate = Estimate::Mean((0..coordinates).map(|i| mixture.mean_of(i) as f32).collect());
        }
    }
}

/// (2 x̂_mid − x̂)₊.
fn extrapolate(middle: &mut Estimates, start: &Estimates) {
    for pair in middle.blocks.iter_mut().zip(&start.blocks) {
        if let (Estimate::Mean(middle), Estimate::Mean(start)) = pair {
            middle.iter_mut().zip(start).for_each(|(m, s)| *m = (2.0 * *m - s).max(0.0));
        }
    }
}
