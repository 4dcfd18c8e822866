//! Algorithm 1, second order: as few calls as an ODE needs, with noise at every step.

use super::Observer;
use super::leap::to_mean;
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

/// Algorithm 1 along the grid with estimates taken further, for states whose unobserved coordinates all have Gaussian or Poisson
/// increments ([`Increments`]); one call a step, and one at the end.
///
/// A step draws ΔS ~ increment(x̃, Δa) at x̃ = x̂ + ½ (h/h₀) (x̂ − x̂₀), where x̂₀ is the estimate of the step before and h and h₀ are the lengths of
/// both steps in log a. On average the estimate stays where it is: it is a martingale. But in a step that is taken at one estimate, what is
/// drawn does not yet move the estimate, so that S spreads too little; half of a difference makes up for that. For the Normal pair
/// this is the stochastic DPM-Solver++(2M) (Lu et al. 2022).
///
/// Beside the ODE it costs the same and forgives more: the noise of each step makes the next estimate mend what those before it got
/// wrong, where an ODE carries it to the end. A mixture head counts by its mean.
///
/// ```
/// use pmm_core::{Block, Exponential, FiniteTarget, TimeGrid, Poisson, Space, States, Elements, Streams, Values, second_order};
/// let clock = Exponential::default();
/// let space = Space::new(vec![Block::new(Poisson::new(0.5, 0.5)?, 1, clock)?]);
/// let target = FiniteTarget::new(&space, Values::new(vec![Elements::from(vec![0.0f32, 7.0])]), &[0.5, 0.5])?;
/// let grid = TimeGrid::log_information(&clock, 1e-2, 19)?; // 20 calls
/// let x = second_order(&target, States::prior(&space, 0, 1000), &grid, &Streams::new(0), &mut ())?;
/// let sevens = x.reals(0).iter().filter(|x| **x == 7.0).count();
/// assert!(x.reals(0).iter().all(|x| *x == 0.0 || *x == 7.0) && (440..560).contains(&sevens));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn second_order(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &TimeGrid,
    streams: &Streams,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let moves = |pair: &AnyPair| {
        matches!(pair.increments(), Increments::Gaussian | Increments::Poisson) && pair.mean_len() == 1
    };
    require(&states, "second-order sampling", "Normal and Poisson", moves)?;
    let (mut estimates, mut before) = (Estimates::default(), None);
    for (step, &time) in grid.times()[1..].iter().enumerate() {
        estimates.ask(denoiser, &states)?;
        observer.observe(step, &states, &estimates);
        to_mean(&mut estimates);
        let here = Step::new(&states, &estimates, time);
        here.extrapolate(&mut estimates, &states, before.as_ref());
        let to = |block: &Block, c: usize| block.information(time, c);
        advance(&mut states, &estimates, to, Purpose::ADVANCE, step as u64, streams);
        before = Some(here);
    }
    conclude(denoiser, states, estimates, grid.steps(), streams, Finish::Estimate, observer)
}

/// The estimate of every coordinate, and the clock readings between which it is used; `[block][coordinate of a row]`.
struct Step {
    blocks: Vec<Vec<Coordinate>>,
}

#[derive(Clone, Copy)]
struct Coordinate {
    x_hat: f64,
    from: f64,
    to: f64,
}

impl Coordinate {
    /// Whether the clock moves, from where it had begun, and not for ever.
    fn moves(&self) -> bool {
        0.0 < self.from && self.from < self.to && self.to < f64::INFINITY
    }
    fn log_length(&self) -> f64 {
        (self.to / self.from).ln()
    }
}

impl Step {
    fn new(states: &States, estimates: &Estimates, time: f64) -> Self {
        let block = |(index, block): (usize, &Block)| {
            let coordinate = |(i, &from): (usize, &f64)| Coordinate {
                x_hat: f64::from(estimates.blocks[index].mean(i, &mut [0.0])[0]),
                from,
                to: block.information(time, i % block.width).max(from),
            };
            states.clock(index).iter().enumerate().map(coordinate).collect()
        };
        Self { blocks: states.space().blocks().iter().enumerate().map(block).collect() }
    }

    /// Takes the estimates further, by those of the step before; counts stay at 0 at least.
    fn extrapolate(&self, estimates: &mut Estimates, states: &States, before: Option<&Self>) {
        let Some(before) = before else { return };
        let steps = self.blocks.iter().zip(&before.blocks).zip(states.space().blocks());
        for (((here, before), block), estimate) in steps.zip(&mut estimates.blocks) {
            let Estimate::Mean(x_hat) = estimate else { continue };
            let least = if block.pair.increments() == Increments::Poisson { 0.0 } else { f64::NEG_INFINITY };
            for ((here, before), x_hat) in here.iter().zip(before).zip(x_hat) {
                if here.moves() && before.moves() {
                    let ratio = here.log_length() / before.log_length();
                    *x_hat = (here.x_hat + 0.5 * ratio * (here.x_hat - before.x_hat)).max(least) as f32;
                }
            }
        }
    }
}
