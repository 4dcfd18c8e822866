//! Counts with one call a step: Poisson draws where they are small, the flow of their mean where they are large.

use super::Observer;
use super::leap::to_mean;
use super::ode::require;
use super::online::{Finish, advance, conclude};
use crate::any_pair::AnyPair;
use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimate, Estimates};
use crate::elements::Elements;
use crate::error::SpaceError;
use crate::pair::Increments;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::{Block, Values};
use crate::states::States;

/// From so many events on, a count moves by the flow.
const MANY: f64 = 8.0;

/// Glides along the grid, for states whose unobserved coordinates all have Poisson increments ([`Increments::Poisson`]); one call a
/// step, and one at the end.
///
/// The estimate is taken a little further than it is, x̃ = x̂ + ½ (h/h₀) (x̂ − x̂₀), where x̂₀ is that of the step before and h and h₀ are the lengths of
/// both steps in log a, as DPM-Solver++(2M) does. (On average the estimate stays where it is: it is a martingale. But in a step that is taken at one
/// estimate, what is drawn does not yet move the estimate, so that S spreads too little; half of a difference makes up for that.)
///
/// Few events are drawn: S ← S + Pois(Δa x̃). Many events are nearly Gaussian, with the noise √(x/a) of u = S/a, and flow as those of the Normal
/// pair do: u ← x̃ + √(a/a′) (u − x̃). Such a count is no whole number any more; it has the right mean and variance, and no fresh noise has to be
/// taken out again. A coordinate may pass from the one to the other at any step, since both have the same marginal law in a, and S never
/// falls. A mixture head counts by its mean.
///
/// ```
/// use pmm_core::{Block, Exponential, FiniteTarget, TimeGrid, Poisson, Space, States, Elements, Streams, Values, glide};
/// let clock = Exponential::default();
/// let space = Space::new(vec![Block::new(Poisson::new(0.5, 0.5)?, 1, clock)?]);
/// let target = FiniteTarget::new(&space, Values::new(vec![Elements::from(vec![0.0f32, 7.0])]), &[0.5, 0.5])?;
/// let grid = TimeGrid::log_information(&clock, 1e-2, 19)?; // 20 calls
/// let x = glide(&target, States::prior(&space, 0, 1000), &grid, &Streams::new(0), &mut ())?;
/// let sevens = x.reals(0).iter().filter(|x| **x == 7.0).count();
/// assert!(x.reals(0).iter().all(|x| *x == 0.0 || *x == 7.0) && (440..560).contains(&sevens));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn glide(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &TimeGrid,
    streams: &Streams,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let poisson = |pair: &AnyPair| pair.increments() == Increments::Poisson && pair.mean_len() == 1;
    require(&states, "gliding", "Poisson", poisson)?;
    let (mut estimates, mut before) = (Estimates::default(), None);
    for (step, &time) in grid.times()[1..].iter().enumerate() {
        estimates.ask(denoiser, &states)?;
        observer.observe(step, &states, &estimates);
        to_mean(&mut estimates);
        let here = Step::new(&states, &estimates, time);
        here.extrapolate(&mut estimates, before.as_ref());
        let flowing = here.flow(&states, &estimates);
        let to = |block: &Block, c: usize| block.information(time, c);
        advance(&mut states, &estimates, to, Purpose::ADVANCE, step as u64, streams);
        write(&mut states, flowing);
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
    /// Whether the clock moves, and not for ever.
    fn moves(&self) -> bool {
        self.from < self.to && self.to < f64::INFINITY
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

    /// Takes the estimates further, by those of the step before.
    fn extrapolate(&self, estimates: &mut Estimates, before: Option<&Self>) {
        let Some(before) = before else { return };
        for ((here, before), estimate) in self.blocks.iter().zip(&before.blocks).zip(&mut estimates.blocks) {
            let Estimate::Mean(x_hat) = estimate else { continue };
            for ((here, before), x_hat) in here.iter().zip(before).zip(x_hat) {
                if here.moves() && before.moves() && before.from > 0.0 {
                    let ratio = here.log_length() / before.log_length();
                    *x_hat = (here.x_hat + 0.5 * ratio * (here.x_hat - before.x_hat)).max(0.0) as f32;
                }
            }
        }
    }

    /// Where the coordinates with many events go: block, place and S.
    fn flow(&self, states: &States, estimates: &Estimates) -> Vec<(usize, usize, f64)> {
        let mut flowing = Vec::new();
        for (block, coordinates) in self.blocks.iter().enumerate() {
            let Elements::Double(stat) = states.stat(block) else { continue };
            for (i, here) in coordinates.iter().enumerate() {
                if stat[i] < MANY || !here.moves() {
                    continue;
                }
                let x_hat = f64::from(estimates.blocks[block].mean(i, &mut [0.0])[0]);
                let to = x_hat + (here.from / here.to).sqrt() * (stat[i] / here.from - x_hat);
                flowing.push((block, i, (to * here.to).max(stat[i])));
            }
        }
        flowing
    }
}

fn write(states: &mut States, flowing: Vec<(usize, usize, f64)>) {
    for (block, i, s) in flowing {
        if let Elements::Double(stat) = &mut states.block_mut(block).stat {
            stat[i] = s;
        }
    }
}
