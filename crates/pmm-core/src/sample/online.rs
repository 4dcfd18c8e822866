//! Algorithm 1: online Bayesian inference on observations drawn from the denoiser.

use super::Observer;
use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimate, Estimates};
use crate::error::SpaceError;
use crate::purpose::Purpose;
use crate::rng::{RowStreams, Streams};
use crate::space::{Block, Values};
use crate::states::{States, move_to};

/// What becomes of the state at the end of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    /// One more call: the estimate x̂ at the end (with a marginal head, a draw from it).
    #[default]
    Estimate,
    /// The posterior mean μ, as in the paper, without a further call. Tokens are drawn from the last estimate instead: their
    /// μ is uniform while masked, and keeps the prior's share of every class.
    PosteriorMean,
}

/// Algorithm 1 for any space: at each step x̂ = g(state), then every unobserved coordinate of every block takes the
/// increment of its pair, ΔS ~ increment(x̂, Δa). One call per step, and one at the end for [`Finish::Estimate`].
///
/// For Normal, Poisson and Categorical blocks it becomes exact as the steps shrink; for Gamma blocks, with a marginal head
/// ([`Increments::mean_is_enough`](crate::Increments::mean_is_enough) tells which).
/// Numbers want a clock that ends at a finite reading: a last step to ∞ takes the estimate before it as the value.
///
/// ```
/// use pmm_core::{Block, Exponential, Finish, FiniteTarget, TimeGrid, Poisson, Space, States, Elements, Streams, Values, online};
/// let clock = Exponential::default();
/// let space = Space::new(vec![Block::new(Poisson::new(0.5, 0.5)?, 1, clock)?]);
/// let points = Values::new(vec![Elements::from(vec![0.0f32, 7.0])]);
/// let target = FiniteTarget::new(&space, points, &[0.5, 0.5])?;
/// let grid = TimeGrid::log_information(&clock, 1e-3, 100)?;
/// let x = online(&target, States::prior(&space, 0, 1000), &grid, &Streams::new(0), Finish::Estimate, &mut ())?;
/// let sevens = x.reals(0).iter().filter(|x| **x == 7.0).count();
/// assert!(x.reals(0).iter().all(|x| *x == 0.0 || *x == 7.0) && (440..560).contains(&sevens));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn online(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &TimeGrid,
    streams: &Streams,
    finish: Finish,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let mut estimates = Estimates::default();
    for (step, &t) in grid.times()[1..].iter().enumerate() {
        estimates.ask(denoiser, &states)?;
        observer.observe(step, &states, &estimates);
        advance(
            &mut states,
            &estimates,
            |block, c| block.information(t, c),
            Purpose::ADVANCE,
            step as u64,
            streams,
        );
    }
    conclude(denoiser, states, estimates, grid.steps(), streams, finish, observer)
}

/// The end of every sampler: from the last state to values on the support.
pub(super) fn conclude(
    denoiser: &dyn Denoiser,
    mut states: States,
    mut estimates: Estimates,
    step: usize,
    streams: &Streams,
    finish: Finish,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    if finish == Finish::Estimate {
        estimates.ask(denoiser, &states)?;
    }
    observer.observe(step, &states, &estimates);
    if finish == Finish::PosteriorMean {
        use_posterior_means(&states, &mut estimates);
    }
    advance(&mut states, &estimates, |_, _| f64::INFINITY, Purpose::FINISH, step as u64, streams);
    Ok(states.into_values())
}

/// Puts μ in place of the estimates, except for tokens.
fn use_posterior_means(states: &States, estimates: &mut Estimates) {
    for (index, (block, estimate)) in states.space().blocks().iter().zip(&mut estimates.blocks).enumerate() {
        if !block.pair.support().is_token() {
            *estimate = Estimate::Mean(states.means(index));
        }
    }
}

/// Moves every unobserved coordinate to the clock reading `to(block, coordinate)`.
pub(super) fn advance(
    states: &mut States,
    estimates: &Estimates,
    to: impl Fn(&Block, usize) -> f64,
    purpose: Purpose,
    step: u64,
    streams: &Streams,
) {
    let readings = |block: &Block| (0..block.width).map(|c| to(block, c)).collect();
    let readings: Vec<Vec<f64>> = states.space().blocks().iter().map(readings).collect();
    advance_cells(states, estimates, |block, _, c| readings[block][c], purpose, step, streams);
}

/// Moves every unobserved coordinate to the clock reading `to(block, row, coordinate)`.
pub(super) fn advance_cells(
    states: &mut States,
    estimates: &Estimates,
    to: impl Fn(usize, usize, usize) -> f64 + Sync,
    purpose: Purpose,
    step: u64,
    streams: &Streams,
) {
    let (space, first_row) = (states.space().clone(), states.first_row());
    for (index, (block, estimate)) in space.blocks().iter().zip(&estimates.blocks).enumerate() {
        let streams = RowStreams { streams: *streams, purpose, block: index as u32, step, first_row };
        let move_clock =
            |row: usize, clock: &mut [f64], da: &mut [f64]| move_to(clock, da, |c| to(index, row, c));
        block.pair.erased().advance(block.width, estimate, states.block_mut(index), &move_clock, streams);
    }
}
